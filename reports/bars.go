package reports

import (
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// maxBars is the most bars of a chart. The table has the rest.
const maxBars = 40

// bars is a plotter of horizontal bars with intervals and values. Bar i is centred at y = -i.
type bars struct {
	look    *style
	points  []point // x is unused
	labels  []string
	kernels []string
	skip    func(i int) bool // nil for none
}

func (b bars) explainKernels(f *figure) {
	var colors []color.RGBA
	var names [][]string
	for i, kernel := range b.kernels {
		if b.skip != nil && b.skip(i) {
			continue
		}
		at := slices.Index(colors, b.look.kernelHue(kernel).color)
		if at < 0 {
			at = len(colors)
			colors, names = append(colors, b.look.kernelHue(kernel).color), append(names, nil)
		}
		if !slices.Contains(names[at], loop(kernel)) {
			names[at] = append(names[at], loop(kernel))
		}
	}
	if len(colors) < 2 {
		return
	}
	for i, c := range colors {
		f.explain(short(strings.Join(names[i], ", "), 60), swatch{c, c})
	}
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	style := b.look.text(markSize)
	style.YAlign = draw.YCenter
	half := (toY(0) - toY(-1)) * 0.32
	for i, q := range b.points {
		if b.skip != nil && b.skip(i) {
			continue
		}
		y := toY(float64(-i))
		left, right := toX(0), toX(q.y)
		c.FillPolygon(b.look.kernelHue(b.kernels[i]).color, []vg.Point{{X: left, Y: y - half},
			{X: right, Y: y - half}, {X: right, Y: y + half}, {X: left, Y: y + half}})
		if q.spreads() {
			b.look.whisker(c, toX(q.low), toX(q.high), y, half/2)
		}
		c.FillText(style, vg.Point{X: max(toX(q.high), right) + 5, Y: y + 1}, b.labels[i])
	}
}

func (s *style) whisker(c draw.Canvas, low, high, y, half vg.Length) {
	for _, line := range []draw.LineStyle{{Color: s.paper, Width: 2.6}, {Color: s.ink, Width: 1}} {
		c.StrokeLine2(line, low, y, high, y)
		for _, x := range []vg.Length{low, high} {
			c.StrokeLine2(line, x, y-half, x, y+half)
		}
	}
}

func (d *data) bandwidthBars(f *figure, rows []results.Row) {
	labels, common := copyLabels(rows)
	if common != "" {
		f.explain("all " + common)
	}
	b := titledBars{bars: bars{look: &d.look}}
	b.add("", labels, rows, func(r results.Row) point {
		return interval(r.Stats[bandwidthUnit], 1.0/(1<<30))
	})
	b.finish(f, "GiB/s, read plus written")
}

// threeDigits formats a value above 0 to three digits, trailing zeros included: "18.0".
func threeDigits(v float64) string {
	if places(v) > 5 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', max(places(v), 0), 64)
}

func (s *style) kernelHue(kernel string) hue {
	switch kernel {
	case "":
		return s.hues[0]
	case "builtin":
		return s.hues[2]
	}
	return s.hues[1]
}
