package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// builtinWidth is the simulated width of Go's copy, in bytes: a vector of AVX2. Go selects its
// instructions by length and CPU.
const builtinWidth = 32

// useKernel replaces the nests by the kernel's. It refuses what the kernel cannot do in the
// promised order.
func (p *Pattern) useKernel() error {
	s := p.Spec
	switch {
	case s.Kernel == Scalar:
		return nil
	case s.Width != 0:
		return errors.New("a width goes with scalar, others have their own")
	case s.Op == Add:
		return errors.New("only scalar adds")
	case (s.Op == Copy || s.Op == Reorder) && (s.Tile != nil || s.Order != Row):
		return errors.New("it copies in an order of its own; orders and tiles go with scalar")
	case s.Kernel == Builtin && s.Op != Copy:
		return fmt.Errorf("no builtin does a %s", s.Op)
	case s.Kernel == Builtin:
		return p.inVectors(builtinWidth)
	}
	set, err := s.Kernel.set()
	switch {
	case err != nil:
		return err
	case s.Op == Reorder && len(p.pieces) > 1:
		return fmt.Errorf("padding parts the walk into %d, and it takes one", len(p.pieces))
	case s.Op == Copy || s.Op == Reorder:
		p.planCopy(set, p.Nests[0])
		return nil
	}
	known := []layouts.DType{layouts.Int32, layouts.Float32, layouts.Float64}
	if set.Halves() {
		known = append(known, layouts.Float16, layouts.BFloat16)
	}
	switch {
	case s.Op == Fill && s.DType.IsComplex():
		return fmt.Errorf("it does no %s of %s (scalar does all)", s.Op, s.DType)
	case s.Op != Fill && !slices.Contains(known, s.DType):
		return fmt.Errorf("it does no %s of %s (but of %s; scalar does all)", s.Op, s.DType,
			listed(known))
	}
	return p.inVectors(set.Width(s.DType.Size()))
}

// inVectors widens the accesses: vectors for whole lines of 64 B of the innermost loop, then single
// elements. A sum goes by whole lines first even if a vector is one element.
func (p *Pattern) inVectors(width int) error {
	size := p.Spec.DType.Size()
	var nests []nest.Nest
	for _, n := range p.Nests {
		n = n.Canonical()
		if len(n.Trips) == 0 { // a run
			n.Trips = []int{1}
			for i := range n.Operands {
				n.Operands[i].Strides = []int{size}
			}
		}
		last := len(n.Trips) - 1
		beside := !slices.ContainsFunc(n.Operands, func(op nest.Operand) bool {
			return op.Strides[last] != size
		})
		if !beside && n.Iterations() > 0 {
			return errors.New("elements that are walked one after the other do not lie side by " +
				"side: scalar walks them")
		}
		if n.Iterations() == 0 || width == size && p.Spec.Op != Sum {
			nests = append(nests, n)
			continue
		}
		left := n.Trips[last] % (64 / size)
		whole, rest := n.Range(last, 0, n.Trips[last]-left),
			n.Range(last, n.Trips[last]-left, n.Trips[last])
		whole.Trips[last] = whole.Trips[last] * size / width
		for i := range whole.Operands {
			op := &whole.Operands[i]
			op.Width, op.Strides = width, slices.Clone(op.Strides)
			op.Strides[last] = width
		}
		for _, part := range []nest.Nest{whole, rest} {
			if part.Iterations() > 0 {
				nests = append(nests, part)
			}
		}
	}
	p.Nests = nests
	return nil
}

func listed[T any](values []T) string {
	var all []string
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, ",")
}

// planCopy replaces the nests by the kernel's plan for n, a copy of elements.
func (p *Pattern) planCopy(set *kernel.Set, n nest.Nest) {
	x, y := n.Operands[0], n.Operands[1]
	var loops []kernel.Loop
	for l, trips := range n.Trips {
		loops = append(loops, kernel.Loop{N: trips, To: y.Strides[l], From: x.Strides[l]})
	}
	p.plan = kernel.NewPlan(set, p.Spec.DType.Size(), loops)
	// Run gets the arena as both slices.
	p.plan.Move(int(y.Base-Origin), int(x.Base-Origin))
	if p.plan.Buffers > 0 { // in the arena, after the tensors
		p.buffers = aligned(p.Memory)
		p.Memory = p.buffers + p.plan.Buffers
	}
	p.Nests = nil
	for _, s := range p.plan.Steps {
		p.Nests = append(p.Nests, p.stepNest(s, p.operands[0], p.operands[1]))
	}
}

// Buffers is the tensor name of a kernel's buffers in nests.
const Buffers = "buffers"

func (p *Pattern) stepNest(s kernel.Step, x, y operand) nest.Nest {
	var n nest.Nest
	for _, l := range s.Loops {
		n.Trips = append(n.Trips, l.N)
	}
	to, from := s.Strides()
	n.Operands = make([]nest.Operand, 0, len(s.Body))
	for _, a := range s.Body {
		op := nest.Operand{Tensor: x.tensor, Width: a.Width, Strides: from}
		at := s.From
		if a.Write {
			op.Tensor, op.Kind, op.Strides, at = y.tensor, nest.Write, to, s.To
		}
		if a.Buffered() {
			op.Tensor, op.Strides, at = Buffers, a.Strides, p.buffers
		}
		op.Base = Origin + uint64(at+a.Offset)
		n.Operands = append(n.Operands, op)
	}
	return n
}

func bindVector[T layouts.Element](p Pattern, mem arena, data []T, nests []elementNest,
	k kernels[T]) func(passes int) float64 {
	set, _ := p.Spec.Kernel.set() // Pattern has refused unknown ones
	switch {
	case p.plan != nil:
		return func(passes int) float64 {
			p.plan.Run(mem, mem, mem[p.buffers:], passes)
			return 0
		}
	case p.block > 0:
		return each(func() { runBlocks(p, data) })
	case p.Spec.Kernel == Builtin:
		return each(func() {
			for _, n := range nests {
				n.each(func(b *block) { copyBuiltin(data, b, k) })
			}
		})
	case set != nil && p.Spec.Op == Sum:
		return k.sums(set, data, nests)
	case set != nil && p.Spec.Op == Fill:
		return k.fills(set, data, nests, k.of(fillValue))
	}
	return nil
}

func each(pass func()) func(passes int) float64 {
	return func(passes int) float64 {
		for range passes {
			pass()
		}
		return 0
	}
}

func vectorSum[T kernel.Number](set *kernel.Set, data []T,
	nests []elementNest) func(passes int) float64 {
	return func(passes int) float64 {
		sum := kernel.NewSum[T](set)
		repeat(passes, nests, func(r kernel.Rows) { sum.Add(data, r) })
		return sum.Total()
	}
}

func vectorFill[T kernel.Element](set *kernel.Set, data []T, nests []elementNest,
	value T) func(passes int) float64 {
	return func(passes int) float64 {
		repeat(passes, nests, func(r kernel.Rows) { kernel.Fill(set, data, value, r) })
		return 0
	}
}

// repeat calls a kernel for the rows of all nests, passes times. A single run is one call, with the
// passes as rows at the same place: a call takes about the time of a short run.
func repeat(passes int, nests []elementNest, do func(kernel.Rows)) {
	if len(nests) == 1 && len(nests[0].outer) == 0 && nests[0].rows == 1 && nests[0].run[0] == 1 {
		do(kernel.Rows{At: nests[0].at[0], N: nests[0].n, Count: passes})
		return
	}
	for range passes {
		for _, n := range nests {
			n.each(func(b *block) {
				if b.run[0] == 1 {
					do(kernel.Rows{At: b.at[0], N: b.n, Count: b.rows, Pitch: b.row[0]})
					return
				}
				at := b.at[0]
				for range b.rows { // single elements, which vectors left
					do(kernel.Rows{At: at, N: 1, Count: b.n, Pitch: b.run[0]})
					at += b.row[0]
				}
			})
		}
	}
}

func copyBuiltin[T layouts.Element](data []T, b *block, k kernels[T]) {
	from, to := b.at[0], b.at[1]
	if b.run != [3]int{1, 1} { // or single elements
		k.copy(data, b)
		return
	}
	for range b.rows {
		copy(data[to:][:b.n], data[from:])
		from += b.row[0]
		to += b.row[1]
	}
}

// PastCaches reports whether the pattern's writes bypass the caches, if the kernel decides that by
// size. Sets of package kernel do so where it pays off, Go's copy for contiguous writes of 1 MiB or
// more.
func (p Pattern) PastCaches() bool {
	switch {
	case p.plan != nil:
		return p.plan.PastCaches()
	case p.Spec.Kernel == Builtin:
		return len(p.Nests) > 0 && len(p.Nests[0].Canonical().Trips) == 1 && p.Bytes/2 >= 1<<20
	}
	return false
}
