package proofs

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// independentFrom is the number of accesses from which independence is worth a try.
const independentFrom = 10_000_000

// independentOperands is independence: from empty levels, it counts the misses of so many passes
// over nests by simulating each operand alone, and reports whether that was
// right to do and took no more than it may. The misses of operand r of nest k in level i during pass p are
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
func (x *prover) independentOperands(nests []nest.Nest, passes int) (misses [][][]uint64, ok bool) {
	if !disjoint(nests, x.maxShift()) {
		return nil, false
	}
	if x.independenceCost(nests, passes) > trialFrom {
		trial := company{nests, passes, trialBudget}
		if _, ok := x.apart([]nest.Nest{beginning(nests[0])}, 1, &trial); !ok {
			x.took.dependent++
			return nil, false
		}
	}
	misses, ok = x.apart(nests, passes, nil)
	if !ok {
		x.took.dependent++
		return nil, false
	}
	x.took.independent++
	return misses, true
}

// Where independence would look up more than trialFrom, it is first tried on mostTrial
// iterations: what hits in them and would not in company does so in all.
const (
	trialFrom   = 1 << 22
	mostTrial   = 1 << 17
	trialBudget = 1 << 20
)

// beginning is a nest's first iterations, about as many as mostTrial at most.
func beginning(n nest.Nest) nest.Nest {
	trips := slices.Clone(n.Trips)
	for l, inside := 0, n.Iterations(); l < len(trips); l++ {
		inside /= n.Trips[l]
		trips[l] = min(trips[l], max(1, mostTrial/inside))
		if trips[l] > 1 {
			break
		}
	}
	return nest.Nest{Trips: trips, Operands: n.Operands}
}

// apart simulates each operand alone, and reports whether all hits stay ones in company,
// that of these passes over these nests if there is no other.
func (x *prover) apart(nests []nest.Nest, passes int, in *company) (misses [][][]uint64, ok bool) {
	misses = make([][][]uint64, passes)
	for p := range misses {
		misses[p] = make([][]uint64, len(nests))
	}
	var alone []*prover
	from := x.visited
	for r := range nests[0].Operands {
		lone := x.lone()
		if x.most > 0 {
			if lone.most = x.most - (x.visited - from); lone.most == 0 { // which would be no bound
				return nil, false
			}
		}
		for p := range misses {
			settled := p >= max(2, len(x.levels)) && x.alike(misses, r)
			if settled {
				x.took.settled++
			}
			for k, n := range nests {
				if settled {
					misses[p][k] = append(misses[p][k], x.of(misses[p-1][k], r)...)
				} else {
					misses[p][k] = append(misses[p][k], lone.run(n.Only(r).Canonical())...)
				}
			}
		}
		if x.visited += lone.visited; lone.over() {
			return nil, false
		}
		alone = append(alone, lone)
	}
	if in == nil {
		in = &company{nests, passes, min(max(1<<16, int(alone[0].now)), 1<<24)}
	}
	for r, lone := range alone {
		for i := range lone.levels {
			for _, reuse := range lone.levels[i].reuses {
				if reuse.hit && !in.keeps(&x.levels[i], r, reuse) {
					return nil, false
				}
			}
		}
	}
	return misses, true
}

// of are the misses of an operand, by level.
func (x *prover) of(misses []uint64, r int) []uint64 {
	return misses[r*len(x.levels):][:len(x.levels)]
}

// alike reports whether an operand missed in the first level as often in the second pass as in the first. What hits in a
// pass hits in all behind it, since what was touched since is the same. So the misses are of the same accesses, and
// what comes to the second level is the same in all passes: that repeats itself from the second pass on, and so, one pass
// later each, do the levels behind it, with the windows of all hits.
func (x *prover) alike(misses [][][]uint64, r int) bool {
	for k := range misses[0] {
		if x.of(misses[0][k], r)[0] != x.of(misses[1][k], r)[0] {
			return false
		}
	}
	return true
}

// independenceCost is the look-ups that independence would need, about.
func (x *prover) independenceCost(nests []nest.Nest, passes int) float64 {
	cost := 0.0
	for _, n := range nests {
		for r := range n.Operands {
			cost += x.plan(n.Only(r).Canonical()).cost
		}
	}
	return cost * float64(passes)
}

// disjoint reports whether all nests have as many operands, at least two, and
// none shares a block with another, which is one in another place of the list.
func disjoint(nests []nest.Nest, shift uint) bool {
	var list []extent
	for _, n := range nests {
		if len(n.Operands) < 2 || len(n.Operands) != len(nests[0].Operands) {
			return false
		}
		for r, op := range n.Operands {
			first, last := op.Reach(n.Trips)
			list = append(list, extent{first >> shift, last >> shift, int64(r)})
		}
	}
	return !meet(list)
}

// lone is an empty prover of the same levels that times reuses.
func (x *prover) lone() *prover {
	var specs []engine.Level
	for i := range x.levels {
		specs = append(specs, x.levels[i].Level)
	}
	lone := newProver(specs)
	lone.maxEpoch = x.maxEpoch
	for i := range lone.levels {
		lone.levels[i].when, lone.levels[i].extra = make([]uint64, specs[i].Lines()), true
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
func (l *level) time(set uint64, at int, hit bool, now uint64) {
	when := l.when[set*uint64(l.Ways):][:l.Ways]
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
	nests  []nest.Nest
	passes int
	budget int // blocks that may yet be counted for it
}

// keeps reports whether hits of operand r in a level stay hits in company.
func (c *company) keeps(l *level, r int, reuse reuse) bool {
	room := l.Ways - 1 - reuse.depth
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
func (c *company) crowds(l *level, r int, t uint64, enough int) int {
	sum, pair, before := 0, 0, 0
	shortest := uint64(math.MaxUint64)
	for k := range len(c.nests) + 1 { // around, as from pass to pass
		n := c.nests[k%len(c.nests)]
		crowd := l.crowd(n.Repeat(c.passes).Only(r).Canonical(), t, enough, &c.budget)
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
// runs, of so many in either. Where in a line these begin, the loops up to it tell.
func (l *level) crowd(n nest.Nest, t uint64, enough int, budget *int) int {
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
	begins := op // where the lowest address of an iteration's run may lie
	begins.Strides = op.Strides[:min(at+1, len(op.Strides))]
	op.Strides = op.Strides[at:]
	for m, s := range op.Strides {
		begins.Base += uint64(min(s, 0) * (trips[m] - 1))
	}
	places := begins.Alignments(1 << l.Shift)
	most, counted := op.Crowd(trips, places, 1<<l.Shift, l.Sets, budget)
	if !counted {
		return enough + 1
	}
	if at > 0 && t > 1 {
		most *= 2
	}
	return most
}
