// Package reports makes charts and pages from results. It knows the names of
// the suite's benchmarks and nothing of how they are measured.
package reports

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/results"
)

// A Chart is one picture and what it shows.
type Chart struct {
	File     string // name of the picture in the report's folder
	Title    string
	Sentence string // what was found, in words
	PNG      []byte
}

// data is what charts are made from.
type data struct {
	rows      []results.Row
	cpuCaches cacheMarks // of the machine that the times are from
	simulated cacheMarks
}

// ErrNothing tells that none of the charts has data.
var ErrNothing = errors.New("no chart can be made: want sums by row and column, or copies, as `bench run` writes them")

// Write makes the charts that the results have data for and a summary.md that
// shows them, and puts all into dir. Nothing is written before everything is
// made, and every file whole or not at all. It refuses results that do not
// compare, and returns ErrNothing where no chart can be made.
func Write(dir string, set *results.Set) ([]Chart, error) {
	config, err := set.Config()
	if err != nil {
		return nil, err
	}
	rows, err := set.Rows()
	if err != nil {
		return nil, err
	}
	d := data{rows: rows, cpuCaches: parseCaches(config["caches"]),
		simulated: parseCaches("D1=" + config["sim-d1"] + " LL=" + config["sim-ll"])}
	var charts []Chart
	var absent []string
	for _, c := range []struct {
		draw    func(data) (*Chart, error)
		command string // that measures what it needs
	}{
		{traverseTime, "bench run --filter .name:Traverse"},
		{missRates, "bench run --filter .name:Traverse"},
		{copyBandwidth, "bench run --filter .name:Copy"},
	} {
		chart, err := c.draw(d)
		if err != nil {
			return nil, err
		}
		if chart == nil {
			absent = append(absent, c.command)
			continue
		}
		charts = append(charts, *chart)
	}
	if len(charts) == 0 {
		return nil, ErrNothing
	}
	for _, c := range charts {
		if err := results.WriteFile(filepath.Join(dir, c.File), c.PNG); err != nil {
			return nil, err
		}
	}
	return charts, results.WriteFile(filepath.Join(dir, "summary.md"), []byte(summary(charts, absent, config, rows)))
}

// parseCaches reads "L1d=32768,8,64 L3=33554432,16,64"; what is malformed is
// left out, since it only marks a chart.
func parseCaches(text string) cacheMarks {
	var marks cacheMarks
	for field := range strings.FieldsSeq(text) {
		name, geometry, _ := strings.Cut(field, "=")
		size, _, _ := strings.Cut(geometry, ",")
		if n, err := strconv.Atoi(size); err == nil && n > 0 && name != "L1i" {
			marks = append(marks, cache{name, n})
		}
	}
	return marks
}

// summary is the page.
func summary(charts []Chart, absent []string, config map[string]string, rows []results.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What the layouts cost\n\n")
	fmt.Fprintf(&b, "%s, %s/%s, %s. Caches: %s. Simulated: D1 %s, LL %s (size,ways,line in bytes).\n",
		orUnknown(config["cpu"]), orUnknown(config["goos"]), orUnknown(config["goarch"]), orUnknown(config["goversion"]),
		orUnknown(config["caches"]), orUnknown(config["sim-d1"]), orUnknown(config["sim-ll"]))
	for _, c := range charts {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n![%s](%s)\n", c.Title, cell(c.Sentence), c.Title, c.File)
	}
	for i, command := range absent {
		if i == 0 || command != absent[i-1] {
			fmt.Fprintf(&b, "\nLeft out for want of data: `%s` measures them.\n", command)
		}
	}
	fmt.Fprintf(&b, "\n## All results\n\nMedians with the half width of their 95%% confidence interval; miss rates are simulated, exact, and of one pass in the steady state.\n\n")
	fmt.Fprintf(&b, "| benchmark | samples | ns/elem | ± | GiB/s | D1 miss %% | LL miss %% |\n|:--|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		s := r.Stats[timeUnit]
		fmt.Fprintf(&b, "| %s | %d | %.3g | %s | %.3g | %s | %s |\n", cell(r.Name), s.N, s.Center*1e9, cell(s.PctRangeString()),
			r.Stats[bandwidthUnit].Center/(1<<30), percent(missRate(r, d1Unit)), percent(missRate(r, llUnit)))
	}
	return b.String()
}

// cell escapes what would end a table's cell or begin markup: names may come
// from a stranger's file.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "&", "&amp;", "[", "\\[", "`", "\\`", "*", "\\*", "_", "\\_").Replace(text)
}

// percent writes a rate to at most two decimals, nothing if there is none.
func percent(q point, ok bool) string {
	if !ok {
		return ""
	}
	return strconv.FormatFloat(math.Round(q.y*100)/100, 'f', -1, 64)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return cell(text)
}

// pair finds the row and the column traversal of the matrix that says most:
// 4000x4000 as in the articles, else the largest.
func pair(found []matrix) (row, col matrix, ok bool) {
	best := -1
	for _, m := range found {
		if m.row.Key("pad") != "" || m.order != "row" {
			continue
		}
		for _, c := range found {
			if c.order != "col" || c.row.Key("pad") != "" || c.n != m.n || c.bytes != m.bytes {
				continue
			}
			rank := m.n
			if m.n == 4000 {
				rank = 1 << 62
			}
			if rank > best {
				row, col, best, ok = m, c, rank, true
			}
		}
	}
	return row, col, ok
}

func timeSentence(found []matrix) string {
	row, col, ok := pair(found)
	if !ok {
		return "Only one order was measured, so there is nothing to compare."
	}
	a, b := row.row.Stats[timeUnit], col.row.Stats[timeUnit]
	return fmt.Sprintf("Summing a %dx%d %s matrix by columns takes %.1f times as long as by rows (%s against %s, medians of %d samples).",
		row.n, row.n, row.row.Key("dtype"), b.Center/a.Center, results.Scale(b.Center, timeUnit), results.Scale(a.Center, timeUnit), a.N)
}

func missSentence(found []matrix) string {
	row, col, ok := pair(found)
	if !ok {
		return "Only one order was simulated, so there is nothing to compare."
	}
	text := fmt.Sprintf("By columns, %s%% of the references to the %dx%d matrix miss in D1 and %s%% in LL; by rows %s%% and %s%%.",
		percent(missRate(col.row, d1Unit)), row.n, row.n, percent(missRate(col.row, llUnit)),
		percent(missRate(row.row, d1Unit)), percent(missRate(row.row, llUnit)))
	for _, m := range found {
		padded := func(p matrix) bool {
			return p.order == "col" && p.n == m.n && p.row.Key("pad") != "" && rate(p, llUnit) < rate(m, llUnit)/4
		}
		for _, p := range found {
			if m.order == "col" && m.pow2 && padded(p) {
				return text + fmt.Sprintf(" Rows a power of two of bytes apart crowd into few sets: %dx%d by columns misses LL on %s%% of references, and on %s%% with rows padded by %s elements.",
					m.n, m.n, percent(missRate(m.row, llUnit)), percent(missRate(p.row, llUnit)), p.row.Key("pad"))
			}
		}
	}
	return text
}

// rate is a matrix's miss rate in percent, 0 if it has none.
func rate(m matrix, unit string) float64 {
	q, _ := missRate(m.row, unit)
	return q.y
}

// isTiled tells whether b is a transposed copy in plain order and a the same in
// tiles.
func isTiled(a, b results.Row) bool {
	tile := a.Key("tile")
	return tile != "" && b.Key("layout") == "transpose" && b.Key("tile") == "" && strings.Replace(a.Name, "/tile="+tile, "", 1) == b.Name
}

func copySentence(found []results.Row) string {
	fast, slow := found[0], found[0]
	for _, r := range found {
		if r.Stats[bandwidthUnit].Center > fast.Stats[bandwidthUnit].Center {
			fast = r
		}
		if r.Stats[bandwidthUnit].Center < slow.Stats[bandwidthUnit].Center {
			slow = r
		}
	}
	if len(found) == 1 {
		return fmt.Sprintf("The copy (%s) moves %s.", copyLabel(fast), results.Scale(fast.Stats[bandwidthUnit].Center, bandwidthUnit))
	}
	text := fmt.Sprintf("The fastest copy (%s) moves %s, the slowest (%s) %s.",
		copyLabel(fast), results.Scale(fast.Stats[bandwidthUnit].Center, bandwidthUnit),
		copyLabel(slow), results.Scale(slow.Stats[bandwidthUnit].Center, bandwidthUnit))
	for _, naive := range found {
		for _, tiled := range found {
			if isTiled(tiled, naive) {
				return text + fmt.Sprintf(" In tiles of %s, the transposed copy of %s takes %.2f times as long as in plain order.",
					tiled.Key("tile"), naive.Key("shape"), tiled.Stats[timeUnit].Center/naive.Stats[timeUnit].Center)
			}
		}
	}
	return text
}
