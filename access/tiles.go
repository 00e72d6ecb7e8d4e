package access

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stridebench/stridebench/layouts"
)

func checkTile(tile []int, view layouts.Layout) ([]int, error) {
	if tile == nil {
		return nil, nil
	}
	if len(tile) != view.Rank() {
		return nil, fault("tile", layouts.FormatShape(tile),
			fmt.Errorf("%d sizes for the %d dims of the view (%v)", len(tile), view.Rank(), view))
	}
	cut, edges := slices.Clone(tile), 0
	for d, t := range tile {
		if t <= 0 {
			return nil, fault("tile", layouts.FormatShape(tile),
				fmt.Errorf("size %d of dim %d is not positive", t, d))
		}
		cut[d] = max(min(t, view.Size(d)), 1)
		if view.Size(d)%cut[d] != 0 {
			edges++
		}
	}
	if edges > maxEdges {
		return nil, fault("tile", layouts.FormatShape(tile),
			fmt.Errorf("it leaves a remainder in %d dims, so that the view falls into 2^%d parts "+
				"(want at most %d dims that are not multiples of their tile)",
				edges, edges, maxEdges))
	}
	return cut, nil
}

// maxEdges is in how many dims a tile may leave a remainder. Each one doubles the number of nests.
const maxEdges = 10

// widen makes one access cover elements that lie side by side in all operands. It changes views and
// tile to steps of the width.
func (p *Pattern) widen(views []layouts.Layout, tile []int) (width int, err error) {
	width, elem := p.Spec.Width, p.Spec.DType.Size()
	if width < elem || width%elem != 0 {
		return 0, fmt.Errorf("no multiple of the %d B of %s", elem, p.Spec.DType)
	}
	dim, step := -1, width/elem
	for d := range views[0].Rank() {
		if views[0].Size(d) > 1 && !slices.ContainsFunc(views, func(v layouts.Layout) bool {
			return v.Stride(d) != 1
		}) {
			dim = d
		}
	}
	switch {
	case dim < 0:
		return 0, errors.New("along no dim of the walk are elements adjacent in all tensors")
	case views[0].Size(dim)%step != 0:
		return 0, fmt.Errorf("covers %d elements of dim %d, whose size %d is not a multiple of "+
			"that", step, dim, views[0].Size(dim))
	case tile != nil && tile[dim]%step != 0:
		return 0, fmt.Errorf("covers %d elements of dim %d, whose tile of %d is not a multiple "+
			"of that", step, dim, tile[dim])
	case tile != nil:
		tile[dim] /= step
	}
	for i, view := range views {
		if views[i], err = view.Slice(dim, 0, view.Size(dim), step); err != nil {
			return 0, err
		}
	}
	return width, nil
}

// tiled divides the index space into regions and returns the views of each, in walking order.
// Without tiles there is one region. With tiles, each dim has a part of whole tiles and a
// remainder, and a region is one part of each dim. The order applies to a region's tiles, and to
// the indices within a tile.
func tiled(views []layouts.Layout, tile, order []int) ([][]layouts.Layout, error) {
	if tile == nil {
		region, err := permuted(views, order)
		return [][]layouts.Layout{region}, err
	}
	var regions [][]layouts.Layout
	var cut func(views []layouts.Layout, tile, rest []int) error
	cut = func(views []layouts.Layout, tile, rest []int) error {
		if len(rest) == 0 {
			region, err := splitTiles(views, tile, order)
			regions = append(regions, region)
			return err
		}
		d, size := rest[0], views[0].Size(rest[0])
		whole := size / tile[d] * tile[d]
		for _, part := range []struct{ start, length, tile int }{{0, whole, tile[d]},
			{whole, size - whole, size - whole}} {
			if part.length == 0 {
				continue
			}
			narrow := make([]layouts.Layout, len(views))
			for i, v := range views {
				var err error
				if narrow[i], err = v.Narrow(d, part.start, part.length); err != nil {
					return err
				}
			}
			tile := slices.Clone(tile)
			tile[d] = part.tile
			if err := cut(narrow, tile, rest[1:]); err != nil {
				return err
			}
		}
		return nil
	}
	return regions, cut(views, tile, order)
}

// splitTiles splits each dim into tiles and the index within. All tile dims come first in the walk.
func splitTiles(views []layouts.Layout, tile, order []int) ([]layouts.Layout, error) {
	split := make([]layouts.Layout, len(views))
	for i, v := range views {
		var shape []int
		for d, n := range tile {
			shape = append(shape, v.Size(d)/n, n)
		}
		var err error
		if split[i], err = v.View(shape...); err != nil {
			return nil, err
		}
	}
	var dims []int
	for _, within := range []int{0, 1} {
		for _, d := range order {
			dims = append(dims, 2*d+within)
		}
	}
	return permuted(split, dims)
}

func permuted(views []layouts.Layout, order []int) ([]layouts.Layout, error) {
	out := make([]layouts.Layout, len(views))
	for i, v := range views {
		var err error
		if out[i], err = v.Permute(order...); err != nil {
			return nil, err
		}
	}
	return out, nil
}
