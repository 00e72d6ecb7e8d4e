package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
)

// others draws the times that no other chart shows, such as a user's own patterns, as bars.
func others(d *data) (*figure, error) {
	f := &figure{title: "Time per element of the other benchmarks",
		alt: "Bars: ns per element of each benchmark, by family"}
	b := titledBars{bars: bars{look: &d.look}}
	rows := slices.DeleteFunc(slices.Clone(d.rows), func(r results.Row) bool {
		return !drawable(r.Stats[timeUnit])
	})
	var sentences []string
	if len(rows) > maxBars {
		if said := b.addGains(rows); said != "" {
			sentences = []string{said}
			f.explain("each family: the benchmarks that gain most and least from threads")
		}
	}
	if sentences == nil {
		sentences = b.addFamilies(rows)
	}
	if b.drawn == 0 {
		return nil, nil
	}
	if more := len(rows) - b.drawn; more > 0 {
		sentences = append(sentences, fmt.Sprintf("%d more are in the table", more))
	}
	f.sentence = strings.Join(sentences, ". ") + "."
	b.finish(f, "ns per element")
	return f, nil
}

func (b *titledBars) finish(f *figure, unit string) {
	b.bound()
	b.skip = func(i int) bool { return b.titles[i] != "" }
	p := b.look.newPanel(unit, "")
	b.explainKernels(f)
	f.explainIntervals("whiskers: 95% interval", b.points)
	b.look.addGrid(p, false)
	lines := len(b.points)
	zeroAxis(&p.X, b.widest)
	p.Y.Min, p.Y.Max = -float64(lines)+0.4, 0.6
	p.Y.Tick.Marker = b.ticks
	p.Y.Tick.Length = 0
	p.Add(*b)
	f.panels = []*panel{p}
	f.height = vg.Length(lines)*0.3*vg.Inch + 0.55*vg.Inch
}

// timePerElement is in ns.
func timePerElement(r results.Row) point { return interval(r.Stats[timeUnit], 1e9) }

func (b *titledBars) addFamilies(rows []results.Row) (sentences []string) {
	for _, of := range byFamily(rows) {
		if of = of[:min(len(of), maxBars-b.drawn)]; len(of) > 0 {
			shared, labels := terminal.Headings(of)
			pairs, drawn := twins(of), shorts(labels, 56)
			for _, t := range pairs {
				drawn[t.asItIs] = ends(labels[t.asItIs], 56) // the middle has the strides
				if drawn[t.contiguous] = ends(labels[t.contiguous]+", contiguous",
					56); t.contiguous == t.asItIs+1 {
					drawn[t.contiguous] = "the same, contiguous"
				}
			}
			said := cmp.Or(twinSentence(of, shared, labels, pairs),
				otherSentence(of, shared, shorts(labels, 40)))
			sentences = append(sentences, said)
			b.add(shared, drawn, of, timePerElement)
		}
	}
	return sentences
}

// titledBars are bars with titles between them, each in place of a bar.
type titledBars struct {
	bars
	titles map[int]string
	ticks  plot.ConstantTicks
	widest float64
	drawn  int
}

func (b *titledBars) add(title string, labels []string, rows []results.Row,
	value func(results.Row) point) {
	if b.titles == nil {
		b.titles = map[int]string{}
	}
	if title != "" {
		b.titles[len(b.points)] = short(title, 80)
		b.points, b.labels, b.kernels = append(b.points, point{}), append(b.labels, ""),
			append(b.kernels, "")
	}
	for i, r := range rows {
		q := value(r)
		b.ticks = append(b.ticks, plot.Tick{Value: float64(-len(b.points)), Label: labels[i]})
		b.points = append(b.points, q)
		b.labels = append(b.labels, digits(q.y))
		b.kernels = append(b.kernels, vectorKernel(r))
		b.drawn++
	}
}

// bound cuts intervals that would leave no room for the bars.
func (b *titledBars) bound() {
	longest, room := 0.0, 1.12 // for the values
	for _, q := range b.points {
		longest = max(longest, q.y)
	}
	for i := range b.points {
		if q := &b.points[i]; q.high > 2*longest {
			b.labels[i] += fmt.Sprintf(" (up to %s)", digits(q.high))
			q.high, room = 2*longest, 1.5
		}
		b.widest = max(b.widest, b.points[i].high)
	}
	b.widest *= room
}

// Plot implements plot.Plotter.
func (b titledBars) Plot(c draw.Canvas, p *plot.Plot) {
	b.bars.Plot(c, p)
	_, toY := p.Transforms(&c)
	style := b.look.text(markSize)
	style.YAlign = draw.YCenter
	for _, i := range slices.Sorted(maps.Keys(b.titles)) {
		title := fit(style, b.titles[i], c.Max.X-c.Min.X-5)
		b.look.erase(c, vg.Rectangle{Min: vg.Point{X: c.Min.X + 1, Y: toY(float64(-i)) - 7},
			Max: vg.Point{X: c.Min.X + 8 + style.Width(title), Y: toY(float64(-i)) + 7}})
		c.FillText(style, vg.Point{X: c.Min.X + 5, Y: toY(float64(-i))}, title)
	}
}

func byFamily(rows []results.Row) (families [][]results.Row) {
	index := map[string]int{}
	for _, r := range rows {
		i, ok := index[r.Family()]
		if !ok {
			i = len(families)
			index[r.Family()] = i
			families = append(families, nil)
		}
		families[i] = append(families[i], r)
	}
	return families
}

func otherSentence(rows []results.Row, shared string, labels []string) string {
	least, most := 0, 0
	for i, r := range rows {
		at := r.Stats[timeUnit].Center
		if at < rows[least].Stats[timeUnit].Center {
			least = i
		}
		if at > rows[most].Stats[timeUnit].Center {
			most = i
		}
	}
	fast, slow := rows[least].Stats[timeUnit], rows[most].Stats[timeUnit]
	shared, low := short(shared, 80), results.Scale(fast.Center, timeUnit)
	switch {
	case least == most && len(rows) > 1:
		return fmt.Sprintf("%s takes %s, for each of %d", shared, low, len(rows))
	case least == most:
		return fmt.Sprintf("%s (%s) takes %s", shared, labels[least], low)
	}
	text := fmt.Sprintf("%s takes from %s (%s) to %s (%s)", shared, low, labels[least],
		results.Scale(slow.Center, timeUnit), labels[most])
	if interval(fast, 1).high >= interval(slow, 1).low {
		return text + ", within their intervals"
	}
	return text + fmt.Sprintf(", %s times as long", digits(slow.Center/fast.Center))
}

// strides matches the strides in the names of operands. A contiguous operand has them only to
// repeat elements, with a stride of 0.
var strides = regexp.MustCompile(`\[[^]]*\]`)

// A twin is an operator timed with its operands as they are, and with contiguous ones.
type twin struct {
	asItIs, contiguous int     // indices of rows
	saves              float64 // seconds a pass
}

// twins puts the costliest layout first.
func twins(rows []results.Row) (all []twin) {
	contiguous := map[string]int{} // by shapes
	shapes := func(r results.Row) string { return strides.ReplaceAllString(r.Name, "") }
	strided := func(r results.Row) bool {
		return slices.ContainsFunc(strides.FindAllString(r.Name, -1), func(of string) bool {
			return !slices.Contains(strings.Split(strings.Trim(of, "[]"), ","), "0")
		})
	}
	for i, r := range rows {
		if r.Family() == "Operands" && !strided(r) {
			contiguous[shapes(r)] = i
		}
	}
	for i, r := range rows {
		if c, ok := contiguous[shapes(r)]; ok && strided(r) {
			all = append(all, twin{i, c, r.Stats[passUnit].Center - rows[c].Stats[passUnit].Center})
		}
	}
	slices.SortStableFunc(all, func(x, y twin) int { return cmp.Compare(y.saves, x.saves) })
	return all
}

// asLong is the largest relative difference of medians that are called as long.
const asLong = 0.05

const mostTwins = 3

// twinSentence compares operators only with their contiguous twins.
func twinSentence(rows []results.Row, shared string, labels []string, all []twin) string {
	var said []string
	for _, t := range all[:min(len(all), mostTwins)] {
		asItIs, contiguous := rows[t.asItIs].Stats[passUnit], rows[t.contiguous].Stats[passUnit]
		a, c := interval(asItIs, 1), interval(contiguous, 1)
		ratio := asItIs.Center / contiguous.Center
		times := "takes " + digits(ratio) + " times as long"
		switch overlap := a.high >= c.low && c.high >= a.low; {
		case overlap && math.Abs(ratio-1) > asLong:
			times = "is not distinguishable from them"
		case overlap:
			times = "takes as long, within the scatter"
		}
		said = append(said, fmt.Sprintf("%s %s (%s against %s)",
			short(labels[t.asItIs], 120), times,
			results.Scale(asItIs.Center, passUnit), results.Scale(contiguous.Center, passUnit)))
	}
	if said == nil {
		return ""
	}
	text := short(shared, 80) + ", compared with contiguous operands: " + strings.Join(said, ", ")
	if more := len(all) - len(said); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
