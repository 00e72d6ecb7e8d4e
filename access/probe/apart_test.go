package probe

import (
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// TestApart: lines and pages that are apart take what they do, less what the same loads take
// anyway, and a level of the TLB what it adds to the nearer ones.
func TestApart(t *testing.T) {
	asked := 0
	ask := func(p access.Pattern) float64 {
		asked++
		n := p.Nests[0]
		inner := n.Operands[0].Strides[len(n.Trips)-1]
		trips := n.Trips[len(n.Trips)-1]
		switch {
		case len(n.Trips) == 2 && inner == 4<<10 && trips == 64 && p.Spec.Op == access.Sum:
			return 7
		case len(n.Trips) == 2 && inner == 4<<10 && trips == 64 && p.Spec.Op == access.Fill:
			return 8
		case len(n.Trips) > 1 && inner == NearStep:
			return 2
		case len(n.Trips) == 1 && inner == line:
			return 1
		case len(n.Trips) == 1 && inner == PageSize()+line && trips == 256:
			return 5
		case len(n.Trips) == 1 && inner == PageSize()+line && trips == 4096:
			return 9
		}
		t.Errorf("asked for %v of stride %d", n.Trips, inner)
		return 0
	}
	m := Machine{Levels: []Level{{Name: "L1D", Capacity: 32 << 10},
		{Name: "L2", Capacity: 4 << 20}}, Memory: Speed{Latency: 90},
		TLB: []Reach{{Entries: 64}, {Entries: 1024}}}
	s := &sampler{Options: Options{MaxSize: 16 << 20, ask: ask}}
	if err := s.apart(&m); err != nil {
		t.Fatal(err)
	}
	want := [2]Reach{{Entries: 64, Apart: 4}, {Entries: 1024, Apart: 4}}
	if [2]Reach(m.TLB) != want || m.Levels[1].Near != 2 || m.Memory.Near != 2 ||
		m.Levels[0].Speed != (Speed{}) || m.Levels[1].Crowded != 7 ||
		m.Levels[1].CrowdedStore != 8 || m.Memory.Crowded != 0 || asked != 8 {
		t.Errorf("%d asked, %+v", asked, m)
	}
	// A first level of 12 ways, of 8 KiB each.
	s.Caches = []cpu.Cache{{Level: 1, Type: "Data",
		Geometry: simcache.Geometry{Size: 96 << 10, Ways: 12, Line: 64}}}
	if step, ways := s.oneSet(); step != 8<<10 || ways != 12 {
		t.Errorf("lines of a set are %d B apart, it has room for %d", step, ways)
	}
	// Memory for a quarter as many pages.
	s.MaxMemory = 2 * 1024 * (PageSize() + line)
	if n := s.beyondReach(&m, 1); n != 1024 {
		t.Errorf("%d pages, want 1024", n)
	}
	alone := Machine{Levels: []Level{{Name: "L1D", Capacity: 32 << 10}}}
	if err := s.apart(&alone); err != nil || asked != 8 {
		t.Errorf("%v, %d asked", err, asked)
	}
}
