package layouts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

func parseMemoryFormat(name string) (memoryFormat, error) {
	for f := rowMajor; f <= preserve; f++ {
		if strings.TrimPrefix(name, "torch.") == f.String() {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%q is not a memory format (want torch.contiguous_format, "+
		"channels_last, channels_last_3d or preserve_format)", name)
}

// stridesIn returns the strides of a copy. It refuses negative sizes, which only empty views have.
func (l Layout) stridesIn(op string, f memoryFormat) ([]int, error) {
	if i := slices.IndexFunc(l.shape, func(n int) bool { return n < 0 }); i >= 0 {
		return nil, fmt.Errorf("%s: the copy would have negative size %d in dim %d", op,
			l.shape[i], i)
	}
	if f == preserve {
		return l.preservedStrides(), nil
	}
	strides := formatStrides(l.shape, f)
	if strides == nil {
		return nil, fmt.Errorf("%s in %s wants %d dims, the tensor has %d", op, f,
			3+int(f), l.Rank())
	}
	return strides, nil
}

func (s site) copyIn(op string, f memoryFormat) (site, error) {
	strides, err := s.layout.stridesIn(op, f)
	if err != nil {
		return site{}, err
	}
	return s.copied(s.layout.shape, strides, nil), nil
}

// copied is a copy of s's elements, in row-major order.
func (s site) copied(shape, strides []int, why error) site {
	l := Layout{shape: shape, strides: strides}
	return site{layout: l, storage: l.Numel(), dtype: s.dtype, walk: s.walk, fresh: true,
		source: s.layout, why: why}
}

// flip copies, as in PyTorch, but in an order of access.
func (s site) flip(dims []int) (site, error) {
	flipped, err := s.layout.flip(dims...)
	if err != nil || s.walk {
		s.layout = flipped
		return s, err
	}
	c, err := s.copyIn("flip", preserve)
	c.source, c.why = flipped, errors.New("PyTorch has no negative strides")
	return c, err
}

// repeat is a row-major copy that has the tensor this many times along each dim. Leading counts add
// dims (ATen/native/TensorShape.cpp, repeat).
func (s site) repeat(counts []int) (site, error) {
	l := s.layout
	lead := len(counts) - l.Rank()
	if lead < 0 {
		return site{}, fmt.Errorf("repeat: %d counts for a tensor of %d dims",
			len(counts), l.Rank())
	}
	source, shape := Layout{offset: l.offset}, make([]int, len(counts))
	for i, k := range counts {
		n, stride := 1, 0
		if i >= lead {
			n, stride = l.shape[i-lead], l.strides[i-lead]
		}
		var ok bool
		if shape[i], ok = mulInt(k, n); shape[i] < 0 || !ok {
			return site{}, fmt.Errorf("repeat: count %d of dim %d of size %d gives no size", k, i,
				n)
		}
		source.shape = append(source.shape, k, n)
		source.strides = append(source.strides, 0, stride)
	}
	if _, err := checkedNumel(shape); err != nil {
		return site{}, fmt.Errorf("repeat: %w", err)
	}
	c := s.copied(shape, contiguousStrides(shape), nil)
	c.source = source
	return c, nil
}

// contiguous copies unless the layout is the format's. As in PyTorch, preserve_format means
// contiguous_format for a contiguous tensor and is refused for others
// (aten/src/ATen/native/TensorProperties.cpp, contiguous).
func (s site) contiguous(f memoryFormat) (site, error) {
	l := s.layout
	switch {
	case (f == preserve || f == rowMajor) && l.IsContiguous():
		return s, nil
	case f == preserve:
		return s, errors.New("contiguous: preserve_format names no layout for a copy, and " +
			"PyTorch refuses it of a tensor that is not contiguous")
	}
	strides, err := l.stridesIn("contiguous", f)
	if err != nil || f != rowMajor && l.isDense(f) {
		return s, err
	}
	return s.copied(l.shape, strides, fmt.Errorf("%v does not lie in %v", l, f)), nil
}

func (s site) to(dtype DType, f memoryFormat) (site, error) {
	if dtype == s.dtype && f == preserve {
		return s, nil
	}
	strides, err := s.layout.stridesIn("to", f)
	if err != nil || dtype == s.dtype && s.layout.suggested() == f {
		return s, err
	}
	c := s.copied(s.layout.shape, strides, nil)
	c.dtype = dtype
	return c, nil
}

// suggested is PyTorch's suggest_memory_format.
func (l Layout) suggested() memoryFormat {
	switch {
	case l.hasFormatStrides(channelsLast2d):
		return channelsLast2d
	case l.hasFormatStrides(channelsLast3d):
		return channelsLast3d
	}
	return rowMajor
}

func (s site) reshape(sizes []int) (site, error) {
	shape, err := inferSize("reshape", sizes, "the tensor", s.layout.Numel())
	if err != nil {
		return site{}, err
	}
	return s.shaped("reshape", shape)
}

func (s site) shaped(op string, shape []int) (to site, err error) {
	to = s
	to.layout, err = s.layout.viewed(op, shape)
	if why, ok := errors.AsType[*noViewError](err); ok {
		return s.copied(shape, contiguousStrides(shape), why), nil
	}
	return to, err
}

func (s site) ravel() (site, error) {
	if s.layout.IsContiguous() {
		return s.reshape([]int{-1})
	}
	return s.copied([]int{s.layout.Numel()}, []int{1},
		fmt.Errorf("%v is not contiguous", s.layout)), nil
}

func (s site) flatten(start, end int) (site, error) {
	l := s.layout
	at, err := l.dims("flatten", false, start, end)
	switch {
	case err != nil:
		return s, err
	case at[0] > at[1]:
		return s, fmt.Errorf("flatten: start dim %d comes after end dim %d", at[0], at[1])
	case l.Rank() == 0:
		return s.shaped("flatten", []int{1})
	case at[0] == at[1]:
		return s, nil
	}
	merged := Layout{shape: l.shape[at[0] : at[1]+1]}.Numel()
	return s.shaped("flatten", slices.Concat(l.shape[:at[0]], []int{merged}, l.shape[at[1]+1:]))
}

// viewAs is view_dtype (ATen/native/TensorShape.cpp and TensorConversions.cpp).
func (s site) viewAs(dtype DType) (site, error) {
	l := s.layout
	from, to := s.dtype.Size(), dtype.Size()
	if from == 0 {
		return site{}, errors.New("view: the dtype of the tensor is not known here")
	}
	if s.conj && dtype != s.dtype {
		return site{}, fmt.Errorf("view: numbers of %s are conjugates here, and no storage holds "+
			"those: clone() first", s.dtype)
	}
	s.dtype = dtype
	if from == to {
		return s, nil
	}
	last := l.Rank() - 1
	switch {
	case last < 0:
		return site{}, fmt.Errorf("view: a 0-d tensor of elements of %d B has no view of "+
			"elements of %d B", from, to)
	case l.strides[last] != 1:
		return site{}, fmt.Errorf("view: the last dim has stride %d, and elements of another "+
			"size want 1", l.strides[last])
	}
	if from > to {
		return s.resized(from/to, 1)
	}
	by := to / from
	if l.shape[last]%by != 0 || l.offset%by != 0 {
		return site{}, fmt.Errorf("view: the last dim of size %d and the offset %d want to be "+
			"multiples of %d for %s", l.shape[last], l.offset, by, dtype)
	}
	for d, n := range l.strides[:last] {
		if n%by != 0 {
			return site{}, fmt.Errorf("view: stride %d of dim %d wants to be a multiple of "+
				"%d for %s", n, d, by, dtype)
		}
	}
	return s.resized(1, by)
}

// resized returns the same bytes as times/parts times the elements, along the last dim.
func (s site) resized(times, parts int) (site, error) {
	l := s.layout.clone()
	last := l.Rank() - 1
	var fits [3]bool
	l.shape[last], fits[0] = mulInt(l.shape[last], times)
	l.offset, fits[1] = mulInt(l.offset, times)
	s.storage, fits[2] = mulInt(s.storage, times)
	l.shape[last], l.offset, s.storage = l.shape[last]/parts, l.offset/parts, s.storage/parts
	for d := range l.strides[:last] {
		n, ok := mulInt(l.strides[d], times)
		if !ok {
			fits[0] = false
		}
		l.strides[d] = n / parts
	}
	if fits != [3]bool{true, true, true} {
		return site{}, errors.New("view: more elements than an int can count")
	}
	var err error
	s.layout, err = derived("view", l.shape, l.strides, l.offset)
	return s, err
}

func (s site) asReal(op string) (site, error) {
	real, ok := map[DType]DType{Complex64: Float32, Complex128: Float64}[s.dtype]
	if !ok {
		return site{}, fmt.Errorf("%s wants a complex tensor, and this one is of %s", op, s.dtype)
	}
	if s.conj && op == "view_as_real" {
		return site{}, fmt.Errorf("%s: the numbers are conjugates here, and no storage holds "+
			"those: clone() first", op)
	}
	s.conj = false
	var err error
	if s.layout, err = s.layout.unsqueeze(-1); err != nil {
		return site{}, err
	}
	s.layout.strides[s.layout.Rank()-1] = 1
	s, err = s.resized(2, 1)
	s.dtype = real
	return s, err
}

func (s site) part(op string, index int) (site, error) {
	if index == 0 && s.dtype.kind() != kindComplex && s.dtype != Undefined {
		return s, nil
	}
	s, err := s.asReal(op)
	if err == nil {
		s.layout, err = s.layout.selected(-1, index)
	}
	return s, err
}
