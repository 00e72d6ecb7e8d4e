// Package access turns tensors and views into patterns of memory access, simulates them and times
// them.
//
// A pattern is a list of layouts of one shape, walked together, the last dim fastest. Reading a
// tensor by columns is reading its transposed view by rows, and walking it in tiles is splitting
// two dims and permuting the four. Two executors walk a pattern: [Measure] natively, and [Simulate]
// on simulated caches. Neither has another source, so they cannot diverge.
//
// What an access pattern costs takes four steps, which the example shows:
//
//  1. A [Spec] describes the accesses in PyTorch's terms: an operation, the shape and dtype of a
//     tensor x, a chain of views on it, an order, tiles, a kernel. [Spec.Set] reads a field from
//     text, and [Suite] has the specs of the default benchmarks.
//  2. [Spec.Pattern] lowers it to nests of loops over addresses ([nest.Nest]), or returns a
//     [FieldError], which names the field that does not fit. [Pattern.Arrays] says where the
//     tensors lie.
//  3. [Simulate] counts the misses of a pass in the steady state.
//  4. [Measure] times passes. [Measurable] says beforehand whether it can. Patterns that are to be
//     compared are timed in one call, which interleaves their samples.
//
// A spec may instead have operands: tensors by value, walked in PyTorch's own order ([Value],
// [Torch]). With threads, a pattern has parts ([Pattern.Parts]), one for each thread.
//
// Package session does all of this for many patterns and returns records.
package access

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/blocked"
	"github.com/stridebench/stridebench/layouts/nest"
)

// An Op is an operation on each element of a view.
type Op uint8

// The operations.
const (
	Sum  Op = iota // read x
	Fill           // write x
	Copy           // read x, write y, contiguous and of the view's shape
	// read x and y, broadcast to a common shape, and write z, contiguous
	Add
	Chase // read x in a random cycle; each element holds the next index
	// read x in the format From, write y in the format To, and write zeros to its padding
	Reorder
)

var opNames = []string{"sum", "fill", "copy", "add", "chase", "reorder"}

// String returns "sum", "fill", "copy", "add", "chase" or "reorder".
func (o Op) String() string {
	if int(o) >= len(opNames) {
		return fmt.Sprintf("Op(%d)", uint8(o))
	}
	return opNames[o]
}

// parseOp reads what String writes.
func parseOp(name string) (Op, error) {
	if i := slices.Index(opNames, name); i >= 0 {
		return Op(i), nil
	}
	return 0, fmt.Errorf("no such operation (known: %s)", strings.Join(opNames, ", "))
}

// Tensors start at Origin, one after the other at multiples of alignment. A kernel's buffers follow
// them.
const (
	Origin    = 0x100000000
	alignment = 4096
)

// A Spec describes an access pattern.
type Spec struct {
	Op    Op
	Shape []int // of the tensor x, which is contiguous except for Pad
	Pad   int   // elements between rows of x, along its last dim
	DType layouts.DType
	With  []int         // shape of the added contiguous tensor
	View  layouts.Chain // on x
	Order Order         // of the view's dims
	// tile sizes, one per dim of the view; nil for no tiles
	Tile  []int
	Width int // bytes per access; 0 for one element

	// Operands, if any, replace Shape, Pad, DType, With and View, and are walked in order Torch. A
	// Copy has an input and an output, and a Fill an output. An Add has any number of inputs, one
	// of them possibly in place, and an output unless PyTorch allocates it. A Sum over Dims has an
	// input, and a result unless its writes are left out.
	Operands []Value
	// of the input of a Sum of Operands, none for all; or the outermost dims of an Add of Operands
	Dims []int
	// From is the format of an x that is not contiguous, for a Reorder, a Sum or a Fill. To is the
	// format of a Reorder's y.
	From, To blocked.Tag

	Kernel Kernel // what walks the pattern

	// that divide the walk (see Pattern.Parts); 0 for one, which the name omits
	Threads int
	Grain   int // least elements per thread; 0 for GrainSize
}

// A Pattern is a Spec lowered to accesses.
type Pattern struct {
	Spec  Spec        // with the dtype of the view
	Nests []nest.Nest // walked in order in each pass; none for a Chase
	Ring  []uint32    // elements from Origin that a Chase reads in a pass
	Elems int         // elements of the view, or of the common shape
	// bytes that a pass reads plus bytes that it writes in tensors, without a kernel's repeated
	// reads
	Bytes int
	// bytes of all tensors and a kernel's buffers, with the padding between them
	Memory int

	operands []operand
	fresh    bool               // in order Torch: PyTorch allocates the last operand
	formats  []blocked.Layout   // of the operands, if x has a format
	pieces   [][]layouts.Layout // pieces of the formats, walked in order
	plan     *kernel.Plan       // of a copy by a kernel set
	block    int                // side of the blocks of a copy in order Torch; 0 for none
	buffers  int                // bytes from Origin to the buffers of plan or block
	shared   []Pattern          // by thread (see Parts)
}

// An operand is a tensor of a pattern and the view of it that is walked, in the common shape.
type operand struct {
	tensor string
	kind   nest.Kind
	base   uint64
	view   layouts.Layout
	own    layouts.Layout // the view before broadcasting
	size   int            // bytes of the tensor
	of     int            // index in Spec.Operands from 1; 0 without Operands
}

// View returns the view of x that is walked, in the common shape for Add. If x has a format, only
// the view's shape is meaningful.
func (p Pattern) View() layouts.Layout { return p.operands[0].view }

// Pattern lowers the spec. It returns a *FieldError if the view does not apply, or if order, tile,
// width or kernel do not fit it.
func (s Spec) Pattern() (Pattern, error) {
	p := Pattern{Spec: s}
	if len(s.Operands) > 0 { // the dtype that native loops use if all operands have it
		p.Spec.DType = s.Operands[0].DType
		s = p.Spec
	}
	if err := s.checkNumbers(); err != nil {
		return Pattern{}, err
	}
	if s.From.Rank() > 0 || s.To.Rank() > 0 || s.Op == Reorder {
		err := p.inFormats()
		return p, err
	}
	if err := p.place(); err != nil {
		return Pattern{}, err
	}
	s = p.Spec // place may have changed the dtype
	view := p.operands[0].view
	p.Elems = view.Numel()
	if s.Op == Chase {
		err := p.ring()
		return p, err
	}
	if s.Order == Torch {
		if err := p.lowerTorch(); err != nil {
			return Pattern{}, err
		}
		p.Bytes = moved(p.Nests)
		p.share(p.Nests)
		return p, nil
	}
	order, err := s.Order.of(view.Rank())
	if err != nil {
		return Pattern{}, fault("order", s.Order, err)
	}
	tile, err := checkTile(s.Tile, view)
	if err != nil {
		return Pattern{}, err
	}
	var walked []layouts.Layout
	for _, op := range p.operands {
		walked = append(walked, op.view)
	}
	n, err := p.nest(walked)
	if err == nil && s.Width != 0 && s.Width != s.DType.Size() {
		err = fault("width", s.Width, s.widen(n, tile))
	}
	if err != nil {
		return Pattern{}, err
	}
	err = p.lower(tiled(n, tile, order))
	return p, err
}

// mostThreads is also the limit of shared-by in a description. A simulated thread takes about 40 KB
// with a first level of 48 KiB, so this many take 2.6 GB.
const mostThreads = 1 << 16

func (s Spec) checkNumbers() error {
	switch {
	case int(s.Op) >= len(opNames):
		return fault("op", s.Op, fmt.Errorf("no such operation (known: %s)",
			strings.Join(opNames, ", ")))
	case s.DType.Size() == 0:
		return fault("dtype", s.DType, fmt.Errorf("no such dtype (known: %s)",
			strings.Join(layouts.DTypeNames(), ", ")))
	case s.Threads < 0 || s.Threads > mostThreads:
		return fault("threads", s.Threads, fmt.Errorf("want at most %d", mostThreads))
	case s.Grain < 0:
		return fault("grain", s.Grain, errors.New("negative"))
	}
	return nil
}

// lower takes the nests of plain loops.
func (p *Pattern) lower(plain []nest.Nest) error {
	p.Nests, p.Bytes = plain, moved(plain)
	if err := p.useKernel(); err != nil {
		return fault("kernel", p.Spec.Kernel, err)
	}
	p.share(plain)
	return nil
}

// moved returns the bytes of tensors that plain loops read and write. Kernels may read some
// repeatedly.
func moved(plain []nest.Nest) (bytes int) {
	for _, n := range plain {
		for _, op := range n.Operands {
			if op.Tensor != Buffers {
				bytes += n.Iterations() * op.Width
			}
		}
	}
	return bytes
}

func (p *Pattern) place() error {
	s := p.Spec
	if len(s.Operands) > 0 {
		return p.placeOperands()
	}
	store, x, err := s.stored()
	if err != nil {
		return err
	}
	if err := fits(store, s.DType, math.MaxInt-Origin); err != nil {
		return err
	}
	view, dtype, err := x.ApplyTo(s.View, s.DType)
	if err == nil && dtype != s.DType { // a view as another dtype
		p.Spec.DType = dtype
		store, err = layouts.Contiguous((store.Numel()*s.DType.Size() +
			dtype.Size() - 1) / dtype.Size())
	}
	if err != nil {
		return fault("view", s.View, err)
	}
	switch {
	case s.Op == Add && s.With == nil:
		return fault("op", s.Op, errors.New("it wants the shape of a second tensor (with, such as "+
			"1x4000)"))
	case s.Op != Add && s.With != nil:
		return fault("with", layouts.FormatShape(s.With), errors.New("it goes with op add"))
	}
	switch s.Op {
	case Fill:
		return p.add("x", nest.Write, store, view)
	case Copy:
		return errors.Join(p.add("x", nest.Read, store, view), p.addFresh("y", view.Shape()))
	case Add:
		with, err := layouts.Contiguous(s.With...)
		if err != nil {
			return fault("with", s.With, err)
		}
		both, err := layouts.Broadcast(view, with)
		if err != nil {
			return fault("with", s.With, err)
		}
		if err := errors.Join(p.add("x", nest.Read, store, both[0]),
			p.add("y", nest.Read, with, both[1])); err != nil {
			return err
		}
		if s.Order != Torch {
			return p.addFresh("z", both[0].Shape())
		}
		p.fresh, p.operands[0].own, p.operands[1].own = true, view, with
		it, err := layouts.Elementwise(view, with)
		if err != nil {
			return fault("order", s.Order, err)
		}
		return p.add("z", nest.Write, it.Output, it.Output)
	}
	return p.add("x", nest.Read, store, view)
}

// stored returns the storage of x with padding, and x as a view of it.
func (s Spec) stored() (store, x layouts.Layout, err error) {
	if store, err = layouts.Contiguous(s.Shape...); err != nil {
		return store, x, fault("shape", s.Shape, err)
	}
	last := len(s.Shape) - 1
	switch {
	case s.Pad == 0:
		return store, store, nil
	case s.Pad < 0:
		return store, x, fault("pad", s.Pad, errors.New("negative (want 0 or more)"))
	case last < 0:
		return store, x, fault("pad", s.Pad, errors.New("a tensor without dims has no rows"))
	case s.Pad > math.MaxInt-s.Shape[last]:
		return store, x, fault("pad", s.Pad, errors.New("more than the address space holds"))
	}
	wide := slices.Clone(s.Shape)
	wide[last] += s.Pad
	if store, err = layouts.Contiguous(wide...); err == nil {
		x, err = store.Narrow(last, 0, s.Shape[last])
	}
	if err != nil {
		return store, x, fault("pad", s.Pad, err)
	}
	return store, x, nil
}

func (p *Pattern) addFresh(name string, shape []int) error {
	fresh, err := layouts.Contiguous(shape...)
	if err != nil {
		return fault("view", p.Spec.View, err)
	}
	return p.add(name, nest.Write, fresh, fresh)
}

func (p *Pattern) add(tensor string, kind nest.Kind, store, view layouts.Layout) error {
	start := aligned(p.Memory)
	if err := fits(store, p.Spec.DType, math.MaxInt-Origin-start-alignment); err != nil {
		return err
	}
	size := store.Numel() * p.Spec.DType.Size()
	p.operands = append(p.operands, operand{tensor: tensor, kind: kind,
		base: Origin + uint64(start), view: view, own: view, size: size})
	p.Memory = start + size
	return nil
}

func fits(store layouts.Layout, dtype layouts.DType, free int) error {
	if store.Numel() > free/dtype.Size() {
		return fault("shape", store.Shape(),
			fmt.Errorf("of %s it is more bytes than the address space holds", dtype))
	}
	return nil
}

func aligned(bytes int) int { return (bytes + alignment - 1) / alignment * alignment }

// nest lowers the views of all operands, or of the last one, to bytes.
func (p *Pattern) nest(views []layouts.Layout) (nest.Nest, error) {
	n := p.nestOf(p.operands[len(p.operands)-len(views):], views)
	if err := n.Check(); err != nil {
		return n, fault("view", p.Spec.View, err)
	}
	if p.halves() {
		n = halved(n)
	}
	return n, nil
}

func (p *Pattern) nestOf(operands []operand, views []layouts.Layout) nest.Nest {
	n := nest.Nest{Trips: views[0].Shape()}
	for i, op := range operands {
		n.Operands = append(n.Operands, op.access(p.dtypeOf(op).Size(), views[i].Offset(),
			views[i].Strides()))
	}
	return n
}

// halves reports whether real and imaginary parts are separate accesses, as plain loops compute. No
// register holds a complex128.
func (p *Pattern) halves() bool {
	s := p.Spec
	switch {
	case s.Width != 0 || !s.uniform() || p.block > 0:
		return false
	case s.Op == Sum || s.Op == Add:
		return s.DType.IsComplex()
	}
	return s.Op == Fill && s.DType == layouts.Complex128
}

// halved splits operands: all lower halves, then all upper halves.
func halved(n nest.Nest) nest.Nest {
	h := nest.Nest{Trips: n.Trips}
	for half := range 2 {
		for _, op := range n.Operands {
			op.Width /= 2
			op.Base += uint64(half * op.Width)
			h.Operands = append(h.Operands, op)
		}
	}
	return h
}

func whole(n nest.Nest) nest.Nest {
	w := nest.Nest{Trips: n.Trips, Operands: slices.Clone(n.Operands[:len(n.Operands)/2])}
	for i := range w.Operands {
		w.Operands[i].Width *= 2
	}
	return w
}

// Arrays returns where the tensors' elements lie, and the alignment of tensors in bytes. Their rows
// are those that the views imply, or, if stored, those of the viewed tensor's storage.
func (p Pattern) Arrays(stored bool) (all []nest.Array, align int) {
	for _, o := range p.operands {
		a := nest.Array{Tensor: o.tensor, Base: o.base, Element: p.Spec.DType.Size()}
		var steps []int
		for _, s := range o.own.Strides() {
			steps = append(steps, max(s, -s))
		}
		slices.Sort(steps)
		row, elems := 1, o.size/a.Element
		for _, s := range slices.Compact(steps) {
			if s > row && s%row == 0 && s < elems {
				a.Extents = append([]int{s / row}, a.Extents...)
				row = s
			}
		}
		a.Extents = append([]int{(elems + row - 1) / row}, a.Extents...)
		all = append(all, a)
	}
	if s := p.Spec; stored && len(s.Shape) > 0 && s.From.Rank() == 0 && all[0].Bytes() > 0 {
		all[0].Extents = slices.Clone(s.Shape)
		all[0].Extents[len(s.Shape)-1] += s.Pad
	}
	return all, alignment
}
