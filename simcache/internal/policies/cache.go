package policies

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A cache is one level of deep by itself.
type cache struct {
	Level
	tags       []uint64 // the block plus one of each way, set by set; 0 is an empty one
	lines      []line   // what else is known of them
	sets       uint64
	shift      uint // log2 of the line size
	policy     Policy
	victims    *cache // the victim cache: one LRU set
	prefetcher Prefetcher
	shadow     *shadow // with Classes
	observe    Observe

	news     bool   // the reference under way missed, or used a prefetched line first
	askedAt  uint64 // the reference that asked last
	missedAt uint64 // the reference that missed last
	absent   class  // why the first line that is absent of the request under way is
	gone     uint64 // that line
	why      class  // absent of the reference that missed last
	lost     uint64 // gone of it

	counts        engine.Besides // but for bytes used
	retired, used uint64         // lines that left, and bytes used of them
}

// A line is what a way holds.
type line struct {
	block      uint64
	used       uint64 // parts of the line that were touched, a bit for each 64th
	dirty      bool
	prefetched bool // and not yet used
}

func newCache(l Level, observe Observe) *cache {
	c := &cache{Level: l, sets: uint64(l.Sets), shift: l.Shift, observe: observe}
	ways := l.Lines()
	c.tags, c.lines = make([]uint64, ways), make([]line, ways)
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
		c.victims = newCache(Level{Level: beside}, 0)
	}
	if observe&Classes != 0 {
		c.shadow = newShadow(ways)
	}
	if observe&SetMisses != 0 {
		c.counts.SetMisses = make([]uint64, l.Sets)
	}
	return c
}

// begin starts a request, of the reference of that number.
func (c *cache) begin(r request, serial uint64) {
	c.news, c.absent = false, noClass
	if !r.quiet {
		c.askedAt = serial
	}
}

func (c *cache) set(block uint64) int {
	if c.sets&(c.sets-1) != 0 {
		return int(block % c.sets)
	}
	return int(block & (c.sets - 1))
}

// way is where a block is in its set, -1 if absent.
func (c *cache) way(set int, block uint64) int {
	for way, tag := range c.tags[set*c.Ways:][:c.Ways] {
		if tag == block+1 {
			return way
		}
	}
	return -1
}

// find is the line of a block, nil if absent.
func (c *cache) find(block uint64) *line {
	set := c.set(block)
	if way := c.way(set, block); way >= 0 {
		return &c.lines[set*c.Ways+way]
	}
	return nil
}

// touch finds a block and touches it; nil if it is absent.
func (c *cache) touch(block uint64) *line {
	set := c.set(block)
	way := c.way(set, block)
	if way < 0 {
		return nil
	}
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
	return c.victims != nil && c.victims.find(block) != nil
}

// passes reports whether a request that misses goes on to the next level and
// brings nothing in.
func (c *cache) passes(r request) bool {
	return r.write && (c.NoWriteAllocate || c.Tie == Exclusive)
}

// lookup finds a block for a request and touches it; one in the victim cache
// changes places with what has to go for it. It is nil if absent.
func (c *cache) lookup(block uint64, r request) *line {
	why := noClass
	if c.shadow != nil && !r.quiet {
		why = c.shadow.touch(block, !c.passes(r))
	}
	hit := c.touch(block)
	if hit == nil && c.inVictims(block) {
		back, _ := c.victims.remove(block)
		c.counts.VictimHits++
		c.fill(back, nil) // which leaves no line over
		hit = c.find(block)
	}
	if hit == nil {
		c.miss(block, r.quiet, why)
		return nil
	}
	if hit.prefetched && !r.quiet {
		hit.prefetched = false
		c.news = true
		c.counts.Useful++
	}
	return hit
}

// miss notes that a block is absent, and why.
func (c *cache) miss(block uint64, quiet bool, why class) {
	if quiet {
		return
	}
	c.news = true
	if c.absent == noClass {
		c.absent, c.gone = why, block
	}
	if c.counts.SetMisses != nil {
		c.counts.SetMisses[c.set(block)]++
	}
}

// fill puts a line into its set, and appends to out what had to leave the
// level for it.
func (c *cache) fill(fresh line, out []line) []line {
	set := c.set(fresh.block)
	first := set * c.Ways
	way := slices.Index(c.tags[first:][:c.Ways], 0)
	if way < 0 {
		way = c.policy.victim(set)
		if gone := c.lines[first+way]; c.victims != nil {
			out = c.victims.fill(gone, out)
		} else {
			out = append(out, gone)
		}
	}
	c.tags[first+way], c.lines[first+way] = fresh.block+1, fresh
	c.policy.filled(set, way)
	return out
}

// remove takes a block out of the cache, or the victim cache.
func (c *cache) remove(block uint64) (line, bool) {
	set := c.set(block)
	if way := c.way(set, block); way >= 0 {
		c.tags[set*c.Ways+way] = 0
		return c.lines[set*c.Ways+way], true
	}
	if c.victims != nil {
		return c.victims.remove(block)
	}
	return line{}, false
}

// retire accounts for a line that leaves the level.
func (c *cache) retire(l *line) {
	if l.prefetched {
		c.counts.Useless++
	}
	c.retired++
	c.used += c.usedBytes(*l)
	l.prefetched, l.used = false, 0
}

// part is how many bytes a bit of line.used stands for.
func (c *cache) part() uint64 { return max(uint64(1)<<c.shift/64, 1) }

func (c *cache) usedBytes(l line) uint64 { return uint64(bits.OnesCount64(l.used)) * c.part() }

// use marks the bytes of a reference in the lines that hold them.
func (c *cache) use(addr, size uint64) {
	if c.observe&UsedBytes == 0 {
		return
	}
	for block := addr >> c.shift; block <= (addr+size-1)>>c.shift; block++ {
		l := c.find(block)
		if l == nil && c.victims != nil {
			l = c.victims.find(block)
		}
		if l == nil {
			continue
		}
		part := request{addr: addr, size: size}.within(block, c.shift)
		from := part.addr - block<<c.shift
		first, last := from/c.part(), (from+part.size-1)/c.part()
		l.used |= ^uint64(0) >> (63 - (last - first)) << first
	}
}

// classify counts the miss under way by the class of its first absent line.
func (c *cache) classify() {
	c.why, c.lost = c.absent, c.gone
	switch c.absent {
	case compulsory:
		c.counts.Compulsory++
	case capacity:
		c.counts.Capacity++
	case conflict:
		c.counts.Conflict++
	}
}

// besides is what was counted.
func (c *cache) besides() engine.Besides {
	counts := c.counts
	counts.SetMisses = slices.Clone(c.counts.SetMisses)
	if c.observe&UsedBytes == 0 {
		return counts
	}
	lines, used := c.retired, c.used
	for at := c; at != nil; at = at.victims {
		for i, l := range at.lines {
			if at.tags[i] != 0 {
				lines++
				used += c.usedBytes(l)
			}
		}
	}
	counts.BytesFilled, counts.BytesUsed = lines<<c.shift, used
	return counts
}
