package reports

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/stridebench/stridebench/results"
)

// maxLabels is about the most labels of an axis that do not overlap.
const maxLabels = 8

func (s *style) addGrid(p *panel, horizontal bool) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = s.grid, s.grid
	grid.Vertical.Width = 0.5
	if grid.Horizontal.Width = 0.5; !horizontal {
		grid.Horizontal.Color = nil
	}
	p.Add(grid)
}

// byteAxis makes an axis logarithmic, from low to high bytes, both above 0.
func byteAxis(a *plot.Axis, low, high float64) {
	a.Min, a.Max = low/math.Sqrt2, high*math.Sqrt2
	a.Scale = plot.LogScale{}
	a.Tick.Marker = powersOfTwo(a.Min, a.Max, results.Bytes)
}

// powersOfTwo returns ticks at the powers of two in a range.
func powersOfTwo(low, high float64, label func(int) string) plot.ConstantTicks {
	first, last := int(math.Ceil(math.Log2(low))), int(math.Floor(math.Log2(high)))
	every := 1
	for (last-first)/every >= maxLabels {
		every *= 2
	}
	var ticks plot.ConstantTicks
	for power := first; power <= last; power++ {
		tick := plot.Tick{Value: math.Pow(2, float64(power))}
		if power%every == 0 && power >= 0 && power < 63 {
			tick.Label = label(1 << power)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// logAxis makes an axis logarithmic from low to high, both above 0. Labels are at 1, 2 and 5 if
// they fit, else at powers of ten. If fewer than two fit, ticks are evenly spaced.
func logAxis(a *plot.Axis, low, high float64) { logAxisOf(a, low, high, number6) }

func logAxisOf(a *plot.Axis, low, high float64, label func(float64) string) {
	a.Min, a.Max = low, high
	a.Scale = plot.LogScale{}
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	every := 1
	for int(last-first)/every > maxLabels {
		every++
	}
	fine := math.Log10(high/low) < 2.7
	var ticks plot.ConstantTicks
	for decade := first; decade <= last; decade++ {
		for digit := 1; digit <= 9; digit++ {
			if every > 1 && digit > 1 {
				break
			}
			tick := plot.Tick{Value: float64(digit) * math.Pow(10, decade)}
			if digit == 1 && int(decade)%every == 0 || fine && (digit == 2 || digit == 5) {
				tick.Label = label(tick.Value)
			}
			ticks = append(ticks, tick)
		}
	}
	if labelled(ticks, low, high) < 2 {
		ticks = evenTicks(low, high, label)
	}
	a.Tick.Marker = ticks
}

func labelled(ticks plot.ConstantTicks, low, high float64) (n int) {
	for _, tick := range ticks {
		if tick.Label != "" && tick.Value >= low && tick.Value <= high {
			n++
		}
	}
	return n
}

func evenTicks(low, high float64, label func(float64) string) (ticks plot.ConstantTicks) {
	step := math.Pow(10, math.Floor(math.Log10(high-low))-1)
	for _, part := range []float64{2, 5, 10, 20} {
		if (high-low)/(step*part) < 5 {
			step *= part
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high && len(ticks) < 5; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return ticks
}

func zeroAxis(a *plot.Axis, high float64) { linearAxis(a, 0, high, 6) }

// linearAxis makes an axis linear, with fewer than most ticks at steps of 1, 2 or 5 times a power
// of ten.
func linearAxis(a *plot.Axis, low, high, most float64) {
	a.Min, a.Max = low, high
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for _, part := range []float64{0.1, 0.2, 0.5, 1} {
		if (high-low)/(step*part) < most {
			step *= part
			break
		}
	}
	var ticks plot.ConstantTicks
	for i := math.Ceil(low / step); i*step <= high && len(ticks) < 100; i++ {
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

// numberAxis makes an axis logarithmic for whole numbers from 1 on. Labels are at powers of two, or
// at the measured numbers if there are fewer than two powers.
func numberAxis(a *plot.Axis, points []point) {
	low, high := math.Inf(1), 1.0
	for _, q := range points {
		low, high = min(low, q.x), max(high, q.x)
	}
	a.Min, a.Max = low/1.2, high*1.2
	a.Scale = plot.LogScale{}
	ticks := powersOfTwo(low, high, strconv.Itoa)
	if labelled(ticks, low, high) < 2 {
		ticks = measuredTicks(points)
	}
	a.Tick.Marker = ticks
}

// measuredTicks labels the last measured number, and others a quarter octave apart.
func measuredTicks(points []point) (ticks plot.ConstantTicks) {
	var counts []float64
	for _, q := range points {
		counts = append(counts, q.x)
	}
	slices.Sort(counts)
	last := math.Inf(1)
	for _, n := range slices.Backward(slices.Compact(counts)) {
		tick := plot.Tick{Value: n}
		if n <= last/1.19 {
			tick.Label, last = number6(n), n
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// percentLogAxis makes an axis logarithmic around 100%, with dense labels for small changes.
func percentLogAxis(a *plot.Axis, low, high float64) {
	logAxis(a, low, high)
	for _, step := range []float64{1, 2, 5, 10, 20, 50} {
		if (high-low)/step > 2*maxLabels {
			continue
		}
		every := math.Ceil((high - low) / step / maxLabels)
		var ticks plot.ConstantTicks
		for i := math.Ceil((low - 100) / step); 100+i*step <= high; i++ { // 100 gets a label
			tick := plot.Tick{Value: 100 + i*step}
			if math.Mod(i, every) == 0 {
				tick.Label = number6(tick.Value)
			}
			ticks = append(ticks, tick)
		}
		if legible(ticks, low, high) {
			a.Tick.Marker = ticks
		}
		return
	}
}

// legible reports whether evenly spaced labels keep apart. On a logarithmic axis the last two are
// closest.
func legible(ticks plot.ConstantTicks, low, high float64) bool {
	last := 0.0
	for _, tick := range slices.Backward(ticks) {
		switch {
		case tick.Label == "":
		case last > 0:
			return math.Log(last/tick.Value) > 0.09*math.Log(high/low)
		default:
			last = tick.Value
		}
	}
	return true
}
