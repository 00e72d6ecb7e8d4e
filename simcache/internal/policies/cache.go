package policies

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A cache is one level by itself.
type cache struct {
	Level
	tags       []uint64 // block plus one by set and way; 0 is empty
	words      int      // of marks, in a set
	marks      []uint64 // by set and 8 ways: a byte for each tag, see byteOf
	lines      []line   // other state of the lines
	live       []int32  // by set, the number of ways in use
	sets       uint64
	mask       uint64 // sets-1 for a power of two of sets, else 0
	shift      uint   // log2 of the line size
	policy     Policy
	victims    *cache // victim cache: one LRU set
	prefetcher Prefetcher

	news     bool   // the current reference missed, or was first to use a prefetched line
	newest   uint64 // the last such line
	missedAt uint64 // serial of the last reference that missed

	counts engine.Besides // without observations
}

// A line is the state of a line in a way.
type line struct {
	dirty      bool
	prefetched bool // and not yet used
}

// A moved is a line on its way into a way, or out of one.
type moved struct {
	block uint64
	line
}

func newCache(l Level) *cache {
	c := &cache{Level: l, sets: uint64(l.Sets), shift: l.Shift}
	ways := l.Lines()
	c.tags, c.lines = make([]uint64, ways), make([]line, ways)
	c.words = (l.Ways + 7) / 8
	c.marks = make([]uint64, l.Sets*c.words)
	c.live = make([]int32, l.Sets)
	if l.Sets&(l.Sets-1) == 0 {
		c.mask = uint64(l.Sets - 1)
	}
	replace := l.Replace
	if replace == nil {
		replace = LRU
	}
	c.policy = replace(l.Sets, l.Ways)
	if l.Prefetch != nil {
		c.prefetcher = l.Prefetch(c.shift)
	}
	if l.VictimLines > 0 {
		beside := engine.Level{Sets: 1, Ways: l.VictimLines, Shift: l.Shift}
		c.victims = newCache(Level{Level: beside})
	}
	return c
}

func (c *cache) set(block uint64) int {
	switch {
	case c.mask != 0:
		return int(block & c.mask)
	case block <= math.MaxUint32: // division takes half the time
		return int(uint32(block) % uint32(c.sets))
	}
	return int(block % c.sets)
}

// eachByte is a word of eight bytes of 1.
const eachByte = 0x0101010101010101

// byteOf returns a byte of a block that blocks of one set hardly share: of a product, as in
// lines.Map.
func byteOf(block uint64) uint64 { return block * 0x9E3779B97F4A7C15 >> 56 }

// way returns a block's way, -1 if absent. It compares only ways with the block's mark, and a few
// others: the bit trick finds the lowest zero byte exactly, and may report a byte of 1 above it.
func (c *cache) way(set int, block uint64) int {
	first, wanted := set*c.Ways, byteOf(block)*eachByte
	for k, marks := range c.marks[set*c.words:][:c.words] {
		other := marks ^ wanted
		for zero := (other - eachByte) &^ other & (eachByte << 7); zero != 0; zero &= zero - 1 {
			if way := 8*k + bits.TrailingZeros64(zero)/8; way < c.Ways &&
				c.tags[first+way] == block+1 {
				return way
			}
		}
	}
	return -1
}

func (c *cache) place(block uint64) int {
	set := c.set(block)
	if way := c.way(set, block); way >= 0 {
		return set*c.Ways + way
	}
	return -1
}

func (c *cache) touch(block uint64) *line {
	set := c.set(block)
	way := c.way(set, block)
	if way < 0 {
		return nil
	}
	c.policy.touch(set, way)
	return &c.lines[set*c.Ways+way]
}

// hold is touch including the victim cache.
func (c *cache) hold(block uint64) *line {
	if l := c.touch(block); l != nil || c.victims == nil {
		return l
	}
	return c.victims.touch(block)
}

func (c *cache) inVictims(block uint64) bool {
	return c.victims != nil && c.victims.place(block) >= 0
}

// passes reports whether a missing request passes the level without a fill.
func (c *cache) passes(r request) bool {
	return r.write && (c.NoWriteAllocate || c.Tie == Exclusive)
}

func (c *cache) fromVictims(block uint64) *line {
	if !c.inVictims(block) {
		return nil
	}
	back, _ := c.victims.remove(block)
	c.counts.VictimHits++
	c.fill(back) // evicts nothing from the level
	return &c.lines[c.place(block)]
}

func (c *cache) fill(fresh moved) (gone moved, left bool) {
	set := c.set(fresh.block)
	first := set * c.Ways
	way := 0
	if full := c.live[set] == int32(c.Ways); full {
		way = c.policy.victim(set)
		gone, left = c.moved(first+way), true
		if c.victims != nil {
			gone, left = c.victims.fill(gone)
		}
	} else {
		way = slices.Index(c.tags[first:][:c.Ways], 0)
		c.live[set]++
	}
	at := first + way
	c.tags[at], c.lines[at] = fresh.block+1, fresh.line
	word, shift := &c.marks[set*c.words+way/8], way%8*8
	*word = *word&^(0xFF<<shift) | byteOf(fresh.block)<<shift
	c.policy.filled(set, way)
	return gone, left
}

func (c *cache) moved(at int) moved { return moved{block: c.tags[at] - 1, line: c.lines[at]} }

func (c *cache) remove(block uint64) (moved, bool) {
	set := c.set(block)
	if way := c.way(set, block); way >= 0 {
		out := c.moved(set*c.Ways + way)
		c.tags[set*c.Ways+way] = 0
		c.live[set]--
		return out, true
	}
	if c.victims != nil {
		return c.victims.remove(block)
	}
	return moved{}, false
}
