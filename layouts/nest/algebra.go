package nest

import (
	"fmt"
	"slices"
)

// Canonical returns the nest with the same accesses in the same order, in the fewest loops. It
// drops loops of one trip. It fuses an outer loop with the next inner one where stride(outer) =
// trips(inner) * stride(inner) for every operand. An empty nest becomes one loop of 0 trips.
//
// Law: W(n.Canonical()) = W(n), and n.Canonical() is its own canonical form.
func (n Nest) Canonical() Nest {
	c := Nest{Operands: slices.Clone(n.Operands)}
	for i := range c.Operands {
		c.Operands[i].Strides = nil
	}
	if n.Iterations() == 0 {
		c.Trips = []int{0}
		for i := range c.Operands {
			c.Operands[i].Strides = []int{0}
		}
		return c
	}
	for l, trips := range n.Trips {
		if trips == 1 {
			continue
		}
		last := len(c.Trips) - 1
		fuse := last >= 0
		for i, op := range n.Operands {
			fuse = fuse && c.Operands[i].Strides[last] == trips*op.Strides[l]
		}
		if fuse {
			c.Trips[last] *= trips
		} else {
			c.Trips = append(c.Trips, trips)
			last++
		}
		for i, op := range n.Operands {
			c.Operands[i].Strides = append(c.Operands[i].Strides[:last], op.Strides[l])
		}
	}
	return c
}

// Repeat returns the nest inside a loop of passes, each with the same accesses.
//
// Law: W(n.Repeat(k)) = W(n) k times over.
func (n Nest) Repeat(passes int) Nest { return n.around(0, passes, make([]int, len(n.Operands))) }

func (n Nest) around(l, trips int, strides []int) Nest {
	r := Nest{Trips: slices.Insert(slices.Clone(n.Trips), l, trips),
		Operands: slices.Clone(n.Operands)}
	for i, op := range n.Operands {
		r.Operands[i].Strides = slices.Insert(slices.Clone(op.Strides), l, strides[i])
	}
	return r
}

// Range returns iterations from to to-1 of loop l. It panics unless 0 <= from <= to <= Trips[l].
//
// Law: for the outermost loop, W(n.Range(0, a, b)) W(n.Range(0, b, c)) = W(n.Range(0, a, c)), and
// n.Range(0, 0, Trips[0]) is n. For an inner loop, this holds in each iteration of the loops around
// it.
func (n Nest) Range(l, from, to int) Nest {
	if from < 0 || to < from || to > n.Trips[l] {
		panic(fmt.Sprintf("nest: iterations %d to %d of a loop of %d trips", from, to, n.Trips[l]))
	}
	r := Nest{Trips: slices.Clone(n.Trips), Operands: slices.Clone(n.Operands)}
	r.Trips[l] = to - from
	for i, op := range n.Operands {
		r.Operands[i].Base += uint64(from * op.Strides[l])
	}
	return r
}

// Split strip-mines loop l into parts of by iterations. whole has a loop over the parts and, just
// inside it, a loop within a part. edge has the iterations of an incomplete part in n's loops, or
// no accesses. Split panics unless by is positive.
//
// Law: for the outermost loop, W(whole) W(edge) = W(n). For an inner loop, this holds in each
// iteration of the loops around it: whole and edge together make the accesses of n.
func (n Nest) Split(l, by int) (whole, edge Nest) {
	if by <= 0 {
		panic(fmt.Sprintf("nest: parts of %d iterations", by))
	}
	parts := n.Trips[l] / by
	edge = n.Range(l, parts*by, n.Trips[l])
	outer := make([]int, len(n.Operands))
	for i, op := range n.Operands {
		outer[i] = by * op.Strides[l]
	}
	whole = n.Range(l, 0, min(by, n.Trips[l])).around(l, parts, outer)
	return whole, edge
}

// Permute returns the nest with its loops in another order: loop l of the result is loop order[l]
// of n. It panics unless order has each loop once.
//
// Law: the result makes the accesses of n in another order, and n.Permute(a).Permute(b) =
// n.Permute(c) where c[l] = a[b[l]].
func (n Nest) Permute(order ...int) Nest {
	sorted := slices.Clone(order)
	slices.Sort(sorted)
	for l, o := range sorted {
		if l != o || len(order) != len(n.Trips) {
			panic(fmt.Sprintf("nest: order %v of %d loops", order, len(n.Trips)))
		}
	}
	pick := func(list []int) []int {
		picked := make([]int, len(order))
		for l, o := range order {
			picked[l] = list[o]
		}
		return picked
	}
	p := Nest{Trips: pick(n.Trips), Operands: slices.Clone(n.Operands)}
	for i, op := range n.Operands {
		p.Operands[i].Strides = pick(op.Strides)
	}
	return p
}

// Inside returns the loops from l on, at the first iteration of the loops around them.
//
// Law: n.Inside(0) is n. W(n) is one W(n.Inside(l)) after the other, each operand moved by its
// strides in the loops before l as [Walk] steps them.
func (n Nest) Inside(l int) Nest {
	i := Nest{Trips: n.Trips[l:], Operands: slices.Clone(n.Operands)}
	for r, op := range n.Operands {
		i.Operands[r].Strides = op.Strides[l:]
	}
	return i
}

// Only returns the nest with operand r alone. It panics if the nest lacks r.
//
// Law: W(n.Only(r)) is W(n) without the accesses of the other operands.
func (n Nest) Only(r int) Nest { return Nest{Trips: n.Trips, Operands: n.Operands[r : r+1]} }
