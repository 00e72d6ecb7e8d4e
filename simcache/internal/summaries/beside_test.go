package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
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

// TestBesideBends is of a loop that ends at the least of two bounds, and so has more trips between the first and
// the last iteration around it than in these: there it comes to the small array's line.
func TestBesideBends(t *testing.T) {
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

// TestBesideManyRefs is of a loop of more accesses than are compared, since each of its addresses is accessed
// again, the last one first, and there are as many ways.
func TestBesideManyRefs(t *testing.T) {
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

// TestBesideShort compares misses and contents with what a cache is, for loops that grow from iteration to iteration of the
// one around, ahead of which small arrays are accessed, one line or two: they bring less lines to a set than it has ways, then as
// many, then more. What is recorded of them is put together of parts of whole lines.
func TestBesideShort(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(4000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 83)
		l := engine.Level{Sets: []int{4, 8, 16, 64, 12}[d(5)], Ways: []int{8, 8, 4, 6, 16, 3, 2, 1}[d(8)], Shift: 5}
		const line = 32
		loop := func(from, to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{from}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		affine := func(c int, coef ...int) nest.Affine { return nest.Affine{Const: c, Coef: coef} }
		op := func(base int, strides ...int) nest.Node {
			return nest.Operand{Base: uint64(base), Width: 4, Strides: strides}
		}
		size := 20 + d(60)
		row := 4*size + 4*d(20) // bytes
		if d.One(3) {
			row = line * (1 + d(2*l.Sets)) * []int{1, 3}[d(2)]
		}
		small := []nest.Node{op(1<<30+d(l.Sets*line), 0, []int{1, 2, 4, 1, 4, 0}[d(6)])}
		if d.One(2) {
			small = append(small, op(1<<30+d(l.Sets*line)&^3, []int{1, 4}[d(2)], d(2)))
		}
		if d.One(3) {
			small = append(small, small[0])
		}
		if d.One(3) {
			small = []nest.Node{&nest.If{When: nest.Condition{{affine(-d(20), 0, 1)}}, Then: small, Else: small[:d(2)]}}
		}
		head := []nest.Node{op(1<<34, row, 4)}
		if d.One(2) {
			head = append(head, op(1<<34+row, row, 4))
		}
		if d.One(2) {
			head, small = small, head
		}
		if d.One(8) { // another loop
			head = append(head, loop(affine(0), affine(1+d(30)), op(1<<30+d(l.Sets*line)&^3, 0, d(2), 4)))
		}
		inner := []nest.Node{op(1<<34, row, 0, 4), op(1<<34+row, row, 4, row)}
		if d.One(3) {
			inner = inner[1:]
		}
		if d.One(2) {
			inner = append([]nest.Node{op(1<<34, row, 4, 0)}, inner...)
		}
		if d.One(4) {
			inner = append(inner, inner[0])
		}
		if d.One(6) {
			inner = append(inner, op(1<<34+d(40)*line, row, []int{0, 4}[d(2)], []int{0, 4, -4, row, line}[d(5)]))
		}
		grows := loop(affine(0), affine(d(9)-2, d(2), 1), inner...)
		if d.One(6) { // or it does not, or ends early
			grows = &nest.Loop{From: []nest.Affine{affine(0)}, To: []nest.Affine{affine(d(9)+d(2)*size, 0, 1), affine(d(2*size), 0, -d(2))}, Step: 1, Body: inner}
		}
		p := nest.Program{loop(affine(0), affine(2+d(12)), loop(affine(0), affine(size), append(append(head, small...), grows)...))}
		if accesses(p, 200000) > 200000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{5, 20, 60}[d(3)]})
		asReference(t, seed, e, p)
		if t.Failed() {
			t.Fatalf("%+v, %+v,\n%v", l, e.options, p)
		}
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Beside < programs || did.Parts < programs {
		t.Errorf("not often enough: %+v", did)
	}
}
