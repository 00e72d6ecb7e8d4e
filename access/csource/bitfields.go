package csource

import (
	"fmt"
	"slices"

	"modernc.org/cc/v4"
)

// bitFields tells whether a type has bit-fields anywhere, and layoutOf how it is then laid out.
func bitFields(t cc.Type) bool {
	if array, is := t.(*cc.ArrayType); is {
		return bitFields(elementOf(array))
	}
	for _, f := range fieldsOf(t) {
		if f.IsBitfield() || bitFields(f.Type()) {
			return true
		}
	}
	return false
}

// fieldsOf are the fields of a struct or a union, none of what is neither.
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

// layoutOf is the size and the alignment of a type in bytes by the System V ABI for AMD64 (3.1.2, "Bit-Fields"):
// a bit-field lies within a unit of its type, next to what comes before it if that unit has the room, and one
// without a name aligns no struct. It reports whether the parser has it so too, which it has not of all
// such structs.
func layoutOf(t cc.Type) (size, align int64, same bool) {
	if array, is := t.(*cc.ArrayType); is {
		size, align, same = layoutOf(elementOf(array))
		return t.Size() / max(elementOf(array).Size(), 1) * size, align, same
	}
	fields := fieldsOf(t)
	if len(fields) == 0 {
		return t.Size(), int64(t.Align()), true
	}
	up := func(n, to int64) int64 { return (n + to - 1) / to * to }
	end, all := int64(0), int64(0) // of the field before, and of all, in bits
	align, same = 1, true
	for _, f := range fields {
		if t.Kind() == cc.Union {
			end = 0
		}
		bytes, to, alike := layoutOf(f.Type())
		same = same && alike
		switch width := f.ValueBits(); {
		case f.IsBitfield() && width == 0:
			end = up(end, 8*to)
		case f.IsBitfield():
			if end/(8*bytes) != (end+width-1)/(8*bytes) {
				end = up(end, 8*to)
			}
			if end += width; f.Name() != "" {
				align = max(align, to)
			}
		default:
			end = up(end, 8*to)
			same = same && f.Offset() == end/8
			end, align = end+8*bytes, max(align, to)
		}
		all = max(all, end)
	}
	size = up((all+7)/8, align)
	return size, align, same && size == t.Size()
}

// sizes refuses a size of a struct of which the layout is not understood, where it may say an extent or a bound: in the
// declarations of the file, and in the function that is read.
func (b *builder) sizes() error {
	for u := b.ast.TranslationUnit; u != nil; u = u.TranslationUnit {
		if d := u.ExternalDeclaration; d != nil && d.Case == cc.ExternalDeclarationDecl {
			if err := b.size(d); err != nil {
				return err
			}
		}
	}
	if err := b.size(b.main); err != nil {
		return err
	}
	return nil
}

// size refuses the first part of the parser's tree of which the parser has another size or value than GCC, or may have: a sizeof, an
// _Alignof or a typeof, and an extent or a constant of an enum, which the parser computes by itself.
func (b *builder) size(below cc.Node) (found *Error) {
	each(below, func(n cc.Node) {
		if found != nil {
			return
		}
		switch n := n.(type) {
		case *cc.UnaryExpression:
			found = b.sizeOf(n)
		case *cc.TypeSpecifier:
			if n.Case == cc.TypeSpecifierTypeofExpr {
				if why := misread(expression(n.ExpressionList)); why != "" {
					found = refuse(n, "%s: write the type", why)
				}
			}
		case *cc.Enumerator:
			found = b.computed(n.ConstantExpression)
		case *cc.DirectDeclarator:
			found = b.computed(n.AssignmentExpression)
		case *cc.DirectAbstractDeclarator:
			found = b.computed(n.AssignmentExpression)
		}
	})
	return found
}

// computed refuses what the parser computes with an enum, of which the type has no sign there that GCC has, or the other way round, and
// with addresses in a struct of which the layout is not understood.
func (b *builder) computed(constant cc.Node) (found *Error) {
	each(constant, func(n cc.Node) {
		switch n := n.(type) {
		case *cc.CastExpression:
			if n.Case == cc.CastExpressionCast && n.TypeName.Type().Kind() == cc.Enum {
				found = refuse(n, "a cast to an enum is not understood here: write the number")
			}
			if p, is := n.Type().(*cc.PointerType); is && n.Case == cc.CastExpressionCast && b.otherwise(p.Elem()) {
				found = refuse(n, "the layout of %s is not understood: write the number", typeName(p.Elem()))
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

// sizeOf refuses a sizeof or an _Alignof of a struct of which the layout is not understood, or of an expression of which the parser
// has another type than GCC.
func (b *builder) sizeOf(u *cc.UnaryExpression) *Error {
	var t cc.Type
	switch u.Case {
	case cc.UnaryExpressionSizeofType, cc.UnaryExpressionAlignofType:
		t = u.TypeName.Type()
	case cc.UnaryExpressionSizeofExpr, cc.UnaryExpressionAlignofExpr:
		t = u.UnaryExpression.Type()
		of := expression(u.UnaryExpression)
		why := misread(of)
		switch {
		case of.op == opVar && of.decl != nil && of.decl.IsParam() && isArray(of.decl):
			why = of.text() + " is a parameter, and so a pointer: its size is not the array's"
		case (of.op == "+" || of.op == "-" || of.op == ",") && t != nil && t.Undecay().Kind() == cc.Array:
			why = of.text() + " is a pointer: its size is not the array's"
		case toFunction(t) && (of.op != opVar || of.decl == nil || of.decl.Type().Kind() == cc.Function):
			why = "the size of a function is not understood"
		}
		if why != "" {
			return refuse(u, "%s; write the number", why)
		}
	}
	if array, is := t.(*cc.ArrayType); is {
		t = elementOf(array)
	}
	if b.otherwise(t) {
		return &Error{Pos: place(u), Expr: u.Token.SrcStr(), Why: fmt.Sprintf("the layout of %s is not understood: write the number", typeName(t))}
	}
	return nil
}

func toFunction(t cc.Type) bool {
	if p, is := t.(*cc.PointerType); is {
		t = p.Elem()
	}
	return t != nil && t.Kind() == cc.Function
}

// otherwise tells whether the parser may lay a type out otherwise than GCC.
func (b *builder) otherwise(t cc.Type) bool {
	return t != nil && ((isStruct(t) || t.Kind() == cc.Enum) && b.packed != "" || bitFields(t) && !alike(t))
}

// misread says why the parser may have another type of an expression than GCC has, "" where it has the same.
func misread(e *expr) (why string) {
	e.any(func(e *expr) bool {
		switch {
		case e.op == opCall && e.args[0].op == opVar && e.args[0].decl != nil && e.args[0].decl.IsSynthetic():
			why = "what " + e.args[0].text() + " returns is not known, because it is not declared"
		case e.op == "?:" && !cc.IsArithmeticType(e.node.Type()):
			why = "the type of a ?: of pointers is not understood"
		case len(e.args) == 2 && e.op != opIndex && e.op != opCall && slices.ContainsFunc(e.args, isComplex), e.op == "?:" && slices.ContainsFunc(e.args[1:], isComplex):
			why = "the type of an expression with complex numbers is not understood"
		}
		return why != ""
	})
	return why
}

func isComplex(e *expr) bool { return e.node.Type() != nil && cc.IsComplexType(e.node.Type()) }

// alike tells whether the parser lays a type out as the ABI does.
func alike(t cc.Type) bool {
	_, _, same := layoutOf(t)
	return same
}
