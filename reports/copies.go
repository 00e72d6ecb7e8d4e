package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
)

func copies(rows []results.Row) []results.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r results.Row) bool {
		return r.Family() != "Copy" || !drawable(r.Stats[bandwidthUnit])
	})
}

// copyWords puts a copy's name into words, its layout first.
func copyWords(r results.Row) (words []string) {
	shape := r.Key("shape")
	switch layout := r.Key("layout"); layout {
	case "contiguous":
		words = append(words, layout+" "+shape)
	case "padded":
		words = append(words, "rows padded by "+r.Key("pad")+" elements")
	case "columns":
		words = append(words, fmt.Sprintf("every %s column", ordinal(r.Key("step"))))
	case "transpose":
		words = append(words, "transposed "+shape)
	case "nchw-nhwc":
		words = append(words, "NCHW to NHWC")
	case "nhwc-nchw":
		words = append(words, "NHWC to NCHW")
	case "view":
		words = append(words, r.Key("view"), " of "+shape)
		if order := r.Key("order"); order != "" {
			words = append(words, ", order "+order)
		}
	default:
		words = append(words, layout)
	}
	if tile := r.Key("tile"); tile != "" {
		words = append(words, ", tile "+tile)
	}
	if k := vectorKernel(r); k != "" {
		words = append(words, ", "+loop(k))
	}
	return words
}

const maxCopyLabel = 56

// copyLabels adds dtype, padding, order and name where these differ. If a label is too long, it
// moves the words that all share to common.
func copyLabels(found []results.Row) (labels []string, common string) {
	differ := func(key string) bool {
		return slices.ContainsFunc(found, func(r results.Row) bool {
			return r.Key(key) != found[0].Key(key)
		})
	}
	dtypes, pads, orders, names := differ("dtype"), differ("pad"), differ("order"), differ("name")
	all, long := make([][]string, len(found)), false
	for i, r := range found {
		words := copyWords(r)
		if pad := r.Key("pad"); pads && pad != "" && r.Key("layout") != "padded" {
			words = append(words, ", rows padded by "+pad+" elements")
		}
		// the view's words already have it
		if order := r.Key("order"); orders && order != "" && r.Key("layout") != "view" {
			words = append(words, ", order "+order)
		}
		if dtypes {
			words = append(words, ", "+r.Key("dtype"))
		}
		if name := r.Key("name"); names && name != "" { // of an entry of a workload
			words = append(words, ", "+name)
		}
		all[i], long = words, long || len(strings.Join(words, "")) > maxCopyLabel
	}
	if long && len(found) > 1 {
		common = leaveOut(all)
	}
	for _, words := range all {
		labels = append(labels, strings.Join(words, ""))
	}
	return shorts(labels, maxCopyLabel), common
}

func leaveOut(labels [][]string) string {
	common := slices.DeleteFunc(slices.Clone(labels[0][1:]), func(word string) bool {
		return slices.ContainsFunc(labels, func(words []string) bool {
			return !slices.Contains(words[1:], word)
		})
	})
	for i, words := range labels {
		labels[i] = append(words[:1:1], slices.DeleteFunc(words[1:], func(word string) bool {
			return slices.Contains(common, word)
		})...)
	}
	return short(strings.Trim(strings.Join(common, ""), ", "), 60)
}

func ordinal(n string) string {
	switch {
	case len(n) > 1 && n[len(n)-2] == '1': // 11th, 112th
	case strings.HasSuffix(n, "1"):
		return n + "st"
	case strings.HasSuffix(n, "2"):
		return n + "nd"
	case strings.HasSuffix(n, "3"):
		return n + "rd"
	}
	return n + "th"
}

// copyBandwidth draws the bandwidth of each copy, except those with a chart of their own.
func copyBandwidth(d *data) (*figure, error) {
	found := slices.DeleteFunc(copies(d.rows), func(r results.Row) bool {
		layout := r.Key("layout")
		return layout == "columns" || layout == "nchw-nhwc" || layout == "nhwc-nchw"
	})
	if len(found) == 0 {
		return nil, nil
	}
	d.shows(found...)
	f := &figure{title: "Copying to a contiguous tensor: bandwidth by source layout",
		sentence: copySentence(found),
		alt:      "Bars: bandwidth of each copy"}
	d.bandwidthBars(f, found[:min(len(found), maxBars)])
	return f, nil
}

func copySentence(found []results.Row) string {
	labels, common := copyLabels(found)
	fast, slow := 0, 0
	rate := func(i int) float64 { return found[i].Stats[bandwidthUnit].Center }
	for i := range found {
		if rate(i) > rate(fast) {
			fast = i
		}
		if rate(i) < rate(slow) {
			slow = i
		}
	}
	if len(found) == 1 {
		return fmt.Sprintf("The copy (%s) moves %s.", labels[fast],
			results.Scale(rate(fast), bandwidthUnit))
	}
	text := fmt.Sprintf("The fastest copy (%s) moves %s, the slowest (%s) %s.",
		labels[fast], results.Scale(rate(fast), bandwidthUnit), labels[slow],
		results.Scale(rate(slow), bandwidthUnit))
	if rate(fast) == rate(slow) {
		text = fmt.Sprintf("Each of %d copies moves %s.", len(found),
			results.Scale(rate(fast), bandwidthUnit))
	}
	if common != "" {
		text = strings.TrimSuffix(text, ".") + fmt.Sprintf(" (all %s).", common)
	}
	byName := map[string]results.Row{}
	for _, r := range found {
		byName[r.Name] = r
	}
	for _, tiled := range found {
		tile := tiled.Key("tile")
		naive, ok := byName[strings.Replace(tiled.Name, "/tile="+tile, "", 1)]
		if tile != "" && ok && tiled.Key("layout") == "transpose" &&
			drawable(naive.Stats[timeUnit]) {
			text += fmt.Sprintf(" In tiles of %s, the transposed copy of %s takes %.2f times as "+
				"long as untiled.",
				tile, tiled.Key("shape"), tiled.Stats[timeUnit].Center/naive.Stats[timeUnit].Center)
			break
		}
	}
	if more := len(found) - maxBars; more > 0 {
		text += fmt.Sprintf(" The chart shows the first %d copies; %d more are in the table.",
			maxBars, more)
	}
	return text
}

func copyStride(d *data) (*figure, error) {
	s := series{name: "plain loop", hue: d.look.hues[0]}
	elem, all := 0, map[int]results.Row{}
	for _, r := range copies(d.rows) {
		step := number(r, "step")
		if r.Key("layout") == "contiguous" {
			step = 1
		}
		if r.Key("layout") != "columns" && step != 1 || vectorKernel(r) != "" || step == 0 ||
			step > 1<<20 {
			continue
		}
		if size := elementSize(r.Key("dtype")); size > 0 {
			elem = size
		}
		all[step] = r
		if step > 1 {
			d.shows(r)
		}
	}
	for step, r := range all {
		q := interval(r.Stats[bandwidthUnit], 1.0/(1<<30))
		q.x = float64(step)
		s.points = append(s.points, q)
	}
	if _, columns := slowest(all); !columns {
		return nil, nil
	}
	p := d.look.newPanel("k: every k-th column is copied", "GiB/s, read plus written")
	_, high, _ := span([]series{s})
	numberAxis(&p.X, s.points)
	zeroAxis(&p.Y, high*1.15)
	d.look.addGrid(p, true)
	if line := d.setup.D1.Line; line > 0 && elem > 0 {
		p.Add(d.look.marks([]mark{{float64(line) / float64(elem),
			fmt.Sprintf("one element per line of %d B", line)}}))
	}
	f := &figure{title: "Copying every k-th column: bandwidth by stride",
		sentence: strideSentence(all),
		alt:      "Line: bandwidth of copying every k-th column of a matrix against k",
		height:   2.9 * vg.Inch, panels: []*panel{p}}
	f.explainIntervals("band: 95% interval", s.points)
	return f, d.look.addSeries(f, p, s)
}

// slowest returns ok = false if only the contiguous copy was measured.
func slowest(all map[int]results.Row) (step int, ok bool) {
	least := math.Inf(1)
	for k, r := range all {
		if b := r.Stats[bandwidthUnit].Center; k > 1 && (b < least || b == least && k < step) {
			step, least, ok = k, b, true
		}
	}
	return step, ok
}

func strideSentence(all map[int]results.Row) string {
	step, _ := slowest(all)
	text := fmt.Sprintf("Copying every %s column moves %s", ordinal(strconv.Itoa(step)),
		results.Scale(all[step].Stats[bandwidthUnit].Center, bandwidthUnit))
	if whole, ok := all[1]; ok {
		text += fmt.Sprintf(", and copying all columns %s",
			results.Scale(whole.Stats[bandwidthUnit].Center, bandwidthUnit))
	}
	return text + "."
}

func channels(d *data) (*figure, error) {
	var found []results.Row
	by := map[string]results.Row{}
	for _, r := range copies(d.rows) {
		if layout := r.Key("layout"); layout == "nchw-nhwc" || layout == "nhwc-nchw" {
			found = append(found, r)
			d.shows(r)
			by[layout+vectorKernel(r)] = r
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	f := &figure{title: "NCHW against NHWC: bandwidth of converting " +
		short(found[0].Key("shape"), 24),
		alt: "Bars: bandwidth of converting a batch of images between NCHW and NHWC, by " +
			"direction and loop"}
	for _, r := range found {
		k := vectorKernel(r)
		to, back := by["nchw-nhwc"+k], by["nhwc-nchw"+k]
		if to.Name == "" || back.Name == "" || r.Name != to.Name || len(f.sentence) > 400 {
			continue
		}
		f.sentence += fmt.Sprintf("NCHW to NHWC moves %s and back %s (%s). ",
			results.Scale(to.Stats[bandwidthUnit].Center, bandwidthUnit),
			results.Scale(back.Stats[bandwidthUnit].Center, bandwidthUnit), loop(k))
	}
	if f.sentence = strings.TrimSpace(f.sentence); f.sentence == "" {
		f.sentence = "Only one direction was measured, so there is nothing to compare."
	}
	d.bandwidthBars(f, found[:min(len(found), maxBars)])
	return f, nil
}
