package layouts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An expression is a tensor as PyTorch makes it and a chain on it, such as
// torch.arange(24).reshape(2, 3, 4).transpose(0, 1).
type expression struct {
	text  string
	from  string // the factory's name
	made  made
	chain Chain // its steps have places in text
	walk  bool  // the chain is an order of access
}

// parseExpression reads the expression of a [Picture].
func parseExpression(text string) (expression, error) {
	p := newParser(text)
	p.literals = true
	e, err := p.expression()
	if err != nil {
		return expression{}, atPlace(p.text, err)
	}
	return e, nil
}

func (p *parser) expression() (expression, error) {
	if name := keyword.FindString(p.rest); name != "" {
		p.skip(len(name))
	}
	p.skip(len(torchPrefix.FindString(p.rest)))
	if name := identifier.FindString(p.rest); !isFactory(name) ||
		!strings.HasPrefix(strings.TrimSpace(p.rest[len(name):]), "(") {
		return expression{}, p.unexpected("a function that makes a tensor, such as " +
			"torch.arange(12) (" +
			"one of arange, zeros, ones, full, empty, rand, randn, tensor)")
	}
	c, err := p.call()
	if err != nil {
		return expression{}, err
	}
	e, start := expression{text: p.text, from: c.name}, p.offset()
	if e.made, err = makes(c); err != nil {
		return expression{}, err
	}
	p.literals = false
	calls, err := p.calls(false)
	if err != nil {
		return expression{}, err
	}
	steps, err := stepsOf(calls)
	e.chain = Chain{p.text[start:], steps}
	return e, err
}

var torchPrefix = regexp.MustCompile(`^torch\s*\.\s*`)

func isFactory(name string) bool {
	return slices.ContainsFunc(factories, func(f viewOp) bool { return f.name == name })
}

// makes calls the first factory of a name that takes the arguments.
func makes(c call) (made, error) {
	f, bound, err := fitting(factories, c)
	if err != nil {
		return made{}, err
	}
	m, err := invoke[made](f, bound)
	if err == nil {
		_, err = m.layout.bytes(m.dtype)
	}
	if err != nil {
		return made{}, &placedError{fmt.Errorf("%s: %w", c.name, err), c.at}
	}
	return m, nil
}

// A result is what the chain of an expression makes.
type result struct {
	site
	known bool   // the chain leaves known elements known
	rows  Layout // the last layout that is all of the first storage in order
}

func (e expression) result() (result, error) {
	r := result{e.made.layout.site(e.made.dtype), true, e.made.layout}
	r.walk = e.walk
	same := !e.walk // the storage and its dtype
	for _, step := range e.chain.steps {
		var err error
		if r.site, err = step.apply(r.site); err != nil {
			return result{}, &placedError{err, step.at}
		}
		r.known = r.known && !r.blank && (e.walk || !r.conj) // places are no numbers
		same = same && !r.fresh && r.dtype == e.made.dtype
		if same && r.layout.Numel() == r.storage && r.layout.IsContiguous() {
			r.rows = r.layout
		}
	}
	return r, nil
}

// fault begins an error with the view, or with the place of the operation in an expression.
func (e expression) fault(err error) error {
	if e.walk {
		return fmt.Errorf("view %q: %w", e.chain, err)
	}
	return atPlace(e.text, err)
}

// describe explains the result in words, and draws it next to its storage if both are small, or
// below if columns are too few (0 are enough). Elements that PyTorch draws at random or leaves
// unwritten appear as their places in the storage.
func (e expression) describe(columns int) (words, drawing string, err error) {
	r, err := e.result()
	if err != nil {
		return "", "", err
	}
	x, rows := e.shown(r)
	switch {
	case e.large(r):
		drawing = fmt.Sprintf("\nStorage and view are printed for up to %d elements.\n",
			shownElements)
	case !r.known:
		drawing = "\nThe elements are not shown: they are conjugates, or unwritten.\n"
	case x == nil && e.walk:
	case x == nil:
		drawing = fmt.Sprintf("\nThe elements are not shown: %s %s.\n", e.from, e.made.why)
	case slices.ContainsFunc(r.layout.strides, func(stride int) bool { return stride < 0 }):
		drawing = "\nNegative strides are an order of access: PyTorch's tensors have none, and " +
			"its flip copies.\nIt visits the storage in this order:\n" + fmt.Sprintln(
			strings.Trim(fmt.Sprint(slices.Collect(r.layout.Offsets())), "[]"))
	default:
		if e.made.why != "" {
			drawing = fmt.Sprintf("\n%s %s: their places in its storage are shown.\n", e.from,
				e.made.why)
		}
		drawing += "\n" + beside(x, rows, columns)
	}
	return r.words(), drawing, nil
}

func (e expression) large(r result) bool {
	return max(e.made.layout.Numel(), r.layout.Numel(), r.storage) > shownElements
}

// shown is the result where it is small and its elements are known, or their places in the first
// storage. rows is a layout of all its storage.
func (e expression) shown(r result) (x *Tensor, rows Layout) {
	places := e.made.elements == nil
	if e.large(r) || !r.known || places && r.dtype != e.made.dtype {
		return nil, rows
	}
	if places {
		e.made.dtype, e.made.elements = Int64, func(i int) scalar {
			return whole(kindInteger, int64(i))
		}
	}
	first, err := e.made.tensor()
	switch {
	case err != nil:
		return nil, rows
	case places && !r.fresh: // whatever the dtypes on the way
		return first.storage.seen(r.layout), r.rows
	}
	x, err = first.apply(e.chain, e.walk)
	switch {
	case err != nil || !x.layout.Equal(r.layout):
		return nil, rows
	case x.storage == first.storage:
		return x, r.rows
	}
	return x, x.layout
}
