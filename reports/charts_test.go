package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
	"github.com/stridebench/stridebench/results/fleet"
	"github.com/stridebench/stridebench/results/history"
)

// dataOf is what charts are made from, of files of these texts.
func dataOf(t interface {
	Helper()
	Fatal(...any)
}, texts ...string) *data {
	t.Helper()
	set := &results.Set{Comments: map[string][]results.Pair{}}
	for i, text := range texts {
		name := fmt.Sprintf("file%d", i)
		one, err := results.Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		set.Results, set.Units = append(set.Results, one.Results...), one.Units
		set.Comments[name] = one.Comments[name]
	}
	d, err := newData(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// record draws a figure on nothing, and returns the words in it and the colours
// of its lines and areas.
func record(f *figure, look *style) (words []string, actions []recorder.Action) {
	var c recorder.Canvas
	f.draw(draw.NewCanvas(&c, figureWidth, f.height+f.legendHeight(look)), look)
	for _, a := range c.Actions {
		if s, ok := a.(*recorder.FillString); ok {
			words = append(words, s.String)
		}
	}
	return words, c.Actions
}

// draws makes a chart and fails if there is none.
func draws(t *testing.T, draw func(*data) (*figure, error), d *data) *figure {
	t.Helper()
	f, err := draw(d)
	if err != nil || f == nil {
		t.Fatalf("no chart: %v", err)
	}
	return f
}

const head = "cpu: a CPU\ncaches: L1d=32768,8,64 L2=524288,8,64 L3=33554432,16,64\nsim-d1: " +
	"32768,8,64\nsim-ll: 33554432,16,64\nsim-tlb: 64,4,4096\n" +
	"Unit D1-misses/op assume=exact\nUnit misses/op assume=exact\nUnit D-refs/op assume=exact\n"

// sampled is six samples of a benchmark, a hundredth apart.
func sampled(name string, ns float64, more string) string {
	var b strings.Builder
	for i := range 6 {
		v := ns * (1 + float64(i)/100)
		fmt.Fprintf(&b, "Benchmark%s 1 %g ns/op %g ns/elem %g B/s %s\n", name, v, v/1000,
			1e12/v, more)
	}
	return b.String()
}

// TestIntervals: an interval is drawn where a benchmark has one, for which three samples are too
// few: a whisker of six lines, and a strip for the band of a series of one size.
func TestIntervals(t *testing.T) {
	strokes := func(draw func(*data) (*figure, error), short string) (n int) {
		d := dataOf(t, head+written(t, short))
		_, actions := record(draws(t, draw, d), &d.look)
		for _, a := range actions {
			if _, ok := a.(*recorder.Stroke); ok {
				n++
			}
		}
		return n
	}
	const rows = "3 Traverse/op=sum/order=row/shape=64x64/dtype=int32 1e3\n" +
		"3 Traverse/op=sum/order=row/shape=600x600/dtype=int32 1e3\n"
	for _, c := range []struct {
		draw       func(*data) (*figure, error)
		rows, name string
		more       int
	}{
		{copyBandwidth, "", " Copy/layout=contiguous/shape=64x64/dtype=float32 1e3\n", 6},
		{traverseTime, rows, " Traverse/op=sum/order=col/shape=64x64/dtype=int32 2e3\n", 1},
	} {
		few, whole := strokes(c.draw, c.rows+"3"+c.name), strokes(c.draw, c.rows+"6"+c.name)
		if whole < few+c.more {
			t.Errorf("%s: %d lines with an interval, and %d without", c.name, whole, few)
		}
	}
}

// TestTrend: a planted change is found between its commits.
func TestTrend(t *testing.T) {
	d := dataOf(t, head+sampled("A/a=1", 1000, ""))
	machine := results.FingerprintOf(d.config)
	for i := range 20 {
		v := 1e6 + float64(i%3)*1e3
		if i >= 12 {
			v *= 1.2
		}
		for _, on := range []results.Fingerprint{machine, machine[:1]} {
			e := history.Entry{Commit: fmt.Sprintf("commit%02d", i), Time: time.Unix(int64(i), 0),
				Machine: on, Fingerprint: on.Hash(),
				Records: []export.Record{{Name: "BenchmarkA/a=1", Unit: "ns/op", Median: v,
					Better: "lower"}}}
			if len(on) == 1 { // another machine's do not count
				e.Records[0].Median = v * float64(i+1)
			}
			d.history = append(d.history, e)
		}
	}
	f := draws(t, trend, d)
	words, _ := record(f, &d.look)
	if !slices.Contains(words, "+20.0%") || !slices.Contains(words, "ms per pass") ||
		len(f.panels) != 1 ||
		!strings.Contains(f.sentence, "and 1 change. The largest is in A a 1: +20.0% between "+
			"commit11 and commit12.") {
		t.Errorf("%d panels, %q, %s", len(f.panels), words, f.sentence)
	}
}

// TestTrendMedian: between changes lies the median that their size is of, of an even number of
// commits, too.
func TestTrendMedian(t *testing.T) {
	d := dataOf(t, head+sampled("A/a=1", 1000, ""))
	var s followed
	for _, v := range []float64{4, 1, 2, 3} {
		s.Points = append(s.Points, history.Point{Value: 1000 * v})
	}
	p := plot.New()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 3, 0, 4
	var c recorder.Canvas
	segments{&d.look, s, 1000}.Plot(draw.NewCanvas(&c, 300, 400), p)
	var drawn []vg.Length
	for _, a := range c.Actions {
		if stroke, ok := a.(*recorder.Stroke); ok {
			drawn = append(drawn, stroke.Path[0].Pos.Y)
		}
	}
	if !slices.Equal(drawn, []vg.Length{250}) {
		t.Errorf("the median of 1 to 4 is drawn at %v of 400", drawn)
	}
}

// TestKnees: where a ladder rises, however long it takes to.
func TestKnees(t *testing.T) {
	var ladder []point
	for i, y := range []float64{1, 1.1, 1, 4, 4.2, 4, 10, 20, 90, 100, 95} {
		ladder = append(ladder, exactly(float64(int(1024)<<i), y))
	}
	found := knees(ladder, nil)
	if len(found) != 2 || found[0].foot.y != 1 || found[0].foot.x != 4096 || found[0].top.y != 4 ||
		found[1].foot.x != 32768 || found[1].top.y != 90 {
		t.Errorf("found %v", found)
	}
	if found := knees(ladder[:3], nil); len(found) != 0 {
		t.Errorf("a flat ladder has the knees %v", found)
	}
	// Four sizes, as of a quick run: that it rises from the first one on says nothing of a cache.
	few := []point{ladder[2], ladder[5], ladder[8], ladder[10]}
	if found := knees(few, nil); len(found) != 0 {
		t.Errorf("a ladder that rises from its first size on has the knees %v", found)
	}
	for factor, want := range map[float64]int{2: 1, 8: 0} {
		some := []point{exactly(1024, 1), exactly(2048, 1), exactly(factor*2048, 2)}
		if found := knees(some, nil); len(found) != want {
			t.Errorf("before a size %v times as large there are the knees %v, want %d", factor,
				found, want)
		}
	}
	if text := kneeSentence(few, nil); !strings.HasSuffix(text,
		". Too few sizes were measured to locate the rise.") {
		t.Error(text)
	}
}

// TestHues: colour-blind readers tell any two hues of a theme apart, and all of
// them from the paper. Colours are seen as by Machado, Oliveira and Fernandes ("A
// Physiologically-based Model for Simulation of Color Vision Deficiency", 2009)
// and compared in CIELAB (1976).
func TestHues(t *testing.T) {
	sights := map[string][9]float64{
		"all": {1, 0, 0, 0, 1, 0, 0, 0, 1},
		"protanopia": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882,
			-0.048116, 1.051998},
		"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820,
			0.042940, 0.968881},
		"tritanopia": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733,
			0.691367, 0.303900},
	}
	for _, theme := range []Theme{Light, Dark} {
		look := theme.style()
		for sight, m := range sights {
			for i, a := range look.hues {
				// as WCAG wants of pictures
				if i < 3 && contrast(luminance(a.color), luminance(look.paper)) < 3 {
					t.Errorf("%s: hue %d has a contrast of %.1f on its paper", theme, i,
						contrast(luminance(a.color), luminance(look.paper)))
				}
				for k, b := range look.hues[:i] {
					if d := labDistance(seen(a, m), seen(b, m)); d < 10 {
						t.Errorf("%s, %s: hues %d and %d are %.1f apart", theme, sight, i, k, d)
					}
				}
			}
		}
	}
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// seen is a hue in linear RGB, as a sight has it.
func seen(h hue, m [9]float64) (rgb [3]float64) {
	var linear [3]float64
	for i, v := range []uint8{h.color.R, h.color.G, h.color.B} {
		s := float64(v) / 255
		if linear[i] = s / 12.92; s > 0.04045 {
			linear[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	for i := range rgb {
		rgb[i] = min(max(m[3*i]*linear[0]+m[3*i+1]*linear[1]+m[3*i+2]*linear[2], 0), 1)
	}
	return rgb
}

func labDistance(a, b [3]float64) float64 {
	lab := func(c [3]float64) [3]float64 {
		f := func(v float64) float64 {
			if v > 216.0/24389 {
				return math.Cbrt(v)
			}
			return (24389.0/27*v + 16) / 116
		}
		x := f((0.4124564*c[0] + 0.3575761*c[1] + 0.1804375*c[2]) / 0.95047)
		y := f(0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2])
		z := f((0.0193339*c[0] + 0.1191920*c[1] + 0.9503041*c[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// TestStrangers: files with any names and figures give charts or none, no panic,
// no picture of more words than a reader takes in, none of them outside the
// picture, and SVG that is XML.
func TestStrangers(t *testing.T) {
	families := []string{"Traverse", "Stream", "Copy", "Tile", "Contiguous", "Latency", "Mountain",
		"Sets", "MissRatio", "X"}
	keys := []string{"order", "shape", "dtype", "layout", "tile", "pad", "step", "size", "stride",
		"set", "capacity", "columns", "do", "kernel", "op"}
	values := []string{"row", "col", "sum", "64x64", "1x1", "4096x4096", "268435456x268435456",
		"99999999999x3", "int32", "float64", "int9999999", "contiguous", "columns", "transpose",
		"nchw-nhwc", "nhwc-nchw", "sum-view", "sum-contiguous", "0", "1", "7", "16", "-3",
		"1152921504606846976", "4KiB", "0KiB", "1125899906842624GiB", "64MiB", "3B",
		"scalar", "avx2",
		"<script>&\"'", "\x1b[31m\u202e", strings.Repeat("long", 200), "", "é¶💥"}
	numbers := []string{"0", "1", "5", "1e-300", "1e300", "NaN", "+Inf", "-Inf", "-7", "1e9",
		"12345.678", "1e-12"}
	units := []string{"ns/op", "ns/elem", "B/s", "D-refs/op", "D1-misses/op", "LL-misses/op",
		"TLB-misses/op", "misses/op", "predicted-ns/op"}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		if rapid.Bool().Draw(t, "head") {
			b.WriteString(head)
		}
		for range rapid.IntRange(1, 40).Draw(t, "lines") {
			b.WriteString("Benchmark" + rapid.SampledFrom(families).Draw(t, "family"))
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 8,
				func(k string) string {
					return k
				}).Draw(t, "keys") {
				b.WriteString("/" + key + "=" +
					strings.ReplaceAll(rapid.SampledFrom(values).Draw(t, "value"), " ", ""))
			}
			b.WriteString(" 1")
			for _, u := range rapid.SliceOfNDistinct(rapid.SampledFrom(units), 1, 6,
				func(k string) string {
					return k
				}).Draw(t, "units") {
				b.WriteString(" " + rapid.SampledFrom(numbers).Draw(t, "number") + " " + u)
			}
			b.WriteString("\n")
		}
		text := b.String()
		checkCharts(t, dataOf(t, text, text))
	})
}

// checkCharts draws all charts on nothing.
func checkCharts(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, d *data) (drawn int) {
	t.Helper()
	for _, m := range makers {
		f, err := m.draw(d)
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		if f == nil {
			continue
		}
		drawn++
		words, actions := record(f, &d.look)
		if len(words) > 400 || f.height > 14*vg.Inch || len(actions) > 30000 {
			t.Fatalf("%s has %d words, %d actions and is %v high", m.name, len(words),
				len(actions), f.height)
		}
		for _, a := range actions {
			if s, ok := a.(*recorder.FillString); ok && (math.IsNaN(float64(s.Point.X)) ||
				s.Point.X < -500 || s.Point.X > figureWidth+1000) {
				t.Fatalf("%s: %q is at %v", m.name, s.String, s.Point)
			}
		}
	}
	return drawn
}

// TestManyResults: thousands of results of each family are drawn in bounds.
func TestManyResults(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	results := 1500
	if testing.Short() {
		results = 150
	}
	for i := range results {
		more := fmt.Sprintf("1 %d ns/op %d ns/elem %d B/s 100 D-refs/op %d D1-misses/op %d "+
			"misses/op %d predicted-ns/op", i+1, i+1, 1e6+i, i%100, i%100, i+5)
		for _, name := range []string{"Traverse/op=sum/order=row/shape=%[1]dx%[1]d/dtype=int32",
			"Traverse/op=sum/order=col/shape=%[1]dx%[1]d/dtype=int32", "Copy/layout=l%d",
			"Copy/layout=columns/dtype=int32/step=%d",
			"Copy/layout=nchw-nhwc/shape=%d", "Tile/shape=4096x4096/dtype=int32/tile=%d",
			"Tile/shape=%[1]dx%[1]d/dtype=int32/tile=1",
			"Contiguous/do=contiguous/shape=4x4/kernel=k%d",
			"Latency/size=%dKiB", "Mountain/size=%[1]dKiB/stride=%[1]d/dtype=int64",
			"Sets/pad=0/columns=16/set=%d", "Sets/pad=%d/columns=16/set=1",
			"MissRatio/order=col/capacity=%dKiB", "F%d/a=1"} {
			fmt.Fprintf(&b, "Benchmark"+name+" %s\n", i+1, more)
		}
	}
	text := b.String()
	if drawn := checkCharts(t, dataOf(t, text, text)); drawn < 11 {
		t.Errorf("only %d charts were drawn", drawn)
	}
}

// TestSVG: whatever the names, a SVG is XML, with its words.
func TestSVG(t *testing.T) {
	d := dataOf(t, "cpu: <b>&\x1b\n"+sampled(
		"Copy/layout=<script>&\"\x1b\u202e/shape=1x1/kernel=a'b", 1, ""))
	c, err := draws(t, copyBandwidth, d).render(d)
	if err != nil {
		t.Fatal(err)
	}
	words := ""
	for x := xml.NewDecoder(strings.NewReader(string(c.SVG))); ; {
		token, err := x.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok &&
			!slices.Contains([]string{"svg", "g", "path", "text", "title", "desc"}, e.Name.Local) {
			t.Errorf("there is an element %s", e.Name.Local)
		}
		if text, ok := token.(xml.CharData); ok {
			words += string(text)
		}
	}
	for _, want := range []string{`<script>&"��`, "Measured on: <b>&�", c.Title, c.Alt} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not in %q", want, words)
		}
	}
	if !strings.Contains(string(c.SVG), svgFonts) ||
		strings.Contains(string(c.SVG), "font-family:Liberation") {
		t.Error("the SVG's fonts have nothing to fall back to")
	}
	// Other fonts are wider: every text keeps the width that its place was found for.
	texts := bytes.Count(c.SVG, []byte("<text "))
	if fixed := bytes.Count(c.SVG, []byte(`<text textLength="`)); texts == 0 || fixed != texts {
		t.Errorf("%d of %d texts have a width", fixed, texts)
	}
}

// TestShorts: names that begin alike are told apart by their ends.
func TestShorts(t *testing.T) {
	long := "by dim 0 of a permuted view of a channels-last image, "
	got := shorts([]string{long + "forward", long + "backward", "brief",
		long[:30] + " and otherwise", "brief"}, 20)
	for i := range got {
		if len([]rune(got[i])) > 20 {
			t.Errorf("%q is too long", got[i])
		}
	}
	if got[0] == got[1] || got[2] != "brief" || got[4] != "brief" ||
		!strings.HasSuffix(got[0], " forward") {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfDistinct(rapid.StringMatching(`[ab./é]{0,40}`),
			rapid.ID[string]).Draw(t, "labels")
		got := shorts(labels, 12)
		for i, label := range got {
			if slices.Contains(got[:i], label) || len([]rune(label)) > 12 {
				t.Fatalf("%q of %q", got, labels)
			}
		}
	})
}

// TestFarOutOfLine: what is many times as slow, or as fast, is told so, and not by a percentage of
// nine digits.
func TestFarOutOfLine(t *testing.T) {
	f := Fleet{matrix: &fleet.Matrix{Machines: []fleet.Machine{{Name: "a"}}}}
	for ratio, want := range map[float64]string{1.5: "everything takes 50% longer than on 9 peers",
		998065: "everything takes 998065 times as long as on 9 peers",
		0.5:    "everything takes 50% less than on 9 peers",
		0.001:  "everything takes 0.001 times as long as on 9 peers"} {
		if got := f.words(fleet.Finding{Aspect: fleet.All, Ratio: ratio,
			Peers: 9}).What; got != want {
			t.Errorf("%v: %s, want %s", ratio, got, want)
		}
	}
}

// TestTitlesOfBars: what the names of a family share is cut where the picture ends.
func TestTitlesOfBars(t *testing.T) {
	long := "X/op=add/with=2x3x4x5x6x7/shape=2x3x4x5x6x7/dtype=complex128/pad=100000/order=row/view=permute(5,4,3,2,1,0).narrow(0,0,%d).narrow(1,0,2)/kernel=scalar"
	d := dataOf(t, head+sampled(fmt.Sprintf(long, 1), 1e3,
		"")+sampled(fmt.Sprintf(long, 2), 1e3, ""))
	words, actions := record(draws(t, others, d), &d.look)
	if !slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "X add with")
	}) {
		t.Fatalf("no title in %q", words)
	}
	for _, a := range actions {
		if s, ok := a.(*recorder.FillString); ok && strings.HasPrefix(s.String, "X add") {
			if end := s.Point.X + d.look.text(markSize).Width(s.String); end > figureWidth {
				t.Errorf("%q ends at %v, and the picture at %v", s.String, end, figureWidth)
			}
		}
	}
}

// TestAxesHaveLabels: an axis has two labels at least, whatever it spans, and they do not overlap.
func TestAxesHaveLabels(t *testing.T) {
	labels := func(a plot.Axis) (at []float64) {
		for _, tick := range a.Tick.Marker.Ticks(a.Min, a.Max) {
			if tick.Label != "" && tick.Value >= a.Min && tick.Value <= a.Max {
				at = append(at, math.Log(tick.Value/a.Min)/math.Log(a.Max/a.Min))
			}
		}
		return at
	}
	var a plot.Axis
	for _, low := range []float64{1e-9, 0.21, 0.3, 0.99, 1.01, 2.01, 7.41, 52} {
		for _, times := range []float64{1.02, 1.3, 2, 3, 4.9, 5.1, 90, 1e4, 1e9} {
			logAxis(&a, low, low*times, number6)
			if at := labels(a); len(at) < 2 {
				t.Errorf("from %g to %g: labels at %v", low, low*times, at)
			}
		}
	}
	for _, measured := range [][]point{{{x: 1000}}, {{x: 3}, {x: 5}}, {{x: 20}, {x: 24}, {x: 28}},
		{{x: 1}, {x: 32}}} {
		numberAxis(&a, measured)
		if at := labels(a); len(at) < min(len(measured), 2) {
			t.Errorf("%v: labels at %v", measured, at)
		}
	}
}

// TestKneesOfThreads: knees of levels whose lines coincide are all named, none upon another.
func TestKneesOfThreads(t *testing.T) {
	text := ""
	for _, shape := range []string{"64x64", "256x256", "2048x2048"} {
		for threads, ns := range map[int]float64{1: 1e3, 2: 500, 4: 500} {
			text += sampled(fmt.Sprintf("Stream/op=sum/shape=%s/dtype=int32/kernel=avx2/threads=%d",
				shape, threads), ns, "")
		}
	}
	d := dataOf(t, head+text)
	_, actions := record(draws(t, threads, d), &d.look)
	var at []float64
	for _, a := range actions {
		if s, ok := a.(*recorder.FillString); ok && strings.HasPrefix(s.String, "knee of") {
			at = append(at, float64(s.Point.Y))
		}
	}
	slices.Sort(at)
	if len(at) != 3 || at[1]-at[0] < 8 || at[2]-at[1] < 8 {
		t.Errorf("names of knees at %v", at)
	}
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
