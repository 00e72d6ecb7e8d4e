package simcache_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// plain counts as package reference, which says what a cache is, has accesses miss.
type plain struct {
	caches *reference.Caches
	counts simcache.Counts
}

func newPlain(d1, ll simcache.Geometry) *plain {
	var levels []engine.Level
	for _, g := range []simcache.Geometry{d1, ll} {
		levels = append(levels, engine.Level{Sets: g.Sets(), Ways: g.Ways,
			Shift: uint(bits.TrailingZeros(uint(g.Line)))})
	}
	return &plain{caches: reference.New(levels)}
}

func (p *plain) access(kind nest.Kind, addr uint64, size int) {
	c := &p.counts
	refs, d1, ll := &c.Dr, &c.D1mr, &c.DLmr
	if kind == nest.Write {
		refs, d1, ll = &c.Dw, &c.D1mw, &c.DLmw
	}
	*refs++
	missed := uint64(p.caches.Access(addr, uint64(size)))
	*d1 += (missed + 1) / 2
	*ll += missed / 2
}

// walk feeds the nest to access one by one.
func walk(n nest.Nest, access func(nest.Kind, uint64, int)) {
	for op, addr := range n.Accesses() {
		access(n.Operands[op].Kind, addr, n.Operands[op].Width)
	}
}

// randomCache draws a small cache: 1 to 16 sets of 1 to 10 ways.
func randomCache(r *rand.Rand, line int) simcache.Geometry {
	ways := 1 + r.IntN(10)
	sets := 1 << r.IntN(5)
	if ways*sets == 1 {
		ways = 2
	}
	return simcache.Geometry{Size: sets * ways * line, Ways: ways, Line: line}
}

// TestNestEqualsItsAccesses compares random sequences of nests on small caches
// with the plain model fed access by access, and with Hierarchy.Access.
func TestNestEqualsItsAccesses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(4400)) {
		r := rand.New(rand.NewPCG(seed, 1))
		line := 32 << r.IntN(3)
		llLine := 32 << r.IntN(3)
		d1, ll := randomCache(r, line), randomCache(r, llLine)
		bulk, single := hierarchy(t, d1, ll), hierarchy(t, d1, ll)
		want := newPlain(d1, ll)
		var nests []nest.Nest
		for range 1 + r.IntN(3) { // the later ones start warm
			n := enginetest.Draw(r.IntN).Straddling(min(line, llLine), 3000)
			if seed%11 == 0 {
				n = lockstep(r)
			}
			nests = append(nests, n)
			walk(n, want.access)
			walk(n, single.Access)
			before := bulk.Counts()
			operands, err := bulk.Run(1, n)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, c := range operands[0] {
				before = before.Add(c)
			}
			if before != bulk.Counts() {
				t.Fatalf("seed %d: the operands' counts %+v do not add up", seed, operands)
			}
			if bulk.Counts() != want.counts || single.Counts() != want.counts {
				t.Fatalf("seed %d, D1 %v, LL %v, nests %+v:\nRun    %+v\nAccess %+v\nplain  %+v",
					seed, d1, ll, nests, bulk.Counts(), single.Counts(), want.counts)
			}
		}
		// What the caches hold must be the same too: any later access tells.
		for range 60 {
			addr := uint64(1<<32 - 20*line + r.IntN(200*line))
			want.access(nest.Read, addr, 1)
			bulk.Access(nest.Read, addr, 1)
		}
		if bulk.Counts() != want.counts {
			t.Fatalf("seed %d: the caches differ after %+v", seed, nests)
		}
	}
}

// lockstep draws operands of one inner stride that start at one place of their lines, and may
// come to another in the next round of the outer loop.
func lockstep(r *rand.Rand) nest.Nest {
	n := nest.Nest{Trips: []int{1 + r.IntN(6), 1 + r.IntN(100)}}
	step := 4 << r.IntN(3)
	for range 1 + r.IntN(3) {
		n.Operands = append(n.Operands, nest.Operand{Kind: nest.Kind(r.IntN(3)),
			Base: 1<<20 + uint64(64*r.IntN(100)), Width: 4, Strides: []int{4 * r.IntN(200), step}})
	}
	return n
}

// TestSteady compares SteadyPass with the passes 3, 4 and 5 of the plain model.
func TestSteady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cases int
		draw  func(r *rand.Rand) (d1, ll simcache.Geometry, n nest.Nest)
	}{
		"any": {600, func(r *rand.Rand) (d1, ll simcache.Geometry, n nest.Nest) {
			line := 32 << r.IntN(2)
			return randomCache(r, line), randomCache(r, line),
				enginetest.Draw(r.IntN).Straddling(line, 3000)
		}},
		// The second level misses less in the third pass than in the second, down to nothing.
		"few lines": {5000, func(r *rand.Rand) (d1, ll simcache.Geometry, n nest.Nest) {
			few := func() simcache.Geometry {
				sets, ways := 1<<r.IntN(3), 1+r.IntN(3)
				return simcache.Geometry{Size: max(sets*ways, 2) * 32,
					Ways: max(ways, 2/sets), Line: 32}
			}
			return few(), few(), nest.Nest{Trips: []int{1 + r.IntN(6)}, Operands: []nest.Operand{
				{Base: 1024 + uint64(32*r.IntN(12)), Width: 4,
					Strides: []int{32 * (r.IntN(5) - 2)}}}}
		}},
		// The second level has room for all that is touched, for all but some, or next to none, and
		// is not simulated in the first case. Operands share lines.
		"room": {5000, func(r *rand.Rand) (d1, ll simcache.Geometry, n nest.Nest) {
			n = nest.Nest{Trips: []int{r.IntN(4), 1 + r.IntN(4)}}
			for range 1 + r.IntN(3) {
				n.Operands = append(n.Operands,
					nest.Operand{Base: 4096 + uint64(r.IntN(500)), Width: 8,
						Kind: nest.Kind(r.IntN(2)), Strides: []int{r.IntN(400) - 200, 8 * r.IntN(5)}})
			}
			ways := 1 + r.IntN(6)
			return simcache.Geometry{Size: 64, Ways: 1 + r.IntN(2), Line: 32},
				simcache.Geometry{Size: 4 * ways * 32, Ways: ways, Line: 32}, n
		}},
	} {
		for seed := range uint64(enginetest.Cases(c.cases)) {
			r := rand.New(rand.NewPCG(seed, 2))
			d1, ll, n := c.draw(r)
			nests := []nest.Nest{n}
			for range r.IntN(3) {
				_, _, n := c.draw(r)
				nests = append(nests, n)
			}
			var pass []simcache.Counts
			model := newPlain(d1, ll)
			for range 5 {
				before := model.counts
				for _, n := range nests {
					walk(n, model.access)
				}
				pass = append(pass, model.counts.Sub(before))
			}
			got, err := simcache.SteadyPass(simcache.Config{Levels: simcache.TwoLevels(d1, ll)},
				nests)
			if err != nil || got != pass[2] || got != pass[3] || got != pass[4] {
				t.Fatalf("%s, seed %d, %v, %v: steady %+v (%v), passes are %+v", name, seed, ll,
					nests, got, err, pass)
			}
		}
	}
}

// TestPageLevels: the TLB as a hierarchy of its own reaches the steady state
// that the one beside the caches has after many passes.
func TestPageLevels(t *testing.T) {
	t.Parallel()
	for seed := range uint64(enginetest.Cases(300)) {
		r := rand.New(rand.NewPCG(seed, 12))
		var tlb []simcache.TLB
		for range 1 + r.IntN(2) {
			ways := 1 + r.IntN(3)
			tlb = append(tlb, simcache.TLB{Entries: ways * (2 + r.IntN(4)), Ways: ways, Page: 4096})
		}
		nests := []nest.Nest{enginetest.Draw(r.IntN).Straddling(4096, 3000),
			enginetest.Draw(r.IntN).Straddling(4096, 3000)}
		beside, err := simcache.NewHierarchy(
			simcache.Config{Levels: []simcache.Level{{Geometry: simcache.Geometry{Size: 1 << 20,
				Ways: 4, Line: 4096}}}, TLB: tlb, Brute: true})
		if err != nil {
			t.Fatal(err)
		}
		var before, want uint64
		for range 5 {
			for _, n := range nests {
				if _, err := beside.Run(1, n); err != nil {
					t.Fatal(err)
				}
			}
			misses := beside.TLBs()[len(tlb)-1].Misses()
			before, want = misses, misses-before
		}
		got, err := simcache.SteadyPass(simcache.Config{Levels: simcache.PageLevels(tlb)}, nests)
		if err != nil || got.LLMisses() != want {
			t.Fatalf("seed %d, %v: %d misses, want %d (%v)", seed, tlb, got.LLMisses(), want, err)
		}
	}
}

func hierarchy(t testing.TB, d1, ll simcache.Geometry) *simcache.Hierarchy {
	t.Helper()
	h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.TwoLevels(d1, ll)})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func geometry(t testing.TB, text string) simcache.Geometry {
	t.Helper()
	g, err := simcache.ParseGeometry(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestStraddle: a reference across two lines looks up both, the lower first,
// and is one miss at most; LL gets the original address and size.
func TestStraddle(t *testing.T) {
	h := hierarchy(t, geometry(t, "64,1,32"), geometry(t, "1024,2,32"))
	h.Access(nest.Read, 0x1000, 4)  // set 0: miss
	h.Access(nest.Read, 0x101e, 4)  // sets 0 and 1: the second misses, one miss
	h.Access(nest.Write, 0x101e, 4) // both hit
	h.Access(nest.Read, 0x1020, 4)  // hit
	h.Access(nest.Write, 0x103e, 4) // sets 1 and 0: 0x1020 hits, 0x1040 evicts 0x1000
	h.Access(nest.Read, 0x1000, 4)  // misses in D1, hits in LL
	want := simcache.Counts{Dr: 4, D1mr: 3, DLmr: 2, Dw: 2, D1mw: 1, DLmw: 1}
	if h.Counts() != want {
		t.Errorf("got %+v, want %+v", h.Counts(), want)
	}
}

// TestArticle is the experiment that the project comes from, as Cachegrind
// counted it: a 4000x4000 int matrix read 10 times by 16-byte loads.
func TestArticle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trips, strides []int
		want           simcache.Counts
	}{
		{[]int{10, 4000, 1000}, []int{0, 16000, 16},
			simcache.Counts{Dr: 40e6, D1mr: 10e6, DLmr: 10e6}},
		{[]int{10, 1000, 4000}, []int{0, 16, 16000},
			simcache.Counts{Dr: 40e6, D1mr: 40e6, DLmr: 10e6}},
	} {
		h := hierarchy(t, geometry(t, "32768,8,64"), geometry(t, "37748736,18,64"))
		_, err := h.Run(1, nest.Nest{Trips: c.trips, Operands: []nest.Operand{
			{Tensor: "a", Base: 0x100000000, Width: 16, Strides: c.strides}}})
		if err != nil {
			t.Fatal(err)
		}
		if h.Counts() != c.want {
			t.Errorf("trips %v: got %+v, want %+v", c.trips, h.Counts(), c.want)
		}
	}
}

func TestNestRefusals(t *testing.T) {
	op := nest.Operand{Tensor: "a", Base: 1 << 32, Width: 4, Strides: []int{4}}
	with := func(change func(*nest.Operand)) nest.Nest {
		o := op
		change(&o)
		return nest.Nest{Trips: []int{10}, Operands: []nest.Operand{o}}
	}
	for want, n := range map[string]nest.Nest{
		"loop 0 has -1 trips": {Trips: []int{-1}, Operands: []nest.Operand{op}},
		"more accesses than":  {Trips: []int{1 << 62, 4}},
		"1 strides for 2 loops": {Trips: []int{1, 1},
			Operands: []nest.Operand{op}},
		"width 0 is not": with(func(o *nest.Operand) { o.Width = 0 }),
		"leaves the address": with(func(o *nest.Operand) {
			o.Strides = []int{-1 << 40}
		}),
		"base 0xffffffffffffffe": with(func(o *nest.Operand) {
			o.Base = 1<<64 - 32
		}),
		"access of a at 0x100000000 with strides": with(func(o *nest.Operand) {
			o.Strides = []int{1 << 62}
		}),
	} {
		h := hierarchy(t, geometry(t, "1024,2,64"), geometry(t, "4096,2,64"))
		if _, err := h.Run(1, n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if h.Counts() != (simcache.Counts{}) {
			t.Errorf("%q: a refused nest was counted", want)
		}
	}
}

func TestGeometry(t *testing.T) {
	if got, want := geometry(t, "1.25MiB,10,64B"),
		(simcache.Geometry{Size: 1310720, Ways: 10, Line: 64}); got != want {
		t.Errorf("1.25MiB,10,64B is %v, want %v", got, want)
	}
	for text, want := range map[string]string{
		"1000,8,64": "size 1000 is not a multiple of 512",
		"896,2,64": "set count 7 (size/line/associativity) is not a power of two (with " +
			"associativity 2 and lines of 64 B, 512 or 1024 B would do)",
		"32768,8,48": "line size 48 is not a power of two",
		"8,32768,64": "cache size 8 is below the line size 64",
		"992,2,16": "set count 31 (size/line/associativity) is not a power of two (with " +
			"associativity 2 and lines of 16 B, 512 or 1024 B would do)",
		"4608,1,36":     "line size 36 is not a power of two",
		"8,1,16":        "cache size 8 is below the line size 16",
		"1024,1,0":      `line size "0": want size`,
		"32768,0,64":    `associativity "0": want size`,
		"0,8,64":        `size "0": want size,associativity,line, such as 32KiB,8,64`,
		"32768,8":       "want size,associativity,line",
		"32768,8,64,1":  "want size,associativity,line",
		"32KB,8,64":     `size "32KB": want size`,
		"32KiB,8B,64":   `associativity "8B": want size`,
		"32768,1024,64": "associativity 1024 exceeds the 512 lines that the size holds",
	} {
		if _, err := simcache.ParseGeometry(text); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// TestString: a line, with the events of instructions if there are any.
func TestString(t *testing.T) {
	c := simcache.Counts{Dr: 16, D1mr: 3, DLmr: 1, Dw: 8, D1mw: 2}
	if got := fmt.Sprint(c); got != "Dr=16 D1mr=3 DLmr=1 Dw=8 D1mw=2 DLmw=0" {
		t.Errorf("%s", got)
	}
	c.Ir, c.I1mr, c.ILmr = 40, 5, 4
	if got := c.String(); got != "Ir=40 I1mr=5 ILmr=4 Dr=16 D1mr=3 DLmr=1 Dw=8 D1mw=2 DLmw=0" {
		t.Errorf("%s", got)
	}
}

func FuzzParseGeometry(f *testing.F) {
	for _, seed := range []string{"32768,8,64", "1000,2,64", "0,0,0",
		"9223372036854775807,1,64", ",,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := simcache.ParseGeometry(text)
		if err != nil {
			return
		}
		if again, err := simcache.ParseGeometry(g.String()); err != nil || again != g {
			t.Errorf("%q is %v, which reads back as %v, %v", text, g, again, err)
		}
	})
}

// TestNoAllocation: once warm, an access allocates nothing in either engine.
func TestNoAllocation(t *testing.T) {
	plain := simcache.Config{Levels: simcache.TwoLevels(geometry(t, "1024,2,64"),
		geometry(t, "8192,4,64"))}
	deep := simcache.Config{WriteBacks: true, Observe: "sets,bytes",
		TLB: []simcache.TLB{{Entries: 16, Ways: 4, Page: 4096}}, Levels: []simcache.Level{
			{Geometry: geometry(t, "1024,2,64"), Policy: "tree-plru", VictimLines: 2,
				Prefetch: simcache.Prefetch{Kind: "stride", Degree: 2}},
			{Geometry: geometry(t, "4096,4,64"), Inclusion: "exclusive"},
			{Geometry: geometry(t, "16384,4,64"), Policy: "srrip",
				Prefetch: simcache.Prefetch{Kind: "next-line"}},
		}}
	for name, c := range map[string]simcache.Config{"plain": plain, "deep": deep} {
		h := newHierarchy(t, c)
		i := 0
		access := func() {
			for range 1000 {
				i++
				h.Access(nest.Kind(i%3), uint64(i*i%100_000), 4)
			}
		}
		access()
		if n := testing.AllocsPerRun(20, access); n > 0 {
			t.Errorf("%s: %g allocations in 1000 accesses", name, n)
		}
	}
}
