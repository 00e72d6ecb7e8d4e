package enginetest

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Of draws one of the numbers.
func (d Draw) Of(list ...int) int { return list[d(len(list))] }

// Strides draws many strides from a list.
func (d Draw) Strides(many int, list ...int) (strides []int) {
	for range many {
		strides = append(strides, d.Of(list...))
	}
	return strides
}

// Array returns the address of array i. Arrays lie apart.
func Array(i int) int { return 1<<32 + i<<24 }

// At draws an address in the first lines of an array.
func (d Draw) At(arrays int) int { return Array(d(arrays)) + 4*d(128) }

// Access returns an access of 4 bytes.
func Access(base int, strides ...int) nest.Operand {
	return nest.Operand{Base: uint64(base), Width: 4, Strides: slices.Clone(strides)}
}

// Access draws an access of 4 bytes, with base and strides from lists.
func (d Draw) Access(bases []int, strides ...[]int) nest.Operand {
	o := Access(d.Of(bases...))
	for _, list := range strides {
		o.Strides = append(o.Strides, d.Of(list...))
	}
	return o
}

// Outside returns an access moved out of its loop, in one iteration.
func Outside(n nest.Node, iteration int) nest.Operand {
	o, last := n.(nest.Operand), len(n.(nest.Operand).Strides)-1
	o.Base += uint64(iteration * o.Strides[last])
	o.Strides = slices.Clone(o.Strides[:last])
	return o
}

// Order draws an order of nodes.
func (d Draw) Order(list []nest.Node) []nest.Node {
	list = slices.Clone(list)
	for i := range list {
		k := i + d(len(list)-i)
		list[i], list[k] = list[k], list[i]
	}
	return list
}

// Bound returns number plus enclosing loops' variables times coef.
func Bound(number int, coef ...int) nest.Affine { return nest.Affine{Const: number, Coef: coef} }

// Loop returns a loop from 0 to a bound.
func Loop(to nest.Affine, body ...nest.Node) *nest.Loop {
	return &nest.Loop{From: []nest.Affine{Bound(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
}

// Times returns a loop of trips iterations.
func Times(trips int, body ...nest.Node) *nest.Loop { return Loop(Bound(trips), body...) }

// When returns nodes for a condition, and others for its negation.
func When(holds nest.Condition, then, otherwise []nest.Node) nest.Node {
	return &nest.If{When: holds, Then: then, Else: otherwise}
}
