package reports

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Theme names the colours of a report. The zero value is Light.
type Theme string

// The themes.
const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

type style struct {
	paper, ink color.RGBA
	grid       color.RGBA // of faint lines
	marked     color.RGBA // of marks in a chart, and of its footer
	hues       [5]hue     // of series, in order
}

// A hue is the colour of a series, with a glyph for readers who cannot use colour.
type hue struct {
	color color.RGBA
	glyph draw.GlyphDrawer
}

// style returns the style of a theme. The hues are Okabe and Ito's, which colour-blind readers can
// distinguish (https://jfly.uni-koeln.de/color/). On dark paper they are lighter.
func (t Theme) style() style {
	hues := func(hex ...uint32) (all [5]hue) {
		glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{},
			draw.TriangleGlyph{}, draw.RingGlyph{}}
		for i := range all {
			all[i] = hue{rgb(hex[i]), glyphs[i]}
		}
		return all
	}
	if t == Dark {
		return style{paper: rgb(0x15181D), ink: rgb(0xDCDFE4), grid: rgb(0x31363E),
			marked: rgb(0x9BA1AB),
			hues:   hues(0x56B4E9, 0xF5793A, 0x2BC49A, 0xE6A0C8, 0xF0C83C)}
	}
	return style{paper: rgb(0xFFFFFF), ink: rgb(0x3C3C3C), grid: rgb(0xE1E1E1),
		marked: rgb(0x737373),
		hues:   hues(0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00)}
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xFF}
}

// The sizes of text, in points.
const (
	titleSize  = vg.Length(14)
	labelSize  = vg.Length(11)
	tickSize   = vg.Length(10)
	markSize   = vg.Length(9)
	footerSize = vg.Length(7.5)
)

func (s *style) text(size vg.Length) text.Style {
	return text.Style{
		Color:   s.ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

func (s *style) title() text.Style {
	t := s.text(titleSize)
	t.Font.Weight = xfont.WeightBold
	t.YAlign = draw.YTop
	return t
}

func (s *style) mark() text.Style {
	t := s.text(markSize)
	t.Color = s.marked
	return t
}

func fade(c color.RGBA) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, 50} }

func (s *style) newPanel(x, y string) *panel {
	p := plot.New()
	p.BackgroundColor = nil // the figure's
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		words := s.text(tickSize)
		axis.Tick.Label.Color, axis.Tick.Label.Font = words.Color, words.Font
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = s.ink, s.ink
		axis.Padding = 0
	}
	grid := plotter.NewGrid()
	for _, lines := range []*draw.LineStyle{&grid.Horizontal, &grid.Vertical} {
		lines.Color, lines.Width = s.grid, 0.5
	}
	p.Add(grid)
	return &panel{p, x, y}
}
