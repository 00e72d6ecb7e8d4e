package enginetest

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Of draws one of numbers.
func (d Draw) Of(list ...int) int { return list[d(len(list))] }

// Strides draws so many strides, each of a list.
func (d Draw) Strides(many int, list ...int) (strides []int) {
	for range many {
		strides = append(strides, d.Of(list...))
	}
	return strides
}

// Array is where an array begins that lies apart from others.
func Array(i int) int { return 1<<32 + i<<24 }

// At draws an address in the first lines of one of so many arrays.
func (d Draw) At(arrays int) int { return Array(d(arrays)) + 4*d(128) }

// Access is one of 4 bytes.
func Access(base int, strides ...int) nest.Operand {
	return nest.Operand{Base: uint64(base), Width: 4, Strides: slices.Clone(strides)}
}

// Access draws an access of 4 bytes: its base of a list, and each stride of one.
func (d Draw) Access(bases []int, strides ...[]int) nest.Operand {
	o := Access(d.Of(bases...))
	for _, list := range strides {
		o.Strides = append(o.Strides, d.Of(list...))
	}
	return o
}

// Outside is what an access of a loop is one loop further out, in one of the iterations.
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

// Bound is a number, plus variables of the loops around times coefficients.
func Bound(number int, coef ...int) nest.Affine { return nest.Affine{Const: number, Coef: coef} }

// Loop counts from 0 up to a bound.
func Loop(to nest.Affine, body ...nest.Node) *nest.Loop {
	return &nest.Loop{From: []nest.Affine{Bound(0)}, To: []nest.Affine{to}, Step: 1, Body: body}
}

// Times is a loop of so many iterations.
func Times(trips int, body ...nest.Node) *nest.Loop { return Loop(Bound(trips), body...) }

// When runs nodes where a condition holds, and others elsewhere.
func When(holds nest.Condition, then, otherwise []nest.Node) nest.Node {
	return &nest.If{When: holds, Then: then, Else: otherwise}
}
