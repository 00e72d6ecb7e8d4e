package proofs

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestInPasses compares passes over a nest, which are counted pass by pass, with brute force, and what the levels hold
// behind them, or if nothing is to have been run.
func TestInPasses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(6000)) {
		d := enginetest.Random(seed, 71)
		levels, n := combOf(d)
		switch seed % 3 {
		case 0:
			levels, n = deepOf(d)
		case 1:
			levels, n = gappyOf(d)
		}
		one := n.Canonical()
		n = one.Repeat(2 + d(6)).Canonical()
		if _, ok := passOf(n); !ok {
			continue
		}
		e := New(levels, 1)
		e.Eager()
		caches := reference.New(levels)
		got := e.inPasses(n)
		if got == nil {
			if e.contents != nowhere {
				t.Fatalf("seed %d: %s after nothing was counted", seed, e.Residency())
			}
			continue
		}
		if d.One(3) { // as Effort does
			e.contents, e.owed = nowhere, nil
		} else if want := caches.Run(n.Operands, n.Accesses()); !slices.Equal(got, want) {
			t.Fatalf("seed %d, levels %+v, nest\n%vmisses %v, want %v", seed, levels, n, got, want)
		}
		next := one
		if d.One(2) { // which the prover counts
			next = nest.Nest{Trips: one.Trips, Operands: []nest.Operand{one.Operands[0], one.Operands[0]}}.Repeat(3).Canonical()
		}
		got, want := e.Run([]nest.Nest{next}, 1)[0][0], caches.Run(next.Operands, next.Accesses())
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, levels %+v, nest\n%vbehind it, or instead, %vmisses %v, want %v", seed, levels, n, next, got, want)
		}
	}
}
