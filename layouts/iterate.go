package layouts

import (
	"errors"
	"fmt"
	"slices"
)

// This file follows TensorIterator (PyTorch 1.13, aten/src/ATen/TensorIterator.cpp) for operators
// that look at each element once.

// An Iteration says how PyTorch walks over the operands of an operator.
type Iteration struct {
	// Output is the result in the operator's own dims. Without a destination it is fresh, at offset
	// 0.
	Output Layout
	// Walk has the output and then each input, all of one shape, with dims reordered and merged.
	// PyTorch walks them together in row-major order, on one thread or below 32,768 elements.
	Walk []Layout
	// Block is the edge of a block in elements where copy_ transposes a matrix, else 0. It copies
	// square blocks, in row-major order of the destination: columns of the source to a buffer that
	// is transposed in place, and its rows to the destination. There is no Walk then.
	Block int
}

// Elementwise returns how PyTorch computes x + y, relu(x) or where(c, x, y). Inputs are broadcast,
// and the strides of the allocated result follow theirs. PyTorch first converts an input of another
// dtype; pass its [Layout.Preserved]. A number is a 0-d input. Elementwise refuses an empty list,
// and shapes that do not broadcast.
func Elementwise(inputs ...Layout) (Iteration, error) {
	if len(inputs) == 0 {
		return Iteration{}, errors.New("elementwise: no input says what shape the result has")
	}
	shape, err := broadcastShape("elementwise", inputs)
	if err != nil {
		return Iteration{}, err
	}
	return iterator{shape: shape, operands: inputs, allocates: true}.iterate()
}

// Into returns how PyTorch writes a result to a destination: x.add_(y) is Into(x, x, y), add(x, y,
// out=z) is Into(z, x, y), fill_ has no inputs. The destination rules the order. Into refuses
// inputs that do not broadcast to its shape. (PyTorch then resizes out=, as if it were allocated.)
// With inputs, Into also refuses a destination expanded by a stride of 0.
func Into(output Layout, inputs ...Layout) (Iteration, error) {
	operands := append([]Layout{output}, inputs...)
	shape, err := broadcastShape("into", operands)
	if err != nil {
		return Iteration{}, err
	}
	if !slices.Equal(shape, output.shape) {
		return Iteration{}, fmt.Errorf("into: the operands have shape %s together, the "+
			"destination has %s",
			FormatShape(shape), FormatShape(output.shape))
	}
	if d := output.expanded(); d >= 0 && len(inputs) > 0 {
		return Iteration{}, fmt.Errorf("into: elements of the destination share memory, since "+
			"dim %d of size %d has stride 0; a clone of it has its own",
			d, output.shape[d])
	}
	return iterator{shape: shape, operands: operands}.iterate()
}

// Reduction returns how PyTorch computes input.sum(dims, keepdim) and other reductions by
// TensorIterator (prod, mean, amax, any ...). The result is row-major. Reduced dims are the inner
// loops, in which the output has stride 0. No dims are all dims. Reduction refuses dims that the
// input lacks or that come twice.
func Reduction(input Layout, keepdim bool, dims ...int) (Iteration, error) {
	named, err := input.dims("reduction", true, dims...)
	if err != nil {
		return Iteration{}, err
	}
	reduced := make([]bool, input.Rank())
	kept, full := []int{}, slices.Clone(input.shape)
	for d, n := range input.shape {
		if len(dims) > 0 && !slices.Contains(named, d) {
			kept = append(kept, n)
			continue
		}
		reduced[d], full[d] = true, 1
		if keepdim {
			kept = append(kept, 1)
		}
	}
	result, err := fresh("reduction", kept)
	if err != nil {
		return Iteration{}, err
	}
	// The iterator's output has the input's rank. Without keepdim, reduced dims have stride 0 even
	// if the input's size is 1.
	seen := Layout{shape: full, strides: result.Strides()}
	if !keepdim {
		seen.strides = make([]int, len(full))
		next := 0
		for d := range full {
			if !reduced[d] {
				seen.strides[d] = result.strides[next]
				next++
			}
		}
	}
	found, err := iterator{shape: input.shape, operands: []Layout{seen, input},
		reduces: true}.iterate()
	found.Output = result
	return found, err
}

// Preserved returns the fresh layout of a copy in preserve_format (clone, empty_like, conversion to
// another dtype). A dense layout keeps its strides; others get dense strides in the same order
// (ATen/native/TensorFactories.cpp, empty_like; ATen/ExpandUtils.cpp, infer_dense_strides). It
// refuses an expanded shape whose elements an int cannot count.
func (l Layout) Preserved() (Layout, error) {
	if _, err := checkedNumel(l.shape); err != nil {
		return Layout{}, fmt.Errorf("preserved layout: %w", err)
	}
	return derived("preserved layout", l.shape, l.preservedStrides(), 0)
}

// expanded returns the first dim in which elements share memory by a stride of 0, or -1
// (ATen/MemoryOverlap.cpp, has_internal_overlap).
func (l Layout) expanded() int {
	if l.IsDense() {
		return -1
	}
	for d, s := range l.strides {
		if s == 0 && l.shape[d] > 1 {
			return d
		}
	}
	return -1
}

type iterator struct {
	shape     []int    // common to all operands
	operands  []Layout // the output first
	allocates bool     // the output, which is not among the operands then
	reduces   bool
}

func (it iterator) iterate() (found Iteration, err error) {
	if strides := it.quick(); strides != nil {
		return it.asTheyLie(strides)
	}
	aligned := it.aligned()
	order := strideOrder(it.shape, aligned, it.reduces)
	strides := denseStrides(it.shape, order)
	if it.allocates {
		aligned = slices.Insert(aligned, 0, strides)
	}
	if slices.Equal(order, rowMajor.order(len(it.shape))) {
		strides = contiguousStrides(it.shape) // differ only if a size is 0
	}
	operands, err := it.allocated(strides)
	if err != nil {
		return Iteration{}, err
	}
	found.Output = operands[0]
	shape := reordered(it.shape, order)
	for r := range aligned {
		aligned[r] = reordered(aligned[r], order)
	}
	shape = coalesced(shape, aligned)
	for r, strides := range aligned {
		l, err := derived("walk", shape, strides, operands[r].offset)
		if err != nil {
			return Iteration{}, err
		}
		found.Walk = append(found.Walk, l)
	}
	return found, nil
}

// allocated returns the output and the inputs.
func (it iterator) allocated(strides []int) ([]Layout, error) {
	if !it.allocates {
		return it.operands, nil
	}
	output, err := derived("elementwise", it.shape, strides, 0)
	return append([]Layout{output}, it.operands...), err
}

// quick is compute_fast_setup_type. It returns the strides of an allocated output if all operands
// have its shape and lie alike, else nil. Broadcasting, of a 0-d operand too, makes a difference.
func (it iterator) quick() []int {
	contiguous, channelsLast, same := true, true, true
	for _, l := range it.operands {
		if it.reduces || !slices.Equal(l.shape, it.shape) {
			return nil
		}
		contiguous = contiguous && l.IsContiguous()
		channelsLast = channelsLast && l.isDense(channelsLast2d)
		same = same && l.IsDense() && slices.Equal(l.strides, it.operands[0].strides)
	}
	switch {
	case contiguous:
		return contiguousStrides(it.shape)
	case channelsLast:
		return formatStrides(it.shape, channelsLast2d)
	case same:
		return it.operands[0].strides
	}
	return nil
}

// asTheyLie walks the elements in memory order in one loop.
func (it iterator) asTheyLie(strides []int) (found Iteration, err error) {
	operands, err := it.allocated(strides)
	if err != nil {
		return Iteration{}, err
	}
	found.Output = operands[0]
	for _, of := range operands {
		l := Layout{offset: of.offset}
		if len(it.shape) > 0 {
			l.shape, l.strides = []int{found.Output.Numel()}, []int{1}
		}
		found.Walk = append(found.Walk, l)
	}
	return found, nil
}

// aligned returns the operands' strides for the common shape, 0 for a dim that an operand lacks or
// broadcasts.
func (it iterator) aligned() [][]int {
	var all [][]int
	for _, l := range it.operands {
		strides := make([]int, len(it.shape))
		lead := len(it.shape) - l.Rank()
		for d, s := range l.strides {
			if l.shape[d] != 1 || it.shape[lead+d] == 1 {
				strides[lead+d] = s
			}
		}
		all = append(all, strides)
	}
	return all
}

// strideOrder returns the dims from the innermost to the outermost, as reorder_dimensions does. It
// is an insertion sort of dims n-1..0 by ascending strides of the first operand; later operands
// decide ties. For equal strides the smaller size comes first. A stride of 0 decides nothing. In a
// reduction, dims of stride 0 of operand 0, the output, come first.
func strideOrder(shape []int, operands [][]int, reduction bool) []int {
	compare := func(a, b int) int {
		for r, strides := range operands {
			sa, sb := strides[a], strides[b]
			switch {
			case reduction && r == 0 && (sa == 0) != (sb == 0):
				if sb == 0 {
					return 1
				}
				return -1
			case sa == 0 || sb == 0:
			case sa < sb:
				return -1
			case sa > sb || shape[a] > shape[b]:
				return 1
			}
		}
		return 0
	}
	dims := rowMajor.order(len(shape))
	for i := 1; i < len(dims); i++ {
		at := i
		for j := i - 1; j >= 0; j-- {
			after := compare(dims[j], dims[at])
			if after < 0 {
				break
			}
			if after > 0 {
				dims[j], dims[at] = dims[at], dims[j]
				at = j
			}
		}
	}
	return dims
}

// denseStrides lays a shape out densely, order[0] innermost. As in PyTorch, a size of 0 makes the
// strides of outer dims 0.
func denseStrides(shape, order []int) []int {
	strides := make([]int, len(shape))
	step := 1
	for _, d := range order {
		strides[d] = step
		step *= shape[d]
	}
	return strides
}

// reordered returns entries in the reverse of order, the outermost dim first.
func reordered(list, order []int) []int {
	out := make([]int, len(order))
	for i, d := range order {
		out[len(order)-1-i] = list[d]
	}
	return out
}

// coalesced merges neighbouring dims, from the innermost, if one has size 1 or every operand
// continues evenly (coalesce_dimensions). It shortens the operands' strides.
func coalesced(shape []int, operands [][]int) []int {
	if len(shape) < 2 {
		return shape
	}
	in := len(shape) - 1 // the dim that outer dims are merged into
	for out := in - 1; out >= 0; out-- {
		merge := shape[in] == 1 || shape[out] == 1
		if !merge {
			merge = !slices.ContainsFunc(operands, func(s []int) bool {
				return shape[in]*s[in] != s[out]
			})
		}
		if !merge {
			in--
			shape[in] = shape[out]
			for _, s := range operands {
				s[in] = s[out]
			}
			continue
		}
		if shape[in] == 1 {
			for _, s := range operands {
				s[in] = s[out]
			}
		}
		shape[in] *= shape[out]
	}
	for r := range operands {
		operands[r] = operands[r][in:]
	}
	return shape[in:]
}
