package summaries

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestAlign compares misses and contents with what a cache is, for loops over the rows of an
// array against one that is another in each instance, or the same array's, and what rests. Of one
// it bounds how many lines are looked up: chunks are found again.
func TestAlign(t *testing.T) {
	t.Parallel()
	programs, did := enginetest.Cases(300), did{}
	program := func(base uint64, instances, rows, row, trips, rest, around int) nest.Program {
		loop := func(trips int, body ...nest.Node) nest.Node {
			return &nest.Loop{From: []nest.Affine{nest.Constant(0)}, To: []nest.Affine{nest.Constant(trips)}, Step: 1, Body: body}
		}
		op := func(base uint64, strides ...int) nest.Node {
			return nest.Operand{Base: base, Width: 4, Strides: strides}
		}
		return nest.Program{loop(instances, loop(rows, loop(trips, op(1<<32, 0, row, 4), op(base, around, 0, 4), op(1<<32, rest, row, 0))))}
	}
	for seed := range uint64(programs) {
		d := enginetest.Random(seed, 49)
		l := engine.Level{Sets: []int{4, 8, 8, 12}[d(4)], Ways: []int{4, 8, 3}[d(3)], Shift: 5}
		row := []int{32, 96, 40, 36, 160, 64}[d(6)]
		trips := []int{row / 4, row / 4, 40, 9}[d(4)]
		p := program([]uint64{1 << 32, 1 << 32, 1<<32 + 256, 1 << 33}[d(4)], 2+d(12), 40+d(300), row, trips, d(3)*4, []int{row, row, 32, 4}[d(4)])
		e := New([]engine.Level{l}, Options{Threshold: []int{10, 30, 100}[d(3)]})
		asReference(t, seed, e, p)
		did.add(e.did)
	}
	if t.Logf("%+v", did); did.Aligned < programs {
		t.Errorf("not often enough: %+v", did)
	}
	e := New([]engine.Level{{Sets: 64, Ways: 8, Shift: 6}}, Options{})
	if _, err := e.Run(program(1<<32, 800, 800, 3200, 800, 4, 3200)); err != nil || e.Work() > 35e5 {
		t.Errorf("%d lines looked up, %v: chunks are not found again", e.Work(), err)
	}
}
