package proofs

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
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

// TestCombDifferential compares combs with brute force.
func TestCombDifferential(t *testing.T) {
	t.Parallel()
	combs, mixed, deep, shared := 0, 0, 0, 0 // of these, neither all that come to a line again hit, nor none
	for seed := range uint64(enginetest.Cases(30000)) {
		d := enginetest.Random(seed, 63)
		levels, n := combOf(d)
		if seed%3 == 0 {
			levels, n = deepOf(d)
		}
		n = n.Canonical()
		x := newProver(levels)
		misses, first, ok := x.gaps(n)
		if !ok || x.took.combs == 0 {
			continue
		}
		combs++
		shared += x.took.shares
		tired(t, x, n)
		want := reference.New(levels).Run(n.Operands, n.Accesses())
		for r := range n.Operands {
			if !first {
				want[r*len(levels)] = 0
			}
			last := want[(r+1)*len(levels)-1]
			if loops := len(n.Only(r).Canonical().Trips); loops >= 2 && last < uint64(n.Iterations()) && last > uint64(len(n.Only(r).Blocks(16))) {
				mixed++
				deep += loops - 2
			}
		}
		if !slices.Equal(misses, want) {
			t.Fatalf("seed %d, levels %+v, nest\n%v(the first level, too: %t) misses %v, want %v", seed, levels, n, first, misses, want)
		}
	}
	t.Logf("%d combs, of which %d hit and miss, %d of rows of several loops; %d accesses share a stream", combs, mixed, deep, shared)
	if combs < enginetest.Cases(1000) || mixed < enginetest.Cases(500) || deep < enginetest.Cases(100) || shared < enginetest.Cases(2000) {
		t.Errorf("%d combs, of which %d hit and miss, %d of rows of several loops; %d accesses share a stream", combs, mixed, deep, shared)
	}
}

// tired checks that what takes too long is left.
func tired(t *testing.T, x *prover, n nest.Nest) {
	list, _ := x.gapped(n)
	for r := range list {
		for other := range list {
			list[other].once = true
		}
		if c, ok := x.levels[len(x.levels)-1].newComb(list, r); ok {
			c.budget = c.rows - 1
			if _, ok := c.hits(); ok {
				t.Fatalf("%v: counted in %d accesses", n, c.rows-1)
			}
		}
	}
}

// TestCombBeforeIndependence: where independence would look up millions, a comb is tried first.
func TestCombBeforeIndependence(t *testing.T) {
	t.Parallel()
	levels := []engine.Level{{Sets: 64, Ways: 8, Shift: 6}, {Sets: 1 << 15, Ways: 16, Shift: 6}}
	n := nest.Nest{Trips: []int{30013, 30011}, Operands: []nest.Operand{
		{Base: 1 << 32, Width: 1, Strides: []int{1, 30013}}, {Base: 1 << 33, Width: 1, Kind: nest.Write, Strides: []int{30011, 1}}}}
	e := New(levels, 1)
	e.Run([]nest.Nest{n}, 1)
	if e.prover.took.combs == 0 || e.Work() > 1e6 {
		t.Errorf("%d combs, %d look-ups", e.prover.took.combs, e.Work())
	}
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
	} {
		e := New(c.levels, 1)
		e.Run([]nest.Nest{c.nest.Canonical()}, 1)
		if e.Work() > 1e6 {
			t.Errorf("%s: %d look-ups", name, e.Work())
		}
	}
}
