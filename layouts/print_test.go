package layouts_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// A printCase is a tensor as PyTorch 1.13 printed it and converted it.
type printCase struct {
	DType  string
	Shape  []int
	Values []any
	Text   string
	To     map[string][]any
}

// TestTorchPrintsAndConversions: tensors of every dtype, infinities and the
// like included, print as PyTorch 1.13 printed them, and convert to every
// other dtype as it converted them.
func TestTorchPrintsAndConversions(t *testing.T) {
	eachCase(t, "torch/prints.jsonl.gz", func(c printCase) {
		x := recorded(c.DType, c.Values, c.Shape)
		if got := x.String(); got != c.Text {
			t.Errorf("%s %v prints\n%s\nPyTorch\n%s", c.DType, c.Shape, got, c.Text)
		}
		converts(t, x, c)
	})
}

// TestTorchConversions: every pair of dtypes, over values at the edges of each.
func TestTorchConversions(t *testing.T) {
	pairs := 0
	eachCase(t, "torch/conversions.jsonl.gz", func(c printCase) {
		converts(t, recorded(c.DType, c.Values, c.Shape), c)
		pairs += len(c.To)
	})
	if n := len(layouts.DTypeNames()); pairs != n*n {
		t.Errorf("%d pairs of dtypes, want %d", pairs, n*n)
	}
}

// converts compares x in other dtypes with what was recorded, to the last bit, with all NaNs alike.
func converts(t *testing.T, x *layouts.Tensor, c printCase) {
	t.Helper()
	for name, values := range c.To {
		dtype := must(layouts.ParseDType(name))
		got, want := apply(x, fmt.Sprintf("to(%s)", name)), recorded(name, values, c.Shape)
		if got.DType() != dtype || elements(got) != elements(want) {
			t.Errorf("%s %v to %s is %s of %s, PyTorch %s", c.DType, c.Values, name,
				elements(got), got.DType(), elements(want))
		}
	}
}

// elements are all of x's in words.
func elements(x *layouts.Tensor) string {
	if x.DType() == layouts.Int64 { // more bits than a float64 has
		return fmt.Sprint(must(layouts.Values[int64](x)))
	}
	return fmt.Sprint(must(layouts.Values[complex128](apply(x, "to(torch.complex128)"))))
}

// recorded makes a tensor of values that were recorded as text.
func recorded(dtype string, values []any, shape []int) *layouts.Tensor {
	d := must(layouts.ParseDType(dtype))
	if d == layouts.Int64 {
		ints := make([]int64, len(values))
		for i, v := range values {
			ints[i] = must(strconv.ParseInt(fmt.Sprint(v), 10, 64))
		}
		return must(layouts.FromSlice(ints, shape...))
	}
	numbers := make([]complex128, len(values))
	for i, v := range values {
		if pair, ok := v.([]any); ok {
			numbers[i] = complex(number(pair[0]), number(pair[1]))
		} else {
			numbers[i] = complex(number(v), 0)
		}
	}
	return apply(must(layouts.FromSlice(numbers, shape...)), fmt.Sprintf("to(%v)", d))
}

func number(v any) float64 { return must(strconv.ParseFloat(fmt.Sprint(v), 64)) }

// TestTorchRoundings: numbers of 16 bits are those that PyTorch rounds to, to the
// last bit, of what is not a number too, and are as float32 what they are there.
func TestTorchRoundings(t *testing.T) {
	type rounding struct {
		Bits     uint32
		Float16  layouts.Half
		BFloat16 layouts.BFloat
	}
	eachCase(t, "torch/halves.jsonl.gz", func(c rounding) {
		v := math.Float32frombits(c.Bits)
		if got := layouts.HalfOf(v); got != c.Float16 {
			t.Errorf("%#08x (%v) to float16 is %#04x, PyTorch %#04x", c.Bits, v, got, c.Float16)
		}
		if got := layouts.BFloatOf(v); got != c.BFloat16 {
			t.Errorf("%#08x (%v) to bfloat16 is %#04x, PyTorch %#04x", c.Bits, v, got, c.BFloat16)
		}
	})
	// SHA-256 of the float32 of 0, 1, ... 65535, as record_halves.py prints it.
	for want, float := range map[string]func(uint16) float32{
		"b636c5716ff84d972782faf02d0194cb8951526bea4cc487082feb47b1860ddf": func(
			b uint16) float32 {
			return layouts.Half(b).Float()
		},
		"9207d7eb28680a098c73dbe536d1ff7b94311dc417b9a385e0af6660683e93ca": func(
			b uint16) float32 {
			return layouts.BFloat(b).Float()
		},
	} {
		all := make([]byte, 0, 4<<16)
		for b := range 1 << 16 {
			all = binary.LittleEndian.AppendUint32(all, math.Float32bits(float(uint16(b))))
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(all)); got != want {
			t.Errorf("the numbers as float32 have the sum %s, PyTorch's %s", got, want)
		}
	}
}

// TestTorchExcerpts: tensors of more than 1000 elements print as PyTorch 1.13
// prints them.
func TestTorchExcerpts(t *testing.T) {
	type excerpt struct {
		DType, Text                        string
		Shape                              []int
		Times, Modulus, Minus, Parts, Imag int
		Transposed                         bool
		Sparse                             string
	}
	eachCase(t, "torch/excerpts.jsonl.gz", func(c excerpt) {
		n := 1
		for _, size := range c.Shape {
			n *= size
		}
		values := make([]complex128, n)
		for i := range values {
			of := func(i int) float64 { return float64(i*c.Times%c.Modulus-c.Minus) / float64(c.Parts) }
			values[i] = complex(of(i), float64(c.Imag)*of(i+1))
		}
		x := apply(must(layouts.FromSlice(values, c.Shape...)), fmt.Sprintf("to(torch.%s)", c.DType))
		if c.Transposed {
			x = apply(x, "transpose(0,-1)")
		}
		got := x.String()
		if c.Sparse != "" {
			got = must(x.Sparse(c.Sparse)).String()
		}
		if got != c.Text {
			t.Errorf("%+v prints\n%s\nPyTorch\n%s", c, got, c.Text)
		}
	})
}

// TestPromotionsAgree: the order of two dtypes does not decide their result type.
func TestPromotionsAgree(t *testing.T) {
	for a := range layouts.Undefined {
		for b := range a {
			ab := layouts.ResultType([]layouts.DType{a, b}, nil, nil)
			ba := layouts.ResultType([]layouts.DType{b, a}, nil, nil)
			if ab != ba {
				t.Errorf("%v and %v: %v, the other way round %v", a, b, ab, ba)
			}
		}
	}
}
