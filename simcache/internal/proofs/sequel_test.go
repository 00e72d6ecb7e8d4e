package proofs

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// pagedOf draws two levels and a nest over tiles, of which some operands stay in their lines from tile to tile
// and others leave them: of the lines of a tile, and of those of some, about as many as a level has.
func pagedOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	a, b := 2+d(4), 2+d(6)
	n := nest.Nest{Trips: []int{1 + d(5), 2 + d(20), a, b}}
	shift := uint(5 + d(3))
	for r := range 1 + d(3) {
		pitch := 4 * (1<<shift/4 + d(100))
		op := nest.Operand{Base: enginetest.At + uint64(r)<<26 + uint64(4*d(32)), Width: 4}
		switch {
		case r == 0 || d.One(3):
			op.Strides = []int{pitch * a, 4 * b, pitch, 4}
		case d.One(3):
			op.Strides = []int{pitch * b, 4 * a, 4, pitch}
		case d.One(3):
			op.Strides = []int{0, 4 * b, 0, 4}
		default:
			op.Strides = []int{4 * a, pitch * b, 4, pitch}
		}
		n.Operands = append(n.Operands, op)
	}
	slices.SortFunc(n.Operands, func(nest.Operand, nest.Operand) int { return d(3) - 1 })
	first := engine.Level{Sets: 1 << d(3), Shift: shift}
	if d.One(4) {
		first.Sets = 1 + d(6)
	}
	first.Ways = max(1, (a+b)*(2+d(8))/4/first.Sets)
	last := engine.Level{Sets: first.Sets << d(2), Shift: shift}
	if d.One(4) {
		last.Sets = 1 + d(8)
	}
	last.Ways = max(1, (a+b)*(3+d(10))/last.Sets)
	return []engine.Level{first, last}, n
}

// TestSequel compares what is counted in the last of two levels tile by tile with brute force.
func TestSequel(t *testing.T) {
	t.Parallel()
	told, counted, mixed := 0, 0, 0 // blocks whose windows were counted; operands of which some that come back to the last level hit, and some miss
	for seed := range uint64(enginetest.Cases(24000)) {
		d := enginetest.Random(seed, 73)
		levels, n := pagedOf(d)
		if d.One(3) {
			levels, n = tilesOf(d)
			levels = append(levels[:1], engine.Level{Sets: levels[0].Sets + d(3)*levels[0].Sets, Ways: levels[0].Ways + d(5), Shift: 4})
		}
		x := newProver(levels)
		x.doubtful = seed&1 == 0
		misses, first, ok := x.gaps(n.Canonical())
		if !ok || x.took.sequels == 0 {
			continue
		}
		want := reference.New(levels).Run(n.Operands, n.Accesses())
		told++
		counted += x.took.counted
		for r := range n.Operands {
			if !first {
				want[r*2] = 0
			}
			blocks := len(n.Only(r).Blocks(1 << levels[0].Shift))
			if m := want[r*2+1]; first && m > uint64(blocks) && m < want[r*2] {
				mixed++
			}
		}
		if !slices.Equal(misses, want) {
			t.Fatalf("seed %d, levels %+v, nest\n%v(the first level, too: %t) misses %v, want %v", seed, levels, n, first, misses, want)
		}
	}
	t.Logf("sequels tell %d times, and count %d windows; %d operands mixed", told, counted, mixed)
	if told < enginetest.Cases(300) || counted < enginetest.Cases(300) || mixed < enginetest.Cases(48) {
		t.Errorf("sequels tell %d times, and count %d windows; %d operands mixed", told, counted, mixed)
	}
}
