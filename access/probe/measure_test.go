package probe

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// TestMeasure: a short ladder gives a machine that can be saved and simulated; two threads measure
// what all have. Its times are this machine's matter.
func TestMeasure(t *testing.T) {
	one := Options{CPU: "some", Caches: zen, TLB: zenTLB, MaxSize: 48 << 10,
		Budget: 10 * time.Millisecond, hasty: true}
	all := cpu.Workers()
	worker, other := all[0], all[len(all)-1] // the same where there is one
	worker.Node, other.Node = 0, 0
	two := one
	two.Workers, two.Loaded = []cpu.Logical{worker, other}, true
	for _, o := range []Options{one, two} {
		done := 0.0
		o.Progress = func(d float64) {
			if d < done || d > 1.0001 {
				t.Errorf("progress %v after %v", d, done)
			}
			done = d
		}
		m, err := Measure(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if done < 0.99 {
			t.Errorf("the progress ends at %v", done)
		}
		checkMeasured(t, o, m)
	}
}

// checkMeasured checks that a machine has all that these options ask for, and can be written and
// simulated.
func checkMeasured(t *testing.T, o Options, m Machine) {
	t.Helper()
	last := m.Ladder[len(m.Ladder)-1].Size
	if len(m.Ladder) != 15 || int(last) != o.MaxSize || m.CPU != "some" || m.Pages == "" {
		t.Errorf("%+v", m)
	}
	for _, l := range m.Levels {
		if l.Read <= 0 || l.Copy <= 0 || l.Latency <= 0 ||
			(l.ReadAll > 0 && l.CopyAll > 0) != (o.Workers != nil) {
			t.Errorf("%+v", l)
		}
	}
	if m.Threads != len(o.Workers) || o.Loaded && (m.Streams != 1 || len(m.Loads) != len(loads)) {
		t.Errorf("%d threads, %d streams, loads %+v", m.Threads, m.Streams, m.Loads)
	}
	for _, l := range m.Loads {
		if middle(l.Ns) <= 0 || l.Share > 0 && middle(l.Bandwidth) <= 0 {
			t.Errorf("load %+v", l)
		}
	}
	if err := m.Simulated.Check(); err != nil {
		t.Error(err)
	}
	text, err := m.Format()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("f", text); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
}

func TestMeasureStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{MaxSize: 1 << 20, Budget: time.Hour, Progress: func(float64) { cancel() }}
	if _, err := Measure(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	o = Options{MaxSize: 1 << 20, MaxMemory: 1 << 10, Budget: time.Hour}
	if _, err := Measure(context.Background(), o); err == nil ||
		err.Error() != "the tensors need 4 KiB of memory, this machine has 1 KiB available" {
		t.Error(err)
	}
}

// The caches of a Zen 3 core, as sysfs and cpuid tell them.
var (
	zen = []cpu.Cache{
		{Level: 1, Type: "Data", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Level: 1, Type: "Instruction", Geometry: simcache.Geometry{Size: 32 << 10,
			Ways: 8, Line: 64}},
		{Level: 2, Type: "Unified", Geometry: simcache.Geometry{Size: 512 << 10,
			Ways: 8, Line: 64}},
		{Level: 3, Type: "Unified", Geometry: simcache.Geometry{Size: 32 << 20,
			Ways: 16, Line: 64}},
	}
	zenTLB = []simcache.TLB{{Entries: 64, Ways: 64, Page: PageSize()},
		{Entries: 2048, Ways: 16, Page: PageSize()}}
)

// TestLargest: behind a last level of unknown size, the ladder goes as far as where nothing is
// stated.
func TestLargest(t *testing.T) {
	unknown := append(slices.Clone(zen[:3]), cpu.Cache{Level: 3, Type: "Unified"})
	for _, test := range []struct {
		caches    []cpu.Cache
		available int
		want      int
	}{{nil, 0, unknownMax}, {zen, 0, 64 << 20}, {zen[:3], 0, 1 << 20}, {unknown, 0, unknownMax},
		{zen, 128 << 20, 32 << 20}} {
		if got := largest(test.caches, test.available); got != test.want {
			t.Errorf("%v: %d, want %d", test.caches, got, test.want)
		}
	}
}

// TestName: levels that are found get the names of those that are stated.
func TestName(t *testing.T) {
	found := func(capacities ...int) (m Machine) {
		var p []plateau
		all := sizes(1<<10, 1<<30)
		for i, c := range append(capacities, 1<<30) {
			from := len(m.Ladder)
			for _, size := range all[from : slices.Index(all, c)+1] {
				m.Ladder = append(m.Ladder, Point{strict.Size(size), float64(i + 1)})
			}
			p = append(p, plateau{from: from, to: len(m.Ladder), capacity: len(m.Ladder) - 1,
				ns: float64(i + 1)})
		}
		m.name(p, stated(zen))
		return m
	}
	for _, test := range []struct {
		capacities []int
		want       []Level
	}{
		{[]int{32 << 10, 448 << 10, 12 << 20},
			[]Level{{Name: "L1D", Stated: 32 << 10, Capacity: 32 << 10, Speed: Speed{Latency: 1}},
				{Name: "L2", Stated: 512 << 10, Capacity: 448 << 10, Speed: Speed{Latency: 2}},
				{Name: "L3", Stated: 32 << 20, Capacity: 12 << 20, Speed: Speed{Latency: 3}}}},
		{[]int{32 << 10, 448 << 10}, []Level{{Name: "L1D", Stated: 32 << 10, Capacity: 32 << 10,
			Speed: Speed{Latency: 1}}, {Name: "L2", Stated: 512 << 10, Capacity: 448 << 10,
			Speed: Speed{Latency: 2}}}},
		{[]int{28 << 10, 12 << 20}, []Level{{Name: "L1D", Stated: 32 << 10, Capacity: 28 << 10,
			Speed: Speed{Latency: 1}}, {Name: "L3", Stated: 32 << 20, Capacity: 12 << 20,
			Speed: Speed{Latency: 2}}}},
		{[]int{12 << 20}, []Level{{Name: "L3", Stated: 32 << 20, Capacity: 12 << 20,
			Speed: Speed{Latency: 1}}}},
		{[]int{1 << 10, 32 << 10, 448 << 10, 12 << 20},
			[]Level{{Name: "L1D", Stated: 32 << 10, Capacity: 1 << 10, Speed: Speed{Latency: 1}},
				{Name: "L2", Stated: 512 << 10, Capacity: 32 << 10, Speed: Speed{Latency: 2}},
				{Name: "L3", Stated: 32 << 20, Capacity: 448 << 10, Speed: Speed{Latency: 3}},
				{Name: "L4", Stated: 0, Capacity: 12 << 20, Speed: Speed{Latency: 4}}}},
	} {
		m := found(test.capacities...)
		if diff := cmp.Diff(test.want, m.Levels); diff != "" {
			t.Errorf("%v: %s", test.capacities, diff)
		}
		if m.Memory.Latency != float64(len(test.capacities)+1) {
			t.Errorf("%v: memory %+v", test.capacities, m.Memory)
		}
	}
	var alone Machine
	alone.Ladder = []Point{{4096, 1}}
	alone.name([]plateau{{to: 1, ns: 1}}, nil)
	if want := (Level{Name: "L1", Capacity: 4096,
		Speed: Speed{Latency: 1}}); len(alone.Levels) != 1 || alone.Levels[0] != want ||
		alone.Memory != (Speed{}) {
		t.Errorf("%+v", alone)
	}
}

// TestSimulate: what is found is what is simulated, with about the stated ways, in
// sets that are a power of two.
func TestSimulate(t *testing.T) {
	m := Machine{
		Levels: []Level{{Name: "L1D", Capacity: 32 << 10}, {Name: "L2", Capacity: 448 << 10},
			{Name: "L3", Capacity: 20 << 20}},
		TLB: []Reach{{Entries: 64, Miss: 2}, {Entries: 1280, Miss: 20}},
	}
	m.simulate(Options{Caches: zen, TLB: zenTLB})
	want := simcache.Config{
		I1: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
		Levels: []simcache.Level{
			{Name: "L1D", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
			{Name: "L2", Geometry: simcache.Geometry{Size: 448 << 10, Ways: 14, Line: 64}},
			{Name: "L3", Geometry: simcache.Geometry{Size: 20 << 20, Ways: 20, Line: 64}},
		},
		TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: PageSize()},
			{Entries: 1280, Ways: 16, Page: PageSize()}},
	}
	if diff := cmp.Diff(want, m.Simulated); diff != "" {
		t.Error(diff)
	}
	// Whatever is measured can be simulated, also where nothing is stated.
	for _, capacity := range sizes(MinSize, 1<<30) {
		for _, o := range []Options{{}, {Caches: zen, TLB: zenTLB},
			{Caches: rapids, TLB: cpu.TLB(PageSize())}} {
			m := Machine{Levels: []Level{{Name: "L3", Capacity: strict.Size(capacity)}},
				TLB: []Reach{{Entries: capacity / PageSize(), Miss: 1}}}
			m.simulate(o)
			if err := m.Simulated.Check(); err != nil {
				t.Errorf("%d: %v", capacity, err)
			}
			if got := m.Simulated; got.Levels[0].Size != capacity ||
				got.TLB[0].Entries != capacity/PageSize() {
				t.Errorf("%d is simulated as %+v", capacity, got)
			}
		}
	}
}

// TestFoundTLB: what is found of the TLB is what is stated if the ladder cannot tell
// them apart, else what the ladder says; what a default says is nothing stated.
func TestFoundTLB(t *testing.T) {
	ladder := func(first, second int) (l []Pages) {
		for _, pages := range sizes(8, 8192) {
			ns := 1.0
			if pages > first {
				ns = 3
			}
			if pages > second {
				ns = 30
			}
			l = append(l, Pages{pages, ns})
		}
		return l
	}
	of := func(source string, first, firstWays, second, secondWays int) []simcache.TLB {
		return []simcache.TLB{{Entries: first, Ways: firstWays, Page: PageSize(), Source: source},
			{Entries: second, Ways: secondWays, Page: PageSize(), Source: source}}
	}
	for _, test := range []struct {
		first, second int // that there are
		stated        []simcache.TLB
		want          []simcache.TLB
	}{
		{64, 2048, of(cpu.FromDefault, 64, 4, 1536, 12),
			[]simcache.TLB{{Entries: 64, Ways: 4}, {Entries: 2048, Ways: 16}}},
		{96, 2048, of(cpu.FromDefault, 64, 4, 1536, 12),
			[]simcache.TLB{{Entries: 96, Ways: 4}, {Entries: 2048, Ways: 16}}},
		{72, 3072, of("cpuid", 72, 72, 3072, 12),
			[]simcache.TLB{{Entries: 72, Ways: 72}, {Entries: 3072, Ways: 12}}},
		{64, 1792, of("cpuid", 64, 64, 2048, 16),
			[]simcache.TLB{{Entries: 64, Ways: 64}, {Entries: 1792, Ways: 16}}},
		{96, 5120, of("cpuid", 96, 96, 128, 8),
			[]simcache.TLB{{Entries: 96, Ways: 96}, {Entries: 4096, Ways: 8}}},
		{96, 3584, of("cpuid", 96, 96, 128, 8),
			[]simcache.TLB{{Entries: 96, Ways: 96}, {Entries: 3072, Ways: 8}}},
		{64, 1536, nil, []simcache.TLB{{Entries: 64, Ways: 64}, {Entries: 1536, Ways: 1536}}},
	} {
		m := Machine{PageLadder: ladder(test.first, test.second),
			Levels: []Level{{Name: "L1D", Capacity: 32 << 10}}}
		m.nameTLB(test.stated)
		m.simulate(Options{TLB: test.stated})
		for i := range test.want {
			test.want[i].Page = PageSize()
		}
		if diff := cmp.Diff(test.want, m.Simulated.TLB); diff != "" {
			t.Errorf("%d, %d: %s", test.first, test.second, diff)
		}
		for i, r := range m.TLB {
			if r.Entries != m.Simulated.TLB[i].Entries {
				t.Errorf("%d entries are found, %d simulated", r.Entries,
					m.Simulated.TLB[i].Entries)
			}
		}
	}
}
