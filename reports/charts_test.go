package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
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

const head = "cpu: a CPU\ncaches: L1d=32768,8,64 L2=524288,8,64 L3=33554432,16,64\nsim-d1: 32768,8,64\nsim-ll: 33554432,16,64\nsim-tlb: 64,4,4096\n" +
	"Unit D1-misses/op assume=exact\nUnit misses/op assume=exact\nUnit D-refs/op assume=exact\n"

// sampled is six samples of a benchmark, a hundredth apart.
func sampled(name string, ns float64, more string) string {
	var b strings.Builder
	for i := range 6 {
		v := ns * (1 + float64(i)/100)
		fmt.Fprintf(&b, "Benchmark%s 1 %g ns/op %g ns/elem %g B/s %s\n", name, v, v/1000, 1e12/v, more)
	}
	return b.String()
}

// TestIntervals: what shows an interval is explained where a benchmark has one, and drawn where it has:
// three samples are too few.
func TestIntervals(t *testing.T) {
	few := func(text string) string { return strings.Join(slices.Collect(strings.Lines(text))[:3], "") }
	names := []string{"Copy/layout=contiguous/shape=64x64/dtype=float32/kernel=scalar", "Copy/layout=columns/shape=64x64/dtype=float32/step=32/kernel=scalar",
		"Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar", "Traverse/op=sum/order=col/shape=64x64/dtype=int32/kernel=scalar", "View/a=1", "View/a=2",
		"Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2/threads=1", "Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2/threads=2"}
	for i, draw := range []func(*data) (*figure, error){copyBandwidth, copyStride, traverseTime, others, predicted, threads} {
		for _, want := range []bool{false, true} {
			text := head
			for _, name := range names {
				if one := sampled(name, 1e3, "900 predicted-ns/op"); want {
					text += one
				} else {
					text += few(one)
				}
			}
			d := dataOf(t, text)
			words, _ := record(draws(t, draw, d), &d.look)
			if got := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "95%") }); got != want {
				t.Errorf("chart %d: %q, want an interval explained: %v", i, words, want)
			}
		}
	}
	lines := func(draw func(*data) (*figure, error), text string) int {
		d := dataOf(t, head+text)
		_, actions := record(draws(t, draw, d), &d.look)
		n := 0
		for _, a := range actions {
			if _, ok := a.(*recorder.Stroke); ok {
				n++
			}
		}
		return n
	}
	if few, whole := lines(copyBandwidth, few(sampled(names[0], 1e3, ""))), lines(copyBandwidth, sampled(names[0], 1e3, "")); whole < few+6 {
		t.Errorf("%d lines with a whisker, and %d without", whole, few)
	}
	// A series of one size has a strip for a band, which would have no breadth.
	row := few(sampled(names[2], 1e3, "")) + few(sampled("Traverse/op=sum/order=row/shape=600x600/dtype=int32/kernel=scalar", 1e3, ""))
	if few, whole := lines(traverseTime, row+few(sampled(names[3], 2e3, ""))), lines(traverseTime, row+sampled(names[3], 2e3, "")); whole != few+1 {
		t.Errorf("%d lines with a strip, and %d without", whole, few)
	}
}

// TestStructure: what a chart must show is in it.
func TestStructure(t *testing.T) {
	for name, test := range map[string]struct {
		draw     func(*data) (*figure, error)
		text     string
		words    []string // in the picture
		sentence string
	}{
		"row against column": {traverseTime, sampled("Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar", 1e3, "") +
			sampled("Traverse/op=sum/order=col/shape=64x64/dtype=int32/kernel=scalar", 2e3, "") +
			sampled("Traverse/op=sum/order=col/shape=600x600/dtype=int32/kernel=scalar", 2e3, "") +
			sampled("Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2", 1e2, ""),
			[]string{"row", "column", "column, stride 2^k", "row, avx2", "bands: 95% interval", "L1d 32 KiB", "L2 512 KiB", "ns per element", "size of the matrix"},
			"takes 2.0 times as long"},
		"one order": {traverseTime, sampled("Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar", 1e3, "") +
			sampled("Traverse/op=sum/order=row/shape=600x600/dtype=int32/kernel=scalar", 2e3, ""),
			[]string{"row", "ns per element"}, " ns/elem for a 64x64 int32 matrix, and "},
		"miss rates": {missRates, sampled("Traverse/op=sum/order=row/shape=600x600/dtype=int32/kernel=scalar", 1e3, "400 D-refs/op 100 D1-misses/op 4 TLB-misses/op") +
			sampled("Traverse/op=sum/order=col/shape=64x64/dtype=int32/kernel=scalar", 1e3, "400 D-refs/op 400 D1-misses/op 4 TLB-misses/op"),
			[]string{"D1 misses, %", "TLB misses, %", "% of all references; simulated, exact", "TLB 1: 256 KiB", "D1 32 KiB"}, ""},
		"strides": {copyStride, sampled("Copy/layout=contiguous/shape=64x64/dtype=float32/kernel=scalar", 1e3, "") +
			sampled("Copy/layout=columns/shape=64x64/dtype=float32/step=32/kernel=scalar", 1e4, ""),
			[]string{"1", "32", "one element per line of 64 B", "GiB/s, read plus written"}, "every 32nd column moves"},
		"channels": {channels, sampled("Copy/layout=nchw-nhwc/shape=1x2x3x4/dtype=float32/kernel=scalar", 1e3, "") +
			sampled("Copy/layout=nhwc-nchw/shape=1x2x3x4/dtype=float32/kernel=scalar", 2e3, ""),
			[]string{"NCHW to NHWC", "NHWC to NCHW"}, "NCHW to NHWC moves "},
		"contiguous": {contiguous, sampled("Contiguous/do=sum-view/shape=64x64/dtype=float32/kernel=scalar", 1000, "") +
			sampled("Contiguous/do=contiguous/shape=64x64/dtype=float32/kernel=scalar", 2500, "") +
			sampled("Contiguous/do=sum-contiguous/shape=64x64/dtype=float32/kernel=scalar", 200, ""),
			[]string{"strided view", "copy first, plain loop", "pays from n = 4 (plain loop)"}, "pays from 4 passes on"},
		"tiles": {tiles, sampled("Tile/op=copy/layout=transpose/shape=64x64/dtype=float32/tile=8/kernel=scalar", 1e3, "100 D-refs/op 20 D1-misses/op") +
			sampled("Tile/op=copy/layout=transpose/shape=64x64/dtype=float32/tile=64/kernel=scalar", 2e3, "100 D-refs/op 50 D1-misses/op"),
			[]string{"64x64", "two tiles fill D1 32 KiB", "D1 misses, %", "bands: 95% interval; misses: % of all references; simulated, exact", "8"}, "fastest in tiles of 8"},
		"latency": {latency, sampled("Latency/op=chase/size=16KiB/kernel=scalar", 1e3, "") + sampled("Latency/op=chase/size=32KiB/kernel=scalar", 1e3, "") +
			sampled("Latency/op=chase/size=64KiB/kernel=scalar", 4e3, "") + sampled("Latency/op=chase/size=128KiB/kernel=scalar", 4e3, ""),
			[]string{"knee 1, L1d: 32 KiB", "L1d 32 KiB", "ns per load"}, "(beyond L1d)"},
		"mountain": {mountain, sampled("Mountain/op=sum/size=16KiB/stride=1/dtype=int64/kernel=scalar", 1e3, "") +
			sampled("Mountain/op=sum/size=64KiB/stride=8/dtype=int64/kernel=scalar", 1e5, ""),
			[]string{"8 B", "64 B", "16 KiB", "64 KiB", "GiB/s", "L1d 32 KiB"}, "highest reading every 8 B of 16 KiB"},
		"threads": {threads, sampled("Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2/threads=1", 1e3, "") + sampled("Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2/threads=2", 5e2, "") +
			sampled("Stream/op=sum/shape=6000x6000/dtype=int32/kernel=avx2/threads=1", 1e6, "") + sampled("Stream/op=sum/shape=6000x6000/dtype=int32/kernel=avx2/threads=6", 5e5, "") +
			sampled("Stream/op=sum/shape=6000x6000/dtype=int32/kernel=avx2/threads=12", 49e4, "") + sampled("Stream/op=sum/shape=6000x6000/dtype=int32/kernel=scalar/threads=12", 9e6, "") +
			sampled("Stream/op=sum/shape=90x90/dtype=int32/kernel=avx2/threads=2", 9e6, ""), // between levels
			[]string{"16 KiB in L1d", "137.33 MiB in memory", "knee of memory: 6 threads", "1", "2", "6", "12", "GiB/s, read by all of them"}, "with its knee at 6 threads"},
		"loaded": {loaded, sampled("Loaded/op=chase/size=64MiB/streams=3/load=0", 100, "") + sampled("Loaded/op=chase/size=64MiB/streams=3/load=12.5", 120, "") +
			sampled("Loaded/op=chase/size=64MiB/streams=3/load=100", 50, "") + sampled("Loaded/op=chase/size=64MiB/streams=3/load=much", 50, ""),
			[]string{"0%", "12.5%", "100%", "ns per load", "memory traffic, GiB/s"}, "A load from 64 MiB takes 102 ns at 9.09 GiB/s of memory traffic"},
		"sets": {setMisses, "BenchmarkSets/op=sum/shape=512x512/dtype=int32/pad=0/columns=16/set=3/kernel=scalar 1 40 D1-misses/op\n" +
			"BenchmarkSets/op=sum/shape=512x512/dtype=int32/pad=16/columns=16/set=3/kernel=scalar 1 0 D1-misses/op\n",
			[]string{"rows not padded: 40 misses", "rows padded by 16 elements: 0 misses", "set of D1"}, "rows padded by 16 elements: 0."},
		"miss ratio": {missRatio, "BenchmarkMissRatio/op=sum/order=col/shape=64x64/dtype=int32/capacity=4KiB/kernel=scalar 1 100 D-refs/op 100 misses/op\n" +
			"BenchmarkMissRatio/op=sum/order=col/shape=64x64/dtype=int32/capacity=64KiB/kernel=scalar 1 100 D-refs/op 6 misses/op\n",
			[]string{"by columns", "L1d 32 KiB", "misses, % of all references"}, "64 KiB by columns"},
		"predicted": {predicted, sampled("A/a=1", 1e3, "2000 predicted-ns/op") + sampled("B/a=1", 2e3, "1000 predicted-ns/op") + sampled("C/a=1", 3e3, "3000 predicted-ns/op"),
			[]string{"A", "B", "C", "rank correlation 0.500", "1 µs"}, "rank correlation of 0.500"},
	} {
		t.Run(name, func(t *testing.T) {
			d := dataOf(t, head+test.text)
			f := draws(t, test.draw, d)
			words, _ := record(f, &d.look)
			for _, w := range test.words {
				if !slices.Contains(words, w) {
					t.Errorf("%q is not in the picture: %q", w, words)
				}
			}
			if !strings.Contains(f.sentence, test.sentence) || f.alt == "" {
				t.Errorf("sentence %q, alt %q", f.sentence, f.alt)
			}
		})
	}
}

// TestOneSize: a matrix of one size has bars of its times and of its misses, each once, and no line.
func TestOneSize(t *testing.T) {
	const counts = "4096 D-refs/op 256 D1-misses/op 16 LL-misses/op"
	text := head
	for _, name := range []string{"Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar", "Traverse/op=sum/order=col/shape=64x64/dtype=int32/kernel=scalar",
		"Traverse/op=sum/order=col/shape=64x64/dtype=int32/pad=16/kernel=scalar", "Traverse/op=sum/order=col/shape=64x64/dtype=int32/tile=8/kernel=scalar",
		"Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2"} {
		text += sampled(name, 1e3, counts)
	}
	d := dataOf(t, text)
	for _, c := range []struct {
		draw  func(*data) (*figure, error)
		words []string
		bars  int
	}{
		{traverseTime, []string{"ns per element", "Traverse row scalar", "Traverse col pad 16 elements scalar", "plain loop", "avx2"}, 5},
		{missRates, []string{"D1 misses", "LL misses", "misses, % of all references", "plain loop", "avx2"}, 10},
	} {
		f := draws(t, c.draw, d)
		words, _ := record(f, &d.look)
		for _, want := range c.words {
			if !slices.Contains(words, want) {
				t.Errorf("%s: %q is not in %q", f.title, want, words)
			}
		}
		drawn := f.panels[0].Y.Tick.Marker.Ticks(f.panels[0].Y.Min, f.panels[0].Y.Max)
		if len(drawn) != c.bars || !strings.HasPrefix(f.alt, "Bars: ") || strings.Contains(f.title, "by size") || !strings.Contains(f.title, "64x64") {
			t.Errorf("%s (%s): %d bars, want %d", f.title, f.alt, len(drawn), c.bars)
		}
	}
	rest := d.rest()
	if f, err := others(&rest); f != nil || err != nil {
		t.Errorf("drawn twice: %v, %v", f, err)
	}
}

// TestMarksOfLevels: a panel of one level's misses has that level marked alone.
func TestMarksOfLevels(t *testing.T) {
	text := head
	for _, shape := range []string{"64x64", "6000x6000"} {
		text += sampled("Traverse/op=sum/order=row/shape="+shape+"/dtype=int32/kernel=scalar", 1e3, "900 D-refs/op 90 D1-misses/op 9 LL-misses/op 3 TLB-misses/op")
	}
	for _, tile := range []string{"8", "512"} {
		text += sampled("Tile/op=copy/layout=transpose/shape=512x512/dtype=float32/tile="+tile+"/kernel=scalar", 1e3, "900 D-refs/op 90 D1-misses/op 9 LL-misses/op 3 TLB-misses/op")
	}
	d := dataOf(t, strings.Replace(text, "sim-ll: 33554432", "sim-ll: 524288", 1))
	for _, c := range []struct {
		draw func(*data) (*figure, error)
		want map[string]int
	}{
		{missRates, map[string]int{"D1 32 KiB": 1, "LL 512 KiB": 1, "TLB 1: 256 KiB": 1}},
		{tiles, map[string]int{"two tiles fill D1 32 KiB": 2, "two tiles fill LL 512 KiB": 2}}, // among the times, too
	} {
		words, _ := record(draws(t, c.draw, d), &d.look)
		for want, times := range c.want {
			if n := len(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w != want })); n != times {
				t.Errorf("%q is marked %d times, want %d: %q", want, n, times, words)
			}
		}
	}
}

// TestKernelLegend: where bars have several colours, the legend says of which kernels.
func TestKernelLegend(t *testing.T) {
	copied := func(kernels ...string) (text string) {
		for _, kernel := range kernels {
			text += sampled("Copy/layout=contiguous/shape=64x64/dtype=float32/kernel="+kernel, 1e3, "")
		}
		return head + text
	}
	for text, want := range map[string][]string{
		copied("scalar"):                              nil,
		copied("avx2", "avx512"):                      nil,
		copied("scalar", "avx2", "avx512", "builtin"): {"plain loop", "avx2, avx512", "Go's copy"},
	} {
		d := dataOf(t, text)
		var got []string
		for _, e := range draws(t, copyBandwidth, d).legend {
			if e.thumbs != nil {
				got = append(got, e.name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCompare: the last file against the first, the largest change first, and
// slower only where the intervals are apart.
func TestCompare(t *testing.T) {
	old := head + sampled("A/a=1", 1000, "") + sampled("B/a=1", 1000, "") + sampled("C/a=1", 1000, "")
	d := dataOf(t, old, strings.NewReplacer("BenchmarkD", "BenchmarkB").Replace(head+sampled("A/a=1", 1500, "")+sampled("D/a=1", 1010, "")+sampled("C/a=1", 500, "")))
	f := draws(t, compare, d)
	words, _ := record(f, &d.look)
	for _, w := range []string{"A a 1", "B a 1", "C a 1", "new: slower", "new: faster", "old, 95% interval", "100"} {
		if !slices.Contains(words, w) {
			t.Errorf("%q is not in the picture: %q", w, words)
		}
	}
	if want := "Of 3 benchmarks in both files, 1 is slower and 1 faster by more than their intervals; the largest change is in C a 1 (-50.0%)."; f.sentence != want {
		t.Errorf("got  %s\nwant %s", f.sentence, want)
	}
	if f, err := compare(dataOf(t, old)); f != nil || err != nil {
		t.Errorf("one file is compared: %v", err)
	}
	// What is a million times as slow is counted, too, and drawn at the edge.
	far := dataOf(t, old, head+sampled("A/a=1", 1000, "")+sampled("B/a=1", 1e9, "")+sampled("C/a=1", 1000, ""))
	f = draws(t, compare, far)
	words, _ = record(f, &far.look)
	if !slices.Contains(words, "B a 1 (x 1e+06)") || !strings.HasPrefix(f.sentence, "Of 3 benchmarks in both files, 1 is slower") {
		t.Errorf("a million times as slow: %s, %q", f.sentence, words)
	}
	// Of few samples nothing is said but that they are few.
	few := func(name string) string { return "Benchmark" + name + " 1 900 ns/op\n" }
	for _, c := range []struct{ old, new, says, legend string }{
		{few("A/a=1"), few("A/a=1"), "Of 1 benchmark in both files, the samples are too few to show which are slower or faster; the largest change is", "new: too few samples for intervals"},
		{few("A/a=1") + sampled("B/a=1", 1000, ""), sampled("A/a=1", 1000, "") + sampled("B/a=1", 2000, ""),
			"Of 2 benchmarks in both files, 1 is slower and 0 faster by more than their intervals, and 1 has too few samples; the largest change is in B a 1", "new: intervals overlap or are unknown"},
	} {
		d := dataOf(t, head+c.old, head+c.new)
		f := draws(t, compare, d)
		if words, _ := record(f, &d.look); !slices.Contains(words, c.legend) || !strings.HasPrefix(f.sentence, c.says) {
			t.Errorf("%s, %q, want %s, %s", f.sentence, words, c.says, c.legend)
		}
	}
	if d.rows[0].Stats[passUnit].Center < 1.4e-6 {
		t.Errorf("charts show the first file's %v", d.rows[0].Stats[passUnit].Center)
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
			e := history.Entry{Commit: fmt.Sprintf("commit%02d", i), Time: time.Unix(int64(i), 0), Machine: on, Fingerprint: on.Hash(),
				Records: []export.Record{{Name: "BenchmarkA/a=1", Unit: "ns/op", Median: v, Better: "lower"}}}
			if len(on) == 1 { // another machine's do not count
				e.Records[0].Median = v * float64(i+1)
			}
			d.history = append(d.history, e)
		}
	}
	f := draws(t, trend, d)
	words, _ := record(f, &d.look)
	if !slices.Contains(words, "+20%") || !slices.Contains(words, "ms per pass") || len(f.panels) != 1 ||
		!strings.Contains(f.sentence, "and 1 change. The largest is in A a 1: +20% between commit11 and commit12.") {
		t.Errorf("%d panels, %q, %s", len(f.panels), words, f.sentence)
	}
}

// TestTrendMedian: between changes lies the median that their size is of, of an even number of commits, too.
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
	found := knees(ladder)
	if len(found) != 2 || found[0].foot.y != 1 || found[0].foot.x != 4096 || found[0].top.y != 4 || found[1].foot.x != 32768 || found[1].top.y != 90 {
		t.Errorf("found %v", found)
	}
	if found := knees(ladder[:3]); len(found) != 0 {
		t.Errorf("a flat ladder has the knees %v", found)
	}
	// Four sizes, as of a quick run: that it rises from the first one on says nothing of a cache.
	few := []point{ladder[2], ladder[5], ladder[8], ladder[10]}
	if found := knees(few); len(found) != 0 {
		t.Errorf("a ladder that rises from its first size on has the knees %v", found)
	}
	for factor, want := range map[float64]int{2: 1, 8: 0} {
		some := []point{exactly(1024, 1), exactly(2048, 1), exactly(factor*2048, 2)}
		if found := knees(some); len(found) != want {
			t.Errorf("before a size %v times as large there are the knees %v, want %d", factor, found, want)
		}
	}
	if text := kneeSentence(few, nil, nil); !strings.HasSuffix(text, ". Too few sizes were measured to locate the rise.") {
		t.Error(text)
	}
}

// TestHues: colour-blind readers tell any two hues of a theme apart, and all of
// them from the paper. Colours are seen as by Machado, Oliveira and Fernandes ("A
// Physiologically-based Model for Simulation of Color Vision Deficiency", 2009)
// and compared in CIELAB (1976).
func TestHues(t *testing.T) {
	sights := map[string][9]float64{
		"all":          {1, 0, 0, 0, 1, 0, 0, 0, 1},
		"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
		"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
		"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
	}
	for _, theme := range []Theme{Light, Dark} {
		look, err := theme.style()
		if err != nil {
			t.Fatal(err)
		}
		for sight, m := range sights {
			for i, a := range look.hues {
				if i < 3 && contrast(luminance(a.color), luminance(look.paper)) < 3 { // as WCAG wants of pictures
					t.Errorf("%s: hue %d has a contrast of %.1f on its paper", theme, i, contrast(luminance(a.color), luminance(look.paper)))
				}
				for k, b := range look.hues[:i] {
					if d := labDistance(seen(a, m), seen(b, m)); d < 10 {
						t.Errorf("%s, %s: hues %d and %d are %.1f apart", theme, sight, i, k, d)
					}
				}
			}
		}
	}
	if _, err := Theme("grey").style(); err == nil || !strings.Contains(err.Error(), `"grey"`) {
		t.Errorf("got %v", err)
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
	families := []string{"Traverse", "Stream", "Copy", "Tile", "Contiguous", "Latency", "Mountain", "Sets", "MissRatio", "X"}
	keys := []string{"order", "shape", "dtype", "layout", "tile", "pad", "step", "size", "stride", "set", "capacity", "columns", "do", "kernel", "op"}
	values := []string{"row", "col", "sum", "64x64", "1x1", "4096x4096", "268435456x268435456", "99999999999x3", "int32", "float64", "int9999999", "contiguous", "columns", "transpose",
		"nchw-nhwc", "nhwc-nchw", "sum-view", "sum-contiguous", "0", "1", "7", "16", "-3", "1152921504606846976", "4KiB", "0KiB", "1125899906842624GiB", "64MiB", "3B", "scalar", "avx2",
		"<script>&\"'", "\x1b[31m\u202e", strings.Repeat("long", 200), "", "é¶💥"}
	numbers := []string{"0", "1", "5", "1e-300", "1e300", "NaN", "+Inf", "-Inf", "-7", "1e9", "12345.678", "1e-12"}
	units := []string{"ns/op", "ns/elem", "B/s", "D-refs/op", "D1-misses/op", "LL-misses/op", "TLB-misses/op", "misses/op", "predicted-ns/op"}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		if rapid.Bool().Draw(t, "head") {
			b.WriteString(head)
		}
		for range rapid.IntRange(1, 40).Draw(t, "lines") {
			b.WriteString("Benchmark" + rapid.SampledFrom(families).Draw(t, "family"))
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 8, func(k string) string { return k }).Draw(t, "keys") {
				b.WriteString("/" + key + "=" + strings.ReplaceAll(rapid.SampledFrom(values).Draw(t, "value"), " ", ""))
			}
			b.WriteString(" 1")
			for _, u := range rapid.SliceOfNDistinct(rapid.SampledFrom(units), 1, 6, func(k string) string { return k }).Draw(t, "units") {
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
			t.Fatalf("%s has %d words, %d actions and is %v high", m.name, len(words), len(actions), f.height)
		}
		for _, a := range actions {
			if s, ok := a.(*recorder.FillString); ok && (math.IsNaN(float64(s.Point.X)) || s.Point.X < -500 || s.Point.X > figureWidth+1000) {
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
		more := fmt.Sprintf("1 %d ns/op %d ns/elem %d B/s 100 D-refs/op %d D1-misses/op %d misses/op %d predicted-ns/op", i+1, i+1, 1e6+i, i%100, i%100, i+5)
		for _, name := range []string{"Traverse/op=sum/order=row/shape=%[1]dx%[1]d/dtype=int32", "Traverse/op=sum/order=col/shape=%[1]dx%[1]d/dtype=int32", "Copy/layout=l%d", "Copy/layout=columns/dtype=int32/step=%d",
			"Copy/layout=nchw-nhwc/shape=%d", "Tile/shape=4096x4096/dtype=int32/tile=%d", "Tile/shape=%[1]dx%[1]d/dtype=int32/tile=1", "Contiguous/do=contiguous/shape=4x4/kernel=k%d",
			"Latency/size=%dKiB", "Mountain/size=%[1]dKiB/stride=%[1]d/dtype=int64", "Sets/pad=0/columns=16/set=%d", "Sets/pad=%d/columns=16/set=1", "MissRatio/order=col/capacity=%dKiB", "F%d/a=1"} {
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
	d := dataOf(t, "cpu: <b>&\x1b\n"+sampled("Copy/layout=<script>&\"\x1b\u202e/shape=1x1/kernel=a'b", 1, ""))
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
		if e, ok := token.(xml.StartElement); ok && !slices.Contains([]string{"svg", "g", "path", "text", "title", "desc"}, e.Name.Local) {
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
	if !strings.Contains(string(c.SVG), svgFonts) || strings.Contains(string(c.SVG), "font-family:Liberation") {
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
	got := shorts([]string{long + "forward", long + "backward", "brief", long[:30] + " and otherwise", "brief"}, 20)
	for i := range got {
		if len([]rune(got[i])) > 20 {
			t.Errorf("%q is too long", got[i])
		}
	}
	if got[0] == got[1] || got[2] != "brief" || got[4] != "brief" || !strings.HasSuffix(got[0], " forward") {
		t.Errorf("got %q", got)
	}
	middle := strings.Repeat("a step and ", 9)
	got = shorts([]string{"turned " + middle + "one more " + middle, "turned " + middle + "no more " + middle}, 30)
	if got[0] != "…one more a step and a step a…" || got[1] != "…no more a step and a step an…" {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfDistinct(rapid.StringMatching(`[ab./é]{0,40}`), rapid.ID[string]).Draw(t, "labels")
		got := shorts(labels, 12)
		for i, label := range got {
			if slices.Contains(got[:i], label) || len([]rune(label)) > 12 {
				t.Fatalf("%q of %q", got, labels)
			}
		}
	})
}

// TestThreadsSentence: it says of which size the matrices are, and what a knee is where it names one.
func TestThreadsSentence(t *testing.T) {
	const names = "Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2/threads="
	for last, want := range map[float64]string{
		500: "A matrix of 16 KiB in L1d is read at 0.909 GiB/s by 1 thread and 1.82 GiB/s by 2.",
		.4:  "A matrix of 16 KiB in L1d is read at 0.909 GiB/s by 1 thread and 2272 GiB/s by 2.",
		990: "A matrix of 16 KiB in L1d is read at 0.909 GiB/s by 1 thread and 0.918 GiB/s by 2, with its knee at 1 thread (0.909 GiB/s). A knee is the least number of threads with 90% of the best bandwidth.",
	} {
		d := dataOf(t, head+sampled(names+"1", 1e3, "")+sampled(names+"2", last, ""))
		if got := draws(t, threads, d).sentence; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{18: "18.0", 16.72: "16.7", 3.001: "3.00", 0.5414: "0.541", 1834: "1834", 2e-9: "2e-09", 9.996: "10.0", 0.99997: "1.00"} {
		if got := threeDigits(v); got != want {
			t.Errorf("%g is %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{18: "18", 0.99997: "1.00", -9.996: "-10.0", 99.96: "100", 0.00123: "0.0012", 0.0625: "0.0625", 1e-9: "1e-09", 3.0000000000000004: "3", 8.999999999999998: "9"} {
		if got := digits(v); got != want {
			t.Errorf("in tables %g is %q, want %q", v, got, want)
		}
	}
}

// TestTwoDigits: a cell of a heat map has an exponent only where a value is too long without.
func TestTwoDigits(t *testing.T) {
	for v, want := range map[float64]string{0.0123: "0.012", 7: "7", 9.96: "10", 99.4: "99", 99.6: "100", 208.2: "208", 99999: "99999", 2e5: "2e+05", 1e-9: "1e-09"} {
		if got := twoDigits(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

// TestFarOutOfLine: what is many times as slow, or as fast, is told so, and not by a percentage of nine digits.
func TestFarOutOfLine(t *testing.T) {
	f := Fleet{matrix: &fleet.Matrix{Machines: []fleet.Machine{{Name: "a"}}}}
	for ratio, want := range map[float64]string{1.5: "everything takes 50% longer than on 9 peers", 998065: "everything takes 998065 times as long as on 9 peers",
		0.5: "everything takes 50% less than on 9 peers", 0.001: "everything takes 0.001 times as long as on 9 peers"} {
		if got := f.words(fleet.Finding{Aspect: fleet.All, Ratio: ratio, Peers: 9}).What; got != want {
			t.Errorf("%v: %s, want %s", ratio, got, want)
		}
	}
}

// TestEqualCopies: of copies that are equally fast none is the fastest.
func TestEqualCopies(t *testing.T) {
	text := ""
	for _, layout := range []string{"contiguous", "transpose"} {
		text += strings.Repeat("BenchmarkCopy/layout="+layout+"/shape=64x64/dtype=float32/kernel=scalar 1 1000 ns/op 1 ns/elem 1e9 B/s\n", 6)
	}
	if got, want := draws(t, copyBandwidth, dataOf(t, text)).sentence, "Each of 2 copies moves 953.7 MiB/s."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBrief: a figure of a sentence has no exponent.
func TestBrief(t *testing.T) {
	for v, want := range map[float64]string{0.012345: "0.0123", 7: "7", 9.999: "10", 123.4: "123", 999.4: "999", 999.6: "1000", 1234.5: "1234", 98765: "98765"} {
		if got := brief(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

// TestTitlesOfBars: what the names of a family share is cut where the picture ends.
func TestTitlesOfBars(t *testing.T) {
	long := "X/op=add/with=2x3x4x5x6x7/shape=2x3x4x5x6x7/dtype=complex128/pad=100000/order=row/view=permute(5,4,3,2,1,0).narrow(0,0,%d).narrow(1,0,2)/kernel=scalar"
	d := dataOf(t, head+sampled(fmt.Sprintf(long, 1), 1e3, "")+sampled(fmt.Sprintf(long, 2), 1e3, ""))
	words, actions := record(draws(t, others, d), &d.look)
	if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "X add with") }) {
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

// TestCopyNames: copies of entries of a workload that differ by their names have labels with these.
func TestCopyNames(t *testing.T) {
	const rest = "layout=contiguous/shape=64x64/dtype=float32/kernel=scalar"
	d := dataOf(t, head+sampled("Copy/name=query/"+rest, 1e3, "")+sampled("Copy/name=key/"+rest, 2e3, "")+sampled("Copy/"+rest, 3e3, ""))
	labels, _ := copyLabels(d.rows)
	if want := []string{"contiguous 64x64, query", "contiguous 64x64, key", "contiguous 64x64"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
	if labels, _ := copyLabels(d.rows[:1]); labels[0] != "contiguous 64x64" {
		t.Errorf("%q", labels)
	}
}

// TestCopyLabels: no two copies have one label, and what all have in common is said once where labels
// would be too long with it.
func TestCopyLabels(t *testing.T) {
	text := ""
	for _, view := range []string{"x.permute(0,3,2,1).narrow(1,2,20)[...,3:20]", "x.permute(0,3,2,1).narrow(1,2,30)[...,3:25]"} {
		for _, order := range []string{"", "/order=col"} {
			for _, tile := range []string{"8", "8x8x8x16"} {
				text += sampled("Copy/layout=view"+order+"/shape=64x64x32x32/dtype=float32/view="+view+"/tile="+tile+"/kernel=scalar", 1e3, "")
			}
		}
	}
	d := dataOf(t, head+text)
	labels, common := copyLabels(d.rows)
	if common != "of 64x64x32x32" || labels[0] != "x.permute(0,3,2,1).narrow(1,2,20)[...,3:20], tile 8" || labels[3] != "…narrow(1,2,20)[...,3:20], order col, tile 8x8x8x16" {
		t.Errorf("%q, %q", labels, common)
	}
	f := draws(t, copyBandwidth, d)
	if words, _ := record(f, &d.look); !slices.Contains(words, "all of 64x64x32x32") || len(labels) != 8 || len(slices.Compact(slices.Sorted(slices.Values(labels)))) != 8 {
		t.Errorf("%q, %q", labels, words)
	}
	if !strings.HasSuffix(f.sentence, " (all of 64x64x32x32).") {
		t.Error(f.sentence)
	}
	if labels, common := copyLabels(d.rows[:1]); common != "" || labels[0] != "x.permute(0,3,2,1).narrow(1,2,20)[...,3:20] of 64x64x32…" {
		t.Errorf("%q, %q", labels, common)
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
			logAxis(&a, low, low*times)
			if at := labels(a); len(at) < 2 {
				t.Errorf("from %g to %g: labels at %v", low, low*times, at)
			}
		}
	}
	for _, span := range [][2]float64{{19, 315}, {20, 100}, {70, 250}, {95, 105}, {0.1, 1e5}} {
		percentLogAxis(&a, span[0], span[1])
		for at := labels(a); len(at) > 1; at = at[1:] {
			if at[1]-at[0] < 0.07 {
				t.Errorf("%v%%: labels at %v", span, at)
			}
		}
	}
	for _, measured := range [][]point{{{x: 1000}}, {{x: 3}, {x: 5}}, {{x: 20}, {x: 24}, {x: 28}}, {{x: 1}, {x: 32}}} {
		numberAxis(&a, measured)
		if at := labels(a); len(at) < min(len(measured), 2) {
			t.Errorf("%v: labels at %v", measured, at)
		}
	}
}

// TestMeasuredTicks: of numbers of threads that are too close for labels, the most has one.
func TestMeasuredTicks(t *testing.T) {
	var labels []string
	for _, tick := range measuredTicks([]point{{x: 1}, {x: 2}, {x: 192}, {x: 255}, {x: 256}}) {
		labels = append(labels, tick.Label)
	}
	if want := []string{"256", "", "192", "2", "1"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}

// TestNoRanks: times that are all the same, as those predicted of one copy in several sets of
// vectors are, have no rank correlation.
func TestNoRanks(t *testing.T) {
	for want, of := range map[string][2]float64{"are all the same;": {0, 1}, "differ, but the measured ones do not;": {1, 0}} {
		text := ""
		for i := range 3 {
			text += fmt.Sprintf("BenchmarkA/a=%d 1 %g ns/op %g predicted-ns/op\n", i, 100+float64(i)*of[1], 100+float64(i)*of[0])
		}
		d := dataOf(t, head+text)
		f := draws(t, predicted, d)
		words, _ := record(f, &d.look)
		if !strings.Contains(f.sentence, want) || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "NaN") }) {
			t.Errorf("%q, with %q; want %q", f.sentence, words, want)
		}
	}
}

// TestAlts: who does not see a chart is told what is in it, and of nothing else.
func TestAlts(t *testing.T) {
	few := func(text string) string { return strings.Join(slices.Collect(strings.Lines(text))[:3], "") }
	const row, larger = "Traverse/op=sum/shape=64x64/dtype=int32/kernel=scalar/order=row", "Traverse/op=sum/shape=128x128/dtype=int32/kernel=scalar/order=row"
	for _, test := range []struct {
		draw       func(*data) (*figure, error)
		text, want string
	}{
		{traverseTime, few(sampled(row, 1e3, "")) + few(sampled(larger, 1e3, "")), "Lines: ns per element against the size of the matrix: row"},
		{traverseTime, sampled(row, 1e3, "") + sampled(larger, 1e3, "") + sampled("Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2", 1e2, ""),
			"Lines: ns per element against the size of the matrix: row; row, avx2, with 95% intervals"},
		{missRates, few(sampled(row, 1e3, "9 D-refs/op 1 D1-misses/op")) + few(sampled(larger, 1e3, "")), "Lines: misses of each level as a share of all references, against the size of the matrix: row"},
		{copyBandwidth, few(sampled("Copy/layout=contiguous/shape=64x64/dtype=float32/kernel=scalar", 1e3, "")), "Bars: bandwidth of each copy"},
		{others, sampled("A/a=1", 1e3, ""), "Bars: ns per element of each benchmark, by family, with 95% intervals"},
		{latency, few(sampled("Latency/op=chase/size=16KiB", 1e3, "")), "Line: ns per dependent load against the working set"},
		{mountain, few(sampled("Mountain/op=sum/size=16KiB/stride=1/dtype=int64", 1e3, "")), "Heat map: bandwidth of reading by working set and stride"},
		{mountain, few(sampled("Mountain/op=sum/size=32KiB/stride=1/dtype=int64", 1e3, "")) + few(sampled("Mountain/op=sum/size=64KiB/stride=1/dtype=int64", 1e3, "")),
			"Heat map: bandwidth of reading by working set and stride, with the caches marked"},
	} {
		if got := draws(t, test.draw, dataOf(t, head+test.text)).alt; got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestKneesOfThreads: knees of levels whose lines coincide are all named, none upon another.
func TestKneesOfThreads(t *testing.T) {
	text := ""
	for _, shape := range []string{"64x64", "256x256", "2048x2048"} {
		for threads, ns := range map[int]float64{1: 1e3, 2: 500, 4: 500} {
			text += sampled(fmt.Sprintf("Stream/op=sum/shape=%s/dtype=int32/kernel=avx2/threads=%d", shape, threads), ns, "")
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

// TestKneeBesideLines: no line passes under the name of a knee where there is a place without one: the line of
// a level that still rises met the name of the level before, on a machine of 16 CPUs.
func TestKneeBesideLines(t *testing.T) {
	text := ""
	for shape, ns := range map[string][]float64{"256x256": {9.6e3, 4.9e3, 2.5e3, 1.44e3, 1.44e3}, "2048x2048": {33e3, 8e3, 3.8e3, 2.44e3, 1.28e3}} {
		for i, ns := range ns {
			text += sampled(fmt.Sprintf("Stream/op=sum/shape=%s/dtype=int32/kernel=avx2/threads=%d", shape, 1<<i), ns, "")
		}
	}
	d := dataOf(t, head+text)
	_, actions := record(draws(t, threads, d), &d.look)
	var lines [][]vg.Point
	var name *recorder.FillString
	for _, a := range actions {
		switch a := a.(type) {
		case *recorder.Stroke:
			var line []vg.Point
			for _, c := range a.Path {
				line = append(line, c.Pos)
			}
			if len(line) == 5 { // a series
				lines = append(lines, line)
			}
		case *recorder.FillString:
			if strings.HasPrefix(a.String, "knee of") {
				name = a
			}
		}
	}
	if name == nil || len(lines) != 2 {
		t.Fatalf("name of a knee: %v, lines: %v", name, lines)
	}
	style := d.look.text(markSize)
	corner := vg.Point{X: name.Point.X + style.Width(name.String), Y: name.Point.Y + style.Height(name.String)}
	for _, line := range lines {
		for i := range line[1:] {
			for share := vg.Length(0); share <= 1; share += 1. / 64 {
				x, y := line[i].X+share*(line[i+1].X-line[i].X), line[i].Y+share*(line[i+1].Y-line[i].Y)
				if x > name.Point.X && x < corner.X && y > name.Point.Y && y < corner.Y {
					t.Fatalf("%q from %v to %v: a line passes at %v, %v", name.String, name.Point, corner, x, y)
				}
			}
		}
	}
}

// TestOneOfThreads: the charts of one thread show the results of one of a suite that several numbers of threads
// walked, and those of a run without threads rather.
func TestOneOfThreads(t *testing.T) {
	const name = "Latency/op=chase/size=16KiB"
	one, two := sampled(name+"/threads=1", 2e3, ""), sampled(name+"/threads=2", 1e3, "")
	for text, want := range map[string]string{
		one + two:                          "A load takes 2.05 ns in a working set of 16 KiB.",
		two + one + sampled(name, 4e3, ""): "A load takes 4.1 ns in a working set of 16 KiB.",
		sampled(name, 4e3, "") + one:       "A load takes 4.1 ns in a working set of 16 KiB.",
		strings.ReplaceAll(one, "=1 ", "=1/grain=9 ") + strings.ReplaceAll(one, "=1 ", "=1/grain=8 "): "A load takes 2.05 ns in a working set of 16 KiB.",
	} {
		d := dataOf(t, head+text)
		if got := draws(t, latency, d).sentence; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := len(d.rows); got != 1 {
			t.Errorf("%d benchmarks of one thread", got)
		}
	}
}

// TestThreadsOfLast: what several files have of threads is drawn as the last one has it, and stands in tables once.
func TestThreadsOfLast(t *testing.T) {
	const name = "Stream/op=sum/shape=64x64/dtype=int32/kernel=avx2/threads="
	one := sampled(name+"1", 1e3, "")
	d := dataOf(t, head+one+sampled(name+"2", 900, ""), head+one+sampled(name+"2", 500, ""))
	if got := draws(t, threads, d).sentence; !strings.HasSuffix(got, "and 1.82 GiB/s by 2.") {
		t.Error(got)
	}
	if got := len(d.named()); got != 2 {
		t.Errorf("%d benchmarks, want 2", got)
	}
}

// TestThreadsCommand: what a report without threads tells to run has the latencies, too, by which the chart knows
// what the last level serves.
func TestThreadsCommand(t *testing.T) {
	for _, m := range makers {
		if m.name == "threads" && !(strings.Contains(m.command, "Stream") && strings.Contains(m.command, "Latency")) {
			t.Errorf("%q", m.command)
		}
	}
}

// TestRoomForParts: from which number of threads on the level before has room for the parts is said.
func TestRoomForParts(t *testing.T) {
	text := ""
	for _, threads := range []int{1, 2, 4, 16} {
		text += sampled(fmt.Sprintf("Stream/op=sum/shape=512x512/dtype=int32/kernel=avx2/threads=%d", threads), 1e3/float64(threads), "")
	}
	d := dataOf(t, head+text+sampled("Latency/op=chase/size=1MiB", 1e3, ""))
	const want = "A matrix of 1 MiB in L3 is read at 0.909 GiB/s by 1 thread and 14.5 GiB/s by 16; from 4 threads on, the part of each fits in L2."
	if got := draws(t, threads, d).sentence; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestChangeOf: what is a ten-thousandth of what it was is not gone.
func TestChangeOf(t *testing.T) {
	for ratio, want := range map[float64]string{0: "-100.0%", 0.0001: "-99.99%", 0.00002: "-99.998%", 0.5: "-50.0%", 1.5: "+50.0%", 3: "+200.0%", 1e-12: "-100.0%"} {
		if got := changeOf(ratio); got != want {
			t.Errorf("%v: got %s, want %s", ratio, got, want)
		}
	}
}

// TestStatedLevel: that the last level serves a working set is said as what the CPU states, unless a ladder of
// latencies in the same file reaches so far, or what was measured is simulated.
func TestStatedLevel(t *testing.T) {
	text := ""
	for _, shape := range []string{"256x256", "1024x1024", "2048x2048"} {
		for _, threads := range []int{1, 2} {
			text += sampled(fmt.Sprintf("Stream/op=sum/shape=%s/dtype=int32/kernel=avx2/threads=%d", shape, threads), 1e3/float64(threads), "")
		}
	}
	chase := func(size string) string { return sampled("Latency/op=chase/size="+size, 1e3, "") }
	measured := strings.Replace(head, "sim-ll: 33554432", "# sim-ll-source: measured\nsim-ll: 8388608", 1)
	const trailer = "These results do not show what L3 really serves: measure latencies too (bench run --filter '.name:(Stream OR Latency)')."
	for _, test := range []struct{ text, has, not string }{
		{head + text, "16 MiB in L3 (as stated) at ", ""},
		{head + text, trailer, "256 KiB in L2 (as stated)"},
		{head + text + chase("8MiB"), "16 MiB in L3 (as stated) at ", ""},
		{head + text + chase("8MiB") + chase("32MiB"), "16 MiB in L3 at ", "stated"},
		{measured + text, "4 MiB in L3 at ", "16 MiB"},
	} {
		got := draws(t, threads, dataOf(t, test.text)).sentence
		if !strings.Contains(got, test.has) || test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: want %q and not %q", got, test.has, test.not)
		}
	}
}

// TestKneesOfServedLevel: the knee at which memory begins to serve is that of the last level, also where this is
// stated to be many times as large, and none that is near what is stated.
func TestKneesOfServedLevel(t *testing.T) {
	text := ""
	for i, ns := range []float64{1, 1, 4, 4, 15, 15, 15, 100, 100, 100, 100, 150, 150} {
		text += sampled(fmt.Sprintf("Latency/op=chase/size=%dKiB", 16<<i), 1e3*ns, "")
	}
	got := draws(t, latency, dataOf(t, head+text)).sentence
	for _, want := range []string{"from 15.4 to 102 ns between 1 MiB and 2 MiB (beyond L3)", "from 102 to 154 ns between 16 MiB and 32 MiB. L3, stated to hold 32 MiB, serves working sets of up to about 1 MiB here"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: want %q", got, want)
		}
	}
}
