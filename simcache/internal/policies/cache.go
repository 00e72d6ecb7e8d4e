package policies

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A cache is one level of deep by itself.
type cache struct {
	Level
	tags       []uint64 // the block plus one of each way, set by set; 0 is an empty one
	words      int      // of marks, in a set
	marks      []uint64 // by set and 8 ways: a byte of each tag, see byteOf
	lines      []line   // what else is known of them
	live       []int32  // by set, how many ways are not empty
	sets       uint64
	mask       uint64 // sets-1 if that is a mask, else 0
	shift      uint   // log2 of the line size
	policy     Policy
	victims    *cache // the victim cache: one LRU set
	prefetcher Prefetcher

	news     bool   // the reference under way missed, or used a prefetched line first
	newest   uint64 // the last line of which that is so
	missedAt uint64 // the reference that missed last

	counts engine.Besides // but for what is observed
}

// A line is what is known of the line in a way.
type line struct {
	dirty      bool
	prefetched bool // and not yet used
}

// A moved line is on its way into a way, or out of one.
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
	case block <= math.MaxUint32: // which is divided in half the time
		return int(uint32(block) % uint32(c.sets))
	}
	return int(block % c.sets)
}

// A word of eight bytes that are 1.
const eachByte = 0x0101010101010101

// byteOf is a byte of a block that those of its set hardly share: of a product, as in lines.Map.
func byteOf(block uint64) uint64 { return block * 0x9E3779B97F4A7C15 >> 56 }

// way is where a block is in its set, -1 if absent. Only ways whose mark is the block's are
// looked at, and a few others: the lowest zero byte of a word is found exactly, and above it
// perhaps a byte of 1.
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

// place is where a block is in the cache, -1 if absent.
func (c *cache) place(block uint64) int {
	set := c.set(block)
	if way := c.way(set, block); way >= 0 {
		return set*c.Ways + way
	}
	return -1
}

// touch finds a block and touches it; nil if it is absent.
func (c *cache) touch(block uint64) *line {
	set := c.set(block)
	way := c.way(set, block)
	if way < 0 {
		return nil
	}
	return c.touchAt(set, way)
}

// touchAt touches a way.
func (c *cache) touchAt(set, way int) *line {
	c.policy.touch(set, way)
	return &c.lines[set*c.Ways+way]
}

// hold is touch in the victim cache too.
func (c *cache) hold(block uint64) *line {
	if l := c.touch(block); l != nil || c.victims == nil {
		return l
	}
	return c.victims.touch(block)
}

// inVictims reports whether the victim cache has a block.
func (c *cache) inVictims(block uint64) bool {
	return c.victims != nil && c.victims.place(block) >= 0
}

// passes reports whether a request that misses goes on to the next level and
// brings nothing in.
func (c *cache) passes(r request) bool {
	return r.write && (c.NoWriteAllocate || c.Tie == Exclusive)
}

// fromVictims takes a block back from the victim cache; nil if it is absent.
func (c *cache) fromVictims(block uint64) *line {
	if !c.inVictims(block) {
		return nil
	}
	back, _ := c.victims.remove(block)
	c.counts.VictimHits++
	c.fill(back) // which leaves no line over
	return &c.lines[c.place(block)]
}

// fill puts a line into its set, and returns what had to leave the level for it, if
// anything had.
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

// moved is the line in a place as it moves out.
func (c *cache) moved(at int) moved { return moved{block: c.tags[at] - 1, line: c.lines[at]} }

// remove takes a block out of the cache, or the victim cache.
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
