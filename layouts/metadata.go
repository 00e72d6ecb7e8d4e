package layouts

import (
	"errors"
	"fmt"
	"slices"
)

// This file has what changes in place in a tensor, as in c10/core/TensorImpl. Storage comes with
// the first write, grows, and is kept or given up. Metadata may reach beyond it, which reads
// refuse.

type metadata struct {
	frozen   bool // set by Detach: sizes, strides and offset must not change
	reserved bool // set by Reserve: Resize keeps storage that is large enough
}

// Uninitialized returns a contiguous tensor without dtype and memory, which the first write gives
// it (TensorImpl::raw_mutable_data).
func Uninitialized(shape ...int) (*Tensor, error) {
	layout, err := fresh("uninitialized", shape)
	if err != nil {
		return nil, err
	}
	return (&Storage{dtype: Undefined}).seen(layout), nil
}

// MutableData returns the whole storage for writing. A tensor without storage gets one of T's dtype
// for the elements that it reaches. MutableData refuses a storage of another dtype, and a tensor
// that reaches beyond its storage.
func MutableData[T Element](t *Tensor) ([]T, error) {
	dtype := dtypeFor[T]()
	if t.storage.dtype != Undefined && t.storage.dtype != dtype {
		return nil, fmt.Errorf("storage holds %s, not %s", t.storage.dtype, dtype)
	}
	if t.storage.mem == nil {
		need, err := t.layout.bytes(dtype)
		if err != nil {
			return nil, err
		}
		t.storage.dtype, t.storage.mem = dtype, allocate(need)
	}
	if err := t.storage.inBounds(t.layout); err != nil {
		return nil, err
	}
	return words[T](t.storage), nil
}

// bytes returns the bytes of storage that the layout reaches in elements of dtype.
func (l Layout) bytes(dtype DType) (int, error) {
	if l.Numel() == 0 {
		return 0, nil
	}
	_, high := l.Extent()
	size, ok := mulInt(high+1, dtype.Size())
	if !ok || high+1 < 0 {
		return 0, fmt.Errorf("%s of %s is more bytes than an int can count", l, dtype)
	}
	return size, nil
}

var errFrozen = errors.New("the metadata of a detached tensor must not change")

func (t *Tensor) set(op string, shape, strides []int) error {
	if t.meta.frozen {
		return fmt.Errorf("%s: %w", op, errFrozen)
	}
	l, err := derived(op, shape, strides, t.layout.offset)
	if err != nil {
		return err
	}
	t.layout = l
	return nil
}

// SetSizesAndStrides sets both, unchecked against the storage. A negative stride becomes 1 for the
// last dim, else max(size, 1)*stride of the next dim (TensorImpl::set_sizes_and_strides).
func (t *Tensor) SetSizesAndStrides(sizes, strides []int) error {
	if len(sizes) != len(strides) {
		return fmt.Errorf("set sizes and strides: %d sizes do not go with %d strides", len(sizes),
			len(strides))
	}
	filled := slices.Clone(strides)
	for d := len(sizes) - 1; d >= 0; d-- {
		if filled[d] >= 0 {
			continue
		}
		if filled[d] = 1; d < len(sizes)-1 {
			var ok bool
			if filled[d], ok = mulInt(max(sizes[d+1], 1), filled[d+1]); !ok {
				return fmt.Errorf("set sizes and strides: the stride of dim %d overflows", d)
			}
		}
	}
	return t.set("set sizes and strides", sizes, filled)
}

// ResizeDim sets the number of dims. New dims have size and stride 0, so the tensor is empty until
// they are set (c10/core/impl/SizesAndStrides.h, resize).
func (t *Tensor) ResizeDim(rank int) error {
	if rank < 0 {
		return fmt.Errorf("resize dim: %d is not a number of dims", rank)
	}
	shape, strides := make([]int, rank), make([]int, rank)
	copy(shape, t.layout.shape)
	copy(strides, t.layout.strides)
	return t.set("resize dim", shape, strides)
}

func (t *Tensor) setContiguous(op string, sizes []int) error {
	if err := checkedSizes(sizes); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return t.set(op, sizes, contiguousStrides(sizes))
}

// Resize sets contiguous sizes. If the number of elements changes, it gives up a storage that is
// too small or has more than surplus bytes too many. The next write then allocates, and other
// tensors keep the old storage. A reserved storage that is large enough is always kept. A surplus
// of math.MaxInt is Caffe2's default, and one of -1 is Caffe2 without caffe2_keep_on_shrink
// (TensorImpl::HandleResize, FreeMemory).
func (t *Tensor) Resize(surplus int, sizes ...int) error {
	before := t.layout.Numel()
	if err := t.setContiguous("resize", sizes); err != nil {
		return err
	}
	if t.layout.Numel() == before || t.storage.mem == nil {
		return nil
	}
	need, err := t.layout.bytes(t.DType())
	left := len(t.storage.mem) - need
	if err != nil || left < 0 || left > surplus && !t.meta.reserved {
		t.layout.offset = 0
		t.storage = &Storage{dtype: t.DType()}
		t.storage.tensors.Store(1)
	}
	return nil
}

// ResizeTo is PyTorch's resize_. Equal sizes change nothing. Others are set, contiguous at the same
// offset. A storage that is too small grows and keeps its content; none shrinks
// (ATen/native/Resize.h).
func (t *Tensor) ResizeTo(sizes ...int) error {
	if slices.Equal(sizes, t.layout.shape) {
		return nil
	}
	before := t.layout
	if err := t.setContiguous("resize_", sizes); err != nil {
		return err
	}
	need, err := t.layout.bytes(t.DType())
	if err != nil {
		t.layout = before
		return fmt.Errorf("resize_: %w", err)
	}
	if t.storage.mem != nil && len(t.storage.mem) < need {
		old := t.storage.mem
		t.storage.mem = allocate(need)
		copy(t.storage.mem, old)
	}
	return nil
}

// Reserve makes room for outer entries of the first dim and keeps the sizes. Content is lost if the
// storage must grow. Reserve refuses a shared storage, and a tensor that is not contiguous
// (TensorImpl::ReserveSpace).
func (t *Tensor) Reserve(outer int) error {
	switch {
	case t.layout.Rank() == 0 || !t.layout.IsContiguous():
		return fmt.Errorf("reserve wants a contiguous tensor of at least one dim, this is %s",
			t.layout)
	case t.DType() == Undefined:
		return fmt.Errorf("reserve: %w", errUninitialized)
	case t.storage.shared():
		return errors.New("reserve: other tensors share the storage")
	}
	sizes := t.layout.Shape()
	sizes[0] = outer
	roomy, err := fresh("reserve", sizes)
	if err != nil {
		return err
	}
	need, err := roomy.bytes(t.DType())
	if err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	if need > len(t.storage.mem) {
		t.layout.offset = 0
		t.storage.mem = allocate(need)
		t.meta.reserved = true
	}
	return nil
}

// ReshapeInPlace sets contiguous sizes of the same number of elements. It wants a contiguous tensor
// (TensorImpl::Reshape).
func (t *Tensor) ReshapeInPlace(sizes ...int) error {
	if err := checkedSizes(sizes); err != nil {
		return fmt.Errorf("reshape in place: %w", err)
	}
	if numel := (Layout{shape: sizes}).Numel(); numel != t.layout.Numel() ||
		!t.layout.IsContiguous() {
		return fmt.Errorf("reshape in place to %s wants a contiguous tensor of %d elements, "+
			"this is %s", FormatShape(sizes), numel, t.layout)
	}
	return t.setContiguous("reshape in place", sizes)
}

// Detach returns a tensor with a copy of the metadata that shares the storage. Its sizes and
// strides must not change unless allowMetadataChange (TensorImpl::shallow_copy_and_detach,
// allow_tensor_metadata_change).
func (t *Tensor) Detach(allowMetadataChange bool) *Tensor {
	d := t.storage.seen(t.layout)
	d.meta = t.meta
	d.meta.frozen = !allowMetadataChange
	return d
}
