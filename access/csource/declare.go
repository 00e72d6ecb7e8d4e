package csource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A builder makes a program of a region.
type builder struct {
	file   *File
	unit   *unit
	ast    *cc.AST
	opts   Options
	main   *cc.FunctionDefinition
	region []*cc.BlockItem

	functions map[string]*cc.FunctionDefinition
	arrays    map[*cc.Declarator]int
	unread    map[*cc.Declarator]*Error // arrays that are not understood
	Given                               // by defines
	told      map[*cc.Declarator]bool   // variables that have the value of a define for good
	sized     map[*cc.Declarator]int    // how much parameters that are pointers point to
	written   map[*cc.Declarator]bool   // variables that more than their declaration gives a value
	// how many declarations of a variable are written, by its name
	changed  map[string]int
	touching map[*cc.FunctionDefinition]bool

	values *binding               // of the variables at this place
	loops  []loopVar              // around this place
	depths map[*cc.Declarator]int // in how many loops variables are declared
	// around it, whose bodies are read in the place of the calls
	calls      []*cc.FunctionDefinition
	sites      []Pos // of these calls
	allCalls   int
	asked      *header         // the loop whose condition is evaluated
	turns      map[cc.Node]int // iterations of those of loops
	again      bool            // a loop got turns: all is built once more
	below      int             // how far below 0 an address without its variables is, in bytes
	nodes      []nest.Node
	accesses   []access // by number
	statement  int
	statements []named
}

// A loopVar is the variable of a loop, of which each part has it.
type loopVar struct {
	decl *cc.Declarator
	t    ctype
	at   nest.Affine // its value

	node cc.Node // C's loop, with its step and the iterations of a turn, if any
	step int
	turn int
	part part
	loop *nest.Loop // of this part; nil in its own head
}

// An access is an operand of the tree that is built, and what must not hold there.
type access struct {
	Access
	node   cc.Node
	checks []check
}

// A check is what must not hold where an operand of the tree is reached.
type check struct {
	bad  nest.Condition
	says *Error
}

func newBuilder(u *unit, ast *cc.AST, g Given, opts Options, turns map[cc.Node]int) (*builder,
	error) {
	b := &builder{
		file: &File{Align: opts.Align, Carried: maxLoops}, unit: u, ast: ast, opts: opts, Given: g,
		turns:     turns,
		functions: map[string]*cc.FunctionDefinition{},
		arrays:    map[*cc.Declarator]int{}, unread: map[*cc.Declarator]*Error{},
		depths: map[*cc.Declarator]int{},
		told:   map[*cc.Declarator]bool{}, sized: map[*cc.Declarator]int{},
		touching: map[*cc.FunctionDefinition]bool{},
	}
	for _, d := range b.external() {
		if d.Case == cc.ExternalDeclarationFuncDef {
			b.functions[d.FunctionDefinition.Declarator.Name()] = d.FunctionDefinition
		}
	}
	if err := b.find(); err != nil {
		return nil, err
	}
	b.findWritten()
	for _, d := range b.external() {
		if err := b.doubtful(d); err != nil && (d.Case == cc.ExternalDeclarationDecl ||
			d.FunctionDefinition == b.main) {
			return nil, err
		}
	}
	if err := b.tell(); err != nil {
		return nil, err
	}
	at := opts.Origin
	b.declared(func(d *cc.Declarator, init *cc.InitDeclarator) {
		if at = b.declare(d, at); init != nil {
			b.constant(init)
		}
	})
	return b, nil
}

// external are the declarations of the file.
func (b *builder) external() (all []*cc.ExternalDeclaration) {
	for u := b.ast.TranslationUnit; u != nil; u = u.TranslationUnit {
		if u.ExternalDeclaration != nil {
			all = append(all, u.ExternalDeclaration)
		}
	}
	return all
}

// findWritten finds the variables that are written or whose address is taken. One that is
// declared again, with extern, is another one for the parser.
func (b *builder) findWritten() {
	b.written, b.changed = map[*cc.Declarator]bool{}, map[string]int{}
	add := func(v *cc.Declarator, _ cc.Node) {
		if !b.written[v] {
			b.changed[v.Name()]++
		}
		b.written[v] = true
	}
	for _, f := range b.functions {
		writes(f, add)
		each(f, func(n cc.Node) {
			if u, is := n.(*cc.UnaryExpression); is && u.Case == cc.UnaryExpressionAddrof {
				if e := expression(u.CastExpression); e.op == opVar && e.decl != nil {
					add(e.decl, n)
				}
			}
		})
	}
}

// keeps tells whether a variable keeps the value that it has first.
func (b *builder) keeps(v *cc.Declarator) bool {
	return !b.written[v] && !v.AddressTaken() && !volatile(v) && (v.Linkage() == cc.None ||
		b.changed[v.Name()] == 0)
}

// constant binds a variable that keeps its value to it.
func (b *builder) constant(init *cc.InitDeclarator) {
	v := init.Declarator
	if init.Case != cc.InitDeclaratorInit || init.Initializer.Case != cc.InitializerExpr ||
		!b.keeps(v) || b.told[v] {
		return
	}
	e := expression(init.Initializer.AssignmentExpression)
	if _, isInteger := typeOf(v.Type()); isInteger || isPointer(v) && !unsaid(e) {
		b.bind(v, b.valueOf(v, e))
	}
}

// find finds what is to be read.
func (b *builder) find() error {
	fail := func(why string, args ...any) error {
		return &Error{Pos: Pos{File: b.unit.name}, Why: fmt.Sprintf(why, args...)}
	}
	if b.opts.Function != "" {
		if b.main = b.functions[b.opts.Function]; b.main == nil {
			if failed := b.unit.leftOut[b.opts.Function]; failed != nil {
				return failed
			}
			return fail("no function %s is defined%s", b.opts.Function, b.defined())
		}
		b.region = items(b.main.CompoundStatement)
		return nil
	}
	for _, d := range b.external() {
		if d.Case != cc.ExternalDeclarationFuncDef {
			continue
		}
		list, found := between(d.FunctionDefinition.CompoundStatement)
		switch {
		case !found:
		case b.main != nil:
			return &Error{Pos: place(d), Why: fmt.Sprintf(
				"%s has a #pragma scop, and %s has one: choose one with --function",
				d.FunctionDefinition.Declarator.Name(), b.main.Declarator.Name())}
		default:
			b.main, b.region = d.FunctionDefinition, list
		}
	}
	if b.main == nil {
		return fail(
			"nothing to read: no #pragma scop ... #pragma endscop, and no --function%s",
			b.defined())
	}
	return nil
}

// defined says which functions there are.
func (b *builder) defined() string {
	names := slices.Sorted(maps.Keys(b.functions))
	if len(names) == 0 {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

// items are the statements and declarations of a block.
func items(block *cc.CompoundStatement) []*cc.BlockItem {
	var list []*cc.BlockItem
	if block == nil {
		return nil
	}
	for l := block.BlockItemList; l != nil; l = l.BlockItemList {
		list = append(list, l.BlockItem)
	}
	return list
}

// mark is which mark a statement is, "" if it is none.
func mark(item *cc.BlockItem) string {
	if s := item.Statement; s != nil && s.Case == cc.StatementExpr &&
		!isNil(s.ExpressionStatement.ExpressionList) {
		if p, is := s.ExpressionStatement.ExpressionList.(*cc.PrimaryExpression); is &&
			p.Case == cc.PrimaryExpressionIdent {
			if name := p.Token.SrcStr(); name == beginMark || name == endMark {
				return name
			}
		}
	}
	return ""
}

// between is what lies between the marks in the blocks of a function.
func between(body *cc.CompoundStatement) (list []*cc.BlockItem, found bool) {
	each(body, func(n cc.Node) {
		block, is := n.(*cc.CompoundStatement)
		if !is {
			return
		}
		var inside []*cc.BlockItem // from a mark on
		for _, item := range items(block) {
			switch m := mark(item); {
			case m == beginMark:
				inside = []*cc.BlockItem{}
			case m == endMark && inside != nil:
				list, inside, found = append(list, inside...), nil, true
			case inside != nil:
				inside = append(inside, item)
			}
		}
	})
	return list, found
}

// declared calls f for what is declared, in the order of the text: in the file, as a parameter of
// the function that is read, in its body. A parameter has no init.
func (b *builder) declared(f func(d *cc.Declarator, init *cc.InitDeclarator)) {
	list := func(n cc.Node) {
		d, is := n.(*cc.Declaration)
		if !is || d == nil {
			return
		}
		for l := d.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
			if d := l.InitDeclarator.Declarator; !d.IsTypename() && d.Name() != "__func__" {
				f(d, l.InitDeclarator)
			}
		}
	}
	for _, d := range b.external() {
		switch {
		case d.Case == cc.ExternalDeclarationFuncDef && d.FunctionDefinition == b.main:
			for _, d := range parameters(b.main) {
				f(d, nil)
			}
			each(b.main.CompoundStatement, list)
		case d.Case == cc.ExternalDeclarationDecl:
			list(d.Declaration)
		}
	}
}

// parameters are those of a function that have names.
func parameters(of *cc.FunctionDefinition) (all []*cc.Declarator) {
	t, is := of.Declarator.Type().(*cc.FunctionType)
	if !is {
		return nil
	}
	for _, p := range t.Parameters() {
		if p.Declarator != nil {
			all = append(all, p.Declarator)
		}
	}
	return all
}

// arrayType is the type of an array, also of one that is a parameter.
func arrayType(d *cc.Declarator) *cc.ArrayType {
	if d == nil || d.Type() == nil {
		return nil
	}
	t := d.Type()
	if d.IsParam() {
		t = t.Undecay()
	}
	array, _ := t.(*cc.ArrayType)
	return array
}

func isArray(d *cc.Declarator) bool { return arrayType(d) != nil }

// isPlaced tells whether a declarator is an array, or a struct that holds arrays, which is as
// an array of one without a subscript.
func isPlaced(d *cc.Declarator) bool {
	return isArray(d) || d != nil && d.Type() != nil && isStruct(d.Type()) && holdsArrays(d.Type())
}

func holdsArrays(of cc.Type) bool {
	return slices.ContainsFunc(fieldsOf(of), func(f *cc.Field) bool {
		return f.Type().Kind() == cc.Array || holdsArrays(f.Type())
	})
}

// elements are the types that an array can be of.
var elements = []cc.Kind{
	cc.Bool, cc.Char, cc.SChar, cc.UChar, cc.Short, cc.UShort, cc.Int, cc.UInt, cc.Long, cc.ULong,
	cc.LongLong, cc.ULongLong,
	cc.Enum, cc.Float, cc.Double, cc.LongDouble, cc.ComplexFloat, cc.ComplexDouble,
}

// declare places an array behind at, if a declarator is one. One that is not
// understood is refused where it is used, and noted where it is not.
func (b *builder) declare(d *cc.Declarator, at uint64) uint64 {
	size, sized := b.sized[d]
	if !isPlaced(d) && !sized {
		return at
	}
	for other, i := range b.arrays {
		if d.Linkage() != cc.None && other.Linkage() != cc.None && other.Name() == d.Name() {
			b.arrays[d] = i // it is declared once more
			return at
		}
	}
	a, err := b.arrayOf(d, size)
	align := uint64(b.opts.Align)
	end := at
	if err == nil || err.room {
		if end += (uint64(bytesOf(a)) + align - 1) / align * align; end > highest {
			end, err = at, refuse(d, "the arrays end beyond 2^62")
		}
	}
	if err != nil {
		b.unread[d] = err
		if sized {
			b.bind(d, value{failed: err})
		}
		b.file.Notes = append(b.file.Notes, Note{Pos: err.Pos, Text: fmt.Sprintf(
			"%s: %s; nothing that is counted uses it", err.Expr, err.Why)})
		return end
	}
	a.Base = at
	b.file.Arrays = append(b.file.Arrays, a)
	number := len(b.file.Arrays) - 1
	if !sized {
		b.arrays[d] = number
		return end
	}
	element := d.Type().(*cc.PointerType).Elem()
	of := elementOf(element)
	first := lvalue{array: number, extents: a.Extents, of: of, declared: a.declared()}.decayed()
	b.bind(d, value{to: &first})
	if d.AddressTaken() || volatile(d) || b.written[d] && b.opts.Function == "" {
		b.bind(d, value{failed: refuse(d, "%s", pointerChanges)})
	}
	return end
}

// bytesOf is the size of an array, no integer, so that it is never out of range.
func bytesOf(a Array) float64 {
	bytes := float64(a.Element)
	for _, n := range a.Extents {
		bytes *= float64(n)
	}
	return bytes
}

// arrayOf is an array that has no place yet. A parameter that is a pointer points to so many
// elements.
func (b *builder) arrayOf(d *cc.Declarator, size int) (a Array, err *Error) {
	t := d.Type()
	if array := arrayType(d); array != nil {
		t = array
	}
	if size > 0 {
		a.Extents, t = []int{size}, t.(*cc.PointerType).Elem()
	}
	extents, element := b.form(t)
	a.Name, a.Extents = d.Name(), append(a.Extents, extents...)
	a.Type, a.Element = typeName(element), int(element.Size())
	for n, extent := range a.Extents {
		if extent < 1 {
			return a, refuse(d,
				"extent %d of the array is not a constant of at least 1, which -D can set", n)
		}
	}
	const most = 1 << 61 // bytes
	switch {
	case element.IsIncomplete(), sizeOf(element) > most, bytesOf(a) > most:
		return a, refuse(d, "its size is not known, or more than 2^61 bytes")
	case d.IsParam() && size == 0 && len(a.Extents) > 0 && (b.written[d] || d.AddressTaken()):
		return a, refuse(d,
			"a parameter that is an array and changes is not understood: write subscripts")
	case d.IsParam() && len(a.Extents) == 0:
		return a, refuse(d,
			"a %s by value is not understood: declare it as %[2]s[1] and write %[2]s[0]",
			a.Type, a.Name)
	case b.otherwise(element):
		return a, refuse(d,
			"the layout of %s is not understood, by its bit-fields or by what is said of alignment",
			a.Type)
	case !isStruct(element) && !slices.Contains(elements, element.Kind()):
		err = refuse(d, "an array of %s is not understood: want numbers, or structs of numbers",
			element)
		err.room = true
		return a, err
	}
	if d.IsParam() || d.IsVolatile() { // it may overlap another, or be read by others
		b.file.Carried = 0
	}
	return a, nil
}

// extent is how many elements an array has, by the values of variables if it is written so, 0
// if it is not known.
func (b *builder) extent(array *cc.ArrayType) (n int) {
	if !array.IsVLA() && array.Len() >= 0 {
		return int(array.Len())
	}
	if isNil(array.SizeExpression()) {
		return 0
	}
	e := expression(array.SizeExpression())
	changes := e.any(func(e *expr) bool {
		return e.op == opVar && e.decl != nil && !b.keeps(e.decl)
	})
	i := b.valueOf(nil, e)
	if known, fixed := i.i.number(); i.failed == nil && fixed && !changes {
		return known
	}
	return 0
}

// declared is the array as a declaration has it, such as m[3][4].
func (a Array) declared() string {
	text := a.Name
	for _, extent := range a.Extents {
		text += fmt.Sprintf("[%d]", extent)
	}
	return text
}

// typeName is the type in a word or two: without its fields.
func typeName(t cc.Type) string {
	if s, is := t.(interface{ Tag() cc.Token }); is && isStruct(t) {
		tag := s.Tag()
		kind := map[cc.Kind]string{cc.Struct: "struct ", cc.Union: "union "}[t.Kind()]
		return strings.TrimSpace(kind + tag.SrcStr())
	}
	return strings.TrimPrefix(t.String(), "const ")
}
