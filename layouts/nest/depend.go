package nest

import "slices"

// A Verdict says whether a change of loops keeps the order of any two accesses to a byte of which
// one writes.
type Verdict uint8

// The verdicts: it does, it does not, or neither was proved.
const (
	Kept Verdict = iota
	Broken
	Unproved
)

// String is "kept", "broken" or "unproved".
func (v Verdict) String() string { return [...]string{"kept", "broken", "unproved"}[v] }

// Keeps is what Reorder of loops of a perfect nest does to dependences. Accesses to an array that
// is listed are compared index by index, where their indices are affine, and else by bytes.
//
// Two iterations change places if the first loop in which they differ is another in the new order,
// and goes the other way. Whether there are two such iterations of a dependence is a question of
// Find, of a program that runs through all pairs of them.
//
// Law: if Kept, any two accesses to a byte of which one writes are made in the order of p; if
// Broken, some are not.
func (p Program) Keeps(arrays []Array, chain []*Loop, order []int) Verdict {
	place := make([]int, len(order))
	for i, l := range order {
		place[l] = i
	}
	ask := func(first, back int) (same []int, asked bool) {
		for l := range chain {
			if place[l] < place[back] && l > first {
				same = append(same, l)
			}
		}
		return same, place[back] < place[first]
	}
	return verdict(p.pairs(arrays, chain), len(chain), ask)
}

// KeepsTiles is Kept if Tile of the loops keeps dependences, whatever their sizes: no dependence
// goes back in any of them.
func (p Program) KeepsTiles(arrays []Array, chain []*Loop) Verdict {
	ask := func(first, back int) ([]int, bool) { return nil, true }
	return verdict(p.pairs(arrays, chain), len(chain), ask)
}

// A pair is two accesses of a perfect nest, as a program of all pairs of their iterations.
type pair struct {
	Program
	alike []Affine // at least 0 where both touch a byte
	depth int      // of the chain's first loop
	shift int      // from a variable of the first access to that of the second
	steps []int    // of the chain's loops
}

// verdict asks of each pair, and each two of so many loops, whether a dependence that begins in the
// first goes back in the second. The loops between in which it must not differ are those that ask
// says.
func verdict(pairs []pair, loops int, ask func(first, back int) (same []int, asked bool)) Verdict {
	verdict := Kept
	for _, p := range pairs {
		for back := range loops {
			for first := range back {
				same, asked := ask(first, back)
				if !asked {
					continue
				}
				_, found, err := p.Find(0, Condition{p.goesBack(first, back, same)})
				switch {
				case found:
					return Broken
				case err != nil:
					verdict = Unproved
				}
			}
		}
	}
	return verdict
}

// goesBack holds where the two accesses touch a byte, and the second is in a later iteration of the
// first loop in which the two differ, but in an earlier one of another loop. In some loops they do
// not differ.
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

// later is how much later the second access is in a loop, less so many.
func (p pair) later(l, less int) Affine {
	a := Affine{Const: -less, Coef: make([]int, p.depth+p.shift+l+1)}
	sign := 1
	if p.steps[l] < 0 {
		sign = -1
	}
	a.Coef[p.depth+l], a.Coef[p.depth+p.shift+l] = -sign, sign
	return a
}

// pairs are those of a write and another access to the tensor, both inside of the chain.
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

// An access is one inside of a chain.
type access struct {
	op    Operand
	path  []turn
	at    int      // where the chain begins in it
	depth int      // loops before
	index []Affine // of the array's dims, nil if they are not known
	rest  int      // bytes from the beginning of the element
}

// placed is the access of an operand.
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

// same reports whether another access is the same one, but for what it does.
func (a access) same(b access) bool {
	return a.op.Tensor == b.op.Tensor && a.op.Kind == b.op.Kind && a.op.Base == b.op.Base &&
		a.op.Width == b.op.Width && slices.Equal(unpadded(a.op.Strides), unpadded(b.op.Strides)) &&
		slices.Equal(a.path, b.path)
}

// loops is how many loops there are around the access from the chain on.
func (a access) loops() (n int) {
	for _, t := range a.path[a.at:] {
		if t.loop != nil {
			n++
		}
	}
	return n
}

// before is a program that runs through each iteration of a, and in it through each of b.
func (a access) before(b access) Program {
	var node Node = Operand{Width: 1}
	for _, t := range slices.Backward(b.path[b.at:]) {
		node = t.around(node, a.depth, a.loops())
	}
	for _, t := range slices.Backward(a.path) {
		node = t.around(node, 0, 0)
	}
	return Program{node}
}

// around is the turn with another body, its variables from a depth on moved by some.
func (t turn) around(body Node, from, by int) Node {
	move := func(a Affine) Affine { return a.moved(from, by) }
	if t.loop != nil {
		l := *t.loop
		l.From, l.To, l.Body = each(l.From, move), each(l.To, move), []Node{body}
		return &l
	}
	when := make(Condition, len(t.arm.When))
	for i, all := range t.arm.When {
		when[i] = each(all, move)
	}
	if t.then {
		return &If{When: when, Then: []Node{body}}
	}
	return &If{When: when, Else: []Node{body}}
}

func each(list []Affine, f func(Affine) Affine) (all []Affine) {
	for _, a := range list {
		all = append(all, f(a))
	}
	return all
}

// moved is the function with its variables from a depth on moved by some.
func (a Affine) moved(from, by int) Affine {
	if len(a.Coef) > from {
		a.Coef = slices.Insert(slices.Clone(a.Coef), from, make([]int, by)...)
	}
	return a
}

// alike is what is at least 0 where two accesses touch a byte; meet is false where they never do.
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

// minus is a - b.
func minus(a, b Affine) Affine {
	c := Affine{a.Const - b.Const, make([]int, max(len(a.Coef), len(b.Coef)))}
	for d := range c.Coef {
		c.Coef[d] = a.coef(d) - b.coef(d)
	}
	return c
}
