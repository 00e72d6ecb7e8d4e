package layouts

import (
	"fmt"
	"math"
	"strings"
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
	BFloat16:   {"bfloat16", 2},
	Float32:    {"float32", 4},
	Float64:    {"float64", 8},
	Complex64:  {"complex64", 8},
	Complex128: {"complex128", 16},
	Undefined:  {"undefined", 0},
}

// String returns PyTorch's name of the type.
func (d DType) String() string {
	if d > Undefined {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Size returns the bytes of one element, 0 for Undefined and invalid types.
func (d DType) Size() int {
	if d > Undefined {
		return 0
	}
	return dtypes[d].size
}

// DTypeNames returns the names that ParseDType takes, without other spellings.
func DTypeNames() []string {
	names := make([]string, Undefined)
	for i := range names {
		names[i] = dtypes[i].name
	}
	return names
}

var otherNames = map[string]DType{
	"byte": Uint8, "char": Int8, "short": Int16, "int": Int32, "long": Int64,
	"half": Float16, "float": Float32, "double": Float64, "cfloat": Complex64,
	"cdouble": Complex128,
	"fp16":    Float16, "bf16": BFloat16, "fp32": Float32, "fp64": Float64,
	"f16": Float16, "f32": Float32, "f64": Float64, "i8": Int8, "i16": Int16, "i32": Int32,
	"i64": Int64, "u8": Uint8,
}

// ParseDType reads a name such as "float32", "torch.float32", "float" or "f32".
func ParseDType(name string) (DType, error) {
	short := strings.TrimPrefix(name, "torch.")
	for d := range Undefined {
		if dtypes[d].name == short {
			return d, nil
		}
	}
	if d, ok := otherNames[short]; ok {
		return d, nil
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

// Element is the constraint of Go types that a storage can hold.
type Element interface {
	bool | uint8 | int8 | int16 | int32 | int64 | Half | BFloat | float32 | float64 | complex64 | complex128
}

// DTypeOf returns the DType of a Go type.
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
	case BFloat:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Complex128
}
