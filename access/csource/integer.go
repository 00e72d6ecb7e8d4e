package csource

import (
	"fmt"
	"math"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A ctype is an integer type of C. One bit means _Bool: a conversion to it compares with 0 (C11,
// 6.3.1.2).
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
	// GCC makes an enum's type unsigned unless a value is negative.
	if enum, is := t.(*cc.EnumType); is {
		return ctype{int(t.Size()) * 8, enum.Min() < 0}, true
	}
	return ctype{int(t.Size()) * 8, cc.IsSignedInteger(t)}, true
}

func (t ctype) String() string {
	return fmt.Sprintf("%s of %d bits", map[bool]string{true: "an integer",
		false: "unsigned"}[t.signed], t.bits)
}

// limits returns the least and greatest value, the latter at most math.MaxInt.
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

type integer struct {
	piece
	t ctype
}

func (e *expr) fails(why string, args ...any) *Error { return refuse(e.node, why, args...) }

// unknown is fails for a value that depends on data.
func (e *expr) unknown(why string, args ...any) *Error {
	err := e.fails(why, args...)
	err.data = true
	return err
}

// integer evaluates constants as C does, and loop variables exactly if no unsigned type wraps.
func (b *builder) integer(e *expr) integer {
	defer located(e.node)
	switch e.op {
	case opConst:
		return constantOf(e)
	case opVar:
		return b.variable(e)
	case opField:
		if n, given := b.givenField(e); given {
			t, _ := typeOf(e.field.Type())
			return integer{constant(n), t}
		}
		panic(e.unknown("it depends on data; a define gives a field its value, such as -D " +
			"'p->n=100'"))
	case opIndex, opDeref:
		panic(e.unknown("it depends on data"))
	case opCall:
		return b.returned(e)
	case opNothing:
		panic(e.fails("%s", e.why))
	case opCast:
		return b.cast(e)
	case opPlus, opNegate, "~":
		return b.sign(e)
	case "?:":
		return b.ternary(e)
	case "!", "&&", "||", "<", "<=", ">", ">=", "==", "!=":
		return integer{b.choose(b.condition(e), constant(1), constant(0)), intType}
	case "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^":
		return b.arithmetic(e)
	case opOther:
		panic(e.unknown("it is not an integer"))
	}
	panic(e.fails("it is not a value of the loops' variables"))
}

func constantOf(e *expr) integer {
	t, ok := typeOf(e.node.Type())
	if !ok {
		panic(e.fails("it is not an integer"))
	}
	switch v := e.node.Value().(type) {
	case cc.Int64Value:
		return integer{constant(int(v)), t}
	case cc.UInt64Value:
		if v > math.MaxInt64 {
			panic(tooLarge)
		}
		return integer{constant(int(v)), t}
	}
	panic(e.fails("its value is not known"))
}

func (b *builder) variable(e *expr) integer {
	for _, l := range b.loops {
		if l.decl == e.decl {
			return integer{piece{affine: l.at}, l.t}
		}
	}
	t, ok := typeOf(e.decl.Type())
	if !ok || isArray(e.decl) {
		panic(e.unknown("it is not an integer"))
	}
	known, ok := b.values.of(e.decl)
	switch {
	case !ok:
		panic(e.unknown(
			"its value is not known: if it never changes, -D %s=100 gives it", e.decl.Name()))
	case known.failed != nil:
		err := e.fails("its value is not known here: %s: %s", known.failed.Expr, known.failed.Why)
		err.data = known.failed.data
		panic(err)
	}
	return b.convert(e, known.i, t)
}

func (b *builder) cast(e *expr) integer {
	t, ok := typeOf(e.node.Type())
	if !ok {
		panic(e.unknown("it is not an integer"))
	}
	of := e.args[0]
	if real := of.node.Type(); real != nil && cc.IsFloatingPointType(real) {
		if v, known := e.node.Value().(cc.Int64Value); known && t != boolType { // _Bool of .5 is 1
			return integer{constant(int(v)), t}
		}
	}
	return b.convert(e, b.integer(of), t)
}

func (b *builder) sign(e *expr) integer {
	x := b.integer(e.args[0])
	x = b.convert(e, x, x.t.promoted())
	from := 0
	switch e.op {
	case opPlus:
		return x
	case "~":
		from = -1
	}
	return result(e, constant(from).plus(-1, x.piece), x.t)
}

func (b *builder) ternary(e *expr) integer {
	when := b.condition(e.args[0])
	t, ok := typeOf(e.node.Type())
	if !ok {
		panic(e.unknown("it is not an integer"))
	}
	arm := func(n int) piece { return b.convert(e, b.integer(e.args[n]), t).piece }
	switch { // the arm that is not taken need not be understood
	case always(when):
		return integer{arm(1), t}
	case never(when):
		return integer{arm(2), t}
	}
	return integer{b.choose(when, arm(1), arm(2)), t}
}

func (b *builder) arithmetic(e *expr) integer {
	x := b.integer(e.args[0])
	y := b.integer(e.args[1])
	t := common(x.t, y.t)
	if e.op == "<<" || e.op == ">>" {
		t = x.t.promoted()
	} else {
		y = b.convert(e, y, t)
	}
	x = b.convert(e, x, t)
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
		panic(e.fails("%s of two variables is not affine", e.op))
	}
	b.settled(e, x)
	if fixed {
		return result(e, byConstants(e, m, n, t), t)
	}
	return result(e, b.divided(e, x, n), t)
}

func byConstants(e *expr, m, n int, t ctype) piece {
	switch shift := e.op == "<<" || e.op == ">>"; {
	case n == 0 && (e.op == "/" || e.op == "%"):
		panic(e.fails("a division by 0"))
	case shift && (n < 0 || n >= t.bits || n > 62 || m < 0 && e.op == "<<"):
		panic(e.fails("a shift of %d by %d is not defined", m, n))
	case e.op == "/":
		return constant(m / n)
	case e.op == "%":
		return constant(m % n)
	case e.op == ">>":
		return constant(m >> n)
	case e.op == "<<":
		return constant(sumOf(0, m, 1<<n))
	case e.op == "&":
		return constant(m & n)
	case e.op == "|":
		return constant(m | n)
	}
	return constant(m ^ n)
}

// result gives a computed value its type: constants wrap or overflow as C says.
func result(e *expr, p piece, t ctype) integer {
	n, fixed := p.number()
	low, high := t.limits()
	if !fixed || n >= low && n <= high {
		return integer{p, t}
	}
	if t.signed {
		panic(e.fails("%d overflows %v", n, t))
	}
	return wrapped(e, n, t)
}

func wrapped(e *expr, n int, t ctype) integer {
	if t.bits == 64 {
		if n < 0 && !t.signed {
			panic(e.fails("as unsigned it is beyond 2^63"))
		}
		return integer{constant(n), t}
	}
	n &= 1<<t.bits - 1
	if t.signed && n >= 1<<(t.bits-1) {
		n -= 1 << t.bits
	}
	return integer{constant(n), t}
}

// widened returns i with another type if that type holds all its values.
func (i integer) widened(t ctype) integer {
	low, high := t.limits()
	least, most := i.t.limits()
	n, fixed := i.number()
	if t != boolType && (i.t.signed && least >= low && most <= high || fixed && n >= low &&
		n <= high) {
		i.t = t
	}
	return i
}

// convert gives a value another type. Constants wrap; a value of variables must always be in range.
func (b *builder) convert(e *expr, i integer, t ctype) integer {
	if i = i.widened(t); i.t == t {
		return i
	}
	if t == boolType {
		b.settled(e, i)
		set := compare("!=", i.piece, constant(0))
		return integer{b.choose(set, constant(1), constant(0)), t}
	}
	if n, fixed := i.number(); fixed {
		return wrapped(e, n, t)
	}
	low, high := t.limits()
	low0, high0 := i.t.limits()
	// An unsigned result may have wrapped before.
	why := fmt.Sprintf("it would wrap as %v, or as %v", i.t, t)
	b.within(e, i.piece, max(low, low0), min(high, high0), why)
	return integer{i.piece, t}
}

// settled demands that an unsigned value does not wrap, where that makes a difference.
func (b *builder) settled(e *expr, i integer) {
	if !i.t.signed {
		b.stays(e, i)
	}
}

func (b *builder) stays(e *expr, i integer) {
	if _, fixed := i.number(); fixed {
		return
	}
	why := "it would wrap as %v"
	if i.t.signed {
		why = "it overflows %v"
	}
	low, high := i.t.limits()
	b.within(e, i.piece, low, high, fmt.Sprintf(why, i.t))
}

func (b *builder) decided(e *expr) (c nest.Condition, err *Error) {
	err = tried(func() { c = b.condition(e) })
	return c, err
}

func (b *builder) condition(e *expr) nest.Condition {
	defer located(e.node)
	var c nest.Condition
	switch e.op {
	case "!":
		c = not(b.condition(e.args[0]))
	case "&&", "||":
		c = b.condition(e.args[0])
		switch {
		case e.op == "&&" && !never(c):
			c = and(c, b.condition(e.args[1]))
		case e.op == "||" && !always(c):
			c = or(c, b.condition(e.args[1]))
		}
	case "<", "<=", ">", ">=", "==", "!=":
		x, y := b.compared(e)
		c = compare(e.op, x, y)
	default:
		c = compare("!=", b.integer(e).piece, constant(0))
	}
	return b.plain(c)
}

func (b *builder) compared(e *expr) (x, y piece) {
	left, right := b.integer(e.args[0]), b.integer(e.args[1])
	t := common(left.t, right.t)
	left, right = b.convert(e, left, t), b.convert(e, right, t)
	b.settled(e.args[0], left)
	b.settled(e.args[1], right)
	return left.piece, right.piece
}
