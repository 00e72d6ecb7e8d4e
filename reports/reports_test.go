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

// TestStale: charts of an earlier report that a later one in its folder has not are removed, and nothing
// that bench did not write.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if _, err := makeReport(t, text).Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	write(line("Copy/layout=contiguous/shape=64x64/dtype=float32", 1, 1e9) + line("Latency/op=chase/size=16KiB", 1, 1e9))
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
	want := []string{"copy-bandwidth.png", "copy-bandwidth.svg", "index.html", "latency.pdf", "mountain.png", "notes.txt", "summary.md", "tiles.svg"}
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
		{"traverse-time", "Summing a 4000x4000 int32 matrix by columns takes 15.3 times as long as by rows (10.47 ns/elem against 0.6839 ns/elem, medians of 6 samples)."},
		{"miss-rates", "Of all references to the 4000x4000 matrix, 100% miss D1 and 6.25% miss LL by columns; by rows, 6.25% and 6.25%. " +
			"Rows a power of two of bytes apart compete for few sets: of all references to the 4096x4096 matrix by columns, 100% miss LL, and 6.25% with rows padded by 16 elements."},
		{"copy-bandwidth", "The fastest copy (contiguous 4096x4096, Go's copy) moves 14.00 GiB/s, the slowest (transposed 4000x4000) 658.7 MiB/s. " +
			"In tiles of 32, the transposed copy of 4000x4000 takes 0.50 times as long as untiled."},
	} {
		c := chart(t, r, want.name)
		if c.Sentence != want.sentence {
			t.Errorf("%s: %q, want %q", c.Name, c.Sentence, want.sentence)
		}
		if !strings.Contains(string(summary), c.Sentence) || !strings.Contains(string(summary), "]("+c.Name+".png)") {
			t.Errorf("summary.md does not show %s with its sentence", c.Name)
		}
	}
	var absent []string
	for _, a := range r.Absent {
		absent = append(absent, a.Name)
		if _, list, ok := strings.Cut(a.Command, "--threads "); ok && !strings.HasPrefix(list, "1,2,all ") {
			t.Errorf("not every machine of two CPUs has what %q wants", a.Command)
		}
	}
	if !slices.Equal(absent, []string{"threads", "loaded", "compare", "trend"}) {
		t.Errorf("there are no data for %v, want all but what other runs, two files and a history have", absent)
	}
	for _, c := range r.Charts {
		for ext, content := range map[string][]byte{".png": c.PNG, ".svg": c.SVG} {
			onDisk, err := os.ReadFile(filepath.Join(dir, c.Name+ext))
			if err != nil || !bytes.Equal(onDisk, content) || !slices.Contains(paths, filepath.Join(dir, c.Name+ext)) {
				t.Errorf("%s%s on disk is not the chart: %v", c.Name, ext, err)
			}
		}
		checkPicture(t, c)
	}
	if len(paths) != 2*len(r.Charts)+2 || !strings.Contains(string(summary), "| Copy/layout=columns/shape=4096x4096/dtype=float32/step=2/kernel=scalar | 6 |") {
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
	return fmt.Sprintf("Benchmark%s 1 100 ns/op %g ns/elem %g B/s 100 D-refs/op 50 D1-misses/op 0 LL-misses/op\n", name, nsPerElem, bandwidth)
}

// TestOddResults: single points, one order, and figures that no logarithm
// takes give a report or an error, never a panic.
func TestOddResults(t *testing.T) {
	const traverse = "Traverse/op=sum/order=row/shape=64x64/dtype=int32"
	for name, text := range map[string]string{
		"one matrix":                  line(traverse, 0.5, 1e9),
		"huge and tiny":               line(traverse, 1e-9, 1e9) + line(strings.ReplaceAll(traverse, "row", "col"), 1e15, 1e9),
		"one copy":                    line("Copy/layout=view/shape=4x4/dtype=int32/view=t()", 0.5, 1e9),
		"zero time":                   line(traverse, 0, 0),
		"no refs":                     "Benchmark" + traverse + " 1 5 ns/elem\n",
		"unknown layout":              line("Copy/layout=new/shape=4x4/dtype=int32", 1, 1e12),
		"large numbers":               line(traverse, 1e25, 1e29),
		"more misses than references": "Benchmark" + traverse + " 1 5 ns/elem 1 D-refs/op 2 D1-misses/op NaN LL-misses/op\n",
		"large matrix":                line("Traverse/op=sum/order=col/shape=1048576x1048576/dtype=float64", 1, 1e9),
	} {
		if testing.Short() && name != "huge and tiny" {
			continue
		}
		r, err := reports.Make(readText(t, text), reports.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, c := range r.Charts {
			checkPicture(t, c)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, text := range map[string]string{
		"another project's": "BenchmarkEncode/size=4k-8 1000 12 ns/op\n",
		"not finite":        "BenchmarkTraverse/op=sum/order=row/shape=64x64/dtype=int32 1 NaN ns/elem\nBenchmarkCopy/layout=contiguous 1 +Inf B/s\n",
	} {
		if _, err := reports.Make(readText(t, text), reports.Options{}); !errors.Is(err, reports.ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyThreads: of more than there are bars for, each family has what gains most from threads and
// what gains least, by the fewest threads and by the most.
func TestManyThreads(t *testing.T) {
	var text strings.Builder
	add := func(name string, gains float64) {
		for threads, ns := range map[int]float64{1: 12, 2: 11, 4: 12 / gains} {
			text.WriteString(line(fmt.Sprintf("%s/kernel=scalar/threads=%d", name, threads), ns, 1e9))
		}
	}
	for i := range 30 {
		add(fmt.Sprintf("Traverse/op=fill/shape=%d", 100+i), 1+float64(i)/10)
	}
	add("Walk/shape=7", 0.5)
	add("Walk/shape=8", 2)
	text.WriteString(line("Alone/op=sum", 5, 1e9)) // which threads do not share
	c := chart(t, makeReport(t, text.String()), "others")
	checkPicture(t, c)
	if want := "With 4 threads, Traverse fill scalar, shape 129, is 3.90 times as fast as with 1, and Walk scalar, shape 7, 0.500 times. 57 more are in the table."; c.Sentence != want {
		t.Errorf("%q, want %q", c.Sentence, want)
	}
	for label, want := range map[string]bool{"129 threads 1": true, "129 threads 4": true, "129 threads 2": false, "100 threads 4": true, "115 threads 4": false, "7 threads 4": true, "8 threads 1": true, "sum": false} {
		if got := strings.Contains(string(c.SVG), ">"+label+"</text>") || strings.Contains(string(c.SVG), " "+label+"</text>"); got != want {
			t.Errorf("a bar of %q: %v", label, got)
		}
	}
}

// TestWildInterval: an interval that is many times as long as all bars is cut, and said.
func TestWildInterval(t *testing.T) {
	text := ""
	for _, ns := range []float64{1, 1, 1, 1, 900, 900} {
		text += line("Traverse/op=fill/shape=1000", ns, 1e9)
	}
	c := chart(t, makeReport(t, text), "others")
	checkPicture(t, c)
	if !strings.Contains(string(c.SVG), "(up to 900)</text>") {
		t.Errorf("the cut is not said: %s", c.SVG)
	}
}

// TestRest: what a chart of the suite shows has no bars besides.
func TestRest(t *testing.T) {
	r := made(t, frozenOnce)
	if i := slices.IndexFunc(r.Charts, func(c reports.Chart) bool { return c.Name == "others" }); i >= 0 && strings.Contains(r.Charts[i].Sentence, "Copy") {
		t.Errorf("copies are shown twice: %s", r.Charts[i].Sentence)
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
	if n := strings.Count(said.String(), "\n"); n > 10 || !strings.Contains(said.String(), " more findings on the page") {
		t.Errorf("%d lines:\n%s", n, said.String())
	}
	said.Reset()
	space, err := reports.Make(read(t, filepath.Join("..", "docs", "example", "sweep.txt")), reports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	space.WriteFindings(&said)
	if n := strings.Count(said.String(), "\n"); n != 1 || space.Absent != nil {
		t.Errorf("of a design space %d lines:\n%s", n, said.String())
	}
}

// TestMissesByElement: the same lines missed are the same figure, however wide the
// accesses that miss them are.
func TestMissesByElement(t *testing.T) {
	r := makeReport(t, "BenchmarkStream/op=sum/kernel=scalar 1 1600 ns/op 1 ns/elem 1e9 B/s 1600 D-refs/op 100 D1-misses/op 0 LL-misses/op\n"+
		"BenchmarkStream/op=sum/kernel=avx512 1 400 ns/op 0.25 ns/elem 1e9 B/s 100 D-refs/op 100 D1-misses/op 0 LL-misses/op\n")
	dir := t.TempDir()
	if _, err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "summary.md"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "0.0625"); n < 2 || strings.Contains(string(text), "miss %") || !strings.Contains(string(text), "D1 misses/elem") {
			t.Errorf("%s has the misses by element %d times", name, n)
		}
	}
}

// TestUnstable: a time whose interval is wider than itself is unstable, and no percentage.
func TestUnstable(t *testing.T) {
	text := ""
	for _, ns := range []float64{1, 1, 1, 1, 1, 90, 90} {
		text += line("Traverse/op=fill/order=row/shape=64x64/dtype=int32", ns, 1e9)
	}
	dir := t.TempDir()
	if _, err := makeReport(t, text).Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"summary.md": "| unstable |", "index.html": `<td class="number wide" data-sort="89">unstable</td>`} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}

// TestSummaryTable: what has times of a pass alone is timed, too, and nothing stands for what is not known.
func TestSummaryTable(t *testing.T) {
	loaded := "BenchmarkLoaded/op=chase/size=64MiB/streams=1/load=0 1 146.7 ns/op\nBenchmarkLoaded/op=chase/size=64MiB/streams=1/load=50 1 150 ns/op 1e9 B/s\n"
	traverse := "BenchmarkTraverse/op=sum/order=row/shape=64x64 1 1600 ns/op 18.04 ns/elem 4096 D-refs/op 4095.9 D1-misses/op\nBenchmarkTraverse/op=sum/order=col/shape=64x64 1 1600 ns/op 3.6 ns/elem\n"
	dir := t.TempDir()
	if _, err := makeReport(t, loaded+traverse).Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"streams=1/load=0 | 1 |  |  | 0.147 |  |  |  |", "load=50 | 1 |  |  | 0.150 | 0.931 |  |  |",
		"order=row/shape=64x64 | 1 | 18.0 |  | 1.60 |  |", "order=col/shape=64x64 | 1 | 3.60 |  | 1.60 |  |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "simulated only") {
		t.Errorf("times are called simulated:\n%s", text)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	dir := t.TempDir()
	if _, err := makeReport(t, "cpu: <img src=x>|`\n"+line("Copy/layout=<script>|[a](b)", 1, 1e9)).Write(dir); err != nil {
		t.Fatal(err)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>", "<img", "|[a]"} {
		if strings.Contains(string(summary), bad) {
			t.Errorf("summary.md holds %q:\n%s", bad, summary)
		}
	}
}

func TestResultsThatDoNotCompare(t *testing.T) {
	text := "cpu: one\n" + line("Copy/layout=contiguous", 1, 1e9) + "cpu: two\n" + line("Copy/layout=contiguous", 1, 1e9)
	if _, err := reports.Make(readText(t, text), reports.Options{}); err == nil || !strings.Contains(err.Error(), "differ in cpu") {
		t.Errorf("got %v", err)
	}
}
