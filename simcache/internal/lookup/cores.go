package lookup

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/stridebench/stridebench/layouts/nest"
)

// many is so many accesses that it pays to share them out to cores.
const many = 1 << 18

// walkOnCores simulates a nest like walk, each core its own sets: which sets a
// reference is looked up in, at any level, is told by a few bits of its
// address, and what happens in a set depends on nothing but the references to
// it. Every core walks the whole nest and looks up its own.
//
// It reports false, and has done nothing, where that does not hold: where a
// reference may cross a line, so that one of its lines' misses moves the other
// at the next level, or where set counts have too few factors of two.
func (c *Chain) walkOnCores(n nest.Nest) bool {
	shift, classes := c.split()
	if classes < 2 || n.Iterations()*len(n.Operands) < c.share || !c.packs(n) {
		return false
	}
	c.Flush()
	cores := make([]Chain, classes)
	var done sync.WaitGroup
	for i := range cores {
		core := &cores[i]
		*core = *c // the rows are shared
		core.fills, core.writeBacks = make([]uint64, len(c.levels)), make([]uint64, len(c.levels))
		core.visited = 0
		core.classes, core.class = uint64(classes-1)<<(shift-c.grain), uint64(i)<<(shift-c.grain)
		core.reset(len(n.Operands))
		done.Go(func() {
			core.walk(nest.Sequence(n))
			core.Flush()
		})
	}
	done.Wait()
	for i := range cores {
		c.visited += cores[i].visited
		for level := range c.levels {
			for op, n := range cores[i].misses[level] {
				c.misses[level][op] += n
			}
			c.fills[level] += cores[i].fills[level]
			c.writeBacks[level] += cores[i].writeBacks[level]
		}
	}
	return true
}

// packs reports whether all accesses of a nest can be packed.
func (c *Chain) packs(n nest.Nest) bool {
	return len(n.Operands) <= opCount && !slices.ContainsFunc(n.Operands,
		func(op nest.Operand) bool {
			_, last := op.Reach(n.Trips)
			return !c.aligned(op) || last >= c.limit
		})
}

// split is the bits of an address that tell classes of sets apart, from the
// lowest on, and how many classes there are. They are the highest of the
// smallest level's set index, so that the rows of a class lie together; of a set
// count that is no power of two, its factors of two count.
func (c *Chain) split() (shift uint, classes int) {
	span, line := uint(64), uint(0) // log2
	for _, l := range c.levels {
		span, line = min(span, l.shift+l.bits), max(line, l.shift)
	}
	bits := min(uint(bits.Len(uint(max(c.cores, 1)))-1), max(span, line)-line)
	return span - bits, 1 << bits
}
