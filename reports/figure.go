package reports

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stridebench/stridebench/results/show"
)

// The width of pictures, and the resolution of PNGs: twice a screen's 72 pixels per inch.
const (
	figureWidth = 7 * vg.Inch
	dotsPerInch = 144
	margin      = vg.Length(14) // leaves room for the last tick label
)

// A figure is a chart before it is rendered.
type figure struct {
	title    string
	sentence string
	alt      string
	height   vg.Length // of the panels
	legend   []entry
	panels   []*panel
}

// A panel is a plot with axis labels, which gonum would centre at the arithmetic mean of a
// logarithmic axis.
type panel struct {
	*plot.Plot
	x, y string
}

// An entry of a legend; one without a thumbnail is a remark.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// explain adds an entry to the legend, remarks last.
func (f *figure) explain(name string, thumbs ...plot.Thumbnailer) {
	at := len(f.legend)
	for thumbs != nil && at > 0 && f.legend[at-1].thumbs == nil {
		at--
	}
	f.legend = slices.Insert(f.legend, at, entry{name, thumbs})
}

// explainIntervals also extends the alternative text, if any point has an interval.
func (f *figure) explainIntervals(words string, points []point) {
	if slices.ContainsFunc(points, point.spreads) {
		f.explain(words)
		f.alt += ", with 95% intervals"
	}
}

func (f *figure) render(d *data) (Chart, error) {
	c := Chart{Title: f.title, Sentence: f.sentence, Alt: f.alt}
	height := f.height + f.legendHeight(&d.look)
	err := c.render(&d.look, height, d.footer(), func(on draw.Canvas) { f.draw(on, &d.look) })
	return c, err
}

func (c *Chart) render(
	look *style, height vg.Length, foot footer, inside func(draw.Canvas),
) error {
	title := look.title()
	height += 2*margin + titleHeight + foot.height()
	img := vgimg.NewWith(vgimg.UseWH(figureWidth, height), vgimg.UseDPI(dotsPerInch),
		vgimg.UseBackgroundColor(look.paper))
	svg := vgsvg.New(figureWidth, height)
	all := draw.NewCanvas(vg.MultiCanvas(img, svg), figureWidth, height)
	all.FillPolygon(look.paper, corners(all.Rectangle))
	all = draw.Crop(all, margin, -margin, margin, -margin)
	all.FillText(title, vg.Point{X: all.Min.X, Y: all.Max.Y},
		fit(title, show.Printable(c.Title), all.Size().X))
	foot.draw(all)
	inside(draw.Crop(all, 0, 0, foot.height(), -titleHeight))

	var png, text bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&png); err != nil {
		return err
	}
	if _, err := svg.WriteTo(&text); err != nil {
		return err
	}
	c.PNG, c.SVG = png.Bytes(), finish(text.String(), c.Title, c.Alt, look)
	return nil
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

const titleHeight = vg.Length(30)

const (
	thumbWidth = vg.Length(24)
	legendLine = vg.Length(16)
	legendGap  = vg.Length(8) // under it
)

func (f *figure) legendPlaces(look *style) (places []vg.Point, height vg.Length) {
	words := look.text(tickSize)
	at := vg.Point{}
	for _, e := range f.legend {
		width := words.Width(e.name) + 14
		if e.thumbs != nil {
			width += thumbWidth + 4
		}
		if at.X > 0 && at.X+width > figureWidth-2*margin {
			at = vg.Point{Y: at.Y - legendLine}
		}
		places = append(places, at)
		at.X += width
	}
	return places, legendLine - at.Y
}

func (f *figure) legendHeight(look *style) vg.Length {
	if f.legend == nil {
		return 0
	}
	_, height := f.legendPlaces(look)
	return height + legendGap
}

func (f *figure) drawLegend(c draw.Canvas, look *style) {
	words := look.text(tickSize)
	words.YAlign = draw.YCenter
	places, _ := f.legendPlaces(look)
	for i, e := range f.legend {
		x, middle := c.Min.X+places[i].X, c.Max.Y+places[i].Y-legendLine/2
		icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: middle - legendLine/2 + 2},
			Max: vg.Point{X: x + thumbWidth, Y: middle + legendLine/2 - 2}}}
		for _, t := range e.thumbs {
			t.Thumbnail(&icon)
		}
		if e.thumbs != nil {
			x += thumbWidth + 4
		}
		c.FillText(words, vg.Point{X: x, Y: middle}, e.name)
	}
}

func (f *figure) draw(c draw.Canvas, look *style) {
	const pad = vg.Length(5)
	f.drawLegend(c, look)
	words := look.text(labelSize)
	words.XAlign = draw.XCenter
	line := words.FontExtents().Height
	last := f.panels[len(f.panels)-1]
	left, bottom := vg.Length(0), vg.Length(0)
	if last.y != "" {
		left = line + pad
	}
	if last.x != "" {
		bottom = line + pad
	}
	column := make([][]*plot.Plot, len(f.panels))
	for i, p := range f.panels {
		column[i] = []*plot.Plot{p.Plot}
	}
	tiles := plot.Align(column, draw.Tiles{Rows: len(column), Cols: 1, PadY: 8},
		draw.Crop(c, left, 0, bottom, -f.legendHeight(look)))
	for i, p := range f.panels {
		p.Draw(tiles[i][0])
		axes := p.DataCanvas(tiles[i][0])
		if p == last {
			c.FillText(words, vg.Point{X: axes.Center().X, Y: c.Min.Y + pad}, p.x)
		}
		side := words
		side.Rotation, side.YAlign = math.Pi/2, draw.YTop
		c.FillText(side, vg.Point{X: c.Min.X, Y: axes.Center().Y}, p.y)
	}
}

// svgFonts replace Liberation Sans where it is missing. Arimo and Arial have its widths.
const svgFonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

var svgText = regexp.MustCompile(`<text ([^>]*font-weight:(\w+);[^>]*font-size:([\d.]+)px;[^>]*)>([^<]+)</text>`)

// fixWidths gives each text its width in Liberation Sans, so that the layout holds in any font.
func fixWidths(svg string, look *style) string {
	return svgText.ReplaceAllStringFunc(svg, func(all string) string {
		part := svgText.FindStringSubmatch(all)
		size, _ := strconv.ParseFloat(part[3], 64)
		words := look.text(vg.Length(size))
		if part[2] == "bold" {
			words.Font.Weight = xfont.WeightBold
		}
		return fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`,
			words.Width(html.UnescapeString(part[4])).Points(), part[1], part[4])
	})
}

func finish(svg, title, alt string, look *style) []byte {
	svg = fixWidths(strings.ReplaceAll(svg, "font-family:Liberation Sans", svgFonts), look)
	// stretch images to their axes
	svg = strings.ReplaceAll(svg, "<image ", `<image preserveAspectRatio="none" `)
	head, body, _ := strings.Cut(svg, `xmlns:xlink="http://www.w3.org/1999/xlink">`)
	return fmt.Appendf(nil, "%sxmlns:xlink=\"http://www.w3.org/1999/xlink\" "+
		"role=\"img\">\n<title>%s</title>\n<desc>%s</desc>%s",
		head, html.EscapeString(show.Printable(title)),
		html.EscapeString(show.Printable(alt)), body)
}
