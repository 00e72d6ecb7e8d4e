package csource

import (
	"fmt"
	"slices"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A target is what an expression such as a[i][j], or a[i].position[k].x, refers to: numbers of
// an array, of which each subscript chooses one.
type target struct {
	array    int   // its place in File.Arrays
	dims     []dim // of the subscripts, in the order of the text
	offset   int   // bytes of the fields from where their structs begin
	width    int   // bytes of the number
	declared string
}

// A dim is what a subscript may be, and how far apart what it chooses from lies.
type dim struct{ extent, bytes int }

// stored tells whether the expression refers to an element of an array, or to a field.
func (e *expr) stored() bool { return e.op == opIndex || e.op == opField }

// path is what the subscripts and fields of an expression begin at, and these.
func (e *expr) path() (base *expr, steps []*expr) {
	for base = e; base.stored(); base = base.args[0] {
		steps = append(steps, base)
	}
	slices.Reverse(steps)
	return base, steps
}

// reference builds an access to an array.
func (b *builder) reference(e *expr, kind nest.Kind) *Error {
	base, steps := e.path()
	if isScalar(base, steps) {
		return nil
	}
	t, subscripts, err := b.target(e, base, steps)
	if err != nil {
		return err
	}
	pieces := make([]piece, len(subscripts))
	for i, s := range subscripts {
		index, err := b.integer(s)
		if err != nil {
			if err.data {
				err = notInteger(e, true, "subscript %s depends on data (%s: %s)", s.text(), err.Expr, err.Why)
			}
			return err
		}
		if err := b.unwrapped(s, index, t.dims[i].extent); err != nil {
			return err
		}
		pieces[i] = index.piece
	}
	return b.place(e, kind, t, pieces, nil)
}

// unwrapped demands of a subscript that it stays in its type, if the array has elements beyond that; else
// the array's bounds see to it.
func (b *builder) unwrapped(s *expr, index integer, extent int) *Error {
	if _, high := index.t.limits(); extent-1 <= high {
		return nil
	}
	return b.stays(s, index)
}

// isScalar tells whether the steps lead to a number in a struct that is a variable, which lives
// in a register as other variables do.
func isScalar(base *expr, steps []*expr) bool {
	if base.op != opVar || base.decl == nil || base.decl.Type() == nil || !isStruct(base.decl.Type()) {
		return false
	}
	if len(steps) == 0 || slices.ContainsFunc(steps, func(s *expr) bool { return s.op != opField }) {
		return false
	}
	return cc.IsArithmeticType(steps[len(steps)-1].field.Type())
}

// target is what the steps from a base on, subscripts and fields, lead to.
func (b *builder) target(e, base *expr, steps []*expr) (t target, subscripts []*expr, err *Error) {
	leading := slices.IndexFunc(steps, func(s *expr) bool { return s.op == opField })
	if leading < 0 {
		leading = len(steps)
	}
	number, err := b.rootOf(e, base, leading)
	if err != nil {
		return t, nil, err
	}
	array := b.file.Arrays[number]
	t = target{array: number, declared: array.declared()}
	if leading != len(array.Extents) {
		return t, nil, notInteger(e, false, "%d of the %d subscripts of %s (a pointer) is not understood: write them all where it is used", leading, len(array.Extents), array.Name)
	}
	t.dims = make([]dim, leading)
	bytes := array.Element
	for d := leading - 1; d >= 0; d-- {
		t.dims[d] = dim{array.Extents[d], bytes}
		bytes *= array.Extents[d]
	}
	for _, s := range steps[:leading] {
		subscripts = append(subscripts, s.args[1])
	}
	of := base.decl.Type()
	if isArray(base.decl) {
		of = elementOf(arrayType(base.decl))
	}
	for _, s := range steps[leading:] {
		if s.op == opIndex {
			extents, isArray := of.(*cc.ArrayType)
			if !isArray || extents.IsVLA() || extents.Len() < 1 {
				return t, nil, notInteger(e, false, "%s has too many subscripts, or is a pointer, which is not understood", t.declared)
			}
			of = extents.Elem()
			t.dims, subscripts = append(t.dims, dim{int(extents.Len()), int(of.Size())}), append(subscripts, s.args[1])
			t.declared += fmt.Sprintf("[%d]", extents.Len())
			continue
		}
		if s.field.IsBitfield() {
			return t, nil, notInteger(e, false, "a bit-field is not understood")
		}
		t.offset += int(s.field.Offset()) // also of structs without a name around it
		of, t.declared = s.field.Type(), t.declared+"."+s.field.Name()
	}
	switch {
	case slices.Contains(elements, of.Kind()):
		t.width = int(of.Size())
		return t, subscripts, nil
	case isStruct(of):
		return t, nil, whole(e, of)
	}
	return t, nil, notInteger(e, false, "it is of type %s, and no number", of)
}

// rootOf is the number of the array at the base of a path that has so many subscripts before the first field.
func (b *builder) rootOf(e, base *expr, subscripts int) (number int, err *Error) {
	if base.op == opNothing {
		return 0, notInteger(base, false, "%s", base.why)
	}
	if base.op == opVar {
		if number, known := b.arrays[base.decl]; known {
			return number, nil
		}
		if failed := b.unread[base.decl]; failed != nil {
			return 0, failed
		}
		if subscripts == 0 {
			return 0, notInteger(e, false, "%s is a struct without arrays, and this no number of it: want arrays of constant extents in it, or an array of structs", base.text())
		}
	}
	return 0, notInteger(e, false, "%s", noArray(base, subscripts))
}

// elementOf is the type of the elements of an array of any extents.
func elementOf(array *cc.ArrayType) cc.Type {
	for {
		inner, is := array.Elem().(*cc.ArrayType)
		if !is {
			return array.Elem()
		}
		array = inner
	}
}

// whole refuses a struct that is used as one.
func whole(e *expr, of cc.Type) *Error {
	return notInteger(e, false, "a whole %s is not understood: write its fields one by one", typeName(of))
}

// isStruct tells whether a type is a struct or a union.
func isStruct(t cc.Type) bool { return t.Kind() == cc.Struct || t.Kind() == cc.Union }

// place builds an access for each case of its subscripts.
func (b *builder) place(e *expr, kind nest.Kind, t target, rest []piece, indices []nest.Affine) *Error {
	if len(rest) == 0 {
		return b.access(e, kind, t, indices)
	}
	p := rest[0]
	if p.kind == leaf {
		return b.place(e, kind, t, rest[1:], append(slices.Clone(indices), p.affine))
	}
	c, err := p.choice()
	if err != nil {
		return notInteger(e, false, "%v", err)
	}
	arm := func(i int) func() *Error {
		return func() *Error {
			return b.place(e, kind, t, append([]piece{c.args[i]}, rest[1:]...), indices)
		}
	}
	return b.when(c.when, arm(0), arm(1))
}

func (b *builder) access(e *expr, kind nest.Kind, t target, indices []nest.Affine) *Error {
	a := b.file.Arrays[t.array]
	at := nest.Constant(t.offset)
	acc := access{Access: Access{Array: t.array, Statement: b.statement, Pos: e.pos(), Text: e.text()}}
	for d := len(indices) - 1; d >= 0; d-- {
		var err error
		if at, err = plus(at, t.dims[d].bytes, indices[d]); err != nil {
			return notInteger(e, false, "%v", err)
		}
		extent := t.dims[d].extent
		below, err1 := plus(nest.Constant(-1), -1, indices[d])
		above, err2 := plus(nest.Constant(-extent), 1, indices[d])
		if err1 != nil || err2 != nil {
			return notInteger(e, false, "%v", errRange)
		}
		says := notInteger(e, false, "%s of %s is outside of 0 to %d", ordinal(d, len(indices)), t.declared, extent-1)
		acc.checks = append(acc.checks, check{nest.Condition{{below}, {above}}, says})
	}
	base, err := plus(nest.Constant(int(a.Base)), 1, nest.Constant(at.Const))
	if err != nil || base.Const < 0 {
		// No index that is in bounds here comes from such a constant alone, but
		// with the variables it may: keep the address in 64 bits.
		low := notInteger(e, false, "its address without the variables is too far below 0")
		low.below = uint64(max(-base.Const, 0))
		return low
	}
	strides := at.Coef
	if strides == nil {
		strides = []int{}
	}
	b.emit(nest.Operand{Tensor: a.Name, Kind: kind, Base: uint64(base.Const), Width: t.width, Strides: strides}, acc)
	return nil
}
