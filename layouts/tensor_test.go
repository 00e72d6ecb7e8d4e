package layouts_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// A chained applies views one after the other and keeps the first error, so
// that the examples read as the articles do.
func apply(x *layouts.Tensor, chain string) *layouts.Tensor {
	y, err := applied(x, chain)
	if err != nil {
		panic(err)
	}
	return y
}

func arange(n int, chain string) *layouts.Tensor {
	x, err := layouts.Arange(layouts.Int64, n)
	if err != nil {
		panic(err)
	}
	return apply(x, chain)
}

func ok(x *layouts.Tensor, err error) *layouts.Tensor {
	if err != nil {
		panic(err)
	}
	return x
}

// The transpose of a matrix is the same storage seen with other strides;
// contiguous() copies it in the order of its indices.
func Example_transposeAndContiguous() {
	a := arange(12, "view(3,4)")
	b := apply(a, "transpose(0,1)")
	fmt.Println(a.Layout().Strides(), b.Layout().Strides(), a.Storage() == b.Storage())
	_, err := b.View(-1)
	fmt.Println(err)
	c := ok(b.Contiguous())
	fmt.Println(c.Layout().Strides(), c.Storage() == b.Storage())
	fmt.Println(ok(c.View(-1)))
	// Output:
	// [4 1] [1 4] true
	// view: shape 4x3, strides (1, 4), offset 0 cannot become shape 12 without a copy: dims 0 and 1 do not merge, since stride 1 is not 3*4 (size and stride of dim 1); reshape copies where it must, and a contiguous copy has the view
	// [3 1] false
	// tensor([ 0,  4,  8,  1,  5,  9,  2,  6, 10,  3,  7, 11])
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
	r := ok(column.Repeat(1, 3))
	fmt.Println(r.Layout(), r.Storage() == column.Storage())
	x := arange(6, "view(2,3)")
	fmt.Println(apply(x, "unsqueeze(2).expand(2,3,3)").Layout())
	fmt.Println(apply(ok(arange(6, "view(2,3,1)").Repeat(1, 1, 8)), "view(2,-1,2)").Layout())
	// Output:
	// shape 4x3, strides (0, 1), offset 0
	// shape 2x3, strides (3, 1), offset 0 false
	// shape 2x3x3, strides (3, 1, 0), offset 0
	// shape 2x12x2, strides (24, 2, 1), offset 0
}

func Example_narrow() {
	x := arange(12, "view(3,4)")
	y := apply(x, "narrow(1,1,2)")
	fmt.Println(y.Layout())
	// Output:
	// shape 3x2, strides (4, 1), offset 1
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

func Example_sharedStorage() {
	x := arange(6, "view(2,3)")
	y := apply(x, "t()")
	if err := layouts.Set[int64](x, 42, 0, 0); err != nil {
		panic(err)
	}
	v, _ := layouts.At[int64](y, 0, 0)
	fmt.Println(v)
	// Output:
	// 42
}

func Example_channelsLast() {
	l, _ := layouts.Contiguous(32, 64, 56, 56)
	x := ok(layouts.NewTensor(must(layouts.NewStorage(layouts.Float32, l.Numel())), l))
	y := ok(x.ContiguousIn(layouts.ChannelsLast))
	fmt.Println(y.Layout(), y.Layout().IsContiguous(), y.Layout().IsChannelsLast())
	fmt.Println(y.Layout().ByteStrides(layouts.Float32))
	// Output:
	// shape 32x64x56x56, strides (200704, 1, 3584, 64), offset 0 false true
	// [802816 4 14336 256]
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

// TestMetadata goes through what the articles tell of TensorImpl.
func TestMetadata(t *testing.T) {
	check := func(x *layouts.Tensor, want string) {
		t.Helper()
		if got := x.Layout().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	// Uninitialized until the first write, which allocates with its dtype.
	u := ok(layouts.Uninitialized(2, 3))
	_, err := layouts.At[float32](u, 0, 0)
	refused(err, "uninitialized")
	_, err = u.Contiguous()
	do(err) // metadata alone
	_, err = u.Clone()
	refused(err, "uninitialized")
	if u.DType() != layouts.Undefined || u.Storage().Bytes() != 0 {
		t.Errorf("an uninitialized tensor is %s of %d B", u.DType(), u.Storage().Bytes())
	}
	do(layouts.Set[float32](u, 7, 1, 2))
	if v, err := layouts.At[float32](u, 1, 2); v != 7 || err != nil || u.DType() != layouts.Float32 || u.Storage().Bytes() != 24 {
		t.Errorf("after the first write: %v, %v, %s of %d B", v, err, u.DType(), u.Storage().Bytes())
	}
	refused(layouts.Set[float64](u, 7, 0, 0), "storage holds float32, not float64")

	// Sizes and strides together; negative strides are filled in.
	x := arange(24, "view(2,3,4)")
	refused(x.SetSizesAndStrides([]int{2, 3}, []int{1}), "2 sizes do not go with 1 strides")
	do(x.SetSizesAndStrides([]int{2, 3, 4}, []int{-1, -1, -1}))
	check(x, "shape 2x3x4, strides (12, 4, 1), offset 0")
	do(x.SetSizesAndStrides([]int{2, 0, 4}, []int{-1, 7, -1}))
	check(x, "shape 2x0x4, strides (7, 7, 1), offset 0")
	do(x.SetSizesAndStrides([]int{4, 100}, []int{-1, 3}))
	check(x, "shape 4x100, strides (300, 3), offset 0")
	_, err = layouts.Values[int64](x)
	refused(err, "reaches elements 0 to 1197 of a storage of 24")

	// The number of dims: new ones are 0.
	x = arange(24, "view(4,6)")
	do(x.ResizeDim(3))
	check(x, "shape 4x6x0, strides (6, 1, 0), offset 0")
	do(x.ResizeDim(1))
	check(x, "shape 4, strides (6), offset 0")
	refused(x.ResizeDim(-1), "not a number of dims")

	// Resize: within capacity the storage is kept, beyond it is given up.
	x = arange(24, "")
	before := x.Storage()
	do(x.Resize(layouts.KeepAlways, 3, 4))
	if v, err := layouts.At[int64](x, 2, 3); v != 11 || err != nil || x.Storage() != before || x.Storage().Bytes() != 192 {
		t.Errorf("after shrinking: %v, %v, %d B", v, err, x.Storage().Bytes())
	}
	do(x.Resize(layouts.KeepAlways, 5, 5))
	_, err = layouts.At[int64](x, 0, 0)
	refused(err, "uninitialized")
	do(layouts.Set[int64](x, 1, 4, 4))
	if x.Storage().Bytes() != 200 {
		t.Errorf("after growing: %d B", x.Storage().Bytes())
	}
	for _, c := range []struct {
		rule layouts.KeepRule
		kept bool
	}{{layouts.KeepRule{OnShrink: false}, false}, {layouts.KeepRule{OnShrink: true, MaxSurplus: 95}, false}, {layouts.KeepRule{OnShrink: true, MaxSurplus: 96}, true}} {
		y := arange(24, "")
		do(y.Resize(c.rule, 12))
		if kept := y.Storage().Bytes() == 192; kept != c.kept {
			t.Errorf("%+v: kept %v", c.rule, kept)
		}
	}

	// resize_: same sizes change nothing, others are contiguous at the same
	// offset; the storage grows with its content and never shrinks.
	x = arange(12, "view(3,4).t()")
	do(x.ResizeTo(4, 3))
	check(x, "shape 4x3, strides (1, 4), offset 0")
	x = arange(12, "narrow(0,2,4)")
	do(x.ResizeTo(5, 4))
	check(x, "shape 5x4, strides (4, 1), offset 2")
	if v, err := layouts.At[int64](x, 2, 1); v != 11 || err != nil || x.Storage().Len() != 22 {
		t.Errorf("after resize_: %v, %v, %d elements", v, err, x.Storage().Len())
	}

	// Reserve and extend.
	x = ok(layouts.Arange(layouts.Int64, 6))
	do(x.ReshapeInPlace(2, 3))
	do(x.Reserve(10))
	if x.Storage().Bytes() != 240 {
		t.Errorf("reserved %d B", x.Storage().Bytes())
	}
	do(x.Resize(layouts.KeepRule{}, 1, 3)) // a reserved storage is kept whatever the rule
	if x.Storage().Bytes() != 240 {
		t.Errorf("of the reserved, %d B are left", x.Storage().Bytes())
	}
	do(x.Resize(layouts.KeepRule{}, 11, 3))
	if x.Storage().Bytes() != 0 {
		t.Errorf("too small a storage is kept: %d B", x.Storage().Bytes())
	}
	x = ok(layouts.Arange(layouts.Int64, 6))
	do(x.ReshapeInPlace(2, 3))
	do(x.Extend(1, 50))
	check(x, "shape 3x3, strides (3, 1), offset 0")
	if v, err := layouts.At[int64](x, 1, 2); v != 5 || err != nil || x.Storage().Len() != 9 {
		t.Errorf("extended: %v, %v, %d elements", v, err, x.Storage().Len())
	}
	do(x.Extend(1, 100))
	if x.Storage().Len() != 18 {
		t.Errorf("extended by 100%%: %d elements", x.Storage().Len())
	}
	do(x.Extend(2, 100)) // within what is there
	if x.Storage().Len() != 18 || x.Layout().Size(0) != 6 {
		t.Errorf("extended within capacity: %v of %d elements", x.Layout(), x.Storage().Len())
	}
	refused(x.Extend(-1, 0), "nothing negative")
	apply(x, "t()")
	refused(x.Reserve(100), "other tensors share the storage")

	// Reshape in place keeps the number of elements.
	refused(x.ReshapeInPlace(4, 4), "wants a contiguous tensor of 16 elements")
	do(x.ReshapeInPlace(18))
	refused(apply(arange(6, "view(2,3)"), "t()").ReshapeInPlace(6), "wants a contiguous tensor")

	// Detach shares storage and may forbid changes of metadata.
	d := x.Detach(false)
	if d.Storage() != x.Storage() {
		t.Error("detach copies")
	}
	for _, err := range []error{d.SetSizesAndStrides([]int{1}, []int{1}), d.ResizeDim(2), d.Resize(layouts.KeepAlways, 2), d.ResizeTo(2), d.ReshapeInPlace(2, 9), d.Extend(1, 0)} {
		refused(err, "must not change")
	}
	do(x.ReshapeInPlace(3, 6))
	check(d, "shape 18, strides (1), offset 0")
	free := x.Detach(true)
	do(free.ReshapeInPlace(18))
	check(x, "shape 3x6, strides (6, 1), offset 0")
}

// TestEmptyTensorsHaveNoMemory: no element, no byte, however the storage comes.
func TestEmptyTensorsHaveNoMemory(t *testing.T) {
	u := ok(layouts.Uninitialized(0, 3))
	data, err := layouts.MutableData[int64](u)
	if err != nil || len(data) != 0 || u.Storage().Bytes() != 0 || u.DType() != layouts.Int64 {
		t.Errorf("the first write to no element: %v, %v, %s of %d B", data, err, u.DType(), u.Storage().Bytes())
	}
	if err := u.ResizeTo(2, 3); err != nil {
		t.Fatal(err)
	}
	if v, err := layouts.Values[int64](u); err != nil || len(v) != 6 {
		t.Errorf("grown from no element: %v, %v", v, err)
	}
	far := ok(layouts.Uninitialized(4))
	if err := far.SetSizesAndStrides([]int{0, 1 << 40}, []int{1 << 50, 1}); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*layouts.Tensor{"uninitialized": far, "zeros": ok(layouts.Zeros(layouts.Int64, 3, 0)),
		"a copy of none of some": ok(ok(arange(12, "").Narrow(0, 5, 0)).Clone())} {
		if _, err := layouts.MutableData[int64](x); err != nil || x.Storage().Bytes() != 0 {
			t.Errorf("%s: %v, %d B", name, err, x.Storage().Bytes())
		}
	}
	if allocated := testing.AllocsPerRun(10, func() { _, _ = layouts.NewStorage(layouts.Int64, 0) }); allocated > 1 {
		t.Errorf("a storage of no element is %v allocations, want the Storage alone", allocated)
	}
}

// TestOthersKeepTheirContent: what one tensor does to its storage changes no
// element that another tensor reads.
func TestOthersKeepTheirContent(t *testing.T) {
	others := map[string]func(x *layouts.Tensor) *layouts.Tensor{
		"view":   func(x *layouts.Tensor) *layouts.Tensor { return apply(x, "view(3,2)") },
		"detach": func(x *layouts.Tensor) *layouts.Tensor { return x.Detach(true) },
		"tensor of the storage": func(x *layouts.Tensor) *layouts.Tensor {
			return ok(layouts.NewTensor(x.Storage(), must(layouts.Contiguous(2, 3))))
		},
		"both of the storage": func(x *layouts.Tensor) *layouts.Tensor {
			y := ok(layouts.NewTensor(x.Storage(), must(layouts.Contiguous(6))))
			*x = *ok(layouts.NewTensor(x.Storage(), must(layouts.Contiguous(6))))
			return y
		},
		"reshape": func(x *layouts.Tensor) *layouts.Tensor { return ok(x.Reshape(3, 2)) },
	}
	changes := map[string]func(x *layouts.Tensor) error{
		"reserve": func(x *layouts.Tensor) error {
			if err := x.Reserve(100); err == nil || !strings.Contains(err.Error(), "other tensors share the storage") {
				return fmt.Errorf("reserve: %v, want a refusal", err)
			}
			return nil
		},
		"grow":    func(x *layouts.Tensor) error { return x.ResizeTo(50) },
		"extend":  func(x *layouts.Tensor) error { return x.Extend(9, 50) },
		"give up": func(x *layouts.Tensor) error { return x.Resize(layouts.KeepAlways, 50) },
		"give up and write": func(x *layouts.Tensor) error {
			if err := x.Resize(layouts.KeepRule{}, 2); err != nil {
				return err
			}
			return layouts.Set[int64](x, 7, 1)
		},
	}
	for seen, other := range others {
		for name, change := range changes {
			x := ok(layouts.Arange(layouts.Int64, 6))
			y := other(x)
			if err := change(x); err != nil {
				t.Errorf("%s with %s: %v", name, seen, err)
			}
			if v, err := layouts.Values[int64](y); err != nil || !slices.Equal(v, upTo64(6)) {
				t.Errorf("%s: the %s reads %v, %v", name, seen, v, err)
			}
		}
	}
	x := ok(layouts.Arange(layouts.Int64, 6)) // which no other sees
	if err := x.Reserve(100); err != nil || x.Storage().Len() != 100 {
		t.Errorf("reserve: %v, %d elements", err, x.Storage().Len())
	}
}

func upTo64(n int64) (s []int64) {
	for i := range n {
		s = append(s, i)
	}
	return s
}

// TestReadingTogether: several goroutines may look at a tensor and make views
// and copies of it (run with -race).
func TestReadingTogether(t *testing.T) {
	x := arange(24, "view(2,3,4)")
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for _, view := range []string{"view(24)", "transpose(0,2)", "permute(2,0,1)", "narrow(1,0,2)", "select(0,1)", "slice(2,0,4,2)", "unsqueeze(0)", "squeeze()",
				"expand(5,2,3,4)", "unflatten(2,(2,2))", "movedim(0,2)", "unfold(2,2,1)", "diagonal()", "as_strided((2,2),(1,1))"} {
				apply(x, view)
			}
			ok(ok(x.Reshape(6, 4)).T())
			x.Detach(false)
			ok(layouts.NewTensor(x.Storage(), x.Layout()))
			for _, y := range []*layouts.Tensor{ok(x.Clone()), ok(x.Flatten(0, 1)), ok(x.Flip(0)), ok(x.Repeat(2, 1, 1, 1)), ok(x.Contiguous()), ok(x.To(layouts.Float32))} {
				_ = y.String()
			}
			_, _ = layouts.Values[int64](x)
			_, _ = layouts.At[int64](x, 0, 0, 0)
			_, _ = x.Address(0, 0, 0)
		})
	}
	readers.Wait()
}

// TestNegativeSizesGoOneWay: what a view may have, or a tensor that is resized
// in place, PyTorch's rule decides; what is allocated has none.
func TestNegativeSizesGoOneWay(t *testing.T) {
	empty := func() *layouts.Tensor { return ok(layouts.Zeros(layouts.Int8, 0, 1)) }
	n := ok(empty().Expand(0, -2))
	takes := map[string]error{
		"resize_":               empty().ResizeTo(0, -2),
		"resize":                empty().Resize(layouts.KeepAlways, 0, -2),
		"set sizes and strides": empty().SetSizesAndStrides([]int{0, -2}, []int{1, 1}),
		"reshape in place":      empty().ReshapeInPlace(0, -2),
	}
	for _, sizes := range [][]int{{0, -2}, {-2, 0}, {0, -2, -3}} {
		_, takes[fmt.Sprint("as_strided ", sizes)] = empty().AsStrided(sizes, make([]int, len(sizes)), 0)
	}
	for name, err := range takes {
		if err != nil {
			t.Errorf("%s: %v, PyTorch takes it", name, err)
		}
	}
	_, clone := n.Clone()
	_, flip := n.Flip(0)
	_, repeat := n.Repeat(1, 1)
	_, overflow := empty().AsStrided([]int{2, -2, 0}, []int{1, 1, 1}, 0)
	_, full := arange(4, "").AsStrided([]int{-2}, []int{1}, 0)
	_, zeros := layouts.Zeros(layouts.Int8, 0, -2)
	for name, err := range map[string]error{"clone": clone, "flip": flip, "repeat": repeat, "zeros": zeros, "a product that overflows": overflow,
		"a tensor that is not empty": full, "resize_ of it": arange(4, "").ResizeTo(-2), "reserve": empty().Reserve(-2)} {
		if err == nil {
			t.Errorf("%s is taken, PyTorch refuses it", name)
		}
	}
}

// TestErrorsNameTheOperation: whatever takes sizes says who refused them.
func TestErrorsNameTheOperation(t *testing.T) {
	x := arange(12, "view(3,4)")
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"new layout: shape 3 has 1 dims, strides [1 1] have 2":           second(layouts.New([]int{3}, []int{1, 1}, 0)),
		"new layout: size -3 of dim 0 is negative":                       second(layouts.New([]int{-3, 0}, []int{1, 1}, 0)),
		"new layout: shape 3 with strides [9223372036854775807] at":      second(layouts.New([]int{3}, []int{math.MaxInt}, 0)),
		"contiguous layout: size -3 of dim 0 is negative":                second(layouts.Contiguous(-3, 0)),
		"zeros: size -3 of dim 1 is negative":                            second(layouts.Zeros(layouts.Int8, 0, -3)),
		"zeros: storage of 4611686018427387904 int64 elements":           second(layouts.Zeros(layouts.Int64, 1<<62)),
		"arange: size -1 of dim 0 is negative":                           second(layouts.Arange(layouts.Int8, -1)),
		"from slice: size -1 of dim 0 is negative":                       second(layouts.FromSlice([]int8{1}, -1)),
		"from slice: 1 values do not fill shape 2":                       second(layouts.FromSlice([]int8{1}, 2)),
		"uninitialized: size -1 of dim 1 is negative":                    second(layouts.Uninitialized(0, -1)),
		"storage of -1 int8 elements":                                    second(layouts.NewStorage(layouts.Int8, -1)),
		"new tensor: shape 13, strides (1), offset 0 reaches elements":   second(layouts.NewTensor(x.Storage(), must(layouts.Contiguous(13)))),
		"resize_: size -3 of dim 0 is negative":                          x.ResizeTo(-3),
		"resize_: shape 4611686018427387904, strides (1), offset 0 of":   x.ResizeTo(1 << 62),
		"resize: size -3 of dim 1 is negative":                           x.Resize(layouts.KeepAlways, 2, -3),
		"reserve: size -3 of dim 0 is negative":                          ok(layouts.Arange(layouts.Int8, 3)).Reserve(-3),
		"reserve: the tensor is uninitialized":                           ok(layouts.Uninitialized(3)).Reserve(3),
		"extend by 9223372036854775807: dim 0 of size 3 becomes more":    x.Extend(math.MaxInt, 0),
		"extend: shape 2305843009213693955x4 has more elements than":     x.Extend(1<<61, 0),
		"reshape in place: size -12 of dim 0 is negative":                x.ReshapeInPlace(-12),
		"set sizes and strides: size -1 of dim 0 is negative":            x.SetSizesAndStrides([]int{-1}, []int{1}),
		"set sizes and strides: 2 sizes do not go with 1 strides":        x.SetSizesAndStrides([]int{1, 2}, []int{1}),
		"resize dim: -1 is not a number of dims":                         x.ResizeDim(-1),
		"resize_: the metadata of a detached tensor must not change":     x.Detach(false).ResizeTo(1),
		"repeat: count -1 of dim 0 of size 3 gives no size":              second(x.Repeat(-1, 1)),
		"expand to [4611686018427387904 3 4]: shape 4611686018427387904": second(x.Expand(1<<62, 3, 4)),
		"as_strided: size -3 of dim 0 is negative":                       second(x.AsStrided([]int{-3}, []int{1}, 0)),
		"unfold: size -1 of dim 2 is negative":                           second(ok(layouts.Zeros(layouts.Int8, 3, 0)).Unfold(1, -1, 1)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

// TestQuestions compares what strides decide with a look at every element.
func TestQuestions(t *testing.T) {
	yes := 0
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
		if l.Overlaps() {
			yes++
		}
	})
	if yes == 0 && !testing.Short() {
		t.Error("no layout overlapped")
	}
	// 2^40 elements in padded rows, of which strides tell all, in whichever order they are.
	for _, wide := range []layouts.Layout{must(layouts.New([]int{1 << 20, 1 << 20}, []int{1 << 21, 1}, 0)), must(layouts.New([]int{1 << 20, 1 << 20}, []int{1, 1 << 21}, 0))} {
		if wide.Overlaps() {
			t.Errorf("%v is said to overlap", wide)
		}
	}
	// Cases where the rules of channels_last part ways.
	for _, c := range []struct {
		shape, strides        []int
		contiguous, last, old bool
	}{
		{[]int{2, 3, 4, 5}, []int{60, 1, 15, 3}, false, true, true},
		{[]int{2, 3, 4, 5}, []int{60, 20, 5, 1}, true, false, false},
		{[]int{2, 1, 4, 5}, []int{20, 20, 5, 1}, true, true, false},
		{[]int{2, 1, 4, 5}, []int{20, 1, 5, 1}, true, true, true},
		{[]int{2, 3, 1, 1}, []int{3, 1, 1, 1}, true, true, false},
		{[]int{2, 3, 1, 1}, []int{3, 1, 3, 3}, true, true, true},
		{[]int{2, 3, 4, 0}, []int{0, 1, 0, 3}, true, true, false},
	} {
		l := must(layouts.New(c.shape, c.strides, 0))
		if l.IsContiguous() != c.contiguous || l.IsChannelsLast() != c.last || l.HasChannelsLastStrides() != c.old {
			t.Errorf("%v: contiguous %v, channels last %v, older rule %v; want %v, %v, %v", l, l.IsContiguous(), l.IsChannelsLast(),
				l.HasChannelsLastStrides(), c.contiguous, c.last, c.old)
		}
	}
}

// TestCopiesKeepValues: whatever the view, its copies hold its values, and
// reshaping there and back changes nothing.
func TestCopiesKeepValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "shape")
		numel := 1
		for _, n := range shape {
			numel *= n
		}
		x := ok(ok(layouts.Arange(layouts.Int64, numel)).View(shape...))
		x = ok(x.Permute(rapid.Permutation(nest.UpTo(len(shape))).Draw(t, "perm")...))
		d := rapid.IntRange(0, len(shape)-1).Draw(t, "dim")
		x = ok(x.Slice(d, rapid.IntRange(0, 2).Draw(t, "start"), 9, rapid.IntRange(1, 2).Draw(t, "step")))
		want, err := layouts.Values[int64](x)
		if err != nil {
			t.Fatal(err)
		}
		flat := ok(x.Reshape(-1))
		twice := ok(ok(x.Flip(d)).Flip(d))
		repeated := ok(ok(x.Unsqueeze(0)).Repeat(append([]int{2}, ones(len(shape))...)...))
		for name, y := range map[string]*layouts.Tensor{"contiguous": ok(x.Contiguous()), "clone": ok(x.Clone()), "reshape": flat,
			"back": ok(flat.Reshape(x.Layout().Shape()...)), "flip twice": twice, "repeat": ok(repeated.Select(0, 1)),
			"float64 and back": ok(ok(x.To(layouts.Float64)).To(layouts.Int64))} {
			got, err := layouts.Values[int64](y)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s of %v is %v, %v, want %v", name, x.Layout(), got, err, want)
			}
		}
		if c := ok(x.Contiguous()); (c == x) != x.Layout().IsContiguous() || !c.Layout().IsContiguous() {
			t.Fatalf("contiguous of %v is %v", x.Layout(), c.Layout())
		}
		if _, err := x.View(-1); (err == nil) != (flat.Storage() == x.Storage()) {
			t.Fatalf("%v: view gives %v, but reshape shares: %v", x.Layout(), err, flat.Storage() == x.Storage())
		}
	})
}

func ones(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// TestNoOverflow: sizes and strides beyond int64 are refused everywhere.
func TestNoOverflow(t *testing.T) {
	const big = math.MaxInt
	x := arange(4, "view(1,4)")
	for name, f := range map[string]func() (*layouts.Tensor, error){
		"expand":      func() (*layouts.Tensor, error) { return x.Expand(big, 4) },
		"expand lead": func() (*layouts.Tensor, error) { return x.Expand(1<<40, 1<<40, 4) },
		"view":        func() (*layouts.Tensor, error) { return x.View(big, big) },
		"reshape":     func() (*layouts.Tensor, error) { return x.Reshape(1<<32, 1<<32, 4) },
		"unflatten":   func() (*layouts.Tensor, error) { return x.Unflatten(1, 1<<62, 4, 1) },
		"as_strided":  func() (*layouts.Tensor, error) { return x.AsStrided([]int{2}, []int{big}, big) },
		"as_strided 2": func() (*layouts.Tensor, error) {
			return x.AsStrided([]int{3, 3}, []int{big / 2, big / 2}, 0)
		},
		"repeat":  func() (*layouts.Tensor, error) { return x.Repeat(big, 2) },
		"zeros":   func() (*layouts.Tensor, error) { return layouts.Zeros(layouts.Complex128, 1<<60) },
		"zeros 2": func() (*layouts.Tensor, error) { return layouts.Zeros(layouts.Uint8, 1<<32, 1<<32) },
		"resize":  func() (*layouts.Tensor, error) { return nil, x.Resize(layouts.KeepAlways, big, big) },
		"resize_": func() (*layouts.Tensor, error) { return nil, x.ResizeTo(big/8, 2) },
		"reserve": func() (*layouts.Tensor, error) {
			y := ok(layouts.Arange(layouts.Int64, 4))
			return nil, y.Reserve(big)
		},
		"extend": func() (*layouts.Tensor, error) { return nil, x.Extend(big, 0) },
		"strides": func() (*layouts.Tensor, error) {
			return nil, x.SetSizesAndStrides([]int{big, big}, []int{-1, -1})
		},
		"diagonal": func() (*layouts.Tensor, error) { return x.Diagonal(math.MinInt, 0, 1) },
		"select":   func() (*layouts.Tensor, error) { return x.Select(0, math.MinInt) },
		"narrow":   func() (*layouts.Tensor, error) { return x.Narrow(1, math.MinInt, 1) },
		"narrow 2": func() (*layouts.Tensor, error) { return x.Narrow(1, 1, big) },
		"unfold":   func() (*layouts.Tensor, error) { return x.Unfold(1, 1, big) },
	} {
		y, err := f()
		switch name { // these have an answer: nothing, or one window
		case "diagonal", "unfold":
			if err != nil || y.Layout().Numel() > 1 {
				t.Errorf("%s: %v, %v", name, y, err)
			}
		default:
			if err == nil {
				t.Errorf("%s is accepted", name)
			}
		}
	}
}
