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
		if got, known := times.tile(c.written, c.steps, c.around); math.Abs(got-c.want) > 1e-9*c.want || known != (c.want > 0) {
			t.Errorf("%+v: %v, %t", c, got, known)
		}
	}
	if got, known := (Times{}).tile(true, 8, 8); known {
		t.Errorf("of none that were measured: %v", got)
	}
	times.Tiles = slices.DeleteFunc(times.Tiles, func(m probe.Tile) bool { return m.Rows == 16 && m.Columns == 16 })
	for steps, want := range map[float64]bool{8: true, 11: false, 16: false, 40: true} {
		if got, known := times.tile(true, steps, steps); known != want {
			t.Errorf("%v by %v, without 16 by 16: %v, %t", steps, steps, got, known)
		}
	}
}

// TestTiledCopies: a transposed copy by tiles takes what such were measured to take, on a machine
// that was, as far as its lines come from memory; no less than streams do, and by itself.
func TestTiledCopies(t *testing.T) {
	const lines = 6000 * 6000 / 16
	machine := probe.Machine{Levels: []probe.Level{{Name: "L1D", Capacity: 32 << 10, Speed: probe.Speed{Latency: 1, Read: 200e9, Copy: 200e9}},
		{Name: "L2", Capacity: 1 << 20, Speed: probe.Speed{Latency: 4, Read: 100e9, Copy: 100e9}}, {Name: "L3", Capacity: 16 << 20, Speed: probe.Speed{Latency: 15, Read: 64e9, Copy: 64e9}}},
		Memory: probe.Speed{Latency: 100, Read: 32e9, Copy: 32e9}}
	ns := func(tiles []probe.Tile, tile int) float64 {
		machine.Tiles = tiles
		m := Model{Times: Measured(machine), Caches: generic.Caches}
		p, err := m.Predict(pattern(t, access.Spec{Op: access.Copy, Shape: []int{6000, 6000}, DType: layouts.Float32, View: layouts.MustParseChain("t()"), Tile: []int{tile, tile}}))
		if err != nil {
			t.Fatal(err)
		}
		return p.Ns
	}
	all := func(ns float64) (all []probe.Tile) {
		for _, rows := range []int{16, 32} {
			for _, columns := range []int{16, 32} {
				all = append(all, probe.Tile{Rows: rows, Columns: columns, Ns: ns})
			}
		}
		return all
	}
	for _, tile := range []int{16, 32, 24} {
		if got := ns(all(500), tile) / lines; got < 498 || got > 530 { // and what comes from caches and the TLB, of which walks are hidden behind lines in part
			t.Errorf("tiles of %d that were measured to take 500 ns a pair of lines take %.1f", tile, got)
		}
	}
	if fast, stream := ns(all(1e-3), 16), lines*2*64/32.; fast < stream || fast > 5*stream {
		t.Errorf("tiles that were measured to take nothing take %.3g ns, streams of as much %.3g", fast, stream)
	}
	last := Model{Times: Measured(machine), Caches: generic.Caches}
	if got, want := last.tiledLine(500, 1), (2*64/64.+(500-2*64/32.)*15/100)/2; !about(got, want, 1e-3) || !about(last.tiledLine(500, 2), 250, 1e-9) {
		t.Errorf("a line of the last level takes %v ns, want %v, and one of memory %v", got, want, last.tiledLine(500, 2))
	}
	if by, rules := ns(all(500)[:3], 24), ns(nil, 24); by != rules {
		t.Errorf("tiles of 24, about which not enough was measured, take %.3g ns, by the rules %.3g", by, rules)
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
		m.Rules = &Rules{Overlap: math.Inf(1)}
		m.Times.Levels = slices.Clone(m.Times.Levels)
		m.Times.Levels[0].Crowded = 1
		m.Times.Tiles = measuredTiles()
		n := p.Nests[0]
		var visits []visit
		for _, op := range n.Operands {
			visits = append(visits, m.visit(p, n, op, rowsOf(n, line)))
		}
		if got, known := m.tiled(p, n, visits); math.Abs(got-c.want) > 1e-9*c.want || known != (c.want > 0) {
			t.Errorf("%s: %v, %t, want %v", s.Name(), got, known, c.want)
		}
	}
}
