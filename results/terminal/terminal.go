// Package terminal is the program's own and promises nothing. It lays out results for a terminal: a
// row for each benchmark of a group.
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
	"github.com/stridebench/stridebench/results/show"
)

// A Group is benchmarks compared with its first one.
type Group []results.Row

const timeUnit = "sec/elem"

// misses are the simulated columns. They are per element, not a share of accesses, since vector
// accesses are wider.
var misses = []struct{ name, unit string }{
	{"D1/elem", "D1-misses/op"}, {"LL/elem", "LL-misses/op"}, {"TLB/elem", "TLB-misses/op"},
}

// A Table is the result of Of, ready for layout.
type Table struct {
	// Rows are the header, with an empty first cell, then for each group a heading of one cell and
	// a row for each benchmark. Rows is nil without times.
	Rows [][]string
	// Notes are the lines below the table.
	Notes []string
}

// Of returns one table of the groups. A heading has what the names share. A row has the rest of the
// name, the median time per element, and the half width of its 95% interval. It also has the ratio
// to the first benchmark, and the simulated misses per element. Benchmarks without times are
// counted in a note.
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
			show.Printable(family), show.Counted(untimed[family], "result")))
	}
	return made
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

type row struct {
	label   string
	figures []string
}

type table struct {
	rows     []row
	single   bool // some have too few samples for an interval
	unstable bool // some intervals are wider than their times
}

var header = []string{"ns/elem", "±", "ratio", misses[0].name, misses[1].name, misses[2].name}

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

func (t *table) halfWidth(s results.Stat) string {
	width, ok := s.HalfWidth()
	if !ok {
		t.single = true
		return "?"
	}
	spread := strings.TrimPrefix(show.Spread(width), "±") // the header has it
	t.unstable = t.unstable || spread == show.Unstable
	return spread
}

// longTable is the length from which the header is repeated at the end.
const longTable = 40

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
		made.Notes = append(made.Notes, show.Unstable+": the interval is wider than the time "+
			"(end other programs, or raise --count)")
	}
	return made
}

// Headings returns in words what the names share, and the rest of each. A single benchmark is named
// by its last key.
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
	bare := "default" // for example, without a tile
	if g[0].Family() == "Operands" {
		bare = "contiguous" // equal except for the strides
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

func keys(r results.Row) (parts []string) {
	base, rest := benchfmt.Name(r.Name).Parts()
	parts = append(parts, show.Printable(string(base)))
	for _, part := range rest {
		parts = append(parts, Words(show.Printable(strings.TrimPrefix(string(part), "/"))))
	}
	return parts
}

// Words returns a part of a name, such as order=col, in words. A value that is not a number stands
// alone.
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

// digits formats three digits or four decimals, without an exponent.
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
