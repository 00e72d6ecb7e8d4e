package layouts

import (
	"cmp"
	"slices"
)

// A MemoryFormat is an order of the dimensions in memory.
type MemoryFormat uint8

// The memory formats (c10/core/MemoryFormat.h). Shapes are NCHW and NCDHW in
// all of them; ChannelsLast and ChannelsLast3d lay C innermost.
const (
	RowMajor MemoryFormat = iota // PyTorch's contiguous_format
	ChannelsLast
	ChannelsLast3d
	Preserve // of a copy: as the tensor lies; PyTorch's preserve_format
)

// order lists the dims from the innermost in memory to the outermost, nil for
// a format that rank does not have.
func (f MemoryFormat) order(rank int) []int {
	switch {
	case f == RowMajor:
		dims := make([]int, rank)
		for i := range dims {
			dims[i] = rank - 1 - i
		}
		return dims
	case f == ChannelsLast && rank == 4:
		return []int{1, 3, 2, 0}
	case f == ChannelsLast3d && rank == 5:
		return []int{1, 4, 3, 2, 0}
	}
	return nil
}

// String is PyTorch's name.
func (f MemoryFormat) String() string {
	return [...]string{"contiguous_format", "channels_last", "channels_last_3d",
		"preserve_format"}[f]
}

// IsChannelsLast reports whether the elements lie as channels_last wants them:
// rank 4, and dense in the order of dims 1, 3, 2, 0, where dims of size 1 are
// skipped. It can be true beside IsContiguous.
// (c10/core/TensorImpl.cpp, compute_channels_last_contiguous_2d.)
func (l Layout) IsChannelsLast() bool { return l.isDense(ChannelsLast) }

// IsChannelsLast3d is IsChannelsLast for rank 5, in the order 1, 4, 3, 2, 0.
func (l Layout) IsChannelsLast3d() bool { return l.isDense(ChannelsLast3d) }

// isDense reports whether the strides are those of the format, dims of size 1
// apart.
func (l Layout) isDense(f MemoryFormat) bool {
	order := f.order(l.Rank())
	if order == nil {
		return false
	}
	want := 1
	for _, d := range order {
		if l.shape[d] == 1 {
			continue
		}
		if l.strides[d] != want {
			return false
		}
		want *= l.shape[d]
	}
	return true
}

// HasChannelsLastStrides reports the older rule, which looks at strides alone:
// rank 4 with strides N >= H >= W >= C, C not 0. It decides what PyTorch's
// suggest_memory_format says, and sizes of 1 count (c10/core/MemoryFormat.h,
// is_channels_last_strides_2d).
func (l Layout) HasChannelsLastStrides() bool { return l.hasFormatStrides(ChannelsLast) }

// hasFormatStrides is HasChannelsLastStrides for either format.
func (l Layout) hasFormatStrides(f MemoryFormat) bool {
	order := f.order(l.Rank())
	if order == nil || l.strides[1] == 0 {
		return false
	}
	least := 0
	for _, d := range order {
		if l.shape[d] == 0 || l.strides[d] < least || d == 0 && least == l.strides[1] {
			return false
		}
		if least = l.strides[d]; l.shape[d] > 1 {
			least *= l.shape[d]
		}
	}
	return true
}

// IsDense reports whether the elements fill a stretch of memory without gaps
// and without meeting, in some order of the dims
// (c10/core/TensorImpl.cpp, compute_non_overlapping_and_dense).
func (l Layout) IsDense() bool {
	if l.IsContiguous() {
		return true
	}
	var dims []int
	for d, n := range l.shape {
		if n > 1 {
			dims = append(dims, d)
		}
	}
	slices.SortStableFunc(dims, func(a, b int) int {
		return cmp.Compare(l.strides[a], l.strides[b])
	})
	want := 1
	for _, d := range dims {
		if l.strides[d] != want {
			return false
		}
		want *= l.shape[d]
	}
	return true
}

// Overlaps reports whether two different indices share an element. It is exact,
// and looks at every element where strides alone do not decide it.
func (l Layout) Overlaps() bool {
	if l.Numel() < 2 || l.IsDense() {
		return false
	}
	// Sorted by size, strides that each exceed the reach of the smaller ones
	// keep all elements apart.
	var dims []int
	for d, n := range l.shape {
		if n > 1 {
			dims = append(dims, d)
		}
	}
	abs := func(d int) int { return max(l.strides[d], -l.strides[d]) }
	slices.SortFunc(dims, func(a, b int) int { return cmp.Compare(abs(a), abs(b)) })
	reach, apart := 0, true
	for _, d := range dims {
		if abs(d) == 0 {
			return true
		}
		apart = apart && abs(d) > reach
		reach += (l.shape[d] - 1) * abs(d)
	}
	if apart {
		return false
	}
	if l.Numel() > reach+1 {
		return true // more elements than places
	}
	seen := map[int]bool{}
	for at := range l.Offsets() {
		if seen[at] {
			return true
		}
		seen[at] = true
	}
	return false
}

// ByteStrides are the strides in bytes of dtype, as NumPy prints them. Those of dims of size 1, and
// of what is empty, wrap where an int cannot count the bytes.
func (l Layout) ByteStrides(dtype DType) []int {
	strides := l.Strides()
	for d := range strides {
		strides[d] *= dtype.Size()
	}
	return strides
}

// Explain says dimension by dimension, from the last, why a layout is
// contiguous or which dim breaks it, as the rule of IsContiguous goes.
func (l Layout) Explain() []Reason {
	var reasons []Reason
	want := 1
	for d := l.Rank() - 1; d >= 0; d-- {
		r := Reason{Dim: d, Size: l.shape[d], Stride: l.strides[d], Want: want,
			Skipped: l.shape[d] == 1}
		r.Holds = r.Skipped || r.Stride == want
		reasons = append(reasons, r)
		if !r.Holds {
			break
		}
		want *= l.shape[d]
	}
	return reasons
}

// A Reason is one step of the contiguity rule: the stride that dim has, and
// the one that it should have, the product of the sizes after it. A dim of
// size 1 is skipped.
type Reason struct {
	Dim, Size, Stride, Want int
	Skipped, Holds          bool
}

// preservedStrides are the strides that a copy keeping the memory format has
// (clone, empty_like, flip): those of a dense layout, else dense ones in the
// same order of strides (ATen/native/TensorFactories.cpp, empty_like;
// ATen/ExpandUtils.cpp, infer_dense_strides).
//
// Strides that are negative count by their size, as PyTorch's flip is a copy that keeps them.
func (l Layout) preservedStrides() []int {
	upright := Layout{shape: l.shape, strides: l.Strides()}
	for d, stride := range upright.strides {
		upright.strides[d] = max(stride, -stride)
	}
	if upright.IsDense() {
		return upright.strides
	}
	return denseStrides(l.shape, strideOrder(l.shape, [][]int{upright.strides}, false))
}

// formatStrides are fresh strides of a shape in a memory format
// (c10/core/MemoryFormat.h, get_channels_last_strides_2d), nil for a rank that
// has none.
func formatStrides(shape []int, f MemoryFormat) []int {
	if f == RowMajor {
		return contiguousStrides(shape)
	}
	order := f.order(len(shape))
	if order == nil {
		return nil
	}
	return denseStrides(shape, order)
}
