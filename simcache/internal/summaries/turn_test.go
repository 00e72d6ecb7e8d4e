package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestTurn compares misses and contents with what a cache is, for columns that flood a class of
// sets and turn to another one, where a row is found again, or gone; what rests, or is accessed
// ahead and behind, goes along with the column, or not, and may meet the row or the column.
func TestTurn(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(6000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 50)
		l := engine.Level{Sets: []int{8, 16, 4, 12}[d(16)/5], Ways: []int{4, 6, 8, 5, 3}[d(5)], Shift: 5}
		tame := d.One(2) // most conditions hold
		line, constant := 32, nest.Constant
		every := []int{2, 2, 4}[d(3)]
		step := every * (2*d(4) + 1) * []int{1, 1, 1, -1}[d(4)]
		laps, slide := 60+d(100), []int{4, 4, 8, 16, 32, -4, 2, 0, 64, step * line / 32}[d(10)]
		if tame {
			slide = []int{4, 8, 16, -4}[d(4)]
		}
		short := seed&1 > 0 // too short to flood a class in one lap
		if short {
			laps *= 2
		}
		if far := max(slide, -slide)*laps + line; d.One(6) == tame && !tame {
			step *= 1 + d(3) // short of what it goes on by
		} else {
			for max(step, -step)*line < far {
				step += 2 * l.Sets * max(-1, min(1, step))
			}
		}
		trips := (l.Ways+2)*l.Sets/every + 8 + []int{0, 0, 30, 60, -12}[d(5)]
		if short {
			trips = l.Sets/every*2 + d(l.Ways*l.Sets/every)
		}
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		op := func(base uint64, strides ...int) nest.Node {
			return nest.Operand{Base: base, Width: 2, Strides: strides}
		}
		walk := []int{4, 4, 8, 2, 16, -4, 12}[unless(tame && d.One(2), d(7))]
		down := step*line + 4*unless(tame, d(9)/8)
		rows, columns := uint64(1<<33+d(60)*4), uint64(1<<34+d(9)*4)
		around := []int{0, step * line, line, 4}[d(4)]
		place := func() nest.Node {
			base := []uint64{rows + uint64(walk*(trips+d(30))), rows + uint64(walk*d(trips)), 1<<32 + uint64(4*d(99)), rows - uint64(4*d(400))}[d(8)*4/8]
			return op(base, around, []int{slide, slide, slide, 4, 0, line, -4}[d(7)])
		}
		var large []nest.Node
		large = append(large, op(columns, around, slide, down))
		if !d.One(5) {
			row := op(rows, around, []int{0, 0, 0, 0, 0, 4}[unless(tame, d(6))], walk)
			if large = append(large, row); d.One(2) {
				large[0], large[1] = large[1], large[0]
			}
			if d.One(4) {
				large = append(large, large[0])
			}
		}
		if d.One(2) {
			o := place().(nest.Operand)
			o.Strides = append(o.Strides, 0)
			if large = append([]nest.Node{o}, large...); d.One(3) {
				large = append(large[1:], o)
			}
		}
		if d.One(5) { // another row, or column
			large = append(large, op(1<<35, around, slide*d(2), []int{walk, down, step * line}[d(3)]))
		}
		if d.One(8) && !tame {
			large = append(large, op(columns+uint64(d(9)*step*line), around, slide, 0))
		}
		var last nest.Node
		plain := func() (list []nest.Node) {
			for range d(4) / 2 {
				switch {
				case last != nil && d.One(2):
				case d.One(6) && !tame:
					last = op(columns+uint64((trips-d(5))*step*line), around, slide)
				default:
					last = place()
				}
				if list = append(list, last); d.One(8) {
					list[len(list)-1] = &nest.If{When: [][]nest.Affine{{{Const: d(laps), Coef: []int{0, -1}}}}, Then: []nest.Node{last}}
				}
			}
			return list
		}
		body := plain()
		to := constant(trips)
		to.Coef = []int{d(3) - 1, d(9) / 8}
		body = append(body, loop(to, large...))
		body = append(body, plain()...)
		p := nest.Program{loop(constant(1+d(3)), loop(constant(laps), body...))}
		if accesses(p, 200000) > 200000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100, 500}[d(3)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Turned < 5*programs || did.Known < programs/20 || did.Settled < programs/20 ||
		did.Short < programs || did.Leapt < programs/2 {
		t.Errorf("not often enough: %+v", did)
	}
}

// TestTurnKnown: how many lines of the row miss is known where both laps' columns are where they were, modulo the
// sets, though from lap to lap they may go on by one line, or by two.
func TestTurnKnown(t *testing.T) {
	t.Parallel()
	did := did{}
	for seed := range uint64(400) {
		d := enginetest.Random(seed, 72)
		l := engine.Level{Sets: []int{8, 16}[d(2)], Ways: []int{4, 6}[d(2)], Shift: 5}
		line, constant, laps := 32, nest.Constant, 80+d(60)
		slide, every := []int{40, 48, 24, 36, 56, -40}[d(6)], []int{2, 4, 4}[d(3)]
		step := every * (1 + 2*d(4))
		for step*line < max(slide, -slide)*laps+line {
			step += 2 * l.Sets
		}
		loop := func(to int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{constant(to)}, Step: 1, Body: body}
		}
		inner := []nest.Node{
			nest.Operand{Base: uint64(1<<34 + d(99)*4), Width: 4, Strides: []int{0, slide, step * line}},
			nest.Operand{Base: uint64(1<<33 + d(99)*4), Width: 4, Strides: []int{0, 0, 8}},
		}
		if d.One(2) {
			inner[0], inner[1] = inner[1], inner[0]
		}
		if d.One(2) {
			inner = append(inner, nest.Operand{Base: uint64(1<<32 + d(99)*4), Width: 4, Strides: []int{0, d(2) * 4, 0}})
		}
		trips := (2*l.Ways+2)*l.Sets/every + 12 + d(30)
		e := New([]engine.Level{l}, Options{Threshold: 20})
		asReference(t, seed, e, nest.Program{loop(2, loop(laps, loop(trips, inner...)))})
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Known < 400 {
		t.Errorf("not often enough: %+v", did)
	}
}
