package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// An innermost loop that goes down columns mostly brings more lines to each set that it
// comes to than there are ways: it floods them. What is in a flooded set then was
// touched in that pass or later, so that whatever was not is absent, and a line that the
// next pass touches again at the same iteration is gone by then. So the misses of such a
// pass are known from where its accesses are, and nothing need be run but the last
// passes through each set, in the end, for what they leave behind.
//
// The conditions. The loop around has, beside the innermost one, accesses only, and the
// trips are the same in all its iterations. What moves goes on by whole lines, each time or
// after a whole number of iterations; no two accesses that move share a line, nor does one
// with a line that rests, but in the last iteration, where that makes it a hit. With
// twice as many lines as move, and those that rest, in the ways, all that rests stays
// from one iteration to the next, of either loop. A line that rests counts once, however often it is
// accessed, but twice if it goes on with the loop around and is accessed more than once: before what else rests comes
// again, one may be touched in the end of one pass, and the next in the start of the next.
//
// Where iterations that touch the same lines follow each other, sets may as well be calm:
// all lines that come to them fit. Then only the first of these iterations is run.

// A flood is what is known of a loop around an innermost one that may flood sets.
type flood struct {
	loop    *node // the innermost
	moves   []flow
	singles []single
	classes int    // of sets: what is known of sets is known of those alike modulo classes
	every   int    // the greatest of the moves'
	pattern uint64 // the sets of class 0 modulo every, a bit each
	trips   int    // scratch: of the innermost loop
	fills   bool   // scratch: so many may flood sets
	passes  []pass // scratch: the last ones, which are all that decides what is in sets that were flooded
	stale   bool   // scratch: the state is not yet what they leave
	equal   []bool // scratch: of moves: it is where it was in the pass before
	misses  []int  // scratch: of singles
	here    pass   // scratch: the one that is looked at
	before  []pass // scratch: the last ones, before others
	look    int    // scratch: from which iteration on it is tried to count all that are left at once
	apart   bool   // scratch: its accesses share no lines but where they may
	calm    [mostEvery]bool
}

// A flow is an access that moves in the innermost loop.
type flow struct {
	op     int
	base   affine
	stride int
	step   int  // lines from one that it touches to the next
	run    int  // iterations that it is in one
	period int  // iterations after which it comes to a set again
	every  int  // it comes to each so many-th set
	again  bool // it is accessed again in the same iteration, maybe behind others
}

// A single is an access to one line in each iteration of the loop around.
type single struct {
	op    int
	addr  affine
	where side
	again bool // it is accessed again in the same iteration
}

// Where a single is, by the innermost loop.
type side uint8

const (
	ahead side = iota
	within
	behind
)

// A stream is the lines of an access in a pass: every step-th from low to high.
type stream struct {
	low, high, step int
	trips           int // in which it is not on a line that rests
}

// A pass is an iteration of the loop around. Sets are a bit each, by class.
type pass struct {
	y                int
	streams          [mostStreams]stream // of moves, then of singles
	sides            [mostStreams]uint8  // of singles: where their lines are touched, a bit for each side
	first            [mostStreams]bool   // of singles: no other touches the line before
	flooded, touched uint64
}

const (
	mostStreams = 8  // of a pass
	mostPasses  = 16 // that are remembered
	mostEvery   = 8
)

// flood prepares a loop for floods; nil if there can be none.
func (m *machine) flood(n *node) *flood {
	sets := m.levels[0].Sets
	if n.kind != loop || n.inner || m.deep || len(m.levels) > 1 || sets&(sets-1) != 0 {
		return nil
	}
	list := n.body
	if len(list) == 1 && list[0].kind == block {
		list = list[0].body
	}
	f := &flood{classes: min(sets, 64), every: 1}
	for _, c := range list {
		switch {
		case c.kind == access && !c.straddles:
			where := ahead
			if f.loop != nil {
				where = behind
			}
			f.singles = append(f.singles, single{op: c.op, addr: c.addr, where: where})
		case c.inner && f.loop == nil && c.inside.plain && c.firstSlot < 0:
			if f.loop = c; !m.flows(f, n) {
				return nil
			}
		default:
			return nil
		}
	}
	if len(f.moves) == 0 || len(f.moves)+len(f.singles) > mostStreams || 2*len(f.moves)+f.resting(n.slot) > m.levels[0].Ways {
		return nil
	}
	for at := 0; at < f.classes; at += f.every {
		f.pattern |= 1 << at
	}
	f.equal, f.misses = make([]bool, len(f.moves)), make([]int, len(f.singles))
	return f
}

// resting is how many lines that rest may be touched between two touches of one of them, itself among them.
func (f *flood) resting(slot int) (lines int) {
	for i := range f.singles {
		a := &f.singles[i].addr
		same := func(t single) bool { return t.addr.same(a) }
		if slices.ContainsFunc(f.singles[:i], same) {
			continue
		}
		if lines++; a.coef(slot) != 0 && (f.singles[i].again || slices.ContainsFunc(f.singles[i+1:], same)) {
			lines++
		}
	}
	return lines
}

// flows lists the accesses of the innermost loop, and reports whether they may flood.
func (m *machine) flows(f *flood, n *node) bool {
	line := 1 << m.levels[0].Shift
	if slices.ContainsFunc(f.loop.spans, func(a affine) bool { return a.coef(n.slot) != 0 }) {
		return false
	}
	for i, r := range f.loop.inside.refs {
		far := max(r.stride, -r.stride)
		v := flow{op: r.op, base: r.base, stride: r.stride, step: max(1, far/line), run: 1, every: 1}
		switch {
		case f.loop.inside.repeats(i) > 0:
			for k := range f.singles {
				f.singles[k].again = f.singles[k].again || far == 0 && f.singles[k].addr.same(&r.base)
			}
			for k := range f.moves {
				f.moves[k].again = f.moves[k].again || f.moves[k].stride == r.stride && f.moves[k].base.same(&r.base)
			}
			continue
		case far == 0:
			f.singles = append(f.singles, single{op: r.op, addr: r.base, where: within})
			continue
		case far%line == 0:
			g := nest.GCD(far, m.span)
			v.period, v.every = m.span/g, g/line
		case line%far == 0 && r.base.coef(n.slot)%line == 0:
			v.run = line / far
			v.period = m.levels[0].Sets * v.run
		default:
			return false
		}
		if v.every > min(mostEvery, f.classes) {
			return false
		}
		f.every = max(f.every, v.every)
		f.moves = append(f.moves, v)
	}
	return true
}

// floods returns what is known of a loop, if it may flood sets in the context: where lines
// that were not there are misses, and no more is kept of them.
func (m *machine) floods(n *node, c *context) *flood {
	f, s := n.flood, c.states[0]
	if f == nil || !m.keeps || len(c.states) > 1 || s.rowMisses != nil || s.log != nil {
		return nil
	}
	f.fills = f.fillsSets(m)
	f.passes, f.stale, f.look = f.passes[:0], false, 0
	return f
}

// fillsSets finds the trips of the innermost loop, and reports whether so many may flood sets.
func (f *flood) fillsSets(m *machine) bool {
	lines := 0
	f.trips = f.loop.trips(m.slots)
	for i := range f.moves {
		lines += f.trips / f.moves[i].period
	}
	return lines >= m.levels[0].Ways
}

// at finds where everything is in an iteration, and reports whether no two accesses
// share a line where they may not.
func (f *flood) at(m *machine, n *node, y int, p *pass) bool {
	*p = pass{y: y}
	m.slots[n.slot], m.slots[f.loop.slot] = y, 0
	shift, trips := m.levels[0].Shift, f.trips
	singles := p.streams[len(f.moves):][:len(f.singles)]
	for i := range f.singles {
		line := f.singles[i].addr.at(m.slots) >> shift
		singles[i] = stream{line, line, 1, 0}
		p.touched |= 1 << (line & (f.classes - 1))
		p.sides[i], p.first[i] = 1<<f.singles[i].where, true
		for k := range i {
			if singles[k].low == line {
				p.first[i] = false
				p.sides[i] |= p.sides[k]
				p.sides[k] = p.sides[i]
			}
		}
	}
	for i := range f.moves {
		v := &f.moves[i]
		at := v.base.at(m.slots)
		last := (at + v.stride*(trips-1)) >> shift
		s := stream{step: v.step, trips: trips}
		if v.run == 1 && f.rests(singles, last) {
			s.trips--
			last = (at + v.stride*(trips-2)) >> shift
		}
		s.low, s.high = min(at>>shift, last), max(at>>shift, last)
		p.streams[i] = s
		if s.trips < 1 {
			return false
		}
		if s.meetsAny(p.streams[:i]) || s.meetsAny(singles) {
			return false
		}
	}
	return true
}

// rests reports whether a line rests in the innermost loop.
func (f *flood) rests(singles []stream, line int) bool {
	for i := range singles {
		if singles[i].low == line && f.singles[i].where == within {
			return true
		}
	}
	return false
}

// floodsAll finds the sets that a pass floods, and reports whether they are all that what
// moves comes to.
func (f *flood) floodsAll(m *machine, p *pass) bool {
	if len(f.passes) > 0 && f.alike(p, &f.passes[len(f.passes)-1]) {
		p.flooded = f.passes[len(f.passes)-1].flooded
		p.touched |= p.flooded
		return true
	}
	for class := range f.every {
		lines, comes := 0, false
		for i := range f.moves {
			if f.moves[i].comesTo(&p.streams[i], class) {
				lines += p.streams[i].trips / f.moves[i].period
				comes = true
			}
		}
		if comes && lines < m.levels[0].Ways {
			return false
		}
		if comes {
			p.flooded |= f.pattern << class
		}
	}
	p.touched |= p.flooded
	return true
}

// alike reports whether two passes come to the same classes of sets, as often.
func (f *flood) alike(p, o *pass) bool {
	for i := range f.moves {
		s, t := &p.streams[i], &o.streams[i]
		if s.trips != t.trips || (s.low-t.low)&(f.moves[i].every-1) != 0 {
			return false
		}
	}
	return true
}

// comesTo reports whether an access comes to sets of a class.
func (v *flow) comesTo(s *stream, class int) bool { return (s.low-class)&(v.every-1) == 0 }

// meets reports whether two streams may share a line.
func (s *stream) meets(o *stream) bool {
	if s.low > o.high || o.low > s.high {
		return false
	}
	switch {
	case s.step > 1 && (s.step == o.step || o.low == o.high):
		return (s.low-o.low)%s.step == 0
	case o.step > 1 && s.low == s.high:
		return (s.low-o.low)%o.step == 0
	}
	return true
}

// meetsAny reports whether a stream may share a line with any of a list.
func (s *stream) meetsAny(list []stream) bool {
	for i := range list {
		if s.meets(&list[i]) {
			return true
		}
	}
	return false
}

// absent reports whether no line of a stream was touched since its sets were flooded.
func (f *flood) absent(s *stream) bool {
	for i := range f.passes {
		if s.meetsAny(f.passes[i].streams[:len(f.moves)+len(f.singles)]) {
			return false
		}
	}
	return true
}

// follows reports whether all that moves in a pass misses on each of its lines, and which
// singles miss, in the first of so many iterations alike. Each set that it comes to was flooded.
func (f *flood) follows(m *machine, p *pass) bool {
	known := uint64(0)
	for i := range f.passes {
		known |= f.passes[i].flooded
	}
	if len(f.passes) == 0 || p.touched&^known != 0 {
		return false
	}
	before := &f.passes[len(f.passes)-1]
	for i := range f.moves {
		s, o := &p.streams[i], &before.streams[i]
		f.equal[i] = s.low == o.low && s.high == o.high
		if !f.equal[i] && !f.absent(s) {
			return false
		}
	}
	for i := range f.moves {
		if f.equal[i] && !f.gone(m, i, p, before) {
			return false
		}
	}
	for i := range f.singles {
		if !f.meetsSingle(i, p, before) {
			return false
		}
	}
	return true
}

// gone reports whether the lines of an access that is where it was in the pass before are
// absent when it comes to them again.
func (f *flood) gone(m *machine, i int, p, before *pass) bool {
	for class := range f.every {
		if f.moves[i].comesTo(&p.streams[i], class) && f.others(i, class, p, before) < m.levels[0].Ways {
			return false
		}
	}
	return true
}

// others is how many other lines are touched at least in a set of a class, in which an
// access is that is where it was in the pass before, from when it leaves a line to the end
// of that pass, and from the start of this one until it comes to the line again. Of
// another access that is where it was, these are all, but for those that it touches while
// the one is in its line; of one that is elsewhere, but in the same sets, all but one.
func (f *flood) others(i, class int, p, before *pass) int {
	v, others := &f.moves[i], -1
	for k := range f.moves {
		w, s, o := &f.moves[k], &p.streams[k], &before.streams[k]
		switch {
		case !w.comesTo(s, class):
		case f.equal[k]:
			others += s.trips / w.period
			if k != i && (v.run > 1 || v.again) {
				others -= (v.run-1)/w.period + 1
			}
		case w.run == 1 && w.comesTo(o, class):
			others += max(0, (min(s.trips, o.trips)-v.run)/w.period-1)
		}
	}
	return others
}

// meetsSingle finds whether a single misses, which is known if its line is new, or rests
// in the innermost loop of this pass and the one before, or is touched on one side of the
// loop only.
func (f *flood) meetsSingle(i int, p, before *pass) bool {
	f.misses[i] = 0
	s, where := &p.streams[len(f.moves)+i], p.sides[i]
	if where == 1<<ahead|1<<behind {
		return false
	}
	if !p.first[i] {
		return true
	}
	if was := f.sidesOf(before, s.low); was != 0 {
		if was&where&(1<<within) != 0 {
			return true
		}
		bit := uint64(1) << (s.low & (f.classes - 1))
		if was != where || where&(1<<within) != 0 || before.flooded&p.flooded&bit == 0 {
			return false
		}
	} else if !f.absent(s) {
		return false
	}
	f.misses[i] = 1
	return true
}

// sidesOf returns where a line is touched by singles of a pass, a bit for each side.
func (f *flood) sidesOf(p *pass, line int) uint8 {
	for k := range f.singles {
		if p.streams[len(f.moves)+k].low == line {
			return p.sides[k]
		}
	}
	return 0
}

// next counts iterations of the loop from y on, of so many that touch the same lines, or of
// all up to end, and returns how many. If none, the state is up to date, and they have to be run.
func (f *flood) next(m *machine, n *node, c *context, y, same, end int) int {
	p := &f.here
	f.apart = f.at(m, n, y, p)
	ok := f.apart && f.fills && f.floodsAll(m, p)
	if ok && f.follows(m, p) {
		f.count(c, p, 1)
		f.add(m, n, c, p)
		m.did.Flooded++
		if k := f.goOn(m, n, c, y, end); k > 0 {
			return 1 + k
		}
		if same == 1 || !f.follows(m, p) {
			return 1
		}
		f.count(c, p, same-1)
		return same
	}
	f.settle(m, n, c)
	if p.y = y + same - 1; ok {
		f.add(m, n, c, p)
	} else {
		f.passes = f.passes[:0]
	}
	return 0
}

// again counts so many more iterations that touch the same lines as the one before, which
// was looked at, and is run by the caller. It reports whether it could: where each set that
// what moves comes to has all its lines gone when they are touched again, or, calm, no
// more lines than ways. Like that one, they leave their lines on top, in the same order.
func (f *flood) again(m *machine, c *context, times int) bool {
	if !f.apart {
		return false
	}
	p, s := &f.here, c.states[0]
	for class := range f.every {
		if f.calm[class] = f.most(m, p, class) <= s.ways; f.calm[class] {
			continue
		}
		for i := range f.moves {
			f.equal[i] = true
		}
		for i := range f.moves {
			if f.moves[i].comesTo(&p.streams[i], class) && f.others(i, class, p, p) < s.ways {
				return false
			}
		}
	}
	for i := range f.moves {
		s.misses[f.moves[i].op-s.opLow] += uint64(times * f.lost(i, p))
	}
	for i := range f.singles {
		if f.lostSingle(i, p) {
			s.misses[f.singles[i].op-s.opLow] += uint64(times)
		}
	}
	m.did.Same++
	return true
}

// most is how many lines may be in a set of a class at most.
func (f *flood) most(m *machine, p *pass, class int) int {
	lines := 0
	for i := range f.moves {
		v, s := &f.moves[i], &p.streams[i]
		switch {
		case !v.comesTo(s, class):
		case v.run > 1:
			lines += (s.high-s.low)/m.levels[0].Sets + 1
		default:
			lines += (s.trips-1)/v.period + 1
		}
	}
	for i := range f.singles {
		if (p.streams[len(f.moves)+i].low-class)&(f.every-1) == 0 {
			lines++
		}
	}
	return lines
}

// lost is how many lines of an access are in sets that are not calm.
func (f *flood) lost(i int, p *pass) (lines int) {
	s, all := &p.streams[i], p.streams[i].trips
	if f.moves[i].run > 1 {
		all = s.high - s.low + 1
	}
	for k := range min(all, f.every) { // classes come again after so many lines
		if !f.calm[(s.low+k*s.step)&(f.every-1)] {
			lines += (all-1-k)/f.every + 1
		}
	}
	return lines
}

// lostSingle reports whether a single misses in an iteration like the one before: the
// first behind the innermost loop, or ahead of it if there is none, of those of a line that
// does not rest in the loop, and is in a set that is not calm.
func (f *flood) lostSingle(i int, p *pass) bool {
	line := p.streams[len(f.moves)+i].low
	where := p.sides[i]
	if where&(1<<within) != 0 || f.calm[line&(f.every-1)] {
		return false
	}
	first := ahead
	if where&(1<<behind) != 0 {
		first = behind
	}
	for k := range f.singles[:i] {
		if p.streams[len(f.moves)+k].low == line && f.singles[k].where == first {
			return false
		}
	}
	return f.singles[i].where == first
}

// count counts so many passes alike.
func (f *flood) count(c *context, p *pass, times int) {
	s := c.states[0]
	for i := range f.moves {
		v, lines := &f.moves[i], p.streams[i].trips
		if v.run > 1 {
			lines = p.streams[i].high - p.streams[i].low + 1
		}
		s.misses[v.op-s.opLow] += uint64(times * lines)
	}
	for i, missed := range f.misses {
		s.misses[f.singles[i].op-s.opLow] += uint64(times * missed)
	}
	f.stale = true
}

// add remembers a pass that was made, or counted, and forgets those whose sets were all
// flooded since.
func (f *flood) add(m *machine, n *node, c *context, p *pass) {
	f.remember(p)
	if len(f.passes) > mostPasses {
		f.settle(m, n, c)
		f.passes = append(f.passes[:0], f.passes[1:]...)
	}
}

// remember is add, however many are remembered then.
func (f *flood) remember(p *pass) {
	since := p.flooded
	left := len(f.passes)
	for i := len(f.passes) - 1; i >= 0; i-- {
		old := f.passes[i]
		if old.touched&^since == 0 {
			continue
		}
		since |= old.flooded
		left--
		f.passes[left] = old
	}
	f.passes = append(f.passes[:0], f.passes[left:]...)
	f.passes = append(f.passes, *p)
}

// settle makes the state what the passes leave. Their misses were counted.
func (f *flood) settle(m *machine, n *node, c *context) {
	if !f.stale {
		return
	}
	s, at := c.states[0], len(m.saved)
	m.saved = append(m.saved, s.misses...)
	for i := range f.passes {
		m.slots[n.slot] = f.passes[i].y
		m.run(n.body, c)
		m.did.Replayed++
	}
	copy(s.misses, m.saved[at:])
	m.saved = m.saved[:at]
	f.stale = false
}
