package layouts

import (
	"errors"
	"fmt"
)

// A Tensor is a storage seen through a layout. Views of it share the storage.
type Tensor struct {
	storage *Storage
	layout  Layout
	meta    metadata
}

var errUninitialized = errors.New("the tensor is uninitialized: nothing was ever written to it")

// NewTensor sees storage through layout. It refuses a layout with an element
// outside of the storage.
func NewTensor(storage *Storage, layout Layout) (*Tensor, error) {
	if err := storage.inBounds(layout); err != nil {
		return nil, fmt.Errorf("new tensor: %w", err)
	}
	return storage.seen(layout), nil
}

// Zeros returns a contiguous tensor of zeros in storage of its own.
func Zeros(dtype DType, shape ...int) (*Tensor, error) { return zeros("zeros", dtype, shape) }

// zeros is Zeros for the operation op.
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

// zerosIn allocates for a dense layout at offset 0.
func zerosIn(dtype DType, layout Layout) (*Tensor, error) {
	storage, err := NewStorage(dtype, layout.Numel())
	if err != nil {
		return nil, err
	}
	return storage.seen(layout), nil
}

// Arange returns the 1-d tensor 0, 1, ..., n-1, each converted to dtype.
func Arange(dtype DType, n int) (*Tensor, error) {
	t, err := zeros("arange", Int64, []int{n})
	if err != nil {
		return nil, err
	}
	for i, data := 0, words[int64](t.storage); i < n; i++ {
		data[i] = int64(i)
	}
	return t.To(dtype)
}

// FromSlice returns a contiguous tensor of a shape that holds a copy of data.
func FromSlice[T Element](data []T, shape ...int) (*Tensor, error) {
	t, err := zeros("from slice", DTypeOf[T](), shape)
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

// DType is the type of the elements, Undefined before the first write.
func (t *Tensor) DType() DType { return t.storage.dtype }

// Layout is where the elements lie.
func (t *Tensor) Layout() Layout { return t.layout }

// Storage is the memory, shared by all views.
func (t *Tensor) Storage() *Storage { return t.storage }

// view shares the storage with the tensor of another layout.
func (t *Tensor) view(l Layout, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t.storage.seen(l), nil
}

// The view operations. Each takes what the operation of the same name on the
// Layout takes, fails where that fails, and shares the storage.

// Transpose is a view with two dimensions swapped; see Layout.Transpose.
func (t *Tensor) Transpose(d0, d1 int) (*Tensor,
	error) {
	return t.view(t.layout.Transpose(d0, d1))
}

// Permute is a view with dimension dims[i] at place i; see Layout.Permute.
func (t *Tensor) Permute(dims ...int) (*Tensor, error) { return t.view(t.layout.Permute(dims...)) }

// T is the transposed view of a matrix; see Layout.T.
func (t *Tensor) T() (*Tensor, error) { return t.view(t.layout.T()) }

// Narrow is a view of length elements of dim from start; see Layout.Narrow.
func (t *Tensor) Narrow(dim, start, length int) (*Tensor, error) {
	return t.view(t.layout.Narrow(dim, start, length))
}

// Select is a view of one index of dim, which it drops; see Layout.Select.
func (t *Tensor) Select(dim, index int) (*Tensor,
	error) {
	return t.view(t.layout.Select(dim, index))
}

// Slice is a view of every step-th index of dim; see Layout.Slice.
func (t *Tensor) Slice(dim, start, end, step int) (*Tensor, error) {
	return t.view(t.layout.Slice(dim, start, end, step))
}

// Unsqueeze is a view with a dimension of size 1 before dim; see
// Layout.Unsqueeze.
func (t *Tensor) Unsqueeze(dim int) (*Tensor, error) { return t.view(t.layout.Unsqueeze(dim)) }

// Squeeze is a view without the given dimensions of size 1, or without any; see
// Layout.Squeeze.
func (t *Tensor) Squeeze(dims ...int) (*Tensor, error) { return t.view(t.layout.Squeeze(dims...)) }

// Expand is a view that repeats dimensions of size 1; see Layout.Expand. It is
// PyTorch's broadcast_to as well.
func (t *Tensor) Expand(sizes ...int) (*Tensor, error) { return t.view(t.layout.Expand(sizes...)) }

// View is a view of another shape; see Layout.View. Reshape copies where there
// is none.
func (t *Tensor) View(sizes ...int) (*Tensor, error) { return t.view(t.layout.View(sizes...)) }

// Unflatten is a view with a dimension split; see Layout.Unflatten.
func (t *Tensor) Unflatten(dim int, sizes ...int) (*Tensor, error) {
	return t.view(t.layout.Unflatten(dim, sizes...))
}

// Movedim is a view with a dimension at another place; see Layout.Movedim.
func (t *Tensor) Movedim(src, dst int) (*Tensor,
	error) {
	return t.view(t.layout.Movedim(src, dst))
}

// Unfold is a view of windows along a dimension; see Layout.Unfold.
func (t *Tensor) Unfold(dim, size, step int) (*Tensor, error) {
	return t.view(t.layout.Unfold(dim, size, step))
}

// Diagonal is a view of a diagonal of two dimensions; see Layout.Diagonal.
func (t *Tensor) Diagonal(offset, dim1, dim2 int) (*Tensor, error) {
	return t.view(t.layout.Diagonal(offset, dim1, dim2))
}

// AsStrided is a view of any layout within the storage; see AsStrided.
func (t *Tensor) AsStrided(shape, strides []int, offset int) (*Tensor, error) {
	return t.view(AsStrided(t.storage.Len(), shape, strides, offset))
}

// Apply makes a view by a chain of operations, as Layout.ApplyTo does; as_strided
// may reach the whole storage. The view shares the storage. Operations that copy
// do so.
func (t *Tensor) Apply(chain Chain) (*Tensor, error) {
	conj := false
	for _, step := range chain.steps {
		s, err := step.apply(site{layout: t.layout, storage: t.storage.Len(), dtype: t.DType(),
			conj: conj})
		conj = s.conj
		switch {
		case err != nil:
			return nil, err
		case s.fresh:
			t, err = step.op.copied(t, step.args)
		case s.dtype != t.DType():
			t, err = t.reinterpreted(s)
		default:
			t = t.storage.seen(s.layout)
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// reinterpreted sees the bytes of the storage as elements of another dtype, of which it has as many
// as fit.
func (t *Tensor) reinterpreted(s site) (*Tensor, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	whole := len(t.storage.mem) / s.dtype.Size() * s.dtype.Size()
	storage, err := StorageOver(s.dtype, t.storage.mem[:whole])
	if err != nil {
		return nil, err
	}
	return NewTensor(storage, s.layout)
}

// Reshape returns a view of the given sizes (one may be -1) where strides allow
// it, else a view of a contiguous copy (ATen/native/TensorShape.cpp, reshape).
func (t *Tensor) Reshape(sizes ...int) (*Tensor, error) {
	shape, err := inferSize("reshape", sizes, "the tensor", t.layout.Numel())
	if err != nil {
		return nil, err
	}
	return t.reshape(shape)
}

func (t *Tensor) reshape(shape []int) (*Tensor, error) {
	if strides, err := t.layout.viewStrides(shape); err == nil {
		return t.view(derived("reshape", shape, strides, t.layout.offset))
	}
	c, err := t.copyOf(t.layout, contiguousStrides(t.layout.shape))
	if err != nil {
		return nil, err
	}
	return c.View(shape...)
}

// Flatten merges the dimensions start to end, both included: a view where
// strides allow it, else a copy.
func (t *Tensor) Flatten(start, end int) (*Tensor, error) {
	a, b, err := t.layout.flattened(start, end)
	if err != nil {
		return nil, err
	}
	if a == b && t.layout.Rank() > 0 {
		return t, nil
	}
	return t.reshape(t.layout.merged(a, b))
}

// Contiguous returns t itself if it is contiguous, else a row-major copy in
// storage of its own.
func (t *Tensor) Contiguous() (*Tensor, error) { return t.ContiguousIn(RowMajor) }

// ContiguousIn returns t itself if its elements lie densely in the memory format, else a copy that
// does. Channels-last formats want rank 4 and 5. It refuses Preserve, unless t is contiguous.
func (t *Tensor) ContiguousIn(f MemoryFormat) (*Tensor, error) {
	strides, err := t.layout.contiguousStridesIn(f)
	if err != nil {
		return nil, err
	}
	if strides == nil {
		return t, nil
	}
	return t.copyOf(t.layout, strides)
}

// Clone returns a copy that keeps the memory format: the strides of a dense
// tensor, else dense ones in the same order.
func (t *Tensor) Clone() (*Tensor, error) { return t.copyOf(t.layout, t.layout.preservedStrides()) }

// CloneIn returns a copy in the memory format.
func (t *Tensor) CloneIn(f MemoryFormat) (*Tensor, error) {
	strides, err := t.layout.stridesIn("clone", f)
	if err != nil {
		return nil, err
	}
	return t.copyOf(t.layout, strides)
}

// ToIn is To, in the memory format. It returns t itself if it has the dtype, and the
// format is Preserve or the one that PyTorch takes its strides for
// (suggest_memory_format).
func (t *Tensor) ToIn(dtype DType, f MemoryFormat) (*Tensor, error) {
	s, err := site{layout: t.layout, dtype: t.DType()}.to(dtype, f)
	if err != nil {
		return nil, err
	}
	if !s.fresh {
		return t, nil
	}
	c, err := t.To(dtype)
	if err != nil {
		return nil, err
	}
	return c.CloneIn(f)
}

// EmptyLike returns a tensor of zeros of the same shape and dtype in the memory
// format. (PyTorch's is not written.)
func (t *Tensor) EmptyLike(f MemoryFormat) (*Tensor, error) {
	strides, err := t.layout.stridesIn("empty_like", f)
	if err != nil {
		return nil, err
	}
	return zerosIn(t.DType(), Layout{shape: t.layout.Shape(), strides: strides})
}

// Flip returns a copy with the given dimensions reversed, in the memory format
// of t; PyTorch's flip copies too (ATen/native/TensorTransformations.cpp).
func (t *Tensor) Flip(dims ...int) (*Tensor, error) {
	flipped, err := t.layout.Flip(dims...)
	if err != nil {
		return nil, err
	}
	return t.copyOf(flipped, t.layout.preservedStrides())
}

// Repeat returns a row-major copy that repeats the tensor along each dim;
// leading counts add dims (ATen/native/TensorShape.cpp, repeat).
func (t *Tensor) Repeat(counts ...int) (*Tensor, error) {
	lead := len(counts) - t.layout.Rank()
	if lead < 0 {
		return nil, fmt.Errorf("repeat: %d counts for a tensor of %d dims", len(counts),
			t.layout.Rank())
	}
	// Repeating a dim of n elements k times is expanding a new dim of size 1 in
	// front of it to k; flattening the two gives k*n.
	var expanded, shape []int
	for i, k := range counts {
		n := 1
		if i >= lead {
			n = t.layout.shape[i-lead]
		}
		size, ok := mulInt(k, n)
		if size < 0 || !ok {
			return nil, fmt.Errorf("repeat: count %d of dim %d of size %d gives no size", k, i, n)
		}
		expanded, shape = append(expanded, k, n), append(shape, size)
	}
	if _, err := checkedNumel(shape); err != nil {
		return nil, fmt.Errorf("repeat: %w", err)
	}
	if t.layout.Numel() == 0 {
		return zeros("repeat", t.DType(), shape)
	}
	source := t.layout
	for i := lead; i < len(counts); i++ { // a dim of size 1 before each
		var err error
		if source, err = source.Unsqueeze(2 * (i - lead)); err != nil {
			return nil, err
		}
	}
	for range 2 * lead {
		var err error
		if source, err = source.Unsqueeze(0); err != nil {
			return nil, err
		}
	}
	source, err := source.Expand(expanded...)
	if err != nil {
		return nil, err
	}
	c, err := t.copyOf(source, contiguousStrides(expanded))
	if err != nil {
		return nil, err
	}
	return c.View(shape...)
}

// copyOf copies the elements that source names in t's storage, in the order of
// their indices, to a new tensor of the same shape with the given dense
// strides. It moves bare words: what they are does not matter.
func (t *Tensor) copyOf(source Layout, strides []int) (*Tensor, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	if _, err := checkedNumel(source.shape); err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	c, err := zerosIn(t.DType(), Layout{shape: source.shape, strides: strides})
	if err != nil {
		return nil, err
	}
	switch t.DType().Size() {
	case 1:
		copyWords[uint8](c, t, source)
	case 2:
		copyWords[uint16](c, t, source)
	case 4:
		copyWords[uint32](c, t, source)
	case 8:
		copyWords[uint64](c, t, source)
	case 16:
		copyWords[[2]uint64](c, t, source)
	}
	return c, nil
}

func copyWords[W any](c, t *Tensor, source Layout) {
	dst, src := words[W](c.storage), words[W](t.storage)
	for to, from := range offsets(c.layout, source) {
		dst[to] = src[from]
	}
}

// readable refuses tensors that were never written, or whose metadata were set
// to reach beyond the storage.
func (t *Tensor) readable() error {
	if t.storage.dtype == Undefined || t.storage.mem == nil && t.layout.Numel() > 0 {
		return errUninitialized
	}
	return t.storage.inBounds(t.layout)
}

// At returns the element of the given index; negative entries count from the
// end.
func At[T Element](t *Tensor, index ...int) (T, error) {
	if err := t.readable(); err != nil {
		return *new(T), err
	}
	data, err := Data[T](t.storage)
	if err != nil {
		return *new(T), err
	}
	at, err := t.layout.At(index...)
	if err != nil {
		return *new(T), err
	}
	return data[at], nil
}

// Set writes the element of the given index, which every view of the storage
// then shows. The first write to an uninitialized tensor allocates its storage
// with the dtype of T.
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

// Address is the address of the element of the given index in this process.
// It is the storage's plus the byte offset, and moves with the storage.
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
	if err := t.readable(); err != nil {
		return nil, err
	}
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
