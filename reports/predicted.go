package reports

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/montanaflynn/stats"

	"github.com/stridebench/stridebench/results"
)

// predictedUnit is results.PredictedUnit, tidied: the time that the cost model predicts for a pass.
const predictedUnit = "predicted-sec/op"

type prediction struct {
	family    string
	predicted float64
	measured  point // x is unused
}

func predictions(rows []results.Row) (found []prediction) {
	for _, r := range rows {
		p, m := r.Stats[predictedUnit], r.Stats[passUnit]
		if drawable(p) && drawable(m) {
			found = append(found, prediction{short(r.Family(), 16), p.Center * 1e9,
				interval(m, 1e9)})
		}
	}
	return found
}

func predicted(d *data) (*figure, error) {
	found := predictions(d.rows)
	if len(found) < 3 { // fewer give no meaningful rank correlation
		return nil, nil
	}
	var x, y, off []float64
	var across []point
	low, high := math.Inf(1), 0.0
	for _, f := range found {
		x, y = append(x, f.measured.y), append(y, f.predicted)
		across = append(across, f.measured)
		off = append(off, math.Abs(f.predicted/f.measured.y-1))
		low, high = min(low, f.measured.low/1.5, f.predicted/1.5),
			max(high, f.measured.high*1.5, f.predicted*1.5)
	}
	p := d.look.newPanel("measured time of a pass", "predicted time of a pass")
	logAxis(&p.X, low, high, duration)
	logAxis(&p.Y, low, high, duration)
	same := plotter.NewFunction(func(v float64) float64 { return v })
	same.Color, same.Dashes, same.Samples = d.look.marked, []vg.Length{4, 3}, 200
	p.Add(same)
	rho, err := stats.Spearman(x, y)
	if err != nil { // equal times have no ranks
		rho = math.NaN()
	}
	median, err := stats.Median(off)
	if err != nil {
		return nil, err
	}
	f := &figure{title: "Predicted against measured time of a pass",
		sentence: fmt.Sprintf("The predicted times of %d benchmarks %s; the median error is %.0f%%.", len(found), correlation(rho, y), 100*median),
		alt: "Scatter: predicted against measured time of each benchmark, with the line on " +
			"which both are equal",
		height: 4.2 * vg.Inch, panels: []*panel{p}}
	f.explain("predicted = measured", same)
	f.explainIntervals("horizontal lines: 95% interval", across)
	err = d.scatter(f, p, found)
	if !math.IsNaN(rho) {
		f.explain(fmt.Sprintf("rank correlation %.3f", rho))
	}
	return f, err
}

// correlation handles equal times, which have no ranks.
func correlation(rho float64, predicted []float64) string {
	switch {
	case slices.Min(predicted) == slices.Max(predicted):
		return "are all the same"
	case math.IsNaN(rho):
		return "differ, but the measured ones do not"
	}
	return fmt.Sprintf("have a rank correlation of %.3f with the measured ones", rho)
}

const maxScattered = 2000

// scatter draws at most maxScattered points. Families without a hue of their own share the last.
func (d *data) scatter(f *figure, p *panel, found []prediction) error {
	p.Add(intervals{&d.look, found[:min(len(found), maxScattered)]})
	by := map[string]plotter.XYs{}
	var families []string
	for _, one := range found[:min(len(found), maxScattered)] {
		name := one.family
		if by[name] == nil && len(families) >= len(d.look.hues)-1 {
			name = "others"
		}
		if by[name] == nil {
			families = append(families, name)
		}
		by[name] = append(by[name], plotter.XY{X: one.measured.y, Y: one.predicted})
	}
	for i, name := range families {
		points, err := plotter.NewScatter(by[name])
		if err != nil {
			return err
		}
		h := d.look.hues[i%len(d.look.hues)]
		points.GlyphStyle = draw.GlyphStyle{Color: h.color, Radius: 2.6, Shape: h.glyph}
		p.Add(points)
		f.explain(name, points)
	}
	return nil
}

type intervals struct {
	look  *style
	found []prediction
}

// Plot implements plot.Plotter.
func (i intervals) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	line := draw.LineStyle{Color: i.look.marked, Width: 0.6}
	for _, one := range i.found {
		y := toY(one.predicted)
		c.StrokeLine2(line, toX(one.measured.low), y, toX(one.measured.high), y)
	}
}
