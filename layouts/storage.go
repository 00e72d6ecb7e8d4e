package layouts

import (
	"fmt"
	"strings"
	"unsafe"
)

// A DType is the type of a tensor's elements, named as in PyTorch.
type DType uint8

// The element types.
const (
	Uint8 DType = iota
	Int32
	Int64
	Float32
	Float64
)

var dtypes = [...]struct {
	name string
	size int
}{
	Uint8:   {"uint8", 1},
	Int32:   {"int32", 4},
	Int64:   {"int64", 8},
	Float32: {"float32", 4},
	Float64: {"float64", 8},
}

// String is PyTorch's name of the type, such as "float32".
func (d DType) String() string { return dtypes[d].name }

// Size is the size of one element in bytes.
func (d DType) Size() int { return dtypes[d].size }

// DTypeNames lists the names that ParseDType takes.
func DTypeNames() []string {
	names := make([]string, len(dtypes))
	for i, d := range dtypes {
		names[i] = d.name
	}
	return names
}

// ParseDType reads a name such as "float32".
func ParseDType(name string) (DType, error) {
	for i, d := range dtypes {
		if d.name == name {
			return DType(i), nil
		}
	}
	return 0, fmt.Errorf("no such dtype (known: %s)", strings.Join(DTypeNames(), ", "))
}

// Element is the constraint of Go types that a storage can hold.
type Element interface {
	uint8 | int32 | int64 | float32 | float64
}

// DTypeOf is the DType of a Go type.
func DTypeOf[T Element]() DType {
	switch any(*new(T)).(type) {
	case uint8:
		return Uint8
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	}
	return Float64
}

// A Storage is the memory of one tensor and of all its views: a row of
// elements of one DType.
type Storage struct {
	dtype DType
	mem   []byte
}

// NewStorage allocates n elements, all zero. It refuses a negative n and a
// size in bytes that overflows an int.
func NewStorage(dtype DType, n int) (*Storage, error) {
	size, ok := mulInt(n, dtype.Size())
	if n < 0 || !ok {
		return nil, fmt.Errorf("storage of %d %s elements: no such size", n, dtype)
	}
	words := make([]uint64, (size+7)/8) // aligned for every DType
	return &Storage{dtype, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)}, nil
}

// StorageOver makes a storage of the caller's memory, which it neither copies
// nor clears. The memory must be aligned to the element and hold a whole
// number of elements.
func StorageOver(dtype DType, mem []byte) (*Storage, error) {
	size := dtype.Size()
	if len(mem)%size != 0 {
		return nil, fmt.Errorf("storage over %d B: no whole number of %s elements", len(mem), dtype)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%uintptr(size) != 0 {
		return nil, fmt.Errorf("storage over %d B: memory is not aligned to %s", len(mem), dtype)
	}
	return &Storage{dtype, mem}, nil
}

// DType is the type of the elements.
func (s *Storage) DType() DType { return s.dtype }

// Len is the number of elements.
func (s *Storage) Len() int { return len(s.mem) / s.dtype.Size() }

// Data returns the elements as a Go slice that shares the storage's memory. It
// refuses a type that is not the storage's.
func Data[T Element](s *Storage) ([]T, error) {
	if DTypeOf[T]() != s.dtype {
		return nil, fmt.Errorf("storage holds %s, not %s", s.dtype, DTypeOf[T]())
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.mem))), s.Len()), nil
}

// words returns the elements as bare words of their size, for moving them
// without knowing what they are.
func words[W uint8 | uint32 | uint64](s *Storage) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(s.mem))), s.Len())
}
