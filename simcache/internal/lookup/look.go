package lookup

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// At does nothing: LRU does not depend on instructions.
func (c *Chain) At(uint64) {}

// Add simulates a reference of an operand.
func (c *Chain) Add(op int, addr, size uint64, kind nest.Kind) {
	last := addr + size - 1
	write := dirties(kind) & c.dirty
	if (addr^last)>>c.grain != 0 || last >= c.limit || op >= opCount || c.watch != nil {
		c.one(op, addr, size, write, kind)
		return
	}
	if ref := addr>>c.grain<<grains | uint64(op)<<opBit | write; c.classes == 0 ||
		c.isOwn(ref) != 0 {
		if c.waiting[0] = append(c.waiting[0], ref); len(c.waiting[0]) >= batch {
			c.drain(0)
		}
	}
}

// one is Add without waiting. The read of a modify may evict lines that its store fetches again.
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

// AddAll implements engine.Engine.
func (c *Chain) AddAll(refs []engine.Reference) {
	for i := range refs {
		r := &refs[i]
		c.Add(int(r.Op), r.Addr, uint64(r.Size), r.Kind)
	}
}

// Descend implements engine.Engine.
func (c *Chain) Descend(op int, addr, size uint64) {
	c.makeWay(addr + size - 1)
	if c.watch != nil {
		c.watch.Begin()
	}
	c.misses[0][op]++
	c.look(1, op, addr, size, 0, 1)
}

func (c *Chain) makeWay(last uint64) {
	if c.watch == nil {
		c.Flush()
	}
	if last >= c.limit && c.limit > 0 {
		c.Widen()
	}
}

// Widen makes room for blocks of any size. Nothing may wait.
func (c *Chain) Widen() {
	for i := range c.levels {
		c.levels[i].widen()
	}
	c.limit = 0 // nothing is packed any longer
}

// Flush looks up all references that wait.
func (c *Chain) Flush() {
	for i := range c.waiting {
		c.drain(i)
	}
}

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

// isOwn returns 1 for the chain's class, else 0, without a branch to predict.
func (c *Chain) isOwn(ref uint64) uint64 {
	other := ref>>grains&c.classes ^ c.class
	return (other - 1) >> 63
}

func (c *Chain) tally(level int, refs []uint64) {
	misses, backs := c.misses[level], uint64(0)
	if c.dirty == 0 && len(misses) <= 4 { // adding to one place in memory would wait for itself
		sum := uint64(0)
		for _, ref := range refs {
			sum += 1 << (ref >> opBit % 4 * 16)
		}
		for op := range misses {
			misses[op] += sum >> (op * 16) % (1 << 16)
		}
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

// look looks up the lines of a reference at a level, the lowest first, as one miss at most
// (cg_sim.c, cachesim_ref_is_miss). On a miss the whole reference goes to the next level, before
// the dirty blocks that it evicted.
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

func dirties(k nest.Kind) uint64 {
	if k == nest.Read {
		return 0
	}
	return writes
}

// Contents appends a set's blocks to list, the most recently used first. Nothing may wait.
func (c *Chain) Contents(list []uint64, level, set int) []uint64 {
	return c.levels[level].blocks(list, set)
}

// Load fills a set with blocks, the most recently used first. It returns false if a block needs
// Widen.
func (c *Chain) Load(level, set int, blocks []uint64) bool {
	return c.levels[level].load(set, blocks)
}

// Look looks up a reference in the first level, uncounted, and reports a miss.
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
