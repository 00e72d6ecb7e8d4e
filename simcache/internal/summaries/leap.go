package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// From one period of a slide's laps to the next, all that rests, or is ahead or behind, goes on by
// whole lines, and so does the end of each row. So what follows for a lap follows for the one a
// period later, as long as no two of these lines come to lie in another order. The misses of
// the periods are a row of numbers, each more than the one before by as much: of what
// lies between the first and the last, that have to be looked at, they need not be counted.
//
// The conditions. The laps' lengths are a function of the loop around, and all branches take the
// same way in all of these laps. Then each line that [slide.boundary] and [slide.count]
// compare goes on by as much from period to period. If in the last one any two are in the order
// that they are in in the first, one below, at or above the other, they are in all between.

// fewestLeapt is how many periods are leapt over at least, with the first and the last.
const fewestLeapt = 4

// periodOf is after how many laps all goes on by whole lines; 0 if that is not known.
func (l *slide) periodOf(m *machine, n *node) int {
	if len(l.loop.spans) > 1 || l.loop.step != 1 {
		return 0
	}
	line, period := 1<<m.levels[0].Shift, 1
	own := l.loop.spans[0].coef(n.slot)
	for i := range l.places {
		period = max(period, line/nest.GCD(line, l.places[i].coef(n.slot)))
	}
	for i := range l.refs {
		if r := &l.refs[i]; r.place < 0 && !r.column {
			period = max(period, line/nest.GCD(line, r.stride*own))
		}
	}
	return period
}

// leap counts laps from one on, as many as it can, up to an end, and returns where it stopped.
func (l *slide) leap(m *machine, n *node, c *context, y, to int) int {
	m.slots[n.slot] = y - 1 // what is behind in the lap before counts, too
	periods := (m.steadyAll(l.tail, n.slot, m.steadyAll(l.head, n.slot, to-y+1)) - 1) / l.period
	if l.leapAt = y + l.period; periods < fewestLeapt {
		return y
	}
	at := len(m.saved)
	defer func() { m.saved = m.saved[:at] }()
	misses := c.states[0].misses[n.opLow-c.states[0].opLow:][:n.opHigh-n.opLow]
	m.saved = append(m.saved, misses...)
	if l.order = l.order[:0]; !l.ordered(m, n, c, y, y+l.period) {
		copy(misses, m.saved[at:])
		l.backTo(m, n, y)
		return y
	}
	m.saved = append(m.saved, misses...)
	l.first, l.order = append(l.first[:0], l.order...), l.order[:0]
	last := y + (periods-1)*l.period
	l.backTo(m, n, last)
	if !l.ordered(m, n, c, last, last+l.period) || !slices.Equal(l.first, l.order) {
		copy(misses, m.saved[at+len(misses):])
		l.backTo(m, n, y+l.period)
		l.leapAt = (y + last) / 2
		return y + l.period
	}
	for i, before := range m.saved[at:][:len(misses)] {
		misses[i] = before + (misses[i]-before)*uint64(periods)/2 // of the first and the last, so often half of it
	}
	m.did.Slid += (periods - 2) * l.period
	m.did.Leapt += (periods - 2) * l.period
	return last + l.period
}

// backTo makes the lap before one what was looked at last.
func (l *slide) backTo(m *machine, n *node, y int) {
	l.look(m, n, y-1, y)
	l.before, l.here = l.here, l.before
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

// ordered counts laps from one to an end, puts down in which order their lines are, and reports
// whether it could.
func (l *slide) ordered(m *machine, n *node, c *context, y, end int) bool {
	for y < end {
		same := l.look(m, n, y, end)
		for _, times := range []int{1, same - 1} {
			if times == 0 {
				break
			}
			if !l.boundary(m, n, y, times) {
				return false
			}
			l.count(m, n, c, y, times)
			l.putOrder(m, n, y, times)
			y += times
			l.before, l.here = l.here, l.before
			l.here.copyFrom(&l.before)
		}
	}
	return true
}

// putOrder puts down in which order the lines are that are compared for so many laps.
func (l *slide) putOrder(m *machine, n *node, y, times int) {
	low, high := l.between(m, n, y-1, y+times-1)
	for i, a := range l.before.lines {
		l.putSigns(a, l.before.lines[:i])
		l.putSigns(a, l.here.lines)
		l.putSigns(l.here.lines[i], l.here.lines[:i])
	}
	for i := range l.refs {
		r := &l.refs[i]
		if r.place >= 0 || r.column {
			continue
		}
		start, end := r.reach(m, 0, l.flood-1), r.reach(m, low-1-l.flood, high-1)
		for _, list := range [2][]int{l.before.lines, l.here.lines} {
			l.putSigns(start.low, list)
			l.putSigns(start.high, list)
			l.putSigns(end.low, list)
			l.putSigns(end.high, list)
		}
		for k := range times {
			all := r.reach(m, 0, l.tripsAt(m, n, y+k)-1)
			l.putSigns(all.low, l.here.lines[:l.rests])
			l.putSigns(all.high, l.here.lines[:l.rests])
		}
	}
}

// putSigns puts down whether a number is below others, at them, or above.
func (l *slide) putSigns(a int, list []int) {
	for _, b := range list {
		l.order = append(l.order, int8(min(1, max(-1, a-b))))
	}
}
