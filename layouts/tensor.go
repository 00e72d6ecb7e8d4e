package layouts

import "fmt"

// A Tensor is a storage seen through a layout. Views of it share the storage.
type Tensor struct {
	storage *Storage
	layout  Layout
}

// NewTensor sees storage through layout. It refuses a layout with an element
// outside of the storage.
func NewTensor(storage *Storage, layout Layout) (*Tensor, error) {
	low, high := layout.Extent()
	if layout.Numel() > 0 && (low < 0 || high >= storage.Len()) {
		return nil, fmt.Errorf("%s reaches elements %d to %d of a storage of %d", layout, low, high, storage.Len())
	}
	return &Tensor{storage, layout}, nil
}

// Zeros returns a contiguous tensor of zeros in storage of its own.
func Zeros(dtype DType, shape ...int) (*Tensor, error) {
	layout, err := Contiguous(shape...)
	if err != nil {
		return nil, err
	}
	storage, err := NewStorage(dtype, layout.Numel())
	if err != nil {
		return nil, err
	}
	return &Tensor{storage, layout}, nil
}

// Arange returns the 1-d tensor 0, 1, ..., n-1.
func Arange[T Element](n int) (*Tensor, error) {
	t, err := Zeros(DTypeOf[T](), n)
	if err != nil {
		return nil, err
	}
	data, err := Data[T](t.storage)
	for i := range data {
		data[i] = T(i)
	}
	return t, err
}

// DType is the type of the elements.
func (t *Tensor) DType() DType { return t.storage.dtype }

// Layout is where the elements lie.
func (t *Tensor) Layout() Layout { return t.layout }

// Storage is the memory, shared by all views.
func (t *Tensor) Storage() *Storage { return t.storage }

// Apply makes a view by a chain of operations, as Layout.Apply does. The view
// shares the storage.
func (t *Tensor) Apply(chain string) (*Tensor, error) {
	layout, err := t.layout.Apply(chain)
	if err != nil {
		return nil, err
	}
	return NewTensor(t.storage, layout)
}

// Contiguous returns t itself if it is contiguous, else a row-major copy in
// storage of its own.
func (t *Tensor) Contiguous() (*Tensor, error) {
	if t.layout.IsContiguous() {
		return t, nil
	}
	return t.copyOf(t.layout)
}

// Flip returns a row-major copy with the given dimensions reversed; PyTorch's
// flip copies too (aten/src/ATen/native/TensorTransformations.cpp).
func (t *Tensor) Flip(dims ...int) (*Tensor, error) {
	layout, err := t.layout.Flip(dims...)
	if err != nil {
		return nil, err
	}
	return t.copyOf(layout)
}

// copyOf copies the elements that layout names in t's storage to a new
// contiguous tensor.
func (t *Tensor) copyOf(layout Layout) (*Tensor, error) {
	c, err := Zeros(t.DType(), layout.shape...)
	if err != nil {
		return nil, err
	}
	switch t.DType().Size() {
	case 1:
		copyOffsets(words[uint8](c.storage), words[uint8](t.storage), layout)
	case 4:
		copyOffsets(words[uint32](c.storage), words[uint32](t.storage), layout)
	case 8:
		copyOffsets(words[uint64](c.storage), words[uint64](t.storage), layout)
	}
	return c, nil
}

func copyOffsets[W uint8 | uint32 | uint64](dst, src []W, layout Layout) {
	i := 0
	for at := range layout.Offsets() {
		dst[i] = src[at]
		i++
	}
}

// At returns the element of the given index.
func At[T Element](t *Tensor, index ...int) (T, error) {
	data, at, err := locate[T](t, index)
	if err != nil {
		return 0, err
	}
	return data[at], nil
}

// Set writes the element of the given index, which every view of the storage
// then shows.
func Set[T Element](t *Tensor, value T, index ...int) error {
	data, at, err := locate[T](t, index)
	if err != nil {
		return err
	}
	data[at] = value
	return nil
}

func locate[T Element](t *Tensor, index []int) ([]T, int, error) {
	data, err := Data[T](t.storage)
	if err != nil {
		return nil, 0, err
	}
	at, err := t.layout.At(index...)
	return data, at, err
}

// Values returns all elements in row-major order of the indices.
func Values[T Element](t *Tensor) ([]T, error) {
	data, err := Data[T](t.storage)
	if err != nil {
		return nil, err
	}
	values := make([]T, 0, t.layout.Numel())
	for at := range t.layout.Offsets() {
		values = append(values, data[at])
	}
	return values, nil
}
