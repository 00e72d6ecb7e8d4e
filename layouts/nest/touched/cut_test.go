package touched_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/layouts/nest"
	. "github.com/stridebench/stridebench/layouts/nest/touched"
)

// TestCut: whatever the loops, each access is made by exactly one part, no two parts
// write the same byte, and there are no more parts than workers.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		for i := range n.Operands {
			n.Operands[i].Kind = rapid.SampledFrom([]nest.Kind{nest.Read, nest.Read, nest.Write,
				nest.Modify}).Draw(t, "kind")
		}
		workers := rapid.IntRange(1, 9).Draw(t, "workers")
		parts := Cut(n, workers)
		if len(parts) > workers {
			t.Fatalf("%d parts for %d workers", len(parts), workers)
		}
		var all []access
		writer := map[uint64]int{}
		for i, part := range parts {
			all = append(all, w(part)...)
			for _, a := range w(part) {
				op := part.Operands[a.op]
				for b := range uint64(op.Width) {
					before, written := writer[a.addr+b]
					if op.Kind != nest.Read && written && before != i {
						t.Fatalf("parts %d and %d write byte %#x", before, i, a.addr+b)
					}
					if op.Kind != nest.Read {
						writer[a.addr+b] = i
					}
				}
			}
		}
		same(t, "accesses", sorted(all), sorted(w(n)))
	})
}

// TestCutChunks: the chunks are those of PyTorch's parallel_for, of the outermost
// loop that can be cut.
func TestCutChunks(t *testing.T) {
	of := func(kind nest.Kind, trips []int, strides ...int) nest.Nest {
		return nest.Nest{Trips: trips,
			Operands: []nest.Operand{{Kind: kind, Base: 4096, Width: 4, Strides: strides}}}
	}
	for _, c := range []struct {
		nest    nest.Nest
		workers int
		want    string
	}{
		// five chunks for eight workers
		{of(nest.Read, []int{9, 8}, 64, 4), 8, "[2 8] [2 8] [2 8] [2 8] [1 8]"},
		{of(nest.Read, []int{1, 8}, 64, 4), 2, "[4] [4]"},   // a loop of one trip is none
		{of(nest.Read, []int{3, 8}, 32, 4), 2, "[12] [12]"}, // nor are two that are one
		// all iterations of the outer write the same
		{of(nest.Write, []int{8, 10}, 0, 4), 2, "[8 5] [8 5]"},
		// rows that overlap, as far as strides tell
		{of(nest.Write, []int{4, 8}, 4, 8), 2, "[4 8]"},
		{of(nest.Read, []int{}), 2, "[]"},
	} {
		var got []string
		for _, p := range Cut(c.nest, c.workers) {
			got = append(got, fmt.Sprint(p.Trips))
		}
		if parts := strings.Join(got, " "); parts != c.want {
			t.Errorf("%v by %d: %s, want %s", c.nest, c.workers, parts, c.want)
		}
	}
}
