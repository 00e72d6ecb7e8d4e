package bill

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/operators"
	"github.com/stridebench/stridebench/layouts/nest"
)

const page = 4096

// scattered returns the order in which n of all rows are accessed by index, as sizes and as
// distances in rows. Rows lie evenly spaced, and none follows another of its page. If n exceeds
// all, they repeat.
func scattered(all, n, bytes int) (sizes, apart []int) {
	if n > all {
		rounds := (n + all - 1) / all
		sizes, apart, n = []int{rounds}, []int{0}, n/rounds
	}
	each := max(all/n-1, 0)/2*2 + 1 // odd, so that rows reach all sets of a cache
	turns := min(max(page/max(each*bytes, 1), 1), int(math.Sqrt(float64(n))))
	for n%turns > n/32 { // the last turn may be incomplete
		turns--
	}
	return append(sizes, turns, n/turns), append(apart, each, each*turns)
}

// A named is n of all places of a table along a dim, a step apart. sizes and strides are of the
// other dims, and the dim would be number first among them.
type named struct {
	table          tensor
	first, all, n  int
	step           int
	sizes, strides []int
}

// byRow lowers operators that read or write rows of their first operand by index. Several index
// tensors name places of several dims together. It returns false for a mask, whose count is
// unknown.
func (w *walks) byRow() bool {
	index := w.named(operators.Index, operators.Flat)
	if len(index) == 0 && w.row.Takes(operators.Index) {
		w.err = errUnnamed
	}
	if len(index) == 0 || index[0].DType != "int64" && index[0].DType != "int32" {
		return false
	}
	p := named{table: w.all[0], n: product(shapeOf(index))}
	dims := w.dimsOf(index)
	if len(dims) == 0 || dims[len(dims)-1] >= len(p.table.Shape) || p.n < 1 ||
		product(p.table.Shape) == 0 {
		return false
	}
	if p.first = dims[0]; dims[len(dims)-1]-dims[0] != len(dims)-1 {
		p.first = 0 // AdvancedIndex in TensorAdvancedIndexing.cpp
	}
	var sizes, strides []int // of the indexed dims
	for d, size := range p.table.Shape {
		if slices.Contains(dims, d) {
			sizes, strides = append(sizes, size), append(strides, p.table.Strides[d])
		} else {
			p.sizes, p.strides = append(p.sizes, size), append(p.strides, p.table.Strides[d])
		}
	}
	p.all = product(sizes)
	p.step = reach(sizes, strides) / p.all
	w.together(p, false, w.beside(operators.Index, operators.Flat))
	w.asTheyLie(index)
	return true
}

// dimsOf returns the indexed dims of a table, ascending.
func (w *walks) dimsOf(index []tensor) (dims []int) {
	switch dim, ok := w.op.Along(); {
	case ok:
		return []int{dim}
	case w.row.Takes(operators.Dim):
		return nil
	case w.row.Takes(operators.Flat):
		return nest.UpTo(len(w.all[0].Shape))
	}
	for _, o := range index {
		dims = append(dims, o.Nth)
	}
	slices.Sort(dims)
	if dims = slices.Compact(dims); len(dims) < len(index) {
		dims = nest.UpTo(len(index)) // the profile does not say which
	}
	return dims
}

// beside returns the operands after the first, without those that have these letters.
func (w *walks) beside(letters ...operators.Arg) (all []tensor) {
	for _, o := range w.all[1:] {
		if o.Role == operators.Output || !slices.Contains(letters, w.row.Is(o.Argument)) {
			all = append(all, o)
		}
	}
	return all
}

// byElement lowers operators that read or write single elements along a dim, by an index for each.
// They go along the dim for one place of the other dims after the other.
func (w *walks) byElement() bool {
	index := w.named(operators.Index)
	if len(index) != 1 || len(w.all[0].Shape) == 0 {
		return false
	}
	p := named{table: w.all[0]}
	rank, shape := len(p.table.Shape), slices.Clone(index[0].Shape)
	dim, said := w.op.Along()
	if !w.row.Takes(operators.Dim) && len(shape) == rank-1 { // a class for each row
		dim, said = min(1, rank-1), true
		shape = slices.Insert(shape, dim, 1)
		p.table = w.dense(p.table)
	}
	if !said || len(shape) != rank || product(shape) == 0 || product(p.table.Shape) == 0 {
		return false
	}
	p.first, p.n, p.all, p.step = dim, shape[dim], p.table.Shape[dim], p.table.Strides[dim]
	p.sizes = slices.Delete(shape, dim, dim+1)
	for d, n := range slices.Delete(slices.Clone(p.table.Shape), dim, dim+1) {
		if p.sizes[d] > n {
			return false
		}
	}
	p.strides = slices.Delete(slices.Clone(p.table.Strides), dim, dim+1)
	w.together(p, true, w.beside())
	return true
}

// together walks the indexed places of a table, together with the other operands of as many
// elements. The places are the innermost loops, or else the outermost after the dims before theirs.
func (w *walks) together(p named, innermost bool, others []tensor) {
	order, apart := scattered(p.all, p.n, p.step*p.table.ItemSize())
	for i := range apart {
		apart[i] *= p.step
	}
	whole := slices.Insert(slices.Clone(p.sizes), p.first, p.n)
	p.table.Shape = slices.Insert(p.sizes, p.first, order...)
	p.table.Strides = slices.Insert(p.strides, p.first, apart...)
	dims := nest.UpTo(p.first + len(order))
	if innermost {
		for d := range p.table.Shape[len(dims):] {
			dims = slices.Insert(dims, p.first, len(p.sizes)+len(order)-1-d)
		}
	}
	operands, rest := []walked{w.operand(p.table, kindOf(p.table))}, []tensor(nil)
	written := p.table.Role != operators.Input
	for _, o := range others {
		l, err := o.Layout()
		if err == nil {
			l, err = l.View(whole...)
		}
		if err != nil || o.Role != operators.Input && written {
			rest = append(rest, o)
			continue
		}
		written = written || o.Role != operators.Input
		o.Shape = p.table.Shape
		strides := slices.Delete(l.Strides(), p.first, p.first+1)
		o.Strides = slices.Insert(strides, p.first, inTurn(order, l.Stride(p.first))...)
		operands = append(operands, w.operand(o, kindOf(o)))
	}
	if written {
		w.add(access.Add, dims, operands...)
	} else {
		for _, o := range operands {
			w.add(access.Sum, nil, o)
		}
	}
	w.asTheyLie(rest)
}

// inTurn returns the strides of dims that visit elements in order, a step apart.
func inTurn(sizes []int, step int) []int {
	strides := make([]int, len(sizes))
	for k, n := range slices.Backward(sizes) {
		strides[k], step = step, step*n
	}
	return strides
}

// reach returns how many elements of memory the dims span.
func reach(shape, strides []int) int {
	n := 1
	for d, size := range shape {
		n += (size - 1) * strides[d]
	}
	return n
}
