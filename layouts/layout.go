// Package layouts provides strided tensors as PyTorch defines them, without the computation. A
// [Layout] says where the elements of a tensor lie (shape, strides, offset). View operations turn
// one Layout into another. A [Storage] is memory, and a [Tensor] is a Layout over a Storage.
//
// A Layout never changes and never touches data. So an order of access is also a Layout: reading a
// matrix by columns is reading its transposed view by rows. Package access builds its patterns on
// this.
//
// Sizes, strides and offsets are counted in elements, as in PyTorch.
//
//  1. [Contiguous] lays out a shape; [New] takes any shape and strides.
//  2. [ParseChain] reads view operations, spelled as in PyTorch. [Layout.Apply] applies them,
//     [Layout.ApplyTo] also changes the dtype, and [Tensor.Apply] also copies. Some operations have
//     a method of Layout too.
//  3. [Layout.Offsets] walks a Layout, and [Broadcast] brings several Layouts to one shape. A
//     [Picture] reads a tensor and its views, and says why they are contiguous or not.
//  4. [NewTensor] puts a Layout over a [Storage], where elements are read and written.
//  5. [Elementwise], [Into], [Reduction] and [Copy] return the order in which PyTorch walks the
//     operands of an operator, and the strides of its result.
//  6. [Tensor.Sparse] returns the arrays that a sparse format stores.
package layouts

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A Layout places the elements of an n-dimensional tensor. Element (i0, i1, ...) lies at offset +
// i0*stride0 + i1*stride1 + ... elements from the start of its storage. The zero Layout is a 0-d
// tensor at offset 0. Strides may be zero (an expanded dim) or negative (a flipped dim, which
// PyTorch's tensors do not have).
type Layout struct {
	shape   []int
	strides []int
	offset  int
}

// New returns the Layout of the given shape and strides at offset, all in elements. It refuses
// lists of different lengths, negative sizes, and a number of elements or an element's offset that
// overflows an int.
func New(shape, strides []int, offset int) (Layout, error) {
	if _, err := checkedNumel(shape); err != nil {
		return Layout{}, fmt.Errorf("new layout: %w", err)
	}
	return derived("new layout", shape, strides, offset)
}

// derived is New for the view that op makes, and for sizes that op sets in place; see checkedSizes.
func derived(op string, shape, strides []int, offset int) (Layout, error) {
	if len(shape) != len(strides) {
		return Layout{}, fmt.Errorf("%s: shape %s has %d dims, strides %v have %d",
			op, FormatShape(shape), len(shape), strides, len(strides))
	}
	if err := checkedSizes(shape); err != nil {
		return Layout{}, fmt.Errorf("%s: %w", op, err)
	}
	l := Layout{slices.Clone(shape), slices.Clone(strides), offset}
	if _, _, ok := l.extent(); !ok {
		return Layout{}, fmt.Errorf("%s: shape %s with strides %v at offset %d reaches beyond "+
			"%d-bit offsets",
			op, FormatShape(shape), strides, offset, bits.UintSize)
	}
	return l, nil
}

// Contiguous returns the row-major Layout of shape at offset 0. The last stride is 1, and stride[d]
// = stride[d+1]*max(shape[d+1], 1) (c10/core/TensorImpl.h, empty_tensor_restride).
func Contiguous(shape ...int) (Layout, error) { return fresh("contiguous layout", shape) }

func fresh(op string, shape []int) (Layout, error) {
	if _, err := checkedNumel(shape); err != nil {
		return Layout{}, fmt.Errorf("%s: %w", op, err)
	}
	return derived(op, shape, contiguousStrides(shape), 0)
}

// contiguousStrides expects a shape that checkedNumel has passed.
func contiguousStrides(shape []int) []int {
	strides := make([]int, len(shape))
	step := 1
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = step
		step *= max(shape[d], 1)
	}
	return strides
}

// checkedNumel returns the product of sizes. It refuses negative sizes, and overflow of the product
// with every 0 taken as 1, since strides are such products.
func checkedNumel(shape []int) (int, error) {
	numel, span := 1, 1
	for d, n := range shape {
		if n < 0 {
			return 0, fmt.Errorf("size %d of dim %d is negative", n, d)
		}
		var ok bool
		if span, ok = mulInt(span, max(n, 1)); !ok && slices.Contains(shape, 0) {
			return 0, fmt.Errorf("shape %s has strides that an int cannot count",
				FormatShape(shape))
		} else if !ok {
			return 0, fmt.Errorf("shape %s has more elements than an int can count",
				FormatShape(shape))
		}
		numel *= n
	}
	return numel, nil
}

// checkedSizes is checkedNumel, but passes negative sizes where PyTorch does: in a view of no
// element, or a tensor resized in place. There the product of the sizes up to the 0, as unsigned,
// must not overflow (c10/util/safe_numerics.h, safe_multiplies_u64). PyTorch refuses negative sizes
// where it allocates.
func checkedSizes(shape []int) error {
	below := slices.IndexFunc(shape, func(n int) bool { return n < 0 })
	if below < 0 || !slices.Contains(shape, 0) {
		_, err := checkedNumel(shape)
		return err
	}
	product, counted := uint64(1), slices.Clone(shape)
	for d, n := range shape {
		high, low := bits.Mul64(product, uint64(n))
		if high != 0 {
			return fmt.Errorf("size %d of dim %d is negative", shape[below], below)
		}
		product, counted[d] = low, max(n, 0)
	}
	_, err := checkedNumel(counted)
	return err
}

// Rank returns the number of dims, PyTorch's dim().
func (l Layout) Rank() int { return len(l.shape) }

// Shape returns a copy of the sizes, not nil.
func (l Layout) Shape() []int { return append([]int{}, l.shape...) }

// Strides returns a copy of the strides, in elements, not nil.
func (l Layout) Strides() []int { return append([]int{}, l.strides...) }

// Size returns the size of dim d, 0 <= d < Rank().
func (l Layout) Size(d int) int { return l.shape[d] }

// Stride returns the stride of dim d in elements, 0 <= d < Rank().
func (l Layout) Stride(d int) int { return l.strides[d] }

// Offset returns the offset of the first element, in elements.
func (l Layout) Offset() int { return l.offset }

// Numel returns the number of elements: 1 for a 0-d layout, 0 if any size is 0.
func (l Layout) Numel() int {
	n := 1
	for _, s := range l.shape {
		n *= s
	}
	return n
}

// IsContiguous reports whether the elements lie in row-major order without gaps. Dims of size 1 may
// have any stride, and an empty layout is contiguous (c10/core/TensorImpl.cpp, compute_contiguous).
func (l Layout) IsContiguous() bool { return l.Numel() == 0 || l.isDense(rowMajor) }

// Extent returns the lowest and the highest offset of any element, both the layout's own if it is
// empty.
func (l Layout) Extent() (low, high int) {
	low, high, _ = l.extent()
	return low, high
}

func (l Layout) extent() (low, high int, ok bool) {
	low, high = l.offset, l.offset
	if slices.Contains(l.shape, 0) {
		return low, high, true
	}
	for d, n := range l.shape {
		reach, ok := mulInt(n-1, l.strides[d])
		if !ok {
			return 0, 0, false
		}
		end := &high
		if reach < 0 {
			end = &low
		}
		if *end, ok = addInt(*end, reach); !ok {
			return 0, 0, false
		}
	}
	return low, high, true
}

// At returns the offset of the element at index, in elements. Negative entries count from the end.
// It refuses an index of the wrong length or out of range.
func (l Layout) At(index ...int) (int, error) {
	if len(index) != len(l.shape) {
		return 0, fmt.Errorf("index %v has %d entries for %d dims", index, len(index), len(l.shape))
	}
	at := l.offset
	for d, i := range index {
		n := l.shape[d]
		if i < -n || i >= n {
			return 0, fmt.Errorf("index %d is out of range for dim %d of size %d", i, d, n)
		}
		if i < 0 {
			i += n
		}
		at += i * l.strides[d]
	}
	return at, nil
}

// Offsets yields the offset of every element in row-major order of the indices. Everything faster
// is tested against it.
func (l Layout) Offsets() iter.Seq[int] {
	return func(yield func(int) bool) {
		at, steps := l.offset, nest.Steps(l.shape, l.strides)
		for d := range nest.Walk(l.shape) {
			if d >= 0 {
				at += steps[d]
			}
			if !yield(at) {
				return
			}
		}
	}
}

// Equal reports whether shape, strides and offset are the same.
func (l Layout) Equal(m Layout) bool {
	return l.offset == m.offset && slices.Equal(l.shape, m.shape) &&
		slices.Equal(l.strides, m.strides)
}

// String returns "shape 3x4, strides (4, 1), offset 0".
func (l Layout) String() string {
	strides := make([]string, len(l.strides))
	for d, s := range l.strides {
		strides[d] = strconv.Itoa(s)
	}
	return fmt.Sprintf("shape %s, strides (%s), offset %d",
		FormatShape(l.shape), strings.Join(strides, ", "), l.offset)
}

// FormatShape returns sizes as "3x4"; the empty shape is "scalar".
func FormatShape(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	var b strings.Builder
	for d, n := range shape {
		if d > 0 {
			b.WriteByte('x')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// formatTuple writes "(3, 4)", "(3,)" or "()", as Python does.
func formatTuple[T any](n []T) string {
	text := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(n), "[]")), ", ")
	if len(n) == 1 {
		text += ","
	}
	return "(" + text + ")"
}

var brackets = regexp.MustCompile(`^(?:torch\.Size\()?[(\[](.*?)\s*,?\s*[)\]]\)?$`)

// ParseShape reads sizes written as "3x4", "3,4", "(3, 4)", "[3, 4]" or "torch.Size([3, 4])". It
// refuses anything but non-negative integers, and a shape whose elements an int cannot count.
func ParseShape(text string) ([]int, error) {
	sizes, by := text, "x"
	if m := brackets.FindStringSubmatch(text); m != nil {
		sizes, by = m[1], ","
	} else if strings.Contains(text, ",") {
		by = ","
	}
	var shape []int
	for part := range strings.SplitSeq(sizes, by) {
		if by == "," {
			part = strings.TrimSpace(part)
		}
		n, err := strconv.Atoi(part)
		if part == "" {
			return nil, errors.New("a size is missing (want non-negative integers joined by x or " +
				"commas, such as 4000x4000)")
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("%s is too large a size (want less than 2^63)", part)
		}
		if err != nil || n < 0 || part[0] == '+' {
			return nil, fmt.Errorf("%q is not a size (want non-negative integers joined by x or "+
				"commas, such as 4000x4000)", part)
		}
		shape = append(shape, n)
	}
	if _, err := checkedNumel(shape); err != nil {
		return nil, err
	}
	return shape, nil
}

func addInt(a, b int) (int, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func mulInt(a, b int) (int, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	return c, c/b == a && (c < 0) == ((a < 0) != (b < 0))
}
