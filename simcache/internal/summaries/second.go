package summaries

import "slices"

// The second level is asked for what misses in the first. What that is, of an
// instance of a unit, is decided by its stream of lines and by which of its heads
// miss, since the outcome of all other accesses is known. So a summary of what the
// instance does to the second level stands for all instances with that stream,
// modulo the spans of both levels, and these outcomes.
//
// It is made by running the instance where the first level is what it is, and the
// second begins empty. Streams seldom come back modulo the span of a second level,
// but for the iterations in which all references stay in their lines: a few
// summaries for each unit are enough, and most are applied again at once.

// A second is a summary of the second level.
type second struct {
	entry
	relative []int    // the references' places modulo the span of the second level
	outcome  []uint64 // by row that the first level's summary touched: which heads miss
}

const seconds = 16

// deep runs iterations in two levels, by a summary of the second.
func (m *machine) deep(n *node, c *context, y, trips int, chunk bool) {
	u, s := n.unit, c.states[0]
	if u.seldom() {
		m.iterations(n, c, y, y+trips, false)
		return
	}
	e := m.fetch(n, y, trips, chunk)
	if e == nil {
		m.iterations(n, c, y, y+trips, false)
		return
	}
	u.deep++
	u.placeIn(m, y)
	u.boxes(m, n, y, trips)
	m.outcomes(s, e)
	m.relative = m.relative[:0]
	for _, b := range u.base {
		m.relative = append(m.relative, modulo(b-u.base[0], m.levels[1].Sets<<m.levels[1].Shift))
	}
	v := u.findSecond(m, trips)
	if v == nil {
		if v = m.recordSecond(n, c, y, trips, chunk); v == nil {
			m.parts(n, c, y, trips, chunk)
			return
		}
	} else {
		if !slices.Equal(v.base, u.base) {
			u.shift(m, &v.entry)
		}
		m.apply(s, e.summary, nil)
		m.did.SecondAgain++
		u.deepHits++
	}
	m.apply(c.states[1], v.summary, nil)
}

// seldom reports whether summaries of the second level were seldom of use: making
// one takes about as long as running its accesses twice.
func (u *unit) seldom() bool { return u.deep > 60 && 2*u.deepHits < u.deep }

// outcomes finds which heads of a summary miss in a level that is known.
func (m *machine) outcomes(s *state, e *entry) {
	off := modulo(int(e.turn)-int(s.turn), s.sets)
	m.outcome = m.outcome[:0]
	for _, row := range e.touched {
		m.lines = append(m.lines[:0], s.tags[s.opposite(row, off)*s.ways:][:s.ways]...)
		m.outcome = append(m.outcome, meet(m.lines, e.heads[int(row)*s.ways:][:e.count[row]]))
	}
}

// findSecond returns the unit's summary of such an instance, if there is one.
func (u *unit) findSecond(m *machine, trips int) *second {
	for i, v := range u.seconds {
		if v == nil {
			return nil
		}
		if v.busy || v.trips != trips || !slices.Equal(v.relative, m.relative) || !slices.Equal(v.outcome, m.outcome) || !slices.Equal(v.key, u.key) {
			continue
		}
		if !slices.Equal(v.base, u.base) && !u.moves(m, &v.entry) {
			continue
		}
		copy(u.seconds[1:i+1], u.seconds[:i])
		u.seconds[0] = v
		return v
	}
	return nil
}

// recordSecond runs the instance in the first level as it is, and in a second that
// is empty. It returns nil, and has run nothing, if all summaries of the unit are
// being made.
func (m *machine) recordSecond(n *node, c *context, y, trips int, chunk bool) *second {
	u := n.unit
	i := min(len(u.seconds)-1, max(1, mostSecond/stateSize(m.levels[1])))
	for i >= 0 && u.seconds[i] != nil && u.seconds[i].busy {
		i--
	}
	if i < 0 {
		return nil
	}
	v := u.seconds[i]
	if v == nil {
		v = &second{entry: entry{level: 1, summary: newSummary(newState(m.levels[1], u.opLow, u.opHigh))}}
	}
	copy(u.seconds[1:i+1], u.seconds[:i])
	u.seconds[0] = v
	v.key, v.base = append(v.key[:0], u.key...), append(v.base[:0], u.base...)
	v.low, v.hig = append(v.low[:0], u.low...), append(v.hig[:0], u.hig...)
	v.relative, v.outcome = append(v.relative[:0], m.relative...), append(v.outcome[:0], m.outcome...)
	v.trips, v.busy = trips, true
	v.reset()
	v.forget()
	v.id, v.cleanFrom = m.newID(), m.clock
	v.context.states = append(v.context.states[:0], c.states[0], v.state)
	m.parts(n, &v.context, y, trips, chunk)
	v.clean()
	v.cleanFrom, v.busy = m.clock, false
	m.did.Second++
	return v
}
