package csource

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A builder makes a program of a region.
type builder struct {
	file   *File
	name   string
	ast    *cc.AST
	opts   Options
	main   *cc.FunctionDefinition
	region []*cc.BlockItem

	functions map[string]*cc.FunctionDefinition
	leftOut   map[string]*Error // functions without a body here, since it is not understood
	arrays    map[*cc.Declarator]int
	unread    map[*cc.Declarator]*Error  // arrays that are not understood
	known     map[*cc.Declarator]integer // variables that have one value
	unknown   map[*cc.Declarator]*Error  // why others do not, though nothing but their declaration gives them one
	aliases   map[*cc.Declarator]lvalue  // what pointers point to that always point there
	astray    map[*cc.Declarator]*Error  // why that is not known of others
	told      map[*cc.Declarator]bool    // of these, whose value a define says
	changing  map[*cc.Declarator]bool    // variables of whom no define can say it
	given     map[string]int             // values of variables by name
	shared    map[*cc.Declarator]bool    // that change and are declared once more in a function
	sized     map[*cc.Declarator]int     // how much parameters that are pointers point to, as a define says
	entered   map[*cc.Declarator]walker  // what parameters are at first that steps change, as defines say
	packed    string                     // what changes the layout of structs in the file, "" for nothing

	walkers map[*cc.Declarator]bool         // variables that steps change
	walked  map[*cc.FunctionDefinition]bool // of whom these are known
	now     map[*cc.Declarator]walker       // what they are at this place
	shifts  map[*cc.Declarator]shift        // what the expression makes of them that is built
	arms    map[cc.Node]int                 // which arm is built of a ?: of pointers
	forks   map[cc.Node]bool                // whether there is one in a part of the tree
	facts   []nest.Affine                   // at least 0 here, as the forks around say
	written map[cc.Node]written             // in loops
	turning map[cc.Node]bool                // whether ifs give pointers values
	texts   map[cc.Node]string              // of expressions that are accesses
	inTurn  map[cc.Node]bool                // operators whose operands are evaluated in the order of the text, as far as they make accesses
	dry     bool                            // nothing that is built is kept
	assumed []assumption                    // by what is built so
	symbols int                             // of walkers around this place

	aims      []*cc.Declarator         // pointers that were given a value by an assignment in the blocks around this place
	loops     []loopVar                // around this place
	depths    map[*cc.Declarator]int   // in how many loops variables are declared
	calls     []*cc.FunctionDefinition // around it, whose bodies are read in the place of the calls
	sites     []Pos                    // of these calls
	allCalls  int
	inlined   map[*cc.FunctionDefinition]bool // all that were ever around
	scope     scope                           // that this place is in
	asked     *header                         // the loop whose condition is evaluated
	turns     map[cc.Node]int                 // iterations of those of loops
	values    map[*nest.Loop]value            // of variables in loops of turns
	once      map[*nest.Loop]bool             // loops of one iteration that is a copy
	copied    map[copied]int                  // statements in copies of iterations, nil outside of these
	allCopies int
	initials  map[*cc.Declarator]*cc.InitDeclarator
	tables    bool // the values of tables are asked for where they are read, too
	nodes     []nest.Node
	accesses  []access // by number
	statement int
}

// A loopVar is the variable of a loop, of which each part has it.
type loopVar struct {
	decl *cc.Declarator // nil of one that counts the iterations of a loop
	t    ctype
	at   nest.Affine // its value

	node cc.Node // C's loop, with its step and the iterations of a turn, if any
	step int
	turn int
	part part
	loop *nest.Loop // of this part; nil in its own head
}

// An access is an operand of the tree that is built: an access of the file, or a
// place at which something must not hold.
type access struct {
	Access
	probe  bool
	checks []check
	end    Pos    // of its last token
	last   string // this token
}

// A check is what must not hold where an operand of the tree is reached.
type check struct {
	bad  nest.Condition
	says *Error
}

func newBuilder(name string, ast *cc.AST, leftOut map[string]*Error, values map[string]int, sizes map[string]string, packed string, opts Options) (*builder, error) {
	b := &builder{
		file: &File{Align: opts.Align, Carried: maxLoops}, depths: map[*cc.Declarator]int{}, name: name, ast: ast, opts: opts, given: values, packed: packed,
		functions: map[string]*cc.FunctionDefinition{}, leftOut: leftOut,
		inlined: map[*cc.FunctionDefinition]bool{}, arrays: map[*cc.Declarator]int{}, unread: map[*cc.Declarator]*Error{}, known: map[*cc.Declarator]integer{}, unknown: map[*cc.Declarator]*Error{},
		aliases: map[*cc.Declarator]lvalue{}, astray: map[*cc.Declarator]*Error{}, told: map[*cc.Declarator]bool{}, changing: map[*cc.Declarator]bool{}, shared: map[*cc.Declarator]bool{}, sized: map[*cc.Declarator]int{}, entered: map[*cc.Declarator]walker{},
		turns: map[cc.Node]int{}, values: map[*nest.Loop]value{}, once: map[*nest.Loop]bool{}, initials: map[*cc.Declarator]*cc.InitDeclarator{},
		walkers: map[*cc.Declarator]bool{}, walked: map[*cc.FunctionDefinition]bool{}, now: map[*cc.Declarator]walker{},
		arms: map[cc.Node]int{}, forks: map[cc.Node]bool{}, texts: map[cc.Node]string{}, written: map[cc.Node]written{}, turning: map[cc.Node]bool{}, inTurn: map[cc.Node]bool{},
	}
	for u := ast.TranslationUnit; u != nil; u = u.TranslationUnit {
		if d := u.ExternalDeclaration; d != nil && d.Case == cc.ExternalDeclarationFuncDef {
			b.functions[d.FunctionDefinition.Declarator.Name()] = d.FunctionDefinition
		}
	}
	b.share()
	if err := b.find(); err != nil {
		return nil, err
	}
	if err := b.sizes(); err != nil {
		return nil, err
	}
	b.findWalkers(b.main)
	if err := b.give(); err != nil {
		return nil, err
	}
	if err := b.findSized(sizes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b.declareAll()
	b.constants()
	maps.Copy(b.now, b.entered) // only now: of what is declared behind a step, extents would have another value
	return b, nil
}

// share finds the variables of the file that change and that functions declare once more, with extern: the parser has what is written
// to each of the declarations for itself.
func (b *builder) share() {
	named, writes, again := map[string][]*cc.Declarator{}, map[string]int{}, map[string]bool{}
	add := func(l *cc.InitDeclarator) {
		d := l.Declarator
		named[d.Name()] = append(named[d.Name()], d)
		writes[d.Name()] += d.WriteCount()
		if l.Case == cc.InitDeclaratorInit {
			writes[d.Name()]--
		}
		if d.AddressTaken() {
			writes[d.Name()]++
		}
	}
	for _, f := range b.functions {
		each(f.CompoundStatement, func(n cc.Node) {
			if l, is := n.(*cc.InitDeclarator); is && l.Declarator.IsExtern() {
				again[l.Declarator.Name()] = true
				add(l)
			}
		})
	}
	if len(again) == 0 {
		return
	}
	for u := b.ast.TranslationUnit; u != nil; u = u.TranslationUnit {
		if d := u.ExternalDeclaration; d != nil && d.Case == cc.ExternalDeclarationDecl && d.Declaration.Case == cc.DeclarationDecl {
			for l := d.Declaration.InitDeclaratorList; l != nil; l = l.InitDeclaratorList {
				add(l.InitDeclarator)
			}
		}
	}
	for name := range again {
		for _, d := range named[name] {
			b.shared[d] = writes[name] > 0
		}
	}
}

// find finds what is to be read.
func (b *builder) find() error {
	fail := func(why string, args ...any) error {
		return &Error{Pos: Pos{File: b.name}, Why: fmt.Sprintf(why, args...)}
	}
	if b.opts.Function != "" {
		if b.main = b.functions[b.opts.Function]; b.main == nil {
			return fail("no function %s is defined%s", b.opts.Function, b.defined())
		}
		b.region = items(b.main.CompoundStatement)
		return nil
	}
	regions := 0
	for u := b.ast.TranslationUnit; u != nil; u = u.TranslationUnit {
		d := u.ExternalDeclaration
		if d == nil || d.Case != cc.ExternalDeclarationFuncDef {
			continue
		}
		list, n, err := between(d.FunctionDefinition.CompoundStatement)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if b.main != nil {
			return &Error{Pos: place(d), Why: fmt.Sprintf("%s has a #pragma scop, and %s has one: choose one with --function",
				d.FunctionDefinition.Declarator.Name(), b.main.Declarator.Name())}
		}
		b.main, b.region, regions = d.FunctionDefinition, list, n
	}
	if regions == 0 {
		return fail("there is nothing to read: no #pragma scop ... #pragma endscop in a function, and no function was named (--function)%s", b.defined())
	}
	return nil
}

// defined says which functions there are.
func (b *builder) defined() string {
	names := slices.Sorted(maps.Keys(b.functions))
	if len(names) == 0 {
		return ""
	}
	if most := 8; len(names) > most {
		names = append(names[:most], "...")
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
	if s := item.Statement; s != nil && s.Case == cc.StatementExpr && !isNil(s.ExpressionStatement.ExpressionList) {
		if p, is := s.ExpressionStatement.ExpressionList.(*cc.PrimaryExpression); is && p.Case == cc.PrimaryExpressionIdent {
			if name := p.Token.SrcStr(); name == beginMark || name == endMark {
				return name
			}
		}
	}
	return ""
}

// between is what lies between the marks in a function, and how often.
func between(body *cc.CompoundStatement) (list []*cc.BlockItem, regions int, err error) {
	marks := 0
	each(body, func(n cc.Node) {
		if p, is := n.(*cc.PrimaryExpression); is && (p.Token.SrcStr() == beginMark || p.Token.SrcStr() == endMark) {
			marks++
		}
	})
	each(body, func(n cc.Node) {
		block, is := n.(*cc.CompoundStatement)
		if !is {
			return
		}
		inside := false
		for _, item := range items(block) {
			switch m := mark(item); {
			case m == beginMark && !inside:
				inside = true
			case m == endMark && inside:
				inside = false
				regions++
				marks -= 2
			case inside:
				list = append(list, item)
			}
		}
	})
	if marks != 0 {
		return nil, 0, &Error{Pos: place(body), Why: "#pragma scop and #pragma endscop have to be in one block, in this order"}
	}
	return list, regions, nil
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
	for u := b.ast.TranslationUnit; u != nil; u = u.TranslationUnit {
		switch d := u.ExternalDeclaration; {
		case d == nil:
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

// declareAll places the arrays, in the order of the text: those of the file, and
// those of the function that is read.
func (b *builder) declareAll() {
	at := b.opts.Origin
	b.declared(func(d *cc.Declarator, init *cc.InitDeclarator) {
		b.initials[d] = init
		at = b.declare(d, at)
	})
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

// isPlaced tells whether a declarator is an array, or a struct that holds arrays, which is as an array of one without a subscript.
func isPlaced(d *cc.Declarator) bool {
	return isArray(d) || d != nil && d.Type() != nil && isStruct(d.Type()) && holdsArrays(d.Type())
}

func holdsArrays(of cc.Type) bool {
	return slices.ContainsFunc(fieldsOf(of), func(f *cc.Field) bool { return f.Type().Kind() == cc.Array || holdsArrays(f.Type()) })
}

// elements are the types that an array can be of.
var elements = []cc.Kind{
	cc.Bool, cc.Char, cc.SChar, cc.UChar, cc.Short, cc.UShort, cc.Int, cc.UInt, cc.Long, cc.ULong, cc.LongLong, cc.ULongLong, cc.Enum, cc.Float, cc.Double,
	cc.LongDouble, cc.ComplexFloat, cc.ComplexDouble,
}

// declare places an array behind at, if a declarator is one. One that is not
// understood is refused where it is used, and noted where it is not.
func (b *builder) declare(d *cc.Declarator, at uint64) uint64 {
	_, sized := b.sized[d]
	if !isPlaced(d) && !sized {
		return at
	}
	if before := b.before(d); before >= 0 {
		b.arrays[d] = before
		return at
	}
	a, bytes, err := b.arrayOf(d)
	align := uint64(b.opts.Align)
	end := at + (bytes+align-1)/align*align
	if err == nil && end > 1<<62 {
		bytes, err = 0, refuse(d, "the arrays end beyond 2^62")
	}
	if err != nil {
		room := "takes no place among the arrays"
		if bytes > 0 && end <= 1<<62 {
			at, room = end, "only takes its place among the arrays"
		}
		b.unread[d] = err
		if sized {
			b.astray[d] = err
		}
		b.file.Notes = append(b.file.Notes, Note{Pos: err.Pos, Text: fmt.Sprintf("%s: %s; nothing that is counted uses it, and it %s", err.Expr, err.Why, room)})
		return at
	}
	// No number is aligned to more than 16 bytes by itself.
	if asked := uint64(max(d.Alignas(), d.Type().Align())); asked > 16 && at%asked != 0 {
		b.file.Notes = append(b.file.Notes, Note{Pos: place(d), Text: fmt.Sprintf("%s asks for an address that is a multiple of %d and does not have one: arrays are placed at multiples of %d, or of --align", a.Name, asked, align)})
	}
	a.Base = at
	b.file.Arrays = append(b.file.Arrays, a)
	if sized {
		b.beginsAt(d, len(b.file.Arrays)-1)
	} else {
		b.arrays[d] = len(b.file.Arrays) - 1
	}
	return end
}

// arrayOf is an array that has no place yet, and its bytes, 0 where they are not known.
func (b *builder) arrayOf(d *cc.Declarator) (a Array, bytes uint64, err *Error) {
	a = Array{Name: d.Name()}
	array, element, what := arrayType(d), d.Type(), ""
	n, sized := b.sized[d]
	if sized {
		a.Extents = []int{n}
		element, what = d.Type().(*cc.PointerType).Elem(), "an array of "
		array, _ = element.(*cc.ArrayType)
	} else if array != nil {
		element, what = array, "an array of "
	}
	for array != nil {
		n, ok := b.extent(array)
		if !ok {
			return a, 0, refuse(d, "extent %d of the array is not a constant: write a number, an enum, or a macro or a variable, which -D can set", len(a.Extents))
		}
		if n < 1 && array.IsVLA() {
			return a, 0, refuse(d, "extent %d of the array is %d: want at least 1", len(a.Extents), n)
		}
		a.Extents = append(a.Extents, n)
		element = array.Elem()
		array, _ = element.(*cc.ArrayType)
	}
	if element.IsIncomplete() {
		return a, 0, refuse(d, "its extents are not known")
	}
	if leastBytes(element) > mostBytes {
		return a, 0, refuse(d, "a struct of more than 2^61 bytes")
	}
	a.Type, a.Element = typeName(element), int(element.Size())
	bytes = uint64(a.Element)
	for _, n := range a.Extents {
		high, low := bits.Mul64(bytes, uint64(n))
		if high != 0 || low > mostBytes {
			return a, 0, refuse(d, "an array of more than 2^61 bytes")
		}
		bytes = low
	}
	switch {
	case d.IsParam() && !sized && len(a.Extents) > 0 && (d.WriteCount() > 0 || d.AddressTaken()):
		return a, 0, refuse(d, "a parameter that is an array and changes, as any pointer may, is not understood: do not change it, and write subscripts or another pointer")
	case d.IsParam() && len(a.Extents) == 0:
		return a, 0, refuse(d, "a %s by value, which the call copies, is not understood: declare it as %[2]s[1] and write %[2]s[0]", a.Type, a.Name)
	case (isStruct(element) || element.Kind() == cc.Enum) && b.packed != "":
		return a, 0, refuse(d, "%s%s in a file with %s, whose layout is not understood", what, a.Type, b.packed)
	case bitFields(element) && !alike(element):
		return a, 0, refuse(d, "%s%s, whose bit-fields lie otherwise than is understood: write the integers that they are in, such as unsigned flags", what, a.Type)
	case !isStruct(element) && !slices.Contains(elements, element.Kind()):
		return a, bytes, refuse(d, "an array of %s is not understood: want numbers, or structs of numbers", element)
	}
	if d.IsParam() || d.IsVolatile() { // it may overlap another, or be read by others
		b.file.Carried = 0
	}
	return a, bytes, nil
}

// mostBytes is how large an array can be, or a struct.
const mostBytes = 1 << 61

// leastBytes is how large a type is without what lies between fields. Of one beyond mostBytes, of which the parser's
// own count may have gone past the end of its integer, it is some number beyond.
func leastBytes(t cc.Type) (bytes uint64) {
	if array, is := t.(*cc.ArrayType); is && array.Len() >= 0 {
		high, low := bits.Mul64(leastBytes(array.Elem()), uint64(array.Len()))
		if high != 0 {
			return mostBytes + 1
		}
		return min(low, mostBytes+1)
	}
	if !isStruct(t) {
		return uint64(t.Size())
	}
	_, union := t.(*cc.UnionType)
	for _, f := range fieldsOf(t) {
		of := leastBytes(f.Type())
		if union {
			bytes = max(bytes, of)
		} else {
			bytes = min(bytes+of, mostBytes+1)
		}
	}
	return bytes
}

// extent is how many elements an array has, by the values of variables if it is written so.
func (b *builder) extent(array *cc.ArrayType) (n int, ok bool) {
	if !array.IsVLA() && array.Len() >= 0 {
		return int(array.Len()), true
	}
	if isNil(array.SizeExpression()) || len(b.given)+len(b.calls) == 0 {
		return 0, false
	}
	i, err := b.integer(expression(array.SizeExpression()))
	if err != nil {
		return 0, false
	}
	return i.number()
}

// typeName is the type in a word or two: without its fields.
func typeName(t cc.Type) string {
	switch s := t.(type) {
	case *cc.StructType:
		tag := s.Tag()
		return strings.TrimSpace("struct " + tag.SrcStr())
	case *cc.UnionType:
		tag := s.Tag()
		return strings.TrimSpace("union " + tag.SrcStr())
	}
	return strings.TrimPrefix(t.String(), "const ")
}

// before is the array that a declarator declares once more; -1 if it is the first
// one to do so.
func (b *builder) before(d *cc.Declarator) int {
	if d.Linkage() == cc.None {
		return -1
	}
	for other, i := range b.arrays {
		if other.Linkage() != cc.None && other.Name() == d.Name() {
			return i
		}
	}
	return -1
}

// constants finds the variables of integers that have one value, from the
// declaration on: those in front of the region.
func (b *builder) constants() {
	inRegion := map[*cc.InitDeclarator]bool{}
	for _, item := range b.region {
		each(item, func(n cc.Node) {
			if d, is := n.(*cc.InitDeclarator); is {
				inRegion[d] = true
			}
		})
	}
	b.declared(func(v *cc.Declarator, init *cc.InitDeclarator) {
		if b.walkers[v] {
			if init != nil && !inRegion[init] && b.enter(v) {
				b.start(init)
			}
			return
		}
		if init != nil && !inRegion[init] {
			b.remember(init, nil)
		}
	})
}

// remember keeps the value of a variable that is given one where it is declared,
// and never again but by rewrites in the rest of its block, which are followed.
func (b *builder) remember(d *cc.InitDeclarator, rest []*cc.BlockItem) {
	v := d.Declarator
	switch {
	case isPointer(v):
		b.point(d)
		return
	case b.walkers[v]:
		b.start(d)
		return
	}
	t, ok := typeOf(v.Type())
	if b.told[v] {
		return
	}
	delete(b.known, v) // of this place in another copy of the loop around it
	delete(b.unknown, v)
	if d.Case != cc.InitDeclaratorInit || !ok || isNil(d.Initializer) || d.Initializer.Case != cc.InitializerExpr ||
		v.WriteCount() != 1+rewrites(v, rest) || v.AddressTaken() || b.shared[v] || v.IsVolatile() {
		return
	}
	e := expression(d.Initializer.AssignmentExpression)
	i, err := b.readToo(e)
	if err == nil {
		i, err = b.converted(e, i, t)
	}
	if err != nil {
		b.unknown[v] = err
		return
	}
	b.known[v] = i
}
