package layouts_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stridebench/stridebench/layouts"
)

// A geometry is a layout at offset 0 as a recorder writes it.
type geometry struct {
	Shape, Strides []int
}

func (g geometry) layout() layouts.Layout { return must(layouts.New(g.Shape, g.Strides, 0)) }

func geometryOf(l layouts.Layout) geometry { return geometry{l.Shape(), l.Strides()} }

// TestElementwise: results of PyTorch's elementwise operators have our strides,
// by the recorded set-up.
func TestElementwise(t *testing.T) {
	type elementwiseCase struct {
		ID, Op string
		Inputs []struct {
			geometry
			DType string
		}
		Convert []int
		geometry
		Kind  string
		Error string
	}
	ours := os.Getenv("TORCH_VECTORS") == "" // others may have operators with types of their own
	eachCase(t, "torch/elementwise.jsonl.gz", func(c elementwiseCase) {
		var inputs []layouts.Layout
		var dtypes [2][]layouts.DType // of tensors with dims and without
		for i, in := range c.Inputs {
			l, d := in.layout(), must(layouts.ParseDType(in.DType))
			group := min(1, max(0, 1-l.Rank()))
			dtypes[group] = append(dtypes[group], d)
			if slices.Contains(c.Convert, i) {
				l = must(l.Preserved())
			}
			inputs = append(inputs, l)
		}
		for i, in := range c.Inputs {
			differs := in.DType != layouts.ResultType(dtypes[0], dtypes[1], nil).String()
			if ours && c.Op != "where" && differs != slices.Contains(c.Convert, i) {
				t.Errorf("%s: %s converts %v of %v", c.ID, c.Op, c.Convert, c.Inputs)
			}
		}
		it, err := layouts.Elementwise(inputs...)
		if err != nil || c.Error != "" {
			if (err == nil) != (c.Error == "") {
				t.Errorf("%s: %s of %v: %v, PyTorch says %q", c.ID, c.Op, inputs, err, c.Error)
			}
			return
		}
		if diff := cmp.Diff(c.geometry, geometryOf(it.Output), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s of %v, PyTorch by %s (-PyTorch +ours):\n%s", c.ID, c.Op, inputs,
				c.Kind, diff)
		}
	})
}

// TestIterations: TensorIterator's own loops, over results to be allocated,
// destinations and reductions.
func TestIterations(t *testing.T) {
	type iterationCase struct {
		Kind     string
		InPlace  bool
		Operands []geometry
		Dims     []int
		Keepdim  bool
		Error    string
		Output   geometry
		Shape    []int
		Strides  [][]int
	}
	eachCase(t, "torch/iterations.jsonl.gz", func(c iterationCase) {
		var operands []layouts.Layout
		for _, g := range c.Operands {
			operands = append(operands, g.layout())
		}
		var it layouts.Iteration
		var err error
		switch {
		case c.Kind == "elementwise":
			it, err = layouts.Elementwise(operands...)
		case c.Kind == "reduction":
			it, err = layouts.Reduction(operands[0], c.Keepdim, c.Dims...)
		case c.InPlace:
			it, err = layouts.Into(operands[0], operands...)
		default:
			it, err = layouts.Into(operands[0], operands[1:]...)
		}
		if err != nil || c.Error != "" {
			if (err == nil) != (c.Error == "") {
				t.Errorf("%+v: %v, PyTorch says %q", c, err, c.Error)
			}
			return
		}
		walk := iterationCase{Output: geometryOf(it.Output), Shape: it.Walk[0].Shape()}
		for _, l := range it.Walk {
			walk.Strides = append(walk.Strides, l.Strides())
		}
		want := iterationCase{Output: c.Output, Shape: c.Shape, Strides: c.Strides}
		if diff := cmp.Diff(want, walk, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, in place %v, dims %v, keepdim %v of %v (-PyTorch +ours):\n%s", c.Kind, c.InPlace,
				c.Dims, c.Keepdim, operands, diff)
		}
	})
}

// TestCopies: which copies PyTorch transposes by blocks, and in which order it
// writes the others, as a destination shows that overlaps itself: what was
// written last is left.
func TestCopies(t *testing.T) {
	type copyCase struct {
		Dst, Src geometry
		DType    string
		SrcDType string `json:"src_dtype"`
		Block    int
		Left     []int
		Error    string
	}
	eachCase(t, "torch/copies.jsonl.gz", func(c copyCase) {
		dst, src := c.Dst.layout(), c.Src.layout()
		plan, err := layouts.Copy(dst, src, must(layouts.ParseDType(c.DType)),
			must(layouts.ParseDType(c.SrcDType)))
		if err != nil || c.Error != "" {
			if (err == nil) != (c.Error == "") {
				t.Errorf("copy of %s %v to %s %v: %v, PyTorch says %q", c.SrcDType, src, c.DType, dst, err,
					c.Error)
			}
			return
		}
		if plan.Block != c.Block {
			t.Errorf("copy of %s %v to %s %v: blocks of %d, PyTorch %d", c.SrcDType, src, c.DType, dst,
				plan.Block, c.Block)
		}
		if c.Left == nil {
			return
		}
		if left := leftBehind(plan, src, len(c.Left)); !slices.Equal(left, c.Left) {
			t.Errorf("copy of %v to %v leaves %v, PyTorch %v", src, dst, left, c.Left)
		}
	})
}

// leftBehind is what each place holds after a walk has copied to it the numbers
// of the source's elements.
func leftBehind(it layouts.Iteration, src layouts.Layout, places int) []int {
	number, n := map[int]int{}, 0
	for at := range src.Offsets() {
		number[at] = n
		n++
	}
	left := slices.Repeat([]int{-1}, places)
	to, from := slices.Collect(it.Walk[0].Offsets()), slices.Collect(it.Walk[1].Offsets())
	for i := range to {
		left[to[i]] = number[from[i]]
	}
	return left
}

// TestCopyOfNothing: a copy of no element walks nothing, and one to an expanded destination is
// refused.
func TestCopyOfNothing(t *testing.T) {
	x := must(layouts.New([]int{3, 4}, []int{0, 1}, 2))
	empty := must(layouts.New([]int{0, 4}, []int{1, 1}, 0))
	it, err := layouts.Copy(empty, empty, layouts.Int8, layouts.Int8)
	if err != nil || it.Walk != nil || it.Block != 0 {
		t.Errorf("%v, %v", it, err)
	}
	if _, err := layouts.Copy(x, x, layouts.Int8, layouts.Int8); err == nil {
		t.Error("a copy to an expanded destination is not refused")
	}
}

// TestWalksMeetTheSameElements: reordering and merging dims changes the order of
// a walk only. Element by element, the operands are those that broadcasting
// brings together.
func TestWalksMeetTheSameElements(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 1))
	for range draws(3000) {
		shape := make([]int, random.IntN(5))
		for d := range shape {
			shape[d] = random.IntN(4)
		}
		var operands []layouts.Layout
		for range 1 + random.IntN(3) {
			own := slices.Clone(shape)[random.IntN(len(shape)+1):]
			strides := make([]int, len(own))
			for d := range own {
				if strides[d] = random.IntN(13); random.IntN(4) == 0 {
					own[d] = 1
				}
			}
			operands = append(operands, must(layouts.New(own, strides, random.IntN(3))))
		}
		it := must(layouts.Elementwise(operands...))
		met := append([]layouts.Layout{it.Output}, operands...)
		if want, got := together(must(layouts.Broadcast(met...))),
			together(it.Walk); !slices.EqualFunc(want, got, slices.Equal) {
			t.Fatalf("%v gives the walk %v", operands, it.Walk)
		}
	}
}

// together lists what is met at each index of layouts of one shape, sorted.
func together(ls []layouts.Layout) [][]int {
	met := make([][]int, ls[0].Numel())
	for _, l := range ls {
		i := 0
		for at := range l.Offsets() {
			met[i] = append(met[i], at)
			i++
		}
	}
	slices.SortFunc(met, slices.Compare)
	return met
}

// TestRefusedIterations: errors say which dim, size or operand is at fault.
func TestRefusedIterations(t *testing.T) {
	x := must(layouts.Contiguous(3, 4))
	expanded := must(layouts.New([]int{3, 4}, []int{0, 1}, 0))
	huge := must(layouts.New([]int{1 << 40, 1}, []int{1, 1}, 0))
	wide := must(layouts.New([]int{1 << 40}, []int{1}, 0))
	for want, err := range map[string]error{
		"no input": second(layouts.Elementwise()),
		"sizes 4 and 3 of dim -1": second(layouts.Elementwise(x,
			must(layouts.Contiguous(3)))),
		"more elements than an int can count": second(layouts.Elementwise(huge, wide)),
		"together, the destination has 4":     second(layouts.Into(must(layouts.Contiguous(4)), x)),
		"dim 0 of size 3 has stride 0":        second(layouts.Into(expanded, x)),
		"dim 2 is out of range":               second(layouts.Reduction(x, false, 2)),
		"dim 1 is named twice":                second(layouts.Reduction(x, false, 1, -1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestResultType: of all pairs of dtypes, as PyTorch says.
func TestResultType(t *testing.T) {
	type promotionCase struct {
		Groups [3][]string
		Result string
	}
	eachCase(t, "torch/promotion.jsonl.gz", func(c promotionCase) {
		var groups [3][]layouts.DType
		for i, names := range c.Groups {
			for _, name := range names {
				groups[i] = append(groups[i], must(layouts.ParseDType(name)))
			}
		}
		if got := layouts.ResultType(groups[0], groups[1], groups[2]); got.String() != c.Result {
			t.Errorf("%v: %v, PyTorch %s", c.Groups, got, c.Result)
		}
	})
	if got := layouts.ResultType([]layouts.DType{layouts.Int8, layouts.Uint8, layouts.Bool},
		[]layouts.DType{layouts.Float64}, []layouts.DType{layouts.Complex64}); got != layouts.Complex128 {
		t.Errorf("of several groups: %v", got)
	}
	if got := layouts.ResultType(nil, nil, nil); got != layouts.Undefined {
		t.Errorf("of nothing: %v", got)
	}
}

// draws is a number of random cases, a fifth with -short.
func draws(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}
