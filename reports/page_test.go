package reports_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results"
)

// hostile are results of someone who means ill: markup, addresses, marks that
// turn the direction of writing, quotes, and names without end.
func hostile() string {
	long := strings.Repeat("x", 20000)
	var b strings.Builder
	b.WriteString("cpu: <script>document.title='taken'</script>\u202egnp\u2066\ngoos: \"><img " +
		"src=x onerror=alert(1)>\n")
	b.WriteString("caches: <b>=1,2,3 L1d=32768,<i>,64\nsim-d1: 32768,8,64\nsim-ll: 8388608,16,64\n")
	b.WriteString("# command: bench run --shape '</pre><script>alert(2)</script>' -o `x`\n")
	b.WriteString("# warning: </script><script>alert(3)</script> {{.Title}} \u202e\n")
	for i := range 60 {
		fmt.Fprintf(&b, "# warning: one of many, %d\n", i)
	}
	fmt.Fprintf(&b, "# %s: %s\n# date: javascript:alert(4)\n", long, long)
	for _, name := range []string{
		"Copy/layout=<script>alert(5)</script>/shape=4x4/dtype=int32",
		"Copy/layout=javascript:alert(6)//shape=4x4",
		"Copy/layout='\"`&lt;\u202eevil\u200f/shape=\u05d0\u05d1\u05d2",
		"Copy/layout=" + long + "/shape=4x4",
		"Copy/" + long + "=4/<b>=5",
		"Traverse/op=sum/order=row/shape=64x64/dtype=<i>",
		"Traverse/op=sum/order=row/shape=64x64/dtype=int32",
		"<svg/onload=alert(7)>/a/b/c",
		long,
	} {
		b.WriteString("Benchmark" + name + " 1 5 ns/op 5 ns/elem 1e9 B/s 100 D-refs/op 7 " +
			"D1-misses/op 0 LL-misses/op 3 <u>" + long[:200] + "/op\n")
	}
	return b.String()
}

// page is the page of a report.
func page(t *testing.T, r reports.Report) (path, text string) {
	t.Helper()
	dir := t.TempDir()
	if _, err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "index.html")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(content)
}

// frozenOnce and hostileOnce are made once, since it takes long under the race
// detector.
var (
	frozenOnce = sync.OnceValues(func() (reports.Report, error) {
		set, err := results.Read(filepath.Join("testdata", "run.txt"))
		if err != nil {
			return reports.Report{}, err
		}
		return reports.Make(set, reports.Options{Command: "bench report 'my run.txt'"})
	})
	hostileOnce = sync.OnceValues(func() (reports.Report, error) {
		set, err := results.Parse("run.txt", []byte(hostile()))
		if err != nil {
			return reports.Report{}, err
		}
		return reports.Make(set, reports.Options{})
	})
)

func made(t *testing.T, once func() (reports.Report, error)) reports.Report {
	t.Helper()
	r, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPage: every chart with its sentence in both themes, the warnings, the
// commands, the machine and all results are there; nothing is asked for.
func TestPage(t *testing.T) {
	r := made(t, frozenOnce)
	r.Warnings = []string{"the machine was busy", "<i>: take turns (--ab)"}
	r.Commands = []string{"bench run --count 10 -o run.txt"}
	_, text := page(t, r)
	for _, c := range r.Charts {
		// in the contents and over the figure
		if n := strings.Count(text, ">"+c.Title+"<"); n != 2 {
			t.Errorf("the title %q is there %d times", c.Title, n)
		}
	}
	if n := strings.Count(text, `src="data:image/svg&#43;xml;base64,`); n != 2*(len(r.Charts)+3) {
		t.Errorf("%d pictures of %d charts", n, len(r.Charts))
	}
	of := func(class string) int { return strings.Index(text, class) }
	if first := of(`class="finding" href="#figure-traverse-time"`); first < 0 ||
		first > of("Measured on: ") {
		t.Errorf("the answer begins at %d", first)
	}
	if n := strings.Count(text, ` loading="lazy"`); n != 2*len(r.Charts) {
		t.Errorf("%d pictures are lazy", n)
	}
	for _, want := range []string{
		"the machine was busy", `<li>&lt;i&gt;: take turns (<span class="unbroken">--ab</span>)</li>`, "bench run --count 10 -o run.txt\n", "bench report &#39;my run.txt&#39;\n",
		"Measured on: Frozen CPU 9000, 4 CPUs, linux/amd64, go1.26.1, L1d 32 KiB 8-way 64 B, ",
		"74 benchmarks, 150 samples of times, 21 November 2026, 12:43 UTC.",
		"<dt>goversion</dt><dd>go1.26.1",
		`<p class="note">Common to all rows: op sum, dtype int32, kernel scalar, 6 samples.</p>`,
		`<td>4096x4096</td>`, ">predicted µs/op<",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, a := range r.Absent {
		if !strings.Contains(text, "<td>"+html.EscapeString(
			a.Title)+"</td><td><code>"+html.EscapeString(a.Command)+"</code></td>") {
			t.Errorf("the page does not say how %s is made", a.Title)
		}
	}
	if address := regexp.MustCompile(`(src|href|url\()=?["']?(https?:|//|\.\./|file:)[^>]{0,40}`).FindString(text); address != "" {
		t.Errorf("the page asks for %s", address)
	}
	if len(text) > 5<<20 {
		t.Errorf("the page has %d B", len(text))
	}
	for _, bad := range []string{"ZgotmplZ", "NaN", "Inf%", "<no value>"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

// TestPageOfTwo: of an old and a new file the page has every change, and the
// theme that was asked for.
func TestPageOfTwo(t *testing.T) {
	old := line("Copy/layout=a", 1, 1e9) + strings.ReplaceAll(line("Copy/layout=b", 1, 1e9),
		"100 ns/op", "50 ns/op")
	set, err := results.Read(write(t, "old.txt", strings.Repeat(old, 6)),
		write(t, "new.txt", strings.Repeat(line("Copy/layout=a", 1, 1e9)+line("Copy/layout=b",
			1, 1e9), 6)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := reports.Make(set, reports.Options{Theme: reports.Dark})
	if err != nil {
		t.Fatal(err)
	}
	_, text := page(t, r)
	for _, want := range []string{
		`<html lang="en" data-theme="dark">`,
		"With several files, each benchmark is shown as in the last file that has it.",
		"<td>Copy/layout=b</td>", `data-sort="1">+100.0%</td>`, `<td>apart</td>`,
		`data-sort="0">+0.0%</td>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPageOfStrangers: names stay text, whatever they are, and the page stays
// small.
func TestPageOfStrangers(t *testing.T) {
	_, text := page(t, made(t, hostileOnce))
	if n := strings.Count(strings.ToLower(text), "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"<img src=x", "<svg", "<i>:", "</script><script>", "<u>", "\u202e",
		"\u200f", "\u2066", strings.Repeat("x", 400)} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %.20q", bad)
		}
	}
	if !strings.Contains(text, "<dt>caches</dt><dd>&lt;b&gt;=1,2,3 ") {
		t.Error("what is no cache is not shown as in the file")
	}
	if !strings.Contains(text, "… and 21 more") ||
		!strings.Contains(text, "&lt;script&gt;alert(5)&lt;/script&gt;") {
		t.Error("warnings are not cut, or names not shown")
	}
	if len(text) > 1<<20 {
		t.Errorf("the page has %d B", len(text))
	}
	_, text = page(t, makeReport(t, many()))
	if len(text) > 5<<20 || !strings.Contains(text, "600 more are in summary.md.") {
		t.Errorf("the page of many benchmarks has %d B", len(text))
	}
}

// many are more benchmarks than a page shows.
func many() string {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(line(fmt.Sprintf("Copy/layout=view/shape=%dx4/dtype=int32", i+1), 1, 1e9))
	}
	return b.String()
}
