package csource

import (
	"fmt"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// An lvalue is what an expression such as a[i][j], body[i].position[k].x or *(p + 1) refers to: a number, a struct, or an
// array of these. A pointer is the lvalue that it points to.
type lvalue struct {
	array    int     // its place in File.Arrays, -1 where it is in none
	variable bool    // it begins at a variable that is no array, of which numbers live in registers
	steps    []step  // by subscripts and pointers, in the order of the text
	moves    bool    // the last step ends here, so that a pointer to it can be moved by another subscript
	offset   int     // bytes of the fields from where their structs begin
	extents  []int   // of it, none if it is no array
	of       cc.Type // of one of its elements, or of itself
	bits     bool    // it is a bit-field
	declared string  // what it begins at, with its extents, and its fields
	failed   *Error  // why it is not understood, unless it is in a register
}

// A step chooses one of so many, which lie so far apart.
type step struct {
	extent, bytes int
	alone         bool // no subscript but a pointer, to something that is no element of an array
	at            piece
	by            []move // what at is the sum of
}

// A move is an integer that is added to an index, or subtracted from it.
type move struct {
	e    *expr
	i    integer
	sign int
}

// bytes are those of an lvalue.
func (l *lvalue) bytes() int {
	bytes := int(l.of.Size())
	for _, n := range l.extents {
		bytes *= n
	}
	return bytes
}

// address is a pointer to an lvalue.
func (l lvalue) address() lvalue {
	if !l.moves {
		l.steps = append(slices.Clone(l.steps), step{extent: 1, bytes: l.bytes(), alone: true, at: constant(0)})
		l.moves = true
	}
	return l
}

// decayed is a pointer to the first element of an array.
func (l lvalue) decayed() lvalue {
	extent := l.extents[0]
	l.extents = l.extents[1:]
	l.steps = append(slices.Clone(l.steps), step{extent: extent, bytes: l.bytes(), at: constant(0)})
	l.moves = true
	return l
}

// register tells whether it is a number of a variable that is no array, which lives in a register as other variables do.
func (l *lvalue) register() bool {
	return l.variable && len(l.extents) == 0 && cc.IsArithmeticType(l.of) && !slices.ContainsFunc(l.steps, func(s step) bool { return !s.alone })
}

// stored tells whether the expression refers to an element of an array, to a field, or to what a pointer points to.
func (e *expr) stored() bool { return e.op == opIndex || e.op == opField || e.op == opDeref }

// path is what the subscripts and fields of an expression begin at, and these.
func (e *expr) path() (base *expr, steps []*expr) {
	for base = e; base.stored(); base = base.args[0] {
		steps = append(steps, base)
	}
	slices.Reverse(steps)
	return base, steps
}

// isScalar tells whether the steps lead to a number in a struct that is a variable, which lives
// in a register as other variables do.
func isScalar(base *expr, steps []*expr) bool {
	if base.op != opVar || base.decl == nil || base.decl.Type() == nil || !isStruct(base.decl.Type()) {
		return false
	}
	if len(steps) == 0 || slices.ContainsFunc(steps, func(s *expr) bool { return s.op != opField }) {
		return false
	}
	return cc.IsArithmeticType(steps[len(steps)-1].field.Type())
}

// read builds the read of an array, behind those of tables in its subscripts.
func (b *builder) read(e *expr) *Error {
	if err := b.subscripts(e); err != nil {
		return err
	}
	return b.reference(e, nest.Read)
}

// reference builds an access to an array.
func (b *builder) reference(e *expr, kind nest.Kind) *Error {
	base, _ := e.path()
	before := b.tables
	b.tables = !b.reads(base)
	l, err := b.lvalue(e, 0)
	b.tables = before
	if err == nil {
		err = b.isNumber(e, l)
	}
	if err != nil {
		return err.of(e)
	}
	if l.register() {
		for _, s := range l.steps {
			if failed := b.within(e, s.at, 0, 0, "it lies outside the array that the pointer points into"); failed != nil {
				return notInteger(e, false, "%v", failed)
			}
		}
		return nil
	}
	indices := make([]piece, len(l.steps))
	for i, s := range l.steps {
		if err := b.unwrapped(s); err != nil {
			return err
		}
		indices[i] = s.at
	}
	return b.place(e, kind, l, indices, nil)
}

// of is the error about an expression, if it is about none yet.
func (err *Error) of(e *expr) *Error {
	if err.Expr == "" {
		err.Pos, err.Expr = e.pos(), e.text()
	}
	return err
}

// wrong is an error about an expression that whoever asked has at hand.
func wrong(why string, args ...any) *Error { return &Error{Why: fmt.Sprintf(why, args...)} }

// isNumber refuses an lvalue that is none.
func (b *builder) isNumber(e *expr, l lvalue) *Error {
	switch {
	case l.register():
		return nil
	case l.failed != nil:
		return l.failed
	case len(l.extents) == 0 && l.bits:
		return wrong("a bit-field is not understood")
	case len(l.extents) == 0 && isStruct(l.of):
		return whole(e, l.of)
	case len(l.extents) == 0 && slices.Contains(elements, l.of.Kind()) && l.array >= 0:
		return nil
	case len(l.extents) > 0 && e.op != opField:
		if l.array >= 0 && len(l.steps)+len(l.extents) == len(b.file.Arrays[l.array].Extents) {
			a := b.file.Arrays[l.array]
			return wrong("%d of the %d subscripts of %s (a pointer) is not understood: write them all where it is used", len(l.steps), len(a.Extents), a.Name)
		}
		return wrong("an array without all of its subscripts (a pointer) is not understood: write them")
	}
	of := l.of
	if e.op == opField {
		of = e.field.Type()
	}
	return wrong("it is of type %s, and no number", of)
}

// lvalue is what an expression refers to, which has so many subscripts behind it.
func (b *builder) lvalue(e *expr, subscripts int) (l lvalue, err *Error) {
	switch e.op {
	case opVar:
		return b.root(e, subscripts)
	case opIndex:
		if l, err = b.pointer(e.args[0], subscripts+1); err != nil {
			return l, err
		}
		return b.moved(l, e.args[1], 1)
	case opDeref:
		return b.pointer(e.args[0], subscripts+1)
	case opField:
		if l, err = b.lvalue(e.args[0], 0); err != nil {
			return l, err
		}
		return b.field(l, e.field), nil
	case opNothing:
		return l, notInteger(e, false, "%s", e.why)
	}
	return l, wrong("%s", noArray(e, subscripts))
}

// root is a variable.
func (b *builder) root(e *expr, subscripts int) (lvalue, *Error) {
	v := e.decl
	if number, known := b.arrays[v]; known {
		a := b.file.Arrays[number]
		l := lvalue{array: number, variable: !isArray(v), extents: a.Extents, of: v.Type(), declared: a.declared()}
		if isArray(v) {
			l.of = elementOf(arrayType(v))
		}
		return l, nil
	}
	failed := b.unread[v]
	if failed == nil && len(b.calls) > 0 && isPlaced(v) {
		failed = refuse(v, "an array of a function that is called is not understood: declare it before the functions, or pass it")
	}
	switch {
	case v == nil || v.Type() == nil:
	case isArray(v) && failed != nil:
		return lvalue{}, failed
	case !isArray(v) && (isStruct(v.Type()) || cc.IsArithmeticType(v.Type())):
		return lvalue{array: -1, variable: true, of: v.Type(), declared: v.Name(), failed: failed}, nil
	}
	return lvalue{}, wrong("%s", noArray(e, subscripts))
}

// field is a field of a struct.
func (b *builder) field(l lvalue, f *cc.Field) lvalue {
	l.offset += int(f.Offset()) // also of structs without a name around it
	l.declared += "." + f.Name()
	l.moves, l.bits = false, f.IsBitfield()
	var understood bool
	if l.extents, l.of, understood = b.form(f.Type()); !understood {
		l.extents, l.of = nil, f.Type()
	}
	for _, n := range l.extents {
		l.declared += fmt.Sprintf("[%d]", n)
	}
	return l
}

// form is what a type is an array of, and its extents, none if it is no array.
func (b *builder) form(t cc.Type) (extents []int, of cc.Type, ok bool) {
	for {
		array, is := t.(*cc.ArrayType)
		if !is {
			return extents, t, true
		}
		n, known := b.extent(array)
		if !known || n < 1 {
			return nil, t, false
		}
		extents, t = append(extents, n), array.Elem()
	}
}

// elementOf is the type of the elements of an array of any extents.
func elementOf(array *cc.ArrayType) cc.Type {
	for {
		inner, is := array.Elem().(*cc.ArrayType)
		if !is {
			return array.Elem()
		}
		array = inner
	}
}

// whole refuses a struct that is used as one.
func whole(e *expr, of cc.Type) *Error {
	return notInteger(e, false, "a whole %s is not understood: write its fields one by one", typeName(of))
}

// isStruct tells whether a type is a struct or a union.
func isStruct(t cc.Type) bool { return t.Kind() == cc.Struct || t.Kind() == cc.Union }

// place builds an access for each case of its subscripts.
func (b *builder) place(e *expr, kind nest.Kind, l lvalue, rest []piece, indices []nest.Affine) *Error {
	if len(rest) == 0 {
		return b.access(e, kind, l, indices)
	}
	p := rest[0]
	if p.kind == leaf {
		return b.place(e, kind, l, rest[1:], append(slices.Clone(indices), p.affine))
	}
	c, err := p.choice()
	if err != nil {
		return notInteger(e, false, "%v", err)
	}
	arm := func(i int) func() *Error {
		return func() *Error {
			return b.place(e, kind, l, append([]piece{c.args[i]}, rest[1:]...), indices)
		}
	}
	return b.when(c.when, arm(0), arm(1))
}

// textOf is the text of an expression, of which there may be many accesses.
func (b *builder) textOf(e *expr) string {
	text, known := b.texts[e.node]
	if !known {
		text = e.text()
		b.texts[e.node] = text
	}
	return text
}

func (b *builder) access(e *expr, kind nest.Kind, l lvalue, indices []nest.Affine) *Error {
	a := b.file.Arrays[l.array]
	at := nest.Constant(l.offset)
	acc := access{Access: Access{Array: l.array, Statement: b.statement}}
	if !b.dry {
		acc.Pos, acc.Text = e.pos(), b.textOf(e)
		tokens := cc.NodeTokens(e.node)
		last := tokens[len(tokens)-1]
		acc.end, acc.last = place(last), last.SrcStr()
	}
	for d := len(indices) - 1; d >= 0; d-- {
		var err error
		if at, err = plus(at, l.steps[d].bytes, indices[d]); err != nil {
			return notInteger(e, false, "%v", err)
		}
		if b.dry {
			continue // nobody asks
		}
		extent := l.steps[d].extent
		below, err1 := plus(nest.Constant(-1), -1, indices[d])
		above, err2 := plus(nest.Constant(-extent), 1, indices[d])
		if err1 != nil || err2 != nil {
			return notInteger(e, false, "%v", errRange)
		}
		acc.checks = append(acc.checks, check{nest.Condition{{below}, {above}}, &Error{Pos: acc.Pos, Expr: acc.Text, Why: l.outside(e, d) + b.site()}})
	}
	base, err := plus(nest.Constant(int(a.Base)), 1, nest.Constant(at.Const))
	if err != nil || base.Const < 0 {
		// No index that is in bounds here comes from such a constant alone, but
		// with the variables it may: keep the address in 64 bits.
		low := notInteger(e, false, "its address without the variables is too far below 0")
		low.below = uint64(max(-base.Const, 0))
		return low
	}
	strides := at.Coef
	if strides == nil {
		strides = []int{}
	}
	b.emit(nest.Operand{Tensor: a.Name, Kind: kind, Base: uint64(base.Const), Width: int(l.of.Size()), Strides: strides}, acc)
	return nil
}

// outside says that a step of an expression leads out of its extent.
func (l *lvalue) outside(e *expr, d int) string {
	s := l.steps[d]
	if s.alone {
		return "it lies outside the object that the pointer points to, which is not an array element"
	}
	nth, of := 0, 0
	for i, s := range l.steps {
		if !s.alone {
			of++
			if i < d {
				nth++
			}
		}
	}
	all := ""
	base, _ := e.path()
	if base.assigns() { // as of *p++
		base = base.args[0]
	}
	if isPointer(base.decl) && d > 0 && d == len(l.steps)-1 && l.steps[d-1].bytes == s.extent*s.bytes {
		name, _, _ := strings.Cut(l.declared, "[")
		all = fmt.Sprintf(" (a pointer to (%s *)%s goes through all of it)", typeName(l.of), name)
	}
	return fmt.Sprintf("%s of %s is outside of 0 to %d%s", ordinal(nth, of), l.declared, s.extent-1, all)
}
