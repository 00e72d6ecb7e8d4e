package simcache_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// TestAccessAll: references of sources count what single ones do, and the sources what all do.
func TestAccessAll(t *testing.T) {
	d1 := simcache.Geometry{Size: 4096, Ways: 4, Line: 64}
	levels := simcache.TwoLevels(d1, simcache.Geometry{Size: 65536, Ways: 16, Line: 64})
	odd := simcache.TwoLevels(d1, simcache.Geometry{Size: 3 << 14, Ways: 16, Line: 64})
	odd[1].Modulo = true
	tlb := []simcache.TLB{{Entries: 8, Ways: 2, Page: 4096}, {Entries: 12, Ways: 4, Page: 4096}}
	for name, config := range map[string]simcache.Config{
		"plain":       {Levels: levels},
		"modulo":      {Levels: odd},
		"write-backs": {Levels: levels, WriteBacks: true},
		"classes":     {Levels: levels, Observe: "classes"},
		"TLB":         {Levels: levels, TLB: tlb[:1]},
		"modulo TLB":  {Levels: levels, TLB: tlb},
	} {
		t.Run(name, func(t *testing.T) {
			one, all := hierarchyOf(t, config), hierarchyOf(t, config)
			random := rand.New(rand.NewPCG(1, 2))
			var kinds []nest.Kind
			for range 200 {
				if kind := nest.Kind(random.IntN(3)); random.IntN(4) == 0 || kinds == nil {
					kinds = append(kinds, kind)
					all.NewSource(kind)
				}
				refs := make([]simcache.Reference, random.IntN(700))
				for i := range refs {
					refs[i] = referenceOf(random, len(kinds))
					one.Access(kinds[refs[i].Source], refs[i].Addr, int(refs[i].Size))
				}
				all.AccessAll(refs)
			}
			var sum simcache.Counts
			for _, counts := range all.SourceCounts() {
				sum = sum.Add(counts)
			}
			if got, want := all.Counts(), one.Counts(); got != want || sum != want {
				t.Errorf("%+v, by source %+v, want %+v", got, sum, want)
			}
			got, want := fmt.Sprint(all.Levels(), all.TLBs()), fmt.Sprint(one.Levels(), one.TLBs())
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// referenceOf is one to where programs have their variables, heap and stack, of a source.
func referenceOf(random *rand.Rand, sources int) simcache.Reference {
	areas := []uint64{0x404000, 0x555555559000, 0x7ffff7d80000, 0x7ffffffde000, 0xffff00000000}
	within := []uint64{200, 40000}[random.IntN(2)] // so that many lines are touched twice in a row
	return simcache.Reference{
		Addr:   areas[random.IntN(len(areas))] + random.Uint64N(within),
		Source: int32(random.IntN(sources)),
		Size:   1 + random.Int32N(16),
	}
}

func hierarchyOf(t *testing.T, c simcache.Config) *simcache.Hierarchy {
	t.Helper()
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
