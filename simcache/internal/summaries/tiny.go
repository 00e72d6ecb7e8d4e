package summaries

import "slices"

// Accesses to a small array seldom keep their distance to others, modulo the sets: a
// summary that knows them does not come back. But they lie in a few lines. So a loop
// around others is cut into pieces in which each such access rests on a line; the
// summary of a piece is one without them, which is applied to all other sets; and
// what happens in the sets of their lines is run, all of it, but nothing else.

// A tiny is a loop's accesses to small arrays, where they are in no loop inside.
type tiny struct {
	without  *node // the loop without them
	accesses []*node
	rows     []int // scratch: that their lines are in
	busy     *busy // or nil
}

// tiny prepares a loop's tiny, if it has one.
func (m *machine) tiny(n *node, b *builder) *tiny {
	if n.kind != loop || n.inner || n.unit == nil {
		return nil
	}
	t := &tiny{}
	small := func(a *node) bool {
		low, high := b.bounds(a.addr)
		own := a.addr.coef(n.slot)
		return high-low < 2*m.span && 2*max(own, -own) <= m.minLine
	}
	t.without = t.leaveOut(n, small)
	if len(t.accesses) == 0 {
		return nil
	}
	inside := below(t.without)
	if !m.enterAll(inside) {
		return nil
	}
	if t.without.unit = m.unit(t.without, inside); t.without.unit == nil {
		return nil
	}
	t.without.unit.period = 0
	for _, c := range append(inside, t.without) {
		if c.unit != nil {
			c.unit.byRow = true
		}
	}
	t.busy = m.busy(n)
	return t
}

// enterAll prepares all innermost loops of a list to be run in a row alone, and
// reports whether there are any, and all can be.
func (m *machine) enterAll(list []*node) bool {
	loops := 0
	for _, c := range list {
		if !c.inner {
			continue
		}
		if c.enter == nil {
			c.enter = m.enter(c)
		}
		if loops++; c.enter == nil {
			return false
		}
	}
	return loops > 0
}

// leaveOut copies a node without its small accesses. Loops in it stay what they are.
func (t *tiny) leaveOut(n *node, small func(*node) bool) *node {
	d := *n
	list := func(nodes []*node) (left []*node) {
		for _, c := range nodes {
			switch {
			case c.kind == access && small(c):
				t.accesses = append(t.accesses, c)
				continue
			case c.kind == branch || c.kind == block:
				c = t.leaveOut(c, small)
			}
			left = append(left, c)
		}
		return left
	}
	d.body, d.orelse = list(n.body), list(n.orelse)
	d.unit, d.flood, d.slide, d.drift, d.light = nil, nil, nil, nil, false
	return &d
}

// below are all nodes in a node, leaves first.
func below(n *node) (list []*node) {
	for _, c := range slices.Concat(n.body, n.orelse) {
		list = append(append(list, below(c)...), c)
	}
	return list
}

// pieces runs iterations y to end of a loop by pieces.
func (m *machine) pieces(n *node, c *context, y, end int) {
	t := n.tiny
	for y < end {
		m.slots[n.slot] = y
		k := t.stay(m, n.slot, end-y)
		m.slots[n.slot] = y + k/2
		if t.without.unit.off || m.each(n)*float64(k) < m.threshold || !m.piece(n, c, y, k) {
			for i := range k {
				m.slots[n.slot] = y + i
				m.run(n.body, c)
			}
		}
		y += k
	}
}

// stay is for how many iterations, up to a limit, all accesses stay in their lines.
func (t *tiny) stay(m *machine, slot, limit int) int {
	for _, a := range t.accesses {
		if own := a.addr.coef(slot); own != 0 {
			limit = min(limit, stays(a.addr.at(m.slots), own, m.minLine))
		}
	}
	return limit
}

// piece runs iterations in which small accesses rest. It reports whether it did:
// not where they are in half of all sets.
func (m *machine) piece(n *node, c *context, y, trips int) bool {
	t, s := n.tiny, c.states[0]
	m.slots[n.slot] = y
	t.rows = t.rows[:0]
	for _, a := range t.accesses {
		t.rows = s.appendRow(t.rows, uint32(a.addr.at(m.slots)>>s.shift)+1)
	}
	if 2*len(t.rows) > s.sets {
		return false
	}
	e := m.fetch(t.without, y, trips, false)
	if e == nil {
		return false
	}
	m.apply(c, e.summary, t.rows)
	for _, row := range t.rows {
		m.away(n.body, n.slot, s, row, y, trips)
		if small, is := m.isBusy(n, s, row, y, trips); is {
			m.runBusy(n, c, e, small, row, y, trips)
		} else {
			m.runIn(n, c, row, y, y+trips)
		}
	}
	m.did.Pieces++
	return true
}

// away notes which accesses of nodes are not in a row, in any of so many iterations of a
// loop around, from y on. What other loops are around is not known.
func (m *machine) away(nodes []*node, slot int, s *state, row, y, trips int) {
	for _, n := range nodes {
		switch {
		case n.kind == access:
			n.away = trips > 0 && !m.reachOf(&n.addr, slot, y, y+trips-1, 0, s.shift).in(s, row)
		case n.kind == loop:
			m.away(n.body, slot, s, row, y, 0)
		default:
			m.away(n.body, slot, s, row, y, trips)
			m.away(n.orelse, slot, s, row, y, trips)
		}
	}
}

// runIn runs iterations y to end of a loop in a row. Of some in which the same lines of
// the row are touched in the same order, the first leaves them on top, and each after it
// misses as the second does. None of these misses is a head, since its line was touched
// in the first.
func (m *machine) runIn(n *node, c *context, row, y, end int) {
	s := c.states[0]
	for y < end {
		m.lines, m.linesOps = m.lines[:0], m.linesOps[:0]
		m.slots[n.slot] = y
		k := m.collect(n.body, n.slot, s, row, end-y)
		c.bringIn(row, m.lines, m.linesOps)
		if k > 1 {
			missing := s.missing[:len(m.lines)]
			bringRow(s.tags[row*s.ways:][:s.ways], m.lines, missing)
			for i, absent := range missing {
				if absent != 0 {
					s.miss(row, int(m.linesOps[i]), uint64(k-1))
				}
			}
			m.did.Alike += k - 1
		}
		y += k
	}
}

// collect puts down the accesses of nodes in a row, in order, and returns for how many
// iterations of a loop around, up to a limit, they are the same.
func (m *machine) collect(nodes []*node, slot int, s *state, row, k int) int {
	for _, n := range nodes {
		switch {
		case n.kind == access && n.away:
		case n.kind == access:
			addr := n.addr.at(m.slots)
			k = n.addr.sameIn(s, row, addr, slot, k)
			if line := uint32(addr>>s.shift) + 1; s.row(line) == row {
				m.put(line, n.op)
			}
		case n.kind == branch:
			k = m.steady(n, slot, k)
			if n.holds(m.slots) {
				k = m.collect(n.body, slot, s, row, k)
			} else {
				k = m.collect(n.orelse, slot, s, row, k)
			}
		case n.inner:
			k = m.collectInner(n, slot, s, row, k)
		case n.kind == block:
			k = m.collect(n.body, slot, s, row, k)
		default:
			k = 1
			for y := range n.trips(m.slots) {
				m.slots[n.slot] = y
				m.collect(n.body, slot, s, row, 1)
			}
		}
	}
	return k
}

// put puts down a line, unless it is the one before: that one is the first of its row.
func (m *machine) put(line uint32, op int) {
	if k := len(m.lines); k == 0 || m.lines[k-1] != line {
		m.lines, m.linesOps = append(m.lines, line), append(m.linesOps, uint16(op))
	}
}

// sameIn is for how many iterations of a loop, up to a limit, an access that is at an
// address touches the same line of a row, or none of it.
func (a *affine) sameIn(s *state, row, addr, slot, k int) int {
	own := a.coef(slot)
	if own == 0 || !reachFrom(addr, own*(k-1), s.shift).in(s, row) {
		return k
	}
	return min(k, stays(addr, own, 1<<s.shift))
}

// stays is for how many iterations an address that goes on by own in each stays in a line.
func stays(addr, own, line int) int {
	if at := addr & (line - 1); own > 0 {
		return (line-1-at)/own + 1
	} else {
		return at/-own + 1
	}
}

// steady is for how many iterations of a loop, up to a limit, each part of a condition
// holds, or does not.
func (m *machine) steady(c *node, slot, k int) int {
	for _, all := range c.when {
		for i := range all {
			v, own := all[i].at(m.slots), all[i].coef(slot)
			if v < 0 {
				v, own = -v-1, -own
			}
			if own < 0 {
				k = min(k, v/-own+1)
			}
		}
	}
	return k
}

// collectInner is collect for an innermost loop. Where its trips change, but nothing in
// the row is touched in the iterations by which they do, it is the same.
func (m *machine) collectInner(n *node, slot int, s *state, row, k int) int {
	in, o := n.inside, n.enter
	saved, trips := m.slots[slot], n.trips(m.slots)
	m.slots[n.slot] = 0
	for i := range in.refs {
		r := &in.refs[i]
		in.at[i] = r.base.at(m.slots)
		if r.stride == 0 {
			k = r.base.sameIn(s, row, in.at[i], slot, k)
		} else if own := r.base.coef(slot); own != 0 {
			k = min(k, stays(in.at[i], own, 1<<o.accesses[i].shift))
		}
	}
	m.inRow(in, o, s, row, trips)
	for more := 1; more < k; more++ {
		m.slots[slot] = saved + more
		next := n.trips(m.slots)
		if next != trips && (len(o.here) > 0 || in.touchesIn(s, row, min(trips, next), max(trips, next))) {
			k = more
		}
		trips = next
	}
	m.slots[slot] = saved
	return k
}

// touchesIn reports whether what moves touches a row in some iterations, or there are many.
func (in *inner) touchesIn(s *state, row, from, end int) bool {
	for y := from; y < end; y++ {
		for i, r := range in.refs {
			if r.stride != 0 && s.row(uint32((in.at[i]+r.stride*y)>>s.shift)+1) == row {
				return true
			}
		}
	}
	return end-from > step
}

// mostEntering is how large a table is that says when an access comes to a row.
const mostEntering = 1 << 14

// An enter is what is needed to run an inner loop in a row alone.
type enter struct {
	accesses []entering
	here     []int // scratch: of those that rest, the ones in the row
}

// An entering says when an access comes to a row: after so many iterations, by where
// it is; -1 if never.
type entering struct {
	stride   int
	shift    uint // of units: all places in one are in one line
	after    []int32
	again    []int32 // alike, from a place in the row on: at least one
	place, y int     // scratch: where it is in iteration y, in which it is in the row
}

// enter prepares an inner loop to be run in a row alone. The table of an access
// that moves is by its place relative to the row's, modulo the span of the sets, in
// units of the greatest power of two that divides lines and stride. As many lines
// that rest as there are ways would leave none to others.
func (m *machine) enter(n *node) *enter {
	in, line := n.inside, 1<<m.levels[0].Shift
	if !in.plain {
		return nil
	}
	rests := 0
	o := &enter{accesses: make([]entering, len(in.refs))}
	for i, r := range in.refs {
		e := &o.accesses[i]
		unit := gcd(r.stride, line)
		if *e = (entering{stride: r.stride, shift: uint(trailing(uint64(unit)))}); r.stride == 0 {
			rests += 1 - in.repeats(i)
			continue
		}
		if m.span/unit > mostEntering {
			return nil
		}
		e.tables(m.span/unit, line/unit)
	}
	if rests >= m.levels[0].Ways {
		return nil
	}
	return o
}

// tables makes an access's tables, for a span and a line of so many units.
func (e *entering) tables(span, line int) {
	e.after, e.again = make([]int32, span), make([]int32, line)
	for at := range e.after {
		e.after[at] = -1
	}
	for at := range line {
		e.after[at] = 0
	}
	for end := range line {
		at := end
		for k := int32(1); ; k++ { // back from where it comes to the row
			at = modulo(at-e.stride>>e.shift, span)
			if e.after[at] == 0 {
				e.again[at] = k
			}
			if e.after[at] >= 0 {
				break
			}
			e.after[at] = k
		}
	}
}

// inRow puts down the accesses of so many iterations that are in a row of a state: those
// that move, when they come, and between any two of these those that rest, once for the
// rest of the one's iteration, once for all iterations between, and once for the start
// of the other's.
func (m *machine) inRow(in *inner, o *enter, s *state, row, end int) {
	o.begin(m, in, s, row, end)
	rest := func(after, before int) {
		for _, i := range o.here {
			if i > after && i < before {
				m.put(uint32(in.at[i]>>s.shift)+1, in.refs[i].op)
			}
		}
	}
	const all = 1 << 20
	for y, ref := -1, all; ; {
		i, next, other := o.next(end)
		if len(o.here) > 0 && (next > y || i < 0) {
			rest(ref, all)
			if next > y+1 {
				rest(-1, all)
			}
			ref = -1
		}
		if i < 0 {
			return
		}
		rest(ref, i)
		y, ref = next, i
		m.put(uint32((in.at[i]+in.refs[i].stride*y)>>s.shift)+1, in.refs[i].op)
		if e := &o.accesses[i]; !e.stay(other-1, 1<<s.shift) {
			e.move(m.span, int(e.again[e.place>>e.shift]))
		}
	}
}

// begin finds what rests in a row, and when the others first come to it: at the end
// if never.
func (o *enter) begin(m *machine, in *inner, s *state, row, end int) {
	o.here = o.here[:0]
	for i := range o.accesses {
		e := &o.accesses[i]
		if e.stride == 0 {
			if s.row(uint32(in.at[i]>>s.shift)+1) == row {
				o.here = append(o.here, i)
			}
			continue
		}
		e.place = modulo(in.at[i]-(row+int(s.turn))<<s.shift, m.span)
		if e.y = 0; e.after[e.place>>e.shift] < 0 {
			e.y = end
			continue
		}
		e.move(m.span, int(e.after[e.place>>e.shift]))
	}
}

// next returns the access that comes next, before some iteration, -1 if none does, and
// when; and when another does.
func (o *enter) next(end int) (i, y, other int) {
	i, y, other = -1, end, end
	for k := range o.accesses {
		if e := &o.accesses[k]; e.stride != 0 {
			if e.y < y {
				i, y, other = k, e.y, y
			} else {
				other = min(other, e.y)
			}
		}
	}
	return i, y, other
}

// move moves an access on.
func (e *entering) move(span, by int) {
	e.place = modulo(e.place+by*e.stride, span)
	e.y += by
}

// stay moves an access on to the last iteration up to one in which it is in the same
// line. It reports whether that is a later one. In between, it is alone with what
// rests: nothing else happens.
func (e *entering) stay(limit, line int) bool {
	if e.stride >= line || e.stride <= -line {
		return false
	}
	k := e.place
	if e.stride > 0 {
		k = line - 1 - e.place
	}
	k = min(k/max(e.stride, -e.stride), limit-e.y)
	if k <= 0 {
		return false
	}
	e.y += k
	e.place += k * e.stride
	return true
}
