package csource

import (
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// items builds the items of a block. A return may end a function's block.
func (b *builder) items(list []*cc.BlockItem, function bool) {
	for i, item := range list {
		switch s := item.Statement; {
		case item.Case == cc.BlockItemDecl:
			b.declaration(item.Declaration)
		case item.Case != cc.BlockItemStmt:
			panic(refuse(item, "it is not understood"))
		case mark(item) != "":
		case function && i == len(list)-1 && s.Case == cc.StatementJump &&
			s.JumpStatement.Case == cc.JumpStatementReturn:
			b.value(s.JumpStatement.ExpressionList)
		default:
			b.stmt(s)
		}
	}
}

func (b *builder) declaration(d *cc.Declaration) {
	if d.Case == cc.DeclarationAuto {
		panic(refuse(d, "__auto_type is not understood"))
	}
	for l := d.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
		b.declares(l.InitDeclarator)
	}
}

func (b *builder) declares(init *cc.InitDeclarator) {
	v, e := init.Declarator, initial(init)
	b.depths[v] = len(b.loops)
	switch {
	case v.Name() == "__func__" || v.IsTypename() || v.IsStatic() || v.Linkage() != cc.None:
		return
	case init.Case != cc.InitDeclaratorInit:
		if tracked(v) && !b.told[v] {
			b.bind(v, value{failed: refuse(v, "it has no value yet")})
		}
		return
	case isPlaced(v) || e == nil:
		panic(refuse(init, "an initial value in braces is not understood here: write statements or"+
			" loops that give it, or static in front if nothing changes it"))
	}
	b.begin(init)
	b.gives(v, e)
}

func (b *builder) gives(v *cc.Declarator, e *expr) {
	if !isPointer(v) || unsaid(e) {
		b.effect(e)
	}
	b.give(v, e)
	if at, _ := b.values.of(v); isPointer(v) && !unsaid(e) && at.failed != nil {
		panic(at.failed)
	}
}

func (b *builder) begin(n cc.Node) {
	b.statement = len(b.file.Statements)
	b.file.Statements = append(b.file.Statements, Statement{place(n), source(n)})
	b.statements = append(b.statements, named{at: place(n), node: n})
}

func (b *builder) value(n cc.ExpressionNode) {
	if !isNil(n) {
		b.begin(n)
		b.effect(expression(n))
	}
}

func (b *builder) stmt(s *cc.Statement) {
	defer located(s)
	switch s.Case {
	case cc.StatementCompound:
		b.items(items(s.CompoundStatement), false)
	case cc.StatementExpr:
		b.value(s.ExpressionStatement.ExpressionList)
	case cc.StatementSelection:
		b.branch(s.SelectionStatement)
	case cc.StatementIteration:
		b.iteration(s.IterationStatement)
	case cc.StatementJump:
		panic(refuse(s,
			"a jump is not understood: write what ends a loop into its condition, or an if "+
				"around the rest"))
	default:
		panic(refuse(s, "it is not understood"))
	}
}

func (b *builder) branch(s *cc.SelectionStatement) {
	if s.Case == cc.SelectionStatementSwitch {
		panic(refuse(s, "a switch is not understood"))
	}
	c, err := b.decided(expression(s.ExpressionList))
	if err != nil && err.data {
		panic(refuse(s.ExpressionList, "an if on data: %s: %s (a ?: would count both arms)",
			err.Expr,
			err.Why))
	} else if err != nil {
		panic(err)
	}
	arm := func(s *cc.Statement) func() {
		if s == nil {
			return nothing
		}
		return func() { b.stmt(s) }
	}
	b.when(c, arm(s.Statement), arm(s.Statement2))
}

func (b *builder) iteration(s *cc.IterationStatement) {
	switch {
	case s.Case == cc.IterationStatementFor || s.Case == cc.IterationStatementForDecl:
		b.forLoop(s)
	case s.Case == cc.IterationStatementDo && isConstant(expression(s.ExpressionList)) &&
		never(b.condition(expression(s.ExpressionList))):
		b.stmt(s.Statement) // the body of a macro that is a statement
	default:
		panic(refuse(s, "a while is not understood: write a for with affine bounds"))
	}
}

func (b *builder) effect(e *expr) {
	switch {
	case e.op == ",":
		for _, a := range e.args {
			b.effect(a)
		}
		return
	case e.op == "?:":
		if c, err := b.decided(e.args[0]); err == nil {
			b.when(c, func() { b.effect(e.args[1]) }, func() { b.effect(e.args[2]) })
			return
		}
	case e.assigns():
		b.assign(e)
		return
	}
	b.single(e)
	b.data(e)
}

// carriedFrom returns the depth of the outermost loop whose iterations may pass on left's value,
// and maxLoops if none may. The accesses to an element show what it carries. A variable declared in
// an iteration ends with it.
func (b *builder) carriedFrom(left *expr) int {
	for left.op == opField {
		left = left.args[0]
	}
	d := left.decl
	switch {
	case left.op == opIndex:
		return maxLoops
	case d == nil || left.op != opVar || d.IsStatic() || d.Linkage() != cc.None ||
		isStruct(d.Type()):
		return 0
	case b.depths[d] >= len(b.loops):
		return maxLoops
	}
	return b.depths[d]
}

func (b *builder) assign(e *expr) {
	left := e.args[0]
	if left.op != opVar || !isPointer(left.decl) || e.op != "=" {
		b.file.Carried = min(b.file.Carried, b.carriedFrom(left))
	}
	switch {
	case left.op == opNothing:
		panic(left.fails("%s", left.why))
	case left.op == opVar:
		b.assignVariable(e, left)
		return
	case !left.stored():
		panic(left.fails("it is neither an array element nor a variable"))
	case e.op == "=":
		b.effect(e.args[1])
		b.reference(left, nest.Write)
		return
	}
	more := e.args[1:] // none for ++
	behind := len(more) > 0 && b.rightFirst(more[0])
	if behind {
		b.effect(more[0])
	}
	b.reference(left, nest.Read)
	if len(more) > 0 && !behind {
		b.effect(more[0])
	}
	b.reference(left, nest.Write)
}

func (b *builder) assignVariable(e, left *expr) {
	v := left.decl
	if slices.ContainsFunc(b.loops, func(l loopVar) bool { return l.decl == v }) {
		panic(e.fails("the variable of a loop is assigned to inside of it"))
	}
	if !isPointer(v) {
		b.scalar(left)
	}
	if e.op == "=" {
		b.gives(v, e.args[1])
		return
	}
	if len(e.args) == 2 {
		b.effect(e.args[1])
	}
	if tracked(v) {
		b.bind(v, value{failed: e.fails(
			"it changes by a step: write the value as a function of the loops' variables")})
	}
}

// rightFirst reports whether GCC evaluates the right side of a compound assignment before it reads
// the left: if the right calls a function that may do more than compute. The order is unknown for
// an assignment, a conditional call, and a call with constants, which GCC may evaluate.
func (b *builder) rightFirst(right *expr) (first bool) {
	doubt := false
	right.any(func(e *expr) bool {
		conditional := e.op == "?:" || e.op == "&&" || e.op == "||"
		if e.op == opCall && !b.computes(e) {
			first = true
			builtin := strings.HasPrefix(e.args[0].text(), "__builtin_")
			doubt = doubt || builtin || b.own(e) == nil &&
				slices.ContainsFunc(e.args[1:], isConstant)
		}
		doubt = doubt || conditional
		return false
	})
	if (first && doubt || right.assigns()) && b.reads(right) {
		panic(right.fails(
			"whether it is read before the left side is not known: declare a variable with it"))
	}
	return first
}

func isConstant(e *expr) bool {
	return !e.any(func(e *expr) bool {
		return e.op == opVar && (e.decl == nil || e.decl.Type().Kind() != cc.Function)
	})
}

// scalar refuses variables that are not scalars.
func (b *builder) scalar(e *expr) {
	if e.op != opVar || e.decl == nil {
		return
	}
	switch t := e.decl.Type(); {
	case isArray(e.decl) || t != nil && t.Kind() == cc.Ptr:
		panic(e.fails(
			"a pointer is a value here, which is not understood: write the array and its subscripts"))
	case t == nil || t.Kind() == cc.Function:
		panic(e.fails("a function is not a value here"))
	case !cc.IsArithmeticType(t):
		panic(e.fails("a whole %s is not understood: write its fields one by one", typeName(t)))
	case isVolatile(e):
		panic(e.fails("it is volatile, which is not understood"))
	}
}

// data builds the reads of an expression in the order of the text.
func (b *builder) data(e *expr) {
	switch e.op {
	case opConst, opOther:
		return
	case opVar:
		b.scalar(e)
		return
	case opNothing:
		panic(e.fails("%s", e.why))
	case opIndex, opField, opDeref:
		b.reference(e, nest.Read)
		return
	case opAddress:
		panic(e.fails(
			"an address is a value here, which is not understood: write the subscripts," +
				" or declare a pointer with it, such as double *row = &m[i][0]"))
	case opCall:
		if f := b.own(e); f != nil {
			b.inline(e, f)
		} else {
			b.call(e)
		}
		return
	case "?:":
		b.conditional(e)
		return
	case opCast:
		if t := e.node.Type(); t == nil || t.Kind() != cc.Void && !cc.IsArithmeticType(t) {
			panic(e.fails("a cast to %s is not understood", t))
		}
	case "&&", "||":
		b.shortCircuit(e)
		return
	}
	if e.assigns() {
		panic(e.fails("an assignment within an expression is not understood: make it a statement"))
	}
	for _, a := range e.args {
		b.data(a)
	}
}

// reads reports whether e refers to arrays, also in a call.
func (b *builder) reads(e *expr) bool {
	return e.any(func(e *expr) bool { return e.stored() || e.op == opCall && b.own(e) != nil })
}

// shortCircuit builds && and ||. The second operand is read unless the first decides; data may go
// either way.
func (b *builder) shortCircuit(e *expr) {
	can := b.outcomes(e.args[0])
	goesOn := can.hold
	if e.op == "||" {
		goesOn = can.fail
	}
	if b.reads(e.args[1]) && !can.known {
		b.note(e, "a condition on data: all operands of && and || are counted")
	}
	b.data(e.args[0])
	b.when(goesOn, func() { b.data(e.args[1]) }, nothing)
}

// outcomes says where a condition can hold and can fail; both everywhere if it depends on data.
// known means that hold and fail exclude each other.
type outcomes struct {
	hold, fail nest.Condition
	known      bool
}

func (b *builder) outcomes(e *expr) (o outcomes) {
	always := nest.Condition{{}}
	o = outcomes{hold: always, fail: always}
	switch c, err := b.decided(e); {
	case err == nil:
		return outcomes{c, not(c), true}
	case !err.data:
		panic(err)
	}
	switch e.op {
	case "!":
		o := b.outcomes(e.args[0])
		return outcomes{o.fail, o.hold, o.known}
	case "&&", "||":
		x := b.outcomes(e.args[0])
		y := b.outcomes(e.args[1])
		first, second := and, or
		if e.op == "||" {
			first, second = or, and
		}
		return outcomes{hold: first(x.hold, y.hold), fail: second(x.fail, y.fail)}
	}
	return o
}

// conditional builds a ?:, with both possible arms if it depends on data.
func (b *builder) conditional(e *expr) {
	can := b.outcomes(e.args[0])
	then, otherwise := func() { b.data(e.args[1]) }, func() { b.data(e.args[2]) }
	if can.known {
		b.when(can.hold, then, otherwise)
		return
	}
	b.note(e.args[0], "a condition on data: both arms are counted")
	b.data(e.args[0])
	b.when(can.hold, then, nothing)
	b.when(can.fail, otherwise, nothing)
}

func (b *builder) note(e *expr, text string) {
	n := e.fails("%s", text)
	if !slices.ContainsFunc(b.file.Notes, func(before *Error) bool { return *before == *n }) {
		b.file.Notes = append(b.file.Notes, n)
	}
}

func refuse(n cc.Node, why string, args ...any) *Error {
	err := wrong(why, args...)
	err.Pos, err.Expr = place(n), source(n)
	return err
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }
