package exact

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// Array returns the address of array i, see Draw.At.
func Array(i int) int { return 1<<32 + i<<24 }

// Access returns an access of 4 bytes.
func Access(base int, strides ...int) nest.Operand {
	return nest.Operand{Base: uint64(base), Width: 4, Strides: slices.Clone(strides)}
}

// Outside returns an access moved out of its loop, in one iteration.
func Outside(n nest.Node, iteration int) nest.Operand {
	o, last := n.(nest.Operand), len(n.(nest.Operand).Strides)-1
	o.Base += uint64(iteration * o.Strides[last])
	o.Strides = slices.Clone(o.Strides[:last])
	return o
}

// Bound returns number plus enclosing loops' variables times coef.
func Bound(number int, coef ...int) nest.Affine {
	return nest.Affine{Const: number, Coef: coef}
}

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

// drawStrides draws many strides from a list.
func drawStrides(d enginetest.Draw, many int, list ...int) (strides []int) {
	for range many {
		strides = append(strides, d.Of(list...))
	}
	return strides
}

// drawAt draws an address in the first lines of an array. Arrays lie apart.
func drawAt(d enginetest.Draw, arrays int) int { return 1<<32 + d(arrays)<<24 + 4*d(128) }

// drawAccess draws an access of 4 bytes, with base and strides from lists.
func drawAccess(d enginetest.Draw, bases []int, strides ...[]int) nest.Operand {
	o := nest.Operand{Base: uint64(d.Of(bases...)), Width: 4}
	for _, list := range strides {
		o.Strides = append(o.Strides, d.Of(list...))
	}
	return o
}

// drawOrder draws an order of nodes.
func drawOrder(d enginetest.Draw, list []nest.Node) []nest.Node {
	list = slices.Clone(list)
	for i := range list {
		k := i + d(len(list)-i)
		list[i], list[k] = list[k], list[i]
	}
	return list
}
