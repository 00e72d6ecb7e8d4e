package reports

import (
	"errors"
	"fmt"
	"image/color"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/missmap"
)

// InPicture is the largest number of rows and columns of cells in the picture of an array.
var InPicture = missmap.Most{Rows: 128, Cols: 128}

const (
	mapHeight = vg.Length(300) // of all arrays together, about
	mostCell  = vg.Length(15)
	tickRoom  = vg.Length(26) // left of an array
	setsWidth = vg.Length(78) // of the sets, with their labels
)

type mapPicture struct {
	look   style
	maps   []missmap.Map
	shades []color.RGBA // hit, then by the last level that missed
	most   uint64       // misses of a set in any map
	figure              // has the legend
	width  vg.Length    // of a map
}

// DrawMaps draws where loop nests over the same arrays miss, side by side. It returns an error if
// no array is referred to.
func DrawMaps(title string, maps []missmap.Map, theme Theme) (Chart, error) {
	look, err := theme.style()
	if err != nil {
		return Chart{}, err
	}
	if len(maps) == 0 || len(maps[0].Arrays) == 0 {
		return Chart{}, errors.New("no array is referred to, so that there is nothing to draw")
	}
	p := &mapPicture{look: look, maps: maps}
	p.shade(theme)
	p.width = (figureWidth - 2*margin - cellGap*vg.Length(len(maps)-1)) / vg.Length(len(maps))
	var sentences []string
	for _, m := range maps {
		p.most = max(p.most, slices.Max(m.Sets))
		sentences = append(sentences, m.String()+".")
	}
	c := Chart{Title: title, Sentence: strings.Join(sentences, " "),
		Alt: "Map: each element of the arrays by the last level that it missed; bars: misses by " +
			"set of " +
			maps[0].Levels[0]}
	foot := look.footer(p.words())
	err = c.render(&look, p.height(), foot, p.draw)
	return c, err
}

func (p *mapPicture) shade(theme Theme) {
	levels := p.maps[0].Levels
	hit := rgb(0xCFE2F0)
	misses := []color.RGBA{rgb(0xF0C83C), rgb(0xE69F00), rgb(0xD55E00), rgb(0xB2182B)}
	if theme == Dark {
		hit = rgb(0x2F4A60)
	}
	if n := len(levels); n <= 2 {
		misses = []color.RGBA{misses[1], misses[3]}[2-n:]
	} else {
		misses = misses[max(0, 4-n):]
	}
	p.shades = append([]color.RGBA{hit}, misses...)
	p.explain("hit in "+levels[0], swatch{hit, p.look.grid})
	for i, level := range levels {
		name := "miss in " + level
		if i < len(levels)-1 {
			name += ", hit in " + levels[i+1]
		}
		p.explain(name, swatch{p.shades[min(i+1, len(p.shades)-1)], p.look.grid})
	}
	p.explain("not referred to", swatch{p.look.paper, p.look.grid})
}

func (p *mapPicture) words() string {
	text := fmt.Sprintf("Each cell is an element, rows down and columns across; dark lines are "+
		"ends of lines of %d B.", p.maps[0].Line)
	if !p.whole() {
		text = "Each cell is several elements beside each other, rows down and columns across."
	}
	return text + " Where several references are of a cell, its colour is mixed of theirs. " +
		"Counts are of the last pass; simulated, exact."
}

func (p *mapPicture) whole() bool {
	return !slices.ContainsFunc(p.maps, func(m missmap.Map) bool {
		return slices.ContainsFunc(m.Arrays, func(a missmap.Array) bool { return !a.Whole() })
	})
}

func (p *mapPicture) cell(a *missmap.Array, arrays int) (wide, high vg.Length) {
	wide = min(mostCell, (p.width-tickRoom-setsWidth)/vg.Length(a.Cols))
	high = min(mostCell, mapHeight/vg.Length(arrays*a.Rows))
	return min(wide, 1.5*high), min(high, 1.5*wide)
}

func (p *mapPicture) heights(m missmap.Map) (all []vg.Length, sum vg.Length) {
	for i := range m.Arrays {
		_, high := p.cell(&m.Arrays[i], len(m.Arrays))
		all = append(all, high*vg.Length(m.Arrays[i].Rows))
		sum += all[i] + wordLine + cellGap
	}
	return all, max(sum, 130)
}

func (p *mapPicture) height() (height vg.Length) {
	for _, m := range p.maps {
		_, sum := p.heights(m)
		height = max(height, sum)
	}
	return height + p.legendHeight(&p.look) + 2*wordLine
}

func (p *mapPicture) draw(c draw.Canvas) {
	p.drawLegend(c, &p.look)
	top := c.Max.Y - p.legendHeight(&p.look)
	words := p.look.text(markSize)
	words.YAlign = draw.YTop
	for i := range p.maps {
		m := &p.maps[i]
		left := c.Min.X + (p.width+cellGap)*vg.Length(i)
		whole, missed, _ := strings.Cut(m.String(), " references: ")
		lines := []string{whole + " references", missed}
		bold := words
		bold.Font.Weight = xfont.WeightBold
		y := top
		for k, line := range lines {
			style := words
			if k == 0 {
				style = bold
			}
			c.FillText(style, vg.Point{X: left, Y: y}, fit(style, line, p.width))
			y -= wordLine
		}
		y = top - 2*wordLine - 3
		heights, sum := p.heights(*m)
		for k := range m.Arrays {
			a := &m.Arrays[k]
			p.drawArray(c, m, a, vg.Point{X: left + tickRoom, Y: y})
			y -= heights[k] + wordLine + cellGap
		}
		p.drawSets(c, m, vg.Rectangle{
			Min: vg.Point{X: left + p.width - setsWidth, Y: top - 2*wordLine - sum},
			Max: vg.Point{X: left + p.width, Y: top - 2*wordLine}})
	}
}

func (p *mapPicture) drawArray(c draw.Canvas, m *missmap.Map, a *missmap.Array, at vg.Point) {
	words := p.look.text(markSize)
	words.YAlign = draw.YTop
	c.FillText(words, at, fit(words, a.Name(), p.width-tickRoom-setsWidth))
	at.Y -= wordLine
	wide, high := p.cell(a, len(m.Arrays))
	edge := draw.LineStyle{Color: p.look.ink, Width: 0.6}
	const overlap = 0.4 // hides hairlines between cells
	for row := range a.Rows {
		top := at.Y - high*vg.Length(row)
		for col := range a.Cols {
			left := at.X + wide*vg.Length(col)
			cell := vg.Rectangle{Min: vg.Point{X: left, Y: top - high - overlap},
				Max: vg.Point{X: left + wide + overlap, Y: top}}
			if one := a.At(row, col); one.Refs > 0 {
				c.FillPolygon(p.mixed(one), corners(cell))
			}
			if a.Splits(row, col, m.Line) && wide*vg.Length(m.Line/a.Element) > 6 {
				c.StrokeLine2(edge, left, top, left, top-high)
			}
		}
	}
	size := vg.Point{X: wide * vg.Length(a.Cols), Y: high * vg.Length(a.Rows)}
	outline := corners(vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - size.Y},
		Max: vg.Point{X: at.X + size.X, Y: at.Y}})
	c.StrokeLines(draw.LineStyle{Color: p.look.marked, Width: 0.5}, append(outline, outline[0]))
	small := p.look.mark()
	small.Font.Size = footerSize
	small.XAlign, small.YAlign = draw.XCenter, draw.YTop
	for _, col := range evenly(a.Cols, int(size.X/28)) {
		x := at.X + wide*(vg.Length(col)+0.5)
		c.FillText(small, vg.Point{X: x, Y: at.Y - size.Y - 2}, strconv.Itoa(col*a.Wide))
	}
	small.XAlign, small.YAlign = draw.XRight, draw.YCenter
	for _, row := range evenly(a.Rows, int(size.Y/12)) {
		y := at.Y - high*(vg.Length(row)+0.5)
		c.FillText(small, vg.Point{X: at.X - 3, Y: y}, strconv.Itoa(row*a.High))
	}
}

// evenly returns at most most numbers below n, a power of two apart.
func evenly(n, most int) (all []int) {
	step := 1 << bits.Len(uint(max(0, (n-1)/max(most, 1))))
	for i := 0; i < n; i += step {
		all = append(all, i)
	}
	return all
}

// mixed weights the colours of the levels by the references that went so far.
func (p *mapPicture) mixed(c missmap.Cell) color.RGBA {
	share := []float64{1}
	for level := range c.Missed {
		share = append(share, c.Share(level))
	}
	share = append(share, 0)
	var r, g, b float64
	for i := range len(share) - 1 {
		part, shade := share[i]-share[i+1], p.shades[min(i, len(p.shades)-1)]
		r, g, b = r+part*float64(shade.R), g+part*float64(shade.G), b+part*float64(shade.B)
	}
	return color.RGBA{uint8(r + 0.5), uint8(g + 0.5), uint8(b + 0.5), 0xFF}
}

func (p *mapPicture) drawSets(c draw.Canvas, m *missmap.Map, in vg.Rectangle) {
	words := p.look.text(markSize)
	words.YAlign = draw.YTop
	c.FillText(words, vg.Point{X: in.Min.X, Y: in.Max.Y}, "misses by "+m.Levels[0]+" set")
	in.Max.Y -= wordLine + 3
	in.Min.Y += cellGap + wordLine
	in.Min.X += tickRoom - 4
	high := (in.Max.Y - in.Min.Y) / vg.Length(len(m.Sets))
	for set, n := range m.Sets {
		top := in.Max.Y - high*vg.Length(set)
		bar := vg.Rectangle{Min: vg.Point{X: in.Min.X, Y: top - high*0.85},
			Max: vg.Point{X: in.Min.X, Y: top - high*0.15}}
		bar.Max.X += (in.Max.X - in.Min.X) * vg.Length(float64(n)/float64(max(p.most, 1)))
		if n > 0 {
			c.FillPolygon(p.shades[min(1, len(p.shades)-1)], corners(bar))
		}
	}
	axis := draw.LineStyle{Color: p.look.ink, Width: 0.5}
	c.StrokeLine2(axis, in.Min.X, in.Min.Y, in.Min.X, in.Max.Y)
	c.StrokeLine2(axis, in.Min.X, in.Min.Y, in.Max.X, in.Min.Y)
	small := p.look.mark()
	small.Font.Size = footerSize
	small.XAlign, small.YAlign = draw.XRight, draw.YCenter
	for _, set := range evenly(len(m.Sets), int((in.Max.Y-in.Min.Y)/14)) {
		y := in.Max.Y - high*(vg.Length(set)+0.5)
		c.FillText(small, vg.Point{X: in.Min.X - 3, Y: y}, strconv.Itoa(set))
	}
	small.YAlign = draw.YTop
	c.FillText(small, vg.Point{X: in.Max.X, Y: in.Min.Y - 2}, explain.Say("%d", p.most))
	small.XAlign = draw.XLeft
	c.FillText(small, vg.Point{X: in.Min.X, Y: in.Min.Y - 2}, "0")
}
