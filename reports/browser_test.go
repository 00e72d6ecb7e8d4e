package reports_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/stridebench/stridebench/reports"
	"github.com/stridebench/stridebench/results/fleet"
)

// A browser is a headless Chromium with one tab.
type browser struct {
	*testing.T
	ctx    context.Context
	mutex  sync.Mutex
	faults []string // errors on the console, and what was asked for over the network
}

// patience is after how long a browser hangs, which on a busy machine takes its time.
const patience = 15 * time.Minute

// openBrowser starts the Chromium of this machine. A test is skipped where there
// is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome",
		"google-chrome-stable", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium or google-chrome in PATH to show the page")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(patience))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	return b
}

// listen keeps what should not happen.
func (b *browser) listen(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console.%s was called", e.Type)
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		fault = fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "data:") &&
			!strings.HasSuffix(url, "/index.html") && !strings.HasSuffix(url, "/fleet.html") {
			fault = "asks for " + url
		}
	}
	if fault != "" {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.faults = append(b.faults, fault)
	}
}

func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.Fatal(err)
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return value
}

// open shows a page in a width, in a theme of the reader's.
func (b *browser) open(path string, width int64, theme string) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 900))
	b.emulate("screen", theme)
	b.do(chromedp.Navigate("file://" + path))
	b.drawn()
}

// scrollThrough shows each picture, which the browser draws only then.
func (b *browser) scrollThrough() {
	b.Helper()
	const each = `(async () => {
		for (const picture of document.images) {
			if (picture.offsetWidth > 0) {
				picture.scrollIntoView({behavior: "instant"});
				await picture.decode();
			}
		}
		return true;
	})()`
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](each,
		chromedp.EvalAwaitPromise)); err != nil {
		b.Fatal(err)
	}
}

// drawn waits until what was last done is drawn: observers of sizes, listeners of scrolling and
// clicks are called before the frame after, however long a busy machine takes for it.
func (b *browser) drawn() {
	b.Helper()
	const frames = `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](frames,
		chromedp.EvalAwaitPromise)); err != nil {
		b.Fatal(err)
	}
}

func (b *browser) emulate(media, theme string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media,
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
}

// check tells what went wrong in a page since it was opened.
func (b *browser) check(what string) {
	b.Helper()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, fault := range b.faults {
		b.Errorf("%s: %s", what, fault)
	}
	b.faults = nil
}

// TestPageInBrowser shows pages in a browser, the same for all of it.
func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes longer than all other tests here")
	}
	b := openBrowser(t)
	example, _ := page(t, made(t, frozenOnce))
	strange, _ := page(t, made(t, hostileOnce))
	for _, part := range []struct {
		name string
		test func(b *browser, example, strange string)
	}{{"widths", testWidths}, {"scrolling", testScrolling}, {"other pages", testOthers},
		{"sorting", testSorting}, {"themes", testThemes},
		{"answer", testAnswer}, {"filter", testFilter}} {
		t.Run(part.name, func(t *testing.T) {
			b.T = t
			part.test(b, example, strange)
			b.check(part.name)
		})
	}
}

// testWidths: on a phone and on a desk, in light and dark, no page is
// wider than its window, says anything on the console or asks for anything; all
// pictures are drawn.
func testWidths(b *browser, example, strange string) {
	for _, path := range []string{example, strange} {
		for _, width := range []int64{375, 1440} {
			for _, theme := range []string{"light", "dark"} {
				what := fmt.Sprintf("%s at %d px in %s", path, width, theme)
				b.open(path, width, theme)
				if got := eval[int64](b, "document.documentElement.scrollWidth"); got > width {
					b.Errorf("%s is %d px wide", what, got)
				}
				b.scrollThrough()
				const missing = "[...document.images].filter(i => i.offsetWidth > 0 && " +
					"(!i.complete || i.naturalWidth < 100)).length"
				if n := eval[int](b, missing); n != 0 {
					b.Errorf("%s: %d pictures are not drawn", what, n)
				}
				if shown := eval[[]string](b,
					"[...new Set([...document.images].filter(i => i.offsetWidth > 0).map(i => "+
						"i.className))]"); !slices.Equal(shown, []string{theme}) {
					b.Errorf("%s shows pictures for %v", what, shown)
				}
				b.check(what)
			}
		}
	}
	if got := eval[string](b, "document.title"); !strings.HasPrefix(got,
		"What the layouts cost – <script>document.title=") {
		b.Errorf("the title is %q", got)
	}
	if n := eval[int](b, "document.scripts.length + "+
		"10*document.querySelectorAll('a:not([href^=\"#\"]), iframe, object, form, [onload], "+
		"[onerror], main u, main svg').length"); n != 1 {
		b.Errorf("names became %d parts of the page", n)
	}
}

// testScrolling: what is wider than its box scrolls to its end and says so, what fits says nothing,
// and the table of sums over matrices, which has all units, is the former at 375 and 1200 px and
// fits at 1600.
func testScrolling(b *browser, example, _ string) {
	const boxes = `[...document.querySelectorAll(".scroll")].filter(s => s.clientWidth > 0)`
	const says = `getComputedStyle(s, "::before").content.includes("Scroll sideways")`
	const fades = `getComputedStyle(s).maskImage.includes("gradient")`
	const cut = `s.scrollWidth > s.clientWidth + 1`
	for width, whole := range map[int64]bool{375: false, 1200: false, 1600: true} {
		b.open(example, width, "light")
		for _, check := range [][2]string{ // in this order: the second scrolls
			{"say nothing of what is cut, or say it of what fits", boxes + `.filter(s => (` + cut +
				`) !== (` + says + `) || (` + cut + `) !== (` + fades + `)).length`},
			{"do not scroll to their ends", boxes +
				`.filter(s => { s.scrollLeft = 1e6; return s.scrollLeft + s.clientWidth < s.scrollWidth - 1; }).length`},
			{"hide their last column when scrolled",
				boxes + `.filter(s => { const c = s.querySelector("th:last-child"); return c && c.getBoundingClientRect().right > s.getBoundingClientRect().right + 1; }).length`},
		} {
			if n := eval[int](b, check[1]); n != 0 {
				b.Errorf("at %d px %d boxes %s", width, n, check[0])
			}
		}
		table := `document.querySelector("[aria-label='Results of Traverse']")`
		if got := eval[bool](b, `(s => !(`+cut+`))(`+table+`)`); got != whole {
			b.Errorf("at %d px the table of Traverse is whole: %v", width, got)
		}
	}
}

// testOthers: neither are the pages of a model's bill and of many machines, whatever the
// names on them are.
func testOthers(b *browser, _, _ string) {
	long := strings.Repeat("aten::", 40)
	bill := reports.Bill{Sources: []string{long}, Facts: long, Sentence: long,
		Warnings: []string{long}, Notes: []string{long}, Command: long,
		Rows: []reports.BillRow{
			{Operator: long, Tensors: long + " " + long, Verdict: long, Calls: "1", Layout: "1 ms",
				Time: "2 ms", LayoutNs: 1e6, Ns: 2e6},
			{Operator: "aten::conv2d", Verdict: "free", Calls: "2", Layout: "5 µs", Time: "9 ms",
				LayoutNs: 5e3, Ns: 9e6},
			{Operator: "aten::add", Verdict: "free", Calls: "3", Layout: "2 s", Time: "3 s",
				LayoutNs: 2e9, Ns: 3e9}}}
	path, err := bill.Write(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	matrix := &fleet.Matrix{Label: "host", Benchmarks: []string{"Traverse/" + long},
		Memory: []bool{false}}
	for i := range 20 {
		ns := 100 + float64(i%5)
		if i == 7 {
			ns = 200
		}
		matrix.Machines = append(matrix.Machines, fleet.Machine{Name: fmt.Sprintf("%s%d", long, i),
			Config: map[string]string{"cpu": long},
			Cells:  []fleet.Cell{{Ns: ns, Spread: 0.01, N: 6}}})
	}
	dir := b.TempDir()
	if _, err := reports.MakeFleet(matrix, reports.Options{Command: long}).Write(dir); err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{path, filepath.Join(dir, "fleet.html")} {
		testOther(b, path)
		for _, width := range []int64{375, 1440} {
			what := fmt.Sprintf("%s at %d px", path, width)
			b.open(path, width, "light")
			if got := eval[int64](b, "document.documentElement.scrollWidth"); got > width {
				b.Errorf("%s is %d px wide", what, got)
			}
			b.check(what)
		}
	}
}

// testOther: the last table of a page sorts by its figures, and what is typed leaves the rows that
// have it.
func testOther(b *browser, path string) {
	b.open(path, 1440, "light")
	const table = `[...document.querySelectorAll("table.sortable")].at(-1)`
	const rows = `[...` + table + `.tBodies[0].rows]`
	heads := eval[[]string](b, `[...`+table+`.tHead.rows[0].cells].map(c => c.textContent)`)
	column := max(slices.Index(heads, "layout"), slices.Index(heads, "all"))
	click := fmt.Sprintf(`%s.tHead.rows[0].cells[%d].querySelector("button").click()`,
		table, column)
	values := fmt.Sprintf(`%s.map(r => Number(r.cells[%d].dataset.sort))`, rows, column)
	eval[any](b, click+", 0")
	if got := eval[[]float64](b, values); len(got) < 3 || !slices.IsSorted(got) {
		b.Errorf("%s: %q sorts %v", path, heads[column], got)
	}
	eval[any](b, click+", 0")
	if got := eval[[]float64](b, values); slices.IsSorted(got) {
		b.Errorf("%s: twice sorts %v", path, got)
	}
	first := eval[string](b, rows+`[0].cells[0].textContent`)
	word := first[max(0, len(first)-4):]
	b.do(chromedp.SendKeys(chromedp.CSS("#filter input"), word))
	b.drawn()
	wrong := eval[int](b, rows+fmt.Sprintf(`.filter(r => r.hidden === r.textContent.includes(%q)).length`, word))
	if all := eval[int](b, rows+".length"); wrong > 0 || all < 3 {
		b.Errorf("%s: %q leaves %d wrong rows of %d", path, word, wrong, all)
	}
}

// testSorting: a click on a head, or Enter on it, sorts by that column; what is
// missing comes last.
func testSorting(b *browser, example, _ string) {
	b.open(example, 1440, "light")
	const table = `document.querySelector("table.sortable")`
	heads := eval[[]string](b, `[...`+table+`.tHead.rows[0].cells].map(c => c.textContent)`)
	column := func(name string) (index int, button chromedp.CSS) {
		i := slices.Index(heads, name)
		if i < 0 {
			b.Fatalf("no column %q in %v", name, heads)
		}
		return i, chromedp.CSS(fmt.Sprintf("table.sortable th:nth-child(%d) button", i+1))
	}
	cells := func(i int) []string {
		return eval[[]string](b, fmt.Sprintf(
			`[...%s.tBodies[0].rows].map(r => r.cells[%d].textContent)`, table, i))
	}
	numbers := func(i int) []float64 {
		return eval[[]float64](b, fmt.Sprintf(
			`[...%s.tBodies[0].rows].map(r => Number(r.cells[%d].dataset.sort))`, table, i))
	}
	direction := func(i int) string {
		return eval[string](b, fmt.Sprintf(`%s.tHead.rows[0].cells[%d].getAttribute("aria-sort") ?? ""`, table, i))
	}
	times, button := column("ns/elem")
	before := numbers(times)
	b.do(chromedp.Click(button))
	if got := numbers(times); !slices.IsSorted(got) || slices.IsSorted(before) ||
		direction(times) != "ascending" {
		b.Errorf("a click sorts the times %s: %v", direction(times), got)
	}
	b.do(chromedp.Focus(button), chromedp.KeyEvent(kb.Enter))
	got := numbers(times)
	if slices.Reverse(got); !slices.IsSorted(got) || direction(times) != "descending" {
		b.Errorf("Enter then sorts the times %s: %v", direction(times), got)
	}
	pads, button := column("pad, elements")
	b.do(chromedp.Click(button))
	if got := cells(pads); got[0] != "16" || got[len(got)-1] != "" || direction(times) != "" {
		b.Errorf("by padding: %v, and by time %q", got, direction(times))
	}
	b.do(chromedp.Click(button))
	if got := cells(pads); got[0] != "16" || got[len(got)-1] != "" ||
		direction(pads) != "descending" {
		b.Errorf("by padding, backwards: %v", got)
	}
	orders, button := column("order")
	b.do(chromedp.Click(button))
	if got := cells(orders); !slices.IsSorted(got) || got[0] != "col" || len(got) != len(before) {
		b.Errorf("by order: %v", got)
	}
}

// testAnswer: what a desk or a phone shows first are three findings, whole, each with its figure,
// and a click on one leads to the figure.
func testAnswer(b *browser, example, _ string) {
	for _, size := range [][2]int64{{1440, 900}, {390, 844}} {
		for _, theme := range []string{"light", "dark"} {
			b.open(example, size[0], theme)
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.drawn()
			const shown = `[...document.querySelectorAll("#answer .finding")].filter(f => {
				const pictures = [...f.querySelectorAll("img")].filter(i => i.offsetWidth > 0);
				const words = f.querySelector("span");
				const inside = e => e.getBoundingClientRect().bottom <= innerHeight;
				return pictures.length === 1 && pictures[0].naturalWidth > 100 && inside(pictures[0]) &&
					pictures[0].offsetWidth >= 120 && inside(words) && words.textContent.length > 20;
			}).length`
			if n := eval[int](b, shown); n != 3 {
				b.Errorf("at %dx%d in %s %d findings are seen at once, want 3", size[0],
					size[1], theme, n)
			}
		}
	}
	b.do(chromedp.Click(chromedp.CSS("#answer .finding:nth-child(2)")))
	if got := eval[string](b, `document.querySelector(location.hash).tagName`); got != "FIGURE" {
		b.Errorf("a click on a finding leads to a %s", got)
	}
}

// testFilter: what is typed leaves the rows that have all of its words, in the row or in what is
// said of its table, and without it all are there again.
func testFilter(b *browser, example, _ string) {
	b.open(example, 1440, "light")
	const rows = `[...document.querySelectorAll(".family tbody tr")]`
	const seen = rows + `.filter(r => r.offsetHeight > 0)`
	all := eval[int](b, rows+".length")
	typed := chromedp.CSS("#filter input")
	b.do(chromedp.SendKeys(typed, "traverse COL"))
	b.drawn()
	n := eval[int](b, seen+".length")
	wrong := eval[int](b, seen+`.filter(r => {
		const text = r.closest(".family").textContent.toLowerCase();
		return !text.includes("traverse") || !text.includes("col");
	}).length`)
	if n == 0 || n >= all || wrong > 0 {
		b.Errorf("of %d rows %d are seen, %d of them without the words", all, n, wrong)
	}
	if got := eval[string](b, `document.querySelector("#filter span").textContent`); !strings.HasPrefix(got, fmt.Sprint(n)) {
		b.Errorf("%d rows are seen, and it says %q", n, got)
	}
	if n := eval[int](b, `[...document.querySelectorAll(".family")].filter(f => f.offsetHeight > 0 && f.querySelectorAll("tbody tr:not([hidden])").length === 0).length`); n != 0 {
		b.Errorf("%d tables without a row are seen", n)
	}
	b.do(chromedp.SendKeys(typed, strings.Repeat(kb.Backspace, 12)))
	b.drawn()
	if n := eval[int](b, rows+".filter(r => !r.hidden).length"); n != all {
		b.Errorf("without words %d rows of %d are there", n, all)
	}
	b.emulate("print", "light")
	if got := eval[string](b, `getComputedStyle(document.querySelector("#filter")).display`); got != "none" {
		b.Errorf("prints the filter: %s", got)
	}
}

// testThemes: the button goes through the themes, one that was asked for comes
// first, and what is printed is light and without what only a screen has.
func testThemes(b *browser, example, _ string) {
	b.open(example, 1440, "dark")
	shown := func() string {
		return eval[string](b, `[...document.images].find(i => i.offsetWidth > 0).className + " on " + getComputedStyle(document.body).backgroundColor`)
	}
	const light, dark = "light on rgb(255, 255, 255)", "dark on rgb(21, 24, 29)"
	// as the system, light, dark, and again
	for i, want := range []string{dark, light, dark, dark, light, dark} {
		if i > 0 {
			b.do(chromedp.Click(chromedp.CSS("#theme")))
		}
		if got := shown(); got != want {
			b.Errorf("shows %s, want %s", got, want)
		}
	}
	b.emulate("print", "dark")
	if got := shown(); got != light {
		b.Errorf("prints %s", got)
	}
	if n := eval[int](b, `[...document.querySelectorAll("nav, #theme, .hint, .skip")].filter(e => getComputedStyle(e).display !== "none").length`); n != 0 {
		b.Errorf("prints %d things that are for screens", n)
	}
}
