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
	taken, refused := 0, 0
	for _, file := range vectors(t, "expressions.jsonl.gz") {
		eachLine(t, file, func(c expression) {
			e, err := layouts.ParseExpression(c.Text)
			var l layouts.Layout
			var d layouts.DType
			if err == nil {
				l, d, err = e.Layout()
			}
			if err != nil {
				if refused++; c.Error == "" || !strings.HasPrefix(err.Error(), "character ") {
					t.Errorf("%s: %v; PyTorch has shape %v, error %q", c.Text, err, c.Shape, c.Error)
				}
				return
			}
			taken++
			same := slices.Equal[[]int]
			if c.Error != "" || !same(l.Shape(), c.Shape) || !same(l.Strides(), c.Strides) || l.Offset() != c.Offset || l.IsContiguous() != c.Contiguous || d.String() != c.DType {
				t.Errorf("%s gives %v of %v, contiguous %t; PyTorch %+v", c.Text, l, d, l.IsContiguous(), c)
				return
			}
			if c.Values == nil {
				return
			}
			x, err := e.Tensor()
			if err != nil || !x.Layout().Equal(l) || x.DType() != d {
				t.Errorf("%s: the tensor is %v, %v, want %v of %v", c.Text, x, err, l, d)
				return
			}
			if got := must(layouts.Values[complex128](must(x.To(layouts.Complex128)))); !sameNumbers(got, c.Values) {
				t.Errorf("%s has elements %v, PyTorch %v", c.Text, got, c.Values)
			}
		})
	}
	if taken < 75 || refused < 20 {
		t.Errorf("only %d expressions taken and %d refused", taken, refused)
	}
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
	for _, text := range []string{"torch.arange(24).reshape(1,2,3,4)", "x = torch.randn(3,2).transpose(0,1)", "tensor([[1,2.5],[True,2j]]).H", "torch.full((2,3), -torch.inf, dtype=torch.half)[0:1].flip(0)",
		"torch.empty(1, 2, 3, 4, memory_format=torch.channels_last, device='cuda:0')", "arange(0, 1, step=.25)", "zeros(torch.Size([2*3, 0x2]), device=torch.device(\"cpu\")).squeeze((0,1))",
		"torch.tensor([[1,2],[3]])", "torch.ones(2,3", "x.t()", "torch.zeros(2)..t()"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := layouts.ParseExpression(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "character ") {
				t.Errorf("%q: the error has no place: %v", text, err)
			}
			return
		}
		l, d, err := e.Layout()
		if err != nil || l.Numel() > 1000 {
			return
		}
		if _, _, err := e.Text(80); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if large.MatchString(text) { // all of the first tensor is made
			return
		}
		if x, err := e.Tensor(); err == nil && (!x.Layout().Equal(l) || x.DType() != d) {
			t.Errorf("%q gives %v of %v, the tensor %v of %v", text, l, d, x.Layout(), x.DType())
		}
	})
}

// TestExpressionErrors: an error says where the fault is, and what would be right.
func TestExpressionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"torch.arange(24).reshape(5,5)":            "character 18: reshape: sizes [5 5]",
		"torch.arange(24).premute(1,0)":            "character 18: \"premute\" is not a view operation; did you mean permute(dims...)?",
		"torch.zeros(2,3).to(torch.channels_last)": "character 21: to: torch.channels_last is a memory format: did you mean memory_format=torch.channels_last?",
		"y = torch.zeros(2,3).t().narrow(0,2,2)":   "character 26: narrow: length 2",
		"torch.tensor([[1,2],[3]])":                "character 21: tensor: a list of 1",
		"torch.tensor([1,[3]])":                    "character 17: tensor: a list, where",
		"torch.tensor([[1],3])":                    "character 19: tensor: 3, where the lists before have a list",
		"torch.tensor([1,True,wrong])":             "character 22: tensor: wrong is not a number (want one such as 3, 0.5, 2j or True)",
		"torch.full(3,1)":                          "character 12: full: size is 3, want a tuple or list of integers such as (3,)",
		"torch.full((2,),300,dtype=torch.uint8)":   "character 17: full: uint8 cannot hold 300",
		"torch.zeros(2,3,dtype=torch.float23)":     "character 23: zeros: \"torch.float23\": no such dtype",
		"torch.zeros(2,3,sise=3)":                  "character 22: zeros: no argument is called sise",
		"torch.arange(12":                          "character 13: arange: the parenthesis is not closed",
		"torch.randint(9,(3,))":                    "character 1: \"randint\" is not read here: want one of arange, zeros,",
		"torch.t(torch.zeros(2,3))":                "character 1: t is an operation: write the tensor first",
		"torch.arange(0,5,-1)":                     "character 16: arange: step -1 from 0 leads away",
		"größe = torch.arange(4).t":                "character 25: want arguments: t()",
		"x.t()":                                    "character 1: want a function that makes a tensor, such as torch.arange(12)",
		"torch.zeros(2,3).t() t()":                 "character 22: want a dot or a subscript",
	} {
		e, err := layouts.ParseExpression(text)
		if err == nil {
			_, _, err = e.Layout()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestSqueezeOfSeveral: squeeze of several dims is PyTorch 2.0's.
func TestSqueezeOfSeveral(t *testing.T) {
	l := must(layouts.Contiguous(1, 2, 1, 3))
	for text, want := range map[string]string{"squeeze((0,1))": "2x1x3", "squeeze(0,2)": "2x3", "squeeze([-2])": "1x2x3", "squeeze(dim=(0,-2))": "2x3", "squeeze(())": "1x2x1x3"} {
		if got, err := applied(l, text); err != nil || layouts.FormatShape(got.Shape()) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"squeeze((0,0))", "squeeze((0,-4))", "squeeze(4,0)", "squeeze((0,None))"} {
		if got, err := applied(l, text); err == nil {
			t.Errorf("%s: %v, PyTorch 2.0 refuses it", text, got)
		}
	}
	words, _, err := layouts.Picture{Shape: []int{1, 2, 1, 3}, View: layouts.MustParseChain("squeeze((0,2)).t()")}.Text()
	if err != nil || !strings.Contains(words, "PyTorch 2.0") {
		t.Errorf("squeeze of several is not marked: %v\n%s", err, words)
	}
	if words, _, _ := (layouts.Picture{Shape: []int{1, 2}, View: layouts.MustParseChain("squeeze(0)")}).Text(); strings.Contains(words, "2.0") {
		t.Errorf("squeeze of one dim is marked\n%s", words)
	}
}
