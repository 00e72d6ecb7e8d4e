package reports

import (
	"bytes"
	"image/color"
	"math"
	"slices"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/stridebench/stridebench/results"
)

// Okabe and Ito's colours, which colour-blind readers tell apart.
var (
	blue       = color.RGBA{0x00, 0x72, 0xB2, 0xFF}
	vermillion = color.RGBA{0xD5, 0x5E, 0x00, 0xFF}
	green      = color.RGBA{0x00, 0x9E, 0x73, 0xFF}
	ink        = color.Gray{60}
	faint      = color.Gray{225}
	marked     = color.Gray{120}
)

// Pictures are this wide, at twice the pixels of a screen's 72 per inch.
const (
	figureWidth = 7 * vg.Inch
	dotsPerInch = 144
	margin      = vg.Length(14) // so that the last tick label is whole
)

func textStyle(size vg.Length, weight xfont.Weight) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// newPlot returns an empty plot of our looks. Labels of logarithmic axes must be
// short: gonum reserves room for them as if they stood at the arithmetic mean.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle = textStyle(14, xfont.WeightBold)
	p.Title.TextStyle.XAlign = draw.XCenter
	p.Title.TextStyle.YAlign = draw.YTop
	p.Title.Padding = 12
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle = textStyle(11, xfont.WeightNormal)
		axis.Label.TextStyle.XAlign = draw.XCenter
		axis.Label.TextStyle.YAlign = draw.YBottom
		axis.Label.Padding = 6
		rotation, xAlign, yAlign := axis.Tick.Label.Rotation, axis.Tick.Label.XAlign, axis.Tick.Label.YAlign
		axis.Tick.Label = textStyle(10, xfont.WeightNormal)
		axis.Tick.Label.Rotation, axis.Tick.Label.XAlign, axis.Tick.Label.YAlign = rotation, xAlign, yAlign
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = ink, ink
		axis.Padding = 0
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	return p
}

// addGrid draws faint lines at the ticks; without horizontal ones for bars.
func addGrid(p *plot.Plot, horizontal bool) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	grid.Vertical.Width = 0.5
	if grid.Horizontal.Width = 0.5; !horizontal {
		grid.Horizontal.Color = nil
	}
	p.Add(grid)
}

// byteAxis makes x logarithmic, with ticks at powers of two from low to high
// bytes.
func byteAxis(p *plot.Plot, low, high float64) {
	p.X.Min, p.X.Max = low/math.Sqrt2, high*math.Sqrt2
	p.X.Scale = plot.LogScale{}
	var ticks plot.ConstantTicks
	for power := int(math.Ceil(math.Log2(p.X.Min))); power <= int(math.Log2(p.X.Max)); power++ {
		tick := plot.Tick{Value: math.Pow(2, float64(power))}
		if power%2 == 0 {
			tick.Label = results.Bytes(1 << power)
		}
		ticks = append(ticks, tick)
	}
	p.X.Tick.Marker = ticks
}

// zeroAxis makes x linear from 0 to high, with at most six labelled ticks that
// are 1, 2 or 5 times a power of ten apart.
func zeroAxis(p *plot.Plot, high float64) {
	p.X.Min, p.X.Max = 0, high
	step := math.Pow(10, math.Floor(math.Log10(high)))
	for _, part := range []float64{0.1, 0.2, 0.5, 1} {
		if high/(step*part) < 6 {
			step *= part
			break
		}
	}
	var ticks plot.ConstantTicks
	for i := 0; float64(i)*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: float64(i) * step, Label: strconv.FormatFloat(float64(i)*step, 'g', 4, 64)})
	}
	p.X.Tick.Marker = ticks
}

// logAxis makes y logarithmic, with room for low to high and for the labels of
// marks above them, and ticks labelled at 1, 2 and 5.
func logAxis(p *plot.Plot, low, high float64) {
	p.Y.Min, p.Y.Max = low/1.5, high*2
	p.Y.Scale = plot.LogScale{}
	var ticks plot.ConstantTicks
	for decade := math.Floor(math.Log10(p.Y.Min)); decade <= math.Log10(p.Y.Max); decade++ {
		for digit := 1; digit <= 9; digit++ {
			tick := plot.Tick{Value: float64(digit) * math.Pow(10, decade)}
			if digit == 1 || digit == 2 || digit == 5 {
				tick.Label = strconv.FormatFloat(tick.Value, 'g', 3, 64)
			}
			ticks = append(ticks, tick)
		}
	}
	p.Y.Tick.Marker = ticks
}

// A series is one line of a chart.
type series struct {
	name   string
	color  color.RGBA
	shape  draw.GlyphDrawer
	points []point
}

// A point has a confidence interval, which may be the value itself.
type point struct{ x, y, low, high float64 }

// addSeries draws a line with its points over a band of their intervals, and
// enters it in the legend.
func addSeries(p *plot.Plot, legend *plot.Legend, s series) error {
	if len(s.points) == 0 {
		return nil
	}
	slices.SortFunc(s.points, func(a, b point) int {
		if a.x < b.x {
			return -1
		}
		return 1
	})
	var values, band plotter.XYs
	for _, q := range s.points {
		values = append(values, plotter.XY{X: q.x, Y: q.y})
		band = append(band, plotter.XY{X: q.x, Y: q.high})
	}
	for _, q := range slices.Backward(s.points) {
		band = append(band, plotter.XY{X: q.x, Y: q.low})
	}
	area, err := plotter.NewPolygon(band)
	if err != nil {
		return err
	}
	area.Color = color.NRGBA{s.color.R, s.color.G, s.color.B, 50}
	area.LineStyle.Width = 0
	line, points, err := plotter.NewLinePoints(values)
	if err != nil {
		return err
	}
	line.Color, line.Width = s.color, 1.8
	points.GlyphStyle = draw.GlyphStyle{Color: s.color, Radius: 3, Shape: s.shape}
	p.Add(area, line, points)
	legend.Add(s.name, line, points)
	return nil
}

// A cache is one capacity to be marked.
type cache struct {
	name string
	size int // bytes
}

// cacheMarks is a plotter of dashed verticals where caches end.
type cacheMarks []cache

// Plot implements plot.Plotter.
func (m cacheMarks) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	style := textStyle(9, xfont.WeightNormal)
	style.Color, style.XAlign, style.YAlign = marked, draw.XRight, draw.YTop
	line := draw.LineStyle{Color: marked, Width: 0.8, Dashes: []vg.Length{4, 3}}
	last, drop := c.Min.X, vg.Length(0)
	for _, mark := range m {
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
			drop += 11
		}
		c.FillText(style, vg.Point{X: x - gap, Y: c.Max.Y - 2 - drop}, label)
		last = x
	}
}

// bars is a plotter of horizontal bars with their intervals and values; bar i
// is centred at y = -i.
type bars struct {
	points []point // x is unused
	labels []string
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	whisker := draw.LineStyle{Color: ink, Width: 1}
	style := textStyle(9, xfont.WeightNormal)
	style.YAlign = draw.YCenter
	for i, q := range b.points {
		y := toY(float64(-i))
		half := (toY(0) - toY(-1)) * 0.32
		left, right := toX(0), toX(q.y)
		c.FillPolygon(blue, []vg.Point{{X: left, Y: y - half}, {X: right, Y: y - half}, {X: right, Y: y + half}, {X: left, Y: y + half}})
		low, high := toX(q.low), toX(q.high)
		c.StrokeLine2(whisker, low, y, high, y)
		for _, x := range []vg.Length{low, high} {
			c.StrokeLine2(whisker, x, y-half/2, x, y+half/2)
		}
		c.FillText(style, vg.Point{X: max(high, right) + 5, Y: y + 1}, b.labels[i])
	}
}

// render draws plots one above the other, with a legend on their right if it
// has a width, and returns the PNG.
func render(height vg.Length, legend *plot.Legend, plots ...*plot.Plot) ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(figureWidth, height), vgimg.UseDPI(dotsPerInch))
	all := draw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{all.Min, {X: all.Max.X, Y: all.Min.Y}, all.Max, {X: all.Min.X, Y: all.Max.Y}})
	all = draw.Crop(all, margin, -margin, margin, -margin)
	if legend != nil {
		size := legend.Rectangle(all).Size()
		gap := vg.Length(12)
		legend.Draw(draw.Crop(all, all.Size().X-size.X, 0, 0, -plots[0].Title.TextStyle.FontExtents().Height-plots[0].Title.Padding))
		all = draw.Crop(all, 0, -size.X-gap, 0, 0)
	}
	column := make([][]*plot.Plot, len(plots))
	for i, p := range plots {
		column[i] = []*plot.Plot{p}
	}
	for i, c := range plot.Align(column, draw.Tiles{Rows: len(plots), Cols: 1, PadY: 8}, all) {
		plots[i].Draw(c[0])
	}
	var out bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(&out)
	return out.Bytes(), err
}

// newLegend returns an empty legend for the right of a figure.
func newLegend() *plot.Legend {
	legend := plot.NewLegend()
	legend.TextStyle = textStyle(10, xfont.WeightNormal)
	legend.Top, legend.Left = true, true
	legend.ThumbnailWidth = 26
	legend.Padding = 6
	return &legend
}
