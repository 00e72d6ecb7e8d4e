package reports

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

type tiling struct {
	row   results.Row
	tile  int
	plain bool // the tile is the matrix
}

// tilings returns the copies by shape, at most as many shapes as hues.
func (d *data) tilings() (shapes []string, by map[string][]tiling) {
	by = map[string][]tiling{}
	for _, r := range d.rows {
		tile, shape := number(r, "tile"), r.Key("shape")
		n, ok := square(shape)
		if r.Family() != "Tile" || tile == 0 || tile > n || !ok || vectorKernel(r) != "" ||
			!drawable(r.Stats[timeUnit]) || by[shape] == nil && len(shapes) == len(d.look.hues) {
			continue
		}
		if by[shape] == nil {
			shapes = append(shapes, shape)
		}
		d.shows(r)
		by[shape] = append(by[shape], tiling{r, tile, tile == n})
	}
	return shapes, by
}

func tiles(d *data) (*figure, error) {
	shapes, by := d.tilings()
	if len(shapes) == 0 {
		return nil, nil
	}
	f := &figure{title: "Copying a transposed matrix in tiles: time and misses by tile",
		sentence: tileSentence(by[shapes[len(shapes)-1]]),
		alt: "Lines: ns per element, and misses as a share of all references, against the edge " +
			"of the tiles"}
	elem := elementSize(by[shapes[0]][0].row.Key("dtype"))
	times, err := d.tilePanel(f, by, shapes, "ns per element", tilesHeld(d.simulated, elem),
		func(r results.Row) (point, bool) { return timePerElement(r), true })
	if err != nil {
		return nil, err
	}
	low, high, _ := span(times)
	logAxis(&f.panels[0].Y, low/1.3, high*2, number6)
	for _, level := range missLevels {
		if _, err := d.tilePanel(f, by, shapes, level.name+" misses, %",
			tilesHeld(marksOf(d.simulated, level.name), elem),
			func(r results.Row) (point, bool) { return missRate(r, level.unit) }); err != nil {
			return nil, err
		}
	}
	f.explain("misses: % of all references; simulated, exact")
	f.panels[len(f.panels)-1].x = "edge of a tile, elements (the largest: untiled)"
	return f, nil
}

// tilePanel adds a panel, unless nothing misses.
func (d *data) tilePanel(f *figure, by map[string][]tiling, shapes []string, y string, marks []mark,
	value func(results.Row) (point, bool)) (all []series, err error) {
	for i, shape := range shapes {
		s := series{name: shape, hue: d.look.hues[i]}
		for _, t := range by[shape] {
			if q, ok := value(t.row); ok {
				q.x = float64(t.tile)
				s.points = append(s.points, q)
			}
		}
		all = append(all, s)
	}
	if _, high, ok := span(all); !ok || high == 0 {
		return nil, nil
	}
	p := d.look.newPanel("", y)
	numberAxis(&p.X, pointsOf(all...))
	percentAxis(&p.Y)
	p.Add(d.look.marks(marks))
	f.panels = append(f.panels, p)
	f.height += 2.1 * vg.Inch
	return all, d.look.addSeries(f, p, all...)
}

// tilesHeld marks the largest tiles that fit a cache in pairs, one read and one written.
func tilesHeld(caches []mark, elem int) (held []mark) {
	for _, m := range caches {
		if elem > 0 {
			held = append(held, mark{at: math.Sqrt(m.at / float64(2*elem)),
				label: "two tiles fill " + m.label})
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
	takes := func(t tiling) string { return show.Scale(t.row.Stats[timeUnit].Center, timeUnit) }
	text := fmt.Sprintf("The transposed copy of %s is fastest ", best.row.Key("shape"))
	switch {
	case best.plain:
		text += fmt.Sprintf("without tiles (%s)", takes(best))
	case plain.tile != 0:
		text += fmt.Sprintf("in tiles of %d (%s, without tiles %s)", best.tile, takes(best),
			takes(plain))
	default:
		text += fmt.Sprintf("in tiles of %d (%s)", best.tile, takes(best))
	}
	return text + tileMisses(best, plain) + "."
}

func tileMisses(best, plain tiling) string {
	var changed []string
	for _, level := range missLevels {
		with, without := percent(missRate(best.row, level.unit)),
			percent(missRate(plain.row, level.unit))
		switch {
		case with == "" || with == without:
		case without == "":
			changed = append(changed, fmt.Sprintf("%s%% miss %s", with, level.name))
		default:
			changed = append(changed, fmt.Sprintf("%s%% miss %s instead of %s%%", with,
				level.name, without))
		}
	}
	if changed == nil {
		return ""
	}
	return "; of all references, " + strings.Join(changed, ", ")
}
