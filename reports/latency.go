package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// A knee is where a ladder begins to rise, and where it ends.
type knee struct{ foot, top point }

// rise is the least factor between two sizes that is more than noise. Caches differ by at least 2,
// which spreads over a few sizes if a level fills unevenly.
const rise = 1.2

// knees returns the knees of a ladder that is sorted by size. After a knee, each latency exceeds
// the one before by more than rise, until one does not. A rise through two levels at once is one
// knee.
//
// The first size is not a knee, since the rise may begin before it. Nor is a size if the next one
// is more than twice as large.
func knees(ladder []point) (found []knee) {
	for i := 0; i+1 < len(ladder); i++ {
		foot := i
		for i+1 < len(ladder) && ladder[i+1].y > rise*ladder[i].y {
			i++
		}
		if i > foot && foot > 0 && ladder[foot+1].x <= 2*ladder[foot].x {
			found = append(found, knee{ladder[foot], ladder[i]})
		}
	}
	return found
}

func latency(d *data) (*figure, error) {
	s := series{name: "pointer chase", hue: d.look.hues[0]}
	for _, r := range d.rows {
		if size := r.Bytes("size"); r.Family() == "Latency" && size > 0 &&
			drawable(r.Stats[timeUnit]) {
			q := interval(r.Stats[timeUnit], 1e9)
			q.x = float64(size)
			s.points = append(s.points, q)
			d.shows(r)
		}
	}
	low, high, ok := span([]series{s})
	if !ok {
		return nil, nil
	}
	slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	found := knees(s.points)
	found = found[:min(len(found), maxMarks)]
	p := d.look.newPanel("working set", "ns per load")
	byteAxis(&p.X, s.points[0].x, s.points[len(s.points)-1].x)
	logAxis(&p.Y, low/2.5, high*2)
	d.look.addGrid(p, true)
	p.Add(d.look.marks(d.cpuCaches))
	serving, _, _ := d.levels()
	f := &figure{title: "Pointer chase: latency of a load by working set",
		sentence: kneeSentence(s.points, found, kneeCaches(found, serving)),
		alt:      "Line: ns per dependent load against the working set",
		height:   3.4 * vg.Inch, panels: []*panel{p}}
	f.tellMarks(d.cpuCaches, p.X.Min, p.X.Max)
	if len(found) > 0 {
		f.alt += ", with the knees named"
	}
	if d.served != nil {
		f.sentence += " " + d.served.String() + "."
	}
	f.explainIntervals("band: 95% interval", s.points)
	if err := d.look.addSeries(f, p, s); err != nil {
		return nil, err
	}
	p.Add(kneeLabels{&d.look, found, kneeNames(found, serving), s.points})
	return f, nil
}

// kneeLabels is a plotter that rings knees and names them, right of the knee and below the line.
type kneeLabels struct {
	look   *style
	knees  []knee
	names  []string
	ladder []point // by size
}

// kneeCaches returns the cache nearest to each knee, within a factor of two, or "".
func kneeCaches(knees []knee, caches []mark) []string {
	of := make([]string, len(knees))
	for _, m := range caches {
		nearest, best := -1, 2.001
		for i, k := range knees {
			if ratio := math.Max(m.at/k.foot.x, k.foot.x/m.at); ratio < best {
				nearest, best = i, ratio
			}
		}
		if nearest >= 0 {
			of[nearest], _, _ = strings.Cut(m.label, " ")
		}
	}
	return of
}

func kneeNames(knees []knee, caches []mark) []string {
	of := kneeCaches(knees, caches)
	for i, k := range knees {
		name := fmt.Sprintf("knee %d", i+1)
		if of[i] != "" {
			name += ", " + of[i]
		}
		of[i] = name + ": " + results.Bytes(int(k.foot.x))
	}
	return of
}

// Plot implements plot.Plotter.
func (k kneeLabels) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	hue := k.look.hues[1]
	style := k.look.text(markSize)
	style.YAlign = draw.YTop
	var labels []vg.Rectangle
	for i, n := range k.knees {
		at := vg.Point{X: toX(n.foot.x), Y: toY(n.foot.y)}
		c.DrawGlyph(draw.GlyphStyle{Color: hue.color, Radius: 6, Shape: draw.RingGlyph{}}, at)
		label := k.names[i]
		x, top := min(at.X+8, c.Max.X-style.Width(label)), at.Y
		for i, q := range k.ladder {
			// the line may pass above it from here on
			if i+1 == len(k.ladder) || toX(k.ladder[i+1].x) >= x {
				top = min(top, toY(q.y))
			}
		}
		room := func() vg.Rectangle {
			return vg.Rectangle{Min: vg.Point{X: x, Y: top - 5 - style.Height(label)},
				Max: vg.Point{X: x + style.Width(label), Y: top - 5}}
		}
		// labels further left are lower
		for _, other := range slices.Backward(labels) {
			if r := room(); r.Min.X < other.Max.X && r.Min.Y < other.Max.Y &&
				other.Min.Y < r.Max.Y {
				top = other.Min.Y
			}
		}
		labels = append(labels, room())
		k.look.erase(c, room())
		c.FillText(style, vg.Point{X: x, Y: top - 5}, label)
	}
}

func (l *style) erase(c draw.Canvas, r vg.Rectangle) {
	c.FillPolygon(l.paper, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max,
		{X: r.Min.X, Y: r.Max.Y}})
}

func kneeSentence(ladder []point, found []knee, caches []string) string {
	first, last := ladder[0], ladder[len(ladder)-1]
	if len(ladder) == 1 {
		return fmt.Sprintf("A load takes %s ns in a working set of %s.", brief(first.y),
			results.Bytes(int(first.x)))
	}
	text := fmt.Sprintf("A load takes %s ns in a working set of %s and %s ns in one of %s",
		brief(first.y), results.Bytes(int(first.x)), brief(last.y), results.Bytes(int(last.x)))
	if len(found) == 0 && last.y > rise*first.y {
		return text + ". Too few sizes were measured to locate the rise."
	}
	if len(found) == 0 {
		return text + ". From one size to the next, latency never rises by more than 20%."
	}
	var at []string
	for i, k := range found {
		beyond := ""
		if caches[i] != "" {
			beyond = fmt.Sprintf(" (beyond %s)", caches[i])
		}
		at = append(at, fmt.Sprintf("from %s to %s ns between %s and %s%s", brief(k.foot.y),
			brief(k.top.y), results.Bytes(int(k.foot.x)), results.Bytes(int(k.top.x)), beyond))
	}
	return text + ". Latency rises " + strings.Join(at, "; ") + "."
}
