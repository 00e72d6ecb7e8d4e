package layouts

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// A Storage is the memory of one tensor and of all its views: elements of one DType.
type Storage struct {
	dtype   DType
	mem     []byte
	tensors atomic.Int32 // ever made over it
}

// seen returns a tensor of a layout within the storage. Several goroutines may call it.
func (s *Storage) seen(l Layout) *Tensor {
	s.tensors.Add(1)
	return &Tensor{storage: s, layout: l}
}

// all is the storage as a tensor.
func (s *Storage) all() *Tensor {
	return s.seen(Layout{shape: []int{s.len()}, strides: []int{1}})
}

func (s *Storage) shared() bool { return s.tensors.Load() > 1 }

// NewStorage allocates n elements, all zero. It refuses a negative n and a size in bytes that
// overflows an int.
func NewStorage(dtype DType, n int) (*Storage, error) {
	size, ok := mulInt(n, dtype.Size())
	if n < 0 || !ok {
		return nil, fmt.Errorf("storage of %d %s elements: no such size", n, dtype)
	}
	return &Storage{dtype: dtype, mem: allocate(size)}, nil
}

// allocate returns zeroed bytes that are aligned for every DType.
func allocate(size int) []byte {
	if size == 0 {
		return []byte{}
	}
	words := make([]complex128, size/16+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*16)[:size:size]
}

// storageOver returns a storage over the caller's memory, which it neither copies nor clears. The
// memory must be aligned to the element and hold whole elements.
func storageOver(dtype DType, mem []byte) (*Storage, error) {
	size := dtype.Size()
	if size == 0 || len(mem)%size != 0 {
		return nil, fmt.Errorf("storage over %d B: no whole number of %s elements", len(mem), dtype)
	}
	if addressOf(mem)%uintptr(size) != 0 {
		return nil, fmt.Errorf("storage over %d B: memory is not aligned to %s", len(mem), dtype)
	}
	return &Storage{dtype: dtype, mem: mem}, nil
}

// len returns the number of elements.
func (s *Storage) len() int {
	if s.dtype == Undefined {
		return 0
	}
	return len(s.mem) / s.dtype.Size()
}

// Bytes returns the capacity in bytes.
func (s *Storage) Bytes() int { return len(s.mem) }

func (s *Storage) inBounds(l Layout) error {
	low, high := l.Extent()
	if l.Numel() > 0 && (low < 0 || high >= s.len()) {
		return fmt.Errorf("%s reaches elements %d to %d of a storage of %d", l, low, high, s.len())
	}
	return nil
}

// Over returns the caller's memory as elements, neither copied nor cleared. It must be aligned to
// the element and hold whole elements.
func Over[T Element](mem []byte) ([]T, error) {
	s, err := storageOver(dtypeFor[T](), mem)
	if err != nil {
		return nil, err
	}
	return words[T](s), nil
}

// data is the storage of a readable tensor of T.
func data[T Element](t *Tensor) ([]T, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	if t.DType() != dtypeFor[T]() {
		return nil, fmt.Errorf("storage holds %s, not %s", t.DType(), dtypeFor[T]())
	}
	return words[T](t.storage), nil
}

// words checks no type: W only needs the size of an element.
func words[W any](s *Storage) []W {
	size := int(unsafe.Sizeof(*new(W)))
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(s.mem))), len(s.mem)/size)
}

func addressOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }
