package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// maxOrdered is the most dims that are permuted: 5! is 120.
const maxOrdered = 5

// tiledOrders is the most orders that are tiled, the best ones first: all orders of four dims.
const tiledOrders = 24

// tileSizes are tried along both tiled dims, besides the whole dim.
var tileSizes = []int{8, 16, 32, 64, 128}

const line = 64

// orders returns the permutations of a view's dims that matter. Dims of one element stay in place.
// If more than maxOrdered remain, dims that form a single loop in every operand stay together.
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

// permute calls f with every order of items from index k on, the given one first.
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

// orderOf returns a Spec's order.
func orderOf(dims []int) access.Order {
	if slices.IsSorted(dims) {
		return access.Row
	}
	return access.Order(strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", ","))
}

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

// tiles returns the tiles over the two dims along which the operands are closest in memory. If that
// is one dim for all operands, a single order suits all, and tiles gain nothing.
func tiles(view layouts.Layout, op access.Op) [][]int {
	a, b := closest(view), -1
	for d := range view.Rank() { // of a new contiguous tensor
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

// padded returns the spec with rows of x a line further apart. It returns false if x has no rows or
// the view cannot be taken of them.
func padded(s access.Spec) (access.Spec, bool) {
	if len(s.Shape) < 2 {
		return s, false
	}
	s.Pad += line / s.DType.Size()
	_, err := s.Pattern()
	return s, err == nil
}
