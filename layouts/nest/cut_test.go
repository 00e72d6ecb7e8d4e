package nest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "github.com/stridebench/stridebench/layouts/nest"
)

// TestCut: whatever the loops, each access is made by exactly one part, no two parts
// write the same byte, and there are no more parts than workers.
func TestCut(t *testing.T) {
	cut, whole := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := someNest(t)
		for i := range n.Operands {
			n.Operands[i].Kind = rapid.SampledFrom([]Kind{Read, Read, Write, Modify}).Draw(t, "kind")
		}
		workers := rapid.IntRange(1, 9).Draw(t, "workers")
		parts := n.Cut(workers)
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
					if op.Kind != Read && written && before != i {
						t.Fatalf("parts %d and %d write byte %#x", before, i, a.addr+b)
					}
					if op.Kind != Read {
						writer[a.addr+b] = i
					}
				}
			}
		}
		same(t, "accesses", sorted(all), sorted(w(n)))
		if len(parts) > 1 {
			cut++
		} else {
			whole++
		}
	})
	if (cut == 0 || whole == 0) && !testing.Short() {
		t.Errorf("%d nests were cut, %d were not: the test shows nothing", cut, whole)
	}
}

// TestCutChunks: the chunks are those of PyTorch's parallel_for, of the outermost
// loop that can be cut.
func TestCutChunks(t *testing.T) {
	of := func(kind Kind, trips []int, strides ...int) Nest {
		return Nest{Trips: trips, Operands: []Operand{{Kind: kind, Base: 4096, Width: 4, Strides: strides}}}
	}
	halves := of(Write, []int{8}, 4) // of 8 bytes, of which the second is the first of the next iteration
	halves.Operands = append(halves.Operands, halves.Operands[0])
	halves.Operands[1].Base += 4
	for _, c := range []struct {
		nest    Nest
		workers int
		want    string
	}{
		{of(Read, []int{10, 8}, 64, 4), 4, "[3 8] [3 8] [3 8] [1 8]"},
		{of(Read, []int{9, 8}, 64, 4), 8, "[2 8] [2 8] [2 8] [2 8] [1 8]"}, // five chunks for eight workers
		{of(Read, []int{1, 8}, 64, 4), 2, "[4] [4]"},                       // a loop of one trip is none
		{of(Read, []int{3, 8}, 32, 4), 2, "[12] [12]"},                     // nor are two that are one
		{of(Write, []int{8, 10}, 0, 4), 2, "[8 5] [8 5]"},                  // all iterations of the outer write the same
		{of(Write, []int{8}, 0), 2, "[8]"},
		{of(Write, []int{4, 8}, 4, 8), 2, "[4 8]"},        // rows that overlap, as far as strides tell
		{of(Write, []int{4, 8}, 64, 4), 2, "[2 8] [2 8]"}, // rows with a gap between them
		{halves, 2, "[8]"},
		{of(Read, []int{8}, 0), 2, "[4] [4]"},
		{of(Read, []int{}), 2, "[]"},
		{of(Read, []int{0, 4}, 4, 4), 2, "[0 4]"},
	} {
		var got []string
		for _, p := range c.nest.Cut(c.workers) {
			got = append(got, fmt.Sprint(p.Trips))
		}
		if diff := cmp.Diff(c.want, fmt.Sprint(slices.Clip(got))[1:len(fmt.Sprint(got))-1]); diff != "" {
			t.Errorf("%v by %d: %s", c.nest, c.workers, diff)
		}
	}
}
