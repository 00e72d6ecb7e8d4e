package simcache

import "math/bits"

// A chain is levels of LRU caches, none of which knows what the others hold,
// as in Cachegrind: a level sees what misses in the one before, with the
// original address and size.
//
// References that lie in one line wait in batches and pass a level a batch at
// a time, so that a level's lookups, which do not depend on each other, run
// ahead of one another. Their order at each level is that in which they came.
// A reference that crosses a line is looked up by itself, after all that wait.
type chain struct {
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
	tracked        int // operands that are counted
}

// batch is how many references wait for a level before they are looked up: few
// enough that they stay in a first-level cache.
const batch = 512

// newChain makes a chain of such levels; of the Config it takes ZeroTags,
// WriteBacks, Brute and Cores.
func newChain(levels []Geometry, config Config) *chain {
	c := &chain{grain: 64, limit: 1 << 60, fills: make([]uint64, len(levels)), writeBacks: make([]uint64, len(levels))}
	if config.WriteBacks {
		c.dirty = writes
	}
	for _, g := range levels {
		l := newRows(g, config.ZeroTags)
		c.levels = append(c.levels, l)
		c.grain = min(c.grain, l.shift)
		if high, low := bits.Mul64(l.limit(), 1<<l.shift); high == 0 {
			c.limit = min(c.limit, low)
		}
	}
	for i := range c.levels {
		c.levels[i].down = grains + c.levels[i].shift - c.grain
	}
	c.cores, c.share, c.brute = config.Cores, many, config.Brute
	c.reset(sorts)
	return c
}

// reset makes the batches, and the counts of so many operands.
func (c *chain) reset(n int) {
	c.waiting = make([][]uint64, len(c.levels)+1)
	c.misses = make([][]uint64, len(c.levels))
	for i := range c.waiting {
		c.waiting[i] = make([]uint64, 0, 3*batch) // a batch makes two for each of its own
	}
	c.track(n)
}

// track forgets the misses, and makes room for those of so many operands.
func (c *chain) track(n int) {
	c.tracked = n
	for i, misses := range c.misses {
		clear(misses)
		if len(misses) < max(n, opCount) {
			c.misses[i] = make([]uint64, max(n, opCount))
		}
	}
}

func (c *chain) take(level int) (misses [sorts]uint64) {
	c.flush()
	copy(misses[:], c.misses[level])
	clear(c.misses[level])
	return misses
}

func (c *chain) run(nests []Nest, passes int) [][][]uint64 { return runEach(nests, passes, c.one) }

// one simulates a nest, after what single references counted has been taken.
func (c *chain) one(n Nest) []uint64 {
	c.flush()
	c.track(len(n.Operands))
	c.walk(n)
	c.flush()
	var misses []uint64
	for op := range n.Operands {
		for level := range c.levels {
			misses = append(misses, c.misses[level][op])
		}
	}
	c.track(sorts)
	return misses
}

// settled: see Hierarchy.Steady. Whether a line is dirty takes longer to repeat.
func (c *chain) settled() int {
	if c.dirty != 0 {
		return 0
	}
	return len(c.levels) + 1
}

func (c *chain) work() uint64 { return c.visited }

func (c *chain) more(level int, counts *LevelCounts) {
	if c.dirty != 0 {
		line := uint64(1) << c.levels[level].shift
		counts.BytesIn = c.fills[level] * line
		counts.WriteBacks = c.writeBacks[level]
		counts.BytesOut = c.writeBacks[level] * line
	}
}

func (c *chain) at(uint64) {}

// add simulates a reference of an operand.
func (c *chain) add(op int, addr, size uint64, kind Kind) {
	last := addr + size - 1
	write := kind.dirties() & c.dirty
	if (addr^last)>>c.grain != 0 || last >= c.limit || op >= opCount {
		c.settle(last)
		c.visited++
		c.look(0, op, addr, size, write)
		return
	}
	if ref := addr>>c.grain<<grains | uint64(op)<<opBit | write; c.classes == 0 || c.isOwn(ref) != 0 {
		c.wait(0, ref)
	}
}

// wait lets a packed reference wait for a level.
func (c *chain) wait(level int, ref uint64) {
	refs := append(c.waiting[level], ref)
	c.waiting[level] = refs
	if len(refs) >= batch {
		c.drain(level)
	}
}

// descend simulates a fetch that missed in I1, at the second level.
func (c *chain) descend(op int, addr, size uint64) {
	last := addr + size - 1
	if (addr^last)>>c.grain != 0 || last >= c.limit {
		c.settle(last)
		c.misses[0][op]++
		c.look(1, op, addr, size, 0)
		return
	}
	c.drain(0) // what came before
	c.wait(1, addr>>c.grain<<grains|uint64(op)<<opBit)
}

// settle prepares for a reference that cannot be packed, up to address last.
func (c *chain) settle(last uint64) {
	c.flush()
	if last >= c.limit && c.limit > 0 {
		c.widen()
	}
}

// widen makes all tags wide; nothing may wait.
func (c *chain) widen() {
	for i := range c.levels {
		c.levels[i].widen()
	}
	c.limit = 0 // nothing is packed any more
}

// flush looks up all that wait.
func (c *chain) flush() {
	for i := range c.waiting {
		c.drain(i)
	}
}

// drain looks up what waits for a level.
func (c *chain) drain(level int) {
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
func (c *chain) own(refs []uint64) []uint64 {
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
func (c *chain) isOwn(ref uint64) uint64 {
	other := ref>>grains&c.classes ^ c.class
	return (other - 1) >> 63
}

// tally counts what a level handed on.
func (c *chain) tally(level int, refs []uint64) {
	misses, backs := c.misses[level], uint64(0)
	switch {
	case c.tracked == 1 && c.dirty == 0:
		misses[0] += uint64(len(refs))
	case c.tracked <= 3:
		sum := uint64(0)
		for _, ref := range refs {
			sum += lanes16[ref>>1&7]
		}
		for op := range uint64(3) {
			misses[op] += sum >> (16 * op) & 0xffff
		}
		backs = sum >> 48
	default:
		for _, ref := range refs {
			if ref&writeBack != 0 {
				backs++
			} else {
				misses[ref>>opBit&(opCount-1)]++
			}
		}
	}
	c.writeBacks[level] += backs
	c.fills[level] += uint64(len(refs)) - backs
}

// lanes16 are ones in four counters of 16 bits, for operands 0 to 2 and for
// write-backs, by the bits of a packed reference from that of writeBack on.
var lanes16 = func() (ones [8]uint64) {
	for i := range uint64(8) {
		ones[i] = 1 << (16 * (i >> 1))
		if i&1 != 0 {
			ones[i] = 1 << 48
		}
	}
	return ones
}()

// look looks up, at a level, the line of a reference or both lines, the lower
// one first, of a reference that crosses from one into the next. That counts
// as one miss at most (cg_sim.c, cachesim_ref_is_miss), and the whole reference
// goes on to the next level, before the dirty blocks that had to go.
func (c *chain) look(level, op int, addr, size, write uint64) {
	if level == len(c.levels) {
		return
	}
	l := &c.levels[level]
	first, last := addr>>l.shift, (addr+size-1)>>l.shift
	missed, victim, dirty := l.touch(first, write)
	var victim2 uint64
	var dirty2 bool
	if missed {
		c.fills[level]++
	}
	if last != first {
		var missed2 bool
		missed2, victim2, dirty2 = l.touch(last, write)
		if missed2 {
			c.fills[level]++
		}
		missed = missed || missed2
	}
	if missed {
		c.misses[level][op]++
		c.look(level+1, op, addr, size, 0)
	}
	if dirty {
		c.putBack(level, victim)
	}
	if dirty2 {
		c.putBack(level, victim2)
	}
}

// putBack writes a dirty block from a level to the next.
func (c *chain) putBack(level int, block uint64) {
	c.writeBacks[level]++
	if level+1 == len(c.levels) {
		return
	}
	from, to := &c.levels[level], &c.levels[level+1]
	if _, victim, dirty := to.touch(block<<from.shift>>to.shift, writes); dirty {
		c.putBack(level+1, victim)
	}
}
