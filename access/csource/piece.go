package csource

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A piece is an integer as a function of the loops' variables: affine, the least
// or the greatest of several, or one of two as a condition says.
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

var (
	errProduct = errors.New("a product of variables is not affine")
	errRange   = errors.New("it leaves the range of 64 bits")
	errCases   = errors.New("it has too many cases")
)

func constant(n int) piece { return piece{affine: nest.Constant(n)} }

// number is the value of a piece that does not depend on a variable.
func (p piece) number() (n int, ok bool) {
	return p.affine.Const, p.kind == leaf && !slices.ContainsFunc(p.affine.Coef, func(c int) bool { return c != 0 })
}

// each applies f to all leaves. least becomes greatest if f turns them round.
func (p piece) each(turned bool, f func(nest.Affine) (nest.Affine, error)) (piece, error) {
	if p.kind == leaf {
		a, err := f(p.affine)
		return piece{affine: a}, err
	}
	q := piece{kind: p.kind, when: p.when}
	if turned && p.kind == least {
		q.kind = greatest
	} else if turned && p.kind == greatest {
		q.kind = least
	}
	for _, a := range p.args {
		b, err := a.each(turned, f)
		if err != nil {
			return piece{}, err
		}
		q.args = append(q.args, b)
	}
	return q, nil
}

// plus is p + factor*q.
func (p piece) plus(factor int, q piece) (piece, error) {
	switch {
	case q.kind == leaf:
		return p.each(false, func(a nest.Affine) (nest.Affine, error) { return plus(a, factor, q.affine) })
	case p.kind == leaf:
		return q.each(factor < 0, func(a nest.Affine) (nest.Affine, error) { return plus(p.affine, factor, a) })
	case p.size()*q.size() > maxCases:
		return piece{}, errCases
	}
	c, err := q.choice()
	if err != nil {
		return piece{}, err
	}
	return c.arms(func(arm piece) (piece, error) { return p.plus(factor, arm) })
}

// arms is a choice with both arms replaced.
func (p piece) arms(f func(piece) (piece, error)) (piece, error) {
	then, err := f(p.args[0])
	if err != nil {
		return piece{}, err
	}
	otherwise, err := f(p.args[1])
	return piece{kind: choice, when: p.when, args: []piece{then, otherwise}}, err
}

// times is p * q.
func (p piece) times(q piece) (piece, error) {
	if n, ok := q.number(); ok {
		return constant(0).plus(n, p)
	}
	if n, ok := p.number(); ok {
		return constant(0).plus(n, q)
	}
	return piece{}, errProduct
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

// choice writes the least or the greatest of several as a choice.
func (p piece) choice() (piece, error) {
	if p.kind == choice {
		return p, nil
	}
	first, rest := p.args[0], piece{kind: p.kind, args: p.args[1:]}
	if len(rest.args) == 1 {
		rest = rest.args[0]
	}
	op := "<="
	if p.kind == greatest {
		op = ">="
	}
	when, err := compare(op, first, rest)
	return piece{kind: choice, when: when, args: []piece{first, rest}}, err
}

// all are functions whose least (or greatest) the piece is, if it is that.
func (p piece) all(kind pieceKind) ([]nest.Affine, bool) {
	if p.kind == leaf {
		return []nest.Affine{p.affine}, true
	}
	if p.kind != kind {
		return nil, false
	}
	var list []nest.Affine
	for _, a := range p.args {
		more, ok := a.all(kind)
		if !ok {
			return nil, false
		}
		list = append(list, more...)
	}
	return list, true
}

// compare is the condition under which two pieces are as the operator says.
func compare(op string, p, q piece) (nest.Condition, error) {
	switch op {
	case "<", "<=":
		p, q = q, p // q > p, q >= p
	case "==", "!=":
		if p.kind == choice { // such as 1 or 0
			then, err1 := compare(op, p.args[0], q)
			otherwise, err2 := compare(op, p.args[1], q)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			return either(p.when, then, otherwise)
		}
		above, err := compare(">=", p, q)
		if err != nil {
			return nil, err
		}
		below, err := compare("<=", p, q)
		if err != nil {
			return nil, err
		}
		equal, err := and(above, below)
		if op == "==" || err != nil {
			return equal, err
		}
		return not(equal)
	}
	difference, err := p.plus(-1, q)
	if err != nil {
		return nil, err
	}
	if op == "<" || op == ">" {
		if difference, err = difference.plus(1, constant(-1)); err != nil {
			return nil, err
		}
	}
	return difference.atLeast0()
}

// atLeast0 is the condition that a piece is not negative.
func (p piece) atLeast0() (nest.Condition, error) {
	switch p.kind {
	case leaf:
		if n, ok := p.number(); ok && n >= 0 {
			return nest.Condition{{}}, nil
		} else if ok {
			return nil, nil
		}
		return nest.Condition{{p.affine}}, nil
	case choice:
		then, err := p.args[0].atLeast0()
		if err != nil {
			return nil, err
		}
		otherwise, err := p.args[1].atLeast0()
		if err != nil {
			return nil, err
		}
		return either(p.when, then, otherwise)
	}
	all := nest.Condition{{}}
	if p.kind == greatest {
		all = nil
	}
	for _, a := range p.args {
		c, err := a.atLeast0()
		if err == nil && p.kind == least {
			all, err = and(all, c)
		} else if err == nil {
			all, err = or(all, c)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// either is then where when holds and otherwise where it does not.
func either(when, then, otherwise nest.Condition) (nest.Condition, error) {
	if always(then) && never(otherwise) {
		return when, nil
	}
	unless, err := not(when)
	if err != nil {
		return nil, err
	}
	a, err := and(when, then)
	if err != nil {
		return nil, err
	}
	b, err := and(unless, otherwise)
	if err != nil {
		return nil, err
	}
	return or(a, b)
}

// always and never say what is known of a condition without values.
func always(c nest.Condition) bool {
	return slices.ContainsFunc(c, func(all []nest.Affine) bool { return len(all) == 0 })
}

func never(c nest.Condition) bool { return len(c) == 0 }

func or(a, b nest.Condition) (nest.Condition, error) {
	if always(a) || always(b) {
		return nest.Condition{{}}, nil
	}
	if len(a)+len(b) > maxCases {
		return nil, errCases
	}
	return slices.Concat(a, b), nil
}

func and(a, b nest.Condition) (nest.Condition, error) {
	if len(a)*len(b) > maxCases {
		return nil, errCases
	}
	var both nest.Condition
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxCases {
				return nil, errCases
			}
			both = append(both, slices.Concat(x, y))
		}
	}
	return both, nil
}

func not(c nest.Condition) (nest.Condition, error) {
	result := nest.Condition{{}}
	for _, all := range c {
		var below nest.Condition // some member is negative
		for _, a := range all {
			b, err := plus(nest.Constant(-1), -1, a)
			if err != nil {
				return nil, err
			}
			below = append(below, []nest.Affine{b})
		}
		var err error
		if result, err = and(result, below); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// plus is a + factor*b.
func plus(a nest.Affine, factor int, b nest.Affine) (nest.Affine, error) {
	sum := nest.Affine{Coef: make([]int, max(len(a.Coef), len(b.Coef)))}
	ok := true
	add := func(x, y int) int {
		high, low := bits.Mul64(uint64(max(factor, -factor)), uint64(max(y, -y)))
		product := factor * y
		total := x + product
		if high != 0 || low > math.MaxInt || (total > x) != (product > 0) && product != 0 || total == math.MinInt {
			ok = false
		}
		return total
	}
	sum.Const = add(a.Const, b.Const)
	for d := range sum.Coef {
		var x, y int
		if d < len(a.Coef) {
			x = a.Coef[d]
		}
		if d < len(b.Coef) {
			y = b.Coef[d]
		}
		sum.Coef[d] = add(x, y)
	}
	if !ok {
		return nest.Affine{}, errRange
	}
	for len(sum.Coef) > 0 && sum.Coef[len(sum.Coef)-1] == 0 {
		sum.Coef = sum.Coef[:len(sum.Coef)-1]
	}
	return sum, nil
}

// same reports whether two pieces are written alike.
func (p piece) same(q piece) bool {
	if p.kind != q.kind || len(p.args) != len(q.args) {
		return false
	}
	for i, a := range p.args {
		if !a.same(q.args[i]) {
			return false
		}
	}
	if p.kind == choice {
		return sameCondition(p.when, q.when)
	}
	return p.kind != leaf || equal(p.affine, q.affine)
}

func equal(a, b nest.Affine) bool {
	d, err := plus(a, -1, b)
	n, ok := piece{affine: d}.number()
	return err == nil && ok && n == 0
}

// choose is then where when holds and otherwise where it does not: the least or
// the greatest of the two where that is what it says, as in i < n ? i : n.
func (b *builder) choose(when nest.Condition, then, otherwise piece) piece {
	switch {
	case always(when) || then.same(otherwise):
		return then
	case never(when):
		return otherwise
	}
	for op, kind := range map[string]pieceKind{"<": least, "<=": least, ">": greatest, ">=": greatest} {
		c, err := compare(op, then, otherwise)
		if err == nil && (sameCondition(c, when) || sameCondition(b.plain(c), when)) {
			return piece{kind: kind, args: []piece{then, otherwise}}
		}
	}
	return piece{kind: choice, when: when, args: []piece{then, otherwise}}
}

func sameCondition(a, b nest.Condition) bool {
	return slices.EqualFunc(a, b, func(x, y []nest.Affine) bool { return slices.EqualFunc(x, y, equal) })
}
