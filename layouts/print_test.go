package layouts_test

import (
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

func TestLargeTensorsPrintShort(t *testing.T) {
	x, err := layouts.Zeros(layouts.Float32, 4000, 400)
	if err != nil {
		t.Fatal(err)
	}
	if got := x.String(); got != "tensor(..., size=(4000, 400), dtype=torch.float32)" {
		t.Error(got)
	}
	u, err := layouts.Uninitialized(2)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.String(); !strings.Contains(got, "uninitialized") {
		t.Error(got)
	}
}
