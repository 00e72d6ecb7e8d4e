package access_test

import (
	"context"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
)

// BenchmarkSimulateSuite is what the simulated units of a default run take, on
// all cores.
func BenchmarkSimulateSuite(b *testing.B) {
	var patterns []access.Pattern
	for _, comparison := range access.Suite(false) {
		for _, bench := range comparison {
			p, err := bench.Spec.Pattern()
			if err != nil {
				b.Fatal(err)
			}
			patterns = append(patterns, p)
		}
	}
	caches := simcache.TwoLevels(simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
		simcache.Geometry{Size: 32 << 20, Ways: 16, Line: 64})
	tlb := []simcache.TLB{{Entries: 64, Ways: 4, Page: 4096}, {Entries: 1536, Ways: 12, Page: 4096}}
	for b.Loop() {
		if _, err := access.Simulate(context.Background(),
			simcache.Config{Levels: caches, TLB: tlb}, patterns, nil); err != nil {
			b.Fatal(err)
		}
	}
}
