package layouts_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
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
	cases, conversions := 0, 0
	eachLine(t, filepath.Join("testdata", "torch", "prints.jsonl.gz"), func(c printCase) {
		cases++
		x, err := recorded(c.DType, c.Values, c.Shape)
		if err != nil {
			t.Fatalf("%s %v: %v", c.DType, c.Values, err)
		}
		if got := x.String(); got != c.Text {
			t.Errorf("%s %v prints\n%s\nPyTorch\n%s", c.DType, c.Shape, got, c.Text)
		}
		conversions += converts(t, x, c)
	})
	if cases < 200 || conversions < 1000 {
		t.Errorf("only %d cases and %d conversions", cases, conversions)
	}
}

// TestTorchConversions: every pair of dtypes, over values at the edges of each.
func TestTorchConversions(t *testing.T) {
	pairs := 0
	eachLine(t, filepath.Join("testdata", "torch", "conversions.jsonl.gz"), func(c printCase) {
		x, err := recorded(c.DType, c.Values, c.Shape)
		if err != nil {
			t.Fatalf("%s %v: %v", c.DType, c.Values, err)
		}
		pairs += converts(t, x, c)
	})
	if n := len(layouts.DTypeNames()); pairs != n*n {
		t.Errorf("%d pairs of dtypes, want %d", pairs, n*n)
	}
}

// converts compares x in other dtypes with what was recorded, and returns how
// many they are.
func converts(t *testing.T, x *layouts.Tensor, c printCase) int {
	t.Helper()
	for name, values := range c.To {
		dtype, err := layouts.ParseDType(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := recorded(name, values, c.Shape)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.To(dtype)
		if err != nil {
			t.Fatal(err)
		}
		have := bits(t, got)
		for i, v := range bits(t, want) {
			if have[i] != v || got.DType() != dtype {
				t.Errorf("%s %v to %s is %s of %s, PyTorch %s", c.DType, c.Values[i], name, have[i], got.DType(), v)
			}
		}
	}
	return len(c.To)
}

// bits is every element to the last bit, with all NaNs alike.
func bits(t *testing.T, x *layouts.Tensor) []string {
	t.Helper()
	if x.DType() == layouts.Int64 { // more bits than a float64 has
		return words[int64](t, x)
	}
	wide, err := x.To(layouts.Complex128)
	if err != nil {
		t.Fatal(err)
	}
	return words[complex128](t, wide)
}

func words[T layouts.Element](t *testing.T, x *layouts.Tensor) []string {
	t.Helper()
	values, err := layouts.Values[T](x)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return texts
}

// recorded makes a tensor of values that were recorded as text.
func recorded(dtype string, values []any, shape []int) (*layouts.Tensor, error) {
	d, err := layouts.ParseDType(dtype)
	if err != nil {
		return nil, err
	}
	if d == layouts.Int64 {
		ints := make([]int64, len(values))
		for i, v := range values {
			if ints[i], err = strconv.ParseInt(fmt.Sprint(v), 10, 64); err != nil {
				return nil, err
			}
		}
		return layouts.FromSlice(ints, shape...)
	}
	numbers := make([]complex128, len(values))
	for i, v := range values {
		if pair, ok := v.([]any); ok {
			numbers[i] = complex(number(pair[0]), number(pair[1]))
		} else {
			numbers[i] = complex(number(v), 0)
		}
	}
	x, err := layouts.FromSlice(numbers, shape...)
	if err != nil {
		return nil, err
	}
	return x.To(d)
}

func number(v any) float64 {
	if n, ok := v.(json.Number); ok {
		v = n.String()
	}
	f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil {
		panic(err)
	}
	return f
}

func TestHalf(t *testing.T) {
	for h := range 1 << 16 { // every half survives the way to float32 and back
		f := layouts.Half(h).Float()
		if back := layouts.HalfOf(f); back != layouts.Half(h) && !math.IsNaN(float64(f)) {
			t.Fatalf("%#04x is %v, which is %#04x", h, f, back)
		}
	}
	for v, want := range map[float32]layouts.Half{
		1: 0x3C00, -2: 0xC000, 65504: 0x7BFF, 65519: 0x7BFF, 65520: 0x7C00, 1e30: 0x7C00, 0: 0,
		5.9604645e-08: 1, 2.9802322e-08: 0, 2.9802326e-08: 1, 2049: 0x6800, 2051: 0x6802, -1e-30: 0x8000,
	} {
		if got := layouts.HalfOf(v); got != want {
			t.Errorf("HalfOf(%v) = %#04x, want %#04x", v, got, want)
		}
	}
}

// TestTorchRoundings: numbers of 16 bits are those that PyTorch rounds to, to the
// last bit, of what is not a number too, and are as float32 what they are there.
func TestTorchRoundings(t *testing.T) {
	type rounding struct {
		Bits     uint32
		Float16  layouts.Half
		BFloat16 layouts.BFloat
	}
	cases := 0
	eachLine(t, filepath.Join("testdata", "torch", "halves.jsonl.gz"), func(c rounding) {
		cases++
		v := math.Float32frombits(c.Bits)
		if got := layouts.HalfOf(v); got != c.Float16 {
			t.Errorf("%#08x (%v) to float16 is %#04x, PyTorch %#04x", c.Bits, v, got, c.Float16)
		}
		if got := layouts.BFloatOf(v); got != c.BFloat16 {
			t.Errorf("%#08x (%v) to bfloat16 is %#04x, PyTorch %#04x", c.Bits, v, got, c.BFloat16)
		}
	})
	if cases < 10000 {
		t.Errorf("only %d cases", cases)
	}
	// SHA-256 of the float32 of 0, 1, ... 65535, as record_halves.py prints it.
	for want, float := range map[string]func(uint16) float32{
		"b636c5716ff84d972782faf02d0194cb8951526bea4cc487082feb47b1860ddf": func(b uint16) float32 { return layouts.Half(b).Float() },
		"9207d7eb28680a098c73dbe536d1ff7b94311dc417b9a385e0af6660683e93ca": func(b uint16) float32 { return layouts.BFloat(b).Float() },
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

// TestDTypeNames: dtypes by the names that people have for them.
func TestDTypeNames(t *testing.T) {
	for name, want := range map[string]layouts.DType{
		"torch.bfloat16": layouts.BFloat16, "bf16": layouts.BFloat16, "f32": layouts.Float32, "u8": layouts.Uint8, "i64": layouts.Int64, "torch.half": layouts.Float16, "half": layouts.Float16, "float": layouts.Float32,
		"torch.double": layouts.Float64, "long": layouts.Int64, "torch.uint8": layouts.Uint8, "torch.bool": layouts.Bool, "torch.cfloat": layouts.Complex64,
	} {
		if got, err := layouts.ParseDType(name); got != want || err != nil {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "torch.", "float33", "torch.torch.half", "undefined"} {
		if got, err := layouts.ParseDType(name); err == nil {
			t.Errorf("%q is %v", name, got)
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
	cases := 0
	eachLine(t, filepath.Join("testdata", "torch", "excerpts.jsonl.gz"), func(c excerpt) {
		cases++
		n := 1
		for _, size := range c.Shape {
			n *= size
		}
		values := make([]complex128, n)
		for i := range values {
			of := func(i int) float64 { return float64(i*c.Times%c.Modulus-c.Minus) / float64(c.Parts) }
			values[i] = complex(of(i), float64(c.Imag)*of(i+1))
		}
		x := must(must(layouts.FromSlice(values, c.Shape...)).To(must(layouts.ParseDType(c.DType))))
		if c.Transposed {
			x = must(x.Transpose(0, -1))
		}
		got := x.String()
		if c.Sparse != "" {
			got = must(x.Sparse(must(layouts.ParseSparseFormat(c.Sparse)))).String()
		}
		if got != c.Text {
			t.Errorf("%+v prints\n%s\nPyTorch\n%s", c, got, c.Text)
		}
	})
	if cases < 150 {
		t.Errorf("only %d cases", cases)
	}
}

func TestUninitializedPrints(t *testing.T) {
	u, err := layouts.Uninitialized(2)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.String(); !strings.Contains(got, "uninitialized") {
		t.Error(got)
	}
}
