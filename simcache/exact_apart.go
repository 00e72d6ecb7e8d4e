package simcache

import (
	"math"
	"math/bits"
	"slices"
)

// apartFrom is the number of accesses from which rule D is worth a try.
const apartFrom = 10_000_000

// apart is rule D: from empty levels, it counts the misses of so many passes
// over nests by simulating each operand alone, and reports whether that was
// right to do. The misses of operand r of nest k in level i during pass p are
// at [p][k][r*len(levels)+i]. It does not say what the levels hold afterwards.
//
// Say that operand r of any nest shares no block, of the largest line, with
// another operand of any nest. Take an access of an operand that reaches level i
// both alone and in company. Its window in company is that alone plus accesses
// of the others, so if it misses alone, it misses in company. If it hits alone,
// depth other blocks of its set are in its window, and its block was last
// touched T iterations ago, T >= 1; in between lie, of every other operand, the
// accesses of at most T consecutive iterations, no matter which operand comes
// first in the body. Let crowd be at least the number of blocks of one set that
// T consecutive iterations of another operand touch. If depth plus the crowds of
// all others is at most ways-1, it hits in company. If so for every hit in level
// i, the accesses that reach level i+1 in company are those that reach it alone.
//
// A crowd never shrinks as T grows. So it is enough to keep, of all hits with T
// between two powers of two, the greatest depth and the greatest T (reuses). A
// hit that a rule skips has the window of one that was looked up, moved, with
// the same depth and T.
func (x *prover) apart(nests []Nest, passes int) (misses [][][]uint64, ok bool) {
	if !disjoint(nests, x.maxShift()) {
		return nil, false
	}
	misses = make([][][]uint64, passes)
	for p := range misses {
		misses[p] = make([][]uint64, len(nests))
	}
	var alone []*prover
	for r := range nests[0].Operands {
		lone := x.lone()
		for p := range misses {
			for k, n := range nests {
				misses[p][k] = append(misses[p][k], lone.run(n.only(r))...)
			}
		}
		x.visited += lone.visited
		alone = append(alone, lone)
	}
	company := company{nests, passes, min(max(1<<16, int(alone[0].now)), 1<<24)}
	for r, lone := range alone {
		for i := range lone.levels {
			for _, reuse := range lone.levels[i].reuses {
				if reuse.hit && !company.keeps(&x.levels[i], r, reuse) {
					x.took.together++
					return nil, false
				}
			}
		}
	}
	x.took.apart++
	return misses, true
}

// only is the nest with one of its operands, canonical.
func (n Nest) only(r int) Nest {
	return Nest{Trips: n.Trips, Operands: n.Operands[r : r+1]}.Canonical()
}

// apartCost is the look-ups that rule D would need, about.
func (x *prover) apartCost(nests []Nest, passes int) float64 {
	cost := 0.0
	for _, n := range nests {
		for r := range n.Operands {
			cost += x.plan(n.only(r)).cost
		}
	}
	return cost * float64(passes)
}

// disjoint reports whether all nests have as many operands, at least two, and
// none shares a block with another, which is one in another place of the list.
func disjoint(nests []Nest, shift uint) bool {
	var list []extent
	for _, n := range nests {
		if len(n.Operands) < 2 || len(n.Operands) != len(nests[0].Operands) {
			return false
		}
		for r, op := range n.Operands {
			first, last := op.reach(n.Trips)
			list = append(list, extent{first >> shift, last >> shift, int64(r)})
		}
	}
	return !meet(list)
}

// lone is an empty prover of the same levels that times reuses.
func (x *prover) lone() *prover {
	var specs []levelSpec
	for i := range x.levels {
		specs = append(specs, x.levels[i].levelSpec)
	}
	lone := newProver(specs)
	lone.maxEpoch = x.maxEpoch
	for i := range lone.levels {
		lone.levels[i].when, lone.levels[i].extra = make([]uint64, specs[i].lines()), true
	}
	return lone
}

// A reuse stands for hits whose T has as many bits.
type reuse struct {
	hit   bool   // there are any
	depth int    // the greatest number of other blocks of the set in the window
	time  uint64 // the greatest T
}

// time notes a look-up in a level that times reuses, of the block that was at
// place at of its set.
func (l *lruLevel) time(set uint64, at int, hit bool, now uint64) {
	when := l.when[set*uint64(l.ways):][:l.ways]
	if hit && !l.muted {
		t := now - when[at]
		r := &l.reuses[bits.Len64(t)]
		r.hit, r.depth, r.time = true, max(r.depth, at), max(r.time, t)
	}
	copy(when[1:at+1], when[:at])
	when[0] = now
}

// A company is passes over nests whose operands are to be held against one
// another.
type company struct {
	nests  []Nest
	passes int
	budget int // blocks that may yet be counted for it
}

// keeps reports whether hits of operand r in a level stay hits in company.
func (c *company) keeps(l *lruLevel, r int, reuse reuse) bool {
	room := l.ways - 1 - reuse.depth
	for other := range c.nests[0].Operands {
		if other != r {
			room -= c.crowds(l, other, reuse.time, room)
		}
		if room < 0 {
			return false
		}
	}
	return true
}

// crowds is crowd for an operand of passes over several nests.
//
// What t consecutive iterations have of one nest, leaving the others out, are
// consecutive iterations of its passes, at most t. If no nest is shorter than
// t, they are of one nest, or of one and the next.
func (c *company) crowds(l *lruLevel, r int, t uint64, enough int) int {
	sum, pair, before := 0, 0, 0
	shortest := uint64(math.MaxUint64)
	for k := range len(c.nests) + 1 { // around, as from pass to pass
		n := c.nests[k%len(c.nests)]
		crowd := l.crowd(n.repeated(c.passes).only(r), t, enough, &c.budget)
		if pair = max(pair, before+crowd); k < len(c.nests) {
			sum += crowd
		}
		before = crowd
		shortest = min(shortest, uint64(n.Iterations()))
	}
	if len(c.nests) > 1 && t <= shortest {
		return min(pair, sum)
	}
	return sum
}

// crowd is at least the number of blocks of one set that any t consecutive
// iterations of a nest of one operand touch. If that is above enough, or would
// take more than is left of the budget to count, it is something above enough.
//
// Take the innermost loops that together make t iterations or more, or else all
// loops. t iterations lie in one run of these, or in the end of one run and the
// start of the next. If one iteration of the outermost of these loops makes w,
// they are part of at most (t-2)/w+2 consecutive iterations of it, or, of two
// runs, of so many in either.
func (l *lruLevel) crowd(n Nest, t uint64, enough int, budget *int) int {
	inside := uint64(1)
	at := len(n.Trips)
	for at > 0 && inside < t {
		at--
		if inside*uint64(n.Trips[at]) >= t || at == 0 {
			break
		}
		inside *= uint64(n.Trips[at])
	}
	trips := append([]int(nil), n.Trips[at:]...)
	if len(trips) > 0 {
		trips[0] = int(min(uint64(trips[0]), (t-2)/inside+2))
	}
	op := n.Operands[0]
	most := l.crowdOf(op, trips, op.Strides[at:], l.alignments(op), enough, budget)
	if at > 0 && t > 1 {
		most *= 2
	}
	return most
}

// alignments are the places within a line at which an operand's accesses may
// start.
func (l *lruLevel) alignments(op Operand) []uint64 {
	step := 1 << l.shift
	for _, s := range op.Strides {
		step = gcd(step, s)
	}
	var list []uint64
	for a := op.Base % uint64(step); a < 1<<l.shift; a += uint64(step) {
		list = append(list, a)
	}
	return list
}

// crowdOf is at least the greatest number of blocks in a set of the accesses of
// the loops, wherever they start: only the place in the line matters, since a
// move by whole lines turns all sets alike. Loops whose steps leave no gap are
// one span of bytes; the spans of the other loops are counted one by one, even
// those that meet.
func (l *lruLevel) crowdOf(op Operand, trips, strides []int, alignments []uint64, enough int, budget *int) int {
	size := func(at int) int { return max(strides[at], -strides[at]) }
	order := make([]int, len(trips))
	for at := range order {
		order[at] = at
	}
	slices.SortFunc(order, func(a, b int) int { return size(a) - size(b) })
	length := op.Width
	var apart []int // loops that leave gaps
	for _, at := range order {
		size := size(at)
		if size <= length {
			length += size * (trips[at] - 1)
		} else {
			apart = append(apart, at)
		}
	}
	blocks := len(alignments) * (1 + min(length>>l.shift, l.sets))
	for _, at := range apart {
		if trips[at] > *budget/blocks {
			return enough + 1
		}
		blocks *= trips[at]
	}
	if blocks > *budget {
		return enough + 1
	}
	*budget -= blocks
	most := 0
	for _, a := range alignments {
		most = max(most, l.count(a, length, apart, trips, strides))
	}
	return most
}

// count is the greatest number of blocks in a set of spans of so many bytes,
// one for each index of the loops apart, the first of them at place start of
// its line.
func (l *lruLevel) count(start uint64, length int, apart, trips, strides []int) int {
	counts := make([]int32, l.sets)
	index := make([]int, len(apart))
	addr := 1<<60 + start // far from 0
	everywhere := 0       // blocks in every set, besides counts
	for {
		first, last := addr>>l.shift, (addr+uint64(length)-1)>>l.shift
		blocks := int(last - first + 1)
		everywhere += blocks / l.sets
		for b := range uint64(blocks % l.sets) {
			counts[l.set(first+b)]++
		}
		at := 0
		for ; at < len(apart); at++ {
			loop := apart[at]
			addr += uint64(strides[loop])
			if index[at]++; index[at] < trips[loop] {
				break
			}
			addr -= uint64(strides[loop] * trips[loop])
			index[at] = 0
		}
		if at == len(apart) {
			break
		}
	}
	most := int32(0)
	for _, c := range counts {
		most = max(most, c)
	}
	return everywhere + int(most)
}
