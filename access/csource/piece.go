package csource

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A piece is an integer as a function of the loops' variables: affine, the least or greatest of
// several pieces, or one of two by a condition.
type piece struct {
	kind   pieceKind
	affine nest.Affine    // of a leaf
	args   []piece        // of least and greatest; then and else of a choice
	when   nest.Condition // of a choice
}

type pieceKind int

const (
	leaf pieceKind = iota
	least
	greatest
	choice
)

// maxCases bounds the cases of one integer or condition.
const maxCases = 64

// An excess is why arithmetic gives up. Building panics with an excess or an [*Error].
type excess string

const (
	tooLarge  excess = "it leaves the range of 64 bits"
	manyCases excess = "it has too many cases"
)

// located is deferred. It gives an excess, or an error without a place, the place of a node.
func located(n cc.Node) {
	switch why := recover().(type) {
	case nil:
	case excess:
		panic(refuse(n, "%s", string(why)))
	case *Error:
		if why.Pos == (Pos{}) {
			why.Pos, why.Expr = place(n), source(n)
		}
		panic(why)
	default:
		panic(why)
	}
}

// tried returns the error that f panics with.
func tried(f func()) (err *Error) {
	defer func() {
		var is bool
		if why := recover(); why != nil {
			if err, is = why.(*Error); !is {
				panic(why)
			}
		}
	}()
	f()
	return nil
}

func bound(cases int) {
	if cases > maxCases {
		panic(manyCases)
	}
}

func constant(n int) piece { return piece{affine: nest.Constant(n)} }

// number returns the value of a piece without variables.
func (p piece) number() (n int, ok bool) {
	return p.affine.Const, p.kind == leaf &&
		!slices.ContainsFunc(p.affine.Coef, func(c int) bool { return c != 0 })
}

// each applies f to all leaves. If f reverses the order, least and greatest swap.
func (p piece) each(turned bool, f func(nest.Affine) nest.Affine) piece {
	if p.kind == leaf {
		return piece{affine: f(p.affine)}
	}
	q := piece{kind: p.kind, when: p.when}
	if turned && p.kind != choice {
		q.kind = least + greatest - p.kind
	}
	for _, a := range p.args {
		q.args = append(q.args, a.each(turned, f))
	}
	return q
}

// plus returns p + factor*q.
func (p piece) plus(factor int, q piece) piece {
	switch {
	case q.kind == leaf:
		return p.each(false, func(a nest.Affine) nest.Affine { return plus(a, factor, q.affine) })
	case p.kind == leaf:
		return q.each(factor < 0, func(a nest.Affine) nest.Affine {
			return plus(p.affine, factor, a)
		})
	}
	bound(p.size() * q.size())
	c := q.choice()
	c.args = []piece{p.plus(factor, c.args[0]), p.plus(factor, c.args[1])}
	return c
}

func (p piece) size() int {
	if p.kind == leaf {
		return 1
	}
	n := 0
	for _, a := range p.args {
		n += a.size()
	}
	return n
}

func (p piece) choice() piece {
	if p.kind == choice {
		return p
	}
	first, rest := p.args[0], piece{kind: p.kind, args: p.args[1:]}
	if len(rest.args) == 1 {
		rest = rest.args[0]
	}
	op := "<="
	if p.kind == greatest {
		op = ">="
	}
	return piece{kind: choice, when: compare(op, first, rest), args: []piece{first, rest}}
}

// all returns the functions whose least (or greatest) the piece is, if it is one.
func (p piece) all(kind pieceKind) (list []nest.Affine, ok bool) {
	if p.kind == leaf {
		return []nest.Affine{p.affine}, true
	}
	ok = p.kind == kind
	for _, a := range p.args {
		more, alike := a.all(kind)
		list, ok = append(list, more...), ok && alike
	}
	return list, ok
}

// compare returns the condition p op q.
func compare(op string, p, q piece) nest.Condition {
	if op == "==" || op == "!=" {
		if p.kind == choice { // such as 1 or 0
			return either(p.when, compare(op, p.args[0], q), compare(op, p.args[1], q))
		}
		equal := and(compare(">=", p, q), compare("<=", p, q))
		if op == "==" {
			return equal
		}
		return not(equal)
	}
	return exceeds(op, p, q).atLeast0()
}

// exceeds returns what is at least 0 where p op q, of < <= > >=.
func exceeds(op string, p, q piece) piece {
	if op[0] == '<' {
		p, q = q, p
	}
	if op == "<" || op == ">" {
		p = p.plus(1, constant(-1))
	}
	return p.plus(-1, q)
}

func (p piece) atLeast0() nest.Condition {
	switch p.kind {
	case leaf:
		if n, ok := p.number(); ok && n >= 0 {
			return nest.Condition{{}}
		} else if ok {
			return nil
		}
		return nest.Condition{{p.affine}}
	case choice:
		return either(p.when, p.args[0].atLeast0(), p.args[1].atLeast0())
	}
	all := p.args[0].atLeast0()
	for _, a := range p.args[1:] {
		if p.kind == least {
			all = and(all, a.atLeast0())
		} else {
			all = or(all, a.atLeast0())
		}
	}
	return all
}

// either returns then where when holds, and otherwise elsewhere.
func either(when, then, otherwise nest.Condition) nest.Condition {
	if always(then) && never(otherwise) {
		return when
	}
	return or(and(when, then), and(not(when), otherwise))
}

// always and never ignore the variables' values.
func always(c nest.Condition) bool {
	return slices.ContainsFunc(c, func(all []nest.Affine) bool { return len(all) == 0 })
}

func never(c nest.Condition) bool { return len(c) == 0 }

func or(a, b nest.Condition) nest.Condition {
	if always(a) || always(b) {
		return nest.Condition{{}}
	}
	bound(len(a) + len(b))
	return slices.Concat(a, b)
}

func and(a, b nest.Condition) (both nest.Condition) {
	bound(len(a) * len(b))
	for _, x := range a {
		for _, y := range b {
			bound(len(x) + len(y))
			both = append(both, slices.Concat(x, y))
		}
	}
	return both
}

func not(c nest.Condition) nest.Condition {
	result := nest.Condition{{}}
	for _, all := range c {
		var below nest.Condition // some member is negative
		for _, a := range all {
			below = append(below, []nest.Affine{plus(nest.Constant(-1), -1, a)})
		}
		result = and(result, below)
	}
	return result
}

// plus returns a + factor*b.
func plus(a nest.Affine, factor int, b nest.Affine) nest.Affine {
	sum := nest.Affine{Const: sumOf(a.Const, factor, b.Const),
		Coef: make([]int, max(len(a.Coef), len(
			b.Coef)))}
	copy(sum.Coef, a.Coef)
	for d, c := range b.Coef {
		sum.Coef[d] = sumOf(sum.Coef[d], factor, c)
	}
	for len(sum.Coef) > 0 && sum.Coef[len(sum.Coef)-1] == 0 {
		sum.Coef = sum.Coef[:len(sum.Coef)-1]
	}
	return sum
}

// sumOf returns x + factor*y, and panics with tooLarge on overflow.
func sumOf(x, factor, y int) int {
	high, low := bits.Mul64(uint64(max(factor, -factor)), uint64(max(y, -y)))
	product := factor * y
	total := x + product
	if high != 0 || low > math.MaxInt || (total > x) != (product > 0) && product != 0 ||
		total == math.MinInt {
		panic(tooLarge)
	}
	return total
}

// same compares pieces or conditions as written.
func same(p, q any) bool { return fmt.Sprint(p) == fmt.Sprint(q) }

// choose returns then where when holds, and otherwise elsewhere: as their least or greatest if when
// compares them, as in i < n ? i : n.
func (b *builder) choose(when nest.Condition, then, otherwise piece) piece {
	const few = 6 // their comparison has at most maxCases
	switch size := then.size() * otherwise.size(); {
	case always(when) || same(then, otherwise):
		return then
	case never(when):
		return otherwise
	case size <= few:
		for op, kind := range map[string]pieceKind{
			"<": least, "<=": least, ">": greatest, ">=": greatest,
		} {
			c := compare(op, then, otherwise)
			if same(c, when) || same(b.plain(c), when) {
				return piece{kind: kind, args: []piece{then, otherwise}}
			}
		}
	}
	bound(then.size() + otherwise.size())
	return piece{kind: choice, when: when, args: []piece{then, otherwise}}
}
