package layouts_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/layouts"
)

// apply applies views one after the other, so that the examples read as the articles do.
func apply(x *layouts.Tensor, chain string) *layouts.Tensor { return must(applied(x, chain)) }

func arange(n int, chain string) *layouts.Tensor {
	return apply(must(layouts.FromSlice(upTo(n), n)), chain)
}

func upTo(n int) (all []int64) {
	for i := range n {
		all = append(all, int64(i))
	}
	return all
}

func Example_strides() {
	for _, shape := range [][]int{{1, 2, 3, 4}, {2, 3, 4}} {
		l, _ := layouts.Contiguous(shape...)
		fmt.Println(l)
	}
	// Output:
	// shape 1x2x3x4, strides (24, 12, 4, 1), offset 0
	// shape 2x3x4, strides (12, 4, 1), offset 0
}

// x[1:, 1:3] of a 3x4 matrix.
func Example_slice() {
	x := arange(12, "view(3,4)")
	y := apply(x, "slice(0,1,3).slice(1,1,3)")
	fmt.Println(y.Layout())
	fmt.Println(y)
	// Output:
	// shape 2x2, strides (4, 1), offset 5
	// tensor([[ 5,  6],
	//         [ 9, 10]])
}

func Example_expandAndRepeat() {
	row := arange(3, "view(1,3)")
	fmt.Println(apply(row, "expand(4,3)").Layout())
	column := arange(2, "view(2,1)")
	r := apply(column, "repeat(1,3)")
	fmt.Println(r.Layout(), r.Storage() == column.Storage())
	x := arange(6, "view(2,3)")
	fmt.Println(apply(x, "unsqueeze(2).expand(2,3,3)").Layout())
	fmt.Println(apply(arange(6, "view(2,3,1)"), "repeat(1,1,8).view(2,-1,2)").Layout())
	// Output:
	// shape 4x3, strides (0, 1), offset 0
	// shape 2x3, strides (3, 1), offset 0 false
	// shape 2x3x3, strides (3, 1, 0), offset 0
	// shape 2x12x2, strides (24, 2, 1), offset 0
}

// The offset of an element is the sum of index times stride.
func Example_offsets() {
	a := arange(4, "view(2,2)")
	at, _ := a.Layout().At(1, 0)
	fmt.Println(at, "= 1*2 + 0*1")
	fmt.Println(apply(a, "select(0,1)").Layout())
	first, _ := a.Address(0, 0)
	second, _ := a.Address(1, 0)
	fmt.Println(second-first, "B apart")
	// Output:
	// 2 = 1*2 + 0*1
	// shape 2, strides (1), offset 2
	// 16 B apart
}

func Example_channelsLast() {
	l, _ := layouts.Contiguous(2, 64, 56, 56)
	x := must(layouts.NewTensor(must(layouts.NewStorage(layouts.Float32, l.Numel())), l))
	y := apply(x, "contiguous(memory_format=torch.channels_last)")
	fmt.Println(y.Layout(), y.Layout().IsContiguous(), y.Layout().IsChannelsLast())
	// Output:
	// shape 2x64x56x56, strides (200704, 1, 3584, 64), offset 0 false true
}

func Example_broadcast() {
	a, _ := layouts.Contiguous(4, 3)
	b, _ := layouts.Contiguous(1, 3)
	both, _ := layouts.Broadcast(a, b)
	fmt.Println(both[0].Strides(), both[1].Strides())
	_, err := layouts.Broadcast(a, must(layouts.Contiguous(2, 3)))
	fmt.Println(err)
	// Output:
	// [3 1] [0 1]
	// broadcast: sizes 4 and 2 of dim -2 (counted from the last) do not match; equal sizes or 1 would
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// second is the error of a result.
func second(_ any, err error) error { return err }

// TestMetadata goes through what the articles tell of TensorImpl.
func TestMetadata(t *testing.T) {
	is := func(err error, x *layouts.Tensor, want string) {
		t.Helper()
		got := fmt.Sprintf("%v, %d B", x.Layout(), x.Storage().Bytes())
		if values, err := layouts.Values[int64](x); err == nil && len(values) > 0 {
			got += fmt.Sprint(", the last ", values[len(values)-1])
		}
		if err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}

	// Uninitialized until the first write, which allocates with its dtype.
	u := must(layouts.Uninitialized(2, 3))
	is(second(applied(u, "contiguous()")), u, "shape 2x3, strides (3, 1), offset 0, 0 B") // metadata alone
	if got := u.String(); !strings.Contains(got, "uninitialized") {
		t.Error(got)
	}
	is(layouts.Set[int64](u, 7, 1, 2), u, "shape 2x3, strides (3, 1), offset 0, 48 B, the last 7")

	// Sizes and strides together; negative strides are filled in. The last reaches beyond the storage.
	x := arange(24, "view(2,3,4)")
	is(x.SetSizesAndStrides([]int{2, 3, 4}, []int{-1, -1, -1}), x,
		"shape 2x3x4, strides (12, 4, 1), offset 0, 192 B, the last 23")
	is(x.SetSizesAndStrides([]int{2, 0, 4}, []int{-1, 7, -1}), x,
		"shape 2x0x4, strides (7, 7, 1), offset 0, 192 B")
	is(x.SetSizesAndStrides([]int{4, 100}, []int{-1, 3}), x,
		"shape 4x100, strides (300, 3), offset 0, 192 B")

	// The number of dims: new ones are 0.
	x = arange(24, "view(4,6)")
	is(x.ResizeDim(3), x, "shape 4x6x0, strides (6, 1, 0), offset 0, 192 B")
	is(x.ResizeDim(1), x, "shape 4, strides (6), offset 0, 192 B, the last 18")

	// Resize: within capacity the storage is kept, beyond it is given up.
	x = arange(24, "")
	is(x.Resize(math.MaxInt, 3, 4), x,
		"shape 3x4, strides (4, 1), offset 0, 192 B, the last 11")
	is(x.Resize(math.MaxInt, 5, 5), x, "shape 5x5, strides (5, 1), offset 0, 0 B")
	is(layouts.Set[int64](x, 1, 4, 4), x, "shape 5x5, strides (5, 1), offset 0, 200 B, the last 1")
	for surplus, kept := range map[int]string{-1: "0 B", 95: "0 B", 96: "192 B, the last 11"} {
		x = arange(24, "")
		is(x.Resize(surplus, 12), x, "shape 12, strides (1), offset 0, "+kept)
	}

	// resize_: same sizes change nothing, others are contiguous at the same
	// offset; the storage grows with its content and never shrinks.
	x = arange(12, "view(3,4).t()")
	is(x.ResizeTo(4, 3), x, "shape 4x3, strides (1, 4), offset 0, 96 B, the last 11")
	x = arange(12, "narrow(0,2,4)")
	is(x.ResizeTo(5, 2), x, "shape 5x2, strides (2, 1), offset 2, 96 B, the last 11")
	is(x.ResizeTo(5, 4), x, "shape 5x4, strides (4, 1), offset 2, 176 B, the last 0")

	// Reserve: a reserved storage is kept whatever the rule, if it is large enough.
	x = must(layouts.Zeros(layouts.Int64, 2, 3))
	is(x.Reserve(10), x, "shape 2x3, strides (3, 1), offset 0, 240 B, the last 0")
	is(x.Resize(-1, 1, 3), x, "shape 1x3, strides (3, 1), offset 0, 240 B, the last 0")
	is(x.Resize(-1, 11, 3), x, "shape 11x3, strides (3, 1), offset 0, 0 B")

	// Detach shares storage and has metadata of its own.
	x = arange(12, "view(3,4)")
	d := x.Detach(true)
	is(d.ReshapeInPlace(12), x, "shape 3x4, strides (4, 1), offset 0, 96 B, the last 11")
	is(layouts.Set[int64](d, 9, 11), x, "shape 3x4, strides (4, 1), offset 0, 96 B, the last 9")

	// No element, no byte, until it grows.
	u = must(layouts.Uninitialized(0, 3))
	is(second(layouts.MutableData[int64](u)), u, "shape 0x3, strides (3, 1), offset 0, 0 B")
	is(u.ResizeTo(2, 3), u, "shape 2x3, strides (3, 1), offset 0, 48 B, the last 0")
	u = must(layouts.Uninitialized(4))
	is(u.SetSizesAndStrides([]int{0, 1 << 40}, []int{1 << 50, 1}), u,
		"shape 0x1099511627776, strides (1125899906842624, 1), offset 0, 0 B")
	is(second(layouts.MutableData[int64](u)), u,
		"shape 0x1099511627776, strides (1125899906842624, 1), offset 0, 0 B")
	is(nil, must(layouts.Zeros(layouts.Int64, 3, 0)), "shape 3x0, strides (1, 1), offset 0, 0 B")
	is(nil, arange(12, "narrow(0,5,0).clone()"), "shape 0, strides (1), offset 0, 0 B")

	// A size may be negative where PyTorch's rule for views has it, in place too.
	x = must(layouts.Zeros(layouts.Int64, 0, 1))
	is(x.ResizeTo(0, -2), x, "shape 0x-2, strides (1, 1), offset 0, 0 B")
	is(x.Resize(math.MaxInt, 0, -3), x, "shape 0x-3, strides (1, 1), offset 0, 0 B")
	is(x.SetSizesAndStrides([]int{0, -2}, []int{1, 1}), x, "shape 0x-2, strides (1, 1), offset 0, 0 B")
	is(x.ReshapeInPlace(0, -4), x, "shape 0x-4, strides (1, 1), offset 0, 0 B")
}

// TestOthersKeepTheirContent: what one tensor does to its storage changes no
// element that another tensor reads.
func TestOthersKeepTheirContent(t *testing.T) {
	changes := map[string]func(x *layouts.Tensor) error{
		"reserve": func(x *layouts.Tensor) error {
			if err := x.Reserve(100); err == nil || !strings.Contains(err.Error(), "other tensors share") {
				return fmt.Errorf("reserve: %v, want a refusal", err)
			}
			return nil
		},
		"grow":    func(x *layouts.Tensor) error { return x.ResizeTo(50) },
		"give up": func(x *layouts.Tensor) error { return x.Resize(math.MaxInt, 50) },
		"give up and write": func(x *layouts.Tensor) error {
			return errors.Join(x.Resize(-1, 2), layouts.Set[int64](x, 7, 1))
		},
	}
	for name, change := range changes {
		for seen := range 5 {
			x := arange(6, "")
			of := func() *layouts.Tensor { return must(layouts.NewTensor(x.Storage(), x.Layout())) }
			y := []func() *layouts.Tensor{
				func() *layouts.Tensor { return apply(x, "view(3,2)") },
				func() *layouts.Tensor { return x.Detach(true) },
				func() *layouts.Tensor { return apply(x, "reshape(3,2)") },
				of,
				func() *layouts.Tensor { y := of(); *x = *of(); return y },
			}[seen]()
			if err := change(x); err != nil {
				t.Errorf("%s, seen by %d: %v", name, seen, err)
			}
			if v, err := layouts.Values[int64](y); err != nil ||
				!slices.Equal(v, []int64{0, 1, 2, 3, 4, 5}) {
				t.Errorf("%s: the tensor %d reads %v, %v", name, seen, v, err)
			}
		}
	}
}

// TestReadingTogether: several goroutines may look at a tensor and make views
// and copies of it (run with -race).
func TestReadingTogether(t *testing.T) {
	x := arange(24, "view(2,3,4)")
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for _, chain := range []string{"view(24)", "transpose(0,2)", "expand(5,2,3,4)", "unfold(2,2,1)",
				"diagonal()",
				"as_strided((2,2),(1,1))", "reshape(6,4)", "flatten(0,1)", "flip(0)", "contiguous()",
				"to(torch.half)", "repeat(2,1,1,1)"} {
				_ = apply(x, chain).String()
			}
			must(layouts.NewTensor(x.Detach(false).Storage(), x.Layout()))
			_, _ = x.Address(0, 0, 0)
		})
	}
	readers.Wait()
}

// TestErrorsNameTheOperation: whatever takes sizes says who refused them.
func TestErrorsNameTheOperation(t *testing.T) {
	x := arange(12, "view(3,4)")
	beyond, frozen := arange(24, ""), x.Detach(false)
	empty := must(layouts.Zeros(layouts.Int8, 0, 1))
	negative, unwritten := apply(empty, "expand(0,-2)"), must(layouts.Uninitialized(2, 3))
	if err := beyond.SetSizesAndStrides([]int{4, 100}, []int{-1, 3}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"new layout: shape 3 has 1 dims, strides [1 1] have 2": second(layouts.New([]int{3},
			[]int{1, 1}, 0)),
		"new layout: size -3 of dim 0 is negative": second(layouts.New([]int{-3,
			0}, []int{1, 1}, 0)),
		"new layout: shape 3 with strides [9223372036854775807] at": second(layouts.New([]int{3},
			[]int{math.MaxInt}, 0)),
		"contiguous layout: size -3 of dim 0 is negative": second(
			layouts.Contiguous(-3, 0)),
		"zeros: size -3 of dim 1 is negative": second(
			layouts.Zeros(layouts.Int8, 0, -3)),
		"zeros: storage of 4611686018427387904 int64 elements": second(
			layouts.Zeros(layouts.Int64, 1<<62)),
		"from slice: size -1 of dim 0 is negative": second(
			layouts.FromSlice([]int8{1}, -1)),
		"from slice: 1 values do not fill shape 2": second(
			layouts.FromSlice([]int8{1}, 2)),
		"uninitialized: size -1 of dim 1 is negative": second(
			layouts.Uninitialized(0, -1)),
		"storage of -1 int8 elements": second(
			layouts.NewStorage(layouts.Int8, -1)),
		"new tensor: shape 13, strides (1), offset 0 reaches elements": second(
			layouts.NewTensor(x.Storage(), must(layouts.Contiguous(13)))),
		"resize_: size -3 of dim 0 is negative":                        x.ResizeTo(-3),
		"resize_: shape 4611686018427387904, strides (1), offset 0 of": x.ResizeTo(1 << 62),
		"resize: size -3 of dim 1 is negative": x.Resize(math.MaxInt,
			2, -3),
		"reserve: size -3 of dim 0 is negative": arange(3, "").Reserve(-3),
		"reserve: the tensor is uninitialized": must(
			layouts.Uninitialized(3)).Reserve(3),
		"reshape in place: size -12 of dim 0 is negative": x.ReshapeInPlace(-12),
		"set sizes and strides: size -1 of dim 0 is negative": x.SetSizesAndStrides(
			[]int{-1}, []int{1}),
		"set sizes and strides: 2 sizes do not go with 1 strides": x.SetSizesAndStrides(
			[]int{1, 2}, []int{1}),
		"resize dim: -1 is not a number of dims":                     x.ResizeDim(-1),
		"resize_: the metadata of a detached tensor must not change": frozen.ResizeTo(1),
		"set sizes and strides: the metadata of": frozen.SetSizesAndStrides(
			[]int{1}, []int{1}),
		"resize dim: the metadata of": frozen.ResizeDim(2),
		"resize: the metadata of": frozen.Resize(
			math.MaxInt, 2),
		"reshape in place: the metadata of":                       frozen.ReshapeInPlace(2, 6),
		"reshape in place to 4x4 wants a contiguous tensor of 16": x.ReshapeInPlace(4, 4),
		"reshape in place to 12 wants a contiguous tensor of 12": apply(x,
			"t()").ReshapeInPlace(12),
		"reserve: other tensors share the storage": x.Reserve(100),
		"shape 4x100, strides (300, 3), offset 0 reaches elements 0 to 1197": second(
			layouts.Values[int64](beyond)),
		"the tensor is uninitialized": second(
			layouts.At[float32](unwritten, 0, 0)),
		"the tensor is uninitialized: nothing": second(applied(unwritten, "clone()")),
		"storage holds int64, not float64": layouts.Set[float64](x, 7, 0,
			0),
		"clone: the copy would have negative size -2":       second(applied(negative, "clone()")),
		"flip: the copy would have negative size -2":        second(applied(negative, "flip(0)")),
		"repeat: count 1 of dim 1 of size -2":               second(applied(negative, "repeat(1,1)")),
		"repeat: count -1 of dim 0 of size 3 gives no size": second(applied(x, "repeat(-1,1)")),
		"expand to [4611686018427387904 3 4]: shape 4611686018427387904": second(applied(x,
			"expand(4611686018427387904,3,4)")),
		"as_strided: size -3 of dim 0 is negative": second(applied(x, "as_strided((-3,),(1,),0)")),
		"unfold: size -1 of dim 2 is negative": second(applied(
			must(layouts.Zeros(layouts.Int8, 3, 0)), "unfold(1,-1,1)")),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

// TestNoOverflow: sizes and strides beyond int64 are refused everywhere.
func TestNoOverflow(t *testing.T) {
	const big = math.MaxInt
	x := arange(4, "view(1,4)")
	chain := func(format string, args ...any) error {
		return second(applied(x, fmt.Sprintf(format, args...)))
	}
	for i, err := range []error{
		chain("expand(%d,4)", big), chain("expand(%d,%d,4)", 1<<40, 1<<40),
		chain("view(%d,%d)", big, big), chain("reshape(%d,%d,4)", 1<<32, 1<<32),
		chain("unflatten(1,(%d,4,1))", 1<<62), chain("as_strided((2,),(%d,),%d)", big, big),
		chain("as_strided((3,3),(%d,%d),0)", big/2, big/2),
		chain("as_strided((2,-2,0),(1,1,1),0)"), chain("repeat(%d,2)", big),
		second(layouts.Zeros(layouts.Complex128, 1<<60)),
		second(layouts.Zeros(layouts.Uint8, 1<<32, 1<<32)),
		x.Resize(math.MaxInt, big, big), x.ResizeTo(big/8, 2),
		arange(4, "").Reserve(big),
		x.SetSizesAndStrides([]int{big, big}, []int{-1, -1}),
		chain("select(0,%d)", math.MinInt), chain("narrow(1,%d,1)", math.MinInt),
		chain("narrow(1,1,%d)", big),
		second(layouts.New([]int{3}, []int{big}, 0)),
		second(layouts.New([]int{3}, []int{math.MinInt}, 0)),
		second(layouts.Contiguous(0, 1<<40, 1<<40)),
	} {
		if err == nil {
			t.Errorf("number %d is accepted", i)
		}
	}
	// These have an answer: nothing, or one window.
	for _, text := range []string{"diagonal(-9223372036854775808,0,1)",
		"unfold(1,1,9223372036854775807)"} {
		if y := apply(x, text); y.Layout().Numel() > 1 {
			t.Errorf("%v", y.Layout())
		}
	}
}

// TestQuestions compares what strides decide with a look at every element.
func TestQuestions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(0, 4).Draw(t, "rank")
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), rank, rank).Draw(t, "shape")
		strides := rapid.SliceOfN(rapid.IntRange(-6, 30), rank, rank).Draw(t, "strides")
		l, err := layouts.New(shape, strides, 1000)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for at := range l.Offsets() {
			seen[at] = true
		}
		if want := len(seen) < l.Numel(); l.Overlaps() != want {
			t.Fatalf("%v overlaps: %v, want %v", l, l.Overlaps(), want)
		}
		low, high := l.Extent()
		if l.Numel() > 0 && (!seen[low] || !seen[high]) {
			t.Fatalf("%v reaches %d to %d", l, low, high)
		}
		if l.IsDense() && l.Numel() > 0 && (len(seen) != l.Numel() || high-low+1 != len(seen)) {
			t.Fatalf("%v is said to be dense", l)
		}
	})
	// 2^40 elements in padded rows, of which strides tell all, in whichever order they are.
	for _, wide := range []layouts.Layout{must(layouts.New([]int{1 << 20, 1 << 20}, []int{1 << 21, 1},
		0)), must(layouts.New([]int{1 << 20, 1 << 20}, []int{1, 1 << 21}, 0))} {
		if wide.Overlaps() {
			t.Errorf("%v is said to overlap", wide)
		}
	}
	// The older rule of channels_last leaves out what has one channel and one place.
	if l := must(layouts.New([]int{2, 1, 1, 1}, []int{1, 1, 1, 1}, 0)); l.HasChannelsLastStrides() {
		t.Errorf("%v", l)
	}
}
