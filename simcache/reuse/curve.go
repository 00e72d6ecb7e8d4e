package reuse

import (
	"maps"
	"math/bits"
	"slices"
)

// A Table holds the misses of LRU caches of every capacity. Capacities and distances are in lines
// of one set: all lines of a fully associative cache, else its ways.
type Table struct {
	Line int    `json:"line"`
	Sets int    `json:"sets"`
	Refs uint64 `json:"refs"` // references: one for each access
	// compulsory misses: first touches of lines, which miss at any capacity
	Cold   uint64  `json:"cold"`
	Lines  uint64  `json:"lines"` // distinct lines touched, in all sets: the working set
	Points []point `json:"points"`
	// Distances is the histogram of the other references, by ascending distance.
	Distances []Bin `json:"distances"`
}

// A Bin counts the references with one reuse distance.
type Bin struct {
	// reuse distance, in lines of one set: the smallest capacity that hits
	Distance uint64 `json:"distance"`
	Refs     uint64 `json:"refs"`
}

// A point is one point of a curve.
type point struct {
	Capacity uint64   `json:"capacity"` // lines in a set
	Bytes    uint64   `json:"bytes"`
	Misses   uint64   `json:"misses"`
	Ratio    float64  `json:"ratio"`
	Marks    []string `json:"marks,omitempty"`
}

// Misses returns the references that miss with capacity lines in each set: cold ones and those with
// a larger distance.
func (t *Table) Misses(capacity uint64) uint64 {
	misses := t.Cold
	for _, b := range slices.Backward(t.Distances) {
		if b.Distance <= capacity {
			break
		}
		misses += b.Refs
	}
	return misses
}

// aHundredth of the references, or of a fall, counts as notable.
const aHundredth = 100

// draw finds the points that show the curve's shape: powers of two whose misses differ from the
// power before, knees, and the marked capacities. The powers end once only cold misses are left.
//
// A knee is the smallest capacity with all but a hundredth of the fall to the next power of two.
// That fall must be at least a hundredth of the references.
func (t *Table) draw(marks map[uint64][]string) {
	capacities := append(slices.Collect(maps.Keys(marks)), 1)
	i, left := 0, t.Refs // misses with less than the distance of bin i
	for low := uint64(1); i < len(t.Distances) && low < 1<<63; low *= 2 {
		before, after := t.Misses(low), t.Misses(2*low)
		if before == after {
			continue
		}
		bin := t.Distances[i]
		for bin.Distance <= low || left-bin.Refs-after > (before-after)/aHundredth {
			i, left = i+1, left-bin.Refs
			bin = t.Distances[i]
		}
		if bin.Distance < 2*low && before-after >= t.Refs/aHundredth {
			capacities = append(capacities, bin.Distance)
			marks[bin.Distance] = append(marks[bin.Distance], "knee")
		}
		capacities = append(capacities, 2*low)
	}
	slices.Sort(capacities)
	for _, c := range slices.Compact(capacities) {
		misses := t.Misses(c)
		t.Points = append(t.Points, point{c, c * uint64(t.Sets*t.Line), misses,
			float64(misses) / float64(max(t.Refs, 1)), marks[c]})
	}
}

type histogram struct {
	cold uint64
	refs []uint64 // by distance
	low  uint64   // distance of the lower line of a reference to two lines
}

// add counts refs references with a distance. With 0 refs, the distance is of a lower line of the
// next reference.
func (h *histogram) add(distance, refs uint64) {
	distance = max(distance, h.low)
	h.low = 0
	if refs == 0 {
		h.low = distance
		return
	}
	if distance >= uint64(len(h.refs)) {
		if distance == cold {
			h.cold += refs
			return
		}
		grown := make([]uint64, max(64, 1<<bits.Len64(distance)))
		copy(grown, h.refs)
		h.refs = grown
	}
	h.refs[distance] += refs
}

// table returns the counts so far, without points.
func (s *stacks) table() *Table {
	s.flush()
	t := &Table{Line: s.line, Sets: len(s.stacks), Cold: s.counts.cold, Refs: s.counts.cold,
		Distances: []Bin{}}
	for d, n := range s.counts.refs {
		if n > 0 {
			t.Distances = append(t.Distances, Bin{uint64(d), n})
			t.Refs += n
		}
	}
	for i := range s.stacks {
		t.Lines += s.stacks[i].live
	}
	return t
}
