package cost

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// about tells whether two times are the same but for a share.
func about(a, b, share float64) bool { return math.Abs(a-b) <= share*b }

// TestMeasuredRuns: lines of memory in runs of which no stream goes on take what was measured of such; those of few rows
// that go on take what a stream does.
func TestMeasuredRuns(t *testing.T) {
	m := generic
	m.Times.Runs = []probe.Run{{Lines: 1, Ns: 30}, {Lines: 2, Ns: 200}, {Lines: 4, Ns: 240}}
	next := m.Times.Levels[2].Line
	for lines, want := range map[float64]float64{1: 30, 1.5: 115 / 1.5, 2: 100, 3: 220. / 3, 4: 60, 64: 60} {
		if got := m.Times.run(lines); !about(got, want, 1e-9) {
			t.Errorf("runs of %v lines: %v ns a line, want %v", lines, got, want)
		}
	}
	if got := generic.Times.run(2); got != 0 {
		t.Errorf("%v ns where nothing was measured", got)
	}
	v := visit{stride: Stride{Next: .5, Far: .5, loop: -1, every: 32, run: 2}}
	if got, want := m.line(v, 2), generic.line(v, 2); got != 100 || want > 50 {
		t.Errorf("a line of memory takes %v ns, want 100, not the rules' %v", got, want)
	}
	if got, want := m.line(v, 1), generic.line(v, 1); got != want {
		t.Errorf("a line of the last level takes %v ns, want the rules' %v", got, want)
	}
	if of := (visit{stride: v.stride, vectors: true}); m.line(of, 2) != generic.line(of, 2) {
		t.Errorf("a line that vectors read takes %v ns, want the rules' %v", m.line(of, 2), generic.line(of, 2))
	}
	if v.vectors, v.asked = true, true; m.line(v, 2) != generic.line(v, 2) {
		t.Errorf("a line that was asked for ahead takes %v ns, want the rules' %v", m.line(v, 2), generic.line(v, 2))
	}
	// Runs of 128 B, each row's by turns; a row of 1 MiB.
	each := func(rows int) float64 {
		const row, runs = 1 << 20, 8192
		op := nest.Operand{Tensor: "x", Kind: nest.Read, Width: 8, Strides: []int{128, row, 8}}
		n := nest.Nest{Trips: []int{runs, rows, 16}, Operands: []nest.Operand{op}}
		return m.line(visit{stride: strideOf(n, op, rowsOf(n, 64), 64), nest: n, op: op}, 2)
	}
	if got := each(64); got != 100 {
		t.Errorf("two lines of many rows, interleaved take %v ns each, want 100", got)
	}
	if got := each(8); got < next || got > 61 { // of longer runs than any that was measured
		t.Errorf("two lines of few rows by turns take %v ns each, want those of long runs", got)
	}
}

// TestEvery: jumps lie as many iterations apart as a run has, also where several runs share a line.
func TestEvery(t *testing.T) {
	for trips, want := range map[int]float64{8: 8, 16: 16, 64: 64} {
		op := nest.Operand{Width: 4, Strides: []int{8000, 4}}
		n := nest.Nest{Trips: []int{1000, trips}, Operands: []nest.Operand{op}}
		if s := strideOf(n, op, rowsOf(n, 64), 64); s.every != want {
			t.Errorf("a jump every %v iterations, want %v", s.every, want)
		}
	}
}

// TestServedOnce: the share of a pass that the last level serves, though it is too large, is taken off once, whether the
// pass is walked whole or in part, and of lines that crowd by the room that there is for them.
func TestServedOnce(t *testing.T) {
	m := generic
	m.Times.Levels = slices.Clone(m.Times.Levels)
	at, memory := m.Times.Levels[1].Latency, m.Times.Levels[2].Latency
	m.Times.Ladder = []probe.Point{{Size: 16 << 20, Ns: at}, {Size: 32 << 20, Ns: at + (memory-at)/4}, {Size: 64 << 20, Ns: at + (memory-at)/2}, {Size: 256 << 20, Ns: memory}}
	for _, c := range []struct {
		what   string
		spec   access.Spec
		crowds bool
		want   float64
	}{
		{"in part", access.Spec{Shape: []int{1 << 24}, DType: layouts.Int32}, false, 1 << 19},
		{"in part, written", access.Spec{Op: access.Fill, Shape: []int{1 << 23}, DType: layouts.Int32}, false, (.25 + .25*math.Log2(1.5)) * (1 << 19)},
		{"in part, half of it written", access.Spec{Op: access.Copy, Shape: []int{1 << 22}, DType: layouts.Int32}, false, (.25 + .25*math.Log2(1.25)) * (1 << 19)},
		{"whole", access.Spec{Shape: []int{1 << 24}, DType: layouts.Int32, View: layouts.MustParseChain("slice(0,0,16777216,256)")}, false, 0},
		{"whole, crowded", access.Spec{Shape: []int{1 << 24}, DType: layouts.Int32, View: layouts.MustParseChain("slice(0,0,16777216,256)")}, true, 1 << 15},
	} {
		m.Times.Crowds = c.crowds
		p, err := m.Predict(pattern(t, c.spec))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Missed(2); !about(got, c.want, .01) && got != c.want {
			t.Errorf("%s: %v lines are missed, want %v", c.what, got, c.want)
		}
	}
}

// TestFound: of what comes again in two loops around the excerpt, each finds a part of what the one inside did not.
func TestFound(t *testing.T) {
	// 16 lines; 8 further on, four times; 20 further on than the first, four times.
	n := nest.Nest{Trips: []int{4, 4, 16}, Operands: []nest.Operand{{Width: 4, Strides: []int{20 * 64, 8 * 64, 64}}}}
	e := excerpt{nest: n, loop: 2, counted: 16, touches: footprintsOf(n)}
	p := place{block: 64, sets: 1, ways: 1000}
	inner, outer := 1-40./64, 1-100./160
	if got, want := e.again(0, p, 2000), inner+(1-inner)*outer; !about(got, want, 1e-9) {
		t.Errorf("%v is found again, want %v", got, want)
	}
	if got := e.again(0, p, 100); !about(got, 1, 1e-9) {
		t.Errorf("%v is found again where the pass before is, want all", got)
	}
}

// TestFollowed: rows are followed that go on where their runs end, if all operands together have few.
func TestFollowed(t *testing.T) {
	run := func(trips []int, strides ...[]int) int {
		n := nest.Nest{Trips: trips}
		for _, s := range strides {
			n.Operands = append(n.Operands, nest.Operand{Width: 4, Strides: s})
		}
		return followed(n, n.Operands[0], rowsOf(n, 64), 64, 64)
	}
	beside := []int{4096, 64, 4} // written side by side
	for _, c := range []struct {
		what string
		got  int
		want int
	}{
		{"few rows", run([]int{100, 12, 16}, []int{64, 8000, 4}), 6400},
		{"many rows", run([]int{100, 40, 16}, []int{64, 8000, 4}), 64},
		{"few rows beside one that is written", run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{768, 64, 4}), 6400},
		{"few rows beside others", run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{64, 16000, 4}), 64},
		{"few rows beside steps within a page", run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{4096, 256, 4}), 6400},
		{"few rows beside steps within four", run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{64000, 1280, 4}), 6400},
		{"few rows beside steps within five", run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{64000, 1600, 4}), 64},
		{"rows that do not go on", run([]int{100, 12, 16}, []int{640, 8000, 4}, beside), 64},
		{"rows that go on for a while", run([]int{100, 10, 12, 16}, []int{16000, 64, 8000, 4}), 640},
	} {
		if c.got != c.want {
			t.Errorf("%s: followed for %d B, want %d", c.what, c.got, c.want)
		}
	}
}

// TestBursts: lines of memory that are touched in bursts cost the latency that each begins with, and the loop between bursts
// hides none but what the CPU looked ahead at.
func TestBursts(t *testing.T) {
	m := generic
	m.Rules = &Rules{Overlap: math.Inf(1), SumRun: 1, SumStep: 1, InFlight: 100, Crowded: 100, Walks: 100, Walked: math.Inf(1), Window: 10, Pending: 10, Stores: 1, Pairs: 1}
	m.Times.Walks = []float64{0, 0}
	// Tiles of a row-major matrix by columns: 16 lines of memory, which then serve 15 columns more.
	spec := access.Spec{Shape: []int{4096, 4112}, DType: layouts.Int32, View: layouts.MustParseChain("t()"), Tile: []int{16, 16}}
	p, err := m.Predict(pattern(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	s := p.Tensors[0].Stride
	if s.burst != 16 {
		t.Fatalf("bursts of %v lines, want 16", s.burst)
	}
	lines, latency := float64(4096*4112/16), m.Times.Levels[2].Latency
	if got := p.Memory / lines; got < latency/16 {
		t.Errorf("a line takes %v ns, want at least a 16th of the latency of %v", got, latency)
	}
	hidden := 10 * m.Times.Hit / 16 * lines
	if want := p.Loop + p.Memory - hidden; !about(p.Ns, want, .02) {
		t.Errorf("%v ns, want %v: of %v in memory %v hidden behind a loop of %v", p.Ns, want, p.Memory, hidden, p.Loop)
	}
	lead, alone := Stride{burst: 10}.lead(5, 100, 30)
	if lead != 9.5 || alone != 11.5 {
		t.Errorf("a line of a burst takes %v ns more, and %v are not hidden", lead, alone)
	}
	// Few rows that go on are streams, unless they share sets of the first level.
	v := visit{stride: Stride{Far: 1, burst: 8, fresh: .5, rows: 1}, vectors: true}
	if got, want := generic.line(v, 2), generic.Times.Levels[2].Line; !about(got, want, 1e-9) || v.leading() != 0 {
		t.Errorf("a line of few rows takes %v ns, %v of them leading, want %v", got, v.leading(), want)
	}
	// One in 16 of all lines that are touched, or two where lines begin anywhere, and none that were asked for ahead.
	v = visit{stride: s, nest: nest.Nest{Trips: []int{160}}}
	if got, asked := v.leading(), (visit{stride: s, nest: v.nest, asked: true}).leading(); got != 20 || asked != 0 {
		t.Errorf("%v lines lead bursts, and %v that were asked for", got, asked)
	}
}

// TestStreamed: what a loop takes of memory's lines one after the other is what was measured, of 8 elements in a line, and goes by
// the logarithm of how many there are; not of vectors, of what is written besides, or of what a cache has.
func TestStreamed(t *testing.T) {
	m := generic
	m.Times.Streamed = []probe.Stream{{Op: access.Sum, Ns: 12}}
	of := m.Times.Levels[2]
	plain := of.Line + of.Stored/2
	read := nest.Operand{Kind: nest.Read, Width: 8, Strides: []int{8}}
	sum := func(step int) visit {
		return visit{stride: Stride{Next: 1, step: step}, nest: nest.Nest{Trips: []int{100}, Operands: []nest.Operand{read}}, op: read}
	}
	vectors, copies := sum(8), sum(8)
	vectors.vectors = true
	copies.nest.Operands = []nest.Operand{read, {Kind: nest.Write, Width: 8, Strides: []int{8}}}
	for name, c := range map[string]struct {
		v     visit
		level int
		want  float64
	}{
		"8 in a line":       {sum(8), 2, 12},
		"one in a line":     {sum(64), 2, plain},
		"16 in a line":      {sum(4), 2, plain + 4./3*(12-plain)},
		"64 in a line":      {sum(1), 2, plain + 4./3*(12-plain)},
		"a copy":            {copies, 2, plain},
		"vectors":           {vectors, 2, of.Line},
		"of the last level": {sum(8), 1, m.Times.Levels[1].Line},
	} {
		if got := m.line(c.v, c.level); !about(got, c.want, 1e-9) {
			t.Errorf("%s: a line takes %v ns, want %v", name, got, c.want)
		}
	}
	// Where they were measured, copies and fills take that.
	m.Times.Streamed = append(m.Times.Streamed, probe.Stream{Op: access.Fill, Ns: 9}, probe.Stream{Op: access.Copy, Ns: 22})
	fills := copies
	fills.op = copies.nest.Operands[1]
	fills.nest.Operands = copies.nest.Operands[1:]
	written := copies
	written.op = fills.op
	for _, c := range []struct {
		v    visit
		want float64
	}{{fills, 9}, {copies, 11}, {written, 11}, {sum(8), 12}} {
		if got := m.line(c.v, 2); !about(got, c.want, 1e-9) {
			t.Errorf("a line of %d operands takes %v ns, want %v", len(c.v.nest.Operands), got, c.want)
		}
	}
	if got := m.line(fills, 1); got != m.Times.Levels[1].Line+m.Times.Levels[1].Stored {
		t.Errorf("a line of the last level that is written takes %v ns", got)
	}
}

// TestBurst: a burst ends where the loop around comes by the same lines again.
func TestBurst(t *testing.T) {
	for _, c := range []struct {
		trips, strides []int
		burst, fresh   float64
		rows           float64
	}{
		{[]int{16, 20}, []int{4, 8000}, 20, 1. / 16, 0},
		{[]int{16, 20}, []int{0, 8000}, 20, 1. / 16, 0},
		{[]int{8, 20}, []int{4, 8000}, 20, 1. / 8, 0},
		{[]int{50, 20}, []int{32, 8000}, 20, .5, 0},
		{[]int{16, 20}, []int{64, 8000}, 0, 0, 0},
		{[]int{16, 7, 20}, []int{4, 640, 8000}, 0, 0, 0},
		{[]int{20}, []int{8000}, 0, 0, 0},
		{[]int{1024, 20}, []int{4, 8000}, 20, 1. / 16, 0}, // more rows than prefetchers follow
		{[]int{1024, 10}, []int{4, 8000}, 10, 1. / 16, 1},
		{[]int{1000, 10}, []int{4, 8000}, 10, 1. / 16, 1 - 192./4000}, // for less than a page, of which they see no stream in the first lines
		{[]int{40, 10}, []int{4, 8000}, 10, 1. / 16, 0},               // for three lines
		{[]int{60, 32, 8}, []int{224, 4, 16000}, 8, 1. / 16, 1},       // behind gaps of less than two lines
		{[]int{60, 2, 32, 8}, []int{224, 0, 4, 16000}, 8, 1. / 16, 1},
		{[]int{60, 32, 8}, []int{384, 4, 16000}, 8, 1. / 16, 0},          // behind wider ones
		{[]int{60, 2, 32, 8}, []int{224, 8192, 4, 16000}, 8, 1. / 16, 0}, // and not at once
	} {
		n := nest.Nest{Trips: c.trips, Operands: []nest.Operand{{Width: 4, Strides: c.strides}}}
		if s := strideOf(n, n.Operands[0], rowsOf(n, 64), 64); s.burst != c.burst || s.fresh != c.fresh || s.rows != c.rows {
			t.Errorf("%v by %v: %v lines, %v of them fresh, rows %v, want %v", c.trips, c.strides, s.burst, s.fresh, s.rows, c)
		}
	}
}

// TestGaps: rows that lie side by side, or up to a line apart, are one run of lines; those less than two lines apart begin
// with lines near the ones before, others with far ones.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		trips, strides []int
		near, far      float64
		jump           int
	}{
		{[]int{10, 64}, []int{4096, 4}, 0, 1. / 4, 4096},
		{[]int{10, 4, 16}, []int{8192, 64, 4}, 0, 1. / 4, 8192}, // rows of 256 B
		{[]int{10, 4, 16}, []int{352, 64, 4}, 1. / 4, 0, 352},
		{[]int{10, 4, 16}, []int{384, 64, 4}, 0, 1. / 4, 384},
		{[]int{10, 4, 16}, []int{320, 64, 4}, 0, 64. / (9*320 + 256), 0},
	} {
		n := nest.Nest{Trips: c.trips, Operands: []nest.Operand{{Width: 4, Strides: c.strides}}}
		if s := strideOf(n, n.Operands[0], rowsOf(n, 64), 64); s.Near != c.near || s.Far != c.far || s.jump != c.jump {
			t.Errorf("%v by %v: near %v, far %v, jumps of %d B, want %v", c.trips, c.strides, s.Near, s.Far, s.jump, c)
		}
	}
}

// TestSteps: lines 256 B apart are near ones, those pages apart far ones, and in between so much of either as the
// logarithm of the step says.
func TestSteps(t *testing.T) {
	for step, near := range map[int]float64{128: 1, 256: 1, 1024: .5, 2048: .25, 4096: 0, 65536: 0} {
		n := nest.Nest{Trips: []int{1000}, Operands: []nest.Operand{{Width: 4, Strides: []int{step}}}}
		if s := strideOf(n, n.Operands[0], rowsOf(n, 64), 64); !about(s.Near+1, near+1, 1e-9) || s.Near+s.Far != 1 || s.Next != 0 {
			t.Errorf("steps of %d B: near %v, far %v, next %v", step, s.Near, s.Far, s.Next)
		}
	}
}

// TestTranslated: of rounds over a few more pages than the TLB has entries, and about as many, it misses the share that the
// ladder of pages shows; of those over fewer, in crowded sets, all that LRU does.
func TestTranslated(t *testing.T) {
	m := generic
	m.Times.Pages = []probe.Point{{Size: 8, Ns: 1}, {Size: 1024, Ns: 3}, {Size: 2048, Ns: 4}, {Size: 4096, Ns: 23}, {Size: 16384, Ns: 43}}
	columns := func(rows, bytes int) (with, without float64) {
		s := access.Spec{Shape: []int{rows, bytes / 4}, View: layouts.MustParseChain("narrow(1,0,64)"), DType: layouts.Int32, Order: access.Col}
		for _, c := range []struct {
			m    Model
			into *float64
		}{{m, &with}, {generic, &without}} {
			walks, err := c.m.Count(pattern(t, s))
			if err != nil {
				t.Fatal(err)
			}
			*c.into = walks[0].Misses[0].TLB[1]
		}
		return with, without
	}
	const share = 10.5 / 40 // half way, in logarithms, from 1 to 20 ns more; a walk takes 40
	with, without := columns(2896, 4096+64)
	if without < 2896*60 || !about(with, share*without, .05) {
		t.Errorf("%v misses over 2896 pages, %v under LRU", with, without)
	}
	if with, without = columns(1000, 4096+64); with != without {
		t.Errorf("%v misses over 1000 pages, %v under LRU", with, without)
	}
	if with, without = columns(9000, 4096+64); with != without || without < 9000*60 {
		t.Errorf("%v misses over 9000 pages, %v under LRU", with, without)
	}
	// Rounds that nearly fill it miss a little, of which LRU misses nothing, unless they share sets.
	if with, without = columns(2000, 4096+64); without > 2000 || !about(with, 0.966/40*2000*64, .05) {
		t.Errorf("%v misses over 2000 pages, %v under LRU", with, without)
	}
	if with, without = columns(500, 4*4096); with != without {
		t.Errorf("%v misses over 500 pages of a quarter of the sets, %v under LRU", with, without)
	}
	// 2500 pages of a TLB that has 2048, in a quarter of its sets.
	if with, without = columns(2500, 4*4096); with != without || without < 2500*60 {
		t.Errorf("%v misses over 2500 pages that share sets, %v under LRU", with, without)
	}
}

// TestCrowdsLast: a last level that chooses sets by the place in a page does not serve lines that all lie in one place, and
// one that hashes the whole address does, whether a pass is walked whole or in part.
func TestCrowdsLast(t *testing.T) {
	crowded := generic
	crowded.Times.Crowds = true
	for _, passes := range []int{1, 8} { // over lines of a page each: 65536 of the 524288 lines of 32 MiB, and of a 64th of them
		spec := access.Spec{Shape: []int{65536, 1024}, DType: layouts.Int32, View: layouts.MustParseChain("narrow(1,0,1)")}
		if passes > 1 {
			spec.View = layouts.MustParseChain("narrow(1,0,1).expand(65536,8).t()")
		}
		for _, c := range []struct {
			m    Model
			want float64
		}{{generic, 0}, {crowded, 65536}} {
			p, err := c.m.Predict(pattern(t, spec))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Missed(2); got < c.want || got > 8*c.want {
				t.Errorf("crowds %v, %d passes: %v misses of the last level, want %v", c.m.Times.Crowds, passes, got, c.want)
			}
		}
	}
	measured := func(sparse float64) bool {
		return Measured(probe.Machine{Sparse: sparse, Memory: probe.Speed{Latency: 160},
			Levels: []probe.Level{{Speed: probe.Speed{Latency: 1}}, {Speed: probe.Speed{Latency: 10}}}}).Crowds
	}
	if measured(0) || measured(39) || !measured(41) {
		t.Error("a sparse chase of 40 ns lies half way from 10 to 160, in logarithms")
	}
}

// TestKept: a hashed level keeps of what comes again the share that was measured of a chase over as much.
func TestKept(t *testing.T) {
	c := cachesOf(typical)
	c.missing = func(level int, bytes float64) (float64, bool) {
		if level != 2 {
			t.Errorf("asked of level %d", level)
		}
		return .25, bytes > 16<<20 && bytes < 64<<20
	}
	p := c.places()[2]
	for bytes, want := range map[float64]float64{8 << 20: 1, 20 << 20: .75, 40 << 20: .75, 80 << 20: 0} {
		if got := p.kept(bytes/64, 1, p.blocks()); got != want {
			t.Errorf("of %v B %v are kept, want %v", bytes, got, want)
		}
	}
	if got := p.kept(1, 1<<18, p.blocks()/2); got != .75 { // twice what there is room for
		t.Errorf("%v is kept of lines that crowd, want .75", got)
	}
}

// TestAgainInside: what a hashed level has to keep until lines come again is what one iteration touches, however many are looked at.
func TestAgainInside(t *testing.T) {
	const lines = 50_000 // an iteration, of which half come again in the next: there is room for 65536
	m := generic
	m.Caches.Levels = slices.Clone(typical.Levels)
	m.Caches.Levels[2].Geometry = simcache.Geometry{Size: 4 << 20, Ways: 16, Line: 64}
	spec := access.Spec{Shape: []int{40 * lines * 16}, DType: layouts.Int32, View: layouts.MustParseChain(fmt.Sprintf("as_strided((64,%d),(%d,16))", lines, lines/2*16))}
	p, err := m.Predict(pattern(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Missed(2); !about(got, p.Missed(1)/2, .05) {
		t.Errorf("%v misses of the last level, want half of the %v of the second", got, p.Missed(1))
	}
}

// TestNearlyNext: of lines less than two apart, memory moves all, as of a stream.
func TestNearlyNext(t *testing.T) {
	m := generic
	m.Times.Levels = slices.Clone(m.Times.Levels)
	m.Times.Levels[2].Near, m.Times.Levels[2].Far = 30, 30
	next := m.Times.Levels[2].Line
	for jump, want := range map[int]float64{80: 1.25 * next, 128: 30, 256: 30} {
		v := visit{stride: Stride{Near: 1, jump: jump, goesOn: true}, vectors: true}
		if got := m.line(v, 2); !about(got, want, 1e-9) {
			t.Errorf("lines %d B apart take %v ns each, want %v", jump, got, want)
		}
	}
}

// TestBeside: crowded lines take less the more sets they are in, by what was measured of several, and where some stay.
func TestBeside(t *testing.T) {
	m := generic
	m.Rules = &Rules{Overlap: math.Inf(1), Window: 100}
	visits := func(step, rows, around int, kind nest.Kind) visit {
		op := nest.Operand{Kind: kind, Width: 4, Strides: []int{around, step}}
		n := nest.Nest{Trips: []int{16, rows}, Operands: []nest.Operand{op}}
		return visit{stride: strideOf(n, op, rowsOf(n, 64), 64), nest: n, op: op}
	}
	for _, c := range []struct {
		v          visit
		want, lost float64
	}{
		{visits(4096, 128, 640, nest.Write), 1, 1},
		{visits(2048, 128, 640, nest.Write), 2, 1},
		{visits(4096, 64, 640, nest.Write), 2, 1}, // of the second round, too
		{visits(4096, 16, 2048, nest.Write), 2, 1},
		{visits(4096, 16, -640, nest.Write), 7, 1},
		{visits(4096, 128, 640, nest.Read), 1, 1},
		{visits(4096, 20, 640, nest.Read), 5, 1},     // of the rounds that the CPU looks ahead
		{visits(4096, 4, 1024, nest.Write), 4, 1},    // a round fits, those of the loop around it do not
		{visits(4096, 16, 4, nest.Read), 1, .5},      // half of the lines stay
		{visits(4096, 32, 4, nest.Write), 1, 3. / 4}, // a quarter
	} {
		if got, lost := m.beside(c.v), m.lost(c.v); !about(got, c.want, 1e-9) || !about(lost, c.lost, 1e-9) {
			t.Errorf("%v by %v: %v sets, %v lost, want %v and %v", c.v.nest.Trips, c.v.op.Strides, got, lost, c.want, c.lost)
		}
	}
	for _, c := range []struct{ beside, want float64 }{{0, 8. / 16}, {8. / 4, 8. / 16}, {8. / 2, 8. / 4}, {8, 8}, {9, 8}, {1, 8. / 16}} {
		if got := byTurns(8, c.beside, 16); !about(got, c.want, 1e-9) {
			t.Errorf("8 ns in one set and %v in four: %v in sixteen, want %v", c.beside, got, c.want)
		}
	}
}
