package exact

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	. "github.com/stridebench/stridebench/simcache/internal/enginetest"
)

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

// turnedRows draws columns that thrash a class of sets and turn to another one, where a row is
// found again, or gone; accesses at rest or beside go along with the column, or meet it or the row.
func turnedRows(d Draw) ([]engine.Level, nest.Program) {
	l := cache(of{8, 16, 4, 12}[d(16)/5], d.Of(4, 6, 8, 5, 3))
	s := &turner{Draw: d, tame: d.One(2), laps: 60 + d(100)}
	every := d.Of(2, 2, 4)
	step := every * (2*d(4) + 1) * d.Of(1, 1, 1, -1)
	if s.slide = d.Of(4, 4, 8, 16, 32, -4, 2, 0, 64, step); s.tame {
		s.slide = d.Of(4, 8, 16, -4)
	}
	s.trips = (l.Ways+2)*l.Sets/every + 8 + d.Of(0, 0, 30, 60, -12)
	if d.One(2) { // too short to thrash a class in one lap
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

// grown draws columns that thrash a class of sets in laps that grow, as below a diagonal; what
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
