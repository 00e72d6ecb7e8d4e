package summaries

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A loop around innermost ones often goes on evenly: in each of its iterations, a pass, the same
// columns and rows are gone through, and from pass to pass each is where it was, or moves on to
// lines that were not touched in any pass before. Then nothing need be run but the first passes
// and the last: what misses in between follows from where everything is in two passes, set by set.
//
// The conditions. The trips of the innermost loops are the same in all passes, and in all of these
// loops, which have the same accesses. What moves in them is columns, by whole lines, and rows,
// along lines. No two accesses share a line in any pass, but for those that say so here; what
// moves from pass to pass is on lines of its own in each, or where it was.
//
// In the passes that were run each set got as many lines as it has ways. So what is new to a pass
// is absent. All else was touched in the pass before, or the loop before in this one, and misses
// if as many others of its set as there are ways were touched since. Those are, of each access, its
// lines behind the last touch there, and those ahead of the first one here, which
// are known by how often it comes to a set ([view]). What rests in the innermost loops is touched in each
// iteration, and hits as long as few lines come in between.
//
// The end is run for what it leaves, from so far back that each set gets as many lines as it
// has ways; of passes that touch the same lines one.

// A drift is what is known of a loop around innermost ones that may go on evenly.
type drift struct {
	loops   []*node
	streams []drifting
	stills  []still
	trips   int        // scratch: of the innermost loops
	known   []recalled // scratch: what misses, by the set that something is in
	age     int        // scratch: of what is known
	longest int        // iterations that one of them is on a line
	counts  []int      // scratch: by set
	least   []uint64   // scratch: by set, a byte each
	most    []uint64   // alike
	movers  []int      // scratch: of streams
	lone    lone       // scratch
	key     []int      // scratch
	failed  int        // how often it could not be told what misses
	behind  []int      // scratch: by set of the second level
}

// A drifting access moves in the innermost loops.
type drifting struct {
	base        affine
	stride, own int
	step        int     // from one line that a column touches to the next; in parts of lines, if it has them
	ops         []int   // by loop: whose touch it is
	from, to    []int   // by loop: where it is in an iteration, first and last
	run         int     // iterations that it is on a line
	parts       int     // of a line, in which a column's addresses are by turns: 1 if it goes down by whole lines; see behind.go
	bits        uint    // of the period after which it comes to a set again: a power of two
	visit       []int   // of a column, by sets ahead of its first line: the iteration in which it comes there; -1 if never
	trips       int     // scratch: in which it is on lines of its own
	often       []uint8 // scratch: how often it comes to a set, by how many that is ahead of its first line
	oftenOff    int     // scratch: for a first line that it begins so many iterations into; -1 if that is not known
	start       int     // scratch: its address in pass 0
	counted     int     // scratch: and in that of which the lines were counted last, of a column of several parts
	adjoins     bool    // scratch: it begins on the line on that it was last in the pass before, or next to it
	misses      bool    // scratch: it does in each pass
	moved       bool    // scratch: it is not where it was in the pass before
	is, was     view    // scratch: in a pass, and in the one before
}

// A view is where an access that moves in the innermost loops is in a pass: in which line it begins, so many
// iterations into it, and how often it comes to each set.
type view struct {
	line, off int
	full      bool
	visits    []uint8
}

// A still access rests in the innermost loops, on one line in a pass.
type still struct {
	addr     affine
	own      int
	op       int   // of the first touch
	from, to []int // by loop: where it is in an iteration, first and last; ahead of all if it is accessed ahead of the loops, too
	behind   bool  // it is accessed behind the loops, too
	single   bool  // only there, or only ahead, by a line or more from pass to pass; see behind.go
	until    []int // scratch: as to, with what moves, and comes to its line last
	start    int   // scratch: its address in pass 0
	is, was  int   // scratch: lines
}

// A tallied is how many misses there are, by stream and loop, and of those that are still.
type tallied struct{ streams, stills []int }

// A recalled is what misses in a pass, and in one that touches the same lines, by where everything is.
type recalled struct {
	age          int
	key          []int
	here, steady tallied
}

// fewestDrifted is in how many passes everything must go on evenly; no more than one of mostRun may
// have to be run.
const (
	fewestDrifted = 16
	mostRun       = 3
	mostFailed    = 8
)

// drift prepares a loop's drift, if it may have one.
func (m *machine) drift(n *node) *drift {
	sets := m.levels[0].Sets
	if n.kind != loop || n.inner || len(m.levels) > 1 && (!m.deep || len(m.levels) > 2) || sets&(sets-1) != 0 || sets < 2 {
		return nil
	}
	list := n.body
	if len(list) == 1 && list[0].kind == block {
		list = list[0].body
	}
	l := &drift{counts: make([]int, sets), least: make([]uint64, (sets+7)/8), most: make([]uint64, (sets+7)/8), known: make([]recalled, sets)}
	var ahead, behind []*node
	for _, c := range list {
		switch {
		case c.kind == access && !c.straddles && len(l.loops) == 0:
			ahead = append(ahead, c)
		case c.kind == access && !c.straddles:
			behind = append(behind, c)
		case c.kind == loop && c.inner && c.inside.plain && c.firstSlot < 0 && len(behind) == 0:
			if l.loops = append(l.loops, c); !l.lists(m, n, c) {
				return nil
			}
		default:
			return nil
		}
	}
	if len(l.loops) == 0 || len(l.streams) == 0 || !l.beside(m, n, ahead, behind) {
		return nil
	}
	if len(l.streams)+len(l.stills) > m.levels[0].Ways {
		return nil
	}
	for i := range l.streams {
		l.longest = max(l.longest, l.streams[i].run)
	}
	return l
}

func (l *drift) newTally() tallied {
	return tallied{make([]int, len(l.streams)*len(l.loops)), make([]int, len(l.stills))}
}

// lists lists the accesses of an innermost loop, and reports whether they may go on evenly, and are those of the
// loops before.
func (l *drift) lists(m *machine, n, c *node) bool {
	if slices.ContainsFunc(c.spans, func(a affine) bool { return a.coef(n.slot) != 0 }) {
		return false
	}
	streams, stills := 0, 0
	for i, r := range c.inside.refs {
		again := c.inside.repeats(i) > 0
		if r.stride == 0 {
			t := l.stillAt(&r.base)
			if t == nil {
				if len(l.loops) > 1 {
					return false
				}
				l.stills = append(l.stills, still{addr: r.base, own: r.base.coef(n.slot), op: r.op})
				t = &l.stills[len(l.stills)-1]
			}
			if !again {
				stills++
				t.from, t.to = append(t.from, i), append(t.to, i)
			}
			t.to[len(l.loops)-1] = i
			continue
		}
		at := slices.IndexFunc(l.streams, func(s drifting) bool { return s.stride == r.stride && s.base.same(&r.base) })
		if at < 0 {
			if len(l.loops) > 1 {
				return false
			}
			s, is := m.drifting(n, &r)
			if !is {
				return false
			}
			at = len(l.streams)
			l.streams = append(l.streams, s)
		}
		s := &l.streams[at]
		if !again {
			streams++
			s.ops, s.from, s.to = append(s.ops, r.op), append(s.from, i), append(s.to, i)
		}
		s.to[len(l.loops)-1] = i
	}
	return streams == len(l.streams) && stills == len(l.stills)
}

// drifting is a moving access, if it is a column or a row.
func (m *machine) drifting(n *node, r *moving) (s drifting, is bool) {
	line, sets := 1<<m.levels[0].Shift, m.levels[0].Sets
	s = drifting{base: r.base, stride: r.stride, own: r.base.coef(n.slot), run: 1, parts: 1, step: r.stride / line}
	s.is, s.was, s.often = newView(sets), newView(sets), make([]uint8, sets)
	switch {
	case r.stride%line == 0:
		step := modulo(r.stride/line, sets)
		period := sets / nest.GCD(step, sets)
		s.visit = make([]int, sets)
		for i := range s.visit {
			s.visit[i] = -1
		}
		for k := range period {
			s.visit[k*step%sets] = k
		}
		s.bits = uint(trailing(uint64(period)))
		return s, period > 1 && s.own < line && -s.own < line
	case r.stride > 0 && line%r.stride == 0:
		s.run = line / r.stride
		s.bits = uint(trailing(uint64(sets * s.run)))
		return s, true
	case m.deep && max(r.stride, -r.stride) >= 2*line:
		s.parts = line / nest.GCD(r.stride, line)
		s.step = r.stride * s.parts / line
		s.bits = uint(trailing(uint64(sets * s.parts)))
		return s, s.own < line && -s.own < line
	}
	return s, false
}

func newView(sets int) view { return view{visits: make([]uint8, (sets+7)&^7)} }

// stillAt is the still access at an address, or nil.
func (l *drift) stillAt(a *affine) *still {
	if at := slices.IndexFunc(l.stills, func(t still) bool { return t.addr.same(a) }); at >= 0 {
		return &l.stills[at]
	}
	return nil
}

// beside adds accesses ahead of the loops and behind, and reports whether all are where something rests in them, or single.
func (l *drift) beside(m *machine, n *node, ahead, behind []*node) bool {
	line := 1 << m.levels[0].Shift
	for i := len(ahead) - 1; i >= 0; i-- {
		t := l.stillAt(&ahead[i].addr)
		if t == nil {
			t = l.addSingle(n, ahead[i])
		}
		t.op = ahead[i].op
		for k := range t.from {
			t.from[k] = -1
		}
	}
	for _, c := range behind {
		t := l.stillAt(&c.addr)
		if t == nil {
			t = l.addSingle(n, c)
		} else if t.single && slices.ContainsFunc(ahead, func(o *node) bool { return o.op == t.op }) {
			return false
		}
		t.behind = true
	}
	return !slices.ContainsFunc(l.stills, func(t still) bool { return t.single != (t.own >= line || -t.own >= line) || t.single && !m.deep })
}

// drifts runs a loop by its drift, if it can, and reports whether it did.
func (m *machine) drifts(n *node, c *context, trips int) bool {
	l := n.drift
	if s := c.states[0]; l == nil || !m.keeps || len(c.states) < len(m.levels) || s.rowMisses != nil || s.log != nil || l.failed >= mostFailed {
		return false
	}
	if trips < fewestDrifted || !l.place(m, n) {
		return false
	}
	first := 0
	if !l.apart(m, n, 0, trips) {
		if first = l.leaves(m); !m.deep || first >= trips || !l.apart(m, n, first, trips) {
			return false
		}
	}
	even := l.isEven(m)
	if !even && (m.deep || !l.countable()) || m.deep && !(l.again() && l.hitsBehind(m)) {
		return false
	}
	if l.roomy(m, trips) {
		return false
	}
	from, ran := l.reaches(m, first, 1, trips)
	last, left := l.reaches(m, trips-1, -1, trips)
	if from = from + 1; from+fewestDrifted > trips || last < 0 || mostRun*(ran+left) > trips {
		return false
	}
	if m.deep {
		if !l.driftsBehind(m, n, c, from, trips) {
			return false
		}
		if first > 0 {
			m.did.Among++
		}
		return true
	}
	m.iterations(n, c, 0, from, false)
	y := trips
	if even {
		l.evenly(m, c, from, trips)
	} else if y = l.counted(m, c, from, trips); y < trips {
		if l.failed++; y == from {
			m.iterations(n, c, y, trips, false)
			return true
		}
		last, _ = l.reaches(m, y-1, -1, trips)
	}
	m.did.Drifted += y - from
	l.settle(m, n, c, max(last, 0), y)
	m.iterations(n, c, y, trips, false)
	return true
}

// countable reports whether passes may be counted set by set.
func (l *drift) countable() bool {
	sum := 2 * len(l.stills)
	for i := range l.streams {
		s := &l.streams[i]
		if s.adjoins {
			return false
		}
		sum += s.trips>>s.bits + 6
	}
	return sum < 1<<7
}

// place finds where everything is in pass 0, and reports whether the loops' trips are alike.
func (l *drift) place(m *machine, n *node) bool {
	m.slots[n.slot] = 0
	for i, c := range l.loops {
		trips := c.trips(m.slots)
		if i > 0 && trips != l.trips {
			return false
		}
		l.trips = trips
		m.slots[c.slot] = 0
	}
	for i := range l.streams {
		s := &l.streams[i]
		s.start, s.trips, s.oftenOff = s.base.at(m.slots), l.trips, -1
		if l.trips < 2*s.run+2 {
			return false
		}
	}
	for i := range l.stills {
		t := &l.stills[i]
		t.start, t.until = t.addr.at(m.slots), append(t.until[:0], t.to...)
		for k := range l.streams {
			s := &l.streams[k]
			if s.run == 1 && s.own == t.own && s.trips == l.trips && s.start+s.stride*(l.trips-1) == t.start {
				s.trips--
				for j := range t.until {
					t.until[j] = max(t.until[j], s.to[j])
				}
			}
		}
	}
	return true
}

// apart reports whether in passes from one on no two accesses share a line but where they may, and what
// moves from pass to pass comes to no line again.
func (l *drift) apart(m *machine, n *node, first, trips int) bool {
	var reaches []reach
	shift := m.levels[0].Shift
	add := func(a *affine, by int, among func(i int) bool) bool {
		r := m.reachOf(a, n.slot, first, trips-1, by, shift)
		for i := range reaches {
			if reaches[i].meets(r) && !among(i) {
				return false
			}
		}
		reaches = append(reaches, r)
		return true
	}
	for i := range l.streams {
		s := &l.streams[i]
		starts := m.reachOf(&s.base, n.slot, first, trips-1, 0, shift)
		among := func(k int) bool {
			return m.deep && s.among(&l.streams[k], starts, m.reachOf(&l.streams[k].base, n.slot, first, trips-1, 0, shift), shift)
		}
		if !add(&s.base, s.stride*(s.trips-1), among) {
			return false
		}
		switch own := max(s.own, -s.own); {
		case s.run == 1 && s.parts == 1 && starts.high-starts.low >= max(s.stride, -s.stride)>>shift:
			return false
		case s.run > 1 && s.own != 0 && own < s.stride*s.trips+1<<shift && s.own < s.stride*s.trips:
			return false
		}
		s.adjoins = s.run > 1 && s.own != 0 && max(s.own, -s.own) < s.stride*s.trips+1<<shift
	}
	for i := range l.stills {
		if !add(&l.stills[i].addr, 0, func(int) bool { return false }) {
			return false
		}
	}
	return true
}

// look finds where everything is in a pass, and returns for how many from it on, or back, it is there.
func (l *drift) look(m *machine, y, by, trips int) (same int) {
	shift, line := m.levels[0].Shift, 1<<m.levels[0].Shift
	m.did.Looked++
	same = trips
	for i := range l.streams {
		s := &l.streams[i]
		at := s.start + s.own*y
		if s.own != 0 {
			same = min(same, stays(at, s.own*by, line))
		}
		off := 0
		if s.parts > 1 {
			off = at & (line - 1) * s.parts / line
		}
		if s.run > 1 {
			off = at & (line - 1) / s.stride
			if s.own != 0 {
				same = 1
			}
		}
		s.see(at>>shift, off)
	}
	for i := range l.stills {
		t := &l.stills[i]
		at := t.start + t.own*y
		t.was, t.is = t.is, at>>shift
		if t.own != 0 {
			same = min(same, stays(at, t.own*by, line))
		}
	}
	return same
}

// see moves an access to a line.
func (s *drifting) see(line, off int) {
	if s.moved = line != s.is.line || off != s.is.off; s.moved {
		s.is, s.was = s.was, s.is
		s.is.line, s.is.off, s.is.full = line, off, false
	}
}

// fill finds how often an access that moves comes to each set.
func (s *drifting) fill(v *view) {
	if v.full {
		return
	}
	v.full = true
	if s.oftenOff != v.off {
		if s.oftenOff = v.off; s.parts > 1 {
			s.oftenInParts(v.off)
		} else {
			for ahead := range s.often {
				s.often[ahead] = uint8(min(math.MaxUint8, s.visitsOf(ahead, v.off)))
			}
		}
	}
	at := v.line & (len(s.often) - 1)
	copy(v.visits[at:len(s.often)], s.often)
	copy(v.visits[:at], s.often[len(s.often)-at:])
}

// visitsOf is how often it comes to a set so many ahead of its first line, so many iterations into which it begins.
func (s *drifting) visitsOf(ahead, off int) int {
	if first := s.firstIn(ahead, off); first < s.trips && (first >= 0 || s.visit == nil) {
		return (s.trips-1-first)>>s.bits + 1
	}
	return 0
}

// firstIn is the iteration in which it comes to that set first; less than 0 if it is there already, or, a column, never.
func (s *drifting) firstIn(ahead, off int) int {
	if s.visit != nil {
		return s.visit[ahead]
	}
	return ahead*s.run - off
}

// first is the iteration in which it comes to a set first, to which it does come.
func (s *drifting) first(v *view, set int) int {
	return s.firstIn((set-v.line)&(len(s.often)-1), v.off)
}

// forget makes the next pass that is looked at the first.
func (l *drift) forget() {
	for i := range l.streams {
		l.streams[i].is.line, l.streams[i].is.full = -1, false
	}
	for i := range l.stills {
		l.stills[i].is = -1
	}
}

// roomy reports whether all lines of as many passes as may be run at either end are too few for each
// set to get as many as it has ways, which reaches would find out one by one.
func (l *drift) roomy(m *machine, trips int) bool {
	lines := 0
	for i := range l.streams {
		s := &l.streams[i]
		lines += s.trips/s.run + 2
	}
	return trips*lines < 2*mostRun*m.levels[0].Lines()
}

// reaches returns the pass up to which, from one on, or back, each set gets as many lines as it has
// ways, and how many passes, or more that touch the same lines, these are; -1 if there is none.
func (l *drift) reaches(m *machine, y, by, trips int) (last, ran int) {
	ways := m.levels[0].Ways
	clear(l.counts)
	l.forget()
	for first := true; y >= 0 && y < trips && mostRun*ran <= trips; first = false {
		same := l.look(m, y, by, trips)
		least := ways
		for i := range l.streams {
			if s := &l.streams[i]; s.anew(y, first, m.levels[0].Shift) {
				s.fill(&s.is)
				for set, n := range s.is.visits[:len(l.counts)] {
					l.counts[set] += int(n)
				}
				if s.adjoins {
					l.counts[s.is.line&(len(l.counts)-1)]--
				}
			}
		}
		for _, n := range l.counts {
			least = min(least, n)
		}
		if ran++; least >= ways {
			return y, ran
		}
		y += by * same
	}
	return -1, trips
}

// settle makes the state what passes up to one leave. Their misses were counted.
func (l *drift) settle(m *machine, n *node, c *context, y, end int) {
	s, at := c.states[0], len(m.saved)
	m.saved = append(m.saved, s.misses...)
	l.forget()
	for y < end {
		same := l.look(m, y, 1, end)
		m.slots[n.slot] = y
		m.run(n.body, c)
		y += same
	}
	copy(s.misses, m.saved[at:])
	m.saved = m.saved[:at]
}

// isEven reports whether of each access that moves, where it was, either nothing is found again or all,
// wherever everything is; and finds out which.
func (l *drift) isEven(m *machine) bool {
	ways, rests := m.levels[0].Ways, len(l.stills)+l.singles()
	if 2*len(l.streams)+rests > ways {
		return false
	}
	for i := range l.streams {
		least, most := l.others(i)
		if l.streams[i].misses = least >= ways; least < ways && most+rests >= ways {
			return false
		}
	}
	return true
}

// evenly counts passes that are even.
func (l *drift) evenly(m *machine, c *context, from, to int) {
	s, shift := c.states[0], m.levels[0].Shift
	for i := range l.streams {
		r := &l.streams[i]
		new, lines := r.news(from, to, shift), 0 // and in all passes
		switch {
		case r.run == 1:
			lines = r.trips * (to - from)
		case r.own == 0:
			lines = (r.end(0, shift) - r.start>>shift + 1) * (to - from)
		default:
			for y := from; y < to; y++ {
				lines += r.end(y, shift) - (r.start+r.own*y)>>shift + 1
			}
		}
		for k, op := range r.ops {
			switch {
			case r.misses && (k > 0 || r.run == 1 || r.own == 0):
				new = lines
			case k > 0:
				new = 0
			}
			s.misses[op-s.opLow] += uint64(new)
		}
	}
	for i := range l.stills {
		t := &l.stills[i]
		s.misses[t.op-s.opLow] += uint64(t.news(from, to, shift))
	}
	m.did.Evenly++
}

// end is the last line of an access in a pass.
func (s *drifting) end(y int, shift uint) int {
	return (s.start + s.own*y + s.stride*(s.trips-1)) >> shift
}

// moves is in how many passes what goes on by less than a line is on a new one.
func moves(start, own, from, to int, shift uint) int {
	lines := (start+own*(to-1))>>shift - (start+own*(from-1))>>shift
	return max(lines, -lines)
}

// others is how many other lines are touched at least, and at most, between two touches of a line
// of an access that moves, wherever everything is, but for what is still.
func (l *drift) others(i int) (least, most int) {
	r := &l.streams[i]
	for k := range l.streams {
		q := &l.streams[k]
		switch period := 1 << q.bits; {
		case q.parts > 1: // in two stretches, maybe of two passes
			least += max(0, (q.trips-r.run)/period-1) * q.parts
			most += (q.trips/period + 2) * q.parts
		case k == i:
			least += max(0, q.fewest()-1)
			most += (q.trips + q.run - 2) / period
		case q.own == 0:
			if q.all() {
				least += max(0, q.fewest()-(r.run-1)/period-1)
			}
			most += (q.trips+q.run-2)/period + 1
		default:
			if q.all() {
				least += max(0, q.both(r.run))
			}
			most += (q.trips+2*q.run-3)/period + 2
		}
	}
	return least, most
}

// both is how many lines of an access that moves from pass to pass come to a set, at least, between two touches of one
// that others are on for so many iterations, if it comes to the set in both passes.
func (s *drifting) both(run int) int {
	n := s.fewest() - 1 - (run-1+1<<s.bits-1)>>s.bits
	if s.run > 1 {
		n -= 2 // the last line may be cut off, and be that on which it begins again
	}
	return n
}

// all reports whether an access that moves comes to all sets, in enough iterations.
func (s *drifting) all() bool { return 1<<s.bits == s.run*len(s.often) }

// fewest is how often an access that moves comes to a set at least, if it does at all.
func (s *drifting) fewest() int { return (s.trips - s.run + 1) >> s.bits }

// counted counts passes, and returns up to which it could.
func (l *drift) counted(m *machine, c *context, from, to int) (y int) {
	l.age++
	l.forget()
	l.look(m, from-1, 1, to)
	for y = from; y < to; {
		same := min(l.look(m, y, 1, to), to-y)
		k := l.recall(m)
		if k == nil {
			return y
		}
		l.add(c, k, same-1)
		y += same
	}
	return y
}

// recall finds what misses in the pass that was looked at; nil if that is not known.
func (l *drift) recall(m *machine) *recalled {
	mask := m.levels[0].Sets - 1
	key, at := l.key[:0], 0
	for i := range l.streams {
		if s := &l.streams[i]; s.own != 0 {
			at = s.is.line & mask
			was := -1 // where it was
			if s.moved {
				was = s.was.line & mask
			}
			key = append(key, at, s.is.off, was, s.was.off)
		}
	}
	for i := range l.stills {
		if t := &l.stills[i]; t.own != 0 {
			at = t.is & mask
			key = append(key, at, t.was&mask)
		}
	}
	l.key = key
	k := &l.known[at]
	if k.age == l.age && slices.Equal(k.key, key) {
		return k
	}
	if k.age = 0; k.key == nil {
		k.here, k.steady = l.newTally(), l.newTally()
	}
	k.key = append(k.key[:0], key...)
	if !l.tally(m, &k.here, true) || !l.tally(m, &k.steady, false) {
		return nil
	}
	k.age = l.age
	return k
}

// add counts what misses in a pass, and in so many that touch the same lines.
func (l *drift) add(c *context, k *recalled, times int) {
	s := c.states[0]
	for i := range l.streams {
		for j, op := range l.streams[i].ops {
			at := i*len(l.loops) + j
			s.misses[op-s.opLow] += uint64(k.here.streams[at] + times*k.steady.streams[at])
		}
	}
	for i := range l.stills {
		s.misses[l.stills[i].op-s.opLow] += uint64(k.here.stills[i] + times*k.steady.stills[i])
	}
}
