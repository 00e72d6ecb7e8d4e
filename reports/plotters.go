package reports

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

type series struct {
	name   string
	hue    hue
	dashed bool
	points []point
}

// A point has a confidence interval, which may be the value itself.
type point struct{ x, y, low, high float64 }

func sortByX(points []point) {
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
}

// without returns all that is not to be dropped.
func without[T any](all []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), drop)
}

// exactly returns a point without an interval.
func exactly(x, y float64) point { return point{x, y, y, y} }

func (q point) spreads() bool { return q.low < q.high }

// positive reports whether a value fits any axis: above 0, and within what can be measured.
func positive(v float64) bool { return v > 1e-30 && v < 1e30 }

func drawable(s results.Stat) bool { return positive(s.Center) }

// interval returns a scaled statistic. Without enough samples, its interval is the value.
func interval(s results.Stat, scale float64) point {
	q := point{y: s.Center * scale, low: s.Lo * scale, high: s.Hi * scale}
	if !(q.low > 0 && q.low <= q.y && q.high >= q.y && q.high < 1e3*q.y) {
		q.low, q.high = q.y, q.y
	}
	return q
}

// span returns the range of all series with their intervals. ok is false without points.
func span(all []series) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, q := range s.points {
			low, high, ok = min(low, q.low), max(high, q.high), true
		}
	}
	return low, high, ok
}

func pointsOf(all ...series) (points []point) {
	for _, s := range all {
		points = append(points, s.points...)
	}
	return points
}

func named(all ...series) string {
	var names []string
	for _, s := range all {
		if len(s.points) > 0 {
			names = append(names, s.name)
		}
	}
	return strings.Join(names, "; ")
}

// addSeries draws lines with the bands of their intervals, and explains them.
func (s *style) addSeries(f *figure, p *panel, all ...series) error {
	for _, of := range all {
		if len(of.points) == 0 {
			continue
		}
		sortByX(of.points)
		area, err := plotter.NewPolygon(of.band())
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = fade(of.hue.color), 0
		line, points, err := plotter.NewLinePoints(of.values())
		if err != nil {
			return err
		}
		line.Color, line.Width = of.hue.color, 1.8
		if of.dashed {
			line.Dashes = []vg.Length{5, 3}
		}
		points.GlyphStyle = draw.GlyphStyle{Color: of.hue.color, Radius: 3, Shape: of.hue.glyph}
		p.Add(area)
		if of.points[0].spreads() && len(of.points) == 1 { // a band of no breadth
			strip, err := plotter.NewLine(of.band())
			if err != nil {
				return err
			}
			strip.Color, strip.Width = area.Color, 6
			p.Add(strip)
		}
		p.Add(line, points)
		if of.name != "" && !slices.ContainsFunc(f.legend, func(e entry) bool {
			return e.name == of.name
		}) {
			f.explain(of.name, line, points)
		}
	}
	f.explainIntervals("bands: 95% interval", pointsOf(all...))
	return nil
}

// A spot is a value with an interval along the x axis, at a place on the y axis.
type spot struct {
	point // x is unused
	at    float64
}

// addSpots adds points with their intervals, if there are any.
func (s *style) addSpots(f *figure, p *panel, name string, h hue, all []spot) error {
	if len(all) == 0 {
		return nil
	}
	var of struct {
		plotter.XYs
		plotter.XErrors
	}
	for _, one := range all {
		of.XYs = append(of.XYs, plotter.XY{X: one.y, Y: one.at})
		of.XErrors = append(of.XErrors, struct{ Low, High float64 }{one.low - one.y,
			one.high - one.y})
	}
	points, err := plotter.NewScatter(of.XYs)
	if err != nil {
		return err
	}
	points.GlyphStyle = draw.GlyphStyle{Color: h.color, Radius: 2.6, Shape: h.glyph}
	lines, err := plotter.NewXErrorBars(of)
	if err != nil {
		return err
	}
	lines.Color, lines.Width, lines.CapWidth = h.color, 0.9, 0
	p.Add(lines, points)
	f.explain(name, points)
	return nil
}

func (s series) values() (values plotter.XYs) {
	for _, q := range s.points {
		values = append(values, plotter.XY{X: q.x, Y: q.y})
	}
	return values
}

func (s series) band() (band plotter.XYs) {
	for _, q := range s.points {
		band = append(band, plotter.XY{X: q.x, Y: q.high})
	}
	for _, q := range slices.Backward(s.points) {
		band = append(band, plotter.XY{X: q.x, Y: q.low})
	}
	return band
}

// A swatch is a thumbnail: a field of a colour with an edge.
type swatch struct{ fill, edge color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	outline := corners(c.Rectangle)
	c.FillPolygon(s.fill, outline)
	c.StrokeLines(draw.LineStyle{Color: s.edge, Width: 0.5}, append(outline, c.Min))
}
