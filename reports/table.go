package reports

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

type table struct {
	ID, Family string
	Shared     string // the keys that all rows share, which have no column
	Columns    []string
	Rows       [][]tableCell
	Note       string // under it
	Folded     bool   // hidden until the reader asks for it
}

// longTable is the most rows of a table that is not folded.
const longTable = 60

// A tableCell is a text, with a sort key if it is a number, whose class begins with this word. Bar
// has the widths of its parts, in percent.
type tableCell struct {
	Text, Code, Sort, Class string
	Bar                     []float64
}

// tables returns a table of each family, of at most most rows.
func tables(rows []results.Row, most int) (all []table) {
	families := byFamily(rows)
	for i, of := range families[:min(len(families), maxFamily)] {
		t := table{ID: fmt.Sprintf("table-%d", i+1), Family: clip(of[0].Family())}
		if more := len(of) - most; more > 0 {
			t.Note = fmt.Sprintf("%d more are in summary.md.", more)
			of = of[:most]
		}
		t.Folded = len(of) > longTable
		t.Rows = make([][]tableCell, len(of))
		t.addKeys(of)
		t.addFigures(of)
		all = append(all, t)
	}
	return all
}

// Numeric reports whether a column has numbers.
func (t table) Numeric(i int) bool {
	return len(t.Rows) > 0 && strings.HasPrefix(t.Rows[0][i].Class, "number")
}

func (t *table) add(name string, cell func(i int) tableCell) {
	t.Columns = append(t.Columns, clip(name))
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], cell(i))
	}
}

func (t *table) addRow(cells ...tableCell) { t.Rows = append(t.Rows, cells) }

// textCell is of a name. A long one may break its lines anywhere.
func textCell(name string) tableCell {
	c := tableCell{Text: clip(name)}
	if len(c.Text) > 40 {
		c.Class = "long"
	}
	return c
}

func (t *table) share(text string) {
	if t.Shared != "" {
		t.Shared += ", "
	}
	t.Shared += clip(text)
}

func (r Report) changes() []table {
	if len(r.pairs) == 0 {
		return nil
	}
	t := table{ID: "table-changes", Family: "Old against new", Columns: []string{"benchmark",
		"intervals", "old µs/op", "±", "new µs/op", "±", "change"}}
	for _, p := range r.pairs[:min(len(r.pairs), maxRows)] {
		intervals := "overlap"
		if p.apart() {
			intervals = "apart"
		}
		t.addRow(textCell(p.name), textCell(intervals),
			numeric(p.old.Center*1e6, true), halfWidth(p.old),
			numeric(p.new.Center*1e6, true), halfWidth(p.new),
			numberCell(changeOf(p.change()), p.change()-1))
	}
	t.Folded = len(t.Rows) > longTable
	if more := len(r.pairs) - maxRows; more > 0 {
		t.Note = fmt.Sprintf("%d smaller changes are not shown.", more)
	}
	return []table{t}
}

// maxKeys is the most keys that get columns. Names with more stay whole.
const maxKeys = 12

// addKeys adds a column for each key, or one of whole names if these are not made of few keys.
func (t *table) addKeys(rows []results.Row) {
	var keys []string
	whole := false
	for _, r := range rows {
		_, parts := benchfmt.Name(r.Name).Parts()
		for _, part := range parts {
			key, _, ok := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
			whole = whole || !ok || len(keys) > maxKeys
			if !whole && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	if whole || keys == nil {
		t.add("benchmark", func(i int) tableCell { return textCell(rows[i].Name) })
		return
	}
	if i := slices.Index(keys, "kernel"); i >= 0 { // last, as in the names
		keys = append(slices.Delete(keys, i, i+1), "kernel")
	}
	for _, key := range keys {
		value, unit := rows[0].Key(key), ""
		if slices.Contains([]string{"pad", "stride", "tile"}, key) {
			unit = ", elements"
		}
		same := !slices.ContainsFunc(rows, func(r results.Row) bool { return r.Key(key) != value })
		if same && len(rows) > 1 {
			t.share(key + " " + value + strings.ReplaceAll(unit, ",", ""))
			continue
		}
		t.add(key+unit, func(i int) tableCell {
			c := textCell(rows[i].Key(key))
			if bytes := rows[i].Bytes(key); bytes > 0 {
				c.Sort = sortKey(float64(bytes))
			}
			return c
		})
	}
}

// noisy is the least half width of an interval that is highlighted.
const noisy = 0.1

func (t *table) addFigures(rows []results.Row) {
	units := map[string]bool{}
	for _, r := range rows {
		for unit := range r.Stats {
			units[unit] = true
		}
	}
	inUnit := func(name, unit string, scale float64) {
		if units[unit] {
			t.add(name, func(i int) tableCell {
				s, ok := rows[i].Stats[unit]
				return numeric(s.Center*scale, ok)
			})
		}
		delete(units, unit)
	}
	if n := timed(rows[0]).N; !slices.ContainsFunc(rows, func(r results.Row) bool {
		return timed(r).N != n
	}) {
		t.share(counted(n, "sample"))
	} else {
		t.add("samples", func(i int) tableCell {
			return numeric(float64(timed(rows[i]).N), true)
		})
	}
	inUnit("ns/elem", timeUnit, 1e9)
	if slices.ContainsFunc(rows, func(r results.Row) bool { return timed(r).N > 0 }) {
		t.add("±", func(i int) tableCell { return halfWidth(timed(rows[i])) })
	}
	inUnit("µs/op", passUnit, 1e6)
	inUnit("GiB/s", bandwidthUnit, 1.0/(1<<30))
	t.addMisses(rows, units)
	for _, unit := range slices.Sorted(maps.Keys(units))[:min(len(units), maxKeys)] {
		name, scale := unit, 1.0
		if before, ok := strings.CutSuffix(unit, passUnit); ok { // such as a predicted time
			name, scale = strings.TrimSuffix(before, "-")+" µs/op", 1e6
		}
		inUnit(name, unit, scale)
	}
}

// addMisses adds misses per element, since accesses of vectors are wider. Without times the
// elements are unknown, and it adds the share of accesses that miss.
func (t *table) addMisses(rows []results.Row, units map[string]bool) {
	suffix, value := " misses/elem", missesByElem
	if !slices.ContainsFunc(rows, func(r results.Row) bool {
		_, ok := missesByElem(r, refsUnit)
		return ok
	}) {
		suffix, value = " misses, % of all references", missRate
	}
	for _, miss := range missLevels {
		if units[miss.unit] && units[refsUnit] {
			t.add(miss.name+suffix, func(i int) tableCell {
				v, ok := value(rows[i], miss.unit)
				return numeric(v.y, ok)
			})
			delete(units, miss.unit)
		}
	}
	delete(units, refsUnit)
}

func missesByElem(r results.Row, unit string) (point, bool) {
	v, ok := r.ByElement(unit)
	if !ok || !(v >= 0) {
		return point{}, false
	}
	return exactly(0, v), true
}

func timed(r results.Row) results.Stat {
	if s, ok := r.Stats[timeUnit]; ok {
		return s
	}
	return r.Stats[passUnit]
}

func numeric(v float64, ok bool) tableCell {
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return tableCell{Class: "number"}
	}
	return numberCell(digits(v), v)
}

// numberCell is of a number in words.
func numberCell(text string, v float64) tableCell {
	return tableCell{Text: text, Sort: sortKey(v), Class: "number"}
}

// halfWidth is relative to the median.
func halfWidth(s results.Stat) tableCell {
	width, ok := s.HalfWidth()
	if !ok {
		return numeric(0, false) // too few samples
	}
	// the column's head has the sign
	c := numberCell(strings.TrimPrefix(show.Spread(width), "±"), width)
	if width >= noisy {
		c.Class += " wide"
	}
	return c
}

// sortKey formats a number for JavaScript.
func sortKey(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 9, 64), "+", "", 1)
}
