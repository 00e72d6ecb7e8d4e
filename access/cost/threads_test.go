package cost

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// threadsModel has a memory that gives all cores together so many times what it gives one.
func threadsModel(scales float64) Model {
	m := Model{Times: Generic("as a test"), Caches: simcache.Config{Levels: []simcache.Level{
		{Name: "D1", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Name: "LL", Geometry: simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}},
	}}}
	for i := range m.Times.Levels {
		l := &m.Times.Levels[i]
		l.LineAll, l.StoredAll, l.PastAll = l.Line/scales, l.Stored/scales, l.Past/scales
	}
	return m
}

func predictThreads(t *testing.T, m Model, s access.Spec, threads int) Prediction {
	t.Helper()
	s.Threads = threads
	return predict(t, m, s)
}

// TestThreads: four threads wait for memory a quarter as long as one, as far as all cores together have more
// of it than one. Misses stay as many. What cannot be cut takes as long.
func TestThreads(t *testing.T) {
	sum := access.Spec{Shape: []int{64 << 20}, DType: layouts.Int32, Kernel: access.VectorKernels()[0]}
	past := sum
	past.Op, past.Kernel = access.Copy, access.Builtin // which stores as much past the caches
	for _, spec := range []access.Spec{sum, past} {
		one := predictThreads(t, threadsModel(4), spec, 1)
		for scales, want := range map[float64]float64{4: 4, 8: 4, 1: 1, 2: 2} {
			four := predictThreads(t, threadsModel(scales), spec, 4)
			if got := one.Memory / four.Memory; !about(got, want, .02) {
				t.Errorf("%v with memory for %v cores: waits %.3f times less, want %v", spec.Op, scales, got, want)
			}
			if a, b := one.Missed(1), four.Missed(1); !about(a, b, .01) || !about(one.Tensors[0].Refs, four.Tensors[0].Refs, 1e-6) {
				t.Errorf("%v: four threads miss %v times, one %v times", spec.Op, b, a)
			}
		}
	}
	chase := access.ChaseSpec(1000, 64)
	if a, b := predictThreads(t, threadsModel(4), chase, 1), predictThreads(t, threadsModel(4), chase, 4); a.Ns != b.Ns {
		t.Errorf("a chase takes %v ns by one thread, %v by four", a.Ns, b.Ns)
	}
}

// TestThreadsShare: what threads have together fits a level that they share, or levels of their own.
func TestThreadsShare(t *testing.T) {
	for _, c := range []struct {
		what                      string
		elements, shared, threads int
		fits                      bool
	}{
		{"4 MiB in 8 MiB", 1 << 20, 0, 4, true},
		{"12 MiB in 8 MiB", 3 << 20, 0, 4, false},
		{"6 MiB of two of eight that share 8 MiB", 3 << 19, 8, 2, true},
		{"16 MiB in four of 8 MiB each", 4 << 20, 2, 8, true},
		{"16 MiB in one of 8 MiB", 4 << 20, 16, 8, false},
	} {
		m := threadsModel(4)
		m.Caches.Levels[1].SharedBy = c.shared
		sum := access.Spec{Shape: []int{c.elements}, DType: layouts.Int32, Kernel: access.VectorKernels()[0]}
		if got := predictThreads(t, m, sum, c.threads).Missed(1); (got == 0) != c.fits {
			t.Errorf("%s: %v misses", c.what, got)
		}
	}
	m := threadsModel(4)
	m.Caches.Levels = m.Caches.Levels[:1]
	sum := access.Spec{Shape: []int{12 << 10}, DType: layouts.Int32, Grain: 1}
	if two := predictThreads(t, m, sum, 2); two.Missed(0) > 0 {
		t.Errorf("24 KiB of each of two threads miss 32 KiB %v times", two.Missed(0))
	}
}

// TestThreadsLadder: of a working set that is a little too large for the last level, many threads find as
// large a share there as one does.
func TestThreadsLadder(t *testing.T) {
	m := threadsModel(4)
	m.Times.Ladder = []probe.Point{
		{Size: 16 << 10, Ns: 1}, {Size: 64 << 10, Ns: 16}, {Size: 8 << 20, Ns: 16}, {Size: 16 << 20, Ns: 68}, {Size: 32 << 20, Ns: 120}}
	sum := access.Spec{Shape: []int{4 << 20}, DType: layouts.Int32, Kernel: access.VectorKernels()[0]}
	for _, threads := range []int{1, 2, 4, 8} {
		if got := predictThreads(t, m, sum, threads).Missed(1); !about(got, (16<<20)/64/2, .02) {
			t.Errorf("%d threads miss the last level %v times, want half of the lines", threads, got)
		}
	}
}

// TestBusy: of cores that read half as fast when all do, loops in the first level take up to twice as long, in
// proportion to how many are busy; and as long where that was not measured.
func TestBusy(t *testing.T) {
	slow := threadsModel(4)
	slow.Times = Measured(probe.Machine{Threads: 4, Levels: []probe.Level{
		{Name: "L1D", Capacity: 32 << 10, Speed: probe.Speed{Latency: 1, Read: 200e9, ReadAll: 400e9}},
		{Name: "L2", Capacity: 1 << 20, Speed: probe.Speed{Latency: 5}},
	}})
	for _, c := range []struct {
		m       Model
		threads int
		want    float64
	}{{slow, 2, 2 / (1 + 1./3)}, {slow, 3, 3 / (1 + 2./3)}, {slow, 4, 2}, {threadsModel(4), 4, 4}} {
		for _, k := range []access.Kernel{access.Scalar, access.VectorKernels()[0]} {
			spec := access.Spec{Shape: []int{1 << 20}, DType: layouts.Int32, Kernel: k, Grain: 1}
			got := predictThreads(t, c.m, spec, 1).Loop / predictThreads(t, c.m, spec, c.threads).Loop
			if !about(got, c.want, .02) {
				t.Errorf("%v: the loop of %d threads takes %.3f times less, want %.3f", k, c.threads, got, c.want)
			}
		}
	}
}

// TestSharing: what all cores were measured to have of levels of their own is not believed where one of them
// was slow meanwhile. A last level that is smaller than all second levels has the most that was read of half as much again.
func TestSharing(t *testing.T) {
	const mib = 1 << 20
	m := probe.Machine{
		Threads: 16, Memory: probe.Speed{Latency: 120, Read: 14e9, ReadAll: 100e9},
		Levels: []probe.Level{
			{Name: "L1D", Capacity: 48 << 10, Speed: probe.Speed{Latency: 1.8, Read: 222e9, ReadAll: 261e9, Copy: 318e9, CopyAll: 286e9}},
			{Name: "L2", Capacity: 2 * mib, Speed: probe.Speed{Latency: 6, Read: 111e9, ReadAll: 819e9, Copy: 66e9, CopyAll: 85e9}},
			{Name: "L3", Capacity: 24 * mib, Speed: probe.Speed{Latency: 39, Read: 23e9, Copy: 23e9}},
		},
		ReadLadder: []probe.Reading{
			{Size: 20 * mib, Read: 24e9, ReadAll: 900e9}, {Size: 40 * mib, Read: 24e9, ReadAll: 250e9},
			{Size: 48 * mib, Read: 24e9, ReadAll: 200e9}, {Size: 64 * mib, Read: 23e9, ReadAll: 190e9}},
	}
	got := Measured(m)
	if got.Busy != 0 || got.Levels[0].LineAll >= line/111. || !about(got.Levels[1].LineAll, line/200., 1e-9) {
		t.Errorf("cores lose %v, of L2 a line of all takes %v ns, of L3 %v", got.Busy, got.Levels[0].LineAll, got.Levels[1].LineAll)
	}
	m.Simulated.Levels = []simcache.Level{{}, {SharedBy: 4}, {}} // four have one second level
	if got := Measured(m).Levels[0].LineAll; !about(got, line/819., 1e-9) {
		t.Errorf("of a shared L2 a line of all takes %v ns", got)
	}
	m.Levels[0].ReadAll, m.Levels[0].CopyAll = 2600e9, 2500e9
	if got := Measured(m).Busy; !about(got, 16*222./2600, 1e-9) {
		t.Errorf("cores lose %v", got)
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
		if float64(got.Size) > share+1 && got.Size > 2*g.Line || float64(got.Size) < share/2 && share > 2*64 {
			t.Errorf("one of %d parts of %v is %v", n, g, got)
		}
		if n == 1 && got != g {
			t.Errorf("all of %v is %v", g, got)
		}
	})
}
