package session

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
)

func namesOf(all []access.Comparison) map[string]bool {
	names := map[string]bool{}
	for _, c := range all {
		for _, b := range c {
			names[b.Name] = true
		}
	}
	return names
}

func of(study, name string) bool { return strings.HasPrefix(name, study+"/") }

// Only removes from a session, before it runs, the benchmarks and studies not in names. names holds
// names of benchmarks and of studies' results.
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
	s.Studies = slices.DeleteFunc(slices.Clone(s.Studies), func(study string) bool {
		for name := range names {
			if of(study, name) {
				return false
			}
		}
		return true
	})
}

// Expected returns a results file with all that the session could add to a comparison with a
// baseline: names that both have, in the baseline's units, and names that only the session has. It
// is from this machine and these caches. If comparing with it finds nothing, the session need not
// run. Before, it removes from the baseline the benchmarks of the whole suite that the session
// lacks on purpose, unless that would remove all.
func (s *Session) Expected(baseline *results.Set, whole []access.Comparison) ([]byte, error) {
	if err := baseline.CheckValues(); err != nil {
		return nil, err
	}
	own, all, done := namesOf(s.Comparisons), namesOf(whole), map[string]bool{}
	if kept := slices.DeleteFunc(slices.Clone(baseline.Results), func(r *benchfmt.Result) bool {
		name := r.Name.String()
		return all[name] && !own[name]
	}); len(kept) > 0 {
		baseline.Results = kept
	}
	var text bytes.Buffer
	w, err := results.NewWriter(&text, s.setup().Config(), nil)
	if err != nil {
		return nil, err
	}
	for _, r := range baseline.Results {
		name := r.Name.String()
		if done[name] || !own[name] && !slices.ContainsFunc(s.Studies, func(study string) bool {
			return of(study, name)
		}) {
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
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !done[name] {
			for range s.Count {
				if err := w.Write(name, 1, []results.Value{{Value: 1, Unit: "ns/op"}}); err != nil {
					return nil, err
				}
			}
		}
	}
	return text.Bytes(), nil
}
