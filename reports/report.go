// Package reports is the program's own and promises nothing. It makes charts and pages from
// results. It knows the names of the suite's benchmarks, but not how they are measured.
//
//  1. Read the results of one file, or of several files to compare ([results.Read]).
//  2. [Make] draws the charts that have data, each with its finding in words. The other charts are
//     [Absent], with the command that produces their data.
//  3. [Report.Write] writes them to a folder, with a summary and a page.
package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/history"
	"github.com/stridebench/stridebench/results/infile"
	"github.com/stridebench/stridebench/results/noise"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/results/show"
)

// Options configure a report. The zero value is a light one without a history.
type Options struct {
	Theme   Theme
	Command string          // that makes the report, shown to its readers
	History []history.Entry // by time, as a history's store returns them

	// Begin receives the largest number of charts. Its result is called when each is done, by
	// several goroutines. Begin may be nil.
	Begin func(charts int) (done func())
}

// A Report is the charts and tables of results.
type Report struct {
	Charts   []Chart // with data, in the order of the page
	Absent   []Absent
	Warnings []string // of the runs, from their files
	Commands []string // that made the results, from their files
	Machine  string   // measured and simulated machine, a line each
	Config   map[string]string
	Rows     []results.Row // each benchmark, from the last file that has it
	Runs     []Run
	setup    results.Setup
	theme    Theme
	command  string
	pairs    []pairing // of the first file and the last, if there are several
}

// A Chart is one picture and its words.
type Chart struct {
	Name     string // of its files, without .png and .svg
	Title    string // what it shows
	Sentence string // what was found
	Alt      string // for readers who do not see the picture
	PNG, SVG []byte
	picture  picture
}

// Absent is a chart without data.
type Absent struct {
	Name    string // as in Chart
	Title   string
	Command string // that makes the data
}

// ErrNothing is returned if no chart has data.
var ErrNothing = errors.New("no chart can be made: want results as `bench run` or `bench sweep` " +
	"writes them (counts of `bench sim` compare by `bench check --baseline`)")

// Make draws the charts that have data. Of several files, charts show a benchmark's last results,
// and one chart compares them with the first. Make returns an error for results that do not
// compare, and ErrNothing if no chart has data.
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
		case m.command != "" && len(d.rows) > 0: // a sweep lacks nothing
			r.Absent = append(r.Absent, Absent{m.name, m.title, m.command})
		}
	}
	if len(r.Charts) == 0 {
		return Report{}, ErrNothing
	}
	return r, nil
}

// charts draws the charts that have data. The chart of the others shows what is not in those
// before.
func (d *data) charts(begin func(charts int) (done func())) ([]Chart, error) {
	charts := make([]Chart, len(makers))
	done := func() {}
	if begin != nil {
		done = begin(len(makers))
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, m := range makers {
		of := *d
		if m.name == "others" {
			of = d.rest()
		}
		figure, err := m.draw(&of)
		if err != nil {
			return nil, err
		}
		group.Go(func() (err error) { // rendering is what takes time
			defer done()
			if figure == nil {
				return nil
			}
			if charts[i], err = figure.render(&of); err == nil {
				charts[i].picture, err = of.picture(m)
			}
			return err
		})
	}
	return charts, group.Wait()
}

// rest returns the data that no chart has shown, several threads last.
func (d *data) rest() data {
	of := *d
	of.rows = slices.DeleteFunc(d.named(), func(r results.Row) bool { return d.shown[r.Name] })
	of.shown = map[string]bool{}
	return of
}

// named returns each benchmark of this machine's caches once, those with a number of threads last.
func (d *data) named() []results.Row {
	return slices.Concat(without(d.rows, saysThreads), d.threaded)
}

func saysThreads(r results.Row) bool { return r.Key("threads") != "" }

func unthreaded(r results.Row) string {
	parts := slices.DeleteFunc(strings.Split(r.Name, "/"), func(part string) bool {
		return strings.HasPrefix(part, "threads=") || strings.HasPrefix(part, "grain=")
	})
	return strings.Join(parts, "/")
}

func (d *data) shows(rows ...results.Row) {
	for _, r := range rows {
		d.shown[r.Name] = true
	}
}

// A maker makes one chart, nil without data.
type maker struct {
	name, title string
	draw        func(*data) (*figure, error)
	command     string // that makes its data; "" for charts that are not listed as absent
}

// makers are all charts, in the order of the page.
var makers = []maker{
	{"traverse-time", "row against column by size", traverseTime,
		"bench run --filter .name:Traverse"},
	{"miss-rates", "miss rates by size", missRates, "bench run --filter .name:Traverse"},
	{"copy-bandwidth", "copy bandwidth by layout", copyBandwidth, "bench run --filter .name:Copy"},
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

// Write writes the charts, a page (index.html) and a summary.md to a folder and returns their
// paths. Each file is written whole or not at all. Write removes charts that only an earlier
// report's page shows.
func (r Report) Write(dir string) (paths []string, err error) {
	page, err := r.page()
	if err != nil {
		return nil, err
	}
	// The new page comes first: if Write is killed, it marks the rest as ours.
	files := []output{{"index.html", page}}
	for _, c := range r.Charts {
		files = append(files, output{c.Name + ".png", c.PNG}, output{c.Name + ".svg", c.SVG})
	}
	files = append(files, output{"summary.md", []byte(r.summary())})
	stale := r.stale(dir)
	if paths, err = write(dir, files); err != nil {
		return nil, err
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return append(paths[1:], paths[0]), nil
}

type output struct {
	name    string
	content []byte
}

// write writes a page, which is first, and its files. It returns an error for a file that exists
// without this program's page: it is the user's.
func write(dir string, files []output) (paths []string, err error) {
	_, ours := ownPage(filepath.Join(dir, files[0].name))
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if !ours && outfile.Foreign(path, func([]byte) bool { return false }) {
			return nil, fmt.Errorf("%s is there, and is not a page of bench report: give a "+
				"folder of "+
				"its own", path)
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := outfile.WriteFile(path, f.content); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// pageMark is in the head of each page of this program.
const pageMark = "<link rel=\"icon\" href=\"data:,\">\n<title>"

// stale returns the pictures that only the old page in a folder shows.
func (r Report) stale(dir string) (paths []string) {
	text, ours := ownPage(filepath.Join(dir, "index.html"))
	for _, m := range makers {
		drawn := slices.ContainsFunc(r.Charts, func(c Chart) bool { return c.Name == m.name })
		if ours && !drawn && bytes.Contains(text, []byte(`<figure id="figure-`+m.name+`">`)) {
			path := filepath.Join(dir, m.name)
			paths = append(paths, path+".png", path+".svg")
		}
	}
	return paths
}

// ownPage returns ours = false if the page is missing or not this program's.
func ownPage(path string) (text []byte, ours bool) {
	text, err := infile.Text(path)
	return text, err == nil && bytes.Contains(text[:min(len(text), 4<<10)], []byte(pageMark))
}

// data is the input of the charts, which are made concurrently and only read it.
type data struct {
	look   style
	set    *results.Set
	config map[string]string
	setup  results.Setup // from config
	rows   []results.Row // each benchmark of one thread, from the last file that has it
	swept  []results.Row // of a sweep
	// benchmarks with a number of threads in their names; rows includes one thread, too
	threaded  []results.Row
	files     []file
	cpuCaches []mark // of the measured machine
	simulated []mark
	history   []history.Entry
	served    *noise.Served   // set if the last level serves at most half of its stated size
	shown     map[string]bool // names of benchmarks in the chart that is being made
}

type file struct {
	name string
	rows []results.Row
}

func newData(set *results.Set, o Options) (*data, error) {
	config, err := set.Config()
	if err != nil {
		return nil, err
	}
	d := &data{look: o.Theme.style(), set: set, config: config, history: o.History,
		shown: map[string]bool{}, setup: results.SetupOf(config)}
	d.cpuCaches, d.simulated = capacities(d.setup.Caches...), capacities(d.setup.D1, d.setup.LL)
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
	alone := map[string]bool{} // in rows, though the name says one thread; the first grain only
	for _, r := range all {
		switch {
		case r.Key("caches") != "": // of simulated caches that its name gives
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

const maxFindings = 8

// WriteFindings writes the findings that matter most, a line each, and the number of others. It
// lists the charts without data.
func (r Report) WriteFindings(w io.Writer) {
	charts := slices.SortedStableFunc(slices.Values(r.Charts), func(a, b Chart) int {
		return rank(a.Name) - rank(b.Name)
	})
	for _, c := range charts[:min(len(charts), maxFindings)] {
		fmt.Fprintf(w, "%s\n", show.Printable(c.Sentence))
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
