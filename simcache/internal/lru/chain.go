// Package lru looks references up in levels of LRU caches, none of which knows
// what the others hold, as in Cachegrind.
package lru

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A Chain is levels of LRU caches: a level sees what misses in the one before,
// with the original address and size.
//
// References that lie in one line wait in batches and pass a level a batch at
// a time, so that a level's lookups, which do not depend on each other, run
// ahead of one another. Their order at each level is that in which they came.
// A reference that crosses a line is looked up by itself, after all that wait.
type Chain struct {
	levels []rows
	grain  uint   // log2 of the smallest line: what lies in a grain crosses no line anywhere
	limit  uint64 // from this address on, tags must be wide and nothing is packed
	// waiting[i] is packed references on their way to level i; those of
	// waiting[len(levels)] missed everywhere.
	waiting    [][]uint64
	misses     [][]uint64 // by level and operand
	dirty      uint64     // writes if write-backs are counted, else 0
	fills      []uint64   // by level: lines that it fetched
	writeBacks []uint64   // by level: dirty lines that it gave to the next
	visited    uint64     // references looked up
	brute      bool       // look up every access of a nest
	cores      int        // to use
	share      int        // accesses from which on they are used
	// class and classes select the references to simulate, on several cores:
	// those whose grain&classes is class.
	class, classes uint64
	tracked        int    // operands that are counted
	watch          *Watch // that observes, or nil; then nothing waits
}

// batch is how many references wait for a level before they are looked up: few
// enough that they stay in a first-level cache.
const batch = 512

// Options say how a chain simulates, and what it counts.
type Options struct {
	ZeroTags   bool // all ways begin with block 0, as Cachegrind's do
	WriteBacks bool // count dirty lines
	Brute      bool // look up every access of a nest
	Cores      int  // to use; 0 and 1 mean one
	Observe    Observe
}

// New makes a chain of levels, the nearest first.
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

// chainOf makes a chain of caches.
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

// narrow says up to where tags are narrow, which they are now.
func (c *Chain) narrow() {
	c.limit = 1 << min(60, 64-grains+c.grain)
	for i := range c.levels {
		l := &c.levels[i]
		if high, low := bits.Mul64(l.limit(), 1<<l.shift); high == 0 {
			c.limit = min(c.limit, low)
		}
	}
}

// Reset makes the chain what New returned, in the memory that it has.
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
	c.track(engine.Sorts)
	if c.watch != nil {
		c.watch.reset()
	}
}

// reset makes the batches, and the counts of so many operands.
func (c *Chain) reset(n int) {
	c.waiting = make([][]uint64, len(c.levels)+1)
	c.misses = make([][]uint64, len(c.levels))
	for i := range c.waiting {
		c.waiting[i] = make([]uint64, 0, 3*batch) // a batch makes two for each of its own
	}
	c.track(n)
}

// track forgets the misses, and makes room for those of so many operands.
func (c *Chain) track(n int) {
	c.tracked = n
	for i, misses := range c.misses {
		clear(misses)
		if len(misses) < max(n, engine.Sorts) {
			c.misses[i] = make([]uint64, max(n, engine.Sorts))
		}
	}
}

// Take returns the misses of single references at a level.
func (c *Chain) Take(level int) []uint64 {
	c.Flush()
	misses := slices.Clone(c.misses[level])
	clear(c.misses[level])
	return misses
}

// Track makes room for so many operands of single references.
func (c *Chain) Track(operands int) { c.track(operands) }

// Run simulates passes over canonical nests.
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

// One simulates one canonical nest, after what single references counted has been taken.
func (c *Chain) One(n nest.Nest) []uint64 {
	return c.counted(len(n.Operands), func() {
		switch {
		case c.watch != nil:
			c.visit().Nest(n)
		case n.Iterations() > 0 && !c.walkOnCores(n):
			c.walk(nest.Sequence(n))
		}
	})
}

// RunProgram simulates a program, after what single references counted has been taken.
func (c *Chain) RunProgram(p nest.Program) []uint64 {
	return c.counted(len(p.Operands()), func() {
		if c.watch != nil {
			c.visit().Program(p)
		} else {
			c.walk(p)
		}
	})
}

// counted returns the misses of a walk of so many operands.
func (c *Chain) counted(operands int, walk func()) []uint64 {
	c.Flush()
	c.track(operands)
	walk()
	c.Flush()
	misses := engine.ByOperand(c.misses, operands)
	c.track(engine.Sorts)
	return misses
}

// Settled: see simcache.SteadyPass. With write-backs, what the first level hits
// repeats itself from the second pass on, and what it writes back from the third:
// a line that leaves in a pass came in it or in the one before, or it would have
// stayed for a whole pass, and then for all; so what made it dirty repeats itself
// too. The next level sees a stream that repeats itself from the third pass on,
// so that its hits do from the fourth and its write-backs from the fifth, and so on.
//
// The shadows of what is observed are LRU, too, and see the same references. What a line was
// used for is counted until it leaves, and settles with what leaves: one pass after the hits.
func (c *Chain) Settled() int {
	switch {
	case c.dirty != 0:
		return 2*len(c.levels) + 1
	case c.watch != nil:
		return len(c.levels) + 2
	}
	return len(c.levels) + 1
}

// Effort is about how many references Run looks up, and how many seconds that takes: of
// runs within lines one for each, or two if they are observed.
func (c *Chain) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	for _, n := range nests {
		refs, inner := engine.References([]nest.Nest{n}, passes), len(n.Trips)-1
		if inner >= 0 && refs > 0 {
			refs /= c.inRun(n.Operands, inner, n.Trips[inner])
		}
		lookUps += refs
	}
	if c.watch != nil {
		return lookUps, lookUps / 1e7
	}
	return lookUps, lookUps / 1e8
}

// inRun is how many of so many iterations of an innermost loop there are for each that is
// looked up.
func (c *Chain) inRun(operands []nest.Operand, inner, trips int) float64 {
	run := uint64(trips)
	var strides []int
	for _, op := range operands {
		s := op.Strides[inner]
		if strides = append(strides, s); s != 0 {
			run = min(run, max(1, 1<<c.levels[0].shift/uint64(max(s, -s))))
		}
	}
	switch {
	case !c.inLine(operands, strides):
		return 1
	case c.watch != nil:
		return float64((run + 1) / 2)
	}
	return float64(run)
}

// Work is how many references were looked up.
func (c *Chain) Work() uint64 { return c.visited }

// Besides is what write-backs move, and what is observed.
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

// At does nothing: LRU does not ask which instruction makes a reference.
func (c *Chain) At(uint64) {}

// Add simulates a reference of an operand.
func (c *Chain) Add(op int, addr, size uint64, kind nest.Kind) {
	last := addr + size - 1
	write := dirties(kind) & c.dirty
	if (addr^last)>>c.grain != 0 || last >= c.limit || op >= opCount || c.watch != nil {
		c.one(op, addr, size, write, kind)
		return
	}
	if ref := addr>>c.grain<<grains | uint64(op)<<opBit | write; c.classes == 0 || c.isOwn(ref) != 0 {
		c.wait(0, ref)
	}
}

// one is Add of a reference that does not wait. The read of a modify may drive out lines that
// its store brings back.
func (c *Chain) one(op int, addr, size, write uint64, kind nest.Kind) {
	last := addr + size - 1
	c.makeWay(last)
	c.visited++
	if c.watch != nil {
		c.watch.Begin()
	}
	twice := kind == nest.Modify && (addr^last)>>c.grain != 0
	if twice && (write != 0 || c.watch != nil) {
		c.look(0, op, addr, size, 0, 1)
		c.look(0, op, addr, size, write, 0)
	} else {
		c.look(0, op, addr, size, write, 1)
	}
	if c.watch != nil {
		c.watch.Done(op, addr, size)
	}
}

// visit is a walk that is observed.
func (c *Chain) visit() *Visit {
	v := &Visit{Watch: c.watch, Add: func(op int, addr, size uint64, kind nest.Kind) bool {
		before := c.fills[0]
		c.one(op, addr, size, dirties(kind)&c.dirty, kind)
		return c.fills[0] == before
	}}
	if !c.brute {
		v.Line = 1 << c.levels[0].shift
	}
	return v
}

// AddAll is Add of each reference in turn. Those that can be packed wait without a call for each.
func (c *Chain) AddAll(refs []engine.Reference) {
	for len(refs) > 0 {
		refs = refs[c.pack(refs):]
		if len(c.waiting[0]) >= batch {
			c.drain(0)
		} else if len(refs) > 0 {
			c.Add(int(refs[0].Op), refs[0].Addr, uint64(refs[0].Size), refs[0].Kind)
			refs = refs[1:]
		}
	}
}

// pack lets references wait for the first level until one cannot be packed, or the batch is
// full. It returns how many.
func (c *Chain) pack(refs []engine.Reference) int {
	waiting := c.waiting[0]
	grain, limit, dirty := c.grain, c.limit, c.dirty
	if c.classes != 0 || c.watch != nil {
		limit = 0
	}
	refs = refs[:min(len(refs), batch-len(waiting))]
	for i := range refs {
		r := &refs[i]
		last := r.Addr + uint64(r.Size) - 1
		if (r.Addr^last)>>(grain&63) != 0 || last >= limit || r.Op >= opCount {
			refs = refs[:i]
			break
		}
		write := dirties(r.Kind) & dirty
		waiting = append(waiting, r.Addr>>(grain&63)<<grains|uint64(r.Op)<<opBit|write)
	}
	c.waiting[0] = waiting
	return len(refs)
}

// wait lets a packed reference wait for a level.
func (c *Chain) wait(level int, ref uint64) {
	refs := append(c.waiting[level], ref)
	c.waiting[level] = refs
	if len(refs) >= batch {
		c.drain(level)
	}
}

// Descend simulates a fetch that missed in I1, at the second level.
func (c *Chain) Descend(op int, addr, size uint64) {
	last := addr + size - 1
	if (addr^last)>>c.grain != 0 || last >= c.limit || c.watch != nil {
		c.makeWay(last)
		if c.watch != nil {
			c.watch.Begin()
		}
		c.misses[0][op]++
		c.look(1, op, addr, size, 0, 1)
		return
	}
	c.drain(0)   // what came before
	c.fills[0]-- // whatever misses there is counted as one of its fills, and this is I1's
	c.wait(1, addr>>c.grain<<grains|uint64(op)<<opBit)
}

// makeWay prepares for a reference that cannot be packed, up to address last.
func (c *Chain) makeWay(last uint64) {
	if c.watch == nil {
		c.Flush()
	}
	if last >= c.limit && c.limit > 0 {
		c.Widen()
	}
}

// Widen makes room for blocks of any size; nothing may wait.
func (c *Chain) Widen() {
	for i := range c.levels {
		c.levels[i].widen()
	}
	c.limit = 0 // nothing is packed any more
}

// Flush looks up all that wait.
func (c *Chain) Flush() {
	for i := range c.waiting {
		c.drain(i)
	}
}

// drain looks up what waits for a level.
func (c *Chain) drain(level int) {
	refs := c.waiting[level]
	c.waiting[level] = refs[:0]
	switch level {
	case 0:
		c.visited += uint64(len(refs))
	case len(c.levels):
		c.tally(level-1, refs)
		return
	default:
		c.tally(level-1, refs)
	}
	for len(refs) > 0 {
		if len(c.waiting[level+1]) > batch {
			c.drain(level + 1)
		}
		now := refs[:min(len(refs), batch)]
		refs = refs[len(now):]
		next := c.waiting[level+1]
		n := c.levels[level].filter(now, next[len(next):cap(next)])
		c.waiting[level+1] = next[:len(next)+n]
	}
}

// own keeps the references of the chain's class.
func (c *Chain) own(refs []uint64) []uint64 {
	if c.classes == 0 {
		return refs
	}
	kept := uint64(0)
	for _, ref := range refs {
		refs[kept] = ref
		kept += c.isOwn(ref)
	}
	return refs[:kept]
}

// isOwn is 1 for a reference of the chain's class, else 0; a branch would be a
// guess.
func (c *Chain) isOwn(ref uint64) uint64 {
	other := ref>>grains&c.classes ^ c.class
	return (other - 1) >> 63
}

// tally counts what a level handed on.
func (c *Chain) tally(level int, refs []uint64) {
	misses, backs := c.misses[level], uint64(0)
	if c.tracked == 1 && c.dirty == 0 {
		misses[0] += uint64(len(refs))
		c.fills[level] += uint64(len(refs))
		return
	}
	for _, ref := range refs {
		if ref&writeBack != 0 {
			backs++
		} else {
			misses[ref>>opBit&(opCount-1)]++
		}
	}
	c.writeBacks[level] += backs
	c.fills[level] += uint64(len(refs)) - backs
}

// look looks up, at a level, the lines of a reference, the lowest one first. That
// counts as one miss at most (cg_sim.c, cachesim_ref_is_miss), and the whole reference
// goes on to the next level, before the dirty blocks that had to go. It counts as so
// many references.
func (c *Chain) look(level, op int, addr, size, write, count uint64) {
	if level == len(c.levels) {
		return
	}
	l := &c.levels[level]
	var room [2]uint64
	missed, gone := false, room[:0]
	for block, last := addr>>l.shift, (addr+size-1)>>l.shift; ; block++ {
		absent, victim := l.touch(block, write)
		if absent {
			missed = true
			c.fills[level]++
		}
		if c.watch != nil {
			if count > 0 {
				c.watch.Look(level, op, block, absent, true)
			}
			c.watch.moved(level, op, block, absent, victim)
		}
		if victim.dirty {
			gone = append(gone, victim.block)
		}
		if block == last {
			break
		}
	}
	if missed {
		c.misses[level][op] += count
		c.look(level+1, op, addr, size, 0, count)
	}
	for _, victim := range gone {
		c.putBack(level, op, victim)
	}
}

// putBack writes a dirty block from a level to the next.
func (c *Chain) putBack(level, op int, block uint64) {
	c.writeBacks[level]++
	if level+1 == len(c.levels) {
		return
	}
	from, to := &c.levels[level], &c.levels[level+1]
	block = block << from.shift >> to.shift
	absent, victim := to.touch(block, writes)
	if c.watch != nil {
		c.watch.moved(level+1, op, block, absent, victim)
	}
	if victim.dirty {
		c.putBack(level+1, op, victim.block)
	}
}

// dirties is what a packed reference of the kind is flagged with.
func dirties(k nest.Kind) uint64 {
	if k == nest.Read {
		return 0
	}
	return writes
}

// Contents are the blocks of a set of a level, the most recently used first,
// appended to list; nothing may wait.
func (c *Chain) Contents(list []uint64, level, set int) []uint64 {
	return c.levels[level].blocks(list, set)
}

// Load fills a set of a level with blocks, the most recently used first. It
// reports whether it could: where a block is too large, after Widen.
func (c *Chain) Load(level, set int, blocks []uint64) bool { return c.levels[level].load(set, blocks) }

// Look looks up one reference in the first level and reports whether it missed; it
// is not counted, and goes on nowhere.
func (c *Chain) Look(addr, size uint64) (missed bool) {
	c.makeWay(addr + size - 1)
	l := &c.levels[0]
	for block, last := addr>>l.shift, (addr+size-1)>>l.shift; ; block++ {
		absent, _ := l.touch(block, 0)
		if missed = missed || absent; block == last {
			return missed
		}
	}
}
