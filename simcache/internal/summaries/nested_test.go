package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestNested compares misses and contents with what a cache is, for nests in which some accesses rest, as the sums
// of convolutions do, and others go anywhere: through few lines or many, with more of them to a set than it has
// ways, or onto what rests. There are several nests of each kind, so that summaries come again; some are longer from one to the next.
func TestNested(t *testing.T) {
	t.Parallel()
	programs, did, deep := enginetest.Cases(4000), did{}, 0
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 91)
		l := engine.Level{Sets: []int{4, 8, 16, 12, 1}[d(5)], Ways: []int{8, 4, 3, 6, 16, 2}[d(6)], Shift: 5}
		levels := []engine.Level{l}
		if d.One(3) {
			levels = append(levels, engine.Level{Sets: l.Sets * (1 + d(4)), Ways: l.Ways + d(9), Shift: 5})
		}
		const line = 32
		loop := func(to nest.Affine, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
		}
		depth := 2 + d(2) // of the nest, in two loops
		wide := d.One(4)  // the nest's outermost loop goes on by the span of the sets
		strides := func(rests bool) (list []int) {
			list = []int{[]int{0, 4, line, 4 * line, l.Sets * line}[d(5)], []int{0, 4, 8, line, 3 * line}[d(5)]}
			for i := range depth {
				if rests {
					list = append(list, 0)
				} else if i == 0 && wide {
					list = append(list, l.Sets*line)
				} else {
					list = append(list, []int{0, 4, 4, 8, line, -line, 3 * line, 5*line - 4, l.Sets * line, l.Sets*line + line}[d(10)])
				}
			}
			return list
		}
		access := func(rests bool) nest.Node {
			op := nest.Operand{Base: uint64(1<<32 + d(3)<<20 + d(60)*4), Width: 4, Strides: strides(rests)}
			if rests && !d.One(4) {
				op.Base += 1 << 24
			}
			if op.Kind = nest.Read; d.One(2) {
				op.Kind = nest.Write
			}
			return op
		}
		var body []nest.Node
		for range 1 + d([]int{3, 3, 3, 6}[d(4)]) {
			body = append(body, access(true))
		}
		for range 1 + d(3) {
			body = append(body, access(false))
		}
		if d.One(2) { // as a compound assignment
			body = append(body, body[0])
		}
		for i := range body {
			k := d(i + 1)
			body[i], body[k] = body[k], body[i]
		}
		inner := body
		for i := range depth {
			trips := nest.Constant(1 + d([]int{4, 8, 20}[d(3)]))
			if i == 0 {
				trips = nest.Constant(2 + d(20))
			}
			if d.One(20) {
				trips.Const--
			}
			if d.One(6) {
				trips.Coef = []int{d(2), d(2)}
			}
			inner = []nest.Node{loop(trips, inner...)}
			if one := inner[0].(*nest.Loop); d.One(12) {
				one.From = append(one.From, nest.Affine{Const: -1, Coef: []int{0, 1}})
			} else if d.One(12) {
				op := access(true).(nest.Operand)
				op.Strides = op.Strides[:1+depth-i]
				inner = append(inner, op)
			}
		}
		p := nest.Program{loop(nest.Constant(1+d(4)), loop(nest.Constant(2+d(12)), inner...))}
		if accesses(p, 200000) > 200000 {
			continue
		}
		e := New(levels, Options{Threshold: []int{1, 5, 20}[d(3)], nests: !d.One(4)})
		asReference(t, seed, e, p)
		if did.add(e.did); len(levels) > 1 {
			deep += e.did.Nested
		}
	}
	if t.Logf("%d, %+v", deep, did); did.Nested < 2*programs || deep < programs/4 {
		t.Errorf("not often enough: %+v", did)
	}
}
