package layouts

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A viewOp is one operation of a chain: its parameters in PyTorch's order, and
// the view that it makes of a layout and bound arguments.
type viewOp struct {
	name   string
	params []param
	apply  func(l Layout, a arguments, storage int) (Layout, error)
}

// A param is a parameter of a viewOp: one integer, or a tuple or list of them.
type param struct {
	name     string
	list     bool
	optional bool // it may be left out
	none     bool // and be None, which is as if it were left out
	// least is how many integers may stand by place for the list, or more,
	// where it comes last: view(3, 4) is view((3, 4)). 0 is for none.
	least int
}

func one(name string) param   { return param{name: name} }
func maybe(name string) param { return param{name: name, optional: true} }
func noned(name string) param { return param{name: name, optional: true, none: true} }
func list(name string) param  { return param{name: name, list: true} }
func spread(name string, least int) param {
	return param{name: name, list: true, least: least}
}

// viewOps are the operations that a chain may have, in PyTorch's spelling and
// argument order, by name. slice is that of ATen, x[start:end:step]. PyTorch's
// unflatten wants its sizes in a tuple; here they may stand by place, if they
// are two or more.
var viewOps = []viewOp{
	{"as_strided", []param{list("sizes"), list("strides"), noned("offset")}, func(l Layout, a arguments, storage int) (Layout, error) {
		return AsStrided(storage, a.list(0), a.list(1), a.or(2, l.offset))
	}},
	{"broadcast_to", []param{spread("sizes", 1)}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Expand(a.list(0)...) }},
	{"diagonal", []param{maybe("offset"), maybe("dim1"), maybe("dim2")}, func(l Layout, a arguments, _ int) (Layout, error) {
		return l.Diagonal(a.or(0, 0), a.or(1, 0), a.or(2, 1))
	}},
	{"expand", []param{spread("sizes", 1)}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Expand(a.list(0)...) }},
	{"flatten", []param{maybe("start"), maybe("end")}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Flatten(a.or(0, 0), a.or(1, -1)) }},
	{"flip", []param{spread("dims", 1)}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Flip(a.list(0)...) }},
	{"movedim", []param{one("src"), one("dst")}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Movedim(a.int(0), a.int(1)) }},
	{"narrow", []param{one("dim"), one("start"), one("length")}, func(l Layout, a arguments, _ int) (Layout, error) {
		return l.Narrow(a.int(0), a.int(1), a.int(2))
	}},
	{"permute", []param{spread("dims", 1)}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Permute(a.list(0)...) }},
	{"select", []param{one("dim"), one("index")}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Select(a.int(0), a.int(1)) }},
	{"slice", []param{maybe("dim"), noned("start"), noned("end"), maybe("step")}, func(l Layout, a arguments, _ int) (Layout, error) {
		return l.Slice(a.or(0, 0), a.or(1, 0), a.or(2, math.MaxInt), a.or(3, 1))
	}},
	{"squeeze", []param{maybe("dim")}, func(l Layout, a arguments, _ int) (Layout, error) {
		if len(a) == 0 {
			return l.Squeeze()
		}
		return l.Squeeze(a.int(0))
	}},
	{"t", nil, func(l Layout, _ arguments, _ int) (Layout, error) { return l.T() }},
	{"transpose", []param{one("dim0"), one("dim1")}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Transpose(a.int(0), a.int(1)) }},
	{"unflatten", []param{one("dim"), spread("sizes", 2)}, func(l Layout, a arguments, _ int) (Layout, error) {
		return l.Unflatten(a.int(0), a.list(1)...)
	}},
	{"unfold", []param{one("dim"), one("size"), one("step")}, func(l Layout, a arguments, _ int) (Layout, error) {
		return l.Unfold(a.int(0), a.int(1), a.int(2))
	}},
	{"unsqueeze", []param{one("dim")}, func(l Layout, a arguments, _ int) (Layout, error) { return l.Unsqueeze(a.int(0)) }},
	{"view", []param{spread("sizes", 1)}, func(l Layout, a arguments, _ int) (Layout, error) { return l.View(a.list(0)...) }},
}

// usage is "narrow(dim, start, length)".
func (op viewOp) usage() string {
	names := make([]string, len(op.params))
	for i, p := range op.params {
		names[i] = p.name
		switch {
		case p.list && p.least == 1:
			names[i] += "..."
		case p.list:
			names[i] = "(" + p.name + "...)"
		}
	}
	return op.name + "(" + strings.Join(names, ", ") + ")"
}

// bind gives each argument to its parameter, as PyTorch's argument parser does
// (torch/csrc/utils/python_arg_parser.cpp). Optional parameters at the end may
// lack an argument.
func (op viewOp) bind(args []value) (arguments, error) {
	if last := len(op.params) - 1; last >= 0 && op.params[last].least > 0 {
		if n := len(args) - last; n >= op.params[last].least && args[last].kind == number {
			args = append(slices.Clone(args[:last]), value{kind: sequence, items: args[last:]})
		}
	}
	required := 0
	for _, p := range op.params {
		if !p.optional {
			required++
		}
	}
	if len(args) < required || len(args) > len(op.params) {
		return nil, fmt.Errorf("%d arguments do not fit %s", len(args), op.usage())
	}
	bound := make(arguments, len(args))
	for i, v := range args {
		ints, err := op.params[i].take(v)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, op.usage())
		}
		bound[i] = ints
	}
	return bound, nil
}

// take returns the integers of v, nil of a None that the parameter takes.
func (p param) take(v value) ([]int, error) {
	switch {
	case v.kind == none && p.none:
		return nil, nil
	case v.kind == number && !p.list:
		return []int{v.n}, nil
	case v.kind == number:
		return nil, fmt.Errorf("%s is %s, want a tuple or list of integers such as (%[2]s,)", p.name, v)
	case p.list && v.kind == none:
		return nil, fmt.Errorf("%s is None, want a tuple or list of integers", p.name)
	case !p.list:
		return nil, fmt.Errorf("%s is %s, want one integer", p.name, v)
	}
	ints := make([]int, len(v.items))
	for i, item := range v.items {
		if item.kind != number {
			return nil, fmt.Errorf("%s has %s in it, want integers only", p.name, item)
		}
		ints[i] = item.n
	}
	return ints, nil
}

// arguments are the integers of each argument, by parameter.
type arguments [][]int

func (a arguments) int(i int) int    { return a[i][0] }
func (a arguments) list(i int) []int { return a[i] }

// or is argument i, or otherwise if it was left out or None.
func (a arguments) or(i, otherwise int) int {
	if i >= len(a) || a[i] == nil {
		return otherwise
	}
	return a[i][0]
}

// copyingOps are operations of PyTorch's that look like views.
var copyingOps = []string{"reshape", "contiguous", "clone", "repeat"}

// ViewOps lists the operations of a chain with their arguments, such as
// "narrow(dim, start, length)", in alphabetic order.
func ViewOps() []string {
	usages := make([]string, len(viewOps))
	for i, op := range viewOps {
		usages[i] = op.usage()
	}
	return usages
}

// A Chain is view operations with their arguments, one after the other, as
// ParseChain reads them. The zero Chain has none: it is the layout itself.
type Chain struct {
	text  string
	steps []step
}

// A step is an operation of a chain and its arguments.
type step struct {
	op   *viewOp
	args arguments
}

// ParseChain reads a chain of operations spelled as PyTorch's methods:
// "transpose(0,1).narrow(1,0,100)". Arguments go by place and are Python's:
// integers, None, tuples and lists of integers, where (3) is 3, and (3,) and
// [3] are lists of it. Spaces are free, and the empty text is the empty chain.
// What PyTorch 1.13 refuses whatever the layout is refused. Errors name the
// operation at fault.
func ParseChain(text string) (Chain, error) {
	calls, err := parseChain(text)
	if err != nil {
		return Chain{}, err
	}
	c := Chain{text: text}
	for _, call := range calls {
		s, err := call.bind()
		if err != nil {
			return Chain{}, err
		}
		c.steps = append(c.steps, s)
	}
	return c, nil
}

// MustParseChain is ParseChain for a text that is known to be a chain: it panics
// where that refuses it.
func MustParseChain(text string) Chain {
	c, err := ParseChain(text)
	if err != nil {
		panic(fmt.Sprintf("layouts: chain %q: %v", text, err))
	}
	return c
}

// String is the text that the chain was read from.
func (c Chain) String() string { return c.text }

// Equal reports whether two chains were read from the same text.
func (c Chain) Equal(d Chain) bool { return c.text == d.text }

// Empty reports whether the chain has no operation.
func (c Chain) Empty() bool { return len(c.steps) == 0 }

// Apply makes a view by the operations of a chain, in order. It refuses what
// PyTorch 1.13 refuses, and errors name the operation at fault. The storage, for
// as_strided, ends with the layout's last element.
func (l Layout) Apply(c Chain) (Layout, error) {
	length := 0
	if _, high := l.Extent(); l.Numel() > 0 {
		length = high + 1
	}
	return l.apply(c, length)
}

func (l Layout) apply(c Chain, storage int) (Layout, error) {
	for _, s := range c.steps {
		var err error
		if l, err = s.op.apply(l, s.args, storage); err != nil {
			return Layout{}, err
		}
	}
	return l, nil
}

// bind finds the operation of a call.
func (c call) bind() (step, error) {
	if slices.Contains(copyingOps, c.name) {
		return step{}, fmt.Errorf("%s copies in PyTorch and is no view operation: a chain is of views only, such as view for reshape and expand for repeat", c.name)
	}
	i := slices.IndexFunc(viewOps, func(op viewOp) bool { return op.name == c.name })
	if i < 0 {
		return step{}, fmt.Errorf("%q is no view operation (known: %s)", c.name, strings.Join(ViewOps(), ", "))
	}
	args, err := viewOps[i].bind(c.args)
	if err != nil {
		return step{}, fmt.Errorf("%s: %w", c.name, err)
	}
	return step{&viewOps[i], args}, nil
}
