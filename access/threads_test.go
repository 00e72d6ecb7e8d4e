package access

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/layouts/nest"
)

// touchedBytes is how often a pass reads and writes each byte of each tensor.
func touchedBytes(nests []nest.Nest) map[touch]int {
	bytes := map[touch]int{}
	for _, a := range touches(nests) {
		if a.tensor == Buffers {
			continue
		}
		for b := range a.width {
			bytes[touch{a.tensor, a.kind, a.addr + uint64(b), 1}]++
		}
	}
	return bytes
}

// checkParts compares the parts of a pattern with the whole: each byte is read and
// written as often, or by kernels of tiles read at least once in both, none is written
// by two threads, and no two threads share a buffer.
func checkParts(t interface{ Fatalf(string, ...any) }, p Pattern) {
	if len(p.Parts()) == 1 || len(p.Parts()) > p.Spec.Threads {
		t.Fatalf("%s: %d parts", p.Spec.Name(), len(p.Parts()))
	}
	sum, elems := map[touch]int{}, 0
	writer, buffer := map[uint64]int{}, map[uint64]int{}
	for i, part := range p.Parts() {
		elems += part.Elems
		for a, n := range touchedBytes(part.Nests) {
			sum[a] += n
			if before, written := writer[a.addr]; a.kind != nest.Read && written && before != i {
				t.Fatalf("%s: parts %d and %d write %#x", p.Spec.Name(), before, i, a.addr)
			}
			if a.kind != nest.Read {
				writer[a.addr] = i
			}
		}
		for _, a := range touches(part.Nests) {
			if before, used := buffer[a.addr/64]; a.tensor == Buffers && used && before != i {
				t.Fatalf("%s: parts %d and %d use the buffer at %#x", p.Spec.Name(),
					before, i, a.addr)
			}
			if a.tensor == Buffers {
				buffer[a.addr/64] = i
			}
			if int(a.addr-Origin)+a.width > p.Memory {
				t.Fatalf("%s: part %d reaches %d B beyond the memory of %d", p.Spec.Name(), i,
					int(a.addr-Origin)+a.width-p.Memory, p.Memory)
			}
		}
	}
	if len(p.Parts()) == 0 {
		return
	}
	whole := touchedBytes(p.Nests)
	for a, n := range whole {
		// Kernels are those of each part: one that reads beyond whole tiles again may have no such
		// rest in a part.
		again := p.plan != nil && a.kind == nest.Read && sum[a] > 0
		if sum[a] != n && !again {
			t.Fatalf("%s: byte %+v is touched %d times, by parts %d times", p.Spec.Name(),
				a, n, sum[a])
		}
	}
	if p.plan != nil {
		checkCut(t, p)
	}
	if len(sum) != len(whole) || elems != p.Elems {
		t.Fatalf("%s: parts touch %d bytes and have %d elements, the whole %d and %d",
			p.Spec.Name(), len(sum), elems, len(whole), p.Elems)
	}
}

// checkCut checks that each part of a pattern by a kernel of tiles reads and writes just the bytes
// that it does by plain loops.
func checkCut(t interface{ Fatalf(string, ...any) }, p Pattern) {
	plain := p.Spec
	plain.Kernel = Scalar
	cut, err := plain.Pattern()
	if err != nil || len(cut.Parts()) != len(p.Parts()) {
		t.Fatalf("%s: %d parts, by plain loops %d (%v)", p.Spec.Name(), len(p.Parts()),
			len(cut.Parts()), err)
	}
	for i, part := range p.Parts() {
		want, got := touchedBytes(cut.Parts()[i].Nests), touchedBytes(part.Nests)
		for a := range want {
			if got[a] == 0 || a.kind != nest.Read && got[a] != want[a] {
				t.Fatalf("%s: part %d touches byte %+v %d times, by plain loops %d times",
					p.Spec.Name(), i, a, got[a], want[a])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: part %d touches %d bytes, by plain loops %d", p.Spec.Name(), i,
				len(got), len(want))
		}
	}
}

// someSpec draws a pattern of several threads.
func someSpec(t *rapid.T) Spec {
	s := Spec{
		Op: Op(rapid.IntRange(0, 3).Draw(t, "op")),
		Shape: rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, 40)), 1,
			4).Draw(t, "shape"),
		DType: rapid.SampledFrom([]layouts.DType{layouts.Float32, layouts.Float32, layouts.Int16,
			layouts.Complex128}).Draw(t, "dtype"),
		Threads: rapid.IntRange(2, 9).Draw(t, "threads"),
		Grain:   rapid.SampledFrom([]int{1, 1, 7, 100}).Draw(t, "grain"),
	}
	dims := make([]string, len(s.Shape))
	for d := range dims {
		dims[d] = fmt.Sprint(d)
	}
	s.View = layouts.MustParseChain(rapid.SampledFrom([]string{"", "flip(0)", "slice(0,0,9,2)",
		"unsqueeze(0).expand(3" + strings.Repeat(",-1", len(dims)) + ").flatten(0,1)",
		"permute(" + strings.Join(rapid.Permutation(dims).Draw(t, "perm"), ",") + ")"}).Draw(t,
		"view"))
	s.Order = order(rapid.SampledFrom([]string{"row", "col", "torch",
		strings.Join(rapid.Permutation(dims).Draw(t, "order"), ",")}).Draw(t, "order"))
	if s.Op == Add {
		s.With = make([]int, len(s.Shape))
		for d := range s.With {
			s.With[d] = 1
		}
	} else if rapid.IntRange(0, 9).Draw(t, "formats") == 0 {
		s.View, s.Shape, s.Order = layouts.Chain{}, append(s.Shape, 3, 5, 2)[:4], Row
		if s.Op = Reorder; true {
			from, _ := blocked.Parse("nchw")
			to, _ := blocked.Parse(rapid.SampledFrom([]string{"nChw16c", "nhwc"}).Draw(t, "to"))
			s.From, s.To = from, to
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "walk") {
	case 0:
		s.Kernel = rapid.SampledFrom(append(vectorSets(), Builtin)).Draw(t, "kernel")
	case 1:
		if s.Op != Reorder && s.Order != Torch {
			s.Tile = rapid.SliceOfN(rapid.IntRange(1, 7), len(s.Shape),
				len(s.Shape)).Draw(t, "tile")
		}
	}
	return s
}

// TestParts: whatever the shape, strides, order, tile, kernel and threads, every
// element is done by exactly one thread, as the whole does it; and natively the
// parts together compute what the reference does.
func TestParts(t *testing.T) {
	cut := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := someSpec(t)
		p, err := s.Pattern()
		if err != nil {
			t.Skip(err)
		}
		checkParts(t, p)
		if len(p.Parts()) == 0 || Measurable(p, 0) != nil {
			return
		}
		cut[s.Op.String()]++
		if s.Tile != nil {
			cut["tiles"]++
		}
		if s.Order == Torch {
			cut["torch"]++
		}
		mem := newArena(p.Memory)
		r, err := newRunner(p, mem)
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		r.passes = func(n int) (sum float64) {
			for _, part := range p.Parts() {
				one, err := newRunner(part, mem)
				if err != nil {
					t.Fatalf("%s: %v", s.Name(), err)
				}
				sum += one.passes(n)
			}
			return sum
		}
		if _, err := r.check(); err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
	})
	for _, what := range []string{"sum", "fill", "copy", "add", "reorder", "tiles", "torch"} {
		if cut[what] == 0 && !testing.Short() { // a fifth of the patterns may lack one
			t.Errorf("no pattern was cut with %s: %v", what, cut)
		}
	}
	for _, k := range append(vectorSets(), Builtin) {
		s := Spec{Op: Copy, Shape: []int{65, 70}, Pad: 3, DType: layouts.Float32, Kernel: k,
			Threads: 4, Grain: 1}
		if checkParts(t, pattern(t, s)); len(pattern(t, s).Parts()) != 4 {
			t.Errorf("a copy by %v is not cut", k)
		}
	}
	// The whole goes by tiles, of which the last reads some again, and parts by plain loops.
	from, _ := blocked.Parse("nchw")
	to, _ := blocked.Parse("nhwc")
	for _, k := range vectorSets() {
		for _, shape := range [][]int{{1, 8, 3, 5}, {1, 11, 11, 2}} {
			checkParts(t, pattern(t, Spec{Op: Reorder, Shape: shape, DType: layouts.Float32,
				Kernel: k, Threads: 4, Grain: 1, From: from, To: to}))
		}
	}
}

// TestPartsOfOperands: operands as values, such as profiles have, are cut too.
func TestPartsOfOperands(t *testing.T) {
	random, cut := rand.New(rand.NewPCG(3, 9)), 0
	for range 60 {
		shape := []int{1 + random.IntN(9), 1 + random.IntN(9), 1 + random.IntN(9)}
		in := Value{randomLayout(t, random, shape), layouts.Float32, nest.Read, 0}
		out := Value{strided(t, shape, []int{shape[1] * shape[2], shape[2], 1}, 0), layouts.Float32,
			nest.Write, 0}
		self := Value{out.Layout, layouts.Float32, nest.Modify, 0}
		for _, s := range []Spec{{Op: Copy, Operands: []Value{in, out}},
			{Op: Add, Operands: []Value{in, in}}, {Op: Add, Operands: []Value{self, in}},
			{Op: Sum, Operands: []Value{in}},
			{Op: Fill, Operands: []Value{out}}} {
			s.Order, s.Threads, s.Grain = Torch, 1+random.IntN(6), 1
			p := pattern(t, s)
			if len(p.Parts()) > 0 {
				checkParts(t, p)
				cut++
			}
		}
	}
	if cut < 100 {
		t.Errorf("only %d were cut", cut)
	}
}

// TestNotCut: what has no parts, and what has, each of as many elements.
func TestNotCut(t *testing.T) {
	for text, want := range map[string]int{
		"chase 1048576 int64":   0,
		"sum 1x1048576 float32": 4,
		"sum 32768 float32":     0, // a grain
		// PyTorch: as many threads as grains
		"sum 32769 float32":                                    2,
		"sum 98304 float32":                                    3,
		"sum 5x1048576 float32 pad=1":                          3, // chunks of two rows
		"sum 100 float32 grain=1":                              4,
		"sum 1099511627776 float32":                            4,
		"fill 1x1 float32 view=expand(300,300)":                0,
		"fill 300x1 float32 view=expand(300,300)":              3,
		"copy 300x300 float32 view=t() order=torch":            0, // by blocks
		"reorder 1x3x5x2 float32 from=abcd to=aBcd16b grain=1": 4,
	} {
		p := pattern(t, specOf(text+" threads=4"))
		elems := 0
		for _, part := range p.Parts() {
			elems += part.Elems
		}
		if got := len(p.Parts()); got != want || want > 0 && elems != p.Elems {
			t.Errorf("%s has %d parts of %d elements, want %d", text, got, elems, want)
		}
	}
}

// TestTeam: each worker does its part of each step once, at the same time as the
// others, over many turns.
func TestTeam(t *testing.T) {
	for _, size := range []int{1, 2, 3} {
		cpus := make([]int, size)
		for i := range cpus {
			cpus[i] = workers()[i%len(workers())]
		}
		team := newTeam(cpus)
		done, inside := make([]int, size), atomic.Int32{}
		for range 5 {
			team.enter()
			for range 20 {
				all := atomic.Bool{}
				sum, took := team.timed(func(worker int) float64 {
					for inside.Add(1); inside.Load() < int32(size) && !all.Load(); {
						rest(1 << 16) // until all are inside
					}
					all.Store(true)
					done[worker]++
					inside.Add(-1)
					return float64(worker + 1)
				})
				if want := float64(size * (size + 1) / 2); sum != want || took <= 0 {
					t.Fatalf("%d workers: sum %v in %v, want %v", size, sum, took, want)
				}
			}
			team.leave()
		}
		team.end()
		for i, n := range done {
			if n != 100 {
				t.Errorf("worker %d of %d did %d steps of 100", i, size, n)
			}
		}
	}
}

// TestMeasureThreads: several threads measure what one does, beside it; each pass is
// checked, so that a wrong cut cannot pass.
func TestMeasureThreads(t *testing.T) {
	spec := specOf("sum 64x63 float32 threads=2 grain=1")
	one, copied, chase := spec, spec, specOf("chase 100 int64")
	one.Threads = 0
	copied.Op, copied.View, copied.Kernel = Copy, layouts.MustParseChain("t()"),
		vectorSets()[len(vectorSets())-1]
	// also where there is one
	o := Options{Count: 3, MinTime: 200 * time.Microsecond, CPUs: []int{workers()[0], workers()[0]}}
	for _, nodes := range []bool{false, true} {
		defer func(f func() bool) { severalNodes = f }(severalNodes)
		severalNodes = func() bool { return nodes }
		for _, patterns := range [][]Pattern{{pattern(t, one), pattern(t, spec)},
			{pattern(t, copied)}, {pattern(t, chase)}} {
			count := map[int]int{}
			for s, err := range Measure(context.Background(), patterns, o) {
				if err != nil {
					t.Fatal(err)
				}
				if count[s.Pattern]++; s.PerPass <= 0 {
					t.Errorf("a pass takes %v ns", s.PerPass)
				}
			}
			for i := range patterns {
				if count[i] != o.Count {
					t.Errorf("%s: %d samples", patterns[i].Spec.Name(), count[i])
				}
			}
		}
	}
	wrong := pattern(t, spec)
	// an element less
	wrong.shared[1].Nests[0] = wrong.shared[1].Nests[0].Range(0, 1,
		wrong.shared[1].Nests[0].Trips[0])
	if err := firstError(Measure(context.Background(), []Pattern{wrong}, o)); err == nil ||
		!strings.Contains(err.Error(), "plainly it is") {
		t.Errorf("a cut that leaves an element out: %v", err)
	}
	wrong = pattern(t, copied)
	wrong.shared = wrong.shared[:1]
	if err := firstError(Measure(context.Background(), []Pattern{wrong}, o)); err == nil ||
		!strings.Contains(err.Error(), "after the copy") {
		t.Errorf("a cut that leaves a part out: %v", err)
	}
	spec.Threads = 3
	if err := firstError(Measure(context.Background(), []Pattern{pattern(t, spec)},
		o)); err == nil || !strings.Contains(err.Error(), "threads 3: there are 2 CPUs") {
		t.Errorf("three threads on two CPUs: %v", err)
	}
}

func firstError(samples func(func(Sample, error) bool)) (first error) {
	for _, err := range samples {
		first = errors.Join(first, err)
	}
	return first
}

// TestTouch: before a pattern is prepared, each worker has touched the pages that
// only its part has.
func TestTouch(t *testing.T) {
	for _, s := range []Spec{
		{Shape: []int{300, 100}, DType: layouts.Float32},
		{Shape: []int{64, 4096}, DType: layouts.Float32, Order: Col},
		{Op: Copy, Shape: []int{512, 512}, DType: layouts.Float32,
			View: layouts.MustParseChain("t()"), Kernel: vectorSets()[len(vectorSets())-1]},
	} {
		s.Threads, s.Grain = 3, 1
		p := pattern(t, s)
		for i, part := range p.Parts() {
			want, got := map[int]bool{}, map[int]bool{}
			for _, a := range touches(part.Nests) {
				for b := (a.addr - Origin) / 4096; b <= (a.addr-Origin+uint64(a.width)-1)/4096; b++ {
					want[int(b)] = true
				}
			}
			part.eachPage(4096, func(page int) {
				if got[page] = true; !want[page] {
					t.Errorf("%s: worker %d touches page %d", s.Name(), i, page)
				}
			})
			if len(got) != len(want) {
				t.Errorf("%s: worker %d touches %d pages of %d", s.Name(), i, len(got), len(want))
			}
		}
	}
}
