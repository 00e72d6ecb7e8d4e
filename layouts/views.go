package layouts

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

func (l Layout) dim(op string, d int) (int, error) { return resolveDim(op, d, len(l.shape)) }

func resolveDim(op string, d, rank int) (int, error) {
	// A 0-d tensor takes dims 0 and -1, as in c10/core/WrapDimMinimal.h.
	n := max(rank, 1)
	if d < -n || d >= n {
		return 0, fmt.Errorf("%s: dim %d is out of range for %d dims (want %d to %d)", op, d,
			rank, -n, n-1)
	}
	if d < 0 {
		d += n
	}
	return d, nil
}

// dims resolves dims, which may come twice unless once.
func (l Layout) dims(op string, once bool, dims ...int) ([]int, error) {
	var list []int
	for _, dim := range dims {
		d, err := l.dim(op, dim)
		if err != nil {
			return nil, err
		}
		if once && slices.Contains(list, d) {
			return nil, fmt.Errorf("%s: dim %d is named twice", op, d)
		}
		list = append(list, d)
	}
	return list, nil
}

// sized is dim for operations that a 0-d tensor does not have, with the dim's size.
func (l Layout) sized(op string, dim int) (d, size int, err error) {
	if l.Rank() == 0 {
		return 0, 0, fmt.Errorf("%s: a 0-d tensor has no dim", op)
	}
	if d, err = l.dim(op, dim); err == nil {
		size = l.shape[d]
	}
	return d, size, err
}

func (l Layout) checked(op string) (Layout, error) {
	if err := checkedSizes(l.shape); err != nil {
		return Layout{}, fmt.Errorf("%s: %w", op, err)
	}
	return l, nil
}

func (l Layout) clone() Layout {
	return Layout{slices.Clone(l.shape), slices.Clone(l.strides), l.offset}
}

// Transpose swaps two dims.
func (l Layout) Transpose(d0, d1 int) (Layout, error) {
	at, err := l.dims("transpose", false, d0, d1)
	if err != nil || l.Rank() == 0 {
		return l, err
	}
	order := nest.UpTo(l.Rank())
	order[at[0]], order[at[1]] = at[1], at[0]
	return l.Permute(order...)
}

// Permute puts dim dims[i] at place i; dims names each dim once.
func (l Layout) Permute(dims ...int) (Layout, error) {
	if len(dims) != l.Rank() {
		return Layout{}, fmt.Errorf("permute: %d dims are named, the tensor has %d",
			len(dims), l.Rank())
	}
	order, err := l.dims("permute", true, dims...)
	if err != nil {
		return Layout{}, err
	}
	m := l.clone()
	for i, from := range order {
		m.shape[i], m.strides[i] = l.shape[from], l.strides[from]
	}
	return m.checked("permute")
}

// Narrow keeps length elements of dim from start on. A negative start counts from the end of the
// dim.
func (l Layout) Narrow(dim, start, length int) (Layout, error) {
	d, n, err := l.sized("narrow", dim)
	if err != nil {
		return Layout{}, err
	}
	if start == -1 && n == 0 { // as PyTorch wraps the dim of a scalar
		start = 0
	}
	if start < -n || start > n {
		return Layout{}, fmt.Errorf("narrow: start %d is out of range for dim %d of size %d "+
			"(want %d to %[3]d)", start, d, n, -n)
	}
	if start < 0 {
		start += n
	}
	if length < 0 {
		return Layout{}, fmt.Errorf("narrow: length %d is negative (want 0 to %d from start %d "+
			"of dim %d)", length, n-start, start, d)
	}
	if length > n-start {
		return Layout{}, fmt.Errorf("narrow: length %d from start %d exceeds dim %d of size %d "+
			"(want 0 to %d)", length, start, d, n, n-start)
	}
	m := l.clone()
	m.shape[d] = length
	m.offset += start * l.strides[d]
	return m.checked("narrow")
}

// Slice keeps every step-th index of dim from start up to, not including, end. Negative bounds
// count from the end, and bounds are clamped as in Python. step is positive.
func (l Layout) Slice(dim, start, end, step int) (Layout, error) {
	d, n, err := l.sized("slice", dim)
	if err != nil {
		return Layout{}, err
	}
	if step <= 0 {
		return Layout{}, fmt.Errorf("slice: step %d is not positive (flip(%d) walks backwards)",
			step, d)
	}
	start, end = sliceBounds(start, end, n)
	stride, ok := mulInt(l.strides[d], step)
	if !ok {
		return Layout{}, fmt.Errorf("slice: step %d of stride %d overflows", step, l.strides[d])
	}
	m := l.clone()
	m.shape[d] = (end - start) / step
	if length := end - start; length < 0 {
		m.shape[d] = (length + step - 1) / step // as PyTorch counts a negative size
	} else if length%step != 0 {
		m.shape[d]++
	}
	m.offset += start * l.strides[d]
	m.strides[d] = stride
	if start < 0 && m.offset < 0 {
		return Layout{}, fmt.Errorf("slice: dim %d has the negative size %d, and its slice would "+
			"start before the storage", d, n)
	}
	return m.checked("slice")
}

// sliceBounds resolves bounds to 0..n. The order of the conditions is PyTorch's, and matters if n
// is negative (ATen/native/TensorShape.cpp, slice).
func sliceBounds(start, end, n int) (from, to int) {
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	if start < 0 {
		start = 0
	} else if start >= n {
		start = n
	}
	if end < start {
		end = start
	} else if end >= n {
		end = n
	}
	return start, end
}

// Expand repeats dims of size 1 by a stride of 0. A size of -1 keeps the dim, and leading sizes add
// dims. A dim whose size does not change keeps its stride. A new leading dim of size 1 gets the
// stride of a contiguous one (ATen/ExpandUtils.cpp, inferExpandGeometry). As in PyTorch, a size
// below -1 passes if the result is empty.
func (l Layout) Expand(sizes ...int) (Layout, error) {
	lead := len(sizes) - l.Rank()
	if lead < 0 {
		return Layout{}, fmt.Errorf("expand: %d sizes for a tensor of %d dims",
			len(sizes), l.Rank())
	}
	m := Layout{slices.Clone(sizes), make([]int, len(sizes)), l.offset}
	for i := len(sizes) - 1; i >= 0; i-- {
		size, stride := 1, 0 // of a new leading dim
		if d := i - lead; d >= 0 {
			size, stride = l.shape[d], l.strides[d]
			if sizes[i] == -1 {
				m.shape[i] = size
			}
		} else if i+1 < len(sizes) && l.Rank() > 0 {
			stride = m.shape[i+1] * m.strides[i+1]
		}
		switch want := m.shape[i]; {
		case want == size && i < lead && stride < 0 && m.shape[i+1] < 0:
			return Layout{}, fmt.Errorf("expand: a dim before dim %d, of the negative size %d, "+
				"has no stride", i+1, m.shape[i+1])
		case want == size:
			m.strides[i] = stride
		case want == -1 || want < 0 && size != 1:
			return Layout{}, fmt.Errorf("expand: size %d of dim %d is not allowed (-1 keeps an "+
				"existing dim, the tensor has %d)", want, i, l.Rank())
		case size != 1:
			return Layout{}, fmt.Errorf("expand: dim %d has size %d and cannot become %d (only "+
				"size 1 expands)", i-lead, size, want)
		}
	}
	return derived(fmt.Sprintf("expand to %v", sizes), m.shape, m.strides, m.offset)
}

// flip reverses the given dims by negative strides. PyTorch's flip copies; this one is an order of
// access.
func (l Layout) flip(dims ...int) (Layout, error) {
	at, err := l.dims("flip", true, dims...)
	if err != nil || l.Rank() == 0 {
		return l, err
	}
	m := l.clone()
	for _, d := range at {
		m.offset += max(m.shape[d]-1, 0) * m.strides[d]
		m.strides[d] = -m.strides[d]
	}
	return m, nil
}

// selected takes one index of dim and drops the dim. A negative index counts from the end.
func (l Layout) selected(dim, index int) (Layout, error) {
	d, n, err := l.sized("select", dim)
	if err != nil {
		return Layout{}, err
	}
	switch {
	case n == 0:
		return Layout{}, fmt.Errorf("select: dim %d has size 0 and no index %d", d, index)
	case index < -n || index >= n:
		return Layout{}, fmt.Errorf("select: index %d is out of range for dim %d of size %d "+
			"(want %d to %d)", index, d, n, -n, n-1)
	}
	if index < 0 {
		index += n
	}
	m := Layout{
		slices.Delete(slices.Clone(l.shape), d, d+1),
		slices.Delete(slices.Clone(l.strides), d, d+1),
		l.offset + index*l.strides[d],
	}
	return m.checked("select")
}

// View returns the same elements, in the same row-major order, in another shape. One size may be -1
// and is inferred. The error says why if the shape needs a copy
// (aten/src/ATen/TensorUtils.cpp, computeStride).
func (l Layout) View(sizes ...int) (Layout, error) {
	shape, err := inferSize("view", sizes, "the tensor", l.Numel())
	if err != nil {
		return Layout{}, err
	}
	return l.viewed("view", shape)
}

// viewed is View for the view that op makes.
func (l Layout) viewed(op string, shape []int) (Layout, error) {
	strides, err := l.viewStrides(shape)
	if err != nil {
		return Layout{}, fmt.Errorf("%s: %w", op, err)
	}
	return derived(op, shape, strides, l.offset)
}

// inferSize replaces one -1 by the rest of numel (ATen/InferSize.h).
func inferSize(op string, sizes []int, what string, numel int) ([]int, error) {
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
		return nil, fmt.Errorf("%s: sizes %v do not hold %s's %d elements", op, sizes, what, numel)
	}
	return shape, nil
}

// viewStrides gathers old dims, from the last, into chunks that lie contiguously in memory. New
// dims must fill each chunk exactly.
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
			inner := d
			for l.shape[inner] == 1 {
				inner++
			}
			return nil, &noViewError{l, shape, d - 1, inner}
		}
		if d > 0 {
			base, chunk = l.strides[d-1], 1
		}
	}
	return strides, nil
}

// A noViewError says why no strides express a shape. A dim of Shape would merge dims Inner and
// Outer of the layout. Outer's stride is not Inner's size times Inner's stride. Neither dim has
// size 1, and all dims between them have.
type noViewError struct {
	Layout       Layout
	Shape        []int
	Outer, Inner int
}

// Error names the shape, the dims, and the stride that does not fit.
func (e *noViewError) Error() string {
	l := e.Layout
	return fmt.Sprintf("%s cannot become shape %s without a copy: dims %d and %d do not merge, "+
		"since stride %d is not %d*%d (size and stride of dim %d); reshape copies where it must, "+
		"and a contiguous copy has the view",
		l, FormatShape(e.Shape), e.Outer, e.Inner, l.strides[e.Outer], l.shape[e.Inner],
		l.strides[e.Inner], e.Inner)
}

// unflatten splits a dim into several, whose sizes multiply to its own. One may be -1 and is
// inferred. It strip-mines a walk.
func (l Layout) unflatten(dim int, sizes ...int) (Layout, error) {
	d, n, err := l.sized("unflatten", dim)
	if err != nil {
		return Layout{}, err
	}
	if len(sizes) == 0 {
		return Layout{}, fmt.Errorf("unflatten: no sizes are given for dim %d", d)
	}
	parts, err := inferSize(fmt.Sprintf("unflatten dim %d", d), sizes, "the dim", n)
	if err != nil {
		return Layout{}, err
	}
	return l.viewed("unflatten", slices.Concat(l.shape[:d], parts, l.shape[d+1:]))
}

// unsqueeze inserts a dim of size 1 before dim, or at the end (ATen/native/TensorShape.cpp,
// inferUnsqueezeGeometry).
func (l Layout) unsqueeze(dim int) (Layout, error) {
	d, err := resolveDim("unsqueeze", dim, l.Rank()+1)
	if err != nil {
		return Layout{}, err
	}
	stride := 1
	if d < l.Rank() {
		if stride = l.shape[d] * l.strides[d]; l.shape[d] < 0 && stride < 0 {
			return Layout{}, fmt.Errorf("unsqueeze: a dim before dim %d, of the negative size "+
				"%d, has no stride", d, l.shape[d])
		}
	}
	return derived("unsqueeze", slices.Insert(slices.Clone(l.shape), d, 1),
		slices.Insert(slices.Clone(l.strides), d, stride), l.offset)
}

// t swaps the two dims of a matrix and returns fewer dims unchanged.
func (l Layout) t() (Layout, error) {
	switch l.Rank() {
	case 0, 1:
		return l, nil
	case 2:
		return l.Transpose(0, 1)
	}
	return Layout{}, fmt.Errorf("t: the tensor has %d dims (want at most 2; transpose swaps "+
		"any two)", l.Rank())
}

// squeeze drops those of the dims that have size 1.
func (l Layout) squeeze(dims []int) (Layout, error) {
	m := Layout{offset: l.offset}
	for d, n := range l.shape {
		if n != 1 || !slices.Contains(dims, d) {
			m.shape, m.strides = append(m.shape, n), append(m.strides, l.strides[d])
		}
	}
	return m.checked("squeeze")
}

// unfold replaces a dim by the number of windows of size elements, step apart, that fit in it. The
// last dim is then the index within a window (ATen/native/TensorShape.cpp, unfold).
func (l Layout) unfold(dim, size, step int) (Layout, error) {
	d, err := l.dim("unfold", dim)
	if err != nil {
		return Layout{}, err
	}
	n, stride := 1, 1
	if l.Rank() > 0 {
		n, stride = l.shape[d], l.strides[d]
	}
	switch {
	case size < 0 && l.Numel() > 0 || size > n:
		return Layout{}, fmt.Errorf("unfold: size %d does not fit dim %d of size %d (want 0 to %d)",
			size, d, n, n)
	case step <= 0:
		return Layout{}, fmt.Errorf("unfold: step %d is not positive", step)
	}
	shape, strides := append(l.Shape(), size), append(l.Strides(), stride)
	if l.Rank() > 0 {
		var ok bool
		shape[d] = (n-size)/step + 1
		if strides[d], ok = mulInt(stride, step); !ok {
			return Layout{}, fmt.Errorf("unfold: step %d of stride %d overflows", step, stride)
		}
	}
	return derived("unfold", shape, strides, l.offset)
}

// diagonal replaces two dims by their diagonal as the last dim, offset above the main one, or below
// if negative (ATen/native/TensorShape.cpp, diagonal).
func (l Layout) diagonal(offset, dim1, dim2 int) (Layout, error) {
	at, err := l.dims("diagonal", false, dim1, dim2)
	if err != nil {
		return Layout{}, err
	}
	a, b := at[0], at[1]
	if a == b || l.Rank() < 2 {
		return Layout{}, fmt.Errorf("diagonal: dims %d and %d are not two dims of %d", dim1,
			dim2, l.Rank())
	}
	skip, from := max(offset, 0), b
	size := min(l.shape[a], l.shape[b]-skip)
	if offset < 0 {
		skip, from = -max(offset, -l.shape[a]), a // no further than the edge
		size = min(l.shape[a]-skip, l.shape[b])
	}
	m := Layout{offset: l.offset}
	if size = max(size, 0); size > 0 {
		m.offset += skip * l.strides[from]
	}
	for d := range l.shape {
		if d != a && d != b {
			m.shape, m.strides = append(m.shape, l.shape[d]), append(m.strides, l.strides[d])
		}
	}
	stride, ok := addInt(l.strides[a], l.strides[b])
	if !ok {
		return Layout{}, fmt.Errorf("diagonal: strides %d and %d overflow", l.strides[a],
			l.strides[b])
	}
	return derived("diagonal", append(m.shape, size), append(m.strides, stride), m.offset)
}

// asStrided returns any layout within the storage. It refuses a negative stride or offset, and an
// element beyond the storage (ATen/native/Resize.h, checkInBoundsForStorage).
func (s site) asStrided(shape, strides []int, at argument) (site, error) {
	offset := at.or(s.layout.offset)
	l, err := derived("as_strided", shape, strides, offset)
	if err != nil {
		return site{}, err
	}
	for d, n := range strides {
		if n < 0 {
			return site{}, fmt.Errorf("as_strided: stride %d of dim %d is negative", n, d)
		}
	}
	if offset < 0 {
		return site{}, fmt.Errorf("as_strided: offset %d is negative", offset)
	}
	if _, high := l.Extent(); l.Numel() > 0 && high >= s.storage {
		return site{}, fmt.Errorf("as_strided: %s reaches element %d of a storage of %d", l, high,
			s.storage)
	}
	s.layout = l
	return s, nil
}

// Broadcast returns the layouts expanded to their common shape. Aligned at the last dim, sizes must
// be equal or 1 (ATen/ExpandUtils.cpp, infer_size).
func Broadcast(ls ...Layout) ([]Layout, error) {
	shape, err := broadcastShape("broadcast", ls)
	if err != nil {
		return nil, err
	}
	out := make([]Layout, len(ls))
	for i, l := range ls {
		if out[i], err = l.Expand(shape...); err != nil {
			return nil, fmt.Errorf("broadcast: %w", err)
		}
	}
	return out, nil
}

func broadcastShape(op string, ls []Layout) ([]int, error) {
	var shape []int
	for _, l := range ls {
		for len(shape) < l.Rank() {
			shape = slices.Insert(shape, 0, 1)
		}
		lead := len(shape) - l.Rank()
		for d, n := range l.shape {
			switch have := &shape[lead+d]; {
			case *have == 1:
				*have = n
			case n != 1 && n != *have:
				return nil, fmt.Errorf("%s: sizes %d and %d of dim %d (counted from the last) do "+
					"not match; equal sizes or 1 would", op, *have, n, d-l.Rank())
			}
		}
	}
	return shape, nil
}
