package exact

import "slices"

// Accesses to a small array seldom keep their distance to others, modulo the sets. So a summary
// with them does not recur. But they lie in few lines.
//
//  1. Cut a loop around others into pieces in which each such access stays in its line.
//  2. Apply a piece's summary, made without them, to all sets except the sets of their lines.
//  3. Run everything that happens in those sets, and nothing else.

// A tiny is a loop's accesses to small arrays that are in no loop inside.
type tiny struct {
	without  *node // the loop without them
	accesses []*node
	rows     []int // scratch: rows of their lines
}

// tiny prepares a loop's tiny, or returns nil.
func (m *machine) tiny(n *node, b *builder) *tiny {
	if n.kind != loop || n.inner || n.unit == nil {
		return nil
	}
	t := &tiny{}
	small := func(a *node) bool {
		low, high := a.addr.bounds(b.low, b.high)
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
	return t
}

// enterAll prepares all innermost loops of a list for a single row, and reports whether there are
// any, and all could be.
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

// leaveOut copies a node without its small accesses. Loops in it stay unchanged.
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
	d.unit, d.light = nil, false
	return &d
}

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

// stay returns for how many iterations, up to limit, all accesses stay in their lines.
func (t *tiny) stay(m *machine, slot, limit int) int {
	for _, a := range t.accesses {
		if own := a.addr.coef(slot); own != 0 {
			limit = min(limit, stays(a.addr.at(m.slots), own, m.minLine))
		}
	}
	return limit
}

// piece runs iterations in which small accesses stay in their lines. It refuses without a summary,
// or if these take more than half of all sets.
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
		m.runIn(n, c, row, y, y+trips)
	}
	return true
}

// runIn runs iterations y to end of a loop in a row. Consecutive ones may touch the same lines of
// the row in the same order. If these fit in the ways, all are there after the first time.
func (m *machine) runIn(n *node, c *context, row, y, end int) {
	for y < end {
		m.slots[n.slot], m.listed = y, m.listed[:0]
		k := m.list(n.body, n.slot, end-y)
		for at := 0; at < k; {
			m.lines, m.linesOps = m.lines[:0], m.linesOps[:0]
			same := m.collect(m.listed, c.states[0], row, at, k-at)
			at += same
			if len(m.lines) <= c.states[0].ways {
				same = 1
			}
			m.repeat(n, c, row, same, func(int) { c.bringIn(row, m.lines, m.linesOps) })
		}
		y += k
	}
}

// A listed node is a loop, or an access.
type listed struct {
	node    *node
	at, own int // of an access: its first address, and its stride
}

// list lists nodes in the order in which they run. It returns for how many iterations of the loop
// around, at most k, all branches go the same way: 1 around a loop that is not innermost.
func (m *machine) list(nodes []*node, slot, k int) int {
	for _, n := range nodes {
		switch {
		case n.kind == access:
			m.listed = append(m.listed, listed{n, n.addr.at(m.slots), n.addr.coef(slot)})
		case n.kind == branch && n.holds(m.slots):
			k = m.list(n.body, slot, m.steady(n, slot, k))
		case n.kind == branch:
			k = m.list(n.orelse, slot, m.steady(n, slot, k))
		case n.kind == block:
			k = m.list(n.body, slot, k)
		case n.inner:
			m.listInner(n, slot)
			m.listed = append(m.listed, listed{node: n})
		default:
			m.listed = append(m.listed, listed{node: n})
			k = 1
		}
	}
	return k
}

// listInner finds the addresses and spans of an innermost loop, and their steps in the loop around.
func (m *machine) listInner(n *node, slot int) {
	in, o := n.inside, n.enter
	m.slots[n.slot] = 0
	for i := range in.refs {
		e := &o.accesses[i]
		e.at, e.own = in.refs[i].base.at(m.slots), in.refs[i].base.coef(slot)
	}
	o.spans = o.spans[:0]
	for i := range n.spans {
		o.spans = append(o.spans, [2]int{n.spans[i].at(m.slots), n.spans[i].coef(slot)})
	}
}

// tripsAfter returns an innermost loop's trips "by" iterations after it was listed.
func (n *node) tripsAfter(by int) int {
	o := n.enter
	span := o.spans[0][0] + o.spans[0][1]*by
	for _, s := range o.spans[1:] {
		span = min(span, s[0]+s[1]*by)
	}
	return n.count(span)
}

// collect collects the listed accesses in a row, in order, in a later iteration. It returns for how
// many iterations, at most k, they are the same.
func (m *machine) collect(list []listed, s *state, row, by, k int) int {
	for i := range list {
		a := &list[i]
		switch {
		case a.node.inner:
			k = m.collectInner(a.node, s, row, by, k)
		case a.node.kind == loop:
			m.collectLoop(a.node, s, row)
		default:
			addr := a.at + a.own*by
			k = sameIn(s, row, addr, a.own, k)
			if line := uint32(addr>>s.shift) + 1; s.row(line) == row {
				m.put(line, a.node.op)
			}
		}
	}
	return k
}

// collectLoop is collect for a loop around others, in the iteration in which it was listed.
func (m *machine) collectLoop(n *node, s *state, row int) {
	first := len(m.listed)
	for y := range n.trips(m.slots) {
		m.slots[n.slot], m.listed = y, m.listed[:first]
		m.list(n.body, n.slot, 1)
		m.collect(m.listed[first:], s, row, 0, 1)
	}
	m.listed = m.listed[:first]
}

// put collects a line, unless it repeats the line before, which is the first of its row.
func (m *machine) put(line uint32, op int) {
	if k := len(m.lines); k == 0 || m.lines[k-1] != line {
		m.lines, m.linesOps = append(m.lines, line), append(m.linesOps, uint16(op))
	}
}

// sameIn returns for how many iterations, at most k, an access touches the same line of a row, or
// none. own is its stride.
func sameIn(s *state, row, addr, own, k int) int {
	if own == 0 || !s.reaches(row, addr, own*(k-1)) {
		return k
	}
	return min(k, stays(addr, own, 1<<s.shift))
}

// reaches reports whether an access that moves by so many bytes may touch a line of a row.
func (s *state) reaches(row, addr, by int) bool {
	low, high := (addr+min(by, 0))>>s.shift, (addr+max(by, 0))>>s.shift
	return high-low >= modulo(row-s.row(uint32(low)+1), s.sets)
}

// stays returns for how many iterations an address with stride own stays in its line.
func stays(addr, own, line int) int {
	if at := addr & (line - 1); own > 0 {
		return (line-1-at)/own + 1
	} else {
		return at/-own + 1
	}
}

// steady returns for how many iterations of a loop, at most k, no part of a condition changes.
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

// collectInner is collect for an innermost loop. Its trips may change by iterations that touch
// nothing in the row.
func (m *machine) collectInner(n *node, s *state, row, by, k int) int {
	in, o, trips := n.inside, n.enter, n.tripsAfter(by)
	for i := range o.accesses {
		e := &o.accesses[i]
		in.at[i] = e.at + e.own*by
		if e.stride == 0 {
			k = sameIn(s, row, in.at[i], e.own, k)
		} else if e.own != 0 {
			k = min(k, stays(in.at[i], e.own, 1<<e.shift))
		}
	}
	last, next := m.inRow(in, o, s, row, trips)
	for more := 1; more < k; more++ {
		now := n.tripsAfter(by + more)
		if now != trips && (len(o.here) > 0 || now <= last || now > next) {
			return more
		}
	}
	return k
}
