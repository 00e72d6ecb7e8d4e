package bill

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/layouts/nest"
)

// maxOperands is the most operands that are walked together. Further ones are walked alone.
const maxOperands = 16

// inside is the number of a tensor that is not an operand of the profile.
const inside = -1

// A tensor is an operand with its number among the inputs and then the outputs, or inside.
type tensor struct {
	operators.Tensor
	at int
}

type lowered struct {
	specs []access.Spec
	// from has the number of the tensor for each operand of each pattern, and for its result.
	from [][]int
	// results are those that PyTorch allocates for a pattern, or nil.
	results []*walked
	// twins are the patterns with contiguous operands, none if nothing would remain.
	twins     []access.Spec
	forLayout bool
	// unsaid is set if the result is unknown, so that no pattern writes it.
	unsaid bool
}

// A callee is a class of operators that another one calls. The profile then has its copies,
// reductions or fills.
type callee struct {
	by    string
	class operators.Class
}

type calls map[callee]bool

// errUnnamed is the error of x[index] in a Kineto trace. PyTorch's profiler leaves out lists that
// may have None.
var errUnnamed = errors.New("the profile lacks its index or mask (scripts/capture records it)")

// lower returns how PyTorch 1.13 walks an operator's operands. It returns an error if that or the
// size of a dtype is unknown.
func lower(op operators.Operator, inside calls) (lowered, error) {
	if !op.Class.Touches() {
		return lowered{}, nil
	}
	all := slices.Concat(op.Inputs, op.Outputs)
	for _, o := range all {
		if o.ItemSize() == 0 {
			return lowered{}, fmt.Errorf("the size of dtype %s is unknown", o.DType)
		}
	}
	if op.Class == operators.Unknown {
		return lowered{}, errors.New("which elements it accesses is unknown")
	}
	if slices.ContainsFunc(all, func(o operators.Tensor) bool { return o.Format != "" }) {
		return reorder(op)
	}
	w := walksOf(op, inside)
	if w.walk(); w.err != nil {
		return lowered{}, w.err
	}
	if w.specs == nil {
		return lowered{}, errors.New("the profile has none of its tensors")
	}
	l := w.lowered()
	l.unsaid = len(w.outputs()) == 0 && !slices.ContainsFunc(w.specs, func(s access.Spec) bool {
		return s.Op != access.Sum || len(s.Operands) > 1
	})
	if w.row.Walk == operators.WalkProduct { // it takes strided operands
		return l, nil
	}
	twin := walksOf(w.contiguousTwin(), inside)
	if twin.walk(); twin.err != nil {
		return lowered{}, twin.err
	}
	if l.twins = twin.specs; l.forLayout {
		l.twins = nil
	}
	return l, nil
}

func (w *walks) lowered() lowered {
	return lowered{specs: w.specs, from: w.from, results: w.results, forLayout: w.forLayout,
		twins: w.specs[w.inner:]}
}

// contiguousTwin returns the operator with contiguous operands, or with channels_last ones that it
// takes as well. Expanded operands stay expanded, unless the operator would copy them.
func (w *walks) contiguousTwin() operators.Operator {
	twin := w.op
	all := slices.Concat(twin.Inputs, twin.Outputs)
	for i, o := range all {
		switch {
		case w.row.Has(operators.ChannelsLast) && isChannelsLast(o):
		case w.row.Walk == operators.WalkRows || w.row.Has(operators.Dense):
			all[i].Strides = operators.Fresh(o.Shape, o.DType).Strides
		default:
			all[i].Strides = denseStrides(o)
		}
	}
	twin.Inputs, twin.Outputs = all[:len(twin.Inputs)], all[len(twin.Inputs):]
	return twin
}

// denseStrides returns contiguous strides, with 0 for expanded dims.
func denseStrides(o operators.Tensor) []int {
	shape := expandedOnce(o).Shape
	strides := operators.Fresh(shape, o.DType).Strides
	for d, n := range o.Shape {
		if n != shape[d] {
			strides[d] = 0
		}
	}
	return strides
}

type walks struct {
	op        operators.Operator // with derived results
	row       operators.Row
	all       []tensor // its operands
	specs     []access.Spec
	from      [][]int
	results   []*walked
	inner     int // the first of these, which copy strided operands
	forLayout bool
	called    calls // of the profile
	err       error
}

// calls reports whether the operator calls others of a class: Copy, Reduction, or Elementwise for
// fills.
func (w *walks) calls(c operators.Class) bool { return w.called[callee{w.op.Op, c}] }

func walksOf(op operators.Operator, called calls) walks {
	w := walks{op: op, row: op.Row(), called: called}
	for i, o := range slices.Concat(op.Inputs, op.Outputs) {
		w.all = append(w.all, tensor{o, i})
	}
	for _, o := range op.Results() {
		w.op.Outputs = append(slices.Clone(w.op.Outputs), o)
		w.all = append(w.all, tensor{o, inside})
	}
	return w
}

func (w *walks) inputs() []tensor  { return w.all[:len(w.op.Inputs)] }
func (w *walks) outputs() []tensor { return w.all[len(w.op.Inputs):] }

// named returns the inputs that have any of these letters.
func (w *walks) named(letters ...operators.Arg) (all []tensor) {
	for _, o := range w.inputs() {
		if slices.Contains(letters, w.row.Is(o.Argument)) {
			all = append(all, o)
		}
	}
	return all
}

// walk collects the patterns by the row's Walk.
func (w *walks) walk() {
	if w.row.Has(operators.First) {
		w.changes()
	}
	lowers := map[operators.Walk]func() bool{
		operators.WalkJoined: w.join, operators.WalkStacked: w.join, operators.WalkPadded: w.pad,
		operators.WalkElementwise: w.elementwise, operators.WalkScan: w.elementwise,
		operators.WalkRows: w.elementwise, operators.WalkNorm: w.norm,
		operators.WalkReduction: w.reduction,
		operators.WalkGather:    w.byRow, operators.WalkPut: w.byRow,
		operators.WalkElements: w.byElement, operators.WalkScatter: w.byElement,
	}
	switch lower := lowers[w.row.Walk]; {
	case lower != nil && lower(), w.err != nil:
	case w.op.Class == operators.Copy:
		w.copies()
	default:
		all := slices.Clone(w.all)
		if w.row.Has(operators.Dense) && len(all) > 0 && all[0].Role == operators.Input {
			all[0] = w.dense(all[0])
		}
		if w.calls(operators.Elementwise) { // they fill its results
			all = all[:len(w.op.Inputs)]
		}
		w.asTheyLie(all)
	}
}

// changes lowers the copy with which an operator out of place begins, if it then changes the copy.
func (w *walks) changes() {
	if len(w.op.Inputs) == 0 || w.op.Inputs[0].Role != operators.Input {
		return
	}
	x := w.all[0]
	y := fresh(x.Shape, x.DType)
	if outputs := w.outputs(); len(outputs) > 0 && slices.Equal(outputs[0].Shape, x.Shape) {
		y = outputs[0]
	}
	w.copyTo(y, x)
	y.Role = operators.InPlace
	w.all, w.op.Outputs = slices.Clone(w.all[:len(w.op.Inputs)]), nil
	y.Argument, w.all[0] = x.Argument, y
}

// copyTo adds a copy inside the operator, unless the profile has it.
func (w *walks) copyTo(y, x tensor) {
	if !w.calls(operators.Copy) {
		w.add(access.Copy, nil, w.operand(y, nest.Write), w.operand(x, nest.Read))
	}
}

// dense returns the operand if the operator takes its layout, or else a contiguous copy.
func (w *walks) dense(o tensor) tensor {
	if contiguous(o.Tensor) || w.row.Has(operators.ChannelsLast) && isChannelsLast(o.Tensor) {
		return o
	}
	y := fresh(o.Shape, o.DType)
	w.copyTo(y, o)
	w.inner = len(w.specs)
	y.Role, y.Argument = operators.Input, o.Argument
	return y
}

// converted returns the operand in the dtype in which the operator computes, or a copy in its order
// (TensorIterator.cpp; ReduceOpsUtils.h). Tensors without dims cost nothing.
func (w *walks) converted(o tensor) tensor {
	dtype := w.computed()
	if dtype == "" || o.DType == dtype || len(o.Shape) == 0 {
		return o
	}
	y := o
	if l, err := o.Layout(); err == nil && !l.IsDense() {
		y = fresh(o.Shape, dtype)
	}
	y.DType, y.at, y.Role = dtype, inside, operators.Output
	w.copyTo(y, o)
	y.Role, y.Argument = operators.Input, o.Argument
	return y
}

// computed returns the dtype in which an operator with the flag computes, or "" if unknown. It is
// the result's dtype, or for comparisons and in place the operands' common one. Integers are summed
// in int64.
func (w *walks) computed() string {
	if !w.row.Has(operators.Converts) {
		return ""
	}
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
	if w.op.Class == operators.Reduction {
		all = append(all, layouts.Int64)
	}
	if common := layouts.ResultType(all, nil, nil); common != layouts.Undefined {
		return common.String()
	}
	return ""
}

type walked struct {
	access.Value
	at int
}

func (w *walks) operand(o tensor, role nest.Kind) walked {
	l, err := o.Layout()
	if err != nil && w.err == nil {
		w.err = err
	}
	return walked{access.Value{Layout: l, DType: standIn(o.Tensor), Kind: role}, o.at}
}

// standIn returns the dtype, or one of its size if package layouts does not know it.
func standIn(o operators.Tensor) layouts.DType {
	if d, err := layouts.ParseDType(o.DType); err == nil {
		return d
	}
	return map[int]layouts.DType{1: layouts.Uint8, 2: layouts.Float16, 4: layouts.Float32,
		8: layouts.Float64, 16: layouts.Complex128}[o.ItemSize()]
}

func (w *walks) add(op access.Op, dims []int, operands ...walked) {
	s := access.Spec{Op: op, Order: access.Torch, Dims: dims}
	var from []int
	for _, o := range operands {
		s.Operands = append(s.Operands, o.Value)
		from = append(from, o.at)
	}
	w.specs, w.from, w.results = append(w.specs, s), append(w.from, from), append(w.results, nil)
}

func (w *walks) result(y *walked) {
	if last := len(w.from) - 1; y != nil {
		w.from[last], w.results[last] = append(w.from[last], y.at), y
	}
}

// asTheyLie adds a pass over each tensor, in the order of its strides.
func (w *walks) asTheyLie(all []tensor) {
	for _, o := range all {
		if o.Role != operators.Output && w.row.Is(o.Argument) != operators.Like {
			w.add(access.Sum, nil, w.operand(o, nest.Read))
		}
		if o.Role != operators.Input {
			o.Tensor = expandedOnce(o.Tensor)
			w.add(access.Fill, nil, w.operand(o, nest.Write))
		}
	}
}

// expandedOnce returns the operand with size 1 in expanded dims.
func expandedOnce(o operators.Tensor) operators.Tensor {
	o.Shape = slices.Clone(o.Shape)
	for d := range o.Shape {
		if d < len(o.Strides) && o.Strides[d] == 0 && o.Shape[d] > 1 {
			o.Shape[d] = 1
		}
	}
	return o
}

func fresh(shape []int, dtype string) tensor {
	return tensor{operators.Fresh(shape, dtype), inside}
}

func isChannelsLast(o operators.Tensor) bool {
	l, err := o.Layout()
	return err == nil && l.IsChannelsLast()
}

func product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

func broadcasts(from, to []int) bool {
	l, err := layouts.Contiguous(from...)
	if err == nil {
		_, err = l.Expand(to...)
	}
	return err == nil
}

// shapeOf returns the shape to which the tensors broadcast. It leaves out those that do not.
func shapeOf(all []tensor) []int {
	whole, _ := layouts.Contiguous()
	for _, o := range all {
		l, err := layouts.Contiguous(o.Shape...)
		if err == nil {
			if both, err := layouts.Broadcast(whole, l); err == nil {
				whole = both[0]
			}
		}
	}
	return whole.Shape()
}

// reorder lowers a reorder of oneDNN's: a pass over all elements in the destination's order, by a
// pattern for each part that blocks make.
func reorder(op operators.Operator) (lowered, error) {
	var places []blocked.Layout
	for _, o := range []operators.Tensor{op.Outputs[0], op.Inputs[0]} {
		tag, err := blocked.Parse(o.Format)
		var b blocked.Layout
		if err == nil {
			b, err = tag.Layout(o.Shape...)
		}
		if err != nil {
			return lowered{}, fmt.Errorf("format %s: %w", o.Format, err)
		}
		places = append(places, b)
	}
	pieces, err := blocked.Pieces(nest.UpTo(len(op.Inputs[0].Shape)), places...)
	if err != nil {
		return lowered{}, err
	}
	x, y := op.Inputs[0], op.Outputs[0]
	w := walks{op: op, forLayout: x.DType == y.DType}
	for _, piece := range pieces {
		to := access.Value{Layout: piece[0], DType: standIn(y), Kind: nest.Write}
		from := access.Value{Layout: piece[1], DType: standIn(x), Kind: nest.Read}
		w.add(access.Copy, nil, walked{to, 1}, walked{from, 0})
	}
	l := w.lowered()
	l.twins = nil // there would be nothing to reorder
	return l, nil
}
