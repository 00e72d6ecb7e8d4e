package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// TestAmong: what threads, CPUs and nodes there are to be, on a machine of two nodes
// with SMT, a node of memory alone and one without memory.
func TestAmong(t *testing.T) {
	at := place{system: "linux", workers: []cpu.Logical{{CPU: 7, Core: 3, Node: 1},
		{CPU: 6, Core: 2, Node: 1}, {CPU: 5, Core: 1}, {CPU: 4, Core: 0},
		{CPU: 3, Core: 3, Node: 1}, {CPU: 1, Core: 1}},
		nodes: []cpu.Node{{ID: 0, CPUs: []int{0, 1, 4, 5}, Memory: 1 << 30},
			{ID: 1, CPUs: []int{2, 3, 6, 7}, Memory: 1 << 30}, {ID: 2, Memory: 1 << 30},
			{ID: 3, CPUs: []int{8}}}}
	darwin, bare := at, at
	darwin.system, darwin.nodes, bare.nodes = "darwin", nil, nil
	big := access.Comparison{{Name: "Big", Spec: access.Spec{Shape: []int{1 << 20},
		DType: layouts.Float32}}, {Name: "Latency", Spec: access.ChaseSpec(9, 64)}}
	for _, c := range []struct {
		place
		threads Threads
		want    string
	}{
		{at, Threads{}, " on []"},
		{at, Threads{Counts: []int{1, 2, 0}},
			"Big/threads=1 Big/threads=2 Big/threads=6 Latency/threads=1 on [7 6 5 4 3 1]"},
		{at, Threads{Counts: []int{9, 2, 7}}, "Big/threads=2 on [7 6 5 4 3 1]"},
		{at, Threads{Counts: []int{2, 2, 0}, CPUBind: []int{0}},
			"Big/threads=2 Big/threads=3 on [5 4 1]"},
		{at, Threads{Counts: []int{0}, Pin: []int{1, 5}}, "Big/threads=2 on [1 5]"},
		{at, Threads{Pin: []int{4}}, " on [4]"},
		{at, Threads{MemBind: []int{2, 0}, CPUBind: []int{1}}, " on [7 6 3]"},
		{at, Threads{Counts: []int{7}}, "threads 7: there are 6 CPUs"},
		{at, Threads{Counts: []int{3}, Pin: []int{1, 5}}, "threads 3: there are 2 CPUs"},
		{at, Threads{Counts: []int{2}, Grain: 1 << 20}, "threads 2: no benchmark can be cut"},
		{at, Threads{Pin: []int{2, 4}}, "pin 2,4: this process may not run on CPU 2 (it may " +
			"on 1,3-7"},
		{at, Threads{Pin: []int{4}, CPUBind: []int{0}}, "pin 4: cpubind"},
		{at, Threads{MemBind: []int{3}}, "membind 3: node 3 with memory does not exist (want 0-2"},
		{at, Threads{CPUBind: []int{2}}, "cpubind 2: node 2 with CPUs does not exist (want 0-1,3"},
		{at, Threads{CPUBind: []int{3}}, "cpubind 3: "},
		{place{system: "linux"}, Threads{Counts: []int{1}}, "this process may run on no CPU"},
		{bare, Threads{MemBind: []int{0}}, "membind 0: this system"},
		{darwin, Threads{MemBind: []int{0}}, "membind 0: only Linux"},
		{darwin, Threads{CPUBind: []int{0}}, "cpubind 0: only Linux"},
		{darwin, Threads{Counts: []int{2}}, "Big/threads=2 on [7 6 5 4 3 1]"},
		{darwin, Threads{Pin: []int{4}}, "pin 4: only Linux"},
	} {
		p, err := Plan{Comparisons: []access.Comparison{big}}.among(c.threads, c.place)
		got := fmt.Sprint(err)
		if err == nil {
			var names []string
			for _, b := range slices.Concat(p.Comparisons...) {
				if c.threads.Counts != nil {
					names = append(names, b.Name)
				}
			}
			got = fmt.Sprintf("%s on %v", strings.Join(names, " "), p.CPUs)
			said := slices.ContainsFunc(p.Remarks, func(r results.Pair) bool {
				return r.Key == "pinned-to"
			})
			if pinned := c.system == "linux" && p.CPUs != nil; said != pinned {
				t.Errorf("%+v on %s: says that threads are pinned: %v", c.threads, c.system, said)
			}
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.threads, got, c.want)
		}
	}
}

// TestSharedCores: from which number of threads on they are on a further node and share cores is
// said, on a server of two sockets with 24 cores each whose SMT siblings have the upper half of the
// numbers.
func TestSharedCores(t *testing.T) {
	at := place{system: "linux"}
	for c := 95; c >= 0; c-- {
		at.workers = append(at.workers, cpu.Logical{CPU: c, Core: c % 48, Node: c % 48 / 24})
	}
	flat := place{system: "linux", workers: []cpu.Logical{{CPU: 1, Core: 1}, {CPU: 0, Core: 0}}}
	big := access.Comparison{{Name: "Big", Spec: access.Spec{Shape: []int{1 << 24},
		DType: layouts.Float32}}}
	for _, c := range []struct {
		place
		threads Threads
		want    string
	}{
		{at, Threads{Counts: []int{1, 0}}, "on NUMA node 1 from 1 on, on NUMA node 0 from 25 on, " +
			"from 49 on SMT siblings share cores"},
		{at, Threads{Counts: []int{48}}, "on NUMA node 1 from 1 on, on NUMA node 0 from 25 on"},
		{at, Threads{Counts: []int{24}}, ""},
		{at, Threads{Counts: []int{0}, Pin: []int{0, 48, 1}}, "from 2 on SMT siblings share cores"},
		{at, Threads{Pin: []int{0, 48}}, ""},
		{flat, Threads{Counts: []int{0}}, ""},
	} {
		p, err := Plan{Comparisons: []access.Comparison{big}}.among(c.threads, c.place)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range p.Remarks {
			if r.Key == "threads" {
				got = r.Value
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.threads, got, c.want)
		}
	}
}

// TestThreadedRun: a run with one thread and two counts, of two, private first levels and a
// last one that they share: both together touch as much, each misses its own lines.
func TestThreadedRun(t *testing.T) {
	d1, ll := simcache.Geometry{Size: 1 << 10, Ways: 2, Line: 64},
		simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}
	c := access.Comparison{{Name: "Mine", Spec: access.Spec{Shape: []int{64, 33},
		DType: layouts.Int32}}}
	cpus := cpu.Workers()[:1]
	plan := Plan{Comparisons: []access.Comparison{c},
		Caches: simcache.Config{Levels: simcache.TwoLevels(d1, ll),
			TLB: []simcache.TLB{{Entries: 2, Ways: 2, Page: 4096}}},
		Count: 1, SampleTime: 100 * time.Microsecond}
	plan, err := plan.among(Threads{Counts: []int{1, 2}, Grain: 1},
		place{workers: append(cpus, cpus[0]), system: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := plan.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if _, _, err := s.Write(context.Background(), &out, nil); err != nil {
		t.Fatal(err)
	}
	set, err := results.Parse("run.txt", []byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range set.Results {
		line := r.Name.String()
		for _, unit := range []string{"D-refs/op", "D1-misses/op", "LL-misses/op",
			"TLB-misses/op"} {
			v, known := r.Value(unit)
			line += fmt.Sprintf(" %v %v", v, known)
		}
		got = append(got, line)
	}
	want := "Mine/threads=1/grain=1 2112 true 132 true 0 true 3 true\nMine/threads=2/grain=1 " +
		"2112 true 132 true 0 true 0 true"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if !strings.Contains(out.String(), "# pinned-to: ") {
		t.Error("the head does not say where threads are pinned")
	}
}

// TestWriteLoads: latency under load is a file of results.
func TestWriteLoads(t *testing.T) {
	m := probe.Machine{Ladder: []probe.Point{{Size: 4096, Ns: 1},
		{Size: 96 << 20, Ns: 100}}, Streams: 3,
		Loads: []probe.Load{{Share: 0, Ns: []float64{100, 101}, Bandwidth: []probe.Bandwidth{.64,
			.65}}, {Share: 1. / 32, Ns: []float64{120}, Bandwidth: []probe.Bandwidth{2}}}}
	var out strings.Builder
	if err := WriteLoads(&out, m, Program{Command: "bench machine"}); err != nil {
		t.Fatal(err)
	}
	set, err := results.Parse("loads.txt", []byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range set.Results {
		ns, _ := r.Value("sec/op")
		rate, _ := r.Value("B/s")
		got = append(got, fmt.Sprintf("%s %.0f %g", r.Name, ns*1e9, rate))
	}
	if want := "Loaded/op=chase/size=96MiB/streams=3/load=0 100 6.4e+08, " +
		"Loaded/op=chase/size=96MiB/streams=3/load=0 101 6.5e+08, " +
		"Loaded/op=chase/size=96MiB/streams=3/load=3.125 120 2e+09"; strings.Join(got,
		", ") != want {
		t.Errorf("got %q", got)
	}
	if err := WriteLoads(&out, probe.Machine{}, Program{}); err != errNoLoads {
		t.Errorf("of a machine without loads: %v", err)
	}
}

// TestThreaded: the names say how many threads, and what the old names say stays.
func TestThreaded(t *testing.T) {
	c := access.Suite(true)[0][:1]
	var names []string
	for _, grain := range []int{0, access.GrainSize, 1} {
		some, alone := threaded([]access.Comparison{c,
			{{Name: "Small", Spec: access.Spec{Shape: []int{9}, DType: layouts.Int32}}},
			{{Name: "Latency", Spec: access.ChaseSpec(9, 64)}}}, []int{4, 1}, grain)
		if want := map[int]string{0: "[Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar Small Latency]", access.GrainSize: "[Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar Small Latency]", 1: "[Latency]"}[grain]; fmt.Sprint(alone) != want {
			t.Errorf("by a grain of %d %s are alone, want %s", grain, alone, want)
		}
		for _, b := range slices.Concat(some...) {
			names = append(names, b.Name[strings.Index(b.Name+"/threads", "/threads"):])
		}
	}
	want := "/threads=1 /threads=1 /threads=1 /threads=1 /threads=1 /threads=1 " +
		"/threads=4/grain=1 /threads=1/grain=1 /threads=4/grain=1 /threads=1/grain=1 " +
		"/threads=1/grain=1"
	if got := strings.Join(names, " "); got != want {
		t.Error(got)
	}
}
