package lru

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestEqualsReference compares misses and contents with what a cache is, on
// random levels and sequences of nests and single accesses.
func TestEqualsReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4000) {
		d := enginetest.Random(seed, 31)
		levels := d.Levels()
		got, want := New(levels, Options{Brute: d.One(2), Cores: 1 + d(3)}), reference.New(levels)
		got.share = 0
		for range 1 + d(3) {
			n := d.Nest(levels, 400)
			if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(got.One(n.Canonical()), wanted) {
				t.Fatalf("seed %d, %+v, %v: not the %v misses", seed, levels, n, wanted)
			}
			for range d(30) {
				addr, size := uint64(enginetest.At+d(1<<12)), uint64(1+d(8))
				got.Add(engine.Loads, addr, size, 0)
				want.Access(addr, size)
			}
			got.Flush()
			got.Take(0)
		}
		for level, l := range levels {
			for set := range l.Sets {
				if have := got.Contents(nil, level, set); !slices.Equal(have, want.Contents(level, set)) {
					t.Fatalf("seed %d, level %d, set %d: %v, want %v", seed, level, set, have, want.Contents(level, set))
				}
			}
		}
	}
}
