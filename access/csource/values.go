package csource

import (
	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A value is what a variable has at a place of the text: an integer, the target of a pointer, or
// the reason why it is unknown.
type value struct {
	i      integer // before conversion to the variable's type
	to     *lvalue
	failed *Error
}

// A binding gives a variable a value and hides outer ones. Bindings never change, so a pointer
// holds all values at a place.
type binding struct {
	v *cc.Declarator
	value
	outer *binding
}

func (at *binding) of(v *cc.Declarator) (value, bool) {
	for ; at != nil; at = at.outer {
		if at.v == v {
			return at.value, true
		}
	}
	return value{}, false
}

func (b *builder) bind(v *cc.Declarator, to value) { b.values = &binding{v, to, b.values} }

// tracked reports whether only statements of its function change a variable.
func tracked(v *cc.Declarator) bool {
	if v == nil || v.Type() == nil || v.Linkage() != cc.None || v.IsStatic() || v.AddressTaken() ||
		volatile(v) {
		return false
	}
	_, isInteger := typeOf(v.Type())
	return isInteger || isPointer(v)
}

// volatile excludes pointers: the parser also calls a pointer parameter volatile for its target.
func volatile(v *cc.Declarator) bool {
	return v.IsVolatile() && v.Type() != nil && v.Type().Kind() != cc.Ptr
}

func (b *builder) give(v *cc.Declarator, e *expr) {
	if !tracked(v) || b.told[v] && b.keeps(v) {
		return
	}
	b.bind(v, b.valueOf(v, e))
}

func (b *builder) valueOf(v *cc.Declarator, e *expr) value {
	if isPointer(v) {
		var l lvalue
		err := tried(func() { l = b.pointerAs(e, v.Type()) })
		return value{to: &l, failed: err}
	}
	var i integer
	err := tried(func() { i = b.integer(e) })
	return value{i: i, failed: err}
}

// forget unbinds the variables written below a node. If written from data, they depend on data.
func (b *builder) forget(below cc.Node) {
	assignments(below, func(e *expr) {
		v := e.args[0].decl
		if known, _ := b.values.of(v); !tracked(v) || known.failed != nil && known.failed.data {
			return
		}
		failed := e.fails("it changes in a loop, and is not the loop's variable")
		failed.data = len(e.args) > 1 && b.reads(e.args[1])
		b.bind(v, value{failed: failed})
	})
}

// assignments calls f for what assigns below a node, but not for initial values.
func assignments(below cc.Node, f func(e *expr)) {
	expressions(below, func(e *expr) {
		if e.assigns() {
			f(e)
		}
	})
}

// when emits f under a condition and g under its opposite.
func (b *builder) when(c nest.Condition, f, g func()) {
	switch {
	case always(c):
		f()
		return
	case never(c):
		g()
		return
	}
	before := b.values
	then := b.body(f)
	behind := b.values
	b.values = before
	otherwise := b.body(g)
	b.merge(c, before, behind)
	if len(then)+len(otherwise) > 0 {
		b.nodes = append(b.nodes, &nest.If{When: c, Then: then, Else: otherwise})
	}
}

func (b *builder) body(f func()) []nest.Node {
	outside := b.nodes
	b.nodes = nil
	f()
	inside := b.nodes
	b.nodes = outside
	return inside
}

func nothing() {}

func (b *builder) merge(c nest.Condition, before, then *binding) {
	otherwise := b.values
	merged := map[*cc.Declarator]bool{}
	b.values = before
	for _, arm := range []*binding{then, otherwise} {
		for ; arm != before; arm = arm.outer {
			if v := arm.v; !merged[v] {
				merged[v] = true
				x, known1 := then.of(v)
				y, known2 := otherwise.of(v)
				if known1 && known2 { // else one of the arms declares it
					b.bind(v, b.oneOf(c, v, x, y))
				}
			}
		}
	}
}

func (b *builder) oneOf(c nest.Condition, v *cc.Declarator, x, y value) value {
	fails := func(why string) value {
		return value{failed: &Error{Pos: place(v), Expr: v.Name(),
			Why: why}}
	}
	switch {
	case x.failed != nil:
		return x
	case y.failed != nil:
		return y
	case x.to != nil || y.to != nil:
		if x.to == y.to {
			return x
		}
		return fails(
			"after a condition it points to one of several: write one loop for each")
	case x.i.t != y.i.t:
		t, _ := typeOf(v.Type())
		if x.i, y.i = x.i.widened(t), y.i.widened(t); x.i.t != y.i.t {
			return fails("a condition gives it values of two types")
		}
	}
	return value{i: integer{b.choose(c, x.i.piece, y.i.piece), x.i.t}}
}
