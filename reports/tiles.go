package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
)

type tiling struct {
	row   results.Row
	tile  int
	plain bool // the tile is the matrix
	elem  int  // bytes of an element
}

// tilings returns the copies by shape, at most as many shapes as hues.
func (d *data) tilings() (shapes []string, by map[string][]tiling) {
	by = map[string][]tiling{}
	for _, r := range d.rows {
		tile, shape := number(r, "tile"), r.Key("shape")
		n, ok := square(shape)
		if r.Family() != "Tile" || tile == 0 || tile > n || !ok || vectorKernel(r) != "" ||
			!drawable(r.Stats[timeUnit]) {
			continue
		}
		if by[shape] == nil {
			if len(shapes) == len(d.look.hues) {
				continue
			}
			shapes = append(shapes, shape)
		}
		by[shape] = append(by[shape], tiling{r, tile, tile == n, elementSize(r.Key("dtype"))})
	}
	return shapes, by
}

func tiles(d *data) (*figure, error) {
	shapes, by := d.tilings()
	if len(shapes) == 0 {
		return nil, nil
	}
	for _, all := range by {
		for _, t := range all {
			d.shows(t.row)
		}
	}
	f := &figure{title: "Copying a transposed matrix in tiles: time and misses by tile",
		sentence: tileSentence(by[shapes[len(shapes)-1]]),
		alt: "Lines: ns per element, and misses as a share of all references, against the edge " +
			"of the tiles"}
	type tilePanel struct {
		y     string
		marks []mark
		value func(results.Row) (point, bool)
	}
	panels := []tilePanel{{"ns per element", d.simulated, func(r results.Row) (point, bool) {
		return timePerElement(r), true
	}}}
	for _, level := range missLevels {
		panels = append(panels, tilePanel{level.name + " misses, %",
			marksOf(d.simulated, level.name), func(r results.Row) (point, bool) {
				return missRate(r, level.unit)
			}})
	}
	var points []point
	for i, panel := range panels {
		var all []series
		for k, shape := range shapes {
			s := series{name: shape, hue: d.look.hues[k]}
			for _, t := range by[shape] {
				if q, ok := panel.value(t.row); ok {
					q.x = float64(t.tile)
					s.points = append(s.points, q)
				}
			}
			all = append(all, s)
		}
		if _, high, ok := span(all); !ok || high == 0 { // nothing misses
			continue
		}
		points = append(points, pointsOf(all...)...)
		if err := d.tilePanel(f, all, panel.y, i == 0,
			tilesHeld(panel.marks, by[shapes[0]][0].elem)); err != nil {
			return nil, err
		}
	}
	remark := "misses: % of all references; simulated, exact"
	if slices.ContainsFunc(points, point.spreads) {
		remark = "bands: 95% interval; " + remark
		f.alt += ", with 95% intervals"
	}
	f.explain(remark)
	f.panels[len(f.panels)-1].x = "edge of a tile, elements (the largest: untiled)"
	return f, nil
}

func (d *data) tilePanel(f *figure, all []series, y string, times bool, marks []mark) error {
	p := d.look.newPanel("", y)
	numberAxis(&p.X, pointsOf(all...))
	low, high, _ := span(all)
	if percentAxis(&p.Y); times {
		logAxis(&p.Y, low/1.3, high*2)
	}
	d.look.addGrid(p, true)
	p.Add(d.look.marks(marks))
	f.panels = append(f.panels, p)
	f.height += 2.1 * vg.Inch
	return d.look.addSeries(f, p, all...)
}

// tilesHeld marks the largest tiles that fit a cache in pairs, one read and one written.
func tilesHeld(caches []mark, elem int) (held []mark) {
	for _, m := range caches {
		if elem > 0 {
			held = append(held, mark{math.Sqrt(m.at / float64(2*elem)),
				"two tiles fill " + m.label})
		}
	}
	return held
}

func tileSentence(of []tiling) string {
	best, plain := of[0], tiling{}
	for _, t := range of {
		if t.row.Stats[timeUnit].Center < best.row.Stats[timeUnit].Center {
			best = t
		}
		if t.plain {
			plain = t
		}
	}
	text := fmt.Sprintf("The transposed copy of %s is fastest in tiles of %d (%s",
		best.row.Key("shape"), best.tile, results.Scale(best.row.Stats[timeUnit].Center, timeUnit))
	switch {
	case best.plain:
		text = fmt.Sprintf("The transposed copy of %s is fastest without tiles (%s",
			best.row.Key("shape"), results.Scale(best.row.Stats[timeUnit].Center, timeUnit))
	case plain.tile != 0:
		text += fmt.Sprintf(", without tiles %s",
			results.Scale(plain.row.Stats[timeUnit].Center, timeUnit))
	}
	text += ")"
	return text + tileMisses(best, plain) + "."
}

func tileMisses(best, plain tiling) string {
	d1 := percent(missRate(best.row, d1Unit))
	switch {
	case d1 == "":
		return ""
	case best.plain || plain.tile == 0:
		return fmt.Sprintf("; of all references, %s%% miss D1", d1)
	}
	var changed []string
	for _, level := range missLevels {
		with, without := percent(missRate(best.row, level.unit)),
			percent(missRate(plain.row, level.unit))
		if with != without && with != "" && without != "" {
			changed = append(changed, fmt.Sprintf("%s%% miss %s instead of %s%%", with,
				level.name, without))
		}
	}
	if changed == nil {
		return fmt.Sprintf("; as many of all references miss as without tiles (%s%% miss D1)", d1)
	}
	return "; of all references, " + strings.Join(changed, ", ")
}
