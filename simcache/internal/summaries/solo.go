package summaries

import "slices"

// In an innermost loop, accesses that do not move, solos, rest on one line. Sets
// know nothing of each other: what they change is what happens in the sets of their
// lines, a few. So there is a second unit of the loop, of the accesses that move
// alone, whose stream recurs far more often; it is applied to all other sets, and
// those few are run access by access, from a list of what moves through them.

// A solo is a loop without the accesses that do not move.
type solo struct {
	moving *node
	moves  []int // of the loop's inner refs, those that move
	rests  []int // and those that do not
	rows   []int // scratch: rows of the state that hold a line that rests
	at     []int // scratch: addresses in iteration 0
	here   []int // scratch: of rests, those in a row
	passed [4]passed
	next   int // of passed, to be used
}

// A trail lists, by row of a summary, the accesses that touch it, in order. Of an
// access that touches a line again and again, with no other line between, only the
// first and the last stand there.
type trail struct {
	built       int // iterations that are in it
	head, tail  []int32
	last, other []int // by row: the line of the last touch, and of the one before
	touches     []passing
}

// A passing is a touch of a row by a moving access.
type passing struct {
	y, ref int32
	next   int32 // of the same row, -1 at its end
}

// A passed is what happened in a row when a summary passed through it.
type passed struct {
	id            uint64
	trips, row    int
	at            []int    // of what rests there
	before, after []uint32 // the row
	misses        []uint64 // by operand of the loop
}

// solo prepares a loop's solo, if it has one. With at most as many lines in an
// iteration as there are ways, lines that are touched in every iteration stay.
func (m *machine) solo(n *node) *solo {
	in := n.inside
	if n.unit == nil || !in.plain || len(in.refs) > 16 {
		return nil
	}
	s := &solo{at: make([]int, len(in.refs))}
	lines := 0
	for i, r := range in.refs {
		if r.stride == 0 {
			s.rests = append(s.rests, i)
		} else {
			s.moves = append(s.moves, i)
		}
		lines += min(1, 1-in.repeats(i))
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

// repeats is 1 where an access of the list before is at the same address, else 0.
func (in *inner) repeats(i int) int {
	for _, r := range in.refs[:i] {
		if r.stride == in.refs[i].stride && r.base.same(&in.refs[i].base) {
			return 1
		}
	}
	return 0
}

// alone runs a loop by its solo.
func (m *machine) alone(n *node, c *context, trips int) {
	o, in := n.solo, n.inside
	e := m.fetch(o.moving, 0, trips, false)
	if e == nil {
		m.iterations(n, c, 0, trips, false)
		return
	}
	m.slots[n.slot] = 0
	for i := range in.refs {
		o.at[i] = in.refs[i].base.at(m.slots)
	}
	e.follow(in, o, trips)
	s := c.states[0]
	o.rows = o.rows[:0]
	for _, i := range o.rests {
		o.rows = s.appendRow(o.rows, uint32(o.at[i]>>s.shift)+1)
	}
	m.apply(s, e.summary, o.rows)
	for _, row := range o.rows {
		m.through(n, s, e, row, trips)
	}
	m.did.Alone++
}

// appendRow appends a line's row to a list that has none twice.
func (s *state) appendRow(rows []int, line uint32) []int {
	row := s.row(line)
	for _, r := range rows {
		if r == row {
			return rows
		}
	}
	return append(rows, row)
}

// follow makes the entry's trail so many iterations long.
func (e *entry) follow(in *inner, o *solo, trips int) {
	t := e.trail
	if t == nil {
		t = &trail{head: make([]int32, e.sets), tail: make([]int32, e.sets), last: make([]int, e.sets), other: make([]int, e.sets)}
		e.trail = t
	}
	if t.built == 0 {
		t.touches = t.touches[:0]
		for row := range t.head {
			t.head[row], t.last[row], t.other[row] = -1, -1, -1
		}
	}
	for y := t.built; y < trips; y++ {
		for _, i := range o.moves {
			line := (o.at[i] + in.refs[i].stride*y) >> e.shift
			// lines move with their own access
			id := (line-o.at[i]>>e.shift)<<4 | i
			row := e.row(uint32(line) + 1)
			if t.head[row] >= 0 && t.last[row] == id && t.other[row] == id {
				t.touches[t.tail[row]].y, t.touches[t.tail[row]].ref = int32(y), int32(i)
				continue
			}
			t.touches = append(t.touches, passing{int32(y), int32(i), -1})
			k := int32(len(t.touches) - 1)
			if t.head[row] < 0 {
				t.head[row] = k
			} else {
				t.touches[t.tail[row]].next = k
			}
			t.tail[row], t.other[row], t.last[row] = k, t.last[row], id
		}
	}
	t.built = max(t.built, trips)
}

// through passes a summary through a row of the state, or repeats what happened
// when it last did.
func (m *machine) through(n *node, s *state, e *entry, row, trips int) {
	o := n.solo
	o.here = o.here[:0]
	for _, i := range o.rests {
		if s.row(uint32(o.at[i]>>s.shift)+1) == row {
			o.here = append(o.here, i)
		}
	}
	s.changed[row>>6] |= 1 << (row & 63)
	lines, low := s.tags[row*s.ways:][:s.ways], n.opLow-s.opLow
	misses := s.misses[low : low+n.opHigh-n.opLow]
	if int(s.count[row]) < s.ways {
		m.pass(n, s, e, row, trips)
		return
	}
	for k := range o.passed {
		if p := &o.passed[k]; p.id == e.id && p.trips == trips && p.row == row && slices.Equal(p.before, lines) && p.same(o, s.shift) {
			copy(lines, p.after)
			for op, n := range p.misses {
				misses[op] += n
			}
			m.did.Passed++
			return
		}
	}
	p := &o.passed[o.next&3]
	o.next++
	p.id, p.trips, p.row, p.at = e.id, trips, row, p.at[:0]
	for _, i := range o.here {
		p.at = append(p.at, i, o.at[i]>>s.shift)
	}
	p.before, p.misses = append(p.before[:0], lines...), append(p.misses[:0], misses...)
	m.pass(n, s, e, row, trips)
	p.after = append(p.after[:0], lines...)
	for op, n := range misses {
		p.misses[op] = n - p.misses[op]
	}
}

// same reports whether the same lines rest in the row as did then.
func (p *passed) same(o *solo, shift uint) bool {
	if len(p.at) != 2*len(o.here) {
		return false
	}
	for k, i := range o.here {
		if p.at[2*k] != i || p.at[2*k+1] != o.at[i]>>shift {
			return false
		}
	}
	return true
}

// pass runs all accesses of so many iterations that touch a row of the state: what
// moves through it, and between any two of these what rests there, once for the
// rest of the one's iteration, once for all iterations between, and once for
// the start of the other's. The last iteration is run in full, as what stays in a
// line for many iterations orders the row by it.
func (m *machine) pass(n *node, s *state, e *entry, row, trips int) {
	o, in := n.solo, n.inside
	rest := func(after, before int) {
		for _, i := range o.here {
			if i > after && i < before {
				s.touch(uint32(o.at[i]>>s.shift)+1, in.refs[i].op)
			}
		}
	}
	back := row + int(s.turn) - int(e.turn)
	if back += s.sets; back >= s.sets {
		back -= s.sets
	}
	if back >= s.sets {
		back -= s.sets
	}
	const all = 1 << 20
	y, ref := -1, all // of the touch before
	for k := e.trail.head[back]; k >= 0; k = e.trail.touches[k].next {
		p := e.trail.touches[k]
		if int(p.y) >= trips-1 {
			break
		}
		if int(p.y) == y {
			rest(ref, int(p.ref))
		} else {
			if y >= 0 {
				rest(ref, all)
			}
			if int(p.y) > y+1 {
				rest(-1, all)
			}
			rest(-1, int(p.ref))
		}
		y, ref = int(p.y), int(p.ref)
		s.touch(uint32((o.at[ref]+in.refs[ref].stride*y)>>s.shift)+1, in.refs[ref].op)
	}
	if y >= 0 {
		rest(ref, all)
	}
	if y < trips-2 {
		rest(-1, all)
	}
	for i, r := range in.refs {
		if line := uint32((o.at[i]+r.stride*(trips-1))>>s.shift) + 1; s.row(line) == row {
			s.touch(line, r.op)
		}
	}
}

// off reports whether summaries of what moves do not pay: where nearly each is
// extended, those of the whole loop do better.
func (o *solo) off() bool {
	u := o.moving.unit
	return u.off || u.tries > 3000 && u.extends*10 > u.tries*7
}

// isLight reports whether a block is accesses and one loop that has a solo.
func (n *node) isLight() bool {
	loops := 0
	for _, c := range n.body {
		if c.kind != access {
			if loops++; c.solo == nil {
				return false
			}
		}
	}
	return loops == 1
}
