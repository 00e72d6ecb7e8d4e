package simcache_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// TestReset: a hierarchy that is used again counts as a new one does, whatever it was
// used for.
func TestReset(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	small := simcache.TwoLevels(geometry(t, "1024,2,64"), geometry(t, "8192,4,64"))
	for name, config := range map[string]simcache.Config{
		"plain":       {Levels: small, TLB: []simcache.TLB{{Entries: 4, Ways: 2, Page: 4096}}},
		"brute":       {Levels: small, Brute: true},
		"zero tags":   {Levels: small, ZeroTags: true, I1: geometry(t, "1024,2,64")},
		"write-backs": {Levels: small, WriteBacks: true},
		"observed":    {Levels: small, Observe: "classes,sets,bytes"},
	} {
		kept, err := simcache.NewHierarchy(config)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			fresh, err := simcache.NewHierarchy(config)
			if err != nil {
				t.Fatal(err)
			}
			kept.Reset()
			for range 1 + r.IntN(3) {
				n := nest.Nest{Trips: []int{1 + r.IntN(60), 1 + r.IntN(40)}}
				for range 1 + r.IntN(2) {
					base := uint64(r.IntN(1 << 14))
					if r.IntN(4) == 0 {
						base += 1 << 60 // of which tags are wide
					}
					n.Operands = append(n.Operands,
						nest.Operand{Tensor: "x", Kind: nest.Kind(r.IntN(2)), Base: base, Width: 4,
							Strides: []int{4 * r.IntN(300), 4 * r.IntN(40)}})
				}
				for _, h := range []*simcache.Hierarchy{fresh, kept} {
					h.Access(nest.Read, uint64(n.Trips[0]), 4)
					if config.I1 != (simcache.Geometry{}) {
						h.Fetch(uint64(n.Trips[1]), 4)
					}
					if _, err := h.Run(1, n); err != nil {
						t.Fatal(err)
					}
				}
			}
			if d := cmp.Diff(kept.Counts(), fresh.Counts()); d != "" {
				t.Fatalf("%s: (-used again +new)\n%s", name, d)
			}
			if d := cmp.Diff(kept.Levels(), fresh.Levels()); d != "" {
				t.Fatalf("%s: (-used again +new)\n%s", name, d)
			}
			if d := cmp.Diff(kept.TLBs(), fresh.TLBs()); len(config.TLB) > 0 && d != "" {
				t.Fatalf("%s: (-used again +new)\n%s", name, d)
			}
			visited, _ := kept.Work()
			if want, _ := fresh.Work(); visited != want {
				t.Fatalf("%s: %d looked up, new %d", name, visited, want)
			}
		}
	}
}
