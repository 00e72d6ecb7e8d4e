package history

import (
	"slices"
	"time"
)

// A Gone is a series that ended although its machine, or its simulated caches, has later entries.
type Gone struct {
	Vanished bool      `json:"vanished"` // always true: distinguishes it from a Change
	Name     string    `json:"name"`
	Unit     string    `json:"unit,omitempty"` // "" if no unit of the name is left
	On       string    `json:"on"`
	Label    string    `json:"label,omitempty"` // see Series
	Exact    bool      `json:"exact"`
	Last     Point     `json:"last"`  // the last one
	Commit   string    `json:"first"` // first commit without it
	Since    time.Time `json:"time"`  // its time
}

// vanished returns series that the last commit of their machine or geometry lacks. A benchmark
// without any other series is reported once.
func vanished(entries []Entry) []Gone {
	var ended []Gone
	alive := map[string]bool{}
	for _, s := range AllSeries(entries) {
		if g, gone := s.ended(entries); gone {
			ended = append(ended, g)
		} else {
			alive[s.Name] = true
		}
	}
	var found []Gone
	for _, g := range ended {
		if !alive[g.Name] {
			if slices.ContainsFunc(found, func(f Gone) bool { return f.Name == g.Name }) {
				continue
			}
			g.Unit = ""
		}
		found = append(found, g)
	}
	return found
}

// ended reports whether later entries have the same machine or geometry, but not the series.
func (s Series) ended(entries []Entry) (Gone, bool) {
	last := s.Points[len(s.Points)-1]
	at := slices.IndexFunc(entries, func(e Entry) bool { return e.File == last.File })
	for _, e := range entries[at+1:] {
		if e.Commit != last.Commit && e.on(s.Name, s.Unit, s.Exact) == s.On {
			return Gone{Vanished: true, Name: s.Name, Unit: s.Unit, On: s.On, Exact: s.Exact,
				Last: last, Commit: e.Commit, Since: e.Time}, true
		}
	}
	return Gone{}, false
}

// on returns the hash of the machine or the geometry that a unit depends on.
func (e Entry) on(benchmark, unit string, exact bool) string {
	if exact {
		return e.Geometry.For(benchmark, unit).Hash()
	}
	return e.Fingerprint
}
