// Package reports makes charts and pages from results. It knows the names of the
// suite's benchmarks, but nothing of how they are measured.
//
//  1. Read the results of one file, or of several files to compare
//     ([results.Read]).
//  2. [Make] draws the charts that there is data for. Each chart says in words
//     what was found. The other charts are [Absent], with the command that
//     produces their data.
//  3. [Report.Write] writes them to a folder, with a summary and a page.
package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/history"
	"github.com/stridebench/stridebench/results/noise"
)

// Options say how a report is made. The zero value is a light one without a
// history.
type Options struct {
	Theme   Theme
	Command string          // that makes the report, for who reads it
	History []history.Entry // by time, as a store of history has them

	// Begin is told of how many charts may be drawn, and returns what is told when one is
	// done, by several goroutines. nil tells nobody.
	Begin func(charts int) (done func())
}

// A Report is what is to be seen of some results.
type Report struct {
	Charts   []Chart // those that there are data for, in the order in which they are to be shown
	Absent   []Absent
	Warnings []string // of the runs, as their files have them
	Commands []string // that made the results, as their files have them
	Machine  string   // what was measured on, and what was simulated: a line or two of words
	Config   map[string]string
	Rows     []results.Row // each benchmark, from the last file that has it
	Runs     []Run
	setup    results.Setup
	theme    Theme
	command  string
	pairs    []pairing // of the first file and the last, where there are several
}

// A Chart is one picture and what it shows.
type Chart struct {
	Name     string // of its files, without .png and .svg
	Title    string // what is seen
	Sentence string // what was found, in words
	Alt      string // what the picture shows, for who does not see it
	PNG, SVG []byte
	picture  picture
}

// Absent is a chart that there are no data for.
type Absent struct {
	Name    string // as that of a Chart
	Title   string
	Command string // that makes the data
}

// ErrNothing tells that none of the charts has data.
var ErrNothing = errors.New("no chart can be made: want results as `bench run` or `bench sweep` " +
	"writes them (counts of `bench sim` compare by `bench check --baseline`)")

// Make makes the charts that the results have data for. Where several files
// have a benchmark, charts show it as the last one has it, and one chart
// compares it with the first. It refuses results that do not compare, and
// returns ErrNothing where no chart can be made.
func Make(set *results.Set, o Options) (Report, error) {
	d, err := newData(set, o)
	if err != nil {
		return Report{}, err
	}
	charts, err := d.charts(o.Begin)
	if err != nil {
		return Report{}, err
	}
	r := Report{Warnings: d.comments("warning"), Commands: d.comments("command"),
		Machine: d.machine(), Config: d.config, Rows: slices.Concat(d.named(), d.swept),
		setup: d.setup, theme: o.Theme, command: o.Command}
	for _, f := range d.files {
		r.Runs = append(r.Runs, Run{f.name, set.Comments[f.name]})
	}
	if last := len(d.files) - 1; last > 0 {
		r.pairs = pairings(d.files[0], d.files[last])
	}
	for i, m := range makers {
		switch {
		case charts[i].PNG != nil:
			charts[i].Name = m.name
			r.Charts = append(r.Charts, charts[i])
		case m.command != "" && len(d.rows) > 0: // a design space lacks nothing
			r.Absent = append(r.Absent, Absent{m.name, m.title, m.command})
		}
	}
	if len(r.Charts) == 0 {
		return Report{}, ErrNothing
	}
	return r, nil
}

// charts makes those of makers that there are data for, and last the one of what none
// of the others shows.
func (d *data) charts(begin func(charts int) (done func())) ([]Chart, error) {
	charts := make([]Chart, len(makers))
	shown := make([]map[string]bool, len(makers))
	done := func() {}
	if begin != nil {
		done = begin(len(makers))
	}
	chart := func(i int, of data) (err error) {
		defer done()
		of.shown = map[string]bool{}
		shown[i] = of.shown
		figure, err := makers[i].draw(&of)
		if err != nil || figure == nil {
			return err
		}
		if charts[i], err = figure.render(&of); err == nil {
			charts[i].picture, err = of.picture(makers[i])
		}
		return err
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	rest := slices.IndexFunc(makers, func(m maker) bool { return m.name == "others" })
	for i := range makers {
		if i != rest {
			group.Go(func() error { return chart(i, *d) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, names := range shown {
		maps.Copy(d.shown, names)
	}
	return charts, chart(rest, d.rest())
}

// rest are the data that no chart has shown yet, those of several threads last.
func (d *data) rest() data {
	of := *d
	// what no chart has shown with some number of threads: its bars stand beside those of one
	open := map[string]bool{}
	for _, r := range d.threaded {
		open[unthreaded(r)] = open[unthreaded(r)] || !d.shown[r.Name]
	}
	of.rows = slices.DeleteFunc(d.named(), func(r results.Row) bool {
		return d.shown[r.Name] && !(saysThreads(r) && open[unthreaded(r)])
	})
	return of
}

// named are the benchmarks of this machine's caches, each once, those that say how many threads
// walked them last, and those side by side.
func (d *data) named() []results.Row {
	return slices.Concat(slices.DeleteFunc(slices.Clone(d.rows), saysThreads), d.threaded)
}

// saysThreads says whether a benchmark's name says how many threads walked it.
func saysThreads(r results.Row) bool { return r.Key("threads") != "" }

// unthreaded is a benchmark's name without what it says of threads.
func unthreaded(r results.Row) string {
	parts := slices.DeleteFunc(strings.Split(r.Name, "/"), func(part string) bool {
		return strings.HasPrefix(part, "threads=") || strings.HasPrefix(part, "grain=")
	})
	return strings.Join(parts, "/")
}

// shows notes that a chart shows benchmarks.
func (d *data) shows(rows ...results.Row) {
	for _, r := range rows {
		d.shown[r.Name] = true
	}
}

// A maker makes one chart, nil where there are no data for it.
type maker struct {
	name, title string
	draw        func(*data) (*figure, error)
	command     string // that makes its data; "" if who lacks them does not miss them
}

// makers are all charts, in the order in which they are shown.
var makers = []maker{
	{"traverse-time", "row against column by size", traverseTime,
		"bench run --filter .name:Traverse"},
	{"miss-rates", "miss rates by size", missRates, "bench run --filter .name:Traverse"},
	{"copy-bandwidth", "copy bandwidth by layout", copyBandwidth, "bench run --filter .name:Copy"},
	{"copy-stride", "copy bandwidth by stride", copyStride, "bench run --filter /layout:columns"},
	{"nchw-nhwc", "NCHW against NHWC", channels,
		"bench run --filter '/layout:(nchw-nhwc OR nhwc-nchw)'"},
	{"contiguous", "when contiguous() pays", contiguous, "bench run --filter .name:Contiguous"},
	{"tiles", "tile size against time and misses", tiles, "bench run --filter .name:Tile"},
	{"latency", "latency ladder", latency, "bench run --filter .name:Latency"},
	{"mountain", "memory mountain", mountain, "bench run --filter .name:Mountain"},
	{"threads", "bandwidth by threads", threads,
		"bench run --filter '.name:(Stream OR Latency)' --threads 1,2,all --grain 1"},
	{"loaded", "latency under load", loaded, "bench machine --measure --loaded --results " +
		"loads.txt && bench report loads.txt"},
	{"sets", "misses by cache set", setMisses, "bench run --filter .name:Sets"},
	{"miss-ratio", "miss-ratio curve", missRatio, "bench run --filter .name:MissRatio"},
	{"others", "what no other chart shows", others, ""},
	{"predicted", "predicted against measured time", predicted, "bench run"},
	{"best", "the best order and tile by caches", best, ""},
	{"compare", "old against new", compare, "bench report OLD NEW"},
	{"trend", "trend", trend, "bench history add FILE && bench report --history history FILE"},
}

// Write puts the charts, and a page (index.html) and a summary.md that show them,
// into a folder, every file whole or not at all, and returns their paths. Charts that
// the page of an earlier report there shows, and this one does not, are removed.
func (r Report) Write(dir string) (paths []string, err error) {
	page, err := r.page()
	if err != nil {
		return nil, err
	}
	type output struct {
		name    string
		content []byte
	}
	var files []output
	for _, c := range r.Charts {
		files = append(files, output{c.Name + ".png", c.PNG}, output{c.Name + ".svg", c.SVG})
	}
	// What an earlier report drew and this one does not goes first, while its page still names it.
	// Then comes the page: it says that the rest is ours, if this is killed.
	files = append([]output{{"index.html", page}},
		append(files, output{"summary.md", []byte(r.summary())})...)
	for _, f := range files {
		if err := checkOwn(dir, files[0].name, f.name); err != nil {
			return nil, err
		}
	}
	if err := r.removeStale(dir); err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := results.WriteFile(path, f.content); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return append(paths[1:], paths[0]), nil
}

// pageMark is what all pages of this program have in their heads.
const pageMark = "<link rel=\"icon\" href=\"data:,\">\n<title>"

// removeStale removes the pictures of charts that the page in a folder shows and that this
// report has not.
func (r Report) removeStale(dir string) error {
	text, ours := ownPage(filepath.Join(dir, "index.html"))
	if !ours {
		return nil
	}
	for _, m := range makers {
		drawn := slices.ContainsFunc(r.Charts, func(c Chart) bool { return c.Name == m.name })
		if drawn || !bytes.Contains(text, []byte(`<figure id="figure-`+m.name+`">`)) {
			continue
		}
		for _, ending := range []string{".png", ".svg"} {
			if err := os.Remove(filepath.Join(dir, m.name+ending)); err != nil &&
				!errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// ownPage reads a page; ours is false where there is none, or one of something else.
func ownPage(path string) (text []byte, ours bool) {
	text, err := results.ReadText(path)
	return text, err == nil && bytes.Contains(text[:min(len(text), 4<<10)], []byte(pageMark))
}

// checkOwn refuses a file that is there in a folder without this page of the program: it is
// something else of its owner's.
func checkOwn(dir, page, name string) error {
	path := filepath.Join(dir, name)
	if _, ours := ownPage(filepath.Join(dir, page)); ours {
		return nil
	}
	if results.Foreign(path, func([]byte) bool { return false }) {
		return fmt.Errorf("%s is there, and is not a page of bench report: give a folder of its own", path)
	}
	return nil
}

// data is what charts are made from. They read it only: they are made at the
// same time.
type data struct {
	look   style
	set    *results.Set
	config map[string]string
	setup  results.Setup // what config says
	rows   []results.Row // each benchmark of one thread, from the last file that has it
	swept  []results.Row // of a sweep
	// of benchmarks whose names say how many threads walked them; those of one are in rows, too
	threaded  []results.Row
	files     []file
	cpuCaches []mark // of the machine that the times are from
	simulated []mark
	history   []history.Entry
	served    *noise.Served   // what the last level serves, where that is far from what is stated
	shown     map[string]bool // names of what the chart that is being made shows
}

// A file is what one file of results holds.
type file struct {
	name string
	rows []results.Row
}

func newData(set *results.Set, o Options) (*data, error) {
	look, err := o.Theme.style()
	if err != nil {
		return nil, err
	}
	config, err := set.Config()
	if err != nil {
		return nil, err
	}
	d := &data{look: look, set: set, config: config, history: o.History, shown: map[string]bool{},
		setup: results.SetupOf(config)}
	d.cpuCaches, d.simulated = capacities(d.setup.Caches), capacities(d.setup.Simulated())
	var all []results.Row
	at := map[string]int{} // in all, by name
	for _, part := range set.Files() {
		rows := part.Set.Rows()
		d.files = append(d.files, file{part.Name, rows})
		for _, r := range rows {
			if i, ok := at[r.Name]; ok {
				all[i] = r
				continue
			}
			at[r.Name] = len(all)
			all = append(all, r)
		}
	}
	alone := map[string]bool{} // what is in rows of one thread that the names say, of one grain
	for _, r := range all {
		switch {
		case r.Key("caches") != "": // on caches of its own, which charts of one machine know nothing of
			d.swept = append(d.swept, r)
			continue
		case saysThreads(r):
			d.threaded = append(d.threaded, r)
			name := unthreaded(r)
			if _, twin := at[name]; twin || alone[name] || r.Key("threads") != "1" {
				continue
			}
			alone[name] = true
		}
		d.rows = append(d.rows, r)
	}
	if served, far := noise.ServedBy(noise.Ladder(d.rows), d.setup.Caches, d.setup.LL); far {
		d.served = &served
	}
	return d, nil
}

// comments are the values of a key in the comments of all files, each once.
func (d *data) comments(key string) (values []string) {
	for _, f := range d.files {
		for _, c := range d.set.Comments[f.name] {
			if c.Key == key && !slices.Contains(values, c.Value) {
				values = append(values, c.Value)
			}
		}
	}
	return values
}

// maxFindings is how many findings WriteFindings writes.
const maxFindings = 8

// WriteFindings writes what was found, a line for each of the first charts, then how many
// more findings the page has, and which charts are left out because their data are missing.
func (r Report) WriteFindings(w io.Writer) {
	charts := slices.Clone(r.Charts)
	changes := func(c Chart) int { // who brings an old file or a history asks for these
		return slices.Index([]string{"trend", "compare"}, c.Name)
	}
	slices.SortStableFunc(charts, func(a, b Chart) int { return changes(b) - changes(a) })
	for _, c := range charts[:min(len(charts), maxFindings)] {
		fmt.Fprintf(w, "%s\n", results.Printable(c.Sentence))
	}
	if more := len(r.Charts) - maxFindings; more > 0 {
		fmt.Fprintf(w, "%s on the page\n", counted(more, "more finding"))
	}
	var absent []string
	for _, a := range r.Absent {
		absent = append(absent, fmt.Sprintf("%s (%s)", a.Title, a.Command))
	}
	switch {
	case len(absent) > 2:
		fmt.Fprintf(w, "%d charts have no data; the page lists the commands that measure it\n",
			len(absent))
	case absent != nil:
		fmt.Fprintf(w, "no data for: %s\n", strings.Join(absent, "; "))
	}
}
