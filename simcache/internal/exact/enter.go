package exact

import "github.com/stridebench/stridebench/layouts/nest"

const mostEntering = 1 << 14

// An enter is the data to run an inner loop in a single row.
type enter struct {
	accesses []entering
	moves    []int    // accesses that are not loop-invariant
	here     []int    // scratch: the loop-invariant accesses in the row
	spans    [][2]int // scratch: of the loop around one: its spans and their steps
}

// An entering says when an access reaches a row, and its place in the line then.
type entering struct {
	stride   int
	shift    uint     // of units; all places in a unit are in one line
	after    []coming // by unit: the first coming
	again    []coming // by unit in the row: the next coming, at least one iteration later
	place, y int      // scratch: its place in iteration y, in which it is in the row
	at, own  int      // scratch: its address in the loop around, and its stride there
}

// A coming is in a unit "after" iterations later, or never if -1.
type coming struct{ after, unit int32 }

// enter prepares an inner loop for a run in a single row, or returns nil.
//
// The table of a moving access is indexed by its place relative to the row, modulo the span of the
// sets. Its unit is the greatest power of two that divides line size and stride. Loop-invariant
// lines must leave a way to others.
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

// tables makes an access's tables. The span and a line are in units.
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
		for k := int32(1); ; k++ { // backwards from where it reaches the row
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

// inRow lists the accesses of iterations 0 to end that are in a row of a state, in order. Between
// two touches by moving accesses, it lists the loop-invariant ones:
//
//  1. once for the rest of the first one's iteration;
//  2. once for all iterations between;
//  3. once for the start of the second one's iteration.
//
// It returns the last iteration with a moving access in the row, or -1, and the next one after end.
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

// come lists an access in the row, and returns its last iteration there. Without loop-invariant
// accesses in the row, it continues until another access comes.
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

const noIteration = 1 << 60

// begin finds the loop-invariant accesses in a row, and the first iteration of each other one
// there.
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

// next returns the next access before iteration end, or -1, and its iteration y. Another access
// comes in iteration other, or end if that is earlier.
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

func (e *entering) move(by []coming) {
	to := by[e.place>>e.shift]
	e.y += int(to.after)
	e.place = int(to.unit)<<e.shift | e.place&(1<<e.shift-1)
}

// stay advances an access within its line, up to iteration limit, and reports whether it advanced.
// Until then only loop-invariant accesses touch the row.
func (e *entering) stay(limit, line int) bool {
	if e.stride >= line || e.stride <= -line {
		return false
	}
	k := min(stays(e.place, e.stride, line)-1, limit-e.y)
	if k <= 0 {
		return false
	}
	e.y += k
	e.place += k * e.stride
	return true
}
