package cost

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// TestPlaced: rows that lie a multiple of 64 KiB apart, and so in two sets of the second level by
// their addresses, are found there if pages are small, whose places nobody knows.
func TestPlaced(t *testing.T) {
	p := pattern(t, access.Spec{Shape: []int{100, 32 << 10}, View: layouts.MustParseChain("narrow(1,0,512)"), DType: layouts.Float64, Order: access.Col})
	missed := func(tlb []simcache.TLB) float64 {
		m := generic
		m.Caches.TLB = tlb
		sum, err := m.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		return sum.Missed(1)
	}
	// 100 rows of 64 lines, of which the second level has 8192.
	if got := missed(typical.TLB); got != 0 {
		t.Errorf("%v misses of the second level on small pages", got)
	}
	for _, tlb := range [][]simcache.TLB{nil, {{Entries: 32, Ways: 32, Page: 2 << 20}}} {
		if got := missed(tlb); got < 6400 {
			t.Errorf("%v misses of the second level with TLB %v, where addresses tell the sets", got, tlb)
		}
	}
	if g := placed(simcache.Geometry{Size: 48 << 10, Ways: 12, Line: 64}, typical.TLB); g.Ways != 12 {
		t.Errorf("a first level of a page a way has %d ways", g.Ways)
	}
}

// TestAlone: a core by itself copies at least as fast as beside others, whenever it was measured.
func TestAlone(t *testing.T) {
	s := alone(probe.Speed{Read: 10e9, Copy: 5e9, ReadAll: 16e9, CopyAll: 18e9}, 2)
	if s.Read != 10e9 || s.Copy != 9e9 {
		t.Errorf("reads %v and copies %v, want 10e9 and the half of 18e9", s.Read, s.Copy)
	}
	if s := alone(probe.Speed{Copy: 5e9, CopyAll: 18e9}, 0); s.Copy != 5e9 {
		t.Errorf("copies %v, with nothing known of all cores", s.Copy)
	}
	m := probe.Machine{Threads: 2, Memory: probe.Speed{Latency: 100, Read: 10e9, Copy: 4e9, CopyAll: 10e9},
		Levels: []probe.Level{{Speed: probe.Speed{Latency: 1}}, {Speed: probe.Speed{Latency: 4, Read: 60e9, Copy: 10e9, CopyAll: 40e9}}}}
	// 128 B at 20 and at 5 GB/s, less two lines.
	for i, want := range []float64{128/20. - 2*64/60., 128/5. - 2*64/10.} {
		if got := Measured(m).Levels[i].Stored; math.Abs(got-want) > 1e-9 {
			t.Errorf("a written line of %s takes %v ns longer, want %v", Measured(m).Levels[i].Name, got, want)
		}
	}
}

// TestPlainLoops: vectors read memory as fast as was measured, loops over elements only as fast as they copy.
func TestPlainLoops(t *testing.T) {
	memory := Generic("as a test").Levels[2]
	v := visit{stride: Stride{Next: 1}, vectors: true}
	if got := generic.line(v, 2); got != memory.Line {
		t.Errorf("vectors take %v ns a line, want %v", got, memory.Line)
	}
	v.vectors = false
	if got, want := generic.line(v, 2), memory.Line+memory.Stored/2; got != want {
		t.Errorf("loops take %v ns a line, want %v", got, want)
	}
}

// ruled is the prediction by rules of which some are changed.
func ruled(t *testing.T, s access.Spec, change func(*Rules)) Prediction {
	t.Helper()
	m, rules := generic, Fitted().Rules
	change(&rules)
	m.Rules = &rules
	p, err := m.Predict(pattern(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRules: each rule has a part in what it is about, and in nothing else.
func TestRules(t *testing.T) {
	sum := func(d layouts.DType) access.Spec { return access.Spec{Shape: []int{4096}, DType: d} }
	columns := access.Spec{Shape: []int{2000, 2000}, DType: layouts.Float32, Order: access.Col}
	fill := columns
	fill.Op = access.Fill
	copies := func(o access.Order, shape ...int) access.Spec {
		return access.Spec{Op: access.Copy, Shape: shape, View: layouts.MustParseChain("t()"), DType: layouts.Float32, Order: o}
	}
	// Each line of what is written is far from the one before, eight iterations of a tile apart.
	tiled := copies(access.Row, 2000, 2000)
	tiled.Tile = []int{32, 32}
	blocks, err := copies(access.Row, 2048, 2048), error(nil)
	if blocks.Kernel, err = access.ParseKernel("avx2"); err != nil {
		t.Fatal(err)
	}
	twice := func(f func(*Rules) *float64) func(*Rules) {
		return func(r *Rules) { *f(r) *= 2 }
	}
	floatSum := twice(func(r *Rules) *float64 { return &r.FloatSum })
	stores := twice(func(r *Rules) *float64 { return &r.Stores })
	pending := func(r *Rules) { r.Pending = 1 }
	asked := twice(func(r *Rules) *float64 { return &r.Asked })
	for _, c := range []struct {
		what   string
		spec   access.Spec
		change func(*Rules)
		slower bool
	}{
		{"conversion of float32", sum(layouts.Float32), floatSum, true},
		{"conversion of int32", sum(layouts.Int32), floatSum, false},
		{"stores of a copy by columns", copies(access.Col, 2000, 2000), stores, true},
		{"stores of a fill", fill, stores, false},
		{"stores of a sum", columns, stores, false},
		{"stores that wait, a row of a tile at a time", tiled, pending, true},
		{"stores that wait, of a sum", access.Spec{Shape: []int{2000, 2000}, DType: layouts.Float32, Tile: []int{32, 32}}, pending, false},
		{"lines that vectors ask for", blocks, asked, true},
		{"lines that loops do not ask for", copies(access.Row, 2000, 2000), asked, false},
	} {
		before, after := ruled(t, c.spec, func(*Rules) {}), ruled(t, c.spec, c.change)
		if slower := after.Ns > 1.01*before.Ns; slower != c.slower || !slower && math.Abs(after.Ns-before.Ns) > 1e-6*before.Ns {
			t.Errorf("%s: %v ns, and %v by the other rule", c.what, before.Ns, after.Ns)
		}
	}
}

// TestStarts: sums pay for their rows and nests by SumRow and SumWalk, others by Row and Walk.
func TestStarts(t *testing.T) {
	m := generic
	m.Rules = &Rules{Overlap: math.Inf(1), Row: 1, Walk: 100, SumRow: 3, SumWalk: 20, InFlight: 1, Crowded: 1, Walks: 1, Window: 1, Pending: 1}
	for op, want := range map[access.Op]float64{access.Sum: 5*3 + 20, access.Fill: 5*1 + 100} {
		p := pattern(t, access.Spec{Op: op, Shape: []int{5, 8}, View: layouts.MustParseChain("narrow(1,0,4)"), DType: layouts.Int32})
		sum, err := m.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.Loop / m.Times.Hit; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: five rows take %v, want %v", op, got, want)
		}
	}
}

// TestCrowdedMeasured: lines that share a set of the first level take what was measured of such, loads and stores by turns; where
// it was not measured, the rule says, and where lines do not share sets, neither does.
func TestCrowdedMeasured(t *testing.T) {
	second := generic.Times.Levels[0]
	second.Stored = 20 // of lines that are not crowded
	unknown, measured := generic, generic
	unknown.Times.Levels = append([]Level{second}, generic.Times.Levels[1:]...)
	second.Crowded, second.CrowdedStore = 30, 50
	measured.Times.Levels = append([]Level{second}, generic.Times.Levels[1:]...)
	// 64 rows, of a page or of a line more, by columns: of one set, or of all.
	shape := func(columns int) access.Spec {
		return access.Spec{Shape: []int{64, columns}, DType: layouts.Float32, Order: access.Col}
	}
	predict := func(m Model, s access.Spec, op access.Op) Prediction {
		s.Op = op
		p, err := m.Predict(pattern(t, s))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const refs = 64 * 1024 * 7 / 8 // of 64 rows the set keeps 8
	for op, want := range map[access.Op]float64{access.Sum: 30 * refs, access.Fill: 50 * refs, access.Copy: (30 + 50) * refs} {
		got, ruled := predict(measured, shape(1024), op), predict(generic, shape(1024), op)
		if walks := got.Tensors[0].Walks * float64(len(got.Tensors)); math.Abs(got.Memory-walks-want) > .05*want {
			t.Errorf("%v: %v ns, want about %v", op, got.Memory-walks, want)
		}
		if ruled.Memory > got.Memory/3 {
			t.Errorf("%v: %v ns by the rule, %v as measured", op, ruled.Memory, got.Memory)
		}
		if a, b := predict(measured, shape(1024+16), op).Ns, predict(unknown, shape(1024+16), op).Ns; a != b {
			t.Errorf("%v: rows that share no set take %v ns, and %v where crowding was not measured", op, a, b)
		}
	}
}

// TestWalked: lines and walks of one tensor take their sum, or the longer of the two, by the order of their norm.
func TestWalked(t *testing.T) {
	spec := access.Spec{Shape: []int{4000, 1024 + 16}, DType: layouts.Float32, Order: access.Col}
	sums := ruled(t, spec, func(r *Rules) { r.Walked = 1 })
	x := sums.Tensors[0]
	lines := x.Ns() - x.Walks
	if lines == 0 || x.Walks == 0 || !about(sums.Memory, lines+x.Walks, 1e-9) {
		t.Errorf("%v ns in memory, of %v for lines and %v for walks", sums.Memory, lines, x.Walks)
	}
	if got := ruled(t, spec, func(r *Rules) { r.Walked = math.Inf(1) }); !about(got.Memory, max(lines, x.Walks), 1e-9) || !about(got.Tensors[0].Ns(), got.Memory, 1e-9) {
		t.Errorf("%v ns in memory, want the longer of %v for lines and %v for walks", got.Memory, lines, x.Walks)
	}
}

// TestStartsOfRuns: the lines that runs begin with are not foreseen, so that InFlight of them are in flight at most, however
// many are of a walk whose steps are all the same.
func TestStartsOfRuns(t *testing.T) {
	m := generic
	m.Rules = &Rules{Overlap: math.Inf(1), InFlight: 10, Crowded: 1, Walks: 1, Window: 1e9, Pending: 1e9, Stores: 1}
	memory := m.Times.Levels[2]
	memory.Near, memory.Far = memory.Latency/40, memory.Latency/40
	m.Times.Levels = append(append([]Level{}, m.Times.Levels[:2]...), memory)
	v := visit{stride: Stride{Far: 1, loop: 0}, nest: nest.Nest{Trips: []int{4}, Operands: []nest.Operand{{Strides: []int{8192}}}}}
	v.op = v.nest.Operands[0]
	if got, want := m.line(v, 2), memory.Far; got != want {
		t.Errorf("a line of many steps alike takes %v ns, want %v", got, want)
	}
	v.stride.loop = -1
	if got, want := m.line(v, 2), memory.Latency/10; got != want {
		t.Errorf("one that a run begins with takes %v ns, want %v", got, want)
	}
}

// TestAccesses: more accesses than an int counts are many, and not few.
func TestAccesses(t *testing.T) {
	n := nest.Nest{Trips: []int{1 << 40, 3, 1 << 40}, Operands: make([]nest.Operand, 2)}
	if got := accesses(n, 0); got != most {
		t.Errorf("%d accesses of %v", got, n.Trips)
	}
	if got := accesses(n, 1); got != 3<<41 {
		t.Errorf("%d accesses of an iteration of %v", got, n.Trips)
	}
	if times(0, most) != 0 || times(most, 0) != 0 || times(most, 1) != most || times(most, 2) != most || times(3, 4) != 12 {
		t.Error("products")
	}
}

// TestChannels: what takes a few channels apart goes along its operands as a copy in vectors does, and its
// loop takes about as long, also where each channel reads the lines of all.
func TestChannels(t *testing.T) {
	loop := func(kernel string, shape []int, view string) float64 {
		k, err := access.ParseKernel(kernel)
		if err != nil {
			t.Fatal(err)
		}
		p, err := generic.Predict(pattern(t, access.Spec{Op: access.Copy, Shape: shape, View: layouts.MustParseChain(view), DType: layouts.Float64, Kernel: k}))
		if err != nil {
			t.Fatal(err)
		}
		return p.Loop
	}
	images := []int{16, 224, 224, 3}
	run := loop("avx2", []int{16 * 224 * 224 * 3}, "")
	if apart := loop("avx2", images, "permute(0,3,1,2)"); apart > 1.5*run {
		t.Errorf("the loop that takes channels apart takes %v ns, that of a copy %v", apart, run)
	}
	if picked := loop("avx2-blocks", images, "permute(0,3,1,2)"); picked < 1.5*run || picked > 3*run { // reads three times, writes once
		t.Errorf("the loop that takes one channel after the other apart takes %v ns, that of a copy %v", picked, run)
	}
}

// TestTogether: a loop and its memory take no less than the longer of them and no more than both, as much whichever is which, and
// less the more they overlap; memory that takes so long with a loop is what there was.
func TestTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, 1e9).Draw(t, "loop"), rapid.Float64Range(0, 1e9).Draw(t, "memory")
		overlap := rapid.Float64Range(1, 10).Draw(t, "overlap")
		got := together(a, b, overlap)
		if got < max(a, b) || got > (a+b)*(1+1e-12) || got != together(b, a, overlap) {
			t.Errorf("%v and %v take %v", a, b, got)
		}
		if more := together(a, b, overlap+1); more > got*(1+1e-12) {
			t.Errorf("%v and %v take %v, and %v if they overlap more", a, b, got, more)
		}
		if b > a/100 {
			if back := beyond(got, a, overlap); math.Abs(back-b) > 1e-3*b && overlap < 3 {
				t.Errorf("beyond %v of %v is %v, want %v", a, got, back, b)
			}
		}
	})
	for _, c := range [][3]float64{{3, 4, 5}, {0, 4, 4}, {0, 0, 0}} {
		if got := together(c[0], c[1], 2); math.Abs(got-c[2]) > 1e-12 {
			t.Errorf("%v and %v take %v, want %v", c[0], c[1], got, c[2])
		}
	}
	if got := beyond(3, 4, 2); got != 0 {
		t.Errorf("beyond 4 of 3 is %v", got)
	}
}
