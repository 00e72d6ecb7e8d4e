package probe

import (
	"testing"

	"github.com/stridebench/stridebench/access"
)

// TestTiles: tiles of all sides are measured in both orders, on matrices of memory whose rows do
// not share sets.
func TestTiles(t *testing.T) {
	asked, most := map[Tile]bool{}, 64<<20
	ask := func(p access.Pattern) float64 {
		row := p.Spec.Shape[1] * 4
		if bytes := 2 * 4 * p.Elems; row%line != 0 || row/line%2 == 0 || bytes > most ||
			bytes < most*8/10 {
			t.Errorf("rows of %d B, %d B in all", row, bytes)
		}
		n := p.Nests[0]
		inner := len(n.Trips) - 1
		stepped, rows, columns := n.Operands[0], n.Trips[inner-1], n.Trips[inner]
		if p.Spec.Order == access.Col {
			stepped, rows, columns = n.Operands[1], columns, rows
		}
		if stepped.Strides[inner] != row || stepped.Strides[inner-1] != 4 {
			t.Errorf("steps of %v", stepped.Strides)
		}
		asked[Tile{Order: p.Spec.Order.String(), Rows: rows, Columns: columns}] = true
		return float64(rows) + float64(columns)/100
	}
	m := Machine{Memory: Speed{Latency: 90}}
	s := &sampler{Options: Options{MaxSize: 64 << 20, ask: ask}}
	if err := s.tiles(&m); err != nil {
		t.Fatal(err)
	}
	if all := 2 * len(tileSides) * len(tileSides); len(asked) != all || len(m.Tiles) != all {
		t.Errorf("%d are measured, %d differ, want %d", len(m.Tiles), len(asked), all)
	}
	for _, got := range m.Tiles {
		if want := 16 * (float64(got.Rows) + float64(got.Columns)/100); got.Ns != want {
			t.Errorf("%+v, want %v ns of 16 elements", got, want)
		}
	}
	// of which some would be an even number of lines
	for _, most = range []int{48 << 20, 50 << 20, 1 << 20} {
		s.MaxSize = most
		if err := s.tiles(&m); err != nil || len(m.Tiles) == 0 {
			t.Errorf("of %d B: %v, %v", most, err, m.Tiles)
		}
	}
	for _, m := range []Machine{{}, {Memory: m.Memory}} {
		s.MaxSize = 16 << 10 // whose matrices are no larger than a tile
		if err := s.tiles(&m); err != nil || m.Tiles != nil {
			t.Errorf("of no memory, or of too little: %v, %v", err, m.Tiles)
		}
	}
	if speeds, sets := s.workingSets(&Machine{Memory: m.Memory}); len(speeds) != 1 ||
		sets[0] != 2*s.MaxSize {
		t.Errorf("%d speeds are measured on %v B", len(speeds), sets)
	}
}
