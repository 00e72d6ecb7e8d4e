package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Keys of comments that say how a file belongs to others, see package merge.
const (
	SuiteKey   = "suite"          // what was run, the same for all shards: "3f2a90c1d04e"
	ShardKey   = "shard"          // which share of it the file has: "2/8"
	PartKey    = "part"           // the place in the suite of the results that follow, in a shard
	PartialKey = "partial"        // what the parts lacked of which it was merged all the same
	EndKey     = "end"            // the last line of a file that is complete: "412 results"
	HistoryKey = "history-sha256" // the line behind it in an entry of a history
	NodeKey    = "node"           // name of the machine
	// "others=0.10 steal=0.002": CPUs that others kept busy, share that the host took
	ActivityKey = "activity"
)

// TuningPrefix begins the keys of lines that say how the kernels of a set were tuned,
// "tuning-avx512". They are as labels, since the nodes of a fleet may differ in them,
// but nobody can give them.
const TuningPrefix = "tuning-"

// labels are the form of the keys of labels.
var labels = compiled(`^[a-z][a-z0-9_-]{0,31}$`)

// own are keys of configuration lines that no label may have, beside those of
// [Setup.Config].
var own = []string{FamilyKey, TLBKey, "pages", "unit", "pkg"}

// IsLabel tells whether a configuration key is none of those that files have of
// themselves: whoever ran the program gave it, such as host or zone. Lines of
// TuningPrefix count as labels.
func IsLabel(key string) bool {
	if slices.Contains(own, key) || strings.HasPrefix(key, "sim-") ||
		strings.HasPrefix(key, kernelPrefix) {
		return false
	}
	return !slices.ContainsFunc(Setup{}.Config(), func(p Pair) bool { return p.Key == key })
}

// CheckLabel refuses a key by which no results can be told apart: one that no label can have, or
// that files have of themselves.
func CheckLabel(key string) error {
	if labels().MatchString(key) && IsLabel(key) {
		return nil
	}
	return errors.New("it is not a label, which bench run --label KEY=VALUE writes: want the KEY " +
		"of one, such as host")
}

// ParseLabel reads "key=value", which becomes a configuration line "key: value", by
// which benchstat projects (-col key).
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

// LabelsOf are the labels of a configuration, by key.
func LabelsOf(config map[string]string) Fingerprint { return take(config, IsLabel) }
