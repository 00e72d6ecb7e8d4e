package simcache

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/exact"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
)

// hierarchies are one that proves whatever it can and one that does not.
func hierarchies(t testing.TB, d1, ll Geometry) (exact, brute *Hierarchy) {
	t.Helper()
	exact, err := NewHierarchy(Config{Levels: TwoLevels(d1, ll)})
	if err != nil {
		t.Fatal(err)
	}
	exactOf(exact).Eager()
	brute, err = NewHierarchy(Config{Levels: TwoLevels(d1, ll), Brute: true})
	if err != nil {
		t.Fatal(err)
	}
	return exact, brute
}

// exactOf is the engine of a hierarchy of LRU levels.
func exactOf(h *Hierarchy) *exact.Engine { return h.data.(*exact.Engine) }

// eager has engines look up as little as they can.
func eager(engines ...engine.Engine) {
	for _, e := range engines {
		if e, ok := e.(*exact.Engine); ok {
			e.Eager()
		}
	}
}

// drawCaches draws a D1 and an LL that Check passes.
func drawCaches(d enginetest.Draw) (d1, ll Geometry) {
	line := 32 << d(2)
	cache := func() Geometry {
		sets, ways := 1<<d(6), 2+d(8)
		return Geometry{Size: sets * ways * line, Ways: ways, Line: line}
	}
	d1 = cache()
	if d.One(8) {
		line = 32 << d(3)
	}
	return d1, cache()
}

// transposed draws a transposed copy.
func transposed(d enginetest.Draw) nest.Nest {
	rows, columns, width := 20+d(40), 20+d(40), 4<<d(3)
	return nest.Nest{Trips: []int{rows, columns}, Operands: []nest.Operand{
		enginetest.Operand(0, width, columns*width, width),
		enginetest.Operand(1<<26, width, width, rows*width)}}
}

// specsOf is the shapes of both levels.
func specsOf(h *Hierarchy) []engine.Level {
	var specs []engine.Level
	for _, l := range h.config.Levels {
		specs = append(specs, l.shape())
	}
	return specs
}

// same compares counts, contents and the account of work.
func same(exact, brute *Hierarchy) string {
	if exact.Counts() != brute.Counts() {
		return fmt.Sprintf("counts %+v, want %+v", exact.Counts(), brute.Counts())
	}
	visited, proved := exact.Work()
	if refs := exact.Counts().Refs(); visited+proved != refs || proved > refs {
		return fmt.Sprintf("%d visited and %d proved of %d", visited, proved, refs)
	}
	if visited, proved := brute.Work(); proved != 0 || visited != brute.Counts().Refs() {
		return fmt.Sprintf("brute force visited %d and proved %d", visited, proved)
	}
	return ""
}

// sameContents compares the contents of the levels, and takes them back from
// the prover for that.
func sameContents(exact, brute *Hierarchy) string {
	for level, l := range exact.config.Levels {
		for set := range l.Sets() {
			if !slices.Equal(exactOf(exact).Contents(nil, level, set),
				brute.data.(*lookup.Chain).Contents(nil, level, set)) {
				return fmt.Sprintf("contents of set %d of level %d differ", set, level)
			}
		}
	}
	return ""
}

// TestHierarchyDecides runs random sequences of nests, passes and single
// accesses on a hierarchy that proves what it can and on one that does not.
func TestHierarchyDecides(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 21)
		d1, ll := drawCaches(d)
		exact, brute := hierarchies(t, d1, ll)
		for step := range 1 + d(4) {
			fail := func(wrong string) {
				if wrong != "" {
					t.Fatalf("seed %d, D1 %v, LL %v, step %d: %s", seed, d1, ll, step, wrong)
				}
			}
			var nests []nest.Nest
			for range 1 + d(2) {
				if step == 0 && d.One(2) {
					nests = append(nests, transposed(d))
				} else {
					nests = append(nests, d.Nest(specsOf(exact), 400))
				}
			}
			switch d(4) {
			case 0:
				n := enginetest.At + uint64(d(1<<12))
				exact.Access(nest.Write, n, 1)
				brute.Access(nest.Write, n, 1)
			case 1:
				passes := 1 + d(6)
				got, err := exact.Run(passes, nests...)
				if err != nil {
					t.Fatal(err)
				}
				want, err := brute.Run(passes, nests...)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					fail(fmt.Sprintf("%d passes count %+v, want %+v", passes, got, want))
				}
			default:
				got, err := exact.Run(1, nests[0])
				if err != nil {
					t.Fatal(err)
				}
				want, err := brute.Run(1, nests[0])
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got[0], want[0]) {
					fail(fmt.Sprintf("operands count %+v, want %+v", got, want))
				}
			}
			fail(same(exact, brute))
		}
		if wrong := sameContents(exact, brute) + same(exact, brute); wrong != "" {
			t.Fatalf("seed %d, D1 %v, LL %v: %s", seed, d1, ll, wrong)
		}
	}
}

// TestSteadyByBrute compares the steady pass with the one of looking everything up.
func TestSteadyByBrute(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(1500)) {
		d := enginetest.Random(seed, 22)
		d1, ll := drawCaches(d)
		exact, brute := hierarchies(t, d1, ll)
		var nests []nest.Nest
		for range 1 + d(2) {
			nests = append(nests, d.Nest(specsOf(exact), 300))
		}
		if d.One(4) {
			nests = []nest.Nest{transposed(d)}
		}
		got, err := exact.steady(len(exact.config.Levels)+1, nests...)
		if err != nil {
			t.Fatal(err)
		}
		want, err := brute.steady(len(brute.config.Levels)+1, nests...)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("seed %d, D1 %v, LL %v, %+v: %+v, want %+v", seed, d1, ll, nests, got, want)
		}
	}
}

// TestSteadyIsTheThirdPass: the first pass misses everywhere, so that in LL the
// second finds between two reads of a block blocks that are in D1 from then on.
func TestSteadyIsTheThirdPass(t *testing.T) {
	exact, brute := hierarchies(t, Geometry{320, 5, 32}, Geometry{256, 8, 32})
	other := enginetest.Operand(1<<20, 4, 0)
	nests := []nest.Nest{
		{Trips: []int{6}, Operands: []nest.Operand{enginetest.Operand(0, 4, 64), other}},
		{Trips: []int{3}, Operands: []nest.Operand{enginetest.Operand(32, 4, 64), other}},
	}
	want := Counts{Dr: 18, D1mr: 6}
	for _, h := range []*Hierarchy{exact, brute} {
		if got, err := h.steady(len(h.config.Levels)+1, nests...); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

// TestHierarchyOnRealCaches has nests that one would run, on caches of usual
// sizes.
func TestHierarchyOnRealCaches(t *testing.T) {
	t.Parallel()
	op := func(place int, strides ...int) nest.Operand {
		return enginetest.Operand(place, 4, strides...)
	}
	for name, nests := range map[string][]nest.Nest{
		"rows, then columns": {
			{Trips: []int{2, 600, 700}, Operands: []nest.Operand{op(8, 0, 2800, 4)}},
			{Trips: []int{600, 700}, Operands: []nest.Operand{op(8, 4, 2400)}},
		},
		"transposed copy, then its inverse": {
			{Trips: []int{512, 512}, Operands: []nest.Operand{op(0, 2048, 4), op(1<<20, 4, 2048)}},
			{Trips: []int{512, 512}, Operands: []nest.Operand{op(1<<20, 4, 2048), op(0, 2048, 4)}},
		},
		"reversed, tiled": {{Trips: []int{20, 20, 32, 32},
			Operands: []nest.Operand{op(1<<24, -128, -128*640, -4, -2560)}}},
		"a row broadcast": {{Trips: []int{300, 900},
			Operands: []nest.Operand{op(0, 3600, 4), op(1<<24, 0, 4), op(1<<25, 3600, 4)}}},
		"images, permuted": {{Trips: []int{12, 400, 64},
			Operands: []nest.Operand{op(0, 102400, 4, 1600), op(1<<24, 102400, 256, 4)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, ll := range []Geometry{{1 << 20, 16, 64}, {36 << 20, 18, 64}} {
				exact, brute := hierarchies(t, Geometry{32 << 10, 8, 64}, ll)
				for _, h := range []*Hierarchy{exact, brute} {
					for _, n := range nests {
						if _, err := h.Run(1, n); err != nil {
							t.Fatal(err)
						}
					}
				}
				visited, proved := exact.Work()
				t.Logf("LL %v: %d visited, %d proved", ll, visited, proved)
				if wrong := same(exact, brute) + sameContents(exact, brute); wrong != "" {
					t.Errorf("LL %v: %s", ll, wrong)
				}
			}
		})
	}
}

// TestProverRefusals: what the prover cannot take is looked up, and is said to
// have been.
func TestProverRefusals(t *testing.T) {
	rows := func(base uint64) nest.Nest {
		return nest.Nest{Trips: []int{64, 64},
			Operands: []nest.Operand{{Base: base, Width: 4, Strides: []int{4, 512}}}}
	}
	d1, ll := Geometry{1 << 10, 2, 64}, Geometry{1 << 12, 2, 64}
	exact, brute := hierarchies(t, d1, ll)
	for _, h := range []*Hierarchy{exact, brute} {
		// the second finds blocks that are too large
		for _, base := range []uint64{1 << 62, 1 << 32} {
			if _, err := h.Run(1, rows(base)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, proved := exact.Work(); proved != 0 {
		t.Errorf("%d accesses were proved", proved)
	}
	if wrong := same(exact, brute) + sameContents(exact, brute); wrong != "" {
		t.Error(wrong)
	}
	zero, err := NewHierarchy(Config{Levels: TwoLevels(d1, ll), ZeroTags: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zero.Run(1, rows(2)); err != nil { // not aligned: the chain looks all of it up
		t.Fatal(err)
	}
	if _, proved := zero.Work(); proved != 0 {
		t.Errorf("with ZeroTags, %d accesses were proved", proved)
	}
}

// TestFetchBackWidens: what was proved of addresses whose tags are wider than 32
// bits comes back to the chain.
func TestFetchBackWidens(t *testing.T) {
	exact, brute := hierarchies(t, Geometry{1 << 10, 2, 64}, Geometry{1 << 12, 2, 64})
	for _, h := range []*Hierarchy{exact, brute} {
		if _, err := h.Run(1, nest.Nest{Trips: []int{4, 64, 64},
			Operands: []nest.Operand{{Base: 1 << 45, Width: 4,
				Strides: []int{0, 4, 512}}}}); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(64) {
			h.Access(nest.Read, 1<<45+i*512, 1)
		}
	}
	if _, proved := exact.Work(); proved == 0 {
		t.Error("nothing was proved")
	}
	if wrong := same(exact, brute) + sameContents(exact, brute); wrong != "" {
		t.Error(wrong)
	}
}

// TestTLBSettlesLater: the TLB has a level more than the data, and so a pass
// more until all are alike (TestSteadyIsTheThirdPass, with pages for lines).
func TestTLBSettlesLater(t *testing.T) {
	c := Config{Levels: []Level{{Geometry: Geometry{1 << 12, 8, 64}}},
		TLB: []TLB{{Entries: 10, Ways: 5, Page: 4096}, {Entries: 8, Ways: 8, Page: 4096}}}
	other := enginetest.Operand(1<<27, 4, 0)
	nests := []nest.Nest{
		{Trips: []int{6}, Operands: []nest.Operand{enginetest.Operand(0, 4, 2*4096), other}},
		{Trips: []int{3}, Operands: []nest.Operand{enginetest.Operand(4096, 4, 2*4096), other}},
	}
	exact, err := NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exact.Run(9, nests...); err != nil {
		t.Fatal(err)
	}
	c.Brute = true
	brute, err := NewHierarchy(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 9 {
		for _, n := range nests {
			if _, err := brute.Run(1, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := fmt.Sprint(exact.TLBs()), fmt.Sprint(brute.TLBs()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSteadyOfThreeLevels compares Steady with late passes.
func TestSteadyOfThreeLevels(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(1500)) {
		d := enginetest.Random(seed, 24)
		var c Config
		for range 3 {
			sets, ways := 1<<d(4), 2+d(6)
			c.Levels = append(c.Levels, Level{Geometry: Geometry{Size: sets * ways * 32,
				Ways: ways, Line: 32}})
		}
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		var nests []nest.Nest
		for range 1 + d(3) {
			nests = append(nests, d.Nest(specsOf(h), 100))
		}
		got, err := h.steady(len(h.config.Levels)+1, nests...)
		if err != nil {
			t.Fatal(err)
		}
		late, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		var want Counts
		for range 7 {
			want = Counts{}
			for _, n := range nests {
				counts, err := late.Run(1, n)
				if err != nil {
					t.Fatal(err)
				}
				want = want.Add(total(counts))
			}
		}
		if got != want {
			t.Fatalf("seed %d, %v, %+v: %+v, want %+v", seed, describe(c), nests, got, want)
		}
	}
}

// TestManyLevelsDecide is TestHierarchyDecides for one to three levels, modulo
// indexing, write-backs and a TLB, which has an engine of its own; and Passes
// is as many Runs.
func TestManyLevelsDecide(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(600)) {
		d := enginetest.Random(seed, 23)
		line := 32 << d(2)
		c := Config{WriteBacks: d.One(4)}
		for range 1 + d(3) {
			l := Level{Modulo: d.One(3)}
			sets, ways := 1<<d(6), 2+d(8)
			if l.Modulo {
				sets = 1 + d(40)
			}
			l.Geometry = Geometry{Size: sets * ways * line, Ways: ways, Line: line}
			c.Levels = append(c.Levels, l)
		}
		if d.One(2) {
			c.TLB = []TLB{{Entries: 8, Ways: 2, Page: 4096}, {Entries: 36, Ways: 6, Page: 4096}}
		}
		if len(c.Levels) > 1 && d.One(2) {
			c.I1 = Geometry{Size: 4 * line, Ways: 2, Line: line}
		}
		exact, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		c.Brute = true
		brute, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		eager(exact.data, exact.tlb)
		for range 1 + d(3) {
			nests := []nest.Nest{d.Nest(specsOf(exact), 300), d.Nest(specsOf(exact), 300)}[:1+d(2)]
			if d.One(3) {
				nests = []nest.Nest{transposed(d)}
			}
			passes := 1 + d(6)
			if _, err := exact.Run(passes, nests...); err != nil {
				t.Fatal(err)
			}
			for range passes {
				for _, n := range nests {
					if _, err := brute.Run(1, n); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range d(20) * d(2) { // single references in between
				addr, kind := enginetest.At+uint64(d(1<<12)), nest.Kind(d(3))
				for _, h := range []*Hierarchy{exact, brute} {
					if c.I1 != (Geometry{}) {
						h.Fetch(addr+1<<20, 4)
					}
					h.Access(kind, addr, 1)
				}
			}
			got, want := fmt.Sprint(exact.Counts(), exact.Levels(), exact.TLBs()),
				fmt.Sprint(brute.Counts(), brute.Levels(), brute.TLBs())
			if got != want {
				t.Fatalf("seed %d, %+v, %d passes over %+v:\n%s, want\n%s", seed, c, passes,
					nests, got, want)
			}
		}
		if _, n := exact.Work(); n > 0 {
			meet("hierarchies that proved something", 1)
		}
	}
}

// TestWorkOfTLB: what a TLB looks up is work too. Brute force looks every
// reference up twice, and of each that is not looked up something was proved.
func TestWorkOfTLB(t *testing.T) {
	c := Config{Levels: []Level{{Geometry: Geometry{1 << 15, 8, 64}}},
		TLB: []TLB{{Entries: 64, Ways: 4, Page: 4096}}}
	n := nest.Nest{Trips: []int{64, 500}, Operands: []nest.Operand{enginetest.Operand(0, 4, 4096,
		4), enginetest.Operand(1<<30, 4, 2000, 4)}}
	for _, brute := range []bool{false, true} {
		c.Brute = brute
		h, err := NewHierarchy(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Run(1, n); err != nil {
			t.Fatal(err)
		}
		h.Access(nest.Read, 0, 4)
		visited, proved := h.Work()
		if twice := 2 * h.Counts().Refs(); visited+proved != twice || brute != (proved == 0) {
			t.Errorf("brute %v: %d visited and %d proved, of %d", brute, visited, proved, twice)
		}
	}
}

// TestSteadyPassByBrute compares steady passes with those of looking everything up, also where the
// last level has room for all.
func TestSteadyPassByBrute(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(3000)) {
		d := enginetest.Random(seed, 23)
		d1, ll := drawCaches(d)
		c := Config{Levels: TwoLevels(d1, ll)}
		if d.One(2) {
			c.Levels = append(c.Levels, c.Levels[1])
			last := &c.Levels[2].Geometry
			last.Ways += d(12)
			last.Size = ll.Sets() << d(6) * last.Ways * last.Line
		}
		specs := c.shapes()
		nests := []nest.Nest{d.Nest(specs, 300), d.Nest(specs, 300)}[:1+d(2)]
		if d.One(4) {
			nests = []nest.Nest{transposed(d)}
		}
		got, err := SteadyPass(c, nests)
		if err != nil {
			t.Fatal(err)
		}
		c.Brute = true
		want, err := SteadyPass(c, nests)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("seed %d, %+v,\n%v: %+v, want %+v", seed, c.Levels, nests, got, want)
		}
	}
}
