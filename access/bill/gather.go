package bill

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// page is how many bytes of memory are translated at once.
const page = 4096

// scattered says in what order n of all rows are touched that numbers name, as sizes and as
// distances in rows: evenly apart, none after one of its page, and all again if there are fewer.
func scattered(all, n, bytes int) (sizes, apart []int) {
	if n > all {
		rounds := (n + all - 1) / all
		sizes, apart, n = []int{rounds}, []int{0}, n/rounds
	}
	each := max(all/n-1, 0)/2*2 + 1 // an odd number, so that all sets of a cache have some
	turns := min(max(page/max(each*bytes, 1), 1), int(math.Sqrt(float64(n))))
	for n%turns > n/32 { // of the last turn some may be lacking
		turns--
	}
	return append(sizes, turns, n/turns), append(apart, each, each*turns)
}

// byRow lowers what takes rows of its first operand by numbers, or puts some there. Lists of numbers
// name places of several dims together. It reports false of a mask, which does not say how many.
func (w *walks) byRow() bool {
	index, flat := w.named(operators.Index), w.named(operators.Flat)
	if len(index)+len(flat) == 0 && w.row.Takes(operators.Index) {
		w.err = errUnnamed
	}
	if len(w.all) == 0 || len(index)+len(flat) == 0 {
		return false
	}
	table, rest := w.table()
	dims, dtype := nest.UpTo(len(table.Shape)), append(index, flat...)[0].DType
	if len(flat) == 0 {
		dims = w.dimsOf(index)
	}
	n, rank := product(shapeOf(append(index, flat...))), len(table.Shape)
	if dtype == "bool" || dtype == "uint8" || len(dims) == 0 || dims[len(dims)-1] >= rank ||
		n < 1 || product(table.Shape) == 0 {
		return false
	}
	first := dims[0]
	if dims[len(dims)-1]-first != len(dims)-1 {
		first = 0 // others between them come behind (AdvancedIndex in TensorAdvancedIndexing.cpp)
	}
	var named, strides, shape, beside []int // of these dims, and of the others
	for d, size := range table.Shape {
		if slices.Contains(dims, d) {
			named, strides = append(named, size), append(strides, table.Strides[d])
		} else {
			shape, beside = append(shape, size), append(beside, table.Strides[d])
		}
	}
	all := product(named)
	step := reach(named, strides) / all
	order, apart := scattered(all, n, step*table.ItemSize())
	for i := range apart {
		apart[i] *= step
	}
	table.Shape, table.Strides = slices.Insert(shape, first, order...), slices.Insert(beside, first, apart...)
	row := slices.Delete(slices.Clone(table.Shape), first, first+len(order))
	whole := slices.Insert(row, first, n)
	w.together(table, first+len(order), rest, func(l layouts.Layout) (shape, strides []int) {
		l, err := l.View(whole...)
		if err != nil {
			return nil, nil
		}
		strides = slices.Delete(l.Strides(), first, first+1)
		return table.Shape, slices.Insert(strides, first, inTurn(order, l.Stride(first))...)
	})
	w.asTheyLie(append(index, flat...))
	return true
}

// table is what numbers are of, and what else there is beside them.
func (w *walks) table() (table tensor, rest []tensor) {
	for _, o := range w.all[1:] {
		is := w.row.Is(o.Argument)
		if o.Role == operators.Output || is != operators.Index && is != operators.Flat {
			rest = append(rest, o)
		}
	}
	return w.all[0], rest
}

// dimsOf are the dims of a table for which there are lists of numbers, in ascending order.
func (w *walks) dimsOf(index []tensor) []int {
	if dim, ok := w.op.Along(); ok {
		return []int{dim}
	} else if w.row.Takes(operators.Dim) {
		return nil
	}
	var dims []int
	for _, o := range index {
		dims = append(dims, o.Nth)
	}
	slices.Sort(dims)
	if dims = slices.Compact(dims); len(dims) < len(index) {
		dims = nest.UpTo(len(index)) // of a profile that does not say it
	}
	return dims
}

// byElement lowers what takes single elements along a dim, or puts some there, as a tensor says for
// each: all along the dim for one place of the others after the other.
func (w *walks) byElement() bool {
	index := w.named(operators.Index)
	if len(index) != 1 || len(w.all) < 2 || len(w.all[0].Shape) == 0 {
		return false
	}
	table, rest := w.table()
	dim, said := w.op.Along()
	shape := slices.Clone(index[0].Shape)
	rank := len(table.Shape)
	if !w.row.Takes(operators.Dim) && len(shape) == rank-1 { // the class of each row
		dim, said = min(1, rank-1), true
		shape = slices.Insert(shape, dim, 1)
		table = w.dense(table)
	}
	if !said || len(shape) != rank || product(shape) == 0 || product(table.Shape) == 0 {
		return false
	}
	for d, n := range shape {
		if d != dim && n > table.Shape[d] {
			return false
		}
	}
	order, apart := scattered(table.Shape[dim], shape[dim], table.Strides[dim]*table.ItemSize())
	for i := range apart {
		apart[i] *= table.Strides[dim]
	}
	others := slices.Delete(slices.Clone(shape), dim, dim+1)
	table.Shape = append(others, order...)
	table.Strides = append(slices.Delete(slices.Clone(table.Strides), dim, dim+1), apart...)
	w.together(table, len(table.Shape), append(index, rest...), func(l layouts.Layout) (_, strides []int) {
		l, err := l.View(shape...)
		if err != nil {
			return nil, nil
		}
		strides = slices.Delete(l.Strides(), dim, dim+1)
		return table.Shape, append(strides, inTurn(order, l.Stride(dim))...)
	})
	return true
}

// together goes through what is named of a table, some dims outermost, beside those of others that
// have as many elements, as a view has them.
func (w *walks) together(table tensor, outer int, others []tensor, view func(layouts.Layout) (shape, strides []int)) {
	operands := []walked{w.operand(table, roles[table.Role])}
	var rest []tensor
	written := table.Role != operators.Input
	for _, o := range others {
		l, err := o.Layout()
		one := o
		if err == nil {
			one.Shape, one.Strides = view(l)
		}
		if one.Shape == nil || o.Role != operators.Input && written {
			rest = append(rest, o)
			continue
		}
		written = written || o.Role != operators.Input
		operands = append(operands, w.operand(one, roles[o.Role]))
	}
	if written {
		w.add(access.Add, nest.UpTo(outer), operands...)
	} else {
		for _, o := range operands {
			w.add(access.Sum, nil, o)
		}
	}
	w.asTheyLie(rest)
}

// inTurn are the strides of dims that go over elements one after the other, which are so far apart.
func inTurn(sizes []int, step int) []int {
	strides := make([]int, len(sizes))
	for k, n := range slices.Backward(sizes) {
		strides[k], step = step, step*n
	}
	return strides
}

// reach is how many elements of memory some dims span.
func reach(shape, strides []int) int {
	n := 1
	for d, size := range shape {
		n += (size - 1) * strides[d]
	}
	return n
}
