package exact

import "slices"

// A reference may be loop-invariant in several loops around it, as the sum of a convolution over
// channels and a window. Everything about solos holds for a nest of loops, each the only node in
// the one around. For solos need consecutive iterations, and allow any move between two of them.

// nested prepares a nest's solo, of accesses that none of its loops moves. It returns nil without
// such accesses, or unless the nest runs often with few keys.
func (m *machine) nested(n *node, highest []int) *solo {
	loops := n.perfect()
	if len(loops) < 2 || n.unit == nil {
		return nil
	}
	last := loops[len(loops)-1]
	in := last.inside
	if len(in.refs) > 16 {
		return nil
	}
	stays := func(a *affine) bool {
		return !slices.ContainsFunc(loops, func(l *node) bool { return a.coef(l.slot) != 0 })
	}
	o, moving, lines := newSolo(in), *in, 0
	moving.refs = nil
	for i, r := range in.refs {
		if r.stride == 0 && stays(&in.refs[i].base) {
			o.rests = append(o.rests, i)
			lines += 1 - in.repeats(i)
			continue
		}
		o.moves, moving.refs = append(o.moves, i), append(moving.refs, r)
		lines++
	}
	if len(o.rests) == 0 || len(o.moves) == 0 || lines > m.levels[0].Ways {
		return nil
	}
	moving.scratch(m.levels[0].Ways, 1<<m.levels[0].Shift)
	rests := func(a *node) bool { return stays(&a.addr) }
	inside := slices.DeleteFunc(slices.Clone(last.body), rests)
	for i, l := range slices.Backward(loops) {
		d := bare(l)
		if i == len(loops)-1 {
			d.inside = &moving
		} else {
			d.body = []*node{o.moving}
		}
		if o.moving = d; i > 0 {
			inside = append(inside, d)
		}
	}
	u := m.unit(o.moving, inside)
	if u == nil {
		return nil
	}
	u.period, u.alone = 0, true
	if u.few = m.fewKeys(u, highest); !u.few {
		return nil
	}
	o.moving.unit = u
	return o
}

// mostNested bounds the touches of a nest summarized without its loop-invariant references, in
// thresholds.
const mostNested = 200

func bare(n *node) *node {
	return &node{
		kind: n.kind, body: n.body, slot: n.slot, firstSlot: -1, spans: n.spans, step: n.step,
		inner: n.inner, opLow: n.opLow, opHigh: n.opHigh,
	}
}

// perfect returns the loops of a perfect nest, outermost first, or nil. Each loop except the last
// is around one loop and nothing else. None has trips that depend on another of them.
func (n *node) perfect() (loops []*node) {
	for ; ; n = n.body[0] {
		if n.kind != loop || n.firstSlot >= 0 {
			return nil
		}
		for _, span := range n.spans {
			if slices.ContainsFunc(loops, func(l *node) bool { return span.coef(l.slot) != 0 }) {
				return nil
			}
		}
		if loops = append(loops, n); n.inner {
			return loops
		}
	}
}

// aloneNested runs a nest by its solo, and reports whether it did. Moving accesses must not touch
// the loop-invariant lines.
func (m *machine) aloneNested(n *node, c *context, trips int) bool {
	o, s := n.nested, c.states[0]
	if o.bounds(m, o.moving); !o.findRows(s) {
		return false
	}
	u := o.moving.unit
	u.placeIn(m, 0, trips)
	u.boxes(m, 0, trips)
	for _, i := range o.rests {
		line := o.first[i] >> s.shift
		for r := range u.refs {
			if line >= u.low[r]>>s.shift && line <= u.hig[r]>>s.shift {
				return false
			}
		}
	}
	e := m.fetch(o.moving, 0, trips, false)
	if e == nil || e.log != nil && !o.keeps(s, e) {
		return false
	}
	m.apply(c, e.summary, o.rows)
	for _, row := range o.rows {
		m.rest(o, c, e, row)
	}
	m.did.Nested++
	return true
}

// keeps reports whether, in each of these rows, the moving accesses have the same outcomes without
// the ways of the loop-invariant lines.
func (o *solo) keeps(s *state, e *entry) bool {
	return !slices.ContainsFunc(o.rows, func(row int) bool {
		_, k := o.restingIn(s, row)
		return !e.keepsTo(modulo(row+int(s.turn)-int(e.turn), s.sets), k)
	})
}

// bounds finds the addresses in the first and the last iteration of a nest.
func (o *solo) bounds(m *machine, n *node) {
	last := n
	for l := n; ; l = l.body[0] {
		if m.slots[l.slot] = 0; l.inner {
			last = l
			break
		}
	}
	for i := range o.in.refs {
		o.at[i] = o.in.refs[i].base.at(m.slots)
	}
	copy(o.first, o.at)
	for l := n; ; l = l.body[0] {
		if m.slots[l.slot] = l.trips(m.slots) - 1; l.inner {
			break
		}
	}
	for i, r := range o.in.refs {
		o.end[i] = r.base.at(m.slots) + r.stride*m.slots[last.slot]
	}
}
