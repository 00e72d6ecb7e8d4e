package reports

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// maxCells is the most sizes and strides of a mountain. It shows the least.
const maxCells = 24

// A heatMap is a plotter of a bandwidth for each stride and size, with a colour bar. A cell is at
// the indices of its stride and size.
type heatMap struct {
	look           *style
	strides, sizes []int // bytes, ascending
	value          map[[2]int]float64
	low, high      float64
	colors         palette.ColorMap // of logarithms
	caches         []mark
}

// viridis is the colour map of S. van der Walt and N. Smith, for matplotlib. Its even luminance is
// legible in grey.
func viridis(low, high float64) (palette.ColorMap, error) {
	var controls []color.Color
	for _, hex := range []uint32{0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E, 0x1F9E89,
		0x35B779, 0x6ECE58, 0xB5DE2B, 0xFDE725} {
		controls = append(controls, color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xFF})
	}
	m, err := moreland.NewLuminance(controls)
	if err != nil {
		return nil, err
	}
	m.SetMin(low)
	m.SetMax(high)
	return m, nil
}

func mountain(d *data) (*figure, error) {
	h := heatMap{look: &d.look, value: map[[2]int]float64{}, low: math.Inf(1), caches: d.cpuCaches}
	strides, sizes := map[int]bool{}, map[int]bool{}
	for _, r := range d.rows {
		stride, size := number(r, "stride")*elementSize(r.Key("dtype")), r.Bytes("size")
		if r.Family() != "Mountain" || stride == 0 || size == 0 ||
			!drawable(r.Stats[bandwidthUnit]) {
			continue
		}
		d.shows(r)
		v := r.Stats[bandwidthUnit].Center / (1 << 30)
		h.value[[2]int{stride, size}] = v
		strides[stride], sizes[size] = true, true
		h.low, h.high = min(h.low, v), max(h.high, v)
	}
	if len(h.value) == 0 {
		return nil, nil
	}
	h.strides, h.sizes = least(strides), least(sizes)
	h.low, h.high = h.low/1.01, h.high*1.01 // gives a single cell a range
	var err error
	if h.colors, err = viridis(math.Log(h.low), math.Log(h.high)); err != nil {
		return nil, err
	}
	p := d.look.newPanel("stride, from one element to the next", "working set")
	p.X.Min, p.X.Max, p.X.Tick.Marker = -0.5, float64(len(h.strides))-0.5, byteTicks(h.strides, 10)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = -0.5, float64(len(h.sizes))-0.5, byteTicks(h.sizes, 16)
	p.Add(h)
	f := &figure{title: "Memory mountain: read bandwidth by working set and stride",
		sentence: h.sentence(),
		alt:      "Heat map: bandwidth of reading by working set and stride",
		height:   vg.Length(min(max(len(h.sizes), 6), 16))*0.3*vg.Inch + 0.7*vg.Inch, room: 130,
		panels: []*panel{p}}
	f.tellMarks(d.cpuCaches, float64(h.sizes[0]), float64(h.sizes[len(h.sizes)-1]-1))
	return f, nil
}

func least(set map[int]bool) []int {
	all := slices.Sorted(maps.Keys(set))
	return all[:min(len(all), maxCells)]
}

func byteTicks(bytes []int, most int) (ticks plot.ConstantTicks) {
	every := (len(bytes) + most - 1) / most
	for i, n := range bytes {
		tick := plot.Tick{Value: float64(i)}
		if i%every == 0 {
			tick.Label = results.Bytes(n)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// Plot implements plot.Plotter.
func (h heatMap) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	style := h.look.text(markSize)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i, stride := range h.strides {
		for k, size := range h.sizes {
			v, ok := h.value[[2]int{stride, size}]
			if !ok {
				continue
			}
			fill := h.color(v)
			h.cell(c, fill, toX(float64(i)-0.5), toX(float64(i)+0.5), toY(float64(k)-0.5),
				toY(float64(k)+0.5))
			if len(h.strides) <= 12 && len(h.sizes) <= 16 {
				style.Color = over(fill)
				c.FillText(style, vg.Point{X: toX(float64(i)), Y: toY(float64(k))}, twoDigits(v))
			}
		}
	}
	h.markCaches(c, toY)
	h.bar(c)
}

// twoDigits formats as %.2g, but 100 to 100,000 as whole numbers.
func twoDigits(v float64) string {
	if v >= 99.5 && v < 1e5 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// cell overlaps its neighbours, so that no hairline shows between them.
func (h heatMap) cell(c draw.Canvas, fill color.Color, left, right, bottom, top vg.Length) {
	const overlap = 0.8
	c.FillPolygon(fill, []vg.Point{{X: left, Y: bottom}, {X: right + overlap, Y: bottom},
		{X: right + overlap, Y: top + overlap}, {X: left, Y: top + overlap}})
}

func (h heatMap) color(v float64) color.Color {
	c, err := h.colors.At(math.Log(v))
	if err != nil { // out of range, which cannot happen here
		return h.look.paper
	}
	return c
}

func over(fill color.Color) color.Color {
	if luminance(fill) > 0.3 {
		return color.Black
	}
	return color.White
}

// luminance returns the relative luminance of WCAG, 0 to 1.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		s := float64(v) / 0xFFFF
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func (h heatMap) markCaches(c draw.Canvas, toY func(float64) vg.Length) {
	line := draw.LineStyle{Color: h.look.paper, Width: 1.2, Dashes: []vg.Length{4, 3}}
	style := h.look.mark()
	style.YAlign = draw.YCenter
	last := vg.Length(math.Inf(-1))
	for _, m := range h.caches {
		held := 0
		for held < len(h.sizes) && float64(h.sizes[held]) <= m.at {
			held++
		}
		if held == 0 || held == len(h.sizes) {
			continue
		}
		y := toY(float64(held) - 0.5)
		c.StrokeLine2(line, c.Min.X, y, c.Max.X, y)
		at := max(y, last+markSize+1)
		c.FillText(style, vg.Point{X: c.Max.X + 5, Y: at}, m.label)
		last = at
	}
}

func (h heatMap) bar(c draw.Canvas) {
	const steps, width = 96, 12
	left := c.Max.X + 82
	height := c.Max.Y - c.Min.Y - 16
	at := func(v float64) vg.Length {
		return c.Min.Y + height*vg.Length((math.Log(v)-math.Log(h.low))/(math.Log(h.high)-math.Log(h.low)))
	}
	for i := range steps {
		v := math.Exp(math.Log(h.low) + (float64(i)+0.5)/steps*(math.Log(h.high)-math.Log(h.low)))
		h.cell(c, h.color(v), left, left+width, c.Min.Y+height*vg.Length(i)/steps,
			c.Min.Y+height*vg.Length(i+1)/steps)
	}
	style := h.look.text(markSize)
	style.YAlign = draw.YTop
	c.FillText(style, vg.Point{X: left - 4, Y: c.Max.Y}, "GiB/s")
	style.YAlign = draw.YCenter
	axis := plot.Axis{}
	logAxis(&axis, h.low, h.high)
	for _, tick := range axis.Tick.Marker.Ticks(h.low, h.high) {
		if tick.Label != "" && tick.Value >= h.low && tick.Value <= h.high {
			c.StrokeLine2(draw.LineStyle{Color: h.look.ink, Width: 0.5}, left+width, at(tick.Value),
				left+width+3, at(tick.Value))
			c.FillText(style, vg.Point{X: left + width + 5, Y: at(tick.Value)}, tick.Label)
		}
	}
}

func (h heatMap) sentence() string {
	best, worst := [2]int{}, [2]int{}
	for _, at := range slices.SortedFunc(maps.Keys(h.value), func(a, b [2]int) int {
		return slices.Compare(a[:], b[:])
	}) {
		v := h.value[at]
		if b, ok := h.value[best]; !ok || v > b {
			best = at
		}
		if w, ok := h.value[worst]; !ok || v < w {
			worst = at
		}
	}
	switch {
	case len(h.value) == 1:
		return fmt.Sprintf("Reading every %s of %s moves %s GiB/s.", results.Bytes(best[0]),
			results.Bytes(best[1]), brief(h.value[best]))
	case best == worst:
		return fmt.Sprintf("Reading moves %s GiB/s at every stride and working set.",
			brief(h.value[best]))
	}
	return fmt.Sprintf("Bandwidth is highest reading every %s of %s (%s GiB/s), and lowest "+
		"reading every %s of %s (%s GiB/s).",
		results.Bytes(best[0]), results.Bytes(best[1]), brief(h.value[best]),
		results.Bytes(worst[0]), results.Bytes(worst[1]), brief(h.value[worst]))
}
