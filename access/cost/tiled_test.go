package cost

import (
	"math"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
)

// measuredTiles are times by which a tile can be told.
func measuredTiles() (all []probe.Tile) {
	for _, col := range []bool{false, true} {
		for i, rows := range []int{8, 16, 32} {
			for k, columns := range []int{8, 16, 32} {
				ns := 100 * math.Pow(2, float64(i)) * math.Pow(3, float64(k))
				if col {
					ns *= 1000
				}
				all = append(all, probe.Tile{Col: col, Rows: rows, Columns: columns, Ns: ns})
			}
		}
	}
	return all
}

// TestTile: tiles between those that were measured take what lies between their times, those
// a little larger what the nearest takes, and others are not known.
func TestTile(t *testing.T) {
	times := Times{Tiles: measuredTiles()}
	for _, c := range []struct {
		written       bool
		steps, around float64
		want          float64
	}{
		{true, 8, 8, 100e3},
		{true, 16, 8, 200e3}, // stepping from row to row of what is written
		{false, 16, 8, 300},  // along its columns
		{false, 8, 16, 200},
		{true, 32, 32, 3600e3},
		{true, 8 * math.Sqrt2, 8, 100e3 * math.Sqrt2},
		{true, 8, 16 * math.Sqrt2, 300e3 * math.Sqrt(3)},
		{true, 4, 128, 900e3},
		{true, 129, 8, 0},
		{false, 8, 129, 0},
	} {
		if got := times.tile(c.written, c.steps, c.around); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := (Times{}).tile(true, 8, 8); got != 0 {
		t.Errorf("of none that were measured: %v", got)
	}
}

// TestTiled: what was measured of tiles is what lines of memory take of transposed copies by
// tiles, by their bytes, in both orders, and of nothing else.
func TestTiled(t *testing.T) {
	for _, c := range []struct {
		spec access.Spec
		want float64 // ns of a pair of lines
	}{
		{access.Spec{Shape: []int{2000, 2000}, DType: layouts.Float32, Tile: []int{16, 8}}, 200},
		{access.Spec{Shape: []int{2000, 2000}, DType: layouts.Float32, Tile: []int{16, 8}, Order: access.Col}, 200e3},
		{access.Spec{Shape: []int{2000, 2000}, DType: layouts.Int64, Tile: []int{16, 8}, Order: access.Col}, 1200e3},
		{access.Spec{Shape: []int{2000, 2000}, DType: layouts.Float32}, 0},                                                                   // no tiles
		{access.Spec{Shape: []int{2000, 2000}, DType: layouts.Float32, Tile: []int{16, 8}, View: layouts.MustParseChain("permute(0,1)")}, 0}, // nothing steps
		{access.Spec{Shape: []int{2048, 2048}, DType: layouts.Float32, Tile: []int{16, 8}, Order: access.Col}, 0},                            // crowded
		{access.Spec{Shape: []int{400, 400}, DType: layouts.Float32, Tile: []int{16, 8}}, 0},                                                 // within a page
		{access.Spec{Op: access.Add, Shape: []int{2000, 2000}, With: []int{2000, 2000}, DType: layouts.Float32, Tile: []int{16, 8}}, 0},      // three tensors
	} {
		s := c.spec
		if s.Op != access.Add {
			s.Op = access.Copy
		}
		if s.Op == access.Copy && s.View.String() == "" {
			s.View = layouts.MustParseChain("t()")
		}
		p, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		m := generic
		m.Rules = &Rules{}
		m.Times.Levels = slices.Clone(m.Times.Levels)
		m.Times.Levels[0].Crowded = 1
		m.Times.Tiles = measuredTiles()
		n := p.Nests[0]
		var visits []visit
		for _, op := range n.Operands {
			visits = append(visits, m.visit(p, n, op, rowsOf(n, line)))
		}
		if got := m.tiled(p, n, visits); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %v, want %v", s.Name(), got, c.want)
		}
	}
}
