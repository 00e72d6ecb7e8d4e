package reports

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// A pairing is a benchmark's time of a pass in the first and in the last file.
type pairing struct {
	name     string
	old, new results.Stat
}

func (p pairing) change() float64 { return p.new.Center / p.old.Center }

// apart reports whether the intervals are disjoint.
func (p pairing) apart() bool { return p.new.Lo > p.old.Hi || p.new.Hi < p.old.Lo }

// few reports whether an interval is unknown.
func (p pairing) few() bool {
	_, old := p.old.HalfWidth()
	_, new := p.new.HalfWidth()
	return !(old && new)
}

// pairings puts the largest change first.
func pairings(first, last file) (found []pairing) {
	old := map[string]results.Stat{}
	for _, r := range first.rows {
		old[r.Name] = r.Stats[passUnit]
	}
	for _, r := range last.rows {
		p := pairing{r.Name, old[r.Name], r.Stats[passUnit]}
		if drawable(p.old) && drawable(p.new) && p.change() > 0 && !math.IsInf(p.change(), 0) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b pairing) int {
		return cmp.Compare(math.Abs(math.Log(b.change())), math.Abs(math.Log(a.change())))
	})
	return found
}

func compare(d *data) (*figure, error) {
	if len(d.files) < 2 {
		return nil, nil
	}
	first, last := d.files[0], d.files[len(d.files)-1]
	found := pairings(first, last)
	if len(found) == 0 {
		return nil, nil
	}
	shown := found[:min(len(found), 24)]
	p := d.look.newPanel("time of a pass, % of the old median (log scale)", "")
	names := make([]string, len(shown))
	for i, q := range shown {
		names[i] = plainName(q.name)
	}
	var ticks plot.ConstantTicks
	var drawn []point
	by := map[hue][]spot{}
	old, same := hue{d.look.marked, draw.RingGlyph{}}, hue{d.look.ink, draw.CircleGlyph{}}
	for i, name := range shorts(names, 46) {
		q, h, at := shown[i], same, float64(-i)
		switch {
		case q.apart() && q.change() > 1:
			h = d.look.hues[1]
		case q.apart():
			h = d.look.hues[0]
		}
		a, b := q.relative(q.old), q.relative(q.new)
		drawn, by[old], by[h] = append(drawn, a, b), append(by[old], spot{a, at + 0.15}),
			append(by[h], spot{b, at - 0.15})
		ticks = append(ticks, plot.Tick{Value: at, Label: name})
	}
	low, high, _ := span([]series{{points: drawn}})
	logAxis(&p.X, min(low, 100)/1.05, max(high, 100)*1.05, number6)
	p.Y.Min, p.Y.Max = -float64(len(shown))+0.4, 0.6
	p.Y.Tick.Marker, p.Y.Tick.Length = ticks, 0
	p.Y.Tick.Label.Font.Size = markSize
	p.Add(d.look.marks([]mark{{at: 100}}))
	f := &figure{title: fmt.Sprintf("Old against new: %s and %s",
		short(filepath.Base(first.name), 20), short(filepath.Base(last.name), 20)),
		sentence: compareSentence(found, len(shown)),
		alt:      "Points: time of each benchmark in the new file as a share of that in the old one",
		height:   vg.Length(len(shown))*0.24*vg.Inch + 0.6*vg.Inch, panels: []*panel{p}}
	for _, of := range []struct {
		name string
		hue
	}{{"old", old}, {"new: slower", d.look.hues[1]}, {"new: faster", d.look.hues[0]},
		{"new: intervals overlap or are unknown", same}} {
		if err := d.look.addSpots(f, p, of.name, of.hue, by[of.hue]); err != nil {
			return nil, err
		}
	}
	f.explainIntervals("lines: 95% intervals", drawn)
	return f, nil
}

// relative is in percent of the old median.
func (p pairing) relative(s results.Stat) point { return interval(s, 100/p.old.Center) }

func compareSentence(found []pairing, shown int) string {
	slower, faster, few := 0, 0, 0
	for _, p := range found {
		if p.few() {
			few++
		}
		switch {
		case p.apart() && p.change() > 1:
			slower++
		case p.apart():
			faster++
		}
	}
	of := fmt.Sprintf("Of %s in both files, ", counted(len(found), "benchmark"))
	text := of + fmt.Sprintf("%d became slower and %d faster by more than their intervals",
		slower, faster)
	switch {
	case few == len(found):
		text = of + "the samples are too few to show which are slower or faster"
	case few > 0:
		text += fmt.Sprintf(", and %d had too few samples", few)
	}
	text += fmt.Sprintf("; the largest change is in %s (%s).", plainName(found[0].name),
		changeOf(found[0].change()))
	if shown < len(found) {
		text += fmt.Sprintf(" The chart shows the %d largest changes.", shown)
	}
	return text
}

// changeOf formats a ratio as a change in percent.
func changeOf(ratio float64) string { return fmt.Sprintf("%+.1f%%", 100*(ratio-1)) }
