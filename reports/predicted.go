package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/montanaflynn/stats"
)

// predictedUnit is results.PredictedUnit, tidied: the time that the cost model predicts for a pass.
const predictedUnit = "predicted-sec/op"

const maxScattered = 1000

// predicted draws predicted against measured times, at most maxScattered points.
func predicted(d *data) (*figure, error) {
	var x, y, off []float64
	var all []spot // at is predicted
	var across []point
	low, high := math.Inf(1), 0.0
	for _, r := range d.rows {
		p, m := r.Stats[predictedUnit], interval(r.Stats[passUnit], 1e9)
		at := p.Center * 1e9
		if !drawable(p) || !positive(m.y) {
			continue
		}
		x, y, off = append(x, m.y), append(y, at), append(off, math.Abs(at/m.y-1))
		all, across = append(all, spot{m, at}), append(across, m)
		low, high = min(low, m.low/1.5, at/1.5), max(high, m.high*1.5, at*1.5)
	}
	if len(all) < 3 { // fewer give no meaningful rank correlation
		return nil, nil
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
		correlation = "have no rank correlation with"
	}
	median, err := stats.Median(off)
	if err != nil {
		return nil, err
	}
	f := &figure{title: "Predicted against measured time of a pass",
		sentence: fmt.Sprintf("The predicted times of %d benchmarks %s the measured ones; the "+
			"median error is %.0f%%.", len(all), correlation, 100*median),
		alt: "Scatter: predicted against measured time of each benchmark, with the line on " +
			"which both are equal",
		height: 4.2 * vg.Inch, panels: []*panel{p}}
	f.explain("predicted = measured", same)
	f.explainIntervals("horizontal lines: 95% interval", across)
	return f, d.look.addSpots(f, p, "a benchmark", d.look.hues[0],
		all[:min(len(all), maxScattered)])
}
