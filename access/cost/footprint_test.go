package cost

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
)

// TestFootprints: what a nest touches is counted as it is said, by looking at all operands
// before each, whatever was asked before.
func TestFootprints(t *testing.T) {
	twins := 0
	rapid.Check(t, func(t *rapid.T) {
		n := nest.Nest{Trips: []int{rapid.IntRange(1, 5).Draw(t, "trips"),
			rapid.IntRange(1, 5).Draw(t, "trips")}}
		for range rapid.IntRange(1, 8).Draw(t, "operands") {
			n.Operands = append(n.Operands, nest.Operand{Base: uint64(rapid.IntRange(0, 20).Draw(t,
				"base")) * 8, Width: 4,
				Strides: []int{rapid.SampledFrom([]int{0, 64, 256}).Draw(t, "stride"),
					rapid.SampledFrom([]int{4, 64}).Draw(t, "stride")}})
		}
		f := footprintsOf(n)
		for range 2 {
			for _, block := range []int{32, 64} {
				for l := range 3 {
					want := 0.0
					for r, op := range n.Operands {
						same := slices.ContainsFunc(n.Operands[:r], func(o nest.Operand) bool {
							return o.Base/uint64(block) == op.Base/uint64(block) &&
								slices.Equal(o.Strides, op.Strides)
						})
						if same {
							twins++
						} else {
							op.Strides = op.Strides[l:]
							want += touched.Lines(op, n.Trips[l:], block)
						}
						if f.twin(r, block) != same {
							t.Fatalf("operand %d: twin is not %v", r, same)
						}
					}
					if got := f.of(l, block); got != want {
						t.Fatalf("%v blocks of %d from loop %d on, want %v", got, block, l, want)
					}
				}
			}
		}
	})
	if twins < 100 && !testing.Short() { // which draws a fifth
		t.Errorf("%d operands touch what others did", twins)
	}
}
