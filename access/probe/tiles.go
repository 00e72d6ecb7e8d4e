package probe

import (
	"math"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file measures copies of a transposed matrix by tiles. Reads, writes and prefetched lines
// interfere there, differently on each CPU.

// A Tile is the time of such a copy, of elements of 4 bytes in memory.
type Tile struct {
	// Order is col if the inner loop runs along the tensor that is read and across rows of the
	// written one. It is row for the opposite.
	Order   string  `yaml:"order" json:"order"`
	Rows    int     `yaml:"rows" json:"rows"` // of the written tensor
	Columns int     `yaml:"columns" json:"columns"`
	Ns      float64 `yaml:"ns" json:"ns"` // per read line plus written line
}

// tileSides are the measured rows and columns in elements: half a line to four lines.
var tileSides = []int{8, 16, 32, 64}

func (s *sampler) tiles(m *Machine) error {
	largest := tileSides[len(tileSides)-1]
	if m.Memory == (Speed{}) || copyingTiles(s.MaxSize, access.Row, largest,
		largest).Shape[0] < largest {
		return nil
	}
	var specs []access.Spec
	var all []Tile
	for _, order := range []access.Order{access.Row, access.Col} {
		for _, rows := range tileSides {
			for _, columns := range tileSides {
				all = append(all, Tile{Order: order.String(), Rows: rows, Columns: columns})
				specs = append(specs, copyingTiles(s.MaxSize, order, rows, columns))
			}
		}
	}
	ns, err := s.least(specs, 1, tilesShare, s.pages, nil)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].Ns = ns[i] * float64(line/specs[i].DType.Size())
	}
	m.Tiles = all
	return nil
}

// copyingTiles copies a matrix to another one, of bytes together. Rows are an odd number of whole
// lines, so that they do not share sets.
func copyingTiles(bytes int, order access.Order, tile ...int) access.Spec {
	spec := access.Spec{Op: access.Copy, DType: layouts.Float32,
		View: layouts.MustParseChain("t()"), Order: order, Tile: tile}
	elements := line / spec.DType.Size()
	lines := max(int(math.Sqrt(float64(bytes/2/spec.DType.Size())))/elements, 1)
	side := (lines - 1 + lines%2) * elements
	spec.Shape = []int{side, side}
	return spec
}
