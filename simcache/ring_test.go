package simcache

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestSteadyRing: what is told without simulation is what passes come to at levels of several lines;
// where reads share lines, or lie in two, all is simulated.
func TestSteadyRing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 43)
		var c Config
		longest := 0
		for range 1 + d(3) {
			sets, ways, line := 1<<d(4), 2+d(5), 32<<d(3)
			c.Levels = append(c.Levels, Level{Geometry: Geometry{Size: sets * ways * line, Ways: ways, Line: line}})
			longest = max(longest, line)
		}
		size := 1 << d(4)
		addrs := make([]uint64, d(2*c.Levels[d(len(c.Levels))].Size/longest+2))
		lines := rand.New(rand.NewPCG(seed, 1)).Perm(2 * (len(addrs) + 1))
		crooked := d.One(4)
		for i := range addrs {
			addrs[i] = 1<<20 + uint64(lines[i]*longest+size*d(32/size))
			if crooked && d.One(8) {
				addrs[i] += uint64(longest - 2)
			}
		}
		if len(addrs) > 0 && d.One(4) {
			addrs = append(addrs, addrs[d(len(addrs))]+uint64(d(longest))) // in the same line, or in two
		}
		got, err := SteadyRing(c, size, addrs)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.simulateRing(size, addrs)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("seed %d, %+v, %d reads of %d B at %v: %+v, want %+v", seed, c.Levels, len(addrs), size, addrs, got, want)
		}
		if c.apart(size, addrs) {
			meet(fmt.Sprint("rings of lines apart, which hit and miss: ", got.D1mr > 0 && got.D1mr < got.Dr), 1)
		}
	}
	if _, err := SteadyRing(Config{Levels: []Level{{Geometry: Geometry{Size: 7, Ways: 1, Line: 64}}}}, 8, nil); err == nil {
		t.Error("a level of 7 B is none")
	}
}
