// Package filter is the program's own and promises nothing. It selects benchmarks by benchproc's
// filter language.
package filter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"

	"github.com/stridebench/stridebench/results"
)

// An Error reports a malformed query, or one that matches nothing.
type Error struct {
	Query string
	Err   error
}

// Error returns the query and the error.
func (e *Error) Error() string { return fmt.Sprintf("%q: %v", e.Query, e.Err) }

var bareWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL_][\pL\pN_-]*$`)
})

func parse(query string) (*benchproc.Filter, error) {
	filter, err := benchproc.NewFilter(query)
	if err == nil {
		return filter, nil
	}
	name := cmp.Or(strings.TrimPrefix(query, "Benchmark"), "Traverse")
	if !bareWord().MatchString(name) {
		name = "Traverse"
	}
	reason, _, _ := strings.Cut(err.Error(), "\n") // benchproc marks the place below
	return nil, &Error{query, fmt.Errorf("want key:value, such as .name:%s for all "+
		"benchmarks of that name, or /dtype:int32 (%s)", name, reason)}
}

// Names returns which of the names a query such as ".name:Copy /layout:transpose" selects. They are
// of benchmarks that have not run yet, with all units. It returns an Error if there are none.
func Names(query string, names []string) (selected map[string]bool, err error) {
	filter, err := parse(query)
	if err != nil {
		return nil, err
	}
	var values []benchfmt.Value
	for _, u := range results.Units { // else a filter on units would match no measurement
		_, tidy := benchunit.Tidy(1, u.Name)
		values = append(values, benchfmt.Value{Unit: tidy, OrigUnit: u.Name})
	}
	selected = map[string]bool{}
	for _, name := range names {
		match, err := filter.Match(&benchfmt.Result{Name: benchfmt.Name(name), Values: values})
		if err != nil {
			return nil, &Error{query, err}
		}
		if match.Any() {
			selected[name] = true
		}
	}
	if len(selected) == 0 {
		return nil, nothing(query, "no benchmark matches (bench list prints them all)", names)
	}
	return selected, nil
}

// Keep removes results of a set, and units of results, that do not match a query. It returns an
// Error with the set's name if none match.
func Keep(set *results.Set, query, name string) error {
	filter, err := parse(query)
	if err != nil {
		return err
	}
	names := slices.Collect(maps.Keys(set.Names()))
	kept := set.Results[:0]
	for _, r := range set.Results {
		match, err := filter.Match(r)
		if err != nil {
			return &Error{query, err}
		}
		if match.Apply(r) {
			kept = append(kept, r)
		}
	}
	if set.Results = kept; len(kept) == 0 {
		return nothing(query, fmt.Sprintf("no result of %s matches", name), names)
	}
	return nil
}

func nothing(query, why string, names []string) error {
	var all, keys []string
	for _, name := range names {
		base, parts := benchfmt.Name(name).Parts()
		all = append(all, string(base))
		for _, part := range parts {
			if key, _, ok := strings.Cut(string(part), "="); ok {
				keys = append(keys, key)
			}
		}
	}
	why = fmt.Sprintf("%s; names: %s", why, some(all))
	if len(keys) > 0 {
		why += "; keys: " + some(keys)
	}
	return &Error{query, errors.New(why)}
}

func some(words []string) string {
	slices.Sort(words)
	words = slices.Compact(words)
	if most := 12; len(words) > most {
		words = append(words[:most:most], "...")
	}
	return strings.Join(words, ", ")
}
