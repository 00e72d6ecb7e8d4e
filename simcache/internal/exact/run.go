package exact

import "math/bits"

func trailing(w uint64) int { return bits.TrailingZeros64(w) }

// A context is the levels that something runs on: all levels, or the first one, for a summary of
// it.
type context struct {
	states []*state
	sliced bool
	lines  []uint32 // queued for the second level
	ops    []uint16
	logs   []uint64 // a bit for each row whose log is queued; nil if a log receives it
	heads  []uint64 // a bit for each row whose heads, all of them, are queued before
}

func (c *context) over() bool { return c.states[0].log != nil && c.states[0].log.over }

// touch makes an access that lies in one line of every level.
func (c *context) touch(addr, op int) {
	for _, s := range c.states {
		if !s.touch(uint32(addr>>s.shift)+1, op) {
			return
		}
	}
}

func (m *machine) run(nodes []*node, c *context) {
	for _, n := range nodes {
		switch n.kind {
		case access:
			m.access(n, c)
		case branch:
			if n.holds(m.slots) {
				m.run(n.body, c)
			} else {
				m.run(n.orelse, c)
			}
		default:
			m.instance(n, c)
		}
	}
}

func (m *machine) access(n *node, c *context) {
	addr := n.addr.at(m.slots)
	if n.straddles {
		c.straddle(addr, n.width, n.op)
	} else {
		c.touch(addr, n.op)
	}
}

// straddle makes an access that may lie in several lines. If any is absent at a level, it misses
// there once, and the next level is asked for the same bytes. No summary has such accesses, so the
// states are levels with known outcomes.
func (c *context) straddle(addr, width, op int) {
	for _, s := range c.states {
		absent := false
		for line := addr >> s.shift; line <= (addr+width-1)>>s.shift; line++ {
			absent = s.bring(uint32(line)+1) || absent
		}
		if !absent {
			return
		}
		s.misses[op-s.opLow]++
	}
}

func (m *machine) instance(n *node, c *context) {
	trips := n.trips(m.slots)
	if trips == 0 || c.over() {
		return
	}
	u, touches := n.unit, 0.0
	if u != nil && m.keeps {
		touches = m.estimate(n, trips)
	}
	switch {
	case u == nil || n.light || touches < m.threshold || c.states[0].fewer != nil:
		m.iterations(n, c, 0, trips, false)
	case len(c.states) > 1 && !m.deep || touches >= u.big:
		m.iterations(n, c, 0, trips, touches >= u.big)
	case n.solo != nil && !n.solo.off():
		m.alone(n, c, trips)
	case n.tiny != nil && !n.tiny.without.unit.off:
		m.pieces(n, c, 0, trips)
	case !u.off:
		m.stretch(n, c, 0, trips, false)
	default:
		m.iterations(n, c, 0, trips, false)
	}
}

func (m *machine) stretch(n *node, c *context, y, trips int, chunk bool) {
	e := m.fetch(n, y, trips, chunk)
	if e == nil {
		m.iterations(n, c, y, y+trips, false)
		return
	}
	m.apply(c, e.summary, nil)
}

// iterations runs iterations y to end of a loop, by chunks if allowed.
func (m *machine) iterations(n *node, c *context, y, end int, chunks bool) {
	if u := n.unit; chunks && u != nil && u.period > 0 && !u.off {
		m.slots[n.slot] = y
		y = m.chunks(n, c, y, end, m.each(n))
	}
	if n.inner {
		m.sweep(n, c, y, end)
		return
	}
	same := 0 // number of iterations from y on known to touch the same lines
	for ; y < end && !c.over(); y++ {
		if same == 0 {
			same = n.sameFrom(m, y, end)
			if same > len(c.states)+1 && c.states[0].rowMisses == nil {
				m.repeat(n, c, 0, same, func(i int) {
					m.slots[n.slot] = y + i
					m.run(n.body, c)
				})
				y, same = y+same-1, 0
				continue
			}
		}
		same--
		m.slots[n.slot] = y
		m.run(n.body, c)
		if n.progress != nil {
			n.progress(float64(y+1) / float64(end))
		}
	}
}

// chunks runs a loop by strip-mining, if that pays: in chunks of its period and its doubles, the
// largest first. It returns the first iteration that was not run.
func (m *machine) chunks(n *node, c *context, y, end int, each float64) int {
	least := n.unit.period
	for !n.inner && each*float64(least) < m.threshold && 2*least <= end-y {
		least *= 2
	}
	if each*float64(least) < m.threshold || each*float64(least) >= n.unit.big || end-y < least {
		return y
	}
	size := least
	few := 16 // chunks of one size: applying them takes no longer than composing them
	if m.deep {
		few = 1
	}
	most := n.unit.big
	if m.deep {
		most = min(most, 40*m.threshold) // its miss stream is made each time, so it must be short
	}
	for few*size < end-y && 2*size <= end-y && each*float64(2*size) < most {
		size *= 2
	}
	for ; size >= least; size /= 2 {
		for y+size <= end {
			m.stretch(n, c, y, size, true)
			y += size
			if n.progress != nil {
				n.progress(float64(y) / float64(end))
			}
		}
	}
	return y
}

// sameFrom returns how many iterations from y on, up to end, touch the lines of iteration y in the
// same order, or 1 if unknown. In these, no reference leaves the range in which rounding hides the
// unit's induction variable.
func (n *node) sameFrom(m *machine, y, end int) int {
	u := n.unit
	if u == nil || !u.fixed || !m.keeps {
		return 1
	}
	same := end - y
	for i := range u.refs {
		r := &u.refs[i]
		if r.own != 0 {
			same = min(same, stays(r.out.at(m.slots)+r.own*y, r.own, r.within))
		}
		if same == 1 {
			return 1
		}
	}
	return same
}

// repeat runs iterations of a loop that touch the same lines, the i-th by run(i).
//
//  1. The first iteration leaves the first level with its lines on top. Each later one finds this
//     state and leaves it unchanged.
//  2. So each later iteration sends the second level the same misses. Its state is final one
//     iteration later, and so on for each further level.
//  3. With n levels, iteration n+1 therefore misses as all later ones do.
//  4. None of these misses is a head. The iteration before touched the line, so the line can only
//     be absent from a set that has all its heads.
//
// A miss stream must be complete, which it is once an iteration adds nothing to it. If misses are
// counted by row, all are in the given one.
func (m *machine) repeat(n *node, c *context, row, times int, run func(i int)) {
	if times == 1 {
		run(0)
		return
	}
	size, log := n.opHigh-n.opLow, c.states[0].log
	at, i := len(m.saved), 0
	for ; i < times; i++ {
		m.saved = m.saved[:at]
		for _, s := range c.states {
			m.saved = append(m.saved, s.misses[n.opLow-s.opLow:][:size]...)
		}
		items := 0
		if log != nil {
			items = log.items
		}
		run(i)
		if i >= len(c.states) && (log == nil || log.items == items) {
			break
		}
	}
	left := uint64(max(0, times-i-1))
	for i, before := range m.saved[at:] {
		s := c.states[i/size]
		op := n.opLow - s.opLow + i%size
		more := left * (s.misses[op] - before)
		if s.misses[op] += more; s.rowMisses != nil {
			s.rowMisses[row*len(s.misses)+op] += more
		}
	}
	m.saved = m.saved[:at]
}

// estimate returns the approximate touches of an instance, each those of an iteration.
func (m *machine) estimate(n *node, trips int) float64 {
	if n.inner {
		return float64(trips)*n.inside.each + float64(len(n.inside.refs))
	}
	saved := m.slots[n.slot]
	m.slots[n.slot] = trips / 2
	e := m.each(n) * float64(trips)
	m.slots[n.slot] = saved
	return e
}

func (m *machine) each(n *node) float64 {
	if n.inner {
		return n.inside.each
	}
	return m.sum(n.body)
}

func (m *machine) sum(nodes []*node) float64 {
	sum := 0.0
	for _, n := range nodes {
		switch n.kind {
		case access:
			sum++
		case branch:
			sum += max(m.sum(n.body), m.sum(n.orelse))
		default:
			if trips := n.trips(m.slots); trips > 0 {
				sum += m.estimate(n, trips)
			}
		}
	}
	return sum
}
