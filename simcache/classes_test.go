package simcache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// A defined cache is one level with the caches that its classes are defined by,
// as the definition tells: sets of blocks under LRU, a single set of as many
// lines, and one that never lets go. All three see the same references, and a
// store that misses one of them brings nothing into it unless stores allocate.
type defined struct {
	Level
	sets     map[uint64][]uint64 // the most recent last
	together []uint64            // the single set
	ever     map[uint64]bool     // what never goes
	counts   [3]uint64           // compulsory, capacity, conflict
}

// see looks a block up in a set of so many ways, and tells whether it was there.
func see(set []uint64, ways int, block uint64, keep bool) ([]uint64, bool) {
	if at := slices.Index(set, block); at >= 0 {
		return append(slices.Delete(set, at, at+1), block), true
	}
	if !keep {
		return set, false
	}
	if len(set) == ways {
		set = set[1:]
	}
	return append(set, block), false
}

func (d *defined) access(kind nest.Kind, addr, size uint64) {
	class := -1
	for block := addr / uint64(d.Line); block <= (addr+size-1)/uint64(d.Line); block++ {
		keep := kind != nest.Write || !d.NoWriteAllocate
		set := block % uint64(d.Sets())
		var here, inOne bool
		d.sets[set], here = see(d.sets[set], d.Ways, block, keep)
		d.together, inOne = see(d.together, d.Sets()*d.Ways, block, keep)
		why := 2
		switch {
		case !d.ever[block]:
			why = 0
		case !inOne:
			why = 1
		}
		if !here && class < 0 {
			class = why
		}
		d.ever[block] = d.ever[block] || keep
	}
	if class >= 0 {
		d.counts[class]++
	}
}

// TestClassesByDefinition: with and without write-allocate, on random references
// of which some lie in two lines.
func TestClassesByDefinition(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(400)) {
		r := rand.New(rand.NewPCG(seed, 11))
		l := Level{Geometry: randomSmall(r), NoWriteAllocate: seed%2 == 0,
			WriteThrough: r.IntN(2) == 0}
		h, err := NewHierarchy(Config{Levels: []Level{l}, Observe: "classes"})
		if err != nil {
			t.Fatal(err)
		}
		want := defined{Level: l, sets: map[uint64][]uint64{}, ever: map[uint64]bool{}}
		span := 64 << r.IntN(7)
		for range 600 {
			kind, addr, size := nest.Kind(r.IntN(3)), uint64(r.IntN(span)), 1+r.IntN(16)
			h.Access(kind, addr, size)
			want.access(kind, addr, uint64(size))
		}
		got := h.Levels()[0]
		if [3]uint64{got.Compulsory, got.Capacity, got.Conflict} != want.counts {
			t.Fatalf("seed %d, %v: %d compulsory, %d capacity, %d conflict, want %d", seed, l,
				got.Compulsory, got.Capacity, got.Conflict, want.counts)
		}
		if got.Compulsory+got.Capacity+got.Conflict != got.Misses() {
			t.Fatalf("seed %d: the classes of %+v do not add up", seed, got)
		}
		for i, n := range want.counts {
			meet([]string{"compulsory", "capacity", "conflict"}[i]+" by definition", n)
		}
	}
}

// randomSmall is a cache of 1 to 8 sets of 1 to 8 lines of 32 B.
func randomSmall(r *rand.Rand) Geometry {
	ways, sets := 1+r.IntN(8), 1<<r.IntN(4)
	return Geometry{Size: max(ways*sets, 2) * 32, Ways: max(ways, 2/sets), Line: 32}
}
