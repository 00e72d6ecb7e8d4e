package summaries

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

// A turner is what is drawn of a column and a row that turn to another class of sets.
type turner struct {
	Draw
	tame              bool // most conditions hold
	laps, trips, grow int
	slide, down, walk int
	step, around      int
	rows, columns     int // where they begin
	last              nest.Operand
	drawn             bool // last is
}

// turned draws columns that flood a class of sets and turn to another one, where a row is found
// again, or gone; accesses at rest or beside go along with the column, or meet it or the row.
func turned(d Draw) ([]engine.Level, nest.Program) {
	l := cache(of{8, 16, 4, 12}[d(16)/5], d.Of(4, 6, 8, 5, 3))
	s := &turner{Draw: d, tame: d.One(2), laps: 60 + d(100)}
	every := d.Of(2, 2, 4)
	step := every * (2*d(4) + 1) * d.Of(1, 1, 1, -1)
	if s.slide = d.Of(4, 4, 8, 16, 32, -4, 2, 0, 64, step); s.tame {
		s.slide = d.Of(4, 8, 16, -4)
	}
	s.trips = (l.Ways+2)*l.Sets/every + 8 + d.Of(0, 0, 30, 60, -12)
	if d.One(2) { // too short to flood a class in one lap
		s.laps, s.trips = 2*s.laps, l.Sets/every*2+d(l.Ways*l.Sets/every)
	}
	if !s.tame && !d.One(6) {
		step *= 1 + d(3) // short of what it goes on by
	} else {
		step = farther(step, 2*l.Sets, max(s.slide, -s.slide)*s.laps+line)
	}
	s.walk = of{4, 4, 8, 2, 16, -4, 12}[unless(s.tame && d.One(2), d(7))]
	s.step, s.down = step*line, step*line+4*unless(s.tame, d(9)/8)
	s.rows, s.columns = Array(2)+d(60)*4, Array(4)+d(9)*4
	s.around = d.Of(0, s.step, line, 4)
	large := s.turningLoop()
	body := s.turningBeside()
	body = append(body, Loop(Bound(s.trips, d(3)-1, d(9)/8), large...))
	body = append(body, s.turningBeside()...)
	return []engine.Level{l}, nest.Program{Times(1+d(3), Times(s.laps, body...))}
}

// turningPlace draws an access at the row, or elsewhere.
func (s *turner) turningPlace() nest.Operand {
	end, within := s.rows+s.walk*(s.trips+s.Draw(30)), s.rows+s.walk*s.Draw(s.trips)
	base := s.Of(end, within, Array(0)+4*s.Draw(99), s.rows-4*s.Draw(400))
	return narrow(base, s.around, s.Of(s.slide, s.slide, s.slide, 4, 0, line, -4))
}

// turningLoop draws what the innermost loop accesses.
func (s *turner) turningLoop() []nest.Node {
	large := []nest.Node{narrow(s.columns, s.around, s.slide, s.down)}
	if !s.One(5) {
		own := of{0, 0, 0, 0, 0, 4}[unless(s.tame, s.Draw(6))]
		large = swapped(s.Draw, append(large, narrow(s.rows, s.around, own, s.walk)))
		if s.One(4) {
			large = append(large, large[0])
		}
	}
	if s.One(2) {
		rest := resting(s.turningPlace())
		if large = append([]nest.Node{rest}, large...); s.One(3) {
			large = append(large[1:], rest)
		}
	}
	if s.One(5) { // another row, or column
		stride := s.Of(s.walk, s.down, s.step)
		large = append(large, narrow(Array(6), s.around, s.slide*s.Draw(2), stride))
	}
	if s.One(8) && !s.tame {
		large = append(large, narrow(s.columns+s.Draw(9)*s.step, s.around, s.slide, 0))
	}
	return large
}

// turningBeside draws accesses ahead of the loop or after it, some under conditions.
func (s *turner) turningBeside() (list []nest.Node) {
	for range s.Draw(4) / 2 {
		switch {
		case s.drawn && s.One(2):
		case s.One(6) && !s.tame:
			s.last = narrow(s.columns+(s.trips-s.Draw(5))*s.step, s.around, s.slide)
		default:
			s.last = s.turningPlace()
		}
		s.drawn = true
		if list = append(list, s.last); s.One(8) {
			holds := nest.Condition{{Bound(s.Draw(s.laps), 0, -1)}}
			list[len(list)-1] = When(holds, []nest.Node{s.last}, nil)
		}
	}
	return list
}

// known draws laps whose column is where it was, modulo the sets, though from lap to lap it may
// go on by one line or by two: how many lines of the row miss is known.
func known(d Draw) ([]engine.Level, nest.Program) {
	l, laps := cache(d.Of(8, 16), d.Of(4, 6)), 80+d(60)
	slide, every := d.Of(40, 48, 24, 36, 56, -40), d.Of(2, 4, 4)
	step := farther(every*(1+2*d(4)), 2*l.Sets, max(slide, -slide)*laps+line)
	column := Access(Array(4)+d(99)*4, 0, slide, step*line)
	inner := swapped(d, []nest.Node{column, Access(Array(2)+d(99)*4, 0, 0, 8)})
	if d.One(2) {
		inner = append(inner, Access(Array(0)+d(99)*4, 0, d(2)*4, 0))
	}
	trips := (2*l.Ways+2)*l.Sets/every + 12 + d(30)
	return []engine.Level{l}, nest.Program{Times(2, Times(laps, Times(trips, inner...)))}
}

// grown draws columns that flood a class of sets in laps that grow, as below a diagonal; what
// rests or is beside is where the row ends, or the column, or about there, or elsewhere. There
// may be more laps in each round, so that those that were run before are known.
func grown(d Draw) ([]engine.Level, nest.Program) {
	l := cache(of{8, 16, 4, 32}[d(13)/4], d.Of(6, 8, 5, 4, 7))
	s := &turner{Draw: d, tame: !d.One(4), grow: 1 + d(7)/5, laps: 20 + d(70)}
	every := d.Of(2, 2, 4)
	step := every * (2*d(4) + 1) * d.Of(1, 1, 1, -1)
	s.slide = of{4, 8, 16, 4, -4, 32, 0}[unless(s.tame, d(7))+unless(!s.tame, d(3))]
	step = farther(step, 2*l.Sets, max(s.slide, -s.slide)*(s.laps+30)+line)
	s.down, s.walk = step*line, d.Of(4, 8, 4, 16)
	if s.trips = d((l.Ways+2)*l.Sets/every + 8); !d.One(3) {
		s.trips += (l.Ways+2)*l.Sets/every + 8
	}
	s.rows, s.columns = Array(2)+d(60)*4, Array(4)+d(9)*4
	s.around = d.Of(s.down, s.down, 0, line, 4)
	column, row := narrow(s.columns, s.around, s.slide, s.down), narrow(s.rows, s.around, 0, s.walk)
	large := swapped(d, []nest.Node{column, row})
	if d.One(4) {
		large = append(large, large[0])
	}
	if d.One(2) {
		s.last, s.drawn = s.grownPlace(), true
		large = append([]nest.Node{resting(s.last)}, large...)
	}
	body := s.grownBeside()
	inner := Loop(Bound(s.trips, 0, s.grow), large...)
	if !s.tame && d.One(6) {
		inner.To[0] = Bound(s.trips+s.laps, 0, -1)
	}
	if !s.tame && d.One(6) {
		inner.To = append(inner.To, Bound(s.trips+d(20)))
	}
	body = append(body, inner)
	body = append(body, s.grownBeside()...)
	return []engine.Level{l}, nest.Program{Times(1+d(4), Loop(Bound(s.laps, d(3)*7), body...))}
}

// grownPlace draws an access where the row ends, or the column, or about there, or elsewhere.
func (s *turner) grownPlace() nest.Operand {
	switch s.Draw(4 + unless(s.tame, 4)) {
	case 0, 1:
		off := s.Of(0, 0, 0, -1, 1, 3, -9, -14)
		return narrow(s.rows+s.walk*(s.trips+off), s.around, s.walk*s.grow)
	case 2, 3:
		return narrow(s.columns+s.down*s.trips, s.around, s.slide+s.down*s.grow)
	case 4:
		return narrow(s.rows+s.walk*s.Draw(s.trips+20), s.around, s.Of(0, s.walk, line))
	case 5:
		return narrow(s.columns+s.down*(s.trips-s.Draw(3)), s.around, s.slide+s.down*s.Draw(2))
	}
	return narrow(Array(0)+4*s.Draw(99), s.Of(s.around, 0), s.Of(4, 0, line, -4))
}

// grownBeside draws accesses ahead of the loop or after it.
func (s *turner) grownBeside() (list []nest.Node) {
	for range s.Draw(4) / 2 {
		if !s.drawn || !s.One(2) {
			s.last, s.drawn = s.grownPlace(), true
		}
		if list = append(list, s.last); !s.tame && s.One(5) {
			holds := nest.Condition{{Bound(s.Draw(20), 0, -1)}}
			list[len(list)-1] = When(holds, []nest.Node{s.last}, nil)
		}
	}
	return list
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
			of{end, Array(4) + line*d(3), Array(6) + 4*d(99), row + line*d(4)}[d(4-unless(!tame, 1))],
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
// more or less lines than flood all sets; rows and what rests or is beside may share lines.
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
