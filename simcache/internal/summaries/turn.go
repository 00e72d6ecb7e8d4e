package summaries

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A column that goes down by lines with a factor in common with the sets comes to a class of them
// only, to each so many-th, and floods that. From lap to lap it may turn to the next class, and
// come back: what walks along lines is found again in the one, and gone in the other, and where
// the column turns it depends on when either is in a set. That, too, follows from where they are.
//
// The conditions, beside those of a slide. All laps are as long, with one column and one row at
// most, which goes up and shares no line with what rests or is ahead or behind, in this lap or
// the one before. The column goes on by less in all laps together than it goes down, by a line
// at least: so it comes to a line in the same iteration of a run of laps, or never.
//
// So a line of the column misses: touched before in the lap before, with all others of its set since,
// or in none of these laps, and then its class must have been flooded in them. A line of the row
// was touched in the lap before, in the same iterations. Since then came to its set the column's
// lines behind these in the lap before, and those ahead of them in this one, all different; all
// other lines of the row that are in the set; and what rests, or is ahead or behind, in between.
// With ways of them it misses, with less it hits. What rests, or is ahead or behind, and was
// not touched in the lap before, nor in any, as it goes one way, misses where all classes
// have been flooded; where the last touch was ahead of a whole lap, all of that came since. Laps that
// are too short to flood a class are in turn_short.go.

// A turning is what a slide has where the column floods a class of sets.
type turning struct {
	every, period int         // classes, and iterations after which the column comes to a set again
	setBits       int         // of the number of sets, which is a power of two
	periodBits    int         // alike
	after, ahead  int         // from its iteration after the row's, and up to it, the column is in between
	leads, trails uint        // of what rests, a bit each: it comes ahead of the row in an iteration, and behind it
	visit         []int       // by set, counted from that of the first line: in which iteration; -1 if never
	column, row   int         // of refs; the row is -1 if there is none
	from, here    int         // scratch: the column's first line in the lap before, and in this one
	full          int         // so many iterations flood a class in one lap, in whichever two stretches; see turn_short.go
	came          []int       // scratch: by class, how many of the column's lines came to each of its sets, at least
	since         []int       // scratch: alike
	last          []ended     // scratch: laps that decide what is in the sets
	decided       bool        // scratch: they do so alone
	between       []int       // scratch: lines that are touched between two laps' rows
	missed, again int         // scratch: lines of the row, and of the column
	known         []rowMissed // scratch: by set of the column's first line
	age           int         // scratch: of what is known
	key           []int       // scratch
	unsure        bool        // scratch: what misses does not follow
	laps, mark    int         // after how many all is in the same sets, if that is known; scratch: since which one all were counted
	counted       []uint64    // scratch: misses until then

	// Where laps grow; see turn_grow.go.
	grows         bool
	beyond        int   // the place behind the column's end; -1 if there is none
	trips, crowd  int   // scratch
	rowWas, rowIs reach // scratch: the row's lines in the lap before, and in this one
}

// A rowMissed is how many lines of a row miss, by where the columns of two laps are, and what is touched
// between their rows, modulo the sets, and by what rests elsewhere than in the lap before: in laps of one instance nothing
// else matters.
type rowMissed struct {
	age           int
	key           []int
	missed, again int
}

// An ended lap is the last of those that touch the same lines, its class, the column's first line, and how many of
// its lines come to each set of the class at least.
type ended struct{ y, class, here, lines int }

// turningOf prepares a slide whose column comes to a class of sets, as it goes down by whole
// lines: otherwise it would come to all, which are a power of two. Nil if it is more than that.
func (m *machine) turningOf(n *node, l *slide) *turning {
	t := &turning{row: -1, column: -1, beyond: -1}
	sets, line := m.levels[0].Sets, 1<<m.levels[0].Shift
	for i := range l.refs {
		r := &l.refs[i]
		switch {
		case r.column && t.column >= 0:
			return nil
		case r.place < 0 && !r.column && (t.row >= 0 || r.stride < 0 || line%r.stride != 0):
			return nil
		case r.column:
			t.column = i
		case r.place < 0:
			t.row = i
		}
	}
	if t.column < 0 || sets&(sets-1) != 0 || l.grows(n) && !t.growsBy(n, l) {
		return nil
	}
	t.order(l)
	step := modulo(l.refs[t.column].stride/line, sets)
	t.every = nest.GCD(step, sets)
	if t.period = sets / t.every; t.every < 2 || t.every > mostEvery {
		return nil
	}
	t.laps = t.periodOf(n, l, m.span)
	t.setBits, t.periodBits = trailing(uint64(sets)), trailing(uint64(t.period))
	l.flood = m.levels[0].Ways * t.period
	t.full = l.need + l.flood + 2*t.period
	l.need = t.least(l, m.levels[0].Ways)
	t.visit, t.known = make([]int, sets), make([]rowMissed, 2*sets)
	t.came, t.since = make([]int, t.every), make([]int, t.every)
	for i := range t.visit {
		t.visit[i] = -1
	}
	for k := range t.period {
		t.visit[k*step%sets] = k
	}
	return t
}

// order finds whether the column comes behind the row in an iteration, where the row is on a line
// last, or ahead of it, where it is first.
func (t *turning) order(l *slide) {
	if t.row < 0 {
		return
	}
	in := l.loop.inside
	last := map[int]int{}
	for i, r := range in.refs {
		if in.repeats(i) == 0 {
			last[r.op] = i
		}
		for k, o := range in.refs[:i] {
			if in.repeats(k) == 0 && o.stride == r.stride && o.base.same(&r.base) {
				last[o.op] = i
			}
		}
	}
	if t.after = 1; last[l.refs[t.column].op] > last[l.refs[t.row].op] {
		t.after = 0
	}
	if t.column < t.row {
		t.ahead = 1
	}
	for i, r := range l.refs {
		if r.place >= 0 && i < t.row {
			t.leads |= 1 << r.place
		}
		if r.place >= 0 && last[r.op] > last[l.refs[t.row].op] {
			t.trails |= 1 << r.place
		}
	}
}

// turn is glide where the column floods a class of sets.
func (m *machine) turn(n *node, c *context, from, to int) (y int) {
	l, t := n.slide, n.slide.turning
	l.given, t.mark = 0, -1
	t.forget()
	t.age++
	trips := l.tripsAt(m, n, from)
	t.trips = trips
	for y = from; y < to && l.given < mostGiven; {
		if k := l.leapTurns(m, n, c, y, to); k > y {
			y = k
			continue
		}
		same := l.look(m, n, y, to)
		column := &l.refs[t.column]
		at := column.base.at(m.slots)
		if own := column.base.coef(n.slot); own != 0 {
			same = min(same, stays(at, own, 1<<m.levels[0].Shift))
		}
		t.from, t.here = t.here, at>>m.levels[0].Shift
		class := modulo(t.here, t.every)
		if t.came[class] < m.levels[0].Ways || !l.turns(m, n, trips) {
			l.resettle(m, n, c)
			same = l.runLaps(m, n, c, y, same)
			l.given++
			t.comes(class, trips)
			t.mark = -1
		} else {
			l.countTurned(m, c, trips, 1)
			if same = l.turnsAlike(m, n, c, trips, same); len(t.last) > mostPasses {
				l.resettle(m, n, c)
			}
			l.given = max(0, l.given-1)
			t.end(m, y+same-1, class, trips)
		}
		y += same
		l.before, l.here = l.here, l.before
		if n.progress != nil {
			n.progress(float64(y) / float64(to))
		}
	}
	l.resettle(m, n, c)
	return y
}

// forget makes it that no lap is known.
func (t *turning) forget() {
	t.last, t.decided, t.here = t.last[:0], false, math.MinInt
	clear(t.came)
}

// turnsAlike counts the laps that touch the same lines as one that was counted, and returns how
// many these are, with that one.
func (l *slide) turnsAlike(m *machine, n *node, c *context, trips, same int) int {
	if same == 1 {
		return 1
	}
	l.before, l.here = l.here, l.before
	l.here.copyFrom(&l.before)
	l.turning.from = l.turning.here
	if !l.turns(m, n, trips) {
		return 1
	}
	l.countTurned(m, c, trips, same-1)
	return same
}

// end notes a lap that was counted, of so many iterations, and forgets those that all classes were flooded after.
func (t *turning) end(m *machine, y, class, trips int) {
	t.last = append(t.last, ended{y, class, t.here, trips / t.period})
	clear(t.since)
	dry, at := t.every, len(t.last)
	for at > 0 && dry > 0 {
		at--
		e := &t.last[at]
		if at+1 < len(t.last) && t.last[at+1].here == e.here {
			continue // the same lines
		}
		if was := t.since[e.class]; was < m.levels[0].Ways {
			if t.since[e.class] += e.lines; t.since[e.class] >= m.levels[0].Ways {
				dry--
			}
		}
	}
	t.last, t.decided = slices.Delete(t.last, 0, at), dry == 0
}

// resettle makes the state what the last laps leave. Their misses were counted.
func (l *slide) resettle(m *machine, n *node, c *context) {
	if len(l.turning.last) == 0 {
		return
	}
	s, at := c.states[0], len(m.saved)
	m.saved = append(m.saved, s.misses...)
	c.uncounted = s.open == 0
	for _, e := range l.turning.last {
		l.leave(m, n, c, e.y)
		m.did.Settled++
	}
	c.uncounted = false
	copy(s.misses, m.saved[at:])
	m.saved = m.saved[:at]
	l.turning.last, l.turning.decided = l.turning.last[:0], false
}

// leave runs what decides what is in the sets behind a lap: in those of the column's class its last
// iterations, and in others the row, and all that is ahead or behind, or rests.
func (l *slide) leave(m *machine, n *node, c *context, y int) {
	from := l.tripsAt(m, n, y) - l.flood
	if from <= 0 {
		m.run(n.body, c)
		return
	}
	m.run(l.head, c)
	if t := l.turning; t.row >= 0 {
		m.slots[l.loop.slot] = 0
		lines := l.refs[t.row].reach(m, 0, from)
		c.touchLines(uint32(lines.low)+1, lines.high-lines.low+1, l.refs[t.row].op)
	}
	m.sweep(l.loop, c, from, from+l.flood)
	m.slots[n.slot] = y
	m.run(l.tail, c)
}

// turns finds what misses in a lap, and reports whether that follows.
func (l *slide) turns(m *machine, n *node, trips int) bool {
	t, p, o := l.turning, &l.here, &l.before
	m.slots[l.loop.slot] = 0
	l.missed = l.missed[:0]
	l.last(o)
	for _, v := range o.behind {
		l.add(o.lines[v.place])
	}
	for _, v := range p.ahead {
		if !l.turned(m, n, v.place, v.op, o.ahead, o, t.from) {
			return false
		}
	}
	for i := range l.refs {
		if r := &l.refs[i]; r.place < 0 {
			l.recent = append(l.recent, -1-i-len(l.refs))
		} else if !l.turned(m, n, r.place, r.op, o.ahead, o, t.from) {
			return false
		}
	}
	l.last(p)
	if t.grows {
		l.add(t.rowIs.high)
	}
	for _, v := range p.behind {
		if !l.turned(m, n, v.place, v.op, p.ahead, p, t.here) {
			return false
		}
	}
	return t.grows || l.rowTurns(m, trips)
}

// turned puts down the line of a place, notes whether it misses, and reports whether that follows, where
// the lap that it is behind begins with accesses ahead, and has a column from a line on.
func (l *slide) turned(m *machine, n *node, place, op int, ahead []visit, of *lap, column int) bool {
	t, line := l.turning, l.here.lines[place]
	if l.add(line) {
		return len(l.recent) <= m.levels[0].Ways
	}
	l.missed = append(l.missed, absence{op: op})
	if t.grows {
		if place == t.beyond {
			return true
		}
		if t.rowWas.holds(line) {
			return false
		}
	}
	if of.has(ahead, line) {
		if !t.grows {
			return l.aheadTurns(m, line, of, column)
		}
		if modulo(line-column, t.every) == 0 {
			return true
		}
		l.missed = l.missed[:len(l.missed)-1]
		return true // rowGrows tells whether so few lines came since that it hits
	}
	if slices.Min(t.came) < m.levels[0].Ways {
		return false
	}
	for i, other := range l.before.lines {
		if t.grows && i == t.beyond {
			continue
		}
		own := l.places[i].coef(n.slot)
		if line == other || own > 0 && line < other || own < 0 && line > other {
			return false
		}
	}
	return true
}

// rowTurns counts the lines of the row that miss, and those of the column, and reports whether that follows.
func (l *slide) rowTurns(m *machine, trips int) bool {
	t, sets := l.turning, m.levels[0].Sets
	all := reach{0, -1}
	if t.row >= 0 {
		all = l.refs[t.row].reach(m, 0, trips-1)
	}
	if slices.ContainsFunc(l.before.lines, all.holds) || slices.ContainsFunc(l.here.lines, all.holds) {
		return false
	}
	if t.row >= 0 && (all.high-all.low)>>t.setBits+2+2*len(l.places) > m.levels[0].Ways {
		return false // the row would miss in other classes, too
	}
	class := t.from & (t.every - 1)
	if t.again = trips; trips >= t.full && class == t.here&(t.every-1) {
		t.missed = alike(all.low, all.high, class, t.every) // all but so many iterations as the row is on a line, in two stretches, flood
		return true
	}
	if l.besides(); l.recalls(sets - 1) {
		m.did.Known++
		return true
	}
	t.unsure = false
	if t.missed = 0; t.from == t.here {
		t.again = l.columnTurns(m, trips, all)
	}
	if t.row >= 0 {
		l.linesTurned(m, trips, all)
	}
	if t.unsure {
		return false
	}
	k := t.knownAt(sets - 1)
	*k = rowMissed{t.age, append(k.key[:0], t.key...), t.missed, t.again}
	return true
}

// linesTurned counts the lines of the row that miss. Other lines of the row are in a line's set as often as they are in
// the set where they are least often, at least, and once more at most; and in so many iterations the column comes to a set
// as often as it does in whole periods of them, at least, and once more at most. So most lines of the row miss wherever they
// are, by the iterations behind them in the lap before or by those ahead of them in this one, or hit but in the
// sets of what is between.
func (l *slide) linesTurned(m *machine, trips int, all reach) {
	t, r, shift, ways := l.turning, &l.refs[l.turning.row], m.levels[0].Shift, m.levels[0].Ways
	was, is, at := t.from&(t.every-1), t.here&(t.every-1), r.base.at(m.slots)
	if was == is {
		l.linesTurn(m, at, all.low, all.high, is, trips, all)
		return
	}
	often := (all.high - all.low) >> t.setBits
	many, few := (ways-max(0, often-1))*t.period, (ways-often-1)*t.period
	line := func(iteration int) int { return (at + r.stride*iteration) >> shift }
	low, high := line(trips-many)-1, line(many-1)+1
	behind, ahead := line(trips-few), line(few-1)
	t.missed = alike(all.low, low, was, t.every) + alike(high, all.high, is, t.every)
	l.linesTurn(m, at, ahead+1, high-1, is, trips, all)
	l.linesTurn(m, at, low+1, behind-1, was, trips, all)
	l.besideTurn(m, at, all.low, min(ahead, high-1), is, trips, all)
	l.besideTurn(m, at, max(behind, low+1), all.high, was, trips, all)
}

// besideTurn is linesTurn for lines that hit but in sets of what is between.
func (l *slide) besideTurn(m *machine, at, low, high, class, trips int, all reach) {
	t, sets := l.turning, m.levels[0].Sets
	for i, b := range t.between {
		apart := !slices.ContainsFunc(t.between[:i], func(o int) bool { return (o-b)&(sets-1) == 0 })
		if b&(t.every-1) == class && apart {
			l.linesTurnBy(m, at, low, high, b&(sets-1), sets, trips, all)
		}
	}
}

// knownAt is where it is put down how many lines of the row miss: those of laps in which lines of the column come again
// are apart.
func (t *turning) knownAt(mask int) *rowMissed {
	at := 2 * (t.here & mask)
	if t.from == t.here {
		at++
	}
	return &t.known[at]
}

// recalls reports whether it is known how many lines of the row miss.
func (l *slide) recalls(mask int) bool {
	t := l.turning
	t.key = append(t.key[:0], t.from&mask)
	for _, line := range t.between {
		t.key = append(t.key, line&mask)
	}
	for i, line := range l.before.lines[:l.rests] {
		if l.here.lines[i] != line {
			t.key = append(t.key, -1-i)
		}
	}
	k := t.knownAt(mask)
	if k.age != t.age || !slices.Equal(k.key, t.key) {
		return false
	}
	t.missed, t.again = k.missed, k.again
	return true
}

// linesTurn counts the lines of a class that miss, from one to another, of a row that begins at
// an address.
func (l *slide) linesTurn(m *machine, at, low, high, class, trips int, all reach) {
	l.linesTurnBy(m, at, low, high, class, l.turning.every, trips, all)
}

// linesTurnBy is linesTurn for lines of a class modulo any power of two.
func (l *slide) linesTurnBy(m *machine, at, low, high, class, every, trips int, all reach) {
	t, stride, shift := l.turning, l.refs[l.turning.row].stride, m.levels[0].Shift
	run, off := 1<<shift/stride, at&(1<<shift-1)/stride
	low, high = max(low, all.low), min(high, all.high)
	for line := low + (class-low)&(every-1); line <= high; line += every {
		first := (line-all.low)*run - off
		if l.lineTurns(m, line, max(first, 0), min(first+run, trips)-1, trips, all) {
			t.missed++
		}
	}
}

// besides lists what is touched between the rows of two laps, each line once.
func (l *slide) besides() {
	t := l.turning
	t.between = t.between[:0]
	add := func(line int) {
		if !slices.Contains(t.between, line) {
			t.between = append(t.between, line)
		}
	}
	for _, v := range l.before.behind {
		add(l.before.lines[v.place])
	}
	for _, v := range l.here.ahead {
		add(l.here.lines[v.place])
	}
	for i := range l.rests {
		add(l.before.lines[i])
		add(l.here.lines[i])
	}
}

// alike is how many numbers from low to high are of a class modulo every.
func alike(low, high, class, every int) int {
	first := low + modulo(class-low, every)
	if first > high {
		return 0
	}
	return (high-first)/every + 1
}

// lineTurns reports whether a line of the row misses, which is on it from one iteration to another.
//
// What rests may not be touched behind the row's last line, nor ahead of its first, where the row is
// on that when the lap ends, or begins. But there the column comes to the set as often as it has
// ways, or once at most, and then that and all others are less.
func (l *slide) lineTurns(m *machine, line, first, last, trips int, all reach) (missed bool) {
	t, mask := l.turning, m.levels[0].Sets-1
	others := (all.high - all.low - (line-all.low)&mask) >> t.setBits
	for _, b := range t.between {
		if (b-line)&mask == 0 {
			others++
		}
	}
	if k := t.visit[(line-t.from)&mask]; k >= 0 {
		others += t.visits(k, trips) - t.visits(k, last+t.after)
	}
	if k := t.visit[(line-t.here)&mask]; k >= 0 {
		ahead := t.visits(k, first+t.ahead)
		if others += ahead; t.from == t.here {
			others -= max(0, ahead-t.visits(k, last+t.after)) // one line, ahead of it and behind in its only iteration
		}
	}
	if missed = others >= m.levels[0].Ways; missed && trips < t.full && (line == all.low || line == all.high) {
		t.unsure = t.unsure || others-l.atEnds(line, mask, all) < m.levels[0].Ways
	}
	return missed
}

// visits is how often the column comes to a set in so many iterations, where it does first in one.
func (t *turning) visits(first, trips int) int { return (trips - 1 - first + t.period) >> t.periodBits }

// countTurned counts so many laps that were looked at.
func (l *slide) countTurned(m *machine, c *context, trips, times int) {
	s, t := c.states[0], l.turning
	for _, a := range l.missed {
		s.misses[a.op-s.opLow] += uint64(times)
	}
	s.misses[l.refs[t.column].op-s.opLow] += uint64(times * t.again)
	if t.row >= 0 {
		s.misses[l.refs[t.row].op-s.opLow] += uint64(times * t.missed)
	}
	m.did.Turned += times
	if trips < t.full {
		m.did.Short += times
	}
}
