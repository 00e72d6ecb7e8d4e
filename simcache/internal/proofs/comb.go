package proofs

import (
	"math/bits"

	"github.com/stridebench/stridebench/layouts/nest"
)

// combBudget is how many accesses, and windows of them, are looked at for a comb.
const combBudget = 1 << 27

// A comb is an operand whose inner loop goes from row to row, and whose outer loop moves all rows
// on by a step, beside operands that go through memory: a matrix read by columns while another is
// written by rows. Between two touches of a line all other rows were touched once.
type comb struct {
	*level
	base          uint64
	columns, rows int // trips of the outer loop, and of the inner one
	step, pitch   int // bytes from column to column, and from row to row
	others        []stream
	budget        int
}

// A stream is an operand that goes through memory from start to end, and comes to no block twice
// in a level.
type stream struct {
	base   uint64
	stride int  // bytes, at most a line
	first  bool // comes before the comb in each iteration
}

// comb counts the misses of operand r in a level behind the first, whatever the gaps of it are,
// and reports whether it could.
//
// The level is the last that is asked. Say that accesses of the operand with gaps of a column, that
// is all rows, or more miss in the levels before, and that the patterns that lead from row to row
// have gaps so large that they miss here too (floods). Say that of all others each block comes to
// this level once, when it is first touched.
//
// If one of these gaps is no larger than a column, all accesses miss that have one, and of all
// windows of a column as many blocks as ways are counted below. Else:
//
// An access whose line its row touched in the column before has that gap: if another row had
// touched it since, that were a pattern from row to row of a smaller one. In its window is each
// other row once, those behind it in the column before and those in front of it in its own. They
// reach this level, as there are no gaps of less than a column, and lie in lines of their own, or
// again there were a smaller gap from row to row. So it hits if and only if fewer of these than
// ways, together with those of the others that are first touched in the window, lie in its set. All
// other accesses come to lines that were never touched, or by another row so long ago that they
// miss: a row is in a line in columns one after the other.
//
// After as many columns as move rows by whole lines, rows lie in sets turned alike, with as many
// other rows in their windows (hits). Where the others' number decides, each is asked (stays).
func (l *level) comb(operands []gapped, r int) (misses uint64, ok bool) {
	c, ok := l.newComb(operands, r)
	if !ok {
		return 0, false
	}
	hits, ok := c.hits()
	return uint64(c.columns*c.rows) - hits, ok
}

// newComb prepares one, if the operand is one and the others are streams.
func (l *level) newComb(operands []gapped, r int) (*comb, bool) {
	o := &operands[r]
	op, line := o.alone.Operands[0], 1<<l.Shift
	if len(o.alone.Trips) != 2 || l.odd != 0 {
		return nil, false
	}
	c := &comb{level: l, base: op.Base, columns: o.alone.Trips[0], rows: o.alone.Trips[1], step: op.Strides[0], pitch: op.Strides[1], budget: combBudget}
	if o.misses > c.rows {
		return nil, false
	}
	for other := range operands {
		w := &operands[other]
		if other == r {
			continue
		}
		if len(w.alone.Trips) != 1 || !w.once {
			return nil, false
		}
		s := stream{w.alone.Operands[0].Base, w.alone.Operands[0].Strides[0], other < r}
		if s.stride <= 0 || s.stride > line {
			return nil, false
		}
		c.others = append(c.others, s)
	}
	far := never
	for _, p := range o.patterns {
		if p.moves[1] != 0 {
			far = min(far, p.least)
		}
	}
	return c, far == never || l.floods(operands, far-1)
}

// hits is the number of accesses that hit. It reports false where that takes too long to count.
func (c *comb) hits() (sum uint64, ok bool) {
	counts, line := make([]int32, c.Sets), 1<<c.Shift
	addr := c.base
	for range c.rows {
		counts[addr>>c.Shift&c.mask]++
		addr += uint64(c.pitch)
	}
	most := 0 // of the others, in any window
	for _, s := range c.others {
		most += (s.stride*c.rows>>c.Shift+2)/c.Sets + 1
	}
	period := line / nest.GCD(line, c.step)
	for column := 1; column <= min(period, c.columns-1) && c.budget >= 0; column++ {
		times := (c.columns-1-column)/period + 1
		addr := c.base + uint64((column-1)*c.step)
		for row := range c.rows {
			before, block := addr>>c.Shift, (addr+uint64(c.step))>>c.Shift
			if before != block {
				counts[before&c.mask]--
				counts[block&c.mask]++
			} else if room := c.Ways - int(counts[block&c.mask]); room >= most {
				sum += uint64(times)
			} else if room >= 0 {
				sum += c.stays(column, row, period, times, room)
			}
			addr += uint64(c.pitch)
		}
		c.budget -= c.rows
	}
	return sum, c.budget >= 0
}

// stays is how many accesses hit of one in a column, and in those a period on and on, if the
// others bring so many blocks to their sets at most.
func (c *comb) stays(column, row, period, times, room int) (sum uint64) {
	if c.budget -= times; c.budget < 0 {
		return 0
	}
	addr := c.base + uint64(column*c.step+row*c.pitch)
	last := (column-1)*c.rows + row // the iteration before
	for range times {
		others := 0
		for _, s := range c.others {
			others += s.brings(c.level, int(addr>>c.Shift&c.mask), last, c.rows)
		}
		if others <= room {
			sum++
		}
		addr += uint64(period * c.step)
		last += period * c.rows
	}
	return sum
}

// brings is the number of blocks of a set that are first touched after the comb's access in an
// iteration and before that so many iterations on.
func (s *stream) brings(l *level, set, from, iterations int) int {
	if s.first {
		from++
	}
	before := int(s.base>>l.Shift) - 1
	if from > 0 {
		before = int((s.base + uint64((from-1)*s.stride)) >> l.Shift)
	}
	after := int((s.base + uint64((from+iterations-1)*s.stride)) >> l.Shift)
	width := bits.Len64(l.mask)
	return (after-set)>>width - (before-set)>>width
}
