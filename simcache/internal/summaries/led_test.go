package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestLed compares stencils, whose rows may be near each other in the sets, with what a cache is.
func TestLed(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(6000), did{}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 61)
		first := []int{1, 2, 4, 8, 16, 64, 24, 48}[d(8)]
		levels := []engine.Level{{Sets: first, Ways: []int{8, 8, 1, 2, 4}[d(5)], Shift: 5}, {Sets: first * (1 + d(6)), Ways: 1 + d(4), Shift: uint(5 + d(8)/7)}}[:1+d(2)]
		width := []int{2, 4, 8, 16, 32}[d(5)]
		row := 32*[]int{d(2*first + 8), 4 + d(8)}[d(2)] + width*d(2)*d(8)
		stride := []int{1, 1, 1, 1, 2, -1}[d(6)] * width
		var body []nest.Node
		for range 2 + d(9) {
			op := nest.Operand{Base: uint64(1<<30 + width*(d(5)-2) + row*d(3) + d(2)*d(2)<<20 + d(20)/19*32*d(4)), Width: width, Strides: []int{row, stride}}
			if d.One(12) {
				op.Strides[0] += 32 * d(3)
			}
			if d.One(30) {
				op.Strides[1] = 0
			}
			body = append(body, op)
		}
		loop := func(trips int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(trips)}, Step: 1, Body: body}
		}
		e := New(levels, Options{Threshold: []int{20, 1 << 30}[d(2)]})
		asReference(t, seed, e, nest.Program{loop(1+d(6), loop(5+d(200), body...))})
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Led < programs/10 {
		t.Errorf("led only %d times in %d programs", did.Led, programs)
	}
}
