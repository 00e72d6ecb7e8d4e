package csource

import "modernc.org/cc/v4"

// A rewrite is a statement that gives a variable another value, as "e = 2;" or "if (e > n) e = n;".
type rewrite struct {
	assignment *expr
	when       *expr // nil if always
}

// rewriteOf is the rewrite that a statement is.
func rewriteOf(s *cc.Statement) (r rewrite, is bool) {
	s = single(s)
	if s.Case == cc.StatementSelection && s.SelectionStatement.Case == cc.SelectionStatementIf {
		r.when = expression(s.SelectionStatement.ExpressionList)
		s = single(s.SelectionStatement.Statement)
	}
	if s.Case != cc.StatementExpr || isNil(s.ExpressionStatement.ExpressionList) {
		return r, false
	}
	r.assignment = expression(s.ExpressionStatement.ExpressionList)
	return r, r.assignment.op == "=" && r.assignment.args[0].op == opVar && r.assignment.args[0].decl != nil
}

// single is the one statement in braces, or the statement itself.
func single(s *cc.Statement) *cc.Statement {
	for s.Case == cc.StatementCompound {
		list := items(s.CompoundStatement)
		if len(list) != 1 || list[0].Case != cc.BlockItemStmt {
			break
		}
		s = list[0].Statement
	}
	return s
}

// variable is what the statement writes, once.
func (r rewrite) variable() *cc.Declarator { return r.assignment.args[0].decl }

// rewrites are how many statements of a list are rewrites of a variable.
func rewrites(v *cc.Declarator, list []*cc.BlockItem) (n int) {
	for _, item := range list {
		if item.Case == cc.BlockItemStmt {
			if r, is := rewriteOf(item.Statement); is && r.variable() == v {
				n++
			}
		}
	}
	return n
}

// follow builds a statement of a block without jumps. A variable whose value is known and that it rewrites has another one behind it:
// remember saw to it that such statements, of the block that declares it, are all that do.
func (b *builder) follow(s *cc.Statement) *Error {
	r, is := rewriteOf(s)
	if !is {
		_, err := b.stmt(s)
		return err
	}
	if r.when == nil && once(r.variable()) {
		return b.aim(r.variable(), r.assignment)
	}
	if _, known := b.known[r.variable()]; !known {
		_, err := b.stmt(s)
		return err
	}
	value, failed := b.rewritten(r)
	if _, err := b.stmt(s); err != nil {
		return err
	}
	if failed != nil {
		delete(b.known, r.variable())
		b.unknown[r.variable()] = failed
		return nil
	}
	b.known[r.variable()] = value
	return nil
}

// rewritten is the value behind a rewrite: that of when ? (type)right : left.
func (b *builder) rewritten(r rewrite) (integer, *Error) {
	left, node := r.assignment.args[0], r.assignment.node
	value := &expr{op: opCast, node: node, args: r.assignment.args[1:]}
	if r.when != nil {
		value = &expr{op: "?:", node: node, args: []*expr{r.when, value, left}}
	}
	i, err := b.readToo(value)
	if err != nil {
		return i, err
	}
	t, _ := typeOf(left.decl.Type())
	return b.converted(value, i, t)
}
