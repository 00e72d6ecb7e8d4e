package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestFlood compares misses and contents with what a cache is, for columns that bring to
// each set more lines than it has ways, or about as many, or to some sets only; others
// walk along lines; what rests may meet them, in the last iteration or elsewhere, and so
// may what is accessed before and behind the loop.
func TestFlood(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(6000), did{} // of 300 few replay, one many times
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 47)
		l := engine.Level{Sets: []int{4, 8, 16, 12}[d(20)/6], Ways: []int{4, 6, 8, 8, 3}[d(5)], Shift: 5}
		line, span, constant := 32, 32*l.Sets, nest.Constant
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		columns := []int{line, 3 * line, 5 * line, -3 * line, 2 * line, 6 * line, 4 * line, span + line, 7*line - 4, span}
		column := columns[d(len(columns))]
		trips := (l.Ways-2+d(7))*l.Sets*[]int{1, 1, 2}[d(3)]/[]int{1, 2}[d(5)/4] + d(9)
		array := func() uint64 { return uint64(1<<32 + d(9)<<24 + d(9)*4 + d(4)/3*line*d(9)) }
		alike := d.One(2) // most iterations touch the lines of the one before
		away := func() int {
			if alike {
				return []int{0, 4, 4, 8}[d(4)]
			}
			return []int{0, 4, 4, 8, line, 3 * line, span, column, column + line}[d(9)]
		}
		op := func(base uint64, strides ...int) nest.Node {
			return nest.Operand{Base: base + uint64(d(60)/59*2), Width: 4, Strides: strides}
		}
		var large, body []nest.Node
		for range 1 + d(5)/2 {
			stride := []int{column, column, column, column, columns[d(len(columns))], 4, 8, -4}[d(8)]
			large = append(large, op(array(), []int{0, 0, 4, line}[d(4)], away(), stride))
		}
		if d.One(3) { // along lines, which are the same each time, and down columns that go on
			large = []nest.Node{op(array(), 0, []int{0, 0, 4}[d(3)], 4), op(array(), 0, []int{line, 3 * line, column + line}[d(3)], column)}
		}
		rest := nest.Operand{Base: 1 << 32, Strides: []int{0, 0, 0}}
		for range d(3) {
			base := array()
			if d.One(3) { // where what moves comes to
				base = large[0].(nest.Operand).Base + uint64(large[0].(nest.Operand).Strides[2]*(trips-1-d(5)/4))
			}
			rest = nest.Operand{Base: base, Width: 4, Strides: []int{0, away(), 0}}
			large = slices.Insert(large, d(len(large)+1), nest.Node(rest))
		}
		plain := func() {
			for range d(5) / 3 {
				switch d(6) {
				case 0: // where what moves comes to
					last := large[0].(nest.Operand)
					body = append(body, op(last.Base+uint64(last.Strides[2]*(trips-1)), last.Strides[0], []int{away(), last.Strides[1]}[d(2)]))
				case 1: // where something rested
					body = append(body, op(rest.Base-uint64(rest.Strides[1]), 0, rest.Strides[1]))
				default:
					body = append(body, op(array(), 0, away()))
				}
			}
		}
		plain()
		inner := loop(constant(trips), large...).(*nest.Loop)
		if d.One(4) {
			inner.To[0].Coef = []int{d(3) - 1, d(8) / 7}
		} else if d.One(20) {
			inner.From = append(inner.From, nest.Affine{Const: -2, Coef: []int{0, 1}})
		}
		body = append(body, inner)
		plain()
		if d.One(4) { // the same again: what rests, ahead and behind
			body = append(body, slices.DeleteFunc(slices.Clone(body), func(n nest.Node) bool { _, is := n.(*nest.Loop); return is })...)
		}
		outer := []nest.Node{loop(constant(3+d(30)), body...)}
		if d.One(4) { // accesses to a small array around
			outer = append(outer, op(array(), 4))
		}
		p := nest.Program{loop(constant(1+d(4)), outer...)}
		if accesses(p, 40000) > 40000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100, 500}[d(3)], floods: true})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	often := programs / enginetest.Cases(20) // of few, chance decides
	if t.Logf("%+v", did); did.Flooded < 3*often || did.Replayed < often || did.Same < often {
		t.Errorf("not often enough: %+v", did)
	}
}

// TestFloodAgain is of a column that is accessed again in the same iteration, with others of its set
// between: these do not come between two of its touches.
func TestFloodAgain(t *testing.T) {
	t.Parallel()
	op := func(base uint64, strides ...int) nest.Node {
		return nest.Operand{Base: base, Width: 4, Strides: strides}
	}
	loop := func(to int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
	}
	for trips := 20; trips < 30; trips++ {
		p := nest.Program{loop(12, loop(trips, op(0x102000004, 8, 192), op(0x101000018, 8, 192), op(0x10000014c, 4, 32), op(0x101000018, 8, 192)))}
		asReference(t, uint64(trips), New([]engine.Level{{Sets: 8, Ways: 8, Shift: 5}}, Options{Threshold: 100, floods: true}), p)
	}
}

// TestFloodTwice is of what rests in the innermost loop ahead of something else and behind it, and goes on to
// another line of the same set: between two touches of the other, that makes two lines.
func TestFloodTwice(t *testing.T) {
	t.Parallel()
	op := func(base uint64, strides ...int) nest.Node {
		return nest.Operand{Base: base, Width: 4, Strides: strides}
	}
	loop := func(to int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
	}
	for trips := 38; trips < 44; trips++ {
		column, on, rest := op(0x101000000, 0, 0, 32), op(0x102000000, 0, 256, 0), op(0x103000000)
		p := nest.Program{loop(2, loop(30, loop(trips, column, on, rest, column, on)))}
		asReference(t, uint64(trips), New([]engine.Level{{Sets: 8, Ways: 4, Shift: 5}}, Options{}), p)
	}
}

// TestFloodOften is of lines that are accessed ahead of an innermost loop, in it and behind it: they count once or twice,
// however often that is, as in PolyBench's correlation, in a level that has room for no more.
func TestFloodOften(t *testing.T) {
	t.Parallel()
	op := func(base uint64, kind nest.Kind, strides ...int) nest.Node {
		return nest.Operand{Base: base, Width: 4, Kind: kind, Strides: strides}
	}
	loop := func(to int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
	}
	row := func(kind nest.Kind) nest.Node { return op(0x101000000, kind, 400, 4) }
	p := nest.Program{loop(3, loop(40,
		row(nest.Write),
		loop(100, row(nest.Read), op(0x102000000, nest.Read, 4, 0, 256), op(0x103000000, nest.Read, 0, 4, 256), row(nest.Write)),
		row(nest.Read), op(0x104000000, nest.Write, 4, 512)))}
	for ways, flooded := range map[int]bool{6: false, 7: true, 8: true} {
		e := New([]engine.Level{{Sets: 8, Ways: ways, Shift: 5}}, Options{floods: true})
		if asReference(t, uint64(ways), e, p); e.did.Flooded > 0 != flooded {
			t.Errorf("%d ways: %d passes flooded", ways, e.did.Flooded)
		}
	}
}
