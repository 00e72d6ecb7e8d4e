package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// The units that charts read, as benchunit tidies them.
const (
	timeUnit      = "sec/elem"
	passUnit      = "sec/op"
	bandwidthUnit = "B/s"
	refsUnit      = "D-refs/op"
	d1Unit        = "D1-misses/op"
	llUnit        = "LL-misses/op"
	tlbUnit       = "TLB-misses/op"
)

var missLevels = []struct{ name, unit string }{{"D1", d1Unit}, {"LL", llUnit}, {"TLB", tlbUnit}}

// A line is one of the lines of the charts by size.
type line int

// Columns of rows a power of two of bytes apart fall into few cache sets, so they are a line of
// their own. Rows with padding are as those without, and have none.
const (
	byRow line = iota
	byColumn
	byColumnPow2
	byVector
	noLine
)

// A matrix is the sum over a square matrix, from its benchmark's name.
type matrix struct {
	row    results.Row
	line   line
	n      int
	bytes  int // of its elements
	padded bool
}

// matrices returns the sums over square matrices with the plain loop, by row and by column, and
// those in vectors. It keeps the dtype with the most sizes, and for each size of a line the
// matrix with the least padding. Several dtypes of one size have no line.
func matrices(rows []results.Row) []matrix {
	by := map[string][]matrix{}
	most, sizes := "", map[string]map[int]bool{}
	for _, r := range slices.SortedStableFunc(slices.Values(rows), func(a, b results.Row) int {
		return number(a, "pad") - number(b, "pad")
	}) {
		m, ok := matrixOf(r)
		dtype := r.Key("dtype")
		if !ok || slices.ContainsFunc(by[dtype], func(o matrix) bool {
			return o.line == m.line && o.n == m.n && o.line != noLine
		}) {
			continue
		}
		if sizes[dtype] == nil {
			sizes[dtype] = map[int]bool{}
		}
		by[dtype], sizes[dtype][m.n] = append(by[dtype], m), true
		if len(sizes[dtype]) > len(sizes[most]) {
			most = dtype
		}
	}
	if len(sizes) > 1 && len(sizes[most]) == 1 {
		return nil
	}
	return by[most]
}

func matrixOf(r results.Row) (m matrix, ok bool) {
	n, isSquare := square(r.Key("shape"))
	elem, order := elementSize(r.Key("dtype")), r.Key("order")
	plain := r.Family() == "Traverse" && vectorKernel(r) == "" && (order == "row" || order == "col")
	vector := r.Family() == "Stream" && vectorKernel(r) != "" && order == ""
	if !(plain || vector) || r.Key("op") != "sum" || r.Key("view") != "" || r.Key("tile") != "" ||
		!isSquare || elem == 0 {
		return m, false
	}
	pitch := (n + number(r, "pad")) * elem
	m = matrix{row: r, n: n, bytes: n * n * elem, padded: r.Key("pad") != ""}
	switch {
	case vector:
		m.line = byVector
	case order == "col" && pitch&(pitch-1) == 0:
		m.line = byColumnPow2
	case order == "col":
		m.line = byColumn
	case m.padded:
		m.line = noLine
	}
	return m, true
}

// square parses a shape such as 64x64, of at most 2^28 rows.
func square(shape string) (n int, ok bool) {
	high, wide, ok := strings.Cut(shape, "x")
	n, err := strconv.Atoi(high)
	return n, ok && high == wide && err == nil && n > 0 && n <= 1<<28
}

// elementSize returns the bytes of a dtype, 0 if its name has no bits.
func elementSize(dtype string) int {
	bits, _ := strconv.Atoi(strings.TrimLeft(dtype, "abcdefghijklmnopqrstuvwxyz"))
	if bits < 0 || bits > 1024 {
		return 0
	}
	return bits / 8
}

func (d *data) bySize(found []matrix, value func(results.Row) (point, bool)) []series {
	all := []series{
		{name: "row", hue: d.look.hues[0]},
		{name: "column", hue: d.look.hues[1]},
		{name: "column, stride 2^k", hue: d.look.hues[2]},
		{name: "row, vectors", hue: d.look.hues[3], dashed: true},
	}
	for _, m := range found {
		if q, ok := value(m.row); ok && m.line != noLine {
			q.x = float64(m.bytes)
			if m.line == byVector && all[byVector].points == nil {
				all[byVector].name = "row, " + loop(vectorKernel(m.row))
			}
			all[m.line].points = append(all[m.line].points, q)
		}
	}
	return all
}

// oneSize reports whether lines would be points.
func oneSize(found []matrix) bool {
	return !slices.ContainsFunc(found, func(m matrix) bool { return m.n != found[0].n })
}

// traverseBars draws the sums of a matrix of one size, if it is summed in both orders.
func traverseBars(d *data, found []matrix) (*figure, error) {
	m, _, both := pair(found)
	var rows []results.Row
	for _, m := range found {
		if drawable(m.row.Stats[timeUnit]) {
			rows = append(rows, m.row)
		}
	}
	if !both || len(rows) < len(found) {
		return nil, nil
	}
	d.shows(rows...)
	f := &figure{title: fmt.Sprintf("Summing a %dx%d matrix: time per element", m.n, m.n),
		sentence: strings.TrimSpace(timeSentence(found) + " " + missSentence(found)),
		alt:      "Bars: ns per element of each sum"}
	b := bars{look: &d.look}
	b.add(rows, timePerElement)
	b.draw(f, "ns per element")
	return f, nil
}

func traverseTime(d *data) (*figure, error) {
	found := matrices(d.rows)
	if oneSize(found) {
		return traverseBars(d, found)
	}
	all := d.bySize(found, func(r results.Row) (point, bool) {
		return timePerElement(r), drawable(r.Stats[timeUnit])
	})
	low, high, ok := span(all)
	if !ok {
		return nil, nil
	}
	for _, m := range found {
		d.shows(m.row)
	}
	for _, r := range d.rows { // streams in storage order are the line by rows
		if r.Key("dtype") == found[0].row.Key("dtype") && r.Family() == "Stream" &&
			r.Key("op") == "sum" && r.Key("view") == "" && vectorKernel(r) == "" {
			d.shows(r)
		}
	}
	p := d.look.newPanel("size of the matrix", "ns per element")
	byteAxis(&p.X, pointsOf(all...))
	logAxis(&p.Y, low/1.5, high*2, number6)
	p.Add(d.look.marks(d.cpuCaches))
	f := &figure{title: "Summing a square matrix by rows and by columns: time by size",
		sentence: timeSentence(found),
		alt:      "Lines: ns per element against the size of the matrix: " + named(all...),
		height:   3.3 * vg.Inch, panels: []*panel{p}}
	return f, d.look.addSeries(f, p, all...)
}

func missRates(d *data) (*figure, error) {
	// vectors have other references
	found := slices.DeleteFunc(matrices(d.rows), func(m matrix) bool { return m.line == byVector })
	if oneSize(found) {
		return nil, nil
	}
	f := &figure{title: "Summing a square matrix: misses by size", sentence: missSentence(found),
		alt: "Lines: misses of each level as a share of all references, against the size of the " +
			"matrix: "}
	var lines []series
	for _, level := range missLevels {
		all := d.bySize(found, func(r results.Row) (point, bool) { return missRate(r, level.unit) })
		if _, _, ok := span(all); !ok {
			continue
		}
		p := d.look.newPanel("", level.name+" misses, %")
		byteAxis(&p.X, pointsOf(all...))
		percentAxis(&p.Y)
		p.Add(d.look.marks(append(marksOf(d.simulated, level.name),
			marksOf(reaches(d.setup.TLB), level.name)...)))
		if err := d.look.addSeries(f, p, all...); err != nil {
			return nil, err
		}
		f.panels = append(f.panels, p)
		f.height += 2.1 * vg.Inch
		lines = all
	}
	if len(f.panels) == 0 {
		return nil, nil
	}
	f.alt += named(lines...)
	f.explain("% of all references; simulated, exact")
	f.panels[len(f.panels)-1].x = "size of the matrix"
	return f, nil
}

// missRate is in percent of all references.
func missRate(r results.Row, unit string) (point, bool) {
	misses, ok := r.Stats[unit]
	refs := r.Stats[refsUnit]
	if !ok || !drawable(refs) || !(misses.Center >= 0 && misses.Center <= refs.Center) {
		return point{}, false
	}
	return exactly(0, 100*misses.Center/refs.Center), true
}

// byColumns returns the sums by column by size, padded or not.
func byColumns(found []matrix, padded bool) map[int]matrix {
	of := map[int]matrix{}
	for _, m := range found {
		if (m.line == byColumn || m.line == byColumnPow2) && m.padded == padded {
			of[m.n] = m
		}
	}
	return of
}

// pair returns the row and the column traversal of one matrix: 4000x4000 as in the articles, else
// the largest.
func pair(found []matrix) (row, col matrix, ok bool) {
	cols, best := byColumns(found, false), -1
	for _, m := range found {
		rank := m.n
		if m.n == 4000 {
			rank = math.MaxInt
		}
		if c, both := cols[m.n]; both && m.line == byRow && rank > best {
			row, col, best, ok = m, c, rank, true
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
	return fmt.Sprintf("Summing a %dx%d %s matrix by columns takes %.1f times as long as by "+
		"rows (%s against %s).", row.n, row.n, row.row.Key("dtype"), b.Center/a.Center,
		show.Scale(b.Center, timeUnit), show.Scale(a.Center, timeUnit))
}

func missSentence(found []matrix) string {
	row, col, ok := pair(found)
	if !ok {
		return "Only one order was simulated, so there is nothing to compare."
	}
	if _, known := missRate(col.row, d1Unit); !known {
		return ""
	}
	d1 := func(m matrix) string { return percent(missRate(m.row, d1Unit)) }
	ll := func(m matrix) string { return percent(missRate(m.row, llUnit)) }
	text := fmt.Sprintf("Of all references to the %dx%d matrix, %s%% miss D1 and %s%% miss LL by "+
		"columns; by rows, %s%% and %s%%.", row.n, row.n, d1(col), ll(col), d1(row), ll(row))
	padded := byColumns(found, true)
	for _, m := range found {
		p, ok := padded[m.n]
		with, _ := missRate(p.row, llUnit)
		without, _ := missRate(m.row, llUnit)
		if ok && m.line == byColumnPow2 && with.y < without.y/4 {
			return text + fmt.Sprintf(" Rows a power of two of bytes apart compete for few sets: "+
				"of all references to the %dx%d matrix by columns, %s%% miss LL, and %s%% with "+
				"rows padded by %s elements.", m.n, m.n, ll(m), ll(p), p.row.Key("pad"))
		}
	}
	return text
}
