package cost

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// threadsModel has a memory of which all cores together have as much as one times
// so many.
func threadsModel(scales float64) Model {
	m := Model{Times: Generic("as a test"), Caches: simcache.Config{Levels: []simcache.Level{
		{Name: "D1", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Name: "LL", Geometry: simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}}}}}
	for i := range m.Times.Levels {
		l := &m.Times.Levels[i]
		l.LineAll, l.StoredAll, l.PastAll = l.Line/scales, l.Stored/scales, l.Past/scales
	}
	return m
}

func predictThreads(t *testing.T, m Model, s access.Spec, threads int) Prediction {
	t.Helper()
	s.Threads = threads
	p, err := s.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	prediction, err := m.Predict(p)
	if err != nil {
		t.Fatal(err)
	}
	return prediction
}

// TestThreads: with bandwidth for all, a stream by four threads takes a quarter as
// long; where one core has all that there is, as long as by one, as far as memory is
// what it waits for. Misses stay as many. What cannot be cut takes as long.
func TestThreads(t *testing.T) {
	sum := access.Spec{Shape: []int{64 << 20}, DType: layouts.Int32,
		Kernel: access.Kernel("portable")}
	past := sum
	past.Op, past.Kernel = access.Copy, access.Builtin // which stores as much past the caches
	for _, spec := range []access.Spec{sum, past} {
		one := predictThreads(t, threadsModel(4), spec, 1)
		for _, c := range []struct{ scales, want float64 }{{4, 4}, {8, 4}, {1, 1}, {2, 2}} {
			four := predictThreads(t, threadsModel(c.scales), spec, 4)
			if got := one.Memory / four.Memory; math.Abs(got-c.want) > .02*c.want {
				t.Errorf("%v: memory gives %v cores as much as each alone: by four threads it is "+
					"waited for %.3f times less, want %v", spec.Op, c.scales, got, c.want)
			}
			if a, b := one.Missed(1), four.Missed(1); math.Abs(a-b) > .01*a ||
				math.Abs(one.Tensors[0].Refs-four.Tensors[0].Refs) > 1 {
				t.Errorf("%v: four threads miss %v times, one %v times", spec.Op, b, a)
			}
		}
	}
	// A loop that sums one element after the other takes what all cores were measured to have of
	// that.
	loop := access.Spec{Shape: []int{16 << 20}, DType: layouts.Int64}
	streamed := threadsModel(4)
	streamed.Times.Streamed = []probe.Stream{{Op: "sum", Ns: 10, All: 4}}
	one, four := predictThreads(t, streamed, loop, 1), predictThreads(t, streamed, loop, 4)
	if got, want := one.Memory/four.Memory, 4*10./16; math.Abs(got-want) > .02*want {
		t.Errorf("a loop by four threads waits for memory %.3f times less, want %v", got, want)
	}
	chase := access.ChaseSpec(1000, 64)
	if a, b := predictThreads(t, threadsModel(4), chase, 1),
		predictThreads(t, threadsModel(4), chase, 4); a.Ns != b.Ns {
		t.Errorf("a chase takes %v ns by one thread, %v by four", a.Ns, b.Ns)
	}
	// What four threads have together fits the last level, as what one has does.
	sum.Shape = []int{1 << 20}
	if four := predictThreads(t, threadsModel(4), sum, 4); four.Missed(1) > 0 {
		t.Errorf("4 MiB by four threads miss 8 MiB %v times", four.Missed(1))
	}
}

// TestBusy: of cores that read half as fast when all do, loops in the first level take up to twice
// as long, in proportion to how many are busy; and as long where that was not measured.
func TestBusy(t *testing.T) {
	levels := []probe.Level{{Name: "L1D", Capacity: 32 << 10,
		Speed: probe.Speed{Latency: 1, Read: 200, ReadAll: 400}},
		{Name: "L2", Capacity: 1 << 20, Speed: probe.Speed{Latency: 5}}}
	m := threadsModel(4)
	m.Times = Measured(probe.Machine{Threads: 4, Levels: levels})
	for _, spec := range []access.Spec{
		{Shape: []int{1 << 20}, DType: layouts.Int32},
		{Shape: []int{1 << 20}, DType: layouts.Int32, Kernel: access.Kernel("portable")},
	} {
		spec.Grain = 1
		one := predictThreads(t, m, spec, 1)
		for threads, want := range map[int]float64{2: 2 / (1 + 1./3), 4: 2, 3: 3 / (1 + 2./3)} {
			if got := one.Loop / predictThreads(t, m, spec,
				threads).Loop; math.Abs(got-want) > .02*want {
				t.Errorf("%v: the loop of %d threads takes %.3f times less, want %.3f", spec.Kernel,
					threads, got, want)
			}
		}
	}
	unknown := threadsModel(4)
	spec := access.Spec{Shape: []int{1 << 20}, DType: layouts.Int32}
	if got := predictThreads(t, unknown, spec, 1).Loop / predictThreads(t, unknown, spec,
		4).Loop; math.Abs(got-4) > .02 {
		t.Errorf("by four threads the loop takes %.3f times less, want 4", got)
	}
}

// TestPortion: an equal part of a cache is about that large, and a cache.
func TestPortion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := simcache.Geometry{Ways: rapid.IntRange(1, 24).Draw(t, "ways"), Line: 64}
		g.Size = g.Ways * g.Line << rapid.IntRange(4, 16).Draw(t, "sets")
		n := rapid.IntRange(1, 64).Draw(t, "parts")
		got := portion(g, n)
		if err := got.Check(); err != nil {
			t.Fatalf("%v of %v: %v", got, g, err)
		}
		share := float64(g.Size) / float64(n)
		if float64(got.Size) > share+1 && got.Size > 2*g.Line || float64(got.Size) < share/2 &&
			share > 2*64 {
			t.Errorf("one of %d parts of %v is %v", n, g, got)
		}
		if n == 1 && got != g {
			t.Errorf("all of %v is %v", g, got)
		}
	})
}

// TestThreadsLadder: of a working set that is a little too large for the last level, so many
// threads find as large a share there as one does: what the ladder says is of all that is in
// the level, not of one thread's part. Threads with last levels of their own find it all.
func TestThreadsLadder(t *testing.T) {
	m := threadsModel(4)
	m.Times.Ladder = []probe.Point{{Size: 16 << 10, Ns: 1}, {Size: 64 << 10, Ns: 16},
		{Size: 8 << 20, Ns: 16}, {Size: 16 << 20, Ns: 68}, {Size: 32 << 20, Ns: 120}}
	sum := access.Spec{Shape: []int{4 << 20}, DType: layouts.Int32,
		Kernel: access.Kernel("portable")}
	one := predictThreads(t, m, sum, 1)
	if lines := 16. * (1 << 20) / 64; one.Missed(1) < .3*lines || one.Missed(1) > .7*lines {
		t.Fatalf("one thread misses the last level %v times, want half of %v", one.Missed(1), lines)
	}
	for _, threads := range []int{2, 4, 8} {
		if many := predictThreads(t, m, sum, threads); math.Abs(
			many.Missed(1)-one.Missed(1)) > .02*one.Missed(1) {
			t.Errorf("%d threads miss the last level %v times, one %v times", threads,
				many.Missed(1), one.Missed(1))
		}
	}
	if m.Caches.Levels[1].SharedBy = 2; predictThreads(t, m, sum, 8).Missed(1) > 0 {
		t.Error("eight threads miss four last levels, each of which holds what its two touch")
	}
}

// TestThreadsServed: a portion of the last level is served as the last level is, however small.
func TestThreadsServed(t *testing.T) {
	m := threadsModel(64)
	m.Caches.Levels = append(m.Caches.Levels[:1:1],
		simcache.Level{Name: "L2", Geometry: simcache.Geometry{Size: 256 << 10, Ways: 8, Line: 64}},
		m.Caches.Levels[1])
	for _, threads := range []int{1, 2, 16, 64} {
		all := m.among(threads)
		if l := all.serving(1); l.Name != "L3" || l.Latency != 16 {
			t.Errorf("%d threads: what L2 misses is served by %s", threads, l.Name)
		}
		if l := all.serving(0); l.Name != "L2" {
			t.Errorf("%d threads: what D1 misses is served by %s", threads, l.Name)
		}
		if l := all.serving(2); l.Name != "memory" {
			t.Errorf("%d threads: what the last level misses is served by %s", threads, l.Name)
		}
	}
}

// TestThreadsShare: two threads have half of a level each that eight may share, and of the only
// level all.
func TestThreadsShare(t *testing.T) {
	m := threadsModel(4)
	m.Caches.Levels[1].SharedBy = 8
	sum := access.Spec{Shape: []int{3 << 19}, DType: layouts.Int32,
		Kernel: access.Kernel("portable")}
	if two := predictThreads(t, m, sum, 2); two.Missed(1) > 0 {
		t.Errorf("3 MiB of each of two threads miss 8 MiB %v times", two.Missed(1))
	}
	m.Caches.Levels = m.Caches.Levels[:1:1]
	sum.Shape, sum.Grain = []int{12 << 10}, 1
	if two := predictThreads(t, m, sum, 2); two.Missed(0) > 0 {
		t.Errorf("24 KiB of each of two threads miss 32 KiB %v times", two.Missed(0))
	}
}
