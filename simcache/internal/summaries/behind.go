package summaries

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Where a loop goes on evenly in a first level ([drift.isEven]), what goes on to the second in a pass is known: of
// each access that moves all its lines, or those that it was not on in the pass before, and of what rests each line
// that is new. So its misses there are known, too, without being looked up, once each of its sets got as
// many lines as it has ways since the loop began.
//
// What is new to a pass was not touched since then, and misses in both levels. All else that goes on did so
// in the pass before, or the loop before in this one, and hits if no set gets more lines of two passes than it has ways.
//
// Where nothing goes on again, a summary of all passes, moved from instance to instance, takes less.
//
// The end is run, on both levels as they are, from so far back that each set of the second gets as many lines as
// it has ways after the first level is as it would be. That begins a pass ahead of these, at least: what went on only in
// the first pass on its lines does so ahead of what goes on again.

// mostBehind: of so many passes no more than one may have to be run for the second level.
const mostBehind = 2

// again reports whether something goes on to the second level that did so in the pass before.
func (l *drift) again() bool {
	return slices.ContainsFunc(l.streams, func(s drifting) bool {
		return s.misses && (s.run == 1 || s.own == 0 || len(l.loops) > 1)
	})
}

// hitsBehind reports whether all that goes on to the second level again hits there.
func (l *drift) hitsBehind(m *machine) bool {
	sets, lines := m.levels[1].Sets, 0 // of a set
	for i := range l.streams {
		s := &l.streams[i]
		period, n := sets, s.trips/s.run+2
		if s.run == 1 {
			period, n = sets/nest.GCD(s.step, sets), (s.trips+s.parts-1)/s.parts
		}
		each := (n + period - 1) / period * s.parts
		if lines += each; s.own != 0 {
			lines += each
		}
	}
	for i := range l.stills {
		if lines++; l.stills[i].own != 0 {
			lines++
		}
	}
	return lines <= m.levels[1].Ways
}

// floodsBehind returns the pass up to which, from one on, or back, each set of the second level gets as many lines
// as it has ways; -1 if there is none among so many passes.
func (l *drift) floodsBehind(m *machine, y, by, most, trips int) int {
	if len(l.behind) == 0 {
		l.behind = make([]int, m.levels[1].Sets)
	}
	clear(l.behind)
	l.forget()
	for begun := y; y >= 0 && y < trips && (y-begun)*by < most; {
		first := y == begun
		same := l.look(m, y, by, trips)
		more := false
		for i := range l.streams {
			s := &l.streams[i]
			if s.anew(y, first, m.levels[0].Shift) && (s.own != 0 && (!first || by < 0) || first && s.misses) {
				l.putBehind(s, y, m.levels[0].Shift)
				more = true
			}
		}
		if more && slices.Min(l.behind) >= m.levels[1].Ways {
			return y
		}
		y += by * same
	}
	return -1
}

// putBehind counts the lines of an access in a pass by the sets of the second level, but for one that it may have
// been on in the pass before.
func (l *drift) putBehind(s *drifting, y int, shift uint) {
	at, step, n := s.is.line*s.parts+s.is.off, s.step, s.trips
	if s.run > 1 {
		at, step, n = s.is.line+1, 1, s.end(y, shift)-s.is.line
	}
	all, part := len(l.behind)*s.parts, trailing(uint64(s.parts))
	at, step = modulo(at, all), modulo(step, all)
	for range n {
		l.behind[at>>part]++
		if at += step; at >= all {
			at -= all
		}
	}
}

// driftsBehind runs a loop on two levels by its drift, of which so many passes are to be run for the first, and
// reports whether it did. What goes on again hits in the second.
func (l *drift) driftsBehind(m *machine, n *node, c *context, from, trips int) bool {
	most := trips / mostBehind
	from = max(from, l.ownFrom(m, trips))
	flooded := l.floodsBehind(m, from, 1, most-from, trips)
	if flooded < 0 {
		return false
	}
	from = flooded + 1
	last := l.floodsBehind(m, trips-1, -1, most-from, trips)
	if last < 1 {
		return false
	}
	if last, _ = l.reaches(m, last-1, -1, trips); last < 0 || (trips-last+from)*mostBehind > trips {
		return false
	}
	m.iterations(n, c, 0, from, true)
	l.evenly(m, c, from, trips)
	l.newBehind(m, c.states[1], from, trips)
	at := len(m.saved)
	for _, s := range c.states {
		m.saved = append(m.saved, s.misses...)
	}
	m.iterations(n, c, last, trips, true)
	saved := m.saved[at:]
	for _, s := range c.states {
		copy(s.misses, saved)
		saved = saved[len(s.misses):]
	}
	m.saved = m.saved[:at]
	m.did.Drifted += trips - from
	m.did.Beyond++
	if slices.ContainsFunc(l.streams, func(s drifting) bool { return s.parts > 1 }) {
		m.did.Parted++
	}
	if l.singles() > 0 {
		m.did.Singles++
	}
	return true
}

// newBehind counts what is new to even passes in the second level.
func (l *drift) newBehind(m *machine, s *state, from, to int) {
	shift := m.levels[0].Shift
	for i := range l.streams {
		r := &l.streams[i]
		s.misses[r.ops[0]] += uint64(r.news(from, to, shift))
	}
	for i := range l.stills {
		t := &l.stills[i]
		s.misses[t.op] += uint64(t.news(from, to, shift))
	}
}

// news is how many lines an access that moves comes to in some passes that it was not on in the one before.
func (r *drifting) news(from, to int, shift uint) (lines int) {
	switch {
	case r.own == 0:
	case r.run == 1:
		for k := range r.parts {
			lines += (r.trips + r.parts - 1 - k) / r.parts * moves(r.start+r.stride*k, r.own, from, to, shift)
		}
	default:
		for y := from; y < to; y++ {
			first := (r.start + r.own*y) >> shift
			if lines += r.end(y, shift) - first + 1; r.end(y-1, shift) == first {
				lines--
			}
		}
	}
	return lines
}

// A column may go down by other than whole lines: then its addresses are in several parts of a line by turns, and from pass to
// pass one part of it after another moves on to other lines. All of its lines miss in the first level: where anything goes
// on again, some set gets as many lines as it has ways, so that all misses, or it is not even. If a column goes on for
// long, an address comes to the lines that the next one was on, which must be ahead of all that is counted.

// ownFrom is the pass from which on no column of several parts comes to a line on which another of its addresses was since.
func (l *drift) ownFrom(m *machine, trips int) (from int) {
	for i := range l.streams {
		if s := &l.streams[i]; s.parts > 1 && s.own != 0 {
			from = max(from, trips-1-(max(s.stride, -s.stride)-1<<m.levels[0].Shift)/max(s.own, -s.own))
		}
	}
	return from
}

// anew reports whether all lines of an access that moves, in a pass, are others than those when this was so before,
// since the first pass; so it is in that. There are less passes than in which an address comes to the next one's lines: no more
// than half may be run.
func (s *drifting) anew(y int, first bool, shift uint) bool {
	if s.parts == 1 {
		return s.moved || first
	}
	at := s.start + s.own*y
	if far := at - s.counted; !first && max(far, -far) < 1<<shift {
		return false
	}
	s.counted = at
	return true
}

// oftenInParts finds how often a column of several parts comes to the sets ahead of its first line, in which
// part of it begins.
func (s *drifting) oftenInParts(part int) {
	clear(s.often)
	all, shift := len(s.often)*s.parts, trailing(uint64(s.parts))
	at, step := part, modulo(s.step, all)
	for range s.trips {
		set := &s.often[at>>shift]
		*set = uint8(min(math.MaxUint8, int(*set)+1))
		if at += step; at >= all {
			at -= all
		}
	}
}

// An access ahead of the innermost loops, or behind them, may be where nothing rests, and go on by a line or more from pass
// to pass: it is on a new line in each. Of one array there may be two columns, of which one is where it was in each pass; as
// long as the other is on the same lines, passes are run.

// addSingle adds a single access.
func (l *drift) addSingle(n, c *node) *still {
	l.stills = append(l.stills, still{addr: c.addr, own: c.addr.coef(n.slot), op: c.op, single: true})
	return &l.stills[len(l.stills)-1]
}

// singles is how many single accesses there are: lines of two passes may be touched between those of what rests.
func (l *drift) singles() (n int) {
	for i := range l.stills {
		if l.stills[i].single {
			n++
		}
	}
	return n
}

// news is on how many new lines a still access is in some passes.
func (t *still) news(from, to int, shift uint) int {
	if t.single {
		return to - from
	}
	return moves(t.start, t.own, from, to, shift)
}

// leaves is a pass in which all columns that move from pass to pass are on other lines than in the first.
func (l *drift) leaves(m *machine) (y int) {
	for i := range l.streams {
		if s := &l.streams[i]; s.run == 1 && s.own != 0 {
			y = max(y, (1<<m.levels[0].Shift-1)/max(s.own, -s.own)+1)
		}
	}
	return y
}

// among reports whether two columns go down by as many whole lines, and never share one, as they begin at different
// ones of these.
func (s *drifting) among(o *drifting, starts, others reach, shift uint) bool {
	step := max(s.stride, -s.stride) >> shift
	return s.run == 1 && s.parts == 1 && o.parts == 1 && s.stride == o.stride && floorDiv(starts.high-others.low, step) == floorDiv(starts.low-others.high-1, step)
}
