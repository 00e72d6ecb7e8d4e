package cost

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// saved are the files of a machine of one level and a TLB of two that was measured, of the CPU
// "some".
func saved(t *testing.T) probe.Files {
	t.Helper()
	page := probe.PageSize()
	level := simcache.Level{Name: "L1D", Geometry: simcache.Geometry{Size: 32 << 10,
		Ways: 8, Line: 64}}
	measured := []simcache.TLB{{Entries: 64, Ways: 64, Page: page},
		{Entries: 2560, Ways: 20, Page: page}}
	m := probe.Machine{CPU: "some", Date: time.Unix(1e9, 0),
		Levels:    []probe.Level{{Name: "L1D", Capacity: 32 << 10, Speed: probe.Speed{Latency: 1}}},
		Ladder:    []probe.Point{{Size: 16 << 10, Ns: 1}, {Size: 64 << 10, Ns: 9}},
		TLB:       []probe.Reach{{Entries: 64, Miss: 2}, {Entries: 2560, Miss: 20}},
		Simulated: simcache.Config{Levels: []simcache.Level{level}, TLB: measured}}
	text, err := m.Format()
	if err != nil {
		t.Fatal(err)
	}
	files := probe.Files{Saved: filepath.Join(t.TempDir(), "measured.yaml")}
	if err := os.WriteFile(files.Saved, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return files
}

// TestModelOf: the TLB that was measured replaces what the CPU states of the same pages, and
// nothing that a flag gives.
func TestModelOf(t *testing.T) {
	files, page := saved(t), probe.PageSize()
	stated := func(source string, pages ...int) (all []simcache.TLB) {
		for _, page := range pages {
			all = append(all, simcache.TLB{Entries: 3072, Ways: 12, Page: page, Source: source})
		}
		return all
	}
	for _, c := range []struct {
		what string
		cpu  string
		tlb  []simcache.TLB
		ways []int
	}{
		{"as the CPU states", "some", stated("cpuid", page, page), []int{64, 20}},
		{"one level", "some", stated("cpuid", page), []int{64}},
		{"huge pages", "some", stated("cpuid", 2<<20, 2<<20), []int{12, 12}},
		{"of a flag", "some", stated(cpu.FromFlag, page, page), []int{12, 12}},
		{"none", "some", nil, nil},
		{"another CPU", "other", stated("cpuid", page, page), []int{12, 12}},
	} {
		model, err := ModelOf(files, "", probe.Host{CPU: c.cpu}, nil, false, c.tlb)
		if err != nil {
			t.Fatal(err)
		}
		if len(model.Caches.TLB) != len(c.ways) {
			t.Fatalf("%s: %v", c.what, model.Caches.TLB)
		}
		for i, ways := range c.ways {
			if model.Caches.TLB[i].Ways != ways {
				t.Errorf("%s: level %d has %d ways, want %d", c.what, i+1,
					model.Caches.TLB[i].Ways, ways)
			}
		}
	}
}

// TestModelOfLevels: the levels are those that were measured of this CPU, unless others are asked
// for; times by working set go with the levels that they were measured of.
func TestModelOfLevels(t *testing.T) {
	files := saved(t)
	given := []simcache.Level{{Name: "L1D", Geometry: simcache.Geometry{Size: 48 << 10,
		Ways: 12, Line: 64}}}
	for _, c := range []struct {
		cpu           string
		asked, ladder bool
		size          int
		hit           float64
	}{
		{"some", false, true, 32 << 10, 1},
		{"some", true, false, 48 << 10, 1},
		{"other", false, false, 48 << 10, Generic("").Hit},
		{"other", true, false, 48 << 10, Generic("").Hit},
	} {
		m, err := ModelOf(files, "", probe.Host{CPU: c.cpu}, given, c.asked, nil)
		if err != nil || len(m.Caches.Levels) != 1 {
			t.Fatalf("%s: %v, %v", c.cpu, m.Caches, err)
		}
		if size := m.Caches.Levels[0].Size; size != c.size || m.Times.Hit != c.hit ||
			(m.Times.Ladder != nil) != c.ladder {
			t.Errorf("%+v: %d B, a hit of %v ns, ladder %v", c, size, m.Times.Hit, m.Times.Ladder)
		}
	}
}
