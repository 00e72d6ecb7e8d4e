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

// FromSlice returns a contiguous tensor of shape with a copy of data, which must fill it.
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

// DType returns the type of the elements, Undefined before the first write.
func (t *Tensor) DType() DType { return t.storage.dtype }

// Layout returns where the elements lie.
func (t *Tensor) Layout() Layout { return t.layout }

// Storage returns the memory, which all views share.
func (t *Tensor) Storage() *Storage { return t.storage }

func (t *Tensor) view(l Layout, err error) (*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return t.storage.seen(l), nil
}

// The view operations.

// Transpose is [Layout.Transpose] over the same storage.
func (t *Tensor) Transpose(d0, d1 int) (*Tensor,
	error) {
	return t.view(t.layout.Transpose(d0, d1))
}

// Permute is [Layout.Permute] over the same storage.
func (t *Tensor) Permute(dims ...int) (*Tensor, error) { return t.view(t.layout.Permute(dims...)) }

// T is [Layout.T] over the same storage.
func (t *Tensor) T() (*Tensor, error) { return t.view(t.layout.T()) }

// Narrow is [Layout.Narrow] over the same storage.
func (t *Tensor) Narrow(dim, start, length int) (*Tensor, error) {
	return t.view(t.layout.Narrow(dim, start, length))
}

// Select is [Layout.Select] over the same storage.
func (t *Tensor) Select(dim, index int) (*Tensor,
	error) {
	return t.view(t.layout.Select(dim, index))
}

// Slice is [Layout.Slice] over the same storage.
func (t *Tensor) Slice(dim, start, end, step int) (*Tensor, error) {
	return t.view(t.layout.Slice(dim, start, end, step))
}

// Unsqueeze is [Layout.Unsqueeze] over the same storage.
func (t *Tensor) Unsqueeze(dim int) (*Tensor, error) { return t.view(t.layout.Unsqueeze(dim)) }

// Squeeze is [Layout.Squeeze] over the same storage.
func (t *Tensor) Squeeze(dims ...int) (*Tensor, error) { return t.view(t.layout.Squeeze(dims...)) }

// Expand is [Layout.Expand] over the same storage, and PyTorch's broadcast_to.
func (t *Tensor) Expand(sizes ...int) (*Tensor, error) { return t.view(t.layout.Expand(sizes...)) }

// View is [Layout.View] over the same storage. [Tensor.Reshape] copies if that fails.
func (t *Tensor) View(sizes ...int) (*Tensor, error) { return t.view(t.layout.View(sizes...)) }

// Unflatten is [Layout.Unflatten] over the same storage.
func (t *Tensor) Unflatten(dim int, sizes ...int) (*Tensor, error) {
	return t.view(t.layout.Unflatten(dim, sizes...))
}

// Movedim is [Layout.Movedim] over the same storage.
func (t *Tensor) Movedim(src, dst int) (*Tensor,
	error) {
	return t.view(t.layout.Movedim(src, dst))
}

// Unfold is [Layout.Unfold] over the same storage.
func (t *Tensor) Unfold(dim, size, step int) (*Tensor, error) {
	return t.view(t.layout.Unfold(dim, size, step))
}

// Diagonal is [Layout.Diagonal] over the same storage.
func (t *Tensor) Diagonal(offset, dim1, dim2 int) (*Tensor, error) {
	return t.view(t.layout.Diagonal(offset, dim1, dim2))
}

// AsStrided is [AsStrided] over the whole storage.
func (t *Tensor) AsStrided(shape, strides []int, offset int) (*Tensor, error) {
	return t.view(AsStrided(t.storage.Len(), shape, strides, offset))
}

// Apply applies a chain of operations, as [Layout.ApplyTo] does; as_strided may reach the whole
// storage. A view shares the storage. Operations that copy do so.
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

// reinterpreted drops the bytes after the last whole element.
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

// Reshape returns a view of the given sizes (one may be -1), or of a contiguous copy if strides do
// not allow it (ATen/native/TensorShape.cpp, reshape).
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

// Flatten is [Layout.Flatten]. If strides do not allow it, the result is over a contiguous copy.
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

// Contiguous returns t itself if it is contiguous, else a row-major copy.
func (t *Tensor) Contiguous() (*Tensor, error) { return t.ContiguousIn(RowMajor) }

// ContiguousIn returns t itself if its elements lie densely in the memory format, else a copy that
// does. ChannelsLast wants rank 4, ChannelsLast3d rank 5, Preserve a contiguous t.
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

// Clone returns a copy that keeps the memory format; see [Layout.Preserved].
func (t *Tensor) Clone() (*Tensor, error) { return t.copyOf(t.layout, t.layout.preservedStrides()) }

// CloneIn returns a copy in the memory format.
func (t *Tensor) CloneIn(f MemoryFormat) (*Tensor, error) {
	strides, err := t.layout.stridesIn("clone", f)
	if err != nil {
		return nil, err
	}
	return t.copyOf(t.layout, strides)
}

// ToIn is To, in the memory format. It returns t itself if it has the dtype, and the format is
// Preserve or suggest_memory_format of its strides.
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

// EmptyLike returns zeros of the same shape and dtype in the memory format. (PyTorch writes none.)
func (t *Tensor) EmptyLike(f MemoryFormat) (*Tensor, error) {
	strides, err := t.layout.stridesIn("empty_like", f)
	if err != nil {
		return nil, err
	}
	return zerosIn(t.DType(), Layout{shape: t.layout.Shape(), strides: strides})
}

// Flip returns a copy with the given dims reversed, in t's memory format. PyTorch's flip copies too
// (ATen/native/TensorTransformations.cpp).
func (t *Tensor) Flip(dims ...int) (*Tensor, error) {
	flipped, err := t.layout.Flip(dims...)
	if err != nil {
		return nil, err
	}
	return t.copyOf(flipped, t.layout.preservedStrides())
}

// Repeat returns a row-major copy that repeats the tensor along each dim. Leading counts add dims
// (ATen/native/TensorShape.cpp, repeat).
func (t *Tensor) Repeat(counts ...int) (*Tensor, error) {
	lead := len(counts) - t.layout.Rank()
	if lead < 0 {
		return nil, fmt.Errorf("repeat: %d counts for a tensor of %d dims", len(counts),
			t.layout.Rank())
	}
	// To repeat a dim of n elements k times, a new dim of size 1 before it is expanded to k, and
	// both are flattened.
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

// copyOf copies the elements of source in t's storage to a tensor of the given dense strides. It
// moves words, whatever their type.
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

func (t *Tensor) readable() error {
	if t.storage.dtype == Undefined || t.storage.mem == nil && t.layout.Numel() > 0 {
		return errUninitialized
	}
	return t.storage.inBounds(t.layout)
}

// At returns the element at index; negative entries count from the end.
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
