package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	. "github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// unless is a number, or 0.
func unless(is bool, n int) int {
	if is {
		return 0
	}
	return n
}

// narrow is an access of 2 bytes.
func narrow(base int, strides ...int) nest.Operand {
	o := Access(base, strides...)
	o.Width = 2
	return o
}

// resting is an access one loop further in, where it rests.
func resting(o nest.Operand) nest.Operand {
	o.Strides = append(slices.Clone(o.Strides), 0)
	return o
}

// swapped has the first two nodes in either order.
func swapped(d Draw, list []nest.Node) []nest.Node {
	if d.One(2) {
		list[0], list[1] = list[1], list[0]
	}
	return list
}

// farther is a step of lines that is made longer until it is at least so many bytes.
func farther(step, by, bytes int) int {
	for max(step, -step)*line < bytes {
		step += by * max(-1, min(1, step))
	}
	return step
}

// withSecond draws a second level after a first, and now and then a third.
func withSecond(d Draw, l engine.Level) []engine.Level {
	second := cache(l.Sets*d.Of(1, 1, 2, 3, 4, 16), d.Of(64, 64, 48, 40, 32, 16, 16, 1+d(12)))
	return []engine.Level{l, second, cache(2*second.Sets, 4)}[:2+d(20)/19]
}

// feeds draws slides that are often in the same lines as the lap before, or longer, on two
// levels; the second has room for them, just so, or not.
func feeds(d Draw) ([]engine.Level, nest.Program) {
	if d.One(4) {
		l := cache(d.Of(1, 1, 2, 4), d.Of(4, 5, 6, 8))
		p := leaping(d, l.Lines())
		return withSecond(d, l), p
	}
	l := cache(1+d(2), d.Of(5, 6, 8, 8))
	p := sparing(d, l.Lines())
	return withSecond(d, l), p
}

// sparing draws a program for a cache of so many lines, whose column is mostly in the same lines
// as in the lap before.
func sparing(d Draw, lines int) nest.Program {
	laps, stride, grows := 62+d(30), d.Of(4, 8, 16, 32), d.Of(0, 0, 1, 1, -1)
	trips, row := 2*lines+12+d(20)+max(0, -grows*laps), Array(2)
	var places []nest.Operand
	tame := d.One(2) // nothing meets the row's start
	for range 3 {
		end := row + stride*(trips+d(3)) + line*(d(3)-1)
		places = append(places, Access(
			of{end, Array(4) + line*d(3), Array(6) + 4*d(99),
				row + line*d(4)}[d(4-unless(!tame, 1))],
			0, d.Of(0, stride*grows, 4, 4, line, -line)))
	}
	plain := func(most int) (list []nest.Node) {
		for range d(most) {
			list = append(list, places[d(3)])
		}
		return list
	}
	large := []nest.Node{Access(Array(8)+4*d(9), 0, d.Of(0, 4, 4, 4, 8), line*(3+2*d(2)))}
	if !d.One(4) {
		large = append(large, Access(row, 0, 0, stride%line))
	}
	for range d(3) {
		rest := resting(places[d(3)])
		large = slices.Insert(large, d(len(large)+1), nest.Node(rest))
	}
	body := append(plain(4), Loop(Bound(trips, 0, grows), large...))
	body = append(body, plain(3)...)
	return nest.Program{Times(1+d(2), Times(laps, body...))}
}

// justFed draws second levels of one set that have room for a lap, or just not; the same lines
// miss each time beside the loop, or other ones.
func justFed(d Draw) ([]engine.Level, nest.Program) {
	op := func(array, move int) nest.Node { return Access(Array(array), 0, move) }
	rest := func(array, move int) nest.Node { return Access(Array(array), 0, move, 0) }
	column, along, grows := Access(Array(8)+16, 0, 4, 3*line), Access(Array(0), 0, 0, 4), d(2)
	end := Access(Array(0)+4*24, 0, 4*grows, 0)
	laps := func(body ...nest.Node) nest.Node { return Loop(Bound(24, 0, grows), body...) }
	body := [][]nest.Node{
		{laps(end, along, column)},
		{laps(column, rest(2, line), along)},
		{laps(column, along), op(2, line)},
		{laps(along, column), op(2, 0)},
		{op(2, line), op(4, -line), laps(along, column)},
		{op(2, 0), op(4, 0), laps(along, column), op(6, 0)},
		{op(2, 4), laps(rest(4, 0), along, column), op(6, 4)},
		{op(2, line), laps(end, along, column)},
		{laps(along, Access(Array(8), 0, 4, 3*line+16))},
	}[d(9)]
	levels := []engine.Level{cache(1, 6), cache(1, 20+2*d(46))}
	return levels, nest.Program{Times(2, Times(64, body...))}
}

// leaps draws slides whose periods are mostly one lap, or a few, in caches so small that what
// rests or is beside is in few sets: it meets other lines and the row's, at a leap or on the way.
func leaps(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(1, 1, 2, 4), d.Of(4, 5, 6, 8))
	return []engine.Level{l}, leaping(d, l.Lines())
}

// leaping draws a program for a cache of so many lines: conditions come and go, also within
// others; ends bend, and steps are of 2.
func leaping(d Draw, lines int) nest.Program {
	laps, stride := 62+d(60), d.Of(4, 8, 16, 16, -8)
	often := line / max(stride, -stride)
	grows, row := d.Of(0, 0, 1, -1, often, -often), Array(2)
	trips := 2*lines + 12 + d(60) + max(0, -grows*laps)
	var places []nest.Operand
	for range 4 {
		move, at := d.Of(0, 0, line, -line, 2*line, -2*line, 4, 8, -16), Array(0)+line*d(2)
		if d.One(2) { // where the row begins, or ends, or between
			at = row + stride*d.Of(0, lines, trips/2, trips-lines, trips) + line*(d(5)-2)
		}
		at -= move * d.Of(0, 1, laps/2, d(laps), laps-2, laps-1, laps)
		places = append(places, Access(at, 0, move))
	}
	var large []nest.Node
	for range d(3) {
		large = append(large, resting(places[d(4)]))
	}
	large = append(large, Access(Array(4), 0, d.Of(0, 4, line), d.Of(3, 5)*line))
	if d.One(2) {
		large = append(large, Access(row, 0, 0, stride))
	}
	inner := Loop(Bound(trips, 0, grows), large...)
	switch d(8) {
	case 0:
		inner.Step, inner.To[0].Const = 2, 2*trips
	case 1: // from a lap on, it ends elsewhere
		inner.To = append(inner.To, Bound(trips+d(laps), 0, grows-1))
	}
	body := append(maybe(d, places, laps), inner)
	body = append(body, maybe(d, places, laps)...)
	return nest.Program{Times(1+d(2), Times(laps, body...))}
}

// maybe draws accesses at places, also under conditions on a lap.
func maybe(d Draw, places []nest.Operand, laps int) []nest.Node {
	plain := func(most int) (list []nest.Node) {
		for range d(most) {
			list = append(list, places[d(len(places))])
		}
		return list
	}
	when := func() nest.Condition {
		return nest.Condition{{Bound(d(laps), 0, -1)}, {Bound(-d(2*laps), 0, 1)}}[:1+d(2)]
	}
	list := plain(4)
	if d.One(3) {
		inside := plain(3)
		if d.One(2) {
			inside = append(inside, When(when(), plain(3), plain(3)))
		}
		list = append(list, When(when(), inside, plain(3)))
	}
	return list
}

// A slider is what is drawn of a column and a row that slide from lap to lap.
type slider struct {
	Draw
	tame                  bool // most conditions hold
	laps, trips, grows    int
	column, slide, around int
	rows, columns         int // where they begin
	rest, last            nest.Operand
}

// slides draws columns that slide from lap to lap, over lines and rarely from line to line, of
// more or less lines than thrash all sets; rows and what rests or is beside may share lines.
func slides(d Draw) ([]engine.Level, nest.Program) {
	l := cache(of{4, 8, 2, 12}[d(20)/6], d.Of(4, 6, 8, 5, 3, 2))
	s := &slider{Draw: d, tame: d.One(2), laps: 60 + d(40), grows: d.Of(0, 0, 1, 1, -1)}
	if s.tame {
		l.Ways = d.Of(5, 6, 8)
	}
	span := line * l.Sets
	s.column = of{line + 4, line + 8, 3*line + 8, 40, -line - 8, 5 * line, span + 4, 3*line + 4,
		3*line + 16, 2 * line, span}[d(23)/2%11]
	g := nest.GCD(s.column, span)
	often := max(1, line/g)
	s.trips = span/g*((l.Ways+often-1)/often) + span/g*(1+d(4))/4 + 8
	s.trips += d.Of(0, 0, 5, 40, -20) + max(0, -s.grows*s.laps)*d(4)/3
	if s.trips < 4 || s.trips > 900 {
		return nil, nil
	}
	s.rows, s.columns, s.around = Array(2)+d(9)*4, Array(4)+d(9)*4, d.Of(0, s.column, line, 4)
	s.slide = of{4, 4, 4, 8, 0, -4, line, s.column * (s.trips - d(30))}[d(36)/5]
	if s.tame {
		s.slide = 4
	}
	large := s.slidingLoop()
	body := s.slidingBeside(4)
	if d.One(2) {
		holds := nest.Condition{{Bound(d(s.laps), d(2), d.Of(0, 1, -1, 2))}}
		body = append(body, When(holds, s.slidingBeside(3), s.slidingBeside(3)))
	}
	body = append(body, Loop(Bound(s.trips, d(2), s.grows), large...))
	outer := []nest.Node{Times(s.laps, append(body, s.slidingBeside(3)...)...)}
	if d.One(4) { // accesses to a small array around
		outer = append(outer, Access(Array(9), 4))
	}
	levels := []engine.Level{l}
	if d.One(4) {
		levels = withSecond(d, l)
	}
	return levels, nest.Program{Times(1+d(3), outer...)}
}

// slidingPlace draws an access where the row ends, or begins, or elsewhere.
func (s *slider) slidingPlace() nest.Operand {
	end := of{s.rows + 4*s.trips, s.rows + 4*(s.trips+s.Draw(5)-2), s.rows + 4*s.Draw(3*s.trips),
		s.rows - 4*s.Draw(300), Array(0) + 4*s.Draw(99)}[s.Draw(9)*5/9]
	return Access(end, s.around, s.Of(4*s.grows, 4, 0, 4, 8, line))
}

// slidingLoop draws what the innermost loop accesses.
func (s *slider) slidingLoop() []nest.Node {
	large := []nest.Node{Access(s.columns, s.around, s.slide, s.column)}
	if !s.One(4) {
		own := of{0, 0, 0, 0, 0, 0, 0, 4 * (s.trips - s.Draw(30))}[unless(s.tame, s.Draw(8))]
		large = append(large, Access(s.rows, s.around, own, s.Of(4, 4, 4, 8, -4)))
	}
	if s.One(4) {
		base := of{Array(6), Array(6), s.rows, s.columns}[unless(s.tame, s.Draw(4))] + s.Draw(9)*4
		stride := s.Of(s.column, 4, 2*line)
		large = append(large, Access(base, s.around, s.Of(s.slide, 0, 4), stride))
	}
	s.rest = resting(s.slidingPlace())
	if !s.One(4) {
		large = slices.Insert(large, 1, nest.Node(s.rest))
	}
	if s.One(3) { // again, at the end of the iteration
		large = append(large, s.rest)
	}
	if s.One(8) && !s.tame { // where the column comes to
		large = append(large, Access(s.columns+s.Draw(5)*4, s.around, s.Of(s.slide, 4), 0))
	}
	return large
}

// slidingBeside draws accesses ahead of the loop or after it, some over the end of a line.
func (s *slider) slidingBeside(most int) (list []nest.Node) {
	for range s.Draw(most) {
		o := Outside(s.rest, 0)
		switch kind := s.Draw(5); {
		case kind == 0 || kind == 2 && s.tame:
			o.Base -= uint64(s.Of(4, 4, line, o.Strides[1], 8))
		case kind == 1:
			o = s.last
		case kind == 2:
			o = Access(s.columns-s.column*(s.Draw(5)/4*s.Draw(9)-1), s.around, s.slide)
		default:
			o = s.slidingPlace()
		}
		if o.Strides == nil {
			continue
		}
		o.Base += uint64(2 * (s.Draw(60) / 59))
		list, s.last = append(list, o), o
	}
	if len(list) > 1 && s.One(3) {
		list = append(list, list[0])
	}
	return list
}
