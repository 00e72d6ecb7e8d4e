package cost

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

type fataler interface{ Fatal(...any) }

// steady are the misses of a pass by looking every access up, by level: of the
// caches but for the hashed one, then of the TLB.
func steady(t fataler, p access.Pattern) []float64 {
	var all []float64
	var walks []Counted
	for _, n := range p.Nests {
		walks = append(walks, Counted{Nest: looped(n.Canonical())})
	}
	caches := cachesOf(typical).placedFor(walks).simulated()
	for _, levels := range [][]simcache.Level{caches, simcache.PageLevels(typical.TLB)} {
		h, err := simcache.NewHierarchy(simcache.Config{Levels: levels})
		if err != nil {
			t.Fatal(err)
		}
		var before []simcache.LevelCounts
		for range len(levels) + 1 {
			before = h.Levels()
			for _, n := range p.Nests {
				if _, err := h.Run(n); err != nil {
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

// counted are the misses that the model counts, as those of steady, and the accesses of a pass.
func counted(t fataler, p access.Pattern) (missed []float64, refs float64) {
	tally, err := cachesOf(typical).count(p.Nests)
	if err != nil {
		t.Fatal(err)
	}
	missed = make([]float64, 4)
	for _, w := range tally.counted() {
		for r, m := range w.Misses {
			refs += float64(w.Nest.Iterations())
			for i, n := range []float64{m.Levels[0], m.Levels[1], m.TLB[0], m.TLB[1]} {
				missed[i] += n
			}
			if len(m.Levels) != 3 || m.Levels[2] > m.Levels[1] {
				t.Fatal(p.Spec.Name(), "operand", r, "misses", m.Levels)
			}
		}
	}
	return missed, refs
}

// TestCount: what an excerpt says of the whole is what looking up all of it says, to a fiftieth of the accesses.
func TestCount(t *testing.T) {
	order, err := access.Permutation(2, 0, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	of := func(op access.Op, dtype layouts.DType, view string, shape ...int) access.Spec {
		return access.Spec{Op: op, Shape: shape, DType: dtype, View: layouts.MustParseChain(view)}
	}
	columns := func(s access.Spec) access.Spec { s.Order = access.Col; return s }
	tiled := of(access.Copy, layouts.Float32, "t()", 1024, 512)
	tiled.Tile = []int{32, 32}
	permuted := of(access.Copy, layouts.Float32, "permute(3,1,0,2)", 4, 100, 50, 25)
	permuted.Order, permuted.Tile = order, []int{16, 16, 4, 25}
	vectors := of(access.Copy, layouts.Float32, "t()", 800, 800)
	vectors.Kernel = access.VectorKernels()[0]
	added := of(access.Add, layouts.Float32, "", 600, 800)
	added.With = []int{600, 1}
	for _, s := range []access.Spec{
		of(access.Sum, layouts.Float32, "", 1<<20),
		columns(of(access.Sum, layouts.Float32, "", 1000, 1000)),
		columns(of(access.Sum, layouts.Int32, "", 1024, 1024)),
		columns(of(access.Sum, layouts.Int32, "narrow(1,0,1024)", 1024, 1040)),
		of(access.Copy, layouts.Float64, "t()", 700, 900),
		tiled,
		of(access.Copy, layouts.Float32, "permute(0,2,3,1)", 8, 32, 50, 50),
		of(access.Copy, layouts.Float32, "permute(0,3,1,2)", 8, 50, 50, 32),
		permuted, vectors, added,
		of(access.Fill, layouts.Uint8, "permute(3,0,1,2)", 64, 64, 64, 3),
	} {
		p := pattern(t, s)
		got, refs := counted(t, p)
		if refs <= DefaultWindow {
			t.Fatalf("%s: %v accesses are counted whole", s.Name(), refs)
		}
		all := steady(t, p)
		for i, want := range all {
			if math.Abs(got[i]-want) > refs/50 {
				t.Errorf("%s: %v misses (levels 1 and 2, TLB 1 and 2), want %v", s.Name(), got, all)
				break
			}
		}
	}
}

// TestCountSmall: patterns of few accesses are counted whole.
func TestCountSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 60), 2, 3).Draw(t, "shape")
		s := access.Spec{Op: access.Copy, Shape: shape, DType: layouts.Float32, View: layouts.MustParseChain("transpose(0,1)")}
		if rapid.Bool().Draw(t, "tiled") {
			for range shape {
				s.Tile = append(s.Tile, rapid.IntRange(1, 60).Draw(t, "tile"))
			}
		}
		p, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if 2*p.Elems > DefaultWindow {
			return
		}
		got, _ := counted(t, p)
		if want := steady(t, p); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%+v: %v, want %v", s, got, want)
		}
	})
}

// TestAgain: what is found again in the third level, after one round of an outer
// loop or a pass, where a part of the nest was simulated.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		spec access.Spec
		want [][]float64 // by tensor and level
	}{
		// 4 MiB, which only the third level keeps until the next pass.
		{access.Spec{Shape: []int{1 << 20}, DType: layouts.Float32}, [][]float64{{65536, 65536, 0}}},
		{access.Spec{Shape: []int{16 << 20}, DType: layouts.Float32}, [][]float64{{1 << 20, 1 << 20, 1 << 20}}},
		// 1.6 MB read 40 times, each time written to 1.6 MB of its own.
		{access.Spec{Op: access.Copy, Shape: []int{400000}, View: layouts.MustParseChain("expand(40,400000)"), DType: layouts.Float32},
			[][]float64{{1e6, 1e6, 25000}, {1e6, 1e6, 1e6}}},
		// Lines of 16 columns, of which the walk takes one after the other: 10,000
		// rows, whose lines the second level does not keep, and the third does.
		{access.Spec{Shape: []int{10000, 2064}, View: layouts.MustParseChain("narrow(1,0,1024)"), Order: access.Col, DType: layouts.Float32},
			[][]float64{{10.24e6, 10.24e6, 640000}}},
		// Half of what an iteration touches, 3.2 MB, comes again in the next.
		{access.Spec{Shape: []int{32_000_000}, View: layouts.MustParseChain("as_strided((64,50000),(400000,16))"), DType: layouts.Int32},
			[][]float64{{3.2e6, 3.2e6, 1.625e6}}},
	} {
		p := predict(t, generic, c.spec)
		for k, want := range c.want {
			for i, n := range p.Tensors[k].Levels {
				if math.Abs(n-want[i]) > want[i]/50 {
					t.Errorf("%s: %s misses %.0f, want %.0f", c.spec.Name(), p.Tensors[k].Name, p.Tensors[k].Levels, want)
				}
			}
		}
	}
}

// TestPlaced: rows that lie a multiple of 64 KiB apart share sets of the second level by their addresses.
// On small pages, whose places nobody knows, it has room for all of their lines.
func TestPlaced(t *testing.T) {
	s := access.Spec{Shape: []int{100, 32 << 10}, View: layouts.MustParseChain("narrow(1,0,512)"), DType: layouts.Float64, Order: access.Col}
	for _, c := range []struct {
		what   string
		tlb    []simcache.TLB
		missed bool
	}{
		{"small pages", typical.TLB, false},
		{"unknown pages", nil, true},
		{"huge pages", []simcache.TLB{{Entries: 32, Ways: 32, Page: 2 << 20}}, true},
	} {
		m := generic
		m.Caches.TLB = c.tlb
		if got := predict(t, m, s).Missed(1); c.missed && got < 6400 || !c.missed && got != 0 {
			t.Errorf("%s: %v misses of the second level, of 6400 lines", c.what, got)
		}
	}
}

// TestWindow: a smaller window counts nearly the same, also of thousands of accesses an iteration.
func TestWindow(t *testing.T) {
	blocks, err := kernel.ByName("avx2-blocks")
	if err != nil {
		t.Fatal(err)
	}
	specs := []access.Spec{
		{Shape: []int{300, 200, 64}, DType: layouts.Float32, Order: access.Torch},
		{Shape: []int{300, 200, 64}, DType: layouts.Float32, Order: access.Torch, View: layouts.MustParseChain("permute(1,0,2)")},
	}
	shapes := [][]int{{1080, 1920}, {24, 7200}, {720, 24}, {1000, 1000}, {4096, 4096}}
	dtypes := []layouts.DType{layouts.Float64, layouts.Int8, layouts.Float32, layouts.BFloat16}
	if testing.Short() {
		shapes, dtypes = shapes[:2], dtypes[:2]
	}
	for _, shape := range shapes {
		for _, dtype := range dtypes {
			specs = append(specs, access.Spec{
				Shape: shape, DType: dtype, View: layouts.MustParseChain("t()"), Kernel: access.VectorKernel(blocks)})
		}
	}
	least, less := generic, generic
	least.Window, less.Window = LeastWindow, 1
	for _, s := range specs {
		s.Op = access.Copy
		p, share, beside := pattern(t, s), .02, 1000.
		if s.Kernel != access.Scalar {
			share, beside = .25, .05*float64(p.Bytes)/64
		}
		whole, part := predict(t, generic, s), predict(t, least, s)
		for i := range typical.Levels {
			if a, b := whole.Missed(i), part.Missed(i); math.Abs(a-b) > share*a+beside {
				t.Errorf("%s: %v misses of level %d, in the least window %v", s.Name(), a, i+1, b)
			}
		}
		if tiny := predict(t, less, s); tiny.Ns != part.Ns {
			t.Errorf("%s: %v ns in a window of one, %v in the least", s.Name(), tiny.Ns, part.Ns)
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
	if times(0, most) != 0 || times(most, 0) != 0 || times(most, 1) != most || times(most, 2) != most || times(3, 4) != 12 {
		t.Error("products")
	}
}
