package layouts

import (
	"cmp"
	"fmt"
	"strings"
)

// A Picture is a question about storage: where the elements of a PyTorch expression lie, or those
// of views of a contiguous tensor, or what a sparse format stores of an example.
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
	Sparse     string // coo, csr, csc, bsr or bsc; "" is none
	Block      []int  // of bsr and bsc, rows and columns

	Columns int // to draw in, as far as they suffice; 0 are enough
}

// Text explains it in words, and draws what is small. Errors begin with the place in the expression
// (character 14), or with the name of the field at fault in lower case and its value.
func (p Picture) Text() (words, drawing string, err error) {
	switch {
	case p.Sparse != "" && len(p.Views) > 1:
		return "", "", fmt.Errorf("view %q: a sparse example has one view", p.Views[1])
	case p.Block != nil && p.Sparse == "":
		return "", "", fmt.Errorf("block %s: it goes with sparse bsr or bsc", FormatShape(p.Block))
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
