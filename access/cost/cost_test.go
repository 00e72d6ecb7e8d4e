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

// typical are three levels and a TLB of two.
var typical = simcache.Config{
	Levels: []simcache.Level{
		{Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Geometry: simcache.Geometry{Size: 512 << 10, Ways: 8, Line: 64}},
		{Geometry: simcache.Geometry{Size: 32 << 20, Ways: 16, Line: 64}}},
	TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: 4096}, {Entries: 2048, Ways: 8, Page: 4096}},
}

var generic = Model{Times: Generic("as a test"), Caches: typical}

func pattern(t testing.TB, s access.Spec) access.Pattern {
	t.Helper()
	p, err := s.Pattern()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predict(t testing.TB, m Model, s access.Spec) Prediction {
	t.Helper()
	p, err := m.Predict(pattern(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// about reports whether two numbers are the same but for a share.
func about(a, b, share float64) bool { return math.Abs(a-b) <= share*b }

// TestMoreMissesCostMore: no miss is worth having.
func TestMoreMissesCostMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 600).Draw(t, "rows")
		cols := rapid.IntRange(1, 600).Draw(t, "cols")
		view := rapid.SampledFrom([]string{"", "t()", "slice(1,0,600,3)"}).Draw(t, "view")
		p, err := access.Spec{
			Op: access.Copy, Shape: []int{rows, cols}, DType: layouts.Float32,
			Order: rapid.SampledFrom([]access.Order{access.Row, access.Col}).Draw(t, "order"),
			View:  layouts.MustParseChain(view),
		}.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		walks, err := generic.Count(p)
		if err != nil {
			t.Fatal(err)
		}
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

// TestMore: more bytes and smaller caches never take less time, but for a share of what is counted in part.
func TestMore(t *testing.T) {
	const share = .01
	rapid.Check(t, func(t *rapid.T) {
		s := access.Spec{
			Op:    rapid.SampledFrom([]access.Op{access.Sum, access.Fill, access.Copy}).Draw(t, "op"),
			Shape: []int{rapid.IntRange(1, 1<<24).Draw(t, "elements")}, DType: layouts.Int32,
		}
		most := generic
		most.Caches.Levels = nil
		larger := rapid.IntRange(0, 2).Draw(t, "larger")
		for i, l := range typical.Levels {
			if i == larger {
				l.Size, l.Ways = 2*l.Size, 2*l.Ways
			}
			most.Caches.Levels = append(most.Caches.Levels, l)
		}
		p, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		s.Shape = []int{s.Shape[0] + rapid.IntRange(1, 1<<20).Draw(t, "more")}
		more, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		ns := func(m Model, p access.Pattern) float64 {
			got, err := m.Predict(p)
			if err != nil {
				t.Fatal(err)
			}
			return got.Ns
		}
		some := ns(generic, p)
		if got := ns(generic, more); got < some*(1-share) {
			t.Errorf("%d elements take %v ns, %d take %v", p.Elems, some, more.Elems, got)
		}
		if got := ns(most, p); got > some*(1+share) {
			t.Errorf("%v ns with a larger level %d, %v without", got, larger, some)
		}
	})
}

// TestKnownTruths: what everyone knows of layouts.
func TestKnownTruths(t *testing.T) {
	ns := func(s access.Spec) float64 { return predict(t, generic, s).Ns }
	sum := func(shape []int, view string, order access.Order) access.Spec {
		return access.Spec{Shape: shape, DType: layouts.Float32, View: layouts.MustParseChain(view), Order: order}
	}
	big, padded := []int{4096, 4096}, []int{1024, 1040}
	rows, columns := sum(big, "", access.Row), sum(big, "", access.Col)
	transposed := access.Spec{Op: access.Copy, Shape: big, DType: layouts.Float32, View: layouts.MustParseChain("t()")}
	tiled := transposed
	tiled.Tile = []int{32, 32}
	for _, c := range []struct {
		why           string
		slow, fast    float64
		times, atMost float64
	}{
		{"columns of a large matrix against rows", ns(columns), ns(rows), 10, 60},
		{"columns a power of two apart against padded ones",
			ns(sum([]int{1024, 1024}, "", access.Col)), ns(sum(padded, "narrow(1,0,1024)", access.Col)), 2, 8},
		{"a transposed copy against one in tiles", ns(transposed), ns(tiled), 1.3, 8},
		{"every 16th column against all, by element",
			16 * ns(sum(big, "slice(1,0,4096,16)", access.Row)), ns(rows), 4, 16},
	} {
		if r := c.slow / c.fast; r < c.times || r > c.atMost {
			t.Errorf("%s: %.2f times as slow, want %v to %v", c.why, r, c.times, c.atMost)
		}
	}
}

// TestTensors: the parts of a prediction are its memory, and name the tensor at fault.
func TestTensors(t *testing.T) {
	p := predict(t, generic, access.Spec{
		Op: access.Copy, Shape: []int{4000, 4000}, DType: layouts.Float32, View: layouts.MustParseChain("t()")})
	if len(p.Tensors) != 2 || p.Tensors[0].Name != "x" || p.Tensors[0].Ns() < 5*p.Tensors[1].Ns() {
		t.Fatalf("%+v", p.Tensors)
	}
	x, y := p.Tensors[0], p.Tensors[1]
	if !about(x.Ns()+y.Ns(), p.Memory, 1e-6) || p.Ns < max(p.Loop, p.Memory) || p.Ns > p.Loop+p.Memory {
		t.Errorf("tensors %v and %v, loop %v, memory %v, in all %v ns", x.Ns(), y.Ns(), p.Loop, p.Memory, p.Ns)
	}
	if x.Stride.Far != 1 || y.Stride.Next < .9 || x.Refs != 16e6 || !about(x.Levels[0], 16e6, .01) {
		t.Errorf("x %+v, y %+v", x, y)
	}
}

// TestEveryPattern: whatever can be walked has a price.
func TestEveryPattern(t *testing.T) {
	specs := []access.Spec{
		{Shape: []int{}, DType: layouts.Float32},
		{Shape: []int{1, 1}, DType: layouts.Float64},
		{Shape: []int{1 << 20, 1 << 20}, DType: layouts.Float64, Order: access.Col},
		{Op: access.Fill, Shape: []int{1}, DType: layouts.Int8, View: layouts.MustParseChain("expand(5000000)")},
	}
	for _, c := range access.Suite(false) {
		for _, b := range c {
			specs = append(specs, b.Spec)
		}
	}
	for _, s := range specs {
		if p := predict(t, generic, s); !(p.Ns > 0) || math.IsInf(p.Ns, 0) {
			t.Errorf("%s: %v ns", s.Name(), p.Ns)
		}
	}
	if p := predict(t, generic, access.Spec{Shape: []int{0, 5}, DType: layouts.Float32}); p.Ns != 0 {
		t.Errorf("nothing takes %v ns", p.Ns)
	}
	one := pattern(t, access.Spec{Shape: []int{5}, DType: layouts.Float32})
	if _, err := (Model{Times: Generic("as a test")}).Predict(one); err == nil {
		t.Error("no caches are no error")
	}
}

// TestUnmeasured: of one level nothing is known behind it but the memory, and memory that was not measured
// has generic times.
func TestUnmeasured(t *testing.T) {
	one := probe.Machine{
		Levels: []probe.Level{{Name: "L1D", Capacity: 32 << 10, Speed: probe.Speed{Latency: 1, Read: 200e9}}},
		Memory: probe.Speed{Latency: 90, Read: 16e9},
	}
	if l := Measured(one).serving(typical, 0); l.Name != "memory" || l.Latency != 90 || l.Line != 4 {
		t.Errorf("misses are served by %+v", l)
	}
	one.Memory = probe.Speed{}
	if l := Measured(one).serving(typical, 1); l.Name != "memory" || l.Latency != Generic("").Levels[2].Latency {
		t.Errorf("unknown memory is %+v", l)
	}
}

// TestLines: lines of a stream cost what the level that has them asks.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		misses []float64
		want   float64
	}{
		{[]float64{100, 40, 10}, 60*.6 + 30*1 + 10*2.6},
		{[]float64{10, 40, 0}, 40 * 1}, // a level serves none that the next one does not
	} {
		if ns := generic.Lines(c.misses); !about(ns, c.want, 1e-9) {
			t.Errorf("%v misses take %v ns, want %v", c.misses, ns, c.want)
		}
	}
}

// TestTogether: a loop and its memory take no less than the longer of them and no more than both, as much
// whichever is which, and less the more they overlap. The functions beyond and orderOf are its inverses.
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
		if back := beyond(got, a, overlap); b > a/100 && overlap < 3 && !about(back, b, 1e-3) {
			t.Errorf("beyond %v of %v is %v, want %v", a, got, back, b)
		}
	})
	for order, want := range map[float64]float64{.5: 1, 1: 1, 2: 2, 5: 5, 2 * mostOrder: mostOrder} {
		if got := orderOf(3, 4, together(3, 4, order)); !about(got, want, 1e-6) {
			t.Errorf("3 and 4 that take as long as by order %v are of order %v, want %v", order, got, want)
		}
	}
	if got := together(3, 4, 2); !about(got, 5, 1e-12) {
		t.Errorf("3 and 4 take %v, want 5", got)
	}
	if got := beyond(3, 4, 2); got != 0 {
		t.Errorf("beyond 4 of 3 is %v", got)
	}
}
