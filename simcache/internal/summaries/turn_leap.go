package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Where all that goes on from lap to lap does so by whole turns of the sets in so many laps, a period, all is in the
// same sets a period later. So if a period's laps were all counted, the laps of others miss as often: what decides, but for
// sets, is which lines are the same, and in which order they lie. What goes on by as much keeps that; of what does not no two
// may have a line in common in all of these laps, nor any with the row.

// periodOf is after how many laps all is in the same sets; 0 if branches decide, too.
func (t *turning) periodOf(n *node, l *slide, span int) int {
	branches := func(v visit) bool { return v.branch != nil }
	if slices.ContainsFunc(l.ahead, branches) || slices.ContainsFunc(l.behind, branches) {
		return 0
	}
	period := span / nest.GCD(span, l.refs[t.column].base.coef(n.slot))
	for i := range l.places {
		period = max(period, span/nest.GCD(span, l.places[i].coef(n.slot)))
	}
	return period
}

// leapTurns counts the laps of whole periods from one on, up to an end, and returns where it stopped, where those of the
// period before were all counted.
func (l *slide) leapTurns(m *machine, n *node, c *context, y, to int) int {
	t, misses := l.turning, c.states[0].misses
	if t.mark < 0 || y-t.mark > t.laps {
		t.mark, t.counted = y, append(t.counted[:0], misses...)
	}
	if t.laps == 0 || y-t.mark != t.laps {
		return y
	}
	periods := (to - y) / t.laps
	first := t.mark
	if t.mark = -1; periods == 0 || !t.decided || !l.keepOrder(m, n, first-1, to-1) {
		return y
	}
	for i, before := range t.counted {
		misses[i] += (misses[i] - before) * uint64(periods)
	}
	by := periods * t.laps
	for i := range t.last {
		t.last[i].y += by
		t.last[i].here += by * l.refs[t.column].base.coef(n.slot) >> m.levels[0].Shift
	}
	y += by
	l.look(m, n, y-1, to)
	t.here = l.refs[t.column].base.at(m.slots) >> m.levels[0].Shift
	l.before, l.here = l.here, l.before
	m.did.Turned += by
	m.did.Leapt += by
	return y
}

// keepOrder reports whether no two places that go on by different steps have a line in common from one lap to another,
// nor any with the row.
func (l *slide) keepOrder(m *machine, n *node, from, to int) bool {
	t, shift := l.turning, m.levels[0].Shift
	for i := range l.places {
		box := m.reachOf(&l.places[i], n.slot, from, to, 0, shift)
		for q := range i {
			if l.places[q].coef(n.slot) != l.places[i].coef(n.slot) && box.meets(m.reachOf(&l.places[q], n.slot, from, to, 0, shift)) {
				return false
			}
		}
		if t.row >= 0 && box.meets(m.reachOf(&l.refs[t.row].base, n.slot, from, to, l.refs[t.row].stride*(t.trips-1), shift)) {
			return false
		}
	}
	return true
}
