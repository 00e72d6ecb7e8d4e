package summaries

import (
	"slices"
)

// Where there is a second level, what misses the first in a lap of a slide goes on to it: as it is
// known, in order, with no need to run the lap.

// A feeding is what goes on to the second level in a lap.
type feeding struct {
	rests  []int // lines
	missed []absence
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
	f := &l.fed
	f.rests = append(f.rests[:0], l.here.lines[:l.rests]...)
	f.missed = append(f.missed[:0], l.missed...)
	l.feedAt(-1)
	l.feedLoop(m, c, trips)
	l.feedAt(len(l.refs))
	f.flush(c)
	m.did.Fed++
	m.did.Touched += trips
}

// flush sends on what was put down.
func (f *feeding) flush(c *context) {
	if len(f.lines) > 0 {
		c.bring(f.lines, f.ops)
		f.lines, f.ops = f.lines[:0], f.ops[:0]
	}
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
func (l *slide) feedLoop(m *machine, c *context, to int) {
	f, shift := &l.fed, m.levels[0].Shift
	direct := len(l.columns) == 1 && c.states[1].bringsColumns()
	l.start(m, to)
	for k := 0; k < to; {
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

// start finds where the accesses of the innermost loop begin, and in which iteration, or not up
// to an end, something is put down of each that is no column.
func (l *slide) start(m *machine, to int) {
	f := &l.fed
	f.at, f.next, f.sent = f.at[:0], f.next[:0], f.sent[:0]
	for i := range l.refs {
		r := &l.refs[i]
		next := 0
		if r.column {
			next = to
		}
		f.at, f.next = append(f.at, r.base.at(m.slots)), append(f.next, next)
	}
	for range l.columns {
		f.sent = append(f.sent, 0)
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
