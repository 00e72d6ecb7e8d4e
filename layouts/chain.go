package layouts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A viewOp is an operation of a chain. An operation with several lists of parameters has several
// rows.
type viewOp struct {
	name   string
	params []param
	view   func(l Layout, a arguments, storage int) (Layout, error) // views of the same dtype
	site   func(s site, a arguments) (site, error)                  // all others
	// parts makes several tensors; a subscript selects one.
	parts func(l Layout, a arguments) (several, error)
	// copied makes the copy that site plans.
	copied    func(t *Tensor, a arguments) (*Tensor, error)
	attribute bool   // written without parentheses
	conj      bool   // also conjugates complex numbers
	cast      bool   // named after the dtype that it converts to
	since     string // first version of PyTorch that has it, "" where 1.13 has it
}

// A site is a view in the making.
type site struct {
	layout  Layout
	storage int   // in elements
	dtype   DType // Undefined where unknown
	conj    bool  // its complex numbers are seen conjugated
	fresh   bool  // a copy, in its own storage
	why     error // reason for the copy, or nil
}

type param struct {
	name     string
	other    string // PyTorch's name for a list, where it differs
	kind     paramKind
	optional bool // may be left out
	none     bool // may be None, as if left out
	keyword  bool // goes by name only
	// least is the fewest positional integers that form a trailing list, as in view(3, 4). 0 allows
	// none.
	least int
}

type paramKind uint8

const (
	oneInt paramKind = iota
	intList
	intOrList
	aDType
	aFormat
	aNumber  // of a factory: an integer, float, complex number or bool
	aNest    // of a factory: a number, or nested lists of numbers
	anything // does not affect the layout
)

func one(name string) param   { return param{name: name} }
func maybe(name string) param { return param{name: name, optional: true} }
func noned(name string) param { return param{name: name, optional: true, none: true} }
func list(name string) param  { return param{name: name, kind: intList} }
func spread(name string, least int) param {
	return param{name: name, kind: intList, least: least}
}

var (
	dtypeParam  = param{name: "dtype", kind: aDType}
	formatParam = param{name: "memory_format", kind: aFormat, optional: true, none: true,
		keyword: true}
	dimParam = maybe("dim")

	sectionsParam = param{name: "sections", other: "indices", kind: intOrList}
)

// viewOps are the operations of chains, in PyTorch's spelling and argument order. slice is ATen's
// x[start:end:step]. unflatten also takes two or more positional sizes, where PyTorch wants a
// tuple. expand_as and its like take the shape of the other tensor.
var viewOps = sortedOps([]viewOp{
	{name: "adjoint", conj: true, view: func(l Layout, _ arguments, _ int) (Layout, error) {
		return l.matrices("adjoint", false)
	}},
	{name: "as_strided", params: []param{list("size"), list("stride"), noned("storage_offset")},
		view: func(l Layout, a arguments, storage int) (Layout, error) {
			return AsStrided(storage, a.list(0), a.list(1), a.or(2, l.offset))
		}},
	{name: "broadcast_to", params: []param{spread("size", 1)}, view: expand},
	{name: "chunk", params: []param{one("chunks"), dimParam},
		parts: func(l Layout, a arguments) (several, error) {
			return l.chunks(a.int(0), a.or(1, 0))
		}},
	{name: "detach", view: func(l Layout, _ arguments, _ int) (Layout, error) { return l, nil }},
	{name: "diagonal", params: []param{maybe("offset"), maybe("dim1"), maybe("dim2")},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Diagonal(a.or(0, 0), a.or(1, 0), a.or(2, 1))
		}},
	{name: "dsplit", params: []param{sectionsParam}, parts: splitting(3, 2)},
	{name: "expand", params: []param{spread("size", 1)}, view: expand},
	{name: "expand_as", params: []param{spread("other.shape", 1)}, view: expand},
	{name: "flatten", params: []param{maybe("start_dim"), maybe("end_dim")},
		site: func(s site, a arguments) (site, error) {
			return s.flatten(a.or(0, 0), a.or(1, -1))
		}, copied: func(t *Tensor, a arguments) (*Tensor, error) {
			return t.Flatten(a.or(0, 0), a.or(1, -1))
		}},
	{name: "flip", params: []param{spread("dims", 1)},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Flip(a.list(0)...)
		}},
	{name: "hsplit", params: []param{sectionsParam}, parts: splitting(1, 1)},
	{name: "movedim", params: []param{one("source"), one("destination")}, view: moveOne},
	{name: "movedim", params: []param{list("source"), list("destination")}, view: moveSeveral},
	{name: "moveaxis", params: []param{one("source"), one("destination")}, view: moveOne},
	{name: "moveaxis", params: []param{list("source"), list("destination")}, view: moveSeveral},
	{name: "narrow", params: []param{one("dim"), one("start"), one("length")},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Narrow(a.int(0), a.int(1), a.int(2))
		}},
	{name: "permute", params: []param{spread("dims", 1)},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Permute(a.list(0)...)
		}},
	{name: "ravel", site: func(s site, _ arguments) (site, error) { return s.ravel() },
		copied: func(t *Tensor, _ arguments) (*Tensor, error) {
			c, err := t.Contiguous()
			if err != nil {
				return nil, err
			}
			return c.View(t.layout.Numel())
		}},
	{name: "reshape", params: []param{spread("shape", 1)},
		site: func(s site, a arguments) (site, error) {
			return s.reshape("reshape", a.list(0))
		},
		copied: func(t *Tensor, a arguments) (*Tensor, error) { return t.Reshape(a.list(0)...) }},
	{name: "reshape_as", params: []param{spread("other.shape", 1)},
		site: func(s site, a arguments) (site, error) {
			return s.reshape("reshape_as", a.list(0))
		},
		copied: func(t *Tensor, a arguments) (*Tensor, error) { return t.Reshape(a.list(0)...) }},
	{name: "select", params: []param{one("dim"), one("index")},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Select(a.int(0), a.int(1))
		}},
	{name: "slice", params: []param{dimParam, noned("start"), noned("end"), maybe("step")},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Slice(a.or(0, 0), a.or(1, 0), a.or(2, math.MaxInt), a.or(3, 1))
		}},
	{name: "split", params: []param{{name: "split_size", kind: intOrList}, dimParam},
		parts: func(l Layout, a arguments) (several, error) {
			if a.isList(0) {
				return l.splitSizes(a.list(0), a.or(1, 0))
			}
			return l.split(a.int(0), a.or(1, 0))
		}},
	{name: "split_with_sizes", params: []param{list("split_sizes"), dimParam},
		parts: func(l Layout, a arguments) (several, error) {
			return l.splitSizes(a.list(0), a.or(1, 0))
		}},
	{name: "squeeze", params: []param{dimParam},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			if !a.given(0) {
				return l.Squeeze()
			}
			return l.Squeeze(a.int(0))
		}},
	{name: "squeeze", params: []param{spread("dim", 2)}, since: "2.0", view: squeezeAll},
	{name: "swapaxes", params: []param{one("axis0"), one("axis1")}, view: transpose},
	{name: "swapdims", params: []param{one("dim0"), one("dim1")}, view: transpose},
	{name: "t", view: func(l Layout, _ arguments, _ int) (Layout, error) { return l.T() }},
	{name: "tensor_split", params: []param{sectionsParam, dimParam},
		parts: func(l Layout, a arguments) (several, error) {
			if a.isList(0) {
				return l.splitAt(a.list(0), a.or(1, 0))
			}
			return l.sections(a.int(0), a.or(1, 0))
		}},
	{name: "transpose", params: []param{one("dim0"), one("dim1")}, view: transpose},
	{name: "unbind", params: []param{dimParam},
		parts: func(l Layout, a arguments) (several, error) {
			return l.unbind(a.or(0, 0))
		}},
	{name: "unflatten", params: []param{one("dim"), spread("sizes", 2)},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Unflatten(a.int(0), a.list(1)...)
		}},
	{name: "unfold", params: []param{one("dimension"), one("size"), one("step")},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Unfold(a.int(0), a.int(1), a.int(2))
		}},
	{name: "unsqueeze", params: []param{one("dim")},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.Unsqueeze(a.int(0))
		}},
	{name: "view", params: []param{spread("size", 1)},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.View(a.list(0)...)
		}},
	{name: "view", params: []param{dtypeParam}, site: func(s site, a arguments) (site, error) {
		return s.viewAs(a[0].dtype)
	}},
	{name: "view_as", params: []param{spread("other.shape", 1)},
		view: func(l Layout, a arguments, _ int) (Layout, error) {
			return l.View(a.list(0)...)
		}},
	{name: "view_as_real", site: func(s site, _ arguments) (site, error) {
		return s.asReal("view_as_real")
	}},

	{name: "vsplit", params: []param{sectionsParam}, parts: splitting(2, 0)},

	// PyTorch's H and mH also conjugate complex numbers, which moves nothing.
	{name: "T", attribute: true, view: func(l Layout, _ arguments, _ int) (Layout, error) {
		return l.reversed()
	}},
	{name: "mT", attribute: true, view: func(l Layout, _ arguments, _ int) (Layout, error) {
		return l.matrices("mT", false)
	}},
	{name: "H", attribute: true, conj: true, view: func(l Layout, _ arguments,
		_ int) (Layout, error) {
		return l.matrices("H", true)
	}},
	{name: "mH", attribute: true, conj: true,
		view: func(l Layout, _ arguments, _ int) (Layout, error) {
			return l.matrices("mH", false)
		}},
	{name: "real", attribute: true, site: func(s site, _ arguments) (site, error) {
		return s.part("real", 0)
	}},
	{name: "imag", attribute: true, site: func(s site, _ arguments) (site, error) {
		return s.part("imag", 1)
	}},

	{name: "clone", params: []param{formatParam}, site: func(s site, a arguments) (site, error) {
		return s.copyIn("clone", a.format(0))
	},
		copied: func(t *Tensor, a arguments) (*Tensor, error) { return t.CloneIn(a.format(0)) }},
	{name: "contiguous", params: []param{{name: "memory_format", kind: aFormat, optional: true,
		keyword: true}}, site: func(s site, a arguments) (site, error) {
		return s.contiguous(a.formatOr(0, RowMajor))
	},
		copied: func(t *Tensor, a arguments) (*Tensor, error) {
			return t.ContiguousIn(a.formatOr(0, RowMajor))
		}},
	{name: "empty_like", params: []param{formatParam},
		site: func(s site, a arguments) (site, error) {
			return s.copyIn("empty_like", a.format(0))
		},
		copied: func(t *Tensor, a arguments) (*Tensor, error) { return t.EmptyLike(a.format(0)) }},
	{name: "to", params: []param{{name: "dtype", kind: aDType, optional: true, none: true},
		formatParam}, site: func(s site, a arguments) (site, error) {
		return s.to(a.dtype(0, s.dtype), a.format(1))
	}, copied: func(t *Tensor, a arguments) (*Tensor, error) {
		return t.ToIn(a.dtype(0, t.DType()), a.format(1))
	}},
})

func expand(l Layout, a arguments, _ int) (Layout, error) { return l.Expand(a.list(0)...) }
func transpose(l Layout, a arguments, _ int) (Layout, error) {
	return l.Transpose(a.int(0), a.int(1))
}
func splitting(rank, dim int) func(Layout, arguments) (several, error) {
	return func(l Layout, a arguments) (several, error) { return l.splitAlong(rank, dim, a[0]) }
}
func squeezeAll(l Layout, a arguments, _ int) (Layout, error) { return l.squeezeAll(a.list(0)) }
func moveOne(l Layout, a arguments, _ int) (Layout,
	error) {
	return l.Movedim(a.int(0), a.int(1))
}
func moveSeveral(l Layout, a arguments, _ int) (Layout, error) {
	return l.movedims(a.list(0), a.list(1))
}

// sortedOps adds the methods named after dtypes, such as half().
func sortedOps(ops []viewOp) []viewOp {
	for name, dtype := range map[string]DType{"bool": Bool, "byte": Uint8, "char": Int8,
		"short": Int16, "int": Int32, "long": Int64,
		"half": Float16, "bfloat16": BFloat16, "float": Float32, "double": Float64,
		"cfloat": Complex64, "cdouble": Complex128} {
		ops = append(ops, viewOp{name: name, cast: true,
			site: func(s site, _ arguments) (site, error) {
				return s.to(dtype, Preserve)
			},
			copied: func(t *Tensor, _ arguments) (*Tensor, error) { return t.To(dtype) }})
	}
	slices.SortStableFunc(ops, func(a, b viewOp) int {
		return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})
	return ops
}

func isAttribute(name string) bool {
	return slices.ContainsFunc(viewOps, func(op viewOp) bool {
		return op.attribute && op.name == name
	})
}

func (op viewOp) usage() string {
	if op.attribute {
		return op.name
	}
	var names []string
	for _, p := range op.params {
		name := p.name
		switch {
		case p.kind == anything:
			continue
		case p.keyword:
			name += "="
		case p.kind == intList && p.least == 1:
			name += "..."
		case p.kind == intList:
			name = "(" + p.name + "...)"
		case p.other != "":
			name += " or (" + p.other + "...)"
		}
		names = append(names, name)
	}
	text := op.name + "(" + strings.Join(names, ", ") + ")"
	if op.parts != nil {
		text += "[i]"
	}
	if op.since != "" {
		text += " as of " + op.since
	}
	return text
}

// bind binds each argument to its parameter, as PyTorch's argument parser does
// (torch/csrc/utils/python_arg_parser.cpp).
func (op viewOp) bind(args []value) (arguments, error) {
	args = op.gathered(args)
	bound := make(arguments, len(op.params))
	for i, v := range args {
		at := i
		if v.key != "" {
			at = slices.IndexFunc(op.params, func(p param) bool {
				return v.key == p.takes(v) || v.key == "axis" && p.name == "dim" &&
					op.name != "split"
			})
		}
		err := error(nil)
		switch hint := op.byName(v, at); {
		case hint != "":
			err = fmt.Errorf("%s: %s", hint, op.usage())
		case at < 0:
			err = fmt.Errorf("no argument is called %s: %s", v.key, op.usage())
		case at >= len(op.params):
			err = fmt.Errorf("%d arguments do not fit %s", len(args), op.usage())
		case op.params[at].keyword && v.key == "":
			err = fmt.Errorf("%s goes by name: %s", op.params[at].name, op.usage())
		case bound[at].given:
			err = fmt.Errorf("%s is given twice: %s", op.params[at].name, op.usage())
		}
		if err != nil {
			return nil, &placedError{err, v.at}
		}
		if bound[at], err = op.params[at].take(v); err != nil {
			return nil, &placedError{fmt.Errorf("%w: %s", err, op.usage()), v.at}
		}
	}
	for i, p := range op.params {
		if !p.optional && !bound[i].given {
			return nil, fmt.Errorf("%d arguments do not fit %s", len(args), op.usage())
		}
	}
	return bound, nil
}

// gathered makes a list of trailing positional integers, if the last positional parameter is one.
func (op viewOp) gathered(args []value) []value {
	last := len(op.params) - 1
	for last >= 0 && op.params[last].keyword {
		last--
	}
	end := len(args)
	for end > 0 && args[end-1].key != "" {
		end--
	}
	if last < 0 || op.params[last].least == 0 || end-last < op.params[last].least {
		return args
	}
	if args[last].kind != number {
		return args
	}
	all := value{kind: sequence, at: args[last].at, items: args[last:end]}
	return append(append(slices.Clone(args[:last]), all), args[end:]...)
}

// byName returns a hint if a dtype was given for a memory format or the reverse.
func (op viewOp) byName(v value, at int) string {
	takesFormat := slices.ContainsFunc(op.params, func(p param) bool { return p.kind == aFormat })
	if v.kind != word || !takesFormat {
		return ""
	}
	_, noFormat := parseMemoryFormat(v.text)
	_, noDType := ParseDType(v.text)
	kind := anything
	if at >= 0 && at < len(op.params) {
		kind = op.params[at].kind
	}
	switch {
	case noFormat == nil && (v.key == "" || kind == aDType):
		return fmt.Sprintf("%s is a memory format: did you mean memory_format=%[1]s?", v.text)
	case noDType == nil && kind == aFormat && op.params[0].kind == aDType:
		return fmt.Sprintf("%s is a dtype: did you mean dtype=%[1]s?", v.text)
	}
	return ""
}

// wantsDType reports a single name for a dtype parameter, which no other row takes.
func (op viewOp) wantsDType(args []value) bool {
	return len(args) == 1 && args[0].kind == word && len(op.params) == 1 &&
		op.params[0].kind == aDType && (args[0].key == "" || args[0].key == op.params[0].name)
}

func (p param) takes(v value) string {
	if p.other != "" && v.kind == sequence {
		return p.other
	}
	return p.name
}

func (p param) take(v value) (argument, error) {
	if v.kind == none && p.none {
		return argument{given: true, none: true}, nil
	}
	switch p.kind {
	case aDType, aFormat:
		return p.takeWord(v)
	case aNumber, aNest, anything:
		return argument{given: true, value: v}, nil
	}
	lists, single := p.kind != oneInt, p.kind != intList
	switch {
	case v.kind == word || v.kind == literal:
		return argument{}, fmt.Errorf("argument %q is not an integer", v.text)
	case v.kind == number && single:
		return argument{given: true, ints: []int{v.n}}, nil
	case v.kind == number:
		return argument{}, fmt.Errorf("%s is %s, want a tuple or list of integers such as (%[2]s,)",
			p.name, v)
	case lists && v.kind == none:
		return argument{}, fmt.Errorf("%s is None, want a tuple or list of integers", p.name)
	case !lists:
		return argument{}, fmt.Errorf("%s is %s, want one integer", p.name, v)
	}
	ints := make([]int, len(v.items))
	for i, item := range v.items {
		if item.kind != number {
			return argument{}, fmt.Errorf("%s has %s in it, want integers only", p.name, item)
		}
		ints[i] = item.n
	}
	return argument{given: true, list: true, ints: ints}, nil
}

func (p param) takeWord(v value) (a argument, err error) {
	a.given = true
	switch {
	case v.kind != word && p.kind == aDType:
		return a, fmt.Errorf("%s is %s, want a dtype such as torch.float16", p.name, v)
	case v.kind != word:
		return a, fmt.Errorf("%s is %s, want a memory format such as torch.channels_last", p.name,
			v)
	case p.kind == aDType:
		if python, ok := pythonTypes[v.text]; ok {
			a.dtype = python
			return a, nil
		}
		if a.dtype, err = ParseDType(v.text); err != nil {
			err = fmt.Errorf("%q: %w", v.text, err)
		}
		return a, err
	}
	a.format, err = parseMemoryFormat(v.text)
	return a, err
}

// pythonTypes are Python's types as dtypes. PyTorch's own types of these names differ: torch.float
// is float32 (torch/csrc/utils/python_arg_parser.h, toScalarType).
var pythonTypes = map[string]DType{"float": Float64, "int": Int64, "bool": Bool,
	"complex": Complex128}

type argument struct {
	given, none, list bool
	ints              []int
	dtype             DType
	format            MemoryFormat
	value             value // of a factory
}

type arguments []argument

func (a arguments) int(i int) int     { return a[i].ints[0] }
func (a arguments) list(i int) []int  { return a[i].ints }
func (a arguments) isList(i int) bool { return a[i].list }
func (a arguments) given(i int) bool  { return a[i].given }

func (a arguments) or(i, otherwise int) int {
	if !a[i].given || a[i].none {
		return otherwise
	}
	return a[i].ints[0]
}

func (a arguments) formatOr(i int, otherwise MemoryFormat) MemoryFormat {
	if !a[i].given || a[i].none {
		return otherwise
	}
	return a[i].format
}

func (a arguments) format(i int) MemoryFormat { return a.formatOr(i, Preserve) }

func (a arguments) dtype(i int, otherwise DType) DType {
	if !a[i].given || a[i].none {
		return otherwise
	}
	return a[i].dtype
}

// copyingOps look like views and copy.
var copyingOps = []string{"repeat", "tile", "roll", "repeat_interleave"}

// ViewOps returns the operations, such as "narrow(dim, start, length)", in alphabetic order,
// without those named after dtypes.
func ViewOps() []string {
	var usages []string
	for _, op := range viewOps {
		if !op.cast {
			usages = append(usages, op.usage())
		}
	}
	return usages
}

// A Chain is view operations with their arguments, in order. The zero Chain is empty.
type Chain struct {
	text  string
	steps []step
}

// A step is an operation or a subscript. The subscript of an operation that makes several tensors
// is part of its step.
type step struct {
	op    *viewOp
	args  arguments
	index []value
	at    int // byte offset in the text
}

// ParseChain reads a chain of operations spelled as PyTorch's methods, such as
// "transpose(0,1).narrow(1,0,100)" or "x.t()[:, ::2]". Arguments are Python's, by place or by name:
// integers, None, tuples and lists of integers, dtypes and memory formats. (3) is 3, and (3,) and
// [3] are lists. Spaces are free, and the empty text is the empty chain.
//
// ParseChain refuses what PyTorch 1.13 refuses for every layout. Errors name the operation.
func ParseChain(text string) (Chain, error) {
	calls, err := parseChain(text)
	if err != nil {
		return Chain{}, err
	}
	steps, err := stepsOf(calls)
	if err != nil {
		return Chain{}, err
	}
	return Chain{text, steps}, nil
}

func stepsOf(calls []call) (steps []step, err error) {
	for _, c := range calls {
		if last := len(steps) - 1; c.form == subscript && last >= 0 && steps[last].wantsIndex() {
			steps[last].index = c.args
			continue
		}
		s := step{index: c.args}
		if c.form != subscript {
			if s, err = c.bind(); err != nil {
				return nil, &placedError{err, c.at}
			}
		}
		s.at = c.at
		steps = append(steps, s)
	}
	return steps, nil
}

func (s step) wantsIndex() bool { return s.op != nil && s.op.parts != nil && s.index == nil }

// MustParseChain is ParseChain, and panics on an error.
func MustParseChain(text string) Chain {
	c, err := ParseChain(text)
	if err != nil {
		panic(fmt.Sprintf("layouts: chain %q: %v", text, err))
	}
	return c
}

// String returns the text of the chain.
func (c Chain) String() string { return c.text }

// Equal reports whether two chains were read from the same text.
func (c Chain) Equal(d Chain) bool { return c.text == d.text }

// Empty reports whether the chain has no operation.
func (c Chain) Empty() bool { return len(c.steps) == 0 }

// Apply returns the view that the operations make, in order. It refuses what PyTorch 1.13 refuses,
// and operations that need a dtype; [Layout.ApplyTo] takes those. An operation that copies is a
// [CopyError]. Errors name the operation. For as_strided, the storage ends with the layout's last
// element.
func (l Layout) Apply(c Chain) (Layout, error) {
	view, _, err := l.ApplyTo(c, Undefined)
	return view, err
}

// ApplyTo is Apply for elements of a dtype. It also returns the view's dtype, which view(dtype),
// real and their like change. The view counts elements of that dtype.
func (l Layout) ApplyTo(c Chain, dtype DType) (Layout, DType, error) {
	s := l.site(dtype)
	for _, step := range c.steps {
		var err error
		if s, err = step.apply(s); err == nil && s.fresh {
			err = &CopyError{step.op.name, s.why}
		}
		if err != nil {
			return Layout{}, Undefined, err
		}
	}
	return s.layout, s.dtype, nil
}

func (l Layout) site(dtype DType) site {
	s := site{layout: l, dtype: dtype}
	if _, high := l.Extent(); l.Numel() > 0 {
		s.storage = high + 1
	}
	return s
}

// A CopyError says that an operation copies where a view is wanted.
type CopyError struct {
	Op  string
	Why error // nil where it always copies
}

// Error names the operation and the reason.
func (e *CopyError) Error() string {
	why := ""
	if e.Why != nil {
		why = fmt.Sprintf(", since %v", e.Why)
	}
	return fmt.Sprintf("%s copies here%s; only views can be walked", e.Op, why)
}

// Unwrap returns Why.
func (e *CopyError) Unwrap() error { return e.Why }

func (s step) apply(from site) (site, error) {
	to, err := from, error(nil)
	switch {
	case s.op == nil:
		to.layout, err = from.layout.subscript(s.index)
	case s.op.parts != nil:
		to.layout, err = s.part(from.layout)
	case s.op.view != nil:
		to.layout, err = s.op.view(from.layout, s.args, from.storage)
		to.conj = from.conj != (s.op.conj && from.dtype.kind() == kindComplex)
	default:
		if to, err = s.op.site(from, s.args); err != nil || !to.fresh {
			return to, err
		}
		// PyTorch would have to allocate the copy.
		if _, err = to.layout.bytes(to.dtype); err != nil {
			return to, fmt.Errorf("%s: %w", s.op.name, err)
		}
	}
	return to, err
}

// bind finds the first row that takes the arguments.
func (c call) bind() (step, error) {
	if slices.Contains(copyingOps, c.name) {
		return step{}, fmt.Errorf("%s copies in PyTorch: a chain has views only, such as expand "+
			"for repeat", c.name)
	}
	var refusal error
	for i, op := range viewOps {
		if op.name != c.name {
			continue
		}
		switch {
		case op.attribute && c.form == called:
			return step{}, fmt.Errorf("%s is written without parentheses", c.name)
		case !op.attribute && c.form == attribute:
			return step{}, fmt.Errorf("want arguments: %s", op.usage())
		}
		args, err := op.bind(c.args)
		if err == nil {
			return step{op: &viewOps[i], args: args}, nil
		}
		if refusal == nil || op.wantsDType(c.args) {
			refusal = fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if refusal != nil {
		return step{}, refusal
	}
	return step{}, fmt.Errorf("%q is not a view operation; %s", c.name, didYouMean(c.name))
}
