package session

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
)

// Names are the names of the benchmarks of comparisons.
func Names(all []access.Comparison) map[string]bool {
	names := map[string]bool{}
	for _, c := range all {
		for _, b := range c {
			names[b.Name] = true
		}
	}
	return names
}

// of tells whether a result, by its name, is one of a study.
func of(s access.Study, name string) bool { return strings.HasPrefix(name, s.Name+"/") }

// Only leaves in the session, which did not run yet, what is among names, of
// benchmarks and of results of studies.
func (s *Session) Only(names map[string]bool) {
	all, patterns := s.Comparisons, s.patterns
	s.Comparisons, s.patterns = nil, nil
	for i, c := range all {
		var some access.Comparison
		var theirs []access.Pattern
		for k, b := range c {
			if names[b.Name] {
				some, theirs = append(some, b), append(theirs, patterns[i][k])
			}
		}
		if some != nil {
			s.Comparisons, s.patterns = append(s.Comparisons, some), append(s.patterns, theirs)
		}
	}
	s.Studies = slices.DeleteFunc(slices.Clone(s.Studies), func(study access.Study) bool {
		for name := range names {
			if of(study, name) {
				return false
			}
		}
		return true
	})
}

// Expected is the most that the session can give to compare with a baseline: a
// file with each name that both have, and what the baseline says of it, as of this
// machine and these caches; and with the names that only the session has. What
// this compares with nothing need not be run.
func (s *Session) Expected(baseline *results.Set) ([]byte, error) {
	if err := baseline.CheckValues(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	w, err := results.NewWriter(&text, s.setup().Config(), nil)
	if err != nil {
		return nil, err
	}
	own, done := Names(s.Comparisons), map[string]bool{}
	for _, r := range baseline.Results {
		name := r.Name.String()
		if done[name] || !own[name] && !slices.ContainsFunc(s.Studies, func(study access.Study) bool { return of(study, name) }) {
			continue
		}
		done[name] = true
		var values []results.Value
		for _, v := range r.Values {
			values = append(values, results.Value{Value: 1, Unit: cmp.Or(v.OrigUnit, v.Unit)})
		}
		for range s.Count {
			if err := w.Write(name, 1, values); err != nil {
				return nil, err
			}
		}
	}
	for name := range own {
		if !done[name] {
			if err := w.Write(name, 1, []results.Value{{Value: 1, Unit: "ns/op"}}); err != nil {
				return nil, err
			}
		}
	}
	return text.Bytes(), nil
}

// LeaveOut takes out of a baseline what of the whole suite the session lacks: that
// was asked for, and is nothing that vanished. It returns how many results that
// are; where it would be all, the baseline stays as it is, and it is 0.
func (s *Session) LeaveOut(baseline *results.Set, whole []access.Comparison) int {
	own, all := Names(s.Comparisons), Names(whole)
	kept := slices.DeleteFunc(slices.Clone(baseline.Results), func(r *benchfmt.Result) bool {
		name := r.Name.String()
		return all[name] && !own[name]
	})
	left := len(baseline.Results) - len(kept)
	if len(kept) == 0 {
		return 0
	}
	baseline.Results = kept
	return left
}
