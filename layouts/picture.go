package layouts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Picture is a question about storage: where the elements of a PyTorch expression lie, those of
// views of a contiguous tensor, or those of a tensor in a format, or what a sparse format stores of
// an example.
//
// An expression is Python code that makes a tensor with PyTorch, and a chain on it as [ParseChain]
// reads it, such as torch.arange(24).reshape(2, 3, 4).transpose(0, 1):
//
//	expression = [name "="] ["torch."] factory "(" arguments ")" chain
//
// Factories are arange, zeros, ones, empty, rand, randn, full, and tensor of nested lists. Default
// dtypes are PyTorch's: arange of integers is int64, zeros is float32. Arguments that do not affect
// the layout, such as device= and requires_grad=, are ignored.
type Picture struct {
	Expression string // it goes with Columns alone
	Shape      []int
	Views      []Chain // of a contiguous tensor, or one of the example; none is the tensor itself
	DType      DType
	Format     Tag    // the zero Tag is none
	Sparse     string // coo, csr, csc, bsr or bsc; "" is none
	Block      []int  // of bsr and bsc, rows and columns

	Columns int // to draw in, as far as they suffice; 0 are enough
}

// Text explains it in words, and draws what is small. Errors begin with the place in the expression
// (character 14), or with the name of the field at fault in lower case and its value.
func (p Picture) Text() (words, drawing string, err error) {
	switch {
	case p.Format.Rank() > 0 && p.Sparse != "":
		return "", "", fmt.Errorf("sparse %s: a tensor has one layout, and format %s is another",
			p.Sparse, p.Format.Written())
	case p.Format.Rank() > 0 && len(p.Views) > 0 && !p.Views[0].Empty():
		return "", "", fmt.Errorf("view %q: a tensor in a format has no views", p.Views[0])
	case p.Sparse != "" && len(p.Views) > 1:
		return "", "", fmt.Errorf("view %q: a sparse example has one view", p.Views[1])
	case p.Block != nil && p.Sparse == "":
		return "", "", fmt.Errorf("block %s: it goes with sparse bsr or bsc", FormatShape(p.Block))
	case p.Format.Rank() > 0:
		b, err := p.Format.Layout(p.Shape...)
		if err == nil {
			_, err = b.Nested().bytes(p.DType)
		}
		if err != nil {
			return "", "", fmt.Errorf("format %s: %w", p.Format.Written(), err)
		}
		words, drawing = b.describe(p.Format, p.DType)
		return words, drawing, nil
	}
	all, err := p.expressions()
	if err != nil {
		return "", "", err
	}
	if p.Sparse != "" {
		drawing, err = p.sparse(all[0])
		return "", drawing, err
	}
	for i, e := range all {
		one, drawn, err := e.describe(p.Columns)
		if err != nil {
			return "", "", e.fault(err)
		}
		if len(all) > 1 {
			one, drawn = fmt.Sprintf("view %v\n%s", e.chain, one),
				fmt.Sprintf("\nview %v%s", e.chain, drawn)
		}
		if i > 0 {
			words += "\n"
		}
		words, drawing = words+one, drawing+drawn
	}
	return words, drawing, nil
}

// expressions are the expression, or the views of a contiguous tensor whose elements are not known.
func (p Picture) expressions() (all []expression, err error) {
	if p.Expression != "" {
		e, err := parseExpression(p.Expression)
		return []expression{e}, err
	}
	stored, err := Contiguous(p.Shape...)
	if err == nil {
		_, err = stored.bytes(p.DType)
	}
	if err != nil {
		return nil, fmt.Errorf("shape %s: %w", FormatShape(p.Shape), err)
	}
	views := p.Views
	if len(views) == 0 {
		views = []Chain{{}}
	}
	for _, view := range views {
		all = append(all, expression{text: cmp.Or(view.text, "x"), chain: view, walk: true,
			made: made{layout: stored, dtype: p.DType}})
	}
	return all, nil
}

// words are the facts of what a chain made.
func (s site) words() string {
	var more [][2]string
	if s.fresh {
		more = append(more, [2]string{"copy",
			fmt.Sprintf("yes: in a storage of its own, of %d elements", s.storage)})
	}
	return s.layout.facts(s.dtype, more...) + "\n" + s.layout.whyContiguous()
}

// describe says how a format splits and pads the dims, and draws small storages.
func (b Blocked) describe(t Tag, dtype DType) (words, drawing string) {
	nested := b.Nested()
	elements, stored := Layout{shape: b.shape}.Numel(), nested.Numel()
	var s strings.Builder
	fmt.Fprintf(&s, "format      %v\nshape       %s\nelements    %d\n", t,
		formatTuple(b.shape), elements)
	fmt.Fprintf(&s, "stored      %d elements, %d bytes of %v", stored, stored*dtype.Size(), dtype)
	if padding := stored - elements; padding > 0 {
		fmt.Fprintf(&s, "; %d of them (%.1f%%) are padding", padding,
			100*float64(padding)/float64(stored))
	}
	s.WriteString("\n\nDims, whole blocks first, with strides in elements:\n")
	padded := b.padded()
	for d, digits := range b.dims {
		var sizes, strides []string
		for _, g := range digits {
			sizes, strides = append(sizes, strconv.Itoa(g.size)),
				append(strides, strconv.Itoa(g.stride))
		}
		fmt.Fprintf(&s, "  %c, dim %d: size %d", 'a'+d, d, b.shape[d])
		if padded[d] != b.shape[d] {
			fmt.Fprintf(&s, ", padded to %d", padded[d])
		}
		if len(digits) > 1 {
			fmt.Fprintf(&s, " = %s", strings.Join(sizes, "x"))
		}
		fmt.Fprintf(&s, ", %s %s\n", map[bool]string{true: "strides",
			false: "stride"}[len(digits) > 1], strings.Join(strides, ", "))
	}
	if stored > shownElements || stored == 0 {
		fmt.Fprintf(&s, "\nStorage is printed for up to %d elements.\n", shownElements)
		return s.String(), ""
	}
	return s.String(), "\n" + b.picture(t)
}

// numbers are the elements of the storage. They are 0, 1, 2, ... in row-major order, so that each
// says its index, and padding where the storage has no element.
func (b Blocked) numbers(padding string) []string {
	cells := slices.Repeat([]string{padding}, b.Nested().Numel())
	number := 0
	for at := range b.Offsets() {
		cells[at] = strconv.Itoa(number)
		number++
	}
	return cells
}

// picture shows the storage in rows of the innermost blocks.
func (b Blocked) picture(t Tag) string {
	cells := b.numbers(".")
	const widest = 32
	row := 1
	for _, k := range slices.Backward(t.blocks) {
		if row*k.size > widest {
			break
		}
		row *= k.size
	}
	if last := t.order[len(t.order)-1]; row == 1 {
		row = min(max(b.shape[last], 1), widest)
	}
	text := "storage, in order: 0, 1, 2, ... are the elements in row-major order"
	if slices.Contains(cells, ".") {
		text += ", dots are padding"
	}
	padding := 0 // rows
	for line := range strings.SplitSeq(inRows(cells, row), "\n") {
		if strings.Trim(line, " .") == "" {
			padding++
			continue
		}
		text += "\n" + paddingRows(padding) + line
		padding = 0
	}
	return text + "\n" + paddingRows(padding)
}

func paddingRows(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "(a row of padding)\n"
	}
	return fmt.Sprintf("(%d rows of padding)\n", n)
}

// sparse stores an example of the view and says what each array is.
func (p Picture) sparse(e expression) (string, error) {
	if e.made.layout.Numel() > shownElements {
		return "", fmt.Errorf("shape %s: examples have up to %d elements", FormatShape(p.Shape),
			shownElements)
	}
	dense, err := example(e.made.layout, p.DType)
	if err == nil {
		dense, err = dense.Apply(e.chain)
	}
	if err != nil {
		return "", e.fault(err)
	}
	s, err := dense.Sparse(p.Sparse, p.Block...)
	if err != nil {
		return "", fmt.Errorf("sparse %s: %w", p.Sparse, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "An example of shape %s, in which 1, 2, 3, ... are stored:\n%v\n\nsparse_%s "+
		"stores\n", formatTuple(s.Shape), dense, s.Format)
	bytes := 0
	for _, a := range s.Arrays {
		size := a.Tensor.layout.Numel() * a.Tensor.DType().Size()
		bytes += size
		head := fmt.Sprintf("  %s = ", a.Name)
		text := strings.ReplaceAll(a.Tensor.String(), "\n", "\n"+strings.Repeat(" ", len(head)))
		text = strings.ReplaceAll(text, "\n"+strings.Repeat(" ", len(head))+"\n", "\n\n")
		fmt.Fprintf(&b, "%s%s\n    %s; shape %s of %v, %d bytes\n", head, text, a.Meaning,
			formatTuple(a.Tensor.layout.shape), a.Tensor.DType(), size)
	}
	fmt.Fprintf(&b, "\n%d bytes in total; the dense tensor has %d. PyTorch prints it as\n%v\n",
		bytes, dense.layout.Numel()*dense.DType().Size(), s)
	return b.String(), nil
}

// example is a tensor of which two elements of seven are not zero.
func example(l Layout, dtype DType) (*Tensor, error) {
	next := int64(0)
	return made{layout: l, dtype: dtype, elements: func(i int) scalar {
		if i*5%7 >= 2 {
			return scalar{}
		}
		next++
		return whole(kindInteger, next)
	}}.tensor()
}
