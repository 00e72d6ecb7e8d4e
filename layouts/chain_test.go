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
	taken, refused := 0, 0
	eachLine(t, filepath.Join("testdata", "torch", "spellings.jsonl.gz"), func(c spelling) {
		start := must(layouts.Contiguous(c.Start...))
		x := ok(layouts.Zeros(layouts.Uint8, max(start.Numel(), 12)))
		x = ok(layouts.NewTensor(x.Storage(), start))
		y, err := applied(x, c.Text)
		switch {
		case c.Error != "" && squeezed.MatchString(c.Text) && err == nil:
			refused++
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

// TestCopiesOfFlipped: copies that keep strides keep those of the tensor that was flipped, as in PyTorch 1.13,
// whose flip is such a copy.
func TestCopiesOfFlipped(t *testing.T) {
	x := ok(ok(layouts.Zeros(layouts.Float32, 360)).View(4, 5, 6, 3))
	for chain, want := range map[string][]int{
		"flip(1).clone()":         {90, 18, 3, 1},
		"flip(0).double()":        {90, 18, 3, 1},
		"flip(0,1,2,3).T.clone()": {1, 3, 18, 90},
		"flip(-2).clone().T":      {1, 3, 18, 90},
		"to(memory_format=torch.channels_last).flip(2).clone()": {90, 1, 15, 5},
		"transpose(0,1).flip(0).empty_like()":                   {18, 90, 3, 1},
		"slice(1,0,5,2).flip(1).clone()":                        {54, 18, 3, 1},
		"permute(3,1,2,0).slice(1,0,5,2).flip(1,0).clone()":     {1, 18, 3, 54},
		"flip(0).contiguous(memory_format=torch.channels_last)": {90, 1, 15, 5},
		"unsqueeze(1).flip(1,3).clone()":                        {90, 90, 18, 3, 1},
		"as_strided((4,5),(1,4)).flip(1).half()":                {1, 4},
		"flip(0).select(2,0).clone()":                           {15, 3, 1},
	} {
		if y := ok(applied(x, chain)); !slices.Equal(y.Layout().Strides(), want) {
			t.Errorf("%s gives strides %v, PyTorch %v", chain, y.Layout().Strides(), want)
		}
	}
}

// TestChainErrors: what is refused of a chain's text says which operation and
// what would be right.
func TestChainErrors(t *testing.T) {
	l := must(layouts.Contiguous(3, 4))
	for chain, want := range map[string]string{
		"as_strided((2,3),(3),1)":           "as_strided: stride is 3, want a tuple or list of integers such as (3,): as_strided((size...), (stride...), storage_offset)",
		"as_strided((3),(2,1))":             "as_strided: size is 3, want a tuple",
		"as_strided(None,(1,))":             "as_strided: size is None, want a tuple or list of integers",
		"narrow(0,(1,),2)":                  "narrow: start is (1,), want one integer",
		"transpose(0,None)":                 "transpose: dim1 is None, want one integer",
		"view(3,(4,))":                      "view: size has (4,) in it, want integers only",
		"view()":                            "view: 0 arguments do not fit view(size...)",
		"unflatten(1,4)":                    "unflatten: sizes is 4, want a tuple or list of integers such as (4,)",
		"view(12,,)":                        `view: an argument is missing before ",)"`,
		"view((12)":                         "view: the parenthesis is not closed",
		"view([12)":                         "view: the parenthesis is not closed",
		"view(3 4)":                         `view: argument "3 4" is not an integer`,
		"view((3)4)":                        `view: want a comma before "4)"`,
		"view(012)":                         "zeros in front",
		"view(True,12)":                     `argument "True" is not an integer`,
		"transpose(dim=0, dim1=1)":          "transpose: no argument is called dim: transpose(dim0, dim1)",
		"transpose(dim0=0, 1)":              "transpose: an argument without a name follows dim0=",
		"transpose(0, dim0=1)":              "transpose: dim0 is given twice",
		"contiguous(torch.channels_last)":   "contiguous: torch.channels_last is a memory format: did you mean memory_format=torch.channels_last?",
		"to(torch.float33)":                 `to: "torch.float33": no such dtype`,
		"view(torch.float33)":               `view: "torch.float33": no such dtype`,
		"view(dtype=torch.float33)":         `view: "torch.float33": no such dtype`,
		"view(size=torch.float33)":          `view: argument "torch.float33" is not an integer`,
		`to("cpu")`:                         `to: argument "cpu" is a string, which no view takes`,
		"t(a)":                              "t: 1 arguments do not fit t()",
		"contiguous(memory_format=None)":    "contiguous: memory_format is None, want a memory format",
		"clone(memory_format=torch.nchw)":   `clone: "torch.nchw" is not a memory format (want torch.contiguous_format, channels_last`,
		"chunk(2)":                          "chunk makes 2 tensors: say which by an index, such as chunk(...)[0]",
		"chunk(2)[2]":                       "chunk makes 2 tensors: [2] is out of range (want -2 to 1)",
		"T()":                               "T is written without parentheses",
		"transpose":                         "want arguments: transpose(dim0, dim1)",
		"x.t":                               "want arguments: t()",
		"x[[0, 1]]":                         "[]: (0, 1) picks elements, and so copies",
		"x[True]":                           "[]: True picks elements",
		"x[x > 0]":                          `argument "x > 0" is a mask, which picks elements and so copies`,
		"x[::-1]":                           "[]: slice: step -1 is not positive (flip(0) walks backwards)",
		"x[0, 0, 0]":                        "[]: 3 indices for a tensor of 2 dims",
		"x[0":                               `[]: the bracket is not closed in "[0"`,
		"x[]":                               "[]: want an index, such as [0], [:, ::2] or [..., None]",
		"x[:,,0]":                           `[]: an index is missing before ",0]"`,
		"x[,]":                              `[]: an index is missing before ",]"`,
		"x[0 1]":                            `argument "0 1" is not an integer`,
		"x.t().contiguous()":                "contiguous copies here, since shape 4x3, strides (1, 4), offset 0 does not lie in contiguous_format; only views can be walked",
		"t().reshape(12)":                   "reshape copies here, since shape 4x3, strides (1, 4), offset 0 cannot become shape 12 without a copy",
		"view(torch.int16)":                 "view: the dtype of the tensor is not known here",
		"real":                              "real wants a complex tensor",
		"tranpose(0,1)":                     `"tranpose" is not a view operation; did you mean transpose(dim0, dim1)?`,
		"x.premute(1,0)":                    "did you mean permute(dims...)?",
		"x.swapaxis(0,1)":                   "did you mean swapaxes(axis0, axis1)",
		"x.view_as_complex()":               "did you mean view_as(other.shape...) or",
		"x.channels_last()":                 "did you mean contiguous(memory_format=torch.channels_last)?",
		"x.float16()":                       `"float16" is not a view operation; did you mean half()?`,
		"x.astype(int)":                     "did you mean to(dtype)",
		"x.stride()":                        `"stride" is not a view operation; it asks about a tensor`,
		"x.data.t()":                        `"data" is not a view operation; it changes no layout: leave it out`,
		"x.vsplit(2)[0]":                    "vsplit: dim 0 of size 3 has no 2 equal parts (tensor_split makes unequal ones)",
		"x.dsplit(2)[0]":                    "dsplit: a tensor of 2 dims (want 3 or more)",
		"to(torch.channels_last)":           "to: torch.channels_last is a memory format: did you mean memory_format=torch.channels_last?",
		"clone(torch.channels_last)":        "clone: torch.channels_last is a memory format: did you mean memory_format=torch.channels_last?",
		"to(memory_format=torch.float16)":   "to: torch.float16 is a dtype: did you mean dtype=torch.float16?",
		"x.index_select(0, i)":              `"index_select" is not a view operation; it picks elements, and so copies`,
		"x.mean(0)":                         `"mean" is not a view operation; it computes`,
		"x.median()":                        `"median" is not a view operation; PyTorch's views are others`,
		"x.trans(0,1)":                      "did you mean transpose(dim0, dim1)",
		"rearrange":                         `"rearrange" is not a view operation; einops' patterns are permute`,
		"rearrange('a b -> b a')":           "'a b -> b a' is permute(1, 0)",
		"einops.rearrange(x, 'a b -> b a')": "'a b -> b a' is permute(1, 0)",
		"torch.transpose(x, 0, 1)":          "torch.transpose is a function: write a method, x.transpose(0, 1)",
		"torch.permute(y,(1,0)).flatten()":  "write a method, y.permute((1,0)).flatten()",
		"torch.flatten(x)":                  "write a method, x.flatten()",
		"np.transpose(x)":                   "np.transpose(x) is a function: write x.T",
		"np.transpose(x, (1, 0))":           "write a method, x.permute((1, 0))",
		"torch.rotate(x, 1)":                `"rotate" is not a view operation`,
		"repeat(2,2)":                       "repeat copies in PyTorch",
		"view(" + strings.Repeat("(", 300):  "more than 200 parentheses are nested",
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

// FuzzTyped: no text that somebody types panics, of a layout or of a tensor, and
// what a layout takes its tensor takes for the same view.
func FuzzTyped(f *testing.F) {
	for _, text := range []string{"x[:, ::2]", "x[..., None].T", "chunk(2,dim=1)[-1]", "view(torch.int16)", "x.split([1,2])[0][0:1:2]", "to(memory_format=torch.channels_last)", "movedim((0,1),(1,0))", "x[-1:None:3,...].real",
		"x.t(). ", "t())", "x[0] ]", "größe..t()", "t().[0].t()", "x t()", "x.3()", "...", // of which the error names the place
		"[0,:1].unfold(0,1,9223372036854775807)", "expand(192153584101141162,3,4).clone()", "[:0].expand(0,4).double()", "H.clone().view_as_real()", "select(0,-4)", "narrow(1,4,0)",
		"t().unflatten(0,(2,-1))[..., ::2].contiguous()"} {
		f.Add(text)
	}
	l := must(layouts.Contiguous(3, 4))
	x := ok(layouts.Zeros(layouts.Complex64, 3, 4))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := layouts.ParseChain(text)
		if err != nil {
			return
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

// TestPythonTypes: types of Python are the widest dtypes of their kind, and names behind "torch." its own.
func TestPythonTypes(t *testing.T) {
	for text, want := range map[string]layouts.DType{"int": layouts.Int64, "float": layouts.Float64, "bool": layouts.Bool, "complex": layouts.Complex128,
		"torch.int": layouts.Int32, "torch.float": layouts.Float32, "torch.bool": layouts.Bool, "double": layouts.Float64, "long": layouts.Int64} {
		x := must(layouts.Arange(layouts.Int16, 12))
		if got := must(x.Apply(layouts.MustParseChain("to(" + text + ")"))); got.DType() != want {
			t.Errorf("to(%s) is of %v, want %v", text, got.DType(), want)
		}
	}
}

// TestConjugates: H is of conjugates, of which PyTorch makes no view as other numbers until they are copied.
func TestConjugates(t *testing.T) {
	m := must(must(layouts.Arange(layouts.Complex64, 12)).View(3, 4))
	for text, ok := range map[string]bool{
		"H.view_as_real()": false, "mH.view_as_real()": false, "H[0].view(torch.float64)": false,
		"H.H.view_as_real()": true, "H.t().mT.H.view_as_real()": true, "H.view(torch.complex64)": true, "H.real": true, "H.imag.view(torch.int32)": true,
		"H.clone().view_as_real()": true, "H.to(torch.complex128).view_as_real()": true, "t().view_as_real()": true,
	} {
		c := layouts.MustParseChain(text)
		if _, err := m.Apply(c); (err == nil) != ok {
			t.Errorf("%s: %v, want one that works: %t", text, err, ok)
		}
	}
	if _, err := must(must(layouts.Arange(layouts.Int16, 3)).View(3)).Apply(layouts.MustParseChain("H.view(torch.int8)")); err == nil {
		t.Error("H of one dim")
	}
	// What of a storage is no whole element is out of reach.
	odd := must(layouts.Arange(layouts.Uint8, 43))
	if v, err := odd.Apply(layouts.MustParseChain("x[:42].view(torch.int16)")); err != nil || v.Layout().Numel() != 21 {
		t.Errorf("42 of 43 B as int16: %v", err)
	}
	if _, err := odd.Apply(layouts.MustParseChain("view(torch.int16)")); err == nil {
		t.Error("43 B as int16")
	}
	for text, want := range map[string]string{"narrow(axis=0, start=1, length=2)": "(2, 4)", "select(axis=1, index=0)": "(3)", "chunk(3, axis=0)[0]": "(1, 4)", "to(None)": "(3, 4)",
		"x[np.newaxis, 0]": "(1, 4)", "x[0, newaxis]": "(1, 4)", "x[Ellipsis, 0]": "(3)"} {
		if v, err := m.Apply(layouts.MustParseChain(text)); err != nil || strings.Trim(layouts.FormatShape(v.Layout().Shape()), "()") != strings.ReplaceAll(strings.Trim(want, "()"), ", ", "x") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := layouts.ParseChain("split(2, axis=0)[0]"); err == nil {
		t.Error("split takes axis")
	}
}

// TestRefusedCopies: copies that PyTorch refuses to make.
func TestRefusedCopies(t *testing.T) {
	x := must(must(layouts.Arange(layouts.Float32, 12)).View(3, 4))
	for text, want := range map[string]string{
		"contiguous(memory_format=torch.preserve_format)":         "",
		"t().t().contiguous(memory_format=torch.preserve_format)": "",
		"t().contiguous(memory_format=torch.preserve_format)":     "preserve_format names no layout for a copy",
		"narrow(0, 0, 0).unfold(1, -1, 1).contiguous()":           "",
		"narrow(0, 0, 0).unfold(1, -1, 1).to(torch.float32)":      "",
		"narrow(0, 0, 0).unfold(1, -1, 1).clone()":                "negative",
		"narrow(0, 0, 0).unfold(1, -1, 1).empty_like()":           "negative size -1 in dim 2",
	} {
		c := layouts.MustParseChain(text)
		_, err := x.Apply(c)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestChainMisplaced: what stands where no operation can begin is named with its place, and with what would be right.
func TestChainMisplaced(t *testing.T) {
	for text, want := range map[string]string{
		"x.t(). ":          "character 7: the text ends after a dot: want name(arguments), or no dot",
		" t())":            `character 5: ")" closes nothing that is open: leave it out`,
		"x[0] ]":           `character 6: "]" closes nothing that is open: leave it out`,
		"x.t()x":           `character 6: want a dot or a subscript, have "x"`,
		"größe..t()":       "character 7: one dot too many: leave one out",
		"x.t()..":          "character 7: one dot too many: leave one out",
		"t().[0].t()":      `character 5: "[0].t()" wants no dot before it: leave it out`,
		"x.t)":             `character 4: want ( or a dot after "t", have ")"`,
		"x t()":            `character 3: want ( or a dot after "x", have "t()"`,
		"x.3()":            `character 3: want name(arguments), have "3()"`,
		"...":              `character 1: want name(arguments), have "...": did you mean [...]?`,
		":,0":              `character 1: want name(arguments), have ":,0": did you mean [:,0]?`,
		" -1, ::2":         `character 2: want name(arguments), have "-1, ::2": did you mean [-1, ::2]?`,
		"...,0.t()":        `character 1: want name(arguments), have "...,0.t()": did you mean [...,0].t()?`,
		"t().:,0":          `character 5: want name(arguments), have ":,0": did you mean t()[:,0]?`,
		"x:,0":             `character 2: want ( or a dot after "x", have ":,0": did you mean x[:,0]?`,
		"t() :,0":          `character 5: want a dot or a subscript, have ":,0": did you mean t()[:,0]?`,
		"(x).t()":          `character 1: want name(arguments), have "(x).t()": did you mean x.t()?`,
		"(x.t())[0]":       `character 1: want name(arguments), have "(x.t())[0]": did you mean x.t()[0]?`,
		"x.(t())":          `character 3: want name(arguments), have "(t())": did you mean x.t()?`,
		"x.(y)":            `character 3: want name(arguments), have "(y)"`,
		"((x)).t()":        `character 1: want name(arguments), have "((x)).t()": did you mean x.t()?`,
		"((x).t())":        `character 1: want name(arguments), have "((x).t())": did you mean x.t()?`,
		"((x).t()":         `character 1: want name(arguments), have "((x).t()"`,
		"None,0":           `character 1: want name(arguments), have "None,0": did you mean [None,0]?`,
		"None":             `character 1: want name(arguments), have "None": did you mean [None]?`,
		"Ellipsis, 0":      `character 1: want name(arguments), have "Ellipsis, 0": did you mean [Ellipsis, 0]?`,
		"np.newaxis,0.t()": `character 1: want name(arguments), have "np.newaxis,0.t()": did you mean [np.newaxis,0].t()?`,
		"np.newaxis,":      `character 1: want name(arguments), have "np.newaxis,": did you mean [np.newaxis,]?`,
		"(x.t()":           `character 1: want name(arguments), have "(x.t()"`,
		"()":               `character 1: want name(arguments), have "()"`,
		",":                `character 1: want name(arguments), have ","`,
	} {
		if _, err := layouts.ParseChain(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
