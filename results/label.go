package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Keys of comments that relate files, see package merge.
const (
	SuiteKey   = "suite"          // hash of the suite, the same for all shards: "3f2a90c1d04e"
	ShardKey   = "shard"          // the file's share of the suite: "2/8"
	PartKey    = "part"           // of a shard: the place in the suite of the results that follow
	PartialKey = "partial"        // what the merged parts lacked
	EndKey     = "end"            // the last line of a complete file: "412 results"
	HistoryKey = "history-sha256" // the line after it in an entry of a history
	NodeKey    = "node"           // name of the machine
	// "others=0.10 steal=0.002": CPUs busy with others, share of time the host took
	ActivityKey = "activity"
)

// TuningPrefix begins the keys that say how kernels were tuned, such as "tuning-avx512". They count
// as labels, since nodes may differ in them, but users cannot set them.
const TuningPrefix = "tuning-"

var labels = compiled(`^[a-z][a-z0-9_-]{0,31}$`)

// own are further configuration keys that no label may have.
var own = []string{FamilyKey, TLBKey, "pages", "unit", "pkg"}

// IsLabel reports whether the user gave a configuration key, such as host. Keys of TuningPrefix
// count too.
func IsLabel(key string) bool {
	if slices.Contains(own, key) || strings.HasPrefix(key, "sim-") ||
		strings.HasPrefix(key, kernelPrefix) {
		return false
	}
	return !slices.ContainsFunc(Setup{}.Config(), func(p Pair) bool { return p.Key == key })
}

// CheckLabel refuses a key that cannot separate results: an invalid label, or a key of every file.
func CheckLabel(key string) error {
	if labels().MatchString(key) && IsLabel(key) {
		return nil
	}
	return errors.New("it is not a label, which bench run --label KEY=VALUE writes: want the KEY " +
		"of one, such as host")
}

// ParseLabel reads "key=value", which becomes a configuration line for benchstat (-col key).
func ParseLabel(text string) (Pair, error) {
	key, value, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return Pair{}, errors.New("want key=value, such as host=node17")
	case !labels().MatchString(key):
		return Pair{}, fmt.Errorf("key %q: want lower-case letters, digits, _ and -, at most 32, "+
			"a letter first", key)
	case !IsLabel(key) || strings.HasPrefix(key, TuningPrefix):
		return Pair{}, fmt.Errorf("key %q: results have a line of that name themselves", key)
	case value == "" || len(value) > 128 || value != oneLine(value) ||
		strings.ContainsFunc(value, func(r rune) bool {
			return !unicode.IsPrint(r)
		}):
		return Pair{}, fmt.Errorf("value %q: want 1 to 128 printable characters without spaces "+
			"at the ends or two in a row", value)
	}
	return Pair{key, value}, nil
}

// LabelsOf returns the labels of a configuration, by key.
func LabelsOf(config map[string]string) Fingerprint { return take(config, IsLabel) }
