package layouts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// A typedCase is what somebody types of a tensor x, and what PyTorch makes of it.
type typedCase struct {
	DType, Text, Error    string
	Start, Shape, Strides []int
	Offset                int
	To                    string
	Shares                *bool
	Values                [][2]float64
}

// TestTorchTyped: what PyTorch 1.13 takes of subscripts, attributes, arguments by
// name, parts, copies and dtypes gives the same here, to the last stride and
// value, shares the storage or not, and what it refuses is refused.
func TestTorchTyped(t *testing.T) {
	eachCase(t, "torch/typed.jsonl.gz", func(c typedCase) {
		dtype := must(layouts.ParseDType(c.DType))
		start := must(layouts.Contiguous(c.Start...))
		x := must(layouts.NewTensor(arange(start.Numel(), fmt.Sprintf("to(%v)", dtype)).Storage(), start))
		y, err := applied(x, c.Text)
		if c.Error != "" || err != nil {
			if (c.Error == "") != (err == nil) {
				t.Errorf("%s of %v of %s: %v, PyTorch %q", c.Text, c.Start, dtype, err, c.Error)
			}
			return
		}
		l := y.Layout()
		if !slices.Equal(l.Shape(), c.Shape) || !slices.Equal(l.Strides(), c.Strides) ||
			l.Offset() != c.Offset || y.DType().String() != c.To {
			t.Errorf("%s of %v of %s gives %v of %s, PyTorch %v %v %d of %s", c.Text, c.Start, dtype, l,
				y.DType(), c.Shape, c.Strides, c.Offset, c.To)
			return
		}
		for i, v := range must(layouts.Values[complex128](apply(y, "to(torch.complex128)"))) {
			if c.Values != nil && v != complex(c.Values[i][0], c.Values[i][1]) {
				t.Errorf("%s of %v of %s: element %d is %v, PyTorch %v", c.Text, c.Start, dtype, i, v,
					c.Values[i])
				return
			}
		}
		// The same of the layout alone, unless a step copies.
		view, to, err := start.ApplyTo(must(layouts.ParseChain(c.Text)), dtype)
		if err == nil {
			if to != y.DType() || !view.Equal(l) || c.Shares != nil && !*c.Shares {
				t.Errorf("%s of layout %v of %s gives %v of %s, of the tensor %v of %s", c.Text, start, dtype,
					view, to, l, y.DType())
			}
		} else if !strings.Contains(err.Error(), "copies here") || c.Shares != nil && *c.Shares {
			t.Errorf("%s of layout %v: %v", c.Text, start, err)
		}
	})

}
