package csource

import (
	"slices"

	"modernc.org/cc/v4"
)

func fieldsOf(t cc.Type) (all []*cc.Field) {
	of, is := t.(interface {
		NumFields() int
		FieldByIndex(int) *cc.Field
	})
	if !is {
		return nil
	}
	for i := range of.NumFields() {
		if f := of.FieldByIndex(i); f != nil {
			all = append(all, f)
		}
	}
	return all
}

// bitFields reports whether a type has bit-fields. The parser lays some of them out wrong.
func bitFields(t cc.Type) bool {
	return slices.ContainsFunc(fieldsOf(elementOf(t)), func(f *cc.Field) bool {
		return f.IsBitfield() || bitFields(f.Type())
	})
}

// otherwise reports whether the parser may lay a type out differently than GCC.
func (b *builder) otherwise(t cc.Type) bool {
	t = elementOf(t)
	return (isStruct(t) || t.Kind() == cc.Enum) && b.unit.packed || bitFields(t)
}

// sizeOf returns an upper bound of a type's size, as a float, which cannot overflow.
func sizeOf(t cc.Type) (bytes float64) {
	if array, is := t.(*cc.ArrayType); is {
		return float64(array.Len()) * sizeOf(array.Elem())
	}
	for _, f := range fieldsOf(t) {
		bytes += sizeOf(f.Type())
	}
	return max(bytes, float64(t.Size()))
}

// doubtful refuses sizes and constants that the parser computes itself, perhaps differently than
// GCC.
func (b *builder) doubtful(below cc.Node) (found *Error) {
	each(below, func(n cc.Node) {
		if found != nil {
			return
		}
		switch n := n.(type) {
		case *cc.UnaryExpression:
			found = b.doubtfulSize(n)
		case *cc.TypeSpecifier:
			if n.Case == cc.TypeSpecifierTypeofExpr {
				found = refuse(n, "typeof is not understood: write the type")
			}
		case *cc.Enumerator:
			found = doubtfulConstant(n.ConstantExpression)
		case *cc.DirectDeclarator:
			found = doubtfulConstant(n.AssignmentExpression)
		case *cc.DirectAbstractDeclarator:
			found = doubtfulConstant(n.AssignmentExpression)
		}
	})
	return found
}

// doubtfulConstant refuses constants that the parser computes with enums and pointers.
func doubtfulConstant(constant cc.Node) (found *Error) {
	each(constant, func(n cc.Node) {
		switch n := n.(type) {
		case *cc.CastExpression:
			if t := n.Type(); n.Case == cc.CastExpressionCast && t != nil && (t.Kind() == cc.Enum ||
				t.Kind() == cc.Ptr) {
				found = refuse(n, "a cast to an enum or a pointer is not understood here: write "+
					"the number")
			}
		case *cc.PrimaryExpression:
			if _, is := n.ResolvedTo().(*cc.Enumerator); is {
				if e := expression(n); e.op == opNothing {
					found = refuse(n, "%s", e.why)
				}
			}
		}
	})
	return found
}

// doubtfulSize refuses sizeof and _Alignof except of types, variables, elements and fields.
func (b *builder) doubtfulSize(u *cc.UnaryExpression) *Error {
	var t cc.Type
	switch u.Case {
	case cc.UnaryExpressionSizeofType, cc.UnaryExpressionAlignofType:
		t = u.TypeName.Type()
	case cc.UnaryExpressionSizeofExpr, cc.UnaryExpressionAlignofExpr:
		of := expression(u.UnaryExpression)
		t = u.UnaryExpression.Type()
		v, base := of.decl, of.base()
		if base.op != opVar || base.decl == nil ||
			base.decl.Type().Kind() == cc.Function || v != nil &&
			v.IsParam() && isArray(v) {
			return refuse(u, "the size of %s is not understood: write the number", of.text())
		}
	default:
		return nil
	}
	if p, is := t.(*cc.PointerType); is && p.Elem().Kind() == cc.Function || t == nil ||
		b.otherwise(t) || t.Kind() == cc.Function {
		return refuse(u, "the layout of the type is not understood: write the number")
	}
	return nil
}
