package bill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/operators"
)

// The verdicts, all of them: what to change in the model's code, or that nothing helps, and why.
// A % stands for what differs.
const (
	noMemory     = "nothing to change: it accesses no memory itself"
	noPrice      = "no advice: %s"
	nothing      = "nothing to change: contiguous operands would take as long"
	channelsLast = "keep all images in channels_last, from the first convolution on: two orders meet here"
	forward      = "change the order of these tensors in the forward pass: gradients follow it"
	byBackward   = "nothing helps: the backward pass creates this gradient in an order of its own"
	byMaker      = "nothing helps: attention or a recurrent net returns this order"
	batchFirst   = "leave out batch_first, and store sequences before batches: it swaps these dims by a copy"
	folding      = "use scaled_dot_product_attention: matmul copies batches that are unevenly spaced"
	leaveOut     = "leave this copy out: the matrix products that read it take the strides of its source"
	ofProduct    = "leave this copy out if its reader takes strides: a matrix product returns row-major results"
	reuse        = "call contiguous() once, and use its result %d times: so often this layout is read"
	overlapping  = "nothing helps: only a copy puts overlapping elements in another order"
	masking      = "give dropout a contiguous input: its mask is always row-major"
	alongLast    = "use the last dim of movedim(%d, -1): softmax and cross_entropy copy any other order"
	produce      = "produce %s contiguous: it is read in another order than it lies in"
)

// verdict says what to do about an operator.
func verdict(i *Item, u use) string {
	copies := i.lowered.forLayout
	inside := calledBy(i.Operator, operators.Maker)
	dim, soft := i.softmaxAlong()
	strided := i.stridedOperands()
	mixed, kept := i.formats()
	switch {
	case !i.Class.Touches():
		return noMemory
	case i.Predicted == nil:
		return fmt.Sprintf(noPrice, i.Problem)
	case i.Layout == 0:
		return nothing
	case calledBy(i.Operator, operators.Masks) != "":
		return masking
	case i.Backward && !u.rowMajor && mixed, i.Backward && len(strided) > 0 && slices.Contains(strided[0].Strides, 0):
		return byBackward
	case kept, mixed, !i.Backward && u.images && pixels(strided):
		return channelsLast
	case i.Backward && u.maker:
		return byMaker
	case i.Backward:
		return forward
	case i.Class == operators.Copy && u.leavable:
		return leaveOut
	case copies && u.given:
		return batchFirst
	case copies && calledBy(i.Operator, operators.Folds) != "" && !evenBatches(source(i.Operator)):
		return folding
	case u.maker && (inside != "" || !copies || i.within()) && u.reads < 2,
		u.nowhere && copies && inside != "":
		return byMaker
	case overlap(strided):
		return overlapping
	case u.reads > 1 && float64(u.reads)*i.Layout > i.Ns: // a copy takes about as long as a call
		i.Uses = u.reads
		return fmt.Sprintf(reuse, u.reads)
	case copies && u.product:
		return ofProduct
	case soft:
		return fmt.Sprintf(alongLast, dim)
	}
	var names []string
	for _, o := range strided {
		names = append(names, tensorText(o))
	}
	if names == nil { // it is what is written
		names = []string{"its result"}
	}
	return fmt.Sprintf(produce, strings.Join(slices.Compact(names), " and "))
}

// stridedOperands are those that are read and not contiguous: those across whose rows it goes, if
// there are any, and none that is expanded, if there are others.
func (i *Item) stridedOperands() []operators.Tensor {
	var strided []operators.Tensor
	for _, o := range i.Inputs {
		if o.Role != operators.Output && product(o.Shape) > 1 && !contiguous(o) {
			strided = append(strided, o)
		}
	}
	for _, but := range []func(operators.Tensor) bool{
		func(o operators.Tensor) bool { return slices.Contains(o.Strides, 0) },
		func(o operators.Tensor) bool { return o.Strides[len(o.Strides)-1] == 1 },
	} {
		if others := slices.DeleteFunc(slices.Clone(strided), but); len(others) > 0 {
			strided = others
		}
	}
	return strided
}

// overlap reports whether operands have more elements than the memory that they span, as windows
// have.
func overlap(all []operators.Tensor) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(o operators.Tensor) bool {
		return product(o.Shape) <= reach(o.Shape, o.Strides)
	})
}

// lies reports whether an operand is contiguous with its dims in this order.
func lies(o operators.Tensor, dims ...int) bool {
	l, err := o.Layout()
	if err != nil || l.Rank() != len(dims) {
		return false
	}
	l, err = l.Permute(dims...)
	return err == nil && l.IsContiguous()
}

// pixels reports whether an operand is batches of pixels of channels, flattened and turned, which
// are contiguous if the images are channels_last.
func pixels(all []operators.Tensor) bool { return len(all) == 1 && lies(all[0], 0, 2, 1) }

// softmaxAlong is the dim along which an operator, or what calls a copy, takes a softmax of what it
// copies; if what is copied is contiguous with this dim last.
func (i *Item) softmaxAlong() (dim int, ok bool) {
	l, err := source(i.Operator).Layout()
	dim = slices.Index(l.Strides(), 1)
	if err != nil || dim < 0 || dim >= l.Rank()-1 {
		return 0, false
	}
	along := func(r operators.Row) bool {
		return r.Walk == operators.WalkRows && r.Takes(operators.Dim)
	}
	if dims, known := i.Dims(); along(i.Row()) {
		ok = known && slices.Equal(dims, []int{dim})
	} else if i.lowered.forLayout && len(i.Callers) > 0 {
		chain := strings.Split(i.Callers[0].Chain, " > ")
		ok = slices.ContainsFunc(chain, func(name string) bool { return along(operators.RowOf(name)) })
	}
	l, err = l.Movedim(dim, -1)
	return dim, ok && err == nil && l.IsContiguous()
}

// evenBatches reports whether the dims of batches of matrices are as one, so that nothing is copied
// to make one of them.
func evenBatches(o operators.Tensor) bool {
	l, err := o.Layout()
	if rank := len(o.Shape); err == nil && rank >= 4 {
		_, err = l.View(product(o.Shape[:rank-2]), o.Shape[rank-2], o.Shape[rank-1])
	}
	return err == nil
}

// calledBy is the first function or operator with a flag that all callers of an operator were
// called by; "" if there is none.
func calledBy(op operators.Operator, flag operators.Flag) (found string) {
	for n, c := range op.Callers {
		chain := strings.Split(c.Chain, " > ")
		at := slices.IndexFunc(chain, func(name string) bool {
			return operators.RowOf(name).Has(flag)
		})
		if at < 0 || n > 0 && chain[at] != found {
			return ""
		}
		found = chain[at]
	}
	return found
}

// formats reports whether some of the operands are channels_last and others row-major, so that one
// format could be kept: of what is no plain copy by what is read, since pads, gathers, losses and
// softmax return what is row-major whatever they get. kept is of what gets channels_last alone and
// returns it, as a cat of channels, or reduces it: that it costs a little more so is no reason to
// leave the format, which products want.
func (i *Item) formats() (mixed, kept bool) {
	row := i.Row()
	copies, returns := row.Has(operators.Blocks), i.Class == operators.Reduction
	returns = returns || len(i.Outputs) == 0 && row.Walk == operators.WalkJoined
	all, last, rows := true, false, false
	for _, o := range slices.Concat(i.Inputs, i.Outputs) {
		if len(o.Shape) != 4 && len(o.Shape) != 5 {
			continue
		}
		format := isChannelsLast(o)
		all = all && format
		format = format && !contiguous(o)
		returns = returns || format && o.Role != operators.Input
		if o.Role != operators.Output || copies {
			last, rows = last || format, rows || rowMajor(o)
		}
	}
	rowWise := i.Class == operators.Rows && !row.Has(operators.ChannelsLast)
	unfit := i.Class == operators.Gather || rowWise || copies && i.within()
	return last && rows && !unfit, last && all && returns
}

// rowMajor reports whether an operand is one of images that are row-major and not channels_last.
func rowMajor(o operators.Tensor) bool {
	rank := len(o.Shape)
	return o.Format == "" && (rank == 4 || rank == 5) && contiguous(o) && !isChannelsLast(o)
}

// within reports whether a copy to what is row-major is made within others alone, such as a reshape.
// A program does not ask for it then.
func (i *Item) within() bool {
	for _, c := range i.Callers {
		if !slices.ContainsFunc(strings.Split(c.Chain, " > "), func(name string) bool {
			return !operators.RowOf(name).Has(operators.Asked)
		}) {
			return false
		}
	}
	all := slices.Concat(i.Inputs, i.Outputs)
	return len(i.Callers) > 0 && !slices.ContainsFunc(all, func(o operators.Tensor) bool {
		return o.Role != operators.Input && !contiguous(o)
	})
}

// source is the first operand that is read alone.
func source(op operators.Operator) operators.Tensor {
	for _, o := range op.Inputs {
		if o.Role == operators.Input {
			return o
		}
	}
	return operators.Tensor{}
}

func contiguous(o operators.Tensor) bool {
	l, err := o.Layout()
	return err != nil || l.IsContiguous()
}

// takes reports whether a product that reads an operand of a copy could read it of what is copied,
// as it lies: the same matrix, or batch of them, is a view of that, of which rows or columns are
// contiguous, as BLAS takes them.
func takes(read, copied operators.Tensor) bool {
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
	last := from.Rank() - 1
	rows, cols := from.Stride(last-1), from.Stride(last)
	return rows == 1 && cols >= from.Size(last-1) || cols == 1 && rows >= from.Size(last)
}

// turned reports whether an operand is of sequences that lie before batches, with its channels last
// or, as a convolution takes them, in the middle.
func turned(o operators.Tensor) bool {
	return !contiguous(o) && (lies(o, 1, 0, 2) || lies(o, 2, 0, 1))
}
