package advise

import (
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// maxOrdered is how many dims are put in every order: 5! is 120.
const maxOrdered = 5

// tiledOrders is how many orders are tiled, the best ones without tiles first:
// all of four dims.
const tiledOrders = 24

// tileSizes are tried along both dims that are tiled, if the dim is larger, and so is
// the whole dim.
var tileSizes = []int{8, 16, 32, 64, 128}

// line is the bytes by which rows are padded: a cache line.
const line = 64

// orders are the permutations of the dims of a view that make a difference: dims
// of one element stay where they are, and where more than maxOrdered are left,
// those that are one loop in every operand stay together.
func orders(view layouts.Layout) ([][]int, error) {
	var groups [][]int // dims that stay together
	large := func() (n int) {
		for d := range view.Rank() {
			if view.Size(d) > 1 {
				n++
			}
		}
		return n
	}()
	for d := range view.Rank() {
		last := len(groups) - 1
		one := last >= 0 && view.Size(d) <= 1
		fused := last >= 0 && large > maxOrdered && view.Stride(d-1) == view.Size(d)*view.Stride(d)
		if one || fused {
			groups[last] = append(groups[last], d)
		} else {
			groups = append(groups, []int{d})
		}
	}
	if len(groups) > maxOrdered {
		return nil, fmt.Errorf("the view has %d dims that do not form one loop; orders of at "+
			"most %d are compared", len(groups), maxOrdered)
	}
	var all [][]int
	permute(groups, 0, func(p [][]int) { all = append(all, slices.Concat(p...)) })
	return all, nil
}

// permute calls f with every order of items from the k-th on, the given one
// first.
func permute(items [][]int, k int, f func([][]int)) {
	if k >= len(items) {
		f(items)
		return
	}
	for i := k; i < len(items); i++ {
		chosen := items[i]
		rest := slices.Delete(slices.Clone(items), i, i+1)
		permute(slices.Insert(rest, k, chosen), k+1, f)
	}
}

// orderOf is an order as a Spec has it. Views with too many dims for one were refused
// before (orders).
func orderOf(dims []int) access.Order {
	if slices.IsSorted(dims) {
		return access.Row
	}
	order, err := access.Permutation(dims...)
	if err != nil {
		panic(err)
	}
	return order
}

// closest is the dim along which neighbours lie closest in memory, -1 for none.
func closest(view layouts.Layout) int {
	best := -1
	for d := range view.Rank() {
		if s := abs(view.Stride(d)); view.Size(d) > 1 && s > 0 &&
			(best < 0 || s <= abs(view.Stride(best))) {
			best = d
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// tiles is the grid of tiles over two dims, those along which the operands lie
// closest in memory. Where that is one dim for all, or where there is but one
// operand, tiles gain nothing: there is an order that suits all.
func tiles(view layouts.Layout, op access.Op) [][]int {
	a, b := closest(view), -1
	for d := range view.Rank() { // of a fresh contiguous tensor
		if view.Size(d) > 1 {
			b = d
		}
	}
	if a < 0 || a == b || op != access.Copy && op != access.Add {
		return nil
	}
	sizes := func(d int) []int {
		var all []int
		for _, s := range tileSizes {
			if s < view.Size(d) {
				all = append(all, s)
			}
		}
		return append(all, view.Size(d))
	}
	var all [][]int
	for _, s := range sizes(a) {
		for _, t := range sizes(b) {
			tile := view.Shape()
			tile[a], tile[b] = s, t
			if !slices.Equal(tile, view.Shape()) {
				all = append(all, tile)
			}
		}
	}
	return all
}

// padded is the spec with the rows of x a line further apart, or false where it
// has no rows, or a view that cannot be had of such ones.
func padded(s access.Spec) (access.Spec, bool) {
	if len(s.Shape) < 2 {
		return s, false
	}
	s.Pad += line / s.DType.Size()
	_, err := s.Pattern()
	return s, err == nil
}
