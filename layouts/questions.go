package layouts

import (
	"cmp"
	"slices"
)

// A memoryFormat is an order of the dims in memory.
type memoryFormat uint8

// The memory formats (c10/core/MemoryFormat.h). Shapes are NCHW and NCDHW in all of them;
// channelsLast2d and channelsLast3d lay C innermost.
const (
	rowMajor memoryFormat = iota // PyTorch's contiguous_format
	channelsLast2d
	channelsLast3d
	preserve // of a copy: the tensor's own format, PyTorch's preserve_format
)

// order returns the dims from the innermost in memory, nil if the format lacks the rank.
func (f memoryFormat) order(rank int) []int {
	switch {
	case f == rowMajor:
		dims := make([]int, rank)
		for i := range dims {
			dims[i] = rank - 1 - i
		}
		return dims
	case f == channelsLast2d && rank == 4:
		return []int{1, 3, 2, 0}
	case f == channelsLast3d && rank == 5:
		return []int{1, 4, 3, 2, 0}
	}
	return nil
}

// String returns PyTorch's name.
func (f memoryFormat) String() string {
	return [...]string{"contiguous_format", "channels_last", "channels_last_3d",
		"preserve_format"}[f]
}

// IsChannelsLast reports whether the elements lie in channels_last (rank 4) or channels_last_3d
// (rank 5): dense in the order of dims 1, 3, 2, 0 or 1, 4, 3, 2, 0. Dims of size 1 are skipped.
// IsContiguous can be true as well (c10/core/TensorImpl.cpp, compute_channels_last_contiguous_2d).
func (l Layout) IsChannelsLast() bool {
	return l.isDense(channelsLast2d) || l.isDense(channelsLast3d)
}

// isDense reports whether the strides are the format's, but in dims of size 1.
func (l Layout) isDense(f memoryFormat) bool {
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

// hasFormatStrides applies the older rule, on strides alone: for rank 4, strides N >= H >= W >= C,
// C not 0. Sizes of 1 count. PyTorch's suggest_memory_format uses it (c10/core/MemoryFormat.h,
// is_channels_last_strides_2d).
func (l Layout) hasFormatStrides(f memoryFormat) bool {
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

// IsDense reports whether the elements fill memory without gaps or overlap, in some order of the
// dims (c10/core/TensorImpl.cpp, compute_non_overlapping_and_dense).
func (l Layout) IsDense() bool {
	if l.IsContiguous() {
		return true
	}
	want := 1
	for _, d := range l.byStride() {
		if l.strides[d] != want {
			return false
		}
		want *= l.shape[d]
	}
	return true
}

// byStride returns the dims of more than one index by the magnitude of their strides, the least
// first.
func (l Layout) byStride() (dims []int) {
	for d, n := range l.shape {
		if n > 1 {
			dims = append(dims, d)
		}
	}
	slices.SortStableFunc(dims, func(a, b int) int {
		return cmp.Compare(magnitude(l.strides[a]), magnitude(l.strides[b]))
	})
	return dims
}

func magnitude(n int) int { return max(n, -n) }

// Overlaps reports whether two indices share an element. It is exact, and looks at every element if
// strides alone do not decide.
func (l Layout) Overlaps() bool {
	if l.Numel() < 2 || l.IsDense() {
		return false
	}
	// sorted strides that each exceed the reach of the smaller ones keep all elements apart.
	reach, apart := 0, true
	for _, d := range l.byStride() {
		stride := magnitude(l.strides[d])
		if stride == 0 {
			return true
		}
		apart = apart && stride > reach
		reach += (l.shape[d] - 1) * stride
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

// preservedStrides returns the strides of [Layout.Preserved]. Negative strides count by magnitude:
// PyTorch's flip is a copy that keeps the memory format.
func (l Layout) preservedStrides() []int {
	upright := Layout{shape: l.shape, strides: l.Strides()}
	for d, stride := range upright.strides {
		upright.strides[d] = magnitude(stride)
	}
	if upright.IsDense() {
		return upright.strides
	}
	return denseStrides(l.shape, strideOrder(l.shape, [][]int{upright.strides}, false))
}

// formatStrides returns dense strides, nil if the format lacks the rank (c10/core/MemoryFormat.h,
// get_channels_last_strides_2d).
func formatStrides(shape []int, f memoryFormat) []int {
	if f == rowMajor {
		return contiguousStrides(shape)
	}
	order := f.order(len(shape))
	if order == nil {
		return nil
	}
	return denseStrides(shape, order)
}
