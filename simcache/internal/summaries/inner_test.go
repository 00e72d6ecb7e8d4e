package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// TestLongBodies compares misses and contents with what a cache is, for innermost loops of hundreds of accesses,
// down columns, and along lines, of which sets may hold more than they have ways.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	for i, n := range []int{500, 520, 700} {
		for _, stride := range []int{64, 4, 1} {
			var body []nest.Node
			for k := range n {
				body = append(body, nest.Operand{Base: uint64(1<<32 + k*(64+192*(i%2))), Width: 1, Strides: []int{1, stride}})
			}
			p := nest.Program{&nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(2)}, Step: 1, Body: []nest.Node{
				&nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(50)}, Step: 1, Body: body}}}}
			for _, levels := range [][]engine.Level{{{Sets: 64, Ways: 8, Shift: 6}}, {{Sets: 256, Ways: 2, Shift: 5}}, {{Sets: 16, Ways: 8, Shift: 5}, {Sets: 64, Ways: 8, Shift: 3}}} {
				asReference(t, uint64(n), New(levels, Options{}), p)
			}
		}
	}
}

// TestManyWays: levels of more ways than 16 bits count are refused.
func TestManyWays(t *testing.T) {
	t.Parallel()
	p := nest.Program{&nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(100)}, Step: 1,
		Body: []nest.Node{nest.Operand{Base: 1 << 32, Width: 4, Strides: []int{64}}}}}
	if misses, err := New([]engine.Level{{Sets: 1, Ways: 1 << 16, Shift: 6}}, Options{}).Run(p); err == nil {
		t.Errorf("%v misses", misses)
	}
	asReference(t, 0, New([]engine.Level{{Sets: 1, Ways: 1<<16 - 1, Shift: 6}}, Options{}), p)
}
