package cost

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// footprints are what a nest touches. A kernel's nest may have thousands of operands, and much is
// asked of it again, so that answers are kept.
type footprints struct {
	nest  nest.Nest
	twins map[int][]bool     // by block size
	sums  map[[2]int]float64 // by loop and block size
}

func footprintsOf(n nest.Nest) *footprints {
	return &footprints{n, map[int][]bool{}, map[[2]int]float64{}}
}

// twin tells whether an operand before operand r touches its blocks first, wherever the
// loops are.
func (f *footprints) twin(r, block int) bool {
	twins, known := f.twins[block]
	if !known {
		twins = make([]bool, len(f.nest.Operands))
		first := map[uint64][]int{} // by block of the base
		for r, op := range f.nest.Operands {
			base := op.Base / uint64(block)
			twins[r] = slices.ContainsFunc(first[base], func(o int) bool {
				return slices.Equal(f.nest.Operands[o].Strides, op.Strides)
			})
			if !twins[r] {
				first[base] = append(first[base], r)
			}
		}
		f.twins[block] = twins
	}
	return twins[r]
}

// of is how many blocks all operands touch in the loops from l on, each block that
// several of them touch together once.
func (f *footprints) of(l, block int) float64 {
	key := [2]int{l, block}
	sum, known := f.sums[key]
	if !known {
		for r, op := range f.nest.Operands {
			if !f.twin(r, block) {
				op.Strides = op.Strides[l:]
				sum += op.Lines(f.nest.Trips[l:], block)
			}
		}
		f.sums[key] = sum
	}
	return sum
}

// footprint is how many blocks a whole nest touches.
func footprint(n nest.Nest, block int) float64 { return footprintsOf(n).of(0, block) }

// room is how many blocks of what the operand touches in loops of these trips
// find a place: all of the cache's, or those of the sets that steps of its
// strides reach, where none is shorter than a block.
func room(op nest.Operand, trips []int, block, sets, ways int) float64 {
	return float64(op.Sets(trips, block, sets) * ways)
}
