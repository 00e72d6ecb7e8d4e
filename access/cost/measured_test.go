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

// TestEvery: jumps lie as many iterations apart as a run has, also where several runs share a line.
func TestEvery(t *testing.T) {
	for trips, want := range map[int]float64{8: 8, 16: 16, 64: 64} {
		op := nest.Operand{Width: 4, Strides: []int{8000, 4}}
		n := nest.Nest{Trips: []int{1000, trips}, Operands: []nest.Operand{op}}
		if s := generic.strideOf(n, op, rowsOf(n, 64)); s.every != want {
			t.Errorf("a jump every %v iterations, want %v", s.every, want)
		}
	}
}

// TestFound: of what comes again in two loops around the excerpt, each finds a part of what the one
// inside did not.
func TestFound(t *testing.T) {
	// 16 lines; 8 further on, four times; 20 further on than the first, four times.
	n := nest.Nest{Trips: []int{4, 4, 16}, Operands: []nest.Operand{{Width: 4,
		Strides: []int{20 * 64, 8 * 64, 64}}}}
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

// TestFollowed: rows are followed that go on where their runs end, if all operands together have
// few.
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
		{"few rows beside one that is written",
			run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{768, 64, 4}), 6400},
		{"few rows beside others", run([]int{100, 12, 16}, []int{64, 8000, 4},
			[]int{64, 16000, 4}), 64},
		{"few rows beside steps within a page",
			run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{4096, 256, 4}), 6400},
		{"few rows beside steps within four",
			run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{64000, 1280, 4}), 6400},
		{"few rows beside steps within five",
			run([]int{100, 12, 16}, []int{64, 8000, 4}, []int{64000, 1600, 4}), 64},
		{"rows that do not go on", run([]int{100, 12, 16}, []int{640, 8000, 4}, beside), 64},
		{"rows that go on for a while", run([]int{100, 10, 12, 16},
			[]int{16000, 64, 8000, 4}), 640},
	} {
		if c.got != c.want {
			t.Errorf("%s: followed for %d B, want %d", c.what, c.got, c.want)
		}
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
		// for less than a page, of which they see no stream in the first lines
		{[]int{1000, 10}, []int{4, 8000}, 10, 1. / 16, 1 - 256./4000},
		{[]int{40, 10}, []int{4, 8000}, 10, 1. / 16, 0}, // for fewer lines
		// behind gaps of less than two lines
		{[]int{60, 32, 8}, []int{224, 4, 16000}, 8, 1. / 16, 1},
		{[]int{60, 2, 32, 8}, []int{224, 0, 4, 16000}, 8, 1. / 16, 1},
		{[]int{60, 32, 8}, []int{384, 4, 16000}, 8, 1. / 16, 0},          // behind wider ones
		{[]int{60, 2, 32, 8}, []int{224, 8192, 4, 16000}, 8, 1. / 16, 0}, // and not at once
	} {
		n := nest.Nest{Trips: c.trips, Operands: []nest.Operand{{Width: 4, Strides: c.strides}}}
		if s := generic.strideOf(n, n.Operands[0], rowsOf(n, 64)); s.burst != c.burst ||
			s.fresh != c.fresh || math.Abs(s.rows-c.rows) > 1e-12 {
			t.Errorf("%v by %v: %v lines, %v of them fresh, rows %v, want %v", c.trips, c.strides,
				s.burst, s.fresh, s.rows, c)
		}
	}
}

// TestSteps: lines 256 B apart are near ones, those pages apart far ones, and in between so much of
// either as the logarithm of the step says.
func TestSteps(t *testing.T) {
	for step, near := range map[int]float64{128: 1, 256: 1, 1024: .5, 2048: .25,
		4096: 0, 65536: 0} {
		n := nest.Nest{Trips: []int{1000}, Operands: []nest.Operand{{Width: 4,
			Strides: []int{step}}}}
		if s := generic.strideOf(n, n.Operands[0], rowsOf(n, 64)); !about(s.Near+1, near+1, 1e-9) ||
			s.Near+s.Far != 1 || s.Next != 0 {
			t.Errorf("steps of %d B: near %v, far %v, next %v", step, s.Near, s.Far, s.Next)
		}
	}
}

// TestKept: a hashed level keeps of what comes again the share that was measured of a chase over as
// much.
func TestKept(t *testing.T) {
	c := cachesOf(typical)
	c.missing = func(level int, bytes float64) (float64, bool) {
		if level != 2 {
			t.Errorf("asked of level %d", level)
		}
		return .25, bytes > 16<<20 && bytes < 64<<20
	}
	p := c.places()[2]
	for bytes, want := range map[float64]float64{8 << 20: 1, 20 << 20: .75, 40 << 20: .75,
		80 << 20: 0} {
		if got := p.kept(bytes/64, 1, p.blocks()); got != want {
			t.Errorf("of %v B %v are kept, want %v", bytes, got, want)
		}
	}
	if got := p.kept(1, 1<<18, p.blocks()/2); got != .75 { // twice what there is room for
		t.Errorf("%v is kept of lines that crowd, want .75", got)
	}
}

// TestAgainInside: what a hashed level has to keep until lines come again is what one iteration
// touches, however many are looked at.
func TestAgainInside(t *testing.T) {
	// an iteration, of which half come again in the next: there is room for 65536
	const lines = 50_000
	m := generic
	m.Caches.Levels = slices.Clone(typical.Levels)
	m.Caches.Levels[2].Geometry = simcache.Geometry{Size: 4 << 20, Ways: 16, Line: 64}
	spec := access.Spec{Shape: []int{40 * lines * 16}, DType: layouts.Int32,
		View: layouts.MustParseChain(fmt.Sprintf("as_strided((64,%d),(%d,16))", lines, lines/2*16))}
	p, err := m.Predict(pattern(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Missed(2); !about(got, p.Missed(1)/2, .05) {
		t.Errorf("%v misses of the last level, want half of the %v of the second", got, p.Missed(1))
	}
}

// TestBeside: crowded lines take less the more sets they are in, and where some stay.
func TestBeside(t *testing.T) {
	m := generic
	m.Rules = &Rules{Overlap: math.Inf(1), Window: 100}
	visits := func(step, rows, around int, kind nest.Kind) visit {
		op := nest.Operand{Kind: kind, Width: 4, Strides: []int{around, step}}
		n := nest.Nest{Trips: []int{16, rows}, Operands: []nest.Operand{op}}
		return visit{stride: generic.strideOf(n, op, rowsOf(n, 64)), nest: n, op: op}
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
		{visits(4096, 20, 640, nest.Read), 5, 1}, // of the rounds that the CPU looks ahead
		// a round fits, those of the loop around it do not
		{visits(4096, 4, 1024, nest.Write), 4, 1},
		{visits(4096, 16, 4, nest.Read), 1, .5},      // half of the lines stay
		{visits(4096, 32, 4, nest.Write), 1, 3. / 4}, // a quarter
	} {
		if got, lost := m.beside(c.v), m.lost(c.v); !about(got, c.want, 1e-9) ||
			!about(lost, c.lost, 1e-9) {
			t.Errorf("%v by %v: %v sets, %v lost, want %v and %v", c.v.nest.Trips, c.v.op.Strides,
				got, lost, c.want, c.lost)
		}
	}
}

// TestBursts: lines of memory that are touched in bursts cost the latency that each begins with,
// and the loop between bursts hides none of that.
func TestBursts(t *testing.T) {
	m := generic
	m.Rules = &Rules{Overlap: math.Inf(1), InFlight: 100, Window: 1e9, Pending: 1e9}
	m.Times.Apart = []float64{0, 0}
	// Tiles of a row-major matrix by columns: 16 lines of memory, which then serve 15 columns more.
	spec := access.Spec{Shape: []int{4096, 4112}, DType: layouts.Int32,
		View: layouts.MustParseChain("t()"), Tile: []int{16, 16}}
	p, err := m.Predict(pattern(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Tensors[0].Stride; s.burst != 16 {
		t.Fatalf("bursts of %v lines, want 16", s.burst)
	}
	lines, latency := float64(4096*4112/16), m.Times.Levels[2].Latency
	if got := p.Memory / lines; got < latency/16 {
		t.Errorf("a line takes %v ns, want at least a 16th of the latency of %v", got, latency)
	}
	if least := p.Loop + latency/16*lines; p.Ns < .9*least {
		t.Errorf("%v ns, want at least %v, of %v in the loop: no latency is hidden", p.Ns,
			least, p.Loop)
	}
	// Few rows that go on are streams.
	v := visit{stride: Stride{Far: 1, burst: 8, fresh: .5, rows: 1}, vectors: true}
	if got, want := generic.line(v, 2), generic.Times.Levels[2].Line; !about(got, want, 1e-9) ||
		v.leading() != 0 {
		t.Errorf("a line of few rows takes %v ns, %v of them leading, want %v", got,
			v.leading(), want)
	}
	// One in 16 of all lines that are touched, and none that were asked for ahead.
	v = visit{stride: p.Tensors[0].Stride, nest: nest.Nest{Trips: []int{160}}}
	asked := v
	if asked.asked = true; v.leading() != 10 || asked.leading() != 0 {
		t.Errorf("%v lines lead bursts, and %v that were asked for", v.leading(), asked.leading())
	}
}

// TestStreamed: loops over elements take of memory's lines what was measured of such, of a copy a
// half for each line; vectors, and lines that a cache has, take what vectors do.
func TestStreamed(t *testing.T) {
	m := generic
	m.Times.Streamed = []probe.Stream{{Op: "sum", Ns: 12}, {Op: "fill", Ns: 9},
		{Op: "copy", Ns: 22}}
	read, written := nest.Operand{Kind: nest.Read, Width: 8},
		nest.Operand{Kind: nest.Write, Width: 8}
	of := func(op nest.Operand, vectors bool, all ...nest.Operand) visit {
		return visit{stride: Stride{Next: 1}, nest: nest.Nest{Operands: all}, op: op,
			vectors: vectors}
	}
	memory, last := m.Times.Levels[2], m.Times.Levels[1]
	for _, c := range []struct {
		v     visit
		level int
		want  float64
	}{
		{of(read, false, read), 2, 12}, {of(written, false, written), 2, 9},
		{of(read, false, read, written), 2, 11}, {of(written, false, read, written), 2, 11},
		{of(read, true, read), 2, memory.Line},
		{of(written, true, written), 2, memory.Line + memory.Stored},
		{of(written, false, written), 1, last.Line + last.Stored},
	} {
		if got := m.line(c.v, c.level); !about(got, c.want, 1e-9) {
			t.Errorf("a line of level %d takes %v ns, want %v", c.level, got, c.want)
		}
	}
}

// TestApart: a line that is apart takes a share of a latency for each that is in flight, or of
// those that fit in the window; one that is stored waits in a larger one, and none takes more than
// a latency.
func TestApart(t *testing.T) {
	m := generic
	m.Rules = &Rules{InFlight: 10, Window: 64, Pending: 128}
	latency := m.Times.Levels[2].Latency
	for every, want := range map[float64][2]float64{1: {latency / 10, latency / 10},
		16: {latency / 4, latency / 8}, 1000: {latency, latency}} {
		for k, kind := range []nest.Kind{nest.Read, nest.Write} {
			v := visit{stride: Stride{Far: 1, loop: -1, every: every}, op: nest.Operand{Kind: kind}}
			if _, got := m.apart(v, 2); !about(got, want[k], 1e-9) {
				t.Errorf("one in %v iterations, %v: %v ns, want %v", every, kind, got, want[k])
			}
		}
	}
	near, far := m.apart(visit{stride: Stride{Near: 1, loop: -1}, asked: true}, 2)
	if line := m.Times.Levels[2].Line; near != line || far != line {
		t.Errorf("lines that vectors ask for ahead take %v and %v ns, want those of a stream", near,
			far)
	}
}
