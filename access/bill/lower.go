package bill

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
// outputs of its operator; -1 of one that the operator has inside.
type tensor struct {
	operators.Operand
	at int
}

// lowered is how an operator goes through memory: patterns one after the other.
type lowered struct {
	specs []access.Spec
	// from are, for each operand of each pattern, the tensor's number. A pattern whose
	// result is as PyTorch allocates it has one more.
	from [][]int
	// twins are what the same would be with contiguous operands; nil where a copy
	// would not be.
	twins []access.Spec
	// once are the copies that would make its strided operands contiguous beforehand.
	once []access.Spec
	// forLayout: a copy that changes nothing but the layout.
	forLayout   bool
	besides     besides // of the patterns; besidesTwin of the twins
	besidesTwin besides
	// unsaid: what is written is not in the patterns, since the profile does not have the result and nothing says what it is.
	unsaid bool
}

// calls names the operators that call some that copy, or reduce, or fill: what they copy, reduce and fill inside is in
// the profile.
type calls struct{ copies, reductions, fills map[string]bool }

// errUnnamed is of what takes, or puts, what a list of tensors names that a Kineto trace does not have: PyTorch's profiler
// leaves out lists in which there may be no tensor, None.
var errUnnamed = errors.New("the profile lacks its index or mask (scripts/capture records it)")

// unnamed reports whether an operator is one of these.
func unnamed(op operators.Operator) bool {
	w := walksOf(op)
	besides, takes := map[string]int{"index": 1, "_unsafe_index": 1, "index_put": 2, "_unsafe_index_put": 2, "_index_put_impl": 2}[strings.TrimSuffix(w.name(), "_")]
	return takes && len(op.Inputs) > 0 && len(op.Inputs) <= besides && !slices.ContainsFunc(op.Inputs, func(o operators.Operand) bool { return o.InList })
}

// lower says how PyTorch 1.13 walks an operator's operands. It errs where that is
// not known: of an operator of which nobody knows what it touches, and of a dtype
// whose size is not known.
func lower(op operators.Operator, inside calls) (lowered, error) {
	for _, o := range slices.Concat(op.Inputs, op.Outputs) {
		if o.ItemSize() == 0 {
			return lowered{}, fmt.Errorf("the size of dtype %s is unknown", o.DType)
		}
	}
	if op.Class == operators.Unknown {
		return lowered{}, errors.New("which elements it accesses is unknown")
	}
	if slices.ContainsFunc(slices.Concat(op.Inputs, op.Outputs), func(o operators.Operand) bool { return o.Format != "" }) {
		return reorder(op)
	}
	if unnamed(op) {
		return lowered{}, errUnnamed
	}
	w := walksOf(op)
	w.filled, w.copied = inside.fills[op.Op], inside.copies[op.Op]
	w.addResults()
	if w.walk(inside.copies[op.Op], inside.reductions[op.Op]); w.err != nil {
		return lowered{}, w.err
	}
	if w.specs == nil {
		return lowered{}, errors.New("the profile has none of its tensors")
	}
	l := lowered{specs: w.specs, from: w.from, forLayout: w.forLayout, besides: w.besides, besidesTwin: w.besidesTwin}
	l.unsaid = w.unsaid()
	if op.Class == operators.Product && !slices.Contains(ofVectors, w.name()) { // which takes operands as they are
		l.twins = w.specs[w.inner:]
		return l, nil
	}
	if op.Class != operators.Copy {
		l.once = onceOf(op)
	}
	for i, s := range w.specs[w.inner:] {
		twin, known := w.twins[w.inner+i]
		if !known {
			var err error
			if twin, err = s.Contiguous(); err != nil {
				return lowered{}, err
			}
		}
		l.twins = append(l.twins, twin)
	}
	return l, nil
}

// walk collects the patterns by the operator's class. What it copies or reduces inside
// (copied, reduced) is in the profile and not walked again.
func (w *walks) walk(copied, reduced bool) {
	switch w.op.Class {
	case operators.Copy:
		w.copies()
	case operators.Elementwise:
		w.elementwise(copied)
		if !reduced {
			w.reduceLosses()
		}
	case operators.Reduction:
		w.reduction(copied)
	case operators.Rows:
		switch name := strings.TrimSuffix(w.name(), "_"); {
		case slices.Contains(scans, name):
			w.elementwise(copied)
		case slices.Contains(strided, name):
			w.asTheyLie(w.all)
		case name == "nonzero" && len(w.op.Inputs) > 0: // which counts first (nonzero_out_cpu in TensorAdvancedIndexing.cpp)
			w.asTheyLie(slices.Concat(w.all[:1], w.all))
		case slices.Contains(batchNorms, name) && w.batchNorm():
		default:
			w.rows(copied)
		}
	case operators.Gather:
		w.gather(copied)
	default: // a product: each operand as it lies
		w.product(copied)
	}
}

// onceOf are copies of the operands that are read and not contiguous.
func onceOf(op operators.Operator) []access.Spec {
	w := walksOf(op)
	for _, o := range w.inputs() {
		if o.Role == operators.Input && !slices.Contains(op.Again, o.at) && !contiguous(o.Operand) {
			w.add(access.Copy, nil, w.operand(dense(o, operators.Output), access.Output), w.operand(o, access.Input))
		}
	}
	return w.specs
}

// walks collects the patterns of an operator.
type walks struct {
	op          operators.Operator
	all         []tensor // its operands
	specs       []access.Spec
	from        [][]int
	inner       int // of these, how many at the start are copies inside that contiguous operands would spare
	forLayout   bool
	copied      bool // it calls what copies, and is in the profile itself,
	filled      bool // or what fills
	besides     besides
	besidesTwin besides
	twins       map[int]access.Spec // of patterns that are not as they look with contiguous operands
	err         error
}

func walksOf(op operators.Operator) walks {
	w := walks{op: op}
	for i, o := range slices.Concat(op.Inputs, op.Outputs) {
		w.all = append(w.all, tensor{o, i})
	}
	return w
}

// returnNumbers are products and gathers that return a number, or one of each row, where they write nothing else.
var returnNumbers = []string{"dot", "vdot", "trace", "nll_loss_forward", "nll_loss2d_forward", "multi_margin_loss", "multilabel_margin_loss_forward"}

// unsaid reports whether a product, a gather, or a nonzero, whose result the profile does not have, writes nothing.
func (w *walks) unsaid() bool {
	if w.op.Class != operators.Product && w.op.Class != operators.Gather && w.name() != "nonzero" || len(w.op.Outputs) > 0 || slices.Contains(returnNumbers, w.name()) {
		return false
	}
	return !slices.ContainsFunc(w.specs, func(s access.Spec) bool { return s.Op != access.Sum })
}

// addResults adds the results that the profile has not.
func (w *walks) addResults() {
	results := resultsOf(w.op)
	w.op.Outputs = slices.Concat(w.op.Outputs, results)
	for _, o := range results {
		w.all = append(w.all, tensor{o, inside})
	}
}

// name is the operator's without PyTorch's prefix and its overload.
func (w *walks) name() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(w.op.Op, "aten::"), ".")
	return name
}

// inputs and outputs are the operands by where the profile has them.
func (w *walks) inputs() []tensor  { return w.all[:len(w.op.Inputs)] }
func (w *walks) outputs() []tensor { return w.all[len(w.op.Inputs):] }

// A walked is an operand of a pattern, with the tensor that it is.
type walked struct {
	access.Operand
	at int
}

// operand is a tensor of the profile as an operand of a pattern.
func (w *walks) operand(o tensor, role access.Role) walked {
	l, err := o.Layout()
	if err != nil && w.err == nil {
		w.err = err
	}
	return walked{access.Operand{Layout: l, DType: standIn(o.Operand), Role: role}, o.at}
}

// standIn is the dtype, or where package layouts does not know it, one of its size.
func standIn(o operators.Operand) layouts.DType {
	if d, err := layouts.ParseDType(o.DType); err == nil {
		return d
	}
	return map[int]layouts.DType{1: layouts.Uint8, 2: layouts.Float16, 4: layouts.Float32, 8: layouts.Float64, 16: layouts.Complex128}[o.ItemSize()]
}

func (w *walks) add(op access.Op, dims []int, operands ...walked) {
	s := access.Spec{Op: op, Order: access.Torch, Dims: dims}
	var from []int
	for _, o := range operands {
		s.Operands = append(s.Operands, o.Operand)
		from = append(from, o.at)
	}
	w.specs, w.from = append(w.specs, s), append(w.from, from)
}

// twin says what the last pattern would be with contiguous operands.
func (w *walks) twin(s access.Spec) {
	if w.twins == nil {
		w.twins = map[int]access.Spec{}
	}
	w.twins[len(w.specs)-1] = s
}

// result says which tensor is the result that the last pattern has not.
func (w *walks) result(at int) {
	last := len(w.from) - 1
	w.from[last] = append(w.from[last], at)
}

// asTheyLie goes over each of these once, in the order of its strides.
func (w *walks) asTheyLie(all []tensor) {
	for _, o := range all {
		if o.Role != operators.Output {
			w.add(access.Sum, nil, w.operand(o, access.Input))
		}
		if o.Role != operators.Input {
			w.add(access.Fill, nil, w.operand(expandedOnce(o), access.Output))
		}
	}
}

// expandedOnce is an operand with one element for what an expanded dim repeats.
func expandedOnce(o tensor) tensor {
	o.Shape = slices.Clone(o.Shape)
	for d := range o.Shape {
		if d < len(o.Strides) && o.Strides[d] == 0 && o.Shape[d] > 1 {
			o.Shape[d] = 1
		}
	}
	return o
}

// dense is a contiguous tensor of a shape.
func dense(like tensor, role operators.Role) tensor {
	o := tensor{operators.Operand{Shape: like.Shape, DType: like.DType, Role: role, Strides: make([]int, len(like.Shape))}, inside}
	step := 1
	for d := len(o.Shape) - 1; d >= 0; d-- {
		o.Strides[d] = step
		step *= max(o.Shape[d], 1)
	}
	return o
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
	if len(from) > len(to) {
		return false
	}
	for i := range from {
		if n := from[len(from)-1-i]; n != 1 && n != to[len(to)-1-i] {
			return false
		}
	}
	return true
}

// scans go along a dim of tensors of any strides, and return as many elements (a sort in place of a copy that lies as what it is
// of, if that fills its memory), and strided take such too and return less: neither copies to what is contiguous
// (ReduceOps.cpp, Sorting.cpp, SpectralOps.cpp).
var (
	scans   = []string{"cumsum", "cumprod", "cummax", "cummin", "_cummax_helper", "_cummin_helper", "logcumsumexp", "_logcumsumexp", "sort"}
	strided = []string{"topk", "kthvalue", "_fft_r2c", "_fft_c2r", "_fft_c2c"}
)

// ofVectors are products that compute no more than they read: of what lies apart they read more lines.
var ofVectors = []string{"mv", "dot", "vdot"}

// product goes over each operand as it lies. A convolution copies an input that is neither contiguous nor
// channels_last, by a copy that the profile has or, if it has none, by one inside (Convolution.cpp).
func (w *walks) product(copied bool) {
	all := slices.Clone(w.all)
	if strings.Contains(w.name(), "convolution") && len(all) > 0 && all[0].Role == operators.Input {
		if l, err := all[0].Layout(); err == nil && !l.IsChannelsLast() && !l.IsChannelsLast3d() {
			all[0] = w.contiguous(all[0], copied)
		}
	}
	w.asTheyLie(all)
}

// fills lowers what makes a tensor as another is, or of its dtype (zeros_like, new_zeros), and reads nothing of it. It
// reports false of what is none.
func (w *walks) fills() bool {
	name := w.name()
	if like := strings.HasSuffix(name, "_like"); !like && !strings.HasPrefix(name, "new_") || len(w.op.Inputs) == 0 || w.op.Inputs[0].Role != operators.Input {
		return false
	} else if like && len(w.op.Outputs) == 0 {
		w.add(access.Fill, nil, w.operand(dense(w.all[0], operators.Output), access.Output))
	}
	w.asTheyLie(w.outputs())
	return true
}

// lists lowers an operator on lists (_foreach_add) as one on the first of each, the second, and so on. It reports
// false of what has no lists of the same shapes, and of a list alone that is not written in place.
func (w *walks) lists() bool {
	var lists [][]tensor
	for _, o := range w.inputs() {
		if !o.InList {
			continue
		}
		if n := len(lists); n == 0 || lists[n-1][0].Argument != o.Argument {
			lists = append(lists, nil)
		}
		lists[len(lists)-1] = append(lists[len(lists)-1], o)
	}
	if len(lists) == 0 || len(lists) == 1 && lists[0][0].Role != operators.InPlace || !strings.HasPrefix(w.name(), "_foreach_") {
		return false
	}
	for _, list := range lists {
		if !slices.EqualFunc(list, lists[0], func(o, first tensor) bool {
			return slices.Equal(o.Shape, first.Shape) && (o.Role == operators.Input || !slices.Contains(o.Strides, 0))
		}) {
			return false
		}
	}
	for i := range lists[0] {
		var operands []walked
		written := false
		for _, list := range lists {
			o := list[i]
			role := access.Input
			switch o.Role {
			case operators.InPlace:
				role, written = access.InPlace, true
			case operators.Output:
				role, written = access.Output, true
			}
			operands = append(operands, w.operand(o, role))
		}
		w.add(access.Add, nil, operands...)
		if !written {
			w.result(inside)
		}
	}
	return true
}

// elementwise lowers an operator that computes each element of its first result
// from those at its place; other operands are gone over as they lie.
func (w *walks) elementwise(copied bool) {
	if w.fills() || w.lists() || !copied && w.maskedFill() {
		return
	}
	var operands []walked
	var rest []tensor
	shape := w.shape()
	written, result := false, inside
	for _, o := range w.inputs() {
		whole := slices.Equal(o.Shape, shape)
		switch {
		case slices.Contains(w.op.Again, o.at): // is there
		case o.InList || !broadcasts(o.Shape, shape) || len(operands) == maxOperands,
			o.Role != operators.Input && (written || !whole || slices.Contains(o.Strides, 0)):
			rest = append(rest, o)
		case o.Role == operators.Input:
			operands = append(operands, w.operand(w.promoted(o, copied), access.Input))
		default:
			written = true
			operands = append(operands, w.operand(o, map[operators.Role]access.Role{operators.Output: access.Output, operators.InPlace: access.InPlace}[o.Role]))
		}
	}
	for _, o := range w.outputs() {
		// A result is as TensorIterator allocates it unless its type is another, or the profile says that it lies
		// otherwise (prelu's, tril's).
		if !written && slices.Equal(o.Shape, shape) && !slices.Contains(o.Strides, 0) {
			written = true
			if len(operands) > 0 && operands[0].DType == standIn(o.Operand) && allocated(o, operands) {
				result = o.at
				continue
			}
			operands = append(operands, w.operand(o, access.Output))
			continue
		}
		rest = append(rest, o)
	}
	reads := slices.ContainsFunc(operands, func(o walked) bool { return o.Role != access.Output })
	switch {
	case reads:
		w.add(access.Add, nil, operands...)
		if result != inside || !written {
			w.result(result)
		}
	case len(operands) == 1:
		w.add(access.Fill, nil, operands...)
	}
	w.asTheyLie(rest)
}

// maskedFill lowers a masked_fill that is not in place: a row-major copy, which is then filled in place
// (TensorAdvancedIndexing.cpp). It reports false of what is none.
func (w *walks) maskedFill() bool {
	inputs, outputs := w.inputs(), w.outputs()
	if w.name() != "masked_fill" || len(inputs) < 2 {
		return false
	}
	y := dense(tensor{operators.Operand{Shape: w.shape(), DType: inputs[0].DType}, inside}, operators.Output)
	if len(outputs) > 0 && slices.Equal(outputs[0].Shape, y.Shape) {
		y, outputs = outputs[0], outputs[1:]
	}
	if !broadcasts(inputs[0].Shape, y.Shape) || !broadcasts(inputs[1].Shape, y.Shape) {
		return false
	}
	w.add(access.Copy, nil, w.operand(y, access.Output), w.operand(inputs[0], access.Input))
	w.add(access.Add, nil, w.operand(y, access.InPlace), w.operand(inputs[1], access.Input))
	w.asTheyLie(slices.Concat(inputs[2:], outputs))
	return true
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

// losses compute a loss for each element into memory of their own, and return a sum, or a mean, of it.
var losses = []string{"mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "dist"}

// reduceLosses adds the pass over what a loss computed for each element, unless that is what it returns.
func (w *walks) reduceLosses() {
	outputs := w.outputs()
	if !slices.Contains(losses, w.name()) || len(outputs) == 0 || len(w.specs) == 0 {
		return
	}
	each := tensor{operators.Operand{Shape: w.specs[0].Operands[0].Layout.Shape(), DType: outputs[0].DType}, inside}
	if product(outputs[0].Shape) != 1 || slices.Equal(outputs[0].Shape, each.Shape) {
		return
	}
	dims := nest.UpTo(len(each.Shape))
	w.add(access.Sum, dims, w.operand(dense(each, operators.Input), access.Input), w.operand(outputs[0], access.Output))
}

// shape is what the operands that are no lists have together; that of the first
// where they do not broadcast.
func (w *walks) shape() []int {
	var shape []int
	for _, o := range slices.Concat(w.op.Inputs, w.op.Outputs) {
		if o.InList {
			continue
		}
		if broadcasts(shape, o.Shape) {
			shape = o.Shape
			continue
		}
		if broadcasts(o.Shape, shape) {
			continue
		}
		wide := slices.Clone(shape)
		for len(wide) < len(o.Shape) {
			wide = slices.Insert(wide, 0, 1)
		}
		for i := range o.Shape {
			if at := len(wide) - 1 - i; wide[at] == 1 {
				wide[at] = o.Shape[len(o.Shape)-1-i]
			}
		}
		if broadcasts(shape, wide) && broadcasts(o.Shape, wide) {
			shape = wide
		}
	}
	return shape
}

// reduction lowers one of which the dims are known, and else what it reads and
// writes as it lies.
func (w *walks) reduction(copied bool) {
	dims, known := w.op.Dims()
	if !known || len(w.op.Inputs) == 0 {
		w.asTheyLie(w.all)
		return
	}
	first := w.converted(w.all[0], w.summed(), copied)
	// Of all elements these go over what is contiguous, or a copy (ReduceAllOps.cpp, ReduceOps.cpp).
	if len(dims) == len(first.Shape) && slices.Contains([]string{"max", "min", "argmax", "argmin", "aminmax"}, w.name()) {
		first = w.contiguous(first, copied)
	}
	x := w.operand(first, access.Input)
	shape := []int{}
	for d, n := range w.op.Inputs[0].Shape {
		if !slices.Contains(dims, d) {
			shape = append(shape, n)
		}
	}
	y := dense(tensor{operators.Operand{Shape: shape, DType: first.DType}, inside}, operators.Output)
	if outputs := w.outputs(); len(outputs) > 0 {
		y.at = outputs[0].at
	}
	w.add(access.Sum, dims, x, w.operand(y, access.Output))
	w.asTheyLie(w.inputs()[1:])
	switch outputs := w.outputs(); {
	case len(outputs) > 1:
		w.asTheyLie(outputs[1:])
	case len(outputs) == 0 && len(dims) < x.Layout.Rank() && slices.Contains([]string{"max", "min", "median", "mode", "nanmedian"}, w.name()):
		y.DType = "int64" // where they are
		w.asTheyLie([]tensor{y})
	}
}

// rows lowers a softmax, a layer_norm and their like, which want contiguous
// operands, or channels_last ones: what is not is copied first, by a copy that the profile has or, if
// it has none, by one inside. Then one pass.
func (w *walks) rows(copied bool) {
	var first, rest []tensor
	for i, o := range w.inputs() {
		if !o.InList && o.Role == operators.Input && len(first) < maxOperands && (i == 0 || slices.Equal(o.Shape, w.op.Inputs[0].Shape)) {
			first = append(first, o)
			continue
		}
		rest = append(rest, o)
	}
	var operands []walked
	for _, o := range first {
		fresh := dense(o, operators.Output)
		if l, err := o.Layout(); err == nil && !l.IsContiguous() && !(w.op.TakesChannelsLast() && (l.IsChannelsLast() || l.IsChannelsLast3d())) {
			if !copied {
				w.add(access.Copy, nil, w.operand(fresh, access.Output), w.operand(o, access.Input))
			}
			o = fresh
		}
		operands = append(operands, w.operand(o, access.Input))
	}
	w.inner = len(w.specs)
	outputs := w.outputs()
	if len(operands) > 0 {
		w.add(access.Add, nil, operands...)
		if len(outputs) > 0 && slices.Equal(outputs[0].Shape, first[0].Shape) {
			w.result(outputs[0].at)
			outputs = outputs[1:]
		}
	}
	w.asTheyLie(slices.Concat(rest, outputs))
}

// batchNorms go over their input as it lies.
var batchNorms = []string{"native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training"}

// batchNorm lowers one of them: in training a mean and a variance of each channel, and then each element, into a result that is
// contiguous or channels_last (batch_norm_cpu_update_stats_template and batch_norm_cpu_transform_input_template in
// Normalization.cpp). It reports false of what has no channels.
func (w *walks) batchNorm() bool {
	inputs, outputs := w.inputs(), w.outputs()
	if len(inputs) == 0 || len(inputs[0].Shape) < 2 {
		return false
	}
	x, y := inputs[0], dense(inputs[0], operators.Output)
	if isChannelsLast(x) {
		y.Strides = x.Strides
	}
	if len(outputs) > 0 && slices.Equal(outputs[0].Shape, x.Shape) {
		y, outputs = outputs[0], outputs[1:]
	}
	each := dense(tensor{operators.Operand{Shape: x.Shape[1:2], DType: x.DType}, inside}, operators.Output) // by channel
	if w.op.Trains() && isChannelsLast(x) {
		// A row of channels after the other, twice (batch_norm_kernel.cpp).
		w.asTheyLie([]tensor{x, x})
		w.asTheyLie([]tensor{each, each})
	} else if w.op.Trains() {
		dims := []int{0}
		for d := range x.Shape[2:] {
			dims = append(dims, 2+d)
		}
		for range 2 {
			w.add(access.Sum, dims, w.operand(x, access.Input), w.operand(each, access.Output))
		}
	}
	operands := []walked{w.operand(x, access.Input), w.operand(y, access.Output)}
	if !contiguous(x.Operand) && !isChannelsLast(x) { // as an elementwise operator of five operands
		each.Shape = slices.Concat(each.Shape, slices.Repeat([]int{1}, len(x.Shape)-2))
		for range 4 {
			operands = append(operands, w.operand(dense(each, operators.Input), access.Input))
		}
	}
	w.add(access.Add, nil, operands...)
	if isChannelsLast(x) { // which it takes as it takes contiguous ones
		w.twins = map[int]access.Spec{}
		for i, s := range w.specs {
			w.twins[i] = s
		}
	}
	w.asTheyLie(slices.Concat(inputs[1:], outputs))
	return true
}

// reorder lowers a reorder of oneDNN's: every element once, in the order of what is
// written, one walk for each part that its blocks make.
func reorder(op operators.Operator) (lowered, error) {
	if len(op.Inputs) != 1 || len(op.Outputs) != 1 {
		return lowered{}, errors.New("a blocked format needs one source and one destination")
	}
	var places []layouts.Blocked
	for _, o := range []operators.Operand{op.Outputs[0], op.Inputs[0]} {
		tag, err := layouts.ParseTag(o.Format)
		if err != nil {
			return lowered{}, fmt.Errorf("format %s: %w", o.Format, err)
		}
		b, err := tag.Layout(o.Shape...)
		if err != nil {
			return lowered{}, fmt.Errorf("format %s: %w", o.Format, err)
		}
		places = append(places, b)
	}
	pieces, err := layouts.Pieces(places...)
	if err != nil {
		return lowered{}, err
	}
	w := walks{op: op}
	for _, piece := range pieces {
		w.add(access.Copy, nil, walked{access.Operand{Layout: piece[0], DType: standIn(op.Outputs[0]), Role: access.Output}, 1},
			walked{access.Operand{Layout: piece[1], DType: standIn(op.Inputs[0]), Role: access.Input}, 0})
	}
	return lowered{specs: w.specs, from: w.from, forLayout: op.Inputs[0].DType == op.Outputs[0].DType}, nil
}
