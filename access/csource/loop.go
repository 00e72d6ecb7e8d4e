package csource

import (
	"fmt"
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

type header struct {
	s     *cc.IterationStatement
	v     loopVar
	name  string
	first piece
	step  int
	rows  []piece // the loop runs while all are at least 0
	wraps bool    // the variable is compared as unsigned
	ahead int     // and so are values up to ahead above it
}

func (h *header) fails(why string, args ...any) *Error {
	return &Error{Pos: place(h.s), Expr: "for (" + h.name + " ...)", Why: fmt.Sprintf(why, args...)}
}

// maxLoops bounds the depth of a nest: analysis time grows with a power of it.
const maxLoops = 64

func (b *builder) forLoop(s *cc.IterationStatement) {
	h := header{s: s}
	condition, step := s.ExpressionList2, s.ExpressionList3
	if s.Case == cc.IterationStatementForDecl {
		condition, step = s.ExpressionList, s.ExpressionList2
	}
	if isNil(condition) || isNil(step) {
		panic(h.fails(
			"a loop without a condition or a step is not understood: write for (i = 0; i < n; i++)"))
	}
	by := expression(step)
	if !by.assigns() || by.args[0].op != opVar || by.args[0].decl == nil {
		panic(by.fails("want the step of one variable, such as i++ or i += 2"))
	}
	v := by.args[0].decl
	b.first(s, v)
	b.loopVariable(&h, v)
	first, _ := b.values.of(v)
	begin := b.convert(by.args[0], first.i, h.v.t)
	h.first, h.wraps = begin.piece, !h.v.t.signed
	b.forget(s)
	h.v.at = nest.Variable(len(b.loops))
	b.loops, b.asked = append(b.loops, h.v), &h
	b.step(&h, by)
	b.goesOn(&h, expression(condition))
	b.loops, b.asked = b.loops[:len(b.loops)-1], nil
	b.split(h, 0)
	b.forget(s)
	b.bind(v, value{failed: refuse(s, "its value behind the loop is not understood")})
}

func (b *builder) first(s *cc.IterationStatement, own *cc.Declarator) {
	var first *expr
	if s.Case == cc.IterationStatementForDecl {
		if l := s.Declaration.InitDeclaratorList; l != nil && l.InitDeclaratorList == nil &&
			l.InitDeclarator.Declarator == own {
			first = initial(l.InitDeclarator)
		}
	} else if !isNil(s.ExpressionList) {
		if e := expression(s.ExpressionList); e.op == "=" && e.args[0].op == opVar &&
			e.args[0].decl == own {
			first = e.args[1]
		}
	}
	if first == nil {
		panic(refuse(s, "want a loop that begins with the first value of its variable, and of "+
			"no other"))
	}
	b.bind(own, value{i: b.integer(first)})
}

func (b *builder) loopVariable(h *header, v *cc.Declarator) {
	h.v.decl, h.name = v, v.Name()
	var ok bool
	h.v.t, ok = typeOf(v.Type())
	switch {
	case len(b.loops) == maxLoops:
		panic(refuse(v, "it is inside of %d loops, and no more are read", maxLoops))
	case !ok || h.v.t.bits < 32 || isArray(v):
		panic(refuse(v, "the variable of a loop has to be an int, a long, or unsigned"))
	case v.AddressTaken() || v.IsVolatile() || b.changed[v.Name()] > 1 && v.Linkage() != cc.None:
		panic(refuse(v,
			"something else than the loop may change its variable"))
	case slices.ContainsFunc(b.loops, func(l loopVar) bool { return l.decl == v }):
		panic(refuse(v, "it is the variable of a loop around it"))
	}
}

// step reads i++, ++i, i += c, i = i + c, and their opposites.
func (b *builder) step(h *header, e *expr) {
	switch e.op {
	case opBefore, opBehind:
		h.step = e.way()
		return
	case "+=", "-=", "=":
	default:
		panic(e.fails("want a step by a constant"))
	}
	by := b.integer(e.args[1])
	if e.op == "=" {
		by.piece = by.plus(-1, piece{affine: h.v.at})
	}
	n, fixed := by.number()
	if h.step = n; e.op == "-=" {
		h.step = -n
	}
	switch {
	case !fixed:
		panic(e.fails("the step is not a constant"))
	case n == 0:
		panic(e.fails("the step is 0: the loop does not end"))
	case max(n, -n) > 1<<40:
		panic(e.fails("a step beyond 2^40"))
	}
}

// goesOn reads a loop's condition: comparisons joined by &&.
func (b *builder) goesOn(h *header, e *expr) {
	switch e.op {
	case "&&":
		b.goesOn(h, e.args[0])
		b.goesOn(h, e.args[1])
		return
	case "<", "<=", ">", ">=", "!=":
	default:
		panic(e.fails("want comparisons by < <= > >= != in the condition of a loop, and && " +
			"between them"))
	}
	p, q := b.compared(e)
	if e.op == "!=" {
		b.notPast(h, e, p.plus(-1, q))
		return
	}
	h.rows = append(h.rows, exceeds(e.op, p, q))
}

// notPast reads a condition f != 0 on a function f with the variable's coefficient 1 or -1. With
// steps of 1 that start before the end, it equals < or >.
func (b *builder) notPast(h *header, e *expr, way piece) {
	own := len(b.loops) - 1
	if way.kind != leaf || h.first.kind != leaf || !usesVar(way.affine, own) || max(h.step,
		-h.step) != 1 {
		panic(e.fails("!= is understood of a variable with steps of 1: write <"))
	}
	c := way.affine.Coef[own]
	row := constant(0).plus(-c*h.step, way) // above 0 while the loop runs
	first := plus(without(row.affine, own), -h.step, h.first.affine)
	if low, _, ok := b.span(first); !ok || low < 0 || max(c, -c) != 1 {
		panic(e.fails("the loop may begin beyond the end that != names: write <"))
	}
	h.rows = append(h.rows, row.plus(1, constant(-1)))
}

const maxSplits = 8

// split builds the loop once for each case of its bounds. A first value that is a greatest (going
// down, a least) and a row that is a least need no cases.
func (b *builder) split(h header, depth int) {
	wanted := greatest
	if h.step < 0 {
		wanted = least
	}
	var at *piece
	if _, ok := h.first.all(wanted); !ok {
		at = &h.first
	}
	h.rows = slices.Clone(h.rows)
	for i := range h.rows {
		if _, ok := h.rows[i].all(least); !ok && at == nil {
			at = &h.rows[i]
		}
	}
	if at == nil {
		b.loop(h)
		return
	}
	c := at.choice()
	if depth >= maxSplits {
		panic(h.fails("the bounds have too many cases"))
	}
	for _, all := range c.when {
		for _, a := range all {
			if usesVar(a, len(b.loops)) {
				panic(h.fails("a bound depends on the loop's own variable by a condition"))
			}
		}
	}
	arm := func(p piece) func() {
		return func() {
			*at = p
			b.split(h, depth+1)
		}
	}
	b.when(c.when, arm(c.args[0]), arm(c.args[1]))
}

func (b *builder) loop(h header) {
	own, wanted, sign := len(b.loops), greatest, 1
	if h.step < 0 {
		wanted, sign = least, -1
	}
	l := &nest.Loop{Name: h.name, Step: h.step}
	l.From, _ = h.first.all(wanted)
	before := nest.Condition{{}} // where it does not hold, the loop has no iteration
	for _, row := range h.rows {
		list, _ := row.all(least)
		for _, a := range list {
			if usesVar(a, own) && a.Coef[own]*sign < 0 {
				rest := without(a, own)
				last := nest.FloorDiv(rest.Const, -sign*a.Coef[own]) // without variables
				end, ok := multiple(plus(rest, -1, nest.Constant(rest.Const)), -a.Coef[own])
				if !ok {
					panic(h.fails("a bound that is a fraction of a variable is not affine"))
				}
				l.To = append(l.To, plus(nest.Constant(sign*last+sign), 1, end))
				continue
			}
			if usesVar(a, own) { // if it holds at first, it holds ever after
				if len(l.From) != 1 {
					panic(h.fails("a condition on the first value, and there are several"))
				}
				a = plus(without(a, own), a.Coef[own], l.From[0])
			}
			before = and(before, piece{affine: a}.atLeast0())
		}
	}
	b.when(before, func() {
		if len(l.To) == 0 {
			panic(h.fails("the condition does not end the loop in the direction of its step"))
		}
		b.ends(&h, l)
		b.iterations(&h, l)
	}, nothing)
}

// iterations builds the body of a loop, strip-mined if a remainder within asks for it.
func (b *builder) iterations(h *header, l *nest.Loop) {
	own, turn := len(b.loops), b.turns[h.s]
	defer func() { b.loops = b.loops[:own] }()
	v := h.v
	v.node, v.step, v.loop = h.s, l.Step, l
	innermost := l
	if outer, inner, at, ok := b.inTurns(l, turn); ok {
		v.at, v.loop, v.turn = at, outer, turn
		b.loops = append(b.loops, v)
		v.loop, v.inner = inner, true
		outer.Body, l, innermost = []nest.Node{inner}, outer, inner
	}
	b.loops = append(b.loops, v)
	inside := b.body(func() { b.stmt(h.s.Statement) })
	if innermost.Body = inside; len(inside) > 0 {
		b.nodes = append(b.nodes, l)
	}
}

func usesVar(a nest.Affine, depth int) bool { return depth < len(a.Coef) && a.Coef[depth] != 0 }

func without(a nest.Affine, depth int) nest.Affine {
	return plus(a, -a.Coef[depth], nest.Variable(depth))
}

// ends demands that the value after the last one, plus ahead, fits the type. The bounds of the
// loops around must show it.
func (b *builder) ends(h *header, l *nest.Loop) {
	low, high := h.v.t.limits()
	if h.wraps {
		low = 0
		below := func(from nest.Affine) bool {
			least, _, ok := b.span(from)
			return !ok || least < 0
		}
		if slices.ContainsFunc(l.From, below) {
			panic(h.fails(
				"as unsigned, the first value may wrap: begin at 0 or above, or compare with (int)n"))
		}
	}
	if h.v.t.bits == 64 && (h.step > 0 || !h.wraps) {
		return // nothing gets that far
	}
	for _, to := range l.To {
		least, most, ok := b.span(to)
		if ok && (h.step > 0 && most+h.step-1+h.ahead <= high || h.step < 0 &&
			least+h.step+1 >= low) {
			return
		}
	}
	panic(h.fails("the variable may leave the range of its type"))
}
