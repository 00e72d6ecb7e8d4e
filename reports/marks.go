package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// A mark is a place on the x axis with what is said of it, such as the capacity
// of a cache.
type mark struct {
	at    float64
	label string
}

// maxMarks is how many places of a kind are marked at most.
const maxMarks = 8

// parseCaches reads "L1d=32768,8,64 L3=33554432,16,64" as marks at the
// capacities; what is malformed is left out, since it only marks a chart.
func parseCaches(text string) (found []mark) {
	for field := range strings.FieldsSeq(text) {
		name, geometry, _ := strings.Cut(field, "=")
		size, _, _ := strings.Cut(geometry, ",")
		if n, err := strconv.Atoi(size); err == nil && n > 0 && name != "L1i" && len(found) < maxMarks {
			found = append(found, mark{float64(n), short(name, 12) + " " + results.Bytes(n)})
		}
	}
	return found
}

// parseTLB reads "64,4,4096 1536,12,4096", entries, ways and bytes of a page by
// level, as marks at what each level reaches over.
func parseTLB(text string) (found []mark) {
	for level := range strings.FieldsSeq(text) {
		part := strings.Split(level, ",")
		entries, err := strconv.Atoi(part[0])
		page, bad := strconv.Atoi(part[len(part)-1])
		if err == nil && bad == nil && len(part) == 3 && entries > 0 && entries <= 1<<20 && page > 0 && page <= 1<<30 && len(found) < maxMarks {
			found = append(found, mark{float64(entries * page), fmt.Sprintf("TLB %d: %s", len(found)+1, results.Bytes(entries*page))})
		}
	}
	return found
}

// marks is a plotter of dashed verticals with labels at the top.
func (s *style) marks(places []mark) plot.Plotter { return verticals{s, places} }

type verticals struct {
	look   *style
	places []mark
}

// Plot implements plot.Plotter. A label is on the left of its line, on the right
// where it does not fit there, and a step lower beside a close neighbour.
func (v verticals) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	style := v.look.mark()
	style.XAlign, style.YAlign = draw.XRight, draw.YTop
	line := draw.LineStyle{Color: v.look.marked, Width: 0.8, Dashes: []vg.Length{4, 3}}
	const gap = vg.Length(3)
	type span struct{ from, to, drop vg.Length }
	var taken []span
	for _, m := range slices.SortedFunc(slices.Values(v.places), func(a, b mark) int { return cmp.Compare(a.at, b.at) }) {
		if m.at < p.X.Min || m.at > p.X.Max {
			continue
		}
		x := toX(m.at)
		c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
		width := style.Width(m.label)
		to := x - gap
		if to-width < c.Min.X {
			to = x + gap + width
		}
		s := span{to - width - gap, to + gap, 0}
		for slices.ContainsFunc(taken, func(t span) bool { return t.drop == s.drop && s.from < t.to && t.from < s.to }) {
			s.drop += markSize + 2
		}
		taken = append(taken, s)
		c.FillText(style, vg.Point{X: to, Y: c.Max.Y - 2 - s.drop}, m.label)
	}
}
