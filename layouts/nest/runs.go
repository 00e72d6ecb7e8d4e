package nest

import "iter"

// A Run is adjacent accesses of a program's text, in order, in Trips iterations of one loop.
type Run struct {
	First   int      // number of the first access
	Trips   int      // iterations, at least 1
	Addrs   []uint64 // per access, in the first iteration
	Strides []int    // bytes per iteration, per access
	Vars    []int    // outer induction variables in the first iteration
}

// Runs yields the program's runs in order. A run is a loop around accesses only, or adjacent
// accesses of another body. The next run overwrites the slices.
//
// Law: W(p) is the accesses of Addrs, run by run and iteration by iteration, each moved by its
// stride.
func (p Program) Runs() iter.Seq[*Run] {
	return func(yield func(*Run) bool) {
		r := runner{yield: yield, operands: p.Operands()}
		r.nodes(p, 0)
	}
}

// Accesses yields W(p): the number and the address of each access, in order.
func (p Program) Accesses() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for run := range p.Runs() {
			for i := range run.Trips {
				for k, addr := range run.Addrs {
					if !yield(run.First+k, addr+uint64(i*run.Strides[k])) {
						return
					}
				}
			}
		}
	}
}

type runner struct {
	yield    func(*Run) bool
	operands []Operand // by number
	run      Run
}

// nodes runs nodes, whose first access is number. more is false after yield stops.
func (r *runner) nodes(nodes []Node, number int) (next int, more bool) {
	for more = true; len(nodes) > 0 && more; {
		side := 1
		switch node := nodes[0].(type) {
		case Operand:
			side = sideBySide(nodes)
			more = r.straight(number, side, 1, 0)
			number += side
		case *Loop:
			number, more = r.loop(node, number)
		case *If:
			number, more = r.branch(node, number)
		}
		nodes = nodes[side:]
	}
	return number, more
}

func sideBySide(nodes []Node) int {
	for i, node := range nodes {
		if _, is := node.(Operand); !is {
			return i
		}
	}
	return len(nodes)
}

// straight yields a run of n accesses in a loop with this many trips. Its variable is the last one
// and moves by step.
func (r *runner) straight(number, n, trips, step int) (more bool) {
	r.run.First, r.run.Trips = number, trips
	r.run.Addrs, r.run.Strides = r.run.Addrs[:0], r.run.Strides[:0]
	inner := len(r.run.Vars) - 1
	for i := range n {
		op, stride := &r.operands[number+i], 0
		r.run.Addrs = append(r.run.Addrs, op.at(r.run.Vars))
		if step != 0 && inner < len(op.Strides) {
			stride = step * op.Strides[inner]
		}
		r.run.Strides = append(r.run.Strides, stride)
	}
	return r.yield(&r.run)
}

func (op *Operand) at(vars []int) uint64 {
	addr := op.Base
	for d, s := range op.Strides {
		addr += uint64(s * vars[d])
	}
	return addr
}

func (r *runner) loop(l *Loop, number int) (next int, more bool) {
	first, trips := l.Bounds(r.run.Vars)
	if trips == 0 {
		return number + count(l.Body), true
	}
	depth := len(r.run.Vars)
	r.run.Vars = append(r.run.Vars, first)
	if n := sideBySide(l.Body); n == len(l.Body) {
		next, more = number+n, n == 0 || r.straight(number, n, trips, l.Step)
	} else {
		for more = true; trips > 0 && more; trips-- {
			next, more = r.nodes(l.Body, number)
			r.run.Vars[depth] += l.Step
		}
	}
	r.run.Vars = r.run.Vars[:depth]
	return next, more
}

func (r *runner) branch(c *If, number int) (next int, more bool) {
	then := number + count(c.Then)
	if c.When.holds(r.run.Vars) {
		_, more = r.nodes(c.Then, number)
	} else {
		_, more = r.nodes(c.Else, then)
	}
	return then + count(c.Else), more
}

func count(nodes []Node) int {
	n := 0
	Program(nodes).each(func(Operand) { n++ })
	return n
}
