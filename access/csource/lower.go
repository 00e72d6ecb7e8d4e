package csource

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// refuse says what is not understood, and why.
func refuse(n cc.Node, why string, args ...any) *Error {
	return &Error{Pos: place(n), Expr: source(n), Why: fmt.Sprintf(why, args...)}
}

// body builds what f emits, as nodes of their own.
func (b *builder) body(f func() *Error) ([]nest.Node, *Error) {
	outside := b.nodes
	b.nodes = nil
	err := f()
	inside := b.nodes
	b.nodes = outside
	return inside, err
}

// when emits what f emits under a condition, and what g emits under its opposite.
func (b *builder) when(c nest.Condition, f, g func() *Error) *Error {
	switch {
	case always(c):
		return f()
	case never(c):
		return g()
	}
	before := maps.Clone(b.now)
	then, err := b.body(f)
	if err != nil {
		return err
	}
	behind := b.now
	b.now = before
	otherwise, err := b.body(g)
	if err != nil {
		return err
	}
	b.now = merged(c, behind, b.now)
	if len(then)+len(otherwise) > 0 {
		b.nodes = append(b.nodes, &nest.If{When: c, Then: then, Else: otherwise})
	}
	return nil
}

func nothing() *Error { return nil }

// declaration builds the initial values of variables, in front of the rest of their block.
func (b *builder) declaration(d *cc.Declaration, rest []*cc.BlockItem) *Error {
	if d.Case == cc.DeclarationAuto {
		return refuse(d, "__auto_type is not understood")
	}
	for l := d.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
		init := l.InitDeclarator
		if err := b.declares(init, rest); err != nil {
			return err
		}
	}
	return nil
}

// declares builds the initial value of a variable.
func (b *builder) declares(init *cc.InitDeclarator, rest []*cc.BlockItem) *Error {
	v := init.Declarator
	b.depths[v] = len(b.loops)
	if init.Case != cc.InitDeclaratorInit && b.walkers[v] {
		return b.start(init)
	}
	if v.Name() == "__func__" || init.Case != cc.InitDeclaratorInit || v.IsTypename() {
		return nil
	}
	if v.IsStatic() {
		b.remember(init, nil)
		return nil // it is not computed here
	}
	if isPlaced(v) {
		of := map[bool]string{true: "an array", false: "a struct that holds an array"}[isArray(v)]
		return refuse(init, "the initial value of %s is not understood here: write statements or loops that give it, or static in front if nothing changes it", of)
	}
	b.begin(init)
	build := func() *Error {
		if isPointer(v) && init.Initializer.Case == cc.InitializerExpr {
			return b.pointing(init)
		}
		if err := b.initial(init.Initializer); err != nil {
			return err
		}
		b.remember(init, rest)
		return nil
	}
	if init.Initializer.Case == cc.InitializerExpr {
		return b.full(expression(init.Initializer.AssignmentExpression), build)
	}
	return build()
}

// initial builds the initial value of a variable, of a struct those of its fields.
func (b *builder) initial(i *cc.Initializer) *Error {
	if i.Case == cc.InitializerExpr {
		return b.effect(expression(i.AssignmentExpression))
	}
	for l := i.InitializerList; l != nil; l = l.InitializerList {
		if err := b.initial(l.Initializer); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a statement.
func (b *builder) begin(n cc.Node) {
	if b.copied != nil {
		in := copied{n, fmt.Sprint(b.sites)}
		if at, again := b.copied[in]; again {
			b.statement = at
			return
		}
		b.copied[in] = len(b.file.Statements)
	}
	b.statement = len(b.file.Statements)
	s := Statement{}
	if !b.dry { // of which nothing is kept
		s = Statement{place(n), source(n)}
	}
	b.file.Statements = append(b.file.Statements, s)
}

// value builds an expression that is a statement.
func (b *builder) value(n cc.ExpressionNode) *Error {
	if isNil(n) {
		return nil
	}
	b.begin(n)
	return b.effect(expression(n))
}

// stmt builds a statement.
func (b *builder) stmt(s *cc.Statement) (left exits, err *Error) {
	if s.Case != cc.StatementCompound && s.Case != cc.StatementSelection && b.mayFork(s) && !pointsOn(s) {
		return b.forked(func() (exits, *Error) { return b.statementOf(s) })
	}
	return b.statementOf(s)
}

func (b *builder) statementOf(s *cc.Statement) (left exits, err *Error) {
	switch s.Case {
	case cc.StatementCompound:
		return b.items(items(s.CompoundStatement))
	case cc.StatementExpr:
		return left, b.value(s.ExpressionStatement.ExpressionList)
	case cc.StatementSelection:
		return b.branch(s.SelectionStatement, nil)
	case cc.StatementIteration:
		return left, b.iteration(s.IterationStatement)
	case cc.StatementJump:
		return b.jump(s.JumpStatement)
	case cc.StatementLabeled:
		return left, refuse(s, "a label is not understood")
	}
	return left, refuse(s, "it is not understood")
}

// decided is the condition of an if.
func (b *builder) decided(n cc.ExpressionNode) (nest.Condition, *Error) {
	c, err := b.condition(expression(n))
	if err != nil && err.data {
		inside := err
		err = refuse(n, "an if on data: %s: %s (a ?: would count both arms)", err.Expr, err.Why)
		err.apart = inside.apart
	}
	if err == nil && len(b.facts) > 0 {
		c = b.decidedByFacts(b.decidedBySpans(c))
	}
	return c, err
}

func (b *builder) iteration(s *cc.IterationStatement) *Error {
	switch s.Case {
	case cc.IterationStatementDo: // of macros that are statements
		condition := expression(s.ExpressionList)
		if changes := condition.any(func(e *expr) bool { return e.op == opVar && b.walkers[e.decl] }); changes {
			return b.whileLoop(s)
		}
		if i, err := b.integer(condition); err == nil {
			if n, fixed := i.number(); fixed && n == 0 {
				return b.inside(scope{}, func() (exits, *Error) { return b.stmt(s.Statement) })
			}
		}
		return refuse(s, whileWords)
	case cc.IterationStatementWhile:
		return b.whileLoop(s)
	}
	return b.forLoop(s)
}

// effect builds an expression that may assign: a statement, or what is assigned.
func (b *builder) effect(e *expr) *Error {
	switch e.op {
	case ",":
		for _, a := range e.args {
			if err := b.effect(a); err != nil {
				return err
			}
		}
		return nil
	case opCast:
		return b.effect(e.args[0])
	case "?:":
		if c, err := b.condition(e.args[0]); err == nil {
			return b.when(c, func() *Error { return b.effect(e.args[1]) }, func() *Error { return b.effect(e.args[2]) })
		}
	}
	return b.full(e, func() *Error {
		switch {
		case e.op == opBefore || e.op == opBehind:
			return b.assign(e, "+=", e.args[0], nil)
		case e.assigns():
			return b.assign(e, e.op, e.args[0], e.args[1])
		case e.op == opCall:
			if f := b.own(e); f != nil {
				return b.inline(e, f)
			}
		}
		return b.data(e)
	})
}

// carriedFrom is the depth of the outermost loop from whose one iteration to the next what
// is assigned may keep a value: an element keeps none that its array does not show, a
// variable of one iteration none beyond it.
func (b *builder) carriedFrom(left *expr) int {
	switch d := left.decl; {
	case left.op != opVar:
		for left.op == opField && len(left.args) > 0 {
			left = left.args[0]
		}
		if left.op == opIndex {
			return maxLoops
		}
	case d != nil && !d.IsStatic() && d.Linkage() == cc.None && b.depths[d] >= len(b.loops):
		return maxLoops
	case d != nil && !d.IsStatic() && d.Linkage() == cc.None:
		return b.depths[d]
	}
	return 0
}

// assign builds an assignment. The right side may be one, too.
func (b *builder) assign(e *expr, op string, left, right *expr) *Error {
	b.file.Carried = min(b.file.Carried, b.carriedFrom(left))
	for _, l := range b.loops {
		if left.op == opVar && left.decl != nil && left.decl == l.decl {
			return notInteger(e, false, "the variable of a loop is assigned to inside of it")
		}
	}
	if left.op == opNothing {
		return notInteger(left, false, "%s", left.why)
	}
	if left.op != opVar && !left.stored() {
		return notInteger(left, false, "it is neither an array element nor a variable")
	}
	if left.op == opVar && isPointer(left.decl) {
		if _, is := b.valueOf(e); is {
			return nil
		}
		return notInteger(e, false, "%s", pointerChanges)
	}
	if err := b.scalar(left); err != nil {
		return err
	}
	behind := false
	if op != "=" && right != nil {
		var err *Error
		if behind, err = b.rightFirst(right); err != nil && left.stored() {
			return err
		}
	}
	before := func() *Error {
		nodes := len(b.nodes)
		if err := b.subscripts(left); err != nil {
			return err
		}
		if op == "=" && len(b.nodes) > nodes && b.accessing(right) && right.any(b.acts) { // in front of a call's body, or of a single element
			of := "the right side, which changes a variable,"
			if b.calling(right) != nil {
				of = "the call"
			}
			return notInteger(left, false, "whether its subscripts are read before %s is not known: declare variables with them in front", of)
		}
		if op != "=" {
			return b.reference(left, nest.Read)
		}
		return nil
	}
	if left.stored() && !behind {
		if err := before(); err != nil {
			return err
		}
	}
	if right != nil {
		if err := b.effect(right); err != nil {
			return err
		}
	}
	if !left.stored() {
		return nil
	}
	if behind {
		if err := before(); err != nil {
			return err
		}
	}
	return b.reference(left, nest.Write)
}

// scalar refuses a variable that is none.
func (b *builder) scalar(e *expr) *Error {
	if e.op != opVar || e.decl == nil {
		return nil
	}
	switch t := e.decl.Type(); {
	case isArray(e.decl):
		return notInteger(e, false, "an array without its subscripts (a pointer) is not understood: write them, and the array in place of a pointer to it")
	case t == nil || t.Kind() == cc.Function:
		return notInteger(e, false, "a function is not a value here")
	case isStruct(t):
		return whole(e, t)
	case t.Kind() == cc.Ptr:
		return notInteger(e, false, "a pointer is a value here, which is not understood: write the array and its subscripts")
	case !cc.IsArithmeticType(t):
		return notInteger(e, false, "a variable of type %s is not understood", t)
	}
	return nil
}

// data builds an expression whose value is used: reads, in the order of the text.
func (b *builder) data(e *expr) *Error {
	switch e.op {
	case opConst, opOther:
		return nil
	case opVar:
		return b.scalar(e)
	case opNothing:
		return notInteger(e, false, "%s", e.why)
	case opIndex, opField, opDeref:
		return b.read(e)
	case opAddress:
		return notInteger(e, false, "an address is a value here, which is not understood: write the array and its subscripts where it is used, or declare a pointer with it, such as double *row = &m[i][0]")
	case opCall:
		if f := b.own(e); f != nil {
			return b.inline(e, f)
		}
		return b.call(e)
	case "?:":
		return b.conditional(e)
	case opCast:
		if t := e.node.Type(); t == nil || t.Kind() != cc.Void && !cc.IsArithmeticType(t) {
			return notInteger(e, false, "a cast to %s is not understood", t)
		}
	case "&&", "||":
		return b.shortCircuit(e)
	case "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", opBefore, opBehind:
		if e.args[0].op != opVar {
			return notInteger(e, false, "an assignment to an array within an expression is not understood: make it a statement")
		}
		if len(e.args) == 1 {
			return b.assign(e, "+=", e.args[0], nil)
		}
		return b.assign(e, e.op, e.args[0], e.args[1])
	}
	if (e.op == "==" || e.op == "!=") && (null(e.args[0]) && namesAddress(e.args[1]) || null(e.args[1]) && namesAddress(e.args[0])) || e.op == "!" && namesAddress(e.args[0]) {
		return nil
	}
	if b.ofPointers(e) { // how far they are from each other, or which is the first
		if _, _, err := b.comparedPointers(e); err == nil || e.op == "-" {
			return err
		}
	}
	if err := b.ordered(e); err != nil {
		return err
	}
	if len(e.args) == 2 && e.op != "," && b.reads(e.args[0]) && b.ahead(e.args[1]) {
		return notInteger(e, false, "which operand is read first is not known, as one assigns: make the assignment a statement in front")
	}
	for _, a := range e.args {
		if err := b.data(a); err != nil {
			return err
		}
	}
	return nil
}

// namesAddress tells whether an expression is a variable that is a pointer or an array: whether it is one to nothing is no access.
func namesAddress(e *expr) bool {
	return e.op == opVar && e.decl != nil && (isArray(e.decl) || e.decl.Type() != nil && e.decl.Type().Kind() == cc.Ptr)
}

// null tells whether an expression may be the pointer to nothing: a constant, or NULL.
func null(e *expr) bool {
	if e.op == opCast {
		t := e.node.Type()
		return t != nil && t.Kind() == cc.Ptr && null(e.args[0])
	}
	return e.op == opConst
}

// operand builds one of && and ||.
func (b *builder) operand(e *expr) *Error {
	if namesAddress(e) {
		return nil
	}
	return b.data(e)
}

// shortCircuit builds && and ||, whose second operand is evaluated where the first
// one does not decide. What depends on data may be either.
func (b *builder) shortCircuit(e *expr) *Error {
	left, right := e.args[0], e.args[1]
	can, err := b.outcomes(left)
	if err != nil {
		return err
	}
	goesOn := can.hold
	if e.op == "||" {
		goesOn = can.fail
	}
	if !can.known {
		if err := b.alwaysCalled(right); err != nil {
			return err
		}
	}
	if b.reads(right) && !can.known {
		b.note(e, "a condition on data: all operands of && and || are counted")
	}
	if err := b.operand(left); err != nil {
		return err
	}
	return b.when(goesOn, func() *Error { return b.operand(right) }, nothing)
}

// reads reports whether an expression refers to arrays.
func (b *builder) reads(e *expr) bool {
	return e.any((*expr).stored)
}

// outcomes are where a condition can hold and where it can fail: everywhere, as far
// as it depends on data. They are known where they exclude each other.
type outcomes struct {
	hold, fail nest.Condition
	known      bool
}

func (b *builder) outcomes(e *expr) (outcomes, *Error) {
	nodes, accesses := len(b.nodes), len(b.accesses)
	if c, err := b.condition(e); err == nil {
		unless, failed := not(c)
		if failed != nil {
			return outcomes{}, notInteger(e, false, "%v", failed)
		}
		return outcomes{c, unless, true}, nil
	}
	b.nodes, b.accesses = b.nodes[:nodes], b.accesses[:accesses] // nothing is asked about what is not known
	switch e.op {
	case "!":
		o, err := b.outcomes(e.args[0])
		return outcomes{o.fail, o.hold, o.known}, err
	case "&&", "||":
		return b.joined(e)
	}
	return outcomes{hold: nest.Condition{{}}, fail: nest.Condition{{}}}, nil
}

// joined are the outcomes of && and ||.
func (b *builder) joined(e *expr) (outcomes, *Error) {
	x, err := b.outcomes(e.args[0])
	if err != nil {
		return x, err
	}
	y, err := b.outcomes(e.args[1])
	if err != nil {
		return y, err
	}
	first, second := and, or
	if e.op == "||" {
		first, second = or, and
	}
	hold, failed1 := first(x.hold, y.hold)
	fail, failed2 := second(x.fail, y.fail)
	if failed := errors.Join(failed1, failed2); failed != nil {
		return x, notInteger(e, false, "%v", failed)
	}
	return outcomes{hold: hold, fail: fail}, nil
}

// conditional builds a ?:, of a condition on the loops' variables the arm that is
// taken, of one on data all that can be.
func (b *builder) conditional(e *expr) *Error {
	can, err := b.outcomes(e.args[0])
	if err != nil {
		return err
	}
	if !can.known && !b.ofData(e.args[0]) {
		_, err := b.condition(e.args[0])
		return err
	}
	then, otherwise := func() *Error { return b.data(e.args[1]) }, func() *Error { return b.data(e.args[2]) }
	if can.known {
		return b.when(can.hold, then, otherwise)
	}
	for _, arm := range e.args[1:] {
		if err := b.alwaysCalled(arm); err != nil {
			return err
		}
	}
	b.note(e.args[0], "a condition on data: both arms are counted")
	if err := b.data(e.args[0]); err != nil {
		return err
	}
	if err := b.when(can.hold, then, nothing); err != nil {
		return err
	}
	return b.when(can.fail, otherwise, nothing)
}

func (b *builder) note(e *expr, text string) {
	n := Note{Pos: e.pos(), Text: e.text() + ": " + text}
	if !slices.Contains(b.file.Notes, n) {
		b.file.Notes = append(b.file.Notes, n)
	}
}

// call builds the arguments of a call, of which GCC evaluates the last one first.
func (b *builder) call(e *expr) *Error {
	name := e.args[0].text()
	if !e.names() {
		return notInteger(e, false, "a call of something else than a named function is not understood")
	}
	if failed := b.leftOut[name]; failed != nil {
		return failed
	}
	if !b.computes(e) && !slices.Contains([]string{"sqrt", "exp", "log", "pow"}, strings.TrimSuffix(name, "f")) {
		b.file.Carried = 0
	}
	if slices.Contains(neverReturn, name) && b.functions[name] == nil {
		return notInteger(e, false, "%s ends the program, which like break is not understood", name)
	}
	if slices.Contains(overBytes, name) && b.functions[name] == nil {
		return notInteger(e, false, "%s, which gets pointers, is not understood: write its loop, such as for (i = 0; i < N; i++) a[i] = 0", name)
	}
	if slices.Contains(unevaluated, name) && slices.ContainsFunc(e.args[1:], b.accessing) {
		return notInteger(e, false, "whether %s evaluates its argument is not known: write its value", name)
	}
	if f := b.functions[name]; f != nil {
		if why := b.touches(f, map[string]bool{}); why != "" {
			return notInteger(e, false, "%s %s: only functions of numbers are understood", name, why)
		}
		for _, l := range b.loops {
			if l.decl != nil && b.changes(f, l.decl, map[string]bool{}) {
				return notInteger(e, false, "%s changes %s, the variable of a loop around it", name, l.decl.Name())
			}
		}
	}
	args := slices.Clone(e.args[1:])
	if b.functions[name] != nil || !slices.Contains(comparisons, strings.TrimPrefix(name, "__builtin_")) {
		slices.Reverse(args)
	}
	for _, a := range args {
		if t := a.node.Type(); a.op == opOther && t != nil && !cc.IsArithmeticType(t) {
			continue // a text
		}
		if err := b.data(a); err != nil {
			if t := a.node.Type(); b.functions[name] == nil && t != nil && (t.Kind() == cc.Ptr || t.Kind() == cc.Array) {
				return notInteger(e, false, "%s gets an array or a pointer, and its body is not in the file: define it there, and it is read in place of the call", name)
			}
			return err
		}
	}
	return nil
}

// names tells whether a call is one of a function by its name, and not of what a pointer points to.
func (e *expr) names() bool {
	called := e.args[0]
	return called.op == opOther || called.op == opVar && (called.decl == nil || called.decl.Type() == nil || called.decl.Type().Kind() != cc.Ptr)
}

// neverReturn are the functions of C that do not return to where they were called.
var neverReturn = []string{"exit", "_Exit", "quick_exit", "abort", "longjmp"}

// overBytes are the functions of C that are loops over arrays.
var overBytes = []string{"memset", "memcpy", "memmove"}

// usesArrays is what keeps most functions from being called.
const usesArrays = "uses arrays or pointers"

// touches says how a function of the file touches memory, or that it ends the program, "" if it does neither.
func (b *builder) touches(f *cc.FunctionDefinition, seen map[string]bool) (how string) {
	if seen[f.Declarator.Name()] {
		return ""
	}
	seen[f.Declarator.Name()] = true
	scalars := map[cc.Node]bool{} // structs of which a number is used, which is as a variable
	sized := map[cc.Node]bool{}   // what stands in a sizeof that is a constant, which nothing evaluates
	each(f.CompoundStatement, func(n cc.Node) {
		if sized[n] {
			return
		}
		switch n := n.(type) {
		case *cc.PostfixExpression:
			if n.Case == cc.PostfixExpressionCall && !expression(n).names() {
				how = "calls a function by a pointer"
			} else if n.Case == cc.PostfixExpressionIndex || n.Case == cc.PostfixExpressionPSelect {
				how = usesArrays
			} else if base, steps := expression(n).path(); isScalar(base, steps) {
				scalars[base.node] = true
			}
		case *cc.UnaryExpression:
			switch {
			case n.Case == cc.UnaryExpressionDeref:
				how = usesArrays
			case n.Case == cc.UnaryExpressionSizeofExpr && expression(n).op == opConst:
				each(n.UnaryExpression, func(n cc.Node) { sized[n] = true })
			}
		case *cc.PrimaryExpression:
			if n.Case != cc.PrimaryExpressionIdent {
				return
			}
			v := expression(n).decl
			_, points := b.aliases[v]
			if points || isPlaced(v) && v.Name() != "__func__" && !scalars[n] {
				how = usesArrays
			}
			how = cmp.Or(b.touching(n.Token.SrcStr(), seen), how)
		}
	})
	return how
}

// touching says how a function of this name, if there is one, touches memory, or that it ends the program.
func (b *builder) touching(name string, seen map[string]bool) string {
	f := b.functions[name]
	switch {
	case b.leftOut[name] != nil:
		return "calls " + name + ", which is not understood"
	case f != nil:
		return b.touches(f, seen)
	case slices.Contains(neverReturn, name):
		return "calls " + name + ", which ends the program"
	case slices.Contains(overBytes, name):
		return usesArrays
	}
	return ""
}

// changes tells whether a function of the file, or one that it calls, gives a variable a value.
func (b *builder) changes(f *cc.FunctionDefinition, v *cc.Declarator, seen map[string]bool) (changed bool) {
	if seen[f.Declarator.Name()] {
		return false
	}
	seen[f.Declarator.Name()] = true
	each(f.CompoundStatement, func(n cc.Node) {
		switch n := n.(type) {
		case *cc.PrimaryExpression:
			if g := b.functions[n.Token.SrcStr()]; g != nil && n.Case == cc.PrimaryExpressionIdent {
				changed = changed || b.changes(g, v, seen)
			}
		case cc.ExpressionNode:
			e := expression(n)
			changed = changed || e.assigns() && e.args[0].op == opVar && e.args[0].decl == v
		}
	})
	return changed
}

// noArray says why something with subscripts is no array, and how to write one.
func noArray(base *expr, subscripts int) string {
	if base.op == opCall {
		return "what a call returns is not an array of constant extents: write the array, or the number, in its place"
	}
	why := base.text() + " is not an array of constant extents"
	if base.op != opVar || base.decl == nil {
		return why + ": a pointer is not understood"
	}
	t := base.decl.Type()
	for t != nil && (t.Kind() == cc.Ptr || t.Kind() == cc.Array) {
		if p, is := t.(*cc.PointerType); is {
			t = p.Elem()
		} else {
			t = t.(*cc.ArrayType).Elem()
		}
	}
	if t == nil || !slices.Contains(elements, t.Kind()) && !isStruct(t) {
		return why + ": a pointer is not understood"
	}
	extents := []string{"[N]", "[M]", "[L]"}[:min(subscripts, 3)]
	orSay := ""
	if base.decl.IsParam() && len(extents) == 1 {
		orSay = fmt.Sprintf("; of a parameter of the function that is read, -D '%s[1000]' says it, too", base.text())
	}
	name := typeName(t)
	if d := t.Typedef(); name == "struct" || name == "union" { // which has no tag
		if d != nil {
			name = d.Name()
		} else {
			extents[len(extents)-1] += ", with the tag s for its " + name
			name += " s"
		}
	}
	return fmt.Sprintf("%s but a pointer, which does not say how much it points to: write %s %s%s, as a parameter or before the function, with extents that are constants or that -D sets, such as [n*n] and -D n=100%s",
		why, name, base.text(), strings.Join(extents, ""), orSay)
}

// ordinal is which of so many subscripts one is, as people count.
func ordinal(d, of int) string {
	switch names := []string{"first", "second", "third"}; {
	case of == 1:
		return "the subscript"
	case d < len(names):
		return "the " + names[d] + " subscript"
	}
	return fmt.Sprintf("the %dth subscript", d+1)
}

// declared is the array as a declaration has it, such as m[3][4].
func (a Array) declared() string {
	text := a.Name
	for _, extent := range a.Extents {
		text += fmt.Sprintf("[%d]", extent)
	}
	return text
}

func (b *builder) emit(op nest.Operand, a access) {
	b.nodes = append(b.nodes, op)
	b.accesses = append(b.accesses, a)
}

// probe demands that something does not hold wherever this place is reached.
func (b *builder) probe(bad nest.Condition, says *Error) {
	if never(bad) {
		return
	}
	b.emit(nest.Operand{Width: 1}, access{probe: true, checks: []check{{bad, says}}})
}

// mostAhead is how far above the variable of a loop its condition may look.
const mostAhead = 1 << 20

// goesAhead reports whether a value in the condition of a loop is its variable, or lies a little above it in a loop that goes up:
// then it stays in range if the first value and the last one do, which the loop is asked to see to.
func (b *builder) goesAhead(p piece) bool {
	if p.kind != leaf {
		return false
	}
	over, err := plus(p.affine, -1, nest.Variable(len(b.loops)-1))
	by := over.Const
	if err != nil || !equal(over, nest.Constant(by)) || by != 0 && (b.asked.step <= 0 || by < 0 || by > mostAhead) {
		return false
	}
	b.asked.wraps, b.asked.ahead = true, max(b.asked.ahead, by)
	return true
}

// within demands that a value stays between low and high.
func (b *builder) within(e *expr, p piece, low, high int, why string) error {
	if b.asked != nil && !b.asked.counted {
		if _, most := b.asked.v.t.limits(); low == 0 && high >= most && b.goesAhead(p) {
			return nil // the loop sees to it
		}
		if p.uses(len(b.loops) - 1) {
			return notInteger(e, false, "%s, which is not looked into in the condition of a loop", why)
		}
	}
	if b.dry { // nobody asks
		b.assumed = append(b.assumed, assumption{p, low, high})
		return nil
	}
	bad, err := p.beyond(low, high)
	if err != nil {
		return err
	}
	if says := notInteger(e, false, "%s", why); b.asked != nil && b.asked.counted {
		b.asked.owed = append(b.asked.owed, check{bad, says})
	} else {
		b.probe(bad, says)
	}
	return nil
}

// beyond is where a piece is not between low and high.
func (p piece) beyond(low, high int) (bad nest.Condition, err error) {
	list, err := p.cases()
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if low > math.MinInt {
			below, err := plus(nest.Constant(low-1), -1, c.affine)
			if err != nil {
				return nil, err
			}
			bad = append(bad, slices.Concat(c.when, []nest.Affine{below}))
		}
		if high < math.MaxInt {
			above, err := plus(nest.Constant(-high-1), 1, c.affine)
			if err != nil {
				return nil, err
			}
			bad = append(bad, slices.Concat(c.when, []nest.Affine{above}))
		}
	}
	return bad, nil
}

// uses reports whether a piece depends on the variable of a depth.
func (p piece) uses(depth int) bool { return p.usesAny(func(d int) bool { return d == depth }) }

// usesAny reports whether a piece depends on a variable of a depth that is as asked.
func (p piece) usesAny(is func(depth int) bool) bool {
	any := func(a nest.Affine) bool {
		for d, c := range a.Coef {
			if c != 0 && is(d) {
				return true
			}
		}
		return false
	}
	return p.kind == leaf && any(p.affine) || slices.ContainsFunc(p.when, func(all []nest.Affine) bool { return slices.ContainsFunc(all, any) }) ||
		slices.ContainsFunc(p.args, func(a piece) bool { return a.usesAny(is) })
}

func usesVar(a nest.Affine, depth int) bool { return depth < len(a.Coef) && a.Coef[depth] != 0 }

// build builds the region, and proves that no access leaves its array.
func (b *builder) build(lines []string) error {
	if err := b.inside(scope{function: b.whole(b.region)}, func() (exits, *Error) { return b.items(b.region) }); err != nil {
		return err
	}
	number := 0
	if err := b.prove(b.nodes, nil, &number); err != nil {
		return err
	}
	b.named(b.accesses, lines)
	for _, a := range b.accesses {
		if !a.probe {
			b.file.Accesses = append(b.file.Accesses, a.Access)
		}
	}
	number = 0
	b.file.Program = b.without(b.nodes, 0, &number)
	if err := b.file.Program.Check(); err != nil {
		return &Error{Pos: Pos{File: b.name}, Why: err.Error()}
	}
	return nil
}

// prove checks the operands of nodes, each in a program of nothing but what is
// around it.
func (b *builder) prove(nodes []nest.Node, around []nest.Node, number *int) *Error {
	within := func(node nest.Node, body []nest.Node) *Error {
		return b.prove(body, append(around[:len(around):len(around)], node), number)
	}
	for _, node := range nodes {
		var err *Error
		switch node := node.(type) {
		case nest.Operand:
			for _, c := range b.accesses[*number].checks {
				if err == nil {
					err = b.proved(c, around)
				}
			}
			*number++
		case *nest.Loop:
			alone := &nest.Loop{Name: node.Name, From: node.From, To: node.To, Step: node.Step}
			if v, parted := b.values[node]; parted {
				b.values[alone] = v
			}
			err = within(alone, node.Body)
		case *nest.If:
			if err = within(&nest.If{When: node.When, Then: []nest.Node{}}, node.Then); err == nil {
				err = within(&nest.If{When: node.When, Else: []nest.Node{}}, node.Else)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// proved proves that what must not hold inside of loops and conditions does not.
func (b *builder) proved(c check, around []nest.Node) *Error {
	inside := []nest.Node{nest.Operand{Width: 1}}
	var variables []value
	for d := len(around) - 1; d >= 0; d-- {
		switch node := around[d].(type) {
		case *nest.Loop:
			l := *node
			l.Body = inside
			inside = []nest.Node{&l}
			v, parted := b.values[node]
			if !parted {
				v.name = l.Name
			}
			variables = append([]value{v}, variables...)
		case *nest.If:
			arm := nest.If{When: node.When, Then: inside}
			if node.Then == nil {
				arm = nest.If{When: node.When, Else: inside}
			}
			inside = []nest.Node{&arm}
		}
	}
	vars, found, err := nest.Program(inside).Find(0, c.bad)
	switch {
	case err != nil:
		return &Error{Pos: c.says.Pos, Expr: c.says.Expr, Why: fmt.Sprintf("whether it stays in range is not decided: %v; write simpler conditions around it, or bounds of loops in place of these", err)}
	case !found:
		return nil
	}
	says := *c.says
	link := " where "
	for d, v := range variables {
		n := vars[d]
		if v.at.Coef != nil {
			n = v.at.At(vars)
		}
		if v.name != "" {
			says.Why += fmt.Sprintf("%s%s = %d", link, v.name, n)
			link = ", "
		}
	}
	return &says
}

// without is a tree without the places that were only asked about, and without
// what is empty then. Of loops of one iteration that is a copy, that is left.
func (b *builder) without(nodes []nest.Node, depth int, number *int) []nest.Node {
	kept := []nest.Node{}
	for _, node := range nodes {
		switch node := node.(type) {
		case nest.Operand:
			if !b.accesses[*number].probe {
				kept = append(kept, node)
			}
			*number++
		case *nest.Loop:
			switch node.Body = b.without(node.Body, depth+1, number); {
			case b.once[node]:
				kept = append(kept, lifted(node.Body, depth)...)
			case len(node.Body) > 0:
				kept = append(kept, node)
			}
		case *nest.If:
			node.Then, node.Else = b.without(node.Then, depth, number), b.without(node.Else, depth, number)
			if len(node.Then)+len(node.Else) > 0 {
				kept = append(kept, node)
			}
		}
	}
	return kept
}
