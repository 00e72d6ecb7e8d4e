package exact

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestStepLines: with vectors, lines move by any step as without, whatever number of them is
// no multiple of 8; and a mover of lines far apart moves just these.
func TestStepLines(t *testing.T) {
	if !hasAVX2 {
		t.Skip("no AVX2")
	}
	moved, stayed := 0, 0
	for seed := range uint64(2000) {
		d := enginetest.Random(seed, 61)
		lines, movers := make([]uint32, leastStepped+d(64)), make([]mover, 1+d(mostSteppers))
		first, wide := uint32(d(1<<30)), 1+d(1000) // high bits count too
		for i := range lines {
			lines[i] = first + uint32(d(wide))
		}
		for i := range movers {
			low, by := first+uint32(d(wide)-d(50)), uint32(d(1<<20)-1<<19)
			movers[i] = mover{low, uint32(d(wide)), by, uint32(1 + d(40))}
		}
		if d(8) == 0 {
			step := uint32(1 + d(1<<31)) // the greatest multiple there is
			lines[0], movers[0] = math.MaxUint32/step*step, mover{0, math.MaxUint32, 5, step}
		}
		want, got := slices.Clone(lines), slices.Clone(lines)
		moveGo(want, movers)
		rest := stepLines(got, movers)
		if len(rest) != len(lines)%8 {
			t.Fatalf("%d: %d of %d lines are left", seed, len(rest), len(lines))
		}
		if moveGo(rest, movers); !slices.Equal(got, want) {
			t.Fatalf("%d: %v by %v: %v, want %v", seed, lines, movers, got, want)
		}
		for i := range lines {
			if want[i] != lines[i] {
				moved++
			} else {
				stayed++
			}
		}
	}
	if least := 10_000; moved < least || stayed < least {
		t.Errorf("%d lines moved, %d stayed, want %d", moved, stayed, least)
	}
}
