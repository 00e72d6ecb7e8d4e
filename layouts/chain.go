package layouts

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A viewOp is an operation of a chain, or a function that makes a tensor. One with several lists of
// parameters has several rows.
type viewOp struct {
	name      string
	params    []param
	does      reflect.Value // see row
	several   bool          // makes several tensors; a subscript selects one
	attribute bool          // written without parentheses
	conj      bool          // also conjugates complex numbers
	cast      bool          // named after the dtype that it converts to
}

// A site is a view in the making.
type site struct {
	layout  Layout
	storage int    // in elements
	dtype   DType  // Undefined where unknown
	walk    bool   // an order of access, in which flip does not copy
	conj    bool   // its complex numbers are seen conjugated
	fresh   bool   // a copy, in its own storage
	blank   bool   // elements of the copy are unwritten
	source  Layout // the elements that the copy has, in row-major order
	why     error  // reason for the copy, or nil
}

type param struct {
	name     string
	usage    string // as ViewOps writes it
	other    string // PyTorch's name for a list, where it differs
	kind     paramKind
	value    int  // of an integer that is left out
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
	aNumber  // of a factory: a number, or nested lists of numbers
	anything // does not affect the layout
)

// row returns an operation by its signature, and by what it does. That is a function of a Layout or
// a site, and of the arguments as an int, []int, DType, memoryFormat, value or argument. It makes a
// Layout, a site or several Layouts. A factory makes a made of arguments alone. A signature has no
// parentheses for an attribute. Its parameters are
//
//	dim, dim=0, start=None           an integer
//	(size...), (size...)+, size...   a list, or also two or more integers, or one or more
//	sections or (indices...)         an integer or a list
//	#end, #step=1                    of a factory: a number, or nested lists of numbers
//	dtype, *memory_format=None, *out=  one that goes by name only
func row(signature string, does any) viewOp {
	name, list, called := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	op := viewOp{name: name, attribute: !called, does: reflect.ValueOf(does)}
	op.several = op.does.Type().Out(0) == reflect.TypeFor[several]()
	for text := range strings.SplitSeq(list, ", ") {
		if text != "" {
			op.params = append(op.params, parameter(text))
		}
	}
	return op
}

// invoke calls what an operation does on a view, or on nothing, with the arguments.
func invoke[T any](op *viewOp, a arguments, on ...any) (made T, err error) {
	takes, call, in := op.does.Type(), op.does.Call, []reflect.Value{}
	for _, view := range on {
		in = append(in, reflect.ValueOf(view))
	}
	for i := range takes.NumIn() - len(on) {
		in = append(in, a[i].as(takes.In(i+len(on))))
	}
	if takes.IsVariadic() {
		call = op.does.CallSlice
	}
	out := call(in)
	err, _ = out[1].Interface().(error)
	return out[0].Interface().(T), err
}

func (a argument) as(of reflect.Type) reflect.Value {
	switch of {
	case reflect.TypeFor[int]():
		return reflect.ValueOf(a.ints[0])
	case reflect.TypeFor[[]int]():
		return reflect.ValueOf(a.ints)
	case reflect.TypeFor[DType]():
		return reflect.ValueOf(a.dtype)
	case reflect.TypeFor[memoryFormat]():
		return reflect.ValueOf(a.format)
	case reflect.TypeFor[value]():
		return reflect.ValueOf(a.value)
	}
	return reflect.ValueOf(a)
}

func parameter(text string) (p param) {
	text, p.keyword = strings.CutPrefix(text, "*")
	text, value, optional := strings.Cut(text, "=")
	p.usage = strings.Trim(text, "#+")
	if p.keyword {
		p.usage += "="
	}
	p.optional, p.none = optional, value == "None"
	p.value, _ = strconv.Atoi(value)
	name, list := strings.CutSuffix(text, "...")
	switch {
	case list:
		text, p.kind, p.least = name, intList, 1
	case text[0] == '(':
		name, several := strings.CutSuffix(text[1:], "+")
		text, p.kind = strings.TrimSuffix(name, "...)"), intList
		if several {
			p.least = 2
		}
	case text[0] == '#':
		text, p.kind = text[1:], aNumber
	case strings.HasSuffix(text, "...)"):
		text, p.other, _ = strings.Cut(strings.TrimSuffix(text, "...)"), " or (")
		p.kind = intOrList
	default:
		p.kind = map[string]paramKind{"dtype": aDType, "memory_format": aFormat}[text]
		if p.keyword && p.kind == oneInt {
			p.kind = anything
		}
	}
	p.name = text
	return p
}

// viewOps are the operations of chains, in PyTorch's spelling and argument order. slice is ATen's
// x[start:end:step]. unflatten also takes two or more positional sizes, where PyTorch wants a
// tuple. expand_as and its like take the shape of the other tensor. PyTorch's H and mH also
// conjugate complex numbers, which moves nothing.
var viewOps = sortedOps([]viewOp{
	conjugating("adjoint()", matrices("adjoint", false)),
	row("as_strided((size...), (stride...), storage_offset=None)", site.asStrided),
	row("broadcast_to(size...)", Layout.Expand),
	row("chunk(chunks, dim=0)", Layout.chunks),
	row("detach()", func(l Layout) (Layout, error) { return l, nil }),
	row("diagonal(offset=0, dim1=0, dim2=1)", Layout.diagonal),
	row("dsplit(sections or (indices...))", splitting(3, 2)),
	row("expand(size...)", Layout.Expand),
	row("expand_as(other.shape...)", Layout.Expand),
	row("flatten(start_dim=0, end_dim=-1)", site.flatten),
	row("flip(dims...)", site.flip),
	row("hsplit(sections or (indices...))", splitting(1, 1)),
	row("movedim(source, destination)", Layout.movedims),
	row("movedim((source...), (destination...))", Layout.movedims),
	row("moveaxis(source, destination)", Layout.movedims),
	row("moveaxis((source...), (destination...))", Layout.movedims),
	row("narrow(dim, start, length)", Layout.Narrow),
	row("permute(dims...)", Layout.Permute),
	row("ravel()", site.ravel),
	row("repeat(sizes...)", site.repeat),
	row("reshape(shape...)", site.reshape),
	row("reshape_as(other.shape...)", site.reshape),
	row("select(dim, index)", Layout.selected),
	row("slice(dim=0, start=None, end=None, step=1)",
		func(l Layout, dim, start int, end argument, step int) (Layout, error) {
			return l.Slice(dim, start, end.or(math.MaxInt), step)
		}),
	row("split(split_size or (split_size...), dim=0)",
		func(l Layout, size argument, dim int) (several, error) {
			if size.list {
				return l.splitSizes(size.ints, dim)
			}
			return l.split(size.ints[0], dim)
		}),
	row("split_with_sizes((split_sizes...), dim=0)", Layout.splitSizes),
	row("squeeze(dim=)", func(l Layout, dim argument) (Layout, error) {
		if !dim.given {
			return l.squeeze(nest.UpTo(l.Rank()))
		}
		d, err := l.dim("squeeze", dim.ints[0])
		if err != nil {
			return l, err
		}
		return l.squeeze([]int{d})
	}),
	row("squeeze((dim...)+)", func(l Layout, dims []int) (Layout, error) {
		dims, err := l.dims("squeeze", true, dims...)
		if err != nil {
			return l, err
		}
		return l.squeeze(dims)
	}),
	row("swapaxes(axis0, axis1)", Layout.Transpose),
	row("swapdims(dim0, dim1)", Layout.Transpose),
	row("t()", Layout.t),
	row("tensor_split(sections or (indices...), dim=0)",
		func(l Layout, where argument, dim int) (several, error) {
			if where.list {
				return l.splitAt(where.ints, dim)
			}
			return l.sections(where.ints[0], dim)
		}),
	row("transpose(dim0, dim1)", Layout.Transpose),
	row("unbind(dim=0)", Layout.unbind),
	row("unflatten(dim, (sizes...)+)", Layout.unflatten),
	row("unfold(dimension, size, step)", Layout.unfold),
	row("unsqueeze(dim)", Layout.unsqueeze),
	row("view(size...)", Layout.View),
	row("view(dtype)", site.viewAs),
	row("view_as(other.shape...)", Layout.View),
	row("view_as_real()", func(s site) (site, error) { return s.asReal("view_as_real") }),
	row("vsplit(sections or (indices...))", splitting(2, 0)),

	row("T", Layout.reversed),
	row("mT", matrices("mT", false)),
	conjugating("H", matrices("H", true)),
	conjugating("mH", matrices("mH", false)),
	row("real", func(s site) (site, error) { return s.part("real", 0) }),
	row("imag", func(s site) (site, error) { return s.part("imag", 1) }),

	row("clone(*memory_format=None)", func(s site, f memoryFormat) (site, error) {
		return s.copyIn("clone", f)
	}),
	row("contiguous(*memory_format=)", site.contiguous),
	row("empty_like(*memory_format=None)", func(s site, f memoryFormat) (site, error) {
		s, err := s.copyIn("empty_like", f)
		s.blank = true
		return s, err
	}),
	row("to(dtype=None, *memory_format=None)",
		func(s site, dtype argument, f memoryFormat) (site, error) {
			return s.to(dtype.dtypeOr(s.dtype), f)
		}),
})

func conjugating(signature string, view func(Layout) (Layout, error)) viewOp {
	op := row(signature, view)
	op.conj = true
	return op
}

func splitting(rank, dim int) func(Layout, argument) (several, error) {
	return func(l Layout, where argument) (several, error) { return l.splitAlong(rank, dim, where) }
}

// sortedOps adds the methods that dtypes' first other names are, such as half().
func sortedOps(ops []viewOp) []viewOp {
	for d := range Undefined {
		if len(dtypes[d].others) == 0 {
			continue
		}
		op := row(dtypes[d].others[0]+"()", func(s site) (site, error) { return s.to(d, preserve) })
		op.cast = true
		ops = append(ops, op)
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
		if p.kind != anything {
			names = append(names, p.usage)
		}
	}
	text := op.name + "(" + strings.Join(names, ", ") + ")"
	if op.several {
		text += "[i]"
	}
	return text
}

// bind binds each argument to its parameter, as PyTorch's argument parser does
// (torch/csrc/utils/python_arg_parser.cpp).
func (op viewOp) bind(c call) (arguments, error) {
	switch {
	case op.attribute && c.form == called:
		return nil, fmt.Errorf("%s is written without parentheses", op.name)
	case !op.attribute && c.form == attribute:
		return nil, fmt.Errorf("want arguments: %s", op.usage())
	}
	args := op.gathered(c.args)
	bound := make(arguments, len(op.params))
	for i, p := range op.params {
		bound[i] = p.absent()
	}
	for i, v := range args {
		at := i
		if v.key != "" {
			at = slices.IndexFunc(op.params, func(p param) bool {
				return v.key == p.takes(v) || v.key == "axis" && p.name == "dim" &&
					op.name != "split"
			})
		}
		err := error(nil)
		switch {
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

func (p param) takes(v value) string {
	if p.other != "" && v.kind == sequence {
		return p.other
	}
	return p.name
}

// absent is the argument that is left out, or None.
func (p param) absent() argument {
	a := argument{absent: true, ints: []int{p.value}, value: value{kind: number, n: p.value}}
	if p.none {
		a.format = preserve
	}
	return a
}

func (p param) take(v value) (argument, error) {
	if v.kind == none && p.none {
		a := p.absent()
		a.given = true
		return a, nil
	}
	switch p.kind {
	case aDType, aFormat:
		return p.takeWord(v)
	case aNumber, anything:
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
	given  bool
	absent bool // or None
	list   bool
	ints   []int
	dtype  DType
	format memoryFormat
	value  value // of a factory
}

type arguments []argument

func (a argument) or(otherwise int) int {
	if a.absent {
		return otherwise
	}
	return a.ints[0]
}

func (a argument) dtypeOr(otherwise DType) DType {
	if a.absent {
		return otherwise
	}
	return a.dtype
}

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
// ParseChain refuses what PyTorch 1.13 refuses for every layout. Errors begin with the place of the
// fault, such as "character 14".
func ParseChain(text string) (Chain, error) {
	p := newParser(text)
	calls, err := p.chain()
	var steps []step
	if err == nil {
		steps, err = stepsOf(calls)
	}
	if err != nil {
		return Chain{}, atPlace(p.text, err)
	}
	return Chain{text, steps}, nil
}

func stepsOf(calls []call) (steps []step, err error) {
	for _, c := range calls {
		if last := len(steps) - 1; c.form == subscript && last >= 0 && steps[last].wantsIndex() {
			steps[last].index = c.args
			continue
		}
		s := step{at: c.at, index: c.args}
		if c.form != subscript {
			s.index = nil
			if s.op, s.args, err = fitting(viewOps, c); err != nil {
				return nil, err
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (s step) wantsIndex() bool { return s.op != nil && s.op.several && s.index == nil }

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

// Empty reports whether the chain has no operation.
func (c Chain) Empty() bool { return len(c.steps) == 0 }

// Apply returns the view that the operations make, in order. It refuses what PyTorch 1.13 refuses,
// and operations that need a dtype; [Layout.ApplyTo] takes those. An operation that copies is a
// [ErrCopies]. Errors name the operation. For as_strided, the storage ends with the layout's last
// element.
func (l Layout) Apply(c Chain) (Layout, error) {
	view, _, err := l.ApplyTo(c, Undefined)
	return view, err
}

// ApplyTo is Apply for elements of a dtype. It also returns the view's dtype, which view(dtype),
// real and their like change. The view counts elements of that dtype.
func (l Layout) ApplyTo(c Chain, dtype DType) (Layout, DType, error) {
	s := l.site(dtype)
	s.walk = true
	for _, step := range c.steps {
		var err error
		if s, err = step.apply(s); err == nil && s.fresh {
			err = copies(step.op.name, s.why)
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

// ErrCopies is wrapped by the error of an operation that copies where only a view can be walked.
var ErrCopies = errors.New("copies here")

func copies(op string, why error) error {
	if why == nil {
		return fmt.Errorf("%s %w; only views can be walked", op, ErrCopies)
	}
	return fmt.Errorf("%s %w, since %w; only views can be walked", op, ErrCopies, why)
}

func (s step) apply(from site) (to site, err error) {
	to = from
	switch {
	case s.op == nil:
		to.layout, err = from.layout.subscript(s.index)
	case s.op.several:
		to.layout, err = s.part(from.layout)
	default:
		if s.op.does.Type().In(0) == reflect.TypeFor[Layout]() {
			to.layout, err = invoke[Layout](s.op, s.args, from.layout)
		} else {
			to, err = invoke[site](s.op, s.args, from)
		}
		if err != nil {
			return site{}, err
		}
		to.conj = to.conj != (s.op.conj && from.dtype.kind() == kindComplex)
		// PyTorch would have to allocate the copy.
		if to.fresh {
			if _, err = to.layout.bytes(to.dtype); err != nil {
				err = fmt.Errorf("%s: %w", s.op.name, err)
			}
		}
	}
	return to, err
}

// fitting returns the first row of the call's name that takes its arguments.
func fitting(rows []viewOp, c call) (*viewOp, arguments, error) {
	var refusal error
	for i, op := range rows {
		if op.name != c.name {
			continue
		}
		args, err := op.bind(c)
		switch {
		case err == nil:
			return &rows[i], args, nil
		case refusal == nil:
			refusal = err
		default:
			refusal = fmt.Errorf("%w; or %w", refusal, err)
		}
	}
	if refusal == nil {
		refusal = errors.New("not a view operation (want one such as permute, narrow, reshape " +
			"or [:, ::2])")
	}
	return nil, nil, &placedError{fmt.Errorf("%s: %w", c.name, refusal), c.at}
}
