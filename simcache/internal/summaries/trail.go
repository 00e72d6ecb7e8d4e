package summaries

import "slices"

// With levels behind the first, what goes on to them from the rows in which accesses
// rest must be known in order. Where what moves through a row would miss as it does
// with the ways that are left to it, that is its heads and its log ([machine.rest]).
// Other rows are run access by access, from a trail of what moves through them.

// A trail lists, by row of a summary, the accesses that touch it, in order. Of an
// access that touches a line again and again, with no other line between, only the
// first and the last stand there.
type trail struct {
	built       int // iterations that are in it
	rows        []span
	last, other []int // by row: the line of the last touch, and of the one before
	touches     []passing
}

// A passing is a touch of a row by a moving access.
type passing struct{ y, ref int32 }

// row is what passes through a row.
func (t *trail) row(row int) []passing {
	r := t.rows[row]
	return t.touches[r.at : r.at+r.n]
}

// add appends to a row.
func (t *trail) add(row int, p passing) {
	r := &t.rows[row]
	if r.n == r.room {
		from := r.grow(1, 8, len(t.touches))
		t.touches = slices.Grow(t.touches, int(r.room))[:len(t.touches)+int(r.room)]
		copy(t.touches[r.at:], t.touches[from.at:from.at+from.n])
	}
	t.touches[r.at+r.n] = p
	r.n++
}

// trailed runs a loop by its solo; the rows where accesses rest by its log, or by
// trails, where what moves touches what rests, or finds lines in places that rest.
func (m *machine) trailed(n *node, c *context, trips int) {
	o, in, s := n.solo, n.inside, c.states[0]
	e := m.fetch(o.moving, 0, trips, false)
	if e == nil {
		m.iterations(n, c, 0, trips, false)
		return
	}
	m.slots[n.slot] = 0
	for i := range in.refs {
		o.at[i] = in.refs[i].base.at(m.slots)
	}
	o.rows = o.rows[:0]
	for _, i := range o.rests {
		o.rows = s.appendRow(o.rows, uint32(o.at[i]>>s.shift)+1)
	}
	m.apply(c, e.summary, o.rows)
	from, to := o.apart(in, trips, s.shift)
	o.ends(0, trips-1)
	var t *trail
	for _, row := range o.rows {
		if _, k := o.restingIn(s, row); to-from == trips && e.keepsTo(modulo(row+int(s.turn)-int(e.turn), s.sets), k) {
			m.rest(o, c, e, row)
			m.did.Sent++
		} else {
			if t == nil {
				t = m.trail(e)
				t.follow(e, in, o, trips)
			}
			m.pass(n, c, e, t, row, trips)
		}
		s.changed[row>>6] |= 1 << (row & 63)
	}
	m.did.Alone++
}

// trail is the entry's, to be made longer: one that is thrown away, the first time that it
// is asked for, since of some units no entry is met again.
func (m *machine) trail(e *entry) *trail {
	switch {
	case e.trail != nil:
		return e.trail
	case e.trailed:
		e.trail = newTrail(e.sets)
		return e.trail
	case m.passing == nil:
		m.passing = newTrail(e.sets)
	}
	e.trailed, m.passing.built = true, 0
	return m.passing
}

func newTrail(rows int) *trail {
	return &trail{rows: make([]span, rows), last: make([]int, rows), other: make([]int, rows)}
}

// follow makes an entry's trail so many iterations long.
func (t *trail) follow(e *entry, in *inner, o *solo, trips int) {
	if t.built == 0 {
		t.touches = t.touches[:0]
		clear(t.rows)
	}
	for y := t.built; y < trips; y++ {
		for _, i := range o.moves {
			line := (o.at[i] + in.refs[i].stride*y) >> e.shift
			// lines move with their own access
			id := (line-o.at[i]>>e.shift)<<4 | i
			row := e.row(uint32(line) + 1)
			p := passing{int32(y), int32(i)}
			if r := t.rows[row]; r.n > 1 && t.last[row] == id && t.other[row] == id {
				t.touches[r.at+r.n-1] = p
				continue
			}
			t.add(row, p)
			t.other[row], t.last[row] = t.last[row], id
		}
	}
	t.built = max(t.built, trips)
}

// pass runs all accesses of so many iterations that touch a row of the state: what
// moves through it, and between any two of these what rests there, once for the
// rest of the one's iteration, once for all iterations between, and once for
// the start of the other's. The last iteration is run in full, as what stays in a
// line for many iterations orders the row by it.
func (m *machine) pass(n *node, c *context, e *entry, t *trail, row, trips int) {
	o, in, s := n.solo, n.inside, c.states[0]
	o.here = o.here[:0]
	for _, i := range o.rests {
		if s.row(uint32(o.at[i]>>s.shift)+1) == row {
			o.here = append(o.here, i)
		}
	}
	back := modulo(row+int(s.turn)-int(e.turn), s.sets)
	const all = 1 << 20
	o.lines, o.ops = o.lines[:0], o.ops[:0]
	y, ref := -1, all // of the touch before
	for _, p := range t.row(back) {
		if int(p.y) >= trips-1 {
			break
		}
		if int(p.y) == y {
			o.rest(in, s.shift, ref, int(p.ref))
		} else {
			if y >= 0 {
				o.rest(in, s.shift, ref, all)
			}
			if int(p.y) > y+1 {
				o.rest(in, s.shift, -1, all)
			}
			o.rest(in, s.shift, -1, int(p.ref))
		}
		y, ref = int(p.y), int(p.ref)
		o.put(uint32((o.at[ref]+in.refs[ref].stride*y)>>s.shift)+1, in.refs[ref].op)
	}
	if y >= 0 {
		o.rest(in, s.shift, ref, all)
	}
	if y < trips-2 {
		o.rest(in, s.shift, -1, all)
	}
	for i, r := range in.refs {
		if line := uint32((o.at[i]+r.stride*(trips-1))>>s.shift) + 1; s.row(line) == row {
			o.put(line, r.op)
		}
	}
	c.bringIn(row, o.lines, o.ops)
	m.did.Passed++
}

// rest puts down the accesses of an iteration that rest in the row, after one and
// before another.
func (o *solo) rest(in *inner, shift uint, after, before int) {
	for _, i := range o.here {
		if i > after && i < before {
			o.put(uint32(o.at[i]>>shift)+1, in.refs[i].op)
		}
	}
}

// put puts down an access, unless it is at the line of the one before.
func (o *solo) put(line uint32, op int) {
	if k := len(o.lines); k == 0 || o.lines[k-1] != line {
		o.lines, o.ops = append(o.lines, line), append(o.ops, uint16(op))
	}
}
