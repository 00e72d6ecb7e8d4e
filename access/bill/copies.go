package bill

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
)

// copies lowers a copy: to its destination where it has one of the source's shape,
// else each source to a fresh part of the result.
func (w *walks) copies() {
	var from, to []tensor
	for _, o := range w.all {
		if o.Role == operators.Input {
			from = append(from, o)
		} else {
			to = append(to, o)
		}
	}
	switch {
	case w.cat(from, to), w.stack(from, to), w.pad(from, to), w.shuffle(from, to), w.shuffleChannels(from, to), w.repeat(from, to), w.turn(from, to), w.embed(from, to):
	case len(from) > 1 && len(to) == 1 && strings.HasSuffix(w.name(), "_scatter") && slices.Equal(from[0].Shape, to[0].Shape):
		w.move(w.operand(to[0], access.Output), w.operand(from[0], access.Input)) // and then a part of it, as that lies
		w.asTheyLie(from[1:])
	case len(from) == 1 && len(to) == 1 && broadcasts(from[0].Shape, to[0].Shape):
		w.forLayout = w.rearranges(from[0], to[0])
		w.move(w.operand(to[0], access.Output), w.operand(from[0], access.Input))
	case len(from) > 0:
		for _, o := range from {
			w.move(w.operand(dense(o, operators.Output), access.Output), w.operand(o, access.Input))
		}
	default:
		w.asTheyLie(to)
	}
}

// blocked are the operators that copy a transposed matrix block by block: copy_, and what calls it.
var blocked = []string{"copy", "_copy_from", "clone", "_to_copy", "_reshape_copy", "bfloat16", "double", "float", "half", "int", "long"}

// move copies, by blocks only where the operator does: others go over elements as TensorIterator has them.
func (w *walks) move(to, from walked) {
	if to.DType != from.DType || slices.Contains(blocked, strings.TrimSuffix(w.name(), "_")) {
		w.add(access.Copy, nil, to, from)
		return
	}
	w.add(access.Add, nil, from, to)
}

// cat lowers a cat: each of the list to its part of the result. It reports false of
// what is none, or does not say along which dim.
func (w *walks) cat(from, to []tensor) bool {
	if name := w.name(); name != "cat" && name != "_cat" || len(from) == 0 || len(to) > 1 || len(w.op.Args) < 2 {
		return false
	}
	if from = slices.DeleteFunc(slices.Clone(from), func(o tensor) bool { return slices.Equal(o.Shape, []int{0}) }); len(from) == 0 {
		return false // of what has any dims, PyTorch leaves such out
	}
	dim, err := strconv.Atoi(w.op.Args[1])
	rank := len(from[0].Shape)
	if dim < 0 {
		dim += rank
	}
	if err != nil || dim < 0 || dim >= rank {
		return false
	}
	shape := slices.Clone(from[0].Shape)
	shape[dim] = 0
	for _, o := range from {
		if len(o.Shape) != rank {
			return false
		}
		shape[dim] += o.Shape[dim]
	}
	result := dense(tensor{operators.Operand{Shape: shape, DType: from[0].DType}, inside}, operators.Output)
	if len(to) == 1 {
		result = to[0]
	} else if !slices.ContainsFunc(from, func(o tensor) bool { return !isChannelsLast(o) || contiguous(o.Operand) }) {
		c, h, v := shape[1], shape[2], shape[3] // of channels_last alone it is that (cat_compute_output_memory_format)
		result.Strides = []int{c * h * v, 1, v * c, c}
	}
	start := 0
	for _, o := range from {
		n := o.Shape[dim]
		if !w.copyInto(result, o, func(l layouts.Layout) (layouts.Layout, error) { return l.Narrow(dim, start, n) }) {
			return false
		}
		start += n
	}
	return true
}

// stack lowers a stack: each of the list to its part of the result. It reports false of what is none, or
// of a profile that does not have the result.
func (w *walks) stack(from, to []tensor) bool {
	if name := w.name(); name != "stack" && name != "_stack" || len(from) == 0 || len(to) != 1 {
		return false
	}
	dim, rank := 0, len(to[0].Shape)
	if len(w.op.Args) > 1 {
		if n, err := strconv.Atoi(w.op.Args[1]); err == nil {
			dim = n
		}
	}
	if dim < 0 {
		dim += rank
	}
	for i, o := range from {
		if !w.copyInto(to[0], o, func(l layouts.Layout) (layouts.Layout, error) { return l.Select(dim, i) }) {
			return false
		}
	}
	return true
}

// copyInto copies a tensor to a part of another one. Where there is no such part, nothing is lowered.
func (w *walks) copyInto(whole, o tensor, part func(layouts.Layout) (layouts.Layout, error)) bool {
	to, from := w.operand(whole, access.Output), w.operand(o, access.Input)
	twin, err := part(w.operand(dense(whole, operators.Output), access.Output).Layout)
	if err == nil {
		to.Layout, err = part(to.Layout)
	}
	if err != nil || !slices.Equal(to.Layout.Shape(), o.Shape) {
		w.specs, w.from, w.twins = nil, nil, nil
		return false
	}
	w.move(to, from)
	if contiguous, err := w.specs[len(w.specs)-1].Contiguous(); err == nil {
		written := slices.IndexFunc(contiguous.Operands, func(o access.Operand) bool { return o.Role == access.Output })
		contiguous.Operands[written].Layout = twin
		w.twin(contiguous)
	}
	return true
}

// pad lowers a constant_pad_nd: the result is filled, and then what is padded copied into it; where all that is
// padded is taken away, the rest is copied, and nothing filled (PadNd.cpp). It reports false of what is none, or of a
// profile that does not have the result.
func (w *walks) pad(from, to []tensor) bool {
	if w.name() != "constant_pad_nd" || len(from) != 1 || len(to) != 1 || len(from[0].Shape) != len(to[0].Shape) {
		return false
	}
	x, y := from[0], to[0]
	x.Shape = slices.Clone(x.Shape)
	at := make([]int, len(x.Shape)) // where what is copied begins in the result
	grows := false
	for d, n := range y.Shape {
		before, after := w.padding(len(y.Shape)-1-d, n-x.Shape[d])
		if before+after != n-x.Shape[d] {
			return false
		}
		grows = grows || before > 0 || after > 0
		x.Shape[d] += min(before, 0) + min(after, 0)
		at[d] = max(before, 0)
	}
	if grows {
		w.add(access.Fill, nil, w.operand(y, access.Output))
	}
	if !w.copyInto(y, x, func(l layouts.Layout) (_ layouts.Layout, err error) {
		for d, n := range x.Shape {
			if l, err = l.Narrow(d, at[d], n); err != nil {
				return l, err
			}
		}
		return l, nil
	}) {
		return false
	}
	if twin, ok := w.twins[len(w.specs)-1]; ok { // of what is contiguous the same part is read
		x.Strides = dense(from[0], operators.Input).Strides
		read := slices.IndexFunc(twin.Operands, func(o access.Operand) bool { return o.Role == access.Input })
		twin.Operands[read] = w.operand(x, access.Input).Operand
	}
	return true
}

// embed lowers a diag_embed: the result is filled with zeros, and then its diagonal written (TensorShape.cpp). It reports
// false of what is none, or of a profile that does not have the result.
func (w *walks) embed(from, to []tensor) bool {
	if w.name() != "diag_embed" || len(from) != 1 || len(to) != 1 {
		return false
	}
	at := []int{0, -2, -1} // offset, dim1 and dim2
	for i := range at {
		if given, known := w.op.Numbers(1 + i); known && len(given) == 1 {
			at[i] = given[0]
		}
	}
	w.add(access.Fill, nil, w.operand(to[0], access.Output))
	return w.copyInto(to[0], from[0], func(l layouts.Layout) (layouts.Layout, error) { return l.Diagonal(at[0], at[1], at[2]) })
}

// padding is how many elements a pad adds before and after those of a dim, which counts from the last one, or takes away if
// they are negative; about as many on either side if the profile does not say.
func (w *walks) padding(dim, all int) (before, after int) {
	if len(w.op.Args) < 2 {
		return all / 2, all - all/2
	}
	if sizes, _ := w.op.Numbers(1); 2*dim+1 < len(sizes) {
		return sizes[2*dim], sizes[2*dim+1]
	}
	return 0, 0
}

// shuffle lowers a pixel_shuffle, or the way back: squares of channels become squares of pixels. It reports
// false of what is none, or of a profile that does not have the result.
func (w *walks) shuffle(from, to []tensor) bool {
	name := w.name()
	if name != "pixel_shuffle" && name != "pixel_unshuffle" || len(from) != 1 || len(to) != 1 {
		return false
	}
	few, many := from[0], to[0] // of fewer pixels, and of more
	if name == "pixel_unshuffle" {
		few, many = many, few
	}
	d := len(many.Shape) - 3
	if d < 0 || len(few.Shape) != d+3 || few.Shape[d+1] == 0 || many.Shape[d] == 0 {
		return false
	}
	by, c, h, v := many.Shape[d+1]/few.Shape[d+1], many.Shape[d], few.Shape[d+1], few.Shape[d+2]
	if few.Shape[d] != c*by*by || many.Shape[d+1] != h*by || many.Shape[d+2] != v*by || !slices.Equal(few.Shape[:d], many.Shape[:d]) {
		return false
	}
	shape := slices.Concat(many.Shape[:d], []int{c, h, by, v, by})
	add := func(few, many tensor) {
		f, m := few.Strides[d:], many.Strides[d:]
		few.Shape, few.Strides = shape, slices.Concat(few.Strides[:d], []int{f[0] * by * by, f[1], f[0] * by, f[2], f[0]})
		many.Shape, many.Strides = shape, slices.Concat(many.Strides[:d], []int{m[0], m[1] * by, m[1], m[2] * by, m[2]})
		if few.at == to[0].at {
			few, many = many, few
		}
		w.move(w.operand(many, access.Output), w.operand(few, access.Input))
	}
	apart := dense(few, few.Role)
	apart.at = few.at
	add(apart, dense(many, many.Role))
	twin := w.specs[0]
	w.specs, w.from = nil, nil
	add(few, many)
	if name == "pixel_unshuffle" && isChannelsLast(few) && isChannelsLast(many) {
		twin = w.specs[0] // which it takes as it takes contiguous ones (PixelShuffleKernel.cpp)
	}
	w.twin(twin)
	return true
}

// shuffleChannels lowers a channel_shuffle: the channels of each group, one by one, in the order of the result, which is
// channels_last if the input is; another input is copied first (ChanelShuffle.cpp). It reports false of what is none, or
// of a profile that does not have the result or the number of groups.
func (w *walks) shuffleChannels(from, to []tensor) bool {
	groups, known := w.op.Numbers(1)
	if !strings.HasSuffix(w.name(), "channel_shuffle") || len(from) != 1 || len(to) != 1 || !known || len(groups) != 1 || !slices.Equal(from[0].Shape, to[0].Shape) {
		return false
	}
	x, y, g := from[0], to[0], groups[0]
	if len(x.Shape) < 2 || g < 1 || x.Shape[1]%g != 0 {
		return false
	}
	if !isChannelsLast(x) {
		x = w.contiguous(x, false)
	}
	each := x.Shape[1] / g
	x.Shape = slices.Concat(x.Shape[:1], []int{g, each}, x.Shape[2:])
	x.Strides = slices.Concat(x.Strides[:1], []int{each * x.Strides[1], x.Strides[1]}, x.Strides[2:])
	y.Shape, y.Strides = x.Shape, slices.Concat(y.Strides[:1], []int{y.Strides[1], g * y.Strides[1]}, y.Strides[2:])
	w.move(w.operand(y, access.Output), w.operand(x, access.Input))
	w.twin(w.specs[len(w.specs)-1]) // it takes either order as it is
	return true
}

func isChannelsLast(o tensor) bool {
	l, err := o.Layout()
	return err == nil && l.IsChannelsLast()
}

// turn lowers a rot90 by a quarter: the result is a view of a flipped copy. It reports false of what is none, or of a
// profile that does not have the result.
func (w *walks) turn(from, to []tensor) bool {
	if w.name() != "rot90" || len(from) != 1 || len(to) != 1 || len(w.op.Args) < 3 {
		return false
	}
	rank := len(from[0].Shape)
	dims, known := w.op.Numbers(2)
	k, err := strconv.Atoi(w.op.Args[1])
	if !known || len(dims) != 2 || err != nil || k%2 == 0 || len(to[0].Shape) != rank {
		return false
	}
	y := to[0]
	y.Shape, y.Strides = slices.Clone(y.Shape), slices.Clone(y.Strides)
	for i, d := range dims {
		if d < 0 {
			dims[i] += rank
		}
		if dims[i] < 0 || dims[i] >= rank {
			return false
		}
	}
	a, b := dims[0], dims[1]
	y.Shape[a], y.Shape[b], y.Strides[a], y.Strides[b] = y.Shape[b], y.Shape[a], y.Strides[b], y.Strides[a]
	if !slices.Equal(y.Shape, from[0].Shape) {
		return false
	}
	w.move(w.operand(y, access.Output), w.operand(from[0], access.Input))
	return true
}

// repeat lowers a repeat: what is repeated is read once for each time. It reports false of what is none, or
// of a profile that does not have the result.
func (w *walks) repeat(from, to []tensor) bool {
	if w.name() != "repeat" || len(from) != 1 || len(to) != 1 || len(from[0].Shape) > len(to[0].Shape) {
		return false
	}
	x, y := from[0], to[0]
	more := len(y.Shape) - len(x.Shape)
	var shape, read, written []int
	for d, n := range y.Shape {
		one, step := 1, 0
		if d >= more {
			one, step = x.Shape[d-more], x.Strides[d-more]
		}
		if one == 0 || n%one != 0 {
			return false
		}
		shape, read, written = append(shape, n/one, one), append(read, 0, step), append(written, one*y.Strides[d], y.Strides[d])
	}
	x.Shape, x.Strides, y.Shape, y.Strides = shape, read, shape, written
	w.move(w.operand(y, access.Output), w.operand(x, access.Input))
	return true
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
	return !same && (strings.HasPrefix(w.op.Op, "aten::clone") || strings.HasPrefix(w.op.Op, "aten::_to_copy") || slices.ContainsFunc(w.op.Callers, func(c operators.Caller) bool {
		chain := strings.Split(c.Chain, " > ")
		nearest := chain[len(chain)-1]
		return nearest == "aten::clone" || nearest == "aten::contiguous" || nearest == "aten::_to_copy"
	}))
}
