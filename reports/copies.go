package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
)

// maxBars is how many bars a chart has at most: what is more is in the table.
const maxBars = 40

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
	return short(label)
}

// short is what a label may show of a name, which may be a stranger's.
func short(label string) string {
	label = results.Printable(label)
	if runes := []rune(label); len(runes) > 48 {
		return string(runes[:47]) + "…"
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
func copyBandwidth(d *data) (*figure, error) {
	found := copies(d.rows)
	if len(found) == 0 {
		return nil, nil
	}
	f := &figure{title: "Copying to a contiguous tensor: bandwidth by source layout", sentence: copySentence(found),
		alt: "Bars: bandwidth of each copy with its interval"}
	d.bandwidthBars(f, found[:min(len(found), maxBars)], copyLabel)
	return f, nil
}

// bandwidthBars draws a bar for each row; the plain loop and vectors have
// colours of their own.
func (d *data) bandwidthBars(f *figure, rows []results.Row, label func(results.Row) string) {
	p := d.look.newPlot("GiB/s, bytes read plus bytes written (whiskers: 95% interval)", "")
	d.look.addGrid(p, false)
	b := bars{look: &d.look}
	var ticks plot.ConstantTicks
	widest := 0.0
	for i, r := range rows {
		q := interval(r.Stats[bandwidthUnit], 1.0/(1<<30))
		b.points = append(b.points, q)
		b.labels = append(b.labels, strconv.FormatFloat(q.y, 'g', 3, 64))
		b.hues = append(b.hues, d.look.kernelHue(r))
		ticks = append(ticks, plot.Tick{Value: float64(-i), Label: label(r)})
		widest = max(widest, q.high)
	}
	zeroAxis(&p.X, widest*1.12) // room for the value
	p.Y.Min, p.Y.Max = -float64(len(rows))+0.4, 0.6
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length = 0
	p.Add(b)
	f.plots = []*plot.Plot{p}
	f.height = vg.Length(len(rows))*0.3*vg.Inch + 0.55*vg.Inch
}

// kernelHue is the first hue for the plain loop, and others for vectors and
// Go's copy.
func (s *style) kernelHue(r results.Row) hue {
	switch vectorKernel(r) {
	case "":
		return s.hues[0]
	case "builtin":
		return s.hues[2]
	}
	return s.hues[1]
}

func copySentence(found []results.Row) string {
	fast, slow := found[0], found[0]
	for _, r := range found {
		if r.Stats[bandwidthUnit].Center > fast.Stats[bandwidthUnit].Center {
			fast = r
		}
		if r.Stats[bandwidthUnit].Center < slow.Stats[bandwidthUnit].Center {
			slow = r
		}
	}
	if len(found) == 1 {
		return fmt.Sprintf("The copy (%s) moves %s.", copyLabel(fast), results.Scale(fast.Stats[bandwidthUnit].Center, bandwidthUnit))
	}
	text := fmt.Sprintf("The fastest copy (%s) moves %s, the slowest (%s) %s.",
		copyLabel(fast), results.Scale(fast.Stats[bandwidthUnit].Center, bandwidthUnit),
		copyLabel(slow), results.Scale(slow.Stats[bandwidthUnit].Center, bandwidthUnit))
	byName := map[string]results.Row{}
	for _, r := range found {
		byName[r.Name] = r
	}
	for _, tiled := range found {
		tile := tiled.Key("tile")
		naive, ok := byName[strings.Replace(tiled.Name, "/tile="+tile, "", 1)]
		if tile != "" && ok && tiled.Key("layout") == "transpose" && drawable(naive.Stats[timeUnit]) {
			text += fmt.Sprintf(" In tiles of %s, the transposed copy of %s takes %.2f times as long as in plain order.",
				tile, tiled.Key("shape"), tiled.Stats[timeUnit].Center/naive.Stats[timeUnit].Center)
			break
		}
	}
	if more := len(found) - maxBars; more > 0 {
		text += fmt.Sprintf(" The first %d copies are drawn, %d more are in the table.", maxBars, more)
	}
	return text
}
