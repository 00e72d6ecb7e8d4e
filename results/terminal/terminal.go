// Package terminal says of results what is shown of them on a terminal: a row for each
// benchmark, beside those that it is compared with.
package terminal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/results"
)

// A Group is benchmarks that are compared with the first of them.
type Group []results.Row

// timeUnit is the unit of times, as benchunit tidies it.
const timeUnit = "sec/elem"

// misses are what is simulated. Accesses of vectors are wider than those of plain
// loops, so misses are told by element and not as a share of accesses.
var misses = []struct{ name, unit string }{
	{"D1/elem", "D1-misses/op"}, {"LL/elem", "LL-misses/op"}, {"TLB/elem", "TLB-misses/op"},
}

// A Table is what Of returns, to be laid out.
type Table struct {
	// Rows are the header, whose first cell is empty, and of each group a row of one cell, in
	// words, and a row for each benchmark. Rows is nil if nothing has times.
	Rows [][]string
	// Notes are lines to stand below.
	Notes []string
}

// Of makes one table of the groups:
// of each group what its names share, then for each benchmark what it does not share,
// the median time by element with the half width of its 95% interval, the ratio to the
// time of the first, and the simulated misses by element. What has no times, as what
// is only simulated, is counted by family.
func Of(groups []Group) Table {
	t := &table{}
	untimed := map[string]int{}
	var families []string
	for _, g := range groups {
		timed := slices.DeleteFunc(slices.Clone(g), func(r results.Row) bool {
			if positive(r.Stats[timeUnit].Center) {
				return false
			}
			if untimed[r.Family()]++; untimed[r.Family()] == 1 {
				families = append(families, r.Family())
			}
			return true
		})
		t.add(timed)
	}
	made := t.made()
	for _, family := range families {
		made.Notes = append(made.Notes, fmt.Sprintf(
			"%s: %s without times, simulated only (bench report draws them)",
			results.Printable(family), results.Counted(untimed[family], "result")))
	}
	return made
}

// positive tells a time that ratios can be made of.
func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// A row of the table is a benchmark's figures, or words across all columns where it
// has none.
type row struct {
	label   string
	figures []string
}

type table struct {
	rows     []row
	single   bool // the samples of some are too few for an interval
	unstable bool // the intervals of some are wider than their times
}

// header is the names of the figures.
var header = []string{"ns/elem", "±", "ratio", misses[0].name, misses[1].name, misses[2].name}

// add adds a group: a heading, and a row for each benchmark.
func (t *table) add(g Group) {
	if len(g) == 0 {
		return
	}
	heading, labels := Headings(g)
	if heading != "" {
		t.rows = append(t.rows, row{label: heading})
	}
	for i, r := range g {
		t.rows = append(t.rows, row{labels[i], t.figures(r, g[0])})
	}
}

// figures are those of header.
func (t *table) figures(r, first results.Row) []string {
	perElem := r.Stats[timeUnit]
	figures := []string{digits(perElem.Center * 1e9), t.halfWidth(perElem),
		digits(perElem.Center / first.Stats[timeUnit].Center)}
	for _, m := range misses {
		text := ""
		if v, known := r.ByElement(m.unit); known {
			text = digits(v)
		}
		figures = append(figures, text)
	}
	return figures
}

// halfWidth is that of the interval as a share of the median.
func (t *table) halfWidth(s results.Stat) string {
	width, ok := s.HalfWidth()
	if !ok {
		t.single = true
		return "?"
	}
	spread := strings.TrimPrefix(results.Spread(width), "±") // which the header has
	t.unstable = t.unstable || spread == results.Unstable
	return spread
}

// longTable is from how many lines on the header stands at the end too.
const longTable = 40

// made is the table with the columns that have something in them.
func (t *table) made() (made Table) {
	if len(t.rows) == 0 {
		return made
	}
	shown := make([]bool, len(header))
	for _, r := range t.rows {
		for i, f := range r.figures {
			shown[i] = shown[i] || f != ""
		}
	}
	cells := func(label string, figures []string) []string {
		row := []string{label}
		for i, f := range figures {
			if shown[i] {
				row = append(row, f)
			}
		}
		return row
	}
	head := cells("", header)
	made.Rows = append(made.Rows, head)
	for _, r := range t.rows {
		if r.figures == nil {
			made.Rows = append(made.Rows, []string{r.label})
		} else {
			made.Rows = append(made.Rows, cells("  "+r.label, r.figures))
		}
	}
	if len(t.rows) > longTable {
		made.Rows = append(made.Rows, head)
	}
	made.Notes = append(made.Notes, "ns/elem: median; ±: its 95% interval; ratio: to the first "+
		"of its group")
	if shown[3] {
		made.Notes = append(made.Notes, "D1, LL, TLB: simulated misses per element, exact")
	}
	if t.single {
		made.Notes = append(made.Notes, "?: too few samples for an interval (--count 6 or more)")
	}
	if t.unstable {
		made.Notes = append(made.Notes, results.Unstable+": the interval is wider than the time "+
			"(end other programs, or raise --count)")
	}
	return made
}

// Headings returns in words what all names of a group share, and of each name the rest.
// A single benchmark is told by its last key.
func Headings(g Group) (shared string, labels []string) {
	split := make([][]string, len(g))
	for i, r := range g {
		split[i] = keys(r)
	}
	common := slices.DeleteFunc(slices.Clone(split[0]), func(key string) bool {
		return slices.ContainsFunc(split, func(of []string) bool {
			return !slices.Contains(of, key)
		})
	})
	bare := "default" // without a tile, say
	if g[0].Family() == "Operands" {
		bare = "contiguous" // the same operands but for their strides
	}
	if len(g) == 1 {
		common = common[:len(common)-1]
	}
	for _, of := range split {
		own := slices.DeleteFunc(slices.Clone(of), func(key string) bool {
			return slices.Contains(common, key)
		})
		labels = append(labels, cmp.Or(strings.Join(own, " "), bare))
	}
	return strings.Join(common, " "), labels
}

// keys are the parts of a name, the family first.
func keys(r results.Row) (parts []string) {
	base, rest := benchfmt.Name(r.Name).Parts()
	parts = append(parts, results.Printable(string(base)))
	for _, part := range rest {
		parts = append(parts, Words(results.Printable(strings.TrimPrefix(string(part), "/"))))
	}
	return parts
}

// Words is a part of a name, such as order=col, in words: a value says what it is of, but
// for a number.
func Words(part string) string {
	key, value, ok := strings.Cut(part, "=")
	switch {
	case part == "pad=0":
		return "no padding"
	case key == "pad":
		return "pad " + value + " elements"
	}
	if _, err := strconv.Atoi(value); !ok || err == nil || key == "with" || value == "" {
		return strings.Replace(part, "=", " ", 1)
	}
	return value
}

// digits writes a figure to three digits, or four places, without an exponent.
func digits(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	places := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	text := strconv.FormatFloat(v, 'f', min(max(places, 0), 4), 64)
	if v > 0 && strings.Trim(text, "0.") == "" {
		return "<0.0001"
	}
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
