package csource

import (
	"fmt"
	"slices"
	"strings"

	"modernc.org/cc/v4"

	"github.com/stridebench/stridebench/layouts/nest"
)

const (
	maxUnrolled = 64   // iterations of a loop of which each is a program of its own, since a table has their values
	maxApart    = 256  // and of one of which each is, since what it does is no affine function
	maxCopies   = 4096 // of bodies of such loops in all
)

// A table is an array of constant integers with their values, in the order in which they lie.
type table struct {
	values  []int
	extents []int
	t       ctype
}

const tableKept = "the value of a constant array is known in subscripts, and of variables that are declared with it: declare one, such as int %s"

// tableOf is the table that an array is, if it is one: its elements are const, integers, and given in braces without designators.
func (b *builder) tableOf(v *cc.Declarator) (t table, is bool) {
	number, known := b.arrays[v]
	if init := b.initials[v]; known && init != nil && init.Case == cc.InitDeclaratorInit && isArray(v) && !v.IsParam() && !v.IsVolatile() {
		of := elementOf(arrayType(v))
		if t.t, is = typeOf(of); is && of.Attributes().IsConst() && !of.Attributes().IsVolatile() && init.Initializer.Case != cc.InitializerExpr {
			t.extents = b.file.Arrays[number].Extents
			t.values, is = b.listed(init.Initializer.InitializerList, t.extents, t.t)
			return t, is
		}
	}
	return t, false
}

// listed are the values that braces list, of an array of these extents.
func (b *builder) listed(list *cc.InitializerList, extents []int, t ctype) (values []int, ok bool) {
	size := 1
	for _, n := range extents[1:] {
		size *= n
	}
	if extents[0] > maxCopies || size > maxCopies || size*extents[0] > maxCopies {
		return nil, false
	}
	for ; list != nil; list = list.InitializerList {
		i := list.Initializer
		switch {
		case list.Designation != nil || len(values) == size*extents[0]:
			return nil, false
		case len(extents) > 1:
			if i.Case == cc.InitializerExpr {
				return nil, false
			}
			row, understood := b.listed(i.InitializerList, extents[1:], t)
			if !understood {
				return nil, false
			}
			values = append(values, row...)
			continue
		case i.Case != cc.InitializerExpr:
			return nil, false
		}
		e := expression(i.AssignmentExpression)
		if e.any(func(e *expr) bool { return e.op == opVar || e.op == opCall }) {
			return nil, false
		}
		n, err := b.integer(e)
		if err == nil {
			n, err = b.converted(e, n, t)
		}
		value, fixed := n.number()
		if err != nil || !fixed {
			return nil, false
		}
		values = append(values, value)
	}
	return append(values, make([]int, size*extents[0]-len(values))...), true
}

// readToo is the integer of an expression whose reads of tables are built, too.
func (b *builder) readToo(e *expr) (integer, *Error) {
	before := b.tables
	b.tables = true
	defer func() { b.tables = before }()
	return b.integer(e)
}

// subscripts builds the reads of tables in the subscripts of an expression.
func (b *builder) subscripts(e *expr) *Error {
	_, steps := e.path()
	for _, s := range steps {
		if s.op == opIndex && b.reads(s.args[1]) {
			if err := b.data(s.args[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// looked is the value of an element of a table, which whoever asks has to read, too.
func (b *builder) looked(e *expr) (integer, error) {
	base, steps := e.path()
	depends := notInteger(e, true, "it depends on data")
	if base.op != opVar || slices.ContainsFunc(steps, func(s *expr) bool { return s.op != opIndex }) {
		return integer{}, depends
	}
	t, is := b.tableOf(base.decl)
	switch {
	case !is || len(steps) != len(t.extents):
		return integer{}, depends
	case !b.tables:
		return integer{}, notInteger(e, true, tableKept, "v = "+e.text())
	}
	at, err := piece{}, error(nil)
	for d, s := range steps {
		i, failed := b.integer(s.args[1])
		if failed != nil {
			return integer{}, failed
		}
		if at, err = at.times(constant(t.extents[d])); err == nil {
			at, err = at.plus(1, i.piece)
		}
		if err != nil {
			return integer{}, err
		}
	}
	p, err := b.eachLeaf(at, func(a nest.Affine) (piece, error) {
		p, ok := b.entries(a, t.values)
		if !ok {
			return piece{}, notInteger(e, true, "it has too many values for a subscript: a table is read where loops of at most %d iterations between constants choose of it", maxUnrolled)
		}
		return p, nil
	})
	return integer{p, t.t}, err
}

// entries are the values at a place in a table. Where they are many, it asks for the loops that choose of them to be unrolled, and
// refuses them for now.
func (b *builder) entries(a nest.Affine, values []int) (p piece, ok bool) {
	low, high, ok := b.span(a)
	if low, high = max(low, 0), min(high, len(values)-1); !ok || low > high {
		return constant(0), ok // one beyond the table is refused where it is read
	}
	var from []int // where the next value begins
	steady := true
	for i := low; i <= high; i++ {
		if i == low || values[i] != values[i-1] {
			from = append(from, i)
		}
		steady = steady && (i < low+2 || values[i]-values[i-1] == values[low+1]-values[low])
	}
	if len(from) == 1 {
		return constant(values[low]), true
	}
	if steady {
		p, err1 := piece{affine: a}.plus(1, constant(-low))
		p, err2 := p.times(constant(values[low+1] - values[low]))
		p, err3 := p.plus(1, constant(values[low]))
		return p, err1 == nil && err2 == nil && err3 == nil
	}
	if b.unroll(a) || len(from) > maxWraps {
		return piece{}, false
	}
	p = constant(values[high])
	for k := len(from) - 2; k >= 0; k-- {
		before, err := plus(nest.Constant(from[k+1]-1), -1, a)
		if err != nil {
			return piece{}, false
		}
		p = piece{kind: choice, when: nest.Condition{{before}}, args: []piece{constant(values[from[k]]), p}}
	}
	return p, true
}

// unroll asks for a loop of few iterations that a function depends on to be unrolled, and tells whether there is one.
func (b *builder) unroll(a nest.Affine) bool {
	for d := min(len(a.Coef), len(b.loops)) - 1; d >= 0; d-- {
		if v := b.loops[d]; a.Coef[d] != 0 && v.part == undivided && v.loop != nil && b.turns[v.node] != unrolled {
			if _, ok := iterations(v.loop, maxUnrolled); ok {
				b.turns[v.node] = unrolled
				return true
			}
		}
	}
	return false
}

// An apart is a loop that is to be read one iteration at a time.
type apart struct{ node cc.Node }

// loopsOf are the loops on whose variables a piece depends.
func (b *builder) loopsOf(list ...piece) (all []apart) {
	for d, v := range b.loops {
		if slices.ContainsFunc(list, func(p piece) bool { return p.uses(d) }) && !slices.Contains(all, apart{v.node}) && v.node != nil {
			all = append(all, apart{v.node})
		}
	}
	return all
}

// takesApart tells whether a loop is to be built again, one iteration at a time, for what something in it is no affine function else. Where it
// does not run between constants, it may do so once the loops around it are.
func (b *builder) takesApart(h *header, l *nest.Loop, err *Error) bool {
	if err == nil || !slices.Contains(err.apart, apart{h.node}) {
		return false
	}
	if _, ok := iterations(l, maxApart); ok {
		again := b.turns[h.node] != unrolled
		b.turns[h.node] = unrolled
		return again
	}
	var bounds []piece
	for _, a := range slices.Concat(l.From, l.To) {
		bounds = append(bounds, piece{affine: a})
	}
	if around := b.loopsOf(bounds...); len(around) > 0 {
		err.apart = append(slices.Clip(err.apart), around...)
		return false
	}
	if !strings.Contains(err.Why, apartWords) {
		err.Why += fmt.Sprintf(" ("+apartWords+", and that over %s has more)", maxApart, h.name)
	}
	return false
}

const apartWords = "for this, loops of at most %d iterations between constants are read one iteration at a time"

// unrolled stands in the place of the iterations of a turn.
const unrolled = -1

// iterations are the values of the variable of a loop between constants, of so many iterations at most.
func iterations(l *nest.Loop, most int) (values []int, ok bool) {
	for _, a := range slices.Concat(l.From, l.To) {
		if _, fixed := (piece{affine: a}).number(); !fixed {
			return nil, false
		}
	}
	first, trips := l.Bounds(nil)
	if trips > most {
		return nil, false
	}
	for k := range trips {
		values = append(values, first+k*l.Step)
	}
	return values, true
}

// copies builds a loop whose iterations are programs of their own, in each of which its variable is a constant.
func (b *builder) copies(h header, l *nest.Loop, values []int, body func() *Error) (nodes []nest.Node, err *Error) {
	own := len(b.loops)
	b.file.Carried = 0
	defer b.copying()()
	defer func() { b.loops = b.loops[:own] }()
	for _, n := range values {
		if b.allCopies++; b.allCopies > maxCopies {
			return nil, &Error{Pos: place(h.node), Expr: "for (" + h.name + " ...)", Why: tooManyCopies}
		}
		one := &nest.Loop{Name: l.Name, From: []nest.Affine{nest.Constant(n)}, To: []nest.Affine{nest.Constant(n + 1)}, Step: 1}
		v := h.v
		v.node, v.step, v.turn, v.loop, v.part, v.at = h.node, h.step, unrolled, one, inTurn, nest.Constant(n)
		b.loops = append(b.loops[:own], v)
		if one.Body, err = b.body(body); err != nil {
			return nil, err
		}
		b.once[one] = true
		nodes = append(nodes, one)
	}
	return nodes, nil
}

const tooManyCopies = "the iterations of loops that are read one by one, for tables, pointers to one of several, or products, are too many"

// copying begins what is built several times from the same text, each statement of which is one, and returns what ends it.
func (b *builder) copying() (end func()) {
	outside := b.copied
	if outside == nil {
		b.copied = map[copied]int{}
	}
	return func() { b.copied = outside }
}

// A copied statement is one of the text in the copies of an iteration, in the calls around it.
type copied struct {
	node  cc.Node
	calls string
}

// lifted are nodes without the loop at a depth around them, on whose variable nothing depends.
func lifted(nodes []nest.Node, depth int) []nest.Node {
	lift := func(a nest.Affine) nest.Affine {
		if depth < len(a.Coef) {
			a.Coef = slices.Delete(slices.Clone(a.Coef), depth, depth+1)
		}
		return a
	}
	all := func(list []nest.Affine) (to []nest.Affine) {
		for _, a := range list {
			to = append(to, lift(a))
		}
		return to
	}
	result := []nest.Node{}
	for _, node := range nodes {
		switch node := node.(type) {
		case nest.Operand:
			node.Strides = lift(nest.Affine{Coef: node.Strides}).Coef
			result = append(result, node)
		case *nest.Loop:
			result = append(result, &nest.Loop{Name: node.Name, From: all(node.From), To: all(node.To), Step: node.Step, Body: lifted(node.Body, depth)})
		case *nest.If:
			when := nest.Condition{}
			for _, list := range node.When {
				when = append(when, all(list))
			}
			result = append(result, &nest.If{When: when, Then: lifted(node.Then, depth), Else: lifted(node.Else, depth)})
		}
	}
	return result
}
