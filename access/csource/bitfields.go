package csource

import (
	"fmt"

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

// size refuses the first sizeof or _Alignof below a part of the parser's tree that is of a struct of which the layout
// is not understood, or of a pointer of which the parser has the size of the array: of a parameter that is an array, and of a sum.
func (b *builder) size(below cc.Node) (found *Error) {
	each(below, func(n cc.Node) {
		u, is := n.(*cc.UnaryExpression)
		if !is || found != nil {
			return
		}
		var t cc.Type
		switch u.Case {
		case cc.UnaryExpressionSizeofType, cc.UnaryExpressionAlignofType:
			t = u.TypeName.Type()
		case cc.UnaryExpressionSizeofExpr, cc.UnaryExpressionAlignofExpr:
			t = u.UnaryExpression.Type()
			why := ""
			switch of := expression(u.UnaryExpression); {
			case of.op == opVar && of.decl != nil && of.decl.IsParam() && isArray(of.decl):
				why = of.text() + " is a parameter, and so a pointer"
			case (of.op == "+" || of.op == "-" || of.op == ",") && t != nil && t.Undecay().Kind() == cc.Array:
				why = of.text() + " is a pointer"
			}
			if why != "" {
				found = &Error{Pos: place(u), Expr: source(u), Why: why + ": its size is not that of the array; write the number"}
				return
			}
		}
		if array, is := t.(*cc.ArrayType); is {
			t = elementOf(array)
		}
		if t != nil && isStruct(t) && (b.packed != "" || bitFields(t) && !alike(t)) {
			found = &Error{Pos: place(u), Expr: u.Token.SrcStr(), Why: fmt.Sprintf("the layout of %s is not understood: write the number", typeName(t))}
		}
	})
	return found
}

// alike tells whether the parser lays a type out as the ABI does.
func alike(t cc.Type) bool {
	_, _, same := layoutOf(t)
	return same
}
