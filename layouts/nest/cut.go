package nest

import (
	"cmp"
	"slices"
)

// Cut parts the nest among so many workers (at least 1), as PyTorch's
// at::parallel_for parts a range (aten/src/ATen/Parallel-inl.h and
// ParallelOpenMP.h of 1.13): contiguous chunks of ceil(trips / workers) iterations
// of one loop, so that the last chunk may be shorter and there may be fewer chunks
// than workers. The loop is the outermost one of the canonical form of which
// different iterations write different bytes. A nest without such a loop is one
// part.
//
// Law: the accesses of the parts are together those of n, and no byte that one
// part writes is written by another. Parts of the outermost loop are W(n) one
// after the other.
func (n Nest) Cut(workers int) []Nest {
	c := n.Canonical()
	l := c.cuttable()
	if l < 0 || workers < 2 {
		return []Nest{n}
	}
	chunk := (c.Trips[l] + workers - 1) / workers
	var parts []Nest
	for from := 0; from < c.Trips[l]; from += chunk {
		parts = append(parts, c.Range(l, from, min(from+chunk, c.Trips[l])))
	}
	return parts
}

// cuttable is the outermost loop of a canonical nest whose iterations do not write
// the same bytes, or -1.
func (n Nest) cuttable() int {
	if n.Iterations() == 0 {
		return -1
	}
	written := n.written()
	for l := range n.Trips {
		if !slices.ContainsFunc(written, func(op Operand) bool { return !op.apart(n.Trips, l) }) {
			return l
		}
	}
	return -1
}

// written are the operands that write. Those that reach into each other are one:
// of their width together where they move alike, as the two halves of an element
// do, and else one that never leaves its place.
func (n Nest) written() (all []Operand) {
	for _, op := range n.Operands {
		if op.Kind == Read {
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
			all, i = slices.Delete(all, i, i+1), -1 // it may reach others now
		}
		all = append(all, op)
	}
	return all
}

// apart tells whether iterations of a loop keep what the operand touches apart,
// as far as its strides alone decide it: of the loops that move it, this one among
// them, each moves it further than the width and all shorter steps together reach.
func (op Operand) apart(trips []int, loop int) bool {
	if op.Strides[loop] == 0 {
		return false
	}
	var steps []Step
	for l, s := range op.Strides {
		if s != 0 {
			steps = append(steps, Step{max(s, -s), trips[l]})
		}
	}
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Compare(a.Bytes, b.Bytes) })
	reach := op.Width
	for _, s := range steps {
		if s.Bytes < reach {
			return false
		}
		reach += (s.Trips - 1) * s.Bytes
	}
	return true
}
