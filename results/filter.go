package results

import (
	"fmt"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// A Filter takes benchmarks, in benchproc's filter language.
type Filter struct {
	query  string
	filter *benchproc.Filter
}

// NewFilter reads a query such as ".name:Copy /layout:transpose".
func NewFilter(query string) (*Filter, error) {
	filter, err := benchproc.NewFilter(query)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", query, err)
	}
	return &Filter{query, filter}, nil
}

// Match tells whether the filter takes a benchmark of this name, which has not run
// yet and may have all [Units].
func (f *Filter) Match(name string) (bool, error) {
	r := &benchfmt.Result{Name: benchfmt.Name(name)}
	for _, u := range Units { // or a filter would match no measurement
		r.Values = append(r.Values, benchfmt.Value{Unit: u.Name})
	}
	return f.match(r)
}

func (f *Filter) match(r *benchfmt.Result) (bool, error) {
	match, err := f.filter.Match(r)
	if err != nil {
		return false, fmt.Errorf("%q: %w", f.query, err)
	}
	return match.Any(), nil
}

// Keep leaves in a set what the filter takes. None is an error, which names the
// set by name.
func (f *Filter) Keep(s *Set, name string) error {
	kept := s.Results[:0]
	for _, r := range s.Results {
		match, err := f.match(r)
		if err != nil {
			return err
		}
		if match {
			kept = append(kept, r)
		}
	}
	if s.Results = kept; len(kept) == 0 {
		return fmt.Errorf("%q: no result of %s matches", f.query, name)
	}
	return nil
}

// Names are the names of a set's results, without the word Benchmark.
func (s *Set) Names() map[string]bool {
	names := map[string]bool{}
	for _, r := range s.Results {
		names[r.Name.String()] = true
	}
	return names
}
