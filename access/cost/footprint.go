package cost

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// twin tells whether an operand before operand r touches its blocks first, wherever the
// loops are.
func twin(n nest.Nest, r, block int) bool {
	op := n.Operands[r]
	return slices.ContainsFunc(n.Operands[:r], func(o nest.Operand) bool {
		return o.Base/uint64(block) == op.Base/uint64(block) && slices.Equal(o.Strides, op.Strides)
	})
}

// footprint is how many blocks all operands touch in the loops from l on, each block that
// several of them touch together once.
func footprint(n nest.Nest, l, block int) float64 {
	sum := 0.0
	for r, op := range n.Operands {
		if !twin(n, r, block) {
			op.Strides = op.Strides[l:]
			sum += op.Lines(n.Trips[l:], block)
		}
	}
	return sum
}

// room is how many blocks of what the operand touches in loops of these trips
// find a place: all of the cache's, or those of the sets that steps of its
// strides reach, where none is shorter than a block.
func room(op nest.Operand, trips []int, block, sets, ways int) float64 {
	return float64(op.Sets(trips, block, sets) * ways)
}
