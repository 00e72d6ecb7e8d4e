package reports

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/results/terminal"
)

// maxBars is the most bars of a chart. The table has the rest.
const maxBars = 40

// bars is a plotter of horizontal bars with intervals and values, and titles between them. Bar i is
// centred at y = -i.
type bars struct {
	look  *style
	all   []bar
	drawn int // without titles
}

type bar struct {
	point         // x is unused
	name, kernel  string
	title, figure string
}

// add adds rows under what their names share. Rows beyond maxBars are left out.
func (b *bars) add(rows []results.Row, value func(results.Row) point) {
	rows = rows[:min(len(rows), maxBars-b.drawn)]
	if len(rows) == 0 {
		return
	}
	shared, labels := terminal.Headings(rows)
	if shared != "" {
		b.all = append(b.all, bar{title: short(shared, 80)})
	}
	for i, name := range shorts(labels, 56) {
		q := value(rows[i])
		b.all = append(b.all, bar{point: q, name: name, kernel: vectorKernel(rows[i]),
			figure: digits(q.y)})
	}
	b.drawn += len(rows)
}

// draw sets the figure's panel, its legend and its height.
func (b *bars) draw(f *figure, unit string) {
	longest, widest, room := 0.0, 0.0, 1.12 // for the figures
	for _, one := range b.all {
		longest = max(longest, one.y)
	}
	var points []point
	var ticks plot.ConstantTicks
	kernels := map[hue][]string{}
	for i := range b.all {
		one := &b.all[i]
		if one.high > 2*longest { // would leave no room for the bars
			one.figure += fmt.Sprintf(" (up to %s)", digits(one.high))
			one.high, room = 2*longest, 1.5
		}
		widest = max(widest, one.high)
		points = append(points, one.point)
		ticks = append(ticks, plot.Tick{Value: float64(-i), Label: one.name})
		if h := b.look.kernelHue(one.kernel); one.title == "" &&
			!slices.Contains(kernels[h], loop(one.kernel)) {
			kernels[h] = append(kernels[h], loop(one.kernel))
		}
	}
	for _, h := range b.look.hues {
		if len(kernels) > 1 && kernels[h] != nil {
			f.explain(short(strings.Join(kernels[h], ", "), 60), swatch{h.color, h.color})
		}
	}
	f.explainIntervals("whiskers: 95% interval", points)
	p := b.look.newPanel(unit, "")
	linearAxis(&p.X, 0, widest*room)
	p.Y.Min, p.Y.Max = -float64(len(b.all))+0.4, 0.6
	p.Y.Tick.Marker, p.Y.Tick.Length = ticks, 0
	p.Add(b)
	f.panels = []*panel{p}
	f.height = vg.Length(len(b.all))*0.3*vg.Inch + 0.55*vg.Inch
}

// Plot implements plot.Plotter.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	style := b.look.text(markSize)
	style.YAlign = draw.YCenter
	half := (toY(0) - toY(-1)) * 0.32
	for i, one := range b.all {
		y := toY(float64(-i))
		if one.title != "" {
			title := fit(style, one.title, c.Max.X-c.Min.X-5)
			b.look.erase(c, vg.Rectangle{Min: vg.Point{X: c.Min.X + 1, Y: y - 7},
				Max: vg.Point{X: c.Min.X + 8 + style.Width(title), Y: y + 7}})
			c.FillText(style, vg.Point{X: c.Min.X + 5, Y: y}, title)
			continue
		}
		c.FillPolygon(b.look.kernelHue(one.kernel).color, corners(vg.Rectangle{
			Min: vg.Point{X: toX(0), Y: y - half}, Max: vg.Point{X: toX(one.y), Y: y + half}}))
		if one.spreads() {
			b.look.whisker(c, toX(one.low), toX(one.high), y, half/2)
		}
		c.FillText(style, vg.Point{X: max(toX(one.high), toX(one.y)) + 5, Y: y + 1}, one.figure)
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

func (s *style) erase(c draw.Canvas, r vg.Rectangle) { c.FillPolygon(s.paper, corners(r)) }

func (s *style) kernelHue(kernel string) hue {
	switch kernel {
	case "":
		return s.hues[0]
	case "builtin":
		return s.hues[2]
	}
	return s.hues[1]
}

// gibPerSecond reads plus writes.
func gibPerSecond(r results.Row) point { return interval(r.Stats[bandwidthUnit], 1.0/(1<<30)) }

// timePerElement is in ns.
func timePerElement(r results.Row) point { return interval(r.Stats[timeUnit], 1e9) }

// extremes returns the labels and the medians of the rows with the least and the most of a unit.
func extremes(rows []results.Row, unit string) (least, most string, low, high float64) {
	_, labels := terminal.Headings(rows)
	labels = shorts(labels, 40)
	for i, r := range rows {
		v := r.Stats[unit].Center
		if i == 0 || v < low {
			least, low = labels[i], v
		}
		if i == 0 || v > high {
			most, high = labels[i], v
		}
	}
	return least, most, low, high
}

func moves(rows []results.Row) string {
	least, most, low, high := extremes(rows, bandwidthUnit)
	slow, fast := show.Scale(low, bandwidthUnit), show.Scale(high, bandwidthUnit)
	if len(rows) == 1 {
		return fmt.Sprintf("The copy (%s) moves %s.", most, fast)
	}
	return fmt.Sprintf("The fastest copy (%s) moves %s, the slowest (%s) %s.", most, fast, least,
		slow)
}
