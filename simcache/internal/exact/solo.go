package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Solos treat the loop-invariant references of an innermost loop. Each of these touches one line,
// in every iteration.
//
//  1. The accesses of an iteration touch at most as many lines as there are ways. So a
//     loop-invariant line stays in its set.
//  2. If a set has k such lines, the moving accesses see a set with k fewer ways. For between two
//     touches of a moving line, all k lines are touched, or less than an iteration passes. In the
//     latter case the second touch hits in either kind of set.
//  3. So a second unit has the moving accesses alone. Its line sequence recurs far more often.
//  4. Its summary counts, by row, the additional misses with up to mostRests fewer ways. Its heads
//     and its lines are then the first ones.
//
// Moving accesses that touch a loop-invariant line do so in consecutive iterations. These are made
// one by one, with those before or after them.

// A solo is a loop without its loop-invariant accesses.
type solo struct {
	moving *node
	in     *inner   // the loop, with all accesses
	moves  []int    // the loop's inner refs that move
	rests  []int    // its loop-invariant refs
	rows   []int    // scratch: rows of the state with loop-invariant lines
	at     []int    // scratch: addresses in iteration 0, rounded
	first  []int    // scratch: addresses in the first iteration of the solo
	end    []int    // scratch: addresses in its last one
	round  []int    // by ref: greatest power of two that divides its stride and the line
	lines  []uint32 // scratch: the accesses in a row
	ops    []uint16 // of lines
	lost   int      // runs refused because rows would differ for the moving accesses
}

// mostRests is the most loop-invariant lines in a row.
const mostRests = 3

// solo prepares a loop's solo, or returns nil. A repeated moving access counts twice: between two
// touches of a loop-invariant line, it may touch two successive lines.
func (m *machine) solo(n *node) *solo {
	in := n.inside
	if n.unit == nil || !in.plain || len(in.refs) > 16 {
		return nil
	}
	refs := len(in.refs)
	s := &solo{in: in, at: make([]int, refs), first: make([]int, refs), end: make([]int, refs)}
	lines := 0
	for i, r := range in.refs {
		s.round = append(s.round, nest.GCD(r.stride, 1<<m.levels[0].Shift))
		if r.stride != 0 {
			s.moves = append(s.moves, i)
			lines++
			continue
		}
		s.rests = append(s.rests, i)
		lines += 1 - in.repeats(i)
	}
	if len(s.rests) == 0 || len(s.moves) == 0 || lines > m.levels[0].Ways {
		return nil
	}
	d := *n
	moving := *in
	moving.refs = nil
	for _, i := range s.moves {
		moving.refs = append(moving.refs, in.refs[i])
	}
	moving.scratch(m.levels[0].Ways, 1<<m.levels[0].Shift)
	d.inside = &moving
	var accesses []*node
	for _, a := range n.body {
		if a.addr.coef(n.slot) != 0 {
			accesses = append(accesses, a)
		}
	}
	d.unit = m.unit(&d, accesses)
	d.unit.period, d.unit.alone = 0, true
	s.moving = &d
	return s
}

// repeats returns 1 if an earlier access of the list has the same address, else 0.
func (in *inner) repeats(i int) int {
	for _, r := range in.refs[:i] {
		if r.same(in.refs[i]) {
			return 1
		}
	}
	return 0
}

// alone runs a loop by its solo. Iterations in which moving accesses touch loop-invariant lines,
// and those before or after them, are run.
func (m *machine) alone(n *node, c *context, trips int) {
	o, in, s := n.solo, n.inside, c.states[0]
	m.slots[n.slot] = 0
	for i := range in.refs {
		o.at[i] = floor(in.refs[i].base.at(m.slots), o.round[i])
	}
	from, to := o.apart(in, trips, s.shift)
	if 2*(to-from) < trips || !o.findRows(s) {
		m.iterations(n, c, 0, trips, false)
		return
	}
	if from > 0 {
		m.sweep(n, c, 0, from)
	}
	switch e := m.fetch(o.moving, from, to-from, false); {
	case e == nil:
		m.sweep(n, c, from, to)
	case e.log != nil && !o.keeps(s, e):
		o.lost++
		m.sweep(n, c, from, to)
	default:
		m.apply(c, e.summary, o.rows)
		for i, r := range in.refs {
			o.first[i], o.end[i] = o.at[i]+r.stride*from, o.at[i]+r.stride*(to-1)
		}
		for _, row := range o.rows {
			m.rest(o, c, e, row)
		}
	}
	if to < trips {
		m.sweep(n, c, to, trips)
	}
}

// apart returns iterations in which no moving access touches a loop-invariant line.
func (o *solo) apart(in *inner, trips int, shift uint) (from, to int) {
	to = trips
	for _, i := range o.moves {
		stride := in.refs[i].stride
		for _, k := range o.rests {
			line := o.at[k] >> shift
			low, high := meeting(line<<shift-o.at[i], (line+1)<<shift-1-o.at[i], stride)
			low, high = max(low, 0), min(high, trips-1)
			if low > high {
				continue
			}
			if low+high < trips-1 {
				from = max(from, high+1)
			} else {
				to = min(to, low)
			}
		}
	}
	return from, to
}

// meeting returns the first and the last y with low <= y*stride <= high. The first is greater than
// the last if there is none.
func meeting(low, high, stride int) (first, last int) {
	if stride < 0 {
		low, high, stride = -high, -low, -stride
	}
	first, last = low/stride, high/stride
	if low > 0 && first*stride < low {
		first++
	}
	if high < 0 && last*stride > high {
		last--
	}
	return first, last
}

// findRows finds the rows with loop-invariant lines, and reports whether each has at most
// mostRests.
func (o *solo) findRows(s *state) bool {
	o.rows = o.rows[:0]
	for _, i := range o.rests {
		o.rows = s.appendRow(o.rows, uint32(o.at[i]>>s.shift)+1)
	}
	if len(o.rests) <= mostRests {
		return true
	}
	for _, row := range o.rows {
		if _, k := o.restingIn(s, row); k > mostRests {
			return false
		}
	}
	return true
}

// restingIn returns the loop-invariant lines in a row, at most mostRests+1.
func (o *solo) restingIn(s *state, row int) (lines [mostRests + 1]uint32, n int) {
	for _, i := range o.rests {
		line := uint32(o.at[i]>>s.shift) + 1
		if n < len(lines) && s.row(line) == row && !slices.Contains(lines[:n], line) {
			lines[n] = line
			n++
		}
	}
	return lines, n
}

func (s *state) appendRow(rows []int, line uint32) []int {
	row := s.row(line)
	if slices.Contains(rows, row) {
		return rows
	}
	return append(rows, row)
}

// rest composes a row that has loop-invariant lines with the summary of the moving accesses.
//
//  1. Make the first iteration in order, because it may begin with moving accesses.
//  2. Touch the heads. Each finds all loop-invariant lines among those touched since.
//  3. Add the later misses, which are known.
//  4. Make the last iteration in order, because it decides the lines on top.
//
// Later levels receive misses in this order, too. The summary's miss stream is valid with k fewer
// ways, as the caller checked ([state.keepsTo]).
func (m *machine) rest(o *solo, c *context, e *entry, row int) {
	s := c.states[0]
	resting, k := o.restingIn(s, row)
	lines := s.tags[row*s.ways:][:s.ways]
	o.lines, o.ops = o.lines[:0], o.ops[:0]
	o.each(s, row, o.first, func(line uint32, op int) {
		o.lines, o.ops = append(o.lines, line), append(o.ops, uint16(op))
	})
	back := modulo(row+int(s.turn)-int(e.turn), s.sets)
	heads, ops := e.heads[back*s.ways:][:e.count[back]], e.ops[back*s.ways:][:e.count[back]]
	top := min(len(ops), s.ways-k)
	o.lines, o.ops = append(o.lines, heads[:top]...), append(o.ops, ops[:top]...)
	c.bringIn(row, o.lines, o.ops)
	for _, op := range ops[top:] {
		s.miss(row, int(op), 1)
	}
	for op := range e.misses {
		misses := e.rowMisses[back*len(e.misses)+op]
		for _, more := range e.fewerOf(back, e.opLow+op)[:k] {
			misses += uint64(more)
		}
		s.miss(row, e.opLow+op, misses)
	}
	if e.log != nil {
		c.beyond(row, heads[top:], ops[top:])
		c.sendLog(e.summary, back, row)
	}
	copy(lines, resting[:k])
	copy(lines[k:], e.tags[back*s.ways:][:top])
	o.each(s, row, o.end, func(line uint32, _ int) { present(lines, line) })
}

// keeps reports whether, in each of these rows, the moving accesses have the same outcomes without
// the ways of the loop-invariant lines.
func (o *solo) keeps(s *state, e *entry) bool {
	return !slices.ContainsFunc(o.rows, func(row int) bool {
		_, k := o.restingIn(s, row)
		return !e.keepsTo(modulo(row+int(s.turn)-int(e.turn), s.sets), k)
	})
}

// keepsTo reports whether moving accesses behave the same in a row with k fewer ways: none of them
// found its line in the last k places.
func (s *state) keepsTo(row, k int) bool {
	if k > mostRests {
		return false
	}
	for _, more := range s.fewer[row*len(s.misses):][:len(s.misses)] {
		for _, n := range more[:k] {
			if n > 0 {
				return false
			}
		}
	}
	return true
}

// each calls touch for each access of an iteration that is in a row. at has the addresses.
func (o *solo) each(s *state, row int, at []int, touch func(line uint32, op int)) {
	for i, a := range at {
		if line := uint32(a>>s.shift) + 1; s.row(line) == row {
			touch(line, o.in.refs[i].op)
		}
	}
}

// off reports whether summaries of the moving accesses do not pay. If nearly each is extended,
// summaries of the whole loop do better.
func (o *solo) off() bool {
	u := o.moving.unit
	return u.off || u.tries > 3000 && u.extends*10 > u.tries*7 || o.lost > 100 && 8*o.lost > u.tries
}

// changesWith reports whether a loop in a block gets longer, or shorter, in each iteration of an
// outermost loop with the slot. Then all instances of the block differ.
func (n *node) changesWith(slot int) bool {
	return n.unit != nil && slices.ContainsFunc(n.unit.gates, func(g gate) bool {
		return g.of.kind == loop && !g.depends && len(g.outs) == 1 && g.outs[0].coef(slot) != 0
	})
}

// isLight reports whether a block is accesses and one innermost loop.
func (n *node) isLight() bool {
	loops := 0
	for _, c := range n.body {
		if c.kind != access {
			if loops++; !c.inner {
				return false
			}
		}
	}
	return loops == 1
}
