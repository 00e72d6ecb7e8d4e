package bill

import (
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// ends are the operands that a copy reads, and those that it writes.
func (w *walks) ends() (from, to []tensor) {
	for _, o := range w.all {
		if o.Role == operators.Input {
			from = append(from, o)
		} else {
			to = append(to, o)
		}
	}
	return from, to
}

// copies lowers a copy: to its destination where it has one that the source broadcasts to, and
// where it has none each source to a fresh part of the result.
func (w *walks) copies() {
	from, to := w.ends()
	switch {
	case len(from) > 0 && len(to) == 1 && broadcasts(from[0].Shape, to[0].Shape):
		w.forLayout = len(from) == 1 && w.rearranges(from[0], to[0])
		w.move(w.operand(to[0], nest.Write), w.operand(from[0], nest.Read))
		w.asTheyLie(from[1:])
	case len(from) > 0 && len(to) == 0:
		for _, o := range from {
			w.move(w.operand(fresh(o.Shape, o.DType), nest.Write), w.operand(o, nest.Read))
		}
	default:
		w.asTheyLie(w.all)
	}
}

// move copies, by blocks only where the operator does: others go over elements as TensorIterator
// has them.
func (w *walks) move(to, from walked) {
	if to.DType != from.DType || w.row.Has(operators.Blocks) {
		w.add(access.Copy, nil, to, from)
		return
	}
	w.add(access.Add, nil, from, to)
}

// moveTo copies a tensor to a part of another one.
func (w *walks) moveTo(y, x tensor, part func(layouts.Layout) (layouts.Layout, error)) bool {
	to, from := w.operand(y, nest.Write), w.operand(x, nest.Read)
	var err error
	if to.Layout, err = part(to.Layout); err != nil || !slices.Equal(to.Layout.Shape(), x.Shape) {
		w.specs, w.from, w.results = nil, nil, nil
		return false
	}
	w.move(to, from)
	return true
}

// join lowers a cat, or a stack: each of a list to its part of the result.
func (w *walks) join() bool {
	from, to := w.ends()
	// Of what has any dims, PyTorch leaves such out.
	from = slices.DeleteFunc(from, func(o tensor) bool { return slices.Equal(o.Shape, []int{0}) })
	dim, ok := w.op.Along()
	if len(from) == 0 || len(to) > 1 || !ok {
		return false
	}
	for i := range from {
		if o := &from[i]; w.row.Walk == operators.WalkStacked && dim <= len(o.Shape) {
			o.Shape = slices.Insert(slices.Clone(o.Shape), dim, 1)
			o.Strides = slices.Insert(slices.Clone(o.Strides), dim, 0)
		}
	}
	shape, last := slices.Clone(from[0].Shape), true
	if dim >= len(shape) {
		return false
	}
	shape[dim] = 0
	for _, o := range from {
		if len(o.Shape) != len(shape) {
			return false
		}
		shape[dim] += o.Shape[dim]
		last = last && isChannelsLast(o.Tensor) && len(shape) == 4 && !contiguous(o.Tensor)
	}
	y := fresh(shape, from[0].DType)
	if len(to) == 1 {
		y = to[0]
	} else if last { // of channels_last alone it is that (cat_compute_output_memory_format)
		c, h, v := shape[1], shape[2], shape[3]
		y.Strides = []int{c * h * v, 1, v * c, c}
	}
	start := 0
	for _, o := range from {
		n := o.Shape[dim]
		part := func(l layouts.Layout) (layouts.Layout, error) { return l.Narrow(dim, start, n) }
		if !w.moveTo(y, o, part) {
			return false
		}
		start += n
	}
	return true
}

// pad lowers a constant_pad_nd: the result is filled, and then what is padded copied into it
// (PadNd.cpp).
func (w *walks) pad() bool {
	from, to := w.ends()
	by, _ := w.op.Numbers(operators.Padding)
	if len(from) != 1 || len(to) != 1 || len(from[0].Shape) != len(to[0].Shape) {
		return false
	}
	w.add(access.Fill, nil, w.operand(to[0], nest.Write))
	return w.moveTo(to[0], from[0], func(l layouts.Layout) (_ layouts.Layout, err error) {
		for d, n := range from[0].Shape {
			before := 0
			if at := 2 * (l.Rank() - 1 - d); at < len(by) {
				before = by[at]
			}
			if l, err = l.Narrow(d, before, n); err != nil {
				return l, err
			}
		}
		return l, nil
	})
}

// rearranges reports whether a copy is made for the layout alone: by clone,
// contiguous, reshape or to, of the same elements in another order.
func (w *walks) rearranges(from, to tensor) bool {
	x, err := from.Layout()
	y, wrong := to.Layout()
	if err != nil || wrong != nil || from.DType != to.DType || slices.Contains(from.Strides, 0) ||
		!slices.Equal(from.Shape, to.Shape) || alike(x, y) {
		return false
	}
	asked := w.row.Has(operators.Asked) && !w.row.Takes(operators.Written)
	return asked || slices.ContainsFunc(w.op.Callers, func(c operators.Caller) bool {
		return operators.RowOf(c.Chain[strings.LastIndex(c.Chain, "> ")+1:]).Has(operators.Asked)
	})
}
