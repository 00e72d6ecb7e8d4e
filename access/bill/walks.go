package bill

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// This file lowers operators by their walks. Each reports false, and lowers nothing, of one that
// lacks what the walk needs.

// elementwise lowers an operator that computes each element of its first result from those at its
// place; other operands are gone over as they lie. Lists are so lowered element by element.
func (w *walks) elementwise() bool {
	if w.lists() {
		return true
	}
	inputs, outputs := w.inputs(), w.outputs()
	inputs = inputs[len(w.named(operators.Like)):] // of which nothing is read
	shape := shapeOf(slices.Concat(inputs, outputs))
	var operands []walked
	var rest []tensor
	written, result := false, inside
	for _, o := range inputs {
		whole := slices.Equal(o.Shape, shape)
		switch {
		case slices.Contains(w.op.Again, o.at): // is there
		case !broadcasts(o.Shape, shape) || len(operands) == maxOperands || w.row.Walk == operators.WalkRows && !whole,
			o.Role != operators.Input && (written || !whole || slices.Contains(o.Strides, 0)):
			rest = append(rest, o)
		case w.row.Walk == operators.WalkRows:
			operands = append(operands, w.operand(w.dense(o), access.Input))
		case o.Role == operators.Input:
			operands = append(operands, w.operand(w.converted(o, w.computed()), access.Input))
		default:
			written = true
			operands = append(operands, w.operand(o, roles[o.Role]))
		}
	}
	for _, o := range outputs {
		// A result is as TensorIterator allocates it unless its type is another, or the profile says
		// that it lies otherwise.
		if written || !slices.Equal(o.Shape, shape) || slices.Contains(o.Strides, 0) {
			rest = append(rest, o)
			continue
		}
		written = true
		if len(operands) > 0 && operands[0].DType == standIn(o.Operand) && allocated(o, operands) {
			result = o.at
			continue
		}
		operands = append(operands, w.operand(o, access.Output))
	}
	if slices.ContainsFunc(operands, func(o walked) bool { return o.Role != access.Output }) {
		w.add(access.Add, nil, operands...)
		if result != inside || !written {
			w.result(result)
		}
	} else if len(operands) == 1 {
		w.add(access.Fill, nil, operands...)
	}
	if w.op.Class == operators.Elementwise && !written && !w.reduced && len(operands) > 0 && len(rest) > 0 &&
		len(rest[0].Shape) == 0 && rest[0].Role == operators.Output { // a loss, which is reduced
		w.add(access.Sum, nest.UpTo(len(shape)), w.operand(fresh(shape, rest[0].DType), access.Input),
			w.operand(rest[0], access.Output))
		rest = rest[1:]
	}
	w.asTheyLie(rest)
	return true
}

// norm lowers a batch_norm, which in training reads its input for a mean and a variance first
// (Normalization.cpp).
func (w *walks) norm() bool {
	if len(w.op.Inputs) > 0 && w.op.True(operators.Whether) {
		w.asTheyLie([]tensor{w.all[0], w.all[0]})
	}
	return w.elementwise()
}

// roles are those of operands in patterns.
var roles = map[operators.Role]access.Role{
	operators.Input: access.Input, operators.Output: access.Output, operators.InPlace: access.InPlace,
}

// lists lowers an operator on lists as one on the first of each, the second, and so on.
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
		one := walks{op: w.op, row: w.row, all: all, copied: w.copied}
		one.op.Inputs, one.op.Outputs = make([]operators.Operand, len(all)), nil
		one.elementwise()
		w.specs, w.from, w.err = append(w.specs, one.specs...), append(w.from, one.from...), cmp.Or(w.err, one.err)
	}
	return len(each) > 0
}

// allocated reports whether a result lies as TensorIterator allocates it for these inputs.
func allocated(result tensor, inputs []walked) bool {
	var layoutsOf []layouts.Layout
	for _, o := range inputs {
		layoutsOf = append(layoutsOf, o.Layout)
	}
	it, err := layouts.Elementwise(layoutsOf...)
	if err != nil || !slices.Equal(it.Output.Shape(), result.Shape) {
		return true
	}
	for d, step := range it.Output.Strides() {
		if result.Shape[d] > 1 && result.Strides[d] != step {
			return false
		}
	}
	return true
}

// computed is the dtype in which an operator computes that converts: that of its result, or of a
// comparison and in place that to which its operands promote; "" where that is not known.
func (w *walks) computed() string {
	if outputs := w.outputs(); len(outputs) > 0 && outputs[0].DType != "bool" {
		return outputs[0].DType
	}
	var all []layouts.DType
	for _, o := range w.inputs() {
		if len(o.Shape) > 0 {
			t, err := layouts.ParseDType(o.DType)
			if err != nil {
				return ""
			}
			all = append(all, t)
		}
	}
	if t := layouts.ResultType(all, nil, nil); t != layouts.Undefined {
		return t.String()
	}
	return ""
}

// converted is an operand in the dtype in which the operator computes: a whole operand is copied
// beforehand (TensorIterator.cpp). What has no dims costs nothing.
func (w *walks) converted(o tensor, dtype string) tensor {
	if o.DType == dtype || dtype == "" || len(o.Shape) == 0 || !w.row.Has(operators.Converts) {
		return o
	}
	y := fresh(o.Shape, dtype)
	if l, err := o.Layout(); err == nil && l.IsDense() {
		y.Strides = o.Strides
	}
	w.copyTo(y, o)
	y.Role = operators.Input
	return y
}

// reduction lowers one of which the dims are known.
func (w *walks) reduction() bool {
	dims, known := w.op.Dims()
	if !known || len(w.op.Inputs) == 0 {
		return false
	}
	first, outputs := w.all[0], w.outputs()
	switch {
	case len(dims) == len(first.Shape) && w.row.Has(operators.Dense):
		first = w.dense(first) // of all elements (ReduceAllOps.cpp)
	case len(outputs) > 0:
		first = w.converted(first, outputs[0].DType)
	case slices.Contains([]string{"bool", "uint8", "int8", "int16", "int32"}, first.DType):
		first = w.converted(first, "int64") // make_reduction in ReduceOpsUtils.h
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
	} else if len(shape) > 0 && w.row.Results != "" { // where they are
		outputs = []tensor{fresh(shape, w.row.Results)}
	}
	w.add(access.Sum, dims, w.operand(first, access.Input), w.operand(y, access.Output))
	w.asTheyLie(slices.Concat(w.inputs()[1:], outputs))
	return true
}
