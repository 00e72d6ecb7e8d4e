package csource

import (
	"fmt"
	"math"
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// An lvalue is what an expression such as a[i][j], body[i].position[k].x or *(p + 1) refers to: a
// number, a struct, or an array of these. A pointer is the lvalue that it points to.
type lvalue struct {
	array    int     // index in File.Arrays, or -1
	variable bool    // it begins at a variable that is not an array; its numbers live in registers
	steps    []step  // by subscripts and pointers, in the order of the text
	moves    bool    // the last step ends here, so a subscript can move a pointer to it
	offset   int     // bytes from the structs to the fields
	extents  []int   // none if it is not an array
	of       cc.Type // type of an element, or of the lvalue itself
	declared string  // its beginning, with extents and fields
	failed   *Error  // why it is not understood, unless it is in a register
}

// A step chooses one of extent elements that lie bytes apart.
type step struct {
	extent, bytes int
	alone         bool // a pointer to something that is not an array element
	at            piece
	by            []move // at is their sum
}

type move struct {
	e    *expr
	i    integer
	sign int
}

func (l *lvalue) bytes() int {
	bytes := int(l.of.Size())
	for _, n := range l.extents {
		bytes *= n
	}
	return bytes
}

func (l lvalue) address() lvalue {
	if !l.moves {
		alone := step{extent: 1, bytes: l.bytes(), alone: true, at: constant(0)}
		l.steps, l.moves = append(slices.Clone(l.steps), alone), true
	}
	return l
}

func (l lvalue) decayed() lvalue {
	extent := l.extents[0]
	l.extents = l.extents[1:]
	first := step{extent: extent, bytes: l.bytes(), at: constant(0)}
	l.steps, l.moves = append(slices.Clone(l.steps), first), true
	return l
}

// register reports whether l is a number of a variable that is not an array. It lives in a
// register.
func (l *lvalue) register() bool {
	return l.variable && len(l.extents) == 0 && cc.IsArithmeticType(l.of) &&
		!slices.ContainsFunc(l.steps, func(s step) bool {
			return !s.alone || !same(s.at, constant(0))
		})
}

// stored reports whether e is an array element, a field, or a pointer's target.
func (e *expr) stored() bool { return e.op == opIndex || e.op == opField || e.op == opDeref }

func (e *expr) base() *expr {
	for e.stored() {
		e = e.args[0]
	}
	return e
}

func (b *builder) reference(e *expr, kind nest.Kind) {
	defer located(e.node)
	if _, given := b.givenField(e); given && kind == nest.Read {
		return
	}
	l := b.lvalue(e)
	if l.register() {
		return
	}
	switch {
	case l.failed != nil:
		panic(l.failed)
	case isVolatile(e):
		panic(wrong("it is volatile, which is not understood"))
	case len(l.extents) > 0:
		panic(wrong("an array without all of its subscripts is not understood: write them"))
	case isStruct(l.of):
		panic(wrong("a whole %s is not understood: write its fields one by one", typeName(l.of)))
	case !isNumber(l.of) || l.array < 0:
		panic(wrong("it is of type %s, and no number", l.of))
	}
	var indices []piece
	for _, s := range l.steps {
		b.unwrapped(s)
		indices = append(indices, s.at)
	}
	b.place(e, kind, l, indices, nil)
}

// wrong returns an error whose place located adds.
func wrong(why string, args ...any) *Error { return &Error{Why: fmt.Sprintf(why, args...)} }

// isVolatile reports whether a variable, element or field is volatile. For arrays, the parser says
// so only of the declarator.
func isVolatile(e *expr) bool {
	for ; ; e = e.args[0] {
		t := e.node.Type()
		if e.op == opVar && e.decl != nil && e.decl.IsVolatile() || t != nil &&
			t.Attributes().IsVolatile() {
			return true
		}
		if !e.stored() && e.op != opCast && e.op != opAddress {
			return false
		}
	}
}

func (b *builder) lvalue(e *expr) (l lvalue) {
	switch e.op {
	case opVar:
		return b.root(e)
	case opIndex:
		return b.moved(b.pointer(e.args[0]), e.args[1], 1)
	case opDeref:
		return b.pointer(e.args[0])
	case opField:
		return b.field(b.lvalue(e.args[0]), e.field)
	case opNothing:
		panic(e.fails("%s", e.why))
	}
	panic(wrong("%s", noArray(e)))
}

func (b *builder) root(e *expr) lvalue {
	v := e.decl
	if number, known := b.arrays[v]; known {
		a := b.file.Arrays[number]
		l := lvalue{array: number, variable: !isArray(v), extents: a.Extents, of: v.Type(),
			declared: a.Name + inBrackets(a.Extents)}
		if isArray(v) {
			l.of = elementOf(arrayType(v))
		}
		return l
	}
	failed := b.unread[v]
	if failed == nil && len(b.calls) > 0 && isPlaced(v) {
		failed = refuse(v,
			"an array of a function that is called is not understood: pass it")
	}
	switch {
	case v == nil || v.Type() == nil:
	case isArray(v) && failed != nil:
		panic(failed)
	case !isArray(v) && (isStruct(v.Type()) || cc.IsArithmeticType(v.Type())):
		return lvalue{array: -1, variable: true, of: v.Type(), declared: v.Name(), failed: failed}
	}
	panic(wrong("%s", noArray(e)))
}

func (b *builder) field(l lvalue, f *cc.Field) lvalue {
	l.offset += int(f.Offset()) // also within structs without a name
	l.declared += "." + f.Name()
	l.moves = false
	if l.extents, l.of = b.form(f.Type()); f.IsBitfield() || slices.ContainsFunc(l.extents,
		func(n int) bool { return n < 1 }) {
		l.extents, l.failed = nil, wrong("a bit-field, or an array of unknown extents, is not "+
			"understood")
	}
	l.declared += inBrackets(l.extents)
	return l
}

// form returns the extents of an array type, 0 if unknown, and its element type.
func (b *builder) form(t cc.Type) (extents []int, of cc.Type) {
	for {
		array, is := t.(*cc.ArrayType)
		if !is {
			return extents, t
		}
		extents, t = append(extents, b.extent(array)), array.Elem()
	}
}

func elementOf(t cc.Type) cc.Type {
	for {
		array, is := t.(*cc.ArrayType)
		if !is {
			return t
		}
		t = array.Elem()
	}
}

func isStruct(t cc.Type) bool { return t.Kind() == cc.Struct || t.Kind() == cc.Union }

// place builds an access for each case of its subscripts.
func (b *builder) place(e *expr, kind nest.Kind, l lvalue, rest []piece, indices []nest.Affine) {
	switch {
	case len(rest) == 0:
		b.access(e, kind, l, indices)
	case rest[0].kind == leaf:
		b.place(e, kind, l, rest[1:], append(slices.Clone(indices), rest[0].affine))
	default:
		c := rest[0].choice()
		arm := func(i int) func() {
			return func() { b.place(e, kind, l, append([]piece{c.args[i]}, rest[1:]...), indices) }
		}
		b.when(c.when, arm(0), arm(1))
	}
}

func (b *builder) access(e *expr, kind nest.Kind, l lvalue, indices []nest.Affine) {
	a := b.file.Arrays[l.array]
	at := nest.Constant(l.offset)
	acc := access{Access: Access{l.array, b.statement, e.pos(), e.text()}, node: e.node,
		loops: slices.Clone(b.loops)}
	for d := len(indices) - 1; d >= 0; d-- {
		s := l.steps[d]
		at = plus(at, s.bytes, indices[d])
		below, above := plus(nest.Constant(-1), -1, indices[d]), plus(nest.Constant(-s.extent), 1,
			indices[d])
		outside := &Error{Pos: acc.Pos, Expr: acc.Text, Why: l.outside(d) + b.site(),
			Outside: true}
		acc.checks = append(acc.checks, check{nest.Condition{{below}, {above}}, outside})
	}
	base := sumOf(int(a.Base), 1, at.Const)
	if base < 0 { // without its variables, which lead back to the array
		b.below, b.again, base = max(b.below, -base), true, 0
	}
	strides := at.Coef
	if strides == nil {
		strides = []int{}
	}
	b.nodes = append(b.nodes, nest.Operand{Tensor: a.Name, Kind: kind, Base: uint64(base),
		Width: int(l.of.Size()), Strides: strides})
	b.accesses = append(b.accesses, acc)
}

func (l *lvalue) outside(d int) string {
	if l.steps[d].alone {
		return "it lies outside the object that the pointer points to, which is not an array " +
			"element"
	}
	return fmt.Sprintf("subscript %d of %s is outside of 0 to %d", d+1, l.declared,
		l.steps[d].extent-1)
}

func noArray(e *expr) string {
	return e.text() + " is not an array of constant extents" +
		" (-D 'x[1000]' says how much a parameter x points to)"
}

const pointerChanges = "a pointer that changes is not understood: declare one with its value," +
	" such as double *row = m[i], or write the array and its subscripts"

// isPointer excludes array parameters.
func isPointer(d *cc.Declarator) bool {
	return d != nil && d.Type() != nil && d.Type().Kind() == cc.Ptr && !isArray(d)
}

// unsaid reports whether e does not say where it points: a call such as malloc, NULL, or a text.
func unsaid(e *expr) bool {
	for e.op == opCast {
		e = e.args[0]
	}
	return e.op == opCall || e.op == opConst || e.op == opOther
}

func (b *builder) pointer(e *expr) (l lvalue) {
	switch e.op {
	case opVar:
		if at, known := b.values.of(e.decl); known && isPointer(e.decl) {
			if at.failed != nil {
				panic(wrong("where %s points is not known: %s: %s", e.text(), at.failed.Expr,
					at.failed.Why))
			}
			return *at.to
		}
	case opAddress:
		if v := e.args[0].decl; e.args[0].op == opVar && (isPointer(v) || v != nil && v.IsParam() &&
			isArray(v)) {
			panic(e.fails("a pointer to a pointer is not understood: write the subscripts"))
		}
		if l = b.lvalue(e.args[0]); l.array < 0 {
			panic(wrong("a pointer to a variable is not understood"))
		}
		return l.address()
	case "+", "-":
		p, i, sign := e.args[0], e.args[1], 1
		if cc.IsIntegerType(p.node.Type()) {
			p, i = i, p
		}
		if e.op == "-" {
			sign = -1
		}
		return b.moved(b.pointer(p), i, sign)
	case opCast:
		return b.pointerAs(e.args[0], e.node.Type())
	}
	l = b.lvalue(e)
	switch {
	case l.failed != nil:
		panic(l.failed)
	case len(l.extents) == 0:
		panic(wrong("%s has too many subscripts, or is a pointer, which is not understood",
			l.declared))
	}
	return l.decayed()
}

func (b *builder) moved(l lvalue, by *expr, sign int) lvalue {
	var i integer
	if err := tried(func() { i = b.integer(by) }); err != nil {
		if err.data {
			err = wrong("subscript %s depends on data (%s: %s)", by.text(), err.Expr, err.Why)
			err.data = true
		}
		panic(err)
	}
	l.steps = slices.Clone(l.steps)
	last := &l.steps[len(l.steps)-1]
	last.at, last.by = last.at.plus(sign, i.piece), append(slices.Clone(last.by), move{by, i, sign})
	return l
}

// unwrapped demands that a step's subscripts stay within their types. For one varying subscript,
// the array's bounds ensure it, unless elements lie beyond its type.
func (b *builder) unwrapped(s step) {
	var vary []move
	rest := 0
	for _, m := range s.by {
		n, fixed := m.i.number()
		switch {
		case !fixed:
			vary = append(vary, m)
		case max(n, -n, rest, -rest) > math.MaxInt>>2:
			panic(tooLarge)
		default:
			rest += m.sign * n
		}
	}
	if len(vary) == 1 {
		low, high := -rest, s.extent-1-rest
		if vary[0].sign < 0 {
			low, high = -high, -low
		}
		if least, most := vary[0].i.t.limits(); least <= low && high <= most {
			return
		}
	}
	for _, m := range vary {
		b.stays(m.e, m.i)
	}
}

func (b *builder) pointerAs(e *expr, t cc.Type) lvalue {
	defer located(e.node)
	return b.asType(e, b.pointer(e), t)
}

// asType gives a pointer another type of the same layout.
func (b *builder) asType(e *expr, l lvalue, t cc.Type) lvalue {
	p, is := t.(*cc.PointerType)
	if !is {
		panic(e.fails("a pointer as %s is not understood", t))
	}
	extents, of := b.form(p.Elem())
	if !slices.Equal(extents, l.extents) || !sameSize(of, l.of) {
		panic(e.fails("a pointer to elements of another type or extent than it has is not " +
			"understood:" +
			" declare the array with the type that is used, or write it and its subscripts"))
	}
	l.of = of
	return l
}

// sameSize reports whether a type may replace another: a number or struct for one of its size.
func sameSize(t, as cc.Type) bool {
	if isStruct(t) {
		return isStruct(as) && !t.IsIncomplete() && t.Size() == as.Size() && !bitFields(t)
	}
	return cc.IsArithmeticType(t) && cc.IsArithmeticType(as) && t.Size() == as.Size()
}
