package summaries

import "slices"

// Laps may be longer from one to the next, as below a diagonal, where what is accessed ahead of a lap and
// behind, or rests in it, is mostly where the row ends, or the column, and is in the lines of the next laps.
//
// The conditions, in place of those of laps that are as long ([turning]). There are no branches. What rests, or is ahead or
// behind, may be in the row's last lines, and in one place be where the column would be after the lap's
// last iteration: that line is new, and of the class that the lap floods, so it misses; in the next lap, if
// the column comes there, all of that is ahead of it. Other lines that are new must not be in the row of
// the lap before. What rests in a lap is there when the row comes to its line; what was touched at the end of the
// one before was touched last there, and not in the row's iterations: only what came behind that counts.
// All other lines of the row are as where laps are as long.
//
// If the next lap touches all that a lap does, what is in the sets does not tell whether that was made. It does
// if all places are in the same lines, and the column, which comes to the place behind its end then.

// mostEdge is how many of the row's last lines are looked up one by one.
const mostEdge = 4

// fewestGrowing is how many laps that grow are counted at least: some of each class are run. Of those that
// were run before, so many tell which classes were flooded.
const (
	fewestGrowing = 12
	mostBack      = 16
)

// growsBy reports whether a loop's laps grow alike, by iterations of one step, and makes a turning of that.
func (t *turning) growsBy(n *node, l *slide) bool {
	branches := func(v visit) bool { return v.branch != nil }
	if len(l.loop.spans) > 1 || l.loop.step != 1 || l.loop.spans[0].coef(n.slot) <= 0 || t.row < 0 ||
		slices.ContainsFunc(l.ahead, branches) || slices.ContainsFunc(l.behind, branches) {
		return false
	}
	column := &l.refs[t.column]
	end := column.base.plus(column.stride, l.loop.spans[0])
	for i := range l.places[l.rests:] {
		if l.places[l.rests+i].same(&end) {
			t.beyond = l.rests + i
		}
	}
	t.grows = true
	return true
}

// growing is where a loop's iterations, from one up to an end, can be counted as laps that grow.
func (m *machine) growing(n *node, c *context, y, end int) (from, to int) {
	l, ran := n.slide, m.ran
	m.ran = 0
	if l == nil || l.turning == nil || !l.turning.grows || !m.keeps || len(c.states) > 1 || c.states[0].rowMisses != nil {
		return end, end
	}
	t := l.turning
	from, to = l.long(m, n, end)
	if from = max(from, y-min(ran, mostBack)); to-max(from, y) < fewestGrowing || !l.apart(m, n, from, to) || !t.comesOnce(m, n, l, to-from) {
		return end, end
	}
	t.forget()
	for ; from < y; from++ {
		l.goesTo(m, n, from, to)
		t.comes(modulo(t.here, t.every), t.trips)
		l.before, l.here = l.here, l.before
	}
	return from, to
}

// goesTo finds where everything is in a lap, and keeps where the column was, and how long the one before was.
func (l *slide) goesTo(m *machine, n *node, y, to int) (before int) {
	t := l.turning
	l.look(m, n, y, to)
	t.from, t.here = t.here, l.refs[t.column].base.at(m.slots)>>m.levels[0].Shift
	before, t.trips = t.trips, l.tripsAt(m, n, y)
	return before
}

// comesOnce reports whether the column goes on by less, in so many laps, than it goes down.
func (t *turning) comesOnce(m *machine, n *node, l *slide, laps int) bool {
	r := &l.refs[t.column]
	own := r.base.coef(n.slot)
	return laps*max(own, -own)+1<<m.levels[0].Shift <= max(r.stride, -r.stride)
}

// turnGrowing is turn where laps grow.
func (m *machine) turnGrowing(n *node, c *context, from, to int) (y int) {
	l, t := n.slide, n.slide.turning
	l.given = 0
	for y = from; y < to && l.given < mostGiven; y++ {
		before := l.goesTo(m, n, y, to)
		class := modulo(t.here, t.every)
		if t.came[class] < m.levels[0].Ways || !l.grown(m, n, before) {
			l.resettle(m, n, c)
			m.slots[n.slot] = y
			m.run(n.body, c)
			l.given++
			t.comes(class, t.trips)
		} else {
			l.countTurned(m, c, t.trips, 1)
			l.given = max(0, l.given-1)
			m.did.Grown++
			if k := len(t.last); k > 0 && t.from == t.here && l.staysPut() {
				t.last[k-1].y = y
			} else if t.end(m, y, class, t.trips); len(t.last) > mostPasses {
				l.resettle(m, n, c)
			}
		}
		l.before, l.here = l.here, l.before
	}
	l.resettle(m, n, c)
	return y
}

// staysPut reports whether all places are in the lines that they were in in the lap before, but that behind the column.
func (l *slide) staysPut() bool {
	for i, line := range l.here.lines {
		if i != l.turning.beyond && line != l.before.lines[i] {
			return false
		}
	}
	return true
}

// grown is turns where laps grow: the one before had so many iterations.
func (l *slide) grown(m *machine, n *node, before int) bool {
	t := l.turning
	m.slots[l.loop.slot] = 0
	row := &l.refs[t.row]
	t.rowWas, t.rowIs = row.reach(m, 0, before-1), row.reach(m, 0, t.trips-1)
	return l.turns(m, n, t.trips) && l.rowGrows(m, before)
}

// rowGrows counts the lines of the row that miss, and reports whether that follows.
func (l *slide) rowGrows(m *machine, before int) bool {
	t, sets := l.turning, m.levels[0].Sets
	t.again = t.trips
	was, is, end := t.rowWas, t.rowIs, t.rowWas.high+1
	l.besides()
	t.between = slices.DeleteFunc(t.between, was.holds)
	// In a set to which the column comes once at most, these and no more are touched between two touches of a line.
	t.crowd = (is.high-is.low)/sets + 2 + l.elsewhere(was)
	for i := range l.places {
		for _, line := range [2]int{l.before.lines[i], l.here.lines[i]} {
			if is.holds(line) {
				end = min(end, line)
			}
		}
	}
	if t.crowd >= m.levels[0].Ways || is.high-end >= mostEdge || end <= is.low {
		return false
	}
	l.plainTurn(m, before, end-1)
	for line := end; line <= is.high; line++ {
		missed, known := l.edgeTurns(m, line)
		if !known {
			return false
		}
		if missed {
			t.missed++
		}
	}
	return true
}

// elsewhere is how many lines things are in, in this lap and the one before, that are neither in some lines of
// the row, nor behind the column.
func (l *slide) elsewhere(row reach) int {
	at := len(l.recent)
	for i := range l.places {
		for _, line := range [2]int{l.before.lines[i], l.here.lines[i]} {
			if i != l.turning.beyond && !row.holds(line) && !slices.Contains(l.recent[at:], line) {
				l.recent = append(l.recent, line)
			}
		}
	}
	n := len(l.recent) - at
	l.recent = l.recent[:at]
	return n
}

// plainTurn counts the lines of the row, up to one, that miss, in which nothing else is.
func (l *slide) plainTurn(m *machine, before, last int) {
	t, r, shift := l.turning, &l.refs[l.turning.row], m.levels[0].Shift
	low, was, is := t.rowWas.low, t.from&(t.every-1), t.here&(t.every-1)
	if is == was {
		t.missed = alike(low, last, was, t.every)
		return
	}
	at := r.base.at(m.slots)
	behind, ahead := (at+r.stride*(before-l.flood))>>shift-1, (at+r.stride*(l.flood-1))>>shift+1
	t.missed = alike(low, min(behind, last), was, t.every) + alike(max(ahead, low), last, is, t.every)
	l.linesTurn(m, at, low, min(ahead-1, last), is, before, t.rowWas)
	l.linesTurn(m, at, behind+1, last, was, before, t.rowWas)
}

// edgeTurns reports whether a line misses that is one of the last of the row, not the first, and whether that is known:
// where something rests on it, or was on it at the end of the lap before.
func (l *slide) edgeTurns(m *machine, line int) (missed, known bool) {
	t, r, ways := l.turning, &l.refs[l.turning.row], m.levels[0].Ways
	if slices.Contains(l.here.lines[:l.rests], line) {
		return false, true
	}
	if !l.before.has(l.before.behind, line) && !slices.Contains(l.before.lines[:l.rests], line) {
		return false, false
	}
	visits := 0
	if k := t.visit[(line-t.here)&(m.levels[0].Sets-1)]; k >= 0 {
		size := 1 << m.levels[0].Shift
		visits = t.visits(k, (line-t.rowIs.low)*(size/r.stride)-r.base.at(m.slots)&(size-1)/r.stride+t.ahead)
	}
	return visits >= ways, visits >= ways || visits+t.crowd < ways
}

// has reports whether some of a lap's accesses are on a line.
func (p *lap) has(list []visit, line int) bool {
	return slices.ContainsFunc(list, func(v visit) bool { return p.lines[v.place] == line })
}
