package simcache

import (
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"pgregory.net/rapid"
)

// TestMisses: by operand they are Run's at both ends, and in sum those of the
// levels and of the TLB.
func TestMisses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stride := func() int { return 4 * rapid.IntRange(-70, 70).Draw(t, "stride") }
		n := nest.Nest{Trips: []int{rapid.IntRange(1, 40).Draw(t, "outer"),
			rapid.IntRange(1, 60).Draw(t, "inner")}}
		for i, kind := range []nest.Kind{nest.Read, nest.Write} {
			n.Operands = append(n.Operands, nest.Operand{Kind: kind, Base: uint64(i+1) << 32,
				Width: 4, Strides: []int{stride(), stride()}})
		}
		config := Config{TLB: []TLB{{Entries: 4, Ways: 2, Page: 4096},
			{Entries: 8, Ways: 8, Page: 4096}}}
		for _, size := range []int{512, 2048, 8192} {
			config.Levels = append(config.Levels,
				Level{Geometry: Geometry{Size: size, Ways: 2, Line: 64}})
		}
		var all [2]*Hierarchy
		for i := range all {
			var err error
			if all[i], err = NewHierarchy(config); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // cold and warm
			counts, err := all[0].Run(1, n)
			if err != nil {
				t.Fatal(err)
			}
			misses, err := all[1].RunMisses(n)
			if err != nil {
				t.Fatal(err)
			}
			for r, m := range misses {
				if len(m.Levels) != 3 || len(m.TLB) != 2 || m.Levels[0] != counts[0][r].D1Misses() ||
					m.Levels[2] != counts[0][r].LLMisses() {
					t.Errorf("operand %d: %+v, Run has %+v", r, m, counts[0][r])
				}
				if m.Levels[1] > m.Levels[0] || m.Levels[2] > m.Levels[1] || m.TLB[1] > m.TLB[0] {
					t.Errorf("operand %d: a level misses more than reaches it: %+v", r, m)
				}
			}
			want := [2]uint64{}
			for k, l := range [2]LevelCounts{all[0].Levels()[1], all[0].TLBs()[1]} {
				want[k] = l.Misses()
			}
			if got := [2]uint64{all[1].Levels()[1].Misses(),
				all[1].TLBs()[1].Misses()}; got != want {
				t.Errorf("levels in the middle: %v, want %v", got, want)
			}
		}
	})
	h, err := NewHierarchy(Config{Levels: []Level{{Geometry: Geometry{Size: 512, Ways: 2,
		Line: 64}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.RunMisses(nest.Nest{Operands: []nest.Operand{{Width: 0}}}); err == nil {
		t.Error("a width of 0 is no error")
	}
}
