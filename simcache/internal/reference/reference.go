// Package reference says what a cache is, as plainly as it can be said. It is
// the specification of every other engine: their tests compare with it.
//
// Memory is lines of 2^Shift bytes. A cache holds copies of some of them. A
// line can lie in one set only, whose number is the line's modulo the number of
// sets. A set holds as many lines as it has ways.
//
// An access asks the first level for each line that its bytes lie in, the lower
// one first. A line that is there is a hit; one that is not is a miss, and comes
// in, whether the access reads or writes. If its set is full, the line goes that
// was not touched for longest (LRU). Either way it is now the one touched last.
//
// If any of its lines was a miss, the access missed, once, and the next level is
// asked for the same bytes. Levels do not know of each other (Cachegrind's
// cg_sim.c, and its manual, "Cache Simulation Specifics").
package reference

import (
	"iter"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// Caches are levels of caches, the nearest first.
type Caches struct {
	levels []engine.Level
	sets   [][][]uint64 // by level and set: the lines there, the one touched last first
}

// New returns empty caches.
func New(levels []engine.Level) *Caches {
	c := &Caches{levels: levels}
	for _, l := range levels {
		c.sets = append(c.sets, make([][]uint64, l.Sets))
	}
	return c
}

// Share makes a level the same cache as in others.
func (c *Caches) Share(level int, of *Caches) { c.sets[level] = of.sets[level] }

// Access touches size bytes from addr on, and returns how many levels missed.
func (c *Caches) Access(addr, size uint64) (missed int) {
	for missed < len(c.levels) && c.misses(missed, addr, addr+size-1) {
		missed++
	}
	return missed
}

// misses touches the lines of bytes first to last in a level.
func (c *Caches) misses(level int, first, last uint64) (missed bool) {
	l := c.levels[level]
	for line := first >> l.Shift; ; line++ {
		set := &c.sets[level][line%uint64(l.Sets)]
		at := slices.Index(*set, line)
		if at < 0 {
			missed = true
			if at = len(*set); at == l.Ways {
				at-- // the last goes
			} else {
				*set = append(*set, 0)
			}
		}
		copy((*set)[1:at+1], *set)
		(*set)[0] = line
		if line == last>>l.Shift {
			return missed
		}
	}
}

// Run makes the accesses of operands, and returns their misses. Operand r's at
// level i of n are at r*n+i.
func (c *Caches) Run(operands []nest.Operand, accesses iter.Seq2[int, uint64]) []uint64 {
	misses := make([]uint64, len(operands)*len(c.levels))
	for r, addr := range accesses {
		for i := range c.Access(addr, uint64(operands[r].Width)) {
			misses[r*len(c.levels)+i]++
		}
	}
	return misses
}

// Contents are the lines in a set of a level, the one touched last first.
func (c *Caches) Contents(level, set int) []uint64 { return c.sets[level][set] }
