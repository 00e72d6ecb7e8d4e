package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestTurnGrows compares misses and contents with what a cache is, for columns that flood a class of sets in laps
// that grow, as below a diagonal: what rests, or is accessed ahead and behind, is where the row ends, or the column,
// or about there, or elsewhere. From one iteration of the outermost loop to the next there may be more laps, so that
// those that were run before are known.
func TestTurnGrows(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(4000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 90)
		l := engine.Level{Sets: []int{8, 16, 4, 32}[d(13)/4], Ways: []int{6, 8, 5, 4, 7}[d(5)], Shift: 5}
		tame := !d.One(4)
		line, constant, grow := 32, nest.Constant, 1+d(7)/5
		every := []int{2, 2, 4}[d(3)]
		step := every * (2*d(4) + 1) * []int{1, 1, 1, -1}[d(4)]
		laps, slide := 20+d(70), []int{4, 8, 16, 4, -4, 32, 0}[unless(tame, d(7))+unless(!tame, d(3))]
		for far := max(slide, -slide)*(laps+30) + line; max(step, -step)*line < far; {
			step += 2 * l.Sets * max(-1, min(1, step))
		}
		down, walk := step*line, []int{4, 8, 4, 16}[d(4)]
		trips := d((l.Ways+2)*l.Sets/every + 8)
		if !d.One(3) {
			trips += (l.Ways+2)*l.Sets/every + 8
		}
		rows, columns := uint64(1<<33+d(60)*4), uint64(1<<34+d(9)*4)
		around := []int{down, step * line, 0, line, 4}[d(5)]
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		op := func(base uint64, strides ...int) nest.Node {
			return nest.Operand{Base: base, Width: 2, Strides: strides}
		}
		place := func() nest.Node {
			switch d(4 + unless(tame, 4)) {
			case 0, 1: // where the row ends, or about there
				return op(rows+uint64(walk*(trips+[]int{0, 0, 0, -1, 1, 3, -9, -14}[d(8)])), around, walk*grow)
			case 2, 3: // where the column does
				return op(columns+uint64(down*trips), around, slide+down*grow)
			case 4:
				return op(rows+uint64(walk*d(trips+20)), around, []int{0, walk, line}[d(3)])
			case 5:
				return op(columns+uint64(down*(trips-d(3))), around, slide+down*d(2))
			default:
				return op(1<<32+uint64(4*d(99)), []int{around, 0}[d(2)], []int{4, 0, line, -4}[d(4)])
			}
		}
		large := []nest.Node{op(columns, around, slide, down), op(rows, around, 0, walk)}
		if d.One(2) {
			large[0], large[1] = large[1], large[0]
		}
		if d.One(4) {
			large = append(large, large[0])
		}
		var last nest.Node
		if d.One(2) {
			last = place()
			o := last.(nest.Operand)
			o.Strides = append(append([]int(nil), o.Strides...), 0)
			large = append([]nest.Node{o}, large...)
		}
		plain := func() (list []nest.Node) {
			for range d(4) / 2 {
				if last == nil || !d.One(2) {
					last = place()
				}
				if list = append(list, last); !tame && d.One(5) {
					list[len(list)-1] = &nest.If{When: [][]nest.Affine{{{Const: d(20), Coef: []int{0, -1}}}}, Then: []nest.Node{last}}
				}
			}
			return list
		}
		body := plain()
		to := constant(trips)
		if to.Coef = []int{0, grow}; !tame && d.One(6) {
			to.Coef, to.Const = []int{0, -1}, trips+laps
		}
		inner := loop(to, large...).(*nest.Loop)
		if !tame && d.One(6) {
			inner.To = append(inner.To, constant(trips+d(20)))
		}
		body = append(body, inner)
		body = append(body, plain()...)
		many := constant(laps)
		many.Coef = []int{d(3) * 7}
		p := nest.Program{loop(constant(1+d(4)), loop(many, body...))}
		if accesses(p, 150000) > 150000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100, 500}[d(3)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Grown < 10*programs || did.Settled < programs/2 {
		t.Errorf("not often enough: %+v", did)
	}
}

// TestTurnGrowsMostly: below a diagonal nearly all laps are counted that are long enough, where what is on the row's end
// rests in a lap, and where it is accessed ahead and behind.
func TestTurnGrowsMostly(t *testing.T) {
	t.Parallel()
	const laps, down = 130, 14 * 32
	loop := func(to nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
	}
	op := func(base uint64, strides ...int) nest.Node {
		return nest.Operand{Base: base, Width: 4, Strides: strides}
	}
	row, column := op(1<<33, 0, 4), op(1<<34, 4, down)
	end, diagonal := op(1<<33, 4), op(1<<34, 4+down)
	to := nest.Affine{Coef: []int{1}}
	for i, body := range [][]nest.Node{
		{loop(to, op(1<<33, 4, 0), row, column), diagonal},
		{end, loop(to, row, column), diagonal, end},
	} {
		e := New([]engine.Level{{Sets: 8, Ways: 8, Shift: 5}}, Options{Threshold: 20})
		asReference(t, uint64(i), e, nest.Program{loop(nest.Constant(laps), body...)})
		if t.Logf("%d laps", e.did.Grown); e.did.Grown < 78 {
			t.Errorf("%d: %d laps were counted: %+v", i, e.did.Grown, e.did)
		}
	}
}
