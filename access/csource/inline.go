package csource

import (
	"cmp"
	"slices"
	"strings"

	"modernc.org/cc/v4"
)

// What bounds calls that are read in place: how many are inside of each other, and how many there are of all.
const (
	maxCalls    = 16
	maxAllCalls = 1000
)

// own is the function of the file that a call calls and whose body is read in its place, as it touches memory or gets a pointer.
func (b *builder) own(e *expr) *cc.FunctionDefinition {
	called := e.args[0]
	if called.op != opVar || called.decl == nil || called.decl.Type() == nil || called.decl.Type().Kind() != cc.Function {
		return nil
	}
	f := b.functions[called.decl.Name()]
	if f == nil || b.leftOut[called.decl.Name()] != nil {
		return nil
	}
	switch b.touches(f, map[string]bool{}) {
	case usesArrays:
		return f
	case "":
		for i, v := range parameters(f) {
			if v.Type().Kind() == cc.Ptr && i+1 < len(e.args) && !unsaid(e.args[i+1]) {
				return f
			}
		}
	}
	return nil
}

// rightFirst tells whether the right side of an assignment does something of its own, or calls a function that is not known to do nothing
// but compute. GCC completes that before it reads the left side of a compound assignment.
func (b *builder) rightFirst(right *expr) (bool, *Error) {
	if does := b.does(right, false, true); does || !b.does(right, false, false) || !b.accessing(right) {
		return does, nil
	}
	return false, notInteger(right, false, "whether it is read before the left side of the assignment is not known, as a call in it may be none for compilers: declare a variable with it in front")
}

// does tells whether an expression does something of its own, or calls a function that is not known to do nothing but compute: surely, or
// unless GCC leaves that out. It does so in arguments, behind conditions that are constants.
func (b *builder) does(e *expr, argument, surely bool) bool {
	if b.acts(e) {
		return true
	}
	if e.op == opCall {
		if !b.computes(e) && !(surely && b.folds(e, argument)) {
			return true
		}
		argument = true
	}
	holds, fails := true, true // as far as is known
	if argument && (e.op == "?:" || e.op == "&&" || e.op == "||") {
		i, err := constantOf(e.args[0])
		switch n, fixed := i.number(); {
		case literal(e.args[0]) && err == nil && fixed:
			holds, fails = n != 0, n == 0
		case surely && literal(e.args[0]):
			holds, fails = false, false
		case surely:
			nodes, accesses := len(b.nodes), len(b.accesses)
			if c, err := b.condition(e.args[0]); err == nil {
				holds, fails = !never(c), !always(c)
			}
			b.nodes, b.accesses = b.nodes[:nodes], b.accesses[:accesses]
		}
	}
	for i, a := range e.args {
		goes := i == 0 || (e.op != "?:" || (i == 1 || fails) && (i == 2 || holds)) && (e.op != "&&" || holds) && (e.op != "||" || fails)
		if goes && b.does(a, argument, surely) {
			return true
		}
	}
	return false
}

// folds tells whether GCC may have something simpler than a call, as of __builtin_sqrt(2.0), fabs(sqrt(2.0)) and fabs(pow(x, 1)).
func (b *builder) folds(e *expr, argument bool) bool {
	name, given := e.args[0].text(), e.args[1:]
	if b.functions[name] != nil || !argument && !strings.HasPrefix(name, "__builtin_") {
		return false
	}
	simple := func(a *expr) bool { // 0 or 1, or what is not known
		switch v := a.node.Value().(type) {
		case cc.Int64Value:
			return literal(a) && (v == 0 || v == 1)
		case cc.Float64Value:
			return literal(a) && (v == 0 || v == 1)
		}
		return literal(a)
	}
	return slices.ContainsFunc(given, simple) || !slices.ContainsFunc(given, func(a *expr) bool { return !b.foldable(a) })
}

// ahead tells whether GCC takes accesses of an operand in front of the whole operator: those in front of a comma, and of the right side of
// a compound assignment that it completes first.
func (b *builder) ahead(e *expr) bool {
	switch {
	case e.op == opCall || e.stored() || e.op == "?:" || e.op == "&&" || e.op == "||":
		return false
	case e.op == ",":
		return b.accessing(e.args[0]) || b.ahead(e.args[1])
	case e.assigns() && e.op != "=" && len(e.args) == 2:
		return b.accessing(e.args[1]) && b.does(e.args[1], false, false)
	}
	return slices.ContainsFunc(e.args, b.ahead)
}

// foldable tells whether an expression is one of constants and of calls of the library, which compilers may know the results of.
func (b *builder) foldable(e *expr) bool {
	args := e.args
	switch {
	case e.op == opVar || e.stored() || e.op == opCall && b.functions[args[0].text()] != nil:
		return false
	case e.op == opCall: // but its name
		args = args[1:]
	}
	return !slices.ContainsFunc(args, func(a *expr) bool { return !b.foldable(a) })
}

// literal tells whether an expression is one of constants alone.
func literal(e *expr) bool {
	return !e.any(func(e *expr) bool { return e.op == opVar || e.op == opCall || e.stored() })
}

// acts tells whether an expression changes something, as *p++ does, reads what is volatile, or is a call that is read in place.
func (b *builder) acts(e *expr) bool {
	return e.assigns() || e.isVolatile() || e.op == opCall && b.own(e) != nil
}

// isVolatile tells whether an expression is a variable or an element that is volatile. The parser does not say so of all: of arrays
// their declarators do, and of what is cast the text.
func (e *expr) isVolatile() bool {
	base, steps := e.path()
	if base.op == opVar && base.decl != nil && base.decl.IsVolatile() || len(steps) > 0 && strings.Contains(base.text(), "volatile") {
		return true
	}
	return (base.op == opVar || len(steps) > 0) && slices.ContainsFunc(append(steps, base), func(e *expr) bool {
		t := e.node.Type()
		return t != nil && t.Attributes().IsVolatile()
	})
}

// computes tells whether a call is one of a function that does nothing but compute what it returns, as GCC knows: one of those of the
// library that set no errno, if the file has none of its name, or one that is declared so.
func (b *builder) computes(e *expr) bool {
	name := strings.TrimPrefix(e.args[0].text(), "__builtin_")
	if e.args[0].text() != name && slices.Contains(builtins, name) {
		return true
	}
	if b.functions[name] == nil && slices.ContainsFunc([]string{name, strings.TrimSuffix(name, "f"), strings.TrimSuffix(name, "l")}, func(name string) bool { return slices.Contains(computing, name) }) {
		return true
	}
	if called := e.args[0]; called.op == opVar && called.decl != nil {
		if has := called.decl.Type().Attributes(); has != nil {
			return slices.ContainsFunc([]string{"const", "__const__", "pure", "__pure__"}, has.IsAttrSet)
		}
	}
	return false
}

// computing are functions of the library that GCC knows to do nothing but compute, of numbers of any type.
var computing = strings.Fields(`abs labs llabs ceil fabs floor round roundeven trunc copysign fmax fmin fma asinh atan cbrt cos erf nearbyint rint sin tan tanh
	cabs carg cimag creal cacos cacosh casin casinh catan catanh ccos ccosh cexp clog conj cproj csin csinh csqrt ctan ctanh cpow
	isfinite signbit isgreater isgreaterequal isless islessequal islessgreater isunordered
	finite strlen strcmp strncmp memcmp atoi atol atof
	ffs`)

// builtins are those that only GCC has, behind __builtin_.
var builtins = strings.Fields(`expect isinf isinff isinfl huge_val huge_valf inf inff nan nanf powi powif
	popcount popcountl popcountll clz clzl clzll ctz ctzl ctzll clrsb clrsbl clrsbll ffsl ffsll parity parityl parityll bswap16 bswap32 bswap64`)

// unevaluated are those of which GCC needs the kind of an argument only, or none of its value.
var unevaluated = strings.Fields("__builtin_constant_p __builtin_choose_expr __builtin_object_size __builtin_types_compatible_p cimag cimagf cimagl __builtin_cimag __builtin_cimagf __builtin_cimagl")

// comparisons are functions that GCC takes for operators, of which it evaluates the first operand first.
var comparisons = strings.Fields("isgreater isgreaterequal isless islessequal islessgreater isunordered")

// calling is a call in an expression that is read in place, nil if there is none.
func (b *builder) calling(e *expr) (call *expr) {
	e.any(func(e *expr) bool {
		if e.op == opCall && b.own(e) != nil {
			call = e
		}
		return call != nil
	})
	return call
}

// alwaysCalled refuses a call that is read in place in what is evaluated only where a condition on data says so.
func (b *builder) alwaysCalled(e *expr) *Error {
	call := b.calling(e)
	if call == nil {
		return nil
	}
	name := call.args[0].text()
	return notInteger(call, false, "%s %s: after a condition on data only functions of numbers are understood: make the call all of a statement, or all that one assigns, such as t = %[1]s(...)", name, usesArrays)
}

// accessing tells whether evaluating an expression makes accesses.
func (b *builder) accessing(e *expr) bool { return b.reads(e) || b.calling(e) != nil }

// alone refuses a call that is read in place where it stands beside other accesses among operands of which the order is not known.
func (b *builder) alone(e *expr, operands []*expr) *Error {
	call, others := (*expr)(nil), 0
	for _, a := range operands {
		if t := a.node.Type(); t != nil && t.Kind() == cc.Ptr || !b.accessing(a) {
			continue // making a pointer is no access
		} else {
			call = cmp.Or(call, b.calling(a))
			others++
		}
	}
	if call == nil || others < 2 {
		return nil
	}
	return notInteger(e, false, "whether %s comes before what else is read here is not known: declare a variable with its result before", call.text())
}

// ordered refuses an operator with a call that is read in place in one operand and accesses in another, unless they come in the order of
// the text. What is below one that is not refused for its order is looked at once.
func (b *builder) ordered(e *expr) *Error {
	if b.inTurn[e.node] {
		return nil
	}
	refused := b.alone(e, e.args)
	if refused != nil && !b.inOrder(e) {
		return refused
	}
	if refused != nil || b.calling(e) == nil {
		b.areInTurn(e)
	}
	return nil
}

// areInTurn keeps that the operands of an operator are evaluated in the order of the text, and those of operators among them.
func (b *builder) areInTurn(e *expr) {
	if e.stored() || e.op == opCall {
		return
	}
	b.inTurn[e.node] = true
	for _, a := range e.args {
		b.areInTurn(a)
	}
}

// inOrder tells whether compilers evaluate the operands of an expression in the order of the text, which C leaves open. GCC does so in sums,
// differences, products and quotients of floating-point numbers, unless something in them has a sign, as of -a + b it makes b - a;
// and in a sum, a difference or a product of integers where there is no more than that.
func (b *builder) inOrder(e *expr) bool {
	t := e.node.Type()
	if t == nil || !slices.Contains(elements, t.Kind()) || slices.Contains([]cc.Kind{cc.Bool, cc.ComplexFloat, cc.ComplexDouble}, t.Kind()) {
		return false
	}
	switch e.op {
	case opVar, opOther, opIndex, opField, opDeref, opCall:
		return true
	case opConst:
		i, err := constantOf(e)
		n, _ := i.number()
		return err == nil && n > 0
	case opCast, opPlus:
		return b.inOrder(e.args[0])
	case "+", "-", "*", "/":
		if isFloat(e) {
			return b.inOrder(e.args[0]) && b.inOrder(e.args[1])
		}
		if e.op != "/" && leafOf(e.args[0]) && leafOf(e.args[1]) {
			return true
		}
	case "%", "&", "|", "^", "<<", ">>":
	default:
		return false
	}
	return !(b.accessing(e.args[0]) && b.accessing(e.args[1])) && b.inOrder(e.args[0]) && b.inOrder(e.args[1])
}

// leafOf tells whether an expression is one element or call, or that as another type.
func leafOf(e *expr) bool {
	for e.op == opCast {
		e = e.args[0]
	}
	return e.stored() || e.op == opCall
}

// inline builds the body of a function in the place of its call, with parameters that have the values of the arguments.
func (b *builder) inline(e *expr, f *cc.FunctionDefinition) *Error {
	name := f.Declarator.Name()
	b.allCalls++
	switch {
	case f == b.main || slices.Contains(b.calls, f):
		return notInteger(e, false, "%s calls itself, which is not understood: write a loop", name)
	case len(b.calls) == maxCalls || b.allCalls > maxAllCalls:
		return notInteger(e, false, "no more than %d calls of functions that use arrays are read inside of each other, and %d of all", maxCalls, maxAllCalls)
	}
	if t := e.node.Type(); t != nil && t.Kind() == cc.Ptr {
		return notInteger(e, false, "%s returns a pointer, which is not understood: write the array and its subscripts in place of the call", name)
	}
	if err := b.size(f); err != nil {
		return err
	}
	of := parameters(f)
	if t, is := f.Declarator.Type().(*cc.FunctionType); !is || len(of) != len(e.args)-1 || t.IsVariadic() {
		return notInteger(e, false, "%s has other parameters than the call has arguments", name)
	}
	b.inlined[f] = true
	b.findWalkers(f)
	body := items(f.CompoundStatement)
	give := make([]func(), len(of)) // arguments are evaluated, the last one first, before any parameter has its value
	for i, v := range slices.Backward(of) {
		var err *Error
		if give[i], err = b.argument(v, e.args[i+1], body); err != nil {
			return err
		}
	}
	b.calls, b.sites = append(b.calls, f), append(b.sites, e.pos())
	for i, v := range of {
		b.forget(v)
		give[i]()
	}
	each(f.CompoundStatement, func(n cc.Node) {
		if d, is := n.(*cc.InitDeclarator); is {
			b.mayChange(d.Declarator, d)
		}
	})
	statement, shifts := b.statement, b.shifts
	b.shifts = nil
	err := b.inside(scope{function: true}, func() (exits, *Error) { return b.items(body) })
	if err != nil && !strings.Contains(err.Why, inCallAt) {
		said := *err
		said.Why += b.site()
		err = &said
	}
	b.calls, b.sites = b.calls[:len(b.calls)-1], b.sites[:len(b.sites)-1]
	b.shifts = shifts
	b.statement = statement
	for _, v := range of {
		b.forget(v)
	}
	return err
}

const inCallAt = ", in the call at "

// site says in which call something is.
func (b *builder) site() string {
	if len(b.sites) == 0 {
		return ""
	}
	return inCallAt + b.sites[len(b.sites)-1].String()
}

// forget forgets what was known of a parameter in a call that is over.
func (b *builder) forget(v *cc.Declarator) {
	delete(b.known, v)
	delete(b.unknown, v)
	delete(b.aliases, v)
	delete(b.astray, v)
	delete(b.now, v)
}

// argument builds the evaluation of an argument, and returns what gives the parameter of a body its value.
func (b *builder) argument(v *cc.Declarator, e *expr, body []*cc.BlockItem) (give func(), err *Error) {
	none := func() {}
	b.mayChange(v, nil)
	t, isInteger := typeOf(v.Type())
	switch {
	case isInteger:
		nodes, accesses := len(b.nodes), len(b.accesses)
		i, err := b.integer(e)
		if err == nil {
			i, err = b.converted(e, i, t)
		}
		switch {
		case b.walkers[v] && err == nil:
			return func() { b.now[v] = walker{i: i} }, nil
		case err != nil:
			b.nodes, b.accesses = b.nodes[:nodes], b.accesses[:accesses] // nothing is asked about what is not known
			return func() { b.unknown[v] = err }, b.effect(e)
		case b.changing[v] && (v.WriteCount() != rewrites(v, body) || v.AddressTaken() || v.IsVolatile()):
			return none, nil
		}
		return func() { b.known[v] = i }, nil
	case v.Type().Kind() == cc.Ptr && unsaid(e), cc.IsArithmeticType(v.Type()):
		return none, b.effect(e)
	case v.Type().Kind() == cc.Ptr:
		l, err := b.pointer(e, 1)
		if err != nil {
			return nil, err.of(e)
		}
		return func() {
			l, err := b.pointerAs(l, v.Type(), false) // of which an extent may be a parameter before it
			if err == nil && b.walkers[v] {
				l, err = b.collapsed(e, l)
			}
			switch {
			case b.walkers[v] && err == nil:
				b.now[v] = walker{l: l}
			case err != nil:
				b.astray[v] = err.of(e)
			case b.changing[v]:
				b.astray[v] = refuse(v, "%s", pointerChanges)
			default:
				b.aliases[v] = l
			}
		}, nil
	}
	return nil, notInteger(e, false, "a parameter of type %s is not understood", v.Type())
}
