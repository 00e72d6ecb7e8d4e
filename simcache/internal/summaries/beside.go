package summaries

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Where small accesses rest on lines around an innermost loop, each of these lines is touched
// ahead of it in every iteration of the loop around. So of two touches of a line by that loop
// either both are in one instance of it, and few lines between, or all that rest in the row
// are touched between: what moves finds a row of so many ways less, as in [machine.alone]. The
// summary without the small accesses knows what misses there, and how many of its heads and its
// lines are left. A small access misses, but for the first time, where the instance before
// brought as many lines to the row as leave no room for its own.
//
// The conditions. The loop comes last in an iteration, and there is no other. Nothing else than
// what it accesses and small accesses is in the row, and these are the same in all iterations. Of
// its accesses no two that move touch a line in common, and none a small one's line. Then
// between two touches of a line in one instance there is no other access twice: with those that
// rest there are less lines than ways. And a column, which goes on by a line or more, is on a line
// in one iteration at most.

// A beside is what is known of a loop in whose rows that may be so.
type beside struct {
	loop        *node // the innermost
	is          bool  // scratch: its accesses keep apart in the iterations that are looked at
	least, most int   // scratch: trips that it has in these
	reaches     []reach
	lines       []uint32 // scratch: of small accesses in the row, in order
	ops         []uint16 // of them
	last        []uint32 // scratch: each of these lines once, the one touched last first
	coming      []int    // scratch: iterations
	resting     []int    // scratch: lines
}

// beside prepares a loop for that; nil if it cannot be.
func (m *machine) beside(n *node) *beside {
	list := n.body
	if len(list) == 1 && list[0].kind == block {
		list = list[0].body
	}
	b := &beside{loop: list[len(list)-1]}
	if !b.loop.inner || slices.ContainsFunc(below(n), func(c *node) bool { return c.kind == loop && c != b.loop }) {
		return nil
	}
	b.reaches = make([]reach, len(b.loop.inside.refs))
	if !b.loop.inside.columns || len(b.reaches) >= min(m.levels[0].Ways, mostRefs) {
		return nil
	}
	return b
}

// keepsApart finds whether in so many iterations of a loop from y on no two accesses of the innermost
// one that move touch a line in common, in any two of these.
func (b *beside) keepsApart(m *machine, slot, y, trips int) {
	last := y + trips - 1
	b.least, b.most = m.tripsOver(b.loop, slot, y, last)
	in, shift := b.loop.inside, m.levels[0].Shift
	b.is = false
	for i := range in.refs {
		r := &in.refs[i]
		b.reaches[i] = m.reachOf(&r.base, slot, y, last, (b.most-1)*r.stride, shift)
		for k, other := range b.reaches[:i] {
			q := &in.refs[k]
			same := r.stride == 0 || q.stride == 0 || q.stride == r.stride && q.base.same(&r.base)
			if !same && b.reaches[i].meets(other) {
				return
			}
		}
	}
	b.is = true
}

// restsIn reports whether in the iterations that are looked at, from y on, a row is as [beside] has it, and puts
// down which small accesses are in it.
func (b *beside) restsIn(m *machine, n *node, s *state, row, y int) bool {
	if b == nil || !b.is {
		return false
	}
	m.lines, m.linesOps = m.lines[:0], m.linesOps[:0]
	if !m.smallIn(n.body, n, s, row, y) {
		return false
	}
	b.lines, b.ops = append(b.lines[:0], m.lines...), append(b.ops[:0], m.linesOps...)
	b.last = b.last[:0]
	for i := len(b.lines) - 1; i >= 0; i-- {
		if line := b.lines[i]; !slices.Contains(b.last, line) {
			b.last = append(b.last, line)
		}
	}
	for _, line := range b.last {
		if slices.ContainsFunc(b.reaches, func(r reach) bool { return r.holds(int(line) - 1) }) {
			return false
		}
	}
	return len(b.last) <= mostRests && len(b.last)+len(b.reaches) <= s.ways
}

// tripsOver are the least and the most trips that a loop has in iterations first to last of the one
// around: those in these two, unless it ends at the least of several bounds, which may bend.
func (m *machine) tripsOver(loop *node, slot, first, last int) (least, most int) {
	step := last - first
	if len(loop.spans) > 1 {
		step = 1
	}
	least = math.MaxInt
	for y := first; y <= last; y += max(1, step) {
		m.slots[slot] = y
		trips := loop.trips(m.slots)
		least, most = min(least, trips), max(most, trips)
	}
	return least, most
}

// smallIn puts down the small accesses in a list of nodes that are in the row in an iteration, in order, and
// reports whether no others, but for the innermost loop, are in it in those that are looked at, in which
// all branches take the same way.
func (m *machine) smallIn(nodes []*node, n *node, s *state, row, y int) bool {
	for _, c := range nodes {
		is := true
		switch {
		case c.kind == access && c.away:
		case c.kind == access:
			m.slots[n.slot] = y
			line := uint32(c.addr.at(m.slots)>>s.shift) + 1
			if is = slices.Contains(n.tiny.accesses, c); is && s.row(line) == row {
				m.put(line, c.op)
			}
		case c.kind == branch:
			m.slots[n.slot] = y
			body := c.orelse
			if c.holds(m.slots) {
				body = c.body
			}
			is = m.smallIn(body, n, s, row, y)
		case c.kind == block:
			is = m.smallIn(c.body, n, s, row, y)
		}
		if !is {
			return false
		}
	}
	return true
}

// runBeside composes a row in which small accesses rest with so many iterations of a loop from y
// on, where the entry is their summary without these: first the small ones, then the entry's heads,
// which each find all that rest among those touched since; what is behind them is known.
func (m *machine) runBeside(n *node, c *context, e *entry, row, y, trips int) {
	s, b := c.states[0], n.tiny.beside
	k, back := len(b.last), modulo(row+int(s.turn)-int(e.turn), s.sets)
	heads, ops := e.heads[back*s.ways:][:e.count[back]], e.ops[back*s.ways:][:e.count[back]]
	m.lines, m.linesOps = append(append(m.lines[:0], b.lines...), heads...), append(append(m.linesOps[:0], b.ops...), ops...)
	c.bringIn(row, m.lines, m.linesOps)
	for op := b.loop.opLow; op < b.loop.opHigh; op++ {
		misses := e.rowMisses[back*len(e.misses)+op-e.opLow]
		for _, more := range e.fewerOf(back, op)[:k] {
			misses += uint64(more)
		}
		s.miss(row, op, misses)
	}
	for i, line := range b.lines {
		if !slices.Contains(b.lines[:i], line) {
			s.miss(row, int(b.ops[i]), uint64(b.crowded(m, n, s, row, y, trips-1, s.ways-b.others(i))))
		}
	}
	above := min(b.linesIn(m, n, s, row, y+trips-1), len(ops))
	from := back * s.ways
	lines := append(append(append(m.lines[:0], e.tags[from:from+above]...), b.last...), e.tags[from+above:from+len(ops)]...)
	m.lines = lines
	copy(s.tags[row*s.ways:][:s.ways], lines)
	m.did.Beside++
}

// others is how many other lines small accesses touch between two iterations' first touches of one
// that is the first of its line, but for what is touched before its last in the one.
func (b *beside) others(i int) (n int) {
	last := i
	for k, line := range b.lines {
		if line == b.lines[i] {
			last = k
		}
	}
	for _, line := range b.last {
		if line != b.lines[i] && (slices.Contains(b.lines[:i], line) || slices.Contains(b.lines[last:], line)) {
			n++
		}
	}
	return n
}

// crowded is in how many iterations of a loop, of so many from y on, the innermost one comes to so many lines
// of a row at least.
func (b *beside) crowded(m *machine, n *node, s *state, row, y, trips, lines int) (times int) {
	switch {
	case b.bound(m, s, b.most) < lines:
		return 0
	case b.sure(m, b.least) >= lines:
		return trips
	}
	m.slots[n.slot] = y
	m.listInner(b.loop, n.slot)
	for at := 0; at < trips; {
		same := trips - at
		for i := range b.loop.enter.accesses {
			if e := &b.loop.enter.accesses[i]; e.own != 0 {
				same = min(same, stays(e.at+e.own*at, e.own, 1<<e.shift))
			}
		}
		if b.comes(s, m.span, row, at, b.most); len(b.coming) >= lines {
			slices.Sort(b.coming)
			for k := range same {
				if b.loop.tripsAfter(at+k) > b.coming[lines-1] {
					times++
				}
			}
		}
		at += same
	}
	return times
}

// comes puts down in which of so many iterations the innermost loop comes to a line of a row, so many iterations
// of the one around behind those in which it was listed.
func (b *beside) comes(s *state, span, row, by, trips int) {
	in, line := b.loop.inside, 1<<s.shift
	b.coming, b.resting = b.coming[:0], b.resting[:0]
	for i := range in.refs {
		e := &b.loop.enter.accesses[i]
		at := (e.at + e.own*by) >> s.shift
		if e.stride == 0 && s.row(uint32(at)+1) == row && !slices.Contains(b.resting, at) && trips > 0 {
			b.resting, b.coming = append(b.resting, at), append(b.coming, 0)
		}
	}
	for i := range in.refs {
		e := &b.loop.enter.accesses[i]
		if e.stride == 0 || in.repeats(i) > 0 {
			continue
		}
		at := e.at + e.own*by
		e.place, e.y = modulo(at-(row+int(s.turn))<<s.shift, span), 0
		if e.after[e.place>>e.shift].after < 0 {
			continue
		}
		for e.move(e.after); e.y < trips; e.move(e.again) {
			if !slices.Contains(b.resting, (at+e.stride*e.y)>>s.shift) {
				b.coming = append(b.coming, e.y)
			}
			e.stay(trips, line)
		}
	}
}

// bound is to how many lines of a row so many iterations of the innermost loop come at most.
func (b *beside) bound(m *machine, s *state, trips int) (lines int) {
	line := 1 << s.shift
	for i := range b.loop.inside.refs {
		stride := b.loop.inside.refs[i].stride
		stride = max(stride, -stride)
		switch g := nest.GCD(stride, m.span); {
		case stride == 0:
			lines++
		case stride < line:
			lines += (trips*stride/line+1)/s.sets + 1
		default:
			period := m.span / g
			lines += (trips + period - 1) / period * ((line + g - 1) / g)
		}
	}
	return lines
}

// sure is to how many lines of any row so many iterations of the innermost loop come at least: a column, in
// each of its periods.
func (b *beside) sure(m *machine, trips int) (lines int) {
	line := 1 << m.levels[0].Shift
	for i := range b.loop.inside.refs {
		stride := b.loop.inside.refs[i].stride
		if g := nest.GCD(stride, m.span); max(stride, -stride) >= line {
			lines = max(lines, trips/(m.span/g)*(line/g))
		}
	}
	return lines
}

// linesIn is to how many lines of a row the innermost loop comes in an iteration of the one around.
func (b *beside) linesIn(m *machine, n *node, s *state, row, y int) int {
	m.slots[n.slot] = y
	m.listInner(b.loop, n.slot)
	b.comes(s, m.span, row, 0, b.loop.tripsAfter(0))
	return len(b.coming)
}

// steadyAll is for how many iterations of a loop, up to a limit, all branches in a list take the
// same way.
func (m *machine) steadyAll(list []*node, slot, k int) int {
	for _, c := range list {
		if c.kind == branch {
			k = m.steady(c, slot, k)
		}
		k = m.steadyAll(c.orelse, slot, m.steadyAll(c.body, slot, k))
	}
	return k
}
