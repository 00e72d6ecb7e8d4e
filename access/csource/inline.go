package csource

import (
	"slices"
	"strings"

	"modernc.org/cc/v4"
)

// What bounds calls that are read in place: how many are inside of each other, and how many there are of all.
const (
	maxCalls    = 16
	maxAllCalls = 1000
)

// own is the function of the file that a call, which is a statement or all that is assigned, calls and whose body is read in
// its place, as it touches memory or gets a pointer.
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

// rightFirst tells whether in the right side of an assignment is a call that is read in place, or a change of a variable, as in *p++:
// compilers do these before they read the left side of a compound assignment.
func (b *builder) rightFirst(right *expr) bool {
	return right.any(func(e *expr) bool {
		return e.op == opCall && b.own(e) != nil || e.assigns() && e.args[0].op == opVar
	})
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
	give := make([]func(), len(of)) // arguments are evaluated before any parameter has its value
	for i, v := range of {
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
