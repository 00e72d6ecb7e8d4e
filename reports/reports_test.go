package reports_test

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
)

func read(t *testing.T, path string) *results.Set {
	t.Helper()
	set, err := results.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func readText(t *testing.T, text string) *results.Set {
	t.Helper()
	return read(t, write(t, "run.txt", text))
}

// makeReport makes the report of a text.
func makeReport(t *testing.T, text string) reports.Report {
	t.Helper()
	var left atomic.Int64 // charts to be drawn
	r, err := reports.Make(readText(t, text), reports.Options{Begin: func(charts int) func() {
		left.Add(int64(charts))
		return func() { left.Add(-1) }
	}})
	if n := left.Load(); err != nil || n != 0 {
		t.Fatalf("%v, %d charts are not told of", err, n)
	}
	return r
}

// chart is the chart of a name.
func chart(t *testing.T, r reports.Report, name string) reports.Chart {
	t.Helper()
	for _, c := range r.Charts {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no chart %s among %d", name, len(r.Charts))
	return reports.Chart{}
}

// TestStale: charts of an earlier report that a later one in its folder has not are removed, and
// nothing that bench did not write.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if _, err := makeReport(t, text).Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	write(line("Copy/layout=contiguous/shape=64x64/dtype=float32", 1, 1e9) +
		line("Latency/op=chase/size=16KiB", 1, 1e9))
	for _, name := range []string{"mountain.png", "notes.txt", "tiles.svg", "latency.pdf"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(line("Copy/layout=contiguous/shape=64x64/dtype=float32", 1, 1e9))
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"copy-bandwidth.png", "copy-bandwidth.svg", "index.html", "latency.pdf",
		"mountain.png", "notes.txt", "summary.md", "tiles.svg"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// TestWrite reports a small run that has data for all charts of one file.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	r := made(t, frozenOnce)
	paths, err := r.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ name, sentence string }{
		{"traverse-time", "Summing a 4000x4000 int32 matrix by columns takes 15.3 times as long " +
			"as by rows (10.47 ns/elem against 0.6839 ns/elem)."},
		{"miss-rates", "Of all references to the 4000x4000 matrix, 100% miss D1 and 6.25% miss " +
			"LL by columns; by rows, 6.25% and 6.25%. " +
			"Rows a power of two of bytes apart compete for few sets: of all references to the " +
			"4096x4096 matrix by columns, 100% miss LL, and 6.25% with rows padded by 16 " +
			"elements."},
		{"copy-bandwidth", "The fastest copy (contiguous 4096x4096 builtin) moves 14.00 GiB/s, " +
			"the slowest (columns 4096x4096 step 32 scalar) 441.9 MiB/s."},
	} {
		c := chart(t, r, want.name)
		if c.Sentence != want.sentence {
			t.Errorf("%s: %q, want %q", c.Name, c.Sentence, want.sentence)
		}
		if !strings.Contains(string(summary), c.Sentence) ||
			!strings.Contains(string(summary), "]("+c.Name+".png)") {
			t.Errorf("summary.md does not show %s with its sentence", c.Name)
		}
	}
	var absent []string
	for _, a := range r.Absent {
		absent = append(absent, a.Name)
		if _, list, ok := strings.Cut(a.Command, "--threads "); ok &&
			!strings.HasPrefix(list, "1,2,all ") {
			t.Errorf("not every machine of two CPUs has what %q wants", a.Command)
		}
	}
	if !slices.Equal(absent, []string{"threads", "loaded", "compare", "trend"}) {
		t.Errorf("there are no data for %v, want all but what other runs, two files and a "+
			"history have", absent)
	}
	for _, c := range r.Charts {
		for ext, content := range map[string][]byte{".png": c.PNG, ".svg": c.SVG} {
			onDisk, err := os.ReadFile(filepath.Join(dir, c.Name+ext))
			if err != nil || !bytes.Equal(onDisk, content) ||
				!slices.Contains(paths, filepath.Join(dir, c.Name+ext)) {
				t.Errorf("%s%s on disk is not the chart: %v", c.Name, ext, err)
			}
		}
		checkPicture(t, c)
	}
	if len(paths) != 2*len(r.Charts)+2 || !strings.Contains(string(summary),
		"\n| columns | 4096x4096 |") {
		t.Errorf("written: %v; summary:\n%s", paths, summary)
	}
	if strings.Contains(string(summary), "NaN") || strings.Contains(string(summary), "Inf") {
		t.Errorf("summary.md shows what is no number:\n%s", summary)
	}
}

// checkPicture: 7 in wide at 144 dots, with ink, and none at the very edge,
// where a label would be cut.
func checkPicture(t *testing.T, c reports.Chart) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(c.PNG))
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	b := img.Bounds()
	if b.Dx() != 7*144 || b.Dy() < 200 {
		t.Errorf("%s is %dx%d pixels", c.Name, b.Dx(), b.Dy())
	}
	gray := image.NewGray(b)
	draw.Draw(gray, b, img, b.Min, draw.Src)
	inner := b.Inset(4)
	ink := 0
	for y := range b.Dy() {
		for x, level := range gray.Pix[y*gray.Stride:][:b.Dx()] {
			if level == 255 {
				continue
			}
			ink++
			if !image.Pt(x, y).In(inner) {
				t.Fatalf("%s: ink at %d,%d, the edge of %v", c.Name, x, y, b)
			}
		}
	}
	if ink < 10000 {
		t.Errorf("%s has %d pixels of ink", c.Name, ink)
	}
}

func line(name string, nsPerElem, bandwidth float64) string {
	return fmt.Sprintf("Benchmark%s 1 100 ns/op %g ns/elem %g B/s 100 D-refs/op 50 D1-misses/op "+
		"0 LL-misses/op\n", name, nsPerElem, bandwidth)
}

// TestOddResults: single points, one order, and figures that no logarithm
// takes give a report or an error, never a panic.
func TestOddResults(t *testing.T) {
	const traverse = "Traverse/op=sum/order=row/shape=64x64/dtype=int32"
	for name, text := range map[string]string{
		"one matrix": line(traverse, 0.5, 1e9),
		"huge and tiny": line(traverse, 1e-9, 1e9) +
			line(strings.ReplaceAll(traverse, "row", "col"), 1e15, 1e9),
		"one copy": line("Copy/layout=view/shape=4x4/dtype=int32/view=t()", 0.5,
			1e9),
		"zero time":      line(traverse, 0, 0),
		"no refs":        "Benchmark" + traverse + " 1 5 ns/elem\n",
		"unknown layout": line("Copy/layout=new/shape=4x4/dtype=int32", 1, 1e12),
		"large numbers":  line(traverse, 1e25, 1e29),
		"more misses than references": "Benchmark" + traverse +
			" 1 5 ns/elem 1 D-refs/op 2 D1-misses/op NaN LL-misses/op\n",
		"large matrix": line("Traverse/op=sum/order=col/shape=1048576x1048576/dtype=float64", 1, 1e9),
	} {
		if testing.Short() && name != "huge and tiny" {
			continue
		}
		r, err := reports.Make(readText(t, text), reports.Options{})
		if err != nil {
			if name != "zero time" { // of which no chart can be made
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, c := range r.Charts {
			checkPicture(t, c)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, text := range map[string]string{
		"another project's": "BenchmarkEncode/size=4k-8 1000 12 ns/op\n",
		"not finite": "BenchmarkTraverse/op=sum/order=row/shape=64x64/dtype=int32 1 NaN " +
			"ns/elem\nBenchmarkCopy/layout=contiguous 1 +Inf B/s\n",
	} {
		if _, err := reports.Make(readText(t, text), reports.Options{}); !errors.Is(err,
			reports.ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFindings: the page has each finding whole, the terminal has ten lines at most, and a
// design space does not say what else might have been measured.
func TestFindings(t *testing.T) {
	r := made(t, frozenOnce)
	dir := t.TempDir()
	if _, err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), `<ul class="findings">`)
	list, _, _ = strings.Cut(list, "</ul>")
	for _, c := range r.Charts {
		if !strings.Contains(list, template.HTMLEscapeString(c.Sentence)) {
			t.Errorf("the findings of the page lack %q", c.Sentence)
		}
	}
	var said strings.Builder
	r.WriteFindings(&said)
	if n := strings.Count(said.String(), "\n"); n > 10 ||
		!strings.Contains(said.String(), " more findings on the page") {
		t.Errorf("%d lines:\n%s", n, said.String())
	}
	said.Reset()
	space, err := reports.Make(read(t, filepath.Join("..", "docs", "example", "sweep.txt")),
		reports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	space.WriteFindings(&said)
	if n := strings.Count(said.String(), "\n"); n != 1 || space.Absent != nil {
		t.Errorf("of a design space %d lines:\n%s", n, said.String())
	}
}

// TestTables: what the tables of a report's page and summary have and lack.
func TestTables(t *testing.T) {
	unstable := ""
	for _, ns := range []float64{1, 1, 1, 1, 1, 90, 90} {
		unstable += line("Traverse/op=fill/order=row/shape=64x64/dtype=int32", ns, 1e9)
	}
	for name, test := range map[string]struct {
		text, page    string
		summary, lack []string
	}{
		"an interval that is wider than its time is no percentage": {unstable,
			`<td class="number wide" data-sort="89">unstable</td>`, []string{"| unstable |"}, nil},
		"the same lines missed are the same figure, however wide the accesses are": {
			"BenchmarkStream/op=sum/kernel=scalar 1 1600 ns/op 1 ns/elem 1600 D-refs/op 100 " +
				"D1-misses/op\n" +
				"BenchmarkStream/op=sum/kernel=avx512 1 400 ns/op 0.25 ns/elem 100 D-refs/op 100 " +
				"D1-misses/op\n",
			"D1 misses/elem", []string{"D1 misses/elem", "| scalar | 1 |  | 1.6 | 0.0625 |",
				"| avx512 | 0.25 |  | 0.4 | 0.0625 |"}, []string{"miss %"}},
		"times of a pass alone are times, and nothing stands for what is not known": {
			"BenchmarkLoaded/op=chase/size=64MiB/streams=1/load=0 1 146.7 ns/op\n" +
				"BenchmarkLoaded/op=chase/size=64MiB/streams=1/load=50 1 150 ns/op 1e9 B/s\n" +
				"BenchmarkTraverse/op=sum/order=row/shape=64x64 1 1600 ns/op 18.04 ns/elem 4096 " +
				"D-refs/op 4095.9 D1-misses/op\n" +
				"BenchmarkTraverse/op=sum/order=col/shape=64x64 1 1600 ns/op 3.6 ns/elem\n",
			"0.147", []string{"| 0 |  | 0.147 |  |", "| 50 |  | 0.15 | 0.931 |",
				"| row | 18 |  | 1.6 |", "| col | 3.6 |  | 1.6 |"},
			[]string{"simulated only"}},
		"names are no markup": {"cpu: <img src=x>|`\n" +
			line("Copy/layout=<script>|[a](b)", 1, 1e9),
			"&lt;script&gt;", nil, []string{"<script>|", "<img", "|[a]"}},
	} {
		path, text := page(t, makeReport(t, test.text))
		summary, err := os.ReadFile(filepath.Join(filepath.Dir(path), "summary.md"))
		if err != nil || !strings.Contains(text, test.page) {
			t.Errorf("%s: the page lacks %q, %v", name, test.page, err)
		}
		for _, want := range test.summary {
			if !strings.Contains(string(summary), want) {
				t.Errorf("%s: no %q in\n%s", name, want, summary)
			}
		}
		for _, bad := range test.lack {
			if strings.Contains(string(summary), bad) {
				t.Errorf("%s: %q is in\n%s", name, bad, summary)
			}
		}
	}
}

func TestResultsThatDoNotCompare(t *testing.T) {
	text := "cpu: one\n" + line("Copy/layout=contiguous", 1, 1e9) + "cpu: two\n" +
		line("Copy/layout=contiguous", 1, 1e9)
	if _, err := reports.Make(readText(t, text), reports.Options{}); err == nil ||
		!strings.Contains(err.Error(), "differ in cpu") {
		t.Errorf("got %v", err)
	}
}
