package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/montanaflynn/stats"

	"github.com/stridebench/stridebench/results"
)

// predictedUnit is results.PredictedUnit, tidied: the time that the cost model predicts for a pass.
const predictedUnit = "predicted-sec/op"

type prediction struct {
	family string
	spot   // at is predicted
}

func predictions(rows []results.Row) (found []prediction) {
	for _, r := range rows {
		p, m := r.Stats[predictedUnit], r.Stats[passUnit]
		if drawable(p) && drawable(m) {
			found = append(found, prediction{short(r.Family(), 16), spot{interval(m, 1e9),
				p.Center * 1e9}})
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
		x, y, across = append(x, f.y), append(y, f.at), append(across, f.point)
		off = append(off, math.Abs(f.at/f.y-1))
		low, high = min(low, f.low/1.5, f.at/1.5), max(high, f.high*1.5, f.at*1.5)
	}
	p := d.look.newPanel("measured time of a pass", "predicted time of a pass")
	logAxis(&p.X, low, high, duration)
	logAxis(&p.Y, low, high, duration)
	same := plotter.NewFunction(func(v float64) float64 { return v })
	same.Color, same.Dashes, same.Samples = d.look.marked, []vg.Length{4, 3}, 200
	p.Add(same)
	rho, err := stats.Spearman(x, y)
	correlation := fmt.Sprintf("have a rank correlation of %.3f with", rho)
	if err != nil { // equal times have no ranks
		rho, correlation = math.NaN(), "have no rank correlation with"
	}
	median, err := stats.Median(off)
	if err != nil {
		return nil, err
	}
	f := &figure{title: "Predicted against measured time of a pass",
		sentence: fmt.Sprintf("The predicted times of %d benchmarks %s the measured ones; the "+
			"median error is %.0f%%.", len(found), correlation, 100*median),
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

const maxScattered = 1000

// scatter draws at most maxScattered points. Families without a hue of their own share the last.
func (d *data) scatter(f *figure, p *panel, found []prediction) error {
	by := map[string][]spot{}
	var families []string
	for _, one := range found[:min(len(found), maxScattered)] {
		name := one.family
		if by[name] == nil && len(families) >= len(d.look.hues)-1 {
			name = "others"
		}
		if by[name] == nil {
			families = append(families, name)
		}
		by[name] = append(by[name], one.spot)
	}
	for i, name := range families {
		if err := d.look.addSpots(f, p, name, d.look.hues[i], by[name]); err != nil {
			return err
		}
	}
	return nil
}
