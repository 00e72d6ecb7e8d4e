package reports

import (
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// A cache is one capacity to be marked.
type cache struct {
	name string
	size int // bytes
}

// caches are capacities to be marked.
type caches []cache

// parseCaches reads "L1d=32768,8,64 L3=33554432,16,64"; what is malformed is
// left out, since it only marks a chart.
func parseCaches(text string) caches {
	var found caches
	for field := range strings.FieldsSeq(text) {
		name, geometry, _ := strings.Cut(field, "=")
		size, _, _ := strings.Cut(geometry, ",")
		if n, err := strconv.Atoi(size); err == nil && n > 0 && name != "L1i" && len(found) < 8 {
			found = append(found, cache{results.Printable(name), n})
		}
	}
	return found
}

// marks is a plotter of dashed verticals where caches end.
func (s *style) marks(c caches) plot.Plotter { return cacheMarks{s, c} }

type cacheMarks struct {
	look *style
	caches
}

// Plot implements plot.Plotter.
func (m cacheMarks) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	style := m.look.mark()
	style.XAlign, style.YAlign = draw.XRight, draw.YTop
	line := draw.LineStyle{Color: m.look.marked, Width: 0.8, Dashes: []vg.Length{4, 3}}
	last, drop := c.Min.X, vg.Length(0)
	for _, mark := range m.caches {
		if float64(mark.size) < p.X.Min || float64(mark.size) > p.X.Max {
			continue
		}
		x := toX(float64(mark.size))
		c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
		label := mark.name + " " + results.Bytes(mark.size)
		width, gap := style.Width(label), vg.Length(3)
		switch {
		case x-gap-width >= last:
			drop = 0
		case last == c.Min.X: // no room left of the first
			x += 2*gap + width
		default: // step down beside a close neighbour
			drop += markSize + 2
		}
		c.FillText(style, vg.Point{X: x - gap, Y: c.Max.Y - 2 - drop}, label)
		last = x
	}
}
