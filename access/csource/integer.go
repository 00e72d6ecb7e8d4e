package csource

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

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
	if t == boolType {
		return "_Bool"
	}
	name := map[int]string{8: "char", 16: "short", 32: "int", 64: "long"}[t.bits]
	if !t.signed {
		return "unsigned " + name
	}
	return name
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

// notInteger says that an expression is no integer that is known from the loops'
// variables. data: because it depends on data.
func notInteger(e *expr, data bool, why string, args ...any) *Error {
	return &Error{Pos: e.pos(), Expr: e.text(), Why: fmt.Sprintf(why, args...), data: data}
}

// integer evaluates an expression of integers: constants as C does, variables of
// loops exactly as long as no unsigned type wraps.
func (b *builder) integer(e *expr) (integer, *Error) {
	i, err := b.evaluate(e)
	if err != nil {
		var where *Error
		if errors.As(err, &where) {
			return integer{}, where
		}
		return integer{}, notInteger(e, false, "%v", err)
	}
	return i, nil
}

func (b *builder) evaluate(e *expr) (integer, error) {
	switch e.op {
	case opConst:
		return constantOf(e)
	case opVar:
		return b.variable(e)
	case opField:
		if e.args[0].op == opVar {
			return integer{}, notInteger(e, true, "it depends on data: the value of a field is not known; write a number or a macro in its place, or a variable, which -D can set")
		}
		return integer{}, notInteger(e, true, "it depends on data")
	case opIndex:
		return b.looked(e)
	case opDeref:
		return integer{}, notInteger(e, true, "it depends on data")
	case opCall:
		return b.returned(e)
	case opNothing:
		return integer{}, notInteger(e, false, "%s", e.why)
	case opOther:
		return integer{}, notInteger(e, false, "it is not an integer")
	case opCast:
		return b.cast(e)
	case opPlus, opNegate, "~":
		return b.sign(e)
	case "?:":
		return b.ternary(e)
	case "!", "&&", "||", "<", "<=", ">", ">=", "==", "!=":
		when, err := b.condition(e)
		if err != nil {
			return integer{}, err
		}
		return integer{choose(when, constant(1), constant(0)), intType}, nil
	case "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^":
		return b.arithmetic(e)
	}
	if w, ok := b.valueOf(e); ok {
		return b.walkedTo(e, w)
	}
	return integer{}, notInteger(e, false, "it is not a value of the loops' variables")
}

func constantOf(e *expr) (integer, error) {
	t, ok := typeOf(e.node.Type())
	if !ok {
		return integer{}, notInteger(e, false, "it is not an integer")
	}
	switch v := e.node.Value().(type) {
	case cc.Int64Value:
		return integer{constant(int(v)), t}, nil
	case cc.UInt64Value:
		if v > math.MaxInt64 {
			return integer{}, errRange
		}
		return integer{constant(int(v)), t}, nil
	}
	return integer{}, notInteger(e, false, "its value is not known")
}

// variable is a loop's, or one that has the same value wherever it is seen.
func (b *builder) variable(e *expr) (integer, error) {
	for _, l := range b.loops {
		if l.decl != nil && l.decl == e.decl {
			return integer{piece{affine: l.at}, l.t}, nil
		}
	}
	if w, ok := b.valueOf(e); ok {
		return b.walkedTo(e, w)
	}
	if known, ok := b.known[e.decl]; ok {
		return known, nil
	}
	if isArray(e.decl) {
		return integer{}, notInteger(e, false, "an array is not an integer")
	}
	if _, ok := typeOf(e.decl.Type()); !ok {
		return integer{}, notInteger(e, true, "it is not an integer")
	}
	if why, ok := b.unknown[e.decl]; ok {
		fails := notInteger(e, true, "its value is not known: it is declared as %s: %s", why.Expr, why.Why)
		fails.apart = why.apart
		return integer{}, fails
	}
	if b.changing[e.decl] {
		return integer{}, notInteger(e, true, "its value is not known: it is neither a constant nor a variable of a loop around it, and it changes; declare one with its value, such as int %s = n < m ? n : m", e.decl.Name())
	}
	return integer{}, notInteger(e, true, "its value is not known: it is neither a constant nor a variable of a loop around it; if it never changes, give it with -D %s=100", e.decl.Name())
}

func (b *builder) cast(e *expr) (integer, error) {
	t, ok := typeOf(e.node.Type())
	if !ok {
		return integer{}, notInteger(e, b.ofData(e), "it is not an integer")
	}
	if e.args[0].op == opOther {
		if _, known := e.node.Value().(cc.Int64Value); known {
			return constantOf(e)
		}
	}
	if isFloat(e.args[0]) && t != boolType { // of which .5 is 1
		if v, known := e.node.Value().(cc.Int64Value); known {
			return integer{constant(int(v)), t}, nil
		}
	}
	i, err := b.integer(e.args[0])
	if err != nil {
		return integer{}, err
	}
	return b.convert(e, i, t)
}

func isFloat(e *expr) bool {
	return e.node.Type() != nil && cc.IsFloatingPointType(e.node.Type())
}

func (b *builder) sign(e *expr) (integer, error) {
	x, err := b.integer(e.args[0])
	if err != nil {
		return integer{}, err
	}
	if x, err2 := b.convert(e, x, x.t.promoted()); err2 != nil {
		return integer{}, err2
	} else {
		switch e.op {
		case opNegate:
			p, err := constant(0).plus(-1, x.piece)
			return b.result(e, p, x.t, err)
		case "~":
			p, err := constant(-1).plus(-1, x.piece)
			return b.result(e, p, x.t, err)
		}
		return x, nil
	}
}

// ternary is one of two integers.
func (b *builder) ternary(e *expr) (integer, error) {
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
		return b.ternaryArm(e, taken)
	}
	var then, otherwise integer
	err = b.asks(when, func() (err *Error) {
		then, err = b.integer(e.args[1])
		return err
	}, func() (err *Error) {
		otherwise, err = b.integer(e.args[2])
		return err
	})
	if err != nil {
		return integer{}, err
	}
	t := common(then.t, otherwise.t)
	x, err2 := b.convert(e, then, t)
	if err2 != nil {
		return integer{}, err2
	}
	y, err2 := b.convert(e, otherwise, t)
	if err2 != nil {
		return integer{}, err2
	}
	if kind, ok := b.extreme(e, then.piece, otherwise.piece); ok {
		return integer{piece{kind: kind, args: []piece{x.piece, y.piece}}, t}, nil
	}
	p := choose(when, x.piece, y.piece)
	if p.size() > maxCases {
		return integer{}, errCases
	}
	return integer{p, t}, nil
}

func (b *builder) ternaryArm(e, taken *expr) (integer, error) {
	i, err := b.integer(taken)
	if err != nil {
		return integer{}, err
	}
	if t, ok := typeOf(e.node.Type()); ok {
		return b.convert(e, i, t)
	}
	return i, nil
}

// extreme recognises the least and the greatest of two, whatever they are: the
// arms are what the condition compares.
func (b *builder) extreme(e *expr, then, otherwise piece) (pieceKind, bool) {
	kinds, compares := map[string]pieceKind{"<": least, "<=": least, ">": greatest, ">=": greatest}[e.args[0].op]
	if !compares || then.kind == leaf && otherwise.kind == leaf {
		return 0, false
	}
	left, err1 := b.integer(e.args[0].args[0])
	right, err2 := b.integer(e.args[0].args[1])
	switch {
	case err1 != nil || err2 != nil:
		return 0, false
	case left.same(then) && right.same(otherwise):
		return kinds, true
	case left.same(otherwise) && right.same(then):
		return least + greatest - kinds, true
	}
	return 0, false
}

func (b *builder) arithmetic(e *expr) (integer, error) {
	if e.op == "-" && b.ofPointers(e) {
		x, y, err := b.comparedPointers(e)
		if err != nil {
			return integer{}, err
		}
		p, failed := x.plus(-1, y.piece)
		return b.result(e, p, x.t, failed)
	}
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
	} else if y, x = modulo(e.op, y, x, t), modulo(e.op, x, y, t); y.t != t {
		if y, err = b.converted(e, y, t); err != nil {
			return integer{}, err
		}
	}
	if x, err = b.converted(e, x, t); err != nil {
		return integer{}, err
	}
	var p piece
	var failed error
	switch e.op {
	case "+":
		p, failed = x.plus(1, y.piece)
	case "-":
		p, failed = x.plus(-1, y.piece)
	case "*":
		if p, failed = x.times(y.piece); errors.Is(failed, errProduct) {
			fails := notInteger(e, false, "%v", failed)
			fails.apart = b.loopsOf(x.piece, y.piece)
			return integer{}, fails
		}
	default:
		n, known := y.number()
		if !known {
			fails := notInteger(e, false, "the right side of %s is not a constant", e.op)
			fails.apart = b.loopsOf(x.piece, y.piece)
			return integer{}, fails
		}
		m, fixed := x.number()
		if err := b.settled(e, x); err != nil {
			return integer{}, err
		}
		if fixed {
			p, failed = byConstants(e.op, m, n, t)
		} else {
			p, failed = b.divided(e, x, n)
			if failed != nil && !errors.As(failed, new(*Error)) {
				fails := notInteger(e, false, "%v", failed)
				fails.apart = b.loopsOf(x.piece)
				return integer{}, fails
			}
		}
	}
	return b.result(e, p, t, failed)
}

// modulo keeps a negative constant that is added to, subtracted from or multiplied with an
// unsigned value of variables: what comes of it differs from what C computes by a multiple of
// 2^bits, by nothing where it is in range, which whoever uses it demands. One that is unsigned
// itself and so near 2^32 as the -R of #define R 2u is taken for the negative one that it was.
func modulo(op string, i, other integer, t ctype) integer {
	const near = 1 << 16
	n, fixed := i.number()
	_, both := other.number()
	if !fixed || both || t.signed {
		return i
	}
	switch {
	case n < 0 && (op == "+" || op == "-" || op == "*"):
		i.t = t
	case t.bits == 32 && n >= 1<<32-near && (op == "+" || op == "*"):
		i.piece = constant(n - 1<<32)
	}
	return i
}

// converted is convert with an error that can be nil.
func (b *builder) converted(e *expr, i integer, t ctype) (integer, *Error) {
	i, err := b.convert(e, i, t)
	var where *Error
	if errors.As(err, &where) {
		return i, where
	}
	if err != nil {
		return i, notInteger(e, false, "%v", err)
	}
	return i, nil
}

var errZero = errors.New("a division by 0")

// byConstants is what C makes of two constants.
func byConstants(op string, m, n int, t ctype) (piece, error) {
	switch op {
	case "/", "%":
		if n == 0 {
			return piece{}, errZero
		}
		if op == "/" {
			return constant(m / n), nil
		}
		return constant(m % n), nil
	case "<<", ">>":
		if n < 0 || n >= t.bits || m < 0 && op == "<<" {
			return piece{}, fmt.Errorf("a shift of %d by %d is not defined", m, n)
		}
		if op == ">>" {
			return constant(m >> n), nil
		}
		if high, low := bits.Mul64(uint64(m), 1<<n); high != 0 || low > math.MaxInt64 {
			return piece{}, errRange
		}
		return constant(m << n), nil
	case "&":
		return constant(m & n), nil
	case "|":
		return constant(m | n), nil
	}
	return constant(m ^ n), nil
}

// exact divides or shifts a function of variables, where no remainder is left.
func exact(op string, a nest.Affine, n int) (nest.Affine, error) {
	switch op {
	case "<<":
		if n >= 0 && n < 62 {
			return plus(nest.Constant(0), 1<<n, a)
		}
	case ">>":
		if n >= 0 && n < 62 {
			q, err := exact("/", a, 1<<n)
			if err != nil {
				return q, notAffine(op, n)
			}
			return q, nil
		}
	case "/", "%":
		if n == 0 {
			return nest.Affine{}, errZero
		}
		q := nest.Affine{Const: a.Const / n, Coef: make([]int, len(a.Coef))}
		if a.Const%n != 0 {
			return nest.Affine{}, notAffine(op, n)
		}
		for d, c := range a.Coef {
			if c%n != 0 {
				return nest.Affine{}, notAffine(op, n)
			}
			q.Coef[d] = c / n
		}
		if op == "%" {
			return nest.Constant(0), nil
		}
		return q, nil
	}
	return nest.Affine{}, notAffine(op, n)
}

// notAffine refuses the quotient or the remainder of a variable by n, and says which two loops have it as a variable.
func notAffine(op string, n int) error {
	why := fmt.Sprintf("%s of a variable is not affine", op)
	by := n
	switch op {
	case "&":
		by = n + 1
	case ">>":
		by = 1 << n
	}
	switch {
	case by < 2 || op == "&" && n&by != 0:
		return errors.New(why)
	case op == "/" || op == ">>":
		return fmt.Errorf("%s: write the loop over v, say, as for (q = 0; %d * q < N; q++) for (r = 0; r < %[2]d && %[2]d * q + r < N; r++), where v is %[2]d * q + r and v %[3]s %[4]d is q", why, by, op, n)
	case op != "%" && op != "&":
		return errors.New(why)
	}
	return fmt.Errorf("%s: write the loop over v, say, as for (q = 0; q < N; q += %d) for (r = 0; r < %[2]d && q + r < N; r++), where v is q + r and v %[3]s %[4]d is r", why, by, op, n)
}

// result gives a computed value its type: constants wrap or overflow as C says.
func (b *builder) result(e *expr, p piece, t ctype, err error) (integer, error) {
	if err != nil {
		return integer{}, err
	}
	n, fixed := p.number()
	low, high := t.limits()
	if !fixed || n >= low && n <= high {
		return integer{p, t}, nil
	}
	if t.signed {
		return integer{}, notInteger(e, false, "%d overflows %v", n, t)
	}
	return wrapped(n, t)
}

func wrapped(n int, t ctype) (integer, error) {
	if t.bits == 64 {
		if n < 0 && !t.signed {
			return integer{}, errors.New("as unsigned it is beyond 2^63")
		}
		return integer{constant(n), t}, nil
	}
	n &= 1<<t.bits - 1
	if t.signed && n >= 1<<(t.bits-1) {
		n -= 1 << t.bits
	}
	return integer{constant(n), t}, nil
}

// convert gives a value another type. Constants wrap; a value of variables has to
// stay in range wherever the place is reached.
func (b *builder) convert(e *expr, i integer, t ctype) (integer, error) {
	if i.t == t {
		return i, nil
	}
	if t == boolType {
		if err := b.settled(e, i); err != nil {
			return integer{}, err
		}
		set, err := compare("!=", i.piece, constant(0))
		return integer{choose(set, constant(1), constant(0)), t}, err
	}
	if n, fixed := i.number(); fixed {
		return wrapped(n, t)
	}
	low, high := t.limits()
	low0, high0 := i.t.limits()
	if i.t.signed && low0 >= low && high0 <= high {
		return integer{i.piece, t}, nil // no value is outside
	}
	// What was computed as unsigned may have wrapped before.
	if err := b.within(e, i.piece, max(low, low0), min(high, high0), fmt.Sprintf("it would wrap as %v, or as %v", i.t, t)); err != nil {
		return integer{}, err
	}
	return integer{i.piece, t}, nil
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
	err := b.within(e, i.piece, low, high, fmt.Sprintf(why, i.t))
	var where *Error
	if err != nil && !errors.As(err, &where) {
		where = notInteger(e, false, "%v", err)
	}
	return where
}

// conditions are the operators of what is 0 or 1, in every type.
var conditions = []string{"!", "&&", "||", "<", "<=", ">", ">=", "==", "!="}

// condition evaluates a condition on the loops' variables.
func (b *builder) condition(e *expr) (nest.Condition, *Error) {
	c, err := b.decide(e)
	if err != nil {
		var where *Error
		if errors.As(err, &where) {
			return nil, where
		}
		return nil, notInteger(e, false, "%v", err)
	}
	return b.plain(c), nil
}

func (b *builder) decide(e *expr) (nest.Condition, error) {
	switch e.op {
	case "!":
		c, err := b.condition(e.args[0])
		if err != nil {
			return nil, err
		}
		return not(c)
	case "&&", "||":
		left, err := b.condition(e.args[0])
		if err != nil {
			return nil, err
		}
		if e.op == "&&" && never(left) || e.op == "||" && always(left) {
			return left, nil
		}
		var failed error
		goesOn := left
		if e.op == "||" {
			if goesOn, failed = not(left); failed != nil {
				return nil, failed
			}
		}
		var right nest.Condition
		err = b.asks(goesOn, func() (err *Error) {
			right, err = b.condition(e.args[1])
			return err
		}, nothing)
		if err != nil {
			return nil, err
		}
		if e.op == "&&" {
			return and(left, right)
		}
		return or(left, right)
	case "<", "<=", ">", ">=", "==", "!=":
		if (e.op == "==" || e.op == "!=") && b.notNull(e) {
			if e.op == "==" {
				return nil, nil
			}
			return nest.Condition{{}}, nil
		}
		x, y, err := b.compared(e)
		if err != nil {
			return nil, err
		}
		return compare(e.op, x.piece, y.piece)
	case opCall:
		if _, value := b.onlyReturns(e); value != nil && slices.Contains(conditions, value.op) {
			var c nest.Condition
			err := b.inCall(e, func(value *expr) (err *Error) {
				c, err = b.condition(value)
				return err
			})
			if err != nil {
				return nil, err
			}
			return c, nil
		}
	}
	i, err := b.integer(e)
	if err != nil {
		return nil, err
	}
	return compare("!=", i.piece, constant(0))
}

// asks evaluates what C evaluates where a condition holds, and where it does not, so
// that what must not happen there is asked about there alone. In the head of a loop,
// which is no place in the tree yet, it is asked about everywhere.
func (b *builder) asks(c nest.Condition, f, g func() *Error) *Error {
	if b.asked == nil {
		return b.when(c, f, g)
	}
	if err := f(); err != nil {
		return err
	}
	return g()
}

// compared are the sides of a comparison, in their common type.
func (b *builder) compared(e *expr) (x, y integer, err *Error) {
	if b.ofPointers(e) {
		if x, y, err = b.comparedPointers(e); err == nil || b.asked != nil {
			return x, y, err
		}
	}
	if x, err = b.integer(e.args[0]); err != nil {
		return x, y, err
	}
	if y, err = b.integer(e.args[1]); err != nil {
		return x, y, err
	}
	t := common(x.t, y.t)
	if x, err = b.converted(e, x, t); err != nil {
		return x, y, err
	}
	if y, err = b.converted(e, y, t); err != nil {
		return x, y, err
	}
	if err = b.settled(e.args[0], x); err == nil {
		err = b.settled(e.args[1], y)
	}
	return x, y, err
}

// ofData reports whether an expression's value depends on data: on an array, a
// call, or a variable that is no loop's.
func (b *builder) ofData(e *expr) bool {
	return e.any(func(e *expr) bool {
		if e.stored() || e.op == opCall {
			return true
		}
		if e.op != opVar {
			return false
		}
		if b.walkers[e.decl] && !slices.ContainsFunc(b.loops, func(l loopVar) bool { return l.decl == e.decl }) {
			return true
		}
		_, err := b.variable(e)
		return err != nil
	})
}
