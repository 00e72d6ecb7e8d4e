package bill

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// maxOperands is the most operands that are walked together; those of a longer
// list are walked one by one.
const maxOperands = 16

// inside is the number of what is no operand of the profile.
const inside = -1

// A tensor is an operand of the profile and its number among the inputs and then the
// outputs of its operator; inside of one that the operator has inside.
type tensor struct {
	operators.Tensor
	at int
}

// lowered is how an operator goes through memory: patterns one after the other.
type lowered struct {
	specs []access.Spec
	// from are, for each operand of each pattern, and for its result, the tensor's number.
	from [][]int
	// results are those of patterns whose result is as PyTorch allocates it, nil of others.
	results []*walked
	// twins are what the same would be with contiguous operands, none where it would not be.
	twins []access.Spec
	// forLayout: a copy that changes nothing but the layout.
	forLayout bool
	// unsaid: what is written is not in the patterns, since the profile does not have the result
	// and nothing says what it is.
	unsaid bool
}

// A callee is that an operator calls some of a class, of those that copy, reduce, or fill: what it
// copies, reduces and fills inside is in the profile.
type callee struct {
	by    string
	class operators.Class
}

type calls map[callee]bool

// errUnnamed is of what takes, or puts, what a list of tensors names that a Kineto trace does not
// have: PyTorch's profiler leaves out lists in which there may be no tensor, None.
var errUnnamed = errors.New("the profile lacks its index or mask (scripts/capture records it)")

// lower says how PyTorch 1.13 walks an operator's operands. It errs where that is
// not known: of an operator of which nobody knows what it touches, and of a dtype
// whose size is not known.
func lower(op operators.Operator, inside calls) (lowered, error) {
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
	if w.row.Walk == operators.WalkProduct { // which takes operands as they are
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

// lowered is what was collected.
func (w *walks) lowered() lowered {
	return lowered{specs: w.specs, from: w.from, results: w.results, forLayout: w.forLayout,
		twins: w.specs[w.inner:]}
}

// contiguousTwin is the operator with contiguous operands, or such as it takes alike. What is
// expanded stays so, unless it would be copied.
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

// denseStrides are those of a contiguous operand of which expanded dims stay so.
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

// walks collects the patterns of an operator.
type walks struct {
	op        operators.Operator // with all results that are known
	row       operators.Row
	all       []tensor // its operands
	specs     []access.Spec
	from      [][]int
	results   []*walked
	inner     int // of these, those at the start that are copies of what is not contiguous
	forLayout bool
	copied    bool // it calls what copies, and is in the profile itself,
	reduced   bool // or what reduces,
	filled    bool // or what fills
	err       error
}

func walksOf(op operators.Operator, calls calls) walks {
	w := walks{op: op, row: op.Row()}
	w.copied = calls[callee{op.Op, operators.Copy}]
	w.reduced = calls[callee{op.Op, operators.Reduction}]
	w.filled = calls[callee{op.Op, operators.Elementwise}]
	for i, o := range slices.Concat(op.Inputs, op.Outputs) {
		w.all = append(w.all, tensor{o, i})
	}
	for _, o := range op.Results() {
		w.op.Outputs = append(slices.Clone(w.op.Outputs), o)
		w.all = append(w.all, tensor{o, inside})
	}
	return w
}

// inputs and outputs are the operands by where the profile has them.
func (w *walks) inputs() []tensor  { return w.all[:len(w.op.Inputs)] }
func (w *walks) outputs() []tensor { return w.all[len(w.op.Inputs):] }

// named are the inputs whose argument has one of these letters.
func (w *walks) named(letters ...operators.Arg) (all []tensor) {
	for _, o := range w.inputs() {
		if slices.Contains(letters, w.row.Is(o.Argument)) {
			all = append(all, o)
		}
	}
	return all
}

// walk collects the patterns, by how the operator walks.
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
		if w.filled { // its results
			all = all[:len(w.op.Inputs)]
		}
		w.asTheyLie(all)
	}
}

// changes lowers the copy with which an operator begins that changes its first operand, and is not
// in place: by one that the profile has, or one inside.
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

// copyTo adds a copy that the operator makes inside, unless the profile has it.
func (w *walks) copyTo(y, x tensor) {
	if !w.copied {
		w.add(access.Copy, nil, w.operand(y, nest.Write), w.operand(x, nest.Read))
	}
}

// dense is an operand if it is contiguous, or lies as the operator takes it too, and else a copy.
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

// converted is an operand in the dtype in which the operator computes, and else a copy of it, in its
// order (TensorIterator.cpp; ReduceOpsUtils.h). A tensor without dims costs nothing.
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

// computed is the dtype in which an operator computes that converts its operands, "" of others and
// where it is unknown: the dtype of its result, but of a comparison and in place the one to which
// its operands promote. Integers are added up in int64.
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

// A walked is an operand of a pattern, with the tensor that it is.
type walked struct {
	access.Value
	at int
}

// operand is a tensor of the profile as an operand of a pattern.
func (w *walks) operand(o tensor, role nest.Kind) walked {
	l, err := o.Layout()
	if err != nil && w.err == nil {
		w.err = err
	}
	return walked{access.Value{Layout: l, DType: standIn(o.Tensor), Kind: role}, o.at}
}

// standIn is the dtype, or where package layouts does not know it, one of its size.
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

// result says what is the result that the last pattern has not.
func (w *walks) result(y *walked) {
	if last := len(w.from) - 1; y != nil {
		w.from[last], w.results[last] = append(w.from[last], y.at), y
	}
}

// asTheyLie goes over each of these once, in the order of its strides.
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

// expandedOnce is an operand with one element for what an expanded dim repeats.
func expandedOnce(o operators.Tensor) operators.Tensor {
	o.Shape = slices.Clone(o.Shape)
	for d := range o.Shape {
		if d < len(o.Strides) && o.Strides[d] == 0 && o.Shape[d] > 1 {
			o.Shape[d] = 1
		}
	}
	return o
}

// fresh is a contiguous tensor that the operator makes.
func fresh(shape []int, dtype string) tensor {
	return tensor{operators.Fresh(shape, dtype), inside}
}

func isChannelsLast(o operators.Tensor) bool {
	l, err := o.Layout()
	return err == nil && (l.IsChannelsLast() || l.IsChannelsLast3d())
}

func product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

// broadcasts reports whether a shape broadcasts to another.
func broadcasts(from, to []int) bool {
	l, err := layouts.Contiguous(from...)
	if err == nil {
		_, err = l.Expand(to...)
	}
	return err == nil
}

// shapeOf is that to which tensors broadcast; one that does not is left out.
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

// reorder lowers a reorder of oneDNN's: every element once, in the order of what is
// written, one walk for each part that its blocks make.
func reorder(op operators.Operator) (lowered, error) {
	if len(op.Inputs) != 1 || len(op.Outputs) != 1 {
		return lowered{}, errors.New("a blocked format needs one source and one destination")
	}
	var places []layouts.Blocked
	for _, o := range []operators.Tensor{op.Outputs[0], op.Inputs[0]} {
		tag, err := layouts.ParseTag(o.Format)
		var b layouts.Blocked
		if err == nil {
			b, err = tag.Layout(o.Shape...)
		}
		if err != nil {
			return lowered{}, fmt.Errorf("format %s: %w", o.Format, err)
		}
		places = append(places, b)
	}
	pieces, err := layouts.Pieces(places...)
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
	l.twins = nil // which would be no reorder
	return l, nil
}
