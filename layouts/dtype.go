package layouts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// A DType is the type of a tensor's elements, named as in PyTorch.
type DType uint8

// The element types. Undefined is the type of a tensor that was never written.
const (
	Bool DType = iota
	Uint8
	Int8
	Int16
	Int32
	Int64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
	Undefined
)

// A dtypeRow is what the package knows about a dtype. A new dtype is a constant, a row of dtypes,
// and its Go type in Element.
type dtypeRow struct {
	name     string
	kind     int
	others   []string // other names; the first is PyTorch's method that converts to the dtype
	size     int      // bytes
	unsigned bool
	most     float64 // largest number, where a float64 has larger ones
	zero     any     // of the Go type
	get      func(s *Storage, at int) scalar
	put      func(s *Storage, at int, n scalar)
}

// The kinds of dtypes, the lowest first.
const (
	kindNone = iota
	kindBool
	kindInteger
	kindFloating
	kindComplex
)

// A scalar is an element of any dtype. n is exact for bools and integers, c for other kinds.
type scalar struct {
	kind int
	n    int64
	c    complex128
}

func whole(kind int, n int64) scalar { return scalar{kind, n, complex(float64(n), 0)} }

func (n scalar) single() float32 {
	if n.kind <= kindInteger {
		return float32(n.n) // rounded once
	}
	return float32(real(n.c))
}

func (n scalar) double() float64 { return real(n.c) }

var dtypes = [...]dtypeRow{
	Bool:  boolean(),
	Uint8: integer[uint8]("uint8", "byte", "u8"),
	Int8:  integer[int8]("int8", "char", "i8"),
	Int16: integer[int16]("int16", "short", "i16"),
	Int32: integer[int32]("int32", "int", "i32"),
	Int64: integer[int64]("int64", "long", "i64"),
	Float16: floating("float16", 65504, func(v Half) float64 { return float64(v.Float()) },
		func(n scalar) Half { return HalfOf(n.single()) }, "half", "fp16", "f16"),
	BFloat16: floating("bfloat16", 0x1.FEp127,
		func(v BFloat) float64 { return float64(v.Float()) },
		func(n scalar) BFloat { return BFloatOf(n.single()) }, "bfloat16", "bf16"),
	Float32: floating("float32", math.MaxFloat32, func(v float32) float64 { return float64(v) },
		scalar.single, "float", "fp32", "f32"),
	Float64: floating("float64", 0, func(v float64) float64 { return v }, scalar.double,
		"double", "fp64", "f64"),
	Complex64: newRow("complex64", kindComplex, math.MaxFloat32,
		func(v complex64) scalar { return scalar{kind: kindComplex, c: complex128(v)} },
		func(n scalar) complex64 { return complex(n.single(), float32(imag(n.c))) }, "cfloat"),
	Complex128: newRow("complex128", kindComplex, 0,
		func(v complex128) scalar { return scalar{kind: kindComplex, c: v} },
		func(n scalar) complex128 { return n.c }, "cdouble"),
	Undefined: {name: "undefined"},
}

func newRow[T Element](name string, kind int, most float64, get func(T) scalar,
	put func(scalar) T, others ...string) dtypeRow {
	r := dtypeRow{name: name, kind: kind, others: others, zero: *new(T), most: most,
		size: int(unsafe.Sizeof(*new(T)))}
	r.get = func(s *Storage, at int) scalar { return get(words[T](s)[at]) }
	r.put = func(s *Storage, at int, n scalar) { words[T](s)[at] = put(n) }
	return r
}

// boolean stores bytes. Bytes above 1 are seen as 1.
func boolean() dtypeRow {
	r := newRow("bool", kindBool, 0,
		func(v uint8) scalar { return whole(kindBool, int64(min(v, 1))) },
		func(n scalar) uint8 {
			if real(n.c) != 0 {
				return 1
			}
			return 0
		}, "bool")
	r.zero = false
	return r
}

type wholeNumber interface {
	uint8 | int8 | int16 | int32 | int64
}

func integer[T wholeNumber](name string, others ...string) dtypeRow {
	r := newRow(name, kindInteger, 0, func(v T) scalar { return whole(kindInteger, int64(v)) },
		func(n scalar) T {
			if n.kind <= kindInteger {
				return T(n.n)
			}
			return T(real(n.c))
		}, others...)
	zero := T(0)
	r.unsigned = zero-1 > zero
	return r
}

func floating[T Element](name string, most float64, get func(T) float64, put func(scalar) T,
	others ...string) dtypeRow {
	return newRow(name, kindFloating, most,
		func(v T) scalar {
			return scalar{kind: kindFloating, c: complex(get(v), 0)}
		}, put, others...)
}

func (d DType) row() *dtypeRow { return &dtypes[min(d, Undefined)] }

func (d DType) kind() int { return d.row().kind }

// String returns PyTorch's name of the type.
func (d DType) String() string { return d.row().name }

// IsComplex reports whether elements have a real and an imaginary part.
func (d DType) IsComplex() bool { return d.kind() == kindComplex }

// Size returns the bytes of one element, 0 for Undefined and invalid types.
func (d DType) Size() int { return d.row().size }

// DTypeNames returns the names that ParseDType takes, without other spellings.
func DTypeNames() []string {
	names := make([]string, Undefined)
	for i := range names {
		names[i] = dtypes[i].name
	}
	return names
}

// ParseDType reads a name such as "float32", "torch.float32", "float" or "f32".
func ParseDType(name string) (DType, error) {
	short := strings.TrimPrefix(name, "torch.")
	for d := range Undefined {
		if dtypes[d].name == short || slices.Contains(dtypes[d].others, short) {
			return d, nil
		}
	}
	return Undefined, fmt.Errorf("no such dtype (known: %s)", strings.Join(DTypeNames(), ", "))
}

// A Half is an IEEE 754 half-precision number, the element of Float16. Sums add it as a float32.
type Half uint16

// Float returns the number, which float32 holds exactly. A NaN becomes quiet.
func (h Half) Float() float32 {
	// Integer arithmetic leaves the registers of loops over halves free of constants.
	b := uint32(h&0x7FFF)<<13 + (127-15)<<23
	switch h & 0x7C00 {
	case 0:
		b = subnormal(h)
	case 0x7C00:
		if b += (127 - 15) << 23; h&0x3FF != 0 {
			b |= 1 << 22
		}
	}
	return math.Float32frombits(b | uint32(h>>15)<<31)
}

func subnormal(h Half) uint32 {
	if h&0x3FF == 0 {
		return 0
	}
	return math.Float32bits(float32(h&0x3FF) / (1 << 24))
}

// HalfOf rounds to nearest, ties to even. A NaN becomes the quiet one of its sign.
func HalfOf(v float32) Half {
	b := math.Float32bits(v)
	sign, size := Half(b>>16&0x8000), b&0x7FFFFFFF
	switch {
	case size > 0xFF<<23:
		return sign | 0x7E00
	case size >= (127+16)<<23:
		return sign | 0x7C00
	case size >= (127-14)<<23: // a carry to the exponent or infinity is right
		return sign | Half(roundShift(size-(127-15)<<23, 13))
	case size < (127-25)<<23:
		return sign
	}
	return sign | Half(roundShift(size&0x7FFFFF|0x800000, uint(126-size>>23))) // in units of 2^-24
}

// A BFloat is the upper half of a float32, the element of BFloat16. Sums add it as a float32.
type BFloat uint16

// Float returns the number, which float32 holds exactly.
func (b BFloat) Float() float32 { return math.Float32frombits(uint32(b) << 16) }

// BFloatOf rounds to nearest, ties to even. A NaN becomes 0x7FC0, whatever its sign
// (c10/util/BFloat16.h).
func BFloatOf(v float32) BFloat {
	if v != v {
		return 0x7FC0
	}
	return BFloat(roundShift(math.Float32bits(v), 16))
}

// roundShift is v >> n, rounded to nearest, ties to even.
func roundShift(v uint32, n uint) uint32 {
	half := uint32(1) << (n - 1)
	down := v >> n
	rest := v & (1<<n - 1)
	if rest > half || rest == half && down&1 == 1 {
		down++
	}
	return down
}

// Element is the constraint of Go types that a storage can hold: of whole numbers, those that
// have a DType.
type Element interface {
	bool | wholeNumber | float32 | float64 | Half | BFloat | complex64 | complex128
}

// dtypeFor returns the DType of a Go type.
func dtypeFor[T Element]() DType {
	return DType(slices.IndexFunc(dtypes[:], func(r dtypeRow) bool {
		return r.zero == any(*new(T))
	}))
}
