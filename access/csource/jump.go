package csource

import (
	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A scope is what a jump may lead out of: the body of a loop by continue, that of a function by return.
type scope struct{ loop, function bool }

// Exits are where jumps have led out of a scope: behind it nothing of it is reached there.
type exits struct {
	where  nest.Condition
	failed error // why that is not known
}

// maxLeft bounds the cases in which what is behind a jump is left: proofs take time with a power of them.
const maxLeft = 16

// inside builds a scope.
func (b *builder) inside(of scope, f func() (exits, *Error)) *Error {
	outside := b.scope
	b.scope = of
	_, err := f()
	b.scope = outside
	return err
}

// items builds the statements and declarations of a block.
func (b *builder) items(list []*cc.BlockItem) (left exits, err *Error) {
	defer b.aimed(len(b.aims))
	for i, item := range list {
		if b.mayFork(item) && (item.Case == cc.BlockItemDecl || pointsOn(item)) {
			return b.forked(func() (left exits, err *Error) {
				if s := item.Statement; item.Case == cc.BlockItemStmt && jumps(s) {
					return b.followed(s, list[i+1:])
				}
				if err := b.item(item, list[i+1:]); err != nil {
					return left, err
				}
				return b.items(list[i+1:])
			})
		}
		if s := item.Statement; item.Case == cc.BlockItemStmt && (jumps(s) || s.Case == cc.StatementSelection && b.turnsPointers(s.SelectionStatement)) {
			if s.Case == cc.StatementSelection {
				return b.branch(s.SelectionStatement, list[i+1:])
			}
			return b.followed(s, list[i+1:])
		}
		if err := b.item(item, list[i+1:]); err != nil {
			return left, err
		}
	}
	return left, nil
}

// item builds one without jumps, with the rest of its block behind it.
func (b *builder) item(item *cc.BlockItem, rest []*cc.BlockItem) *Error {
	switch item.Case {
	case cc.BlockItemDecl:
		return b.declaration(item.Declaration, rest)
	case cc.BlockItemStmt:
		if mark(item) == "" {
			return b.follow(item.Statement)
		}
		return nil
	}
	return refuse(item, "it is not understood")
}

// followed builds a statement, if it is any, and the rest of its block where that is reached.
func (b *builder) followed(s *cc.Statement, rest []*cc.BlockItem) (left exits, err *Error) {
	if s != nil {
		if inner := single(s); len(rest) > 0 && inner.Case == cc.StatementSelection && b.turnsPointers(inner.SelectionStatement) {
			return b.branch(inner.SelectionStatement, rest)
		}
		if left, err = b.stmt(s); err != nil {
			return left, err
		}
	}
	return b.unlessLeft(left, rest)
}

// unlessLeft builds the rest of a block where it has not been left.
func (b *builder) unlessLeft(left exits, rest []*cc.BlockItem) (exits, *Error) {
	if len(rest) == 0 {
		return left, nil
	}
	if left.failed != nil {
		return left, refuse(rest[0], "where it is reached after jumps is not known: %v", left.failed)
	}
	var more exits
	err := b.when(left.where, nothing, func() (err *Error) {
		more, err = b.items(rest)
		return err
	})
	if more.failed == nil {
		more.where, more.failed = or(left.where, more.where)
	}
	return more, err
}

// branch builds an if and the rest of its block: where one arm ends with a jump, in the other one.
func (b *builder) branch(s *cc.SelectionStatement, rest []*cc.BlockItem) (left exits, err *Error) {
	if s.Case == cc.SelectionStatementSwitch {
		return left, refuse(s, "a switch is not understood")
	}
	var c nest.Condition
	if err := b.full(expression(s.ExpressionList), func() (err *Error) {
		c, err = b.decided(s.ExpressionList)
		return err
	}); err != nil {
		return left, err
	}
	var inThen, inElse, behind []*cc.BlockItem
	switch {
	case away(s.Statement):
		inElse = rest
	case away(s.Statement2):
		inThen = rest
	default:
		behind = rest
	}
	var then, otherwise exits
	build := func() *Error {
		return b.when(c, b.where(c, func() (err *Error) {
			then, err = b.followed(s.Statement, inThen)
			return err
		}), b.unless(c, func() (err *Error) {
			otherwise, err = b.followed(s.Statement2, inElse)
			return err
		}))
	}
	if len(behind) == 0 || !b.turnsPointers(s) {
		err = build()
	} else {
		before := b.state()
		var nodes []nest.Node
		if nodes, err = b.body(build); err == nil && b.nowOneOfSeveral(before.now) {
			b.restore(before)
			defer b.copying()()
			if b.allCopies += 2; b.allCopies > maxCopies {
				return left, refuse(s.ExpressionList, tooManyCopies)
			}
			inThen, inElse, behind = rest, rest, nil
			err = build()
		} else {
			b.nodes = append(b.nodes, nodes...)
		}
	}
	if err != nil {
		return left, err
	}
	return b.unlessLeft(b.eitherLeft(c, then, otherwise), behind)
}

// eitherLeft is where an if is left.
func (b *builder) eitherLeft(c nest.Condition, then, otherwise exits) (left exits) {
	switch {
	case then.failed != nil:
		return then
	case otherwise.failed != nil:
		return otherwise
	case never(then.where) && never(otherwise.where):
	case always(then.where):
		left.where, left.failed = or(c, otherwise.where)
	default:
		left.where, left.failed = either(c, then.where, otherwise.where)
	}
	if left.where = b.plain(left.where); len(left.where) > maxLeft {
		left.failed = errCases
	}
	return left
}

// jumps tells whether a statement may jump to behind a block that it is in.
func jumps(s *cc.Statement) (found bool) {
	switch s.Case {
	case cc.StatementJump:
		return true
	case cc.StatementCompound:
		for _, item := range items(s.CompoundStatement) {
			found = found || item.Case == cc.BlockItemStmt && jumps(item.Statement)
		}
	case cc.StatementSelection:
		found = jumps(s.SelectionStatement.Statement) || s.SelectionStatement.Statement2 != nil && jumps(s.SelectionStatement.Statement2)
	}
	return found
}

// away tells whether a statement, if it is any, always ends with a jump.
func away(s *cc.Statement) bool {
	switch {
	case s == nil:
	case s.Case == cc.StatementJump:
		return true
	case s.Case == cc.StatementCompound:
		list := items(s.CompoundStatement)
		return len(list) > 0 && list[len(list)-1].Case == cc.BlockItemStmt && away(list[len(list)-1].Statement)
	case s.Case == cc.StatementSelection:
		return away(s.SelectionStatement.Statement) && away(s.SelectionStatement.Statement2)
	}
	return false
}

// jump builds a jump out of what is around it.
func (b *builder) jump(s *cc.JumpStatement) (exits, *Error) {
	always := exits{where: nest.Condition{{}}}
	switch {
	case s.Case == cc.JumpStatementContinue && b.scope.loop:
		return always, nil
	case s.Case == cc.JumpStatementReturn && b.scope.function:
		return always, b.value(s.ExpressionList)
	}
	return exits{}, refuse(s, "a jump is not understood%s", map[cc.JumpStatementCase]string{
		cc.JumpStatementContinue: ": only continue in the body of a for, and not in a do",
		cc.JumpStatementReturn:   ": only outside of the loops of a function, and of a region that ends before the function does: write what ends a loop into its condition, such as for (j = 0; j < n && j <= i; j++)",
		cc.JumpStatementBreak:    ": write what ends the loop into its condition, such as for (j = 0; j < n && j <= i; j++)",
	}[s.Case])
}

// whole reports whether a list is the body of a function, which a return may end.
func (b *builder) whole(list []*cc.BlockItem) bool {
	of := b.main
	if len(b.calls) > 0 {
		of = b.calls[len(b.calls)-1]
	}
	all := items(of.CompoundStatement)
	return len(list) > 0 && len(all) > 0 && list[len(list)-1] == all[len(all)-1]
}
