package proofs

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lru"
)

// residency is where the contents of an engine's levels are.
type residency uint8

const (
	nowhere residency = iota // nothing was looked up yet, and the levels are empty
	chained                  // in the chain
	held                     // in the prover
	owed                     // nowhere: they are those after the nests owed, run on empty levels
)

// handFrom is the number of accesses, for each line of all levels, from which a
// nest is worth taking the contents to the prover.
const handFrom = 0.5

// An Engine is a chain and a prover. It decides nest by nest which of them
// simulates it; the contents go from one to the other when they are needed.
type Engine struct {
	*lru.Chain
	levels          []engine.Level
	prover          *prover
	contents        residency
	from            int     // accesses that make a nest worth it
	independentFrom int     // accesses that make independence worth it
	independentGain float64 // times less that it must promise to take
	dearer          float64 // how much more a look-up costs the prover than the chain
	owed            []nest.Nest
	// References that independence looked up for what is owed, and those that it
	// looked up in vain.
	byIndependence, inVain uint64
}

// New makes an engine of levels, the nearest first, whose chain uses so many
// cores.
func New(levels []engine.Level, cores int) *Engine {
	lines := 0
	for _, l := range levels {
		lines += l.Lines()
	}
	return &Engine{Chain: lru.New(levels, lru.Options{Cores: cores}), levels: levels,
		from: int(handFrom * float64(lines)), independentFrom: independentFrom, independentGain: 2, dearer: 3}
}

// Eager makes the engine prove what it can, even where that does not pay: for
// tests.
func (e *Engine) Eager() { e.from, e.independentFrom, e.independentGain, e.dearer = 0, 0, 0, 2 }

// Residency names where the contents are, for tests: "nowhere", "chained", "held"
// or "owed".
func (e *Engine) Residency() string {
	return [...]string{"nowhere", "chained", "held", "owed"}[e.contents]
}

// Add simulates a reference of an operand.
func (e *Engine) Add(op int, addr, size uint64, kind nest.Kind) {
	if e.contents != chained {
		e.fetchBack()
	}
	e.Chain.Add(op, addr, size, kind)
}

// Descend simulates a fetch that missed in I1, at the second level.
func (e *Engine) Descend(op int, addr, size uint64) {
	e.fetchBack()
	e.Chain.Descend(op, addr, size)
}

// Work is how many references were looked up.
func (e *Engine) Work() uint64 {
	if e.prover == nil {
		return e.Chain.Work()
	}
	return e.Chain.Work() + e.prover.visited - e.inVain
}

// Contents are the blocks of a set of a level, the most recently used first,
// appended to list.
func (e *Engine) Contents(list []uint64, level, set int) []uint64 {
	e.fetchBack()
	return e.Chain.Contents(list, level, set)
}

// Run simulates passes over canonical nests.
func (e *Engine) Run(nests []nest.Nest, passes int) [][][]uint64 {
	if misses, ok := e.Independent(nests, passes); ok {
		return misses
	}
	return engine.RunEach(nests, passes, e.one)
}

// one simulates a nest.
func (e *Engine) one(n nest.Nest) []uint64 {
	if misses, ok := e.Independent([]nest.Nest{n}, 1); ok {
		return misses[0][0]
	}
	accesses := accessesOf(n)
	if (e.contents == held || accesses >= e.from) && accesses > 0 && e.theProver().fits(n) {
		if plan := e.prover.plan(n); (accesses < e.from || plan.cost*e.dearer < plan.brute) && e.hand() {
			return e.prover.follow(plan)
		}
	}
	e.fetchBack()
	return e.Chain.One(n)
}

func accessesOf(n nest.Nest) int { return n.Iterations() * len(n.Operands) }

// Independent counts passes over canonical nests by prover.independentOperands,
// where it may pay, and reports whether it did. The contents are owed then.
func (e *Engine) Independent(nests []nest.Nest, passes int) (misses [][][]uint64, done bool) {
	accesses := 0
	for _, n := range nests {
		if accessesOf(n) == 0 {
			return nil, false
		}
		accesses += accessesOf(n) * passes
	}
	if e.contents != nowhere || accesses < e.independentFrom || !e.independencePays(nests, passes) {
		return nil, false
	}
	before := e.prover.visited
	misses, done = e.prover.independentOperands(nests, passes)
	if e.byIndependence = e.prover.visited - before; done {
		e.contents = owed
		for range passes {
			e.owed = append(e.owed, nests...)
		}
	} else {
		e.inVain += e.byIndependence
	}
	return misses, done
}

// independencePays reports whether independence promises to be much quicker than
// all else.
func (e *Engine) independencePays(nests []nest.Nest, passes int) bool {
	x := e.theProver()
	together := 0.0
	for _, n := range nests {
		if !x.fits(n) {
			return false
		}
		plan := x.plan(n)
		together += min(plan.cost, plan.brute/e.dearer) * float64(passes)
	}
	return x.independenceCost(nests, passes)*e.independentGain < together
}

// theProver is the prover, made when it is first needed.
func (e *Engine) theProver() *prover {
	if e.prover == nil {
		e.prover = newProver(e.levels)
	}
	return e.prover
}

// hand gives the contents to the prover, and reports whether it could take
// them: a block may be too large for it.
func (e *Engine) hand() bool {
	if e.contents == owed {
		e.pay()
	}
	e.prover.open()
	if e.contents == chained {
		e.Flush()
		var list []uint64
		for level, l := range e.levels {
			for set := range l.Sets {
				list = e.Chain.Contents(list[:0], level, set)
				if !e.prover.levels[level].load(set, list) {
					return false
				}
			}
		}
	}
	e.contents = held
	return true
}

// fetchBack takes the contents back, before something is looked up in the
// chain.
func (e *Engine) fetchBack() {
	if e.contents == owed {
		e.pay()
	}
	if e.contents == held {
		for level := range e.levels {
			if !e.load(level) {
				e.Widen()
				e.load(level)
			}
		}
	}
	e.contents = chained
}

// load copies the contents of a prover's level to the chain, unless a block is
// too large for it as it is.
func (e *Engine) load(level int) bool {
	var list []uint64
	for set := range e.levels[level].Sets {
		list = e.prover.levels[level].blocks(list[:0], set)
		if !e.Load(level, set, list) {
			return false
		}
	}
	return true
}

// pay makes up for nests that independence counted, whose contents are needed
// after all. Their accesses are looked up then, but for those that other rules
// skip.
func (e *Engine) pay() {
	nests := e.owed
	e.contents, e.owed = chained, nil
	e.inVain += e.byIndependence
	for _, n := range nests {
		e.one(n)
	}
}
