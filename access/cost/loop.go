package cost

import (
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// loop returns the ns of a nest's instructions. A sum adds partial sums after each row. Other
// operations call a function per block.
func (m Model) loop(p access.Pattern, n nest.Nest) float64 {
	iterations := float64(n.Iterations())
	if iterations == 0 {
		return 0
	}
	rules, inner, blocks := m.rules(), len(n.Trips)-1, iterations
	starts := iterations
	if inner >= 0 {
		starts /= float64(n.Trips[inner])
	}
	if blocks = starts; inner >= 1 {
		blocks /= float64(n.Trips[inner-1])
	}
	row, walk := rules.Row, rules.Walk
	if p.Spec.Op == access.Sum {
		row, walk = rules.SumRow, rules.SumWalk
	}
	return m.hit() * (iterations*m.body(p, n) + starts*row + blocks*rules.Block + walk)
}

// body returns the time of an iteration, in first-level hits.
func (m Model) body(p access.Pattern, n nest.Nest) float64 {
	inner, accesses, bytes := len(n.Trips)-1, 0.0, 0.0
	beside, vectors := true, false
	for _, op := range n.Operands {
		if op.Tensor == access.Buffers {
			continue // their price is part of the operands that they serve
		}
		accesses++
		bytes += float64(op.Width)
		beside = beside && (inner < 0 || op.Strides[inner] == op.Width)
		vectors = vectors || op.Width > p.Spec.DType.Size()
	}
	switch {
	case m.inVectors(n):
		return float64(moving(n)) * m.Times.Byte / m.Times.Hit
	case m.Vectors:
		return accesses * m.rules().Compiled
	case vectors:
		return bytes * m.Times.Byte / m.Times.Hit
	}
	op := p.Spec.Op
	if op == access.Reorder || op == access.Add && reads(n) == 1 { // nothing is added
		op = access.Copy
	}
	l := m.Times.loop(op, p.Spec.DType)
	if beside {
		return l.Run / m.Times.Hit
	}
	return l.Step / m.Times.Hit
}

// loop returns the measured loop of an operation and dtype, or else of integers of the same size,
// or of int32.
func (t Times) loop(op access.Op, dtype layouts.DType) probe.Loop {
	wholes := map[int]layouts.DType{1: layouts.Int8, 2: layouts.Int16, 8: layouts.Int64}
	for _, known := range []layouts.DType{dtype, wholes[dtype.Size()], layouts.Int32} {
		for _, l := range t.Loops {
			if l.Op == op.String() && l.DType == known.String() {
				return l
			}
		}
	}
	return probe.Loop{}
}

// swapped is the time per element by its bytes, in first-level hits, in which PyTorch's copy_
// transposes a transposed matrix in its buffer. It was measured with PyTorch 1.13 on an EPYC of
// 2021, with the matrix in the second level.
var swapped = map[int]float64{1: 1, 2: .9, 4: .43, 8: .57, 16: .95}

// swaps returns the ns of transposing a nest's buffer in place. No memory access overlaps it.
func (m Model) swaps(n nest.Nest) float64 {
	i := slices.IndexFunc(n.Operands, func(op nest.Operand) bool {
		return op.Tensor == access.Buffers && op.Kind == nest.Modify
	})
	if i < 0 || !m.Vectors {
		return 0
	}
	return float64(n.Iterations()) * swapped[n.Operands[i].Width] * m.hit()
}

func reads(n nest.Nest) (count int) {
	for _, op := range n.Operands {
		if op.Kind != nest.Write {
			count++
		}
	}
	return count
}

const vectorBytes = 32

// inVectors reports whether PyTorch uses vectors in the innermost loop: every operand is
// unit-stride or loop-invariant.
func (m Model) inVectors(n nest.Nest) bool {
	inner := len(n.Trips) - 1
	return m.Vectors && inner >= 0 && !slices.ContainsFunc(n.Operands, func(op nest.Operand) bool {
		return op.Strides[inner] != op.Width && op.Strides[inner] != 0
	})
}

func moving(n nest.Nest) (bytes int) {
	for _, op := range n.Operands {
		if op.Strides[len(n.Trips)-1] != 0 {
			bytes += op.Width
		}
	}
	return bytes
}
