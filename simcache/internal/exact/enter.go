package exact

import "github.com/stridebench/stridebench/layouts/nest"

// mostEntering is how large a table is that says when an access comes to a row.
const mostEntering = 1 << 14

// An enter is what is needed to run an inner loop in a row alone.
type enter struct {
	accesses []entering
	moves    []int    // those that do not rest
	here     []int    // scratch: of those that rest, the ones in the row
	spans    [][2]int // scratch: of the loop in one around, and by what they go on there
}

// An entering says when an access comes to a row, and where in it.
type entering struct {
	stride   int
	shift    uint     // of units: all places in one are in one line
	after    []coming // by unit
	again    []coming // alike, from a unit in the row on: after one iteration at least
	place, y int      // scratch: where it is in iteration y, in which it is in the row
	at, own  int      // scratch: its address in the loop around, and by what that goes on
}

// A coming is after so many iterations, -1 if never, in a unit.
type coming struct{ after, unit int32 }

// enter prepares an inner loop to be run in a row alone. The table of an access
// that moves is by its place relative to the row's, modulo the span of the sets, in
// units of the greatest power of two that divides lines and stride. As many lines
// that rest as there are ways would leave none to others.
func (m *machine) enter(n *node) *enter {
	in, line := n.inside, 1<<m.levels[0].Shift
	if !in.plain {
		return nil
	}
	rests := 0
	o := &enter{accesses: make([]entering, len(in.refs))}
	for i, r := range in.refs {
		e := &o.accesses[i]
		unit := nest.GCD(r.stride, line)
		if *e = (entering{stride: r.stride, shift: uint(trailing(uint64(unit)))}); r.stride == 0 {
			rests += 1 - in.repeats(i)
			continue
		}
		o.moves = append(o.moves, i)
		if m.span/unit > mostEntering {
			return nil
		}
		e.tables(m.span/unit, line/unit)
	}
	if rests >= m.levels[0].Ways {
		return nil
	}
	return o
}

// tables makes an access's tables, for a span and a line of so many units.
func (e *entering) tables(span, line int) {
	e.after, e.again = make([]coming, span), make([]coming, line)
	for at := range e.after {
		e.after[at].after = -1
	}
	for at := range line {
		e.after[at] = coming{0, int32(at)}
	}
	for end := range line {
		at := end
		for k := int32(1); ; k++ { // back from where it comes to the row
			at = modulo(at-e.stride>>e.shift, span)
			if e.after[at].after == 0 {
				e.again[at] = coming{k, int32(end)}
			}
			if e.after[at].after >= 0 {
				break
			}
			e.after[at] = coming{k, int32(end)}
		}
	}
}

// inRow puts down the accesses of so many iterations that are in a row of a state: those
// that move, when they come, and between any two of these those that rest, once for the
// rest of the one's iteration, once for all iterations between, and once for the start
// of the other's. It returns the last iteration in which something that moves is in the row, -1 if
// there is none, and the next after all.
func (m *machine) inRow(in *inner, o *enter, s *state, row, end int) (last, next int) {
	o.begin(m, in, s, row)
	rest := func(after, before int) {
		for _, i := range o.here {
			if i > after && i < before {
				m.put(uint32(in.at[i]>>s.shift)+1, in.refs[i].op)
			}
		}
	}
	const all = 1 << 20
	for y, ref := -1, all; ; {
		i, next, other := o.next(end)
		if len(o.here) > 0 && (next > y || i < 0) {
			rest(ref, all)
			if min(next, end) > y+1 {
				rest(-1, all)
			}
			ref = -1
		}
		if i < 0 {
			return y, next
		}
		rest(ref, i)
		y, ref = m.come(in, o, s, i, other), i
	}
}

// come puts down an access where it comes to the row, and returns when it did last. Where nothing
// rests there it goes on until another comes.
func (m *machine) come(in *inner, o *enter, s *state, i, other int) (y int) {
	e, at, op, line := &o.accesses[i], in.at[i], in.refs[i].op, 1<<s.shift
	for {
		y = e.y
		m.put(uint32((at+e.stride*y)>>s.shift)+1, op)
		if !e.stay(other-1, line) {
			e.move(e.again)
		}
		if len(o.here) > 0 || e.y >= other {
			return y
		}
	}
}

// noIteration is after all.
const noIteration = 1 << 60

// begin finds what rests in a row, and when the others first come to it.
func (o *enter) begin(m *machine, in *inner, s *state, row int) {
	o.here = o.here[:0]
	for i := range o.accesses {
		e := &o.accesses[i]
		if e.stride == 0 {
			if s.row(uint32(in.at[i]>>s.shift)+1) == row {
				o.here = append(o.here, i)
			}
			continue
		}
		e.place = modulo(in.at[i]-(row+int(s.turn))<<s.shift, m.span)
		if e.y = 0; e.after[e.place>>e.shift].after < 0 {
			e.y = noIteration
			continue
		}
		e.move(e.after)
	}
}

// next returns the access that comes next, before some iteration, -1 if none does, and
// when; and when another does, or the iteration is.
func (o *enter) next(end int) (i, y, other int) {
	i, y, other = -1, noIteration, noIteration
	for _, k := range o.moves {
		if at := o.accesses[k].y; at < y {
			i, y, other = k, at, y
		} else {
			other = min(other, at)
		}
	}
	if y >= end {
		i = -1
	}
	return i, y, min(other, end)
}

// move moves an access on to where it comes.
func (e *entering) move(by []coming) {
	to := by[e.place>>e.shift]
	e.y += int(to.after)
	e.place = int(to.unit)<<e.shift | e.place&(1<<e.shift-1)
}

// stay moves an access on to the last iteration up to one in which it is in the same
// line. It reports whether that is a later one. In between, it is alone with what
// rests: nothing else happens.
func (e *entering) stay(limit, line int) bool {
	if e.stride >= line || e.stride <= -line {
		return false
	}
	k := e.place
	if e.stride > 0 {
		k = line - 1 - e.place
	}
	k = min(k/max(e.stride, -e.stride), limit-e.y)
	if k <= 0 {
		return false
	}
	e.y += k
	e.place += k * e.stride
	return true
}
