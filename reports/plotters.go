package reports

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// A series is one line of a chart.
type series struct {
	name   string
	hue    hue
	dashed bool
	points []point
}

// A point has a confidence interval, which may be the value itself.
type point struct{ x, y, low, high float64 }

// exactly is a point without an interval.
func exactly(x, y float64) point { return point{x, y, y, y} }

// drawable tells whether a statistic can stand on any axis: positive, and no
// larger than anything measured ever is.
func drawable(s results.Stat) bool { return s.Center > 1e-30 && s.Center < 1e30 }

// interval is a statistic with its interval, scaled; where the samples were
// too few for one, the interval is the value.
func interval(s results.Stat, scale float64) point {
	q := point{y: s.Center * scale, low: s.Lo * scale, high: s.Hi * scale}
	if !(q.low > 0 && q.low <= q.y && q.high >= q.y && q.high < 1e3*q.y) {
		q.low, q.high = q.y, q.y
	}
	return q
}

// span is the least and the largest that the points of all series reach; ok
// tells whether there is any.
func span(all []series) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, q := range s.points {
			low, high, ok = min(low, q.low), max(high, q.high), true
		}
	}
	return low, high, ok
}

// addSeries draws a line with its points over a band of their intervals, and
// enters it in the legend, if there is one.
func (s *style) addSeries(p *plot.Plot, legend *plot.Legend, of series) error {
	if len(of.points) == 0 {
		return nil
	}
	slices.SortFunc(of.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	var values, band plotter.XYs
	for _, q := range of.points {
		values = append(values, plotter.XY{X: q.x, Y: q.y})
		band = append(band, plotter.XY{X: q.x, Y: q.high})
	}
	for _, q := range slices.Backward(of.points) {
		band = append(band, plotter.XY{X: q.x, Y: q.low})
	}
	area, err := plotter.NewPolygon(band)
	if err != nil {
		return err
	}
	area.Color = fade(of.hue.color)
	area.LineStyle.Width = 0
	line, points, err := plotter.NewLinePoints(values)
	if err != nil {
		return err
	}
	line.Color, line.Width = of.hue.color, 1.8
	if of.dashed {
		line.Dashes = []vg.Length{5, 3}
	}
	points.GlyphStyle = draw.GlyphStyle{Color: of.hue.color, Radius: 3, Shape: of.hue.glyph}
	p.Add(area, line, points)
	if legend != nil {
		legend.Add(of.name, line, points)
	}
	return nil
}

// bars is a plotter of horizontal bars with their intervals and values; bar i
// is centred at y = -i.
type bars struct {
	look   *style
	points []point // x is unused
	labels []string
	hues   []hue
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	whisker := draw.LineStyle{Color: b.look.ink, Width: 1}
	style := b.look.text(markSize)
	style.YAlign = draw.YCenter
	for i, q := range b.points {
		y := toY(float64(-i))
		half := (toY(0) - toY(-1)) * 0.32
		left, right := toX(0), toX(q.y)
		c.FillPolygon(b.hues[i].color, []vg.Point{{X: left, Y: y - half}, {X: right, Y: y - half}, {X: right, Y: y + half}, {X: left, Y: y + half}})
		low, high := toX(q.low), toX(q.high)
		c.StrokeLine2(whisker, low, y, high, y)
		for _, x := range []vg.Length{low, high} {
			c.StrokeLine2(whisker, x, y-half/2, x, y+half/2)
		}
		c.FillText(style, vg.Point{X: max(high, right) + 5, Y: y + 1}, b.labels[i])
	}
}
