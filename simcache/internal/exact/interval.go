package exact

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// never is an interval that does not occur.
const never = math.MaxInt

// A level is one that is asked, and what was found out of it.
type level struct {
	engine.Level
	known []knownMass
}

// An operand is one of a nest, by itself.
type operand struct {
	alone    nest.Nest // the operand's, canonical: as many iterations, in fewer loops
	all      []pattern // between any two touches of a line
	patterns []pattern // of these, those that may lead to its last touch
	// Of the level before: the least interval from which on all miss there, and the iterations that a
	// stay lasts at most. Before the first level they are 1 and 0: all come.
	misses, lasting int
	hits            int             // intervals up to it hit there, or before, and do not come
	crowds          map[crowdOf]int // that are known
	masses          map[massOf]int  // likewise
	sweeps          map[*level]int  // likewise, of level.fewest
}

// A crowdOf is what level.crowd is asked of an operand.
type crowdOf struct {
	level              *level
	iterations, enough int
}

// A massOf is what level.mass is asked of an operand, whose misses the level before decides.
type massOf struct {
	level              *level
	iterations, misses int
}

// reuseIntervals counts the misses of operands of a nest on empty levels from the intervals between
// the touches of a line, and reports whether that could be done. The misses of operand r in level
// i are at r*len(levels)+i. If first is false, those in the first level are not known and left 0.
// Of a nest that makes passes, of which 1 is the whole nest, the misses of the last one are counted.
//
// Say that operands share no line, that all levels have lines of one size, and that no access
// lies in two. The reuse interval of an access is the number of iterations since its operand last
// touched the same line, if it ever did. Which intervals occur, and where, follows from the
// strides alone (pattern).
//
// Level 0. Say that what all operands touch in any h consecutive iterations is, together, at most
// as many lines of any set as there are ways (holds). An access whose interval is at most h hits:
// in its window, with its own line, are the accesses of h iterations of each operand. Say that any
// m-1 consecutive iterations touch at least as many lines of every set as there are ways (floods).
// An access whose interval is m or more misses: that many iterations lie between, and none of them
// touches its own line. If no interval is above h and below m, the misses are the accesses with
// intervals of m or more, and those that have none, since the levels were empty.
//
// Level i+1. Say that intervals of m or more make misses in level i and in all before it. Call
// touches of a line in a row, each less than m after the one before it, a stay. The first touch of
// a stay misses in level i, so it reaches level i+1. Let no stay last longer than s iterations. If
// an access of interval g reaches level i+1, its line was there at most g+s iterations before: at
// the first touch of the stay that the touch before it belongs to, or later. So it hits if g+s is
// at most this level's h. Its window in this level has at least the lines whose stays begin in the
// g-1 iterations between. So it misses if these are at least as many as the ways in every set; and
// if g is at least m, it does come. With bounds for this level like those of level 0, its own m no
// less than the one of level i, its misses are the accesses with large intervals and those with
// none, all of which reach it.
//
// The levels after the first ask of the first no more than m, so that it may have intervals of all
// sizes, and be counted otherwise.
func reuseIntervals(levels []engine.Level, refs []operand, passes int) (misses []uint64, first, ok bool) {
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

// operandsOf prepares the operands of a nest, if the rule may be asked of it.
func operandsOf(levels []engine.Level, n nest.Nest) (list []operand, ok bool) {
	line := 1 << levels[0].Shift
	sameLine := func(l engine.Level) bool { return 1<<l.Shift == line }
	if !all(levels, sameLine) || n.Iterations() == 0 || overlap(n.Trips, n.Operands, line) {
		return nil, false
	}
	for r, op := range n.Operands {
		step := nest.GCD(line, int(op.Base%uint64(line)))
		for _, s := range op.Strides {
			step = nest.GCD(step, s)
		}
		if step%op.Width != 0 { // it may lie in two lines
			return nil, false
		}
		alone := n.Only(r).Canonical()
		every, ok := patternsOf(alone, line)
		if !ok {
			return nil, false
		}
		occurs := newOccurring(alone, line)
		never := func(p pattern) bool { return p.passes(alone) || !occurs.by(&p) }
		list = append(list, operand{
			alone: alone, all: every, patterns: slices.DeleteFunc(slices.Clone(every), never), misses: 1,
			crowds: map[crowdOf]int{}, masses: map[massOf]int{}, sweeps: map[*level]int{}})
	}
	return list, true
}

// all reports whether each element of a list is so.
func all[E any](list []E, is func(E) bool) bool {
	return !slices.ContainsFunc(list, func(e E) bool { return !is(e) })
}

// overlap reports whether the stretches of lines that two operands touch have one in common.
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

// bounds are two bounds for operand r in a level: intervals up to the one hit, and intervals from
// the other on miss. It reports whether that is all intervals.
func (l *level) bounds(refs []operand, r int) (hits, misses int, ok bool) {
	o := &refs[r]
	var sizes []int
	for _, p := range o.patterns {
		sizes = append(sizes, p.most)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	// the least that is too large
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
	rest := never // of those that the operand alone does not drive out
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
	case rest == never || l.floods(refs, rest-1):
		return hits, misses, true
	}
	sure := l.surely(refs, r)
	return hits, misses, all(o.patterns, func(p pattern) bool {
		return p.most <= hits || p.least >= sure || comes && l.drivenOut(refs, r, &p)
	})
}

// surely is the least interval of operand r from which on all miss in the first level.
func (l *level) surely(refs []operand, r int) int {
	var sizes []int
	for _, p := range refs[r].patterns {
		sizes = append(sizes, p.least)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	at, _ := slices.BinarySearchFunc(sizes, true, func(size int, _ bool) int {
		if l.floods(refs, size-1) {
			return 1
		}
		return -1
	})
	if at == len(sizes) {
		return never
	}
	return sizes[at]
}

// stay is at least the number of iterations between two touches of a line that have only
// intervals of less than misses between them.
//
// Say that these intervals are at most g. The times between any two touches of a line lie in
// the ranges of the patterns. If no range begins in the g iterations after one that a stay
// can reach, it gets no further.
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
	ranges, occurs := slices.Clone(o.all), newOccurring(o.alone, line)
	slices.SortFunc(ranges, func(a, b pattern) int { return a.least - b.least })
	reach := 0
	for _, p := range ranges {
		if p.least > reach+g {
			break
		}
		if p.longest > reach && occurs.by(&p) {
			reach = p.longest
		}
	}
	return reach
}
