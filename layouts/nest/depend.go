package nest

import "slices"

// Keeps returns whether Reorder of loops of a perfect nest preserves dependences, the order of any
// two accesses to a byte that include a write: "kept", "broken", or "unproved". Without an order it
// is about Tile, for any sizes. It compares accesses to the listed arrays by indices if these are
// affine, and all others by bytes.
//
// Two iterations are swapped if the first loop in which they differ is another one in the new order
// and runs the opposite way. Find looks for such a pair of dependent iterations, in a program that
// runs through all pairs. Tiles may swap any two that differ in two loops in opposite ways.
//
// Law: if kept, any two accesses to a byte that include a write keep their order in p; if broken,
// some do not.
func (p Program) Keeps(arrays []Array, chain []*Loop, order []int) string {
	place := make([]int, len(order))
	for i, l := range order {
		place[l] = i
	}
	verdict := "kept"
	for _, pair := range p.pairs(arrays, chain) {
		for back := range chain {
			for first := range back {
				var same []int // further loops in which the iterations are the same
				if order != nil && place[back] >= place[first] {
					continue
				}
				for l := first + 1; l < len(chain) && order != nil; l++ {
					if place[l] < place[back] {
						same = append(same, l)
					}
				}
				_, found, err := pair.Find(0, Condition{pair.goesBack(first, back, same)})
				switch {
				case found:
					return "broken"
				case err != nil:
					verdict = "unproved"
				}
			}
		}
	}
	return verdict
}

// A pair is two accesses of a perfect nest, as a program that runs through pairs of iterations.
type pair struct {
	Program
	alike []Affine // non-negative if both touch a byte
	depth int      // of the chain's first loop
	shift int      // distance between the variables of the two accesses
	steps []int    // of the chain's loops
}

// goesBack returns functions that are all non-negative if the accesses touch a byte and the second
// one is later in first and earlier in back. The iterations are the same in the loops before first
// and in same.
func (p pair) goesBack(first, back int, same []int) []Affine {
	all := slices.Clone(p.alike)
	for l := range first {
		same = append(same, l)
	}
	for _, l := range same {
		all = append(all, p.later(l, 0), negated(p.later(l, 0)))
	}
	earlier := negated(p.later(back, 0))
	earlier.Const--
	return append(all, p.later(first, 1), earlier)
}

// later returns how many values later the second access is in loop l, minus less.
func (p pair) later(l, less int) Affine {
	a := Affine{Const: -less, Coef: make([]int, p.depth+p.shift+l+1)}
	sign := 1
	if p.steps[l] < 0 {
		sign = -1
	}
	a.Coef[p.depth+l], a.Coef[p.depth+p.shift+l] = -sign, sign
	return a
}

// pairs returns the pairs of a write and another access to the same tensor within the chain.
func (p Program) pairs(arrays []Array, chain []*Loop) (all []pair) {
	var steps []int
	for _, l := range chain {
		steps = append(steps, l.Step)
	}
	var inside []access
	for number, op := range p.Operands() {
		path := p.path(number, nil)
		at := slices.IndexFunc(path, func(t turn) bool { return t.loop == chain[0] })
		if at >= 0 {
			inside = append(inside, placed(op, path, at, arrays))
		}
	}
	for i, a := range inside {
		for k, b := range inside {
			if a.op.Tensor != b.op.Tensor || a.op.Kind == Read && b.op.Kind == Read {
				continue
			}
			twin := slices.ContainsFunc(inside[:i], a.same) &&
				slices.ContainsFunc(inside[:k], b.same)
			alike, meet := a.alike(b)
			if meet && !twin {
				all = append(all, pair{a.before(b), alike, a.depth, a.loops(), steps})
			}
		}
	}
	return all
}

type access struct {
	op    Operand
	path  []turn
	at    int      // index of the chain in path
	depth int      // loops before the chain
	index []Affine // by dim of the array, nil if unknown
	rest  int      // offset in the element in bytes
}

func placed(op Operand, path []turn, at int, arrays []Array) access {
	a := access{op: op, path: path, at: at}
	c := checker{}
	for i, t := range path {
		if t.loop == nil {
			continue
		}
		if i < at {
			a.depth++
		}
		c.around = append(c.around, c.all(t.loop))
	}
	for _, array := range arrays {
		if array.Tensor == op.Tensor && len(array.Extents) > 0 {
			if index, rest, ok := c.indices(op, array); ok {
				a.index, a.rest = index, rest
			}
		}
	}
	return a
}

func (a access) same(b access) bool {
	return a.op.Tensor == b.op.Tensor && a.op.Kind == b.op.Kind && a.op.Base == b.op.Base &&
		a.op.Width == b.op.Width && slices.Equal(unpadded(a.op.Strides), unpadded(b.op.Strides)) &&
		slices.Equal(a.path, b.path)
}

func (a access) loops() (n int) {
	for _, t := range a.path[a.at:] {
		if t.loop != nil {
			n++
		}
	}
	return n
}

// before returns a program that runs through each iteration of b within each of a.
func (a access) before(b access) Program {
	var node Node = Operand{Width: 1}
	for _, t := range slices.Backward(b.path[b.at:]) {
		node = t.around(node, a.depth, a.loops())
	}
	return alone(a.path, node)
}

// alone returns a program that runs node where a path leads, and nothing else.
func alone(path []turn, node Node) Program {
	for _, t := range slices.Backward(path) {
		node = t.around(node, 0, 0)
	}
	return Program{node}
}

// around returns the turn with another body, and its variables moved.
func (t turn) around(body Node, from, by int) Node {
	move := func(a Affine) Affine { return a.moved(from, by) }
	if t.loop != nil {
		l := *t.loop
		l.From, l.To, l.Body = each(l.From, move), each(l.To, move), []Node{body}
		return &l
	}
	when := t.arm.When.each(move)
	if t.then {
		return &If{When: when, Then: []Node{body}}
	}
	return &If{When: when, Else: []Node{body}}
}

func (c Condition) each(f func(Affine) Affine) (moved Condition) {
	for _, all := range c {
		moved = append(moved, each(all, f))
	}
	return moved
}

func each(list []Affine, f func(Affine) Affine) (all []Affine) {
	for _, a := range list {
		all = append(all, f(a))
	}
	return all
}

// moved inserts by variables before the variable of depth from.
func (a Affine) moved(from, by int) Affine {
	if len(a.Coef) > from {
		a.Coef = slices.Insert(slices.Clone(a.Coef), from, make([]int, by)...)
	}
	return a
}

// alike returns functions that are all non-negative if two accesses touch a byte. meet is false if
// they never do.
func (a access) alike(b access) (all []Affine, meet bool) {
	if a.index != nil && b.index != nil {
		for d := range a.index {
			less := minus(a.index[d], b.index[d].moved(a.depth, a.loops()))
			all = append(all, less, negated(less))
		}
		return all, a.rest < b.rest+b.op.Width && b.rest < a.rest+a.op.Width
	}
	from := func(o Operand) Affine { return Affine{int(o.Base), o.Strides} }
	less := minus(from(a.op), from(b.op).moved(a.depth, a.loops()))
	more := negated(less)
	less.Const += a.op.Width - 1
	more.Const += b.op.Width - 1
	return []Affine{less, more}, true
}

func minus(a, b Affine) Affine {
	c, _ := plus(a, -1, b)
	return c
}
