package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// A mark is a labelled place on the x axis, such as the capacity of a cache.
type mark struct {
	at    float64
	label string
}

const maxMarks = 8

func capacities(caches []results.Cache) (found []mark) {
	for _, c := range dataCaches(caches) {
		if len(found) < maxMarks {
			found = append(found, mark{float64(c.Size), short(c.Name, 12) + " " +
				results.Bytes(c.Size)})
		}
	}
	return found
}

func marksOf(all []mark, name string) []mark {
	return slices.DeleteFunc(slices.Clone(all), func(m mark) bool {
		return !strings.HasPrefix(m.label, name+" ")
	})
}

func (f *figure) tellMarks(caches []mark, low, high float64) {
	if slices.ContainsFunc(caches, func(m mark) bool { return m.at >= low && m.at <= high }) {
		f.alt += ", with the caches marked"
	}
}

func dataCaches(caches []results.Cache) []results.Cache {
	return slices.DeleteFunc(slices.Clone(caches), func(c results.Cache) bool {
		return c.Name == "L1i"
	})
}

func reaches(levels []results.TLB) (found []mark) {
	for i, l := range levels[:min(len(levels), maxMarks)] {
		found = append(found, mark{float64(l.Entries * l.Page),
			fmt.Sprintf("TLB %d: %s", i+1, results.Bytes(l.Entries*l.Page))})
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
	style := v.look.mark()
	style.XAlign, style.YAlign = draw.XRight, draw.YTop
	line := draw.LineStyle{Color: v.look.marked, Width: 0.8, Dashes: []vg.Length{4, 3}}
	const gap = vg.Length(3)
	type span struct{ from, to, drop vg.Length }
	var taken []span
	var places []mark
	var labels []func()
	for _, m := range slices.SortedFunc(slices.Values(v.places), func(a, b mark) int {
		return cmp.Compare(a.at, b.at)
	}) {
		if m.at >= p.X.Min && m.at <= p.X.Max {
			places = append(places, m)
			x := toX(m.at)
			c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
		}
	}
	for _, m := range places {
		x, width := toX(m.at), style.Width(m.label)
		to := x - gap
		if to-width < c.Min.X {
			to = x + gap + width
		}
		s := span{to - width - gap, to + gap, 0}
		for slices.ContainsFunc(taken, func(t span) bool {
			return t.drop == s.drop && s.from < t.to && t.from < s.to
		}) {
			s.drop += markSize + 2
		}
		taken = append(taken, s)
		top := c.Max.Y - 2 - s.drop
		room := vg.Rectangle{Min: vg.Point{X: to - width - 1, Y: top - markSize - 1},
			Max: vg.Point{X: to + 1, Y: top + 1}}
		if s.drop == 0 {
			room.Max.Y = c.Max.Y
		}
		v.look.erase(c, room)
		labels = append(labels, func() { c.FillText(style, vg.Point{X: to, Y: top}, m.label) })
	}
	for _, draw := range labels { // after all lines and backgrounds
		draw()
	}
}
