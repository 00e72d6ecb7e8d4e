package nest

import "slices"

// Chains are the perfect nests of the program, each as its loops, the outermost
// first: every loop but the last has the next one as its whole body.
func (p Program) Chains() (all [][]*Loop) {
	for _, node := range p {
		switch node := node.(type) {
		case *Loop:
			chain, body := []*Loop{node}, node.Body
			for len(body) == 1 {
				inner, is := body[0].(*Loop)
				if !is {
					break
				}
				chain, body = append(chain, inner), inner.Body
			}
			all = append(append(all, chain), Program(body).Chains()...)
		case *If:
			all = slices.Concat(all, Program(node.Then).Chains(), Program(node.Else).Chains())
		}
	}
	return all
}

// Interchange returns the program with two loops of a perfect nest in each
// other's place. It is false where the program has no such loops, or where a bound
// of one of them, or of one between them, depends on the variable of another.
//
// Law: it makes the accesses of W(p), in another order.
func (p Program) Interchange(outer, inner *Loop) (Program, bool) {
	around := p.around(outer)
	chain := []*Loop{outer}
	for chain[len(chain)-1] != inner {
		last := chain[len(chain)-1]
		next, is := last.Body[0].(*Loop)
		if !is || len(last.Body) != 1 {
			return nil, false
		}
		chain = append(chain, next)
	}
	a, b := len(around), len(around)+len(chain)-1
	for _, l := range chain {
		for _, bound := range slices.Concat(l.From, l.To) {
			for d := a; d <= b; d++ {
				if bound.coef(d) != 0 {
					return nil, false
				}
			}
		}
	}
	body := renamed(inner.Body, a, b)
	chain[0], chain[len(chain)-1] = inner, outer
	for _, l := range slices.Backward(chain) {
		copied := *l
		copied.Body = body
		body = []Node{&copied}
	}
	return p.with(outer, body[0]), true
}

// around are the loops around a loop.
func (p Program) around(l *Loop) (loops []*Loop) {
	p.eachLoop(nil, func(around []*Loop, at *Loop) {
		if at == l {
			loops = around
		}
	})
	return loops
}

// eachLoop calls f with the loops of the program, and those around each.
func (p Program) eachLoop(around []*Loop, f func(around []*Loop, at *Loop)) {
	for _, node := range p {
		switch node := node.(type) {
		case *Loop:
			f(around, node)
			Program(node.Body).eachLoop(append(around[:len(around):len(around)], node), f)
		case *If:
			Program(node.Then).eachLoop(around, f)
			Program(node.Else).eachLoop(around, f)
		}
	}
}

// with is the program with another node in the place of a loop.
func (p Program) with(old *Loop, by Node) Program {
	return rewritten(p, func(node Node) Node {
		if l, is := node.(*Loop); is && l == old {
			return by
		}
		return nil
	})
}

// rewritten is the tree with those nodes that f has another for.
func rewritten(nodes []Node, f func(Node) Node) []Node {
	var all []Node
	for _, node := range nodes {
		by := f(node)
		if by == nil {
			by = node
			switch node := node.(type) {
			case *Loop:
				copied := *node
				copied.Body = rewritten(node.Body, f)
				by = &copied
			case *If:
				by = &If{When: node.When, Then: rewritten(node.Then, f), Else: rewritten(node.Else, f)}
			}
		}
		all = append(all, by)
	}
	return all
}

// renamed are nodes in which the variables of two depths have changed places.
func renamed(nodes []Node, a, b int) []Node {
	swap := func(coef []int) []int {
		if len(coef) <= a {
			return coef
		}
		coef = append(slices.Clone(coef), make([]int, max(0, b+1-len(coef)))...)
		coef[a], coef[b] = coef[b], coef[a]
		return coef
	}
	each := func(list []Affine) (all []Affine) {
		for _, f := range list {
			all = append(all, Affine{f.Const, swap(f.Coef)})
		}
		return all
	}
	var all []Node
	for _, node := range nodes {
		switch node := node.(type) {
		case Operand:
			node.Strides = swap(node.Strides)
			all = append(all, node)
		case *Loop:
			all = append(all, &Loop{node.Name, each(node.From), each(node.To), node.Step, renamed(node.Body, a, b)})
		case *If:
			var when Condition
			for _, and := range node.When {
				when = append(when, each(and))
			}
			all = append(all, &If{when, renamed(node.Then, a, b), renamed(node.Else, a, b)})
		}
	}
	return all
}

// Exchangeable reports whether Interchange of two loops is proved to keep the order of
// the accesses to each byte that is written: to each tensor that is written inside,
// every access has the same address, also in the loops around; iterations that differ in a loop that moves
// it write different bytes; and of the two loops and those between them at most
// one does not move it.
func (p Program) Exchangeable(outer, inner *Loop) bool {
	c := checker{around: p.parts(outer)}
	from := len(c.around)
	var list []Operand
	var low, high []int // by depth, of all loops there
	proved, to := true, from
	var look func(nodes []Node)
	look = func(nodes []Node) {
		for _, node := range nodes {
			switch node := node.(type) {
			case Operand:
				node.Strides = append(slices.Clone(node.Strides), make([]int, len(c.around)-len(node.Strides))...)
				list = append(list, node)
			case *If:
				look(node.Then)
				look(node.Else)
			case *Loop:
				if node == inner {
					to = len(c.around)
				}
				all, depth := c.all(node), len(c.around)-from
				if all.low > all.high {
					continue
				}
				if depth == len(low) {
					low, high = append(low, all.low), append(high, all.high)
				}
				low[depth], high[depth] = min(low[depth], all.low), max(high[depth], all.high)
				c.around = append(c.around, all)
				look(node.Body)
				c.leave()
			}
		}
	}
	look([]Node{outer})
	trips := make([]int, len(low))
	for d := range low {
		trips[d] = high[d] - low[d] + 1
	}
	for _, w := range list {
		for _, op := range list {
			if w.Kind == Read || op.Tensor != w.Tensor {
				continue
			}
			proved = proved && op.Base == w.Base && op.Width == w.Width && slices.Equal(unpadded(op.Strides), unpadded(w.Strides))
		}
		w.Strides = w.Strides[from:]
		proved = proved && (w.Kind == Read || w.orderedIn(trips, to-from))
	}
	return proved
}

// unpadded are strides without zeros at their end.
func unpadded(strides []int) []int {
	for len(strides) > 0 && strides[len(strides)-1] == 0 {
		strides = strides[:len(strides)-1]
	}
	return strides
}

// orderedIn reports whether of the first loops up to one at most one does not move an operand, and those that do
// keep what it touches apart.
func (op Operand) orderedIn(trips []int, last int) bool {
	op.Strides = append(slices.Clone(op.Strides), make([]int, len(trips)-len(op.Strides))...)
	still, moved := 0, -1
	for l, s := range op.Strides {
		switch {
		case s != 0:
			moved = l
		case l <= last:
			still++
		}
	}
	return still <= 1 && (moved < 0 || op.apart(trips, moved))
}

// parts are all values of the variables of the loops around a loop.
func (p Program) parts(l *Loop) []part {
	c := checker{}
	for _, outer := range p.around(l) {
		c.around = append(c.around, c.all(outer))
	}
	return c.around
}

// An Array is where a tensor's elements lie: rows of rows, each after the other.
type Array struct {
	Tensor  string
	Base    uint64 // address of the first element
	Element int    // bytes
	Extents []int  // elements, the outermost dim first
}

// Strides are the bytes from an index of each dim to the next.
func (a Array) Strides() []int {
	strides, step := make([]int, len(a.Extents)), a.Element
	for d := len(strides) - 1; d >= 0; d-- {
		strides[d] = step
		step *= a.Extents[d]
	}
	return strides
}

// Bytes are those of the whole array.
func (a Array) Bytes() int {
	bytes := a.Element
	for _, n := range a.Extents {
		bytes *= n
	}
	return bytes
}

// Restride returns the program with the array's elements elsewhere: from base on,
// these strides apart in each dim. It is false unless each access is to an element
// whose indices are affine functions, within their extents for all values that the
// variables of the loops can take.
//
// Law: where W(p) touches the byte b of the element at indices i, the result touches the byte b at
// base + i0*strides[0] + i1*strides[1] + ...; and else what W(p) does.
func (p Program) Restride(a Array, base uint64, strides []int) (Program, bool) {
	c, ok := checker{}, true
	var look func(nodes []Node) []Node
	look = func(nodes []Node) (all []Node) {
		for _, node := range nodes {
			switch node := node.(type) {
			case Operand:
				if node.Tensor == a.Tensor && ok {
					node, ok = c.restrided(node, a, base, strides)
				}
				all = append(all, node)
			case *If:
				all = append(all, &If{node.When, look(node.Then), look(node.Else)})
			case *Loop:
				copied := *node
				if values := c.all(node); values.low <= values.high {
					c.around = append(c.around, values)
					copied.Body = look(node.Body)
					c.leave()
				}
				all = append(all, &copied)
			}
		}
		return all
	}
	q := look(p)
	return q, ok
}

// Moved returns the program with a tensor so many bytes higher.
//
// Law: W(p.Moved(tensor, by)) is W(p) with by added to the addresses of the tensor's accesses.
func (p Program) Moved(tensor string, by int) Program {
	return rewritten(p, func(node Node) Node {
		if op, is := node.(Operand); is && op.Tensor == tensor {
			op.Base += uint64(by)
			return op
		}
		return nil
	})
}

// restrided is an operand at this place whose array has other strides.
func (c *checker) restrided(op Operand, a Array, base uint64, strides []int) (Operand, bool) {
	rest := Affine{int(op.Base - a.Base), slices.Clone(op.Strides)}
	at := Affine{int(base), make([]int, len(op.Strides))}
	for d, step := range a.Strides() {
		index := make([]int, len(rest.Coef))
		for v, s := range rest.Coef {
			index[v] = nearest(s, step)
			rest.Coef[v] -= index[v] * step
			at.Coef[v] += index[v] * strides[d]
		}
		low, fits := c.bound(negated(rest))
		first := FloorDiv(-low, step)
		rest.Const -= first * step
		at.Const += first * strides[d]
		last, fits2 := c.bound(rest)
		most, fits3 := c.bound(Affine{first, index})
		least, fits4 := c.bound(negated(Affine{first, index}))
		if !fits || !fits2 || !fits3 || !fits4 || last+op.Width > step || least > 0 || most >= a.Extents[d] {
			return op, false
		}
	}
	if len(unpadded(rest.Coef)) > 0 {
		return op, false
	}
	op.Base, op.Strides = uint64(at.Const+rest.Const), at.Coef
	return op, true
}

// nearest is the whole number nearest to a quotient, and of two the one nearer to 0.
func nearest(n, by int) int {
	q, r := n/by, n%by
	switch {
	case 2*r > by:
		return q + 1
	case -2*r > by:
		return q - 1
	}
	return q
}
