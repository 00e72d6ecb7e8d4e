package layouts_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// TestExpressions: what PyTorch 1.13 makes of an expression lies as it does there, with the
// same elements, and what it refuses is refused.
func TestExpressions(t *testing.T) {
	type expression struct {
		Text, DType    string
		Shape, Strides []int
		Offset         int
		Contiguous     bool
		Values         []string // none where PyTorch does not say what they are
		Error          string
	}
	eachCase(t, "torch/expressions.jsonl.gz", func(c expression) {
		x, l, d, err := layouts.ParseExpression(c.Text)
		if err != nil {
			if c.Error == "" || !strings.HasPrefix(err.Error(), "character ") {
				t.Errorf("%s: %v; PyTorch has shape %v, error %q", c.Text, err, c.Shape, c.Error)
			}
			return
		}
		same := slices.Equal[[]int]
		if c.Error != "" || !same(l.Shape(), c.Shape) || !same(l.Strides(), c.Strides) ||
			l.Offset() != c.Offset || l.IsContiguous() != c.Contiguous || d.String() != c.DType {
			t.Errorf("%s gives %v of %v, contiguous %t; PyTorch %+v", c.Text, l, d, l.IsContiguous(), c)
			return
		}
		if c.Values == nil {
			return
		}
		if x == nil || !x.Layout().Equal(l) || x.DType() != d {
			t.Errorf("%s: the tensor is %v, want %v of %v", c.Text, x, l, d)
			return
		}
		if got := must(layouts.Values[complex128](apply(x, "to(torch.complex128)"))); !sameNumbers(got,
			c.Values) {
			t.Errorf("%s has elements %v, PyTorch %v", c.Text, got, c.Values)
		}
	})
}

// sameNumbers compares numbers with those that Python wrote; a float32 of an arange may differ
// in its last bits, which depend on the width of PyTorch's vectors.
func sameNumbers(got []complex128, want []string) bool {
	near := func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*max(math.Abs(a), 1)
	}
	return slices.EqualFunc(got, want, func(a complex128, text string) bool {
		b, err := strconv.ParseComplex(strings.ReplaceAll(text, "j", "i"), 128)
		return err == nil && near(real(a), real(b)) && near(imag(a), imag(b))
	})
}

var large = regexp.MustCompile(`\d{5}|\*|e\d|x`)

// FuzzExpression: no text that somebody types panics, and a tensor that is made lies as its
// layout says.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"torch.arange(24).reshape(1,2,3,4)",
		"x = torch.randn(3,2).transpose(0,1)", "tensor([[1,2.5],[True,2j]]).H",
		"torch.full((2,3), -torch.inf, dtype=torch.half)[0:1].flip(0)",
		"torch.empty(1, 2, 3, 4, memory_format=torch.channels_last, device='cuda:0')",
		"arange(0, 1, step=.25)",
		"zeros(torch.Size([2*3, 0x2]), device=torch.device(\"cpu\")).squeeze((0,1))",
		"torch.tensor([[1,2],[3]])", "torch.ones(2,3", "x.t()", "torch.zeros(2)..t()"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if large.MatchString(text) { // all of the first tensor is made
			return
		}
		x, l, d, err := layouts.ParseExpression(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "character ") {
				t.Errorf("%q: the error has no place: %v", text, err)
			}
			return
		}
		if _, _, err := (layouts.Picture{Expression: text}).Text(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if x != nil && (!x.Layout().Equal(l) || x.DType() != d) {
			t.Errorf("%q gives %v of %v, the tensor %v of %v", text, l, d, x.Layout(), x.DType())
		}
	})
}
