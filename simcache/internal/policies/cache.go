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
	parts      []uint64 // with UsedBytes, by way: parts of the line that were touched, a bit for each 64th
	live       []int32  // by set, how many ways are not empty
	recent     []recent // by set, of the first level alone
	sets       uint64
	mask       uint64 // sets-1 if that is a mask, else 0
	shift      uint   // log2 of the line size
	partShift  uint   // log2 of the bytes that a bit of parts stands for
	policy     Policy
	tells      bool   // the policy tells a touch from a fill
	victims    *cache // the victim cache: one LRU set
	prefetcher Prefetcher
	shadow     *shadow // with Classes
	observe    Observe

	latest int     // the place that was touched or filled last
	near   []int32 // with UsedBytes, by place in the first level: where the block there was in this one

	news     bool   // the reference under way missed, or used a prefetched line first
	newest   uint64 // the last line of which that is so
	askedAt  uint64 // the reference that asked last
	missedAt uint64 // the reference that missed last
	absent   class  // why the first line that is absent of the request under way is
	gone     uint64 // that line
	why      class  // absent of the reference that missed last
	lost     uint64 // gone of it

	counts        engine.Besides // but for bytes used
	retired, used uint64         // lines that left, and bytes used of them
}

// recent is the tag and the place of the block of a set that a touch changes nothing of,
// since it was the last to be touched there: every policy does in a second touch what the first
// did. The tag is 0 where there is none: where a line was removed, or filled in by srrip, which
// tells touches from fills.
type recent struct {
	tag uint64
	at  int
}

// A line is what is known of the line in a way.
type line struct {
	dirty      bool
	prefetched bool // and not yet used
}

// A moved line is on its way into a way, or out of one.
type moved struct {
	block, parts uint64
	line
}

func newCache(l Level, observe Observe) *cache {
	c := &cache{Level: l, sets: uint64(l.Sets), shift: l.Shift, partShift: max(l.Shift, 6) - 6, observe: observe}
	ways := l.Lines()
	c.tags, c.lines = make([]uint64, ways), make([]line, ways)
	c.words = (l.Ways + 7) / 8
	c.marks = make([]uint64, l.Sets*c.words)
	if observe&UsedBytes != 0 {
		c.parts = make([]uint64, ways)
	}
	c.live = make([]int32, l.Sets)
	if l.Sets&(l.Sets-1) == 0 {
		c.mask = uint64(l.Sets - 1)
	}
	replace := l.Replace
	if replace == nil {
		replace = LRU
	}
	c.policy = replace(l.Sets, l.Ways)
	_, c.tells = c.policy.(*srrip)
	if l.Prefetch != nil {
		c.prefetcher = l.Prefetch(c.shift)
	}
	if l.VictimLines > 0 {
		beside := engine.Level{Sets: 1, Ways: l.VictimLines, Shift: l.Shift}
		c.victims = newCache(Level{Level: beside}, observe&UsedBytes)
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
			if way := 8*k + bits.TrailingZeros64(zero)/8; way < c.Ways && c.tags[first+way] == block+1 {
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
	at := set*c.Ways + way
	if c.latest = at; c.recent != nil {
		c.recent[set] = recent{c.tags[at], at}
	}
	return &c.lines[at]
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

// lookup finds a block for a request and touches it; one in the victim cache
// changes places with what has to go for it. It is nil if absent.
func (c *cache) lookup(block uint64, r request) *line {
	why := noClass
	if c.shadow != nil && !r.quiet {
		why = c.shadow.touch(r.op, block, !c.passes(r))
	}
	hit := c.touch(block)
	if hit == nil && c.inVictims(block) {
		back, _ := c.victims.remove(block)
		c.counts.VictimHits++
		c.fill(back) // which leaves no line over
		hit = &c.lines[c.place(block)]
	}
	if hit == nil {
		c.miss(block, r.quiet, why)
		return nil
	}
	if hit.prefetched && !r.quiet {
		hit.prefetched = false
		c.news, c.newest = true, block
		c.counts.Useful++
	}
	return hit
}

// miss notes that a block is absent, and why.
func (c *cache) miss(block uint64, quiet bool, why class) {
	if quiet {
		return
	}
	c.news, c.newest = true, block
	if c.absent == noClass {
		c.absent, c.gone = why, block
	}
	if c.counts.SetMisses != nil {
		c.counts.SetMisses[c.set(block)]++
	}
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
	if c.parts != nil {
		c.parts[at] = fresh.parts
	}
	c.policy.filled(set, way)
	if c.latest = at; c.recent != nil {
		c.recent[set] = recent{fresh.block + 1, at}
		if c.tells {
			c.recent[set] = recent{}
		}
	}
	return gone, left
}

// moved is the line in a place as it moves out.
func (c *cache) moved(at int) moved {
	out := moved{block: c.tags[at] - 1, line: c.lines[at]}
	if c.parts != nil {
		out.parts = c.parts[at]
	}
	return out
}

// remove takes a block out of the cache, or the victim cache.
func (c *cache) remove(block uint64) (moved, bool) {
	set := c.set(block)
	if way := c.way(set, block); way >= 0 {
		out := c.moved(set*c.Ways + way)
		c.tags[set*c.Ways+way] = 0
		c.live[set]--
		if c.recent != nil {
			c.recent[set] = recent{}
		}
		return out, true
	}
	if c.victims != nil {
		return c.victims.remove(block)
	}
	return moved{}, false
}

// retire accounts for a line that leaves the level.
func (c *cache) retire(l *moved) {
	if l.prefetched {
		c.counts.Useless++
	}
	if l.prefetched = false; c.parts != nil {
		c.retired++
		c.used += c.usedBytes(l.parts)
		l.parts = 0
	}
}

func (c *cache) usedBytes(parts uint64) uint64 {
	return uint64(bits.OnesCount64(parts)) << c.partShift
}

// use marks the bytes of a reference in the lines that hold them, in all levels.
func (d *Engine) use(addr, size uint64) {
	first := d.levels[0]
	if first.observe&UsedBytes == 0 {
		return
	}
	for _, l := range d.levels {
		for block := addr >> l.shift; block <= (addr+size-1)>>l.shift; block++ {
			if at, there := l.nearby(block, first.latest); there {
				l.parts[at] |= l.partsOf(block, addr, size)
			} else if at := l.place(block); at >= 0 {
				l.near[first.latest] = int32(at)
				l.parts[at] |= l.partsOf(block, addr, size)
			} else if l.victims != nil {
				if at := l.victims.place(block); at >= 0 {
					l.victims.parts[at] |= l.partsOf(block, addr, size)
				}
			}
		}
	}
}

// nearby is the place of a block if it is the one that was touched last, or the one where the
// block was found that lay in a place of the first level.
func (c *cache) nearby(block uint64, place int) (at int, there bool) {
	if at = c.latest; c.tags[at] == block+1 {
		return at, true
	}
	at = int(c.near[place])
	return at, c.tags[at] == block+1
}

// partsOf are the parts of a block that bytes lie in.
func (c *cache) partsOf(block, addr, size uint64) uint64 {
	start, end := max(addr, block<<c.shift), min(addr+size-1, block<<c.shift|(1<<c.shift-1))
	first, last := (start-block<<c.shift)>>c.partShift, (end-block<<c.shift)>>c.partShift
	return ^uint64(0) >> (63 - (last - first)) << first
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
		for i, parts := range at.parts {
			if at.tags[i] != 0 {
				lines++
				used += c.usedBytes(parts)
			}
		}
	}
	counts.BytesFilled, counts.BytesUsed = lines<<c.shift, used
	return counts
}
