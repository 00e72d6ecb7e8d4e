package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

func copies(rows []results.Row, layouts ...string) []results.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r results.Row) bool {
		return r.Family() != "Copy" || !drawable(r.Stats[bandwidthUnit]) ||
			layouts != nil && !slices.Contains(layouts, r.Key("layout"))
	})
}

// copyBandwidth draws the bandwidth of each copy, except those with a chart of their own.
func copyBandwidth(d *data) (*figure, error) {
	found := slices.DeleteFunc(copies(d.rows), func(r results.Row) bool {
		layout := r.Key("layout")
		return layout == "columns" || layout == "nchw-nhwc" || layout == "nhwc-nchw"
	})
	f := &figure{title: "Copying to a contiguous tensor: bandwidth by source layout",
		alt: "Bars: bandwidth of each copy"}
	return d.copyBars(f, found)
}

func (d *data) copyBars(f *figure, found []results.Row) (*figure, error) {
	if len(found) == 0 {
		return nil, nil
	}
	d.shows(found...)
	if f.sentence == "" {
		f.sentence = moves(found)
	}
	b := bars{look: &d.look}
	b.add(found, gibPerSecond)
	if more := len(found) - b.drawn; more > 0 {
		f.sentence += fmt.Sprintf(" %d more are in the table.", more)
	}
	b.draw(f, "GiB/s, read plus written")
	return f, nil
}

func channels(d *data) (*figure, error) {
	found := copies(d.rows, "nchw-nhwc", "nhwc-nchw")
	if len(found) == 0 {
		return nil, nil
	}
	f := &figure{title: "NCHW against NHWC: bandwidth of converting " +
		short(found[0].Key("shape"), 24),
		alt: "Bars: bandwidth of converting a batch of images between NCHW and NHWC, by " +
			"direction and loop"}
	by := map[string]float64{}
	for _, r := range found {
		by[r.Key("layout")+vectorKernel(r)] = r.Stats[bandwidthUnit].Center
	}
	var said []string
	for _, r := range found {
		k := vectorKernel(r)
		to, back := by["nchw-nhwc"+k], by["nhwc-nchw"+k]
		if r.Key("layout") == "nchw-nhwc" && back > 0 && len(said) < 4 {
			said = append(said, fmt.Sprintf("NCHW to NHWC moves %s and back %s (%s).",
				show.Scale(to, bandwidthUnit), show.Scale(back, bandwidthUnit), loop(k)))
		}
	}
	f.sentence = strings.Join(said, " ")
	return d.copyBars(f, found)
}

func copyStride(d *data) (*figure, error) {
	elem, all := 0, map[int]results.Row{}
	for _, r := range copies(d.rows, "columns", "contiguous") {
		step := number(r, "step")
		if r.Key("layout") == "contiguous" {
			step = 1
		}
		if vectorKernel(r) == "" && step > 0 && step <= 1<<20 {
			elem, all[step] = max(elem, elementSize(r.Key("dtype"))), r
			if step > 1 {
				d.shows(r)
			}
		}
	}
	steps := slices.Sorted(maps.Keys(all))
	if len(steps) == 0 || steps[len(steps)-1] == 1 {
		return nil, nil
	}
	s := series{name: "plain loop", hue: d.look.hues[0]}
	for _, step := range steps {
		q := gibPerSecond(all[step])
		q.x = float64(step)
		s.points = append(s.points, q)
	}
	p := d.look.newPanel("k: every k-th column is copied", "GiB/s, read plus written")
	_, high, _ := span([]series{s})
	numberAxis(&p.X, s.points)
	linearAxis(&p.Y, 0, high*1.15)
	if line := d.setup.D1.Line; line > 0 && elem > 0 {
		p.Add(d.look.marks([]mark{{at: float64(line) / float64(elem),
			label: fmt.Sprintf("one element per line of %d B", line)}}))
	}
	slowest := slices.MinFunc(steps, func(a, b int) int {
		return cmp.Compare(all[a].Stats[bandwidthUnit].Center, all[b].Stats[bandwidthUnit].Center)
	})
	f := &figure{title: "Copying every k-th column: bandwidth by stride",
		sentence: fmt.Sprintf("Copying one column in %d moves %s", slowest,
			show.Scale(all[slowest].Stats[bandwidthUnit].Center, bandwidthUnit)),
		alt:    "Line: bandwidth of copying every k-th column of a matrix against k",
		height: 2.9 * vg.Inch, panels: []*panel{p}}
	if whole, ok := all[1]; ok {
		f.sentence += fmt.Sprintf(", and copying all columns %s",
			show.Scale(whole.Stats[bandwidthUnit].Center, bandwidthUnit))
	}
	f.sentence += "."
	f.explainIntervals("band: 95% interval", s.points)
	return f, d.look.addSeries(f, p, s)
}
