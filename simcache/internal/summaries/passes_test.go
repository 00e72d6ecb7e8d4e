package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	. "github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// A sketch is passes over an innermost loop, of what moves in it and what rests, with accesses
// ahead and behind. Strides are those of the rounds around the passes, of the passes, and of the
// loop.
type sketch struct {
	Draw
	passes, trips int
	grows         int // trips more from pass to pass
	moving, rests []nest.Node
	around, away  of   // by what accesses that rest go on, from round to round and from pass to pass
	tame          bool // no conditions, and few accesses where others come to
	placed        []nest.Node
}

// move adds what moves: its base, and its strides.
func (s *sketch) move(base int, strides ...int) {
	s.moving = append(s.moving, Access(base, strides...))
}

// place draws an access beside the loop: where something that moves begins, ends, comes to or
// was, or elsewhere.
func (s *sketch) place() nest.Operand {
	if len(s.placed) > 0 && s.One(3) {
		return s.placed[s.Draw(len(s.placed))].(nest.Operand)
	}
	o := Access(s.At(9), s.Of(s.around...), s.Of(s.away...))
	if near := s.One(3); near || !s.tame && s.One(2) {
		with := s.moving[s.Draw(len(s.moving))].(nest.Operand)
		at := s.Of(0, s.trips-1, s.trips-1, s.trips, s.trips, s.trips+s.Draw(5)-2, s.Draw(s.trips+1))
		o = Outside(with, at)
		if at >= s.trips-2 {
			o.Strides[1] += s.grows * with.Strides[2]
		}
		if s.One(3) {
			o.Strides[1] = s.Of(s.away...)
		}
		if !s.tame && s.One(6) {
			o.Base -= uint64(o.Strides[1] * s.Of(1, s.passes/2, s.passes-1, s.passes))
		}
		if !s.tame && s.One(6) {
			o.Base += uint64(s.Of(line, -line, 4, 2))
		}
	}
	s.placed = append(s.placed, o)
	return o
}

// rest adds up to so many accesses that rest in the loop.
func (s *sketch) rest(most int) {
	if s.tame {
		most = 1
	}
	for range s.Draw(most + 1) {
		o := s.place()
		o.Strides = append(slices.Clone(o.Strides), 0)
		s.rests = append(s.rests, o)
	}
}

// beside draws accesses ahead of the loop, or behind, also under conditions.
func (s *sketch) beside() (list []nest.Node) {
	most := s.Of(0, 1, 2, 3)
	if s.tame {
		most = s.Of(0, 0, 0, 1, 2)
	}
	for range most {
		list = append(list, s.place())
	}
	if len(list) == 0 || s.tame || !s.One(3) {
		return list
	}
	holds := nest.Condition{{Bound(s.Draw(s.passes), s.Draw(2), -1)}, {Bound(-s.Draw(2*s.passes), 0, 1)}}[:1+s.Draw(2)]
	if s.One(3) {
		list = append(list, When(nest.Condition{{Bound(-s.Draw(9), 0, 1)}}, []nest.Node{s.place()}, list[:1]))
	}
	return append(slices.Clone(list[:s.Draw(2)]), When(holds, list, []nest.Node{s.place()}))
}

// program puts a sketch together.
func (s *sketch) program() nest.Program {
	inner, rounds := s.Order(append(s.rests, s.moving...)), 1+s.Draw(3)
	kinds := 8 // of what is accessed again, in the same iteration
	if s.tame {
		kinds = 16
	}
	switch s.Draw(kinds) {
	case 0, 1:
		inner = append(inner, inner[s.Draw(len(inner))])
	case 2:
		inner = append(inner, inner...)
	case 3:
		inner = append(inner, s.Order(inner)...)
	}
	loop := Loop(Bound(s.trips, s.Of(0, 0, 1, -1), s.grows), inner...)
	switch {
	case s.tame:
	case s.One(8): // from some pass on, it ends elsewhere
		loop.To = append(loop.To, Bound(s.trips+s.Draw(s.passes), 0, s.grows-1))
	case s.One(12):
		loop.From = append(loop.From, Bound(-2, 0, 1))
	case s.One(8):
		loop.Step, loop.To = 2, []nest.Affine{Bound(2*s.trips, 0, 2*s.grows)}
	}
	body := append(s.beside(), loop)
	if s.One(kinds) { // and another loop, in another order
		body = append(body, Times(s.trips, s.Order(inner)...))
	}
	body = append(body, s.beside()...)
	passes := Times(s.passes, body...)
	if s.tame {
		return nest.Program{Times(rounds, passes)}
	}
	passes.To[0].Coef = of{s.Of(0, 0, 7)}
	return nest.Program{Times(rounds, passes, Access(s.At(9), 4))}
}

// deeper draws a second level behind a first, and seldom a third.
func deeper(d Draw, l engine.Level) []engine.Level {
	second := cache(l.Sets*d.Of(1, 1, 2, 3, 4, 16), d.Of(64, 48, 32, 16, 16, 8, 1+d(12)))
	return []engine.Level{l, second, cache(2*second.Sets, 4)}[:2+d(20)/19]
}

// floods draws columns that bring to each set more lines than it has ways, or about as many, or
// to some sets only; others walk along lines.
func floods(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 4, 8, 8, 16, 12), d.Of(4, 6, 8, 8, 3))
	span := l.Sets * line
	columns := of{line, 3 * line, 5 * line, -3 * line, 2 * line, 6 * line, 4 * line, span + line, 7*line - 4, span}
	column, strange := d.Of(columns...), d.Of(columns...)
	s := &sketch{Draw: d, passes: 3 + d(30), around: of{0, 0, 4, line}, away: of{0, 4, 4, 8}, tame: !d.One(4)}
	s.trips = 4 + (l.Ways-2+d(7))*l.Sets*d.Of(1, 1, 2)/d.Of(1, 1, 1, 2) + d(9)
	if d.One(2) {
		s.away = of{0, 4, 4, 8, line, 3 * line, span, column, column + line}
	}
	for range 1 + d(5)/2 {
		s.move(d.At(9), d.Of(s.around...), d.Of(s.away...), d.Of(column, column, column, column, strange, 4, 8, -4))
	}
	if d.One(3) { // along lines, which are the same each time, and down columns that go on
		s.moving = nil
		s.move(d.At(9), 0, d.Of(0, 0, 4), 4)
		s.move(d.At(9), 0, d.Of(line, 3*line, column+line), column)
	}
	s.rest(2)
	return []engine.Level{l}, s.program()
}

// even draws columns that flood sets for long, and go on evenly, or nearly so: they may come to
// lines of each other, or of what is accessed beside them, or bring too few lines, after a
// while.
func even(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16), d.Of(4, 6, 8, 8, 3))
	step := d.Of(13, 21, 5, -13, 52, 101, 3, 26, 103, -101, 105) * line
	s := &sketch{Draw: d, passes: 26 + d(90), around: of{0, line, step}, away: of{0, 4, 8, 4, -4, line, 2 * line, 3 * line, -line}}
	s.trips, s.tame = (l.Ways+1)*l.Sets+d(4)-d.Of(0, 0, 0, d(2*l.Sets)), !d.One(4)
	if d.One(12) { // along lines
		step, s.trips = 4, 8*s.trips
	}
	first := d.At(9)
	s.move(first, d.Of(0, 4, line), d.Of(0, 4, 4, 8, -4, line, step*l.Sets), step)
	for range d.Of(0, 0, 1) {
		among := first + d(s.trips)*max(step, -step) + d(3)*line
		s.move(d.Of(d.At(9), d.At(9), among), d.Of(0, 4), d.Of(0, 4, -4), d.Of(step, step+line, 2*step, -step, 4, 3*line))
	}
	s.rest(1)
	return []engine.Level{l}, s.program()
}

// drifts draws columns and rows that are where they were from pass to pass, or go on.
func drifts(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 8, 16, 2, 8, 16, 32), d.Of(4, 6, 8, 8, 3, 12))
	step := d.Of(1, 3, 5, 2, 6, 4, -3, 9, -2, 12, -7)*line + line*l.Sets*d.Of(0, 0, 1, 2)
	on := d.Of(0, 4, 8, -4, 16, -8, 28, 2) // from pass to pass
	if d.One(24) {
		on = d.Of(line, -line, line+4)
	}
	s := &sketch{Draw: d, passes: 26 + d(100), around: of{0, 4, line}, away: of{0, 4, 4, 8, on}, tame: !d.One(4)}
	s.trips = 18 + d((l.Ways+2)*l.Sets/d.Of(1, 2, 4)+1)
	for range 1 + d(3) {
		switch d(5) {
		case 0: // a row, that is there again
			s.move(d.At(9), d.Of(0, 4, line), 0, d.Of(4, 4, 8, 16))
		case 1: // or that goes on, to the next line or by more
			s.move(d.At(9), 0, 4*(s.trips+d(2))+line*d(3), 4)
		case 2:
			s.move(d.At(9), d.Of(0, line), d.Of(0, 4, on), d.Of(step, -step, 2*step, line, 5*line))
		default:
			s.move(d.At(9), d.Of(0, line, 4), d.Of(0, on, 0, on, min(4*l.Sets, 28)), step)
		}
	}
	s.rest(2)
	return []engine.Level{l}, s.program()
}

// topmost is what is in a program's outermost loop, without that.
func topmost(p nest.Program) nest.Program {
	return transformed(p[0].(*nest.Loop).Body, func(o *nest.Operand) { o.Strides = o.Strides[1:] }, func(a nest.Affine) nest.Affine {
		return Bound(a.Const, a.Coef[min(1, len(a.Coef)):]...)
	})
}

// seconds draws columns and rows that go through a first level in each pass; the second is often
// so small that passes flood it, or what goes on again is too much for it. Accesses beside may
// be on another line each time.
func seconds(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(2, 4, 8), d.Of(4, 5, 6, 8, 9))
	second := cache(l.Sets*d.Of(1, 2, 3, 4, 5), d.Of(4, 6, 8, 11, 12, 16, 20))
	s := &sketch{Draw: d, passes: 80 + d(300), trips: (l.Ways+1+d(4))*l.Sets + d(9), around: of{0}, tame: true}
	s.away = of{0, 4, 8}
	stride := line * d.Of(129, 131, 255, 67, -129, 133, 258, 21, 9, 65)
	if d.One(2) { // by other than whole lines
		stride = d.Of(line*129+16, line*131+8, line*67+4, -line*67+16, line*20+8, line*3+16, line+16, line*2-8)
	}
	first := d.At(3)
	s.move(first, 0, d.Of(0, 4, 4, 8, -4, 16), stride)
	switch d(5) {
	case 0:
		s.move(d.At(9), 0, d.Of(0, 4), d.Of(stride, line*129, line*67))
	case 1, 2: // next to the first, or where it comes to
		s.move(first+4*d(8*d.Of(2, 4, 60))-line*d(2), 0, d.Of(0, 0, 4, 8), stride+line*d.Of(0, 0, 0, 1, 2))
	case 3: // a row
		s.trips *= 2
		s.move(d.At(9), 0, d.Of(0, 4*s.trips, 4*s.trips+line*d(3)), 4)
	}
	if s.rest(1); d.One(2) {
		s.placed, s.away = nil, of{line + 4*d(3), 2 * line, -3 * line, 130 * line}
	}
	p := topmost(s.program())
	switch passes := *p[0].(*nest.Loop); d(4) {
	case 0: // again, where the lines of the first are
		p = append(p, &passes)
	case 1, 2: // back, from where the first ended
		passes.From, passes.To, passes.Step = []nest.Affine{Bound(s.passes - 1)}, []nest.Affine{Bound(-1)}, -1
		p = append(p, &passes)
	}
	return []engine.Level{l, second}, p
}

// classes draws columns that flood a class of sets and turn to another one, where a row is found
// again, or gone; laps may grow, as below a diagonal, and be too short to flood a class in one.
func classes(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(8, 8, 16, 4, 12, 32), d.Of(4, 6, 8, 5, 3, 7))
	every, grows := d.Of(2, 2, 4), d.Of(0, 0, 0, 1, 1, 2)
	step := every * (2*d(4) + 1) * d.Of(1, 1, 1, -1)
	s := &sketch{Draw: d, grows: grows, passes: 60 + d(100), tame: !d.One(3)}
	slide := d.Of(4, 4, 8, 16, 32, -4, 40, 24, 56, 0)
	s.trips = (l.Ways+2)*l.Sets/every + 8 + d.Of(0, 0, 30, 60)
	switch {
	case grows > 0:
		s.passes, s.trips = 20+d(70), s.trips+d.Of(0, s.trips, -d(s.trips))
	case d.One(2): // too short to flood a class in one lap
		s.passes, s.trips = 2*s.passes, l.Sets/every*2+d(l.Ways*l.Sets/every)
	}
	if s.tame || !d.One(3) { // else short of what it goes on by
		for max(step, -step)*line < max(slide, -slide)*(s.passes+30)+line {
			step += 2 * l.Sets * max(-1, min(1, step))
		}
	}
	s.around, s.away = of{0, step * line, line, 4}, of{slide, slide, slide, 4, 0, line, -4}
	around, walk := d.Of(s.around...), d.Of(4, 4, 8, 16, -4, 12)
	s.move(d.At(9), around, slide, step*line+d.Of(0, 0, 0, 0, 0, 0, 0, 4))
	if !d.One(6) {
		s.move(d.At(9), around, d.Of(0, 0, 0, 0, 0, 4), walk)
	}
	if d.One(6) { // another row, or column
		s.move(d.At(9), around, slide*d(2), d.Of(walk, step*line))
	}
	s.rest(1)
	return []engine.Level{l}, s.program()
}

// slides draws columns that slide from pass to pass, over lines and rarely from line to line, of
// more or less lines than flood all sets.
func slides(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(4, 4, 8, 8, 2, 12), d.Of(4, 6, 8, 5, 6, 3, 2))
	span := l.Sets * line
	column := d.Of(line+4, line+8, 3*line+8, 40, -line-8, 5*line, span+4, 3*line+4, 3*line+16, 2*line, span)
	s := &sketch{Draw: d, passes: 60 + d(40), grows: d.Of(0, 0, 1, 1, -1), tame: !d.One(4)}
	g := nest.GCD(column, span)
	often := max(1, line/g)
	s.trips = span/g*((l.Ways+often-1)/often) + span/g*(1+d(4))/4 + 8 + d.Of(0, 0, 5, 40) + max(0, -s.grows*s.passes)
	slide := d.Of(4, 4, 4, 4, 4, 8, 0, -4, line, column*(s.trips-d(30)))
	s.around, s.away = of{0, column, line, 4}, of{4 * s.grows, 4, 0, 4, 8, line}
	around := d.Of(s.around...)
	s.move(d.At(9), around, slide, column)
	if !d.One(4) {
		s.move(d.At(9), around, d.Of(0, 0, 0, 0, 0, 0, 4*(s.trips-d(30))), d.Of(4, 4, 4, 8, -4))
	}
	if d.One(6) {
		s.move(d.At(9), around, d.Of(slide, 0, 4), d.Of(column, 4, 2*line))
	}
	s.rest(2)
	if d.One(4) {
		return deeper(d, l), s.program()
	}
	return []engine.Level{l}, s.program()
}

// leaps draws slides of which most periods are one lap, or a few, in caches so small that what
// is beside them is in few sets: it meets a row in or about a lap that a leap may begin or end
// at. A second level has room for a lap, just so, or not.
func leaps(d Draw) ([]engine.Level, nest.Program) {
	l := cache(d.Of(1, 1, 2, 4), d.Of(4, 5, 6, 8))
	s := &sketch{Draw: d, passes: 62 + d(40), grows: d.Of(0, 0, 1, 1, -1), around: of{0}, tame: !d.One(4)}
	stride := d.Of(4, 8, 16, line, line/2, -4)
	s.trips = 2*l.Lines() + 12 + d(60) + max(0, -s.grows*s.passes)
	s.away = of{0, 4, 4, stride * s.grows, line, -line, 2 * line, 8, -16}
	s.move(d.At(9), 0, d.Of(0, 4, 4, 4, 8, line), line*d.Of(3, 3, 5))
	if !d.One(4) {
		s.move(d.At(9), 0, 0, stride)
	}
	s.rest(2)
	switch d(4) {
	case 0:
		return []engine.Level{l}, s.program()
	case 1: // a second level of one set
		return []engine.Level{cache(1, 6), cache(1, 20+2*d(46))}, s.program()
	}
	return deeper(d, l), s.program()
}

// crowds draws loops that each begin and end in one set, which all that rests goes on in: it has
// about as many ways as lines that are said to be in use.
func crowds(d Draw) ([]engine.Level, nest.Program) {
	sets, moves, rests := d.Of(4, 8, 2, 4), 1+d(5)/3, d.Of(0, 1, 2, 2, 3)
	l := cache(sets, max(1, 2*moves+rests+d.Of(0, 0, 0, 1, -1, -moves)))
	span, every := sets*line, d.Of(1, 1, 1, 2)
	down := every * d.Of(1, 1, 3, 5, -1) * line
	s := &sketch{Draw: d, passes: 12 + d(30), around: of{0}, away: of{0, 0, span, span, -span, 2 * span, 4, line, -4}, tame: true}
	if d.One(3) { // what slides goes on by less than a line
		s.passes, s.away = s.passes+50, of{0, 0, 4, 4, 8, -4, 16, span, line}
	}
	s.trips = (l.Ways+d(4))*max(1, sets/every) + d.Of(1, 1, 0, 2)
	for i := range moves + rests {
		place, own := Array(i)+4*d(8), d.Of(s.away...)
		switch {
		case i >= moves:
			s.rests = append(s.rests, Access(place, 0, own, 0))
		case d.One(6): // a row
			s.move(place, 0, d.Of(0, 0, 0, line, span), d.Of(4, 8, 16, -4))
		default:
			s.move(place, 0, d.Of(own, 0, 4), d.Of(down, down, down, down, -down, span, 2*down))
		}
	}
	return []engine.Level{l}, s.program()
}
