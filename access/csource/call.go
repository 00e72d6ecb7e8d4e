package csource

import (
	"slices"
	"strings"

	"modernc.org/cc/v4"
)

// maxCalls bounds the depth of calls that are read in place, maxAllCalls their number.
const (
	maxCalls    = 16
	maxAllCalls = 1000
)

func (b *builder) function(e *expr) *cc.FunctionDefinition {
	v := e.args[0].decl
	if e.args[0].op != opVar || v == nil || v.Type() == nil || v.Type().Kind() != cc.Function {
		return nil
	}
	return b.functions[v.Name()]
}

// own returns the called function if its body is read in place: it touches memory or gets a
// pointer.
func (b *builder) own(e *expr) *cc.FunctionDefinition {
	f := b.function(e)
	if f == nil || b.touches(f) {
		return f
	}
	for n, v := range parameters(f) {
		if isPointer(v) && n+1 < len(e.args) && !unsaid(e.args[n+1]) {
			return f
		}
	}
	return nil
}

// names reports whether a call names a function; else it calls through a pointer.
func (e *expr) names() bool {
	called := e.args[0]
	return called.op == opOther ||
		called.op == opVar && called.decl != nil && called.decl.Type().Kind() == cc.Function
}

// ending lists the functions of C that do not return to their caller.
var ending = strings.Fields("exit _Exit quick_exit abort longjmp")

// touches reports whether a function or its callees use arrays or pointers, or do what is refused.
func (b *builder) touches(f *cc.FunctionDefinition) (touches bool) {
	if known, is := b.touching[f]; is {
		return known
	}
	b.touching[f] = true // a recursive call finds this
	expressions(f.CompoundStatement, func(e *expr) {
		switch e.op {
		case opIndex, opDeref:
			touches = true
		case opField:
			touches = touches || e.args[0].op == opDeref
		case opCall:
			touches = touches || !e.names()
		case opVar, opOther:
			name := e.text()
			called := b.functions[name]
			touches = touches || name != "__func__" && (isPlaced(e.decl) || isPointer(e.decl)) ||
				b.unit.leftOut[name] != nil || slices.Contains(ending, name) ||
				called != nil && b.touches(called)
		}
	})
	b.touching[f] = touches
	return touches
}

// single refuses a call that is read in place next to other accesses of an expression, because C
// leaves their order open. It also refuses such a call under a condition.
func (b *builder) single(e *expr) {
	accesses := 0
	var call *expr
	var find func(e *expr, behind bool)
	find = func(e *expr, behind bool) {
		switch {
		case e.stored():
			accesses++
			return
		case e.op == opCall && b.own(e) != nil:
			if call = e; behind {
				accesses++
			}
			accesses++
			return // its arguments are evaluated before it
		}
		for n, a := range e.args {
			find(a, behind || n > 0 && (e.op == "?:" || e.op == "&&" || e.op == "||"))
		}
	}
	if find(e, false); call != nil && accesses > 1 {
		panic(call.fails(
			"whether it comes before what else is read is not known: give a variable its result"))
	}
}

// call builds the arguments of a call. GCC evaluates the last one first.
func (b *builder) call(e *expr) {
	name := e.args[0].text()
	f := b.function(e)
	if !e.names() {
		panic(e.fails("a call of something else than a named function is not understood"))
	}
	if failed := b.unit.leftOut[name]; failed != nil {
		panic(failed)
	}
	if !b.computes(e) && !slices.Contains(strings.Fields("sqrt exp log pow"),
		strings.TrimSuffix(name, "f")) {
		b.file.Carried = 0
	}
	switch {
	case slices.Contains(ending, name):
		panic(e.fails("%s ends the program, which like break is not understood", name))
	case e.args[0].decl.IsSynthetic() && b.unit.files.missed != nil && !b.computes(e):
		panic(e.fails("%s may be a macro of a header that is not found (-I names a folder)", name))
	case f != nil && slices.ContainsFunc(b.loops,
		func(l loopVar) bool { return l.decl.Linkage() != cc.None || l.decl.IsStatic() }):
		panic(e.fails(
			"other functions see the variable of a loop around it: declare that in the loop"))
	}
	args := slices.Clone(e.args[1:])
	if f != nil || !slices.Contains(comparisons, strings.TrimPrefix(name, "__builtin_")) {
		slices.Reverse(args)
	}
	odd := strings.HasPrefix(name, "__builtin_") && !b.computes(e) || strings.Contains(name,
		"cimag")
	for _, a := range args {
		t := a.node.Type()
		switch {
		case odd && b.reads(a):
			panic(e.fails("whether %s evaluates its argument is not known: write its value", name))
		case a.op == opOther && t != nil && !cc.IsArithmeticType(t): // a text
			continue
		case t != nil && (t.Kind() == cc.Ptr || t.Kind() == cc.Array):
			panic(e.fails(
				"%s gets an array or a pointer, and its body is not in the file: define it there",
				name))
		}
		b.data(a)
	}
}

// computes reports whether GCC knows that a call only computes its result: of a library function
// that sets no errno, or one declared const or pure.
func (b *builder) computes(e *expr) bool {
	called := e.args[0]
	name := strings.TrimPrefix(called.text(), "__builtin_")
	for _, suffix := range []string{"", "f", "l"} {
		if b.functions[name] == nil && slices.Contains(computing,
			strings.TrimSuffix(name, suffix)) {
			return true
		}
	}
	if called.op == opVar && called.decl != nil {
		if has := called.decl.Type().Attributes(); has != nil {
			return slices.ContainsFunc(strings.Fields("const __const__ pure __pure__"),
				has.IsAttrSet)
		}
	}
	return false
}

// computing lists the library functions that only compute.
var computing = strings.Fields(`abs labs llabs ceil fabs floor round roundeven trunc
	copysign fmax fmin fma asinh atan cbrt cos erf nearbyint rint sin tan tanh
	cabs carg cimag creal cacos cacosh casin casinh catan catanh ccos ccosh cexp clog conj cproj
	csin csinh csqrt ctan ctanh cpow
	isfinite signbit isgreater isgreaterequal isless islessequal islessgreater isunordered
	finite strlen strcmp strncmp memcmp atoi atol atof ffs`)

// comparisons lists the functions that GCC treats as operators, evaluating the first operand first.
var comparisons = strings.Fields(
	"isgreater isgreaterequal isless islessequal islessgreater isunordered")

func (b *builder) inline(e *expr, f *cc.FunctionDefinition) {
	name := f.Declarator.Name()
	if b.allCalls++; f == b.main || slices.Contains(b.calls, f) {
		panic(e.fails("%s calls itself, which is not understood: write a loop", name))
	}
	if len(b.calls) == maxCalls || b.allCalls > maxAllCalls {
		panic(e.fails(
			"more than %d calls inside of each other, or %d of all", maxCalls, maxAllCalls))
	}
	if t := e.node.Type(); t != nil && t.Kind() == cc.Ptr {
		panic(e.fails(
			"%s returns a pointer, which is not understood: write the array in its place", name))
	}
	if err := b.doubtful(f); err != nil {
		panic(err)
	}
	of := parameters(f)
	if t, is := f.Declarator.Type().(*cc.FunctionType); !is || len(of) != len(e.args)-1 ||
		t.IsVariadic() {
		panic(e.fails("%s has other parameters than the call has arguments", name))
	}
	outside, statement := b.values, b.statement
	b.arguments(e, of)
	b.calls, b.sites = append(b.calls, f), append(b.sites, e.pos())
	if err := tried(func() { b.items(items(f.CompoundStatement), true) }); err != nil {
		said := *err
		if !strings.Contains(said.Why, inCallAt) {
			said.Why += b.site()
		}
		panic(&said)
	}
	b.calls, b.sites = b.calls[:len(b.calls)-1], b.sites[:len(b.sites)-1]
	b.values, b.statement = outside, statement
}

const inCallAt = ", in the call at "

func (b *builder) site() string {
	if len(b.sites) == 0 {
		return ""
	}
	return inCallAt + b.sites[len(b.sites)-1].String()
}

// arguments evaluates a call's arguments, the last one first, and binds the parameters.
func (b *builder) arguments(e *expr, of []*cc.Declarator) {
	bind := func(v *cc.Declarator, to value) {
		if !tracked(v) {
			to = value{failed: refuse(v, "its address is taken, or it is volatile, or no integer")}
		}
		b.bind(v, to)
	}
	targets := map[int]lvalue{}
	for n := len(of) - 1; n >= 0; n-- {
		v, a := of[n], e.args[n+1]
		switch {
		case v.Type().Kind() == cc.Ptr && !unsaid(a):
			targets[n] = b.pointer(a)
		case v.Type().Kind() == cc.Ptr:
			bind(v, value{failed: refuse(v, "the call does not say where it points")})
		case !cc.IsArithmeticType(v.Type()):
			panic(a.fails("a parameter of type %s is not understood", v.Type()))
		default:
			to := b.valueOf(v, a)
			if to.failed != nil {
				b.effect(a)
			}
			bind(v, to)
		}
	}
	for n, v := range of { // now the extents of what they point to are known
		if l, is := targets[n]; is {
			l = b.asType(e.args[n+1], l, v.Type())
			bind(v, value{to: &l})
		}
	}
}

// returned returns the value of a function that only returns an integer expression, such as int
// least(int a, int b) { return a < b ? a : b; }.
func (b *builder) returned(e *expr) integer {
	unknown := e.unknown(
		"what a call of %s returns is not known: write the expression, or a macro, in its place",
		e.args[0].text())
	t, ok := typeOf(e.node.Type())
	f := b.function(e)
	if !ok || f == nil || len(b.calls) == maxCalls || slices.Contains(b.calls, f) ||
		b.doubtful(f) != nil {
		panic(unknown)
	}
	of := parameters(f)
	list := slices.DeleteFunc(items(f.CompoundStatement), func(i *cc.BlockItem) bool {
		return i.Case == cc.BlockItemDecl // of __func__, by the parser
	})
	if len(list) != 1 || len(of) != len(e.args)-1 || list[0].Case != cc.BlockItemStmt ||
		list[0].Statement.Case != cc.StatementJump ||
		isNil(list[0].Statement.JumpStatement.ExpressionList) {
		panic(unknown)
	}
	outside, inside := b.values, b.values
	for n, v := range of {
		inside = &binding{v, b.valueOf(v, e.args[n+1]), inside}
		if inside.failed != nil || !tracked(v) {
			panic(unknown)
		}
	}
	b.values, b.calls = inside, append(b.calls, f)
	var i integer
	err := tried(func() {
		i = b.integer(expression(list[0].Statement.JumpStatement.ExpressionList))
	})
	b.values, b.calls = outside, b.calls[:len(b.calls)-1]
	if err != nil {
		panic(unknown)
	}
	return b.convert(e, i, t)
}
