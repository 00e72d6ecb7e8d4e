package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Where there is a second level, what misses the first in a lap of a slide goes on to it: as it is
// known, in order, with no need to run the lap.
//
// Mostly a lap's innermost loop misses on the lines on which the one of the lap before did, and maybe on more
// behind them, as it is longer. If no set of the second level gets more lines of a lap than it
// has ways, all that were there before are there, on top, in the order in which they come again: so they
// stay as they are, what rests or is ahead slips in below them, and what is behind them goes on.

// A feeding is what went on to the second level in the lap before.
type feeding struct {
	known  bool
	rests  []int // lines
	missed []absence
	trips  int
	begin  []int    // of each column, where it begins, by so many bytes that all its lines follow from that
	at     []int    // scratch: addresses of the innermost loop's accesses, in its first iteration
	next   []int    // scratch: in which it puts something down again, of those that are no columns
	sent   []int    // scratch: before which it put all down, of columns
	lines  []uint32 // scratch: what goes on
	ops    []uint16
}

// An absence is a line of what rests, or is ahead or behind, that misses: at the access of the innermost
// loop that it is, or ahead of all, or behind.
type absence struct{ op, line, at int }

// feeds reports whether a lap's misses can go on to what is behind the first level, if anything is.
func (m *machine) feeds(c *context) bool { return len(c.states) == 1 || m.deep && len(c.states) == 2 }

// feed sends on what misses in a lap that was looked at, of so many trips.
func (l *slide) feed(m *machine, c *context, trips int) {
	if len(c.states) == 1 {
		return
	}
	f, from := &l.fed, 0
	if l.again(m, trips) {
		from = f.trips
		m.did.Spared++
		same := slices.Equal(f.missed, l.missed)
		if same && from == trips {
			return
		}
		if !same {
			l.slipIn(m, c.states[1])
		}
	}
	f.known, f.trips = true, trips
	f.rests, f.missed = append(f.rests[:0], l.here.lines[:l.rests]...), append(f.missed[:0], l.missed...)
	if from == 0 {
		l.feedAt(-1)
	}
	l.feedLoop(m, c, from, trips)
	l.feedAt(len(l.refs))
	f.flush(c)
	m.did.Fed++
	m.did.Touched += trips - from
}

// flush sends on what was put down.
func (f *feeding) flush(c *context) {
	if len(f.lines) > 0 {
		c.bring(f.lines, f.ops)
		f.lines, f.ops = f.lines[:0], f.ops[:0]
	}
}

// again reports whether a lap's innermost loop misses on the lines on which it did in the lap before, and maybe
// on more behind them, and those that were there before are in the second level.
func (l *slide) again(m *machine, trips int) bool {
	f, line := &l.fed, 1<<m.levels[0].Shift
	again := f.known && trips >= f.trips
	f.begin = slices.Grow(f.begin, len(l.columns))[:len(l.columns)]
	for k, i := range l.columns {
		r := &l.refs[i]
		at := r.base.at(m.slots) / nest.GCD(r.stride, line)
		again = again && f.begin[k] == at
		f.begin[k] = at
	}
	if !again || !slices.Equal(f.rests, l.here.lines[:l.rests]) {
		return false
	}
	first := slices.IndexFunc(l.refs, func(r gliding) bool { return r.place < 0 })
	within := func(a absence) bool { return a.at > first && a.at < len(l.refs) }       // behind a line of a column or a row
	out := func(a absence) bool { return a.at == len(l.refs) && l.comesTo(m, a.line) } // of order, where it is on top
	return !slices.ContainsFunc(l.missed, within) && l.fits(m, trips) && !slices.ContainsFunc(f.missed, out)
}

// isBehind is how many lines missed behind the innermost loop.
func (f *feeding) isBehind(l *slide) (n int) {
	for _, a := range f.missed {
		if a.at == len(l.refs) {
			n++
		}
	}
	return n
}

// fits reports whether no set of the second level gets more lines of a lap, and of what was behind the innermost loop in
// the lap before, than it has ways.
func (l *slide) fits(m *machine, trips int) bool {
	line, sets, most := 1<<m.levels[0].Shift, m.levels[1].Sets, len(l.missed)+l.fed.isBehind(l)
	for i := range l.refs {
		switch r := &l.refs[i]; {
		case r.column:
			g := nest.GCD(r.stride, sets*line)
			period := sets * line / g
			most += (trips + period - 1) / period * ((line + g - 1) / g)
		case r.place < 0:
			lines := r.reach(m, 0, trips-1)
			most += (lines.high-lines.low)/sets + 1
		}
	}
	return most <= m.levels[1].Ways
}

// slipIn touches in the second level what misses ahead of the innermost loop, and then, in the sets of that and of
// what missed behind it in the lap before, what the innermost loop comes to again.
func (l *slide) slipIn(m *machine, s *state) {
	f, sets := &l.fed, l.recent[:0]
	touch := func(a absence) (set int) {
		if set = s.row(uint32(a.line) + 1); !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
		return set
	}
	for _, a := range f.missed {
		if a.at == len(l.refs) {
			touch(a)
		}
	}
	for _, a := range l.missed {
		if a.at < len(l.refs) {
			touch(a)
		}
	}
	for _, at := range sets {
		row := s.tags[at*s.ways:][:s.ways]
		s.changed[at>>6] |= 1 << (at & 63)
		f.lines = f.lines[:0]
		for _, line := range row {
			if line != 0 && l.comesTo(m, int(line)-1) {
				f.lines = append(f.lines, line)
			}
		}
		for _, a := range l.missed {
			if a.at < len(l.refs) && touch(a) == at && !present(row, uint32(a.line)+1) {
				s.misses[a.op-s.opLow]++
			}
		}
		slices.Reverse(f.lines)
		for _, line := range f.lines {
			present(row, line)
		}
	}
	f.lines, l.recent = f.lines[:0], sets[:0]
}

// comesTo reports whether the innermost loop missed on a line in the lap before, of whose columns and
// rows all lines are where they are in this one.
func (l *slide) comesTo(m *machine, line int) bool {
	shift := m.levels[0].Shift
	for i := range l.refs {
		r := &l.refs[i]
		switch {
		case r.place >= 0:
		case r.column:
			far, at := line<<shift-r.base.at(m.slots), r.base.at(m.slots)
			k := max(0, far/r.stride) // it is there in this iteration, or the next, or never
			for end := min(k+2, l.fed.trips); k < end; k++ {
				if (at+r.stride*k)>>shift == line {
					return true
				}
			}
		case r.reach(m, 0, l.fed.trips-1).holds(line) && !slices.Contains(l.fed.rests, line):
			return true
		}
	}
	return false
}

// put puts down a line that goes on.
func (f *feeding) put(line, op int) {
	f.lines, f.ops = append(f.lines, uint32(line)+1), append(f.ops, uint16(op))
}

// feedAt puts down what misses at an access of the innermost loop that rests, or ahead of all, or behind.
func (l *slide) feedAt(at int) {
	for _, a := range l.fed.missed {
		if a.at == at {
			l.fed.put(a.line, a.op)
		}
	}
}

// feedLoop puts down what misses in iterations of the innermost loop.
func (l *slide) feedLoop(m *machine, c *context, from, to int) {
	f, shift := &l.fed, m.levels[0].Shift
	direct := len(l.columns) == 1 && c.states[1].bringsColumns()
	l.start(m, from, to)
	for k := from; k < to; {
		next := to
		for i := range l.refs {
			r := &l.refs[i]
			if f.next[i] == k {
				l.feedColumns(c, k, i, shift, direct)
				if at := f.at[i] + r.stride*k; r.place >= 0 {
					l.feedAt(i)
					f.next[i] = to
				} else {
					f.feedRow(c, at, r.op, shift, direct)
					f.next[i] = k + stays(at, r.stride, 1<<shift)
				}
			}
			next = min(next, f.next[i])
		}
		k = next
	}
	l.feedColumns(c, to, 0, shift, direct)
}

// start finds where the accesses of the innermost loop begin, and in which iteration from one on, or
// not up to an end, something is put down of each that is no column.
func (l *slide) start(m *machine, from, to int) {
	f := &l.fed
	f.at, f.next, f.sent = f.at[:0], f.next[:0], f.sent[:0]
	for i := range l.refs {
		r := &l.refs[i]
		at, next := r.base.at(m.slots), to
		switch {
		case r.column:
		case from == 0:
			next = 0
		case r.place < 0:
			next = from - 1 + stays(at+r.stride*(from-1), r.stride, 1<<m.levels[0].Shift)
		}
		f.at, f.next = append(f.at, at), append(f.next, next)
	}
	for range l.columns {
		f.sent = append(f.sent, from)
	}
}

// feedRow puts down a line of a row, or sends it on, which misses unless something rests there.
func (f *feeding) feedRow(c *context, at int, op int, shift uint, direct bool) {
	switch {
	case slices.Contains(f.rests, at>>shift):
	case direct:
		f.flush(c)
		c.states[1].bringColumn(at, 0, op, 1)
	default:
		f.put(at>>shift, op)
	}
}

// feedColumns puts down the columns' lines, or sends them on behind all that was put down: of iterations up to
// one, and in that up to an access.
func (l *slide) feedColumns(c *context, end, access int, shift uint, direct bool) {
	f := &l.fed
	if i := l.columns[0]; direct {
		from, to, r := f.sent[0], end, &l.refs[i]
		if i < access {
			to++
		}
		if f.sent[0] = to; from < to {
			f.flush(c)
			c.states[1].bringColumn(f.at[i]+r.stride*from, r.stride, r.op, to-from)
		}
		return
	}
	for k := f.sent[len(f.sent)-1]; k <= end; k++ {
		for j, i := range l.columns {
			if f.sent[j] == k && (k < end || i < access) {
				f.put((f.at[i]+l.refs[i].stride*k)>>shift, l.refs[i].op)
				f.sent[j]++
			}
		}
	}
}
