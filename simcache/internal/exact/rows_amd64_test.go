package exact

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// withVectors calls a test without vectors, with AVX2, and with AVX-512, where the CPU has them.
func withVectors(t *testing.T, test func(t *testing.T)) {
	defer func(had, had512 bool) { hasAVX2, hasAVX512 = had, had512 }(hasAVX2, hasAVX512)
	had, had512 := hasAVX2, hasAVX512
	for name, has := range map[string][2]bool{
		"none": {}, "AVX2": {had, false}, "AVX-512": {had, had512},
	} {
		hasAVX2, hasAVX512 = has[0], has[1]
		t.Run(name, test)
	}
}

// TestVectors is TestPrograms with the vectors that a CPU may lack, of fewer programs.
func TestVectors(t *testing.T) {
	withVectors(t, func(t *testing.T) {
		for _, g := range generators {
			g.run(t, enginetest.Cases(max(80, g.cases/50)))
		}
	})
}

// TestMoveLines: with vectors lines move as without, whatever number of them there is, and of two
// movers of a line the first counts.
func TestMoveLines(t *testing.T) {
	withVectors(t, func(t *testing.T) {
		for seed := range uint64(2000) {
			d := enginetest.Random(seed, 61)
			lines, movers := make([]uint32, 8*(1+d(10))+d(2)*d(8)), make([]mover, 1+d(8))
			// high bits count, too
			first, wide := uint32(d.Of(d(1<<30), d(100))), 1+d(d.Of(1000, 200))
			for i := range lines {
				lines[i] = first + uint32(d(wide))
			}
			for i := range movers {
				low, by := first+uint32(d(wide)-d(50)), uint32(d(1<<20)-1<<19)
				movers[i] = mover{low, uint32(d(wide)), by}
			}
			if d.One(8) {
				movers[0] = mover{0, math.MaxUint32, 5} // all lines
			}
			want, got := slices.Clone(lines), slices.Clone(lines)
			moveGo(want, movers)
			if moveLines(got, movers); !slices.Equal(got, want) {
				t.Fatalf("%d: %v by %v: %v, want %v", seed, lines, movers, got, want)
			}
		}
	})
}
