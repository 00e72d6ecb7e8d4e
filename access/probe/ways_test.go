package probe

import (
	"context"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// A fake is a machine whose memory is simulated: a load takes the ns of the level that
// has it, those of memory come last.
type fake struct {
	t      *testing.T
	levels []simcache.Level
	ns     []float64
	tlb    simcache.TLB // of which a miss takes 2 ns; none if it has no entries
}

// ask chases twice, or more often where lines are replaced at random, and tells the
// time of the last pass.
func (f fake) ask(p access.Pattern) float64 {
	config := simcache.Config{Levels: f.levels}
	if f.tlb.Entries > 0 {
		config.TLB = []simcache.TLB{f.tlb}
	}
	h, err := simcache.NewHierarchy(config)
	if err != nil {
		f.t.Fatal(err)
	}
	passes := 2
	if p.Elems <= manySets*mostWays {
		passes = 50
	}
	if p.Spec.Op != access.Chase {
		return 1
	}
	total, before, pages := 0.0, []simcache.LevelCounts(nil), []simcache.LevelCounts(nil)
	for range passes {
		before, pages = h.Levels(), h.TLBs()
		for _, at := range p.Ring {
			h.Access(nest.Read, access.Origin+8*uint64(at), 8)
		}
	}
	for i, l := range h.Levels() {
		total += float64(l.Reads-before[i].Reads) * f.ns[i]
		if i > 0 {
			total -= float64(l.Reads-before[i].Reads) * f.ns[i-1]
		}
		if i+1 == len(f.levels) {
			total += float64(l.ReadMisses-before[i].ReadMisses) * (f.ns[i+1] - f.ns[i])
		}
	}
	for i, t := range h.TLBs() {
		total += 2 * float64(t.ReadMisses-pages[i].ReadMisses)
	}
	return total / float64(p.Elems)
}

// TestWays: on a machine with a simulated memory, the ways that it has are found, and
// used where nobody states any.
func TestWays(t *testing.T) {
	level := func(kib, ways int, policy simcache.Policy) simcache.Level {
		return simcache.Level{Geometry: simcache.Geometry{Size: kib << 10, Ways: ways, Line: 64}, Policy: policy, Seed: 1}
	}
	var none simcache.TLB
	for _, test := range []struct {
		name   string
		levels []simcache.Level
		want   []int
		tlb    simcache.TLB
	}{
		{"as Zen", []simcache.Level{level(8, 8, simcache.LRU), level(64, 16, simcache.LRU)}, []int{8, 16}, none},
		{"of 12 and 20 ways", []simcache.Level{level(12, 12, simcache.LRU), level(80, 20, simcache.LRU)}, []int{12, 20}, none},
		{"by bits", []simcache.Level{level(8, 4, simcache.TreePLRU), level(64, 8, simcache.BitPLRU)}, []int{4, 8}, none},
		{"at random", []simcache.Level{level(8, 4, simcache.Random), level(128, 16, simcache.Random)}, []int{4, 16}, none},
		{"direct-mapped", []simcache.Level{level(8, 1, simcache.LRU), level(64, 2, simcache.LRU)}, []int{1, 2}, none},
		{"a second level of as many", []simcache.Level{level(8, 8, simcache.LRU), level(64, 8, simcache.LRU)}, []int{8, 8}, none},
		{"a second level of fewer ways", []simcache.Level{level(8, 16, simcache.LRU), level(96, 12, simcache.LRU)}, []int{16, 12}, none},
		{"of so few that the first level serves them", []simcache.Level{level(8, 16, simcache.LRU), level(64, 2, simcache.LRU)}, []int{16, 0}, none},
		{"full", []simcache.Level{level(8, 128, simcache.LRU), level(64, 8, simcache.LRU)}, []int{0, 0}, none},
		{"whose TLB has fewer ways", []simcache.Level{level(12, 12, simcache.LRU), level(80, 20, simcache.LRU)}, []int{12, 20}, simcache.TLB{Entries: 24, Ways: 6, Page: PageSize()}},
	} {
		o := Options{MaxSize: 8 << 20, ask: fake{t, test.levels, []float64{1, 4, 40}, test.tlb}.ask}
		for i, l := range test.levels {
			of := cpu.Cache{Level: i + 1, Type: "Unified", Geometry: l.Geometry, Source: "sysctl; ways: assumed"}
			of.Geometry.Ways = 8 // which nobody states
			o.Caches = append(o.Caches, of)
		}
		m, err := Measure(context.Background(), o)
		if err != nil || len(m.Levels) != 2 {
			t.Fatalf("%s: %v, %+v", test.name, err, m.Levels)
		}
		for i, want := range test.want {
			if l := m.Levels[i]; l.Ways != want || l.Capacity != test.levels[i].Size {
				t.Errorf("%s: level %d has %d B and %d ways, want %d and %d", test.name, i+1, l.Capacity, l.Ways, test.levels[i].Size, want)
			}
			if simulated := m.Simulated.Levels[i].Ways; want > 0 && simulated != want {
				t.Errorf("%s: level %d is simulated with %d ways, found %d", test.name, i+1, simulated, want)
			}
		}
		var text strings.Builder
		if err := m.writeTables(&text); err != nil || test.want[0] == 12 && !strings.Contains(text.String(), "12 KiB, 12 ways") {
			t.Errorf("%v\n%s", err, &text)
		}
	}
}

// TestConflict: a step that is none, as where pages are scattered, finds no ways.
func TestConflict(t *testing.T) {
	step := func(served int, beyond float64) (ns []float64) {
		for n := range mostWays {
			if ns = append(ns, 1); n >= served {
				ns[n] = beyond
			}
		}
		return ns
	}
	scattered := step(mostWays, 1)
	scattered[18], scattered[20], scattered[25], scattered[33] = 2, 2, 1.5, 2
	for _, test := range []struct {
		ns   []float64
		want int
	}{{step(8, 4), 8}, {step(8, 5), 8}, {step(1, 4), 1}, {step(mostWays, 4), 0}, {step(8, 1.5), 0}, {scattered, 0}} {
		if got := conflict(test.ns, 1, 4); got != test.want {
			t.Errorf("%v: %d ways, want %d", test.ns, got, test.want)
		}
	}
}

// TestTellsSets: on small pages only the first level is tried, where the TLB is not
// found instead.
func TestTellsSets(t *testing.T) {
	full := []simcache.TLB{{Entries: 64, Ways: 64, Source: simcache.FromCPUID}}
	sets := []simcache.TLB{{Entries: 64, Ways: 4, Source: simcache.FromCPUID}}
	unknown := []simcache.TLB{{Entries: 64, Ways: 4, Source: simcache.FromDefault}}
	for _, test := range []struct {
		pages string
		tlb   []simcache.TLB
		want  [2]bool
	}{{"thp", sets, [2]bool{true, true}}, {"4k", full, [2]bool{true, false}}, {"4k", sets, [2]bool{false, false}}, {"4k", unknown, [2]bool{true, false}}, {"4k", nil, [2]bool{true, false}}} {
		s, m := &sampler{Options: Options{TLB: test.tlb}}, &Machine{Pages: strings.ReplaceAll(test.pages, "4k", access.PagesSmall.String())}
		if got := [2]bool{s.tellsSets(m, 0), s.tellsSets(m, 1)}; got != test.want {
			t.Errorf("%s, %v: %v, want %v", test.pages, test.tlb, got, test.want)
		}
	}
}

// TestTranslations: of a TLB that is simulated, as many pages are found to share a set as its ways, or of more than four times the
// stated ones as many as it has, and as many are simulated.
func TestTranslations(t *testing.T) {
	page := PageSize()
	for _, test := range []struct {
		name         string
		entries      int
		says         int // entries that are stated
		ways, stated int
		want         int
	}{
		{"as stated", 3072, 3072, 12, 12, 12},
		{"of which a part is stated", 4096, 128, 16, 8, 16},
		{"of half as many sets", 3072, 3072, 24, 12, 24},
		{"of any page", 3072, 3072, 3072, 12, 3072},
		{"of twice as many sets", 3072, 3072, 6, 12, 12},
		{"of 6 ways", 1536, 1536, 6, 6, 6},
		{"of any page, by the ways of another CPU", 2048, 1536, 2048, 12, 2048},
		{"by the ways of another CPU", 2048, 1536, 16, 16, 16},
		{"direct-mapped", 1024, 1024, 1, 1, 0},
	} {
		ask := func(p access.Pattern) float64 {
			h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.PageLevels([]simcache.TLB{{Entries: 64, Ways: 64, Page: page}, {Entries: test.entries, Ways: test.ways, Page: page}})})
			if err != nil {
				t.Fatal(err)
			}
			before := h.Levels()
			for range 2 {
				before = h.Levels()
				for _, at := range p.Ring {
					h.Access(nest.Read, access.Origin+8*uint64(at), 8)
				}
			}
			if first := h.Levels()[0]; first.ReadMisses-before[0].ReadMisses < uint64(p.Elems) {
				t.Errorf("%s: the first level translates some of %d pages", test.name, p.Elems)
			}
			missed := h.Levels()[1].ReadMisses - before[1].ReadMisses
			more := float64(p.Elems) / 60 // that so many lines take in the caches
			return 1 + 30*float64(missed)/float64(p.Elems) + more
		}
		o := Options{MaxSize: 256 << 20, ask: ask, TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: page}, {Entries: test.says, Ways: test.stated, Page: page}}}
		s := &sampler{Options: o}
		m := Machine{TLB: []Reach{{Entries: 64, Miss: 2}, {Entries: test.entries, Miss: 30}}}
		if err := s.translations(&m); err != nil {
			t.Fatal(err)
		}
		m.simulate(o)
		want := test.want
		if want == 0 {
			want = test.stated
		}
		if m.TLB[1].Ways != test.want || m.Simulated.TLB[1].Ways != want {
			t.Errorf("%s: %d ways, want %d; simulated with %d", test.name, m.TLB[1].Ways, test.want, m.Simulated.TLB[1].Ways)
		}
	}
	// One level, and one of which nothing is stated.
	s := &sampler{Options: Options{MaxSize: 256 << 20, ask: func(access.Pattern) float64 { t.Error("asked"); return 0 }}}
	for _, m := range []Machine{{}, {TLB: []Reach{{Entries: 64}}}, {TLB: []Reach{{Entries: 64}, {Entries: 1536}}}} {
		if err := s.translations(&m); err != nil {
			t.Error(err)
		}
	}
}
