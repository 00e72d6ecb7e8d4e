package csource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A walker is a variable of a function, an integer or a pointer, that steps change, such as k++, *p++, or p += stride. While a
// function is built, the builder has the value of each at the place that is built, as a function of the loops around it, as it has
// that of other variables once and for all:
//
//   - An expression that is all of a statement, or of an initial value, changes it behind itself (changing).
//
//   - Behind a condition it is one of two (when).
//
//   - What a loop does is found out by building its body once for nothing, with a symbol for each walker's value in front of it
//     (paces). If behind the body it is that value and a constant, the pace, it is in front of the body what it was in front of the
//     loop and as many paces as there were iterations; and behind the loop, one for each of its trips.
//
//   - If behind the body it is a pace further in a ring of so many, as of r = r == 99 ? 0 : r + 1, it is so many paces further in that
//     ring (goesRound).
//
// Everything else leaves a walker without a value that is known, and whoever asks for it is refused.
type walker struct {
	i    integer // of an integer
	l    lvalue  // what a pointer points to, without steps if it is an integer
	lost *Error  // why neither is known
}

// What is said of walkers without a value that is known.
const (
	lostOnce     = "it changes and is used, or changes again, in one expression: make them statements, one after the other"
	lostSome     = "it changes within an expression only where a condition holds: make the change a statement"
	lostPace     = "it does not change by the same constant in every iteration of the loop: write the array and its subscripts"
	lostAnew     = "it changes in each iteration of a loop, and not by constant steps: give it its value before it is used"
	lostTrips    = "the trip count of the loop around it is not affine, so how far it moves is not known: write the array and its subscripts"
	lostSteps    = "it does not change in step with the loop's variable, whose first value is not affine: write the array and its subscripts"
	lostRing     = "it cycles through places that are not a few affine functions: write the array and its subscripts"
	lostRound    = "it has one of several values in each iteration of the loop, and which is not known: write the array and its subscripts, or one loop for each"
	lostTurns    = "it does not change by a multiple of the step of the loop, which is read as two for a remainder in it: write the array and its subscripts"
	lostArms     = "after a condition it points to one of several, which is not understood: write the arrays and their subscripts, or one loop for each"
	lostNoValue  = "it has no value yet"
	lostOperator = "its new value is not understood: write the array and its subscripts"
	whileWords   = "a while is not understood: write a for with affine bounds"
)

// at is a walker's value: of a pointer that of the subscript that moves.
func (w walker) at() piece {
	if w.points() {
		return w.l.steps[len(w.l.steps)-1].at
	}
	return w.i.piece
}

func (w walker) points() bool { return len(w.l.steps) > 0 }

// to is the walker with another value.
func (w walker) to(at piece) walker {
	if !w.points() {
		return walker{i: integer{at, w.i.t}}
	}
	w.l.steps = slices.Clone(w.l.steps)
	last := &w.l.steps[len(w.l.steps)-1]
	last.at = at
	if len(last.by) == 1 {
		last.by = []move{{last.by[0].e, integer{at, ctype{64, true}}, 1}}
	}
	return w
}

// alike tells whether two values of a walker differ in nothing but how far it has come.
func (w walker) alike(x walker) bool {
	if w.lost != nil || x.lost != nil || w.points() != x.points() {
		return false
	}
	return !w.points() && w.i.t == x.i.t || w.points() && w.l.beside(x.l)
}

// beside tells whether two pointers go through the same array, by the same subscript.
func (l lvalue) beside(m lvalue) bool {
	if l.array != m.array || l.variable != m.variable || l.offset != m.offset || l.bits != m.bits || l.failed != nil || m.failed != nil ||
		l.array < 0 && l.declared != m.declared ||
		len(l.steps) != len(m.steps) || !slices.Equal(l.extents, m.extents) || l.bytes() != m.bytes() {
		return false
	}
	for d, s := range l.steps {
		t := m.steps[d]
		if s.extent != t.extent || s.bytes != t.bytes || s.alone != t.alone || d < len(l.steps)-1 && !s.at.same(t.at) {
			return false
		}
	}
	return true
}

// writes calls f with what gives a variable a value below a part of the parser's tree, but for the initial ones.
func writes(below cc.Node, f func(v *cc.Declarator, e *expr)) {
	seen := map[cc.Node]bool{}
	each(below, func(n cc.Node) {
		e := &expr{}
		switch n := n.(type) {
		case *cc.AssignmentExpression:
			if n.Case != cc.AssignmentExpressionCond {
				e = expression(n)
			}
		case *cc.PostfixExpression:
			if n.Case == cc.PostfixExpressionInc || n.Case == cc.PostfixExpressionDec {
				e = expression(n)
			}
		case *cc.UnaryExpression:
			if n.Case == cc.UnaryExpressionInc || n.Case == cc.UnaryExpressionDec {
				e = expression(n)
			}
		}
		if e.assigns() && e.args[0].op == opVar && e.args[0].decl != nil && !seen[e.node] {
			seen[e.node] = true
			f(e.args[0].decl, e)
		}
	})
}

// mentions tells whether an expression names a variable.
func (e *expr) mentions(v *cc.Declarator) bool {
	return e.any(func(e *expr) bool { return e.op == opVar && e.decl == v })
}

// findWalkers finds those of a function: its variables that steps change, and that nothing changes but expressions that are evaluated
// as a whole, in their turn.
func (b *builder) findWalkers(f *cc.FunctionDefinition) {
	if b.walked[f] {
		return
	}
	b.walked[f] = true
	count, steps, elsewhere := map[*cc.Declarator]int{}, map[*cc.Declarator]bool{}, map[*cc.Declarator]bool{}
	byData := map[*cc.Declarator]bool{}
	writes(f.CompoundStatement, func(v *cc.Declarator, e *expr) {
		count[v]++
		steps[v] = steps[v] || e.op != "=" || e.args[1].mentions(v)
		byData[v] = byData[v] || e.op == "=" && e.args[1].any(func(e *expr) bool { return e.stored() || e.op == opCall })
	})
	away := func(n cc.Node) { writes(n, func(v *cc.Declarator, _ *expr) { elsewhere[v] = true }) }
	clipped := map[*cc.Declarator]bool{} // which follow has the value of
	var declared []*cc.Declarator
	each(f.CompoundStatement, func(n cc.Node) {
		switch n := n.(type) {
		case *cc.InitDeclarator:
			declared = append(declared, n.Declarator)
			if n.Case == cc.InitDeclaratorInit {
				count[n.Declarator]++
				if n.Initializer != nil && n.Initializer.Case != cc.InitializerExpr {
					away(n.Initializer)
				}
			}
			away(n.Declarator)
		case *cc.TypeName:
			away(n)
		case *cc.CompoundStatement:
			list := items(n)
			for i, item := range list {
				if item.Case == cc.BlockItemDecl && item.Declaration.Case == cc.DeclarationDecl {
					for l := item.Declaration.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
						v := l.InitDeclarator.Declarator
						clipped[v] = l.InitDeclarator.Case == cc.InitDeclaratorInit && !isPointer(v) && v.WriteCount() == 1+rewrites(v, list[i+1:])
					}
				}
			}
		case *cc.SelectionStatement:
			if n.Case == cc.SelectionStatementSwitch {
				away(n.ExpressionList)
			}
		case *cc.PrimaryExpression:
			if n.Case == cc.PrimaryExpressionStmt {
				away(n)
			}
		}
	})
	for _, v := range append(declared, parameters(f)...) {
		t, isInteger := typeOf(v.Type())
		again := count[v] > 1 || v.IsParam() && count[v] > 0 // it is given other values, as where two are swapped
		b.walkers[v] = (steps[v] || again && (isPointer(v) || !byData[v])) && !elsewhere[v] && !clipped[v] && count[v] == v.WriteCount() && (isPointer(v) || isInteger && t != boolType) &&
			v.Linkage() == cc.None && !v.IsStatic() && !v.AddressTaken() && !volatile(v) && !b.shared[v]
	}
}

// enter tells whether what a walker is declared with, in front of the region that is read, is its value where that begins: the
// region is not within a loop, and nothing else in front of it changes the variable.
func (b *builder) enter(v *cc.Declarator) bool {
	all := items(b.main.CompoundStatement)
	if len(b.region) == 0 || !slices.Contains(all, b.region[0]) {
		return false
	}
	outside := false
	each(b.main.CompoundStatement, func(n cc.Node) {
		if l, is := n.(*cc.LabeledStatement); is && l.Case == cc.LabeledStatementLabel {
			outside = true // from where a goto may lead back
		}
	})
	for _, item := range all {
		if !slices.Contains(b.region, item) {
			writes(item, func(w *cc.Declarator, _ *expr) { outside = outside || w == v })
		}
	}
	return !outside
}

// start gives a walker its initial value, if it has one.
func (b *builder) start(d *cc.InitDeclarator) *Error {
	v := d.Declarator
	b.now[v] = walker{lost: refuse(d, lostNoValue)}
	if d.Case != cc.InitDeclaratorInit || isNil(d.Initializer) || d.Initializer.Case != cc.InitializerExpr {
		return nil
	}
	w, err := b.valued(v, expression(d.Initializer.AssignmentExpression))
	b.now[v] = w
	return err
}

// valued is a walker that is given the value of an expression. Of a pointer it has to be understood.
func (b *builder) valued(v *cc.Declarator, e *expr) (w walker, err *Error) {
	if isPointer(v) {
		if unsaid(e) {
			return walker{lost: refuse(e.node, lostNoValue)}, nil
		}
		l, err := b.pointer(e, 1)
		if err == nil {
			l, err = b.pointerAs(l, v.Type(), false)
		}
		if err == nil {
			l, err = b.collapsed(e, l)
		}
		if err != nil {
			return walker{lost: err.of(e)}, err
		}
		return walker{l: l}, nil
	}
	t, _ := typeOf(v.Type())
	w, _ = b.found(func() (walker, *Error) {
		i, err := b.integer(e)
		if err == nil && i.t.bits < t.bits {
			err = b.stays(e, i)
		}
		return walker{i: integer{i.piece, t}}, err
	})
	return w, nil
}

// found is a walker that f finds, which is lost if it does not: then nothing of what f asks about is asked.
func (b *builder) found(f func() (walker, *Error)) (walker, *Error) {
	nodes, accesses := len(b.nodes), len(b.accesses)
	w, err := f()
	if err != nil {
		b.nodes, b.accesses = b.nodes[:nodes], b.accesses[:accesses]
		return walker{lost: err}, err
	}
	return w, nil
}

// collapsed is a pointer whose subscript is one value, of which it was demanded that what it is the sum of stays in its types.
func (b *builder) collapsed(e *expr, l lvalue) (lvalue, *Error) {
	l.steps = slices.Clone(l.steps)
	last := &l.steps[len(l.steps)-1]
	for _, m := range last.by {
		if err := b.stays(m.e, m.i); err != nil {
			return l, err
		}
	}
	last.by = []move{{e, integer{last.at, ctype{64, true}}, 1}}
	return l, nil
}

// A shift is what an expression makes of a walker.
type shift struct {
	node    cc.Node // of that expression
	was, is walker
}

// full builds an expression that is evaluated as a whole, behind which the walkers have other values that it changes.
func (b *builder) full(e *expr, build func() *Error) *Error {
	if b.shifts != nil || len(b.walkers) == 0 {
		return build()
	}
	var changes []*expr // those inside of others first
	spoilt := map[*cc.Declarator]string{}
	named, changed := map[*cc.Declarator]int{}, map[*cc.Declarator]int{}
	var find func(x *expr, may bool)
	find = func(x *expr, may bool) {
		if x.op == opVar {
			named[x.decl]++
		}
		for i, a := range x.args {
			find(a, may || i > 0 && (x.op == "&&" || x.op == "||" || x.op == "?:"))
		}
		if x.assigns() && x.args[0].op == opVar && b.walkers[x.args[0].decl] {
			v := x.args[0].decl
			changes = append(changes, x)
			if changed[v]++; may {
				spoilt[v] = lostSome
			}
		}
	}
	find(e, false)
	if len(changes) == 0 {
		return build()
	}
	for _, x := range changes {
		// In k = k + 2 and k += k the value is read before it changes.
		v := x.args[0].decl
		if spoilt[v] == "" && named[v] > 1 && (changed[v] > 1 || x.node != e.node) {
			spoilt[v] = lostOnce
		}
		if why := spoilt[v]; why != "" {
			b.now[v] = walker{lost: refuse(x.node, "%s", why)}
		}
	}
	b.shifts = map[*cc.Declarator]shift{}
	defer func() { b.shifts = nil }()
	for _, x := range changes {
		v := x.args[0].decl
		if spoilt[v] != "" {
			if isPointer(v) {
				return notInteger(x, false, "%s", spoilt[v])
			}
			b.shifts[v] = shift{x.node, b.now[v], b.now[v]}
			continue
		}
		was := b.now[v]
		if !was.points() && was.lost == nil && was.i.t.bits == 0 {
			was.lost = refuse(x.node, lostNoValue)
		}
		is, err := b.turned(x, v, was)
		if err != nil {
			return err
		}
		b.shifts[v] = shift{x.node, was, is}
	}
	if err := build(); err != nil {
		return err
	}
	for v, t := range b.shifts {
		b.now[v] = t.is
	}
	return nil
}

// turned is a walker behind a change of it. What a pointer is changed by has to be understood.
func (b *builder) turned(x *expr, v *cc.Declarator, was walker) (walker, *Error) {
	right, sign := x.addend()
	by := integer{constant(1), intType}
	switch {
	case sign == 0 && x.op == "=":
		return b.valued(v, x.args[1])
	case sign == 0 && !isPointer(v): // k ^= 1 as k = k ^ 1
		t, _ := typeOf(v.Type())
		value := &expr{op: strings.TrimSuffix(x.op, "="), node: x.node, args: x.args}
		w, err := b.found(func() (walker, *Error) {
			i, err := b.integer(&expr{op: opCast, node: x.args[0].node, args: []*expr{value}})
			return walker{i: integer{i.piece, t}}, err
		})
		if err != nil || w.i.usesAny(func(d int) bool { return d >= maxLoops }) {
			w = walker{lost: refuse(x.node, lostOperator)}
		}
		return w, nil
	case sign == 0:
		return walker{lost: refuse(x.node, lostOperator)}, nil
	case right != nil:
		_, err := b.found(func() (w walker, err *Error) {
			if by, err = b.integer(right); err == nil {
				err = b.stays(right, by)
			}
			return w, err
		})
		switch {
		case err != nil && isPointer(v):
			return was, wrong("%s changes by %s, which is not known (%s: %s): write the array and its subscripts", v.Name(), right.text(), err.Expr, err.Why).of(x)
		case err != nil:
			return walker{lost: err}, nil
		}
	}
	if was.lost != nil {
		return was, nil
	}
	at, err := was.at().plus(sign, by.piece)
	if err != nil {
		return walker{lost: refuse(x.node, "%v", err)}, nil
	}
	return was.to(at), nil
}

// addend is what a change adds to a variable or, with the sign -1, subtracts from it, nil for 1. The sign is 0 if it does neither.
func (e *expr) addend() (right *expr, sign int) {
	switch e.op {
	case opBefore, opBehind:
		return nil, e.way()
	case "+=":
		return e.args[1], 1
	case "-=":
		return e.args[1], -1
	case "=": // k = k + 2
		v, sum := e.args[0].decl, e.args[1]
		is := func(e *expr) bool { return e.op == opVar && e.decl == v }
		switch {
		case sum.op == "+" && is(sum.args[0]) && !sum.args[1].mentions(v), sum.op == "-" && is(sum.args[0]) && !sum.args[1].mentions(v):
			return sum.args[1], map[string]int{"+": 1, "-": -1}[sum.op]
		case sum.op == "+" && is(sum.args[1]) && !sum.args[0].mentions(v):
			return sum.args[0], 1
		}
	}
	return nil, 0
}

// valueOf is the value of a walker, or of an expression that changes one: ok if it is one of these.
func (b *builder) valueOf(e *expr) (w walker, ok bool) {
	if e.op == opVar {
		w, ok = b.now[e.decl]
		return w, ok
	}
	if !e.assigns() || e.args[0].op != opVar {
		return w, false
	}
	t, ok := b.shifts[e.args[0].decl]
	switch {
	case ok && t.was.lost != nil && t.is.lost != nil:
		return t.was, true
	case !ok || t.node != cc.Node(e.node):
		return w, false
	case e.op == opBehind:
		return t.was, true
	}
	return t.is, true
}

// walkedTo is the integer that a walker is, or that an expression which changes one is. It demands that it is one of its type: what is
// computed is right but for a multiple of 2^bits.
func (b *builder) walkedTo(e *expr, w walker) (integer, error) {
	switch {
	case w.lost != nil:
		fails := notInteger(e, true, "its value is not known here: %s: %s", w.lost.Expr, w.lost.Why)
		fails.apart = w.lost.apart
		return integer{}, fails
	case w.points():
		return integer{}, notInteger(e, true, "it is not an integer")
	}
	if n, fixed := w.i.number(); fixed {
		if low, high := w.i.t.limits(); w.i.t.signed && w.i.t.bits >= 32 && (n < low || n > high) {
			return integer{}, notInteger(e, false, "%d overflows %v", n, w.i.t)
		}
		return wrapped(n, w.i.t)
	}
	if err := b.stays(e, w.i); err != nil {
		return integer{}, err
	}
	return w.i, nil
}

// changedIn are the walkers that are changed below parts of the parser's tree, and not declared there, in the order of the text.
func (b *builder) changedIn(parts ...cc.Node) (list []*cc.Declarator) {
	inside := map[*cc.Declarator]bool{}
	for _, n := range parts {
		each(n, func(n cc.Node) {
			if d, is := n.(*cc.InitDeclarator); is {
				inside[d.Declarator] = true
			}
		})
	}
	for _, n := range parts {
		writes(n, func(v *cc.Declarator, _ *expr) {
			if b.walkers[v] && !inside[v] && !slices.Contains(list, v) {
				list = append(list, v)
			}
		})
	}
	return list
}

// A path is what a walker does in a loop.
type path struct {
	v    *cc.Declarator
	from walker // in front of it
	pace int    // in an iteration
	lost *Error // why there is no pace

	round []walker // what it is in front of iterations, one after the other, where these values come again and again

	next    *piece       // what an iteration makes of a symbol, if that is known
	assumed []assumption // by it
	ring    ring         // that it goes round by its pace, of size 0 if it goes straight on
}

// lose says of a path why there is none.
func (p *path) lose(why string) { p.lost = &Error{Pos: place(p.v), Expr: p.v.Name(), Why: why} }

// walks finds the paths of walkers in a loop that is not unrolled. Nothing is known of them if its body is not understood where they have
// any values.
func (b *builder) walks(h *header, l *nest.Loop) *Error {
	turn := b.turns[h.node]
	if !h.counted {
		err := b.paces(h, l)
		if err == nil || err.below > 0 || b.dry && b.turns[h.node] == turn {
			return err
		}
		for i := range h.paths {
			h.paths[i].lost = h.orApart(err)
		}
		return nil
	}
	h.paths = slices.Clone(h.paths)
	return nil
}

// find finds the walkers that a loop changes.
func (h *header) find(b *builder) {
	known, is := b.written[h.node]
	if !is {
		known = written{b.changedIn(h.parts()...), h.gives()}
		b.written[h.node] = known
	}
	h.changed, h.paths = known.changed, nil
	for _, v := range h.changed {
		if w, known := b.now[v]; known && w.lost == nil {
			h.paths = append(h.paths, path{v: v, from: w})
		}
	}
}

// changesInside tells whether a value depends on what is known within a loop alone that is built next: its variable, or the symbols of walkers.
func (b *builder) changesInside(w walker) bool {
	depends := func(p piece) bool {
		return p.usesAny(func(d int) bool { return d >= len(b.loops) && d < maxLoops || d >= maxLoops+b.symbols })
	}
	if !w.points() {
		return depends(w.i.piece)
	}
	return slices.ContainsFunc(w.l.steps, func(s step) bool {
		return depends(s.at) || slices.ContainsFunc(s.by, func(m move) bool { return depends(m.i.piece) })
	})
}

// equals tells whether two values of a walker are the same one.
func (w walker) equals(x walker) bool { return w.alike(x) && w.at().same(x.at()) }

// What is written in a loop are the walkers that it changes, and which of these are given a value that is none of theirs.
type written struct {
	changed []*cc.Declarator
	given   map[*cc.Declarator]bool
}

// gives are the variables that an iteration gives a value that is none of theirs.
func (h *header) gives() map[*cc.Declarator]bool {
	given := map[*cc.Declarator]bool{}
	for _, part := range h.parts() {
		writes(part, func(v *cc.Declarator, e *expr) { given[v] = given[v] || e.op == "=" && !e.args[1].mentions(v) })
	}
	return given
}

// tried is what walkers are behind an iteration that is built for nothing, in front of which they are what a function says.
func (b *builder) tried(h *header, l *nest.Loop, in func(i int) walker) (map[*cc.Declarator]walker, []assumption, *Error) {
	before := *b
	b.now = maps.Clone(b.now)
	b.known, b.unknown, b.aliases, b.astray = maps.Clone(b.known), maps.Clone(b.unknown), maps.Clone(b.aliases), maps.Clone(b.astray)
	b.copied = maps.Clone(b.copied)
	notes, statements := b.file.Notes, b.file.Statements
	b.dry, b.assumed = true, nil
	for i, p := range h.paths {
		b.now[p.v] = in(i)
	}
	b.symbols += len(h.paths)
	b.loops = slices.Clip(b.loops)
	h.v.at = nest.Variable(len(b.loops))
	var err *Error
	if l == nil { // its bounds are not known
		b.loops = append(b.loops, h.v)
		err = b.iterate(h)
	} else {
		_, err = b.parted(*h, l, b.turns[h.node], func() *Error { return b.iterate(h) })
	}
	end, assumed := b.now, b.assumed
	inlined := b.inlined
	*b = before
	b.inlined = inlined
	b.file.Notes, b.file.Statements = notes, statements
	return end, assumed, err
}

// orApart is why nothing is known of a walker in a loop, which is to be read one iteration at a time if that would tell.
func (h *header) orApart(lost *Error) *Error {
	if lost == nil || !slices.ContainsFunc([]string{lostPace, lostAnew, lostArms, lostOperator}, func(why string) bool { return strings.Contains(lost.Why, why) }) {
		return lost
	}
	copied := *lost
	copied.apart = append(slices.Clip(lost.apart), apart{h.node})
	return &copied
}

// measure finds the pace of a path by where it leads from a symbol.
func (p *path) measure(end map[*cc.Declarator]walker, symbol int) {
	p.lost, p.next = nil, nil
	w, known := end[p.v]
	switch {
	case !known:
		p.lose(lostAnew)
		return
	case w.lost != nil:
		p.lost = w.lost
		return
	case !w.alike(p.from) || !w.at().uses(symbol):
		p.lose(lostAnew)
		return
	}
	at := w.at()
	p.next = &at
	way, err := at.plus(-1, piece{affine: nest.Variable(symbol)})
	n, fixed := way.number()
	if err != nil || !fixed || n > mostPace || n < -mostPace {
		p.lose(lostPace)
		return
	}
	p.pace = n
}

// mostPace is how far a walker goes in an iteration at most.
const mostPace = 1 << 40

// after is where a walker is after so many iterations.
func (p path) after(trips piece, err error) walker {
	if p.lost != nil {
		return walker{lost: p.lost}
	}
	way, err2 := constant(0).plus(p.pace, trips)
	if err == nil {
		err = err2
	}
	if err == nil {
		way, err = p.from.at().plus(1, way)
	}
	if err != nil || way.size() > maxCases {
		return walker{lost: &Error{Pos: place(p.v), Expr: p.v.Name(), Why: lostTrips}}
	}
	return p.from.to(way)
}

// trips are how many iterations a loop has, or after how many an end is reached.
func trips(l *nest.Loop) (ends []nest.Affine, all piece, err error) {
	sign := 1
	if l.Step < 0 {
		sign = -1
	}
	ended := piece{kind: least}
	for _, to := range l.To {
		for _, from := range l.From {
			way, err := plus(nest.Constant(0), sign, to)
			if err == nil {
				way, err = plus(way, -sign, from)
			}
			if err != nil {
				return nil, all, err
			}
			step := sign * l.Step
			n := nest.Affine{Const: way.Const / step, Coef: make([]int, len(way.Coef))}
			if way.Const%step > 0 {
				n.Const++
			}
			for d, c := range way.Coef {
				if c%step != 0 {
					return nil, all, fmt.Errorf("%s", lostTrips)
				}
				n.Coef[d] = c / step
			}
			ends = append(ends, n)
			ended.args = append(ended.args, piece{affine: n})
		}
	}
	if all = ended; len(ended.args) == 1 {
		all = ended.args[0]
	}
	if n, fixed := all.number(); fixed {
		return ends, constant(max(n, 0)), nil
	}
	return ends, piece{kind: greatest, args: []piece{constant(0), all}}, nil
}

// counts makes a loop count its iterations from 0 where a walker's pace is no multiple of its step, if it can. Its variable is at then.
func (h *header) counts(l *nest.Loop, turn int) {
	if turn != 0 || !slices.ContainsFunc(h.paths, func(p path) bool { return p.lost == nil && p.pace%l.Step != 0 }) || len(l.From) != 1 {
		return
	}
	ends, _, err := trips(l)
	if err != nil {
		return
	}
	at, err := plus(l.From[0], l.Step, h.v.at)
	if err != nil {
		return
	}
	h.v.at = at
	l.Name, l.From, l.To, l.Step = "iteration of "+l.Name, []nest.Affine{nest.Constant(0)}, ends, 1
}

// enters gives the walkers of a loop the values that they have in front of its body, behind which l.From and l.Step are final.
// Before are those in front of the loop.
func (b *builder) enters(h *header, l *nest.Loop, before map[*cc.Declarator]walker) {
	b.now = maps.Clone(before)
	wanted := greatest
	if l.Step < 0 {
		wanted = least
	}
	first := piece{affine: l.From[0]}
	if len(l.From) > 1 {
		first = piece{kind: wanted}
		for _, from := range l.From {
			first.args = append(first.args, piece{affine: from})
		}
	}
	at := nest.Variable(len(b.loops) - 1)
	if v := b.loops[len(b.loops)-1]; v.part == inTurn {
		at = v.at
	}
	done, err := piece{affine: at}.plus(-1, first)
	for _, p := range h.paths {
		if p.round != nil {
			b.now[p.v] = walker{lost: &Error{Pos: place(p.v), Expr: p.v.Name(), Why: lostRound}}
			continue
		}
		if p.lost == nil && p.pace%l.Step != 0 {
			why := lostSteps
			if b.loops[len(b.loops)-1].part == inTurn {
				why = lostTurns
			}
			b.now[p.v] = walker{lost: &Error{Pos: place(p.v), Expr: p.v.Name(), Why: why}}
			continue
		}
		p.pace /= l.Step
		b.now[p.v] = b.around(p, p.after(done, err))
	}
}

// rounds builds an iteration in which walkers have one of several values in turn: integers as functions of the iteration, and where there are
// pointers, once for each of the values. Behind it asks for turns of the loop, it is built for nothing.
func (b *builder) rounds(h *header, l *nest.Loop, build func() *Error) *Error {
	turn, pointers := 0, false
	for _, p := range h.paths {
		if p.round != nil {
			turn, pointers = len(p.round), pointers || p.from.points()
		}
	}
	if turn == 0 {
		return build()
	}
	at := nest.Variable(len(b.loops) - 1)
	if v := b.loops[len(b.loops)-1]; v.part == inTurn {
		at = v.at
	}
	size, sign := l.Step, 1
	if size < 0 {
		size, sign = -size, -1
	}
	which, ok := constant(0), turn == 1
	if done, err := plus(nest.Constant(0), sign, at); !ok && err == nil && len(l.From) == 1 {
		if done, err = plus(done, -sign, l.From[0]); err == nil {
			_, which, ok = b.quotients(done, size*turn, true, false)
		}
	}
	if !ok {
		return build()
	}
	have := func(n int) {
		for _, p := range h.paths {
			if p.round != nil {
				b.now[p.v] = p.round[n]
			}
		}
	}
	if !pointers {
		for _, p := range h.paths {
			if p.round != nil {
				b.now[p.v] = b.inRound(p, which, size)
			}
		}
		return build()
	}
	defer b.copying()()
	var from func(n int) *Error
	from = func(n int) *Error {
		this := func() *Error {
			have(n)
			if b.allCopies++; b.allCopies > maxCopies {
				return &Error{Pos: place(h.node), Expr: h.loop(), Why: tooManyCopies}
			}
			return build()
		}
		if n == turn-1 {
			return this()
		}
		c, err := compare("<=", which, constant(n*size))
		if err != nil {
			return &Error{Pos: place(h.node), Expr: h.loop(), Why: err.Error()}
		}
		return b.when(b.decidedBySpans(c), this, func() *Error { return from(n + 1) })
	}
	return from(0)
}

// inRound is an integer that has one of several values, as the remainder of an iteration says, which is a multiple of a size.
func (b *builder) inRound(p path, which piece, size int) walker {
	lost := walker{lost: &Error{Pos: place(p.v), Expr: p.v.Name(), Why: lostRound}}
	var numbers []int
	for _, w := range p.round {
		if n, fixed := w.i.number(); fixed {
			numbers = append(numbers, n)
		}
	}
	if size == 1 && len(numbers) == len(p.round) {
		at, err := b.eachLeaf(which, func(a nest.Affine) (piece, error) {
			if at, ok := b.entries(a, numbers); ok {
				return at, nil
			}
			return piece{}, errCases
		})
		if err != nil {
			return lost
		}
		return p.from.to(at)
	}
	at := p.round[len(p.round)-1].at()
	for n := len(p.round) - 2; n >= 0; n-- {
		c, err := compare("<=", which, constant(n*size))
		if err != nil {
			return lost
		}
		at = choose(b.decidedBySpans(c), p.round[n].at(), at)
	}
	if at.size() > maxCases {
		return lost
	}
	return p.from.to(at)
}

// behind gives the walkers of a loop the values that they have behind it. Before are those in front of it.
func (b *builder) behind(h *header, l *nest.Loop, before map[*cc.Declarator]walker) {
	b.now = maps.Clone(before)
	for _, v := range h.changed {
		b.now[v] = walker{lost: &Error{Pos: place(v), Expr: v.Name(), Why: lostAnew}}
	}
	_, all, err := trips(l)
	for _, p := range h.paths {
		if n, fixed := all.number(); p.round != nil && err == nil && fixed {
			b.now[p.v] = p.round[n%len(p.round)]
		} else if p.round != nil {
			b.now[p.v] = walker{lost: &Error{Pos: place(p.v), Expr: p.v.Name(), Why: lostTrips}}
		} else {
			b.now[p.v] = b.around(p, p.after(all, err))
		}
	}
	if h.v.decl != nil {
		delete(b.now, h.v.decl)
	}
}

// merged are the values behind a condition: those behind what is done where it holds, and those behind what is done elsewhere.
func merged(c nest.Condition, then, otherwise map[*cc.Declarator]walker) map[*cc.Declarator]walker {
	both := map[*cc.Declarator]walker{}
	for v, x := range then {
		y, known := otherwise[v]
		switch {
		case !known:
		case x.lost != nil:
			both[v] = x
		case y.lost != nil:
			both[v] = y
		case !x.alike(y):
			both[v] = walker{lost: &Error{Pos: place(v), Expr: v.Name(), Why: lostArms}}
		case x.at().same(y.at()):
			both[v] = x
		default:
			p, q := x.at().where(c, 0), y.at().where(c, 1)
			if !p.same(q) {
				p = choose(c, p, q)
			}
			if p.size() <= maxCases {
				both[v] = x.to(p)
			} else {
				both[v] = walker{lost: &Error{Pos: place(v), Expr: v.Name(), Why: errCases.Error()}}
			}
		}
	}
	return both
}

// where is a piece where a condition decides which of two it is, as behind a jump that the condition led to.
func (p piece) where(c nest.Condition, arm int) piece {
	same := func(x, y []nest.Affine) bool { return slices.EqualFunc(x, y, equal) }
	for p.kind == choice && slices.EqualFunc(p.when, c, same) {
		p = p.args[arm]
	}
	return p
}

// pointed is what a pointer points to that walks, or an expression that changes one.
func (w walker) pointed(e *expr) (lvalue, *Error) {
	switch {
	case w.lost != nil:
		fails := wrong("where %s points is not known: %s: %s", e.text(), w.lost.Expr, w.lost.Why)
		fails.apart = w.lost.apart
		return lvalue{}, fails
	case !w.points():
		return lvalue{}, wrong("%s is not a pointer", e.text())
	}
	return w.l, nil
}

// ownVariable is the variable of a for with several that is a loop's as that of others, nil if there is but one; or the loop is
// counted: its condition is one on walkers that it changes.
func (b *builder) ownVariable(s *cc.IterationStatement, parts heading) (own *cc.Declarator, counted bool) {
	firsts, several := parts.firsts(), len(parts.assigned) > 1 || len(parts.steps) > 1
	if d := parts.declared; d != nil && d.InitDeclaratorList != nil {
		several = several || d.InitDeclaratorList.InitDeclaratorList != nil
	}
	if isNil(parts.condition) {
		return nil, false
	}
	condition := expression(parts.condition)
	changed := map[*cc.Declarator]bool{}
	change := func(v *cc.Declarator, _ *expr) { changed[v] = true }
	writes(s.Statement, change)
	inBody := maps.Clone(changed)
	for _, e := range parts.steps {
		writes(e.node, change)
	}
	writes(parts.condition, change)
	walks := false // the condition is one on walkers that change
	for v := range changed {
		walks = walks || b.walkers[v] && condition.mentions(v)
	}
	// only tells whether the condition names no other variable that changes than one.
	only := func(v *cc.Declarator) bool {
		return condition.mentions(v) && !condition.any(func(e *expr) bool { return e.op == opVar && e.decl != v && changed[e.decl] })
	}
	for _, v := range firsts {
		t, isInteger := typeOf(v.Type())
		if !isInteger || t.bits < 32 || inBody[v] || v.AddressTaken() || b.shared[v] || !only(v) {
			continue
		}
		steps, constant := 0, true
		for _, e := range parts.steps {
			if e.mentions(v) {
				steps++
				constant = constant && !e.any(func(e *expr) bool { return e.op == opVar && e.decl != v && changed[e.decl] })
			}
		}
		switch {
		case !constant:
			continue
		case !several:
			return nil, false
		case steps != 1 || !b.walkers[v]:
			continue
		}
		for _, e := range parts.steps {
			if e.assigns() && e.args[0].op == opVar && e.args[0].decl == v {
				return v, false
			}
		}
	}
	if len(firsts) == 1 && inBody[firsts[0]] && !isPointer(firsts[0]) {
		stepped := true
		writes(s.Statement, func(v *cc.Declarator, e *expr) {
			if _, sign := e.addend(); v == firsts[0] && sign == 0 {
				stepped = false
			}
		})
		if !stepped {
			return nil, false // which is refused
		}
	}
	return nil, walks && b.begins(parts, changed, condition)
}

// firsts are the variables to which the heading of a loop gives a first value.
func (parts heading) firsts() (list []*cc.Declarator) {
	if parts.declared != nil {
		for l := parts.declared.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
			list = append(list, l.InitDeclarator.Declarator)
		}
	}
	for _, e := range parts.assigned {
		if e.op == "=" && e.args[0].op == opVar && e.args[0].decl != nil {
			list = append(list, e.args[0].decl)
		}
	}
	return list
}

// begins tells whether a walker that changes and that the condition names has a value where the loop begins.
func (b *builder) begins(parts heading, changed map[*cc.Declarator]bool, condition *expr) bool {
	firsts := parts.firsts()
	return condition.any(func(e *expr) bool {
		if e.op != opVar || !changed[e.decl] || !b.walkers[e.decl] {
			return false
		}
		w, known := b.now[e.decl]
		return slices.Contains(firsts, e.decl) || known && w.lost == nil
	})
}

// firsts builds what gives the variables of a loop their first values, and returns that of its own.
func (b *builder) firsts(parts heading, own *cc.Declarator) (first *expr, err *Error) {
	if parts.declared != nil {
		for l := parts.declared.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
			if err := b.declares(l.InitDeclarator, nil); err != nil {
				return nil, err
			}
			if i := l.InitDeclarator; i.Declarator == own && i.Case == cc.InitDeclaratorInit && i.Initializer.Case == cc.InitializerExpr {
				first = expression(i.Initializer.AssignmentExpression)
			}
		}
	}
	for _, e := range parts.assigned {
		b.begin(e.node)
		if err := b.effect(e); err != nil {
			return nil, err
		}
		if e.op == "=" && e.args[0].op == opVar && e.args[0].decl == own {
			first = e.args[1]
		}
	}
	return first, nil
}

// walkedFirst is the value that a loop's variable begins with, which is a walker.
func (b *builder) walkedFirst(first *expr, own *cc.Declarator) (integer, *Error) {
	i, err := b.walkedTo(first, b.now[own])
	if where, is := errors.AsType[*Error](err); is {
		return i, where
	} else if err != nil {
		return i, notInteger(first, false, "%v", err)
	}
	return i, nil
}

// whileLoop builds a while, or a do.
func (b *builder) whileLoop(s *cc.IterationStatement) *Error {
	parts := headingOf(s)
	changed := map[*cc.Declarator]bool{}
	writes(s, func(v *cc.Declarator, _ *expr) { changed[v] = true })
	if !b.begins(parts, changed, expression(parts.condition)) {
		return refuse(s, whileWords)
	}
	return b.counted(s, parts)
}

// counted builds a loop whose condition is one on walkers: its iterations are counted from 0.
func (b *builder) counted(s *cc.IterationStatement, parts heading) *Error {
	b.file.Carried = 0
	condition := expression(parts.condition)
	h := header{node: s, body: s.Statement, also: parts.steps, counted: true, first: constant(0), step: 1, v: loopVar{t: ctype{64, true}}}
	if condition.any((*expr).assigns) {
		h.changes = condition
	}
	h.late = s.Case == cc.IterationStatementDo
	if len(b.loops) == maxLoops {
		return &Error{Pos: place(s), Expr: h.loop(), Why: fmt.Sprintf("it is inside of %d loops, and no more are read", maxLoops)}
	}
	if _, err := b.firsts(parts, nil); err != nil {
		return err
	}
	if err := b.paces(&h, nil); err != nil {
		return err
	}
	for _, v := range h.changed {
		if condition.mentions(v) && h.name == "" {
			h.name = "iteration of " + v.Name()
		}
	}
	before := b.now
	h.v.at = nest.Variable(len(b.loops))
	b.loops = append(b.loops, h.v)
	b.enters(&h, &nest.Loop{From: []nest.Affine{nest.Constant(0)}, Step: 1}, before)
	b.asked = &h
	err := b.evaluated(&h, condition)
	b.asked = nil
	b.now = before
	b.loops = b.loops[:len(b.loops)-1]
	if err != nil {
		if s.Case == cc.IterationStatementWhile || h.late {
			err.Why = fmt.Sprintf("%s, of a while whose iterations are to be counted: write a for with affine bounds", err.Why)
		}
		return err
	}
	h.paced(len(b.loops))
	for _, c := range h.owed { // in front of the first iteration
		var bad nest.Condition
		for _, all := range c.bad {
			var at []nest.Affine
			for _, a := range all {
				if usesVar(a, len(b.loops)) {
					a = without(a, len(b.loops))
				}
				at = append(at, a)
			}
			bad = append(bad, at)
		}
		b.probe(simplified(bad), c.says)
	}
	if h.late {
		if err := b.runsOnce(&h); err != nil {
			return err
		}
		return b.split(h, 0)
	}
	if err := b.split(h, 0); err != nil || h.changes == nil {
		return err
	}
	return b.full(h.changes, nothing) // when it fails, too
}

// evaluated reads the condition of a counted loop in front of an iteration: of a do that which was evaluated behind the one before.
func (b *builder) evaluated(h *header, condition *expr) *Error {
	if h.changes == nil {
		return b.goesOn(h, condition)
	}
	if h.late {
		back := map[*cc.Declarator]walker{}
		var failed *Error
		writes(condition.node, func(v *cc.Declarator, x *expr) {
			right, sign := x.addend()
			w, known := b.now[v]
			if _, twice := back[v]; !known || w.lost != nil || right != nil || sign == 0 || twice {
				failed = notInteger(x, false, "its value before is not known")
				return
			}
			at, err := w.at().plus(-sign, constant(1))
			if err != nil {
				failed = notInteger(x, false, "%v", err)
				return
			}
			back[v] = w.to(at)
		})
		if failed != nil {
			return failed
		}
		maps.Copy(b.now, back)
	}
	return b.full(condition, func() *Error { return b.goesOn(h, condition) })
}

// runsOnce demands that the condition of a do holds in front of the first iteration, too: then it is a while.
func (b *builder) runsOnce(h *header) *Error {
	own := len(b.loops)
	says := &Error{Pos: place(h.node), Expr: h.loop(), Why: "its condition does not hold before the first iteration, which a do makes all the same: write a for with affine bounds"}
	first := func(a nest.Affine) nest.Affine {
		if usesVar(a, own) {
			return without(a, own)
		}
		return a
	}
	for n, p := range slices.Concat(h.rows, h.until) {
		list, err := p.cases()
		if err != nil {
			return &Error{Pos: says.Pos, Expr: says.Expr, Why: err.Error()}
		}
		var bad nest.Condition
		for _, c := range list {
			all := []nest.Affine{}
			for _, a := range c.when {
				all = append(all, first(a))
			}
			at := first(c.affine)
			opposite, err := plus(nest.Constant(0), -1, at)
			if err != nil {
				return &Error{Pos: says.Pos, Expr: says.Expr, Why: err.Error()}
			}
			if n < len(h.rows) { // it is below 0
				opposite.Const--
				bad = append(bad, append(all, opposite))
			} else { // it is 0
				bad = append(bad, append(all, at, opposite))
			}
		}
		b.probe(simplified(bad), says)
	}
	return nil
}

// paced makes the variable of a counted loop go by the pace at which its condition changes, where a bound would be a fraction else.
func (h *header) paced(own int) {
	by, whole := 0, true
	for _, list := range [][]piece{h.rows, h.until} {
		for _, p := range list {
			p.each(false, func(a nest.Affine) (nest.Affine, error) {
				if !usesVar(a, own) {
					return a, nil
				}
				c := max(a.Coef[own], -a.Coef[own])
				if by == 0 {
					by = c
				}
				whole = whole && by == c
				return a, nil
			})
		}
	}
	fraction := false
	slower := func(a nest.Affine) (nest.Affine, error) {
		if !usesVar(a, own) {
			return a, nil
		}
		for _, c := range without(a, own).Coef {
			fraction = fraction || c%by != 0
		}
		a.Coef = slices.Clone(a.Coef)
		a.Coef[own] /= by
		return a, nil
	}
	var lists [2][]piece
	for i, list := range [][]piece{h.rows, h.until} {
		for _, p := range list {
			q, _ := p.each(false, slower)
			lists[i] = append(lists[i], q)
		}
	}
	if !whole || !fraction || by > mostPace {
		return
	}
	var owed []check
	for _, c := range h.owed {
		var bad nest.Condition
		for _, all := range c.bad {
			var list []nest.Affine
			for _, a := range all {
				if usesVar(a, own) {
					if a.Coef[own]%by != 0 {
						return
					}
					a.Coef = slices.Clone(a.Coef)
					a.Coef[own] /= by
				}
				list = append(list, a)
			}
			bad = append(bad, list)
		}
		owed = append(owed, check{bad, c.says})
	}
	h.rows, h.until, h.owed, h.step, h.name = lists[0], lists[1], owed, by, "way of "+strings.TrimPrefix(h.name, "iteration of ")
}

// owes is a loop that asks what a condition must not be wherever it is evaluated: in front of each iteration, and behind the last.
func (h *header) owes(l *nest.Loop, depth int, b *builder) *nest.Loop {
	asking := &nest.Loop{Name: l.Name, From: l.From, Step: l.Step}
	for _, to := range l.To {
		to.Const += l.Step
		asking.To = append(asking.To, to)
	}
	asking.Body, _ = b.body(func() *Error {
		for _, c := range h.owed {
			b.probe(c.bad, c.says)
		}
		return nil
	})
	return asking
}

// ofPointers tells whether a comparison is one of pointers.
func (b *builder) ofPointers(e *expr) bool {
	is := func(e *expr) bool {
		t := e.node.Type()
		return t != nil && (t.Kind() == cc.Ptr || t.Undecay().Kind() == cc.Array)
	}
	return len(e.args) == 2 && is(e.args[0]) && is(e.args[1])
}

// notNull tells whether a comparison is one of NULL and of a pointer, or an array, of which it is known where in an array it points.
func (b *builder) notNull(e *expr) bool {
	p, zero := e.args[0], e.args[1]
	if null(p) {
		p, zero = zero, p
	}
	if p.op != opVar || !namesAddress(p) || !null(zero) {
		return false
	}
	for zero.op == opCast {
		zero = zero.args[0]
	}
	if !isZero(zero) {
		return false
	}
	l, err := b.pointer(p, 1)
	return err == nil && l.array >= 0
}

// isZero tells whether a constant is 0, also as a pointer, which NULL is.
func isZero(e *expr) bool {
	switch v := e.node.Value().(type) {
	case cc.Int64Value:
		return v == 0
	case cc.UInt64Value:
		return v == 0
	}
	return false
}

// comparedPointers are how far two pointers have come that go through the same array.
func (b *builder) comparedPointers(e *expr) (x, y integer, err *Error) {
	both := [2]walker{}
	for i, a := range e.args {
		l, err := b.pointer(a, 1)
		if err == nil {
			l, err = b.collapsed(a, l)
		}
		if err != nil {
			return x, y, err.of(a)
		}
		both[i] = walker{l: l}
	}
	if !both[0].alike(both[1]) {
		if e.op == "-" {
			return x, y, notInteger(e, false, "pointers that are not to the same array, by the same subscript, are subtracted: write the subscripts")
		}
		return x, y, notInteger(e, false, "pointers that are not to the same array, by the same subscript, are compared: write for (i = 0; i < n; i++) over the array, and its subscripts")
	}
	long := ctype{64, true}
	return integer{both[0].at(), long}, integer{both[1].at(), long}, nil
}
