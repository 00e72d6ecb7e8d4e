package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
)

// enough is the share of the best bandwidth that makes a knee.
const enough = 0.9

// held is the largest share of a level that a working set served by it may take.
const held = 0.75

// A scaling is bandwidth by threads, of a working set that one level serves.
type scaling struct {
	level  string // "L2", or "memory"
	bytes  int
	before mark // the level before, if any
	stated bool // by the CPU, that the level serves it; not measured
	series
}

// outgrown returns the least number of threads whose parts fit in the level before. More threads
// measure the bandwidth of that level instead.
func (s scaling) outgrown() (threads int, found bool) {
	for _, q := range s.points {
		if s.before.at > 0 && float64(s.bytes) <= held*s.before.at*q.x {
			return int(q.x), true
		}
	}
	return 0, false
}

// knee is not found if only the most threads have enough bandwidth.
func (s scaling) knee() (q point, found bool) {
	best := slices.MaxFunc(s.points, func(a, b point) int { return cmp.Compare(a.y, b.y) })
	for _, q := range s.points {
		if q.y >= enough*best.y {
			return q, q.x < s.points[len(s.points)-1].x
		}
	}
	return point{}, false
}

func (s scaling) words() string {
	text := fmt.Sprintf("%s in %s", results.Bytes(s.bytes), s.level)
	if s.stated {
		text += " (as stated)"
	}
	return text
}

// scalings returns vector sums of contiguous matrices, one working set for each level. For a cache
// it is the largest that three quarters hold. For memory it is the largest beyond all caches.
func (d *data) scalings() (all []scaling) {
	sets := map[int][]point{}
	for _, r := range d.threaded {
		threads, bytes := number(r, "threads"), elementSize(r.Key("dtype"))
		for part := range strings.SplitSeq(r.Key("shape"), "x") {
			n := 0
			if _, err := fmt.Sscanf(part, "%d", &n); err != nil || n <= 0 || n > 1<<20 ||
				bytes > 1<<40 {
				n = 0
			}
			bytes *= n
		}
		if r.Family() != "Stream" || r.Key("op") != "sum" || vectorKernel(r) == "" ||
			threads == 0 || bytes == 0 || !drawable(r.Stats[bandwidthUnit]) {
			continue
		}
		q := interval(r.Stats[bandwidthUnit], 1.0/(1<<30))
		q.x = float64(threads)
		d.shows(r)
		// of another grain, or kernel
		if !slices.ContainsFunc(sets[bytes], func(p point) bool { return p.x == q.x }) {
			sets[bytes] = append(sets[bytes], q)
		}
	}
	levels, beyond, known := d.levels()
	chosen := make([]int, len(levels)+1)
	for bytes, points := range sets {
		level := slices.IndexFunc(levels, func(m mark) bool { return float64(bytes) <= m.at })
		if level < 0 && float64(bytes) < beyond {
			continue
		} else if level < 0 {
			level = len(levels)
		} else if float64(bytes) > held*levels[level].at {
			continue
		}
		if len(points) > 1 { // a line
			chosen[level] = max(chosen[level], bytes)
		}
	}
	for level, bytes := range chosen {
		if bytes == 0 || len(all) == len(d.look.hues) {
			continue
		}
		s := scaling{level: "memory", bytes: bytes}
		if level < len(levels) {
			s.level, _, _ = strings.Cut(levels[level].label, " ")
			s.stated = level > 0 && level == len(levels)-1 && bytes > known
		}
		if level > 0 && level < len(levels) {
			s.before = levels[level-1]
		}
		s.series = series{name: s.words(), hue: d.look.hues[len(all)], points: sets[bytes]}
		slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		all = append(all, s)
	}
	return all
}

// levels returns the capacities of the caches. The last level gets the capacity that latencies
// show, if that is far below the stated one. Else it gets the measured size, if the file simulated
// that.
//
// Memory serves from beyond bytes on. Above known bytes, no measurement shows whether the last
// level serves.
func (d *data) levels() (levels []mark, beyond float64, known int) {
	levels = slices.Clone(d.cpuCaches)
	ladder := noise.Ladder(d.rows)
	for _, rung := range ladder {
		known = max(known, rung.Size)
	}
	served, far := noise.ServedBy(ladder, d.setup.Caches, results.Cache{Size: math.MaxInt})
	if far {
		for i := range levels {
			if levels[i].at == float64(served.Cache.Size) {
				levels[i].at = float64(served.From)
			}
		}
		return levels, float64(served.To), known
	}
	if last := len(levels) - 1; last > 0 && d.set.Comment("sim-ll-source") == "measured" {
		beyond, known = levels[last].at, math.MaxInt
		levels[last].at = min(beyond, float64(d.setup.LL.Size))
	}
	return levels, beyond, known
}

func threads(d *data) (*figure, error) {
	scalings := d.scalings()
	var all []series
	for _, s := range scalings {
		all = append(all, s.series)
	}
	low, high, ok := span(all)
	if !ok {
		return nil, nil
	}
	points := pointsOf(all...)
	p := d.look.newPanel("threads, each on a CPU of its own", "GiB/s, read by all of them")
	numberAxis(&p.X, points)
	p.X.Tick.Marker = measuredTicks(points)
	logAxis(&p.Y, low/1.5, high*1.5)
	d.look.addGrid(p, true)
	f := &figure{title: "Summing a matrix with several threads: bandwidth by threads",
		sentence: threadsSentence(scalings),
		alt:      "Lines: bandwidth of a sum against the number of threads: " + named(all...),
		height:   3.6 * vg.Inch, panels: []*panel{p}}
	if slices.ContainsFunc(scalings, func(s scaling) bool { _, found := s.knee(); return found }) {
		f.alt += ", with the knees named"
	}
	f.explainIntervals("bands: 95% interval", points)
	if err := d.look.addSeries(f, p, all...); err != nil {
		return nil, err
	}
	p.Add(threadKnees{&d.look, scalings})
	return f, nil
}

// threadKnees is a plotter that rings the knees. It names each under or over its knee, where no
// line passes; else under it, stacked.
type threadKnees struct {
	look     *style
	scalings []scaling
}

// Plot implements plot.Plotter.
func (k threadKnees) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	var lines [][]vg.Point
	for _, s := range k.scalings {
		var line []vg.Point
		for _, q := range s.points {
			line = append(line, vg.Point{X: toX(q.x), Y: toY(q.y)})
		}
		lines = append(lines, line)
	}
	var labels []vg.Rectangle
	for _, s := range k.scalings {
		q, found := s.knee()
		if !found {
			continue
		}
		at := vg.Point{X: toX(q.x), Y: toY(q.y)}
		c.DrawGlyph(draw.GlyphStyle{Color: s.hue.color, Radius: 6, Shape: draw.RingGlyph{}}, at)
		style := k.look.text(markSize)
		style.YAlign = draw.YTop
		label := fmt.Sprintf("knee of %s: %s", s.level, counted(int(q.x), "thread"))
		room := k.room(c, at, vg.Point{X: style.Width(label), Y: style.Height(label)},
			lines, labels)
		labels = append(labels, room)
		k.look.erase(c, room)
		c.FillText(style, vg.Point{X: room.Min.X, Y: room.Max.Y}, label)
	}
}

func (k threadKnees) room(c draw.Canvas, at, size vg.Point, lines [][]vg.Point,
	labels []vg.Rectangle) vg.Rectangle {
	right, left := min(at.X+8, c.Max.X-size.X), max(at.X-8-size.X, c.Min.X)
	under, over := at.Y-6-size.Y, at.Y+6
	for _, corner := range []vg.Point{{X: right, Y: under}, {X: left, Y: over}, {X: right, Y: over},
		{X: left, Y: under}} {
		room := vg.Rectangle{Min: corner, Max: corner.Add(size)}
		if slices.ContainsFunc(labels, func(other vg.Rectangle) bool {
			return overlap(room, other)
		}) {
			break // stack them
		}
		if room.Min.Y >= c.Min.Y && room.Max.Y <= c.Max.Y &&
			!slices.ContainsFunc(lines, func(line []vg.Point) bool {
				return crosses(line, room)
			}) {
			return room
		}
	}
	room := vg.Rectangle{Min: vg.Point{X: right, Y: under},
		Max: vg.Point{X: right + size.X, Y: under + size.Y}}
	for again := true; again; { // a label already passed may be above the next
		again = false
		for _, other := range labels {
			if overlap(room, other) {
				room = room.Add(vg.Point{Y: other.Min.Y - room.Max.Y - 1})
				again = true
			}
		}
	}
	return room
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// crosses reports whether a line, from left to right, touches a rectangle widened by a glyph.
func crosses(line []vg.Point, r vg.Rectangle) bool {
	const glyph = 4
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		from, to := max(a.X, r.Min.X-glyph), min(b.X, r.Max.X+glyph)
		if from > to || a.X == b.X {
			continue
		}
		y := func(x vg.Length) vg.Length { return a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X) }
		if max(y(from), y(to)) > r.Min.Y-glyph && min(y(from), y(to)) < r.Max.Y+glyph {
			return true
		}
	}
	return false
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprint(n, " are")
}

func threadsSentence(all []scaling) string {
	var parts []string
	knees := false
	for i, s := range all {
		first, last := s.points[0], s.points[len(s.points)-1]
		of := "one of " + s.words() + " at"
		if i == 0 {
			of = "A matrix of " + s.words() + " is read at"
		}
		text := fmt.Sprintf("%s %s GiB/s by %s and %s GiB/s by %d", of, threeDigits(first.y),
			counted(int(first.x), "thread"), threeDigits(last.y), int(last.x))
		if q, found := s.knee(); found {
			text += fmt.Sprintf(", with its knee at %s (%s GiB/s)", counted(int(q.x), "thread"),
				threeDigits(q.y))
			knees = true
		}
		if n, found := s.outgrown(); found {
			level, _, _ := strings.Cut(s.before.label, " ")
			text += fmt.Sprintf("; from %s on, the part of each fits in %s",
				counted(n, "thread"), level)
		}
		parts = append(parts, text)
	}
	said := strings.Join(parts, "; ") + "."
	if i := slices.IndexFunc(all, func(s scaling) bool { return s.stated }); i >= 0 {
		said += fmt.Sprintf(" These results do not show what %s really serves: measure latencies "+
			"too (bench run --filter '.name:(Stream OR Latency)').", all[i].level)
	}
	if knees {
		said += fmt.Sprintf(" A knee is the least number of threads with %.0f%% of the best "+
			"bandwidth.", 100*enough)
	}
	return said
}

func loaded(d *data) (*figure, error) {
	type measured struct {
		load float64
		point
	}
	var all []measured
	size, streams := "", ""
	for _, r := range d.rows {
		var load float64
		if _, err := fmt.Sscanf(r.Key("load"), "%g", &load); r.Family() != "Loaded" || err != nil ||
			!(load >= 0 && load <= 100) || !drawable(r.Stats[passUnit]) ||
			!drawable(r.Stats[bandwidthUnit]) {
			continue
		}
		if size == "" {
			size, streams = r.Key("size"), r.Key("streams")
		} else if r.Key("size") != size || r.Key("streams") != streams {
			continue
		}
		q := interval(r.Stats[passUnit], 1e9)
		q.x = r.Stats[bandwidthUnit].Center / (1 << 30)
		all = append(all, measured{load, q})
	}
	if len(all) < 2 {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b measured) int { return cmp.Compare(a.load, b.load) })
	s := series{name: "pointer chase", hue: d.look.hues[0]}
	for _, m := range all {
		s.points = append(s.points, m.point)
	}
	_, high, _ := span([]series{s})
	most := slices.MaxFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) }).x
	p := d.look.newPanel("memory traffic, GiB/s", "ns per load")
	zeroAxis(&p.X, most*1.12)
	p.X.Min = -most / 30 // keeps the first point off the axis
	zeroAxis(&p.Y, high*1.15)
	d.look.addGrid(p, true)
	first, last := all[0], all[len(all)-1]
	f := &figure{title: "Latency of memory under load",
		sentence: fmt.Sprintf("A load from %s takes %s ns at %s GiB/s of memory traffic, and %s "+
			"ns (%+.0f%%) at %s GiB/s, with %s.",
			short(spaced(size), 12), brief(first.y), brief(first.x), brief(last.y),
			100*(last.y/first.y-1), brief(last.x), map[bool]string{true: "1 other thread",
				false: short(streams, 6) + " other threads"}[streams == "1"]),
		alt: "Line: ns per dependent load against memory traffic, a point for each share of " +
			"time in which other threads stream",
		height: 3.2 * vg.Inch, panels: []*panel{p}}
	f.explain("labels: share of time that other threads stream")
	f.explainIntervals("band: 95% interval", s.points)
	if err := d.look.addSeries(f, p, s); err != nil {
		return nil, err
	}
	labels := shareLabels{look: &d.look}
	for _, m := range all {
		labels.points, labels.words = append(labels.points, m.point),
			append(labels.words, number6(math.Round(10*m.load)/10)+"%")
	}
	p.Add(labels)
	return f, nil
}

type shareLabels struct {
	look   *style
	points []point
	words  []string
}

// Plot implements plot.Plotter.
func (l shareLabels) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	style := l.look.text(markSize)
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	var taken []vg.Length
	for n := range l.points { // the last, the first, then from the last down
		i := (len(l.points) - n) % len(l.points)
		switch n {
		case 0:
			i = len(l.points) - 1
		case 1:
			i = 0
		}
		x, width := toX(l.points[i].x), style.Width(l.words[i])
		if slices.ContainsFunc(taken, func(at vg.Length) bool {
			return x < at+width+2 && x > at-width-2
		}) {
			continue
		}
		taken = append(taken, x)
		c.FillText(style, vg.Point{X: x, Y: toY(l.points[i].high) + 5}, l.words[i])
	}
}

// spaced writes a size with a space: 64 MiB for 64MiB.
func spaced(size string) string {
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(size, unit); ok {
			return n + " " + unit
		}
	}
	return size
}
