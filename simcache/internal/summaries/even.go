package summaries

// Where each column of a flood fills the sets that it comes to by itself, more than once, the
// passes that follow need not be looked at one by one, as long as everything goes on evenly.
//
// The conditions, beside those of [flood.follows], which the pass before had. Every set was
// flooded by a pass that is remembered, so that what none of these touched, or of those that
// follow, is absent. All that moves are columns that bring at least one line more than there are
// ways to each set that they come to: one that is where it was in the pass before finds its
// lines gone. From the first pass that is remembered to the last that is counted, no column
// shares a line with another, or with a single, nor do two singles of different addresses share
// one. A column goes on by less than its step, so that it is on lines of its own
// whenever it is elsewhere. A single goes on in one direction, and misses on each line that is
// new to it; on one that it was on in the pass before it hits if it rests in the innermost
// loop, as it must if it may be on a line twice.

const (
	fewestEven = 24 // passes that are counted at once, of which the last ones are remembered
	lookAgain  = 16 // iterations after which it is tried again, where it could not be done
)

// A hull is the lines that an access may touch.
type hull struct{ low, high int }

// meets reports whether two may share a line.
func (h hull) meets(o hull) bool { return h.low <= o.high && o.low <= h.high }

// goOn counts passes of the loop behind iteration y, which was counted last, up to end, as many as
// it can, and returns how many.
func (f *flood) goOn(m *machine, n *node, c *context, y, end int) int {
	times := end - 1 - y
	if times < fewestEven || y < f.look {
		return 0
	}
	if f.look = y + lookAgain; !f.even(m, n, f.passes[0].y, end-1) || !f.endsWith(m, n, end) {
		return 0
	}
	s := c.states[0]
	for i := range f.moves {
		s.misses[f.moves[i].op-s.opLow] += uint64(times * f.trips)
	}
	for i := range f.singles {
		if v := &f.singles[i]; f.here.first[i] {
			s.misses[v.op-s.opLow] += uint64(f.lines(m, n, &v.addr, y, end-1))
		}
	}
	m.did.Ahead += times
	return times
}

// endsWith makes the passes that are remembered the last ones ahead of an iteration, and reports
// whether they flood every set; if not, they are what they were.
func (f *flood) endsWith(m *machine, n *node, end int) bool {
	f.before = append(f.before[:0], f.passes...)
	f.passes = f.passes[:0]
	var p pass
	for z := end - fewestEven; z < end; z++ {
		f.at(m, n, z, &p)
		f.floodsAll(m, &p)
		f.remember(&p)
	}
	if !f.knowsAll() {
		f.passes = append(f.passes[:0], f.before...)
		return false
	}
	return true
}

// knowsAll reports whether every set was flooded by a pass that is remembered.
func (f *flood) knowsAll() bool {
	known := uint64(0)
	for i := range f.passes {
		known |= f.passes[i].flooded
	}
	return known == ^uint64(0)>>(64-f.classes)
}

// lines is how many lines an address is new to in iterations behind the first, up to the last.
func (f *flood) lines(m *machine, n *node, a *affine, first, last int) int {
	own := a.coef(n.slot)
	if own >= 1<<m.levels[0].Shift || -own >= 1<<m.levels[0].Shift {
		return last - first
	}
	h := f.hullOf(m, n, a, 0, first, last)
	return h.high - h.low
}

// hullOf is that of an address that goes on by so much, in iterations first to last.
func (f *flood) hullOf(m *machine, n *node, a *affine, by, first, last int) hull {
	m.slots[f.loop.slot] = 0
	return hull(m.reachOf(a, n.slot, first, last, by, m.levels[0].Shift))
}

// even reports whether everything goes on evenly in iterations first to last.
func (f *flood) even(m *machine, n *node, first, last int) bool {
	if !f.knowsAll() {
		return false
	}
	for i := range f.moves {
		v := &f.moves[i]
		starts, all := f.hullOf(m, n, &v.base, 0, first, last), f.hullOf(m, n, &v.base, v.stride*(f.trips-1), first, last)
		if v.run > 1 || f.trips/v.period <= m.levels[0].Ways || starts.high-starts.low >= v.step {
			return false
		}
		for k := range f.moves[:i] {
			w := &f.moves[k]
			others := f.hullOf(m, n, &w.base, 0, first, last)
			if all.meets(f.hullOf(m, n, &w.base, w.stride*(f.trips-1), first, last)) &&
				(v.step != w.step || floorDiv(starts.high-others.low, v.step) != floorDiv(starts.low-others.high-1, v.step)) {
				return false
			}
		}
		for k := range f.singles {
			if all.meets(f.hullOf(m, n, &f.singles[k].addr, 0, first, last)) {
				return false
			}
		}
	}
	return f.evenSingles(m, n, first, last)
}

// evenSingles is even for singles alone.
func (f *flood) evenSingles(m *machine, n *node, first, last int) bool {
	line := 1 << m.levels[0].Shift
	for i := range f.singles {
		a := &f.singles[i].addr
		if own := a.coef(n.slot); f.here.sides[i]>>within&1 == 0 && own < line && -own < line {
			return false
		}
		for k := range f.singles[:i] {
			if b := &f.singles[k].addr; !a.same(b) && f.hullOf(m, n, a, 0, first, last).meets(f.hullOf(m, n, b, 0, first, last)) {
				return false
			}
		}
	}
	return true
}

// floorDiv is a divided by b, rounded down.
func floorDiv(a, b int) int { return (a - modulo(a, b)) / b }
