package csource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/access/given"
	"github.com/stridebench/stridebench/layouts/nest"
)

type builder struct {
	file   *File
	unit   *unit
	ast    *cc.AST
	opts   Options
	main   *cc.FunctionDefinition
	region []*cc.BlockItem

	functions     map[string]*cc.FunctionDefinition
	arrays        map[*cc.Declarator]int
	unread        map[*cc.Declarator]*Error // arrays that are not understood
	given.Defines                           // values
	told          map[*cc.Declarator]bool   // variables that a define fixes
	sized         map[*cc.Declarator]int    // number of elements that pointer parameters point to
	written       map[*cc.Declarator]bool   // variables written after their declaration
	// changed counts the written declarations of a variable, by its name.
	changed  map[string]int
	touching map[*cc.FunctionDefinition]bool

	values *binding               // of the variables, at this place
	loops  []loopVar              // around this place
	depths map[*cc.Declarator]int // how many loops surround a variable's declaration
	// calls holds the functions whose bodies are read in place around here.
	calls      []*cc.FunctionDefinition
	sites      []Pos // of these calls
	allCalls   int
	asked      *header         // the loop whose condition is evaluated
	turns      map[cc.Node]int // iterations of a strip of each strip-mined loop
	again      bool            // build all again: a loop was strip-mined, or below is above 0
	below      int             // how far an address without its variables is below 0, in bytes
	nodes      []nest.Node
	accesses   []access // by number
	statement  int
	statements []named
}

// A loopVar is the induction variable of a loop, or of one of the two of a strip-mined loop.
type loopVar struct {
	decl *cc.Declarator
	t    ctype
	at   nest.Affine

	node  cc.Node // C's loop, with its step and the iterations of a strip, if any
	step  int
	turn  int
	inner bool       // the loop in a strip
	loop  *nest.Loop // of these; nil in its own head
}

// An access is an operand of the program, with its checks.
type access struct {
	Access
	node   cc.Node
	loops  []loopVar // around it
	checks []check
}

// A check is a condition that must not hold where its operand is reached.
type check struct {
	bad  nest.Condition
	says *Error
}

func newBuilder(u *unit, ast *cc.AST, g given.Defines, opts Options,
	turns map[cc.Node]int) (*builder, error) {
	b := &builder{
		file: &File{Align: opts.Align, Carried: maxLoops}, unit: u, ast: ast,
		opts: opts, Defines: g, turns: turns,
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

func (b *builder) external() (all []*cc.ExternalDeclaration) {
	for u := b.ast.TranslationUnit; u != nil; u = u.TranslationUnit {
		if u.ExternalDeclaration != nil {
			all = append(all, u.ExternalDeclaration)
		}
	}
	return all
}

// findWritten finds variables that are written or whose address is taken. Each extern redeclaration
// has its own declarator in the parser.
func (b *builder) findWritten() {
	b.written, b.changed = map[*cc.Declarator]bool{}, map[string]int{}
	for _, f := range b.functions {
		expressions(f, func(e *expr) {
			if !e.assigns() && e.op != opAddress {
				return
			}
			if v := e.args[0].decl; v != nil && !b.written[v] {
				b.changed[v.Name()]++
				b.written[v] = true
			}
		})
	}
}

// keeps reports whether a variable keeps its first value.
func (b *builder) keeps(v *cc.Declarator) bool {
	return !b.written[v] && !v.AddressTaken() && !volatile(v) && (v.Linkage() == cc.None ||
		b.changed[v.Name()] == 0)
}

func (b *builder) constant(init *cc.InitDeclarator) {
	v, e := init.Declarator, initial(init)
	if e == nil || !b.keeps(v) || b.told[v] {
		return
	}
	if _, isInteger := typeOf(v.Type()); isInteger || isPointer(v) && !unsaid(e) {
		b.bind(v, b.valueOf(v, e))
	}
}

// initial returns an initial value without braces, if there is one.
func initial(init *cc.InitDeclarator) *expr {
	if init.Case != cc.InitDeclaratorInit || init.Initializer.Case != cc.InitializerExpr {
		return nil
	}
	return expression(init.Initializer.AssignmentExpression)
}

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

func (b *builder) defined() string {
	names := slices.Sorted(maps.Keys(b.functions))
	if len(names) == 0 {
		return ""
	}
	return "; there are " + strings.Join(names, ", ")
}

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

func mark(item *cc.BlockItem) string {
	if s := item.Statement; s != nil && s.Case == cc.StatementExpr {
		switch text := source(s.ExpressionStatement.ExpressionList); text {
		case beginMark, endMark:
			return text
		}
	}
	return ""
}

func between(body *cc.CompoundStatement) (list []*cc.BlockItem, found bool) {
	each(body, func(n cc.Node) {
		block, is := n.(*cc.CompoundStatement)
		if !is {
			return
		}
		var inside []*cc.BlockItem
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

// declared calls f for declarators in textual order: the file's, then the parameters (without init)
// and variables of the function that is read.
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

// arrayType returns the type of an array, also of an array parameter.
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

// isPlaced reports whether a declarator is an array, or a struct that holds arrays: one element
// without a subscript.
func isPlaced(d *cc.Declarator) bool {
	return isArray(d) || d != nil && d.Type() != nil && isStruct(d.Type()) && holdsArrays(d.Type())
}

func holdsArrays(of cc.Type) bool {
	return slices.ContainsFunc(fieldsOf(of), func(f *cc.Field) bool {
		return f.Type().Kind() == cc.Array || holdsArrays(f.Type())
	})
}

// isNumber reports whether a type's values are read and written at once.
func isNumber(t cc.Type) bool {
	switch t.Kind() {
	case cc.Float, cc.Double, cc.LongDouble, cc.ComplexFloat, cc.ComplexDouble:
		return true
	}
	return cc.IsIntegerType(t) && t.Size() <= 8
}

// declare places a declarator's array at address at, and returns the next free address. Arrays that
// are not understood are refused where they are used, else noted.
func (b *builder) declare(d *cc.Declarator, at uint64) uint64 {
	size, sized := b.sized[d]
	if !isPlaced(d) && !sized {
		return at
	}
	for other, i := range b.arrays {
		if d.Linkage() != cc.None && other.Linkage() != cc.None && other.Name() == d.Name() {
			b.arrays[d] = i
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
		b.file.Notes = append(b.file.Notes, &Error{Pos: err.Pos, Why: fmt.Sprintf(
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
	first := lvalue{array: number, extents: a.Extents, declared: a.Name + inBrackets(a.Extents),
		of: elementOf(d.Type().(*cc.PointerType).Elem())}.decayed()
	b.bind(d, value{to: &first})
	if d.AddressTaken() || volatile(d) || b.written[d] && b.opts.Function == "" {
		b.bind(d, value{failed: refuse(d, "%s", pointerChanges)})
	}
	return end
}

// bytesOf returns the size of an array as a float, which cannot overflow.
func bytesOf(a Array) float64 {
	bytes := float64(a.Element)
	for _, n := range a.Extents {
		bytes *= float64(n)
	}
	return bytes
}

// arrayOf returns an array without an address. A pointer parameter points to size elements.
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
	case !isStruct(element) && !isNumber(element):
		err = refuse(d, "an array of %s is not understood: want numbers, or structs of numbers",
			element)
		err.room = true
		return a, err
	}
	if d.IsParam() || d.IsVolatile() { // it may overlap another array, or others may read it
		b.file.Carried = 0
	}
	return a, nil
}

// extent returns the number of elements of an array by the variables' values, or 0 if unknown.
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

// inBrackets returns extents as declared, such as [3][4].
func inBrackets(extents []int) (text string) {
	for _, n := range extents {
		text += fmt.Sprintf("[%d]", n)
	}
	return text
}

func typeName(t cc.Type) string {
	if s, is := t.(interface{ Tag() cc.Token }); is && isStruct(t) {
		tag := s.Tag()
		kind := map[cc.Kind]string{cc.Struct: "struct ", cc.Union: "union "}[t.Kind()]
		return strings.TrimSpace(kind + tag.SrcStr())
	}
	return strings.TrimPrefix(t.String(), "const ")
}
