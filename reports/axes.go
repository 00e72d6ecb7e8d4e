package reports

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/stridebench/stridebench/results/show"
)

// maxLabels is about the most labels of an axis that do not overlap.
const maxLabels = 8

// byteAxis makes an axis logarithmic for numbers of bytes, with ticks at powers of two.
func byteAxis(a *plot.Axis, points []point) {
	low, high := across(points)
	a.Min, a.Max = low/math.Sqrt2, high*math.Sqrt2
	a.Scale = plot.LogScale{}
	first, last := int(math.Ceil(math.Log2(a.Min))), int(math.Floor(math.Log2(a.Max)))
	every := 1
	for (last-first)/every >= maxLabels {
		every *= 2
	}
	var ticks plot.ConstantTicks
	for power := first; power <= last; power++ {
		tick := plot.Tick{Value: math.Pow(2, float64(power))}
		if power%every == 0 && power >= 0 && power < 63 {
			tick.Label = show.Bytes(1 << power)
		}
		ticks = append(ticks, tick)
	}
	a.Tick.Marker = ticks
}

// logAxis makes an axis logarithmic from low to high, both above 0. Labels are at 1, 2 and 5 if
// they fit, else at powers of ten. If fewer than two fit, ticks are evenly spaced.
func logAxis(a *plot.Axis, low, high float64, label func(float64) string) {
	a.Min, a.Max = low, high
	a.Scale = plot.LogScale{}
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	every := 1 + int(last-first)/(maxLabels+1)
	fine := math.Log10(high/low) < 2.7
	var ticks plot.ConstantTicks
	labels := 0
	for decade := first; decade <= last; decade++ {
		for digit := 1; digit <= 9 && (digit == 1 || every == 1); digit++ {
			tick := plot.Tick{Value: float64(digit) * math.Pow(10, decade)}
			if digit == 1 && int(decade)%every == 0 || fine && (digit == 2 || digit == 5) {
				tick.Label = label(tick.Value)
				if tick.Value >= low && tick.Value <= high {
					labels++
				}
			}
			ticks = append(ticks, tick)
		}
	}
	if labels < 2 {
		ticks = plot.DefaultTicks{}.Ticks(low, high)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label = label(ticks[i].Value)
			}
		}
	}
	a.Tick.Marker = ticks
}

// linearAxis makes an axis linear, with at most 6 ticks at steps of 1, 2 or 5 times a power of ten.
func linearAxis(a *plot.Axis, low, high float64) {
	a.Min, a.Max = low, high
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for _, part := range []float64{0.1, 0.2, 0.5, 1, 2} {
		if (high-low)/(step*part) < 6 {
			step *= part
			break
		}
	}
	var ticks plot.ConstantTicks
	for i := math.Ceil(low/step) + 0; i*step <= high; i++ { // + 0: not -0
		ticks = append(ticks, plot.Tick{Value: i * step, Label: number6(i * step)})
	}
	a.Tick.Marker = ticks
}

func number6(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// duration formats ns with a unit that fits: "20 µs".
func duration(ns float64) string {
	for i, unit := range []string{"s", "ms", "µs"} {
		if scale := math.Pow(1000, float64(3-i)); ns >= scale*0.999 {
			return number6(ns/scale) + " " + unit
		}
	}
	return number6(ns) + " ns"
}

// percentAxis leaves room for lines at both ends, and for labels above.
func percentAxis(a *plot.Axis) {
	a.Min, a.Max = -4, 116
	a.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 25, Label: "25"},
		{Value: 50, Label: "50"}, {Value: 75, Label: "75"}, {Value: 100, Label: "100"}}
}

// numberAxis makes an axis logarithmic for whole numbers from 1 on. It labels the last measured
// number, and others that keep apart from it.
func numberAxis(a *plot.Axis, points []point) {
	var counts []float64
	for _, q := range points {
		counts = append(counts, q.x)
	}
	slices.Sort(counts)
	low, high := counts[0], counts[len(counts)-1]
	a.Min, a.Max = low/1.2, high*1.2
	a.Scale = plot.LogScale{}
	var ticks plot.ConstantTicks
	last, apart := math.Inf(1), math.Pow(a.Max/a.Min, 1./(3*maxLabels))
	for _, n := range slices.Backward(slices.Compact(counts)) {
		tick := plot.Tick{Value: n}
		if n <= last/apart {
			tick.Label, last = number6(n), n
		}
		ticks = append(ticks, tick)
	}
	a.Tick.Marker = ticks
}
