package reuse

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// A Curve tells the misses of LRU caches of every capacity. Capacities and
// distances are in lines of one set: the lines of a fully associative cache,
// the ways of one with more sets.
type Curve struct {
	Refs uint64 // references, each an access
	// references to a line that was not touched before, which miss at any capacity: the compulsory
	// misses
	Cold  uint64
	Lines uint64 // distinct lines touched, in all sets: the working set
	// Distances is the histogram of the other references, by rising distance.
	Distances []Bin

	misses []uint64 // of the capacity of each bin
}

// A Bin counts the references that hit from a capacity on.
type Bin struct {
	// the stack distance, in lines of one set: the smallest capacity that hits
	Distance uint64 `json:"distance"`
	Refs     uint64 `json:"refs"`
}

// Misses is the number of references that miss in a cache with a capacity of
// so many lines a set: those that are cold or have a larger distance.
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
	Capacity uint64 // in lines a set
	Misses   uint64
	Knee     bool // the curve falls notably to here, and hardly on to the next power of two
}

// aHundredth of the references, or of a fall, is what counts as notable.
const aHundredth = 100

// Points returns the points of the curve that tell its shape, by rising
// capacity: the powers of two, up to the first beyond which only cold misses
// are left, at which the misses differ from those of the power before; the
// knees; and the capacities that are asked for.
//
// A knee is the smallest capacity that has all but a hundredth of the fall to
// the next power of two, where that fall is a hundredth of the references or
// more.
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

// A histogram counts references by distance.
type histogram struct {
	cold uint64
	refs []uint64 // by distance
	low  uint64   // the distance of the lower line of a reference to two
}

// add counts references with a distance. With none of them, the distance is
// that of a lower line of the reference that is added next.
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
