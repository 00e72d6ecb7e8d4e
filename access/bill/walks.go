package bill

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// This file lowers operators by their walks. A function returns false, and adds nothing, if the
// walk lacks something.

// elementwise lowers an operator whose first result depends on the elements at the same place.
// Further operands get passes of their own. Lists are lowered tensor by tensor.
func (w *walks) elementwise() bool {
	if w.lists() {
		return true
	}
	inputs, outputs := w.inputs(), w.outputs()
	inputs = inputs[len(w.named(operators.Like)):] // which is not read
	shape := shapeOf(slices.Concat(inputs, outputs))
	var operands []walked
	var rest []tensor
	written, rows := false, w.row.Walk == operators.WalkRows
	for _, o := range inputs {
		whole := slices.Equal(o.Shape, shape)
		switch {
		case !broadcasts(o.Shape, shape) || len(operands) == maxOperands || rows && !whole,
			o.Role != operators.Input && (written || !whole || slices.Contains(o.Strides, 0)):
			rest = append(rest, o)
		case rows:
			operands = append(operands, w.operand(w.dense(o), nest.Read))
		case o.Role == operators.Input:
			operands = append(operands, w.operand(w.converted(o), nest.Read))
		default:
			written = true
			operands = append(operands, w.operand(o, kindOf(o)))
		}
	}
	result := w.allocated(operands)
	for _, o := range outputs {
		// A result is as TensorIterator allocates it, unless its dtype or its recorded layout
		// differs.
		if written || !slices.Equal(o.Shape, shape) || slices.Contains(o.Strides, 0) {
			rest = append(rest, o)
			continue
		}
		written = true
		y := w.operand(o, nest.Write)
		if result != nil && result.DType == y.DType && alike(y.Layout, result.Layout) {
			result = &y
			continue
		}
		operands, result = append(operands, y), nil
	}
	if slices.ContainsFunc(operands, func(o walked) bool { return o.Kind != nest.Write }) {
		w.add(access.Add, nil, operands...)
		w.result(result)
	} else if len(operands) == 1 {
		w.add(access.Fill, nil, operands...)
	}
	if !written && len(operands) > 0 && w.reduces(shape, rest) {
		rest = rest[1:]
	}
	w.asTheyLie(rest)
	return true
}

// reduces adds the pass in which a loss reduces its elements.
func (w *walks) reduces(shape []int, results []tensor) bool {
	if w.op.Class != operators.Elementwise || w.calls(operators.Reduction) || len(results) == 0 ||
		len(results[0].Shape) > 0 || results[0].Role != operators.Output {
		return false
	}
	each := w.operand(fresh(shape, results[0].DType), nest.Read)
	w.add(access.Sum, nest.UpTo(len(shape)), each, w.operand(results[0], nest.Write))
	return true
}

// norm lowers batch_norm, which in training first reads its input for a mean and a variance
// (Normalization.cpp).
func (w *walks) norm() bool {
	if len(w.op.Inputs) > 0 && w.op.True(operators.Whether) {
		w.asTheyLie([]tensor{w.all[0], w.all[0]})
	}
	return w.elementwise()
}

// uses are the words of kinds of access.
var uses = []operators.Use{operators.Input, operators.Output, operators.InPlace}

func kindOf(o tensor) nest.Kind { return nest.Kind(slices.Index(uses, o.Role)) }

// lists lowers an operator on lists as one operator for each place in them.
func (w *walks) lists() bool {
	var each [][]tensor
	for _, o := range w.inputs() {
		if o.InList {
			each = append(each, make([][]tensor, max(o.Nth+1-len(each), 0))...)
			o.InList = false
			each[o.Nth] = append(each[o.Nth], o)
		}
	}
	for _, all := range each {
		one := walks{op: w.op, row: w.row, all: all, called: w.called}
		one.op.Inputs, one.op.Outputs = make([]operators.Tensor, len(all)), nil
		one.elementwise()
		w.specs, w.from = append(w.specs, one.specs...), append(w.from, one.from...)
		w.results = append(w.results, one.results...)
		w.err = cmp.Or(w.err, one.err)
	}
	return len(each) > 0
}

// allocated returns the result that TensorIterator allocates, or nil if an operand is written.
func (w *walks) allocated(operands []walked) *walked {
	var inputs []layouts.Layout
	for _, o := range operands {
		if o.Kind != nest.Read {
			return nil
		}
		inputs = append(inputs, o.Layout)
	}
	it, err := layouts.Elementwise(inputs...)
	if err != nil || len(inputs) == 0 {
		return nil
	}
	y := access.Value{Layout: it.Output, DType: operands[0].DType, Kind: nest.Write}
	return &walked{y, inside}
}

// alike reports whether two layouts have the same elements in the same places.
func alike(x, y layouts.Layout) bool {
	if !slices.Equal(x.Shape(), y.Shape()) {
		return false
	}
	for d, n := range x.Shape() {
		if n > 1 && x.Stride(d) != y.Stride(d) {
			return false
		}
	}
	return true
}

func (w *walks) reduction() bool {
	dims, known := w.op.Dims()
	if !known || len(w.op.Inputs) == 0 {
		return false
	}
	first, outputs := w.converted(w.all[0]), w.outputs()
	if len(dims) == len(first.Shape) && w.row.Has(operators.Dense) {
		first = w.dense(first) // ReduceAllOps.cpp
	}
	shape := []int{}
	for d, n := range first.Shape {
		if !slices.Contains(dims, d) {
			shape = append(shape, n)
		}
	}
	y := fresh(shape, first.DType)
	if len(outputs) > 0 {
		y.at, outputs = outputs[0].at, outputs[1:]
	} else if len(shape) > 0 && w.row.Results != "" { // such as indices of the greatest
		outputs = []tensor{fresh(shape, w.row.Results)}
	}
	w.add(access.Sum, dims, w.operand(first, nest.Read), w.operand(y, nest.Write))
	w.asTheyLie(slices.Concat(w.inputs()[1:], outputs))
	return true
}
