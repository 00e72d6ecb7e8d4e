package nest

import "slices"

// Chains returns the perfect nests of the program, each as its loops, the outermost first. The body
// of every loop but the last is just the next loop.
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

// Reorder returns the program with loops of a perfect nest in another order: loop i is
// chain[order[i]]. chain is successive loops of one of Chains. Reorder also returns the new loops.
// It returns false if a bound of one loop depends on the variable of another.
//
// Law: it makes the accesses of W(p), in another order.
func (p Program) Reorder(chain []*Loop, order []int) (Program, []*Loop, bool) {
	from := p.depth(chain[0])
	if !rectangular(chain, from) {
		return nil, nil, false
	}
	to := UpTo(len(chain))
	for i, l := range order {
		to[l] = i
	}
	body := renamed(chain[len(chain)-1].Body, func(a []int) []int {
		if len(a) <= from {
			return a
		}
		b := append(slices.Clone(a), make([]int, max(0, from+len(chain)-len(a)))...)
		for l := range chain {
			b[from+to[l]] = 0
			if from+l < len(a) {
				b[from+to[l]] = a[from+l]
			}
		}
		return b
	})
	loops := make([]*Loop, len(chain))
	for i := len(chain) - 1; i >= 0; i-- {
		copied := *chain[order[i]]
		copied.Body = body
		loops[i], body = &copied, []Node{&copied}
	}
	return p.with(chain[0], loops[0]), loops, true
}

// Tile returns the program with loops of a perfect nest strip-mined and the loops over tiles
// outermost. sizes has the iterations per tile of each loop, or 0 to leave it whole. Tile returns
// false if a bound of one loop depends on the variable of another, or if a step is not positive.
//
// Law: it makes the accesses of W(p), in another order.
func (p Program) Tile(chain []*Loop, sizes []int) (Program, bool) {
	from, tiles := p.depth(chain[0]), 0
	for i, l := range chain {
		if sizes[i] > 0 {
			tiles++
		}
		if l.Step < 0 {
			return nil, false
		}
	}
	if !rectangular(chain, from) {
		return nil, false
	}
	move := func(coef []int) []int { return Affine{Coef: coef}.moved(from, tiles).Coef }
	body := renamed(chain[len(chain)-1].Body, move)
	var outer []*Loop
	inner := make([]*Loop, len(chain))
	for i, l := range chain {
		copied := *l
		if sizes[i] > 0 {
			tile := *l
			tile.Name, tile.Step = l.Name+l.Name, l.Step*sizes[i]
			at := Variable(from + len(outer))
			copied.From = []Affine{at}
			at.Const = tile.Step
			copied.To = append(slices.Clone(l.To), at)
			outer = append(outer, &tile)
		}
		inner[i] = &copied
	}
	for _, l := range slices.Backward(append(outer, inner...)) {
		l.Body = body
		body = []Node{l}
	}
	return p.with(chain[0], body[0]), true
}

func rectangular(chain []*Loop, from int) bool {
	for _, l := range chain {
		for _, bound := range slices.Concat(l.From, l.To) {
			for d := range chain {
				if bound.coef(from+d) != 0 {
					return false
				}
			}
		}
	}
	return true
}

// depth returns how many loops are around a loop, 0 for one without accesses.
func (p Program) depth(l *Loop) int {
	for _, loops := range p.Around() {
		if d := slices.Index(loops, l); d >= 0 {
			return d
		}
	}
	return 0
}

func (p Program) with(old *Loop, by Node) Program {
	return rewritten(p, func(from, to Node) Node {
		if l, is := from.(*Loop); is && l == old {
			return by
		}
		return to
	})
}

// rewritten copies nodes. f returns what stands for a node, given with its copy, whose body is
// rewritten.
func rewritten(nodes []Node, f func(from, to Node) Node) []Node {
	var all []Node
	for _, node := range nodes {
		to := node
		switch node := node.(type) {
		case *Loop:
			copied := *node
			copied.Body = rewritten(node.Body, f)
			to = &copied
		case *If:
			to = &If{node.When, rewritten(node.Then, f), rewritten(node.Else, f)}
		}
		all = append(all, f(node, to))
	}
	return all
}

func renamed(nodes []Node, to func(coef []int) []int) []Node {
	move := func(a Affine) Affine { return Affine{a.Const, to(a.Coef)} }
	return rewritten(nodes, func(_, node Node) Node {
		switch node := node.(type) {
		case Operand:
			node.Strides = to(node.Strides)
			return node
		case *Loop:
			node.From, node.To = each(node.From, move), each(node.To, move)
		case *If:
			node.When = node.When.each(move)
		}
		return node
	})
}

func unpadded(strides []int) []int {
	for len(strides) > 0 && strides[len(strides)-1] == 0 {
		strides = strides[:len(strides)-1]
	}
	return strides
}

// An Array is the storage of a tensor, in row-major order.
type Array struct {
	Tensor  string
	Base    uint64 // address of the first element
	Element int    // bytes
	Extents []int  // elements, the outermost dim first
}

// Strides returns the bytes between successive indices of each dim.
func (a Array) Strides() []int {
	strides, step := make([]int, len(a.Extents)), a.Element
	for d := len(strides) - 1; d >= 0; d-- {
		strides[d] = step
		step *= a.Extents[d]
	}
	return strides
}

// Bytes returns the size of the array in bytes.
func (a Array) Bytes() int {
	bytes := a.Element
	for _, n := range a.Extents {
		bytes *= n
	}
	return bytes
}

// Restride returns the program with the array's elements at other addresses, from base on, with
// these strides. It returns false unless each access is to one element with affine indices. The
// indices must be within the extents for all values of the induction variables.
//
// Law: W of the result is W(p), but byte b of the element at indices i is at base + i0*strides[0] +
// i1*strides[1] + ... + b.
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

// Moved returns the program with a tensor moved by this many bytes.
//
// Law: W(p.Moved(tensor, by)) is W(p) with by added to the addresses of the tensor's accesses.
func (p Program) Moved(tensor string, by int) Program {
	return rewritten(p, func(_, node Node) Node {
		if op, is := node.(Operand); is && op.Tensor == tensor {
			op.Base += uint64(by)
			return op
		}
		return node
	})
}

func (c *checker) restrided(op Operand, a Array, base uint64, strides []int) (Operand, bool) {
	index, rest, ok := c.indices(op, a)
	if !ok {
		return op, false
	}
	at := Affine{int(base) + rest, make([]int, len(op.Strides))}
	for d, i := range index {
		at.Const += i.Const * strides[d]
		for v, n := range i.Coef {
			at.Coef[v] += n * strides[d]
		}
	}
	op.Base, op.Strides = uint64(at.Const), at.Coef
	return op, true
}

// indices returns the operand's index in each dim of its array, and the first byte that it accesses
// in the element. ok is as in Restride.
func (c *checker) indices(op Operand, a Array) (indices []Affine, byte int, ok bool) {
	rest := Affine{int(op.Base - a.Base), slices.Clone(op.Strides)}
	for d, step := range a.Strides() {
		index := make([]int, len(rest.Coef))
		for v, s := range rest.Coef {
			index[v] = nearest(s, step)
			rest.Coef[v] -= index[v] * step
		}
		low, fits := c.bound(negated(rest))
		first := FloorDiv(-low, step)
		rest.Const -= first * step
		last, fits2 := c.bound(rest)
		most, fits3 := c.bound(Affine{first, index})
		least, fits4 := c.bound(negated(Affine{first, index}))
		if !fits || !fits2 || !fits3 || !fits4 || last+op.Width > step || least > 0 ||
			most >= a.Extents[d] {
			return nil, 0, false
		}
		indices = append(indices, Affine{first, index})
	}
	return indices, rest.Const, len(unpadded(rest.Coef)) == 0
}

// nearest returns the integer nearest to n/by, and the one nearer to 0 on a tie.
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
