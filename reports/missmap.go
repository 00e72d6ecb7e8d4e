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
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/simcache/missmap"
)

// InPicture is the largest number of rows and columns of cells in the picture of an array.
var InPicture = missmap.Most{Rows: 128, Cols: 128}

const (
	mapHeight  = vg.Length(300) // of all arrays together, at most
	setsHeight = vg.Length(120)
)

type mapPicture struct {
	look   style
	maps   []missmap.Map
	shades []color.RGBA // hit, then by the last level that missed
	figure              // has the legend
	width  vg.Length    // of a map
}

// DrawMaps draws where loop nests over the same arrays miss, side by side. It returns an error if
// no array is referred to.
func DrawMaps(title string, maps []missmap.Map) (Chart, error) {
	if len(maps) == 0 || len(maps[0].Arrays) == 0 {
		return Chart{}, errors.New("no array is referred to, so that there is nothing to draw")
	}
	p := &mapPicture{look: Light.style(), maps: maps}
	p.shade()
	p.width = (figureWidth - 2*margin - cellGap*vg.Length(len(maps)-1)) / vg.Length(len(maps))
	var sentences []string
	for _, m := range maps {
		sentences = append(sentences, m.String()+".")
	}
	c := Chart{Title: title, Sentence: strings.Join(sentences, " "),
		Alt: "Map: each element of the arrays by the last level that it missed; bars: misses by " +
			"set of " +
			maps[0].Levels[0]}
	err := c.render(&p.look, p.height(), p.look.footer(p.words()), p.draw)
	return c, err
}

func (p *mapPicture) shade() {
	levels := p.maps[0].Levels
	hit := rgb(0xCFE2F0)
	misses := []color.RGBA{rgb(0xF0C83C), rgb(0xE69F00), rgb(0xD55E00), rgb(0xB2182B)}
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

// arrays returns the height of the arrays: square cells, unless a map would be too high.
func (p *mapPicture) arrays() (height vg.Length) {
	for _, m := range p.maps {
		sum := vg.Length(0)
		for _, a := range m.Arrays {
			sum += 60 + p.width*0.8*vg.Length(a.Rows)/vg.Length(a.Cols)
		}
		height = max(height, min(sum, max(mapHeight, 100*vg.Length(len(m.Arrays)))))
	}
	return height
}

func (p *mapPicture) height() vg.Length {
	return p.legendHeight(&p.look) + 2*wordLine + p.arrays() + setsHeight
}

func (p *mapPicture) draw(c draw.Canvas) {
	p.drawLegend(c, &p.look)
	c = draw.Crop(c, 0, 0, 0, -p.legendHeight(&p.look))
	arrays, sets := [][]*plot.Plot{}, [][]*plot.Plot{make([]*plot.Plot, len(p.maps))}
	for i := range p.maps {
		m := &p.maps[i]
		left := c.Min.X + (p.width+cellGap)*vg.Length(i)
		whole, missed, _ := strings.Cut(m.String(), " references: ")
		words := p.look.text(markSize)
		words.YAlign = draw.YTop
		for k, line := range []string{whole + " references", missed} {
			words.Font.Weight = []xfont.Weight{xfont.WeightBold, xfont.WeightNormal}[k]
			c.FillText(words, vg.Point{X: left, Y: c.Max.Y - wordLine*vg.Length(k)},
				fit(words, line, p.width))
		}
		for k := range m.Arrays {
			if k == len(arrays) {
				arrays = append(arrays, make([]*plot.Plot, len(p.maps)))
			}
			arrays[k][i] = p.array(m, &m.Arrays[k])
		}
		sets[0][i] = p.sets(m)
	}
	tiles := draw.Tiles{Cols: len(p.maps), PadX: cellGap, PadY: 8}
	for _, part := range []struct {
		rows [][]*plot.Plot
		draw.Canvas
	}{{arrays, draw.Crop(c, 0, 0, setsHeight+6, -2*wordLine)},
		{sets, draw.Crop(c, 0, 0, 0, setsHeight-c.Size().Y)}} {
		tiles.Rows = len(part.rows)
		for r, on := range plot.Align(part.rows, tiles, part.Canvas) {
			for i, one := range part.rows[r] {
				if one != nil {
					one.Draw(on[i])
				}
			}
		}
	}
}

func (p *mapPicture) named(title string) *plot.Plot {
	one := p.look.newPanel("", "").Plot
	one.Title.Text, one.Title.TextStyle = title, p.look.text(markSize)
	one.Title.TextStyle.XAlign, one.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	one.Title.Padding = 3
	for _, axis := range []*plot.Axis{&one.X, &one.Y} {
		axis.Tick.Label.Font.Size = footerSize
	}
	return one
}

func (p *mapPicture) array(m *missmap.Map, a *missmap.Array) *plot.Plot {
	one := p.named(a.Name())
	one.X.Min, one.X.Max, one.Y.Min, one.Y.Max = -0.5, float64(a.Cols)-0.5, -0.5,
		float64(a.Rows)-0.5
	var across, down plot.ConstantTicks
	for _, col := range evenly(a.Cols, 8) {
		across = append(across, plot.Tick{Value: float64(col), Label: strconv.Itoa(col * a.Wide)})
	}
	for _, row := range evenly(a.Rows, 8) {
		down = append(down, plot.Tick{Value: float64(a.Rows - 1 - row),
			Label: strconv.Itoa(row * a.High)})
	}
	one.X.Tick.Marker, one.Y.Tick.Marker = across, down
	one.Add(heatMap{&p.look, a.Cols, a.Rows, func(col, row int) (color.Color, string) {
		if cell := a.At(a.Rows-1-row, col); cell.Refs > 0 {
			return p.mixed(cell), ""
		}
		return p.look.paper, ""
	}}, lineEnds{p.look.ink, a, m.Line})
	return one
}

// lineEnds is a plotter of the ends of lines in an array, if there is room between them.
type lineEnds struct {
	ink  color.RGBA
	of   *missmap.Array
	line int // bytes
}

// Plot implements plot.Plotter.
func (l lineEnds) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	if (toX(1)-toX(0))*vg.Length(l.line/l.of.Element) <= 6 {
		return
	}
	for row := range l.of.Rows {
		for col := range l.of.Cols {
			if l.of.Splits(row, col, l.line) {
				x, y := toX(float64(col)-0.5), float64(l.of.Rows-1-row)
				c.StrokeLine2(draw.LineStyle{Color: l.ink, Width: 0.6}, x, toY(y-0.5),
					x, toY(y+0.5))
			}
		}
	}
}

func (p *mapPicture) sets(m *missmap.Map) *plot.Plot {
	one := p.named("misses by " + m.Levels[0] + " set")
	s := series{hue: hue{p.shades[min(1, len(p.shades)-1)], draw.CircleGlyph{}}}
	for set, n := range m.Sets {
		s.points = append(s.points, exactly(float64(set), float64(n)))
	}
	most := uint64(1)
	for _, other := range p.maps {
		most = max(most, slices.Max(other.Sets))
	}
	linearAxis(&one.X, -1, float64(len(m.Sets)))
	linearAxis(&one.Y, 0, float64(most)*1.1)
	one.Add(stems{s, 0})
	return one
}

// evenly returns at most most numbers below n, a power of two apart.
func evenly(n, most int) (all []int) {
	step := 1 << bits.Len(uint(max(0, (n-1)/most)))
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
