package touched

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// Cut divides the nest among workers (at least 1), as PyTorch's at::parallel_for divides a range
// (aten/src/ATen/Parallel-inl.h and ParallelOpenMP.h of 1.13). A part is a chunk of ceil(trips /
// workers) iterations of one loop. The last chunk may be shorter, and workers may get none. The
// loop is the outermost one of the canonical form whose iterations write different bytes. A nest
// without such a loop is one part.
//
// Law: the parts together make the accesses of n, and no two parts write the same byte. Parts of
// the outermost loop are W(n) one after the other.
func Cut(n nest.Nest, workers int) []nest.Nest {
	c := n.Canonical()
	l := cuttable(c)
	if l < 0 || workers < 2 {
		return []nest.Nest{n}
	}
	chunk := (c.Trips[l] + workers - 1) / workers
	var parts []nest.Nest
	for from := 0; from < c.Trips[l]; from += chunk {
		parts = append(parts, c.Range(l, from, min(from+chunk, c.Trips[l])))
	}
	return parts
}

func cuttable(n nest.Nest) int {
	if n.Iterations() == 0 {
		return -1
	}
	written := written(n)
	for l := range n.Trips {
		if !slices.ContainsFunc(written, func(op nest.Operand) bool {
			return !apart(op, n.Trips, l)
		}) {
			return l
		}
	}
	return -1
}

// written returns the operands that write. Overlapping operands with equal strides, as the halves
// of an element have, become one of their joint width. Other overlapping operands become one that
// never moves.
func written(n nest.Nest) (all []nest.Operand) {
	for _, op := range n.Operands {
		if op.Kind == nest.Read {
			continue
		}
		for i := 0; i < len(all); i++ {
			first, last := op.Reach(n.Trips)
			if from, to := all[i].Reach(n.Trips); from > last || to < first {
				continue
			}
			if !slices.Equal(op.Strides, all[i].Strides) {
				op.Strides = make([]int, len(n.Trips))
			}
			low, high := min(op.Base, all[i].Base),
				max(op.Base+uint64(op.Width), all[i].Base+uint64(all[i].Width))
			op.Base, op.Width = low, int(high-low)
			all, i = slices.Delete(all, i, i+1), -1 // it may overlap others now
		}
		all = append(all, op)
	}
	return all
}

// apart reports whether an operand's strides alone keep the bytes of a loop's iterations apart.
// Each loop that moves the operand, this loop included, must move it past the width plus all
// shorter steps.
func apart(op nest.Operand, trips []int, loop int) bool {
	if op.Strides[loop] == 0 {
		return false
	}
	steps := sorted(op, trips)
	reach := op.Width
	for _, s := range steps {
		if s.Bytes < reach {
			return false
		}
		reach += (s.Trips - 1) * s.Bytes
	}
	return true
}
