package layouts_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// dropped are calls of which PyTorch 1.13 drops the arguments behind a list
// without a word, such as view((12,), 0): here they are refused.
var dropped = regexp.MustCompile(`^(view|expand|broadcast_to|permute|flip)\([(\[].*,`)

// TestTorchSpellings: what PyTorch 1.13 takes of spellings of arguments is
// taken for the same view, and what it refuses is refused.
func TestTorchSpellings(t *testing.T) {
	type spelling struct {
		Start, Shape, Strides []int
		Offset                int
		Text, Error           string
	}
	taken, refused := 0, 0
	eachLine(t, filepath.Join("testdata", "torch", "spellings.jsonl.gz"), func(c spelling) {
		start := must(layouts.Contiguous(c.Start...))
		x := ok(layouts.Zeros(layouts.Uint8, max(start.Numel(), 12)))
		x = ok(layouts.NewTensor(x.Storage(), start))
		y, err := applied(x, c.Text)
		switch {
		case c.Error != "" && err == nil:
			t.Errorf("%s gives %v, PyTorch refuses: %s", c.Text, y.Layout(), c.Error)
		case c.Error != "":
			refused++
		case dropped.MatchString(c.Text) && err != nil && strings.Contains(err.Error(), "arguments do not fit"):
			refused++
		case err != nil:
			t.Errorf("%s: %v, PyTorch gives shape %v", c.Text, err, c.Shape)
		default:
			taken++
			l, same := y.Layout(), slices.Equal[[]int]
			if !same(l.Shape(), c.Shape) || !strings.HasPrefix(c.Text, "flip") && (!same(l.Strides(), c.Strides) || l.Offset() != c.Offset) {
				t.Errorf("%s gives %v, PyTorch shape %v, strides %v, offset %d", c.Text, l, c.Shape, c.Strides, c.Offset)
			}
		}
	})
	if taken < 250 || refused < 1000 {
		t.Errorf("only %d spellings taken and %d refused", taken, refused)
	}
}

// TestChainErrors: what is refused of a chain's text says which operation and
// what would be right.
func TestChainErrors(t *testing.T) {
	l := must(layouts.Contiguous(3, 4))
	for chain, want := range map[string]string{
		"as_strided((2,3),(3),1)":          "as_strided: strides is 3, want a tuple or list of integers such as (3,): as_strided((sizes...), (strides...), offset)",
		"as_strided((3),(2,1))":            "as_strided: sizes is 3, want a tuple",
		"as_strided(None,(1,))":            "as_strided: sizes is None, want a tuple or list of integers",
		"narrow(0,(1,),2)":                 "narrow: start is (1,), want one integer",
		"transpose(0,None)":                "transpose: dim1 is None, want one integer",
		"view(3,(4,))":                     "view: sizes has (4,) in it, want integers only",
		"view()":                           "view: 0 arguments do not fit view(sizes...)",
		"unflatten(1,4)":                   "unflatten: sizes is 4, want a tuple or list of integers such as (4,)",
		"squeeze(0,1)":                     "squeeze: 2 arguments do not fit squeeze(dim)",
		"view(12,,)":                       `view: an argument is missing before ",)"`,
		"view((12)":                        "view: the parenthesis is not closed",
		"view([12)":                        "view: the parenthesis is not closed",
		"view(3 4)":                        `view: argument "3 4" is no integer`,
		"view((3)4)":                       `view: want a comma before "4)"`,
		"view(012)":                        "zeros in front",
		"view(True,12)":                    `argument "True" is no integer`,
		"transpose(dim0=0, dim1=1)":        `transpose: argument "dim0=0" goes by place, without dim0=`,
		"view(" + strings.Repeat("(", 300): "more than 200 parentheses are nested",
	} {
		if v, err := applied(l, chain); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", chain, v, err, want)
		}
	}
	// Taken here and by no method of PyTorch's.
	for chain, want := range map[string]string{
		"unflatten(1,2,-1)":    "shape 3x2x2, strides (4, 2, 1), offset 0",
		"slice(1,None,None,2)": "shape 3x2, strides (4, 2), offset 0",
		"slice(1,-3)":          "shape 3x3, strides (4, 1), offset 1",
	} {
		if v, err := applied(l, chain); err != nil || v.String() != want {
			t.Errorf("%s: %v, %v, want %s", chain, v, err, want)
		}
	}
}

// FuzzChainText: an integer and a list of integers mean the same however they
// are written.
func FuzzChainText(f *testing.F) {
	f.Add(3, 4, " ")
	f.Add(-1, 12, "\n\t")
	l := must(layouts.Contiguous(3, 4))
	f.Fuzz(func(t *testing.T, a, b int, space string) {
		if strings.TrimSpace(space) != "" {
			return
		}
		want, refusal := applied(l, fmt.Sprintf("view(%d,%d)", a, b))
		for _, form := range []string{"view((%d,%d))", "view([%d,%d])", "view(~(~%d~,~%d~,~)~)", "view((%d),((%d)),)", "view~(%d,~%d)~"} {
			text := strings.ReplaceAll(fmt.Sprintf(form, a, b), "~", space)
			got, err := applied(l, text)
			if (err == nil) != (refusal == nil) || err == nil && !got.Equal(want) || err != nil && err.Error() != refusal.Error() {
				t.Errorf("%q gives %v, %v; view(%d,%d) gives %v, %v", text, got, err, a, b, want, refusal)
			}
		}
	})
}

// applied reads a chain and applies it to a layout or a tensor.
func applied[T any](x interface {
	Apply(layouts.Chain) (T, error)
}, text string) (T, error) {
	c, err := layouts.ParseChain(text)
	if err != nil {
		return *new(T), err
	}
	return x.Apply(c)
}
