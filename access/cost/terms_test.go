package cost

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// TestAlone: a core by itself copies at least as fast as beside others, whenever it was measured.
func TestAlone(t *testing.T) {
	s := alone(probe.Speed{Read: 10, Copy: 5, ReadAll: 16, CopyAll: 18}, 2)
	if s.Read != 10 || s.Copy != 9 {
		t.Errorf("reads %v and copies %v, want 10 and the half of 18", s.Read, s.Copy)
	}
	if s := alone(probe.Speed{Copy: 5, CopyAll: 18}, 0); s.Copy != 5 {
		t.Errorf("copies %v, with nothing known of all cores", s.Copy)
	}
	m := probe.Machine{Threads: 2, Memory: probe.Speed{Latency: 100, Read: 10, Copy: 4,
		CopyAll: 10},
		Levels: []probe.Level{{Speed: probe.Speed{Latency: 1}},
			{Speed: probe.Speed{Latency: 4, Read: 60, Copy: 10, CopyAll: 40}}}}
	// 128 B at 20 and at 5 GB/s, less two lines.
	for i, want := range []float64{128/20. - 2*64/60., 128/5. - 2*64/10.} {
		if got := Measured(m).Levels[i].Stored; math.Abs(got-want) > 1e-9 {
			t.Errorf("a written line of %s takes %v ns longer, want %v",
				Measured(m).Levels[i].Name, got, want)
		}
	}
}

// TestPlainLoops: vectors read memory as fast as was measured, loops over elements only as fast as
// they copy.
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

// TestStarts: sums pay for their rows and nests by SumRow and SumWalk, others by Row and Walk.
func TestStarts(t *testing.T) {
	m := generic
	m.Times.Loops = nil // which then take nothing
	m.Rules = &Rules{Overlap: math.Inf(1), Row: 1, Walk: 100, SumRow: 3, SumWalk: 20, InFlight: 1,
		Window: 1, Pending: 1}
	for op, want := range map[access.Op]float64{access.Sum: 5*3 + 20, access.Fill: 5*1 + 100} {
		p := pattern(t, access.Spec{Op: op, Shape: []int{5, 8},
			View: layouts.MustParseChain("narrow(1,0,4)"), DType: layouts.Int32})
		sum, err := m.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.Loop / m.Times.Hit; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: five rows take %v, want %v", op, got, want)
		}
	}
}

// TestCrowdedMeasured: lines that share a set of the first level take what was measured of such,
// loads and stores by turns, unless it was not measured, or lines do not share sets.
func TestCrowdedMeasured(t *testing.T) {
	second := generic.Times.Levels[0]
	second.Stored, second.Crowded = 20, 0 // of lines that are not crowded
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
	for op, want := range map[access.Op]float64{access.Sum: 30 * refs, access.Fill: 70 * refs,
		access.Copy: (30 + 70) * refs} {
		got, ruled := predict(measured, shape(1024), op), predict(unknown, shape(1024), op)
		if walks := got.Tensors[0].Walks * float64(len(got.Tensors)); math.Abs(
			got.Memory-walks-want) > .05*want {
			t.Errorf("%v: %v ns, want about %v", op, got.Memory-walks, want)
		}
		if ruled.Memory > got.Memory/1.8 {
			t.Errorf("%v: %v ns where it was not measured, %v as measured", op,
				ruled.Memory, got.Memory)
		}
		if a, b := predict(measured, shape(1024+16), op).Ns,
			predict(unknown, shape(1024+16), op).Ns; a != b {
			t.Errorf("%v: rows that share no set take %v ns, and %v where crowding was not measured", op, a, b)
		}
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
	if times(0, most) != 0 || times(most, 0) != 0 || times(most, 1) != most ||
		times(most, 2) != most || times(3, 4) != 12 {
		t.Error("products")
	}
}

// TestTogether: a loop and its memory take no less than the longer of them and no more than both,
// as much whichever is which, and less the more they overlap; memory that takes so long with a loop
// is what there was.
func TestTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, 1).Draw(t, "loop"), rapid.Float64Range(0, 1).Draw(t, "memory")
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
