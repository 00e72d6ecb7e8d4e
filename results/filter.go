package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// A Filter selects benchmarks by benchproc's filter language.
type Filter struct {
	query  string
	filter *benchproc.Filter
}

// A FilterError reports a malformed query, or one that matches nothing.
type FilterError struct {
	Query string
	Err   error
}

// Error returns the query and the error.
func (e *FilterError) Error() string { return fmt.Sprintf("%q: %v", e.Query, e.Err) }

// NewFilter parses a query such as ".name:Copy /layout:transpose". It and all methods of Filter
// return FilterErrors.
func NewFilter(query string) (*Filter, error) {
	filter, err := benchproc.NewFilter(query)
	if err != nil {
		name := cmp.Or(strings.TrimPrefix(query, "Benchmark"), "Traverse")
		if !bareWord().MatchString(name) {
			name = "Traverse"
		}
		reason, _, _ := strings.Cut(err.Error(), "\n") // benchproc marks the place below
		return nil, &FilterError{query, fmt.Errorf("want key:value, such as .name:%s for all "+
			"benchmarks of that name, or /dtype:int32 (%s)", name, reason)}
	}
	return &Filter{query, filter}, nil
}

var bareWord = compiled(`^[\pL_][\pL\pN_-]*$`)

// NamesUnit reports whether the query has a term on units, which selects only results of a run.
func (f *Filter) NamesUnit() bool { return unitTerm().MatchString(f.query) }

var unitTerm = compiled(`(^|[-\s(])\.unit:`)

// Match reports whether the filter selects a benchmark that has not run yet, with all [Units].
func (f *Filter) Match(name string) (bool, error) {
	r := &benchfmt.Result{Name: benchfmt.Name(name)}
	for _, u := range Units { // else a filter on units would match no measurement
		_, tidy := benchunit.Tidy(1, u.Name)
		r.Values = append(r.Values, benchfmt.Value{Unit: tidy, OrigUnit: u.Name})
	}
	match, err := f.filter.Match(r)
	if err != nil {
		return false, &FilterError{f.query, err}
	}
	return match.Any(), nil
}

// Nothing returns the error for a filter that selects none of the names.
func (f *Filter) Nothing(why string, names []string) error {
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
	return &FilterError{f.query, errors.New(why)}
}

func some(words []string) string {
	slices.Sort(words)
	words = slices.Compact(words)
	if most := 12; len(words) > most {
		words = append(words[:most:most], "...")
	}
	return strings.Join(words, ", ")
}

// Keep removes results, and units of results, that do not match a query. It returns an error with
// the set's name if none match.
func (s *Set) Keep(query, name string) error {
	f, err := NewFilter(query)
	if err != nil {
		return err
	}
	kept, names := s.Results[:0], slices.Collect(maps.Keys(s.Names()))
	for _, r := range s.Results {
		match, err := f.filter.Match(r)
		if err != nil {
			return &FilterError{f.query, err}
		}
		if match.Apply(r) {
			kept = append(kept, r)
		}
	}
	if s.Results = kept; len(kept) == 0 {
		return f.Nothing(fmt.Sprintf("no result of %s matches", name), names)
	}
	return nil
}

// Names returns the names of the results, without the word Benchmark.
func (s *Set) Names() map[string]bool {
	names := map[string]bool{}
	for _, r := range s.Results {
		names[r.Name.String()] = true
	}
	return names
}
