package cost

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/simcache"
)

// touched is about how many blocks of so many bytes, lines or pages, the
// operand touches in loops of so many trips (those of its strides). It is exact
// where the operand's runs of bytes do not come to lie side by side, as those of
// a view of one tensor do not, and start alike within a block.
func touched(op simcache.Operand, trips []int, block int) float64 {
	type loop struct{ stride, trips int }
	var loops []loop
	for l, s := range op.Strides {
		if s != 0 && trips[l] > 1 {
			loops = append(loops, loop{max(s, -s), trips[l]})
		}
	}
	slices.SortFunc(loops, func(a, b loop) int { return cmp.Compare(a.stride, b.stride) })
	// What leaves less than a block between is one run of bytes.
	run, runs, grain := op.Width, 1.0, block
	for _, l := range loops {
		if runs == 1 && l.stride < run+block {
			run += (l.trips - 1) * l.stride
			continue
		}
		runs *= float64(l.trips)
		grain = gcd(grain, l.stride)
	}
	grain = gcd(grain, int(op.Base%uint64(block)))
	// A run starts anywhere in a block that the grain allows.
	return runs * (1 + max(float64(run-grain), 0)/float64(block))
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// inner are the operands of the nest in the loops from l on, each block that
// several of them touch together given to the first of them.
func inner(n simcache.Nest, l, block int) (ops []simcache.Operand, trips []int) {
	for i, op := range n.Operands {
		op.Strides = op.Strides[l:]
		twin := slices.ContainsFunc(n.Operands[:i], func(o simcache.Operand) bool {
			return o.Base/uint64(block) == op.Base/uint64(block) && slices.Equal(o.Strides, n.Operands[i].Strides)
		})
		if !twin {
			ops = append(ops, op)
		}
	}
	return ops, n.Trips[l:]
}

// footprint is how many blocks all operands touch in the loops from l on.
func footprint(n simcache.Nest, l, block int) float64 {
	sum := 0.0
	ops, trips := inner(n, l, block)
	for _, op := range ops {
		sum += touched(op, trips, block)
	}
	return sum
}

// room is how many blocks of what the operand touches in the loops from l on
// find a place: all of the cache's, or those of the sets that steps of its
// strides reach, where none is shorter than a block.
func room(op simcache.Operand, trips []int, block, sets, ways int) float64 {
	step := sets
	for l, s := range op.Strides {
		if s == 0 || trips[l] == 1 {
			continue
		}
		if s%block != 0 {
			return float64(sets * ways)
		}
		step = gcd(step, max(s, -s)/block)
	}
	return float64(sets / step * ways)
}
