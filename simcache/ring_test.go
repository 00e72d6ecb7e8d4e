package simcache

import (
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestSteadyRing: the pass of the steady state is one like the next, and the last of a long run.
func TestSteadyRing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(600)) {
		d := enginetest.Random(seed, 43)
		var c Config
		for range 1 + d(3) {
			sets, ways, line := 1<<d(4), 2+d(5), 32<<d(3)
			c.Levels = append(c.Levels, Level{Geometry: Geometry{Size: sets * ways * line, Ways: ways, Line: line}})
		}
		addrs := make([]uint64, d(200))
		for i := range addrs {
			addrs[i] = 1<<20 + uint64(d(1<<14))
		}
		got, err := SteadyRing(c, 8, addrs)
		if err != nil {
			t.Fatal(err)
		}
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		var want Counts
		for range 3 + len(c.Levels) {
			before := h.Counts()
			for _, addr := range addrs {
				h.Access(0, addr, 8)
			}
			want = h.Counts().Sub(before)
		}
		if got != want {
			t.Fatalf("seed %d, %+v, reads at %v: %+v, want %+v", seed, c.Levels, addrs, got, want)
		}
	}
	if _, err := SteadyRing(Config{Levels: []Level{{Geometry: Geometry{Size: 7, Ways: 1, Line: 64}}}}, 8, nil); err == nil {
		t.Error("a level of 7 B is none")
	}
}
