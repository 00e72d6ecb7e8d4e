// Package lookup looks references up in LRU levels that are independent, as in Cachegrind. It also
// observes levels of any kind: why and in which sets they miss, which bytes of their lines are
// used, and when lines were last touched.
package lookup

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A Chain is LRU levels. A level sees the misses of the level before, with the original address and
// size.
//
// References within one line wait in a batch for each level. Their lookups are independent, so the
// CPU overlaps them; their order stays. A reference that crosses a line is looked up by itself,
// after all that wait.
type Chain struct {
	levels []rows
	grain  uint   // log2 of the smallest line: an access within a grain crosses no line
	limit  uint64 // from this address on, tags must be wide and references are not packed
	// waiting[i] holds packed references on their way to level i. Those in waiting[len(levels)]
	// missed everywhere.
	waiting    [][]uint64
	misses     [][]uint64 // by level and operand
	dirty      uint64     // writes if write-backs are counted, else 0
	fills      []uint64   // by level: lines fetched
	writeBacks []uint64   // by level: dirty lines passed to the next
	visited    uint64     // references looked up
	brute      bool       // look up every access of a nest
	cores      int        // to use
	share      int        // accesses from which several cores are used
	// class and classes select the references to simulate, on several cores: those with
	// grain&classes equal to class.
	class, classes uint64
	watch          *Watch // observer, or nil; with one nothing waits
}

// batch is how many references wait for a level. They fit a first-level cache.
const batch = 512

// Options configure a chain.
type Options struct {
	ZeroTags   bool // all ways start with block 0, as in Cachegrind
	WriteBacks bool // count dirty lines
	Brute      bool // look up every access of a nest
	Cores      int  // to use; 0 means 1
	Observe    Observe
}

// New returns a chain of levels, the nearest first.
func New(levels []engine.Level, o Options) *Chain {
	var all []rows
	for _, level := range levels {
		all = append(all, newRows(level, o.ZeroTags))
	}
	c := chainOf(all, o)
	if o.Observe != 0 {
		c.watch = NewWatch(levels, o.Observe)
	}
	return c
}

func chainOf(levels []rows, o Options) *Chain {
	c := &Chain{grain: 64, levels: levels}
	c.fills, c.writeBacks = make([]uint64, len(levels)), make([]uint64, len(levels))
	if o.WriteBacks {
		c.dirty = writes
	}
	for _, l := range levels {
		c.grain = min(c.grain, l.shift)
	}
	for i := range c.levels {
		c.levels[i].down = grains + c.levels[i].shift - c.grain
	}
	c.cores, c.share, c.brute = o.Cores, many, o.Brute
	c.narrow()
	c.reset(engine.Sorts)
	return c
}

func (c *Chain) narrow() {
	c.limit = 1 << min(60, 64-grains+c.grain)
	for i := range c.levels {
		l := &c.levels[i]
		if high, low := bits.Mul64(l.limit(), 1<<l.shift); high == 0 {
			c.limit = min(c.limit, low)
		}
	}
}

// Reset makes the chain new, and keeps its memory.
func (c *Chain) Reset() {
	for i := range c.levels {
		c.levels[i].reset()
	}
	for i := range c.waiting {
		c.waiting[i] = c.waiting[i][:0]
	}
	clear(c.fills)
	clear(c.writeBacks)
	c.visited = 0
	c.narrow()
	c.Track(engine.Sorts)
	if c.watch != nil {
		c.watch.reset()
	}
}

func (c *Chain) reset(n int) {
	c.waiting = make([][]uint64, len(c.levels)+1)
	c.misses = make([][]uint64, len(c.levels))
	for i := range c.waiting {
		c.waiting[i] = make([]uint64, 0, 3*batch) // room for two references for each waiting one
	}
	c.Track(n)
}

// Track clears the misses and makes room for n operands.
func (c *Chain) Track(n int) {
	for i, misses := range c.misses {
		clear(misses)
		if len(misses) < max(n, engine.Sorts) {
			c.misses[i] = make([]uint64, max(n, engine.Sorts))
		}
	}
}

// Take implements engine.Engine.
func (c *Chain) Take(level int) []uint64 {
	c.Flush()
	misses := slices.Clone(c.misses[level])
	clear(c.misses[level])
	return misses
}

// Run implements engine.Engine.
func (c *Chain) Run(nests []nest.Nest, passes int) [][][]uint64 {
	walked := 0
	return engine.RunEach(nests, passes, func(n nest.Nest) []uint64 {
		if walked%len(nests) == 0 && c.watch != nil {
			c.watch.Pass()
		}
		walked++
		return c.One(n)
	})
}

// One simulates a canonical nest, after Take.
func (c *Chain) One(n nest.Nest) []uint64 { return c.counted(n, nest.Sequence(n)) }

// RunProgram simulates a program, after Take.
func (c *Chain) RunProgram(p nest.Program) []uint64 { return c.counted(p, p) }

func (c *Chain) counted(what any, p nest.Program) []uint64 {
	operands := len(p.Operands())
	c.Flush()
	c.Track(operands)
	if c.watch != nil {
		c.visit().Walk(what, p)
	} else {
		c.walk(p)
	}
	c.Flush()
	misses := engine.ByOperand(c.misses, operands)
	c.Track(engine.Sorts)
	return misses
}

// Settled: see simcache.SteadyPass. With write-backs, the first level's hits repeat from the second
// pass on, and its write-backs from the third. For a line that leaves arrived in the same pass or
// the one before: otherwise it would have stayed a whole pass, and then forever. So what made it
// dirty repeats too. The next level's stream repeats from the third pass on, its hits from the
// fourth and its write-backs from the fifth, and so on.
//
// Shadows settle as levels do. Used bytes settle with evictions, one pass later.
func (c *Chain) Settled() int {
	switch {
	case c.dirty != 0:
		return 2*len(c.levels) + 1
	case c.watch != nil:
		return len(c.levels) + 2
	}
	return len(c.levels) + 1
}

// LooksUp returns true.
func (c *Chain) LooksUp([]nest.Operand) bool { return true }

// Progress does nothing.
func (c *Chain) Progress(func(share float64)) {}

// Effort estimates Run's lookups, and the time in seconds. A reference's run within a line takes
// one lookup, or two if observed.
func (c *Chain) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	looked, speed := 1.0, 1e8
	if c.watch != nil {
		looked, speed = 2, 1e7
	}
	for _, n := range nests {
		refs := engine.References([]nest.Nest{n}, passes)
		if inner := len(n.Trips) - 1; inner >= 0 && refs > 0 {
			run, strides, line := n.Trips[inner], []int{}, 1<<c.levels[0].shift
			for _, op := range n.Operands {
				s := op.Strides[inner]
				strides = append(strides, s)
				run = min(run, line/max(s, -s, 1))
			}
			if c.inLine(n.Operands, strides) {
				refs *= looked / float64(run)
			}
		}
		lookUps += refs
	}
	return lookUps, lookUps / speed
}

// Work implements engine.Engine.
func (c *Chain) Work() uint64 { return c.visited }

// Besides returns the bytes that write-backs move, and the observations.
func (c *Chain) Besides(level int) (b engine.Besides) {
	if c.watch != nil {
		c.watch.Besides(level, &b)
	}
	if c.dirty != 0 {
		line := uint64(1) << c.levels[level].shift
		b.BytesIn = c.fills[level] * line
		b.WriteBacks = c.writeBacks[level]
		b.BytesOut = c.writeBacks[level] * line
	}
	return b
}
