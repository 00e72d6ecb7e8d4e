package reports

import (
	"image/color"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/missmap"
)

// mapped is the second pass over a matrix of 64x64 elements of 4 B, by rows and by columns, in
// 2 KiB of two ways and 8 KiB of four.
func mapped(t *testing.T) (maps []missmap.Map) {
	t.Helper()
	c := simcache.Config{Levels: []simcache.Level{
		{Geometry: simcache.Geometry{Size: 2048, Ways: 2, Line: 64}},
		{Geometry: simcache.Geometry{Size: 8192, Ways: 4, Line: 64}},
	}}
	x := nest.Array{Tensor: "x", Base: 1 << 32, Element: 4, Extents: []int{64, 64}}
	n := nest.Nest{Trips: []int{64, 64}, Operands: []nest.Operand{
		{Tensor: "x", Base: x.Base, Width: 4, Strides: []int{256, 4}}}}
	for _, walk := range []struct {
		name string
		nest.Nest
	}{{"order row", n}, {"order col", n.Permute(1, 0)}} {
		p := nest.Sequence(walk.Nest)
		m, err := missmap.Of(c, 2, p, []nest.Array{x}, InPicture)
		if err != nil {
			t.Fatal(err)
		}
		m.Name = walk.name
		maps = append(maps, m)
	}
	return maps
}

// TestMaps: by rows a sixteenth of the cells miss, by columns all do, and each in its colour. Each
// set that misses is there.
func TestMaps(t *testing.T) {
	maps := mapped(t)
	chart, err := DrawMaps("a title", maps)
	if err != nil {
		t.Fatal(err)
	}
	img := pixels(t, chart.PNG)
	count := map[color.RGBA][2]int{} // pixels in the halves, without the legend
	for y := img.Rect.Max.Y / 4; y < img.Rect.Max.Y; y++ {
		for x := range img.Rect.Max.X {
			n := count[img.RGBAAt(x, y)]
			n[x*2/img.Rect.Max.X]++
			count[img.RGBAAt(x, y)] = n
		}
	}
	hits, misses := count[rgb(0xCFE2F0)], count[rgb(0xB2182B)]
	share := float64(hits[0]) / float64(misses[0])
	if share < 12 || share > 24 || hits[1] > 0 || misses[1] < 15*misses[0] {
		t.Errorf("hits %v, misses %v", hits, misses)
	}
	if sets := count[rgb(0xE69F00)]; sets[0] < 50 || sets[1] < 50 {
		t.Errorf("sets: %v pixels", sets)
	}
	for _, words := range []string{"order row: 4,096 references", "256 miss D1 (6.25%), 256 miss LL",
		"4,096 miss D1 (100.00%)", "misses by D1 set"} {
		if !strings.Contains(string(chart.SVG), words) {
			t.Errorf("no %q", words)
		}
	}
	if _, err := DrawMaps("a title", []missmap.Map{{Levels: []string{"D1"}}}); err == nil {
		t.Error("a map of nothing is drawn")
	}
}

// TestMixed: the colour of a cell with several references is mixed of theirs.
func TestMixed(t *testing.T) {
	p := &mapPicture{maps: mapped(t)[:1]}
	p.shade()
	half := p.mixed(missmap.Cell{Refs: 4, Missed: []uint64{2, 0}})
	hit, miss := p.shades[0], p.shades[1]
	for i, pair := range [][3]uint8{{half.R, hit.R, miss.R}, {half.B, hit.B, miss.B}} {
		if got, want := int(pair[0]), (int(pair[1])+int(pair[2]))/2; got < want-1 || got > want+1 {
			t.Errorf("channel %d is %d, want %d", i, got, want)
		}
	}
	if whole := p.mixed(missmap.Cell{Refs: 3, Missed: []uint64{3, 3}}); whole != p.shades[2] {
		t.Errorf("all miss: %v, want %v", whole, p.shades[2])
	}
}
