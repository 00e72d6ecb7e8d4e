package reports

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
	"github.com/stridebench/stridebench/results/history"
	"github.com/stridebench/stridebench/results/outfile"
)

// The gallery shows every chart, made from the results in docs/example: a run, two runs to compare,
// a sweep, a run with threads, and latency under load. The trend's history is made up from the run
// (resampled).
const (
	galleryDir = "../docs/gallery"
	exampleDir = "../docs/example"
)

// frozenDir has a small run, and two to compare, that are never recorded anew:
// what tests expect of a chart's data they expect of these.
const frozenDir = "testdata"

// chartData are what a chart is made from of the results in a folder, without the
// lines that match lost, if that is not nil.
func chartData(t *testing.T, dir, chart string, lost *regexp.Regexp) *data {
	t.Helper()
	files := []string{"run.txt"}
	switch chart {
	case "compare":
		files = []string{"old.txt", "new.txt"}
	case "best":
		files = []string{"sweep.txt"}
	case "threads":
		files = []string{"threads.txt"}
	case "loaded":
		files = []string{"loads.txt"}
	}
	set := &results.Set{Comments: map[string][]results.Pair{}}
	cut := 0
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var kept []byte
		for line := range bytes.Lines(text) {
			if lost != nil && lost.Match(line) {
				cut++
				continue
			}
			kept = append(kept, line...)
		}
		one, err := results.Parse(name, kept)
		if err != nil {
			t.Fatal(err)
		}
		set.Results, set.Units = append(set.Results, one.Results...), one.Units
		set.Comments[name] = one.Comments[name]
	}
	if lost != nil && cut == 0 {
		t.Errorf("%s: no line matches %v", chart, lost)
	}
	d, err := newData(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.history = resampled(d)
	return d
}

// resampled is a made-up history with known changes: in each of 24 commits the
// samples of some results, drawn anew (seeded), and of copies 50% more from the
// 9th commit on, and 20% more from the 17th on.
func resampled(d *data) (entries []history.Entry) {
	random := rand.New(rand.NewPCG(1, 2))
	machine := results.FingerprintOf(d.config)
	for i := range 24 {
		e := history.Entry{Commit: fmt.Sprintf("no%02d", i+1), Time: time.Date(2026, 10, 1+i, 0, 0,
			0, 0, time.UTC), Machine: machine, Fingerprint: machine.Hash()}
		for _, r := range d.rows {
			s := r.Stats[passUnit].Samples
			if number(r, "tile") == 0 || len(s) == 0 {
				continue
			}
			sum := 0.0
			for range 9 {
				sum += s[random.IntN(len(s))] / 9
			}
			switch {
			case r.Family() != "Copy" || i < 8:
			case i < 16:
				sum *= 1.5
			default:
				sum *= 1.2
			}
			e.Records = append(e.Records, export.Record{Name: "Benchmark" + r.Name, Unit: "ns/op",
				Median: sum * 1e9, Better: "lower"})
		}
		entries = append(entries, e)
	}
	return entries
}

// drawOne renders a chart; ok tells whether there are data for it.
func drawOne(t *testing.T, m maker, d *data) (chart Chart, ok bool) {
	t.Helper()
	f, err := m.draw(d)
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	if f == nil {
		return Chart{}, false
	}
	if chart, err = f.render(d); err != nil {
		t.Fatal(err)
	}
	chart.Name = m.name
	return chart, true
}

// TestGallery compares every chart with its picture in the gallery: the gallery
// shows what docs/example has, whatever that is, as this program draws it. To look
// at what changed and to keep it: make gallery.
func TestGallery(t *testing.T) {
	run := chartData(t, exampleDir, "", nil)
	var charts []Chart
	for i, m := range makers {
		if testing.Short() && i%6 != 0 { // rendering is slow; others leaves out what this shows
			if _, err := m.draw(run); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
			continue
		}
		d := run
		if slices.Contains([]string{"compare", "best", "threads", "loaded"}, m.name) {
			d = chartData(t, exampleDir, m.name, nil)
		}
		if m.name == "others" {
			rest := run.rest()
			d = &rest
		}
		chart, ok := drawOne(t, m, d)
		if !ok {
			t.Errorf("%s: docs/example has no data for it", m.name)
			continue
		}
		charts = append(charts, chart)
	}
	charts = append(charts, sights(t)...)
	want := map[string][]byte{}
	for _, c := range charts {
		want[c.Name+".png"] = c.PNG
	}
	if !testing.Short() {
		want["README.md"] = galleryPage(charts)
	}
	if os.Getenv("GALLERY") == "write" {
		writeGallery(t, want)
		return
	}
	files, err := os.ReadDir(galleryDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if want[f.Name()] == nil && !testing.Short() {
			t.Errorf("docs/gallery/%s is no chart any more (make gallery makes the gallery anew)",
				f.Name())
		}
	}
	for name, content := range want {
		kept, err := os.ReadFile(filepath.Join(galleryDir, name))
		if err != nil {
			t.Errorf("%v (make gallery makes the gallery anew)", err)
			continue
		}
		if differs(t, name, kept, content) {
			t.Errorf("docs/gallery/%s shows something else: make gallery, and look at what changed",
				name)
		}
	}
}

// sights are the pictures that the gallery shows besides the charts of results.
func sights(t *testing.T) []Chart {
	t.Helper()
	matrix := layouts.Picture{Shape: []int{4, 6}, DType: layouts.Float32}
	var all []Chart
	for _, sight := range []struct {
		name string
		layouts.Drawing
	}{
		{"layout", drawingOf(t, matrix, "t()[:3]")},
		{"layout-shared", drawingOf(t, matrix, "x[1:, ::2]", "t()[:3]")},
		{"layout-blocked", blockedDrawing(t, "nChw8c", 1, 10, 2, 3)},
	} {
		chart, err := DrawLayout(sight.Drawing)
		if err != nil {
			t.Fatal(err)
		}
		chart.Name = sight.name
		all = append(all, chart)
	}
	maps, err := DrawMaps("Summing a 64x64 matrix of int32: where it misses", mapped(t))
	if err != nil {
		t.Fatal(err)
	}
	maps.Name = "map"
	return append(all, maps)
}

// galleryPage is the index of the gallery.
func galleryPage(charts []Chart) []byte {
	var b bytes.Buffer
	b.WriteString("# Gallery\n\n`bench report FILE` draws the charts that FILE has data for, " +
		"and names " +
		"the commands that measure the others.\nThe last four are of `bench layout -o` and " +
		"`bench sim " +
		"--map`. `make gallery` draws this page from\n[docs/example](../example). The history " +
		"is made " +
		"up: copies take 50% longer from the 9th commit, and 20%\nfrom the 17th. Bands and " +
		"bars are " +
		"95% intervals.\n")
	for _, c := range charts {
		kind, _, _ := strings.Cut(c.Alt, ":")
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n![%s](%s.png)\n", cell(c.Title),
			cell(clauses(c.Sentence)), cell(kind), c.Name)
	}
	return b.Bytes()
}

// clause ends a sentence or a clause.
var clause = regexp.MustCompile(`[.;] `)

// clauses returns the first sentences and clauses of a finding, 40 words of them at most where it
// has that many.
func clauses(sentence string) string {
	const most = 40
	if len(strings.Fields(sentence)) <= most {
		return sentence
	}
	short := sentence
	for _, at := range clause.FindAllStringIndex(sentence, -1) {
		if text := sentence[:at[0]]; len(strings.Fields(text)) <= most {
			short = text + "."
		}
	}
	return short
}

func writeGallery(t *testing.T, files map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(galleryDir); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := outfile.WriteFile(filepath.Join(galleryDir, name), content); err != nil {
			t.Fatal(err)
		}
	}
}

// tolerance is the share of pixels that may differ: other CPUs round otherwise,
// which moves edges by a fraction of a pixel.
const tolerance = 0.0005

// differs compares two files; pictures may differ by the tolerance.
func differs(t *testing.T, name string, a, b []byte) bool {
	t.Helper()
	if !strings.HasSuffix(name, ".png") {
		return !bytes.Equal(a, b)
	}
	return distance(pixels(t, a), pixels(t, b)) > tolerance
}

func pixels(t *testing.T, text []byte) *image.RGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := image.NewRGBA(img.Bounds())
	draw.Draw(all, all.Bounds(), img, img.Bounds().Min, draw.Src)
	return all
}

// distance is the share of pixels that differ in a colour by more than an eighth
// of its range; 1 of pictures of different sizes.
func distance(a, b *image.RGBA) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	differ := 0
	for i := 0; i < len(a.Pix); i += 4 {
		for k := range 3 {
			if v := int(a.Pix[i+k]) - int(b.Pix[i+k]); v > 32 || v < -32 {
				differ++
				break
			}
		}
	}
	return float64(differ) / float64(len(a.Pix)/4)
}

// TestGalleryNotices: the comparison of TestGallery does not take a chart that
// lacks a series, a bar, a cell or a knee for the whole one.
func TestGalleryNotices(t *testing.T) {
	if testing.Short() {
		t.Skip("drawing is slow under the race detector: make test draws the gallery without")
	}
	for name, lost := range map[string]string{ // the lines that vanish
		"traverse-time":  `^BenchmarkStream/.*kernel=avx2`,
		"miss-rates":     `^BenchmarkTraverse/.*order=col/shape=(64x64|4096x4096)/dtype=int32/kernel`,
		"copy-bandwidth": `^BenchmarkCopy/layout=contiguous/.*kernel=builtin`,
		"contiguous":     `^BenchmarkContiguous/do=sum-contiguous/.*kernel=avx2`,
		"tiles":          `^BenchmarkTile/.*shape=1000x1000/`,
		"latency":        `^BenchmarkLatency/op=chase/size=64MiB/`,
		"mountain":       `^BenchmarkMountain/op=sum/size=1MiB/stride=8/`,
		"threads":        `^BenchmarkStream/.*shape=6000x6000/.*kernel=avx512/threads=4/`,
		"loaded":         `^BenchmarkLoaded/.*load=75 `,
		"sets":           `^BenchmarkSets/.*/pad=0/columns=16/set=32/`,
		"miss-ratio":     `^BenchmarkMissRatio/.*/tile=32/`,
		"predicted":      `^BenchmarkCopy/`,
		"others":         `^BenchmarkCopy/`,
		"best":           `^BenchmarkCopy/.*shape=64x64/dtype=float32/kernel`,
		"compare":        `^BenchmarkCopy/layout=transpose/shape=4096x4096/dtype=float32/kernel=scalar`,
	} {
		checkNoticed(t, name, chartData(t, frozenDir, name, regexp.MustCompile(lost)), lost)
	}
	d := chartData(t, frozenDir, "trend", nil)
	d.history = d.history[:len(d.history)-1]
	checkNoticed(t, "trend", d, "its last commit")
}

// checkNoticed draws a chart of the frozen results, whole and of data that lack
// something.
func checkNoticed(t *testing.T, name string, lacking *data, lost string) {
	t.Helper()
	m := makers[slices.IndexFunc(makers, func(m maker) bool { return m.name == name })]
	whole, ok := drawOne(t, m, chartData(t, frozenDir, name, nil))
	if !ok {
		t.Fatalf("%s has no data for %s", frozenDir, name)
	}
	if chart, ok := drawOne(t, m, lacking); ok && !differs(t, name+".png", whole.PNG, chart.PNG) {
		t.Errorf("%s without %s passes for the whole chart", name, lost)
	}
}
