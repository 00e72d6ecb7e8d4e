package access

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"
)

// touch is one access.
type touch struct {
	tensor string
	kind   nest.Kind
	addr   uint64
	width  int
}

// touches lists the accesses of a pass.
func touches(nests []nest.Nest) []touch {
	var all []touch
	for _, n := range nests {
		for r, addr := range n.Accesses() {
			op := n.Operands[r]
			all = append(all, touch{op.Tensor, op.Kind, addr, op.Width})
		}
	}
	return all
}

func addrs(p Pattern) []uint64 {
	var a []uint64
	for _, t := range touches(p.Nests) {
		a = append(a, t.addr-Origin)
	}
	return a
}

// TestOrders: where each access of a pass is, and of the tensors how much.
func TestOrders(t *testing.T) {
	for text, want := range table(t, "testdata/orders.txt") {
		p := pattern(t, specOf(text))
		if got := strings.Trim(fmt.Sprint(addrs(p)), "[]"); got != want {
			t.Errorf("%s touches %s, want %s", text, got, want)
		}
	}
	p := pattern(t, specOf("copy 100x100 float64"))
	want := []nest.Nest{{Trips: []int{100, 100}, Operands: []nest.Operand{
		{Tensor: "x", Kind: nest.Read, Base: Origin, Width: 8, Strides: []int{800, 8}},
		{Tensor: "y", Kind: nest.Write, Base: Origin + 81920, Width: 8, Strides: []int{800, 8}},
	}}}
	if diff := cmp.Diff(want, p.Nests); diff != "" {
		t.Error(diff)
	}
	if p.Bytes != 160000 || p.Elems != 10000 || p.Memory != 81920+80000 {
		t.Errorf("%d B, %d elements, %d B of memory", p.Bytes, p.Elems, p.Memory)
	}
}

// TestPatternsTouchTheView: whatever the order and the tiles, each element of
// the view is touched once, and a copy takes each to its place.
func TestPatternsTouchTheView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{
			Op:    Op(rapid.IntRange(0, 3).Draw(t, "op")),
			Shape: rapid.SliceOfN(rapid.IntRange(1, 6), 1, 4).Draw(t, "shape"),
			DType: layouts.Int32,
		}
		dims := make([]string, len(s.Shape))
		for d := range dims {
			dims[d] = fmt.Sprint(d)
		}
		permuted := strings.Join(rapid.Permutation(dims).Draw(t, "permuted"), ",")
		views := []string{"", "flip(0)", "slice(0,0,9,2)", "permute(" + permuted + ")"}
		s.View = layouts.MustParseChain(rapid.SampledFrom(views).Draw(t, "view"))
		walked := strings.Join(rapid.Permutation(dims).Draw(t, "walked"), ",")
		s.Order = order(rapid.SampledFrom([]string{"row", "col", walked}).Draw(t, "order"))
		if s.Op == Add { // a shape that broadcasts with any view of x
			s.With = []int{1}
		}
		if rapid.Bool().Draw(t, "tiled") {
			s.Tile = rapid.SliceOfN(rapid.IntRange(1, 7), len(dims), len(dims)).Draw(t, "tile")
		}
		p, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		// What is read of x is taken to its place in the last tensor.
		var want, got []string
		last := p.operands[len(p.operands)-1]
		i := 0
		for at := range p.operands[0].view.Offsets() {
			to := uint64(0)
			if len(p.operands) > 1 {
				to = last.base + uint64(4*i)
			}
			want = append(want, fmt.Sprint(Origin+uint64(4*at), to))
			i++
		}
		all := touches(p.Nests)
		for i := 0; i < len(all); i += len(p.operands) {
			to := uint64(0)
			if len(p.operands) > 1 {
				to = all[i+len(p.operands)-1].addr
			}
			got = append(got, fmt.Sprint(all[i].addr, to))
		}
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) || len(all)*4 != p.Bytes {
			t.Fatalf("%s: %d accesses of %d B, touches %v, want %v", s.Name(), len(all),
				p.Bytes, got, want)
		}
		checked(t, p)
	})
}

// TestNativeOrder runs random nests natively and one by one. Copies whose
// tensors overlap tell any order but the nest's apart.
func TestNativeOrder(t *testing.T) {
	seeds, differ := uint64(3000), uint64(0) // walks that a reversed order would change
	if testing.Short() {
		seeds /= 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		const elems = 4096
		n := nest.Nest{}
		for range r.IntN(5) {
			n.Trips = append(n.Trips, 1+r.IntN(6))
		}
		for range 2 {
			op := nest.Operand{Base: Origin + 4*uint64(elems/2+r.IntN(8)), Width: 4}
			for range n.Trips {
				op.Strides = append(op.Strides, 4*[]int{0, 1, -1, 2, 3, 7, -17}[r.IntN(7)])
			}
			n.Operands = append(n.Operands, op)
		}
		p := Pattern{Spec: Spec{Op: Copy, DType: layouts.Int32}, Nests: []nest.Nest{n},
			Memory: 4 * elems}
		p.operands = make([]operand, 2)
		mem := newArena(p.Memory)
		run, err := newRunner(p, mem)
		if err != nil {
			t.Fatal(err)
		}
		run.prepare()
		data := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(mem))), elems)
		want, backwards := slices.Clone(data), slices.Clone(data)
		all := touches(p.Nests)
		for i := 0; i < len(all); i += 2 {
			want[(all[i+1].addr-Origin)/4] = want[(all[i].addr-Origin)/4]
		}
		for i := len(all) - 2; i >= 0; i -= 2 {
			backwards[(all[i+1].addr-Origin)/4] = backwards[(all[i].addr-Origin)/4]
		}
		run.passes(1)
		if !slices.Equal(data, want) {
			t.Fatalf("seed %d: %+v is not walked in its order", seed, n)
		}
		if !slices.Equal(want, backwards) {
			differ++
		}
	}
	if differ < seeds/3 {
		t.Errorf("only %d nests could tell an order", differ)
	}
}

// TestFormatsOfEveryDType: operations, also on tensors in formats, do what they should in every
// order and by every kernel that takes them, padding included.
func TestFormatsOfEveryDType(t *testing.T) {
	kernels := append(vectorSets(), Scalar)
	for _, name := range layouts.DTypeNames() {
		patterns, vectors := 0, 0
		for _, text := range []string{
			"reorder 17x5x3 %s from=abc to=ABc16b8a2b", "reorder 17x5x3 %s from=Abc8a to=cBa4b",
			"reorder 32x64 %s from=ba to=AB16b16a2b", "reorder 0x5 %s from=ab to=aB4b",
			"sum 17x5x3 %s from=ABc16b8a2b", "fill 17x40 %s from=BA16a4b",
			"sum 37x41 %s view=slice(1,1,99,3).flip(0)", "fill 37x41 %s", "copy 37x41 %s",
			"add 37x41 %s with=1",
		} {
			s := specOf(fmt.Sprintf(text, name))
			for _, s.Order = range []Order{Row, Col, asFrom, asTo, order("1,0"), order("1,0,2")} {
				for _, s.Kernel = range kernels {
					p, err := s.Pattern()
					if err != nil {
						continue // see TestSpecRefusals
					}
					if _, sum := checked(t, p); s.Op == Sum && sum == 0 {
						t.Errorf("%s: the sum is 0, so a pass that reads nothing would pass",
							s.Name())
					}
					if patterns++; s.Kernel != Scalar {
						vectors++
					}
				}
			}
		}
		if patterns < 25 || vectors == 0 {
			t.Errorf("of %s only %d patterns, %d of them by vector kernels", name,
				patterns, vectors)
		}
	}
}

// TestCheckSeesWrongPasses: a check that cannot fail is none.
func TestCheckSeesWrongPasses(t *testing.T) {
	for _, text := range []string{
		"sum 8x8 int32", "fill 8x8 int32", "copy 8x8 int32", "add 8x8 int32 with=8x1",
		"sum 8x8 int32 from=aB4b",
		"fill 8x8 int32 from=ba", "reorder 8x8 int32 from=ab to=aB4b",
	} {
		p := pattern(t, specOf(text))
		p.Nests[0].Trips[1]-- // leaves out a column
		r, err := newRunner(p, newArena(p.Memory))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.check(); err == nil {
			t.Errorf("a %s that leaves out a column passes", text)
		}
	}
}

// TestParseOrder: orders are values, which are written as they are read.
func TestParseOrder(t *testing.T) {
	permutation := Order("2,0,-2")
	for text, want := range map[string]Order{"": Row, "row": Row, "col": Col, "2,0,-2": permutation,
		"0,1": order("0,1")} {
		got, err := parseOrder(text)
		if err != nil || got != want || text != "" && got.String() != text {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	if dims, err := permutation.of(3); err != nil || !slices.Equal(dims, []int{2, 0, 1}) {
		t.Errorf("%v of three dims is %v, %v", permutation, dims, err)
	}
	for _, text := range []string{"up", "1,", "1;0", "99999999999999999999"} {
		if got, err := parseOrder(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestParseKernel: kernels are values, which are written as they are read.
func TestParseKernel(t *testing.T) {
	for _, k := range append(otherKernels(), Scalar) {
		if got, err := parseKernel(k.String()); err != nil || got != k {
			t.Errorf("%v is read as %v, %v", k, got, err)
		}
	}
	if k, err := parseKernel("mmx"); err == nil ||
		!strings.Contains(err.Error(), "there are scalar, builtin, portable, avx2-blocks, avx2, "+
			"avx512, neon") {
		t.Errorf("mmx is %v, %v", k, err)
	}
}

// TestSuite: names are unique, sort into families and keys, and end in nothing
// that the Go benchmark format reads as GOMAXPROCS; each has a pattern, and
// the quick suite is a part of the whole.
func TestSuite(t *testing.T) {
	form := regexp.MustCompile(`^(Traverse|Stream|Copy|Broadcast|Pitch|Latency|Mountain|Tile|Contiguous)(/[a-z]+=[a-z0-9][A-Za-z0-9-]*)+/kernel=(scalar|builtin|avx2|avx512|neon)$`)
	procs := regexp.MustCompile(`-\d+$`)
	names := map[string]bool{}
	for _, c := range Suite(false) {
		var patterns []Pattern
		for _, b := range c {
			patterns = append(patterns, pattern(t, b.Spec))
		}
		for i, b := range c {
			p := patterns[i]
			if names[b.Name] || !form.MatchString(b.Name) || procs.MatchString(b.Name) {
				t.Errorf("the name %q is taken or malformed", b.Name)
			}
			names[b.Name] = true
			if !strings.HasSuffix(b.Name, "/kernel="+b.Spec.Kernel.String()) {
				t.Errorf("%s is walked by %s", b.Name, b.Spec.Kernel)
			}
			for k, other := range patterns {
				if err := together(p, other); err != nil {
					t.Errorf("%s cannot be measured with %s: %v", b.Name, c[k].Name, err)
				}
			}
			if p.Elems == 0 || p.Memory > 1<<30 {
				t.Errorf("%s has %d elements in %d B", b.Name, p.Elems, p.Memory)
			}
		}
	}
	for _, want := range []string{
		"Traverse/op=sum/order=row/shape=4000x4000/dtype=int32/kernel=scalar",
		"Traverse/op=sum/order=col/shape=4096x4096/dtype=int32/pad=16/kernel=scalar",
		"Copy/layout=columns/shape=4096x4096/dtype=float32/step=8/kernel=scalar",
		"Copy/layout=transpose/shape=4096x4096/dtype=float32/tile=32/kernel=scalar",
		"Copy/layout=nhwc-nchw/shape=32x64x56x56/dtype=float32/kernel=scalar",
		"Copy/layout=contiguous/shape=4096x4096/dtype=float32/kernel=builtin",
		"Pitch/op=sum/order=col/shape=512x512/dtype=int32/pad=0/kernel=scalar",
		"Latency/op=chase/size=4KiB/kernel=scalar",
		"Latency/op=chase/size=64MiB/kernel=scalar",
		"Mountain/op=sum/size=64KiB/stride=8/dtype=int64/kernel=scalar",
	} {
		if !names[want] {
			t.Errorf("the suite has no %s", want)
		}
	}
	quick := 0
	for _, c := range Suite(true) {
		for _, b := range c {
			quick++
			if !names[b.Name] {
				t.Errorf("%s is in the quick suite only", b.Name)
			}
		}
	}
	if quick == 0 || quick >= len(names) {
		t.Errorf("the quick suite has %d of %d", quick, len(names))
	}
}

// TestSuiteAround: measured capacities add working sets on both sides of them,
// under names that do not depend on how exactly they were measured.
func TestSuiteAround(t *testing.T) {
	names := func(quick bool, capacities ...int) (names []string) {
		for _, c := range Suite(quick, capacities...) {
			for _, b := range c {
				names = append(names, b.Name)
			}
		}
		return names
	}
	more := func(capacities ...int) (more []string) {
		plain := names(true)
		for _, name := range names(true, capacities...) {
			if !slices.Contains(plain, name) {
				more = append(more, name)
			}
		}
		return more
	}
	want := []string{
		"Latency/op=chase/size=6MiB/kernel=scalar",
		"Latency/op=chase/size=24MiB/kernel=scalar",
		"Mountain/op=sum/size=6MiB/stride=1/dtype=int64/kernel=scalar",
		"Mountain/op=sum/size=6MiB/stride=8/dtype=int64/kernel=scalar",
		"Mountain/op=sum/size=6MiB/stride=64/dtype=int64/kernel=scalar",
		"Mountain/op=sum/size=24MiB/stride=1/dtype=int64/kernel=scalar",
		"Mountain/op=sum/size=24MiB/stride=8/dtype=int64/kernel=scalar",
		"Mountain/op=sum/size=24MiB/stride=64/dtype=int64/kernel=scalar",
	}
	for _, c := range []int{11 << 20, 12 << 20, 13<<20 + 12345} {
		if got := more(c); !slices.Equal(got, want) {
			t.Errorf("a capacity of %d adds %v", c, got)
		}
	}
	for c, want := range map[int][]int{1: {4 << 10}, 32 << 10: {16 << 10, 64 << 10},
		40 << 10: {24 << 10, 96 << 10},
		1 << 40:  {256 << 20}} {
		if got := around(nil, []int{c}); !slices.Equal(got, want) {
			t.Errorf("around %d are %v", c, got)
		}
	}
	if got := names(false, 32<<10, 512<<10); !slices.Equal(got, names(false)) {
		t.Error("sizes that are there already are added")
	}
}

func TestNames(t *testing.T) {
	for text, want := range table(t, "testdata/names.txt") {
		if got := specOf(text).Name(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestMeasure: each pattern has as many samples as are asked for, and in the first round
// they come in order. How many a round has of each is the machine's matter. Each sample's sum is
// checked, so that patterns that share their memory find nothing of each other in it.
func TestMeasure(t *testing.T) {
	var m Memory
	defer m.Close()
	for _, texts := range [][]string{
		{"sum 64x64 int32", "sum 64x64 int32 order=col", "sum 64x64 int32"},
		{"fill 300x400 float64"},
		{"sum 100x200 float32"},
		{"chase 65536 int64"},
		{"copy 90x70 int32"},
		// A part is timed of the last.
		{"chase 1x8 int64", "chase 2x8 int64", "chase 640x8 int64", "chase 64000x8 int64"},
		{"add - float32 order=torch in-place=40x30[1,40] input=1x30",
			"add - float32 order=torch input=40x30[1,40] input=1x30"},
	} {
		var patterns []Pattern
		for _, text := range texts {
			patterns = append(patterns, pattern(t, specOf(text)))
		}
		var order []int
		for s, err := range Measure(t.Context(), patterns,
			Options{Count: 3, MinTime: 10 * time.Microsecond, Memory: &m}) {
			if err != nil {
				t.Fatal(texts, err)
			}
			order = append(order, s.Pattern)
			if s.Passes < 1 || s.Elapsed <= 0 || s.PerPass <= 0 {
				t.Errorf("sample %+v", s)
			}
		}
		all := nest.UpTo(len(texts))
		if first := slices.Compact(slices.Clone(order)); len(first) < len(all) ||
			!slices.Equal(first[:len(all)], all) {
			t.Errorf("samples came in the order %v", order)
		}
		slices.Sort(order)
		if want := slices.Sorted(slices.Values(slices.Repeat(all, 3))); !slices.Equal(order, want) {
			t.Errorf("samples of %v, want %v", order, want)
		}
	}
}

// TestInRounds: each round begins with the next meter, and one with longer bursts has its
// samples in fewer rounds.
func TestInRounds(t *testing.T) {
	for _, c := range []struct {
		passes, count int // passes of a sample of the second of three meters
		want          []int
	}{
		{warmPasses, 3, []int{0, 1, 2, 1, 2, 0, 2, 0, 1}},
		{warmPasses / 2, 4, []int{0, 1, 1, 2, 2, 0, 2, 0, 1, 1, 0, 2}},
		{1, 2, []int{0, 1, 1, 2, 2, 0}},
	} {
		meters := []meter{{index: 0, passes: 1, reads: warmPasses},
			{index: 1, passes: c.passes, reads: 1}, {index: 2, passes: 99, reads: 9}}
		for i := range meters {
			meters[i].count = c.count
		}
		var order []int
		if err := inRounds(meters, func(m *meter, round, rounds int) error {
			for range m.due(round, rounds) {
				order = append(order, m.index)
			}
			return nil
		}); err != nil || !slices.Equal(order, c.want) {
			t.Errorf("%d passes: samples came in the order %v (%v), want %v", c.passes, order,
				err, c.want)
		}
	}
	meters := make([]meter, 3)
	taken := 0
	if err := inRounds(meters, func(*meter, int, int) error {
		taken++
		return errStopped
	}); err != errStopped || taken != 1 {
		t.Errorf("%v after %d", err, taken)
	}
}

func TestMeasureStops(t *testing.T) {
	patterns := []Pattern{pattern(t, specOf("sum 64x64 int32"))}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	samples := 0
	var last error
	for _, err := range Measure(ctx, patterns, Options{Count: 1000, MinTime: time.Nanosecond}) {
		if last = err; err == nil {
			samples++
		}
		if samples == 13 {
			cancel()
		}
	}
	if samples != 20 || !errors.Is(last, context.Canceled) { // a burst is 10 samples of one pass
		t.Errorf("%d samples, then %v", samples, last)
	}
}

// TestLongCount: of patterns whose passes take longer than said fewer samples are taken, and each
// sample says how many.
func TestLongCount(t *testing.T) {
	patterns := []Pattern{
		pattern(t, specOf("sum 64x64 int32")),
		pattern(t, specOf("sum 64x64 int32 order=col")),
	}
	for _, c := range []struct {
		o    Options
		want int
	}{
		{Options{Count: 15}, 15},
		{Options{Count: 15, Long: time.Hour, LongCount: 4}, 15},
		{Options{Count: 15, Long: 1, LongCount: 4}, 4},
		{Options{Count: 3, Long: 1, LongCount: 4}, 3},
	} {
		c.o.MinTime = time.Nanosecond
		got := [2]int{}
		for s, err := range Measure(t.Context(), patterns, c.o) {
			if err != nil {
				t.Fatal(err)
			}
			if got[s.Pattern]++; s.Of != c.want {
				t.Errorf("%+v: a sample of %d, want %d", c.o, s.Of, c.want)
			}
		}
		if got != [2]int{c.want, c.want} {
			t.Errorf("%+v: %v samples, want %d of each", c.o, got, c.want)
		}
	}
}

// TestFirstPass: a pass is walked off the clock before the first sample, but where passes are
// longer than said.
func TestFirstPass(t *testing.T) {
	for _, c := range []struct {
		long   time.Duration
		passes int
	}{{0, 5}, {time.Hour, 5}, {1, 4}} {
		walked := 0
		clean := true
		m := meter{count: 4, passes: 1, reads: 1, clean: &clean,
			runner: runner{passes: func(n int) float64 {
				walked += n
				time.Sleep(time.Microsecond)
				return 0
			}}}
		shots, err := m.burst(t.Context(), 0, 1,
			Options{Count: 4, MinTime: time.Nanosecond, Long: c.long, LongCount: 4})
		if err != nil || len(shots) != 4 || walked != c.passes {
			t.Errorf("long is %v: %d samples of %d passes, %v, want 4 of %d", c.long, len(shots),
				walked, err, c.passes)
		}
	}
}

// TestDue: over all rounds a pattern takes the samples that are wanted, in as
// many rounds as it has bursts of at most warmPasses passes, spread over all.
func TestDue(t *testing.T) {
	for passes := range 13 {
		for count := range 33 {
			m := meter{passes: 1, reads: passes + 1, count: count + 1}
			own := m.rounds()
			for rounds := own; rounds < own+40; rounds++ {
				taken, visits, gap := 0, 0, 0
				for round := range rounds {
					n := m.due(round, rounds)
					if taken += n; n > 0 {
						visits, gap = visits+1, 0
					}
					if gap++; gap > (rounds+own-1)/own {
						t.Fatalf("%d passes, %d samples: %d of %d rounds without", passes+1,
							count+1, gap, rounds)
					}
					if n > 1 && (n-1)*m.reads >= warmPasses {
						t.Fatalf("%d passes, %d samples: a burst of %d", passes+1, count+1, n)
					}
				}
				if taken != count+1 || visits != own {
					t.Fatalf("%d passes, %d samples: %d in %d of %d rounds", passes+1, count+1,
						taken, visits, rounds)
				}
			}
		}
	}
}

// TestGap: of passes that are alike an interruption of all but one reading does
// not tell, of parts that are not one of half of them.
func TestGap(t *testing.T) {
	for _, c := range []struct {
		least, median float64
		times         []time.Duration
	}{
		{7, 7, []time.Duration{7}},
		{5, 5, []time.Duration{5, 10, 1010, 1015, 1020, 2020, 2025}},
		{5, 6.5, []time.Duration{9, 15, 22, 27}}, // 9, 6, 7, 5
	} {
		if least, median := gap(slices.Clone(c.times), false),
			gap(c.times, true); least != c.least || median != c.median {
			t.Errorf("%v and %v, want %v and %v", least, median, c.least, c.median)
		}
	}
}

// A fakeReader counts how often it was started.
type fakeReader struct {
	starts           float64
	running, closed  bool
	failing, unknown bool
}

func (f *fakeReader) Events() []counters.Event {
	return []counters.Event{counters.Cycles, counters.L1DMisses}
}

func (f *fakeReader) Start() error {
	if f.running {
		return errors.New("started twice")
	}
	f.starts++
	f.running = true
	return nil
}

func (f *fakeReader) Stop() ([]float64, error) {
	if !f.running || f.failing {
		return nil, errors.New("no counters any more")
	}
	f.running = false
	if f.unknown {
		return nil, nil
	}
	return []float64{f.starts, -f.starts}, nil
}

func (f *fakeReader) Close() error {
	f.closed = true
	return nil
}

// TestMeasureCounts: every sample has what was counted between its own Start and
// Stop, or nothing where the counters had no time.
func TestMeasureCounts(t *testing.T) {
	patterns := []Pattern{pattern(t, specOf("sum 64x64 int32")),
		pattern(t, specOf("sum 64x64 int32 order=col"))}
	measure := func(f *fakeReader) (samples []Sample, err error) {
		o := Options{Count: 25, MinTime: time.Nanosecond,
			Counters: func() (counters.Reader, error) {
				return f, nil
			}}
		for s, err := range Measure(t.Context(), patterns, o) {
			if err != nil {
				return samples, err
			}
			samples = append(samples, s)
		}
		return samples, nil
	}
	f := &fakeReader{}
	samples, err := measure(f)
	if err != nil || len(samples) != 50 || !f.closed {
		t.Fatalf("%d samples, closed %v, %v", len(samples), f.closed, err)
	}
	before := 0.0
	for _, s := range samples {
		n := s.Events[counters.Cycles]
		if all := n * float64(s.Passes); all <= before || s.Events[counters.L1DMisses] != -n ||
			len(s.Events) != 2 {
			t.Errorf("%v after %v", s.Events, before)
		}
		before = n * float64(s.Passes)
	}
	if samples, err := measure(&fakeReader{unknown: true}); err != nil || samples[0].Events != nil {
		t.Errorf("%v, %v", samples, err)
	}
	if _, err := measure(&fakeReader{failing: true}); err == nil ||
		!strings.Contains(err.Error(), "no counters any more") {
		t.Errorf("error %v", err)
	}
}

func TestMeasureRefusals(t *testing.T) {
	first := func(o Options, patterns ...Pattern) error {
		for _, err := range Measure(t.Context(), patterns, o) {
			return err
		}
		return nil
	}
	sum := pattern(t, specOf("sum 64x64 int32"))
	large := pattern(t, specOf("sum 1048576x2097152 int32"))
	if err := first(Options{Count: 1, MaxMemory: 24 << 30}, sum, large); err == nil ||
		err.Error() != "the tensors need 8 TiB of memory, this machine has 24 GiB available" {
		t.Errorf("8 TiB: %v", err)
	}
	for want, p := range map[string]Pattern{
		"tensor y of the copy is written where the sum reads": pattern(t, specOf("copy 4 int32")),
		"tensor x of the fill is written where the sum reads": pattern(t, specOf("fill 4 int32")),
		"the view has no element to time":                     pattern(t, specOf("sum 0 int32")),
		"have no native kernel": pattern(t,
			specOf("sum 64 int32 width=16")),
		"dtypes int32 and float32": pattern(t, specOf("sum 4 float32")),
	} {
		if err := first(Options{Count: 1}, sum, p); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestMeasureTogether: patterns of all operations that are let share their memory
// do not spoil each other's sums, which Measure checks at each sample.
func TestMeasureTogether(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var patterns []Pattern
		for range rapid.IntRange(2, 4).Draw(t, "patterns") {
			shape := []int{rapid.IntRange(1, 3).Draw(t, "rows") * 16, 64}
			s := Spec{Op: Op(rapid.IntRange(0, int(Chase)).Draw(t, "op")), Shape: shape,
				DType: layouts.Int64, View: layouts.MustParseChain("transpose(0,1)")}
			if s.Op == Add {
				s.With = []int{1, 1}
			}
			p, err := s.Pattern()
			if err != nil {
				t.Fatal(err)
			}
			patterns = append(patterns, p)
		}
		for _, err := range Measure(context.Background(), patterns,
			Options{Count: 2, MinTime: time.Nanosecond}) {
			if err != nil && !strings.Contains(err.Error(), "cannot be measured together") {
				t.Fatal(err)
			}
			if err != nil {
				refused++
				return
			}
		}
		taken++
	})
	if !testing.Short() && (taken < 10 || refused < 10) {
		t.Errorf("%d sets of patterns were measured, %d refused", taken, refused)
	}
}

// TestSimulateAlike: patterns of the same accesses are counted once, and every pattern
// has its own counts.
func TestSimulateAlike(t *testing.T) {
	var all []Pattern
	for _, s := range []Spec{
		{Shape: []int{64, 96}, DType: layouts.Int32},
		{Shape: []int{64 * 96}, DType: layouts.Float32},
		{Shape: []int{96, 64}, DType: layouts.Int32, Order: Col},
		{Op: Fill, Shape: []int{64, 96}, DType: layouts.Int32}, ChaseSpec(50, 64),
		{Shape: []int{64, 96}, DType: layouts.Float64}, ChaseSpec(70, 64),
	} {
		all = append(all, pattern(t, s))
	}
	first, alike := distinctPatterns(all)
	if want := []int{0, 0, 2, 3, 4, 5, 6}; !slices.Equal(alike, want) || len(first) != 6 {
		t.Errorf("alike are %v, want %v; first %v", alike, want, first)
	}
	caches := simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 4096, Ways: 4,
		Line: 64}, simcache.Geometry{Size: 1 << 15, Ways: 8, Line: 64}),
		TLB: []simcache.TLB{{Entries: 4, Ways: 4, Page: 4096}}}
	together, err := Simulate(context.Background(), caches, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		alone, err := Simulate(context.Background(), caches, all[i:i+1], nil)
		if err != nil || alone[0] != together[i] {
			t.Errorf("pattern %d: together %+v, alone %+v, %v", i, together[i], alone, err)
		}
	}
}

// TestNotWalked: passes of which many take as long as one are no result.
func TestNotWalked(t *testing.T) {
	m := meter{runner: runner{passes: func(int) float64 { return 0 }}, passes: 1, reads: 1}
	if _, err := m.calibrate(t.Context(), time.Millisecond, 0); err == nil ||
		!strings.Contains(err.Error(), "not all of them are walked") {
		t.Errorf("%v", err)
	}
}

// vectorSets are the sets of package kernel that this CPU runs, the best one last.
func vectorSets() (all []Kernel) {
	for _, set := range kernel.Sets() {
		all = append(all, Kernel(set.Name()))
	}
	return all
}
