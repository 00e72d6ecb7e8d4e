package lookup

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestCores: on several cores, counts and what the caches hold are those of
// one, and the nests that cannot be shared out are not.
func TestCores(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(300)) {
		r := rand.New(rand.NewPCG(seed, 6))
		var levels []engine.Level
		for range 1 + r.IntN(3) {
			line, ways := 32<<r.IntN(2), 1+r.IntN(18)
			if seed%2 == 0 {
				line = 64
			}
			sets := 2 << r.IntN(6)
			if r.IntN(6) == 0 {
				sets = 2 + r.IntN(60) // modulo indexing, as a rule
			}
			levels = append(levels, level(sets, ways, line))
		}
		c := Options{WriteBacks: seed%2 == 0, Cores: 1 + r.IntN(9)}
		one, more := New(levels, Options{WriteBacks: c.WriteBacks}), New(levels, c)
		more.share = 0
		for range 3 {
			width := 1 << r.IntN(5)
			n := nest.Nest{Trips: []int{1 + r.IntN(5), 1 + r.IntN(9), 1 + r.IntN(60)}}
			for range 1 + r.IntN(4) {
				op := nest.Operand{Kind: nest.Kind(r.IntN(3)),
					Base: 1<<20 + uint64(r.IntN(500)*width), Width: width}
				if r.IntN(12) == 0 {
					op.Base++
				}
				for range n.Trips {
					op.Strides = append(op.Strides, (r.IntN(90)-20)*width)
				}
				n.Operands = append(n.Operands, op)
			}
			one.Track(len(n.Operands))
			more.Track(len(n.Operands))
			n = n.Canonical()
			one.walk(nest.Sequence(n))
			one.Flush()
			if !more.walkOnCores(n) {
				more.walk(nest.Sequence(n))
			}
			more.Flush()
			for level := range levels {
				if !slices.Equal(one.misses[level], more.misses[level]) ||
					!slices.Equal(one.levels[level].tags, more.levels[level].tags) {
					t.Fatalf("seed %d, level %d of %v: %v misses, want %v", seed, level, levels,
						more.misses[level], one.misses[level])
				}
			}
			if !reflect.DeepEqual(one.writeBacks, more.writeBacks) || c.WriteBacks &&
				!reflect.DeepEqual(one.fills, more.fills) {
				t.Fatalf("seed %d: write-backs %v, want %v", seed, more.writeBacks, one.writeBacks)
			}
		}
	}
}
