package history

import (
	"slices"
	"time"

	"github.com/stridebench/stridebench/results"
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
	benchmarks := rollOf(entries)
	for _, s := range AllSeries(entries) {
		if g, gone := s.ended(entries, benchmarks); gone {
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
// are of the same machine or geometry, or of the same sweep.
func (s Series) ended(entries []Entry, benchmarks roll) (Gone, bool) {
	last := s.Points[len(s.Points)-1]
	at := slices.IndexFunc(entries, func(e Entry) bool { return e.File == last.File })
	for _, e := range entries[at+1:] {
		if e.Commit == last.Commit {
			continue
		}
		goesOn := e.on(s.Name, s.Unit, s.Exact) == s.On
		if s.Exact && results.OfSweep(s.Name) && !benchmarks.names[e.File][s.Name] {
			goesOn = benchmarks.overlap(last.File, e.File)
		}
		if goesOn {
			return Gone{Vanished: true, Name: s.Name, Unit: s.Unit, On: s.On, Exact: s.Exact,
				Last: last, Commit: e.Commit, Since: e.Time}, true
		}
	}
	return Gone{}, false
}

// A roll is the benchmarks of each entry, by its file, and which entries have one in common.
type roll struct {
	names  map[string]map[string]bool
	common map[[2]string]bool
}

func rollOf(entries []Entry) roll {
	r := roll{map[string]map[string]bool{}, map[[2]string]bool{}}
	for _, e := range entries {
		r.names[e.File] = map[string]bool{}
		for _, record := range e.Records {
			r.names[e.File][record.Name] = true
		}
	}
	return r
}

// overlap tells whether two entries have a benchmark in common: of a sweep, whose benchmarks are
// each of other caches, nothing else says that it went on.
func (r roll) overlap(a, b string) bool {
	key := [2]string{a, b}
	if common, known := r.common[key]; known {
		return common
	}
	for name := range r.names[a] {
		if r.names[b][name] {
			r.common[key] = true
			return true
		}
	}
	r.common[key] = false
	return false
}

// on is the hash of what a unit of a benchmark of the entry hangs on: the machine's
// fingerprint, or the geometry.
func (e Entry) on(benchmark, unit string, exact bool) string {
	if exact {
		return e.Geometry.For(benchmark, unit).Hash()
	}
	return e.Fingerprint
}
