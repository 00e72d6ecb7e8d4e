package bill

import (
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
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

// copies lowers a copy: to its destination where it has one that the source broadcasts to, and where
// it has none each source to a fresh part of the result.
func (w *walks) copies() {
	from, to := w.ends()
	switch {
	case len(from) > 0 && len(to) == 1 && broadcasts(from[0].Shape, to[0].Shape):
		w.forLayout = len(from) == 1 && w.rearranges(from[0], to[0])
		w.move(w.operand(to[0], access.Output), w.operand(from[0], access.Input))
		w.asTheyLie(from[1:])
	case len(from) > 0 && len(to) == 0:
		for _, o := range from {
			w.move(w.operand(fresh(o.Shape, o.DType), access.Output), w.operand(o, access.Input))
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

// A part is a view of a layout.
type part func(layouts.Layout) (layouts.Layout, error)

// same is the part that is all.
func same(l layouts.Layout) (layouts.Layout, error) { return l, nil }

// movePart copies a part of a tensor to a part of another one.
func (w *walks) movePart(y, x tensor, to, from part) bool {
	written, read := w.operand(y, access.Output), w.operand(x, access.Input)
	if w.err != nil {
		return false
	}
	var err, errRead error
	written.Layout, err = to(written.Layout)
	read.Layout, errRead = from(read.Layout)
	if err != nil || errRead != nil || !slices.Equal(written.Layout.Shape(), read.Layout.Shape()) {
		w.specs, w.from = nil, nil
		return false
	}
	w.move(written, read)
	return true
}

// join lowers a cat: each of the list to its part of the result.
func (w *walks) join() bool {
	from, to := w.ends()
	// Of what has any dims, PyTorch leaves such out.
	from = slices.DeleteFunc(from, func(o tensor) bool { return slices.Equal(o.Shape, []int{0}) })
	dim, ok := w.op.Along()
	if len(from) == 0 || len(to) > 1 || !ok {
		return false
	}
	shape, last := slices.Clone(from[0].Shape), true
	shape[dim] = 0
	for _, o := range from {
		if len(o.Shape) != len(shape) {
			return false
		}
		shape[dim] += o.Shape[dim]
		last = last && isChannelsLast(o.Operand) && len(shape) == 4 && !contiguous(o.Operand)
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
		if !w.movePart(y, o, func(l layouts.Layout) (layouts.Layout, error) { return l.Narrow(dim, start, n) }, same) {
			return false
		}
		start += n
	}
	return true
}

// stack lowers a stack: each of the list to its part of the result.
func (w *walks) stack() bool {
	from, to := w.ends()
	dim, _ := w.op.Numbers(operators.Dim)
	if len(from) == 0 || len(to) != 1 {
		return false
	}
	dim = append(dim, 0)
	if dim[0] < 0 {
		dim[0] += len(to[0].Shape)
	}
	for i, o := range from {
		if !w.movePart(to[0], o, func(l layouts.Layout) (layouts.Layout, error) { return l.Select(dim[0], i) }, same) {
			return false
		}
	}
	return true
}

// pad lowers a constant_pad_nd: the result is filled, and then what is padded copied into it; where
// all that is padded is taken away, the rest is copied, and nothing filled (PadNd.cpp).
func (w *walks) pad() bool {
	from, to := w.ends()
	by, _ := w.op.Numbers(operators.Padding)
	if len(from) != 1 || len(to) != 1 || len(from[0].Shape) != len(to[0].Shape) {
		return false
	}
	x, y := from[0], to[0]
	rank := len(x.Shape)
	by = append(slices.Clone(by), make([]int, 2*rank)...)
	for d, n := range y.Shape {
		if before := 2 * (rank - 1 - d); by[before]+by[before+1] != n-x.Shape[d] { // it does not say
			by[before], by[before+1] = (n-x.Shape[d])/2, n-x.Shape[d]-(n-x.Shape[d])/2
		}
	}
	if slices.Max(append(by, 0)) > 0 {
		w.add(access.Fill, nil, w.operand(y, access.Output))
	}
	within := func(sign int) part {
		return func(l layouts.Layout) (_ layouts.Layout, err error) {
			for d := range rank {
				before, after := max(sign*by[2*(rank-1-d)], 0), max(sign*by[2*(rank-1-d)+1], 0)
				if l, err = l.Narrow(d, before, l.Size(d)-before-after); err != nil {
					return l, err
				}
			}
			return l, nil
		}
	}
	return w.movePart(y, x, within(1), within(-1))
}

// shuffle lowers a pixel_shuffle, or the way back: squares of channels become squares of pixels.
func (w *walks) shuffle() bool {
	from, to := w.ends()
	by, known := w.op.Numbers(operators.Number)
	d := -3
	if len(from) == 1 {
		d += len(from[0].Shape)
	}
	if len(to) != 1 || !known || len(by) != 1 || d < 0 || len(to[0].Shape) != d+3 || by[0] < 1 {
		return false
	}
	n := by[0]
	fine := func(l layouts.Layout) (layouts.Layout, error) { // ... c h n w n
		return l.View(slices.Concat(l.Shape()[:d], []int{l.Size(d), l.Size(d+1) / n, n, l.Size(d+2) / n, n})...)
	}
	coarse := func(l layouts.Layout) (layouts.Layout, error) { // ... c n n h w, in the same order
		l, err := l.View(slices.Concat(l.Shape()[:d], []int{l.Size(d) / n / n, n, n}, l.Shape()[d+1:])...)
		if err == nil {
			l, err = l.Movedim(d+3, d+1)
		}
		if err == nil {
			l, err = l.Movedim(d+4, d+3)
		}
		return l, err
	}
	if to[0].Shape[d] < from[0].Shape[d] {
		return w.movePart(to[0], from[0], fine, coarse)
	}
	return w.movePart(to[0], from[0], coarse, fine)
}

// repeat lowers a repeat: what is repeated is read once for each time.
func (w *walks) repeat() bool {
	from, to := w.ends()
	if len(from) != 1 || len(to) != 1 || len(from[0].Shape) > len(to[0].Shape) {
		return false
	}
	x := slices.Concat(slices.Repeat([]int{1}, len(to[0].Shape)-len(from[0].Shape)), from[0].Shape)
	var shape, ones []int
	for d, n := range to[0].Shape {
		if x[d] == 0 {
			return false
		}
		shape, ones = append(shape, n/x[d], x[d]), append(ones, 1, x[d])
	}
	view := func(l layouts.Layout) (layouts.Layout, error) { return l.View(shape...) }
	return w.movePart(to[0], from[0], view, func(l layouts.Layout) (layouts.Layout, error) {
		l, err := l.View(ones...)
		if err == nil {
			l, err = l.Expand(shape...)
		}
		return l, err
	})
}

// rearranges reports whether a copy is made for the layout alone: by clone,
// contiguous, reshape or to, of the same elements in another order.
func (w *walks) rearranges(from, to tensor) bool {
	if from.DType != to.DType || !slices.Equal(from.Shape, to.Shape) || slices.Contains(from.Strides, 0) {
		return false
	}
	same := true
	for d, n := range from.Shape {
		same = same && (n == 1 || from.Strides[d] == to.Strides[d])
	}
	asked := w.row.Has(operators.Asked) && !w.row.Takes(operators.Written)
	return !same && (asked || slices.ContainsFunc(w.op.Callers, func(c operators.Caller) bool {
		return operators.RowOf(c.Chain[strings.LastIndex(c.Chain, "> ")+1:]).Has(operators.Asked)
	}))
}
