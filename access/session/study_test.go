package session

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/simcache"
)

// TestStudies: the misses of all sets together are those of a pass in the steady
// state, and those of a capacity are those of a simulated cache of one set.
func TestStudies(t *testing.T) {
	for _, d1 := range []simcache.Geometry{{Size: 32 << 10, Ways: 8, Line: 64},
		{Size: 64 << 10, Ways: 4, Line: 64}, {Size: 2 << 10, Ways: 2, Line: 128}} {
		seen := map[string]bool{}
		for _, s := range studies() {
			all, err := s.records(d1)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if seen[r.Name] || !strings.HasPrefix(r.Name, s.name+"/") ||
					!strings.HasSuffix(r.Name, "/kernel=scalar") {
					t.Errorf("%s: the name of a result is %s", s.name, r.Name)
				}
				seen[r.Name] = true
			}
			if strings.HasPrefix(s.name, "Sets") {
				checkSets(t, s, d1, all)
			} else {
				checkCapacities(t, s, d1, all)
			}
		}
	}
}

func checkSets(t *testing.T, s study, d1 simcache.Geometry, all []Record) {
	t.Helper()
	sum := 0.0
	for _, r := range all {
		sum += misses(r, "D1-misses/op")
	}
	if want := float64(steady(t, s, d1).D1Misses()); sum != want ||
		len(all) != min(d1.Sets(), maxSets) {
		t.Errorf("D1 %s, %s: %v misses of %d sets, simulated %v", d1, s.name, sum, len(all), want)
	}
}

func checkCapacities(t *testing.T, s study, d1 simcache.Geometry, all []Record) {
	t.Helper()
	for i, r := range all {
		_, size, _ := strings.Cut(r.Name, "/capacity=")
		size, _, _ = strings.Cut(size, "/")
		unit := map[string]int{"KiB": 1 << 10, "MiB": 1 << 20}[size[len(size)-3:]]
		n, err := strconv.Atoi(size[:len(size)-3])
		if err != nil || unit == 0 {
			t.Fatalf("%s: capacity %q", r.Name, size)
		}
		if i%3 != 0 || n*unit > 64<<10 { // large caches of one set are slow to simulate
			continue
		}
		g := simcache.Geometry{Size: n * unit, Ways: n * unit / d1.Line, Line: d1.Line}
		if want := steady(t, s, g); misses(r, "misses/op") != float64(want.D1Misses()) ||
			misses(r, "D-refs/op") != float64(want.Refs()) {
			t.Errorf("%s: %v, simulated %d of %d", r.Name, r.Values, want.D1Misses(), want.Refs())
		}
	}
}

// steady simulates a study's pattern on one cache.
func steady(t *testing.T, s study, g simcache.Geometry) simcache.Counts {
	t.Helper()
	p, err := s.spec.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	c, err := simcache.SteadyPass(simcache.Config{Levels: []simcache.Level{{Geometry: g}}}, p.Nests)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func misses(r Record, unit string) float64 {
	for _, v := range r.Values {
		if v.Unit == unit {
			return v.Value
		}
	}
	return 0
}
