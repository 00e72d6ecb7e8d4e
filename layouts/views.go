package layouts

import (
	"fmt"
	"slices"
)

// dim resolves a dimension that may count from the end, as in PyTorch.
func (l Layout) dim(op string, d int) (int, error) { return resolveDim(op, d, len(l.shape)) }

func resolveDim(op string, d, rank int) (int, error) {
	// A 0-d tensor takes dims 0 and -1, as in c10/core/WrapDimMinimal.h.
	n := max(rank, 1)
	if d < -n || d >= n {
		return 0, fmt.Errorf("%s: dim %d is out of range for %d dims (want %d to %d)", op, d, rank, -n, n-1)
	}
	if d < 0 {
		d += n
	}
	return d, nil
}

func (l Layout) clone() Layout {
	return Layout{slices.Clone(l.shape), slices.Clone(l.strides), l.offset}
}

// Transpose swaps two dimensions.
func (l Layout) Transpose(d0, d1 int) (Layout, error) {
	a, err := l.dim("transpose", d0)
	if err != nil {
		return Layout{}, err
	}
	b, err := l.dim("transpose", d1)
	if err != nil {
		return Layout{}, err
	}
	if l.Rank() == 0 {
		return l, nil
	}
	m := l.clone()
	m.shape[a], m.shape[b] = m.shape[b], m.shape[a]
	m.strides[a], m.strides[b] = m.strides[b], m.strides[a]
	return m, nil
}

// Permute puts dimension dims[i] at place i; dims names each dimension once.
func (l Layout) Permute(dims ...int) (Layout, error) {
	if len(dims) != l.Rank() {
		return Layout{}, fmt.Errorf("permute: %d dims are named, the tensor has %d", len(dims), l.Rank())
	}
	m := l.clone()
	seen := make([]bool, len(dims))
	for i, d := range dims {
		from, err := l.dim("permute", d)
		if err != nil {
			return Layout{}, err
		}
		if seen[from] {
			return Layout{}, fmt.Errorf("permute: dim %d is named twice", from)
		}
		seen[from] = true
		m.shape[i], m.strides[i] = l.shape[from], l.strides[from]
	}
	return m, nil
}

// Narrow keeps length elements of dim from start on. A negative start counts
// from the end of the dimension.
func (l Layout) Narrow(dim, start, length int) (Layout, error) {
	if l.Rank() == 0 {
		return Layout{}, fmt.Errorf("narrow: a 0-d tensor has no dim to narrow")
	}
	d, err := l.dim("narrow", dim)
	if err != nil {
		return Layout{}, err
	}
	n := l.shape[d]
	if start < -n || start > n {
		return Layout{}, fmt.Errorf("narrow: start %d is out of range for dim %d of size %d", start, d, n)
	}
	if start < 0 {
		start += n
	}
	if length < 0 || length > n-start {
		return Layout{}, fmt.Errorf("narrow: length %d from start %d exceeds dim %d of size %d (want 0 to %d)", length, start, d, n, n-start)
	}
	m := l.clone()
	m.shape[d] = length
	m.offset += start * l.strides[d]
	return m, nil
}

// Slice keeps every step-th index of dim from start up to, not including,
// end. Negative bounds count from the end, bounds are clamped as Python does,
// and step is positive.
func (l Layout) Slice(dim, start, end, step int) (Layout, error) {
	if l.Rank() == 0 {
		return Layout{}, fmt.Errorf("slice: a 0-d tensor has no dim to slice")
	}
	d, err := l.dim("slice", dim)
	if err != nil {
		return Layout{}, err
	}
	if step <= 0 {
		return Layout{}, fmt.Errorf("slice: step %d is not positive (flip(%d) walks backwards)", step, d)
	}
	n := l.shape[d]
	start, end = clampBound(start, n), clampBound(end, n)
	end = max(end, start)
	stride, ok := mulInt(l.strides[d], step)
	if !ok {
		return Layout{}, fmt.Errorf("slice: step %d of stride %d overflows", step, l.strides[d])
	}
	m := l.clone()
	m.shape[d] = (end - start) / step
	if (end-start)%step != 0 {
		m.shape[d]++
	}
	m.offset += start * l.strides[d]
	m.strides[d] = stride
	return m, nil
}

// clampBound resolves a Python slice bound to 0..n.
func clampBound(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// Expand repeats dimensions of size 1 to the given sizes by a stride of 0. A
// size of -1 keeps the dimension; leading sizes add dimensions. A dimension
// whose size does not change keeps its stride, a new leading one of size 1
// gets the stride of a contiguous one (ATen/ExpandUtils.cpp,
// inferExpandGeometry).
func (l Layout) Expand(sizes ...int) (Layout, error) {
	lead := len(sizes) - l.Rank()
	if lead < 0 {
		return Layout{}, fmt.Errorf("expand: %d sizes for a tensor of %d dims", len(sizes), l.Rank())
	}
	shape, strides := slices.Clone(sizes), make([]int, len(sizes))
	for i := len(sizes) - 1; i >= 0; i-- {
		d := i - lead
		size, stride := 1, 1
		if d >= 0 {
			size, stride = l.shape[d], l.strides[d]
		} else if i+1 < len(sizes) {
			stride = shape[i+1] * strides[i+1]
		}
		want := sizes[i]
		switch {
		case want == -1 && d >= 0:
			shape[i] = size
		case want < 0:
			return Layout{}, fmt.Errorf("expand: size %d of dim %d is not allowed (-1 keeps an existing dim, the tensor has %d)", want, i, l.Rank())
		case want == size:
		case size == 1:
			stride = 0
		default:
			return Layout{}, fmt.Errorf("expand: dim %d has size %d and cannot become %d (only size 1 expands)", d, size, want)
		}
		strides[i] = stride
	}
	if l.Rank() == 0 {
		clear(strides)
	}
	return New(shape, strides, l.offset)
}

// Flip reverses the given dimensions by negative strides. PyTorch has no such
// view, its flip copies; as a Layout it is an order to walk in.
func (l Layout) Flip(dims ...int) (Layout, error) {
	m := l.clone()
	seen := make([]bool, max(l.Rank(), 1))
	for _, dim := range dims {
		d, err := l.dim("flip", dim)
		if err != nil {
			return Layout{}, err
		}
		if seen[d] {
			return Layout{}, fmt.Errorf("flip: dim %d is named twice", d)
		}
		seen[d] = true
		if l.Rank() == 0 {
			continue
		}
		m.offset += max(m.shape[d]-1, 0) * m.strides[d]
		m.strides[d] = -m.strides[d]
	}
	return m, nil
}

// Select takes one index of dim and drops the dimension. A negative index
// counts from the end.
func (l Layout) Select(dim, index int) (Layout, error) {
	if l.Rank() == 0 {
		return Layout{}, fmt.Errorf("select: a 0-d tensor has no dim to select from")
	}
	d, err := l.dim("select", dim)
	if err != nil {
		return Layout{}, err
	}
	n := l.shape[d]
	if index < -n || index >= n {
		return Layout{}, fmt.Errorf("select: index %d is out of range for dim %d of size %d", index, d, n)
	}
	if index < 0 {
		index += n
	}
	return Layout{
		slices.Delete(slices.Clone(l.shape), d, d+1),
		slices.Delete(slices.Clone(l.strides), d, d+1),
		l.offset + index*l.strides[d],
	}, nil
}

// View gives the same elements, in the same row-major order, another shape;
// one size may be -1 and is inferred. It fails where no strides can express
// it without a copy (aten/src/ATen/TensorUtils.cpp, computeStride).
func (l Layout) View(sizes ...int) (Layout, error) {
	shape, err := inferSize("view", sizes, l.Numel())
	if err != nil {
		return Layout{}, err
	}
	strides, err := l.viewStrides(shape)
	if err != nil {
		return Layout{}, fmt.Errorf("view: %w", err)
	}
	return New(shape, strides, l.offset)
}

// inferSize replaces one -1 by what is left of numel (ATen/InferSize.h).
func inferSize(op string, sizes []int, numel int) ([]int, error) {
	shape, infer, known := slices.Clone(sizes), -1, 1
	for d, n := range sizes {
		switch {
		case n == -1 && infer >= 0:
			return nil, fmt.Errorf("%s: only one size can be -1, dims %d and %d are", op, infer, d)
		case n == -1:
			infer = d
		case n < 0:
			return nil, fmt.Errorf("%s: size %d of dim %d is negative (-1 infers it)", op, n, d)
		default:
			var ok bool
			if known, ok = mulInt(known, n); !ok {
				return nil, fmt.Errorf("%s: sizes %v overflow", op, sizes)
			}
		}
	}
	switch {
	case infer < 0 && known == numel:
	case infer >= 0 && known > 0 && numel%known == 0:
		shape[infer] = numel / known
	case infer >= 0 && known == 0 && numel == 0:
		return nil, fmt.Errorf("%s: the -1 in %v is ambiguous, since another size is 0", op, sizes)
	default:
		return nil, fmt.Errorf("%s: sizes %v do not hold the tensor's %d elements", op, sizes, numel)
	}
	return shape, nil
}

// viewStrides walks the old dimensions from the last to the first and gathers
// chunks that lie contiguously in memory; each chunk must be filled exactly by
// new dimensions.
func (l Layout) viewStrides(shape []int) ([]int, error) {
	if l.Numel() == 0 {
		if slices.Equal(shape, l.shape) {
			return slices.Clone(l.strides), nil
		}
		if _, err := checkedNumel(shape); err != nil {
			return nil, err
		}
		return contiguousStrides(shape), nil
	}
	strides := make([]int, len(shape))
	if l.Rank() == 0 {
		for d := range strides {
			strides[d] = 1
		}
		return strides, nil
	}
	next := len(shape) - 1 // last new dim without a stride
	base, chunk := l.strides[l.Rank()-1], 1
	for d := l.Rank() - 1; d >= 0; d-- {
		chunk *= l.shape[d]
		if d > 0 && (l.shape[d-1] == 1 || l.strides[d-1] == chunk*base) {
			continue
		}
		filled := 1
		for next >= 0 && (filled < chunk || shape[next] == 1) {
			strides[next] = filled * base
			filled *= shape[next]
			next--
		}
		if filled != chunk {
			return nil, l.cannotMerge(d, shape)
		}
		if d > 0 {
			base, chunk = l.strides[d-1], 1
		}
	}
	return strides, nil
}

// cannotMerge names the pair of dims between which a chunk ended too early or
// too late.
func (l Layout) cannotMerge(d int, shape []int) error {
	if d == 0 {
		d = 1
	}
	if l.Rank() < 2 {
		return fmt.Errorf("shape %s does not fit %s", FormatShape(shape), FormatShape(l.shape))
	}
	return fmt.Errorf("%s cannot become shape %s without a copy: dims %d and %d do not merge (strides %d and %d, sizes %d and %d)",
		l, FormatShape(shape), d-1, d, l.strides[d-1], l.strides[d], l.shape[d-1], l.shape[d])
}

// Flatten merges the dimensions start to end, both included, into one. It
// fails where their strides do not allow it; PyTorch copies there.
func (l Layout) Flatten(start, end int) (Layout, error) {
	a, err := l.dim("flatten", start)
	if err != nil {
		return Layout{}, err
	}
	b, err := l.dim("flatten", end)
	if err != nil {
		return Layout{}, err
	}
	if a > b {
		return Layout{}, fmt.Errorf("flatten: start dim %d comes after end dim %d", a, b)
	}
	if l.Rank() == 0 {
		return l.View(1)
	}
	merged := 1
	for _, n := range l.shape[a : b+1] {
		merged *= n
	}
	shape := slices.Concat(l.shape[:a], []int{merged}, l.shape[b+1:])
	if a == b {
		shape = l.shape
	}
	strides, err := l.viewStrides(shape)
	if err != nil {
		return Layout{}, fmt.Errorf("flatten: %w", err)
	}
	return New(shape, strides, l.offset)
}

// Unflatten splits a dimension into several, whose sizes multiply to its own;
// one may be -1 and is inferred. It is how a walk is tiled.
func (l Layout) Unflatten(dim int, sizes ...int) (Layout, error) {
	if l.Rank() == 0 {
		return Layout{}, fmt.Errorf("unflatten: a 0-d tensor has no dim to split")
	}
	d, err := l.dim("unflatten", dim)
	if err != nil {
		return Layout{}, err
	}
	if len(sizes) == 0 {
		return Layout{}, fmt.Errorf("unflatten: no sizes are given for dim %d", d)
	}
	parts, err := inferSize(fmt.Sprintf("unflatten dim %d", d), sizes, l.shape[d])
	if err != nil {
		return Layout{}, err
	}
	shape := slices.Concat(l.shape[:d], parts, l.shape[d+1:])
	strides, err := l.viewStrides(shape)
	if err != nil {
		return Layout{}, fmt.Errorf("unflatten: %w", err)
	}
	return New(shape, strides, l.offset)
}

// Unsqueeze inserts a dimension of size 1 before dim, or at the end.
// (ATen/native/TensorShape.cpp, inferUnsqueezeGeometry.)
func (l Layout) Unsqueeze(dim int) (Layout, error) {
	d, err := resolveDim("unsqueeze", dim, l.Rank()+1)
	if err != nil {
		return Layout{}, err
	}
	stride := 1
	if d < l.Rank() {
		stride = l.shape[d] * l.strides[d]
	}
	return New(slices.Insert(slices.Clone(l.shape), d, 1), slices.Insert(slices.Clone(l.strides), d, stride), l.offset)
}
