package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A column may go down by other than whole lines, and be longer in each iteration of the
// loop around; what is accessed ahead of it and behind may depend on conditions. Where it
// floods all sets each time, long enough, the misses of such an iteration, a lap, still
// follow from where its accesses are, and the end of the last lap is all that is run, for
// what it leaves. What goes on to a second level is in feed_slide.go.
//
// A touch misses where as many lines of the column as there are ways came to its set since its
// line was touched before. So many come in any flood iterations of the innermost loop; and in the
// end of a lap and the start of the next, if these are long enough ([slide.lengths]: by two
// stretches of which each brings often lines to a set in each whole period, or by less). The
// lines of two laps in a row are all different, but in the same iteration, as a column moves by
// less between laps than it goes down, by a line at least. It hits where less lines than ways
// were touched since.
//
// The conditions. All laps are that long. A column shares no line with any other access of the loop. So its lines miss:
// touched before by the same iteration of the lap before, or a whole lap ago. What walks along
// lines, a row, does not move between laps, and shares no line with another. So its lines
// miss, alike, but for those that rest in the lap: they were touched an iteration ago.
// What rests, or is accessed ahead or behind, in this lap or the one before, is not in
// the lines of a row's first flood iterations, so that the column floods the set before the row
// comes there. When it is touched first, its line was either touched at most an iteration
// before the end of the lap before, by what rests or is ahead or behind, and so few lines since
// that it hits; or it was not, and is not in the lines of the row's last flood iterations: then
// it misses. Whatever is touched again within a lap, or rests, hits, as twice as many lines
// as move, and those that rest, are no more than ways.

// A slide is what is known of a loop around an innermost one that may flood all sets.
type slide struct {
	loop          *node // the innermost
	refs          []gliding
	columns       []int // of refs
	ahead, behind []visit
	head, tail    []*node   // what is ahead, and behind
	places        []affine  // of what rests, then of what is ahead and behind: each once
	rests         int       // of places
	flood         int       // iterations of the innermost loop in which all sets are flooded
	need          int       // so many it must have
	before, here  lap       // scratch: the one before, and the one that is looked at
	missed        []absence // scratch
	recent        []int     // scratch: lines
	turning       *turning  // where the column floods a class of sets
	period        int       // laps after which all goes on by whole lines; see leap.go
	leapAt        int       // scratch: from which lap on it is tried to leap
	order, first  []int8    // scratch: how lines lie
	fed           feeding   // where there is a second level
	given         int       // up: laps that had to be run, less runs of them that were counted
}

// A gliding access is one of the innermost loop, each once, in order.
type gliding struct {
	op     int
	base   affine
	stride int
	place  int // of one that rests; else -1
	column bool
}

// A visit is an access ahead of the loop or behind, to a place, or a branch around some.
type visit struct {
	op, place    int
	branch       *node
	then, orelse []visit
}

// A lap is an iteration of the loop around.
type lap struct {
	lines         []int   // of places
	ahead, behind []visit // those that are made, of each place the first
}

// fewestLaps is in how many iterations all sets must be flooded: the first is run, three are
// tried before, and of the last the end is run.
const fewestLaps = 60

// mostGiven is how many more laps had to be run than runs of them were counted when a slide is given
// up: of a row in whose lines what rests begins, all up to the end of a line.
const mostGiven = 24

// mostPlaces is how many places and accesses a slide may have.
const mostPlaces = 16

// slideOf prepares a loop's slide, if it may have one.
func (m *machine) slideOf(n *node) *slide {
	if n.kind != loop || n.inner || len(m.levels) > 1 && !m.deep || len(m.levels) > 2 {
		return nil
	}
	list := n.body
	if len(list) == 1 && list[0].kind == block {
		list = list[0].body
	}
	at := slices.IndexFunc(list, func(c *node) bool { return c.kind == loop })
	if at < 0 || !list[at].inner || !list[at].inside.plain || list[at].firstSlot >= 0 {
		return nil
	}
	l := &slide{loop: list[at]}
	if !l.glides(m, n) {
		return nil
	}
	var is, also bool
	l.ahead, is = l.visits(list[:at])
	l.head, l.tail = list[:at], list[at+1:]
	if l.behind, also = l.visits(l.tail); !is || !also || len(l.places) > min(m.levels[0].Ways, mostPlaces) {
		return nil
	}
	if l.flood == 0 && !m.deep {
		l.turning = m.turningOf(n, l)
	}
	if l.flood == 0 || l.turning == nil && n.flood != nil {
		return nil
	}
	if m.deep && !l.grows(n) {
		return nil // a summary of laps alike sends on many lines at once
	}
	if !m.deep {
		l.period = l.periodOf(m, n)
	}
	l.before.lines, l.here.lines = make([]int, len(l.places)), make([]int, len(l.places))
	return l
}

// glides lists the accesses of the innermost loop, and reports whether they may flood.
func (l *slide) glides(m *machine, n *node) bool {
	line, run, moves, column, shift := 1<<m.levels[0].Shift, 1, 0, 0, 0
	for i, r := range l.loop.inside.refs {
		far, own := max(r.stride, -r.stride), r.base.coef(n.slot)
		g := gliding{op: r.op, base: r.base, stride: r.stride, place: -1, column: far >= line}
		switch {
		case l.loop.inside.repeats(i) > 0:
			continue
		case far == 0:
			g.place = l.place(&r.base)
		case far < line:
			if own != 0 {
				return false
			}
			run = max(run, (line+far-1)/far)
		case max(own, -own)+line > far:
			return false
		default:
			if nest.GCD(far, m.span) <= line && column == 0 {
				column, shift = far, max(own, -own)
			}
		}
		if far > 0 {
			moves++
		}
		if g.column {
			l.columns = append(l.columns, len(l.refs))
		}
		l.refs = append(l.refs, g)
	}
	l.rests = len(l.places)
	if l.need = run; column > 0 {
		l.lengths(m, column, shift, run)
	}
	return 2*moves+l.rests <= m.levels[0].Ways
}

// mostPeriod bounds the iterations after which a column comes to a set again, of which it is looked up, for as many
// laps, how many a lap must have at least: in a level of thousands of sets that would never end.
const mostPeriod = 1 << 12

// lengths finds how many iterations flood all sets, and how many a lap must have, by the column
// that goes down by so much, and on by so much from lap to lap, where an access is on a line
// for so many iterations.
//
// In the end of a lap and the start of the next, but for those iterations, which together are as
// many as the lap has, the column comes to each set as often as in any so many iterations at
// least, less what it does in those, and less one for each of its places in a line that is in
// another after what it went on by: as often as one of them comes to a set another does, but
// for once.
func (l *slide) lengths(m *machine, column, shift, run int) {
	line, ways := 1<<m.levels[0].Shift, m.levels[0].Ways
	g := nest.GCD(column, m.span)
	period, often := m.span/g, line/g
	l.flood = period * ((ways + often - 1) / often)
	if l.need = l.flood + period + run; line%g != 0 || period > mostPeriod {
		return
	}
	comes := make([]int, 2*period+1) // to a set, before an iteration
	for k := range 2 * period {
		comes[k+1] = comes[k]
		if modulo(k*column, m.span) < line {
			comes[k+1]++
		}
	}
	in := func(trips int) (fewest, most int) {
		fewest = often
		for k := range period {
			n := comes[k+trips%period] - comes[k]
			fewest, most = min(fewest, n), max(most, n)
		}
		return trips/period*often + fewest, trips/period*often + most
	}
	_, away := in(run)
	away += min(often, (shift+g-1)/g)
	for trips := l.flood + run; trips < l.need; trips++ {
		if fewest, _ := in(trips); fewest-away >= ways {
			l.need = trips
		}
	}
}

// place is the number of a place.
func (l *slide) place(a *affine) int {
	at := slices.IndexFunc(l.places, func(b affine) bool { return b.same(a) })
	if at < 0 {
		at = len(l.places)
		l.places = append(l.places, *a)
	}
	return at
}

// visits lists accesses ahead or behind, and reports whether they are that.
func (l *slide) visits(list []*node) (visits []visit, is bool) {
	for _, c := range list {
		switch {
		case c.kind == access && !c.straddles:
			visits = append(visits, visit{op: c.op, place: l.place(&c.addr)})
		case c.kind == branch:
			then, is := l.visits(c.body)
			orelse, also := l.visits(c.orelse)
			if !is || !also {
				return nil, false
			}
			visits = append(visits, visit{branch: c, then: then, orelse: orelse})
		case c.kind == block:
			inside, is := l.visits(c.body)
			if !is {
				return nil, false
			}
			visits = append(visits, inside...)
		default:
			return nil, false
		}
	}
	return visits, true
}

// slides runs a loop by its slide, if it can, and reports whether it did.
func (m *machine) slides(n *node, c *context, trips int) bool {
	l := n.slide
	if s := c.states[0]; l == nil || l.turning != nil && l.turning.grows || !m.keeps || !m.feeds(c) || s.rowMisses != nil || s.log != nil {
		return false
	}
	from, to := l.long(m, n, trips)
	if to-from < fewestLaps || !l.apart(m, n, from, to) {
		return false
	}
	if l.turning != nil {
		if !l.turning.comesOnce(m, n, l, to-from) {
			return false
		}
		y := m.turn(n, c, from, to)
		m.iterations(n, c, y, trips, false)
		return true
	}
	if !l.promises(m, n, from, to) {
		return false
	}
	if from > 0 {
		m.unslid(n, c, from, m.estimate(n, from))
	}
	y := m.glide(n, c, from, to)
	m.iterations(n, c, y, trips, false)
	return true
}

// promises reports whether the first laps can be counted.
func (l *slide) promises(m *machine, n *node, from, to int) bool {
	l.look(m, n, from, to)
	for y := from + 1; y < from+4; y++ {
		l.before, l.here = l.here, l.before
		if l.look(m, n, y, to); !l.boundary(m, n, y, 1) {
			return false
		}
	}
	return true
}

// long is in which iterations of the loop around, of so many, the innermost one has as
// many as it must have.
func (l *slide) long(m *machine, n *node, trips int) (from, to int) {
	m.slots[n.slot] = 0
	to = trips
	least := (l.need-1)*l.loop.step + 1
	for i := range l.loop.spans {
		a := &l.loop.spans[i]
		switch v, own := a.at(m.slots), a.coef(n.slot); {
		case own > 0:
			from = max(from, (least-v+own-1)/own)
		case v < least:
			return 0, 0
		case own < 0:
			to = min(to, (v-least)/-own+1)
		}
	}
	return from, to
}

// apart reports whether in some iterations columns share no line with anything else, nor
// rows with rows.
func (l *slide) apart(m *machine, n *node, from, to int) bool {
	var boxes [2 * mostPlaces]reach
	shift := m.levels[0].Shift
	most := max(l.tripsAt(m, n, from), l.tripsAt(m, n, to-1))
	if len(l.loop.spans) > 1 {
		for y := from; y < to; y++ {
			most = max(most, l.tripsAt(m, n, y))
		}
	}
	if l.turning != nil && l.turning.grows {
		most++ // there may be a place behind the column
	}
	m.slots[l.loop.slot] = 0
	if len(l.refs) > mostPlaces {
		return false
	}
	k := len(l.refs)
	for i := range l.refs {
		r := &l.refs[i]
		boxes[i] = m.reachOf(&r.base, n.slot, from, to-1, r.stride*(most-1), shift)
		for q := range i {
			if (r.column || l.refs[q].column || r.place < 0 && l.refs[q].place < 0) && boxes[i].meets(boxes[q]) {
				return false
			}
		}
	}
	for i := range l.places[l.rests:] {
		box := m.reachOf(&l.places[l.rests+i], n.slot, from, to-1, 0, shift)
		for q := range k {
			if l.refs[q].column && boxes[q].meets(box) && (l.turning == nil || l.turning.beyond != l.rests+i) {
				return false
			}
		}
	}
	return true
}

// meets reports whether two reaches have a line in common.
func (r reach) meets(o reach) bool { return r.low <= o.high && o.low <= r.high }

// grows reports whether laps are not all as long.
func (l *slide) grows(n *node) bool {
	return slices.ContainsFunc(l.loop.spans, func(a affine) bool { return a.coef(n.slot) != 0 })
}

// tripsAt is the innermost loop's trips in an iteration.
func (l *slide) tripsAt(m *machine, n *node, y int) int {
	m.slots[n.slot] = y
	return l.loop.trips(m.slots)
}

// glide runs iterations from one on, and returns where it stopped: the first, and those of
// which it is not known, as they are, others by what follows from the one before.
func (m *machine) glide(n *node, c *context, from, to int) (y int) {
	l := n.slide
	stale := false
	l.given, l.leapAt = 0, from+1
	for y = from; y < to && l.given < mostGiven; {
		if l.period > 0 && y >= l.leapAt {
			if k := l.leap(m, n, c, y, to); k > y {
				y, stale = k, true
				continue
			}
		}
		same := l.look(m, n, y, to)
		if y == from || !l.boundary(m, n, y, 1) {
			if stale {
				l.settle(m, n, c, y-1)
			}
			stale = false
			m.slots[n.slot] = y
			m.run(n.body, c)
			l.given++
			y++
		} else {
			l.count(m, n, c, y, 1)
			stale = true
			if y++; same > 1 {
				l.before, l.here = l.here, l.before
				l.here.copyFrom(&l.before)
				if l.boundary(m, n, y, same-1) {
					l.count(m, n, c, y, same-1)
					y += same - 1
				}
			}
			l.given = max(0, l.given-1)
		}
		l.before, l.here = l.here, l.before
		if n.progress != nil {
			n.progress(float64(y) / float64(to))
		}
	}
	if stale {
		l.settle(m, n, c, y-1)
	}
	return y
}

// copyFrom makes a lap what another is.
func (p *lap) copyFrom(o *lap) {
	copy(p.lines, o.lines)
	p.ahead, p.behind = append(p.ahead[:0], o.ahead...), append(p.behind[:0], o.behind...)
}

// look finds where everything is in an iteration, and returns for how many from it on, up
// to an end, all that rests, or is ahead or behind, is in the same lines, and the same is made.
func (l *slide) look(m *machine, n *node, y, end int) (same int) {
	p := &l.here
	shift := m.levels[0].Shift
	m.slots[n.slot], m.slots[l.loop.slot] = y, 0
	same = end - y
	for i := range l.places {
		at := l.places[i].at(m.slots)
		p.lines[i] = at >> shift
		if own := l.places[i].coef(n.slot); own != 0 {
			same = min(same, stays(at, own, 1<<shift))
		}
	}
	p.ahead, same = m.walk(l.ahead, p.ahead[:0], n.slot, same)
	p.behind, same = m.walk(l.behind, p.behind[:0], n.slot, same)
	return same
}

// walk appends accesses that are made, of each place the first, and returns for how many
// iterations, up to a limit, they are.
func (m *machine) walk(list, made []visit, slot, same int) ([]visit, int) {
	for i := range list {
		v := &list[i]
		if v.branch == nil {
			if !slices.ContainsFunc(made, func(o visit) bool { return o.place == v.place }) {
				made = append(made, *v)
			}
			continue
		}
		same = m.steady(v.branch, slot, same)
		arm := v.orelse
		if v.branch.holds(m.slots) {
			arm = v.then
		}
		made, same = m.walk(arm, made, slot, same)
	}
	return made, same
}

// boundary finds the operands that miss in each of so many laps, from one on, of what
// rests, or is ahead or behind, and reports whether that follows. Each lap but the first is
// here where the one before it is.
func (l *slide) boundary(m *machine, n *node, y, times int) bool {
	p, o := &l.here, &l.before
	low, high := l.between(m, n, y-1, y+times-1)
	l.missed = l.missed[:0]
	for i := range l.refs {
		if r := &l.refs[i]; r.place < 0 && !r.column {
			start := r.reach(m, 0, l.flood-1)
			for _, lines := range [][]int{o.lines, p.lines} {
				if slices.ContainsFunc(lines, start.holds) {
					return false
				}
			}
		}
	}
	l.last(o)
	for _, v := range o.behind {
		l.add(o.lines[v.place])
	}
	for _, v := range p.ahead {
		if !l.touch(m, absence{v.op, p.lines[v.place], -1}, low, high) {
			return false
		}
	}
	for i := range l.refs {
		if r := &l.refs[i]; r.place < 0 {
			l.recent = append(l.recent, -1-i-len(l.refs))
		} else if !l.touch(m, absence{r.op, p.lines[r.place], i}, low, high) {
			return false
		}
	}
	l.last(p)
	for _, v := range p.behind {
		if !l.touch(m, absence{v.op, p.lines[v.place], len(l.refs)}, low, high) {
			return false
		}
	}
	return true
}

// last puts down the lines of the last iteration of the innermost loop: those of what moves
// are others than all that rests or is ahead or behind, as far as is known.
func (l *slide) last(p *lap) {
	l.recent = l.recent[:0]
	for i := range l.refs {
		if r := &l.refs[i]; r.place < 0 {
			l.recent = append(l.recent, -1-i)
		} else {
			l.add(p.lines[r.place])
		}
	}
}

// add puts down a line, once, and reports whether it was there.
func (l *slide) add(line int) bool {
	if slices.Contains(l.recent, line) {
		return true
	}
	l.recent = append(l.recent, line)
	return false
}

// between are the least and the most trips of the innermost loop in iterations of the one
// around.
func (l *slide) between(m *machine, n *node, from, to int) (low, high int) {
	low = l.tripsAt(m, n, from)
	high = low
	for y := from + 1; y <= to; y++ {
		k := l.tripsAt(m, n, y)
		low, high = min(low, k), max(high, k)
	}
	m.slots[l.loop.slot] = 0
	return low, high
}

// reach is the lines of a row in iterations of the innermost loop, in whichever lap.
func (r *gliding) reach(m *machine, from, to int) reach {
	at, shift := r.base.at(m.slots), m.levels[0].Shift
	a, b := (at+r.stride*from)>>shift, (at+r.stride*to)>>shift
	return reach{min(a, b), max(a, b)}
}

// holds reports whether a line is in reach.
func (r reach) holds(line int) bool { return r.low <= line && line <= r.high }

// touch puts down a line, notes whether it misses, and reports whether that follows, where
// the lap before, or of what is behind this one, has from low to high iterations.
func (l *slide) touch(m *machine, a absence, low, high int) bool {
	if l.add(a.line) {
		return len(l.recent) <= m.levels[0].Ways
	}
	for i := range l.refs {
		r := &l.refs[i]
		if r.place < 0 && !r.column && r.reach(m, low-1-l.flood, high-1).holds(a.line) {
			return false
		}
	}
	l.missed = append(l.missed, a)
	return true
}

// count counts so many laps from one on, that were looked at.
func (l *slide) count(m *machine, n *node, c *context, y, times int) {
	s := c.states[0]
	for _, a := range l.missed {
		s.misses[a.op-s.opLow] += uint64(times)
	}
	for k := range times {
		trips := l.tripsAt(m, n, y+k)
		m.slots[l.loop.slot] = 0
		for i := range l.refs {
			r := &l.refs[i]
			switch {
			case r.column:
				s.misses[r.op-s.opLow] += uint64(trips)
			case r.place < 0:
				lines := r.reach(m, 0, trips-1)
				n := lines.high - lines.low + 1
				for q, line := range l.here.lines[:l.rests] {
					if lines.holds(line) && !slices.Contains(l.here.lines[:q], line) {
						n--
					}
				}
				s.misses[r.op-s.opLow] += uint64(n)
			}
		}
		l.feed(m, c, trips)
	}
	m.did.Slid += times
}

// settle makes the state what a lap leaves. Its misses were counted.
func (l *slide) settle(m *machine, n *node, c *context, y int) {
	s, at := c.states[0], len(m.saved)
	m.saved = append(m.saved, s.misses...)
	trips := l.tripsAt(m, n, y)
	first := &context{states: c.states[:1]}
	m.sweep(l.loop, first, trips-l.flood, trips)
	m.slots[n.slot] = y
	m.run(l.tail, first)
	copy(s.misses, m.saved[at:])
	m.saved = m.saved[:at]
	m.did.Settled++
}
