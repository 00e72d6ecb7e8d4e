package proofs

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// inPasses counts a nest whose outermost loop moves no operand, on empty levels, pass by pass, or returns
// nil: one pass may be counted on empty levels (whole) where all together are not, and of those after it
// the start may tell (warm). The contents are owed then, and what was looked up is in the chain alone.
//
// After a pass a set of the first level holds the last blocks that were touched in it, and behind those what it held
// before: the same after every pass. So from the second pass on the same misses go to the second
// level, which holds the same after each of these, and so on: those after as many passes as there are
// levels miss the same.
func (e *Engine) inPasses(n nest.Nest) (misses []uint64) {
	one, ok := passOf(n)
	if !ok || e.lookUps([]nest.Nest{n}, 1) < float64(e.passesFrom) {
		return nil
	}
	first := e.whole([]nest.Nest{one}, 1)
	if first == nil {
		return nil
	}
	misses = slices.Clone(first[0][0])
	e.cold = append(e.cold, coldRun{one, slices.Clone(misses)})
	before := e.Chain.Work()
	for pass := 1; pass < n.Trips[0] && misses != nil; pass++ {
		times := uint64(1)
		if pass == len(e.levels) {
			times, pass = uint64(n.Trips[0]-pass), n.Trips[0]
		}
		more, ok := e.warm(one)
		if !ok {
			misses = nil
			break
		}
		for at, m := range more {
			misses[at] += m * times
		}
	}
	e.fetchBack()
	e.empty(0)
	e.prover.close()
	if e.forOwed = e.Chain.Work() - before; misses == nil {
		e.inVain += e.forOwed
		e.contents = nowhere
		return nil
	}
	e.passed++
	e.contents, e.owed = owed, []nest.Nest{n}
	return misses
}

// passOf is an iteration of a nest's outermost loop, if there are several and all are the same.
func passOf(n nest.Nest) (one nest.Nest, ok bool) {
	if len(n.Trips) < 2 || n.Trips[0] < 2 {
		return nest.Nest{}, false
	}
	for _, op := range n.Operands {
		if op.Strides[0] != 0 {
			return nest.Nest{}, false
		}
	}
	return n.Range(0, 0, 1).Canonical(), true
}
