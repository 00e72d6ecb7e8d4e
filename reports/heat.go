package reports

import (
	"image"
	"image/color"
	imagedraw "image/draw"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A heatMap is a plotter of cells with a colour and a text. Cell (0, 0) is centred at the origin;
// columns go right, rows up.
type heatMap struct {
	look          *style
	columns, rows int
	cell          func(column, row int) (fill color.Color, text string)
}

// newHeatMap returns a panel with a heat map, and the height of the labels under it.
func (s *style) newHeatMap(h heatMap, x, y string, xTicks, yTicks plot.ConstantTicks) (*panel,
	vg.Length) {
	p := s.newPanel(x, y)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(h.columns)-0.5, -0.5, float64(h.rows)-0.5
	p.X.Tick.Marker, p.Y.Tick.Marker = xTicks, yTicks
	p.Add(h)
	words := s.text(tickSize)
	widest := func(ticks plot.ConstantTicks) (most vg.Length) {
		for _, tick := range ticks {
			most = max(most, words.Width(tick.Label))
		}
		return most
	}
	below := widest(xTicks)
	if below+6 <= (figureWidth-2*margin-widest(yTicks)-12)/vg.Length(h.columns) {
		return p, 0
	}
	label := &p.X.Tick.Label
	label.Rotation, label.XAlign, label.YAlign = math.Pi/5, -1, -0.6
	return p, below * vg.Length(math.Sin(math.Pi/5))
}

// ticksOf labels about most of the names at their indices.
func ticksOf(names []string, most, letters int) (ticks plot.ConstantTicks) {
	every := (len(names) + most - 1) / most
	for i, name := range shorts(names, letters) {
		if i%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
		}
	}
	return ticks
}

// Plot implements plot.Plotter. The cells are an image, since a large fleet has many.
func (h heatMap) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	const pixels = 1400 // about, either way: one pixel for each cell would be blurred
	across, up := (pixels+h.columns-1)/h.columns, (pixels+h.rows-1)/h.rows
	img := image.NewRGBA(image.Rect(0, 0, h.columns*across, h.rows*up))
	words := h.look.text(markSize)
	words.XAlign, words.YAlign = draw.XCenter, draw.YCenter
	width, height := toX(1)-toX(0)-4, toY(1)-toY(0)
	var texts []func()
	for column := range h.columns {
		for row := range h.rows {
			fill, text := h.cell(column, row)
			top := (h.rows - 1 - row) * up
			imagedraw.Draw(img, image.Rect(column*across, top, (column+1)*across, top+up),
				image.NewUniform(fill), image.Point{}, imagedraw.Src)
			if words.Width(text) > width {
				text, _, _ = strings.Cut(text, ": ")
			}
			if text != "" && height > markSize {
				style, at := words, vg.Point{X: toX(float64(column)), Y: toY(float64(row))}
				style.Color = over(fill)
				texts = append(texts, func() { c.FillText(style, at, fit(style, text, width)) })
			}
		}
	}
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: toX(-0.5), Y: toY(-0.5)},
		Max: vg.Point{X: toX(float64(h.columns) - 0.5), Y: toY(float64(h.rows) - 0.5)}}, img)
	for _, write := range texts {
		write()
	}
}

// viridis is the colour map of S. van der Walt and N. Smith, for matplotlib. Its even luminance is
// legible in grey.
func viridis(low, high float64) (palette.ColorMap, error) {
	var controls []color.Color
	for _, hex := range []uint32{0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E, 0x1F9E89,
		0x35B779, 0x6ECE58, 0xB5DE2B, 0xFDE725} {
		controls = append(controls, rgb(hex))
	}
	m, err := moreland.NewLuminance(controls)
	if err != nil {
		return nil, err
	}
	m.SetMin(low)
	m.SetMax(high)
	return m, nil
}

// clipRatio is the ratio beyond which colours no longer change.
const clipRatio = 1.3

// shade returns the colour of a ratio: paper at 1, one hue for slower, another for faster. It is
// grey for no ratio.
func (s *style) shade(ratio float64) color.RGBA {
	if math.IsNaN(ratio) || ratio <= 0 {
		return s.grid
	}
	share := math.Log(ratio) / math.Log(clipRatio)
	to := s.hues[1].color
	if share < 0 {
		share, to = -share, s.hues[0].color
	}
	return mix(s.paper, to, min(share, 1))
}

func mix(from, to color.RGBA, share float64) color.RGBA {
	part := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + share*(float64(b)-float64(a))))
	}
	return color.RGBA{part(from.R, to.R), part(from.G, to.G), part(from.B, to.B), 0xFF}
}

// over returns the colour of a text over another colour.
func over(fill color.Color) color.Color {
	if color.GrayModel.Convert(fill).(color.Gray).Y > 128 {
		return color.Black
	}
	return color.White
}
