package summaries

import "slices"

// Laps may be too short to flood a class, as all are at first where they are as long as the counter of the loop
// around them: a class is flooded by some runs of laps, each with other lines of the column. These are run.
//
// The conditions of longer laps hold, but that what is flooded is so by as many laps as it takes; and what misses where
// lines of the column come again. A line of the column that came in the lap before, in the same iteration, is found
// there if less lines than ways came to its set since: all others of the column that do, of the row, and of what rests, or is
// ahead or behind, in between, each once. What rests, and was in another line in the lap before, came ahead or behind, or not,
// where the column, or the row, is in that set at the end of a lap, or at its start; so does the row's first line, or its
// last, if it is on that for one iteration: if that decides, the lap is run.
//
// Laps as long as others in other instances have summaries that come again: only those whose length depends on a loop
// around are counted in that way.

// mostEnded is how many runs of laps flood all classes at most: so many have to be run, and run again for what they leave.
const mostEnded = 16

// least is how many iterations a lap must have.
func (t *turning) least(l *slide, ways int) int {
	if t.grows || !l.loop.varies {
		return t.full
	}
	for lines := 1; lines < ways; lines++ {
		if t.every*((ways+lines-1)/lines) <= mostEnded {
			return max(lines*t.period, l.need+t.period)
		}
	}
	return t.full
}

// runLaps runs a lap, or, where it is short, all that touch the same lines, of which there are so many, and returns
// how many it ran.
func (l *slide) runLaps(m *machine, n *node, c *context, y, same int) int {
	if t := l.turning; l.tripsAt(m, n, y) >= t.full || same <= len(c.states)+1 {
		m.slots[n.slot] = y
		m.run(n.body, c)
		return 1
	}
	m.repeat(n, c, y, same)
	return same
}

// comes notes that the column came to a class, in a lap of so many iterations.
func (t *turning) comes(class, trips int) {
	if t.from != t.here {
		t.came[class] += trips / t.period
	}
}

// columnTurns returns how many lines of the column miss that came in the lap before, too.
func (l *slide) columnTurns(m *machine, trips int, all reach) (missed int) {
	t, sets, ways := l.turning, m.levels[0].Sets, m.levels[0].Ways
	if trips >= t.full {
		return trips
	}
	step := l.refs[t.column].stride >> m.levels[0].Shift
	for k := range min(t.period, trips) {
		set := t.here + k*step
		visits := t.visits(k, trips)
		others := visits - 1 + l.besidesIn(set, sets-1, all)
		if others >= ways {
			missed += visits
			t.unsure = t.unsure || others-l.moved(set, sets-1)-l.passed(m, set, trips, all) < ways
		}
	}
	return missed
}

// besidesIn is how many lines are in a set that come between two laps' iterations, but those of the column.
func (l *slide) besidesIn(set, mask int, all reach) (lines int) {
	for _, line := range l.turning.between {
		if (line-set)&mask == 0 {
			lines++
		}
	}
	return lines + alike(all.low, all.high, set&mask, mask+1)
}

// moved is how many lines are in a set that something rests in, in this lap or in the one before, but not in both.
func (l *slide) moved(set, mask int) (lines int) {
	for i, was := range l.before.lines[:l.rests] {
		if is := l.here.lines[i]; is != was {
			for _, line := range [2]int{was, is} {
				if (line-set)&mask == 0 {
					lines++
				}
			}
		}
	}
	return lines
}

// atEnds is how many lines something rests in, now or before, that are in the set of the row's first line, or its last, and
// may not come in between where the row is on that line.
func (l *slide) atEnds(line, mask int, all reach) (lines int) {
	for i, was := range l.before.lines[:l.rests] {
		is := l.here.lines[i]
		if was == is {
			continue
		}
		if (is-line)&mask == 0 && line == all.low && l.turning.leads>>i&1 == 0 {
			lines++
		}
		if (was-line)&mask == 0 && line == all.high && l.turning.trails>>i&1 == 0 {
			lines++
		}
	}
	return lines
}

// passed is how many lines of the row are in a set that it is on for one iteration, the first or the last. Where the
// column comes to the set in that, too, ahead of the row and behind, the line does not come in between.
func (l *slide) passed(m *machine, set, trips int, all reach) (lines int) {
	if l.turning.row < 0 {
		return 0
	}
	r, mask := &l.refs[l.turning.row], m.levels[0].Sets-1
	if (all.low-set)&mask == 0 && r.reach(m, 1, 1).low > all.low {
		lines++
	}
	if (all.high-set)&mask == 0 && r.reach(m, trips-2, trips-2).high < all.high {
		lines++
	}
	return lines
}

// aheadTurns takes back that a line misses if it does not, which was touched ahead of a lap and not since, though all
// that laps lap has came; and reports whether that is known.
func (l *slide) aheadTurns(m *machine, line int, of *lap, column int) bool {
	t, mask := l.turning, m.levels[0].Sets-1
	least := 0
	if k := t.visit[(line-column)&mask]; k >= 0 {
		least = t.visits(k, t.trips)
	}
	if t.row >= 0 {
		all := l.refs[t.row].reach(m, 0, t.trips-1)
		least += alike(all.low, all.high, line&mask, mask+1)
	}
	if least >= m.levels[0].Ways {
		return true
	}
	l.missed = l.missed[:len(l.missed)-1]
	return least+l.placesIn(line, of, mask) < m.levels[0].Ways
}

// placesIn is how many lines places are in, of this lap and another, that are in the set of a line, but that.
func (l *slide) placesIn(line int, of *lap, mask int) int {
	at := len(l.recent)
	for _, lines := range [2][]int{of.lines, l.here.lines} {
		for _, other := range lines {
			if other != line && (other-line)&mask == 0 && !slices.Contains(l.recent[at:], other) {
				l.recent = append(l.recent, other)
			}
		}
	}
	n := len(l.recent) - at
	l.recent = l.recent[:at]
	return n
}
