package proofs

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// combOf draws levels and a matrix that is read by columns, mostly beside others that go through
// memory, and where a column about fits into the last level.
func combOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	levels := []engine.Level{{Sets: 1 << d(2), Ways: 1 + d(3), Shift: 4}}
	for range 1 + d(2) {
		before := levels[len(levels)-1]
		levels = append(levels, engine.Level{Sets: before.Sets << d(3), Ways: before.Ways + d(10), Shift: 4})
	}
	if d.One(8) {
		levels[len(levels)-1].Sets += d(3)
	}
	if d.One(8) {
		levels = levels[:1]
	}
	n := nest.Nest{Trips: []int{2 + d(60), 2 + d(60)}}
	step := []int{1, 1, 2, 4, 8, 12, 16, 24, -1, -4, 0}[d(11)]
	pitch := step * n.Trips[0]
	if d.One(2) {
		pitch = 1 + d(200)
	}
	comb := nest.Operand{Kind: nest.Read, Base: enginetest.At + uint64(d(64)), Width: 1, Strides: []int{step, pitch}}
	n.Operands = []nest.Operand{comb}
	for r := range d(3) {
		stride := []int{1, 4, 8, 16, 16, 3, -4, 20}[d(8)]
		op := nest.Operand{Kind: nest.Write, Base: enginetest.At + uint64(r+1)<<26 + uint64(d(64)), Width: 1, Strides: []int{stride * n.Trips[1], stride}}
		if d.One(12) {
			op.Strides[0] = d(40) // no stream
		}
		n.Operands = slices.Insert(n.Operands, d(len(n.Operands)+1), op)
	}
	return levels, n
}

// deepOf is combOf of a tensor whose rows are those of several dims, in any order.
func deepOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	levels, _ := combOf(d)
	rows := []int{2 + d(8), 2 + d(8)}
	columns := 2 + d(60)
	elem := []int{1, 2, 4, 8, 16}[d(5)]
	strides := []int{elem * columns, elem * columns * rows[0]}
	if d.One(3) {
		strides[1] += elem * d(20)
	}
	if d.One(3) {
		strides[0] += elem * d(20)
	}
	if d.One(4) {
		strides[0] = -strides[0]
	}
	if d.One(8) {
		strides[1] = 0
	}
	comb := nest.Operand{Kind: nest.Read, Base: enginetest.At + 1<<16 + uint64(elem*d(16)), Width: elem, Strides: []int{elem, strides[0], strides[1]}}
	if d.One(2) {
		comb.Strides[1], comb.Strides[2], rows[0], rows[1] = comb.Strides[2], comb.Strides[1], rows[1], rows[0]
	}
	made := nest.Nest{Trips: []int{columns, rows[0], rows[1]}, Operands: []nest.Operand{comb}}
	for r := range d(3) {
		stride := []int{elem, elem, elem, 16, 3}[d(5)]
		op := nest.Operand{Kind: nest.Write, Base: enginetest.At + uint64(r+1)<<26 + uint64(stride*d(16)), Width: 1, Strides: []int{stride * rows[0] * rows[1], stride * rows[1], stride}}
		made.Operands = slices.Insert(made.Operands, d(len(made.Operands)+1), op)
	}
	return levels, made
}

// TestGapsOfLarge: nests of many references are counted without looking them up.
func TestGapsOfLarge(t *testing.T) {
	t.Parallel()
	mib := func(n int) []engine.Level {
		return []engine.Level{{Sets: 64, Ways: 8, Shift: 6}, {Sets: n << 10, Ways: 16, Shift: 6}}
	}
	copyOf := func(elem int, shape, strides []int) nest.Nest {
		n := nest.Nest{Trips: shape, Operands: []nest.Operand{{Base: 1 << 32, Width: elem}, {Base: 1 << 40, Width: elem, Kind: nest.Write, Strides: make([]int, len(shape))}}}
		by := elem
		for l := len(shape) - 1; l >= 0; l-- {
			n.Operands[1].Strides[l] = by
			by *= shape[l]
		}
		for _, s := range strides {
			n.Operands[0].Strides = append(n.Operands[0].Strides, elem*s)
		}
		return n
	}
	for name, c := range map[string]struct {
		levels []engine.Level
		nest   nest.Nest
	}{
		"windows of a stream are not asked one by one": {mib(1), copyOf(4, []int{34691, 22734}, []int{1, 34691})},
		"rows of two loops":                            {mib(32), copyOf(16, []int{279, 34, 10528}, []int{1, 279, 9486})},
		"passes of a stream":                           {mib(32), copyOf(4, []int{125, 511, 156}, []int{1, 19500, 125}).Repeat(1000)},
		"streams are asked first":                      {mib(1), copyOf(1, []int{1044, 870, 33}, []int{28710, 1, 870}).Repeat(3)},
		"what is not fresh is not looked at":           {mib(8), copyOf(1, []int{732, 146943}, []int{1, 732}).Only(0)},
		"a comb is tried before independence":          {[]engine.Level{mib(1)[0], {Sets: 1 << 15, Ways: 16, Shift: 6}}, copyOf(1, []int{30013, 30011}, []int{1, 30013})},
	} {
		e := New(c.levels, 1)
		e.Run([]nest.Nest{c.nest.Canonical()}, 1)
		if e.Work() > 1e6 {
			t.Errorf("%s: %d look-ups", name, e.Work())
		}
	}
}
