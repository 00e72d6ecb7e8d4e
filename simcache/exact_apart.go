package simcache

import (
	"math/bits"
	"slices"
)

// apartFrom is the number of accesses from which rule D is worth a try.
const apartFrom = 10_000_000

// apart is rule D: it counts the misses of a canonical nest by simulating each
// operand alone, and reports whether that was right to do. It starts from empty
// levels, on which it first runs the nest so many times without counting. It
// does not say what the levels hold afterwards.
//
// Say that operands share no block, of the largest line. Take an access of an
// operand that reaches level i both alone and in company. Its window in company
// is that alone plus accesses of the others, so if it misses alone, it misses
// in company. If it hits alone, depth other blocks of its set are in its
// window, and its block was last touched T iterations ago, T >= 1; in between
// lie, of every other operand, the accesses of at most T consecutive
// iterations, no matter which operand comes first in the body. Let crowd be at
// least the number of blocks of one set that T consecutive iterations of
// another operand touch. If depth plus the crowds of all others is at most
// ways-1, it hits in company. If so for every hit in level i, the accesses that
// reach level i+1 in company are those that reach it alone.
//
// A crowd never shrinks as T grows. So it is enough to keep, of all hits with T
// between two powers of two, the greatest depth and the greatest T (reuses). A
// hit that a rule skips has the window of one that was looked up, moved, with
// the same depth and T.
func (x *prover) apart(n Nest, warm int) ([]uint64, bool) {
	if !disjoint(n, x.maxShift()) {
		return nil, false
	}
	levels := len(x.levels)
	misses := make([]uint64, 0, len(n.Operands)*levels)
	var alone []*prover
	for _, op := range n.Operands {
		lone := x.lone()
		own := Nest{Trips: n.Trips, Operands: []Operand{op}}
		if warm > 0 {
			lone.run(own.repeated(warm).Canonical())
		}
		misses = append(misses, lone.run(own.Canonical())...)
		x.visited += lone.visited
		alone = append(alone, lone)
	}
	n = n.repeated(warm + 1)
	for r, lone := range alone {
		for i := range levels {
			for _, reuse := range lone.levels[i].reuses {
				if !x.stands(n, r, i, reuse) {
					x.took.together++
					return nil, false
				}
			}
		}
	}
	x.took.apart++
	return misses, true
}

// worthApart reports whether rule D may be tried on a nest and promises to
// save much.
func (x *prover) worthApart(n Nest, from int) bool {
	accesses := n.Iterations() * len(n.Operands)
	if len(n.Operands) < 2 || accesses < from {
		return false
	}
	cost := 0.0
	for _, op := range n.Operands {
		cost += x.plan(Nest{Trips: n.Trips, Operands: []Operand{op}}.Canonical()).cost
	}
	return cost < float64(accesses)/4
}

// disjoint reports whether no two operands of a nest share a block.
func disjoint(n Nest, shift uint) bool {
	var list []extent
	for r, op := range n.Operands {
		first, last := op.reach(n.Trips)
		list = append(list, extent{first >> shift, last >> shift, int64(r)})
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
	if hit {
		t := now - when[at]
		r := &l.reuses[bits.Len64(t)]
		r.hit, r.depth, r.time = true, max(r.depth, at), max(r.time, t)
	}
	copy(when[1:at+1], when[:at])
	when[0] = now
}

// stands reports whether hits of operand r in level i stay hits in company.
func (x *prover) stands(n Nest, r, i int, reuse reuse) bool {
	l := &x.levels[i]
	room := l.ways - 1 - reuse.depth
	for other, op := range n.Operands {
		if !reuse.hit || other == r {
			continue
		}
		alone := Nest{Trips: n.Trips, Operands: []Operand{op}}.Canonical()
		if room -= l.crowd(alone, reuse.time, room); room < 0 {
			return false
		}
	}
	return true
}

// crowd is at least the number of blocks of one set that any t consecutive
// iterations of a nest of one operand touch; if that is above enough, it may be
// less, but is above enough too.
//
// Take the innermost loops that together make t iterations or more, or else all
// loops. t iterations lie in one run of these, or in the end of one run and the
// start of the next. If one iteration of the outermost of these loops makes w,
// they are part of at most (t-2)/w+2 consecutive iterations of it, or, of two
// runs, of so many in either.
func (l *lruLevel) crowd(n Nest, t uint64, enough int) int {
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
	most := l.crowdOf(op, trips, op.Strides[at:], l.alignments(op), enough)
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

// maxSpans bounds the work of crowdOf.
const maxSpans = 1 << 21

// crowdOf is at least the greatest number of blocks in a set of the accesses of
// the loops, wherever they start: only the place in the line matters, since a
// move by whole lines turns all sets alike. Loops whose steps leave no gap are
// one span of bytes; the spans of the other loops are counted one by one, even
// those that meet.
func (l *lruLevel) crowdOf(op Operand, trips, strides []int, alignments []uint64, enough int) int {
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
	spans := len(alignments) * (1 + min(length>>l.shift, l.sets))
	for _, at := range apart {
		if spans *= trips[at]; spans > maxSpans {
			return enough + 1
		}
	}
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
