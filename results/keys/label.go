package keys

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

var labels = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
})

// own are the keys of every file, which no label may have, with those that begin with "sim-" or
// Kernel.
var own = []string{"goos", "goarch", "cpu", "cpus", "goversion", "pages", "unit", "pkg", Caches,
	Family}

// IsLabel reports whether the user gave a configuration key, such as host. Keys that begin with
// Tuning count too.
func IsLabel(key string) bool {
	return !slices.Contains(own, key) && !strings.HasPrefix(key, "sim-") &&
		!strings.HasPrefix(key, Kernel)
}

// CheckLabel refuses a key that cannot separate results: an invalid label, or a key of every file.
func CheckLabel(key string) error {
	if labels().MatchString(key) && IsLabel(key) {
		return nil
	}
	return errors.New("it is not a label, which bench run --label KEY=VALUE writes: want the KEY " +
		"of one, such as host")
}

// Labels reads texts of "key=value". Each becomes a configuration line for benchstat (-col key),
// and no key may repeat.
func Labels(texts []string, add func(key, value string)) error {
	seen := map[string]bool{}
	for _, text := range texts {
		key, value, err := parseLabel(text)
		if err == nil && seen[key] {
			err = errors.New("the key is given twice")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		seen[key] = true
		add(key, value)
	}
	return nil
}

func parseLabel(text string) (key, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		err = errors.New("want key=value, such as host=node17")
	case !labels().MatchString(key):
		err = fmt.Errorf("key %q: want lower-case letters, digits, _ and -, at most 32, a letter "+
			"first", key)
	case !IsLabel(key) || strings.HasPrefix(key, Tuning):
		err = fmt.Errorf("key %q: results have a line of that name themselves", key)
	case value == "" || len(value) > 128 || value != strings.Join(strings.Fields(value), " ") ||
		strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }):
		err = fmt.Errorf("value %q: want 1 to 128 printable characters without spaces at the ends "+
			"or two in a row", value)
	}
	return key, value, err
}
