package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestLone compares misses and contents with what a cache is, for a column or a row that is where it was from pass to
// pass, and one that goes on, seldom two, of about as many lines as there are ways, in one innermost loop or two, in which
// something may rest, that goes on or not.
func TestLone(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(4000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 71)
		l := engine.Level{Sets: []int{4, 8, 16, 32}[d(4)], Ways: []int{4, 6, 8, 3, 12}[d(5)], Shift: 5}
		line := 32
		loop := func(to int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(to)}, Step: 1, Body: body}
		}
		op := func(i int, strides ...int) nest.Node {
			return nest.Operand{Base: uint64(1<<32 + i<<24 + d(2*l.Sets*line/4)*4), Width: 4, Strides: strides}
		}
		step := []int{1, 3, 5, -7, 2, 4, 6, -2}[d(8)] * line
		other := []int{1, 3, 5, -7, 2, 4, 6, -2}[d(8)] * line
		trips := (1+d(l.Ways))*l.Sets/[]int{1, 2}[d(2)] + d(l.Sets) + 18
		inner := []nest.Node{op(0, 0, []int{8, 16, -8, 4}[d(4)], step+line*l.Sets*[]int{0, 2}[d(2)])}
		if d.One(4) { // a row, that goes on
			inner[0] = op(0, 0, 4*trips+line*(1+d(2))+4*d(8), 4)
		}
		if d.One(3) { // a row
			inner = append(inner, op(1, []int{0, 4}[d(2)], 0, 4))
		} else {
			inner = append(inner, op(1, []int{0, line}[d(2)], []int{0, 0, 0, 8}[d(4)], other+4*line*l.Sets*d(2)))
		}
		if d.One(2) {
			inner = append(inner, op(2, 0, 0, []int{4, line, other}[d(3)]))
		}
		if d.One(2) {
			inner = append(inner, op(3, 0, []int{0, 4, 8}[d(3)], 0))
		}
		for i := range inner {
			k := i + d(len(inner)-i)
			inner[i], inner[k] = inner[k], inner[i]
		}
		if d.One(3) { // again, in the same iteration
			inner = append(inner, inner[d(len(inner))])
		}
		body := []nest.Node{loop(trips, inner...)}
		if d.One(4) { // and in another loop, in another order
			body = append(body, loop(trips, append(inner[1:len(inner):len(inner)], inner[0])...))
		}
		p := nest.Program{loop(1+d(2), loop(26+d(60), body...))}
		if accesses(p, 200000) > 200000 {
			continue
		}
		e := New([]engine.Level{l}, Options{Threshold: []int{20, 100}[d(2)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Lone < 5*programs {
		t.Errorf("not often enough: %+v", did)
	}
}
