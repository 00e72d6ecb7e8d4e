// Package exact counts programs, and nests, on levels of plain LRU caches without looking up every
// access. Counts and final contents are the same as if every access were looked up.
//
// An [Engine] chooses among three ways:
//
//   - Reuse intervals ([reuseIntervals]): a large nest, the first one on empty levels, needs no
//     look-up if its strides alone decide what misses. Its end is looked up if others follow.
//   - Summaries ([regions]): a region is not run again if an earlier one had the same effect on the
//     caches.
//   - Looking up (package lookup): short nests, nests without a loop-invariant reference, single
//     references, and everything that the other ways refuse.
package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
)

// A place says where the contents of an engine's levels are.
type place uint8

const (
	empty    place = iota // nowhere: nothing was run yet
	chained               // in the chain
	summed                // in the summaries
	deferred              // nowhere: the deferred nest, run on empty levels, leaves them
)

// The faster ways take time to begin. A nest of fewer than summedFrom iterations is looked up, and
// reuse intervals need intervalsFrom accesses.
const (
	summedFrom    = 1 << 16
	intervalsFrom = 1 << 20
)

// A 1/few of a nest is the most that is looked up for its contents. Others after it may have as
// few accesses.
const few = 4

// An Engine counts misses on levels of LRU caches, the nearest first.
type Engine struct {
	*lookup.Chain
	levels        []engine.Level
	sums          *regions
	place         place
	deferred      nest.Nest
	tail          int // about how many of its iterations bring twice the lines of the last level
	progress      func(share float64)
	intervalsFrom int
	summedFrom    int
}

// New returns an engine of levels. Its chain uses the given number of cores.
func New(levels []engine.Level, cores int) *Engine {
	chain := lookup.New(levels, lookup.Options{Cores: cores})
	return &Engine{Chain: chain, levels: levels, intervalsFrom: intervalsFrom,
		summedFrom: summedFrom}
}

// Eager makes the engine avoid look-ups even if that takes longer. It is for tests.
func (e *Engine) Eager() { e.intervalsFrom, e.summedFrom = 0, 0 }

// Reset returns the engine to the state that New made, and keeps the chain's memory.
func (e *Engine) Reset() {
	e.Chain.Reset()
	*e = Engine{Chain: e.Chain, levels: e.levels,
		intervalsFrom: e.intervalsFrom, summedFrom: e.summedFrom}
}

// Progress sets a function to call now and then with the finished share of the iterations of a
// program's outermost loops.
func (e *Engine) Progress(done func(share float64)) { e.progress = done }

// LooksUp reports whether an operand is wider than a line.
func (e *Engine) LooksUp(operands []nest.Operand) bool { return engine.Wide(e.levels, operands) }

// Add simulates a reference of an operand.
func (e *Engine) Add(op int, addr, size uint64, kind nest.Kind) {
	if e.place != chained {
		e.toChain()
	}
	e.Chain.Add(op, addr, size, kind)
}

// AddAll calls Add for each reference, in order.
func (e *Engine) AddAll(refs []engine.Reference) {
	e.toChain()
	e.Chain.AddAll(refs)
}

// Descend simulates a fetch that missed in I1, at the second level.
func (e *Engine) Descend(op int, addr, size uint64) {
	e.toChain()
	e.Chain.Descend(op, addr, size)
}

// Work returns the number of references that were looked up.
func (e *Engine) Work() uint64 {
	work := e.Chain.Work()
	if e.sums != nil {
		work += e.sums.Work()
	}
	return work
}

// Contents appends the blocks of a set of a level to list, the most recently used first.
func (e *Engine) Contents(list []uint64, level, set int) []uint64 {
	e.toChain()
	return e.Chain.Contents(list, level, set)
}

// Run simulates passes over canonical nests, and returns misses by pass, nest, and operand and
// level.
func (e *Engine) Run(nests []nest.Nest, passes int) [][][]uint64 {
	return engine.RunEach(nests, passes, func(n nest.Nest) []uint64 {
		if e.place == empty {
			if misses, ok := e.byIntervals(nests, passes); ok {
				e.place, e.deferred = deferred, n
				return misses
			}
		}
		return e.one(n)
	})
}

// RunProgram simulates a pass over a program, and returns misses by operand and level.
func (e *Engine) RunProgram(p nest.Program) []uint64 {
	n, is := p.Nest()
	if is {
		return e.Run([]nest.Nest{n.Canonical()}, 1)[0][0]
	}
	if misses, ok := e.bySummaries(p); ok {
		return misses
	}
	e.toChain()
	return e.Chain.RunProgram(p)
}

func (e *Engine) one(n nest.Nest) []uint64 {
	if e.place == deferred {
		e.settle()
	}
	if e.place == summed || comesBack(n) && n.Iterations() >= e.summedFrom {
		if misses, ok := e.bySummaries(nest.Sequence(n)); ok {
			return misses
		}
	}
	e.toChain()
	return e.Chain.One(n)
}

func accessesOf(n nest.Nest) int { return n.Iterations() * len(n.Operands) }

// comesBack reports whether a nest has a loop-invariant reference. Other nests touch new bytes in
// each iteration, so summaries save little.
func comesBack(n nest.Nest) bool {
	rests := func(op nest.Operand) bool { return slices.Contains(op.Strides, 0) }
	return slices.ContainsFunc(n.Operands, rests)
}

// byIntervals counts the first of passes over nests on empty levels if its reuse intervals decide.
// If they leave the first level open, summaries of that level count its misses.
func (e *Engine) byIntervals(nests []nest.Nest, passes int) (misses []uint64, ok bool) {
	misses, first, ok := e.intervals(nests, passes)
	if !ok || first {
		return misses, ok
	}
	near, err := newRegions(e.levels[:1], options{}).Run(nest.Sequence(nests[0]))
	for r, m := range near {
		misses[r*len(e.levels)] = m
	}
	return misses, err == nil
}

// intervals is reuseIntervals for the first of passes over nests, if it is large. The levels must
// be empty. If others follow, they must be few, because summaries serve none of them then. The
// nest's end must be short, because it is looked up for them.
func (e *Engine) intervals(nests []nest.Nest, passes int) (misses []uint64, first, ok bool) {
	n, own := nests[0], accessesOf(nests[0])
	more := int(engine.References(nests, passes)) - own
	if own < e.intervalsFrom || more > own/few {
		return nil, false, false
	}
	refs, ok := operandsOf(e.levels, n)
	if !ok {
		return nil, false, false
	}
	if misses, first, ok = reuseIntervals(e.levels, refs, 1); ok {
		last, brought := len(e.levels)-1, 1
		for r := range refs {
			brought += int(misses[r*len(e.levels)+last])
		}
		e.tail = 1 + n.Iterations()/max(1, brought/e.levels[last].Lines()/2)
		switch {
		case more > 0:
			ok = first && e.tail <= n.Iterations()/few
		case comesBack(n): // summaries may serve whatever follows
			e.tail = never
		}
	}
	return misses, first, ok
}

// bySummaries simulates a pass over a program, and reports whether it could. The levels must be
// empty, or their contents in the summaries, and line numbers must fit.
func (e *Engine) bySummaries(p nest.Program) (misses []uint64, ok bool) {
	if e.place == deferred {
		e.settle()
	}
	if e.place == chained {
		return nil, false
	}
	if e.sums == nil {
		e.sums = newRegions(e.levels, options{Progress: e.progress, Fitting: true})
	}
	misses, err := e.sums.Run(p)
	if err == nil {
		e.place = summed
	}
	return misses, err == nil
}

// settle makes the contents that the deferred nest leaves, from its end if that is short.
func (e *Engine) settle() {
	n := e.deferred
	for ; e.tail <= n.Iterations()/few; e.tail *= 2 {
		e.Chain.Reset()
		if e.ends(n) {
			e.place = chained
			return
		}
	}
	e.Chain.Reset()
	e.place = empty
	e.one(n)
}

// ends looks up a nest's tail on empty levels, and reports whether they then equal those after the
// whole nest.
//
//  1. A set that meets as many distinct lines as ways has the same contents after any past.
//  2. Once all sets of the first level are full, the second one receives the same after any past.
//  3. So it is emptied there. Once all its sets are full, the third one is, and so on.
func (e *Engine) ends(n nest.Nest) bool {
	right, last, trips := 0, len(e.levels)-1, n.Trips[0]
	each := n.Iterations() / trips
	if e.tail < each {
		return e.ends(n.Range(0, trips-1, trips).Canonical())
	}
	part := e.tail/each/16 + 1
	for y := trips - e.tail/each - 1; y < trips; y += part {
		e.Chain.One(n.Range(0, y, min(y+part, trips)).Canonical())
		if right < last && e.full(right) {
			right++
			for set := range e.levels[right].Sets {
				e.Load(right, set, nil)
			}
		}
	}
	return right == last && e.full(last)
}

// full reports whether all sets of a level of the chain are full.
func (e *Engine) full(level int) bool {
	l := e.levels[level]
	for set := range l.Sets {
		if len(e.Chain.Contents(nil, level, set)) < l.Ways {
			return false
		}
	}
	return true
}

// toChain moves the contents to the chain, for look-ups.
func (e *Engine) toChain() {
	if e.place == deferred {
		e.settle()
	}
	switch {
	case e.place != summed:
	case e.sums.refill() != nil: // more ways or accesses than summaries number
		for _, p := range e.sums.fitting.ran {
			e.Chain.RunProgram(p)
		}
	default:
		for level := range e.levels {
			if !e.load(level) {
				e.Widen()
				e.load(level)
			}
		}
	}
	e.place = chained
}

// load copies a level's contents to the chain, unless a block number exceeds the chain's width.
func (e *Engine) load(level int) bool {
	for set := range e.levels[level].Sets {
		if !e.Load(level, set, e.sums.Contents(level, set)) {
			return false
		}
	}
	return true
}

// mostLookedUp is the most look-ups of nests that summaries are trusted to shorten.
const mostLookedUp = 1e12

// Effort estimates how many references Run looks up, and the seconds that takes. The savings of
// summaries are unknown beforehand, so their nests count as 0 up to mostLookedUp.
func (e *Engine) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	for _, n := range nests {
		looked, _ := e.Chain.Effort([]nest.Nest{n}, passes)
		if looked > mostLookedUp || !comesBack(n) {
			lookUps += looked
		}
	}
	if lookUps > 0 && e.place == empty {
		if _, _, ok := e.intervals(nests, passes); ok {
			first, _ := e.Chain.Effort(nests[:1], 1)
			lookUps = max(0, lookUps-first)
		}
	}
	return lookUps, lookUps / 1e8
}
