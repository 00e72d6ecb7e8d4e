package proofs

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestSteadyNests: passes over a nest miss what is said of them, to the last miss of each operand in each level.
func TestSteadyNests(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(7000)) {
		d := enginetest.Random(seed, 41)
		levels := d.Levels()
		for i := range levels {
			levels[i].Shift, levels[i].Ways = levels[0].Shift, 1+d(3+12*i)
		}
		n := d.Nest(levels, 3000)
		if !d.One(4) { // rows, and columns, of matrices
			n = nest.Nest{Trips: []int{1 + d(60), 1 + d(60)}}
			for range 1 + d(3) {
				width, by := 4<<d(2), d(2)
				op := nest.Operand{Base: 1 << 20, Width: width, Strides: []int{0, 0}}
				if op.Strides[by], op.Strides[1-by] = width*(1+d(2)), width*(n.Trips[by]+d(4)); d.One(5) {
					op.Strides = []int{0, 0}
				}
				n.Operands = append(n.Operands, op)
			}
		}
		for r := range n.Operands {
			n.Operands[r].Base += uint64(r) << 26
		}
		n = n.Canonical()
		nearest, misses, known := Steady(levels, n)
		if !known {
			continue
		}
		caches := reference.New(levels)
		want := caches.Run(n.Operands, n.Accesses())
		for at := range want {
			if at%len(levels) >= nearest {
				want[at] = 0
			}
		}
		if nearest > 0 && misses != nil {
			want = misses
		}
		for pass := range len(levels) + 1 {
			if got := caches.Run(n.Operands, n.Accesses()); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %+v, %v: pass %d misses %v, want %v by %d levels", seed, levels, n, pass+2, got, want, nearest)
			}
		}
	}
}

// TestLives: no two touches of a block are farther apart.
func TestLives(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(6000)) {
		d := enginetest.Random(seed, 42)
		line := 16 << d(3)
		x := newProver([]engine.Level{{Sets: 4, Ways: 2, Shift: uint(4 + bits.TrailingZeros(uint(line/16)))}})
		width := 4 << d(2)
		n := nest.Nest{Trips: []int{1 + d(6), 1 + d(20), 1 + d(20)}, Operands: []nest.Operand{{Base: uint64(1<<20 + width*d(16)), Width: width, Strides: []int{0, 0, 0}}}}
		for l, s := range []int{width * (1 + d(2)), width * (n.Trips[1] + d(4)), width * (n.Trips[1]*n.Trips[2] + d(8)) * d(2)} {
			if d.One(6) {
				s = -s
			}
			n.Operands[0].Strides[(l+d(2))%3] = s
		}
		operands, ok := x.gapped(n.Canonical())
		if !ok {
			continue
		}
		got, ok := operands[0].lives(line)
		if !ok {
			continue
		}
		most, first := 0, map[uint64]int{}
		at := 0
		for _, a := range n.Accesses() {
			if from, seen := first[a/uint64(line)]; seen {
				most = max(most, at-from)
			} else {
				first[a/uint64(line)] = at
			}
			at++
		}
		if got < most {
			t.Fatalf("seed %d, %v, lines of %d: touches of a block lie up to %d iterations apart, said are %d", seed, n, line, most, got)
		}
	}
}
