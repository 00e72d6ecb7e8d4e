package csource

import (
	"math"
	"reflect"
	"regexp"
	"strings"

	"modernc.org/cc/v4"
)

// An expr is a C expression reduced to what csource needs, without parentheses.
type expr struct {
	op   string
	args []*expr
	node cc.ExpressionNode
	decl *cc.Declarator // of a variable
	why  string         // why it is not understood

	field *cc.Field
}

// The operators are C's, in its spelling ("+", "&&", "?:", "=", "+=", ","), and these.
const (
	opConst   = "const"   // an integer whose value the parser knows
	opOther   = "value"   // a value without variables: of another type, or a text
	opVar     = "var"     // a variable
	opIndex   = "[]"      // args[0][args[1]]
	opField   = "."       // args[0].field
	opDeref   = "deref"   // *args[0]
	opAddress = "address" // &args[0]
	opCall    = "call"    // args[0](args[1:]...)
	opCast    = "cast"    // args[0] converted to the node's type
	opNegate  = "negate"  // -args[0]
	opPlus    = "plus"    // +args[0]
	opBefore  = "before"  // ++args[0], --args[0]
	opBehind  = "behind"  // args[0]++, args[0]--
	opNothing = "nothing" // not understood; why says the reason
)

func (e *expr) text() string { return source(e.node) }

func (e *expr) pos() Pos { return place(e.node) }

func place(n cc.Node) Pos {
	p := n.Position()
	return Pos{p.Filename, p.Line, p.Column}
}

// unspaced matches spaces at brackets, which macros leave.
var unspaced = regexp.MustCompile(`([(\[]) | ([)\].,;\[])`)

// source returns the text of a node after macros, on one line, shortened.
func source(n cc.Node) string {
	if isNil(n) {
		return ""
	}
	text, before, more := "", ";", ""
	operator := false // before is one, with a space before it
	for _, t := range cc.NodeTokens(n) {
		if len(text) > 100 {
			more = " ..."
			break
		}
		next, apart := t.SrcStr(), len(t.Sep()) > 0
		if text != "" && (apart || operator || word(before[0]) && word(next[0])) {
			text += " "
		}
		operator = apart && ends(before) && !ends(next) && next != "["
		text, before = text+next, next
	}
	return unspaced.ReplaceAllString(text, "$1$2") + more
}

func ends(token string) bool {
	return word(token[len(token)-1]) || strings.Contains(")]", token)
}

func isNil(n cc.Node) bool {
	return n == nil || reflect.ValueOf(n).Kind() == reflect.Pointer && reflect.ValueOf(n).IsNil()
}

func expression(n cc.ExpressionNode) *expr {
	e := &expr{node: n}
	switch n := n.(type) {
	case *cc.ExpressionList:
		if n.ExpressionList == nil {
			return expression(n.AssignmentExpression)
		}
		e.op = ","
		for l := n; l != nil; l = l.ExpressionList {
			e.args = append(e.args, expression(l.AssignmentExpression))
		}
	case *cc.ConstantExpression:
		return expression(n.ConditionalExpression)
	case *cc.PrimaryExpression:
		return e.primary(n)
	case *cc.PostfixExpression:
		return e.postfix(n)
	case *cc.UnaryExpression:
		return e.unary(n)
	case *cc.CastExpression:
		if n.Case == cc.CastExpressionUnary {
			return expression(n.UnaryExpression)
		}
		e.set(opCast, n.CastExpression)
	case *cc.ConditionalExpression:
		if n.Case == cc.ConditionalExpressionLOr {
			return expression(n.LogicalOrExpression)
		}
		if isNil(n.ExpressionList) {
			return e.nothing("a ?: without its middle is not understood")
		}
		e.set("?:", n.LogicalOrExpression, n.ExpressionList, n.ConditionalExpression)
	case *cc.AssignmentExpression:
		if n.Case == cc.AssignmentExpressionCond {
			return expression(n.ConditionalExpression)
		}
		e.set(n.Token.SrcStr(), n.UnaryExpression, n.AssignmentExpression)
	default:
		return e.binary(n)
	}
	return e
}

func (e *expr) set(op string, args ...cc.ExpressionNode) *expr {
	e.op = op
	for _, a := range args {
		e.args = append(e.args, expression(a))
	}
	return e
}

func (e *expr) nothing(why string) *expr {
	e.op, e.why = opNothing, why
	return e
}

// constant makes e an integer constant if the parser knows its value.
func (e *expr) constant() *expr {
	switch e.node.Value().(type) {
	case cc.Int64Value, cc.UInt64Value:
		e.op = opConst
		return e
	}
	return e.nothing("its value is not known")
}

func (e *expr) primary(n *cc.PrimaryExpression) *expr {
	switch n.Case {
	case cc.PrimaryExpressionIdent:
		switch to := n.ResolvedTo().(type) {
		case *cc.Declarator:
			e.op, e.decl = opVar, to
			return e
		case *cc.Parameter:
			e.op, e.decl = opVar, to.Declarator
			return e
		case *cc.Enumerator: // an int for the parser too, or as long as its enum
			v, is := to.Value().(cc.Int64Value)
			if u, unsigned := to.Value().(cc.UInt64Value); unsigned && u <= math.MaxInt32 {
				v, is = cc.Int64Value(u), true
			}
			if !is || v < math.MinInt32 || v > math.MaxInt32 {
				return e.nothing(
					"a constant of an enum that is not an int is not understood: write a macro " +
						"in its place")
			}
			return e.constant()
		}
		if cc.IsIntegerType(n.Type()) {
			if constant := e.constant(); constant.op == opConst {
				return constant
			}
		}
		e.op, e.why = opOther, "" // a function that is not declared
		return e
	case cc.PrimaryExpressionInt, cc.PrimaryExpressionChar:
		return e.constant()
	case cc.PrimaryExpressionFloat, cc.PrimaryExpressionLChar, cc.PrimaryExpressionString,
		cc.PrimaryExpressionLString:
		e.op = opOther
		return e
	case cc.PrimaryExpressionExpr:
		return expression(n.ExpressionList)
	case cc.PrimaryExpressionStmt:
		return e.nothing("statements in an expression are not understood")
	}
	return e.nothing("a _Generic selection is not understood")
}

func (e *expr) postfix(n *cc.PostfixExpression) *expr {
	switch n.Case {
	case cc.PostfixExpressionPrimary:
		return expression(n.PrimaryExpression)
	case cc.PostfixExpressionIndex:
		if t := n.PostfixExpression.Type(); t != nil && cc.IsIntegerType(t) { // i[a] is a[i]
			return e.set(opIndex, n.ExpressionList, n.PostfixExpression)
		}
		return e.set(opIndex, n.PostfixExpression, n.ExpressionList)
	case cc.PostfixExpressionCall:
		e.set(opCall, n.PostfixExpression)
		for l := n.ArgumentExpressionList; l != nil; l = l.ArgumentExpressionList {
			e.args = append(e.args, expression(l.AssignmentExpression))
		}
		return e
	case cc.PostfixExpressionInc, cc.PostfixExpressionDec:
		return e.set(opBehind, n.PostfixExpression)
	case cc.PostfixExpressionPSelect: // p->x is (*p).x
		if e.field = n.Field(); e.field != nil {
			pointed := (&expr{node: n.PostfixExpression}).set(opDeref, n.PostfixExpression)
			e.op, e.args = opField, []*expr{pointed}
			return e
		}
	case cc.PostfixExpressionSelect:
		if e.field = n.Field(); e.field != nil {
			return e.set(opField, n.PostfixExpression)
		}
	}
	return e.nothing("a compound literal is not understood")
}

func (e *expr) unary(n *cc.UnaryExpression) *expr {
	switch n.Case {
	case cc.UnaryExpressionPostfix:
		return expression(n.PostfixExpression)
	case cc.UnaryExpressionInc, cc.UnaryExpressionDec:
		return e.set(opBefore, n.UnaryExpression)
	case cc.UnaryExpressionPlus:
		return e.set(opPlus, n.CastExpression)
	case cc.UnaryExpressionMinus:
		return e.set(opNegate, n.CastExpression)
	case cc.UnaryExpressionCpl:
		return e.set("~", n.CastExpression)
	case cc.UnaryExpressionNot:
		return e.set("!", n.CastExpression)
	case cc.UnaryExpressionSizeofExpr, cc.UnaryExpressionSizeofType, cc.UnaryExpressionAlignofExpr,
		cc.UnaryExpressionAlignofType:
		return e.constant()
	case cc.UnaryExpressionDeref:
		return e.set(opDeref, n.CastExpression)
	case cc.UnaryExpressionAddrof:
		return e.set(opAddress, n.CastExpression)
	}
	return e.nothing("it is not understood")
}

// binary reads a production of one or two operands; the left one is of the same production.
func (e *expr) binary(n cc.ExpressionNode) *expr {
	var left, right cc.ExpressionNode
	op := ""
	v := reflect.ValueOf(n).Elem()
	for i := range v.NumField() {
		if !v.Field(i).CanInterface() {
			continue
		}
		switch part := v.Field(i).Interface().(type) {
		case cc.ExpressionNode:
			if v.Type().Field(i).Name == v.Type().Name() {
				left = part
			} else {
				right = part
			}
		case cc.Token:
			op = part.SrcStr()
		}
	}
	switch {
	case isNil(right):
		return e.nothing("it is not understood")
	case isNil(left):
		return expression(right)
	}
	return e.set(op, left, right)
}

func (e *expr) assigns() bool {
	switch e.op {
	case opBefore, opBehind, "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=":
		return true
	}
	return false
}

// way returns 1 for ++ and -1 for --.
func (e *expr) way() int {
	if strings.Contains(e.text(), "--") {
		return -1
	}
	return 1
}

func (e *expr) any(is func(*expr) bool) bool {
	if is(e) {
		return true
	}
	for _, a := range e.args {
		if a.any(is) {
			return true
		}
	}
	return false
}

// expressions calls f for the expressions below a node, except operators with two operands.
func expressions(below cc.Node, f func(e *expr)) {
	each(below, func(n cc.Node) {
		switch n.(type) {
		case *cc.AssignmentExpression, *cc.PostfixExpression, *cc.UnaryExpression,
			*cc.PrimaryExpression:
			if e := expression(n.(cc.ExpressionNode)); e.node == n {
				f(e)
			}
		}
	})
}

// each calls f for a node and all nodes below it.
func each(n cc.Node, f func(cc.Node)) {
	if isNil(n) {
		return
	}
	f(n)
	v := reflect.Indirect(reflect.ValueOf(n))
	for i := range v.NumField() {
		field := v.Field(i)
		if !field.CanInterface() || field.Type() == reflect.TypeFor[cc.Token]() {
			continue
		}
		if child, is := field.Interface().(cc.Node); is {
			each(child, f)
		}
	}
}
