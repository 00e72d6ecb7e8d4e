package results

import (
	"errors"
	"fmt"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// A Filter takes benchmarks, in benchproc's filter language.
type Filter struct {
	query  string
	filter *benchproc.Filter
}

// A FilterError is of a filter: it cannot be read, or takes nothing.
type FilterError struct {
	Query string
	Err   error
}

// Error begins with the query.
func (e *FilterError) Error() string { return fmt.Sprintf("%q: %v", e.Query, e.Err) }

// Unwrap is why.
func (e *FilterError) Unwrap() error { return e.Err }

// NewFilter reads a query such as ".name:Copy /layout:transpose". It returns a
// FilterError, as all methods do.
func NewFilter(query string) (*Filter, error) {
	filter, err := benchproc.NewFilter(query)
	if err != nil {
		return nil, &FilterError{query, err}
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
		return false, &FilterError{f.query, err}
	}
	return match.Any(), nil
}

// Nothing is the error of a filter that takes nothing of what there is.
func (f *Filter) Nothing(why string) error { return &FilterError{f.query, errors.New(why)} }

// Keep leaves in the set, which is called by a name, what a query takes. That it
// takes none is an error.
func (s *Set) Keep(query, name string) error {
	f, err := NewFilter(query)
	if err != nil {
		return err
	}
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
		return f.Nothing(fmt.Sprintf("no result of %s matches", name))
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
