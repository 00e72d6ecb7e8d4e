package reports

import (
	"fmt"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	cellHeight = vg.Length(20)
	cellGap    = vg.Length(14) // between grids
	wordLine   = vg.Length(13)
)

func (p *storagePicture) size(g grid) (width, height vg.Length) {
	for _, row := range g.rows {
		width = max(width, p.cell*vg.Length(len(row)))
	}
	words := p.look.text(markSize)
	for _, w := range g.words {
		if g.part <= 1 { // else they may extend over the next grids
			width = max(width, words.Width(w)*1.1)
		}
	}
	height = cellHeight*vg.Length(len(g.rows)) + wordLine*vg.Length(len(g.words))
	return width, height
}

// places returns the top left of each grid, in lines. A view's later grids align with the cells of
// the first.
func (p *storagePicture) places() (all []vg.Point, height vg.Length) {
	at, tallest, down := vg.Point{}, vg.Length(0), vg.Length(0)
	for _, g := range p.grids {
		w, h := p.size(g)
		if at.X > 0 && (g.part > 1 || at.X+w > figureWidth-2*margin) {
			at, tallest, down = vg.Point{Y: at.Y - tallest - cellGap}, 0, 0
		}
		if g.part > 0 {
			down = 0
		}
		all = append(all, vg.Point{X: at.X, Y: at.Y - down})
		at.X += w + cellGap
		tallest = max(tallest, h+down)
		if g.part > 0 {
			down = wordLine * vg.Length(len(g.words)-1)
		}
	}
	return all, tallest - at.Y
}

func (p *storagePicture) under() vg.Length {
	room := vg.Length(5)
	if len(p.Views) > 1 {
		room += 4 * vg.Length(len(p.Views))
	}
	for _, line := range p.strip {
		for i := range line {
			if p.below(line, i) != "" {
				return room + wordLine
			}
		}
	}
	return room
}

// below returns the text under a cell. It has the place at both ends of a run, if cells show
// values. It has the number of elements that share the cell, if there is one view.
func (p *storagePicture) below(line []int, i int) string {
	place, last := line[i], len(line)-1
	var words []string
	end := i == 0 || i == last || line[i-1] == gap
	if p.Values != nil && place != gap && end {
		words = append(words, strconv.Itoa(place))
	}
	if len(p.Views) == 1 && p.shared[place] > 1 {
		words = append(words, fmt.Sprintf("×%d", p.shared[place]))
	}
	return strings.Join(words, " ")
}

func (p *storagePicture) height() vg.Length {
	_, height := p.places()
	height += wordLine + cellGap + (cellHeight+p.under())*vg.Length(len(p.strip))
	return height
}

func (p *storagePicture) draw(c draw.Canvas) {
	places, height := p.places()
	for i, g := range p.grids {
		p.drawGrid(c, g, vg.Point{X: c.Min.X + places[i].X, Y: c.Max.Y + places[i].Y})
	}
	words := p.look.text(markSize)
	words.YAlign = draw.YTop
	top := c.Max.Y - height - cellGap
	c.FillText(words, vg.Point{X: c.Min.X, Y: top},
		"storage, in order: "+counted(p.Storage, "element"))
	top -= wordLine
	for _, line := range p.strip {
		p.drawLine(c, line, vg.Point{X: c.Min.X, Y: top})
		top -= cellHeight + p.under()
	}
}

func (p *storagePicture) drawGrid(c draw.Canvas, g grid, at vg.Point) {
	words := p.look.text(markSize)
	words.YAlign = draw.YTop
	for i, w := range g.words {
		line := words
		if i == 0 && g.part > 0 {
			line.Font.Weight = xfont.WeightBold
		}
		if i == 0 && g.hue != nil {
			line.Color = g.hue
		}
		c.FillText(line, at, w)
		at.Y -= wordLine
	}
	for r, row := range g.rows {
		for i, place := range row {
			left, top := p.cell*vg.Length(i), cellHeight*vg.Length(r)
			p.drawCell(c, place, vg.Point{X: at.X + left, Y: at.Y - top})
		}
	}
	for r, row := range g.rows {
		if row[0] == gap && row[len(row)-1] == gap {
			continue
		}
		low := at.Y - cellHeight*vg.Length(r+1) + 3.5
		end := vg.Point{X: at.X + p.cell*(vg.Length(len(row))-0.3), Y: low}
		p.arrow(c, vg.Point{X: at.X + p.cell*0.3, Y: low}, end)
		if r < len(g.rows)-1 && g.rows[r+1][0] != gap {
			back := vg.Point{X: at.X + p.cell*0.3, Y: low - cellHeight}
			c.StrokeLine2(p.thin(), end.X, end.Y, back.X, back.Y)
		}
	}
}

func (p *storagePicture) drawLine(c draw.Canvas, line []int, at vg.Point) {
	small := p.look.mark()
	small.Font.Size = footerSize
	small.XAlign, small.YAlign = draw.XCenter, draw.YTop
	for i, place := range line {
		left := at.X + p.cell*vg.Length(i)
		p.drawCell(c, place, vg.Point{X: left, Y: at.Y})
		y := at.Y - cellHeight - 2
		for v := range p.Views {
			if len(p.Views) > 1 && p.seen[v][place] {
				bar := draw.LineStyle{Color: p.look.hues[v%len(p.look.hues)].color, Width: 2.5}
				c.StrokeLine2(bar, left+1, y-1, left+p.cell-1, y-1)
			}
			if len(p.Views) > 1 {
				y -= 4
			}
		}
		c.FillText(small, vg.Point{X: left + p.cell/2, Y: y}, p.below(line, i))
	}
}

func (p *storagePicture) drawCell(c draw.Canvas, place int, at vg.Point) {
	words := p.look.text(markSize)
	words.XAlign, words.YAlign = draw.XCenter, draw.YCenter
	middle := vg.Point{X: at.X + p.cell/2, Y: at.Y - cellHeight/2 + 1.5}
	if place != gap {
		outline := corners(vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - cellHeight},
			Max: vg.Point{X: at.X + p.cell, Y: at.Y}})
		words.Color = p.look.marked
		if fill := p.shades[place]; fill != nil {
			c.FillPolygon(fill, outline)
			words.Color = over(fill)
		}
		c.StrokeLines(draw.LineStyle{Color: p.look.paper, Width: 1}, append(outline, outline[0]))
		if p.shades[place] == nil {
			c.StrokeLines(draw.LineStyle{Color: p.look.grid, Width: 0.7},
				append(outline, outline[0]))
		}
	}
	c.FillText(words, middle, p.text(place))
}

func (p *storagePicture) thin() draw.LineStyle {
	return draw.LineStyle{Color: p.look.hues[1].color, Width: 0.6, Dashes: []vg.Length{2, 2}}
}

func (p *storagePicture) arrow(c draw.Canvas, from, to vg.Point) {
	line := draw.LineStyle{Color: p.look.hues[1].color, Width: 1}
	c.StrokeLine2(line, from.X, from.Y, to.X-2, to.Y)
	c.FillPolygon(line.Color, []vg.Point{{X: to.X - 4, Y: to.Y + 2}, to,
		{X: to.X - 4, Y: to.Y - 2}})
}
