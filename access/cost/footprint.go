package cost

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
)

// footprints caches answers, since a kernel's nest may have thousands of operands.
type footprints struct {
	nest  nest.Nest
	twins map[int][]bool     // by block size
	sums  map[[2]int]float64 // by loop and block size
}

func footprintsOf(n nest.Nest) *footprints {
	return &footprints{n, map[int][]bool{}, map[[2]int]float64{}}
}

// twin reports whether an operand before operand r touches the same blocks first, at any loop.
func (f *footprints) twin(r, block int) bool {
	twins, known := f.twins[block]
	if !known {
		twins = make([]bool, len(f.nest.Operands))
		first := map[uint64][]int{} // by block number of the base
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

// of returns how many blocks all operands touch in the loops from l on. Blocks that operands share
// count once.
func (f *footprints) of(l, block int) float64 {
	key := [2]int{l, block}
	sum, known := f.sums[key]
	if !known {
		for r, op := range f.nest.Operands {
			if !f.twin(r, block) {
				op.Strides = op.Strides[l:]
				sum += touched.Lines(op, f.nest.Trips[l:], block)
			}
		}
		f.sums[key] = sum
	}
	return sum
}

func footprint(n nest.Nest, block int) float64 { return footprintsOf(n).of(0, block) }

// room returns how many of the operand's blocks the cache can hold: all of its blocks, or the
// blocks in the sets that the strides reach if no stride is shorter than a block.
func room(op nest.Operand, trips []int, block, sets, ways int) float64 {
	return float64(touched.Sets(op, trips, block, sets) * ways)
}
