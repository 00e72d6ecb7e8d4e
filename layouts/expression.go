package layouts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// An Expression is a tensor as PyTorch makes it and a chain on it, such as
// torch.arange(24).reshape(2, 3, 4).transpose(0, 1).
type Expression struct {
	text  string
	from  string // the factory's name
	made  made
	chain Chain // its steps have places in text
	walk  bool  // the chain is an order of access
}

// ParseExpression reads Python code that makes a tensor with PyTorch, and a chain on it as
// [ParseChain] does:
//
//	expression = [name "="] ["torch."] factory "(" arguments ")" chain
//
// Factories are arange, zeros, ones, empty, rand, randn, full, and tensor of nested lists. Default
// dtypes are PyTorch's: arange of integers is int64, zeros is float32. Arguments that do not affect
// the layout, such as device= and requires_grad=, are ignored. Errors begin with the place of the
// fault, such as "character 14".
func ParseExpression(text string) (Expression, error) {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	p := &parser{text: text, rest: strings.TrimSpace(text), literals: true}
	e, err := p.expression()
	if err != nil {
		return Expression{}, atPlace(text, err, p.offset())
	}
	return e, nil
}

func atPlace(text string, err error, at int) error {
	if strings.HasPrefix(err.Error(), "character ") { // it has one
		return err
	}
	if e, ok := errors.AsType[*placedError](err); ok {
		for ok { // the innermost one
			at = e.at
			e, ok = errors.AsType[*placedError](e.error)
		}
	}
	return fmt.Errorf("%s: %w", placeOf(text, at), err)
}

func (p *parser) expression() (Expression, error) {
	if name := keyword.FindString(p.rest); name != "" {
		p.skip(len(name))
	}
	at := p.offset()
	p.skip(len(torchPrefix.FindString(p.rest)))
	name := identifier.FindString(p.rest)
	p.skip(len(name))
	if !isFactory(name) || !p.at('(') {
		return Expression{}, &placedError{p.noFactory(name), at}
	}
	open := p.offset()
	p.skip(1)
	args, _, err := p.values(')', 1)
	if errors.Is(err, errNotClosed) {
		err = &placedError{err, open}
	}
	if err != nil {
		return Expression{}, fmt.Errorf("%s: %w", name, err)
	}
	e, start := Expression{text: p.text}, p.offset()
	e.from = name
	if e.made, err = makes(name, args); err != nil {
		return Expression{}, &placedError{err, at}
	}
	p.literals = false
	calls, err := p.calls(false)
	if err != nil {
		return Expression{}, err
	}
	steps, err := stepsOf(calls)
	e.chain = Chain{p.text[start:], steps}
	return e, err
}

var torchPrefix = regexp.MustCompile(`^torch\s*\.\s*`)

func isFactory(name string) bool {
	return slices.ContainsFunc(factories, func(f viewOp) bool { return f.name == name })
}

func (p *parser) noFactory(name string) error {
	const want = "such as torch.arange(12) or torch.zeros(3, 4)"
	switch {
	case isFactory(name):
		return fmt.Errorf("want ( after %q, %s", name, want)
	case slices.ContainsFunc(viewOps, func(op viewOp) bool { return op.name == name }) && p.at('('):
		return fmt.Errorf("%s is an operation: write the tensor first, %s, then .%[1]s(...)", name,
			want)
	case name == "" || p.rest == "" || p.at('.') || p.at('['):
		return fmt.Errorf("want a function that makes a tensor, %s", want)
	}
	var names []string
	for _, f := range factories {
		names = append(names, f.name)
	}
	known := strings.Join(slices.Compact(names), ", ")
	return fmt.Errorf("%q is not read here: want one of %s", name, known)
}

// makes calls the first factory of a name that takes the arguments.
func makes(name string, args []value) (m made, refusal error) {
	for _, f := range factories {
		if f.name != name {
			continue
		}
		bound, err := f.bind(args)
		if err == nil {
			if m, err = f.make(bound); err == nil {
				_, err = m.layout.bytes(m.dtype)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return m, err
		}
		if refusal == nil || len(args) > 1 {
			refusal = fmt.Errorf("%s: %w", name, err)
		}
	}
	return made{}, refusal
}

// String returns the text of the expression.
func (e Expression) String() string { return e.text }

// site returns the result. known says that the chain leaves known elements known. Errors begin with
// the place of the operation in an expression that was read.
func (e Expression) site() (s site, known bool, err error) {
	s, known = e.made.layout.site(e.made.dtype), true
	s.walk = e.walk
	for _, step := range e.chain.steps {
		if s, err = step.apply(s); err != nil {
			if !e.walk {
				err = atPlace(e.text, err, step.at)
			}
			return site{}, false, err
		}
		known = known && !s.blank && (e.walk || !s.conj) // places are no numbers
	}
	return s, known, nil
}

// rows returns the last layout of the chain that is all of the first storage in order.
func (e Expression) rows() Layout {
	s, rows := e.made.layout.site(e.made.dtype), e.made.layout
	for _, step := range e.chain.steps {
		var err error
		if s, err = step.apply(s); err != nil || e.walk || s.fresh || s.dtype != e.made.dtype {
			break
		}
		if s.layout.Numel() == s.storage && s.layout.IsContiguous() {
			rows = s.layout
		}
	}
	return rows
}

// Text explains the result in words, and draws it next to its storage if both are small, or below
// if columns are too few (0 are enough). Elements that PyTorch draws at random or leaves unwritten
// appear as their places in the storage. Errors begin with the place of the operation.
func (e Expression) Text(columns int) (words, drawing string, err error) {
	s, known, err := e.site()
	if err != nil {
		return "", "", err
	}
	note := ""
	switch {
	case slices.ContainsFunc(s.layout.strides, func(stride int) bool { return stride < 0 }):
		note = "\nNegative strides are an order of access: PyTorch's tensors have none, and its " +
			"flip copies.\n"
	case e.made.why != "":
		note = fmt.Sprintf("\n%s %s: their places in its storage are shown.\n", e.from, e.made.why)
	}
	x, base := e.shown(s, known)
	switch {
	case e.large(s):
		drawing = fmt.Sprintf("\nStorage and view are printed for up to %d elements.\n",
			shownElements)
	case !known:
		drawing = "\nThe elements are not shown: they are conjugates, or unwritten.\n"
	case e.walk && x == nil:
	case x == nil:
		drawing = fmt.Sprintf("\nThe elements are not shown: %s %s.\n", e.from, e.made.why)
	case strings.HasPrefix(note, "\nNegative"):
		drawing = note + "It visits the storage in this order:\n" + fmt.Sprintln(
			strings.Trim(fmt.Sprint(slices.Collect(s.layout.Offsets())), "[]"))
	case base:
		drawing = note + "\n" + beside(x, e.rows(), columns)
	default:
		drawing = note + "\n" + beside(x, x.layout, columns)
	}
	return s.words(e.chain), drawing, nil
}

func (e Expression) large(s site) bool {
	return max(e.made.layout.Numel(), s.layout.Numel(), s.storage) > shownElements
}

// shown is the result where it is small and its elements are known, or their places in the first
// storage. base says that it lies in that one.
func (e Expression) shown(s site, known bool) (x *Tensor, base bool) {
	places := e.made.elements == nil
	if e.large(s) || !known || places && s.dtype != e.made.dtype {
		return nil, false
	}
	if places {
		e.made.dtype, e.made.elements = Int64, func(i int) scalar {
			return whole(kindInteger, int64(i))
		}
	}
	first, err := e.made.tensor()
	switch {
	case err != nil:
		return nil, false
	case places && !s.fresh: // whatever the dtypes on the way
		return first.storage.seen(s.layout), true
	}
	x, err = first.apply(e.chain, e.walk)
	if err != nil || !x.layout.Equal(s.layout) {
		return nil, false
	}
	return x, x.storage == first.storage
}

// Drawing is what a picture of the result shows. Errors are as those of Text.
func (e Expression) Drawing() (Drawing, error) {
	s, known, err := e.site()
	if err != nil {
		return Drawing{}, err
	}
	d := Drawing{Storage: s.storage, Views: []Drawn{{e.text, Plain(s.layout)}}}
	if x, _ := e.shown(s, known); x != nil && (e.made.elements != nil || e.walk && s.fresh) {
		d.Values, _ = x.storage.all().cells()
	}
	return d, nil
}
