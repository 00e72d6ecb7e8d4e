package access

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

func checkTile(tile []int, view layouts.Layout) ([]int, error) {
	if tile == nil {
		return nil, nil
	}
	if len(tile) != view.Rank() {
		return nil, fault("tile", tile,
			fmt.Errorf("%d sizes for the %d dims of the view (%v)", len(tile), view.Rank(), view))
	}
	cut, edges := slices.Clone(tile), 0
	for d, t := range tile {
		if t <= 0 {
			return nil, fault("tile", tile,
				fmt.Errorf("size %d of dim %d is not positive", t, d))
		}
		cut[d] = max(min(t, view.Size(d)), 1)
		if view.Size(d)%cut[d] != 0 {
			edges++
		}
	}
	if edges > maxEdges {
		return nil, fault("tile", tile,
			fmt.Errorf("it leaves a remainder in %d dims, so that the view falls into 2^%d parts "+
				"(want at most %d dims that are not multiples of their tile)",
				edges, edges, maxEdges))
	}
	return cut, nil
}

// maxEdges is in how many dims a tile may leave a remainder. Each one doubles the number of nests.
const maxEdges = 10

// widen makes one access cover elements that lie side by side in all operands. It changes nest and
// tile to steps of the width.
func (s Spec) widen(n nest.Nest, tile []int) error {
	width, elem := s.Width, s.DType.Size()
	if width < elem || width%elem != 0 {
		return fmt.Errorf("no multiple of the %d B of %s", elem, s.DType)
	}
	dim, step := -1, width/elem
	for d, trips := range n.Trips {
		if trips > 1 && !slices.ContainsFunc(n.Operands, func(op nest.Operand) bool {
			return op.Strides[d] != elem
		}) {
			dim = d
		}
	}
	switch {
	case dim < 0:
		return errors.New("along no dim of the walk are elements adjacent in all tensors")
	case n.Trips[dim]%step != 0:
		return fmt.Errorf("covers %d elements of dim %d, whose size %d is not a multiple of that",
			step, dim, n.Trips[dim])
	case tile != nil && tile[dim]%step != 0:
		return fmt.Errorf("covers %d elements of dim %d, whose tile of %d is not a multiple of "+
			"that", step, dim, tile[dim])
	case tile != nil:
		tile[dim] /= step
	}
	n.Trips[dim] /= step
	for i := range n.Operands {
		n.Operands[i].Width = width
		n.Operands[i].Strides[dim] *= step
	}
	return nil
}

// tiled divides a nest into regions, in walking order. Without tiles there is one region. With
// tiles, each dim has a part of whole tiles and a remainder, and a region is one part of each dim.
// The order applies to a region's tiles, and to the indices within a tile.
func tiled(n nest.Nest, tile, order []int) (all []nest.Nest) {
	if tile == nil {
		return []nest.Nest{n.Permute(order...)}
	}
	regions := []nest.Nest{n}
	for _, d := range order {
		var parts []nest.Nest
		for _, r := range regions {
			whole := r.Trips[d] / tile[d] * tile[d]
			parts = append(parts, r.Range(d, 0, whole), r.Range(d, whole, r.Trips[d]))
		}
		regions = slices.DeleteFunc(parts, func(r nest.Nest) bool { return r.Trips[d] == 0 })
	}
	for _, r := range regions {
		for d := range slices.Backward(tile) {
			r, _ = r.Split(d, min(tile[d], r.Trips[d]))
		}
		var dims []int // all tiles, then all within them
		for within := range 2 {
			for _, d := range order {
				dims = append(dims, 2*d+within)
			}
		}
		all = append(all, r.Permute(dims...))
	}
	return all
}
