package layouts

import (
	"fmt"
	"math"
	"strings"
)

// A DType is the type of a tensor's elements, named as in PyTorch.
type DType uint8

// The element types. Undefined is that of a tensor that was never written.
const (
	Bool DType = iota
	Uint8
	Int8
	Int16
	Int32
	Int64
	Float16
	Float32
	Float64
	Complex64
	Complex128
	Undefined
)

var dtypes = [...]struct {
	name string
	size int
}{
	Bool:       {"bool", 1},
	Uint8:      {"uint8", 1},
	Int8:       {"int8", 1},
	Int16:      {"int16", 2},
	Int32:      {"int32", 4},
	Int64:      {"int64", 8},
	Float16:    {"float16", 2},
	Float32:    {"float32", 4},
	Float64:    {"float64", 8},
	Complex64:  {"complex64", 8},
	Complex128: {"complex128", 16},
	Undefined:  {"undefined", 0},
}

// String is PyTorch's name of the type, such as "float32".
func (d DType) String() string {
	if d > Undefined {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Size is the size of one element in bytes, 0 of Undefined and of what is no
// type.
func (d DType) Size() int {
	if d > Undefined {
		return 0
	}
	return dtypes[d].size
}

// DTypeNames lists the names that ParseDType takes.
func DTypeNames() []string {
	names := make([]string, Undefined)
	for i := range names {
		names[i] = dtypes[i].name
	}
	return names
}

// ParseDType reads a name such as "float32".
func ParseDType(name string) (DType, error) {
	for d := range Undefined {
		if dtypes[d].name == name {
			return d, nil
		}
	}
	return Undefined, fmt.Errorf("no such dtype (known: %s)", strings.Join(DTypeNames(), ", "))
}

// A Half is an IEEE 754 half-precision number, the element of Float16. It is
// stored, copied and converted; nothing here computes with it.
type Half uint16

// Float returns the number, which float32 holds exactly.
func (h Half) Float() float32 {
	sign := uint32(h>>15) << 31
	exponent, fraction := uint32(h>>10)&0x1F, uint32(h)&0x3FF
	switch {
	case exponent == 0x1F: // infinity, not a number
		return math.Float32frombits(sign | 0xFF<<23 | fraction<<13)
	case exponent == 0: // subnormal: fraction * 2^-24
		v := float32(fraction) / (1 << 24)
		if sign != 0 {
			v = -v
		}
		return v
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// HalfOf rounds to the nearest half-precision number, ties to even.
func HalfOf(v float32) Half {
	b := math.Float32bits(v)
	sign := Half(b >> 31 << 15)
	exponent := int(b>>23&0xFF) - 127
	fraction := b & 0x7FFFFF
	switch {
	case exponent == 128 && fraction != 0: // not a number: keep it quiet
		return sign | 0x7E00 | Half(fraction>>13)
	case exponent > 15:
		return sign | 0x7C00
	case exponent < -25:
		return sign
	case exponent < -14: // subnormal: in units of 2^-24
		return sign | Half(roundShift(fraction|0x800000, uint(-exponent-1)))
	}
	// Rounding may carry into the exponent, and from there to infinity: both
	// are right.
	return sign | Half(uint32(exponent+15)<<10+roundShift(fraction, 13))
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

// Element is the constraint of Go types that a storage can hold.
type Element interface {
	bool | uint8 | int8 | int16 | int32 | int64 | Half | float32 | float64 | complex64 | complex128
}

// DTypeOf is the DType of a Go type.
func DTypeOf[T Element]() DType {
	switch any(*new(T)).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case Half:
		return Float16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Complex128
}
