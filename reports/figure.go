package reports

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stridebench/stridebench/results"
)

// Pictures are this wide; as PNG at twice the pixels of a screen's 72 per inch.
const (
	figureWidth = 7 * vg.Inch
	dotsPerInch = 144
	margin      = vg.Length(14) // so that the last tick label is whole
)

// A figure is a chart before it is rendered: plots one above the other under a
// title, a legend on their right if there is one, and a footer.
type figure struct {
	title    string
	sentence string
	alt      string
	height   vg.Length // without title and footer
	legend   *plot.Legend
	plots    []*plot.Plot
	beside   func(c draw.Canvas) // draws on the right, where there is no legend
	besides  vg.Length           // width of that
}

// render draws a figure as PNG and as SVG, at once.
func (f *figure) render(d *data) (Chart, error) {
	title, footer := d.look.title(), d.footer()
	height := f.height + 2*margin + titleHeight + footer.height()
	img := vgimg.NewWith(vgimg.UseWH(figureWidth, height), vgimg.UseDPI(dotsPerInch), vgimg.UseBackgroundColor(d.look.paper))
	svg := vgsvg.New(figureWidth, height)
	all := draw.NewCanvas(vg.MultiCanvas(img, svg), figureWidth, height)
	all.FillPolygon(d.look.paper, []vg.Point{all.Min, {X: all.Max.X, Y: all.Min.Y}, all.Max, {X: all.Min.X, Y: all.Max.Y}})
	all = draw.Crop(all, margin, -margin, margin, -margin)
	all.FillText(title, vg.Point{X: all.Min.X, Y: all.Max.Y}, fit(title, results.Printable(f.title), all.Size().X))
	footer.draw(all)
	f.draw(draw.Crop(all, 0, 0, footer.height(), -titleHeight))

	var png, text bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&png); err != nil {
		return Chart{}, err
	}
	if _, err := svg.WriteTo(&text); err != nil {
		return Chart{}, err
	}
	return Chart{Title: f.title, Sentence: f.sentence, Alt: f.alt, PNG: png.Bytes(), SVG: f.finish(text.String())}, nil
}

// titleHeight is what a title takes, with the room under it.
const titleHeight = vg.Length(30)

// draw draws the legend and the plots, whose axes are aligned.
func (f *figure) draw(c draw.Canvas) {
	const gap = vg.Length(12)
	switch {
	case f.legend != nil:
		width := f.legend.Rectangle(c).Size().X
		f.legend.Draw(draw.Crop(c, c.Size().X-width, 0, 0, 0))
		c = draw.Crop(c, 0, -width-gap, 0, 0)
	case f.beside != nil:
		f.beside(draw.Crop(c, c.Size().X-f.besides, 0, 0, 0))
		c = draw.Crop(c, 0, -f.besides-gap, 0, 0)
	}
	column := make([][]*plot.Plot, len(f.plots))
	for i, p := range f.plots {
		column[i] = []*plot.Plot{p}
	}
	for i, tile := range plot.Align(column, draw.Tiles{Rows: len(f.plots), Cols: 1, PadY: 8}, c) {
		f.plots[i].Draw(tile[0])
	}
}

// svgFonts replace Liberation Sans where there is none. Arimo and Arial are as
// wide.
const svgFonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

// finish gives a SVG its fonts, and the words that are read out.
func (f *figure) finish(svg string) []byte {
	svg = strings.ReplaceAll(svg, "font-family:Liberation Sans", svgFonts)
	head, body, _ := strings.Cut(svg, `xmlns:xlink="http://www.w3.org/1999/xlink">`)
	return fmt.Appendf(nil, "%sxmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>%s",
		head, html.EscapeString(results.Printable(f.title)), html.EscapeString(results.Printable(f.alt)), body)
}
