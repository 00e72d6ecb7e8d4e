package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
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

// A matrix is the sum over a square matrix, from its benchmark's name.
type matrix struct {
	row   results.Row
	order string // row or col; "" for storage order, in vectors
	n     int
	bytes int  // of its elements
	pow2  bool // rows lie a power of two of bytes apart
}

// matrices returns the sums over square matrices with the plain loop, by row and by column, and
// those in vectors.
func matrices(rows []results.Row) []matrix {
	var found []matrix
	for _, r := range rows {
		m := matrix{row: r, order: r.Key("order")}
		n, ok := square(r.Key("shape"))
		elem := elementSize(r.Key("dtype"))
		plain := r.Family() == "Traverse" && vectorKernel(r) == "" &&
			(m.order == "row" || m.order == "col")
		vector := r.Family() == "Stream" && vectorKernel(r) != "" && m.order == ""
		if !(plain || vector) || r.Key("op") != "sum" || r.Key("view") != "" ||
			r.Key("tile") != "" || !ok || elem == 0 {
			continue
		}
		pitch := (n + number(r, "pad")) * elem
		m.n, m.bytes, m.pow2 = n, n*n*elem, pitch&(pitch-1) == 0
		found = append(found, m)
	}
	return oneASize(ofOneType(found))
}

// ofOneType keeps the dtype with the most sizes, since lines show one dtype. Several dtypes of one
// size each are drawn as bars instead.
func ofOneType(found []matrix) []matrix {
	sizes, most := map[string]map[int]bool{}, ""
	for _, m := range found {
		dtype := m.row.Key("dtype")
		if sizes[dtype] == nil {
			sizes[dtype] = map[int]bool{}
		}
		sizes[dtype][m.n] = true
	}
	for _, m := range found {
		if dtype := m.row.Key("dtype"); len(sizes[dtype]) > len(sizes[most]) {
			most = dtype
		}
	}
	if len(sizes) > 1 && len(sizes[most]) == 1 {
		return nil
	}
	return slices.DeleteFunc(found, func(m matrix) bool { return m.row.Key("dtype") != most })
}

// oneASize keeps one matrix for each point of a line: the least padding, and the first vector
// kernel. Bars show the others.
func oneASize(found []matrix) (ofLines []matrix) {
	type place struct {
		order        string
		n            int
		pow2, padded bool
	}
	at, vectors := map[place]int{}, ""
	for _, m := range found {
		if kernel := vectorKernel(m.row); kernel != "" {
			if vectors == "" {
				vectors = kernel
			}
			if kernel != vectors {
				continue
			}
		}
		// no line shows these
		p := place{m.order, m.n, m.pow2, m.order == "row" && m.row.Key("pad") != ""}
		i, ok := at[p]
		switch {
		case !ok:
			at[p] = len(ofLines)
			ofLines = append(ofLines, m)
		case number(m.row, "pad") < number(ofLines[i].row, "pad"):
			ofLines[i] = m
		}
	}
	return ofLines
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

// bySize returns the series by size. Columns of rows a power of two of bytes apart fall into few
// cache sets, so they are a series of their own.
func (d *data) bySize(found []matrix, value func(results.Row) (point, bool)) []series {
	all := []series{
		{name: "row", hue: d.look.hues[0]},
		{name: "column", hue: d.look.hues[1]},
		{name: "column, stride 2^k", hue: d.look.hues[2]},
		{name: "row, vectors", hue: d.look.hues[3], dashed: true},
	}
	for _, m := range found {
		q, ok := value(m.row)
		if !ok {
			continue
		}
		q.x = float64(m.bytes)
		s := &all[0]
		switch {
		case m.order == "row" && m.row.Key("pad") != "": // shown as rows without padding
			continue
		case m.order == "":
			s = &all[3]
			s.name = "row, " + loop(vectorKernel(m.row))
		case m.order == "col" && m.pow2:
			s = &all[2]
		case m.order == "col":
			s = &all[1]
		}
		s.points = append(s.points, q)
	}
	return all
}

// oneSize reports whether all matrices have one size, which is drawn as bars.
func oneSize(found []matrix) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(m matrix) bool {
		return m.n != found[0].n
	})
}

func sums(rows []results.Row, m matrix) []results.Row {
	of := slices.DeleteFunc(slices.Clone(rows), func(r results.Row) bool {
		return r.Family() != "Traverse" && r.Family() != "Stream" ||
			slices.ContainsFunc([]string{"op", "shape", "dtype"}, func(key string) bool {
				return r.Key(key) != m.row.Key(key)
			})
	})
	return of[:min(len(of), maxBars)]
}

func summed(m matrix) string {
	return fmt.Sprintf("Summing a %dx%d %s matrix: ", m.n, m.n, short(m.row.Key("dtype"), 16))
}

func traverseBars(d *data, found []matrix) (*figure, error) {
	if _, _, both := pair(found); !both {
		return nil, nil // others shows it
	}
	b := titledBars{bars: bars{look: &d.look}}
	rows := slices.DeleteFunc(sums(d.rows, found[0]), func(r results.Row) bool {
		return !drawable(r.Stats[timeUnit])
	})
	if len(rows) == 0 {
		return nil, nil
	}
	d.shows(rows...)
	shared, labels := terminal.Headings(rows)
	b.add(shared, shorts(labels, 56), rows, timePerElement)
	f := &figure{title: summed(found[0]) + "time per element", sentence: timeSentence(found),
		alt: "Bars: ns per element of each sum"}
	b.finish(f, "ns per element")
	return f, nil
}

// missBars draws a group of bars for each level.
func missBars(d *data, found []matrix) *figure {
	timed := slices.ContainsFunc(found, func(m matrix) bool {
		return drawable(m.row.Stats[timeUnit])
	})
	if _, _, both := pair(found); !both && timed {
		return nil // others shows its time, and the table its misses
	}
	b := titledBars{bars: bars{look: &d.look}}
	rows := sums(d.rows, found[0])
	_, labels := terminal.Headings(rows)
	for _, level := range missLevels {
		rate := func(r results.Row) point { q, _ := missRate(r, level.unit); return q }
		if slices.ContainsFunc(rows, func(r results.Row) bool {
			_, ok := missRate(r, level.unit)
			return ok
		}) {
			b.add(level.name+" misses", shorts(labels, 56),
				rows[:min(len(rows), maxBars/len(missLevels))], rate)
		}
	}
	if b.drawn == 0 {
		return nil
	}
	f := &figure{title: summed(found[0]) + "misses", sentence: missSentence(found),
		alt: "Bars: misses of each sum at each level, as a share of all references"}
	b.finish(f, "misses, % of all references")
	percentAxis(&f.panels[0].X)
	f.panels[0].X.Min = 0
	f.explain("simulated, exact")
	return f
}

func sizeRange(found []matrix) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, m := range found {
		low, high = min(low, float64(m.bytes)), max(high, float64(m.bytes))
	}
	return low, high
}

// showsLines records the matrices that lines show. Streams in storage order are the line by rows.
func (d *data) showsLines(found []matrix) {
	for _, m := range found {
		d.shows(m.row)
	}
	for _, r := range d.rows {
		if r.Key("dtype") == found[0].row.Key("dtype") && r.Family() == "Stream" &&
			r.Key("op") == "sum" && r.Key("view") == "" && vectorKernel(r) == "" {
			d.shows(r)
		}
	}
}

func traverseTime(d *data) (*figure, error) {
	found := matrices(d.rows)
	all := d.bySize(found, func(r results.Row) (point, bool) {
		s, ok := r.Stats[timeUnit]
		return interval(s, 1e9), ok && drawable(s)
	})
	if oneSize(found) {
		return traverseBars(d, found)
	}
	low, high, ok := span(all)
	if !ok {
		return nil, nil
	}
	p := d.look.newPanel("size of the matrix", "ns per element")
	least, largest := sizeRange(found)
	d.showsLines(found)
	byteAxis(&p.X, least, largest)
	logAxis(&p.Y, low/1.5, high*2)
	d.look.addGrid(p, true)
	p.Add(d.look.marks(d.cpuCaches))
	f := &figure{title: "Summing a square matrix by rows and by columns: time by size",
		sentence: timeSentence(found),
		alt:      "Lines: ns per element against the size of the matrix: " + named(all...),
		height:   3.3 * vg.Inch, panels: []*panel{p}}
	f.explainIntervals("bands: 95% interval", pointsOf(all...))
	return f, d.look.addSeries(f, p, all...)
}

func missRates(d *data) (*figure, error) {
	// vectors have other references
	found := slices.DeleteFunc(matrices(d.rows), func(m matrix) bool { return m.order == "" })
	if oneSize(found) {
		return missBars(d, found), nil
	}
	least, largest := sizeRange(found)
	f := &figure{title: "Summing a square matrix: misses by size", sentence: missSentence(found),
		alt: "Lines: misses of each level as a share of all references, against the size of the " +
			"matrix: "}
	var lines []series
	for _, level := range missLevels {
		all := d.bySize(found, func(r results.Row) (point, bool) { return missRate(r, level.unit) })
		if !slices.ContainsFunc(all, func(s series) bool { return len(s.points) > 0 }) {
			continue
		}
		p := d.look.newPanel("", level.name+" misses, %")
		byteAxis(&p.X, least, largest)
		percentAxis(&p.Y)
		d.look.addGrid(p, true)
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

type sizeKey struct{ n, bytes int }

func (m matrix) size() sizeKey { return sizeKey{m.n, m.bytes} }

// byColumns returns the sums by column, padded or not.
func byColumns(found []matrix, padded bool) map[sizeKey]matrix {
	of := map[sizeKey]matrix{}
	for _, m := range found {
		if m.order == "col" && (m.row.Key("pad") != "") == padded {
			of[m.size()] = m
		}
	}
	return of
}

// pair returns the row and the column traversal of one matrix: 4000x4000 as in the articles, else
// the largest.
func pair(found []matrix) (row, col matrix, ok bool) {
	cols, best := byColumns(found, false), -1
	for _, m := range found {
		c, both := cols[m.size()]
		if m.order != "row" || m.row.Key("pad") != "" || !both {
			continue
		}
		rank := m.n
		if m.n == 4000 {
			rank = math.MaxInt
		}
		if rank > best {
			row, col, best, ok = m, c, rank, true
		}
	}
	return row, col, ok
}

func timeSentence(found []matrix) string {
	row, col, ok := pair(found)
	if !ok {
		return lineSentence(found)
	}
	a, b := row.row.Stats[timeUnit], col.row.Stats[timeUnit]
	times := fmt.Sprintf("%s against %s", results.Scale(b.Center, timeUnit),
		results.Scale(a.Center, timeUnit))
	switch {
	case a.N != b.N:
		times += fmt.Sprintf(", medians of %d and %d samples", b.N, a.N)
	case a.N > 1:
		times += fmt.Sprintf(", medians of %d samples", a.N)
	}
	return fmt.Sprintf("Summing a %dx%d %s matrix by columns takes %.1f times as long as by "+
		"rows (%s).", row.n, row.n, row.row.Key("dtype"), b.Center/a.Center, times)
}

// lineSentence describes the range of one order, if there is nothing to compare.
func lineSentence(found []matrix) string {
	for _, line := range []struct{ order, words string }{{"row", "By rows"}, {"col", "By columns"},
		{"", "By rows, with vectors"}} {
		of := slices.DeleteFunc(slices.Clone(found), func(m matrix) bool {
			return m.order != line.order || m.row.Key("pad") != "" ||
				!drawable(m.row.Stats[timeUnit])
		})
		if len(of) == 0 {
			continue
		}
		bySize := func(a, b matrix) int { return cmp.Compare(a.n, b.n) }
		small, large := slices.MinFunc(of, bySize), slices.MaxFunc(of, bySize)
		if small.n == large.n {
			continue
		}
		at := func(m matrix) string { return results.Scale(m.row.Stats[timeUnit].Center, timeUnit) }
		return fmt.Sprintf("%s, summing takes %s for a %dx%d %s matrix, and %s for one of %dx%d.",
			line.words, at(small), small.n, small.n, small.row.Key("dtype"), at(large),
			large.n, large.n)
	}
	return "Only one order was measured, so there is nothing to compare."
}

func missSentence(found []matrix) string {
	row, col, ok := pair(found)
	if !ok {
		return "Only one order was simulated, so there is nothing to compare."
	}
	text := fmt.Sprintf("Of all references to the %dx%d matrix, %s%% miss D1 and %s%% miss LL by "+
		"columns; by rows, %s%% and %s%%.",
		row.n, row.n, percent(missRate(col.row, d1Unit)), percent(missRate(col.row, llUnit)),
		percent(missRate(row.row, d1Unit)), percent(missRate(row.row, llUnit)))
	padded := byColumns(found, true)
	for _, m := range found {
		p, ok := padded[m.size()]
		if ok && m.order == "col" && m.pow2 && llRate(p) < llRate(m)/4 {
			return text + fmt.Sprintf(" Rows a power of two of bytes apart compete for few sets: "+
				"of all references to the %dx%d matrix by columns, %s%% miss LL, and %s%% with "+
				"rows padded by %s elements.",
				m.n, m.n, percent(missRate(m.row, llUnit)), percent(missRate(p.row, llUnit)),
				p.row.Key("pad"))
		}
	}
	return text
}

func llRate(m matrix) float64 {
	q, _ := missRate(m.row, llUnit)
	return q.y
}
