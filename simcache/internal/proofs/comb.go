package proofs

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// combBudget is how many accesses, and windows of them, are looked at for a comb.
const combBudget = 1 << 27

// A comb is an operand whose inner loops go from row to row, and whose outer loop moves all rows
// on by a step, beside operands that go through memory: a matrix read by columns while another is
// written by rows. Between two touches of a line all other rows were touched once.
type comb struct {
	*level
	base          uint64
	columns, rows int   // trips of the outer loop, and of the inner ones together
	step          int   // bytes from column to column
	trips, steps  []int // of the inner loops, and bytes from row to row (nest.Steps)
	others        []stream
	shares        map[int]*drains // of one stream: by blocks that it brings to some sets only, those that get none of them
	together      int             // accesses asked with those a period on and on (shared)
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
// other rows in their windows (hits). Where the others' number decides, each is asked (stays), but for
// those of one stream that moves by whole lines then, too (shared).
func (l *level) comb(operands []gapped, r int, took *ruleCounts) (misses uint64, ok bool) {
	c, ok := l.newComb(operands, r)
	if !ok {
		return 0, false
	}
	hits, ok := c.hits()
	took.shares += c.together
	return uint64(c.columns*c.rows) - hits, ok
}

// newComb prepares one, if the operand is one and the others are streams.
func (l *level) newComb(operands []gapped, r int) (*comb, bool) {
	o := &operands[r]
	op, line := o.alone.Operands[0], 1<<l.Shift
	if len(o.alone.Trips) < 2 || l.odd != 0 {
		return nil, false
	}
	c := &comb{level: l, base: op.Base, columns: o.alone.Trips[0], rows: o.alone.Iterations() / o.alone.Trips[0], step: op.Strides[0],
		trips: o.alone.Trips[1:], steps: nest.Steps(o.alone.Trips[1:], op.Strides[1:]), shares: map[int]*drains{}, budget: combBudget}
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
		if p.lead > 0 || slices.ContainsFunc(p.moves[1:], func(d int) bool { return d != 0 }) {
			far = min(far, p.least)
		}
	}
	return c, far == never || l.floods(operands, far-1)
}

// hits is the number of accesses that hit. It reports false where that takes too long to count.
func (c *comb) hits() (sum uint64, ok bool) {
	counts, line := make([]int32, c.Sets), 1<<c.Shift
	addr := c.base
	for loop := range nest.Walk(c.trips) {
		if loop >= 0 {
			addr += uint64(c.steps[loop])
		}
		counts[addr>>c.Shift&c.mask]++
	}
	most := 0 // of the others, in any window
	for _, s := range c.others {
		most += (s.stride*c.rows>>c.Shift+2)/c.Sets + 1
	}
	period := line / nest.GCD(line, c.step)
	for column := 1; column <= min(period, c.columns-1) && c.budget >= 0; column++ {
		times := (c.columns-1-column)/period + 1
		addr, last := c.base+uint64((column-1)*c.step), (column-1)*c.rows // of the iteration before
		for loop := range nest.Walk(c.trips) {
			if loop >= 0 {
				addr += uint64(c.steps[loop])
				last++
			}
			before, block := addr>>c.Shift, (addr+uint64(c.step))>>c.Shift
			if before != block {
				counts[before&c.mask]--
				counts[block&c.mask]++
			} else if room := c.Ways - int(counts[block&c.mask]); room >= most {
				sum += uint64(times)
			} else if room >= 0 {
				sum += c.stays(block, last, period, times, room)
			}
		}
		c.budget -= c.rows
	}
	return sum, c.budget >= 0
}

// stays is how many accesses hit of one to a block, which was touched last in an iteration, and of those a period on and on,
// if the others bring so many blocks to their sets at most.
func (c *comb) stays(block uint64, last, period, times, room int) (sum uint64) {
	if len(c.others) == 1 && period*c.rows*c.others[0].stride&(1<<c.Shift-1) == 0 && last > 0 {
		return c.shared(block, last, period, times, room)
	}
	if c.budget -= times; c.budget < 0 {
		return 0
	}
	for range times {
		others := 0
		for _, s := range c.others {
			others += s.brings(c.level, int(block&c.mask), last, c.rows)
		}
		if others <= room {
			sum++
		}
		block += uint64(period * c.step >> c.Shift)
		last += period * c.rows
	}
	return sum
}

// shared is stays beside one stream that a period moves by whole lines. It brings blocks one after the other: as many to
// each set, and to those from some set on one more. From a period to the next, that set moves by as many
// sets against the block's.
func (c *comb) shared(block uint64, last, period, times, room int) uint64 {
	c.together++
	s := &c.others[0]
	before, after := s.window(c.level, last, c.rows)
	all, some := (after-before)/c.Sets, (after-before)%c.Sets
	if room > all {
		return uint64(times)
	} else if room < all {
		return 0
	}
	turn := uint64(period*c.step>>c.Shift-period*c.rows*s.stride>>c.Shift) & c.mask
	if c.shares[some] == nil {
		spared := make([]int, c.Sets)
		for set := range c.Sets - some {
			spared[set] = 1
		}
		c.shares[some] = c.drainsOf(spared, turn)
		c.budget -= c.Sets
	}
	return uint64(c.shares[some].sum((uint64(before)-block+turn)&c.mask, times))
}

// brings is the number of blocks of a set that are first touched after the comb's access in an
// iteration and before that so many iterations on.
func (s *stream) brings(l *level, set, from, iterations int) int {
	before, after := s.window(l, from, iterations)
	width := bits.Len64(l.mask)
	return (after-set)>>width - (before-set)>>width
}

// window is the last block touched before those, and the last of them.
func (s *stream) window(l *level, from, iterations int) (before, after int) {
	if s.first {
		from++
	}
	before = int(s.base>>l.Shift) - 1
	if from > 0 {
		before = int((s.base + uint64((from-1)*s.stride)) >> l.Shift)
	}
	return before, int((s.base + uint64((from+iterations-1)*s.stride)) >> l.Shift)
}
