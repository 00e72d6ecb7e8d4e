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

// TestTorchPrintsAndConversions: tensors of every dtype, infinities and the
// like included, print as PyTorch 1.13 printed them, and convert to every
// other dtype as it converted them.
func TestTorchPrintsAndConversions(t *testing.T) {
	type printCase struct {
		DType  string
		Shape  []int
		Values []any
		Text   string
		To     map[string][]any
	}
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
		for name, values := range c.To {
			conversions++
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
			if bits(t, got) != bits(t, want) {
				t.Errorf("%s %v to %s is %v, PyTorch %v", c.DType, c.Values, name, got, want)
			}
		}
	})
	if cases < 200 || conversions < 1000 {
		t.Errorf("only %d cases and %d conversions", cases, conversions)
	}
}

// bits is every element to the last bit, with all NaNs alike.
func bits(t *testing.T, x *layouts.Tensor) string {
	t.Helper()
	wide, err := x.To(layouts.Complex128)
	if err != nil {
		t.Fatal(err)
	}
	values, err := layouts.Values[complex128](wide)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(x.DType(), values)
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
