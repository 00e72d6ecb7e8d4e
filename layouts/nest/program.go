package nest

import (
	"fmt"
	"math"
	"strings"
)

// A Program is a tree of loops, conditions and accesses, run in order. Accesses are numbered from
// 0, in the order of the text ([Program.Operands]). Loops have a depth, 0 for those at the top. A
// place in the tree knows the variables of the loops around it by their depths.
type Program []Node

// A Node is a *[Loop], an *[If] or an [Operand]. An operand is one access. Strides[d] is the bytes
// that it moves by for each 1 of the variable of depth d. Variables beyond Strides do not move it.
type Node interface{ node() }

func (*Loop) node()   {}
func (*If) node()     {}
func (Operand) node() {}

// A Loop runs its body once for each value v of its induction variable. A positive step takes
// max(From...), then v+Step, below min(To...). A negative step takes min(From...), then v+Step,
// above max(To...).
type Loop struct {
	Name     string // of the variable
	From, To []Affine
	Step     int // not 0
	Body     []Node
}

// An If runs Then where When holds and Else where it does not.
type If struct {
	When       Condition
	Then, Else []Node
}

// A Condition holds if every member of at least one list is at least 0. Without lists it never
// holds.
type Condition [][]Affine

// An Affine is Const + Coef[0]*v0 + Coef[1]*v1 + ..., where v0 is the variable of the outermost
// loop. Variables beyond Coef do not count.
type Affine struct {
	Const int
	Coef  []int
}

// Constant returns the affine function that is n everywhere.
func Constant(n int) Affine { return Affine{Const: n} }

// Variable returns the variable of the loop at a depth.
func Variable(depth int) Affine {
	coef := make([]int, depth+1)
	coef[depth] = 1
	return Affine{Coef: coef}
}

// at returns the value at vars, the outermost variable first.
func (a Affine) at(vars []int) int {
	value := a.Const
	for d, c := range a.Coef {
		if c != 0 {
			value += c * vars[d]
		}
	}
	return value
}

func (a Affine) coef(depth int) int {
	if depth < len(a.Coef) {
		return a.Coef[depth]
	}
	return 0
}

// holds reports whether the condition holds at vars.
func (c Condition) holds(vars []int) bool {
	for _, all := range c {
		holds := true
		for _, a := range all {
			holds = holds && a.at(vars) >= 0
		}
		if holds {
			return true
		}
	}
	return false
}

// Bounds returns the first value of the loop's variable, and the number of its values, at vars, the
// variables around it.
func (l *Loop) Bounds(vars []int) (first, trips int) {
	sign := 1 // of a falling loop's values, which are negated
	if l.Step < 0 {
		sign = -1
	}
	first, end := math.MinInt, math.MaxInt
	for _, a := range l.From {
		first = max(first, sign*a.at(vars))
	}
	for _, a := range l.To {
		end = min(end, sign*a.at(vars))
	}
	trips = max(0, end-first)
	if step := sign * l.Step; step > 1 {
		trips = (trips + step - 1) / step
	}
	return sign * first, trips
}

// Sequence returns the nests one after the other.
//
// Law: W(Sequence(a, b)) = W(a) W(b), the operands of b numbered after a's.
func Sequence(nests ...Nest) Program {
	var p Program
	for _, n := range nests {
		p = append(p, n.program()...)
	}
	return p
}

func (n Nest) program() Program {
	body := make([]Node, len(n.Operands))
	for i, op := range n.Operands {
		body[i] = op
	}
	for l := len(n.Trips) - 1; l >= 0; l-- {
		body = []Node{&Loop{Name: variableName(l), From: []Affine{Constant(0)},
			To: []Affine{Constant(n.Trips[l])}, Step: 1, Body: body}}
	}
	return body
}

// Nest returns the nest that the program is, if ok: loops of constant bounds, each alone in the one
// around it, around accesses.
//
// Law: if ok, W(n) = W(p).
func (p Program) Nest() (n Nest, ok bool) {
	body := []Node(p)
	var loops []*Loop
	for len(body) == 1 {
		loop, is := body[0].(*Loop)
		if !is {
			break
		}
		loops, body = append(loops, loop), loop.Body
	}
	firsts := make([]int, len(loops))
	for l, loop := range loops {
		for _, a := range append(loop.From, loop.To...) {
			for _, c := range a.Coef {
				if c != 0 {
					return Nest{}, false
				}
			}
		}
		first, trips := loop.Bounds(firsts[:l])
		firsts[l] = first
		n.Trips = append(n.Trips, trips)
	}
	for _, node := range body {
		op, is := node.(Operand)
		if !is {
			return Nest{}, false
		}
		strides := make([]int, len(loops))
		copy(strides, op.Strides)
		for l, loop := range loops {
			op.Base += uint64(firsts[l] * strides[l])
			strides[l] *= loop.Step
		}
		op.Strides = strides
		n.Operands = append(n.Operands, op)
	}
	return n, true
}

// Operands returns the program's accesses, in the order of the text.
func (p Program) Operands() []Operand {
	var list []Operand
	p.each(func(op Operand) { list = append(list, op) })
	return list
}

// Around returns the loops around each access, by its number, the outermost first.
func (p Program) Around() [][]*Loop { return around(p, nil, nil) }

func around(nodes []Node, loops []*Loop, list [][]*Loop) [][]*Loop {
	for _, node := range nodes {
		switch node := node.(type) {
		case Operand:
			list = append(list, loops)
		case *Loop:
			list = around(node.Body, append(loops[:len(loops):len(loops)], node), list)
		case *If:
			list = around(node.Else, loops, around(node.Then, loops, list))
		}
	}
	return list
}

func (p Program) each(f func(Operand)) {
	for _, node := range p {
		switch node := node.(type) {
		case Operand:
			f(node)
		case *Loop:
			Program(node.Body).each(f)
		case *If:
			Program(node.Then).each(f)
			Program(node.Else).each(f)
		}
	}
}

// String returns the program, a node a line:
//
//	for i = 0 .. 4000
//	  for j = 1 + i .. min(4000, 10 + i) step 2
//	    if -5 + j >= 0
//	      read A 4 B at 0x100000000 + 16000*i + 4*j
//	    else
//	      ...
func (p Program) String() string {
	var w writer
	w.nodes(p)
	return w.b.String()
}

type writer struct {
	b      strings.Builder
	vars   []string
	indent int
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, "%s%s\n", strings.Repeat("  ", w.indent), fmt.Sprintf(format, args...))
}

func (w *writer) nodes(nodes []Node) {
	for _, node := range nodes {
		switch node := node.(type) {
		case Operand:
			w.line("%v %s %d B at %s", node.Kind, node.Tensor, node.Width,
				w.terms(fmt.Sprintf("%#x", node.Base), node.Strides))
		case *Loop:
			w.loop(node)
		case *If:
			w.line("if %s", w.condition(node.When))
			w.inside(node.Then)
			if len(node.Else) > 0 {
				w.line("else")
				w.inside(node.Else)
			}
		}
	}
}

func (w *writer) inside(nodes []Node) {
	w.indent++
	w.nodes(nodes)
	w.indent--
}

func (w *writer) loop(l *Loop) {
	from, to := "max", "min"
	if l.Step < 0 {
		from, to = to, from
	}
	text := fmt.Sprintf("for %s = %s .. %s", l.Name, w.bound(from, l.From), w.bound(to, l.To))
	if l.Step != 1 {
		text += fmt.Sprintf(" step %d", l.Step)
	}
	w.line("%s", text)
	w.vars = append(w.vars, l.Name)
	w.inside(l.Body)
	w.vars = w.vars[:len(w.vars)-1]
}

func (w *writer) bound(name string, list []Affine) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = w.affine(a)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func (w *writer) condition(c Condition) string {
	if len(c) == 0 {
		return "never"
	}
	either := make([]string, len(c))
	for i, all := range c {
		parts := make([]string, len(all))
		for k, a := range all {
			parts[k] = w.affine(a) + " >= 0"
		}
		if either[i] = strings.Join(parts, " and "); len(all) == 0 {
			either[i] = "always"
		}
	}
	return strings.Join(either, " or ")
}

func (w *writer) affine(a Affine) string {
	return strings.TrimPrefix(w.terms(fmt.Sprint(a.Const), a.Coef), "0 + ")
}

func (w *writer) terms(text string, coef []int) string {
	for d, c := range coef {
		switch c {
		case 0:
		case 1:
			text += " + " + w.name(d)
		default:
			text += fmt.Sprintf(" + %d*%s", c, w.name(d))
		}
	}
	return text
}

func (w *writer) name(depth int) string {
	if depth < len(w.vars) && w.vars[depth] != "" {
		return w.vars[depth]
	}
	return variableName(depth)
}

func variableName(depth int) string {
	if names := "ijklmn"; depth < len(names) {
		return names[depth : depth+1]
	}
	return fmt.Sprintf("i%d", depth)
}
