package history

import (
	"slices"
	"time"
)

// A Gone series ended though the machine, or the simulated caches, that it is of
// went on: nothing tells what became of it.
type Gone struct {
	Vanished bool      `json:"vanished"` // true: what sets it apart from a Change
	Name     string    `json:"name"`
	Unit     string    `json:"unit,omitempty"` // "" if no unit of the name is left
	On       string    `json:"on"`
	Label    string    `json:"label,omitempty"` // as of Series
	Exact    bool      `json:"exact"`
	Last     Point     `json:"last"`  // that there is
	Commit   string    `json:"first"` // the first one without it
	Since    time.Time `json:"time"`  // of that commit
}

// vanished finds the series, of entries that are by time, that the last commit of
// their machine or geometry lacks. One stands for a benchmark of which nothing is
// left.
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

// ended tells whether entries after the last one of a series, of other commits,
// are of the same machine or geometry.
func (s Series) ended(entries []Entry) (Gone, bool) {
	last := s.Points[len(s.Points)-1]
	at := slices.IndexFunc(entries, func(e Entry) bool { return e.File == last.File })
	for _, e := range entries[at+1:] {
		if on := e.on(s.Name, s.Unit, s.Exact); on == s.On && e.Commit != last.Commit {
			return Gone{Vanished: true, Name: s.Name, Unit: s.Unit, On: s.On, Exact: s.Exact, Last: last, Commit: e.Commit, Since: e.Time}, true
		}
	}
	return Gone{}, false
}

// on is the hash of what a unit of a benchmark of the entry hangs on: the machine's
// fingerprint, or the geometry.
func (e Entry) on(benchmark, unit string, exact bool) string {
	if exact {
		return e.Geometry.For(benchmark, unit).Hash()
	}
	return e.Fingerprint
}
