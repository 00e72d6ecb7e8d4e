package cost

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// typical are three levels and a TLB of two.
var typical = simcache.Config{
	Levels: []simcache.Level{
		{Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Geometry: simcache.Geometry{Size: 512 << 10, Ways: 8, Line: 64}},
		{Geometry: simcache.Geometry{Size: 32 << 20, Ways: 16, Line: 64}}},
	TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: 4096}, {Entries: 2048, Ways: 8, Page: 4096}},
}

// permutation is an order of four dims.
const permutation = access.Order("2,0,3,1")

var generic = Model{Times: Generic("as a test"), Caches: typical}

func pattern(t testing.TB, s access.Spec) access.Pattern {
	t.Helper()
	p, err := s.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predict(t testing.TB, s access.Spec) Prediction {
	t.Helper()
	p, err := generic.Predict(pattern(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// steady are the misses of a pass by looking every access up, by level: of the
// caches but for the hashed one, then of the TLB.
func steady(t interface{ Fatal(...any) }, p access.Pattern) []float64 {
	var all []float64
	for _, c := range []simcache.Config{{Levels: cachesOf(typical).simulated()},
		{Levels: simcache.PageLevels(typical.TLB)}} {
		h, err := simcache.NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		var before []simcache.LevelCounts
		for range len(c.Levels) + 1 {
			before = h.Levels()
			for _, n := range p.Nests {
				if _, err := h.Run(1, n); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, l := range h.Levels() {
			all = append(all, float64(l.Misses()-before[i].Misses()))
		}
	}
	return all
}

// TestCount: what an excerpt says of the whole is what looking up all of it
// says, to a fiftieth of the accesses.
func TestCount(t *testing.T) {
	for _, s := range []access.Spec{
		{Shape: []int{1 << 20}, DType: layouts.Float32},
		{Shape: []int{1000, 1000}, DType: layouts.Float32, Order: access.Col},
		{Shape: []int{1024, 1024}, DType: layouts.Int32, Order: access.Col},
		{Shape: []int{1024, 1040}, DType: layouts.Int32,
			View: layouts.MustParseChain("narrow(1,0,1024)"), Order: access.Col},
		{Op: access.Copy, Shape: []int{700, 900}, DType: layouts.Float64,
			View: layouts.MustParseChain("t()")},
		{Op: access.Copy, Shape: []int{1024, 512}, DType: layouts.Float32,
			View: layouts.MustParseChain("t()"), Tile: []int{32, 32}},
		{Op: access.Copy, Shape: []int{8, 32, 50, 50}, DType: layouts.Float32,
			View: layouts.MustParseChain("permute(0,2,3,1)")},
		{Op: access.Copy, Shape: []int{8, 50, 50, 32}, DType: layouts.Float32,
			View: layouts.MustParseChain("permute(0,3,1,2)")},
		{Op: access.Copy, Shape: []int{4, 100, 50, 25}, DType: layouts.Float32,
			View: layouts.MustParseChain("permute(3,1,0,2)"), Order: permutation,
			Tile: []int{16, 16, 4, 25}},
		{Op: access.Copy, Shape: []int{800, 800}, DType: layouts.Float32,
			View: layouts.MustParseChain("t()"), Kernel: access.Kernel("portable")},
		{Op: access.Add, Shape: []int{600, 800}, With: []int{600, 1}, DType: layouts.Float32},
		{Op: access.Fill, Shape: []int{64, 64, 64, 3}, DType: layouts.Uint8,
			View: layouts.MustParseChain("permute(3,0,1,2)")},
	} {
		p := pattern(t, s)
		tally, _, err := cachesOf(typical).count(p.Nests)
		if err != nil {
			t.Fatal(err)
		}
		walks := tally
		got, refs := make([]float64, 4), 0.0
		for _, w := range walks {
			for r, m := range w.Misses {
				refs += float64(w.Nest.Iterations())
				for i, n := range []float64{m.Levels[0], m.Levels[1], m.TLB[0], m.TLB[1]} {
					got[i] += n
				}
				if len(m.Levels) != 3 || m.Levels[2] > m.Levels[1] {
					t.Errorf("%s: operand %d misses %v", s.Name(), r, m.Levels)
				}
			}
		}
		if refs <= DefaultWindow {
			t.Fatalf("%s: %v accesses are counted whole", s.Name(), refs)
		}
		for i, want := range steady(t, p) {
			if math.Abs(got[i]-want) > refs/50 {
				t.Errorf("%s: %v misses (levels 1 and 2, TLB 1 and 2), want %v", s.Name(), got,
					steady(t, p))
				break
			}
		}
	}
}

// TestCountSmall: patterns of few accesses are counted whole.
func TestCountSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 60), 2, 3).Draw(t, "shape")
		s := access.Spec{Op: access.Copy, Shape: shape, DType: layouts.Float32,
			View: layouts.MustParseChain("transpose(0,1)")}
		if rapid.Bool().Draw(t, "tiled") {
			s.Tile = make([]int, len(shape))
			for d := range s.Tile {
				s.Tile[d] = rapid.IntRange(1, 60).Draw(t, "tile")
			}
		}
		p, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if 2*p.Elems > DefaultWindow {
			return
		}
		tally, _, err := cachesOf(typical).count(p.Nests)
		if err != nil {
			t.Fatal(err)
		}
		walks := tally
		got := make([]float64, 4)
		for _, w := range walks {
			for _, m := range w.Misses {
				for i, n := range []float64{m.Levels[0], m.Levels[1], m.TLB[0], m.TLB[1]} {
					got[i] += n
				}
			}
		}
		h := fmt.Sprint(steady(t, p))
		if fmt.Sprint(got) != h {
			t.Fatalf("%+v: %v, want %v", s, got, h)
		}
	})
}

// TestMoreMissesCostMore: no miss is worth having.
func TestMoreMissesCostMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 600).Draw(t, "rows"), rapid.IntRange(1, 600).Draw(t, "cols")
		p, err := access.Spec{Op: access.Copy, Shape: []int{rows, cols}, DType: layouts.Float32,
			Order: rapid.SampledFrom([]access.Order{access.Row, access.Col}).Draw(t, "order"),
			View: layouts.MustParseChain(rapid.SampledFrom([]string{"", "t()",
				"slice(1,0,600,3)"}).Draw(t, "view"))}.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		tally, _, err := cachesOf(typical).count(p.Nests)
		if err != nil {
			t.Fatal(err)
		}
		walks := tally
		before := generic.Price(p, walks).Ns
		m := walks[0].Misses[rapid.IntRange(0, 1).Draw(t, "operand")]
		more := float64(rapid.IntRange(1, 1000).Draw(t, "more"))
		if i := rapid.IntRange(0, 4).Draw(t, "level"); i < 3 {
			for k := range i + 1 { // what misses here came past the levels before
				m.Levels[k] += more
			}
		} else {
			for k := range i - 2 {
				m.TLB[k] += more
			}
		}
		if after := generic.Price(p, walks).Ns; after <= before {
			t.Errorf("%v ns with more misses, %v before", after, before)
		}
	})
}

// TestKnownTruths: what everyone knows of layouts.
func TestKnownTruths(t *testing.T) {
	ns := func(s access.Spec) float64 { return predict(t, s).Ns }
	sum := func(shape []int, view string, order access.Order) access.Spec {
		return access.Spec{Shape: shape, DType: layouts.Float32, View: layouts.MustParseChain(view),
			Order: order}
	}
	big, padded := []int{4096, 4096}, []int{1024, 1040}
	transposed := access.Spec{Op: access.Copy, Shape: big, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")}
	tiled, odd := transposed, transposed
	tiled.Tile = []int{32, 32}
	odd.Shape = []int{4000, 4000}
	for _, c := range []struct {
		why           string
		slow, fast    float64
		times, atMost float64
	}{
		{"columns of a large matrix against rows", ns(sum(big, "", access.Col)),
			ns(sum(big, "", access.Row)), 10, 60},
		{"columns a power of two apart against padded ones",
			ns(sum([]int{1024, 1024}, "", access.Col)),
			ns(sum(padded, "narrow(1,0,1024)", access.Col)), 2, 8},
		{"a transposed copy against one in tiles", ns(transposed), ns(tiled), 1.3, 8},
		{"every 16th column against all, by element",
			16 * ns(sum(big, "slice(1,0,4096,16)", access.Row)),
			ns(sum(big, "", access.Row)), 4, 16},
	} {
		if r := c.slow / c.fast; r < c.times || r > c.atMost {
			t.Errorf("%s: %.2f times as slow, want %v to %v", c.why, r, c.times, c.atMost)
		}
	}
}

// TestTensors: the parts of a prediction are its memory, and name the tensor at
// fault.
func TestTensors(t *testing.T) {
	p := predict(t, access.Spec{Op: access.Copy, Shape: []int{4000, 4000}, DType: layouts.Float32,
		View: layouts.MustParseChain("t()")})
	if len(p.Tensors) != 2 || p.Tensors[0].Name != "x" || p.Tensors[0].Ns() < 5*p.Tensors[1].Ns() {
		t.Fatalf("%+v", p.Tensors)
	}
	if sum := p.Tensors[0].Ns() + p.Tensors[1].Ns(); math.Abs(sum-p.Memory) > 1e-6*sum ||
		p.Ns < max(p.Loop, p.Memory) || p.Ns > p.Loop+p.Memory {
		t.Errorf("tensors %v, loop %v, memory %v, in all %v ns", sum, p.Loop, p.Memory, p.Ns)
	}
	if x, y := p.Tensors[0], p.Tensors[1]; x.Stride.Far != 1 || y.Stride.Next < .9 ||
		x.Refs != 16e6 || math.Abs(x.Levels[0]-16e6) > 1e5 {
		t.Errorf("x %+v, y %+v", x, y)
	}
}

// TestEveryPattern: whatever can be walked has a price.
func TestEveryPattern(t *testing.T) {
	for _, c := range access.Suite(false) {
		for _, b := range c {
			if p := predict(t, b.Spec); !(p.Ns > 0) || math.IsInf(p.Ns, 0) {
				t.Errorf("%s: %v ns", b.Name, p.Ns)
			}
		}
	}
	for _, s := range []access.Spec{{Shape: []int{}, DType: layouts.Float32},
		{Shape: []int{1, 1}, DType: layouts.Float64},
		{Shape: []int{1 << 20, 1 << 20}, DType: layouts.Float64, Order: access.Col},
		{Op: access.Fill, Shape: []int{1}, DType: layouts.Int8,
			View: layouts.MustParseChain("expand(5000000)")}} {
		if p := predict(t, s); !(p.Ns > 0) || math.IsInf(p.Ns, 0) {
			t.Errorf("%+v: %v ns", s, p.Ns)
		}
	}
	if p := predict(t, access.Spec{Shape: []int{0, 5}, DType: layouts.Float32}); p.Ns != 0 {
		t.Errorf("nothing takes %v ns", p.Ns)
	}
	if _, err := (Model{Times: Generic("as a test")}).Predict(pattern(t,
		access.Spec{Shape: []int{5}, DType: layouts.Float32})); err == nil {
		t.Error("no caches are no error")
	}
}

// TestAgain: what is found again in the third level, after one round of an outer
// loop or a pass, where a part of the nest was simulated.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		spec access.Spec
		want [][]float64 // by tensor and level
	}{
		// 4 MiB, which only the third level keeps until the next pass.
		{access.Spec{Shape: []int{1 << 20}, DType: layouts.Float32},
			[][]float64{{65536, 65536, 0}}},
		{access.Spec{Shape: []int{16 << 20}, DType: layouts.Float32},
			[][]float64{{1 << 20, 1 << 20, 1 << 20}}},
		// 1.6 MB read 40 times, each time written to 1.6 MB of its own.
		{access.Spec{Op: access.Copy, Shape: []int{400000},
			View: layouts.MustParseChain("expand(40,400000)"), DType: layouts.Float32},
			[][]float64{{1e6, 1e6, 25000}, {1e6, 1e6, 1e6}}},
		// Lines of 16 columns, of which the walk takes one after the other: 10,000
		// rows, whose lines the second level does not keep, and the third does.
		{access.Spec{Shape: []int{10000, 2064}, View: layouts.MustParseChain("narrow(1,0,1024)"),
			Order: access.Col, DType: layouts.Float32},
			[][]float64{{10.24e6, 10.24e6, 640000}}},
	} {
		p := predict(t, c.spec)
		for k, want := range c.want {
			for i, n := range p.Tensors[k].Levels {
				if math.Abs(n-want[i]) > want[i]/50 {
					t.Errorf("%s: %s misses %.0f, want %.0f", c.spec.Name(), p.Tensors[k].Name,
						p.Tensors[k].Levels, want)
				}
			}
		}
	}
}

// TestServed: a line is paid for once, to the level that has it; of memory by loops over elements
// as a half of a copy.
func TestServed(t *testing.T) {
	for n, level := range map[int]int{1 << 14: 0, 1 << 20: 1, 16 << 20: 2} {
		p := predict(t, access.Spec{Shape: []int{n}, DType: layouts.Float32})
		for i, ns := range p.Tensors[0].Lines {
			want := 0.0
			if i == level {
				from := Generic("as a test").Levels[i]
				want = float64(n) / 16 * from.Line
				if i == 2 {
					want = float64(n) / 16 * (2*from.Line + from.Stored) / 2
				}
			}
			if math.Abs(ns-want) > want/20 {
				t.Errorf("%d elements: %v ns for lines by level", n, p.Tensors[0].Lines)
			}
		}
	}
}

// TestWindow: a smaller window counts nearly the same of streams and of a copy
// whose lines are used up before they are gone.
func TestWindow(t *testing.T) {
	for _, view := range []string{"", "permute(1,0,2)"} {
		p := pattern(t, access.Spec{Op: access.Copy, Shape: []int{300, 200, 64},
			DType: layouts.Float32, View: layouts.MustParseChain(view), Order: access.Torch})
		whole, err := generic.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []Model{{Times: generic.Times, Caches: generic.Caches, Window: 1},
			{Times: generic.Times, Caches: generic.Caches, Window: LeastWindow}} {
			part, err := m.Predict(p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range generic.Caches.Levels {
				if a, b := whole.Missed(i), part.Missed(i); math.Abs(a-b) > .02*a+1000 {
					t.Errorf("view %q: %v misses of level %d, in a window %v", view, a, i+1, b)
				}
			}
		}
		ns := map[int]float64{} // by window
		for _, window := range []int{1, LeastWindow, 16 * LeastWindow} {
			p, err := Model{Times: generic.Times, Caches: generic.Caches, Window: window}.Predict(p)
			if err != nil {
				t.Fatal(err)
			}
			ns[window] = p.Ns
		}
		if ns[1] != ns[LeastWindow] || view != "" && ns[16*LeastWindow] == ns[LeastWindow] {
			t.Errorf("view %q: by windows %v: want those of the least in a smaller one, and "+
				"others in a wider one", view, ns)
		}
	}
}

// TestWindowOfPanels: what is thousands of accesses an iteration is counted in the least
// window, too, of any size of elements.
func TestWindowOfPanels(t *testing.T) {
	blocks, err := kernel.ByName("avx2-blocks")
	if err != nil {
		t.Fatal(err)
	}
	least := generic
	least.Window = LeastWindow
	for _, shape := range [][]int{{4096, 4096}, {1000, 1000}, {1080, 1920}, {720, 24}, {24, 7200}} {
		for _, dtype := range []layouts.DType{layouts.Int8, layouts.BFloat16, layouts.Float32,
			layouts.Float64} {
			p := pattern(t, access.Spec{Op: access.Copy, Shape: shape, DType: dtype,
				View: layouts.MustParseChain("t()"), Kernel: access.Kernel(blocks.Name())})
			whole, err := generic.Predict(p)
			if err != nil {
				t.Fatal(err)
			}
			part, err := least.Predict(p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range generic.Caches.Levels {
				if a, b := whole.Missed(i), part.Missed(i); math.Abs(a-b) > .25*a+.05*float64(
					p.Bytes)/64 {
					t.Errorf("%v %v: %v misses of level %d, in the least window %v", shape,
						dtype, a, i+1, b)
				}
			}
		}
	}
}

// TestVectors: loops as PyTorch has them are no slower than Go's, and slower where
// elements are apart.
func TestVectors(t *testing.T) {
	m := Model{Times: generic.Times, Caches: generic.Caches, Vectors: true}
	loops := map[string]float64{}
	for _, view := range []string{"", "t()"} {
		p := pattern(t, access.Spec{Op: access.Copy, Shape: []int{32, 32}, DType: layouts.Float32,
			View: layouts.MustParseChain(view), Order: access.Torch})
		plain, err := generic.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := m.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		if compiled.Loop >= plain.Loop {
			t.Errorf("view %q: the loop takes %v ns, Go's %v", view, compiled.Loop, plain.Loop)
		}
		loops[view] = compiled.Loop
	}
	if loops[""] >= loops["t()"] {
		t.Errorf("loops take %v", loops)
	}
}

// TestSwaps: PyTorch's copy_ of a transposed matrix transposes blocks in a buffer, which takes an
// element of 1 or 2 bytes longer than one of 4, and is waited for by itself; our own loops are
// priced as they were measured.
func TestSwaps(t *testing.T) {
	m := Model{Times: generic.Times, Caches: generic.Caches, Vectors: true}
	const n = 480 * 480
	for dtype, each := range map[layouts.DType]float64{layouts.Int8: 1.25, layouts.BFloat16: 1.125,
		layouts.Float32: .54, layouts.Float64: .71} {
		p := pattern(t, access.Spec{Op: access.Copy, Shape: []int{480, 480}, DType: dtype,
			View: layouts.MustParseChain("t()"), Order: access.Torch})
		compiled, err := m.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		if swaps := n * each; compiled.Loop < swaps || compiled.Loop > 1.5*swaps ||
			compiled.Ns < swaps+.9*compiled.Memory {
			t.Errorf("%v: a loop of %v ns and %v of memory, %v in all; swaps take %v", dtype,
				compiled.Loop, compiled.Memory, compiled.Ns, swaps)
		}
		if own, err := generic.Predict(p); err != nil || generic.swaps(p.Nests[0]) != 0 {
			t.Errorf("%v: %v, %v", dtype, own, err)
		}
	}
}

// TestAddOfOne: an addition that has one operand only goes over it as a copy does, whatever
// its dtype; nothing is converted and added.
func TestAddOfOne(t *testing.T) {
	l, err := layouts.Contiguous(32, 32)
	if err != nil {
		t.Fatal(err)
	}
	for _, dtype := range []layouts.DType{layouts.Float32, layouts.BFloat16, layouts.Float16} {
		loop := func(op access.Op, inputs int) float64 {
			s := access.Spec{Op: op, Order: access.Torch,
				Operands: []access.Value{{Layout: l, DType: dtype, Kind: nest.Write}}}
			for range inputs {
				s.Operands = append(s.Operands,
					access.Value{Layout: l, DType: dtype, Kind: nest.Read})
			}
			prediction, err := generic.Predict(pattern(t, s))
			if err != nil {
				t.Fatal(err)
			}
			return prediction.Loop
		}
		if one, copied, two := loop(access.Add, 1), loop(access.Copy, 1),
			loop(access.Add, 2); one != copied || two <= one {
			t.Errorf("%v: an addition of one takes %v ns, a copy %v, one of two %v", dtype, one,
				copied, two)
		}
	}
}

// TestLines: lines of a stream cost what the level that has them asks.
func TestLines(t *testing.T) {
	if ns := generic.Lines([]float64{100, 40, 10}); math.Abs(ns-(60*.6+30*1+10*2.6)) > 1e-9 {
		t.Errorf("%v ns", ns)
	}
	if ns := generic.Lines([]float64{10, 40, 0}); math.Abs(ns-40*1) > 1e-9 {
		t.Errorf("%v ns, where a level served none that the next one did not", ns)
	}
}

// TestChaseWalks: a chase over more pages than a level of the TLB has entries waits at every step
// for what a miss of that level takes, and over as many for nothing.
func TestChaseWalks(t *testing.T) {
	m := generic
	for _, c := range []struct {
		pages int
		walks []float64 // ns a miss of each level
		ns    float64
	}{
		{64, []float64{2, 20}, 0},
		{65, []float64{2, 20}, 2},
		{2048, []float64{2, 20}, 2},
		{2049, []float64{2, 20}, 20},
		{2049, []float64{2}, 2}, // of one level measured
	} {
		m.Times.Walks = c.walks
		p, err := m.Predict(pattern(t, access.ChaseSpec(c.pages, 4096)))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Tensors[0].Walks / float64(c.pages); math.Abs(got-c.ns) > 1e-9 {
			t.Errorf("a load of %d pages waits %v ns for its translation, want %v",
				c.pages, got, c.ns)
		}
	}
}

// TestMissing: a level serves of what is a little too large for it what the ladder shows.
func TestMissing(t *testing.T) {
	m := Model{Times: Generic("in a test"), Caches: simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
		simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64})}}
	m.Times.Hit = 1
	m.Times.Levels = []Level{{Name: "L2", Capacity: 1 << 20, Latency: 4},
		{Name: "memory", Capacity: math.Inf(1), Latency: 100}}
	if got, known := m.missing(1, 1<<21); known {
		t.Errorf("%v without a ladder", got)
	}
	m.Times.Ladder = []probe.Point{{Size: 16 << 10, Ns: 1}, {Size: 64 << 10, Ns: 4},
		{Size: 1 << 20, Ns: 4}, {Size: 2 << 20, Ns: 52}, {Size: 8 << 20, Ns: 120}}
	for _, test := range []struct {
		level int
		bytes float64
		want  float64
	}{{1, 1 << 20, 0}, {1, 2 << 20, .5}, {1, math.Sqrt2 * (1 << 20), .25}, {1, 4 << 20, 1},
		{0, 64 << 10, 1}, {0, 32 << 10, .5}, {1, 100, 1}, {1, 1 << 30, 1}} {
		got, known := m.missing(test.level, test.bytes)
		if !known {
			got = 1
		}
		if math.Abs(got-test.want) > 1e-9 {
			t.Errorf("level %d misses %v of %v B, want %v", test.level, got, test.bytes, test.want)
		}
	}
	// A sum over 2 MiB misses half of its lines in the second level, and all in the first.
	p, err := access.Spec{Shape: []int{1 << 19}, DType: layouts.Int32}.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	counted, err := m.Count(p)
	if err != nil || counted[0].Misses[0].Levels[0] != 1<<15 ||
		counted[0].Misses[0].Levels[1] != 1<<14 {
		t.Errorf("%+v, %v", counted, err)
	}
	// Of a chase over as much, half of the loads wait for memory.
	chase, err := access.ChaseSpec(1<<15, 64).Pattern()
	if err != nil {
		t.Fatal(err)
	}
	m.Caches.TLB = nil
	if got, err := m.Predict(chase); err != nil || math.Abs(got.Ns/(1<<15)-52) > .1 {
		t.Errorf("%v ns a load (%v), want 52", got.Ns/(1<<15), err)
	}
}
