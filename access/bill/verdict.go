package bill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts/nest"
)

// The verdicts, but for that with a number in it and those on what is not priced.
const (
	freeView     = "free view"
	noMemory     = "accesses no memory"
	asCallees    = "counted as the operators that it calls"
	nothing      = "nothing to gain"
	channelsLast = "keep all of its tensors in channels_last"
	pixelsLast   = "keep the convolution before it in channels_last: its pixels, flattened, are then contiguous"
	produce      = "produce this tensor in the order needed here"
	produceAlike = "produce its operands in the same order"
	takesAsItIs  = "a product reads these strides directly"
	byCaller     = "the calling function creates this order itself"
	byBackward   = "the backward pass creates this row-major gradient itself"
	byMaker      = "attention and recurrent nets return this order, with or without batch_first"
	byCallerOr   = "the calling function creates this order itself, or receives it"
	givenTurned  = "leave out batch_first, and store sequences before batches"
	byMatmul     = "matmul copies unevenly spaced batches (scaled_dot_product_attention does not)"
	ofProduct    = "matrix products return row-major results: leave this copy out if its reader accepts strides"
	ofProductFor = "matrix products return row-major results, which the caller has to copy"
	ofForward    = "its order follows from the forward pass: change it there"
	ofSum        = "the gradient of a sum, a mean or an expand is expanded: no layout avoids this copy"
	ofMaker      = "attention or a recurrent net chose this order in the forward pass"
	ofEither     = "its order follows from the forward pass: change it there, unless attention or a recurrent net chose it"
	overlaps     = "no layout avoids this copy: its elements overlap"
	overlapped   = "only a copy puts overlapping elements in this order"
	maskOfRows   = "dropout's mask is always row-major"
	likeMask     = "give dropout a contiguous input: its mask is contiguous"
)

// onceBefore is the verdict on a layout that is read so many times.
func onceBefore(uses int) string {
	return fmt.Sprintf("call contiguous() once: %d uses of this layout follow", uses)
}

// alongLast is the verdict on a softmax along a dim of what is contiguous once that is the last one: it is not copied then
// (softmax_cpu in SoftMax.cpp), and rows are faster gone along.
func alongLast(dim int, certain bool) string {
	text := fmt.Sprintf("use the last dim of movedim(%d, -1), which is contiguous", dim)
	if !certain {
		return fmt.Sprintf("if the softmax is along dim %d: %s", dim, text)
	}
	return text
}

// classesLast is that verdict where a cross_entropy calls the softmax, whose classes are the second dim.
const classesLast = "give cross_entropy movedim(1, -1).flatten(0, -2), which is contiguous, and flattened targets"

// keepCopy is the verdict on a copy of what so many others read as it lies.
func keepCopy(others int) string {
	if others == 1 {
		return "reuse this copy for the other use of its source"
	}
	return fmt.Sprintf("reuse this copy for the %d other uses of its source", others)
}

// A use is what a profile tells of the tensors of an operator whose layout costs.
type use struct {
	reads    int     // of a tensor in its layout, by operators for which it costs
	others   int     // of these, by such as are no copies for the layout
	products bool    // of a copy: products alone read what it wrote, and could read what it copies
	within   bool    // the function of torch that calls it makes what is read in that layout
	given    bool    // that function gets it with its first two dims swapped
	chosen   bool    // of a gradient: a function of torch made what is read in that layout in the forward pass
	either   bool    // of a gradient: such functions are called in the forward pass
	product  bool    // of a copy: matrix products wrote what it reads
	nowhere  bool    // the profile does not say where tensors lie
	pixels   bool    // what is read are the pixels of row-major images that a convolution returned
	returned bool    // functions of torch that it is not in made what is read in that layout
	itself   bool    // of a gradient: the backward pass made what is row-major of it
	once     float64 // ns of making the operands contiguous beforehand
}

// verdict says what to do about an operator, and how many uses it counts on.
func verdict(i *Item, u use) (string, int) {
	switch i.Class {
	case operators.View:
		return freeView, 0
	case operators.None:
		return noMemory, 0
	case operators.Wrapper:
		return asCallees, 0
	case operators.Unknown:
		return "unknown operator: its calls and bytes are counted, its time is not", 0
	}
	switch {
	case i.Predicted == nil:
		return "not priced: " + i.Problem, 0
	case i.Class == operators.Product && i.Layout == 0 && i.strided():
		return takesAsItIs, 0
	case i.Layout == 0:
		return nothing, 0
	case calledBy(i.Operator, "dropout") != "" && i.mixesChannelsLast():
		return maskOfRows, 0
	case i.Backward && u.itself && i.mixesChannelsLast():
		return byBackward, 0
	case i.keepsChannelsLast(), i.mixesChannelsLast():
		return channelsLast, 0
	case i.Backward:
		return ofGradient(i, u), 0
	case i.Class == operators.Copy && u.products:
		return takesAsItIs, 0
	case u.within:
		return byCaller, 0
	case u.given && i.lowered.forLayout:
		return givenTurned, 0
	case u.nowhere && i.lowered.forLayout && calledBy(i.Operator, makers...) != "":
		return byCallerOr, 0
	case i.lowered.forLayout && calledBy(i.Operator, "matmul", "__matmul__", "linalg_matmul") != "" && !evenBatches(source(i.Operator)):
		return byMatmul, 0
	case u.returned && (!i.lowered.forLayout || i.within()) && (i.Class != operators.Product || u.reads < 2):
		return byMaker, 0
	case u.others > 0 && u.reads == u.others+1 && i.lowered.forLayout:
		return keepCopy(u.others), u.reads
	case u.reads > 1 && float64(u.reads)*i.Layout/float64(i.Calls) > u.once:
		return onceBefore(u.reads), u.reads
	case calledBy(i.Operator, "dropout") != "":
		return likeMask, 0
	case i.lowered.forLayout && repeats(source(i.Operator)):
		return overlaps, 0
	case i.lowered.forLayout && u.product && i.within():
		return ofProductFor, 0
	case i.lowered.forLayout && u.product:
		return ofProduct, 0
	}
	if u.pixels {
		return pixelsLast, 0
	}
	dim, certain, ok := i.softmaxAlong()
	switch entropy := calledBy(i.Operator, "cross_entropy", "cross_entropy_loss") != ""; {
	case ok && entropy && dim == 1:
		return classesLast, 0
	case ok && !entropy:
		return alongLast(dim, certain), 0
	}
	return produceOf(i), 0
}

// ofGradient is the verdict on a layout of the backward pass.
func ofGradient(i *Item, u use) string {
	switch {
	case i.strided() && !slices.ContainsFunc(i.Inputs, func(o operators.Operand) bool {
		return o.Role != operators.Output && !contiguous(o) && !slices.Contains(o.Strides, 0)
	}):
		return ofSum
	case u.chosen:
		return ofMaker
	case u.either:
		return ofEither
	}
	return ofForward
}

// produceOf is the verdict that says which of several operands is to be produced in another order.
func produceOf(i *Item) string {
	several := 0
	for n, o := range i.Inputs {
		if i.reads(n, o) {
			several++
		}
	}
	strided := i.stridedOperands()
	if len(strided) > 1 { // those that lack the inner dim of the others
		inner := func(o operators.Operand) bool { return o.Strides[len(o.Strides)-1] == 1 }
		if apart := slices.DeleteFunc(slices.Clone(strided), inner); len(apart) == 1 {
			strided = apart
		}
	}
	switch {
	case len(strided) > 0 && !slices.ContainsFunc(strided, func(o operators.Operand) bool { return !repeats(o) }):
		return overlapped
	case i.Class == operators.Copy && i.lowered.forLayout || several < 2 || len(strided) == 0:
		return produce
	case len(strided) == 1:
		return fmt.Sprintf("produce %s contiguous", tensorText(strided[0]))
	}
	return produceAlike
}

// reads reports whether input number n is a matrix, or more, that is read and no other input.
func (i *Item) reads(n int, o operators.Operand) bool {
	return o.Role != operators.Output && len(o.Shape) > 1 && product(o.Shape) > 1 && !slices.Contains(i.Again, n)
}

// stridedOperands are those that are read and not contiguous, and not expanded if there are others.
func (i *Item) stridedOperands() (strided []operators.Operand) {
	for n, o := range i.Inputs {
		if i.reads(n, o) && !contiguous(o) {
			strided = append(strided, o)
		}
	}
	if alone := slices.DeleteFunc(slices.Clone(strided), func(o operators.Operand) bool { return slices.Contains(o.Strides, 0) }); len(alone) > 0 {
		return alone
	}
	return strided
}

// softmaxAlong is the dim along which an operator takes a softmax of what it copies, or along which, of a copy, what calls it may
// take one, which is not certain; if what is copied is contiguous with this dim last.
func (i *Item) softmaxAlong() (dim int, certain, ok bool) {
	x := source(i.Operator)
	w := walksOf(i.Operator)
	switch {
	case slices.Contains(softmaxes, w.name()):
		dims, known := i.Dims()
		if !known || len(dims) != 1 {
			return 0, false, false
		}
		dim, certain = dims[0], true
	case i.lowered.forLayout && calledBy(i.Operator, softmaxes...) != "":
		if dim = slices.Index(x.Strides, 1); slices.Index(x.Strides[dim+1:], 1) >= 0 {
			return 0, false, false
		}
	default:
		return 0, false, false
	}
	l, err := x.Layout()
	if err != nil || dim < 0 || dim >= l.Rank()-1 {
		return 0, false, false
	}
	l, err = l.Permute(append(slices.Delete(nest.UpTo(l.Rank()), dim, dim+1), dim)...)
	return dim, certain, err == nil && l.IsContiguous()
}

// softmaxes copy what is not contiguous and go along one dim.
var softmaxes = []string{"_softmax", "_log_softmax"}

// evenBatches reports whether the dims of batches of matrices are as one, so that nothing is copied to make one of them.
func evenBatches(o operators.Operand) bool {
	rank := len(o.Shape)
	if rank < 4 {
		return true
	}
	l, err := o.Layout()
	if err != nil {
		return true
	}
	_, err = l.View(product(o.Shape[:rank-2]), o.Shape[rank-2], o.Shape[rank-1])
	return err == nil
}

// repeats reports whether an operand has more elements than the memory that it spans, as windows that overlap have.
func repeats(o operators.Operand) bool {
	return len(o.Strides) == len(o.Shape) && product(o.Shape) > reach(o.Shape, o.Strides)
}

// calledBy is the first function or operator of these names, without what stands before a dot or a colon, that all callers of
// an operator were called by; "" if there is none.
func calledBy(op operators.Operator, names ...string) (found string) {
	for n, c := range op.Callers {
		chain := strings.Split(c.Chain, " > ")
		at := slices.IndexFunc(chain, func(name string) bool {
			return slices.Contains(names, name[strings.LastIndexAny(name, ".:")+1:])
		})
		if at < 0 || n > 0 && chain[at] != found {
			return ""
		}
		found = chain[at]
	}
	return found
}

// makers are functions of torch that make tensors in a layout of their own and read them again.
var makers = []string{"multi_head_attention_forward", "scaled_dot_product_attention", "lstm", "gru", "rnn_tanh", "rnn_relu"}

// turned reports whether an operand is of a batch of sequences whose first two dims are swapped in memory.
func turned(o operators.Operand) bool {
	l, err := o.Layout()
	if err != nil || l.Rank() != 3 || l.IsContiguous() {
		return false
	}
	l, err = l.Transpose(0, 1)
	return err == nil && l.IsContiguous()
}

// sequences reports whether an operand has the channels of a batch of sequences, its second dim, innermost in memory.
func sequences(o operators.Operand) bool {
	return len(o.Shape) == 3 && o.Strides[1] == 1 && !contiguous(o)
}

// matrixProducts return what is row-major, whatever their operands are.
var matrixProducts = []string{"mm", "addmm", "_addmm_activation", "bmm", "baddbmm"}

// strided reports whether an operand that is read is not contiguous.
func (i *Item) strided() bool {
	return slices.ContainsFunc(i.Inputs, func(o operators.Operand) bool {
		l, err := o.Layout()
		return err == nil && o.Role != operators.Output && !l.IsContiguous()
	})
}

// mixesChannelsLast reports whether some of the operands are channels_last and others, of as many dims, row-major, so that one
// format could be kept. Of what is no plain copy it goes by what is read: one that gets channels_last alone and returns what
// is row-major does so whatever it gets, as do pads, gathers, losses, softmax, and scans and norms that take no channels_last.
func (i *Item) mixesChannelsLast() bool {
	w := walksOf(i.Operator)
	copies := slices.Contains(blocked, strings.TrimSuffix(w.name(), "_"))
	if i.Class == operators.Gather || i.Class == operators.Rows && !i.TakesChannelsLast() || copies && i.within() {
		return false
	}
	last, rows := false, false
	for _, o := range w.all {
		l, err := o.Layout()
		if err != nil || l.Rank() != 4 && l.Rank() != 5 || o.Role == operators.Output && !copies {
			continue
		}
		last = last || !l.IsContiguous() && (l.IsChannelsLast() || l.IsChannelsLast3d())
		rows = rows || rowMajor(o.Operand)
	}
	return last && rows
}

// rowMajor reports whether an operand is one of images that are row-major and not channels_last.
func rowMajor(o operators.Operand) bool {
	l, err := o.Layout()
	return err == nil && (l.Rank() == 4 || l.Rank() == 5) && l.IsContiguous() && !l.IsChannelsLast() && !l.IsChannelsLast3d()
}

// asks are the last parts of the names of what a program asks for a copy by, and could leave out; or of what says nothing of it.
var asks = []string{"contiguous", "clone", "to", "_to_copy", "copy_", "backward"}

// within reports whether a copy to what is row-major is made within others alone that want it so, as a reshape or an instance_norm.
func (i *Item) within() bool {
	for _, c := range i.Callers {
		if !slices.ContainsFunc(strings.Split(c.Chain, " > "), func(name string) bool {
			return !slices.Contains(asks, name[strings.LastIndexAny(name, ".:")+1:])
		}) {
			return false
		}
	}
	return len(i.Callers) > 0 && !slices.ContainsFunc(slices.Concat(i.Inputs, i.Outputs), func(o operators.Operand) bool {
		return o.Role != operators.Input && !contiguous(o)
	})
}

// keepsChannelsLast reports whether an operator gets channels_last alone and returns it, as a cat of channels, also where a
// profile does not have its result, or a mean or another reduction of it: one that costs a little more so is no reason to leave the format, which products want.
func (i *Item) keepsChannelsLast() bool {
	unsaid := len(i.Outputs) == 0 && strings.HasPrefix(i.Op, "aten::cat") || i.Class == operators.Reduction
	returns := false
	for _, o := range slices.Concat(i.Inputs, i.Outputs) {
		l, err := o.Layout()
		if err != nil || l.Rank() != 4 && l.Rank() != 5 {
			continue
		}
		if !l.IsChannelsLast() && !l.IsChannelsLast3d() {
			return false
		}
		returns = returns || (o.Role != operators.Input || unsaid && l.Rank() == 4) && !l.IsContiguous()
	}
	return returns
}

// takes reports whether a product that reads an operand of a copy could read it of what is copied, as it lies: the same
// matrix, or batch of them, is a view of that, of which rows or columns are contiguous, as BLAS takes them.
func takes(read, copied operators.Operand) bool {
	from, err := copied.Layout()
	to, wrong := read.Layout()
	if err != nil || wrong != nil || to.Rank() < 2 || to.Rank() > 3 {
		return false
	}
	if !to.IsContiguous() { // it is read transposed
		if to, err = to.Transpose(-2, -1); err != nil || !to.IsContiguous() {
			return false
		}
	}
	if from, err = from.View(to.Shape()...); err != nil {
		return false
	}
	rows, cols := from.Stride(from.Rank()-2), from.Stride(from.Rank()-1)
	return rows == 1 && cols >= from.Size(from.Rank()-2) || cols == 1 && rows >= from.Size(from.Rank()-1)
}

// source is the first operand that is read alone.
func source(op operators.Operator) operators.Operand {
	for _, o := range op.Inputs {
		if o.Role == operators.Input {
			return o
		}
	}
	return operators.Operand{}
}

// uses tells how often tensors are read in a layout.
type uses struct {
	byOperator map[int]use     // of a profile that says where operands lie
	byLayout   map[string]use  // else: by dtype, shape and strides
	itself     bool            // else: no operator of the forward pass reads images that are row-major
	either     bool            // functions of torch are called that choose an order themselves
	images     map[[3]int]bool // batches, channels and pixels of row-major images that convolutions return
	batches    map[[3]int]bool // else: the sizes of what products of batches return
}

// of returns the uses of operator number n.
func (u uses) of(n int, i *Item) use {
	if u.byOperator != nil {
		one := u.byOperator[n]
		one.either, one.pixels = u.either, u.ofPixels(i)
		return one
	}
	best := use{itself: u.itself, either: u.either, nowhere: true, pixels: u.ofPixels(i), product: u.ofBatches(source(i.Operator))}
	for _, o := range i.Inputs {
		if o.Role == operators.Input && !contiguous(o) {
			if one := u.byLayout[layoutKey(o)]; one.reads > best.reads {
				best.reads, best.others = one.reads, one.others
			}
		}
	}
	return best
}

func contiguous(o operators.Operand) bool {
	l, err := o.Layout()
	return err != nil || l.IsContiguous()
}

// costs reports whether strided operands may cost an operator of a class time.
func costs(c operators.Class) bool {
	return c == operators.Copy || c == operators.Elementwise || c == operators.Reduction || c == operators.Rows
}

func layoutKey(o operators.Operand) string { return fmt.Sprint(o.DType, o.Shape, o.Strides) }

// usesOf counts them, by the operators whose layout costs time (pays), of which some are
// copies for the layout. Where a profile says where operands lie, it is how often the
// same elements are read until the storage is written again. Where it does not, an
// operator that is called most often with a layout is taken to read each tensor once:
// all reads of the layout by that operator's calls.
func usesOf(p *operators.Profile, pays, copies func(operator int) bool) uses {
	either := slices.ContainsFunc(p.Operators, func(op operators.Operator) bool { return choosesOrder(op) })
	if p.Step != nil {
		return uses{byOperator: usesInStep(p, pays, copies), either: either, images: imagesOf(p)}
	}
	reads, others, most, both := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	itself := true
	for n, op := range p.Operators {
		itself = itself && (op.Backward || !slices.ContainsFunc(op.Inputs, rowMajor))
		if !pays(n) {
			continue
		}
		alike := op.Op + " " + Item{Operator: op}.Tensors() // of both passes
		both[alike] += op.Calls
		for _, o := range op.Inputs {
			if o.Role == operators.Input && !contiguous(o) {
				k := layoutKey(o)
				if reads[k] += op.Calls; !copies(n) {
					others[k] += op.Calls
				}
				most[k] = max(most[k], both[alike])
			}
		}
	}
	all := map[string]use{}
	for k, n := range reads {
		all[k] = use{reads: n / most[k], others: others[k] / most[k]}
	}
	return uses{byLayout: all, itself: itself, either: either, images: imagesOf(p), batches: batchesOf(p)}
}

// imagesOf are the batches, channels and pixels of row-major images that convolutions return, or that they add to.
func imagesOf(p *operators.Profile) map[[3]int]bool {
	all := map[[3]int]bool{}
	for _, op := range p.Operators {
		if op.Backward || !strings.Contains(op.Op, "conv") && calledBy(op, "conv1d", "conv2d", "conv3d", "convolution") == "" {
			continue
		}
		for _, o := range slices.Concat(op.Inputs, op.Outputs) {
			if o.Role != operators.Input && rowMajor(o) {
				all[[3]int{o.Shape[0], o.Shape[1], product(o.Shape[2:])}] = true
			}
		}
	}
	return all
}

// ofPixels reports whether the one operand of an operator that is not contiguous, besides those that are expanded, is what a
// convolution returned, as batches of pixels of channels.
func (u uses) ofPixels(i *Item) bool {
	strided := i.stridedOperands()
	if len(strided) != 1 || len(strided[0].Shape) != 3 {
		return false
	}
	o := strided[0]
	n, pixels, channels := o.Shape[0], o.Shape[1], o.Shape[2]
	return u.images[[3]int{n, channels, pixels}] && o.Strides[1] == 1 && o.Strides[2] == pixels && (n == 1 || o.Strides[0] == pixels*channels)
}

// batchesOf are the sizes of what products of batches of matrices return.
func batchesOf(p *operators.Profile) map[[3]int]bool {
	all := map[[3]int]bool{}
	for _, op := range p.Operators {
		if w := walksOf(op); w.name() == "bmm" && len(op.Inputs) > 1 && len(op.Inputs[0].Shape) == 3 && len(op.Inputs[1].Shape) == 3 {
			all[[3]int{op.Inputs[0].Shape[0], op.Inputs[0].Shape[1], op.Inputs[1].Shape[2]}] = true
		}
	}
	return all
}

// ofBatches reports whether an operand is what a product of batches returned, of which dims were made of the batches and swapped with
// that of rows, as attention swaps its heads.
func (u uses) ofBatches(o operators.Operand) bool {
	l, err := o.Layout()
	if err != nil || l.Rank() != 4 || l.IsContiguous() {
		return false
	}
	l, err = l.Transpose(1, 2)
	return err == nil && l.IsContiguous() && u.batches[[3]int{l.Size(0) * l.Size(1), l.Size(2), l.Size(3)}]
}

// choosesOrder reports whether an operator is called by one of makers, or is one.
func choosesOrder(op operators.Operator) bool {
	return slices.ContainsFunc(append([]operators.Caller{{Chain: op.Op}}, op.Callers...), func(c operators.Caller) bool {
		return calledBy(operators.Operator{Callers: []operators.Caller{c}}, makers...) != ""
	})
}

// An operand is one of an operator of a profile, by their numbers.
type operand struct{ operator, at int }

// productsTake reports whether what reads a copy are products alone, which could read what is copied.
func productsTake(p *operators.Profile, readBy map[operand]bool, copied operators.Operand) bool {
	for r := range readBy {
		op := p.Operators[r.operator]
		if op.Class != operators.Product || !takes(slices.Concat(op.Inputs, op.Outputs)[r.at], copied) {
			return false
		}
	}
	return len(readBy) > 0
}

// A version of a storage is what it holds between two writes.
type version struct {
	storage uint64
	writes  int
}

// A part of a version is what an operand reads of it.
type part struct {
	version
	offset int
	layout string
}

// A trail is what the calls of a step read and write.
type trail struct {
	readers map[part][]int // operators whose layout costs time, by what they read of it: one a call
	readBy  map[version]map[operand]bool
	wrote   map[int][]version // by operator
	// Whether the function that calls an operator makes what that reads in a layout that costs, whether others than that
	// return it so, and whether the backward pass makes what is row-major of what it reads.
	within, returned, itself map[int]bool
	// Whether that function gets it with its first two dims swapped, whether one of makers in the forward pass made what a
	// gradient is made of, and whether matrix products wrote what it reads.
	given, chosen, product map[int]bool
}

// note notes of an operator what has to be so in every call.
func note(of map[int]bool, operator int, so bool) {
	before, noted := of[operator]
	of[operator] = so && (before || !noted)
}

// follow follows the storages through a step.
func follow(p *operators.Profile, pays func(operator int) bool) trail {
	t := trail{map[part][]int{}, map[version]map[operand]bool{}, map[int][]version{}, map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}}
	writes, writer := map[uint64]int{}, map[version]string{} // the function of torch that wrote it, if one of makers did
	itself := map[version]bool{}                             // gradients that are row-major of nothing else that is
	multiplied := map[version]bool{}                         // what matrix products wrote
	functions, names := make([]string, len(p.Operators)), make([]string, len(p.Operators))
	for n, op := range p.Operators {
		w := walksOf(op)
		functions[n], names[n] = calledBy(op, makers...), w.name()
	}
	for _, call := range p.Step {
		operands, places := operandsOf(p, call)
		reads := map[part]bool{} // what it reads twice is one use
		function, passed := functions[call.Operator], functions[call.Operator]
		alone := p.Operators[call.Operator].Backward
		for n, o := range operands {
			place := places[n]
			if place.Storage == 0 || o.Role == operators.Output {
				continue
			}
			v := version{place.Storage, writes[place.Storage]}
			if t.readBy[v] == nil {
				t.readBy[v] = map[operand]bool{}
			}
			t.readBy[v][operand{call.Operator, n}] = true
			alone = alone && (!rowMajor(o) || itself[v])
			if contiguous(o) {
				continue
			}
			if function == "" && turned(o) { // what is made of it lies alike
				passed = writer[v]
			}
			if !pays(call.Operator) {
				continue
			}
			op := p.Operators[call.Operator]
			if function != "" {
				note(t.within, call.Operator, writer[v] == function)
				note(t.given, call.Operator, turned(o) && writer[v] != function)
			} else {
				note(t.returned, call.Operator, writer[v] != "" && (turned(o) || op.Class == operators.Product && sequences(o)))
			}
			if op.Backward {
				note(t.chosen, call.Operator, writer[v] != "")
			}
			note(t.product, call.Operator, multiplied[v])
			if o.Role == operators.Input { // what is written in place is no use of a copy
				reads[part{v, place.Offset, layoutKey(o)}] = true
			}
		}
		note(t.itself, call.Operator, alone)
		for read := range reads {
			t.readers[read] = append(t.readers[read], call.Operator)
		}
		for n, o := range operands {
			if storage := places[n].Storage; storage != 0 && o.Role != operators.Input {
				writes[storage]++
				v := version{storage, writes[storage]}
				t.wrote[call.Operator] = append(t.wrote[call.Operator], v)
				writer[v], itself[v], multiplied[v] = passed, alone, slices.Contains(matrixProducts, names[call.Operator])
			}
		}
	}
	return t
}

// usesInStep are the uses of each operator of a step, those of the operand that is read most.
func usesInStep(p *operators.Profile, pays, copies func(operator int) bool) map[int]use {
	t := follow(p, pays)
	all := map[int]use{}
	for _, calls := range t.readers {
		one := use{reads: len(calls)}
		for _, op := range calls {
			if !copies(op) {
				one.others++
			}
		}
		for _, op := range calls {
			if u := all[op]; one.reads > u.reads || one.reads == u.reads && one.others > u.others {
				all[op] = one
			}
		}
	}
	for op, itself := range t.itself {
		u := all[op]
		u.within, u.returned, u.itself = t.within[op], t.returned[op], itself
		u.given, u.chosen, u.product = t.given[op], t.chosen[op], t.product[op]
		all[op] = u
	}
	for op, versions := range t.wrote {
		copied, u := source(p.Operators[op]), all[op]
		u.products = !slices.ContainsFunc(versions, func(v version) bool { return !productsTake(p, t.readBy[v], copied) })
		all[op] = u
	}
	return all
}
