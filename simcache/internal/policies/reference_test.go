package policies

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestEqualsReference: with nothing but LRU, untied, the engine is what a cache
// is, on random levels and sequences of nests.
func TestEqualsReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 32)
		shapes := d.Levels()
		var levels []Level
		for _, l := range shapes {
			levels = append(levels, Level{Level: l})
		}
		got, want := New(levels, false, lookup.Observe(d(8))), reference.New(shapes)
		for range 1 + d(3) {
			n := d.Wide(d.Nest(shapes, 400), shapes)
			misses := got.Run([]nest.Nest{n.Canonical()}, 1)[0][0]
			if wanted := want.Run(n.Operands, n.Accesses()); !slices.Equal(misses, wanted) {
				t.Fatalf("seed %d, %+v, %v: %v misses, want %v", seed, shapes, n, misses, wanted)
			}
		}
	}
}
