package probe

import (
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// This file measures copies of a transposed matrix by tiles, in which what is read, what is
// written and what prefetchers bring beyond both get in each other's way, from CPU to CPU
// in ways of its own.

// A Tile is such a copy, of elements of 4 bytes in memory.
type Tile struct {
	// Col tells whether the inner loop goes along what is read, and from row to row of what
	// is written; else it is the other way round.
	Col           bool
	Rows, Columns int     // of what is written
	Ns            float64 // of a line that is read and one that is written
}

// order is that in which a tile is walked.
func (t Tile) order() access.Order {
	if t.Col {
		return access.Col
	}
	return access.Row
}

// tileSides are the rows and the columns that are measured, in elements: a half of a line to
// four lines.
var tileSides = []int{8, 16, 32, 64}

// tiles measures them.
func (s *sampler) tiles(m *Machine) error {
	largest := Tile{Rows: tileSides[len(tileSides)-1], Columns: tileSides[len(tileSides)-1]}
	if m.Memory == (Speed{}) || largest.copying(s.MaxSize).Shape[0] < largest.Rows {
		s.done += tilesShare
		s.progress(0)
		return nil
	}
	var specs []access.Spec
	var all []Tile
	for _, col := range []bool{false, true} {
		for _, rows := range tileSides {
			for _, columns := range tileSides {
				t := Tile{Col: col, Rows: rows, Columns: columns}
				all, specs = append(all, t), append(specs, t.copying(s.MaxSize))
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

// copying copies a matrix to another one, of so many bytes together, whose rows are whole
// lines and an odd number of them, so that they do not share sets.
func (t Tile) copying(bytes int) access.Spec {
	spec := access.Spec{Op: access.Copy, DType: layouts.Float32, View: layouts.MustParseChain("t()"), Order: t.order(), Tile: []int{t.Rows, t.Columns}}
	elements := line / spec.DType.Size()
	lines := max(int(math.Sqrt(float64(bytes/2/spec.DType.Size())))/elements, 1)
	side := (lines - 1 + lines%2) * elements
	spec.Shape = []int{side, side}
	return spec
}

// writeTiles writes the table.
func (m Machine) writeTiles(t *tabwriter.Writer) {
	if len(m.Tiles) == 0 {
		return
	}
	columns := func(p Tile) []Tile {
		return slices.DeleteFunc(slices.Clone(m.Tiles), func(o Tile) bool { return o.Col != p.Col || o.Rows != p.Rows })
	}
	fmt.Fprint(t, "\ntransposed by tiles of")
	for _, p := range columns(m.Tiles[0]) {
		fmt.Fprintf(t, "\tx%d", p.Columns)
	}
	fmt.Fprintln(t)
	for i, p := range m.Tiles {
		if i > 0 && p.Col == m.Tiles[i-1].Col && p.Rows == m.Tiles[i-1].Rows {
			continue
		}
		fmt.Fprintf(t, "%d, %v-major", p.Rows, p.order())
		for _, c := range columns(p) {
			fmt.Fprintf(t, "\t%.3g ns", c.Ns)
		}
		fmt.Fprintln(t)
	}
}

// tile is a part of the section measured.
type tile struct {
	Order   string  `yaml:"order"`
	Rows    int     `yaml:"rows"`
	Columns int     `yaml:"columns"`
	Ns      float64 `yaml:"ns"`
}

// MarshalYAML implements yaml.BytesMarshaler.
func (t tile) MarshalYAML() ([]byte, error) { type plain tile; return flow(plain(t)) }

// tile is what it stands for.
func (t tile) tile() (Tile, error) {
	if t.Order != access.Row.String() && t.Order != access.Col.String() {
		return Tile{}, fmt.Errorf("order %q (want row or col)", t.Order)
	}
	return Tile{t.Order == access.Col.String(), t.Rows, t.Columns, t.Ns}, nil
}

// checkTiles refuses what nothing can be concluded from, and tells the path of the part at fault:
// of each order there are tiles of all rows by all columns, each once.
func (s section) checkTiles() (path string, err error) {
	type sides map[int]bool
	rows, columns, known := map[string]sides{}, map[string]sides{}, map[tile]bool{}
	for i, t := range s.Tiles {
		path := fmt.Sprintf("tiles[%d]", i)
		if _, err := t.tile(); err != nil {
			return path, err
		}
		if !(t.Rows > 0 && t.Columns > 0 && t.Ns > 0) || math.IsInf(t.Ns, 1) {
			return path, fmt.Errorf("%v ns in tiles of %d rows and %d columns (want all of them positive)", t.Ns, t.Rows, t.Columns)
		}
		if rows[t.Order] == nil {
			rows[t.Order], columns[t.Order] = sides{}, sides{}
		}
		rows[t.Order][t.Rows], columns[t.Order][t.Columns] = true, true
		if t.Ns = 0; known[t] {
			return path, fmt.Errorf("a second time of tiles of %d rows and %d columns", t.Rows, t.Columns)
		}
		known[t] = true
	}
	all := 0
	for order := range rows {
		all += len(rows[order]) * len(columns[order])
	}
	if all != len(known) {
		return "tiles", fmt.Errorf("%d tiles (want %d: all rows by all columns of each order)", len(known), all)
	}
	return "", nil
}
