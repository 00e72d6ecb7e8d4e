package csource

import "modernc.org/cc/v4"

// returned is what a call returns of a function of the file that does nothing but return an integer's expression, as of
// int least(int a, int b) { return a < b ? a : b; }.
func (b *builder) returned(e *expr) (i integer, err error) {
	failed := b.inCall(e, func(value *expr) (err *Error) {
		i, err = b.integer(value)
		return err
	})
	if failed != nil {
		return integer{}, failed
	}
	t, _ := typeOf(e.node.Type())
	return b.convert(e, i, t)
}

// inCall calls f with what a call returns, where the parameters have their values.
func (b *builder) inCall(e *expr, f func(value *expr) *Error) *Error {
	unknown := func(because string) *Error {
		return notInteger(e, true, "what a call of %s returns is not known%s: write the expression, or a macro, in its place", e.args[0].text(), because)
	}
	function, value := b.onlyReturns(e)
	if function == nil {
		return unknown("")
	}
	if err := b.size(function); err != nil {
		return unknown(" (" + err.Expr + ": " + err.Why + ")")
	}
	all, err := b.arguments(e, parameters(function))
	if err != nil {
		return err
	}
	if all == nil {
		return unknown("")
	}
	before := b.tables
	b.tables = false // what is read there is not built
	defer func() { b.tables = before }()
	for v, i := range all {
		b.known[v] = i
		defer delete(b.known, v)
	}
	if err := f(value); err != nil {
		fails := unknown(" (" + err.Expr + ": " + err.Why + ")")
		fails.apart = err.apart
		return fails
	}
	return nil
}

// onlyReturns is the function that is called and what it returns, nil if it does anything else, or if that is no integer.
func (b *builder) onlyReturns(e *expr) (*cc.FunctionDefinition, *expr) {
	called := e.args[0]
	if _, ok := typeOf(e.node.Type()); !ok || called.op != opVar || called.decl == nil || called.decl.Type().Kind() != cc.Function {
		return nil, nil
	}
	f := b.functions[called.decl.Name()]
	if f == nil || f == b.main || b.leftOut[called.decl.Name()] != nil {
		return nil, nil
	}
	list := items(f.CompoundStatement)
	if len(list) > 0 && namesFunction(list[0]) {
		list = list[1:]
	}
	if len(list) != 1 || list[0].Case != cc.BlockItemStmt {
		return nil, nil
	}
	s := single(list[0].Statement)
	if s.Case != cc.StatementJump || s.JumpStatement.Case != cc.JumpStatementReturn || isNil(s.JumpStatement.ExpressionList) {
		return nil, nil
	}
	return f, expression(s.JumpStatement.ExpressionList)
}

// arguments are the values of the parameters in a call, nil if some are no integers, or have values already: then the
// function calls itself.
func (b *builder) arguments(e *expr, of []*cc.Declarator) (map[*cc.Declarator]integer, *Error) {
	if len(of) != len(e.args)-1 {
		return nil, nil
	}
	all := map[*cc.Declarator]integer{}
	for n, v := range of {
		t, ok := typeOf(v.Type())
		if _, again := b.known[v]; !ok || again {
			return nil, nil
		}
		i, err := b.integer(e.args[n+1])
		if err == nil {
			i, err = b.converted(e.args[n+1], i, t)
		}
		if err != nil {
			return nil, err
		}
		all[v] = i
	}
	return all, nil
}

// namesFunction tells whether an item is the declaration of __func__, which the parser puts in front of a body.
func namesFunction(item *cc.BlockItem) bool {
	if item.Case != cc.BlockItemDecl || item.Declaration == nil || item.Declaration.InitDeclaratorList == nil {
		return false
	}
	return item.Declaration.InitDeclaratorList.InitDeclarator.Declarator.Name() == "__func__"
}
