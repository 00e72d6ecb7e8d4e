package csource

import (
	"errors"
	"fmt"
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A header is what the head of a loop says.
type header struct {
	node  cc.Node
	v     loopVar
	name  string
	first piece
	step  int
	rows  []piece // at least 0 as long as the loop goes on
	until []piece // not 0 as long as it goes on
	wraps bool    // the variable is compared as unsigned
	early bool    // the condition takes the step, as of for (i = n; i-- > 0;)
	ahead int     // and so is what lies so far above it

	body    *cc.Statement
	also    []*expr          // steps of other variables, behind the body
	changed []*cc.Declarator // walkers that an iteration changes
	paths   []path           // of those that have a value in front of the loop
	changes *expr            // of a counted loop, the condition if it changes variables
	late    bool             // the condition is evaluated behind an iteration, as that of a do
	counted bool             // the variable counts iterations from 0, and the condition is one on walkers
	owed    []check          // of a counted loop, what must not hold wherever the condition is evaluated
}

// loop is the head of the loop, to be named in a refusal.
func (h *header) loop() string {
	if s, is := h.node.(*cc.IterationStatement); is && s.Case == cc.IterationStatementWhile {
		return "while (...)"
	} else if h.late {
		return "do ... while (...)"
	} else if h.counted {
		return "for (...)"
	}
	return "for (" + h.name + " ...)"
}

// parts are the parts of the parser's tree that an iteration is.
func (h *header) parts() []cc.Node {
	list := []cc.Node{h.body}
	if h.changes != nil {
		list = append(list, h.changes.node)
	}
	for _, e := range h.also {
		list = append(list, e.node)
	}
	return list
}

// maxLoops is how many loops are inside of each other at most: what is found out about a
// nest takes time with a power of them.
const maxLoops = 64

// A heading is what stands in the brackets of a for, or of a while.
type heading struct {
	declared  *cc.Declaration
	assigned  []*expr
	condition cc.ExpressionNode
	steps     []*expr
}

// headingOf is the heading of a loop.
func headingOf(s *cc.IterationStatement) heading {
	switch s.Case {
	case cc.IterationStatementForDecl:
		return heading{declared: s.Declaration, condition: s.ExpressionList, steps: listed(s.ExpressionList2)}
	case cc.IterationStatementFor:
		return heading{assigned: listed(s.ExpressionList), condition: s.ExpressionList2, steps: listed(s.ExpressionList3)}
	}
	return heading{condition: s.ExpressionList}
}

// listed are the expressions between commas.
func listed(n cc.ExpressionNode) []*expr {
	if isNil(n) {
		return nil
	}
	if e := expression(n); e.op != "," {
		return []*expr{e}
	} else {
		return e.args
	}
}

// forLoop builds a for.
func (b *builder) forLoop(s *cc.IterationStatement) *Error {
	parts := headingOf(s)
	own, counted := b.ownVariable(s, parts)
	if counted {
		return b.counted(s, parts)
	}
	h, first, step, err := b.headerOf(s, parts, own)
	if err != nil {
		return err
	}
	if err := b.loopVariable(&h, first); err != nil {
		return err
	}
	var begin integer
	if own != nil {
		begin, err = b.walkedFirst(first, own)
	} else {
		begin, err = b.integer(first)
	}
	if err != nil {
		return err
	}
	if begin, err = b.converted(first, begin, h.v.t); err != nil {
		return err
	}
	h.first, h.wraps = begin.piece, !h.v.t.signed
	var goesOn *expr
	if !isNil(parts.condition) {
		goesOn = h.before(expression(parts.condition), step)
	}
	if goesOn == nil || isNil(step) && !h.early {
		return &Error{Pos: place(s), Expr: "for (...)", Why: "a loop without a condition or without a step is not understood: write for (i = 0; i < n; i++), or downwards for (i = n; i-- > 0;)"}
	}
	h.v.at = nest.Variable(len(b.loops))
	b.loops = append(b.loops, h.v)
	b.asked = &h
	err = b.heads(&h, goesOn, step)
	b.asked = nil
	b.loops = b.loops[:len(b.loops)-1]
	if err != nil {
		return err
	}
	return b.split(h, 0)
}

// headerOf is the header of a for loop with its variable, which is own if that is known, what this is at first, and the step that changes it.
func (b *builder) headerOf(s *cc.IterationStatement, parts heading, own *cc.Declarator) (h header, first *expr, step cc.ExpressionNode, err *Error) {
	h, step = header{node: s, body: s.Statement}, s.ExpressionList3
	if s.Case == cc.IterationStatementForDecl {
		step = s.ExpressionList2
	}
	switch {
	case own != nil:
		h.v.decl = own
		first, err = b.firsts(parts, own)
		for _, e := range parts.steps {
			if e.args[0].decl == own {
				step = e.node
			} else {
				h.also = append(h.also, e)
			}
		}
	case s.Case == cc.IterationStatementForDecl:
		h.v.decl, first, err = b.declaredFirst(s.Declaration)
	default:
		h.v.decl, first, err = b.assignedFirst(s)
	}
	return h, first, step, err
}

// loopVariable says of the header's variable, which is first at first, its name and type, or why it can be none.
func (b *builder) loopVariable(h *header, first *expr) *Error {
	head := func(why string, args ...any) *Error { return refuse(h.v.decl, why, args...) }
	h.name = h.v.decl.Name()
	if len(b.loops) == maxLoops {
		return head("it is inside of %d loops, and no more are read", maxLoops)
	}
	var ok bool
	if h.v.t, ok = typeOf(h.v.decl.Type()); !ok || h.v.t.bits < 32 {
		instead := ""
		if isPointer(h.v.decl) {
			instead = fmt.Sprintf(": write for (i = 0; i < n; i++) over the array, and its subscripts in place of *%s", h.name)
		}
		return head("the variable of a loop has to be an int, a long, or unsigned%s", instead)
	}
	if h.v.decl.AddressTaken() {
		return head("the address of the variable of a loop is taken")
	}
	if b.shared[h.v.decl] {
		return head("the variable of a loop is declared again, in a function: declare it in the loop, as for (int %s = 0; ...)", h.name)
	}
	for _, outer := range b.loops {
		if outer.decl == h.v.decl {
			return notInteger(first, false, "%s is the variable of a loop around it", h.name)
		}
	}
	return nil
}

// before is the condition of a loop: of i-- > 0 or i-- without another step, which is early, i > 0 or i.
func (h *header) before(condition *expr, step cc.ExpressionNode) *expr {
	taken := condition
	if condition.op == ">" || condition.op == "!=" {
		taken = condition.args[0]
	}
	h.early = isNil(step) && taken.op == opBehind && taken.way() < 0 && taken.args[0].op == opVar && taken.args[0].decl == h.v.decl
	switch {
	case !h.early:
		return condition
	case taken == condition:
		return taken.args[0]
	}
	return &expr{op: condition.op, node: condition.node, args: []*expr{taken.args[0], condition.args[1]}}
}

// declaredFirst is the variable of for (int i = first; ...).
func (b *builder) declaredFirst(d *cc.Declaration) (*cc.Declarator, *expr, *Error) {
	l := d.InitDeclaratorList
	if l == nil || l.InitDeclaratorList != nil || l.InitDeclarator.Case != cc.InitDeclaratorInit ||
		l.InitDeclarator.Initializer == nil || l.InitDeclarator.Initializer.Case != cc.InitializerExpr {
		return nil, nil, refuse(d, "want one variable with its first value")
	}
	return l.InitDeclarator.Declarator, expression(l.InitDeclarator.Initializer.AssignmentExpression), nil
}

// assignedFirst is the variable of for (i = first; ...).
func (b *builder) assignedFirst(s *cc.IterationStatement) (*cc.Declarator, *expr, *Error) {
	if isNil(s.ExpressionList) {
		return nil, nil, &Error{Pos: place(s), Expr: "for (...)", Why: "a loop that does not say the first value of its variable is not understood"}
	}
	e := expression(s.ExpressionList)
	if e.op != "=" || e.args[0].op != opVar || e.args[0].decl == nil || isArray(e.args[0].decl) {
		return nil, nil, notInteger(e, false, "want one variable and its first value")
	}
	return e.args[0].decl, e.args[1], nil
}

// heads reads the condition and the step of a loop.
func (b *builder) heads(h *header, condition *expr, step cc.ExpressionNode) *Error {
	if h.early {
		h.step = -1
	} else if err := b.step(h, expression(step)); err != nil {
		return err
	}
	if err := b.goesOn(h, condition); err != nil || !h.early {
		return err
	}
	return h.stepped(len(b.loops) - 1)
}

// stepped turns what was read of the variable in front of an early step into what is behind it.
func (h *header) stepped(own int) *Error {
	behind := func(a nest.Affine) (nest.Affine, error) {
		if !usesVar(a, own) {
			return a, nil
		}
		return plus(a, 1, nest.Constant(a.Coef[own]))
	}
	var failed, err error
	h.first, failed = h.first.plus(-1, constant(1))
	for _, list := range [][]piece{h.rows, h.until} {
		for i := range list {
			list[i], err = list[i].each(false, behind)
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return &Error{Pos: place(h.node), Expr: h.loop(), Why: errRange.Error()}
	}
	return nil
}

// step reads i++, ++i, i += c, i = i + c, and their opposites.
func (b *builder) step(h *header, e *expr) *Error {
	if len(e.args) == 0 || e.args[0].op != opVar || e.args[0].decl != h.v.decl {
		return notInteger(e, false, "want a step of %s", h.name)
	}
	var by integer
	var err *Error
	switch e.op {
	case opBefore, opBehind:
		h.step = e.way()
		return nil
	case "+=", "-=":
		if by, err = b.integer(e.args[1]); err != nil {
			return err
		}
	case "=":
		if by, err = b.integer(e.args[1]); err != nil {
			return err
		}
		p, failed := by.plus(-1, piece{affine: nest.Variable(len(b.loops) - 1)})
		if failed != nil {
			return notInteger(e, false, "%v", failed)
		}
		by.piece = p
	default:
		return notInteger(e, false, "want a step of %s by a constant", h.name)
	}
	n, fixed := by.number()
	if !fixed {
		return notInteger(e, false, "the step is not a constant")
	}
	if h.step = n; e.op == "-=" {
		h.step = -n
	}
	if h.step == 0 {
		return notInteger(e, false, "the step is 0: the loop does not end")
	}
	if h.step > 1<<40 || h.step < -1<<40 {
		return notInteger(e, false, "a step of %d", h.step)
	}
	return nil
}

// goesOn reads the condition of a loop: comparisons under &&.
func (b *builder) goesOn(h *header, e *expr) *Error {
	switch e.op {
	case "&&":
		if err := b.goesOn(h, e.args[0]); err != nil {
			return err
		}
		return b.goesOn(h, e.args[1])
	case opVar, opBefore, opBehind: // as i != 0
		x, err := b.integer(e)
		h.until = append(h.until, x.piece)
		return err
	case "<", "<=", ">", ">=", "!=":
	default:
		return notInteger(e, b.ofData(e), "want comparisons by < <= > >= != in the condition of a loop, and && between them")
	}
	x, y, err := b.compared(e)
	if err != nil {
		return err
	}
	p, q := x.piece, y.piece // p >= q
	if e.op[0] == '<' {
		p, q = q, p
	}
	row, failed := p.plus(-1, q)
	if failed == nil && (e.op == "<" || e.op == ">") {
		row, failed = row.plus(1, constant(-1))
	}
	if failed != nil {
		return notInteger(e, false, "%v", failed)
	}
	if e.op == "!=" {
		h.until = append(h.until, row)
	} else {
		h.rows = append(h.rows, row)
	}
	return nil
}

// maxSplits bounds how often the bounds of a loop are one of two.
const maxSplits = 8

// split builds the loop, once for each case of its bounds where these are neither
// the least nor the greatest of several as a loop can have it.
func (b *builder) split(h header, depth int) *Error {
	wanted := greatest
	if h.step < 0 {
		wanted = least
	}
	ways := []*piece{}
	if _, ok := h.first.all(wanted); !ok || len(h.until) > 0 && h.first.kind != leaf {
		ways = append(ways, &h.first)
	}
	h.rows, h.until = slices.Clone(h.rows), slices.Clone(h.until)
	for i := range h.rows {
		if _, ok := h.rows[i].all(least); !ok {
			ways = append(ways, &h.rows[i])
		}
	}
	for i := range h.until {
		if h.until[i].kind != leaf {
			ways = append(ways, &h.until[i])
		}
	}
	if len(ways) == 0 {
		return b.loop(h)
	}
	at := ways[0]
	c, err := at.choice()
	if err != nil || depth >= maxSplits {
		return &Error{Pos: place(h.node), Expr: "for (...)", Why: "the bounds have too many cases"}
	}
	for _, all := range c.when {
		for _, a := range all {
			if usesVar(a, len(b.loops)) {
				return &Error{Pos: place(h.node), Expr: "for (...)", Why: "a bound depends on the loop's own variable by a condition"}
			}
		}
	}
	arm := func(p piece) func() *Error {
		return func() *Error {
			*at = p
			return b.split(h, depth+1)
		}
	}
	return b.when(c.when, arm(c.args[0]), arm(c.args[1]))
}

// loop builds a loop whose bounds are affine.
func (b *builder) loop(h header) *Error {
	own := len(b.loops)
	fail := func(why string) *Error {
		return &Error{Pos: place(h.node), Expr: h.loop(), Why: why}
	}
	wanted, sign := greatest, 1
	if h.step < 0 {
		wanted, sign = least, -1
	}
	l := &nest.Loop{Name: h.name, Step: h.step}
	l.From, _ = h.first.all(wanted)
	var before []nest.Affine // at least 0, or the loop has no iteration
	for _, row := range h.rows {
		list, _ := row.all(least)
		for _, a := range list {
			if !usesVar(a, own) {
				before = append(before, a)
				continue
			}
			c, rest := a.Coef[own], without(a, own)
			if c*sign > 0 {
				// It holds ever after if it holds at first.
				if len(l.From) != 1 {
					return fail("a condition on the first value, and there are several")
				}
				at, err := plus(rest, c, l.From[0])
				if err != nil {
					return fail(err.Error())
				}
				before = append(before, at)
				continue
			}
			end, ok := quotient(rest, c*-sign, sign)
			if !ok {
				return fail("a bound that is a fraction of a variable is not affine")
			}
			l.To = append(l.To, end)
		}
	}
	return b.guarded(before, func() *Error {
		for _, row := range h.until {
			if err := b.until(h, l, row.affine); err != nil {
				return err
			}
		}
		if len(l.To) == 0 {
			return fail("the condition does not end the loop in the direction of its step" + map[bool]string{true: ": write for (i = n; i-- > 0;)"}[h.step < 0 && h.wraps])
		}
		if err := b.ends(h, l); err != nil {
			return err
		}
		if len(h.owed) > 0 {
			b.nodes = append(b.nodes, h.owes(l, own, b))
		}
		return b.walk(h, l)
	})
}

// iterate builds the body of a loop, and what stands behind it.
func (b *builder) iterate(h *header) *Error {
	if h.changes != nil && !h.late {
		if err := b.full(h.changes, nothing); err != nil {
			return err
		}
	}
	if err := b.inside(scope{loop: true}, func() (exits, *Error) { return b.stmt(h.body) }); err != nil {
		return err
	}
	for _, e := range h.also {
		b.begin(e.node)
		if err := b.effect(e); err != nil {
			return err
		}
	}
	if h.changes != nil && h.late {
		return b.full(h.changes, nothing)
	}
	return nil
}

// without is a function without the variable of a depth.
func without(a nest.Affine, depth int) nest.Affine {
	a.Coef = slices.Clone(a.Coef)
	a.Coef[depth] = 0
	for n := len(a.Coef); n > 0 && a.Coef[n-1] == 0; n-- {
		a.Coef = a.Coef[:n-1]
	}
	return a
}

// guarded builds something where all of a list is at least 0.
func (b *builder) guarded(list []nest.Affine, f func() *Error) *Error {
	all := nest.Condition{{}}
	for _, a := range list {
		c, err := piece{affine: a}.atLeast0()
		if err == nil {
			all, err = and(all, c)
		}
		if err != nil {
			return &Error{Why: err.Error()}
		}
	}
	return b.when(all, f, nothing)
}

// quotient is the end, which is not reached, of a variable v that goes up (sign 1)
// as long as rest - c*v >= 0, or down (sign -1) as long as rest + c*v >= 0.
func quotient(rest nest.Affine, c, sign int) (nest.Affine, bool) {
	end := nest.Affine{Coef: make([]int, len(rest.Coef))}
	for d, k := range rest.Coef {
		if k%c != 0 {
			return end, false
		}
		end.Coef[d] = sign * (k / c)
	}
	floor := rest.Const / c
	if rest.Const%c < 0 {
		floor--
	}
	// up: v <= floor(rest/c); down: v >= -floor(rest/c)
	end.Const = sign*floor + sign
	return end, true
}

// until adds the end of a loop that goes on as long as c*v + rest is not 0.
func (b *builder) until(h header, l *nest.Loop, a nest.Affine) *Error {
	own := len(b.loops)
	fail := func(why string) *Error {
		return &Error{Pos: place(h.node), Expr: h.loop(), Why: why}
	}
	if !usesVar(a, own) {
		return fail("a condition by != that does not depend on the loop's variable is not understood")
	}
	c := a.Coef[own]
	rest := without(a, own)
	end := nest.Affine{Const: -a.Const / c, Coef: make([]int, len(rest.Coef))}
	var exact = a.Const%c == 0
	for d, k := range rest.Coef {
		exact = exact && k%c == 0
		end.Coef[d] = -k / c
	}
	if !exact {
		return fail("a bound that is a fraction of a variable is not affine")
	}
	sign := 1
	if h.step < 0 {
		sign = -1
	}
	var beyond nest.Condition
	for _, from := range l.From {
		way, err := plus(end, -1, from)
		if err != nil {
			return fail(err.Error())
		}
		misses := func(k int) bool { return k%h.step != 0 }
		switch { // it is no matter where conditions on the bounds exclude each other
		case slices.ContainsFunc(way.Coef, misses):
			b.probe(nest.Condition{{}}, fail("whether the steps hit the end that != names is not known"))
		case misses(way.Const):
			b.probe(nest.Condition{{}}, fail(fmt.Sprintf("steps of %d pass by the end that != names: the loop does not end", h.step)))
		}
		past, err := plus(nest.Constant(-1), -sign, way)
		if err != nil {
			return fail(err.Error())
		}
		beyond = append(beyond, []nest.Affine{past})
	}
	b.probe(beyond, fail("the loop begins beyond the end that != names"))
	l.To = append(l.To, end)
	return nil
}

// ends demands that the value after the last one, too, is one of the type, and so is what lies ahead of it.
func (b *builder) ends(h header, l *nest.Loop) *Error {
	fail := &Error{Pos: place(h.node), Expr: h.loop(), Why: "the variable would leave the range of its type"}
	low, high := h.v.t.limits()
	high -= h.ahead
	if h.wraps {
		low = 0
		if h.early {
			low = -1 // behind the last iteration, from where nothing is read
		}
		var negative nest.Condition // a first value
		all := []nest.Affine{}
		for _, from := range l.From {
			below, err := plus(nest.Constant(low-1), -1, from)
			if err != nil {
				return fail
			}
			all = append(all, below)
			negative = append(negative, []nest.Affine{below})
		}
		if h.step > 0 {
			negative = nest.Condition{all} // the greatest of them is below 0
		}
		b.probe(negative, &Error{Pos: fail.Pos, Expr: fail.Expr, Why: "as unsigned, the first value would wrap: begin at 0 or above, or compare signed values, such as (int)n for an unsigned n"})
	}
	if h.v.t.bits == 64 && (h.step > 0 || !h.wraps) {
		return nil // nothing gets that far
	}
	sign, limit := 1, high
	if h.step < 0 {
		sign, limit = -1, -low
	}
	var bad []nest.Affine // all at least 0: iterations, and ends within a step of the limit
	for _, to := range l.To {
		var past int // the value after the last is at most so far beyond the end
		if !b.hits(l, to) {
			past = sign*h.step - 1
		}
		a, err := plus(nest.Constant(past-limit-1), sign, to)
		if err != nil {
			return fail
		}
		bad = append(bad, a)
		for _, from := range l.From {
			runs, err := plus(nest.Constant(-1), sign, to)
			if err == nil {
				runs, err = plus(runs, -sign, from)
			}
			if err != nil || len(bad) > maxCases {
				return fail
			}
			bad = append(bad, runs)
		}
	}
	b.probe(simplified(nest.Condition{bad}), fail)
	return nil
}

// hits reports whether the variable of a loop comes to equal an end.
func (b *builder) hits(l *nest.Loop, to nest.Affine) bool {
	if len(l.From) != 1 {
		return false
	}
	way, err := plus(to, -1, l.From[0])
	return err == nil && !slices.ContainsFunc(append(slices.Clone(way.Coef), way.Const), func(k int) bool { return k%l.Step != 0 })
}

// simplified is a condition without what is known to hold, or never where it
// never holds.
func simplified(c nest.Condition) nest.Condition {
	var kept nest.Condition
	for _, all := range c {
		list, holds := []nest.Affine{}, true
		for _, a := range all {
			if n, fixed := (piece{affine: a}).number(); !fixed {
				list = append(list, a)
			} else if n < 0 {
				holds = false
			}
		}
		if holds {
			kept = append(kept, list)
		}
	}
	return kept
}
