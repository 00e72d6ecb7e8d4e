package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stridebench/stridebench/layouts"
)

// sums adds runs up with every set and compares with the definition in the
// documentation of Sum, to the last bit. Lanes are of the type to which elements are widened.
func sums[T Number, L int32 | float32 | float64](
	t *testing.T, x []T, widened func(T) L, calls ...Rows,
) {
	t.Helper()
	var zero T
	size := int(unsafe.Sizeof(zero))
	lanes := make([]L, laneBytes/size)
	if size == 2 {
		lanes = lanes[:64]
	}
	for _, r := range calls {
		whole := r.N / (line / size) * (line / size)
		for _, part := range [][2]int{{0, whole}, {whole, r.N}} {
			for row := range r.Count {
				for i := part[0]; i < part[1]; i++ {
					lanes[(i-part[0])%len(lanes)] += widened(x[r.At+row*r.Pitch+i])
				}
			}
		}
	}
	want := 0.0
	for _, v := range lanes { // sums of small int32 are exact in any case
		want += float64(v)
	}
	for _, s := range Sets() {
		if got := total(s, x, calls...); !same(got, want) {
			t.Fatalf("%s: %T of %+v is %v, want %v", s.Name(), x, calls, got, want)
		}
	}
}

// total is the sum of runs by a set.
func total[T Number](s *Set, x []T, calls ...Rows) float64 {
	sum := NewSum[T](s)
	for _, r := range calls {
		sum.Add(x, r)
	}
	return sum.Total()
}

// same tells whether sums are the same to the last bit, but for those of a NaN.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// as reads bytes from wherever they begin as elements.
func as[T any](b []byte, start int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	aligned := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(size))
	start = aligned + start*size
	if start >= len(b) {
		return nil
	}
	b = b[start:]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
}

// rowsIn cuts n elements into rows, some further apart than they are long.
func rowsIn(n, length, gap int) Rows {
	length = min(length, n)
	pitch := length + gap
	if pitch == 0 {
		return Rows{}
	}
	return Rows{At: 0, N: length, Count: (n + gap) / pitch, Pitch: pitch}
}

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func FuzzSum(f *testing.F) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		f.Add(randomBytes(seed, r.IntN(9000)), byte(r.IntN(20)), uint16(r.IntN(3000)), byte(r.IntN(20)))
	}
	f.Fuzz(func(t *testing.T, b []byte, start byte, length uint16, gap byte) {
		at, n, apart := int(start), int(length), int(gap)
		sumsOf(t, b, at, n, apart, func(x int32) int32 { return x })
		sumsOf(t, b, at, n, apart, func(x float32) float32 { return x }) // NaN, infinities, denormals
		sumsOf(t, b, at, n, apart, func(x float64) float64 { return x })
		sumsOf(t, b, at, n, apart, layouts.Half.Float)
		sumsOf(t, b, at, n, apart, layouts.BFloat.Float)
	})
}

func sumsOf[T Number, L int32 | float32 | float64](
	t *testing.T, b []byte, start, length, gap int, widened func(T) L,
) {
	t.Helper()
	x := as[T](b, start)
	r := rowsIn(len(x), length, gap)
	sums(t, x, widened, r, Rows{At: 0, N: r.N, Count: min(3, r.Count), Pitch: 0})
	if r.Count > 0 { // backwards
		sums(t, x, widened, Rows{r.At + (r.Count-1)*r.Pitch, r.N, r.Count, -r.Pitch})
	}
}

// TestLongSums: what passes a flush is added up all the same.
func TestLongSums(t *testing.T) {
	x := slices.Repeat([]float32{56}, 1<<16+8)
	long := slices.Repeat([]int32{127}, flush+1<<10+5)
	for _, s := range Sets() {
		if s == portable && testing.Short() {
			continue // that takes too long
		}
		if got, want := total(s, x, Rows{0, len(x), 300, 0}), 56*300*float64(len(x)); got != want {
			t.Errorf("%s: %v, want %v", s.Name(), got, want)
		}
		if got, want := total(s, long, Rows{0, len(long), 1, 0}), 127*float64(len(long)); got != want {
			t.Errorf("%s: %v, want %v", s.Name(), got, want)
		}
	}
}

// TestSumAsks: sums that ask for lines are the same as those that do not, to the last bit, and
// only those of as many bytes as the tuning says ask.
func TestSumAsks(t *testing.T) {
	b := randomBytes(3, 3*leastAsked)
	sumsAsk(t, as[int32](b, 0))
	sumsAsk(t, as[float32](b, 1))
	sumsAsk(t, as[float64](b, 0))
	sumsAsk(t, as[layouts.Half](b, 3))
	sumsAsk(t, as[layouts.BFloat](b, 0))
}

func sumsAsk[T Number](t *testing.T, x []T) {
	t.Helper()
	half := len(x) / 2 * int(unsafe.Sizeof(x[0]))
	for _, s := range Sets() {
		for _, c := range []struct {
			rows Rows
			from int
			asks bool
		}{
			{Rows{0, len(x) / 2, 1, 0}, half, true},
			{Rows{0, len(x) / 2, 1, 0}, half + 1, false},
			{Rows{0, len(x) / 2, 2, 0}, half + 1, false}, // the same ones again
			{Rows{5, 37, len(x) / 101, 101}, 1, false},   // what is ahead of it is not read
			{Rows{5, 90, len(x) / 101, 101}, 1, true},
			{Rows{5, 800, len(x) / 1010, 1010}, 1, true}, // most is
			{Rows{len(x) - 1000, 1000, len(x) / 1000, -1000}, 1, true},
			{Rows{len(x) - 50, 50, len(x) / 50, -50}, 1, false},
			{Rows{0, 1000, len(x) / 1000, 1000}, 1, true},
			{Rows{0, 1000, 2, 1000}, 1, false},
		} {
			undo := tune(s, Tuning{1, 1, 1, 1, 1, c.from, 150})
			asking := NewSum[T](s)
			asking.Add(x, c.rows)
			undo()
			if asks := asking.ahead == 150; asks != (c.asks && s.amd64) {
				t.Errorf("%s: %T of %+v asks from %d B on: %t", s.Name(), x, c.rows, c.from, asks)
			}
			if got, want := asking.Total(), total(s, x, c.rows); !same(got, want) {
				t.Errorf("%s: %T of %+v is %v, not asking %v", s.Name(), x, c.rows, got, want)
			}
		}
	}
}

func FuzzFill(f *testing.F) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		f.Add(uint16(r.IntN(9000)), byte(r.IntN(20)), uint16(r.IntN(3000)), byte(r.IntN(20)), r.Uint64())
	}
	f.Fuzz(func(t *testing.T, n uint16, start byte, length uint16, gap byte, value uint64) {
		fills(t, int(n), int(start), int(length), int(gap), uint8(value))
		fills(t, int(n), int(start), int(length), int(gap), uint16(value))
		fills(t, int(n), int(start), int(length), int(gap), uint32(value))
		fills(t, int(n), int(start), int(length), int(gap), value)
	})
}

func fills[T Element](t *testing.T, n, start, length, gap int, value T) {
	t.Helper()
	want := as[T](make([]byte, n), 0)
	start = min(start, len(want))
	r := rowsIn(len(want)-start, length, gap)
	r.At = start
	for row := range r.Count {
		for i := range r.N {
			want[r.At+row*r.Pitch+i] = value
		}
	}
	for _, s := range Sets() {
		got := as[T](make([]byte, n), 0)
		Fill(s, got, value, r)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: filling %+v of %T is wrong", s.Name(), r, value)
		}
	}
}

// TestSets: every set is there on every CPU, the tests' log says which of them
// are run, and those that are not say so.
func TestSets(t *testing.T) {
	t.Logf("this CPU runs %s, and plans %s", Names(Sets()), Names(All()))
	if got := Names(All()); got != "portable, avx2-blocks, avx2, avx512, neon" {
		t.Errorf("there are %s", got)
	}
	for _, s := range All() {
		if got, err := ByName(s.Name()); got != s || err != nil {
			t.Errorf("the set %s is not found by its name: %v", s.Name(), err)
		}
		if s.Runs() != slices.Contains(Sets(), s) {
			t.Errorf("%s: runs: %t", s.Name(), s.Runs())
		}
	}
	if _, err := ByName("mmx"); err == nil {
		t.Error("there is a set mmx")
	}
	for size, own := range map[int]bool{0: false, 1: true, 2: true, 4: true, 8: true, 16: false} {
		if avx2blocks.Own(size) != own || !avx2.Own(size) {
			t.Errorf("avx2-blocks or avx2 copies elements of %d B as another set does", size)
		}
	}
}

// TestPanics: what leaves its memory, and a set that this CPU does not run, panic.
func TestPanics(t *testing.T) {
	defer func(run *functions) { avx512.run = run }(avx512.run)
	avx512.run = nil
	const foreign = "kernel: this CPU does not run avx512 (it runs portable"
	four := func(n, from int) []Loop { return []Loop{{n, 4, from}} }
	run := func(s *Set, loops []Loop, bytes, buffers int) {
		NewPlan(s, 4, loops).Run(make([]byte, bytes), make([]byte, bytes), make([]byte, buffers), 1)
	}
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"no such size", "kernel: ", func() { NewPlan(portable, 3, nil) }},
		{"too short", "kernel: ", func() { run(Best(), four(100, 4), 399, 0) }},
		{"before it", "kernel: ", func() { run(Best(), four(2, -4), 8, 0) }},
		{"buffers", "kernel: ", func() {
			loops := []Loop{{64, 4096, 4}, {64, 4, 4096}}
			run(avx2blocks, loops, 1<<18, NewPlan(avx2blocks, 4, loops).Buffers-1)
		}},
		{"rows", "kernel: ", func() { total(Best(), make([]int32, 9), Rows{0, 5, 2, 5}) }},
		{"fill", "kernel: ", func() { Fill(Best(), make([]int32, 9), 1, Rows{-1, 2, 1, 0}) }},
		{"a foreign sum", foreign, func() { NewSum[int32](avx512) }},
		{"a foreign fill", foreign, func() { Fill(avx512, make([]int32, 9), 1, Rows{0, 9, 1, 0}) }},
		{"a foreign copy", foreign, func() { run(avx512, four(1, 4), 4, 0) }},
		{"tuning", "kernel: ", func() { portable.Tune(Tuning{}) }},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, c.want) {
					t.Errorf("%s: it panics with %s", c.name, got)
				}
			}()
			c.f()
		}()
	}
}

// TestFences: a copy ends with one fence, after which all see what went past the caches.
func TestFences(t *testing.T) {
	mem := make([]byte, 1<<16)
	loops := []Loop{{4, 288, 4608}, {3, 96, 1536}, {12, 8, 128}, {16, 1152, 8}}
	for _, s := range Sets() {
		if !s.amd64 {
			continue
		}
		fences, was := 0, s.run
		counted := *s.run
		counted.fence = func() { fences++; was.fence() }
		s.run = &counted
		p := NewPlan(s, 8, loops)
		p.Run(mem, mem[1<<15:], make([]byte, p.Buffers), 3)
		if s.run = was; fences != 1 {
			t.Errorf("%s: %d fences", s.name, fences)
		}
	}
}
