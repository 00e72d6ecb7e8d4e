package proofs

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// TestSums: what an engine leaves to summaries it counts as the reference does, before and
// after whatever else, and holds the same in the end.
func TestSums(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 51)
		specs := d.Levels()
		if d.One(2) {
			specs[0].Sets = max(specs[0].Sets, fewestSummed)
		}
		e, want := New(specs, 1), reference.New(specs)
		e.sumsFrom = float64(d(400))
		if d.One(2) { // any rule may come between
			e.from, e.independentFrom, e.independentGain, e.gapsFrom, e.quickFrom = 0, 0, 0, 0, 0
		}
		for range 1 + d(3) {
			var nests []nest.Nest
			for range 1 + d(2) {
				nests = append(nests, d.Nest(specs, 400).Canonical())
			}
			passes := 1 + d(3)
			if d.One(3) {
				e.Effort(nests, passes)
			}
			for p, pass := range e.Run(nests, passes) {
				for k, misses := range pass {
					if wanted := want.Run(nests[k].Operands, nests[k].Accesses()); !slices.Equal(misses, wanted) {
						t.Fatalf("seed %d, %+v, %v, pass %d, nest %d: %v misses, want %v", seed, specs, nests, p, k, misses, wanted)
					}
				}
			}
			if d.One(4) {
				e.Add(0, enginetest.At, 1, nest.Read)
				e.Flush()
				want.Access(enginetest.At, 1)
			}
		}
		if wrong := enginetest.Contents(specs, e, want); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
}

// TestFewSetsAreNotSummed: where lines differ; nor are long runs, nor what costs little.
func TestFewSetsAreNotSummed(t *testing.T) {
	for _, c := range []struct {
		sets, inner int
		behind      uint // log2 of the lines there
		from        float64
		want        bool
	}{{1, 300, 7, 100, false}, {1, 300, 6, 100, true}, {8, 300, 7, 100, true}, {8, 300, 6, 1e7, false}, {8, 5000, 6, 100, false}, {8, 300, 6, 100, true}} {
		n := nest.Nest{Trips: []int{300, c.inner}, Operands: []nest.Operand{enginetest.Operand(0, 4, 4, 1300), enginetest.Operand(1<<25, 4, 4*c.inner+4, 4)}}
		e := New([]engine.Level{{Sets: c.sets, Ways: 4, Shift: 6}, {Sets: 16, Ways: 4, Shift: c.behind}}, 1)
		e.sumsFrom, e.from = c.from, 1<<40
		e.Run([]nest.Nest{n}, 1)
		if (e.contents == bySums) != c.want {
			t.Errorf("%+v: contents are %s", c, e.Residency())
		}
	}
}
