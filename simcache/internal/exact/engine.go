// Package exact counts programs, and nests, on levels of plain LRU caches without looking up
// every access. The counts, and the contents left, are those of looking up every one.
//
// An [Engine] chooses among three ways:
//
//   - Reuse intervals ([reuseIntervals]): a large nest that is the first on empty levels, and
//     whose strides alone decide what misses, is counted without a look-up.
//   - Summaries ([regions]): regions of a program that do to the caches what other regions did are
//     not run again.
//   - Looking up (package lookup): short nests, those without a loop-invariant reference, single
//     references, and what the others refuse.
package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
)

// A place is where the contents of an engine's levels are.
type place uint8

const (
	empty    place = iota // nowhere: nothing was run yet
	chained               // in the chain
	summed                // in the summaries
	deferred              // nowhere: they are what the deferred nest leaves on empty levels
)

// summedFrom is how many accesses a nest has at least that is not just looked up, and
// intervalsFrom how many until its reuse intervals are asked. Both take some time before they
// begin, so that less is looked up sooner.
const (
	summedFrom    = 1 << 16
	intervalsFrom = 1 << 20
)

// An Engine counts on levels of LRU caches, the nearest first.
type Engine struct {
	*lookup.Chain
	levels        []engine.Level
	sums          *regions
	place         place
	deferred      nest.Nest
	progress      func(share float64)
	intervalsFrom int
	summedFrom    int
}

// New makes an engine of levels, whose chain uses so many cores.
func New(levels []engine.Level, cores int) *Engine {
	chain := lookup.New(levels, lookup.Options{Cores: cores})
	return &Engine{Chain: chain, levels: levels, intervalsFrom: intervalsFrom, summedFrom: summedFrom}
}

// Eager makes the engine look up as little as it can, even where that takes longer: for tests.
func (e *Engine) Eager() { e.intervalsFrom, e.summedFrom = 0, 0 }

// Reset makes the engine what New returned, in the memory that its chain has.
func (e *Engine) Reset() {
	e.Chain.Reset()
	*e = Engine{Chain: e.Chain, levels: e.levels,
		intervalsFrom: e.intervalsFrom, summedFrom: e.summedFrom}
}

// Progress has a function called, now and then, with the share of the outermost loops' iterations of
// a program that is done.
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

// AddAll is Add of each reference in turn.
func (e *Engine) AddAll(refs []engine.Reference) {
	e.toChain()
	e.Chain.AddAll(refs)
}

// Descend simulates a fetch that missed in I1, at the second level.
func (e *Engine) Descend(op int, addr, size uint64) {
	e.toChain()
	e.Chain.Descend(op, addr, size)
}

// Work is how many references were looked up.
func (e *Engine) Work() uint64 {
	work := e.Chain.Work()
	if e.sums != nil {
		work += e.sums.Work()
	}
	return work
}

// Contents are the blocks of a set of a level, the most recently used first, appended to list.
func (e *Engine) Contents(list []uint64, level, set int) []uint64 {
	e.toChain()
	return e.Chain.Contents(list, level, set)
}

// Run simulates passes over canonical nests.
func (e *Engine) Run(nests []nest.Nest, passes int) [][][]uint64 {
	if len(nests) == 1 && passes == 1 && e.place == empty {
		if misses, ok := e.byIntervals(nests[0]); ok {
			e.place, e.deferred = deferred, nests[0]
			return [][][]uint64{{misses}}
		}
	}
	return engine.RunEach(nests, passes, e.one)
}

// RunProgram simulates a pass over a program.
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

// one simulates a nest.
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

// comesBack reports whether a nest has a loop-invariant reference. Others come to new bytes in each
// iteration, so that summaries leave out little.
func comesBack(n nest.Nest) bool {
	rests := func(op nest.Operand) bool { return slices.Contains(op.Strides, 0) }
	return slices.ContainsFunc(n.Operands, rests)
}

// byIntervals counts a nest on empty levels by its reuse intervals, where these decide. What
// misses in the first level, which they may leave open, summaries of that level alone count.
func (e *Engine) byIntervals(n nest.Nest) (misses []uint64, ok bool) {
	if accessesOf(n) < e.intervalsFrom {
		return nil, false
	}
	refs, ok := operandsOf(e.levels, n)
	if !ok {
		return nil, false
	}
	misses, first, ok := reuseIntervals(e.levels, refs, 1)
	if !ok || first {
		return misses, ok
	}
	near, err := newRegions(e.levels[:1], options{}).Run(nest.Sequence(n))
	for r, m := range near {
		misses[r*len(e.levels)] = m
	}
	return misses, err == nil
}

// bySummaries simulates a pass over a program by summaries, and reports whether it could: where
// the levels are empty or these know what they hold, and where they have enough numbers for it.
func (e *Engine) bySummaries(p nest.Program) (misses []uint64, ok bool) {
	if e.place == deferred {
		e.settle()
	}
	if e.place == chained {
		return nil, false
	}
	if e.sums == nil {
		e.sums = newRegions(e.levels, options{Progress: e.progress, Ample: true})
	}
	misses, err := e.sums.Run(p)
	if err == nil {
		e.place = summed
	}
	return misses, err == nil
}

// settle runs what was deferred, since its contents are needed.
func (e *Engine) settle() {
	n := e.deferred
	e.place = empty
	e.one(n)
}

// toChain brings the contents to the chain, before something is looked up there.
func (e *Engine) toChain() {
	if e.place == deferred {
		e.settle()
	}
	if e.place == summed {
		for level := range e.levels {
			if !e.load(level) {
				e.Widen()
				e.load(level)
			}
		}
	}
	e.place = chained
}

// load copies the contents of a level of the summaries to the chain, unless a block is too large
// for it as it is.
func (e *Engine) load(level int) bool {
	for set := range e.levels[level].Sets {
		if !e.Load(level, set, e.sums.Contents(level, set)) {
			return false
		}
	}
	return true
}

// mostLookedUp is how many look-ups it may take at most that are not left out.
const mostLookedUp = 1e12

// Effort is about how many references Run looks up, and how many seconds that takes. What
// summaries leave out is not known beforehand: 0 stands for it, unless there are so many that they
// are not trusted with it.
func (e *Engine) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	for _, n := range nests {
		looked, _ := e.Chain.Effort([]nest.Nest{n}, passes)
		if looked > mostLookedUp || !comesBack(n) {
			lookUps += looked
		}
	}
	large := len(nests) == 1 && accessesOf(nests[0]) >= e.intervalsFrom
	if lookUps > 0 && large && passes == 1 && e.place == empty {
		if refs, ok := operandsOf(e.levels, nests[0]); ok {
			if _, _, ok := reuseIntervals(e.levels, refs, 1); ok {
				return 0, 0
			}
		}
	}
	return lookUps, lookUps / 1e8
}
