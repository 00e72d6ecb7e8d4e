package access

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// This file lowers walks in PyTorch's order. The order, and the strides of results, come from
// layouts.Elementwise, Into, Reduction and Copy.

// A Value is a tensor as an operand of an operation: its layout, its dtype, and its role there.
type Value struct {
	Layout layouts.Layout
	DType  layouts.DType
	Role   Role
	// At is the address of the storage's first element, a multiple of the element's size. Operands
	// with an address are only simulated and priced. Others get their own memory.
	At uint64
}

// A Role says whether an operation reads or writes an operand.
type Role uint8

const (
	Input   Role = iota // read
	Output              // written
	InPlace             // read and written
)

var roleNames = []string{"input", "output", "in-place"}

// String returns "input", "output" or "in-place".
func (r Role) String() string {
	if int(r) >= len(roleNames) {
		return fmt.Sprintf("Role(%d)", uint8(r))
	}
	return roleNames[r]
}

// ParseRole reads what String writes.
func ParseRole(name string) (Role, error) {
	if i := slices.Index(roleNames, name); i >= 0 {
		return Role(i), nil
	}
	return 0, fmt.Errorf("no such role (known: %s)", strings.Join(roleNames, ", "))
}

// String returns "8x4 float32". If the operand is not contiguous, it returns "8x4(1,8) float32",
// with strides in elements.
func (o Value) String() string { return formatLayout(o.Layout) + " " + o.DType.String() }

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
	switch s := p.Spec; {
	case s.Tile != nil:
		return fault(FieldTile, layouts.FormatShape(s.Tile),
			errors.New("order torch has none but its own"))
	case s.Width != 0 && s.Width != s.DType.Size():
		return fault(FieldWidth, s.Width, errors.New("order torch is walked element by element"))
	case s.Kernel != Scalar:
		return fault(FieldKernel, s.Kernel, errors.New("order torch goes with scalar"))
	case p.Elems == 0:
		p.Nests = []nest.Nest{{Trips: []int{0}}}
		for _, op := range p.operands {
			p.Nests[0].Operands = append(p.Nests[0].Operands,
				op.access(p.dtypeOf(op).Size(), op.view.Offset(), []int{0}))
		}
		return nil
	}
	walk, err := p.torchWalk()
	if err != nil && p.Spec.Dims != nil {
		return fault(FieldDims, fmt.Sprint(p.Spec.Dims), err)
	}
	if err != nil {
		return fault(FieldOrder, p.Spec.Order, err)
	}
	switch {
	case walk.block > 0:
		p.blocked(walk.block)
	case p.Spec.Op == Sum:
		p.reduce(walk)
	default:
		p.Nests = []nest.Nest{p.nestOf(walk.views)}
	}
	for i, n := range p.Nests {
		if err := n.Check(); err != nil {
			return fault(FieldOrder, p.Spec.Order, err)
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
		var plan layouts.CopyPlan
		if plan, err = layouts.Copy(y.view, inputs[0], p.dtypeOf(y), p.dtypeOf(p.operands[0]),
			false); err != nil {
			return torchWalk{}, err
		}
		if plan.Path == layouts.CopyBlocks {
			return torchWalk{block: plan.Block}, nil
		}
		it = plan.Iteration
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
			if one, err = one.Select(0, 0); err != nil {
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

func (p *Pattern) nestOf(views []layouts.Layout) nest.Nest {
	n := nest.Nest{Trips: views[0].Shape()}
	for i, op := range p.operands[:len(views)] {
		n.Operands = append(n.Operands, op.access(p.dtypeOf(op).Size(), views[i].Offset(),
			views[i].Strides()))
	}
	return n
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
	x := p.nestOf(w.views[:1])
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

// placeOperands places the operands in memory: first those that are read, in their order.
func (p *Pattern) placeOperands() error {
	s := &p.Spec
	if err := s.checkOperands(); err != nil {
		return err
	}
	var shapes []layouts.Layout
	var output *int
	names := tensorNames(s.Operands)
	place := func(i int, kind nest.Kind) error {
		return p.addOperand(names[i], kind, s.Operands[i].Layout, i+1)
	}
	for i, o := range s.Operands {
		if o.Role == Output || o.Role == InPlace {
			output = &i
		}
		if o.Role != Output {
			if err := place(i, nest.Read); err != nil {
				return err
			}
		}
		shapes = append(shapes, o.Layout)
	}
	switch {
	case s.Op == Sum:
		if output != nil {
			return place(*output, nest.Write)
		}
		return nil
	case output == nil: // of Add: PyTorch allocates it
		it, err := layouts.Elementwise(shapes...)
		if err != nil {
			return fault(FieldOperands, s.operands(), err)
		}
		p.fresh = true
		if err := p.expand(it.Output); err != nil {
			return err
		}
		return p.add("out", nest.Write, it.Output, it.Output)
	}
	y := s.Operands[*output]
	if err := p.expand(y.Layout); err != nil {
		return err
	}
	if y.Role == Output {
		return place(*output, nest.Write)
	}
	i := slices.IndexFunc(p.operands, func(op operand) bool { return op.of == *output+1 })
	self := p.operands[i]
	self.kind = nest.Write
	p.operands = append(p.operands, self)
	return nil
}

// tensorNames are used in nests and benchmarks: in, in2, out, self.
func tensorNames(operands []Value) []string {
	names, count := make([]string, len(operands)), map[Role]int{}
	for i, o := range operands {
		names[i] = map[Role]string{Input: "in", Output: "out", InPlace: "self"}[o.Role]
		if count[o.Role]++; count[o.Role] > 1 {
			names[i] += fmt.Sprint(count[o.Role])
		}
	}
	return names
}

// Number returns the index in Spec.Operands of a tensor of the nests. It returns false for tensors
// that are not in Spec.Operands, such as buffers.
func (p Pattern) Number(tensor string) (n int, ok bool) {
	for _, op := range p.operands {
		if op.tensor == tensor && op.of > 0 {
			return op.of - 1, true
		}
	}
	return 0, false
}

func (s *Spec) checkOperands() error {
	count := map[Role]int{}
	for _, o := range s.Operands {
		if int(o.Role) >= len(roleNames) || o.DType.Size() == 0 {
			return fault(FieldOperands, s.operands(),
				fmt.Errorf("role %v, dtype %s", o.Role, o.DType))
		}
		count[o.Role]++
	}
	want := ""
	written := count[Output] + count[InPlace]
	switch {
	case s.Order != Torch:
		return fault(FieldOrder, s.Order, errors.New("operands are walked in order torch"))
	case s.Op == Copy && (count[Input] != 1 || count[Output] != 1 || len(s.Operands) != 2):
		want = "an input and an output"
	case s.Op == Fill && (count[Input] > 0 || written != 1):
		want = "one that is written"
	case s.Op == Sum && (count[Input] != 1 || count[InPlace] > 0 || count[Output] > 1):
		want = "an input, and an output or none"
	case s.Op == Add && (count[Input]+count[InPlace] == 0 || written > 1):
		want = "one that is read or more, and at most one that is written"
	case s.Op == Chase || s.Op == Reorder:
		want = "none"
	}
	if want != "" {
		return fault(FieldOperands, s.operands(), fmt.Errorf("%v wants %s", s.Op, want))
	}
	if s.Op == Sum {
		return nil
	}
	if s.Dims != nil && (s.Op != Add || written == 0) {
		return fault(FieldDims, fmt.Sprint(s.Dims),
			fmt.Errorf("%v has none, they are what a sum goes along, or outermost in an add that "+
				"says where its result is", s.Op))
	}
	return nil
}

func (s *Spec) operands() string {
	var all []string
	for _, o := range s.Operands {
		all = append(all, fmt.Sprintf("%v %v", o.Role, o))
	}
	return strings.Join(all, ", ")
}

func (s *Spec) uniform() bool {
	return !slices.ContainsFunc(s.Operands, func(o Value) bool { return o.DType != s.DType })
}

// expand gives the inputs the shape of the result, for reference.
func (p *Pattern) expand(to layouts.Layout) error {
	for i := range p.operands {
		view, err := p.operands[i].own.Expand(to.Shape()...)
		if err != nil {
			return fault(FieldOperands, p.Spec.operands(), err)
		}
		p.operands[i].view = view
	}
	return nil
}

// addOperand places operand number of of the spec, counted from 1. It skips whole pages of storage
// before its elements.
func (p *Pattern) addOperand(tensor string, kind nest.Kind, l layouts.Layout, of int) error {
	if at := p.Spec.Operands[of-1].At; at > 0 {
		p.operands = append(p.operands, operand{tensor: tensor, kind: kind, base: at, view: l,
			own: l, of: of})
		return nil
	}
	size := p.Spec.Operands[of-1].DType.Size()
	low, high := l.Extent()
	page := alignment / size
	shift := (low - ((low%page)+page)%page)
	start := aligned(p.Memory)
	if high-shift > (math.MaxInt-Origin-start-alignment)/size-1 || high < low {
		return fault(FieldOperands, p.Spec.Operands[of-1].String(),
			errors.New("it is more bytes than the address space holds"))
	}
	moved, err := layouts.New(l.Shape(), l.Strides(), l.Offset()-shift)
	if err != nil {
		return fault(FieldOperands, p.Spec.Operands[of-1].String(), err)
	}
	bytes := (high - shift + 1) * size
	p.operands = append(p.operands, operand{tensor: tensor, kind: kind,
		base: Origin + uint64(start), view: moved, own: moved, size: bytes, of: of})
	p.Memory = start + bytes
	return nil
}

// overlapsAsked bounds the elements whose overlaps are computed. Beyond, the first check of the
// output finds them.
const overlapsAsked = 1 << 20

// computableOperands refuses operands that no native loop walks.
func (s Spec) computableOperands() error {
	read, written := 0, false
	for _, o := range s.Operands {
		if o.DType != s.Operands[0].DType {
			return fmt.Errorf("operands of %s and %s are priced and simulated only, no native "+
				"loop converts", s.Operands[0].DType, o.DType)
		}
		if o.Role != Output {
			read++
		}
		written = written || o.Role != Input
		if o.Role != Input && s.Op != Fill && o.Layout.Numel() <= overlapsAsked &&
			o.Layout.Overlaps() {
			return errors.New("elements of the output share memory: it is priced and simulated " +
				"only, because their last values depend on the order")
		}
		if o.At > 0 {
			return errors.New("operands at addresses of their own are priced and simulated only")
		}
	}
	switch {
	case s.Op == Sum && written:
		return errors.New("a sum that writes its result is priced and simulated only: leave the " +
			"output out")
	case s.Op == Add && read > 2:
		return fmt.Errorf("an operation of %d tensors is priced and simulated only, native loops "+
			"read one or two", read)
	}
	return nil
}

func (s Spec) operandsName() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Operands/op=%v", s.Op)
	if s.Dims != nil {
		fmt.Fprintf(&b, "/dims=%s", listed(s.Dims))
	}
	names := tensorNames(s.Operands)
	for i, o := range s.Operands {
		fmt.Fprintf(&b, "/%s=%s", names[i], formatLayout(o.Layout))
		if o.DType != s.Operands[0].DType {
			fmt.Fprintf(&b, ":%s", o.DType)
		}
	}
	fmt.Fprintf(&b, "/order=torch/dtype=%s/kernel=%v", s.Operands[0].DType, s.Kernel)
	return b.String() + s.threadsName()
}

// Contiguous returns the spec with contiguous operands of the same shapes. A dim of stride 0 still
// repeats one element.
func (s Spec) Contiguous() (Spec, error) {
	operands := slices.Clone(s.Operands)
	for i, o := range operands {
		shape := o.Layout.Shape()
		stored := slices.Clone(shape)
		for d := range stored {
			if o.Layout.Stride(d) == 0 && stored[d] > 1 {
				stored[d] = 1
			}
		}
		dense, err := layouts.Contiguous(stored...)
		if err == nil {
			dense, err = dense.Expand(shape...)
		}
		if err != nil {
			return s, fault(FieldOperands, o.String(), err)
		}
		operands[i].Layout = dense
	}
	s.Operands = operands
	return s, nil
}
