package exact

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// never is an interval that does not occur.
const never = math.MaxInt

// A level is a cache with the masses found for it.
type level struct {
	engine.Level
	known []knownMass
}

// An operand is one operand of a nest, taken alone.
type operand struct {
	alone    nest.Nest // canonical: the operand's iterations in fewer loops
	all      []pattern // between any two touches of a line, by least
	patterns []pattern // the subset that may lead to a line's last touch
	// Of the level before: the interval from which on all accesses miss, and the longest stay in
	// iterations. Before the first level they are 1 and 0: all accesses come.
	misses, lasting int
	hits            int             // intervals up to it hit here or before, and go no further
	crowds          map[crowdOf]int // memoized level.crowd
	masses          map[massOf]int  // memoized level.mass
	fewest          map[*level]int  // memoized touched.Fewest, for level.inPass
}

type crowdOf struct {
	level              *level
	iterations, enough int
}

type massOf struct {
	level              *level
	iterations, misses int
}

// reuseIntervals counts the misses of a nest's operands on empty levels from their reuse intervals,
// and reports whether it could. The misses of operand r in level i are at r*len(levels)+i. If first
// is false, those in the first level are unknown and left 0. Of several passes, only the last one's
// misses are counted; passes 1 is the whole nest.
//
// Premises: operands share no line, all levels have lines of one size, and no access straddles two
// lines. The reuse interval of an access is the number of iterations since its operand last touched
// the same line, if ever. The strides alone decide which intervals occur, and where (pattern).
//
// Level 0:
//
//  1. Choose h such that all operands together touch, in any h consecutive iterations, at most as
//     many lines of any set as there are ways (holds).
//  2. An access whose interval is at most h hits. Its window, with its own line, has the accesses
//     of h iterations of each operand.
//  3. Choose m such that any m-1 consecutive iterations touch at least as many lines of every set
//     as there are ways (thrashes).
//  4. An access whose interval is m or more misses. At least m-1 iterations lie between, and none
//     of them touches its own line.
//  5. If no interval is above h and below m, the accesses with intervals of m or more miss. Those
//     without interval miss, too, because the levels were empty.
//
// Level i+1:
//
//  1. Intervals of m or more miss in level i and in all levels before it.
//  2. A stay is a sequence of touches of a line, each less than m iterations after the one before.
//  3. The first touch of a stay misses in level i, so it reaches level i+1.
//  4. Let no stay last longer than s iterations. If an access of interval g reaches level i+1, its
//     line was touched there at most g+s iterations before. That was the first touch of the stay
//     with the preceding touch, or a later one.
//  5. So the access hits if g+s is at most this level's h.
//  6. Its window in this level has at least the lines whose stays begin in the g-1 iterations
//     between. So it misses if they fill all ways of every set.
//  7. If g is at least m, the access does reach this level.
//  8. Find bounds for this level as for level 0, with an m no less than level i's. The misses are
//     the accesses with large intervals and those with none. All of them reach this level.
//
// Later levels need only the first level's m. So the first level may have intervals of all sizes,
// and be counted in another way.
func reuseIntervals(levels []engine.Level, refs []operand, passes int) (misses []uint64,
	first, ok bool) {
	line := 1 << levels[0].Shift
	misses, first = make([]uint64, len(refs)*len(levels)), true
	for i := range levels {
		l := &level{Level: levels[i]}
		bounds := make([][2]int, len(refs))
		for r := range refs {
			hits, large, ok := l.bounds(refs, r)
			bounds[r] = [2]int{hits, large}
			switch {
			case ok:
				if misses[r*len(levels)+i], ok = refs[r].beginnings(hits, line, passes); !ok {
					return nil, false, false
				}
			case i == 0 && len(levels) > 1:
				first = false
				bounds[r][1] = l.surely(refs, r)
			default:
				return nil, false, false
			}
		}
		for r := range refs {
			refs[r].hits, refs[r].misses = bounds[r][0], bounds[r][1]
			refs[r].lasting = refs[r].stay(bounds[r][1], line)
		}
	}
	for r := range refs {
		if !first {
			misses[r*len(levels)] = 0
		}
	}
	return misses, first, true
}

// operandsOf prepares the operands of a nest, if the premises of reuseIntervals hold.
func operandsOf(levels []engine.Level, n nest.Nest) (list []operand, ok bool) {
	line := 1 << levels[0].Shift
	sameLine := func(l engine.Level) bool { return 1<<l.Shift == line }
	if !all(levels, sameLine) || n.Iterations() < 2 || overlap(n.Trips, n.Operands, line) {
		return nil, false
	}
	for r, op := range n.Operands {
		step := nest.GCD(line, int(op.Base%uint64(line)))
		for _, s := range op.Strides {
			step = nest.GCD(step, s)
		}
		if step%op.Width != 0 { // it may straddle two lines
			return nil, false
		}
		alone := n.Only(r).Canonical()
		every, ok := patternsOf(alone, line)
		if !ok {
			return nil, false
		}
		slices.SortFunc(every, func(a, b pattern) int { return a.least - b.least })
		occurs := newOccurring(alone, line)
		never := func(p pattern) bool { return p.passes(alone) || !occurs.by(&p) }
		list = append(list, operand{
			alone: alone, all: every, patterns: slices.DeleteFunc(slices.Clone(every),
				never), misses: 1,
			crowds: map[crowdOf]int{}, masses: map[massOf]int{},
			fewest: map[*level]int{}})
	}
	return list, true
}

func all[E any](list []E, is func(E) bool) bool {
	return !slices.ContainsFunc(list, func(e E) bool { return !is(e) })
}

// overlap reports whether two operands' ranges of lines have a line in common.
func overlap(trips []int, operands []nest.Operand, line int) bool {
	for i, op := range operands {
		first, last := op.Reach(trips)
		for _, other := range operands[:i] {
			from, to := other.Reach(trips)
			if first/uint64(line) <= to/uint64(line) && from/uint64(line) <= last/uint64(line) {
				return true
			}
		}
	}
	return false
}

// bounds returns two bounds for operand r: intervals up to hits hit, and intervals from misses on
// miss. It reports whether these are all intervals.
func (l *level) bounds(refs []operand, r int) (hits, misses int, ok bool) {
	o := &refs[r]
	var sizes []int
	for _, p := range o.patterns {
		sizes = append(sizes, p.most)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	// the first size that is too large
	at, _ := slices.BinarySearchFunc(sizes, true, func(size int, _ bool) int {
		if l.holds(refs, size+o.lasting) {
			return -1
		}
		return 1
	})
	if at > 0 {
		hits = sizes[at-1]
	}
	hits = max(hits, o.hits)
	misses = never
	comes := all(o.patterns, func(p pattern) bool { return p.least >= o.misses })
	rest := never // least interval at which the operand alone does not evict the line
	for _, p := range o.patterns {
		if p.most > hits {
			misses = min(misses, p.least)
			if !comes || l.drivesOut(o, &p) < l.Ways {
				rest = min(rest, p.least)
			}
		}
	}
	switch {
	case misses == never:
		return hits, misses, true
	case misses < o.misses:
		return hits, misses, false
	case rest == never || l.thrashes(refs, rest-1):
		return hits, misses, true
	}
	return hits, misses, false
}

// surely returns the least interval of operand r from which on all its accesses miss.
func (l *level) surely(refs []operand, r int) int {
	var sizes []int
	for _, p := range refs[r].patterns {
		sizes = append(sizes, p.least)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	at, _ := slices.BinarySearchFunc(sizes, true, func(size int, _ bool) int {
		if l.thrashes(refs, size-1) {
			return 1
		}
		return -1
	})
	if at == len(sizes) {
		return never
	}
	return sizes[at]
}

// stay returns an upper bound of the iterations between two touches of a line, with only intervals
// below misses between them.
//
//  1. Let g be the largest such interval.
//  2. The time between any two touches of a line lies in the range of a pattern.
//  3. If no range begins in the g iterations after the end of a range that a stay reaches, the stay
//     ends there.
func (o *operand) stay(misses, line int) int {
	g := 0
	for _, p := range o.patterns {
		if p.least < misses {
			g = max(g, p.most)
		}
	}
	if g == 0 {
		return 0
	}
	reach, occurs := 0, newOccurring(o.alone, line)
	for _, p := range o.all {
		if p.least > reach+g {
			break
		}
		if p.longest > reach && occurs.by(&p) {
			reach = p.longest
		}
	}
	return reach
}
