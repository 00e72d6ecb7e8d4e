package lookup

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestLists compares lists with rows of as many ways, in what they hand on and in what they hold,
// with sets that are emptied, filled and made wide between.
func TestLists(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(400)) {
		r := rand.New(rand.NewPCG(seed, 7))
		ways, sets := fromWays+r.IntN(100), 1+r.IntN(5)
		fast, plain := newRows(level(sets, ways, 64), false), newRows(level(sets, ways, 64), false)
		if fast.lists == nil {
			t.Fatalf("%d ways are no lists", ways)
		}
		plain.lists, plain.vectors, plain.tags = nil, false, make([]uint32, sets*plain.pitch/4)
		fast.down, plain.down = grains, grains
		flags, near := uint64(r.IntN(4)), sets*ways*(1+r.IntN(4))/2
		for range 30 {
			refs := make([]uint64, 1+r.IntN(300))
			for i := range refs {
				block := uint64(r.IntN(near + 1))
				if r.IntN(9) == 0 {
					block += (fast.limit() - uint64(near) - 1) / 64 * uint64(r.IntN(64))
				}
				refs[i] = block<<grains | uint64(r.IntN(opCount))<<opBit | uint64(r.IntN(4))&flags
			}
			out, want := make([]uint64, 2*len(refs)), make([]uint64, 2*len(refs))
			out, want = out[:fast.filter(refs, out)], want[:plain.filterGo(refs, want)]
			if !slices.Equal(out, want) {
				t.Fatalf("%d sets of %d ways, seed %d: %x goes on as\n%x, want\n%x", sets, ways,
					seed, refs, out, want)
			}
			set := r.IntN(sets)
			same(t, &fast, &plain, set)
			if held := plain.blocks(nil, set); len(held) > 0 && len(held) < ways && r.IntN(5) == 0 {
				held = held[:r.IntN(len(held))]
				fast.load(set, held)
				plain.load(set, held)
				same(t, &fast, &plain, set)
			}
		}
		switch {
		case seed%3 == 0:
			fast.widen()
			plain.widen()
		case seed%3 == 1:
			fast.reset()
			if block := fast.blocks(nil, 0); block != nil {
				t.Fatalf("seed %d: %x are left", seed, block)
			}
			continue
		}
		for set := range sets {
			same(t, &fast, &plain, set)
		}
	}
}

// same fails if a set of two caches does not hold the same tags, of wide ones by their blocks.
func same(t *testing.T, fast, plain *rows, set int) {
	t.Helper()
	if got, want := fast.blocks(nil, set), plain.blocks(nil, set); !slices.Equal(got, want) {
		t.Fatalf("set %d holds %x, want %x", set, got, want)
	}
	if fast.wide == nil && !slices.Equal(fast.held(set), plain.held(set)) {
		t.Fatalf("set %d: tags %x, want %x", set, fast.held(set), plain.held(set))
	}
}
