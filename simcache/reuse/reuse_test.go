package reuse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// plain is the slow and obvious model: each set a list of lines, the most
// recently used first.
type plain struct {
	line, sets uint64
	stacks     map[uint64][]uint64
	counts     map[uint64]uint64 // references by distance
}

func newPlain(line, sets int) *plain {
	return &plain{uint64(line), uint64(sets), map[uint64][]uint64{}, map[uint64]uint64{}}
}

func (p *plain) access(_ nest.Kind, addr uint64, size int) {
	first, last := addr/p.line, (addr+uint64(size)-1)/p.line
	distance := p.touch(first)
	if last != first {
		distance = max(distance, p.touch(last))
	}
	p.counts[distance]++
}

func (p *plain) touch(line uint64) uint64 {
	stack := p.stacks[line%p.sets]
	distance := cold
	if at := slices.Index(stack, line); at >= 0 {
		stack = slices.Delete(stack, at, at+1)
		distance = uint64(at + 1)
	}
	p.stacks[line%p.sets] = slices.Insert(stack, 0, line)
	return distance
}

func (p *plain) curve() Table {
	c := Table{Cold: p.counts[cold], Distances: []Bin{}}
	for d, n := range p.counts {
		c.Refs += n
		if d != cold {
			c.Distances = append(c.Distances, Bin{d, n})
		}
	}
	slices.SortFunc(c.Distances, func(a, b Bin) int { return int(a.Distance) - int(b.Distance) })
	for _, stack := range p.stacks {
		c.Lines += uint64(len(stack))
	}
	return c
}

// misses counts by the definition.
func misses(c Table, capacity uint64) uint64 {
	n := c.Cold
	for _, b := range c.Distances {
		if b.Distance > capacity {
			n += b.Refs
		}
	}
	return n
}

// walkNest feeds the nest to access one by one.
func walkNest(n nest.Nest, access func(nest.Kind, uint64, int)) {
	for op, addr := range n.Accesses() {
		access(n.Operands[op].Kind, addr, n.Operands[op].Width)
	}
}

func newStacks(t testing.TB, line, sets int) *stacks {
	t.Helper()
	s, err := makeStacks(line, sets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// access counts one access.
func (s *stacks) access(_ nest.Kind, addr uint64, size int) { s.push(addr, uint64(size), 0, 1) }

// counted is what the plain model counts, too.
func (s *stacks) counted() Table {
	c := *s.table()
	c.Line, c.Sets = 0, 0
	return c
}

func run(t testing.TB, s *stacks, n nest.Nest) {
	t.Helper()
	if err := s.passes(1, nest.Sequence(n)); err != nil {
		t.Fatal(err)
	}
}

// TestEqualsPlain compares random sequences of nests and of single accesses
// with the plain model, on bitmaps so short that times are renumbered all the
// while.
func TestEqualsPlain(t *testing.T) {
	t.Parallel()
	rounds := uint64(6000)
	if testing.Short() {
		rounds = 1500
	}
	refs := uint64(0)
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 1))
		line := 32 << r.IntN(4)
		sets := []int{1, 1, 1, 2, 3, 4, 7, 16}[r.IntN(8)]
		bulk, single, want := newStacks(t, line, sets), newStacks(t, line, sets),
			newPlain(line, sets)
		for i := range bulk.stacks {
			bulk.stacks[i].least = 64 << r.IntN(3)
		}
		var nests []nest.Nest
		for range 1 + r.IntN(3) { // the later ones start warm
			n := enginetest.Draw(r.IntN).Straddling(line, 800)
			nests = append(nests, n)
			walkNest(n, want.access)
			walkNest(n, single.access)
			run(t, bulk, n)
			// Single accesses go to the stacks of the nests and on.
			for span := 1 + r.IntN(100*line); len(nests) < 3 && r.IntN(20) > 0; {
				addr, size := uint64(1<<32-span/2+r.IntN(span)), 1+r.IntN(line)
				want.access(nest.Write, addr, size)
				bulk.access(nest.Write, addr, size)
				single.access(nest.Write, addr, size)
			}
		}
		curve := want.curve()
		for name, s := range map[string]*stacks{"Run": bulk, "Access": single} {
			if diff := cmp.Diff(curve, s.counted()); diff != "" {
				t.Fatalf("seed %d, %s, line %d, sets %d, nests %+v (-plain +ours):\n%s", seed, name,
					line, sets, nests, diff)
			}
		}
		for c, got := uint64(0), bulk.table(); c < 200; c++ {
			if got.Misses(c) != misses(curve, c) {
				t.Fatalf("seed %d: %d misses at %d lines, want %d", seed, got.Misses(c), c,
					misses(curve, c))
			}
		}
		refs += curve.Refs
	}
	t.Logf("%d sequences, %d references", rounds, refs)
}

// TestPassesAreMultiplied compares passes of which two are walked with all of them walked.
func TestPassesAreMultiplied(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		line, sets := 16<<r.IntN(3), 1+r.IntN(9)
		some, all := newStacks(t, line, sets), newStacks(t, line, sets)
		nests := []nest.Nest{enginetest.Draw(r.IntN).Straddling(line, 800),
			enginetest.Draw(r.IntN).Straddling(line, 800)}
		run(t, some, nests[0])
		run(t, all, nests[0])
		passes := 2 + r.IntN(5)
		if err := some.passes(passes, nest.Sequence(nests...)); err != nil {
			t.Fatal(err)
		}
		for range passes {
			run(t, all, nests[0])
			run(t, all, nests[1])
		}
		if diff := cmp.Diff(all.counted(), some.counted()); diff != "" {
			t.Fatalf("seed %d: %d passes (-want +got):\n%s", seed, passes, diff)
		}
	}
}

// TestEqualsHierarchy compares with the simulator: fully associative caches of
// several capacities, and caches of several associativities with more sets.
func TestEqualsHierarchy(t *testing.T) {
	t.Parallel()
	rounds := uint64(1000)
	if testing.Short() {
		rounds = 300
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 2))
		line, sets := 32<<r.IntN(4), 1<<max(0, r.IntN(8)-3)
		s := newStacks(t, line, sets)
		var nests []nest.Nest
		for range 1 + r.IntN(2) {
			n := enginetest.Draw(r.IntN).Straddling(line, 800)
			nests = append(nests, n)
			run(t, s, n)
		}
		c := s.table()
		for ways := 1; ways < 80; ways += 1 + r.IntN(ways+1) {
			g := simcache.Geometry{Size: sets * ways * line, Ways: ways, Line: line}
			if g.Check() != nil {
				continue // one line is no cache to the simulator
			}
			h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.TwoLevels(g, g)})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range nests {
				if _, err := h.Run(1, n); err != nil {
					t.Fatal(err)
				}
			}
			if got := h.Counts(); c.Misses(uint64(ways)) != got.D1Misses() || c.Refs != got.Refs() {
				t.Fatalf("seed %d, %v, nests %+v: %d of %d miss, want %d of %d",
					seed, g, nests, c.Misses(uint64(ways)), c.Refs, got.D1Misses(), got.Refs())
			}
		}
	}
}

// TestStraddle: a reference to two lines misses if either does, and in a cache
// of one line always.
func TestStraddle(t *testing.T) {
	s := newStacks(t, 64, 1)
	s.access(nest.Read, 0x103E, 4)  // lines 0x40 and 0x41, both cold
	s.access(nest.Read, 0x103E, 4)  // 0x40 is second; then 0x41 is, for 0x40 is on top
	s.access(nest.Read, 0x1040, 4)  // on top
	s.access(nest.Write, 0x107E, 4) // 0x42 is cold
	s.access(nest.Read, 0x103E, 4)  // 0x40 is third, 0x41 then too
	want := Table{Refs: 5, Cold: 2, Lines: 3, Distances: []Bin{{1, 1}, {2, 1}, {3, 1}}}
	if diff := cmp.Diff(want, s.counted()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for capacity, want := range []uint64{5, 4, 3, 2, 2} {
		if got := s.table().Misses(uint64(capacity)); got != want {
			t.Errorf("%d misses at %d lines, want %d", got, capacity, want)
		}
	}
}

// TestGolden: a D1 of 64 sets and 8 ways misses as several simulators agree
// that it does, so does a last level of 32 MiB, and the distances are those
// that the loops tell: a column is 4000 lines long.
func TestGolden(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		d1, cold  uint64
		distances []Bin // of r and c
	}{
		{1e6, 1e6, []Bin{{1, 15e6}}},
		{16e6, 1e6, []Bin{{4000, 15e6}}},
		{17e6, 2e6, nil},
	} {
		trace := traces[i]
		if testing.Short() && trace.name != "c" {
			continue
		}
		d1, all := newStacks(t, 64, 64), newStacks(t, 64, 1)
		run(t, d1, trace.nest())
		run(t, all, trace.nest())
		if got := d1.table().Misses(8); got != c.d1 {
			t.Errorf("%s: %d misses with 64 sets and 8 ways, want %d", trace.name, got, c.d1)
		}
		got := all.table()
		if got.Cold != c.cold || got.Lines != c.cold || got.Misses(32<<20/64) != c.cold ||
			got.Misses(32768/64) != c.d1 {
			t.Errorf("%s: %d cold, %d lines, %d misses at 32 MiB, %d at 32 KiB", trace.name,
				got.Cold, got.Lines, got.Misses(32<<20/64), got.Misses(32768/64))
		}
		if c.distances != nil && !slices.Equal(got.Distances, c.distances) {
			t.Errorf("%s: distances %v, want %v", trace.name, got.Distances, c.distances)
		}
	}
}

// TestFarLines: lines that are far apart and stride like the hash's table.
func TestFarLines(t *testing.T) {
	t.Parallel()
	s, want := newStacks(t, 64, 1), newPlain(64, 1)
	for _, stride := range []int{1 << 40, 1 << 20, 1 << 10, -1 << 30} {
		n := nest.Nest{Trips: []int{3, 500}, Operands: []nest.Operand{operand(nest.Read, 1<<62,
			0, stride)}}
		run(t, s, n)
		walkNest(n, want.access)
	}
	top := ^uint64(0)
	s.access(nest.Read, top, 1) // the last byte of memory
	s.access(nest.Read, 0, 1)
	want.access(nest.Read, top, 1)
	want.access(nest.Read, 0, 1)
	if diff := cmp.Diff(want.curve(), s.counted()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestManyLines compares random accesses to many lines, which no finger
// foresees, with a Fenwick tree over all times, which are never renumbered.
func TestManyLines(t *testing.T) {
	t.Parallel()
	const accesses, lines = 300_000, 40_000
	r := rand.New(rand.NewPCG(1, 3))
	s := newStacks(t, 64, 1)
	var tree [accesses + 1]int // bits set at the last touches
	set := func(at, change int) {
		for ; at <= accesses; at += at & -at {
			tree[at] += change
		}
	}
	last, want := map[uint64]int{}, map[uint64]uint64{}
	for now := 1; now <= accesses; now++ {
		line := uint64(r.IntN(lines))
		s.access(nest.Read, line*64, 8)
		distance := cold
		if then, ok := last[line]; ok {
			below := 0
			for at := then - 1; at > 0; at &= at - 1 {
				below += tree[at]
			}
			distance = uint64(len(last) - below)
			set(then, -1)
		}
		last[line] = now
		set(now, 1)
		want[distance]++
	}
	got := map[uint64]uint64{cold: s.table().Cold}
	for _, b := range s.table().Distances {
		got[b.Distance] = b.Refs
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestPoints(t *testing.T) {
	s := newStacks(t, 64, 1)
	run(t, s, nest.Nest{Trips: []int{10, 100, 4},
		Operands: []nest.Operand{operand(nest.Read, 1<<32, 0, 64, 4)}})
	got := s.table()
	got.draw(map[uint64][]string{512: {"D1"}, 100: nil})
	want := []point{{1, 64, 1000, 0.25, nil}, {100, 6400, 100, 0.025, []string{"knee"}},
		{128, 8192, 100, 0.025, nil}, {512, 32768, 100, 0.025, []string{"D1"}}}
	if diff := cmp.Diff(want, got.Points); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	none := newStacks(t, 64, 1).table()
	none.draw(map[uint64][]string{})
	if diff := cmp.Diff([]point{{1, 64, 0, 0, nil}}, none.Points); diff != "" {
		t.Errorf("nothing: -want +got\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	for want, c := range map[string][2]int{
		"line size 48 is not a power of two": {48, 1},
		"line size 0 is not":                 {0, 1},
		"line size -64 is not":               {-64, 1},
		"set count 0 is not in 1 to 1048576": {64, 0},
		"set count 1048577 is not in":        {64, 1<<20 + 1},
	} {
		if _, err := makeStacks(c[0], c[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	s := newStacks(t, 64, 1)
	n := nest.Nest{Trips: []int{1}, Operands: []nest.Operand{{Strides: []int{0}}}}
	if err := s.passes(1, nest.Sequence(n)); err == nil ||
		!strings.Contains(err.Error(), "width 0 is not positive") {
		t.Errorf("got %v, want the width", err)
	}
	if c := s.table(); c.Refs != 0 {
		t.Errorf("a refused nest was counted: %+v", c)
	}
}

// traces are a 4000x4000 matrix of 4-byte elements, summed by rows, summed by
// columns, and copied transposed.
var traces = []trace{
	{"r", []nest.Operand{operand(nest.Read, 0x10000000, 16000, 4)}},
	{"c", []nest.Operand{operand(nest.Read, 0x10000000, 4, 16000)}},
	{"t", []nest.Operand{operand(nest.Read, 0x10000000, 16000, 4),
		operand(nest.Write, 0x20000000, 4, 16000)}},
}

type trace struct {
	name     string
	operands []nest.Operand
}

func (t trace) nest() nest.Nest {
	return nest.Nest{Trips: []int{4000, 4000}, Operands: t.operands}
}

func operand(kind nest.Kind, base uint64, strides ...int) nest.Operand {
	return nest.Operand{Kind: kind, Base: base, Width: 4, Strides: strides}
}

func BenchmarkCurve(b *testing.B)     { benchmarkCurve(b, 1) }
func BenchmarkCurveSets(b *testing.B) { benchmarkCurve(b, 64) }

func benchmarkCurve(b *testing.B, sets int) {
	for _, trace := range traces {
		b.Run("trace="+trace.name, func(b *testing.B) {
			var c *Table
			for b.Loop() {
				s := newStacks(b, 64, sets)
				run(b, s, trace.nest())
				c = s.table()
			}
			b.ReportMetric(float64(c.Refs)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Maccesses/s")
		})
	}
}

// TestWide: with lines of textbooks, and accesses that span several, each capacity misses what such
// a cache does.
func TestWide(t *testing.T) {
	for seed := range uint64(400) {
		d := enginetest.Random(seed, 59)
		level := engine.Level{Sets: 1 << (d(3) * d(2)), Shift: uint(d(5))}
		n := d.Wide(d.Nest([]engine.Level{level}, 400), []engine.Level{level})
		s := newStacks(t, 1<<level.Shift, level.Sets)
		if err := s.passes(3, nest.Sequence(n)); err != nil {
			t.Fatal(err)
		}
		curve := s.table()
		for _, level.Ways = range []int{1, 2, 3, 5, 8, 20, 64} {
			caches, want := reference.New([]engine.Level{level}), uint64(0)
			for range 3 {
				for _, misses := range caches.Run(n.Operands, n.Accesses()) {
					want += misses
				}
			}
			if got := curve.Misses(uint64(level.Ways)); got != want {
				t.Fatalf("seed %d, %+v, %v: %d misses, want %d", seed, level, n, got, want)
			}
		}
	}
}
