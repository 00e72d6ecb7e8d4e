package access

import (
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

// widen makes one access cover adjacent elements in storage. It changes views and tile to steps of
// the width, in the dim that moves along these elements. All operands must agree on that dim.
func (p *Pattern) widen(views []layouts.Layout, tile []int) (int, error) {
	width, elem := p.Spec.Width, p.Spec.DType.Size()
	if width < elem || width%elem != 0 {
		return 0, fmt.Errorf("no multiple of the %d B of %s", elem, p.Spec.DType)
	}
	dim, step, err := neighbours(views[0], width/elem)
	if err != nil {
		return 0, err
	}
	for i, view := range views {
		if d, s, err := neighbours(view, width/elem); err != nil || d != dim || s != step {
			return 0, fmt.Errorf("tensors %s and %s have their neighbours along different dims "+
				"of the walk, so only accesses of one element (%d B) walk both",
				p.operands[0].tensor, p.operands[i].tensor, elem)
		}
	}
	if step > 1 {
		size := views[0].Size(dim)
		if size%step != 0 {
			return 0, fmt.Errorf("covers %d elements of dim %d, whose size %d is not a multiple "+
				"of that", step, dim, size)
		}
		if tile != nil {
			if tile[dim]%step != 0 {
				return 0, fmt.Errorf("covers %d elements of dim %d, whose tile of %d is not a "+
					"multiple of that", step, dim, tile[dim])
			}
			tile[dim] /= step
		}
	}
	for i := range views {
		if err := p.widenOne(&views[i], p.operands[i], dim, step); err != nil {
			return 0, err
		}
	}
	return width, nil
}

// widenOne takes every step-th index of dim, at the lowest address that each access covers.
func (p *Pattern) widenOne(view *layouts.Layout, op operand, dim, step int) error {
	if step > 1 {
		start := 0
		if view.Stride(dim) < 0 {
			start = step - 1
		}
		var err error
		if *view, err = view.Slice(dim, start, view.Size(dim), step); err != nil {
			return err
		}
	}
	elem := p.Spec.DType.Size()
	if _, high := view.Extent(); view.Numel() > 0 && high*elem+p.Spec.Width > op.size {
		return fmt.Errorf("the access of tensor %s at byte %d reaches beyond its %d B", op.tensor,
			high*elem, op.size)
	}
	return nil
}

// neighbours returns the dim of the view with the smallest stride that is not 0, and how many of
// its elements m elements of storage cover. step is 1 if the stride is not below m.
func neighbours(view layouts.Layout, m int) (dim, step int, err error) {
	dim, least := -1, m
	for d := range view.Rank() {
		stride := max(view.Stride(d), -view.Stride(d))
		if view.Size(d) > 1 && stride > 0 && stride < least {
			dim, least = d, stride
		}
	}
	if m%least != 0 {
		return 0, 0, fmt.Errorf("covers %d elements of storage, no multiple of the stride %d "+
			"of dim %d", m, least, dim)
	}
	return dim, m / least, nil
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
