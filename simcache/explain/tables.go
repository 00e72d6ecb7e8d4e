package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stridebench/stridebench/simcache"
)

// A Table is rows of cells. The first row is the header, and the first cell of each row its name. A
// row of a single cell, under a wider header, is text across all columns.
type Table [][]string

const gap = 2

// words reports whether a row is text across all columns.
func (t Table) words(row []string) bool { return len(row) == 1 && len(t[0]) > 1 }

func (t Table) beside(columns int) (text string) {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			if !t.words(row) {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for _, row := range t {
		line := row[0]
		if !t.words(row) {
			line = fmt.Sprintf("%-*s", widths[0], row[0])
		}
		for i, cell := range row[1:] {
			line += fmt.Sprintf("%*s", gap+widths[i+1], cell)
		}
		line = strings.TrimRight(line, " ")
		if columns > 0 && utf8.RuneCountInString(line) > columns && !t.words(row) {
			line = strings.Repeat(" ", gap) + strings.Join(strings.Fields(line), " ")
		}
		text += Fold(line, columns) + "\n"
	}
	return text
}

// WriteWithin writes an empty line and the table, in lines of at most this many columns; 0 means no
// limit. It aligns all cells but the first of a row to the right. In a wider table, long names have
// their own lines and the header several. Lines that still do not fit are folded.
func (t Table) WriteWithin(w io.Writer, columns int) error {
	if cells := slices.DeleteFunc(slices.Clone(t), t.words); columns > 0 &&
		widest(cells.beside(0)) > columns {
		t = t.narrow(columns)
	}
	_, err := io.WriteString(w, "\n"+t.beside(columns))
	return err
}

// narrow breaks the header, and gives long names rows of their own.
func (t Table) narrow(columns int) (all Table) {
	var header [][]string // lines of each column
	lines, room := 0, columns
	for i, name := range t[0] {
		wide := 0
		for _, row := range t[1:] {
			if !t.words(row) {
				wide = max(wide, utf8.RuneCountInString(row[i]))
			}
		}
		header = append(header, strings.Split(wrap(name, max(wide, 9)), "\n"))
		lines = max(lines, len(header[i]))
		if i > 0 {
			room -= gap + max(wide, widest(strings.Join(header[i], "\n")))
		}
	}
	for l := range lines { // aligned at the last one
		var row []string
		for _, h := range header {
			row = append(row, append(make([]string, lines-len(h)), h...)[l])
		}
		all = append(all, row)
	}
	const fewest = 12 // columns that names get
	for _, row := range t[1:] {
		if !t.words(row) && utf8.RuneCountInString(row[0]) > max(room, fewest) {
			all = append(all, row[:1])
			row = append([]string{""}, row[1:]...)
		}
		all = append(all, row)
	}
	return all
}

func widest(text string) (columns int) {
	for line := range strings.SplitSeq(text, "\n") {
		columns = max(columns, utf8.RuneCountInString(line))
	}
	return columns
}

const paragraphs = 80

// WriteParagraphs writes paragraphs, each after an empty line. Lines have at most 80 columns, or
// fewer if columns is not 0.
func WriteParagraphs(w io.Writer, all []string, columns int) error {
	for _, p := range all {
		if _, err := fmt.Fprintf(w, "\n%s\n", wrap(p, width(columns))); err != nil {
			return err
		}
	}
	return nil
}

func width(columns int) int {
	if columns > 0 {
		return min(paragraphs, columns)
	}
	return paragraphs
}

// WriteTables writes sentences and tables of text/tabwriter in lines of at most this many columns;
// 0 means no limit. A word wider than the line, such as a benchmark's name, stays whole for
// copying.
func WriteTables(w io.Writer, text string, columns int) error {
	_, err := io.WriteString(w, foldLines(text, columns))
	return err
}

func foldLines(text string, columns int) string {
	if columns == 0 {
		return text
	}
	var folded []string
	for line := range strings.SplitSeq(text, "\n") {
		folded = append(folded, Fold(strings.TrimRight(line, " "), columns))
	}
	return strings.Join(folded, "\n")
}

// Fold breaks a line into lines of at most this many columns; 0 means no limit. It indents all but
// the first by two more.
func Fold(text string, columns int) string {
	if columns == 0 || utf8.RuneCountInString(text) <= columns {
		return text
	}
	bare := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(bare)] + strings.Repeat(" ", gap)
	return indent[gap:] + strings.ReplaceAll(wrap(bare, columns-len(indent)), "\n", "\n"+indent)
}

// wrap breaks a paragraph into lines of at most this many columns, but not before a unit.
func wrap(text string, columns int) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		text = strings.ReplaceAll(text, " "+unit, "\u00a0"+unit)
	}
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines = append(lines, strings.TrimRight(line, " "))
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return strings.ReplaceAll(strings.Join(append(lines, line), "\n"), "\u00a0", " ")
}

// Write writes the counts for people; columns is the widest line, or 0. With words, what would help
// is first, and the rest of Text is last before the curve. Between them are the summary, without
// LL's references unless there are two levels, and the tables if wanted.
func (r Run) Write(w io.Writer, instructions, tables, words bool, columns int) error {
	two := len(r.Levels) == 2
	summary := Summary(r.Counts, instructions && two || r.Counts.Ir > 0)
	if !two { // D1 is the first and LL the last level, which D1's misses need not reach
		summary = summary[:strings.LastIndex(summary, "\n\n")+1]
	}
	first := ""
	if words && r.advice() != "" {
		first = wrap(r.advice(), width(columns)) + "\n\n"
	}
	if _, err := io.WriteString(w, first+foldLines(summary, columns)); err != nil {
		return err
	}
	all := filled(r.statementTable(), r.levelTable(!words), r.tensorTable(), r.tlbTable())
	switch {
	case r.Code != nil:
		all = filled(r.functionTable(), r.codeTable(), r.tensorTable())
		if tables {
			all = append(all, filled(r.levelTable(!words), r.tlbTable())...)
		}
	case words: // the words cover tensors and the TLB
		all = filled(r.statementTable(), r.levelTable(false))
	case !tables:
		all = filled(r.statementTable())
	}
	for _, t := range all {
		if err := t.WriteWithin(w, columns); err != nil {
			return err
		}
	}
	if words {
		if err := WriteParagraphs(w, r.reasons(), columns); err != nil {
			return err
		}
	}
	return r.writeCurve(w, columns)
}

func (r Run) writeCurve(w io.Writer, columns int) error {
	t := r.Curve
	if t == nil {
		return nil
	}
	shape, unit := "fully associative", "lines"
	if t.Sets > 1 {
		shape, unit = fmt.Sprintf("%d sets", t.Sets), "ways"
	}
	title := Say("LRU, %s, lines of %d B: %d refs to %d lines (%s), %d cold misses", shape, t.Line,
		t.Refs, t.Lines, simcache.Bytes(int(t.Lines)*t.Line), t.Cold)
	if _, err := fmt.Fprintf(w, "\n%s", Fold(title, columns)); err != nil {
		return err
	}
	rows := Table{{"capacity", unit, "misses", ofAll, ""}}
	size, marked := len(rows[0][0]), 0
	for _, p := range t.Points {
		row := []string{simcache.Bytes(int(p.Bytes)), number(p.Capacity), number(p.Misses),
			share(p.Ratio), strings.Join(p.Marks, ", ")}
		size, marked = max(size, len(row[0])), max(marked, len(row[4]))
		rows = append(rows, row)
	}
	for _, row := range rows { // the first cell right, the last one left
		row[0], row[4] = fmt.Sprintf("  %*s", size, row[0]), fmt.Sprintf("%-*s", marked, row[4])
	}
	return rows.WriteWithin(w, columns)
}

func filled(all ...Table) []Table {
	return slices.DeleteFunc(all, func(t Table) bool { return len(t) == 0 })
}

func number(n uint64) string { return Say("%d", n) }

func share(part float64) string { return fmt.Sprintf("%.2f%%", 100*part) }

// levelRows is a table with a column for each level.
type levelRows struct {
	Run
	table Table
}

func (t *levelRows) row(wanted bool, name string, cell func(i int) string) {
	if !wanted {
		return
	}
	cells := []string{name}
	for i := range t.Levels {
		cells = append(cells, cell(i))
	}
	t.table = append(t.table, cells)
}

func (t *levelRows) count(wanted bool, name string, field func(simcache.LevelCounts) uint64) {
	t.row(wanted, name, func(i int) string { return number(field(t.Levels[i])) })
}

// levelTable without sets shows misses by set only where they are uneven.
func (r Run) levelTable(sets bool) Table {
	type L = simcache.LevelCounts
	t, levels := levelRows{Run: r}, r.Config.Levels
	t.row(true, "level", func(i int) string { return r.Levels[i].Name })
	t.row(true, "size", func(i int) string { return simcache.Bytes(levels[i].Size) })
	t.row(true, "ways x sets", func(i int) string {
		return fmt.Sprintf("%d x %d", levels[i].Ways, levels[i].Sets())
	})
	t.row(true, "policy", func(i int) string { return cmp.Or(levels[i].Policy, "lru") })
	t.row(r.tied(), "inclusion", func(i int) string {
		if i == 0 {
			return ""
		}
		return cmp.Or(levels[i].Inclusion, independent)
	})
	t.count(true, "references", L.Refs)
	t.count(true, "misses", L.Misses)
	t.row(true, "of those that reach it", func(i int) string {
		return share(missRate(r.Levels[i]))
	})
	classes, backs := r.Config.Observes("classes"), r.Config.WriteBacks
	t.count(classes, "  compulsory", func(l L) uint64 { return l.Compulsory })
	t.count(classes, "  capacity", func(l L) uint64 { return l.Capacity })
	t.count(classes, "  conflict", func(l L) uint64 { return l.Conflict })
	t.count(backs, "write-backs", func(l L) uint64 { return l.WriteBacks })
	t.count(backs, "bytes in", func(l L) uint64 { return l.BytesIn })
	t.count(backs, "bytes out", func(l L) uint64 { return l.BytesOut })
	has := func(field func(L) uint64) bool {
		return slices.ContainsFunc(r.Levels, func(l L) bool { return field(l) > 0 })
	}
	victims, prefetches := func(l L) uint64 { return l.VictimHits },
		func(l L) uint64 { return l.Prefetches }
	t.count(has(victims), "victim hits", victims)
	t.count(has(prefetches), "prefetches", prefetches)
	t.count(has(prefetches), "  useful", func(l L) uint64 { return l.Useful })
	t.count(has(prefetches), "  useless", func(l L) uint64 { return l.Useless })
	t.row(r.Config.Observes("bytes"), "bytes used", func(i int) string {
		if r.Levels[i].BytesFilled == 0 {
			return "-"
		}
		return share(usedPart(r.Levels[i]))
	})
	for _, l := range r.Levels {
		s, ok := spreadOf(l)
		sets = sets || ok && s.Uneven >= 1.5 && l.Misses() >= uint64(4*s.Sets)
	}
	if sets {
		t.spreads()
	}
	return t.table
}

func (t *levelRows) spreads() {
	add := func(name string, cell func(spread) string) {
		t.row(t.Config.Observes("sets"), name, func(i int) string {
			if s, ok := spreadOf(t.Levels[i]); ok {
				return cmp.Or(cell(s), "-")
			}
			return "-"
		})
	}
	add("sets that missed", func(s spread) string {
		return fmt.Sprintf("%d of %d", s.Missed, s.Sets)
	})
	add("busiest / mean set", func(s spread) string { return fmt.Sprintf("%.2f", s.Uneven) })
	add("busiest sets", func(s spread) string {
		var busiest []string
		for _, b := range s.Busiest {
			busiest = append(busiest, fmt.Sprint(b.Set))
		}
		return strings.Join(busiest, " ")
	})
}

// independent is the default of Level.Inclusion.
const independent = "non-inclusive"

func (r Run) tied() bool {
	return slices.ContainsFunc(r.Config.Levels, func(l simcache.Level) bool {
		return cmp.Or(l.Inclusion, independent) != independent
	})
}

// tensorTable has a row for each tensor, or object of a compiled program.
func (r Run) tensorTable() Table {
	t := r.head("tensor")
	if r.Code != nil {
		return r.rows("object", r.Tensors, func(l Line) string { return l.Function })
	}
	for _, l := range r.Tensors {
		t = append(t, r.misses(l.Function, l.Counts))
	}
	return t
}

// ofAll heads shares of all references, not of the references that reach a level.
const ofAll = "of all references"

func (r Run) head(what string) Table {
	head := []string{what, "references", r.Levels[0].Name + " misses", ofAll}
	if last := len(r.Levels) - 1; last > 0 {
		head = append(head, r.Levels[last].Name+" misses", ofAll)
	}
	return Table{head}
}

func (r Run) misses(name string, c simcache.Counts) []string {
	row := []string{name, number(c.Refs()), number(c.D1Misses()), percent(c.D1Misses(), c.Refs())}
	if len(r.Levels) > 1 {
		row = append(row, number(c.LLMisses()), percent(c.LLMisses(), c.Refs()))
	}
	return row
}

func (r Run) tlbTable() Table {
	if len(r.TLB) == 0 {
		return nil
	}
	t := Table{{"TLB", "entries", "ways", "page", "reach", "references", "misses",
		"of those references", "from"}}
	for i, l := range r.TLB {
		of := r.Config.TLB[i]
		t = append(t, []string{l.Name, fmt.Sprint(of.Entries), fmt.Sprint(of.Ways),
			simcache.Bytes(of.Page), simcache.Bytes(of.Entries * of.Page),
			number(l.Refs()), number(l.Misses()), share(missRate(l)), of.Source})
	}
	return t
}
