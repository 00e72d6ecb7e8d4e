package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestFeed compares misses and contents with what two levels are, and now and then three, for slides that
// are often in the same lines as the lap before, or longer; what rests, or is ahead or behind, moves on,
// meets a row, misses or does not; the second level has room for them, just so, or not.
func TestFeed(t *testing.T) {
	t.Parallel()
	programs := enginetest.Cases(4000)
	if did := feed(t, programs); did.Fed < 10*programs || did.Spared < programs {
		t.Errorf("not often enough: %+v", did)
	}
}

func feed(t *testing.T, programs int) (did did) {
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 53)
		l := engine.Level{Sets: []int{1, 1, 2, 4}[d(4)], Ways: []int{4, 5, 6, 8}[d(4)], Shift: 5}
		p := leaping(d, l.Sets*l.Ways)
		if seed%4 > 0 {
			l.Sets, l.Ways = 1+d(2), []int{5, 6, 8, 8}[d(4)]
			p = sparing(d, l.Sets*l.Ways)
		}
		e := New(withSecond(d, l), Options{Threshold: []int{20, 100, 500}[d(3)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	t.Logf("%+v", did)
	return did
}

// sparing draws a program for a cache of so many lines, whose column is mostly in the same lines as in the lap before.
func sparing(d enginetest.Draw, lines int) nest.Program {
	const line, row = 32, 1 << 33
	constant := nest.Constant
	loop := func(to nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
	}
	op := func(base int, strides ...int) nest.Node {
		return nest.Operand{Base: uint64(base), Width: 4, Strides: append([]int{0}, strides...)}
	}
	laps, stride, grows := 62+d(30), []int{4, 8, 16, 32}[d(4)], []int{0, 0, 1, 1, -1}[d(5)]
	trips := 2*lines + 12 + d(20) + max(0, -grows*laps)
	var bases, moves [3]int
	tame := d.One(2) // nothing meets the row's start
	for i := range bases {
		moves[i] = []int{0, stride * grows, 4, 4, line, -line}[d(6)]
		bases[i] = []int{row + stride*(trips+d(3)) + line*(d(3)-1), 1<<34 + line*d(3), 1<<35 + 4*d(99), row + line*d(4)}[d(4-unless(!tame, 1))]
	}
	plain := func(most int) (list []nest.Node) {
		for range d(most) {
			i := d(len(bases))
			list = append(list, op(bases[i], moves[i]))
		}
		return list
	}
	large := []nest.Node{op(1<<36+4*d(9), []int{0, 4, 4, 4, 8}[d(5)], line*(3+2*d(2)))}
	if !d.One(4) {
		large = append(large, op(row, 0, stride%line))
	}
	for range d(3) {
		i, at := d(len(bases)), d(len(large)+1)
		large = append(large[:at], append([]nest.Node{op(bases[i], moves[i], 0)}, large[at:]...)...)
	}
	body := append(plain(4), loop(nest.Affine{Const: trips, Coef: []int{0, grows}}, large...))
	body = append(body, plain(3)...)
	return nest.Program{loop(constant(1+d(2)), loop(constant(laps), body...))}
}

// withSecond draws a second level behind a first, of slices, and now and then a third.
func withSecond(d enginetest.Draw, l engine.Level) []engine.Level {
	times := []int{1, 1, 2, 3, 4, 16}[d(6)]
	second := engine.Level{Sets: l.Sets * times, Ways: []int{64, 64, 48, 40, 32, 16, 16, 1 + d(12)}[d(8)], Shift: l.Shift}
	levels := []engine.Level{l, second}
	if d.One(20) {
		levels = append(levels, engine.Level{Sets: second.Sets * 2, Ways: 4, Shift: l.Shift})
	}
	return levels
}

// TestFeedJust compares, alike, for laps that are longer each time or not, and second levels of one set that have room
// for a lap, or just not: what rests comes behind a column, or is where a row ends; the same misses each time ahead and
// behind, or other lines.
func TestFeedJust(t *testing.T) {
	t.Parallel()
	const line, row = 32, 1 << 33
	constant, did := nest.Constant, did{}
	loop := func(to nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
	}
	op := func(base int, strides ...int) nest.Node {
		return nest.Operand{Base: uint64(base), Width: 4, Strides: append([]int{0}, strides...)}
	}
	column, along := op(1<<36+16, 4, 3*line), op(row, 0, 4)
	for ways := 20; ways < 112; ways += 2 {
		for kind := range 18 {
			grows := kind % 2
			trips := nest.Affine{Const: 24, Coef: []int{0, grows}}
			body := [][]nest.Node{
				{loop(trips, op(row+4*24, 4*grows, 0), along, column)},
				{loop(trips, column, op(1<<34, line, 0), along)},
				{loop(trips, column, along), op(1<<34, line)},
				{loop(trips, along, column), op(1<<34, 0)},
				{op(1<<34, line), op(1<<35, -line), loop(trips, along, column)},
				{op(1<<34, 0), op(1<<35, 0), loop(trips, along, column), op(1<<37, 0)},
				{op(1<<34, 4), loop(trips, op(1<<35, 0, 0), along, column), op(1<<37, 4)},
				{op(1<<34, line), loop(trips, op(row+4*24, 4*grows, 0), along, column)},
				{loop(trips, along, op(1<<36, 4, 3*line+16))},
			}[kind/2]
			p := nest.Program{loop(constant(2), loop(constant(64), body...))}
			e := New([]engine.Level{{Sets: 1, Ways: 6, Shift: 5}, {Sets: 1, Ways: ways, Shift: 5}}, Options{Threshold: 20})
			asReference(t, uint64(ways*100+kind), e, p)
			did.add(e.did)
		}
	}
	if t.Logf("%+v", did); did.Spared < 5000 || did.Fed < 5000 {
		t.Errorf("not often enough: %+v", did)
	}
}
