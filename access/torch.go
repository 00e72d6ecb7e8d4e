package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// This file lowers walks in PyTorch's order. The order, and the strides of results, come from
// layouts.Elementwise, Into, Reduction and Copy.

// A Value is a tensor as an operand of an operation: its layout, its dtype, and what the operation
// does with it.
type Value struct {
	Layout layouts.Layout
	DType  layouts.DType
	Kind   nest.Kind // Modify for one that is read and written in place
	// At is the address of the storage's first element, a multiple of the element's size. Operands
	// with an address are only simulated and priced. Others get their own memory.
	At uint64
}

// text returns "8x4 float32". If the operand is not contiguous, it returns "8x4(1,8) float32",
// with strides in elements.
func (o Value) text() string { return formatLayout(o.Layout) + " " + o.DType.String() }

// formatLayout returns the shape, and strides unless contiguous. It leaves the offset out.
func formatLayout(l layouts.Layout) string {
	text := layouts.FormatShape(l.Shape())
	if l.IsContiguous() {
		return text
	}
	return text + strings.ReplaceAll(fmt.Sprint(l.Strides()), " ", ",")
}

// A torchWalk is the operands' layouts, merged and in PyTorch's order, or a copy by blocks.
type torchWalk struct {
	views []layouts.Layout // by operand
	block int              // edge of the blocks, or 0
	// reduced reports whether a reduction goes along a loop of the views.
	reduced func(loop int) bool
}

func (p *Pattern) lowerTorch() error {
	if err := p.Spec.without("order torch has no tiles but its own, goes element by element, and "+
		"wants scalar", "tile", "width", "kernel"); err != nil {
		return err
	}
	if p.Elems == 0 {
		p.Nests = []nest.Nest{{Trips: []int{0}}}
		for _, op := range p.operands {
			p.Nests[0].Operands = append(p.Nests[0].Operands,
				op.access(p.dtypeOf(op).Size(), op.view.Offset(), []int{0}))
		}
		return nil
	}
	walk, err := p.torchWalk()
	if err != nil && p.Spec.Dims != nil {
		return fault("dims", fmt.Sprint(p.Spec.Dims), err)
	}
	if err != nil {
		return fault("order", p.Spec.Order, err)
	}
	switch {
	case walk.block > 0:
		p.blocked(walk.block)
	case p.Spec.Op == Sum:
		p.reduce(walk)
	default:
		p.Nests = []nest.Nest{p.nestOf(p.operands, walk.views)}
	}
	for i, n := range p.Nests {
		if err := n.Check(); err != nil {
			return fault("order", p.Spec.Order, err)
		}
		if p.halves() {
			p.Nests[i] = halved(n)
		}
	}
	return nil
}

func (p *Pattern) torchWalk() (torchWalk, error) {
	if p.Spec.Op == Sum {
		x := p.operands[0]
		it, err := layouts.Reduction(x.view, false, p.Spec.Dims...)
		if err != nil {
			return torchWalk{}, err
		}
		w := torchWalk{views: []layouts.Layout{it.Walk[1]}, reduced: func(l int) bool {
			return it.Walk[0].Stride(l) == 0
		}}
		if len(p.operands) > 1 {
			w.views = append(w.views, it.Walk[0])
		}
		return w, nil
	}
	var inputs []layouts.Layout
	last := len(p.operands) - 1
	y := p.operands[last]
	for _, op := range p.operands[:last] {
		inputs = append(inputs, op.own)
	}
	var it layouts.Iteration
	var err error
	switch {
	case p.Spec.Op == Copy:
		it, err = layouts.Copy(y.view, inputs[0], p.dtypeOf(y), p.dtypeOf(p.operands[0]))
	case p.Spec.Dims != nil:
		return p.outermost()
	case p.fresh:
		it, err = layouts.Elementwise(inputs...)
	default:
		it, err = layouts.Into(y.view, inputs...)
	}
	if err != nil {
		return torchWalk{}, err
	}
	if it.Block > 0 {
		return torchWalk{block: it.Block}, nil
	}
	return torchWalk{views: append(slices.Clone(it.Walk[1:]), it.Walk[0])}, nil
}

// outermost walks the other dims for each element of Spec.Dims, as index_select does for each
// index.
func (p *Pattern) outermost() (w torchWalk, err error) {
	last := len(p.operands) - 1
	around := make([]layouts.Layout, len(p.operands)) // Spec.Dims first
	var inputs []layouts.Layout
	var y layouts.Layout
	for i, op := range p.operands {
		if around[i], err = op.view.Permute(outer(p.Spec.Dims, op.view.Rank())...); err != nil {
			return w, err
		}
		one := around[i]
		for range p.Spec.Dims {
			if one, err = one.Apply(layouts.MustParseChain("select(0,0)")); err != nil {
				return w, err
			}
		}
		if y = one; i < last {
			inputs = append(inputs, one)
		}
	}
	it, err := layouts.Into(y, inputs...)
	if err != nil {
		return w, err
	}
	for i, one := range append(slices.Clone(it.Walk[1:]), it.Walk[0]) {
		n := len(p.Spec.Dims)
		view, err := layouts.New(slices.Concat(around[i].Shape()[:n], one.Shape()),
			slices.Concat(around[i].Strides()[:n], one.Strides()), one.Offset())
		if err != nil {
			return w, err
		}
		w.views = append(w.views, view)
	}
	return w, nil
}

func outer(dims []int, rank int) []int {
	order := slices.Clone(dims)
	for d := range rank {
		if !slices.Contains(dims, d) {
			order = append(order, d)
		}
	}
	return order
}

// access returns an access of size bytes. The offset and the strides are in elements.
func (op operand) access(size, offset int, strides []int) nest.Operand {
	a := nest.Operand{Tensor: op.tensor, Kind: op.kind, Base: op.base + uint64(offset*size),
		Width: size, Strides: slices.Clone(strides)}
	for l := range a.Strides {
		a.Strides[l] *= size
	}
	return a
}

func (p *Pattern) dtypeOf(op operand) layouts.DType {
	if op.of > 0 {
		return p.Spec.Operands[op.of-1].DType
	}
	return p.Spec.DType
}

// columns are the bytes of a row that PyTorch sums at once down the columns: four vectors of AVX2,
// then one (ATen/native/cpu/SumKernel.cpp, vectorized_outer_sum).
var columns = [2]int{4 * 32, 32}

// fewColumns is the number at once if they do not fill a vector (scalar_outer_sum there).
const fewColumns = 4

// reduce lowers a reduction: reads in the order of the walk, then writes of the result. PyTorch
// writes between the reads. It sums several columns that lie side by side down the rows together.
func (p *Pattern) reduce(w torchWalk) {
	x := p.nestOf(p.operands[:1], w.views)
	last := len(x.Trips) - 1
	size := x.Operands[0].Width
	if last >= 1 && w.reduced(last) && !w.reduced(last-1) && x.Operands[0].Strides[last] != size &&
		x.Operands[0].Strides[last-1] == size {
		x = p.down(x, size)
	}
	if x.Trips != nil {
		p.Nests = append(p.Nests, x)
	}
	if len(w.views) == 1 {
		return
	}
	y, n := w.views[1], nest.Nest{Trips: []int{}}
	var strides []int
	for l := range y.Rank() {
		if !w.reduced(l) {
			n.Trips, strides = append(n.Trips, y.Size(l)), append(strides, y.Stride(l))
		}
	}
	op := p.operands[1]
	n.Operands = []nest.Operand{op.access(p.dtypeOf(op).Size(), y.Offset(), strides)}
	p.Nests = append(p.Nests, n)
}

// down lowers a walk down rows, the innermost loop, for several columns at once, the next loop. It
// returns the rest.
func (p *Pattern) down(x nest.Nest, size int) nest.Nest {
	last := len(x.Trips) - 1
	most := []int{columns[0] / size, columns[1] / size}
	if x.Trips[last-1] < most[1] {
		most = []int{fewColumns}
	}
	for _, n := range most {
		if x.Trips == nil || n < 2 || x.Trips[last-1] < n {
			continue
		}
		// loops [... block, column, row]
		whole, rest := x.Split(last-1, atOnce(x.Trips[last-1], n, last > 1))
		order := nest.UpTo(len(whole.Trips))
		order[last], order[last+1] = last+1, last
		p.Nests = append(p.Nests, whole.Permute(order...))
		if x = rest; rest.Iterations() == 0 {
			x.Trips = nil
		}
	}
	return x
}

// atOnce is the number of columns to sum at once: most, or less for slices. PyTorch sums the
// remaining columns after each slice. Here they would come after all slices, when their lines are
// evicted. So for slices it is the largest divisor of count that is at least half of most, if any.
func atOnce(count, most int, sliced bool) int {
	for n := most; sliced && 2*n >= most; n-- {
		if count%n == 0 {
			return n
		}
	}
	return most
}

// blocked lowers copy_ of a transposed matrix. Each block of the destination goes through a buffer:
// columns of the source become its rows, the buffer is transposed in place, and its rows become
// rows of the destination. One nest describes all three passes over a block, with an order for each
// of x, the buffer and y. Partial blocks come last.
func (p *Pattern) blocked(edge int) {
	p.block = edge
	x, y := p.operands[0], p.operands[1]
	size := p.dtypeOf(x).Size()
	rows, cols := y.view.Size(0), y.view.Size(1)
	p.buffers = aligned(p.Memory)
	p.Memory = p.buffers + edge*edge*size
	for _, r := range parts(rows, edge) {
		for _, c := range parts(cols, edge) {
			// Loops: blocks of rows, blocks of columns, and two within a block.
			from, to := y.view.Offset()+r.start*cols+c.start, x.view.Offset()+r.start+c.start*rows
			read := x.access(size, to, []int{r.length, c.length * rows, rows, 1})
			write := y.access(size, from, []int{r.length * cols, c.length, cols, 1})
			buffer := func(kind nest.Kind) nest.Operand {
				return operand{tensor: Buffers, kind: kind,
					base: Origin + uint64(p.buffers)}.access(size, 0, []int{0, 0, edge, 1})
			}
			in := nest.Nest{Trips: []int{r.count, c.count, c.length, r.length},
				Operands: []nest.Operand{read, buffer(nest.Write)}}
			out := nest.Nest{Trips: []int{r.count, c.count, r.length, c.length},
				Operands: []nest.Operand{buffer(nest.Read), write}}
			if r.length == c.length {
				in.Operands = append(append(in.Operands, buffer(nest.Modify)), out.Operands...)
				p.Nests = append(p.Nests, in)
				continue
			}
			p.Nests = append(p.Nests, in, out)
		}
	}
}

type part struct{ start, count, length int }

func parts(size, edge int) []part {
	var all []part
	if size >= edge {
		all = append(all, part{0, size / edge, edge})
	}
	if rest := size % edge; rest > 0 {
		all = append(all, part{size - rest, 1, rest})
	}
	return all
}

func runBlocks[T layouts.Element](p Pattern, mem []T) {
	x, y := p.operands[0], p.operands[1]
	edge := p.block
	rows, cols := y.view.Size(0), y.view.Size(1)
	from, to := mem[p.start(x)+x.view.Offset():], mem[p.start(y)+y.view.Offset():]
	buffer := mem[p.buffers/p.Spec.DType.Size():][:edge*edge]
	for r := 0; r < rows; r += edge {
		for c := 0; c < cols; c += edge {
			nr, nc := min(edge, rows-r), min(edge, cols-c)
			for j := range nc {
				copy(buffer[j*edge:][:nr], from[r+(c+j)*rows:])
			}
			n := max(nr, nc)
			for i := range n {
				for j := range i {
					a, b := &buffer[i*edge+j], &buffer[j*edge+i]
					*a, *b = *b, *a
				}
			}
			for i := range nr {
				copy(to[(r+i)*cols+c:][:nc], buffer[i*edge:])
			}
		}
	}
}
