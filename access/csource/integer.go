package csource

import (
	"fmt"
	"math"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A ctype is an integer type of C: so many bits, with a sign or without. One of a single
// bit is _Bool, to which a value is converted by whether it is 0 (C11, 6.3.1.2).
type ctype struct {
	bits   int
	signed bool
}

var intType, boolType = ctype{32, true}, ctype{bits: 1}

func typeOf(t cc.Type) (ctype, bool) {
	if t == nil || !cc.IsIntegerType(t) || t.Size() > 8 || t.Size() < 1 {
		return ctype{}, false
	}
	if t.Kind() == cc.Bool {
		return boolType, true
	}
	if enum, is := t.(*cc.EnumType); is { // of which GCC makes an unsigned type unless one is negative
		return ctype{int(t.Size()) * 8, enum.Min() < 0}, true
	}
	return ctype{int(t.Size()) * 8, cc.IsSignedInteger(t)}, true
}

func (t ctype) String() string {
	return fmt.Sprintf("%s of %d bits", map[bool]string{true: "an integer", false: "unsigned"}[t.signed], t.bits)
}

// limits are the least and the greatest value, the latter at most an int's.
func (t ctype) limits() (low, high int) {
	switch {
	case t.signed:
		return -1 << (t.bits - 1), 1<<(t.bits-1) - 1
	case t.bits == 64:
		return 0, math.MaxInt
	}
	return 0, 1<<t.bits - 1
}

func (t ctype) promoted() ctype {
	if t.bits < 32 {
		return intType
	}
	return t
}

// common is the type that two operands are converted to.
func common(a, b ctype) ctype {
	a, b = a.promoted(), b.promoted()
	switch {
	case a.bits > b.bits:
		return a
	case b.bits > a.bits:
		return b
	}
	return ctype{a.bits, a.signed && b.signed}
}

// An integer is what an expression of integers is.
type integer struct {
	piece
	t ctype
}

// fails is the error about an expression.
func (e *expr) fails(why string, args ...any) *Error {
	return &Error{Pos: e.pos(), Expr: e.text(), Why: fmt.Sprintf(why, args...)}
}

// unknown is the error about an expression whose value depends on data.
func (e *expr) unknown(why string, args ...any) *Error {
	err := e.fails(why, args...)
	err.data = true
	return err
}

// integer evaluates an expression of integers: constants as C does, variables of loops
// exactly as long as no unsigned type wraps.
func (b *builder) integer(e *expr) (i integer, err *Error) {
	defer caught(e.node, &err)
	switch e.op {
	case opConst:
		return constantOf(e)
	case opVar:
		return b.variable(e)
	case opField:
		if n, given := b.fields[withoutSpace(e.text())]; given {
			t, _ := typeOf(e.field.Type())
			return integer{constant(n), t}, nil
		}
		return integer{}, e.unknown("it depends on data; a define gives a field its value, such as -D 'p->n=100'")
	case opIndex, opDeref:
		return integer{}, e.unknown("it depends on data")
	case opCall:
		return b.returned(e)
	case opNothing:
		return integer{}, e.fails("%s", e.why)
	case opCast:
		return b.cast(e)
	case opPlus, opNegate, "~":
		return b.sign(e)
	case "?:":
		return b.ternary(e)
	case "!", "&&", "||", "<", "<=", ">", ">=", "==", "!=":
		when, err := b.condition(e)
		return integer{b.choose(when, constant(1), constant(0)), intType}, err
	case "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^":
		return b.arithmetic(e)
	case opOther:
		return integer{}, e.unknown("it is not an integer")
	}
	return integer{}, e.unknown("it is not a value of the loops' variables")
}

func constantOf(e *expr) (integer, *Error) {
	t, ok := typeOf(e.node.Type())
	if !ok {
		return integer{}, e.fails("it is not an integer")
	}
	switch v := e.node.Value().(type) {
	case cc.Int64Value:
		return integer{constant(int(v)), t}, nil
	case cc.UInt64Value:
		if v > math.MaxInt64 {
			panic(tooLarge)
		}
		return integer{constant(int(v)), t}, nil
	}
	return integer{}, e.fails("its value is not known")
}

// variable is a loop's, or one whose value is known here.
func (b *builder) variable(e *expr) (integer, *Error) {
	for _, l := range b.loops {
		if l.decl == e.decl {
			return integer{piece{affine: l.at}, l.t}, nil
		}
	}
	t, ok := typeOf(e.decl.Type())
	if !ok || isArray(e.decl) {
		return integer{}, e.unknown("it is not an integer")
	}
	known, ok := b.values.of(e.decl)
	switch {
	case !ok:
		return integer{}, e.unknown("its value is not known: it is neither a constant nor a variable of a loop around it; if it never changes, give it with -D %s=100", e.decl.Name())
	case known.failed != nil:
		err := e.fails("its value is not known here: %s: %s", known.failed.Expr, known.failed.Why)
		err.data = known.failed.data
		return integer{}, err
	}
	return b.convert(e, known.i, t)
}

func (b *builder) cast(e *expr) (integer, *Error) {
	t, ok := typeOf(e.node.Type())
	if !ok {
		return integer{}, e.unknown("it is not an integer")
	}
	of := e.args[0]
	if real := of.node.Type(); of.op == opOther || real != nil && cc.IsFloatingPointType(real) {
		if v, known := e.node.Value().(cc.Int64Value); known && t != boolType { // of which .5 is 1
			return integer{constant(int(v)), t}, nil
		}
	}
	i, err := b.integer(of)
	if err != nil {
		return integer{}, err
	}
	return b.convert(e, i, t)
}

func (b *builder) sign(e *expr) (integer, *Error) {
	x, err := b.integer(e.args[0])
	if err == nil {
		x, err = b.convert(e, x, x.t.promoted())
	}
	if err != nil || e.op == opPlus {
		return x, err
	}
	from := 0
	if e.op == "~" {
		from = -1
	}
	return result(e, constant(from).plus(-1, x.piece), x.t)
}

// ternary is one of two integers.
func (b *builder) ternary(e *expr) (integer, *Error) {
	when, err := b.condition(e.args[0])
	if err != nil {
		return integer{}, err
	}
	// What is not taken need not be understood.
	if always(when) || never(when) {
		taken := e.args[1]
		if never(when) {
			taken = e.args[2]
		}
		i, err := b.integer(taken)
		if t, ok := typeOf(e.node.Type()); ok && err == nil {
			return b.convert(e, i, t)
		}
		return i, err
	}
	var arms [2]integer
	for n := range arms {
		if arms[n], err = b.integer(e.args[n+1]); err != nil {
			return integer{}, err
		}
	}
	t := common(arms[0].t, arms[1].t)
	for n := range arms {
		if arms[n], err = b.convert(e, arms[n], t); err != nil {
			return integer{}, err
		}
	}
	return integer{b.choose(when, arms[0].piece, arms[1].piece), t}, nil
}

func (b *builder) arithmetic(e *expr) (integer, *Error) {
	x, err := b.integer(e.args[0])
	if err != nil {
		return integer{}, err
	}
	y, err := b.integer(e.args[1])
	if err != nil {
		return integer{}, err
	}
	t := common(x.t, y.t)
	if e.op == "<<" || e.op == ">>" {
		t = x.t.promoted()
	} else {
		if y, err = b.convert(e, y, t); err != nil {
			return integer{}, err
		}
	}
	if x, err = b.convert(e, x, t); err != nil {
		return integer{}, err
	}
	n, known := y.number()
	m, fixed := x.number()
	switch {
	case e.op == "+" || e.op == "-":
		return result(e, x.plus(map[string]int{"+": 1, "-": -1}[e.op], y.piece), t)
	case e.op == "*" && known:
		return result(e, constant(0).plus(n, x.piece), t)
	case e.op == "*" && fixed:
		return result(e, constant(0).plus(m, y.piece), t)
	case !known:
		return integer{}, e.fails("%s of two variables is not affine", e.op)
	}
	if err := b.settled(e, x); err != nil {
		return integer{}, err
	}
	var p piece
	if fixed {
		p, err = byConstants(e, m, n, t)
	} else {
		p, err = b.divided(e, x, n)
	}
	if err != nil {
		return integer{}, err
	}
	return result(e, p, t)
}

// byConstants is what C makes of two constants.
func byConstants(e *expr, m, n int, t ctype) (piece, *Error) {
	switch shift := e.op == "<<" || e.op == ">>"; {
	case n == 0 && (e.op == "/" || e.op == "%"):
		return piece{}, e.fails("a division by 0")
	case shift && (n < 0 || n >= t.bits || n > 62 || m < 0 && e.op == "<<"):
		return piece{}, e.fails("a shift of %d by %d is not defined", m, n)
	case e.op == "/":
		return constant(m / n), nil
	case e.op == "%":
		return constant(m % n), nil
	case e.op == ">>":
		return constant(m >> n), nil
	case e.op == "<<":
		return constant(sumOf(0, m, 1<<n)), nil
	case e.op == "&":
		return constant(m & n), nil
	case e.op == "|":
		return constant(m | n), nil
	}
	return constant(m ^ n), nil
}

// result gives a computed value its type: constants wrap or overflow as C says.
func result(e *expr, p piece, t ctype) (integer, *Error) {
	n, fixed := p.number()
	low, high := t.limits()
	if !fixed || n >= low && n <= high {
		return integer{p, t}, nil
	}
	if t.signed {
		return integer{}, e.fails("%d overflows %v", n, t)
	}
	return wrapped(e, n, t)
}

func wrapped(e *expr, n int, t ctype) (integer, *Error) {
	if t.bits == 64 {
		if n < 0 && !t.signed {
			return integer{}, e.fails("as unsigned it is beyond 2^63")
		}
		return integer{constant(n), t}, nil
	}
	n &= 1<<t.bits - 1
	if t.signed && n >= 1<<(t.bits-1) {
		n -= 1 << t.bits
	}
	return integer{constant(n), t}, nil
}

// widened is an integer as one of another type, if that has all values of its own.
func (i integer) widened(t ctype) integer {
	low, high := t.limits()
	least, most := i.t.limits()
	n, fixed := i.number()
	if t != boolType && (i.t.signed && least >= low && most <= high || fixed && n >= low && n <= high) {
		i.t = t
	}
	return i
}

// convert gives a value another type. Constants wrap; a value of variables has to
// stay in range wherever the place is reached.
func (b *builder) convert(e *expr, i integer, t ctype) (integer, *Error) {
	if i = i.widened(t); i.t == t {
		return i, nil
	}
	if t == boolType {
		if err := b.settled(e, i); err != nil {
			return integer{}, err
		}
		set := compare("!=", i.piece, constant(0))
		return integer{b.choose(set, constant(1), constant(0)), t}, nil
	}
	if n, fixed := i.number(); fixed {
		return wrapped(e, n, t)
	}
	low, high := t.limits()
	low0, high0 := i.t.limits()
	// What was computed as unsigned may have wrapped before.
	why := fmt.Sprintf("it would wrap as %v, or as %v", i.t, t)
	return integer{i.piece, t}, b.within(e, i.piece, max(low, low0), min(high, high0), why)
}

// settled demands that a value of variables which is computed as unsigned does
// not wrap, where that makes a difference.
func (b *builder) settled(e *expr, i integer) *Error {
	if i.t.signed {
		return nil
	}
	return b.stays(e, i)
}

// stays demands that a value of variables stays in its type.
func (b *builder) stays(e *expr, i integer) *Error {
	if _, fixed := i.number(); fixed {
		return nil
	}
	why := "it would wrap as %v"
	if i.t.signed {
		why = "it overflows %v"
	}
	low, high := i.t.limits()
	return b.within(e, i.piece, low, high, fmt.Sprintf(why, i.t))
}

// condition evaluates a condition on the loops' variables.
func (b *builder) condition(e *expr) (c nest.Condition, err *Error) {
	defer caught(e.node, &err)
	c, err = b.decide(e)
	return b.plain(c), err
}

func (b *builder) decide(e *expr) (nest.Condition, *Error) {
	switch e.op {
	case "!":
		c, err := b.condition(e.args[0])
		return not(c), err
	case "&&", "||":
		left, err := b.condition(e.args[0])
		if err != nil || e.op == "&&" && never(left) || e.op == "||" && always(left) {
			return left, err
		}
		right, err := b.condition(e.args[1])
		if e.op == "&&" {
			return and(left, right), err
		}
		return or(left, right), err
	case "<", "<=", ">", ">=", "==", "!=":
		x, y, err := b.compared(e)
		if err != nil {
			return nil, err
		}
		return compare(e.op, x.piece, y.piece), nil
	}
	i, err := b.integer(e)
	return compare("!=", i.piece, constant(0)), err
}

// compared are the sides of a comparison, in their common type.
func (b *builder) compared(e *expr) (x, y integer, err *Error) {
	if x, err = b.integer(e.args[0]); err != nil {
		return x, y, err
	}
	if y, err = b.integer(e.args[1]); err != nil {
		return x, y, err
	}
	t := common(x.t, y.t)
	if x, err = b.convert(e, x, t); err != nil {
		return x, y, err
	}
	if y, err = b.convert(e, y, t); err != nil {
		return x, y, err
	}
	if err = b.settled(e.args[0], x); err == nil {
		err = b.settled(e.args[1], y)
	}
	return x, y, err
}
