package reuse

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// A Curve holds the misses of LRU caches of every capacity. Capacities and distances are in lines
// of one set: all lines of a fully associative cache, else its ways.
type Curve struct {
	Refs uint64 // references: one for each access
	// compulsory misses: first touches of lines, which miss at any capacity
	Cold  uint64
	Lines uint64 // distinct lines touched, in all sets: the working set
	// Distances is the histogram of the other references, by ascending distance.
	Distances []Bin

	misses []uint64 // misses at the capacity of each bin
}

// A Bin counts the references with one reuse distance.
type Bin struct {
	// reuse distance, in lines of one set: the smallest capacity that hits
	Distance uint64 `json:"distance"`
	Refs     uint64 `json:"refs"`
}

// Misses returns the references that miss with capacity lines in each set: cold ones and those with
// a larger distance.
func (c Curve) Misses(capacity uint64) uint64 {
	i := sort.Search(len(c.Distances), func(i int) bool {
		return c.Distances[i].Distance > capacity
	})
	if i == 0 {
		return c.Refs
	}
	return c.misses[i-1]
}

// A Point is one point of a curve.
type Point struct {
	Capacity uint64 // lines in a set
	Misses   uint64
	Knee     bool // the curve falls notably up to here, and hardly to the next power of two
}

// aHundredth of the references, or of a fall, counts as notable.
const aHundredth = 100

// Points returns the points that show the curve's shape: powers of two whose misses differ from the
// power before, knees, and the capacities in also. The powers end once only cold misses are left.
//
// A knee is the smallest capacity with all but a hundredth of the fall to the next power of two.
// That fall must be at least a hundredth of the references.
func (c Curve) Points(also ...uint64) []Point {
	points := []Point{}
	add := func(capacity uint64, knee bool) {
		points = append(points, Point{capacity, c.Misses(capacity), knee})
	}
	add(1, false)
	for low, i := uint64(1), 0; i < len(c.Distances) && low < 1<<63; low *= 2 {
		high := 2 * low
		before, after := c.Misses(low), c.Misses(high)
		if before == after {
			continue
		}
		for i < len(c.Distances) && (c.Distances[i].Distance <= low ||
			c.misses[i]-after > (before-after)/aHundredth) {
			i++
		}
		if knee := c.Distances[i].Distance; knee < high && before-after >= c.Refs/aHundredth {
			add(knee, true)
		}
		add(high, false)
	}
	for _, capacity := range also {
		add(capacity, false)
	}
	slices.SortStableFunc(points, func(a, b Point) int {
		return cmp.Compare(a.Capacity, b.Capacity)
	})
	return slices.CompactFunc(points, func(a, b Point) bool { return a.Capacity == b.Capacity })
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

func (h *histogram) curve() Curve {
	c := Curve{Cold: h.cold, Refs: h.cold}
	for d, n := range h.refs {
		if n > 0 {
			c.Distances = append(c.Distances, Bin{uint64(d), n})
			c.Refs += n
		}
	}
	c.misses = make([]uint64, len(c.Distances))
	left := c.Refs
	for i, b := range c.Distances {
		left -= b.Refs
		c.misses[i] = left
	}
	return c
}
