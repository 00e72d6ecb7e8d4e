package explain

import (
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
		if t.words(row) {
			text += Fold(row[0], columns) + "\n"
			continue
		}
		line := fmt.Sprintf("%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("%*s", gap+widths[i+1], cell)
		}
		text += strings.TrimRight(line, " ") + "\n"
	}
	return text
}

// WriteWithin writes an empty line and the table, in lines of at most this many columns; 0 means no
// limit. It aligns all cells but the first of a row to the right. In a wider table, long names have
// their own lines and the header several. Cells that still do not fit follow below or are folded.
func (t Table) WriteWithin(w io.Writer, columns int) error {
	cells := slices.DeleteFunc(slices.Clone(t), t.words)
	if columns == 0 || widest(cells.beside(0)) <= columns {
		_, err := io.WriteString(w, "\n"+t.beside(columns))
		return err
	}
	n := narrowed{columns: columns, text: "\n"}
	n.measure(cells)
	n.part()
	n.writeHeader(t[0][0])
	for _, row := range t[1:] {
		n.writeRow(row, t.words(row))
	}
	_, err := io.WriteString(w, n.text)
	return err
}

type narrowed struct {
	columns int
	header  [][]string // lines of each column
	widths  []int      // of each column
	name    int        // width of names on the same line as cells
	parts   [][]int    // columns that share a line
	text    string
}

func (n *narrowed) measure(cells Table) {
	const fewest = 12 // columns that names get beside cells, if there is room
	room := n.columns
	for i, name := range cells[0] {
		narrow := 0
		for _, row := range cells[1:] {
			narrow = max(narrow, utf8.RuneCountInString(row[i]))
		}
		n.header = append(n.header, strings.Split(wrap(name, min(max(narrow, 9), n.columns-gap)),
			"\n"))
		n.widths = append(n.widths, max(narrow, widest(strings.Join(n.header[i], "\n"))))
		if i > 0 {
			room -= gap + n.widths[i]
		}
	}
	for _, row := range cells {
		if wide := utf8.RuneCountInString(row[0]); wide <= room || wide <= fewest &&
			room >= fewest {
			n.name = max(n.name, wide)
		}
	}
}

func (n *narrowed) part() {
	used := n.columns
	for i := 1; i < len(n.widths); i++ {
		if used += gap + n.widths[i]; used > n.columns {
			n.parts, used = append(n.parts, nil), n.name+gap+n.widths[i]
		}
		n.parts[len(n.parts)-1] = append(n.parts[len(n.parts)-1], i)
	}
}

func (n *narrowed) writeLine(name string, cell func(i int) string, part []int) {
	line := fmt.Sprintf("%-*s", n.name, name)
	for _, i := range part {
		if gap+n.widths[i] > n.columns { // alone
			line += Fold(strings.Repeat(" ", gap)+cell(i), n.columns)
		} else {
			line += fmt.Sprintf("%*s", gap+n.widths[i], cell(i))
		}
	}
	if line = strings.TrimRight(line, " "); line != "" {
		n.text += line + "\n"
	}
}

// writeHeader aligns the headers of each part at their last line. A title that fits is there, too.
func (n *narrowed) writeHeader(title string) {
	if utf8.RuneCountInString(title) > n.name {
		n.text += Fold(title, n.columns) + "\n"
		title = ""
	}
	for k, part := range n.parts {
		lines := 0
		for _, i := range part {
			lines = max(lines, len(n.header[i]))
		}
		for l := range lines {
			label := ""
			if k == 0 && l == lines-1 {
				label = title
			}
			n.writeLine(label, func(i int) string {
				if at := l - lines + len(n.header[i]); at >= 0 {
					return n.header[i][at]
				}
				return ""
			}, part)
		}
	}
}

func (n *narrowed) writeRow(row []string, words bool) {
	label := row[0]
	if words || utf8.RuneCountInString(label) > n.name {
		n.text += Fold(label, n.columns) + "\n"
		label = ""
	}
	if words {
		return
	}
	for _, part := range n.parts {
		n.writeLine(label, func(i int) string { return row[i] }, part)
		label = ""
	}
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

// WriteTables writes sentences and tables of text/tabwriter, with two spaces between cells. It
// folds sentences, and writes tables as Table.WriteWithin does; 0 columns mean no limit. A word
// wider than the line, such as a benchmark's name, stays whole for copying.
func WriteTables(w io.Writer, text string, columns int) error {
	if columns == 0 || widest(text) <= columns {
		_, err := io.WriteString(w, text)
		return err
	}
	var b strings.Builder
	for i, block := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(foldBlock(block, columns))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// foldBlock folds sentences, and a table after them.
func foldBlock(block string, columns int) string {
	if widest(block) <= columns {
		return block
	}
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	end := block[len(strings.Join(lines, "\n")):]
	head := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "  ") })
	var table Table
	if head >= 0 {
		table = cellsOf(lines[head:])
	}
	if table == nil {
		head = len(lines)
	}
	var folded []string
	for _, sentence := range unbroken(lines[:head]) {
		folded = append(folded, Fold(sentence, columns))
	}
	if table != nil {
		var b strings.Builder
		_ = table.WriteWithin(&b, columns) // to memory
		folded = append(folded, strings.Trim(b.String(), "\n"))
	}
	return strings.Join(folded, "\n") + end
}

// cellsOf returns nil unless the lines are a table. A column begins after two spaces in every line,
// where a cell of the header does.
func cellsOf(lines []string) (t Table) {
	var rows [][]rune
	for _, line := range lines {
		rows = append(rows, []rune(line))
	}
	begins := func(row []rune, at int) bool {
		return at >= len(row) || row[at-1] == ' ' && row[at-2] == ' '
	}
	starts := []int{0}
	for at := gap; at < len(rows[0]); at++ {
		if rows[0][at] != ' ' && begins(rows[0], at) {
			starts = append(starts, at)
		}
	}
	for _, row := range rows {
		var cells []string
		for i, at := range starts {
			to := len(row)
			if i > 0 && !begins(row, at) {
				return nil
			}
			if i+1 < len(starts) {
				to = min(to, starts[i+1])
			}
			cells = append(cells, strings.TrimRight(string(row[min(at, to):to]), " "))
		}
		t = append(t, cells)
	}
	if len(starts) == 1 {
		return nil
	}
	return t
}

// unbroken joins lines where WriteParagraphs broke them.
func unbroken(lines []string) (all []string) {
	for i, line := range lines {
		word, _, _ := strings.Cut(line, " ")
		if i > 0 && word != "" && utf8.RuneCountInString(lines[i-1])+1+utf8.RuneCountInString(
			word) > paragraphs && utf8.RuneCountInString(lines[i-1]) <= paragraphs {
			all[len(all)-1] += " " + line
		} else {
			all = append(all, line)
		}
	}
	return all
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
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return strings.ReplaceAll(strings.Join(append(lines, line), "\n"), "\u00a0", " ")
}

// Write writes the counts for people; columns is the widest line, or 0. With words, what would help
// is first, and the rest of Text is last before the curve. Between them are the summary, in this
// format if there are two levels, and the tables if wanted.
func (r Run) Write(w io.Writer, summary func(simcache.Counts) string, tables, words bool,
	columns int) error {
	if len(r.Levels) != 2 {
		summary = simcache.Counts.EndsSummary
	}
	first := ""
	if words && r.advice() != "" {
		first = wrap(r.advice(), width(columns)) + "\n\n"
	}
	if _, err := io.WriteString(w, first+foldCounts(summary(r.Counts), columns)); err != nil {
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

func foldCounts(summary string, columns int) string {
	if columns == 0 || widest(summary) <= columns {
		return summary
	}
	var lines []string
	for line := range strings.SplitSeq(summary, "\n") {
		if all, parts, ok := strings.Cut(line, "("); ok {
			line = strings.TrimRight(all, " ") + "\n  (" + parts
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (r Run) writeCurve(w io.Writer, columns int) error {
	if r.Curve == nil {
		return nil
	}
	title, rows := r.Curve.Rows()
	if _, err := fmt.Fprintf(w, "\n%s", Fold(title, columns)); err != nil {
		return err
	}
	return Table(rows).WriteWithin(w, columns)
}

func filled(all ...Table) []Table {
	return slices.DeleteFunc(all, func(t Table) bool { return len(t) == 0 })
}

func number(n uint64) string { return Say("%d", n) }

func share(part float64) string { return fmt.Sprintf("%.2f%%", 100*part) }

// levelTable without sets shows misses by set only where they are uneven.
func (r Run) levelTable(sets bool) Table {
	of := func(cell func(i int) string) (cells []string) {
		for i := range r.Levels {
			cells = append(cells, cell(i))
		}
		return cells
	}
	counts := func(field func(simcache.LevelCounts) uint64) []string {
		return of(func(i int) string { return number(field(r.Levels[i])) })
	}
	var t Table
	row := func(wanted bool, name string, cells []string) {
		if wanted {
			t = append(t, append([]string{name}, cells...))
		}
	}
	has := func(field func(simcache.LevelCounts) uint64) bool {
		return slices.ContainsFunc(r.Levels, func(l simcache.LevelCounts) bool {
			return field(l) > 0
		})
	}
	type L = simcache.LevelCounts
	levels := r.Config.Levels
	backs, classes := r.Config.WriteBacks, r.Config.Observe&simcache.Classes != 0
	row(true, "level", of(func(i int) string { return r.Levels[i].Name }))
	row(true, "size", of(func(i int) string { return simcache.Bytes(levels[i].Size) }))
	row(true, "ways x sets", of(func(i int) string {
		return fmt.Sprintf("%d x %d", levels[i].Ways, levels[i].Sets())
	}))
	row(true, "policy", of(func(i int) string { return levels[i].Policy.String() }))
	row(r.tied(), "inclusion", of(func(i int) string {
		if i == 0 {
			return ""
		}
		return levels[i].Inclusion.String()
	}))
	row(true, "references", counts(L.Refs))
	row(true, "misses", counts(L.Misses))
	row(true, "of those that reach it", of(func(i int) string {
		return share(r.Levels[i].MissRate())
	}))
	row(classes, "  compulsory", counts(func(l L) uint64 { return l.Compulsory }))
	row(classes, "  capacity", counts(func(l L) uint64 { return l.Capacity }))
	row(classes, "  conflict", counts(func(l L) uint64 { return l.Conflict }))
	row(backs, "write-backs", counts(func(l L) uint64 { return l.WriteBacks }))
	row(backs, "bytes in", counts(func(l L) uint64 { return l.BytesIn }))
	row(backs, "bytes out", counts(func(l L) uint64 { return l.BytesOut }))
	victims := func(l L) uint64 { return l.VictimHits }
	row(has(victims), "victim hits", counts(victims))
	prefetches := func(l L) uint64 { return l.Prefetches }
	row(has(prefetches), "prefetches", counts(prefetches))
	row(has(prefetches), "  useful", counts(func(l L) uint64 { return l.Useful }))
	row(has(prefetches), "  useless", counts(func(l L) uint64 { return l.Useless }))
	row(r.Config.Observe&simcache.UsedBytes != 0, "bytes used", of(func(i int) string {
		if r.Levels[i].BytesFilled == 0 {
			return "-"
		}
		return share(r.Levels[i].UsedPart())
	}))
	for _, l := range r.Levels {
		s, ok := l.Spread()
		sets = sets || ok && s.Uneven >= 1.5 && l.Misses() >= uint64(4*s.Sets)
	}
	if sets {
		r.spreadRows(of, row)
	}
	return t
}

func (r Run) spreadRows(of func(func(int) string) []string, row func(bool, string, []string)) {
	sets := r.Config.Observe&simcache.SetMisses != 0
	cell := func(what func(simcache.Spread) string) []string {
		return of(func(i int) string {
			if s, ok := r.Levels[i].Spread(); ok && what(s) != "" {
				return what(s)
			}
			return "-"
		})
	}
	row(sets, "sets that missed", cell(func(s simcache.Spread) string {
		return fmt.Sprintf("%d of %d", s.Missed, s.Sets)
	}))
	row(sets, "busiest / mean set", cell(func(s simcache.Spread) string {
		return fmt.Sprintf("%.2f", s.Uneven)
	}))
	row(sets, "busiest sets", cell(func(s simcache.Spread) string {
		var busiest []string
		for _, b := range s.Busiest {
			busiest = append(busiest, fmt.Sprint(b.Set))
		}
		return strings.Join(busiest, " ")
	}))
}

func (r Run) tied() bool {
	return slices.ContainsFunc(r.Config.Levels, func(l simcache.Level) bool {
		return l.Inclusion.String() != "non-inclusive"
	})
}

// tensorTable has a row for each tensor, or object of a compiled program.
func (r Run) tensorTable() Table {
	t := r.missesOf("tensor")
	if r.Code != nil {
		return r.rows("object", r.Tensors, func(l simcache.Line) string { return l.Function })
	}
	for _, l := range r.Tensors {
		t = append(t, r.misses(l.Function, l.Counts))
	}
	return t
}

// ofAll heads shares of all references, not of the references that reach a level.
const ofAll = "of all references"

func (r Run) missesOf(what string) Table {
	head := []string{what, "references", r.Levels[0].Name + " misses", ofAll}
	if last := len(r.Levels) - 1; last > 0 {
		head = append(head, r.Levels[last].Name+" misses", ofAll)
	}
	return Table{head}
}

func (r Run) misses(name string, c simcache.Counts) []string {
	refs := float64(max(c.Refs(), 1))
	row := []string{name, number(c.Refs()), number(c.D1Misses()),
		share(float64(c.D1Misses()) / refs)}
	if len(r.Levels) > 1 {
		row = append(row, number(c.LLMisses()), share(float64(c.LLMisses())/refs))
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
			number(l.Refs()), number(l.Misses()), share(l.MissRate()), string(of.Source)})
	}
	return t
}
