package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// A mark is a labelled place on the x axis, such as the capacity of a cache.
type mark struct {
	at    float64
	label string
	found bool // in the results, not stated by the machine
}

const maxMarks = 8

func capacities(caches ...results.Cache) (found []mark) {
	for _, c := range dataCaches(caches) {
		if len(found) < maxMarks {
			found = append(found, mark{at: float64(c.Size), label: short(c.Name, 12) + " " +
				show.Bytes(c.Size)})
		}
	}
	return found
}

func marksOf(all []mark, name string) []mark {
	return without(all, func(m mark) bool {
		return !strings.HasPrefix(m.label, name+" ")
	})
}

func (f *figure) tellMarks(caches []mark, low, high float64) {
	if slices.ContainsFunc(caches, func(m mark) bool { return m.at >= low && m.at <= high }) {
		f.alt += ", with the caches marked"
	}
}

// dataCaches drops caches of instructions, and unknown ones.
func dataCaches(caches []results.Cache) []results.Cache {
	return without(caches, func(c results.Cache) bool {
		return c.Name == "L1i" || c.Size == 0
	})
}

func reaches(levels []results.TLB) (found []mark) {
	for i, l := range levels[:min(len(levels), maxMarks)] {
		found = append(found, mark{at: float64(l.Entries * l.Page),
			label: fmt.Sprintf("TLB %d: %s", i+1, show.Bytes(l.Entries*l.Page))})
	}
	return found
}

// marks is a plotter of dashed verticals with labels.
func (s *style) marks(places []mark) plot.Plotter { return verticals{s, places} }

type verticals struct {
	look   *style
	places []mark
}

// Plot implements plot.Plotter. A label is left of its line, or right if it does not fit, and a
// step lower next to a neighbour. No line crosses a label.
func (v verticals) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	places := without(v.places, func(m mark) bool {
		return m.at < p.X.Min || m.at > p.X.Max
	})
	slices.SortStableFunc(places, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	style := func(m mark) text.Style {
		words := v.look.mark()
		if m.found {
			words.Color = v.look.hues[1].color
		}
		words.XAlign, words.YAlign = draw.XRight, draw.YTop
		return words
	}
	for _, m := range places {
		x := toX(m.at)
		c.StrokeLine2(draw.LineStyle{Color: style(m).Color, Width: 0.8, Dashes: []vg.Length{4, 3}},
			x, c.Min.Y, x, c.Max.Y)
	}
	const gap, step = vg.Length(3), markSize + 2
	var taken []vg.Rectangle
	var labels []func()
	for _, m := range places {
		words, x := style(m), toX(m.at)
		width := words.Width(m.label)
		to := x - gap
		if to-width < c.Min.X {
			to = x + gap + width
		}
		room := vg.Rectangle{Min: vg.Point{X: to - width - gap, Y: c.Max.Y - 2 - step},
			Max: vg.Point{X: to + gap, Y: c.Max.Y - 2}}
		for slices.ContainsFunc(taken, func(t vg.Rectangle) bool {
			return t.Max.Y == room.Max.Y && room.Min.X < t.Max.X && t.Min.X < room.Max.X
		}) {
			room = room.Add(vg.Point{Y: -step})
		}
		taken = append(taken, room)
		v.look.erase(c, vg.Rectangle{Min: vg.Point{X: to - width - 1, Y: room.Min.Y + 1},
			Max: vg.Point{X: to + 1, Y: room.Max.Y + 1}})
		labels = append(labels, func() {
			c.FillText(words, vg.Point{X: to, Y: room.Max.Y}, m.label)
		})
	}
	for _, draw := range labels { // after all lines and backgrounds
		draw()
	}
}
