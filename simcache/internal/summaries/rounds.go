package summaries

import "slices"

// A loop around loops may go through the same rows in each of its iterations, a round, from the first to the last, many
// more than any level has room for, and in each pass through one of them also along another, which is a different one from round to
// round: shortest paths between all pairs do so, and sums of products of columns and rows. Then all lines are gone, in
// both levels, when a round comes to them first. If it misses in the first level no more often than it has lines, each of them
// goes on to the second once, and misses there. So only the first level is run, by a machine that knows of no other.
//
// The conditions. A row goes through all lines of a range, in order, pass by pass. Nothing else goes on from pass to
// pass but accesses that rest in the row, or come to a line of their own in each pass, the same in which it was in the
// round before or one that no other comes to. What rests in all passes is on lines that nothing rested on in the round before, in
// the range or out of it.
//
// So of a line of the row the last touch was in the round before, in the same pass or a neighbour of it, and all other
// passes lie in between. What rests is touched first in the first pass, and was touched last
// in its own pass of the round before; what rested there was touched up to the last pass, and then first
// in its own pass. If as many passes lie in between as make each set of the first level get as many lines as it has ways, the
// line misses. So all lines of the row went on when they were touched first, in this round and in the one before behind so
// many passes, but for what rested: if so many of these passes lie in between that each set of the second level got as many lines as
// it has ways, the line misses there. What rested in the round before went on in its first pass alone, if it had no more misses than lines.
//
// The second level is made what the last passes leave, of the last round, as soon as it is needed.

// rounds is what is known of such a loop.
type rounds struct {
	passes, loop  *node    // the loop in it, and the innermost
	row           moving   // goes through the rows
	rests, beside []moving // in all passes, and a line in each pass
	alone         *node    // the loop for the machine of the first level; nil until it is needed
	failed        int      // rounds that had more misses than lines
	trips, times  int      // scratch: of the innermost loop, and passes
	start, extent int      // scratch: the first address of the row in pass 0, and how far it is to the last
	near, far     int      // scratch: passes after which each set of a level got as many lines as it has ways
	lines         int      // scratch: of a round
	ahead, after  int      // scratch: passes ahead of those that come to what rested in the round before; behind those that come to what rests
	before, here  []reach  // scratch: what rests, in the round before and in this one
	tags          []uint32 // scratch: of the first level, ahead of a round
	misses        []uint64 // alike
}

// mostRounds is in how many rounds the misses may be more than the lines until it is not tried again.
const mostRounds = 4

// roundsOf prepares a loop's rounds, if it may have any.
func (m *machine) roundsOf(n *node) *rounds {
	if m.near == nil || n.kind != loop || n.inner || len(n.body) != 1 {
		return nil
	}
	p := n.body[0]
	if p.kind != loop || p.inner || len(p.body) != 1 || !p.body[0].inner || !p.body[0].inside.plain {
		return nil
	}
	l, line := &rounds{passes: p, loop: p.body[0]}, 1<<m.levels[0].Shift
	depends := func(a affine) bool { return a.coef(n.slot) != 0 || a.coef(p.slot) != 0 }
	for _, c := range []*node{p, l.loop} {
		if c.firstSlot >= 0 || slices.ContainsFunc(c.spans, depends) {
			return nil
		}
	}
	in := l.loop.inside
	for i, r := range in.refs {
		own, with, far := r.base.coef(p.slot), r.base.coef(n.slot), max(r.stride, -r.stride)
		switch {
		case in.repeats(i) > 0:
		case far > line:
			return nil
		case own >= line && far > 0 && with == 0 && l.row.stride == 0:
			l.row = r
		case own >= line && far == 0:
			l.beside = append(l.beside, r)
		case own == 0 && with != 0:
			l.rests = append(l.rests, r)
		default:
			return nil
		}
	}
	if l.row.stride == 0 || len(l.rests) == 0 {
		return nil
	}
	return l
}

// rounds runs a loop by its rounds, if it can, and reports whether it did.
func (m *machine) rounds(n *node, c *context, trips int) bool {
	l := n.rounds
	if l == nil || !m.keeps || len(c.states) < 2 || l.failed >= mostRounds || !l.sizes(m, n, trips) {
		return false
	}
	s, once, last := c.states[0], false, -1 // the last is the round whose end the second level is to be
	for y := range trips {
		gone := l.look(m, n, y) && y > 0
		if gone && l.after >= l.far && (once || l.ahead >= l.far) && l.failed < mostRounds && l.round(m, n, c, y) {
			once, last = true, y
		} else {
			if last >= 0 {
				l.rebuild(m, n, c, last)
				last = -1
			}
			before := sum(s.misses)
			m.slots[n.slot] = y
			m.run(n.body, c)
			once = gone && sum(s.misses)-before == uint64(l.lines)
		}
		if n.progress != nil {
			n.progress(float64(y+1) / float64(trips))
		}
	}
	if last >= 0 {
		l.rebuild(m, n, c, last)
	}
	return true
}

func sum(list []uint64) (all uint64) {
	for _, n := range list {
		all += n
	}
	return all
}

// sizes finds how large the rounds are, and reports whether they go through more than the levels have room for.
func (l *rounds) sizes(m *machine, n *node, trips int) bool {
	shift, own := m.levels[0].Shift, l.row.base.coef(l.passes.slot)
	m.slots[n.slot], m.slots[l.passes.slot], m.slots[l.loop.slot] = 0, 0, 0
	l.times = l.passes.trips(m.slots)
	if l.trips = l.loop.trips(m.slots); l.trips == 0 || l.times == 0 {
		return false
	}
	by := l.row.stride * (l.trips - 1)
	l.start, l.extent = l.row.base.at(m.slots)+min(by, 0), max(by, -by)
	if l.extent >= own || own-l.extent > 1<<shift {
		return false // rows meet, or lines lie between them
	}
	holes := 0 // of what rests in two rounds
	for i := range l.rests {
		lines := max(l.rests[i].stride, -l.rests[i].stride)*(l.trips-1)>>shift + 2
		holes += 2 * (lines/m.levels[1].Sets + 1)
	}
	passes := func(ways, sets int) int { return ((ways+1)*sets+8)<<shift/own + 1 } // in two stretches, some lines at their ends not among them
	l.near, l.far = passes(m.levels[0].Ways, m.levels[0].Sets), passes(m.levels[1].Ways+holes, m.levels[1].Sets)
	return l.times >= l.near+l.far+2 && trips > 3
}

// look finds where everything is in a round, behind the one that was looked at before, and reports whether all its lines are gone in
// the first level.
func (l *rounds) look(m *machine, n *node, y int) bool {
	shift, own := m.levels[0].Shift, l.row.base.coef(l.passes.slot)
	m.slots[n.slot], m.slots[l.passes.slot], m.slots[l.loop.slot] = y, 0, 0
	rows := reachFrom(l.start, own*(l.times-1)+l.extent, shift)
	l.before, l.here = l.here, l.before[:0]
	l.lines, l.ahead, l.after = rows.high-rows.low+1, l.times, l.times
	apart := true // from all that was looked at
	for _, r := range l.before {
		if rows.meets(r) {
			l.ahead = min(l.ahead, floorDiv(r.low<<shift-l.start-l.extent, own))
		}
	}
	for i := range l.rests {
		r := reachFrom(l.rests[i].base.at(m.slots), l.rests[i].stride*(l.trips-1), shift)
		apart = apart && !slices.ContainsFunc(l.before, r.meets)
		switch {
		case rows.meets(r): // of lines ahead of the rows there are more
			l.after = min(l.after, l.times-1-floorDiv((r.high+1)<<shift-l.start, own))
		case !slices.ContainsFunc(l.here, r.meets): // or some are
			l.lines += r.high - r.low + 1
		}
		l.here = append(l.here, r)
	}
	return apart && l.besides(m, n, rows) && min(l.ahead, l.after) >= l.near
}

// besides adds the lines of what is on one in each pass, and reports whether these are in the row, or its own.
func (l *rounds) besides(m *machine, n *node, rows reach) bool {
	var seen []reach
	for i := range l.beside {
		at, own, with := l.beside[i].base.at(m.slots), l.beside[i].base.coef(l.passes.slot), l.beside[i].base.coef(n.slot)
		if off := at - l.start; own == l.row.base.coef(l.passes.slot) && off >= 0 && off <= l.extent {
			continue
		}
		with = max(with, -with)
		r := reachFrom(at-with, own*(l.times-1)+2*with, m.levels[0].Shift)
		if own < 1<<m.levels[0].Shift+with || rows.meets(r) || slices.ContainsFunc(seen, r.meets) ||
			slices.ContainsFunc(l.here, r.meets) || slices.ContainsFunc(l.before, r.meets) {
			return false
		}
		seen = append(seen, r)
		l.lines += l.times
	}
	return true
}

// round runs a round in the first level, and reports whether all that misses there misses in the second; else the
// first is what it was.
func (l *rounds) round(m *machine, n *node, c *context, y int) bool {
	s, t := c.states[0], c.states[1]
	l.tags, l.misses = append(l.tags[:0], s.tags...), append(l.misses[:0], s.misses...)
	near := m.near()
	if l.alone == nil {
		l.alone = near.loopOf(near.program, n.slot)
	}
	copy(near.slots, m.slots)
	near.slots[n.slot] = y
	s.owner = 0
	near.run(l.alone.body, near.context())
	s.owner = 0
	if sum(s.misses)-sum(l.misses) != uint64(l.lines) {
		copy(s.tags, l.tags)
		copy(s.misses, l.misses)
		l.failed++
		return false
	}
	for op, before := range l.misses {
		t.misses[op] += s.misses[op] - before
	}
	m.did.Rounds++
	return true
}

// rebuild makes the second level what a round leaves at whose end the first is. Their misses were counted.
func (l *rounds) rebuild(m *machine, n *node, c *context, y int) {
	at := len(m.saved)
	for _, s := range c.states {
		m.saved = append(m.saved, s.misses...)
	}
	m.slots[n.slot] = y
	m.iterations(l.passes, c, max(0, l.times-l.near-l.far-2), l.times, true)
	saved := m.saved[at:]
	for _, s := range c.states {
		copy(s.misses, saved)
		saved = saved[len(s.misses):]
	}
	m.saved = m.saved[:at]
}

// loopOf is the loop among nodes whose counter is in a slot.
func (m *machine) loopOf(list []*node, slot int) *node {
	for _, n := range list {
		if n.kind == loop && n.slot == slot {
			return n
		}
		if c := m.loopOf(slices.Concat(n.body, n.orelse), slot); c != nil {
			return c
		}
	}
	return nil
}
