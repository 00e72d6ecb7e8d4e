package proofs

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// wrapBudget is how many blocks are counted at most to tell of a nest whether passes over it are alike.
const wrapBudget = 1 << 20

// Steady tells of passes over a canonical nest, one after the other, on levels that begin empty: that the nearest
// so many levels miss in each pass what they do in the first, and those behind nothing in any
// but the first, since they have room for all that it touches. It reports whether that is known. Where no pass needs
// to be simulated for it, misses are those of a pass in the steady state, of operand r in level i at
// r*len(levels)+i; the first pass may have others.
//
// Say that operands share no block, that all levels have lines of one size, and that no access lies in two. An
// access that is not the first of its block in a pass has the same window in each. Let t be the iteration of
// the last touch of a block in a pass, and f that of the first one. From t to f in the next pass lie all iterations
// but f to t, no more of them than the longest time between two touches of a block, and one. All blocks that a
// pass touches first in the others are touched in between: in each set, as many as the pass has, less those of so many
// consecutive iterations. If these are at least as many as there are ways, in every set, the block
// is gone. So the first level misses in each pass where it did in the first. Then each pass brings each block
// to the next level where it touches it first, so that the same is so there.
//
// What comes to a level in any pass came in the first one, too, in which all first touches miss. If no set gets more
// blocks than it has ways, all of them stay.
//
// An operand that stays in one block comes back to it, in the same pass or in the next, after one access of each of the
// others. With a way for each operand, it hits there in the first level, and none of it comes to the next. Of such nests it is
// known only what streams tells.
func Steady(levels []engine.Level, n nest.Nest) (nearest int, misses []uint64, known bool) {
	x := newProver(levels)
	if accessesOf(n) == 0 || !x.fits(n) {
		return 0, nil, false
	}
	operands, ok := x.gapped(n)
	if !ok {
		return 0, nil, false
	}
	line := 1 << x.minShift()
	moving, goes := nest.Nest{Trips: n.Trips}, []int(nil) // without the operands that stay in a block
	var alone []gapped
	var lasting []int // iterations from a touch of a block to any other in the pass, at most
	for r, op := range n.Operands {
		if first, last := op.Reach(n.Trips); first/uint64(line) == last/uint64(line) && len(n.Operands) <= levels[0].Ways {
			continue
		}
		lives, ok := operands[r].lives(line)
		if !ok {
			return 0, nil, false
		}
		moving.Operands, alone, goes = append(moving.Operands, op), append(alone, operands[r]), append(goes, r)
		lasting = append(lasting, lives)
	}
	budget := wrapBudget
	for nearest < len(levels) && !x.levels[nearest].rooms(n) {
		if !x.levels[nearest].wraps(moving, alone, lasting, &budget) {
			return 0, nil, false
		}
		nearest++
	}
	misses = x.streams(operands, goes, nearest)
	return nearest, misses, misses != nil || len(goes) == len(operands)
}

// streams are the misses of a pass in the steady state, or nil: the nearest so many levels miss all first touches of the operands that
// go on, and if the first one holds what any so many consecutive iterations touch as there are in the longest gap
// (see prover.gaps), no level misses anything else.
func (x *prover) streams(operands []gapped, goes []int, nearest int) []uint64 {
	line := 1 << x.minShift()
	misses := make([]uint64, len(operands)*len(x.levels))
	if nearest == 0 {
		return misses
	}
	for _, r := range goes {
		longest := 0
		for _, p := range operands[r].occurring(operands[r].patterns, line) {
			longest = max(longest, p.most)
		}
		if longest > 0 && !x.levels[0].holds(operands, longest) {
			return nil
		}
		blocks, ok := operands[r].beginnings(never, line)
		if !ok {
			return nil
		}
		for i := range nearest {
			misses[r*len(x.levels)+i] = blocks
		}
	}
	return misses
}

// Nearest is the number of levels, the nearest ones, of which no pass in the steady state comes to another:
// the one behind them has room for all that the nests touch, so that what came to it in the first pass, in which
// each block's first touch misses everywhere, stays. It is len(levels) where none has.
func Nearest(levels []engine.Level, nests []nest.Nest) int {
	x := newProver(levels)
	for i := range x.levels {
		if x.levels[i].rooms(nests...) {
			return i
		}
	}
	return len(levels)
}

// rooms reports whether no set gets more blocks of nests than it has ways: of each stretch that
// operands reach, together where these share some or lie so close that what is between is few sets.
func (l *level) rooms(nests ...nest.Nest) bool {
	type blocks struct{ first, last uint64 }
	var all []blocks
	for _, n := range nests {
		if n.Iterations() == 0 {
			continue
		}
		for _, op := range n.Operands {
			first, last := op.Reach(n.Trips)
			all = append(all, blocks{first >> l.Shift, last >> l.Shift})
		}
	}
	slices.SortFunc(all, func(a, b blocks) int { return cmp.Compare(a.first, b.first) })
	most := 0
	for i := 0; i < len(all); {
		one := all[i]
		for i++; i < len(all) && all[i].first <= one.last+1+uint64(l.Sets)/8; i++ {
			one.last = max(one.last, all[i].last)
		}
		most += int((one.last-one.first)/uint64(l.Sets)) + 1
	}
	return most <= l.Ways
}

// wraps reports whether each block is gone when a pass comes back to it.
func (l *level) wraps(n nest.Nest, operands []gapped, lasting []int, budget *int) bool {
	counted, spare := make([]bool, len(operands)), -l.Ways // of the set that has the fewest
	for r, op := range n.Operands {
		if blocks := unbroken(op, n.Trips, 1<<l.Shift); blocks > 0 {
			counted[r] = true
			spare += blocks / l.Sets
		}
	}
	for _, t := range lasting {
		left := spare
		for r := range operands {
			if counted[r] && left >= 0 {
				left -= l.crowd(operands[r].alone, uint64(t)+1, left, budget)
			}
		}
		if left < 0 {
			return false
		}
	}
	return true
}

// mostPlaced bounds the places of accesses that are told of patterns: of pages there are many.
const mostPlaced = 1 << 17

// lives is at least the number of iterations between any two touches of a block, if that is told soon: of pages there are
// many places.
func (o *gapped) lives(line int) (iterations int, ok bool) {
	if len(o.all)*line/o.step(line) > mostPlaced {
		return 0, false
	}
	met := gapped{all: o.occurring(o.all, line)}
	met.patterns = met.all
	return met.stay(never), true
}

// step is what a line and all strides are multiples of.
func (o *gapped) step(line int) int {
	for _, s := range o.alone.Operands[0].Strides {
		line = nest.GCD(line, s)
	}
	return line
}

// occurring are those of the patterns by which some access comes back: of those that need their loops to be at certain
// places, such as from the end of a row to the start of the next, lines may begin there.
func (o *gapped) occurring(patterns []pattern, line int) (met []pattern) {
	op, step := o.alone.Operands[0], o.step(line)
	c := &counter{trips: o.alone.Trips, strides: op.Strides}
	first := int(op.Base) & (step - 1)
	for _, p := range patterns {
		places := make([]bool, line/step) // every step bytes from the first on: of accesses that may come by the pattern
		places[int(op.Base)&(line-1)/step] = true
		for m, stride := range op.Strides {
			from, to := c.span(m, &p)
			places = spread(turned(places, from*(stride/step)), stride/step, to-from)
		}
		for k, is := range places {
			if is && p.joins(first+k*step, line) {
				met = append(met, p)
				break
			}
		}
	}
	return met
}

// spread are places and all that they come to in so many steps of a stride, themselves included, around.
func spread(places []bool, stride, steps int) []bool {
	if steps = min(steps, len(places)); steps <= 1 {
		return places
	}
	half := spread(places, stride, steps/2)
	all := slices.Clone(half)
	for k, is := range turned(half, stride*(steps-steps/2)) {
		all[k] = all[k] || is
	}
	if steps&1 == 1 {
		for k, is := range turned(half, stride) {
			all[k] = all[k] || is
		}
	}
	return all
}

// turned are places moved by so many, around.
func turned(places []bool, by int) []bool {
	moved := make([]bool, len(places))
	at := (by%len(places) + len(places)) % len(places)
	copy(moved[at:], places)
	copy(moved, places[len(places)-at:])
	return moved
}

// unbroken is how many lines there are from the first that an operand touches in loops of these trips to the last,
// if it touches all of them; else 0.
func unbroken(op nest.Operand, trips []int, line int) int {
	order := nest.UpTo(len(trips))
	size := func(l int) int { return max(op.Strides[l], -op.Strides[l]) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	reach := op.Width
	for _, l := range order {
		if size(l) >= reach+line {
			return 0
		}
		reach += size(l) * (trips[l] - 1)
	}
	first, last := op.Reach(trips)
	return int(last/uint64(line)-first/uint64(line)) + 1
}
