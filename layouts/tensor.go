package layouts

import (
	"errors"
	"fmt"
	"slices"
)

// A Tensor is a storage seen through a layout. Views of it share the storage.
type Tensor struct {
	storage *Storage
	layout  Layout
	meta    metadata
}

var errUninitialized = errors.New("the tensor is uninitialized: nothing was ever written to it")

// NewTensor returns a tensor of layout over storage, which must hold all elements.
func NewTensor(storage *Storage, layout Layout) (*Tensor, error) {
	if err := storage.inBounds(layout); err != nil {
		return nil, fmt.Errorf("new tensor: %w", err)
	}
	return storage.seen(layout), nil
}

// Zeros returns a contiguous tensor of zeros in storage of its own.
func Zeros(dtype DType, shape ...int) (*Tensor, error) { return zeros("zeros", dtype, shape) }

func zeros(op string, dtype DType, shape []int) (*Tensor, error) {
	layout, err := fresh(op, shape)
	if err != nil {
		return nil, err
	}
	t, err := zerosIn(dtype, layout)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return t, nil
}

func zerosIn(dtype DType, layout Layout) (*Tensor, error) {
	storage, err := NewStorage(dtype, layout.Numel())
	if err != nil {
		return nil, err
	}
	return storage.seen(layout), nil
}

// FromSlice returns a contiguous tensor of shape with a copy of data, which must fill it.
func FromSlice[T Element](data []T, shape ...int) (*Tensor, error) {
	t, err := zeros("from slice", dtypeFor[T](), shape)
	if err != nil {
		return nil, err
	}
	if t.layout.Numel() != len(data) {
		return nil, fmt.Errorf("from slice: %d values do not fill shape %s", len(data),
			FormatShape(shape))
	}
	copy(words[T](t.storage), data)
	return t, nil
}

// DType returns the type of the elements, Undefined before the first write.
func (t *Tensor) DType() DType { return t.storage.dtype }

// Layout returns where the elements lie.
func (t *Tensor) Layout() Layout { return t.layout }

// Storage returns the memory, which all views share.
func (t *Tensor) Storage() *Storage { return t.storage }

// Apply applies operations as PyTorch does. A view shares the storage, and as_strided may reach all
// of it. An operation that copies does so, flip too.
//
// to(dtype) converts as Go does, which agrees with C and PyTorch where the value fits. A bool is
// whether a value is not zero. A complex number gives its real part, also to bool, as in PyTorch
// 1.13: 1j is False. Later versions look at both parts.
func (t *Tensor) Apply(c Chain) (*Tensor, error) { return t.apply(c, false) }

func (t *Tensor) apply(c Chain, walk bool) (*Tensor, error) {
	conj := false
	for _, step := range c.steps {
		s := t.site()
		s.walk, s.conj = walk, conj
		s, err := step.apply(s)
		if err == nil {
			t, err = t.at(s)
		}
		if err != nil {
			return nil, err
		}
		conj = s.conj
	}
	return t, nil
}

func (t *Tensor) site() site {
	return site{layout: t.layout, storage: t.storage.len(), dtype: t.DType()}
}

// at returns what lies at a site that was made of t's.
func (t *Tensor) at(s site) (*Tensor, error) {
	switch {
	case s.blank:
		return zerosIn(s.dtype, s.layout)
	case s.fresh || s.dtype != t.DType():
		if err := t.readable(); err != nil {
			return nil, err
		}
		if s.fresh {
			return t.gather(slices.Collect(s.source.Offsets()), s.dtype, s.layout)
		}
		return t.reinterpreted(s)
	}
	return t.storage.seen(s.layout), nil
}

// gather copies elements at places of t's storage to a dense layout, in order.
func (t *Tensor) gather(places []int, dtype DType, l Layout) (*Tensor, error) {
	c, err := zerosIn(dtype, l)
	if err != nil {
		return nil, err
	}
	get, put, size, next := t.DType().row().get, dtype.row().put, dtype.Size(), 0
	for at := range l.Offsets() {
		if from := places[next]; dtype == t.DType() {
			copy(c.storage.mem[at*size:(at+1)*size], t.storage.mem[from*size:])
		} else {
			put(c.storage, at, get(t.storage, from))
		}
		next++
	}
	return c, nil
}

// scalars are the elements in row-major order, of a readable tensor.
func (t *Tensor) scalars() (all []scalar) {
	for at := range t.layout.Offsets() {
		all = append(all, t.DType().row().get(t.storage, at))
	}
	return all
}

// reinterpreted drops the bytes of a readable tensor after the last whole element.
func (t *Tensor) reinterpreted(s site) (*Tensor, error) {
	whole := len(t.storage.mem) / s.dtype.Size() * s.dtype.Size()
	storage, err := storageOver(s.dtype, t.storage.mem[:whole])
	if err != nil {
		return nil, err
	}
	return NewTensor(storage, s.layout)
}

func (t *Tensor) readable() error {
	if t.storage.dtype == Undefined || t.storage.mem == nil && t.layout.Numel() > 0 {
		return errUninitialized
	}
	return t.storage.inBounds(t.layout)
}

// At returns the element at index; negative entries count from the end.
func At[T Element](t *Tensor, index ...int) (T, error) {
	all, err := data[T](t)
	if err != nil {
		return *new(T), err
	}
	at, err := t.layout.At(index...)
	if err != nil {
		return *new(T), err
	}
	return all[at], nil
}

// Set writes the element at index. The first write to an uninitialized tensor allocates its
// storage, with the dtype of T.
func Set[T Element](t *Tensor, value T, index ...int) error {
	at, err := t.layout.At(index...)
	if err != nil {
		return err
	}
	data, err := MutableData[T](t)
	if err != nil {
		return err
	}
	data[at] = value
	return nil
}

// Address returns the element's address in this process, which changes when the storage moves.
func (t *Tensor) Address(index ...int) (uintptr, error) {
	if err := t.readable(); err != nil {
		return 0, err
	}
	at, err := t.layout.At(index...)
	if err != nil {
		return 0, err
	}
	return addressOf(t.storage.mem) + uintptr(at*t.DType().Size()), nil
}

// Values returns all elements in row-major order of the indices.
func Values[T Element](t *Tensor) ([]T, error) {
	all, err := data[T](t)
	if err != nil {
		return nil, err
	}
	values := make([]T, 0, t.layout.Numel())
	for at := range t.layout.Offsets() {
		values = append(values, all[at])
	}
	return values, nil
}
