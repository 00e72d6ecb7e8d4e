package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	. "github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// loners draws a column or a row that is where it was from pass to pass, and one that goes on,
// seldom two, of about as many lines as there are ways, in one innermost loop or two.
func loners(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16, 32), d.Of(4, 6, 8, 3, 12))
	op := func(i int, strides ...int) nest.Node {
		return Access(Array(i)+d(2*l.Sets*line/4)*4, strides...)
	}
	step, other := d.Of(1, 3, 5, -7, 2, 4, 6, -2)*line, d.Of(1, 3, 5, -7, 2, 4, 6, -2)*line
	trips := (1+d(l.Ways))*l.Sets/d.Of(1, 2) + d(l.Sets) + 18
	inner := []nest.Node{op(0, 0, d.Of(8, 16, -8, 4), step+line*l.Sets*d.Of(0, 2))}
	if d.One(4) { // a row, that goes on
		inner[0] = op(0, 0, 4*trips+line*(1+d(2))+4*d(8), 4)
	}
	if d.One(3) { // a row
		inner = append(inner, op(1, d.Of(0, 4), 0, 4))
	} else {
		inner = append(inner, op(1, d.Of(0, line), d.Of(0, 0, 0, 8), other+4*line*l.Sets*d(2)))
	}
	if d.One(2) {
		inner = append(inner, op(2, 0, 0, d.Of(4, line, other)))
	}
	if d.One(2) {
		inner = append(inner, op(3, 0, d.Of(0, 4, 8), 0))
	}
	if inner = drawOrder(d, inner); d.One(3) { // again, in the same iteration
		inner = append(inner, inner[d(len(inner))])
	}
	body := []nest.Node{Times(trips, inner...)}
	if d.One(4) { // and in another loop, in another order
		body = append(body, Times(trips, append(slices.Clone(inner[1:]), inner[0])...))
	}
	return []engine.Level{l}, nest.Program{Times(1+d(2), Times(26+d(60), body...))}
}

// A drifter is what is drawn of columns and rows that drift from pass to pass.
type drifter struct {
	Draw
	sets, trips  int
	step         int // of columns
	away, faster int // by what they go on: faster is there again, in a set, when another goes on
}

// drifts draws columns and rows that are where they were from pass to pass, or go on, in one
// innermost loop or two. Others rest there or are beside, maybe on lines of what moves.
func drifts(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16, 2, 8, 16), d.Of(4, 6, 8, 8, 3, 12))
	s := &drifter{Draw: d, sets: l.Sets, trips: 4 + d((l.Ways+2)*l.Sets/d.Of(1, 2, 4)+1)}
	s.step = d.Of(1, 3, 5, 2, 6, 4, -3, 9, -2, 12) * line
	if d.One(3) {
		s.step += line * l.Sets
	}
	s.away, s.faster = d.Of(0, 4, 8, -4, 16, -8, 28, 2), min(4*l.Sets, 28)
	if d.One(24) { // a line or more
		s.away, s.faster = d.Of(line, -line, line+4), 2*line
	}
	if l.Sets <= 4 && d.One(8) { // often in a set
		s.trips *= 4
	}
	var moving []nest.Node
	for i := range 1 + d(3) {
		moving = append(moving, s.mover(i))
	}
	rests, ahead, after := s.resters(moving)
	inner := drawOrder(d, append(moving, rests...))
	if d.One(3) { // again, in the same iteration
		inner = append(inner, inner[d(len(inner))])
	}
	body := append(ahead, Times(s.trips, inner...))
	if d.One(4) { // and in another loop, in another order
		body = append(body, Times(s.trips, drawOrder(d, inner)...))
	}
	if body = append(body, after...); d.One(8) {
		body = append(body, Access(s.driftPlace(7), 0, d.Of(0, 4)))
	}
	return []engine.Level{l}, nest.Program{Times(1+d(3), Times(26+d(120), body...))}
}

// driftPlace draws where an array begins: apart, or seldom among the lines of another one.
func (s *drifter) driftPlace(i int) int {
	at := Array(i) + s.Draw(2*s.sets)*line
	if s.One(20) {
		at = Array(0) + s.Draw(s.trips*line)
	}
	return at + s.Draw(8)*4
}

// mover draws a row or a column.
func (s *drifter) mover(i int) nest.Node {
	switch s.Draw(4) {
	case 0:
		own, stride := s.Of(0, 0, 0, 1, 2), s.Of(4, 4, 8, 16)
		s.trips = max(s.trips, 2*line/stride+2)
		if own > 0 { // a row that goes on, to the next line or by more
			own = stride*(s.trips+s.Draw(2)) + (own-1)*line*s.Draw(3)
		}
		return Access(s.driftPlace(i), s.Of(0, 4, line), own, stride)
	case 1:
		stride := s.Of(s.step, -s.step, 2*s.step, line, 5*line)
		return Access(s.driftPlace(i), s.Of(0, line), s.Of(0, 4, s.away), stride)
	}
	own := s.Of(0, s.away, 0, s.away, 0, s.away, s.faster)
	return Access(s.driftPlace(i), s.Of(0, line, 4), own, s.step)
}

// resters draws what rests in the loop, and is ahead of it and after it.
func (s *drifter) resters(moving []nest.Node) (rests, ahead, after []nest.Node) {
	for i := range s.Draw(3) {
		at := Access(s.driftPlace(4+i), 0, s.Of(0, 4, 4, 8, 0, 4, s.away))
		last := moving[s.Draw(len(moving))]
		switch s.Draw(6) {
		case 0, 1: // on the last line of what moves
			at = Outside(last, s.trips-1)
		case 2: // on the next
			at = Outside(last, s.trips)
		}
		switch s.Draw(6) {
		case 0:
			ahead = append(ahead, at)
		case 1, 2:
			after = append(after, at)
			continue
		case 3:
			after = append(after, at)
		}
		rests = append(rests, resting(at))
	}
	return rests, ahead, after
}

// seconds draws columns and rows that go through a first level in each pass, and are where they
// were or go on; the second is often so small that passes thrash it, or what goes on again is too
// much for it.
func seconds(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(2, 4, 8), d.Of(4, 5, 6, 8))
	second := cache(l.Sets*d.Of(1, 2, 3, 4, 5), d.Of(4, 6, 8, 11, 12, 16))
	trips := (l.Ways+1+d(4))*l.Sets + d(9)
	var inner []nest.Node
	op := func(own, stride int) {
		inner = append(inner, Access(Array(2*len(inner))+d(64)*line+4*d(8), own, stride))
	}
	column := func() {
		stride := line * d.Of(129, 131, 255, 67, -129, 133, 258)
		if d.One(3) { // by other than whole lines
			stride = d.Of(line*129+16, line*131+8, line*67+4, -line*67+16, line*20+8, line*41+16,
				line*15+16, line*3+16, line*2+16, line+16, line*2-8)
		}
		op(d.Of(0, 4, 4, 8, -4, 16), stride)
	}
	column()
	switch d(5) {
	case 0, 1:
		column()
	case 2: // a row
		trips *= 2
		op(d.Of(0, 4*trips, 4*trips+line*d(3)), 4)
	}
	if d.One(2) {
		op(d.Of(0, 4, 8), 0)
	}
	body := []nest.Node{Times(trips, drawOrder(d, inner)...)}
	if d.One(4) {
		body = append(body, body[0])
	}
	passes := Times(80+d(400), body...)
	p := nest.Program{passes}
	switch d(4) {
	case 0: // again, where the lines of the first are
		p = append(p, Times(80+d(400), body...))
	case 1, 2: // back, from where the first ended
		last, end := []nest.Affine{Bound(passes.To[0].Const - 1)}, []nest.Affine{Bound(-1)}
		p = append(p, &nest.Loop{From: last, To: end, Step: -1, Body: body})
	}
	return []engine.Level{l, second}, p
}

// singles draws columns of one array on two levels, one of which may be where it was, and
// accesses beside the loop that are on another line in each pass.
func singles(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(2, 4), d.Of(6, 8, 9))
	second := cache(l.Sets*d.Of(1, 2, 3, 4), d.Of(8, 12, 16, 20))
	trips := (l.Ways+1+d(4))*l.Sets + d(4)
	stride, at := line*d.Of(129, 131, 67, -67, 21, 9, 65, 66), Array(0)+4*d(16)
	inner := []nest.Node{Access(at, d.Of(4, 4, 8, -4, 0), stride)}
	switch d(4) {
	case 0:
		inner = append(inner, Access(at+1<<24, d.Of(0, 4), stride))
	case 1, 2: // next to the first, or where it comes to
		near := at + 4*d(8*d.Of(2, 4, 60)) - line*d(2)
		own := d.Of(0, 0, 4, 8)
		if d.One(5) { // by other lines
			stride += line * (1 + d(2))
		}
		inner = append(inner, Access(near, own, stride))
	}
	rest := Access(Array(2)+4*d(16), d.Of(0, 4, 8))
	if d.One(2) {
		inner = append(inner, resting(rest))
	}
	one := Access(Array(3+d(4)/3)+d(8)*line+4*d(8), line*d.Of(1, 1, 2, -3, 130, 0)+4*d(3))
	if d.One(5) { // where what rests is
		one.Base = rest.Base + uint64(d(8)*line)
	}
	loop, other := Times(trips, drawOrder(d, inner)...), one
	other.Base += 1 << 23
	body := [][]nest.Node{{one, loop}, {one, loop}, {loop, one, one}, {loop, one, one},
		{one, loop, one}, {one, loop, other}, {loop}}[d(7)]
	p := nest.Program{Times(60+d(100), body...)}
	if d.One(3) {
		p = append(p, Times(60+d(100), body...))
	}
	return []engine.Level{l, second}, p
}

// A thrasher is what is drawn of columns that thrash sets.
type thrasher struct {
	Draw
	trips int
	aways of // by what accesses go on from pass to pass
	large []nest.Node
	rest  nest.Operand
}

// thrashes draws columns that bring to each set more lines than it has ways, or about as many, or
// to some sets only; others walk along lines; what rests or is beside may meet them.
func thrashes(d Draw) ([]engine.Level, nest.Program) {
	l := cache(of{4, 8, 16, 12}[d(20)/6], d.Of(4, 6, 8, 8, 3))
	s := &thrasher{Draw: d, aways: of{0, 4, 4, 8}, rest: Access(Array(0), 0, 0)}
	span := l.Sets * line
	columns := of{line, 3 * line, 5 * line, -3 * line, 2 * line, 6 * line, 4 * line, span + line,
		7*line - 4, span}
	column := d.Of(columns...)
	s.trips = (l.Ways-2+d(7))*l.Sets*d.Of(1, 1, 2)/of{1, 2}[d(5)/4] + d(9)
	if d.One(2) { // else most passes touch the lines of the one before
		s.aways = append(s.aways, line, 3*line, span, column, column+line)
	}
	for range 1 + d(5)/2 {
		stride := d.Of(column, column, column, column, d.Of(columns...), 4, 8, -4)
		around, away := d.Of(0, 0, 4, line), d.Of(s.aways...)
		s.large = append(s.large, s.straddling(s.thrashPlace(), around, away, stride))
	}
	if d.One(3) { // along lines, which are the same each time, and down columns that go on
		row := s.straddling(s.thrashPlace(), 0, d.Of(0, 0, 4), 4)
		on := d.Of(line, 3*line, column+line)
		s.large = []nest.Node{row, s.straddling(s.thrashPlace(), 0, on, column)}
	}
	for range d(3) {
		base := s.thrashPlace()
		if d.One(3) { // where what moves comes to
			base = int(Outside(s.large[0], s.trips-1-d(5)/4).Base)
		}
		s.rest = Access(base, 0, d.Of(s.aways...))
		s.large = slices.Insert(s.large, d(len(s.large)+1), nest.Node(resting(s.rest)))
	}
	inner := Times(s.trips, s.large...)
	if d.One(4) {
		inner.To[0].Coef = of{d(3) - 1, d(8) / 7}
	} else if d.One(20) {
		inner.From = append(inner.From, Bound(-2, 0, 1))
	}
	ahead, after := s.thrashBeside(), s.thrashBeside()
	body := slices.Concat(ahead, []nest.Node{inner}, after)
	if d.One(4) { // the same again: what rests, ahead and after
		body = slices.Concat(body, ahead, after)
	}
	outer := []nest.Node{Times(3+d(30), body...)}
	if d.One(4) { // accesses to a small array around
		outer = append(outer, s.straddling(s.thrashPlace(), 4))
	}
	return []engine.Level{l}, nest.Program{Times(1+d(4), outer...)}
}

// thrashPlace draws where an array begins.
func (s *thrasher) thrashPlace() int {
	return Array(s.Draw(9)) + s.Draw(9)*4 + s.Draw(4)/3*line*s.Draw(9)
}

// straddling is an access that is seldom over the end of a line.
func (s *thrasher) straddling(base int, strides ...int) nest.Node {
	return Access(base+s.Draw(60)/59*2, strides...)
}

// thrashBeside draws accesses ahead of the loop or after it.
func (s *thrasher) thrashBeside() (list []nest.Node) {
	for range s.Draw(5) / 3 {
		away := s.Of(s.aways...)
		switch s.Draw(6) {
		case 0: // where what moves comes to
			last := Outside(s.large[0], s.trips-1)
			move := s.Of(away, last.Strides[1])
			list = append(list, s.straddling(int(last.Base), last.Strides[0], move))
		case 1: // where something rested
			move := s.rest.Strides[1]
			list = append(list, s.straddling(int(s.rest.Base)-move, 0, move))
		default:
			list = append(list, s.straddling(s.thrashPlace(), 0, away))
		}
	}
	return list
}

// even draws columns that thrash sets for long, and go on evenly, or nearly so: they may come to
// lines of each other, or of what is accessed beside them, or bring too few lines, after a
// while.
func even(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16), d.Of(4, 6, 8, 8, 3))
	step := d.Of(13, 21, 5, -13, 52, 101, 3, 26, 103, -101, 105) * line
	trips := (l.Ways+1)*l.Sets + d(4)
	if d.One(4) {
		trips -= d(2 * l.Sets)
	}
	if d.One(6) {
		trips = trips/2 + d(2)
	}
	if d.One(12) { // along lines
		step, trips = 4, 8*trips
	}
	wide := max(step, -step)
	// Arrays lie apart, or the rows of one next to another's, or ahead of it, or among them.
	place := func(i int) int {
		next := Array(0) + wide*trips + d(8)*line - 4*line
		apart := Array(i)
		return 4*d(8) + d.Of(Array(0)+d(3*l.Sets)*line, next, Array(0)-d(40)*line,
			apart, apart, apart, apart, apart)
	}
	away := of{0, 4, 8, 4, -4, line, 2 * line, 3 * line, -line}
	var columns []nest.Node
	for i := range 1 + d(5)/2 {
		stride, base := step, place(i)
		if i > 0 && d.One(3) {
			stride = d.Of(step+line, 2*step, -step, 4, 3*line)
			if d.One(2) { // among the lines of the first
				base = Array(0) + d(trips)*wide + d(3)*line
			}
		}
		own := d.Of(0, 4, 4, 8, -4, d.Of(away...), step*l.Sets)
		columns = append(columns, Access(base, d.Of(0, 4, line), own, stride))
	}
	same := Access(place(3+d(3)), d.Of(0, line, step), d.Of(away...))
	if d.One(2) {
		columns = append(columns, resting(same))
	}
	beside := func() []nest.Node {
		switch d(6) {
		case 0:
			return []nest.Node{same}
		case 1:
			return []nest.Node{Access(place(3+d(3)), d.Of(0, line), d.Of(away...))}
		case 2:
			return []nest.Node{Access(place(3+d(3)), 0, d.Of(line, step))}
		}
		return nil
	}
	body := append(beside(), Times(trips, columns...))
	body = append(body, beside()...)
	return []engine.Level{l}, nest.Program{Times(1+d(3), Times(26+d(90), body...))}
}

// crowds draws loops that each begin and end in one set, which all that rests goes on in: it has
// about as many ways as lines that are said to be in use, which may be more where accesses are
// made again in an iteration.
func crowds(d Draw) ([]engine.Level, nest.Program) {
	sets, moves, rests := d.Of(4, 8, 2, 4), 1+d(5)/3, d.Of(0, 1, 2, 2, 3)
	span, every, laps := sets*line, d.Of(1, 1, 1, 2), 12+d(30)
	down := every * d.Of(1, 1, 3, 5, -1) * line
	aways := of{0, 0, span, span, -span, 2 * span, 4, line, span + line, -4}
	if d.One(3) { // what slides goes on by less than a line
		aways, laps = of{0, 0, 4, 4, 8, -4, 16, span, line}, laps+50
	}
	var large []nest.Node
	for i := range moves {
		own, stride := d.Of(d.Of(aways...), 0, 4), down
		switch d(8) {
		case 0: // a row
			own, stride = d.Of(0, 0, 0, line, span), d.Of(4, 8, 16, -4)
		case 1:
			own, stride = d.Of(aways...), d.Of(-down, span, 2*down)
		}
		large = append(large, Access(Array(i)+d(8)*4, 0, own, stride))
	}
	for i := range rests {
		large = append(large, Access(Array(4+i)+d(8)*4, 0, d.Of(aways...), 0))
	}
	ways := max(1, 2*moves+rests+d.Of(0, 0, 0, 1, -1, -moves))
	trips := (ways+d(4))*max(1, sets/every) + d.Of(1, 1, 0, 2)
	plain := func() (list []nest.Node) {
		for range d(6) / 3 {
			with := large[d(len(large))]
			last := Outside(with, 0)
			switch d(4) {
			case 0: // where it ends
				last = Outside(with, trips-1)
			case 1: // where it was
				last.Base -= uint64(last.Strides[1])
			case 2:
				last = Access(Array(9)+d(8)*4, 0, d.Of(aways...))
			}
			list = append(list, last)
		}
		return list
	}
	inner := again(d, drawOrder(d, large))
	body := append(plain(), Times(trips, inner...))
	if d.One(5) {
		body = append(body, Times(trips, drawOrder(d, inner)...))
	}
	body = append(body, plain()...)
	return []engine.Level{cache(sets, ways)}, nest.Program{Times(1+d(3), Times(laps, body...))}
}

// again draws accesses that are made again, in the same order or another.
func again(d Draw, inner []nest.Node) []nest.Node {
	switch d(4) {
	case 0:
		return append(inner, inner[:1+d(len(inner))]...)
	case 1:
		return append(inner, drawOrder(d, inner)...)
	case 2:
		return slices.Insert(inner, d(len(inner)+1), inner[d(len(inner))])
	}
	return inner
}
