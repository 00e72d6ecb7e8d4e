package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestRareRows: cases of rows of small accesses, and of parts of chunks, that random
// programs seldom have.
func TestRareRows(t *testing.T) {
	const line = 32
	up := func(to nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
	}
	op := func(base uint64, strides ...int) nest.Node {
		return nest.Operand{Base: base, Width: 4, Strides: strides}
	}
	const span = 8 * line
	many := up(nest.Constant(200), op(1<<32, 0, 0, line), op(1<<33, 0, 0, 4))
	for _, c := range []struct {
		name string
		sets int
		ways int
		body []nest.Node // of two loops
	}{
		{"more small lines than ways", 8, 2, []nest.Node{op(1<<30, 0, 4), op(1<<30+span, 0, 4), op(1<<30+2*span, 0, 4), op(1<<30, 0, 4), many}},
		{"a loop of no trips at first, in which a line rests", 8, 4, []nest.Node{op(1<<30, 0, 4),
			up(nest.Affine{Const: -3, Coef: []int{0, 1}}, op(1<<34+span, 0, 0, 0), op(1<<34+line, 0, 0, 4)), many}},
		{"a loop of no trips, in which a line rests", 8, 4, []nest.Node{op(1<<30, 0, 4),
			up(nest.Affine{Const: -1, Coef: []int{1}}, op(1<<34+span, 0, 0, 0), op(1<<34+line, 0, 0, 4)), many}},
		{"a period of three iterations", 3, 4, []nest.Node{up(nest.Constant(40), op(1<<30, 0, 5*line, 4), op(1<<31, 0, 0, 4))}},
	} {
		levels := []engine.Level{{Sets: c.sets, Ways: c.ways, Shift: 5}}
		p := nest.Program{up(nest.Constant(3), up(nest.Constant(64), c.body...))}
		want := reference.New(levels).Run(p.Operands(), p.Accesses())
		for _, threshold := range []int{1, 5, 20, 100} {
			e := New(levels, Options{Threshold: threshold})
			if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %d: %v, %v, want %v; %+v", c.name, threshold, got, err, want, e.did)
			}
		}
	}
}

// TestBusyBends is of a loop that ends at the least of two bounds, and so has more trips between the first and
// the last iteration around it than in these: there it comes to the small array's line.
func TestBusyBends(t *testing.T) {
	t.Parallel()
	loop := func(to []nest.Affine, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: to, Step: 1, Body: body}
	}
	for line := uint64(14); line < 36; line++ {
		bends := []nest.Affine{{Const: 13, Coef: []int{0, 8}}, {Const: 69, Coef: []int{0, -8}}}
		p := nest.Program{loop([]nest.Affine{nest.Constant(3)}, loop([]nest.Affine{nest.Constant(8)},
			nest.Operand{Base: 1<<32 + line*32, Width: 4, Strides: []int{0, 4}},
			loop(bends, nest.Operand{Base: 1 << 32, Width: 4, Strides: []int{0, 0, 32}})))}
		asReference(t, line, New([]engine.Level{{Sets: 4, Ways: 2, Shift: 5}}, Options{Threshold: 20}), p)
	}
}

// TestBusyManyRefs is of a loop of more accesses than are compared, since each of its addresses is accessed
// again, the last one first, and there are as many ways.
func TestBusyManyRefs(t *testing.T) {
	t.Parallel()
	loop := func(to int, body ...nest.Node) nest.Node {
		return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
	}
	const n = mostRefs/2 + 1
	body := make([]nest.Node, 2*n)
	for i := range n {
		body[i] = nest.Operand{Base: uint64(1<<32 + (i+1)<<20), Width: 4, Strides: []int{0, 0, 32}}
		body[2*n-1-i] = body[i]
	}
	p := nest.Program{loop(2, loop(16, nest.Operand{Base: 1 << 32, Width: 4, Strides: []int{0, 4}}, loop(350, body...)))}
	asReference(t, 0, New([]engine.Level{{Sets: 4, Ways: 80, Shift: 5}}, Options{Threshold: 100}), p)
}
