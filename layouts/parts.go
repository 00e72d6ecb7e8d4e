package layouts

import (
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// This file has subscripts, and operations that make several tensors
// (aten/src/ATen/native/TensorShape.cpp; torch/csrc/autograd/python_variable_indexing.cpp).

type several struct {
	n  int
	at func(i int) (Layout, error)
}

func (s step) part(l Layout) (Layout, error) {
	parts, err := invoke[several](s.op, s.args, l)
	if err != nil {
		return Layout{}, fmt.Errorf("%s: %w", s.op.name, err)
	}
	if len(s.index) != 1 || s.index[0].kind != number {
		return Layout{}, fmt.Errorf("%s makes %d tensors: say which by an index, such as "+
			"%[1]s(...)[0]", s.op.name, parts.n)
	}
	i := s.index[0].n
	if i < -parts.n || i >= parts.n {
		return Layout{}, fmt.Errorf("%s makes %d tensors: [%d] is out of range (want %d to %d)",
			s.op.name, parts.n, i, -parts.n, parts.n-1)
	}
	if i < 0 {
		i += parts.n
	}
	return parts.at(i)
}

// chunks cuts a dim into n parts of one size, rounded up, or fewer.
func (l Layout) chunks(n, dim int) (several, error) {
	size, err := l.splittable(dim)
	switch {
	case err != nil:
		return several{}, err
	case n <= 0:
		return several{}, fmt.Errorf("%d chunks (want 1 or more)", n)
	case size == 0:
		return several{n, func(int) (Layout, error) { return l, nil }}, nil
	}
	return l.split((size-1)/n+1, dim)
}

// split cuts a dim into parts of one size; the last may be smaller.
func (l Layout) split(part, dim int) (several, error) {
	size, err := l.splittable(dim)
	switch {
	case err != nil:
		return several{}, err
	case part < 0 || part == 0 && size != 0:
		return several{}, fmt.Errorf("parts of %d of a dim of size %d", part, size)
	case size == 0:
		return several{1, func(int) (Layout, error) { return l, nil }}, nil
	}
	return several{(size-1)/part + 1, func(i int) (Layout, error) {
		return l.Narrow(dim, i*part, min(part, size-i*part))
	}}, nil
}

func (l Layout) splitSizes(sizes []int, dim int) (several, error) {
	size, err := l.splittable(dim)
	if err != nil {
		return several{}, err
	}
	left, starts := size, make([]int, len(sizes))
	for i, n := range sizes {
		starts[i] = size - left
		if n < 0 || n > left {
			left = -1
			break
		}
		left -= n
	}
	if left != 0 {
		return several{}, fmt.Errorf("sizes %s do not add up to the %d of the dim",
			formatTuple(sizes), size)
	}
	return several{len(sizes), func(i int) (Layout, error) {
		return l.Narrow(dim, starts[i], sizes[i])
	}}, nil
}

// sections cuts a dim into n parts; the first ones are larger by one.
func (l Layout) sections(n, dim int) (several, error) {
	size, err := l.splittable(dim)
	switch {
	case err != nil:
		return several{}, err
	case n <= 0:
		return several{}, fmt.Errorf("%d sections (want 1 or more)", n)
	}
	start := func(i int) int { return i*(size/n) + min(i, size%n) }
	return several{n, func(i int) (Layout, error) {
		return l.Narrow(dim, start(i), start(i+1)-start(i))
	}}, nil
}

func (l Layout) splitAt(indices []int, dim int) (several, error) {
	if _, err := l.splittable(dim); err != nil {
		return several{}, err
	}
	return several{len(indices) + 1, func(i int) (Layout, error) {
		start, end := 0, math.MaxInt
		if i > 0 {
			start = indices[i-1]
		}
		if i < len(indices) {
			end = indices[i]
		}
		return l.Slice(dim, start, end, 1)
	}}, nil
}

// splitAlong is hsplit, vsplit or dsplit, which want rank dims or more. It splits the last dim if
// dim is beyond it.
func (l Layout) splitAlong(rank, dim int, where argument) (several, error) {
	if l.Rank() < rank {
		return several{}, fmt.Errorf("a tensor of %d dims (want %d or more)", l.Rank(), rank)
	}
	dim = min(dim, l.Rank()-1)
	if where.list {
		return l.splitAt(where.ints, dim)
	}
	if n := where.ints[0]; n > 0 && l.shape[dim]%n != 0 {
		return several{}, fmt.Errorf("dim %d of size %d has no %d equal parts (tensor_split "+
			"makes unequal ones)", dim, l.shape[dim], n)
	}
	return l.sections(where.ints[0], dim)
}

func (l Layout) unbind(dim int) (several, error) {
	size, err := l.splittable(dim)
	return several{size, func(i int) (Layout, error) { return l.selected(dim, i) }}, err
}

func (l Layout) splittable(dim int) (size int, err error) {
	_, size, err = l.sized("dim", dim)
	return size, err
}

// subscript is x[...]: integers select, slices slice, None adds a dim, and ... skips the unnamed
// dims.
func (l Layout) subscript(items []value) (Layout, error) {
	named := 0
	for _, v := range items {
		switch v.kind {
		case number, slice:
			named++
		case word, literal, sequence:
			return Layout{}, fmt.Errorf("[]: %s picks elements, and so copies; a view has "+
				"integers, slices, None and ... in brackets", v)
		}
	}
	if named > l.Rank() {
		return Layout{}, fmt.Errorf("[]: %d indices for a tensor of %d dims", named, l.Rank())
	}
	view, dim := l, 0
	for _, v := range items {
		var err error
		switch v.kind {
		case number:
			view, err = view.selected(dim, v.n)
		case slice:
			view, err = view.sliced(dim, v.items)
			dim++
		case none:
			view, err = view.unsqueeze(dim)
			dim++
		case ellipsis:
			dim += l.Rank() - named
		}
		if err != nil {
			return Layout{}, fmt.Errorf("[]: %w", err)
		}
	}
	return view, nil
}

func (l Layout) sliced(dim int, bounds []value) (Layout, error) {
	numbers := [3]int{0, math.MaxInt, 1}
	for i, b := range bounds {
		switch b.kind {
		case number:
			numbers[i] = b.n
		case none:
		default:
			return Layout{}, fmt.Errorf("%s is not a bound of a slice", b)
		}
	}
	return l.Slice(dim, numbers[0], numbers[1], numbers[2])
}

func (l Layout) reversed() (Layout, error) {
	m := l.clone()
	slices.Reverse(m.shape)
	slices.Reverse(m.strides)
	return m.checked("T")
}

// matrices swaps the last two dims. only refuses more than two dims.
func matrices(op string, only bool) func(l Layout) (Layout, error) {
	return func(l Layout) (Layout, error) {
		switch {
		case l.Rank() == 0:
			return l, nil
		case l.Rank() == 1 || only && l.Rank() != 2:
			return Layout{}, fmt.Errorf("%s: the tensor has %d dims (want a matrix; mT swaps the "+
				"last two of more)", op, l.Rank())
		}
		return l.Transpose(-2, -1)
	}
}

func (l Layout) movedims(src, dst []int) (Layout, error) {
	if len(src) != len(dst) {
		return Layout{}, fmt.Errorf("movedim: %d dims for %d places", len(src), len(dst))
	}
	from, err := l.dims("movedim", true, src...)
	if err != nil {
		return Layout{}, err
	}
	to, err := l.dims("movedim", true, dst...)
	if err != nil || l.Rank() == 0 {
		return l, err
	}
	rest := slices.DeleteFunc(nest.UpTo(l.Rank()), func(d int) bool {
		return slices.Contains(from, d)
	})
	order := make([]int, l.Rank())
	for i := range order {
		if at := slices.Index(to, i); at >= 0 {
			order[i] = from[at]
		} else {
			order[i], rest = rest[0], rest[1:]
		}
	}
	return l.Permute(order...)
}
