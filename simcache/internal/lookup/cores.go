package lookup

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/stridebench/stridebench/layouts/nest"
)

// many is the number of accesses that justifies several cores.
const many = 1 << 18

// walkOnCores is walk with sets divided among cores. A few address bits determine a reference's set
// at every level, and sets do not interact. Every core walks the whole nest and looks up its own
// references.
//
// It returns false, having done nothing, if a reference may cross a line: a miss in one line then
// moves the other at the next level. It also does if set counts have too few factors of two.
func (c *Chain) walkOnCores(n nest.Nest) bool {
	shift, classes := c.split()
	if classes < 2 || c.classes > 0 || n.Iterations()*len(n.Operands) < c.share || !c.packs(n) {
		return false
	}
	c.Flush()
	cores := make([]Chain, classes)
	var done sync.WaitGroup
	for i := range cores {
		core := &cores[i]
		*core = *c // shares the rows
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

func (c *Chain) packs(n nest.Nest) bool {
	return len(n.Operands) <= opCount && !slices.ContainsFunc(n.Operands,
		func(op nest.Operand) bool {
			_, last := op.Reach(n.Trips)
			return !c.aligned(op) || last >= c.limit
		})
}

// split returns the address bits that select a class of sets, from the lowest up, and the number of
// classes. They are the highest bits of the smallest level's set index, so that the rows of a class
// are adjacent. Only a set count's factors of two count.
func (c *Chain) split() (shift uint, classes int) {
	span, line := uint(64), uint(0) // log2
	for _, l := range c.levels {
		span, line = min(span, l.shift+l.bits), max(line, l.shift)
	}
	bits := min(uint(bits.Len(uint(max(c.cores, 1)))-1), max(span, line)-line)
	return span - bits, 1 << bits
}
