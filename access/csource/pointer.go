package csource

import (
	"fmt"
	"math"
	"slices"

	"modernc.org/cc/v4"
)

// What is not understood of pointers, and what to write.
const (
	pointerChanges = "a pointer that changes is not understood: declare one with its value where it is used, such as double *row = m[i], or write the array and its subscripts"
	pointerChosen  = "a pointer to one of several is not understood: write the arrays and their subscripts, or one loop for each"
	pointerTwice   = "a pointer to a pointer is not understood: write the array and its subscripts"
)

// isPointer tells whether a declarator is a pointer, and no array that is a parameter.
func isPointer(d *cc.Declarator) bool {
	return d != nil && d.Type() != nil && d.Type().Kind() == cc.Ptr && !isArray(d)
}

// point keeps what a pointer points to that is given a value where it is declared, and never again.
func (b *builder) point(d *cc.InitDeclarator) *Error {
	v := d.Declarator
	if b.walkers[v] {
		return b.start(d)
	}
	delete(b.aliases, v) // of this place in another copy of the loop around it
	delete(b.astray, v)
	if d.Case != cc.InitDeclaratorInit || isNil(d.Initializer) || d.Initializer.Case != cc.InitializerExpr {
		return nil
	}
	e := expression(d.Initializer.AssignmentExpression)
	if unsaid(e) {
		return nil
	}
	err := b.becomes(v, e)
	if err == nil && (v.WriteCount() != 1 || v.AddressTaken() || b.shared[v] || v.IsVolatile()) {
		delete(b.aliases, v)
		b.astray[v] = refuse(d, "%s", pointerChanges)
	}
	return err
}

// becomes keeps what a pointer points to that is given the value of an expression.
func (b *builder) becomes(v *cc.Declarator, e *expr) *Error {
	l, err := b.pointer(e, 1)
	if err == nil {
		l, err = b.pointerAs(l, v.Type(), false)
	}
	if err != nil {
		b.astray[v] = err.of(e)
		return err
	}
	b.aliases[v] = l
	return nil
}

// once tells whether a pointer has a value from one assignment alone, which is seen from there to the end of its block.
func once(v *cc.Declarator) bool {
	return isPointer(v) && !v.IsParam() && !v.IsStatic() && v.Linkage() == cc.None && v.WriteCount() == 1 && !v.AddressTaken() && !v.IsVolatile()
}

// aim builds the assignment of a pointer that is given a value once, which is no access.
func (b *builder) aim(v *cc.Declarator, e *expr) *Error {
	to := e.args[1]
	if unsaid(to) {
		return b.value(e.node)
	}
	b.aims = append(b.aims, v)
	return b.full(e, func() *Error { return b.becomes(v, to) })
}

// aimed forgets, at the end of a block, where the pointers point that were given their value in it: all but so many.
func (b *builder) aimed(but int) {
	for _, v := range b.aims[but:] {
		delete(b.aliases, v)
		b.astray[v] = refuse(v, "it is given its value in a block that has ended, or ends and begins again, before it is used: declare it there")
	}
	b.aims = b.aims[:but]
}

// unsaid tells whether an expression does not say where it points, as a call of malloc, NULL, or a text does not.
func unsaid(e *expr) bool {
	for e.op == opCast {
		e = e.args[0]
	}
	return e.op == opCall && !aligned(e) || e.op == opConst || e.op == opOther
}

// aligned tells whether a call returns the pointer that it gets first, as GCC's statement on an alignment does.
func aligned(e *expr) bool {
	return len(e.args) > 1 && e.args[0].text() == "__builtin_assume_aligned"
}

// pointing builds the declaration of a pointer with its value, which is no access.
func (b *builder) pointing(d *cc.InitDeclarator) *Error {
	if err := b.point(d); err != nil {
		return err
	}
	if e := expression(d.Initializer.AssignmentExpression); unsaid(e) {
		return b.effect(e)
	}
	return nil
}

// pointer is what an expression points to that has so many subscripts behind it.
func (b *builder) pointer(e *expr, subscripts int) (l lvalue, err *Error) {
	switch e.op {
	case opVar:
		if w, is := b.valueOf(e); is {
			return w.pointed(e)
		}
		if l, known := b.aliases[e.decl]; known {
			return l, nil
		}
		if why := b.astray[e.decl]; why != nil {
			return l, wrong("where %s points is not known: it is given %s: %s", e.text(), why.Expr, why.Why)
		}
	case opAddress:
		if pointed := e.args[0]; pointed.op == opVar && pointed.decl != nil && (isPointer(pointed.decl) || pointed.decl.IsParam() && isArray(pointed.decl)) {
			return l, notInteger(e, false, "%s", pointerTwice)
		}
		if l, err = b.lvalue(e.args[0], 0); err != nil {
			return l, err
		}
		return l.address(), nil
	case "+", "-":
		p, i, sign := e.args[0], e.args[1], 1
		if cc.IsIntegerType(p.node.Type()) {
			p, i = i, p
		}
		if e.op == "-" {
			sign = -1
		}
		if l, err = b.pointer(p, subscripts); err != nil {
			return l, err
		}
		return b.moved(l, i, sign)
	case opCast:
		if l, err = b.pointer(e.args[0], subscripts); err == nil {
			l, err = b.pointerAs(l, e.node.Type(), true)
		}
		return l, err
	case opCall:
		if aligned(e) {
			return b.pointer(e.args[1], subscripts)
		}
	case "?:":
		return b.chosen(e, subscripts)
	case "=", "+=", "-=", opBefore, opBehind:
		if w, is := b.valueOf(e); is {
			return w.pointed(e)
		}
		return l, notInteger(e, false, "%s", pointerChanges)
	}
	if l, err = b.lvalue(e, subscripts); err != nil {
		return l, err
	}
	switch {
	case l.failed != nil:
		return l, l.failed
	case len(l.extents) == 0:
		return l, wrong("%s has too many subscripts, or is a pointer, which is not understood", l.declared)
	}
	return l.decayed(), nil
}

// moved is a pointer that is moved by so many.
func (b *builder) moved(l lvalue, by *expr, sign int) (lvalue, *Error) {
	i, err := b.integer(by)
	if err != nil {
		if err.data {
			inside := err
			err = wrong("subscript %s depends on data (%s: %s)", by.text(), err.Expr, err.Why)
			err.data, err.apart = true, inside.apart
		}
		return l, err
	}
	l.steps = slices.Clone(l.steps)
	last := &l.steps[len(l.steps)-1]
	at, failed := last.at.plus(sign, i.piece)
	if failed != nil {
		return l, notInteger(by, false, "%v", failed)
	}
	last.at, last.by = at, append(slices.Clone(last.by), move{by, i, sign})
	return l, nil
}

// unwrapped demands of the subscripts of a step that they stay in their types. Of a single one that varies the bounds see to
// it, unless there are elements beyond its type.
func (b *builder) unwrapped(s step) *Error {
	var vary []move
	rest := 0
	for _, m := range s.by {
		n, fixed := m.i.number()
		switch {
		case !fixed:
			vary = append(vary, m)
		case n < math.MinInt>>2 || n > math.MaxInt>>2 || rest < math.MinInt>>2 || rest > math.MaxInt>>2:
			return notInteger(m.e, false, "%v", errRange)
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
			return nil
		}
	}
	for _, m := range vary {
		if err := b.stays(m.e, m.i); err != nil {
			return err
		}
	}
	return nil
}

// pointerAs is a pointer of another type: one that lies and moves as it did, or if it is cast one to the same elements in an array of
// other extents, as (double *)m is to all of the matrix m.
func (b *builder) pointerAs(l lvalue, t cc.Type, cast bool) (lvalue, *Error) {
	p, is := t.(*cc.PointerType)
	if !is {
		return l, wrong("a pointer as %s is not understood", t)
	}
	extents, of, understood := b.form(p.Elem())
	if !understood || !sameSize(of, l.of) || !slices.Equal(extents, l.extents) && !(cast && l.reshape(extents)) {
		return l, wrong("a pointer to %s as one to %s is not understood: declare the array with the type that is used, or write it and its subscripts", described(l.extents, l.of), p.Elem())
	}
	l.of = of
	return l, nil
}

// reshape makes a pointer one to arrays of other extents, which lie one after the other where it can move, and reports whether it
// could: it has to be known to be at the start of one.
func (l *lvalue) reshape(extents []int) bool {
	before, after, last := 1, 1, l.steps[len(l.steps)-1]
	for _, n := range l.extents {
		before *= n
	}
	for _, n := range extents {
		if n > last.extent*before/after {
			return false
		}
		after *= n
	}
	at, fixed := last.at.number()
	if !fixed || at < 0 || at > last.extent || at*before%after != 0 || last.extent*before > math.MaxInt>>3 {
		return false
	}
	l.declared += fmt.Sprintf(" as %s", described([]int{last.extent * before / after}, l.of))
	for _, n := range extents {
		l.declared += fmt.Sprintf("[%d]", n)
	}
	from := integer{constant(at * before / after), ctype{64, true}}
	l.extents, l.steps = extents, slices.Clone(l.steps)
	l.steps[len(l.steps)-1] = step{extent: last.extent * before / after, bytes: last.bytes / before * after, at: from.piece, by: []move{{i: from, sign: 1}}}
	return true
}

// sameSize tells whether a type is laid out as another of its size may be: a number for a number, a struct for a struct.
func sameSize(t, as cc.Type) bool {
	if isStruct(t) {
		return isStruct(as) && !t.IsIncomplete() && t.Size() == as.Size() && (!bitFields(t) || alike(t))
	}
	return cc.IsArithmeticType(t) && cc.IsArithmeticType(as) && t.Size() == as.Size()
}

// described is the type of an array of so many.
func described(extents []int, of cc.Type) string {
	text := typeName(of)
	for _, n := range extents {
		text += fmt.Sprintf("[%d]", n)
	}
	return text
}
