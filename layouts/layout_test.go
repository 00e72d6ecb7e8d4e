package layouts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
	"pgregory.net/rapid"
)

func Example() {
	x, _ := layouts.FromSlice([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12)
	x, _ = x.Apply(layouts.MustParseChain("view(3,4)"))
	y, _ := x.Apply(layouts.MustParseChain("transpose(0,1)"))
	fmt.Println(x.Layout())
	fmt.Println(y.Layout(), "contiguous:", y.Layout().IsContiguous())
	_, err := y.Apply(layouts.MustParseChain("view(-1)"))
	fmt.Println(err)
	c, _ := y.Apply(layouts.MustParseChain("contiguous()"))
	fmt.Println(c.Layout(), "shares storage:", c.Storage() == y.Storage())
	_ = layouts.Set[int32](x, 42, 0, 1)
	v, _ := layouts.At[int32](y, 1, 0)
	fmt.Println(v)
	// Output:
	// shape 3x4, strides (4, 1), offset 0
	// shape 4x3, strides (1, 4), offset 0 contiguous: false
	// view: shape 4x3, strides (1, 4), offset 0 cannot become shape 12 without a copy: dims 0 and 1 do not merge, since stride 1 is not 3*4 (size and stride of dim 1); reshape copies where it must, and a contiguous copy has the view
	// shape 4x3, strides (3, 1), offset 0 shares storage: false
	// 42
}

// TestViewsReadTheSameElements follows random chains of views on a layout and,
// beside it, on a plain list of indices that knows nothing of strides.
func TestViewsReadTheSameElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "shape")
		l, err := layouts.Contiguous(shape...)
		if err != nil {
			t.Fatal(err)
		}
		plain := nested{slices.Clone(shape), slices.Collect(l.Offsets())}
		for range rapid.IntRange(1, 5).Draw(t, "length") {
			d := rapid.IntRange(0, l.Rank()-1).Draw(t, "dim")
			n := l.Size(d)
			perm := rapid.Permutation(nest.UpTo(l.Rank())).Draw(t, "perm")
			var call string
			// The view's shape, and from an index of it to the index before.
			after := l.Shape()
			index := func(i []int) []int { return i }
			switch rapid.IntRange(0, 8).Draw(t, "op") {
			case 0:
				call = "permute(" + join(perm) + ")"
				for i, p := range perm {
					after[i] = l.Size(p)
				}
				index = func(i []int) []int {
					old := make([]int, len(i))
					for k, p := range perm {
						old[p] = i[k]
					}
					return old
				}
			case 1:
				start, step := rapid.IntRange(0, n-1).Draw(t, "start"), rapid.IntRange(1, n).Draw(t, "step")
				after[d] = (n - start + step - 1) / step
				call = fmt.Sprintf("slice(%d,%d,%d,%d)", d, start, n+9, step)
				index = func(i []int) []int {
					i[d] = start + i[d]*step
					return i
				}
			case 2:
				call = fmt.Sprintf("flip(%d)", d)
				index = func(i []int) []int { i[d] = n - 1 - i[d]; return i }
			case 3:
				if n != 1 {
					continue
				}
				after[d] = 3
				call = "expand(" + join(after) + ")"
				index = func(i []int) []int { i[d] = 0; return i }
			case 4:
				call = fmt.Sprintf("unsqueeze(%d)", d)
				after = slices.Insert(after, d, 1)
				index = func(i []int) []int { return slices.Delete(i, d, d+1) }
			case 5:
				if l.Rank() == 1 {
					continue
				}
				at := rapid.IntRange(0, n-1).Draw(t, "index")
				call = fmt.Sprintf("select(%d,%d)", d, at-n*(at%2))
				after = slices.Delete(after, d, d+1)
				index = func(i []int) []int { return slices.Insert(i, d, at) }
			case 6:
				size, step := rapid.IntRange(1, n).Draw(t, "size"), rapid.IntRange(1, 3).Draw(t, "step")
				call = fmt.Sprintf("unfold(%d,%d,%d)", d, size, step)
				after[d] = (n-size)/step + 1
				after = append(after, size)
				index = func(i []int) []int { i[d] = i[d]*step + i[len(i)-1]; return i[:len(i)-1] }
			case 7:
				e, offset := (d+1)%l.Rank(), rapid.IntRange(-1, 1).Draw(t, "offset")
				size := min(n-max(-offset, 0), l.Size(e)-max(offset, 0))
				if d == e || size < 1 {
					continue
				}
				call = fmt.Sprintf("diagonal(%d,%d,%d)", offset, d, e)
				after = slices.Delete(after, max(d, e), max(d, e)+1)
				after = append(slices.Delete(after, min(d, e), min(d, e)+1), size)
				index = func(i []int) []int {
					k := i[len(i)-1]
					at := map[int]int{d: k + max(-offset, 0), e: k + max(offset, 0)}
					i = slices.Insert(i[:len(i)-1], min(d, e), at[min(d, e)])
					return slices.Insert(i, max(d, e), at[max(d, e)])
				}
			case 8:
				if n%2 != 0 {
					continue
				}
				call = fmt.Sprintf("unflatten(%d,-1,2)", d)
				after[d] = 2
				after = slices.Insert(after, d, n/2)
				index = func(i []int) []int { i[d] = 2*i[d] + i[d+1]; return slices.Delete(i, d+1, d+2) }
			}
			if l, err = applied(l, call); err != nil {
				t.Fatal(err)
			}
			plain = plain.view(after, index)
		}
		if !slices.Equal(l.Shape(), plain.shape) ||
			!slices.Equal(slices.Collect(l.Offsets()), plain.values) {
			t.Fatalf("%v reads %v, want shape %v reading %v", l, slices.Collect(l.Offsets()), plain.shape,
				plain.values)
		}
	})
}

// nested is a plain n-d array: its values in row-major order.
type nested struct{ shape, values []int }

func (a nested) view(shape []int, index func([]int) []int) nested {
	v := nested{shape: shape}
	numel := 1
	for _, n := range shape {
		numel *= n
	}
	for k := range numel {
		i := make([]int, len(shape))
		for d, rest := len(shape)-1, k; d >= 0; d-- {
			i[d], rest = rest%shape[d], rest/shape[d]
		}
		i = index(i)
		at := 0
		for d, n := range a.shape {
			at = at*n + i[d]
		}
		v.values = append(v.values, a.values[at])
	}
	return v
}

func join(s []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(s)), ","), "[]")
}

func TestLayoutsAreValues(t *testing.T) {
	shape := []int{2, 3}
	l, _ := layouts.Contiguous(shape...)
	shape[0] = 9
	l.Shape()[0], l.Strides()[0] = 9, 9
	if _, err := l.Transpose(0, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Narrow(0, 1, 1); err != nil {
		t.Fatal(err)
	}
	if got := l.String(); got != "shape 2x3, strides (3, 1), offset 0" {
		t.Errorf("the layout changed: %s", got)
	}
}

func TestTensors(t *testing.T) {
	x := apply(apply(arange(6, ""), "double()"), "view(2,3)")
	f := apply(x, "flip(1)")
	if got := must(layouts.Values[float64](f)); !slices.Equal(got, []float64{2, 1, 0, 5, 4, 3}) {
		t.Errorf("flip(1) gives %v", got)
	}
	// a walk is within the storage
	if l := must(applied(x.Layout(), "flip(1)")); l.Offset() != 2 || f.Storage() == x.Storage() {
		t.Error("the tensor's flip shares storage, PyTorch's copies", l)
	}
	outside := must(layouts.New([]int{7}, []int{1}, 0))
	for name, err := range map[string]error{
		"reading float64 as int32":         second(layouts.At[int32](x, 0, 0)),
		"an index out of range":            layouts.Set(x, 1.0, 2, 0),
		"a layout larger than its storage": second(layouts.NewTensor(x.Storage(), outside)),
		"12 bytes of int64":                second(layouts.Over[int64](make([]byte, 12))),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, name := range layouts.DTypeNames() {
		if d, err := layouts.ParseDType(name); err != nil || d.String() != name || d.Size() == 0 {
			t.Errorf("dtype %s: %v, %v", name, d, err)
		}
	}
}
