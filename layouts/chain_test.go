package layouts_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// dropped are calls of which PyTorch 1.13 drops the arguments behind a list
// without a word, such as view((12,), 0): here they are refused.
var dropped = regexp.MustCompile(`^(view|expand|broadcast_to|permute|flip)\([(\[].*,`)

// squeezed are calls that PyTorch takes as of 2.0.
var squeezed = regexp.MustCompile(`^squeeze\(([(\[]|-?\d,-?\d)`)

// TestTorchSpellings: what PyTorch 1.13 takes of spellings of arguments is
// taken for the same view, and what it refuses is refused.
func TestTorchSpellings(t *testing.T) {
	type spelling struct {
		Start, Shape, Strides []int
		Offset                int
		Text, Error           string
	}
	eachCase(t, "torch/spellings.jsonl.gz", func(c spelling) {
		start := must(layouts.Contiguous(c.Start...))
		x := must(layouts.Zeros(layouts.Uint8, max(start.Numel(), 12)))
		x = must(layouts.NewTensor(x.Storage(), start))
		y, err := applied(x, c.Text)
		switch {
		case c.Error != "" && err == nil && !squeezed.MatchString(c.Text):
			t.Errorf("%s gives %v, PyTorch refuses: %s", c.Text, y.Layout(), c.Error)
		case c.Error != "":
		case err != nil:
			if !dropped.MatchString(c.Text) || !strings.Contains(err.Error(), "arguments do not fit") {
				t.Errorf("%s: %v, PyTorch gives shape %v", c.Text, err, c.Shape)
			}
		default:
			l, same := y.Layout(), slices.Equal[[]int]
			if !same(l.Shape(), c.Shape) || !strings.HasPrefix(c.Text, "flip") &&
				(!same(l.Strides(), c.Strides) || l.Offset() != c.Offset) {
				t.Errorf("%s gives %v, PyTorch shape %v, strides %v, offset %d", c.Text, l, c.Shape, c.Strides,
					c.Offset)
			}
		}
	})
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
		for _, form := range []string{"view((%d,%d))", "view([%d,%d])", "view(~(~%d~,~%d~,~)~)",
			"view((%d),((%d)),)", "view~(%d,~%d)~"} {
			text := strings.ReplaceAll(fmt.Sprintf(form, a, b), "~", space)
			got, err := applied(l, text)
			if (err == nil) != (refusal == nil) || err == nil && !got.Equal(want) || err != nil &&
				err.Error() != refusal.Error() {
				t.Errorf("%q gives %v, %v; view(%d,%d) gives %v, %v", text, got, err, a, b, want, refusal)
			}
		}
	})
}

// FuzzTyped: no text that somebody types panics, of a layout or of a tensor, and
// what a layout takes its tensor takes for the same view.
func FuzzTyped(f *testing.F) {
	for _, text := range []string{"x[:, ::2]", "x[..., None].T", "chunk(2,dim=1)[-1]",
		"view(torch.int16)", "x.split([1,2])[0][0:1:2]", "to(memory_format=torch.channels_last)",
		"movedim((0,1),(1,0))", "x[-1:None:3,...].real",
		// of which the error names the place
		"x.t(). ", "t())", "x[0] ]", "größe..t()", "t().[0].t()", "x t()", "x.3()", "...",
		"[0,:1].unfold(0,1,9223372036854775807)", "expand(192153584101141162,3,4).clone()",
		"[:0].expand(0,4).double()", "H.clone().view_as_real()", "select(0,-4)", "narrow(1,4,0)",
		"t().unflatten(0,(2,-1))[..., ::2].contiguous()", "transpose(0,1).narrow(1,0,2)",
		"slice(0,1,9,2).flip(0)",
		"expand(2,3,4)", "as_strided((2,3),[3,1],None)", "view(((12),),)", "squeeze().view(0xc)"} {
		f.Add(text)
	}
	l := must(layouts.Contiguous(3, 4))
	x := must(layouts.Zeros(layouts.Complex64, 3, 4))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := layouts.ParseChain(text)
		if err != nil {
			return
		}
		if v, err := l.Apply(c); err == nil && v.Numel() > 0 {
			if low, high := v.Extent(); low < 0 || high > 11 {
				t.Errorf("%q gives %v, which reaches %d to %d", text, v, low, high)
			}
		}
		view, dtype, refusal := l.ApplyTo(c, layouts.Complex64)
		if view.Numel() > 1<<20 {
			return
		}
		if _, err := l.Apply(c); err == nil && refusal != nil {
			t.Errorf("%q goes without a dtype, and with one %v", text, refusal)
		}
		if refusal != nil || slices.ContainsFunc(view.Strides(), func(s int) bool { return s < 0 }) {
			return
		}
		if y, err := x.Apply(c); err != nil || !y.Layout().Equal(view) || y.DType() != dtype {
			t.Errorf("%q gives %v of %v, of the tensor %v, %v", text, view, dtype, y, err)
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
