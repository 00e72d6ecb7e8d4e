package access

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// An arena is the memory of a pattern's tensors. Byte i is at address Origin+i of the nests. It
// starts at a page boundary, so its alignment is the simulator's.
type arena []byte

// A runner walks one pattern natively, in exactly the order of its nests.
type runner struct {
	// prepare writes every element of the arena (see initial).
	prepare func()
	// restore, if not nil, rewrites what other patterns' passes may have overwritten.
	restore func()
	// part, if not nil, walks elems of a pass's length elements, starting at from. It returns 1 if
	// it ended at the right element.
	part   func(from, elems int) float64
	length int
	// passes walks the nests n times and returns the sum of all passes, for a Sum.
	passes func(n int) float64
	// reference checks the arena after prepare and one pass. It returns the plain sum, for a Sum.
	reference func() (float64, error)
	// inPlace: a pass reads its own output, so only the first pass matches reference.
	inPlace bool
}

func newRunner(p Pattern, mem arena) (runner, error) {
	if len(mem) < p.Memory {
		return runner{}, fmt.Errorf("the arena holds %d B of the pattern's %d", len(mem), p.Memory)
	}
	mem = mem[:p.Memory]
	if p.Spec.Op == Chase {
		return bindChase(p, mem), nil
	}
	if err := p.Spec.computable(); err != nil {
		return runner{}, err
	}
	switch p.Spec.DType {
	case layouts.Bool, layouts.Uint8: // walks treat a bool as a byte
		return bind(p, mem, realKernels[uint8, int64]())
	case layouts.Int8:
		return bind(p, mem, realKernels[int8, int64]())
	case layouts.Int16:
		return bind(p, mem, realKernels[int16, int64]())
	case layouts.Int32:
		return bind(p, mem, numberKernels[int32, int64]())
	case layouts.Int64:
		return bind(p, mem, realKernels[int64, int64]())
	case layouts.Float32:
		return bind(p, mem, numberKernels[float32, float64]())
	case layouts.Float64:
		return bind(p, mem, numberKernels[float64, float64]())
	case layouts.Complex64:
		return bind(p, mem, complex64Kernels())
	case layouts.Complex128:
		return bind(p, mem, complex128Kernels())
	case layouts.Float16:
		return bind(p, mem, narrowKernels(layouts.HalfOf, sumHalf, addHalf))
	case layouts.BFloat16:
		return bind(p, mem, narrowKernels(layouts.BFloatOf, sumBFloat, addBFloat))
	}
	return runner{}, fmt.Errorf("no native kernels for %s", p.Spec.DType)
}

func (s Spec) computable() error {
	if set, err := s.Kernel.set(); err != nil || set != nil && !set.Runs() {
		return fault("kernel", s.Kernel, cmp.Or(err, fmt.Errorf(
			"this CPU does not run it (it runs %s)", kernel.Names(kernel.Sets()))))
	}
	if len(s.Operands) > 0 {
		return s.computableOperands()
	}
	return nil
}

// kernels are the native loops for one element type.
type kernels[T layouts.Element] struct {
	of   func(int) T // of a small whole number
	sum  func(mem []T, b *block) float64
	fill func(mem []T, b *block, value T) // nil for fillBlock
	copy func(mem []T, b *block)          // nil for copyBlock
	zero func(mem []T, b *block)          // nil for fill
	add  func(mem []T, b *block)
	// vectorSum and vectorFill, or nil
	sums  func(set *kernel.Set, mem []T, nests []elementNest) func(passes int) float64
	fills func(set *kernel.Set, mem []T, nests []elementNest, value T) func(passes int) float64
}

// realKernels sum elements of type T in A.
func realKernels[T realNumber, A int64 | float64]() kernels[T] {
	return kernels[T]{
		of:    func(i int) T { return T(i) },
		sum:   func(mem []T, b *block) float64 { return float64(sumBlock[T, A](mem, b)) },
		add:   addBlock[T],
		fills: vectorFill[T],
	}
}

func numberKernels[T int32 | float32 | float64, A int64 | float64]() kernels[T] {
	k := realKernels[T, A]()
	k.sums = vectorSum[T]
	return k
}

// narrowKernels are for 16-bit floats, computed as float32 as in PyTorch. Callers pass sum and add
// whole: calling a conversion function for each element takes longer than the loads.
func narrowKernels[T layouts.Half | layouts.BFloat](round func(float32) T,
	sum func(mem []T, b *block) float64, add func(mem []T, b *block)) kernels[T] {
	return kernels[T]{of: func(i int) T { return round(float32(i)) }, sum: sum, add: add,
		sums: vectorSum[T], fills: vectorFill[T]}
}

// complex64Kernels move both parts in one access, and compute with one after the other (see
// Pattern.halves).
func complex64Kernels() kernels[complex64] {
	return kernels[complex64]{
		of:  func(i int) complex64 { return complex(float32(i), 0) },
		sum: func(mem []complex64, b *block) float64 { return sumParts(as[[2]float32](mem), b) },
		fill: func(mem []complex64, b *block, value complex64) {
			fillBlock(as[uint64](mem), b, *(*uint64)(unsafe.Pointer(&value)))
		},
		add: func(mem []complex64, b *block) { addComplex(as[[2]float32](mem), b) },
	}
}

// complex128Kernels copy both parts in one access, and do all else with one after the other.
func complex128Kernels() kernels[complex128] {
	return kernels[complex128]{
		of:   func(i int) complex128 { return complex(float64(i), 0) },
		sum:  func(mem []complex128, b *block) float64 { return sumParts(as[[2]float64](mem), b) },
		copy: func(mem []complex128, b *block) { copyBlock(as[[2]uint64](mem), b) },
		zero: func(mem []complex128, b *block) { fillBlock(as[[2]uint64](mem), b, [2]uint64{}) },
		add:  func(mem []complex128, b *block) { addComplex(as[[2]float64](mem), b) },
	}
}

func as[U, T any](mem []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem))
}

func bind[T layouts.Element](p Pattern, mem arena, k kernels[T]) (runner, error) {
	data, err := layouts.Over[T](mem)
	if err != nil {
		return runner{}, err
	}
	if k.fill == nil {
		k.fill = fillBlock[T]
	}
	if k.copy == nil {
		k.copy = copyBlock[T]
	}
	if k.zero == nil {
		k.zero = func(mem []T, b *block) { k.fill(mem, b, *new(T)) }
	}
	var nests []elementNest
	for _, n := range p.Nests {
		if p.plan != nil || p.block > 0 {
			break // walked by Plan.Run or runBlocks
		}
		if p.halves() {
			n = whole(n)
		}
		e, err := inElements(n, p.Spec.DType.Size(), p.Spec.Width == 0)
		if err != nil {
			return runner{}, err
		}
		nests = append(nests, e)
	}
	passes := bindVector(p, mem, data, nests, k)
	if passes == nil {
		passes = bindBlocks(p.Spec.Op, data, nests, k)
	}
	return runner{
		prepare:   func() { prepareAll(data, k.of) },
		passes:    passes,
		reference: func() (float64, error) { return reference(p, data, k.of) },
		inPlace: slices.ContainsFunc(p.Spec.Operands, func(o Value) bool {
			return o.Kind == nest.Modify
		}),
	}, nil
}

// bindBlocks returns passes over the nests by plain loops. It binds each nest's loops once, because
// a pass may take no longer than binding them.
func bindBlocks[T layouts.Element](op Op, mem []T, nests []elementNest,
	k kernels[T]) func(passes int) float64 {
	sum, value := 0.0, k.of(fillValue)
	loops := make([]func(b *block), len(nests))
	for i, n := range nests {
		loops[i] = func(b *block) { k.copy(mem, b) } // also an Add of one tensor, in order Torch
		switch {
		case op == Sum:
			loops[i] = func(b *block) { sum += k.sum(mem, b) }
		case op == Fill:
			loops[i] = func(b *block) { k.fill(mem, b, value) }
		case op == Add && len(n.steps) == 3:
			loops[i] = func(b *block) { k.add(mem, b) }
		case op == Reorder && len(n.steps) == 1: // padding
			loops[i] = func(b *block) { k.zero(mem, b) }
		}
	}
	return func(passes int) float64 {
		sum = 0
		for range passes {
			for i := range nests {
				nests[i].each(loops[i])
			}
		}
		return sum
	}
}

func (p Pattern) start(op operand) int { return int(op.base-Origin) / p.Spec.DType.Size() }
