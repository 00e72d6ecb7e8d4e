package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/history"
	"github.com/stridebench/stridebench/results/show"
)

// The same significance as `bench history trend`.
const (
	trendAlpha = 0.01
	maxTrends  = 4 // that are drawn
)

type followed struct {
	history.Series
	changes []history.Change
}

func (f followed) size() (largest float64) {
	for _, c := range f.changes {
		largest = max(largest, sizeOf(c))
	}
	return largest
}

// followedTimes returns the times of the results' machine, or of all machines if the history has
// none.
func (d *data) followedTimes() (found []followed) {
	here := results.FingerprintOf(d.config).Hash()
	all := slices.DeleteFunc(history.AllSeries(d.history), func(s history.Series) bool {
		return s.Exact || s.Unit != "ns/op" || len(s.Points) < 2 ||
			slices.ContainsFunc(s.Points, func(p history.Point) bool {
				return !positive(p.Value)
			})
	})
	if slices.ContainsFunc(all, func(s history.Series) bool { return s.On == here }) {
		all = slices.DeleteFunc(all, func(s history.Series) bool { return s.On != here })
	}
	for _, s := range all {
		found = append(found, followed{s, s.Changes(trendAlpha, history.DefaultThreshold)})
	}
	slices.SortStableFunc(found, func(a, b followed) int { return cmp.Compare(b.size(), a.size()) })
	return found
}

func trend(d *data) (*figure, error) {
	found := d.followedTimes()
	if len(found) == 0 {
		return nil, nil
	}
	changed := 0
	for _, f := range found {
		changed += len(f.changes)
	}
	shown := found[:min(len(found), maxTrends)]
	if changed > 0 { // show only what changed
		shown = without(shown, func(f followed) bool {
			return len(f.changes) == 0
		})
	}
	f := &figure{title: "History: times by commit, with their change points",
		sentence: trendSentence(found, changed),
		alt: "Lines: median time of the benchmarks that changed most, by commit, with the " +
			"medians between change points"}
	for _, s := range shown {
		p, err := d.trendPanel(f, s)
		if err != nil {
			return nil, err
		}
		f.panels = append(f.panels, p)
		f.height += 1.9 * vg.Inch
	}
	f.panels[len(f.panels)-1].x = "commit, in order of time (dashed: a change; thick: the median " +
		"between changes)"
	return f, nil
}

func (d *data) trendPanel(f *figure, s followed) (*panel, error) {
	most := slices.MaxFunc(s.Points, func(a, b history.Point) int {
		return cmp.Compare(a.Value, b.Value)
	}).Value
	unit, scale := "ns", 1.0
	for _, u := range []string{"µs", "ms", "s"} {
		if most/scale >= 1000 {
			unit, scale = u, scale*1000
		}
	}
	p := d.look.newPanel("", unit+" per pass")
	p.Title.Text = short(plainName(s.Name), 64)
	p.Title.TextStyle = d.look.text(tickSize)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = 4
	line := series{hue: d.look.hues[0]}
	var commits []string
	for i, q := range s.Points {
		line.points = append(line.points, exactly(float64(i), q.Value/scale))
		commits = append(commits, fmt.Sprintf("%.7s", q.Commit))
	}
	low, high, _ := span([]series{line})
	p.X.Min, p.X.Max = -0.5, float64(len(s.Points))-0.5
	p.X.Tick.Marker = ticksOf(commits, maxLabels, 7)
	room := max(high-low, high*0.02) // above, for the labels of changes
	linearAxis(&p.Y, low-0.15*room, high+0.35*room)
	p.Add(d.look.marks(s.marks()))
	p.Add(segments{&d.look, s, scale})
	return p, d.look.addSeries(f, p, line)
}

// starts returns the indices of the first points after changes.
func (f followed) starts() (all []int) {
	for _, c := range f.changes {
		if i := slices.Index(f.Points, c.First); i > 0 {
			all = append(all, i)
		}
	}
	return all
}

func (f followed) marks() (all []mark) {
	for _, c := range f.changes {
		if i := slices.Index(f.Points, c.First); i > 0 && c.Size != nil && len(all) < maxMarks {
			all = append(all, mark{float64(i) - 0.5, changeOf(1 + *c.Size), true})
		}
	}
	return all
}

// segments is a plotter of the medians between changes.
type segments struct {
	look  *style
	of    followed
	scale float64 // ns of the axis' unit
}

// Plot implements plot.Plotter.
func (s segments) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	from := 0
	for _, to := range append(s.of.starts(), len(s.of.Points)) {
		var values []float64
		for _, q := range s.of.Points[from:to] {
			values = append(values, q.Value/s.scale)
		}
		y := toY(results.Median(values))
		c.StrokeLine2(draw.LineStyle{Color: s.look.hues[1].color, Width: 2.4},
			toX(float64(from)-0.4), y, toX(float64(to)-0.6), y)
		from = to
	}
}

func trendSentence(found []followed, changed int) string {
	first := found[0]
	text := fmt.Sprintf("The history has %s over up to %s, and %s.",
		counted(len(found), "benchmark"), counted(len(first.Points), "commit"),
		counted(changed, "change"))
	if len(first.changes) == 0 {
		return text
	}
	largest := slices.MaxFunc(first.changes, func(a, b history.Change) int {
		return cmp.Compare(sizeOf(a), sizeOf(b))
	})
	if largest.Size == nil {
		return text
	}
	return text + fmt.Sprintf(" The largest is in %s: %s between %s and %s.", plainName(first.Name),
		changeOf(1+*largest.Size),
		show.Printable(history.ShortCommit(largest.Last.Commit)),
		show.Printable(history.ShortCommit(largest.First.Commit)))
}

func sizeOf(c history.Change) float64 {
	if c.Size == nil {
		return 0
	}
	return math.Abs(math.Log1p(*c.Size))
}
