package proofs

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/lru"
)

// writtenOf draws levels and a nest that prover.backed may tell of: what writes mostly goes
// through memory, what reads comes back to its blocks.
func writtenOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	if d.One(4) {
		return gappyOf(d)
	}
	soon := d.One(2) // what is read comes back soon, to larger levels
	tight := soon && d.One(3)
	levels := []engine.Level{{Sets: 1 + d(3), Ways: 1 + d(3), Shift: 4}}
	for range d(3) {
		l := levels[len(levels)-1]
		switch {
		case tight:
			l.Ways += d(3)
		case soon:
			l.Sets, l.Ways = l.Sets+d(3), l.Ways+8+d(28)
		default:
			l.Sets, l.Ways = l.Sets+d(3), l.Ways+d(12)
		}
		levels = append(levels, l)
	}
	n := nest.Nest{Trips: []int{1 + d(3), 2 + d(12), 2 + d(40)}}
	if soon {
		n.Trips[1], n.Trips[2] = 40+d(80), 2+d(12)
		if tight {
			n.Trips[2] += d(20)
		}
	} else if d.One(2) {
		n.Trips = append(n.Trips, 2+d(6))
	}
	for r := range 1 + d(3) {
		op := nest.Operand{Kind: nest.Kind(d(3)), Base: enginetest.At + uint64(r)<<26 + uint64(4*d(4)), Width: 4, Strides: make([]int, len(n.Trips))}
		back := soon && r == 2 && d.One(2) || tight && r == 0 // what writes comes back
		if back {
			op.Kind = nest.Write
		} else if r < 2 {
			op.Kind = []nest.Kind{nest.Read, nest.Write}[r]
		}
		inner := 4 << (2 * d(2))
		for l := len(n.Trips) - 1; l > 0; l-- {
			op.Strides[l] = inner
			if op.Kind == nest.Read && d.One(2) {
				op.Strides[l] = []int{0, 4, 16, 64}[d(4)]
			}
			inner *= n.Trips[l]
		}
		if d(3) > 0 {
			op.Strides[0] = inner // else passes
		}
		if soon && op.Kind == nest.Read || back {
			op.Strides[1], op.Strides[2] = 0, 16
		}
		n.Operands = append(n.Operands, op)
	}
	return levels, n
}

// TestBackedDifferential compares what is proved of write-backs with looking up every access.
func TestBackedDifferential(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(24000)) {
		d := enginetest.Random(seed, 61)
		levels, n := writtenOf(d)
		x := newProver(levels)
		misses, backs, ok := x.backed(n.Canonical())
		if !ok {
			continue
		}
		want := lru.New(levels, lru.Options{WriteBacks: true, Brute: true})
		if wanted := want.One(n.Canonical()); !slices.Equal(misses, wanted) {
			t.Fatalf("seed %d, levels %+v, nest\n%vmisses %v, want %v", seed, levels, n, misses, wanted)
		}
		for level, count := range backs {
			if got := want.Besides(level).WriteBacks; got != count {
				t.Fatalf("seed %d, levels %+v, nest\n%v%d lines written back from level %d, want %d", seed, levels, n, count, level, got)
			}
		}
	}
}

// TestDirtyAtEnd compares what is dirty in the end with looking up every access, of as many of the
// last iterations as happen to be looked up.
func TestDirtyAtEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(8000)) {
		d := enginetest.Random(seed, 62)
		levels, n := writtenOf(d)
		n = n.Canonical()
		b, ok := newProver(levels).newBacking(n)
		if !ok || !b.delay() {
			continue
		}
		want := lru.New(levels, lru.Options{WriteBacks: true, Brute: true})
		misses := want.One(n)
		if !b.once(misses) {
			continue // only if so in company
		}
		dirty, ok := b.dirtyAtEnd(1 + d(n.Iterations()))
		if !ok {
			continue
		}
		for level, got := range dirty {
			if want.Dirty(level) != got {
				t.Fatalf("seed %d, levels %+v, nest\n%v%d lines are dirty in level %d, want %d", seed, levels, n, got, level, want.Dirty(level))
			}
		}
	}
}
