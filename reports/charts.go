package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// The units that charts read, as benchunit tidies them.
const (
	timeUnit      = "sec/elem"
	bandwidthUnit = "B/s"
	refsUnit      = "D-refs/op"
	d1Unit        = "D1-misses/op"
	llUnit        = "LL-misses/op"
)

// A matrix is the traversal of a square matrix, from its benchmark's name.
type matrix struct {
	row   results.Row
	order string
	n     int
	bytes int  // of its elements
	pow2  bool // the rows lie a power of two of bytes apart
}

// matrices picks the sums over square matrices by row and by column, by the
// plain loop.
func matrices(rows []results.Row) []matrix {
	var found []matrix
	for _, r := range rows {
		m := matrix{row: r, order: r.Key("order")}
		high, wide, ok := strings.Cut(r.Key("shape"), "x")
		n, err := strconv.Atoi(high)
		elem := elementSize(r.Key("dtype"))
		if r.Family() != "Traverse" || vectorKernel(r) != "" || r.Key("op") != "sum" || r.Key("view") != "" || r.Key("tile") != "" ||
			!ok || high != wide || err != nil || n <= 0 || elem == 0 || (m.order != "row" && m.order != "col") {
			continue
		}
		pad, _ := strconv.Atoi(r.Key("pad"))
		pitch := (n + pad) * elem
		m.n, m.bytes, m.pow2 = n, n*n*elem, pitch&(pitch-1) == 0
		found = append(found, m)
	}
	return found
}

// vectorKernel is the kernel of a result, but "" for the plain loop, which is
// also that of results from before names had a kernel.
func vectorKernel(r results.Row) string {
	if k := r.Key("kernel"); k != "scalar" {
		return k
	}
	return ""
}

// elementSize is the bytes of a dtype by the bits in its name, 0 if it has none.
func elementSize(dtype string) int {
	bits, _ := strconv.Atoi(strings.TrimLeft(dtype, "abcdefghijklmnopqrstuvwxyz"))
	return bits / 8
}

// bySize makes the three series that size charts have. Power-of-two rows fall
// into few cache sets, so columns of them are a series of their own.
func bySize(found []matrix, value func(results.Row) (point, bool)) []series {
	all := []series{
		{name: "row", color: blue, shape: draw.CircleGlyph{}},
		{name: "column", color: vermillion, shape: draw.PyramidGlyph{}},
		{name: "column, stride 2^k", color: green, shape: draw.BoxGlyph{}},
	}
	for _, m := range found {
		q, ok := value(m.row)
		if !ok {
			continue
		}
		q.x = float64(m.bytes)
		s := &all[0]
		switch {
		case m.order == "row" && m.row.Key("pad") != "": // as rows without padding
			continue
		case m.order == "col" && m.pow2:
			s = &all[2]
		case m.order == "col":
			s = &all[1]
		}
		s.points = append(s.points, q)
	}
	return all
}

// sizeRange is the least and the largest matrix, in bytes.
func sizeRange(found []matrix) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, m := range found {
		low, high = min(low, float64(m.bytes)), max(high, float64(m.bytes))
	}
	return low, high
}

// traverseTime draws time per element by matrix size.
func traverseTime(data data) (*Chart, error) {
	found := matrices(data.rows)
	all := bySize(found, func(r results.Row) (point, bool) {
		s, ok := r.Stats[timeUnit]
		return interval(s, 1e9), ok && drawable(s)
	})
	low, high := math.Inf(1), 0.0
	for _, s := range all {
		for _, q := range s.points {
			low, high = min(low, q.low), max(high, q.high)
		}
	}
	if high == 0 {
		return nil, nil
	}
	p := newPlot("Summing a square matrix: time by size", "size of the matrix", "ns per element")
	least, largest := sizeRange(found)
	byteAxis(p, least, largest)
	logAxis(p, low, high)
	addGrid(p, true)
	p.Add(data.cpuCaches)
	legend := newLegend()
	for _, s := range all {
		if err := addSeries(p, legend, s); err != nil {
			return nil, err
		}
	}
	legend.Add("bands: 95% interval")
	png, err := render(4.2*vg.Inch, legend, p)
	return &Chart{File: "traverse-time.png", Title: "Time by size", Sentence: timeSentence(found), PNG: png}, err
}

// drawable tells whether a statistic can stand on any axis: positive, and no
// larger than anything measured ever is.
func drawable(s results.Stat) bool { return s.Center > 0 && s.Center < 1e30 }

// interval is a statistic with its interval, scaled; where the samples were
// too few for one, the interval is the value.
func interval(s results.Stat, scale float64) point {
	q := point{y: s.Center * scale, low: s.Lo * scale, high: s.Hi * scale}
	if !(q.low > 0 && q.low <= q.y && q.high >= q.y && q.high < 1e3*q.y) {
		q.low, q.high = q.y, q.y
	}
	return q
}

// missRates draws the simulated miss rates by matrix size, D1 above LL.
func missRates(data data) (*Chart, error) {
	found := matrices(data.rows)
	least, largest := sizeRange(found)
	legend := newLegend()
	var plots []*plot.Plot
	for i, level := range []struct{ unit, title, y string }{
		{d1Unit, "Summing a square matrix: simulated miss rates", "D1 misses, % of references"},
		{llUnit, "", "LL misses, % of references"},
	} {
		all := bySize(found, func(r results.Row) (point, bool) { return missRate(r, level.unit) })
		if !slices.ContainsFunc(all, func(s series) bool { return len(s.points) > 0 }) {
			return nil, nil
		}
		p := newPlot(level.title, "", level.y)
		if i == 1 {
			p.X.Label.Text = "size of the matrix"
		}
		byteAxis(p, least, largest)
		p.Y.Min, p.Y.Max = -4, 116 // room for lines at 0 and 100, and for labels
		p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 75, Label: "75"}, {Value: 100, Label: "100"}}
		addGrid(p, true)
		p.Add(data.simulated)
		entries := legend
		if i == 1 {
			entries = newLegend() // the same lines again
		}
		for _, s := range all {
			if err := addSeries(p, entries, s); err != nil {
				return nil, err
			}
		}
		plots = append(plots, p)
	}
	png, err := render(6.4*vg.Inch, legend, plots...)
	return &Chart{File: "miss-rates.png", Title: "Simulated miss rates by size", Sentence: missSentence(found), PNG: png}, err
}

// missRate is the share of references that missed, in percent.
func missRate(r results.Row, unit string) (point, bool) {
	misses, ok := r.Stats[unit]
	refs := r.Stats[refsUnit]
	if !ok || !drawable(refs) || !(misses.Center >= 0 && misses.Center <= refs.Center) {
		return point{}, false
	}
	rate := 100 * misses.Center / refs.Center
	return point{y: rate, low: rate, high: rate}, true
}

// copies picks the copies.
func copies(rows []results.Row) []results.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r results.Row) bool {
		return r.Family() != "Copy" || !drawable(r.Stats[bandwidthUnit])
	})
}

// copyLabel says in words what a copy's name says in keys.
func copyLabel(r results.Row) string {
	shape := r.Key("shape")
	label := r.Key("layout")
	switch label {
	case "contiguous":
		label += " " + shape
	case "padded":
		label = "rows padded by " + r.Key("pad")
	case "columns":
		label = fmt.Sprintf("every %s column", ordinal(r.Key("step")))
	case "transpose":
		label = "transposed " + shape
	case "nchw-nhwc":
		label = "NCHW to NHWC"
	case "nhwc-nchw":
		label = "NHWC to NCHW"
	case "view":
		label = r.Key("view") + " of " + shape
		if order := r.Key("order"); order != "" {
			label += ", order " + order
		}
	}
	if tile := r.Key("tile"); tile != "" {
		label += ", tile " + tile
	}
	switch k := vectorKernel(r); k {
	case "":
	case "builtin":
		label += ", Go's copy"
	default:
		label += ", " + k
	}
	return label
}

func ordinal(n string) string {
	switch {
	case strings.HasSuffix(n, "2") && n != "12":
		return n + "nd"
	case strings.HasSuffix(n, "3") && n != "13":
		return n + "rd"
	}
	return n + "th"
}

// copyBandwidth draws the bandwidth of each copy with its interval.
func copyBandwidth(data data) (*Chart, error) {
	found := copies(data.rows)
	if len(found) == 0 {
		return nil, nil
	}
	p := newPlot("Copying to a contiguous tensor: bandwidth by source layout", "GiB/s, bytes read plus bytes written (whiskers: 95% interval)", "")
	addGrid(p, false)
	var b bars
	var ticks plot.ConstantTicks
	widest := 0.0
	for i, r := range found {
		q := interval(r.Stats[bandwidthUnit], 1.0/(1<<30))
		b.points = append(b.points, q)
		b.labels = append(b.labels, strconv.FormatFloat(q.y, 'f', 1, 64))
		ticks = append(ticks, plot.Tick{Value: float64(-i), Label: copyLabel(r)})
		widest = max(widest, q.high)
	}
	zeroAxis(p, widest*1.12) // room for the value
	p.Y.Min, p.Y.Max = -float64(len(found))+0.4, 0.6
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length = 0
	p.Add(b)
	png, err := render(vg.Length(len(found))*0.3*vg.Inch+1.3*vg.Inch, nil, p)
	return &Chart{File: "copy-bandwidth.png", Title: "Copy bandwidth by layout", Sentence: copySentence(found), PNG: png}, err
}
