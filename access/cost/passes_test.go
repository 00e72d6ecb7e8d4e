package cost

import (
	"math"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// shared is a machine of which eight cores share a last level of 16 MiB: a line of it takes 1 ns, and one of memory 5; all together have
// four lines of it in a ns, and two of memory. Of 32 MiB a chase misses all, streams of one core a half, those of all a quarter.
func shared() probe.Machine {
	const perNs = line * 1e9 // B/s of a line each ns
	return probe.Machine{
		Threads: 8,
		Levels: []probe.Level{
			{Name: "L1D", Capacity: 32 << 10, Speed: probe.Speed{Latency: 1, Read: 10 * perNs}},
			{Name: "L2", Capacity: 1 << 20, Speed: probe.Speed{Latency: 4, Read: 2 * perNs}},
			{Name: "L3", Capacity: 16 << 20, Speed: probe.Speed{Latency: 16, Read: perNs, ReadAll: 4 * perNs}},
		},
		Memory: probe.Speed{Latency: 116, Read: perNs / 5, ReadAll: 2 * perNs},
		Ladder: []probe.Point{{Size: 8 << 20, Ns: 16}, {Size: 16 << 20, Ns: 41}, {Size: 32 << 20, Ns: 116}, {Size: 64 << 20, Ns: 116}},
		ReadLadder: []probe.Reading{{Size: 8 << 20, Read: perNs, ReadAll: 4 * perNs}, {Size: 16 << 20, Read: perNs, ReadAll: 4 * perNs},
			{Size: 32 << 20, Read: perNs / 3, ReadAll: perNs / .3125}, {Size: 64 << 20, Read: perNs / 5, ReadAll: perNs / .375}},
	}
}

// TestPasses: what the last level keeps of a working set that is a little too large depends on how soon a pass comes again, as was
// measured of streams by all cores and by one, and of a chase; in between it follows the logarithm of the pace.
func TestPasses(t *testing.T) {
	times := Measured(shared())
	for _, c := range []struct{ mib, ns, want float64 }{
		{32, 3, .5}, {32, 116, 1}, {32, .3125, .25}, {32, 3 * math.Sqrt(116./3), .75}, {32, 3 / math.Sqrt(3/.3125), .375}, // between the paces
		{32, 200, 1}, {32, .01, .25}, // beyond them
		{16, 1, 0}, {16, 41, .25}, {64, 5, 1}, {64, .375, .5},
		{16 * math.Sqrt2, .1, .125}, // between the sizes
	} {
		if got, known := times.passing(c.mib*(1<<20), c.ns); !known || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v MiB at %v ns a line: %v are missed (%v), want %v", c.mib, c.ns, got, known, c.want)
		}
	}
	for _, mib := range []float64{4, 8, 65} {
		if got, known := times.passing(mib*(1<<20), 1); known {
			t.Errorf("%v MiB: %v, of which the ladder says nothing", mib, got)
		}
	}
	// Two of them: all cores have twice as many lines of either in a ns, and a thread of it half as many.
	m := shared()
	m.Simulated.Levels = []simcache.Level{{}, {}, {SharedBy: 4}}
	if got := Measured(m).Passes[2].Paces[0].Ns; got != .625 {
		t.Errorf("a line of one of two takes all %v ns, want .625", got)
	}
	for _, by := range []int{8, 16, 0} { // one, of as many cores as were measured, of more, or of so many as is not known
		m.Simulated.Levels[2].SharedBy = by
		if got := Measured(m).Passes[2].Paces[0].Ns; got != .3125 {
			t.Errorf("a line of one that %d cores share takes all %v ns, want .3125", by, got)
		}
	}
	m.Threads, m.Levels[2].ReadAll, m.ReadLadder[1].ReadAll = 0, 0, 0
	if got := Measured(m).Passes[1].Paces; len(got) != 2 || got[0].Ns != 1 || got[1].Ns != 41 {
		t.Errorf("of one core: %v", got)
	}
	m = shared()
	m.Levels[2].ReadAll = m.Levels[2].Read // as where all share what one core gets: that is no pace of its own
	if got := Measured(m).Passes[2].Paces; len(got) != 2 || got[0].Ns != 3 || got[1].Ns != 116 {
		t.Errorf("of all cores, which get no more than one: %v", got)
	}
	m = shared()
	m.Memory.ReadAll = 0
	if got := Measured(m).Passes[2].Paces; len(got) != 2 || got[0].Ns != 3 {
		t.Errorf("of all cores, of which memory was not measured: %v", got)
	}
	last, memory := shared(), shared()
	last.Levels[2].Read, memory.Memory.Read = 0, 0
	for _, m := range []probe.Machine{last, memory} {
		if got := Measured(m).Passes; got != nil {
			t.Errorf("%v, where the last level or memory was not measured", got)
		}
	}
}

// TestAgainMissing: passes are asked of the last level alone, which has so much less room for what is written.
func TestAgainMissing(t *testing.T) {
	m := Model{Times: Measured(shared()), Caches: typical}
	const mib = 1 << 20
	for _, written := range []float64{0, .5, 1} {
		a := &again{Model: m, lines: 1, written: written, pace: 3}
		got, known := a.missing(2, 20*mib)
		if want, _ := m.Times.passing(20*mib*(1+1.5*written), 3); !known || !about(got, want, 1e-9) || want == 0 || !a.asked {
			t.Errorf("%v of 20 MiB are missed, of which %v are written, want %v", got, written, want)
		}
		for _, of := range []struct {
			level int
			mib   float64
		}{{1, 20}, {2, 2}, {2, 40}} { // not the last level's, or beyond the ladder of reads
			a.asked = false
			a.Times.Passes = m.Times.Passes[:3]
			got, known := a.missing(of.level, of.mib*mib)
			if want, ladder := a.measuredShare(of.level, of.mib*mib, 1+.5*written); a.asked || got != want || known != ladder {
				t.Errorf("of %v MiB level %d misses %v (%v), want %v (%v) as a chase does", of.mib, of.level, got, known, want, ladder)
			}
		}
	}
}

// TestWritten: what a pass writes is the share of its lines that are written, but for buffers, which come again at once, and for
// what goes past the caches.
func TestWritten(t *testing.T) {
	operand := func(tensor string, kind nest.Kind) nest.Operand {
		return nest.Operand{Tensor: tensor, Kind: kind, Width: 64, Strides: []int{64}}
	}
	read, write := operand("x", nest.Read), operand("y", nest.Write)
	for _, c := range []struct {
		kernel         access.Kernel
		operands       []nest.Operand
		lines, written float64
	}{
		{access.Scalar, []nest.Operand{read}, 1 << 15, 0},
		{access.Scalar, []nest.Operand{read, write}, 2 << 15, .5},
		{access.Scalar, []nest.Operand{read, operand(access.Buffers, nest.Write), write}, 2 << 15, .5},
		{access.Builtin, []nest.Operand{read, write}, 2 << 15, 0},
	} {
		p := access.Pattern{Spec: access.Spec{Kernel: c.kernel}, Nests: []nest.Nest{{Trips: []int{1 << 15}, Operands: c.operands}}, Bytes: 4 << 20}
		if a := generic.again(p); a.lines != c.lines || a.written != c.written {
			t.Errorf("%v: %v lines, %v of them written, want %v and %v", c.operands, a.lines, a.written, c.lines, c.written)
		}
	}
}

// TestPaces: a stream misses as much as streams were measured to, a walk that waits for each line as much as a chase, and what several
// threads stream less, though it goes over as much.
func TestPaces(t *testing.T) {
	m := Model{Times: Measured(shared()), Caches: typical}
	m.Caches.Levels = []simcache.Level{
		{Name: "L1D", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}}, {Name: "L2", Geometry: simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64}},
		{Name: "L3", Geometry: simcache.Geometry{Size: 16 << 20, Ways: 16, Line: 64}}}
	const lines = 32 << 20 / line
	stream := access.Spec{Shape: []int{32 << 20 / 4}, DType: layouts.Int32, Kernel: access.VectorKernel(kernel.Best())}
	missed := func(m Model, s access.Spec) float64 {
		t.Helper()
		p, err := m.Predict(pattern(t, s))
		if err != nil {
			t.Fatal(err)
		}
		share, known := m.Times.passing(32<<20, p.Ns/lines)
		if got := p.Missed(2) / lines; known && !about(got, share, .02) {
			t.Errorf("%v takes %v ns a line and misses %v, where as long as that misses %v", s, p.Ns/lines, got, share)
		}
		return p.Missed(2) / lines
	}
	if got := missed(m, stream); !about(got, .5, .1) {
		t.Errorf("a stream misses %v of its lines, want about .5", got)
	}
	all := stream
	all.Threads = 8
	if got := missed(m, all); !about(got, .25, .1) {
		t.Errorf("streams of all cores miss %v of their lines, want about .25", got)
	}
	loop := stream
	loop.Kernel = access.Kernel{}
	for ns, want := range map[float64]float64{16: 1, 1: .74, .5: .64} { // an element
		m.Times.Loops = []probe.Loop{{Op: access.Sum, DType: layouts.Int32, Run: ns, Step: ns}}
		if got := missed(m, loop); !about(got, want, .05) {
			t.Errorf("a loop of %v ns an element misses %v of its lines, want about %v", ns, got, want)
		}
	}
	// What comes again within a pass comes sooner than a pass does.
	a := &again{Model: m, lines: 100, asked: true}
	slow := Prediction{Ns: 1000, Tensors: []Tensor{{Levels: []float64{5000, 200, 100}}, {Levels: []float64{5000, 300, 100}}}}
	if !a.paced(slow) || a.pace != 2 {
		t.Errorf("500 lines that reach the last level in 1000 ns come every %v ns, want 2", a.pace)
	}
	if slow.Tensors = slow.Tensors[:0]; a.paced(slow) || a.pace != 10 { // nobody asked
		t.Errorf("100 lines in 1000 ns come every %v ns, want 10", a.pace)
	}
	// What is written takes more room than what is read.
	fill := loop
	fill.Op, fill.Shape = access.Fill, []int{20 << 20 / 4}
	reads := fill
	reads.Op = access.Sum
	written, read := 0.0, 0.0
	for spec, share := range map[*access.Spec]*float64{&fill: &written, &reads: &read} {
		p, err := m.Predict(pattern(t, *spec))
		if err != nil {
			t.Fatal(err)
		}
		*share = p.Missed(2) / (20 << 20 / line)
	}
	if read == 0 || written < 1.5*read {
		t.Errorf("of 20 MiB fills miss %v, sums %v", written, read)
	}
	m.Times.Passes = nil
	if got := missed(m, stream); !about(got, 1, .02) {
		t.Errorf("without the ladder of reads a stream misses %v of its lines, as a chase does", got)
	}
	if chase := missed(Model{Times: Measured(shared()), Caches: m.Caches}, access.ChaseSpec(lines, line)); !about(chase, 1, .02) {
		t.Errorf("a chase misses %v, want 1", chase)
	}
}
