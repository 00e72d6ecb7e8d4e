package cost

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// inner are the operands of the nest in the loops from l on, each block that
// several of them touch together given to the first of them.
func inner(n nest.Nest, l, block int) (ops []nest.Operand, trips []int) {
	for i, op := range n.Inside(l).Operands {
		twin := slices.ContainsFunc(n.Operands[:i], func(o nest.Operand) bool {
			return o.Base/uint64(block) == op.Base/uint64(block) && slices.Equal(o.Strides, n.Operands[i].Strides)
		})
		if !twin {
			ops = append(ops, op)
		}
	}
	return ops, n.Trips[l:]
}

// footprint is how many blocks all operands touch in the loops from l on.
func footprint(n nest.Nest, l, block int) float64 {
	sum := 0.0
	ops, trips := inner(n, l, block)
	for _, op := range ops {
		sum += op.Lines(trips, block)
	}
	return sum
}

// room is how many blocks of what the operand touches in loops of these trips
// find a place: all of the cache's, or those of the sets that steps of its
// strides reach, where none is shorter than a block.
func room(op nest.Operand, trips []int, block, sets, ways int) float64 {
	return float64(op.Sets(trips, block, sets) * ways)
}
