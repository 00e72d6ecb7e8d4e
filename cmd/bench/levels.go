package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	words "github.com/stridebench/stridebench/simcache/explain" // layout.go has an explain
)

// An outcome is what a simulation counted, beyond Cachegrind's events.
type outcome struct {
	model
	counts  simcache.Counts
	levels  []simcache.LevelCounts
	pages   []simcache.LevelCounts // of the TLB
	tensors []simcache.Line
	nests   []nest.Nest // of a pattern
	passes  int
	visited uint64 // accesses looked up, in the caches and once more in the TLB
	proved  uint64 // accesses proved to hit or miss like others, in both
}

func (m model) outcome(h *simcache.Hierarchy, tensors []simcache.Line, nests []nest.Nest, passes int) outcome {
	o := outcome{model: m, counts: h.Counts(), levels: h.Levels(), tensors: tensors, nests: nests, passes: passes}
	o.visited, o.proved = h.Work()
	if len(m.config.TLB) > 0 {
		o.pages = h.TLBs()
	}
	return o
}

func (o *outcome) explanation() []string {
	if !o.model.explain {
		return nil
	}
	return words.Run{Config: o.config, Levels: o.levels, TLB: o.pages, Tensors: o.tensors, Nests: o.nests, Passes: o.passes}.Text()
}

// print writes the summary, and unless that says it all, the tables.
func (o *outcome) print(w io.Writer, summary func(simcache.Counts) string) error {
	if len(o.levels) != 2 {
		summary = simcache.Counts.EndsSummary
	}
	if _, err := io.WriteString(w, summary(o.counts)); err != nil || o.plain {
		return err
	}
	for _, table := range []table{o.levelTable(), o.tensorTable(), o.pageTable()} {
		if err := table.print(w); err != nil {
			return err
		}
	}
	for _, paragraph := range o.explanation() {
		if _, err := fmt.Fprintf(w, "\n%s\n", wrap(paragraph, 80)); err != nil {
			return err
		}
	}
	return nil
}

// A table is rows of cells, the first of each its name.
type table [][]string

func (t table) print(w io.Writer) error {
	if len(t) == 0 {
		return nil
	}
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	text := "\n"
	for _, row := range t {
		line := fmt.Sprintf("%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", widths[i+1], cell)
		}
		text += line + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

var english = message.NewPrinter(language.English) // commas, as in the summary

func count64(n uint64) string { return english.Sprintf("%d", n) }

func percent(part float64) string { return fmt.Sprintf("%.2f%%", 100*part) }

// levelTable has a column a level.
func (o *outcome) levelTable() table {
	of := func(cell func(i int) string) (cells []string) {
		for i := range o.levels {
			cells = append(cells, cell(i))
		}
		return cells
	}
	counts := func(field func(simcache.LevelCounts) uint64) []string {
		return of(func(i int) string { return count64(field(o.levels[i])) })
	}
	var t table
	row := func(wanted bool, name string, cells []string) {
		if wanted {
			t = append(t, append([]string{name}, cells...))
		}
	}
	has := func(field func(simcache.LevelCounts) uint64) bool {
		for _, l := range o.levels {
			if field(l) > 0 {
				return true
			}
		}
		return false
	}
	type L = simcache.LevelCounts
	backs, classes := o.config.WriteBacks, o.observed(simcache.Classes)
	row(true, "level", of(func(i int) string { return o.levels[i].Name }))
	row(true, "size", of(func(i int) string { return results.Bytes(o.config.Levels[i].Size) }))
	row(true, "ways x sets", of(func(i int) string { return fmt.Sprintf("%d x %d", o.config.Levels[i].Ways, o.config.Levels[i].Sets()) }))
	row(true, "policy", of(func(i int) string { return o.config.Levels[i].Policy.String() }))
	row(o.tied(), "inclusion", of(func(i int) string {
		if i == 0 {
			return ""
		}
		return o.config.Levels[i].Inclusion.String()
	}))
	row(true, "references", counts(L.Refs))
	row(true, "misses", counts(L.Misses))
	row(true, "miss rate", of(func(i int) string { return percent(o.levels[i].MissRate()) }))
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
	row(o.observed(simcache.UsedBytes), "bytes used", of(func(i int) string { return percent(o.levels[i].UsedPart()) }))
	o.spreadRows(of, row)
	return t
}

// spreadRows are about misses by set.
func (o *outcome) spreadRows(of func(func(int) string) []string, row func(bool, string, []string)) {
	sets := o.observed(simcache.SetMisses)
	cell := func(what func(simcache.Spread) string) []string {
		return of(func(i int) string {
			if s, ok := o.levels[i].Spread(); ok && what(s) != "" {
				return what(s)
			}
			return "-"
		})
	}
	row(sets, "sets that missed", cell(func(s simcache.Spread) string { return fmt.Sprintf("%d of %d", s.Missed, s.Sets) }))
	row(sets, "busiest / mean set", cell(func(s simcache.Spread) string { return fmt.Sprintf("%.2f", s.Uneven) }))
	row(sets, "busiest sets", cell(func(s simcache.Spread) string {
		var busiest []string
		for _, b := range s.Busiest {
			busiest = append(busiest, fmt.Sprint(b.Set))
		}
		return strings.Join(busiest, " ")
	}))
}

func (o *outcome) tied() bool {
	for _, l := range o.config.Levels {
		if l.Inclusion != simcache.NonInclusive {
			return true
		}
	}
	return false
}

// tensorTable has a row a tensor, or for the trace.
func (o *outcome) tensorTable() table {
	first, last := o.levels[0].Name, o.levels[len(o.levels)-1].Name
	t := table{{"tensor", "references", first + " misses", "miss rate", last + " misses", "miss rate"}}
	for _, l := range o.tensors {
		c := l.Counts
		refs := float64(max(c.Refs(), 1))
		t = append(t, []string{l.Function, count64(c.Refs()), count64(c.D1Misses()), percent(float64(c.D1Misses()) / refs),
			count64(c.LLMisses()), percent(float64(c.LLMisses()) / refs)})
	}
	return t
}

// pageTable has a row a level of the TLB.
func (o *outcome) pageTable() table {
	if len(o.pages) == 0 {
		return nil
	}
	t := table{{"TLB", "entries", "ways", "page", "reach", "references", "misses", "miss rate", "from"}}
	for i, l := range o.pages {
		of := o.config.TLB[i]
		t = append(t, []string{l.Name, fmt.Sprint(of.Entries), fmt.Sprint(of.Ways), results.Bytes(of.Page), results.Bytes(of.Entries * of.Page),
			count64(l.Refs()), count64(l.Misses()), percent(l.MissRate()), string(of.Source)})
	}
	return t
}

// wrap breaks a paragraph into lines of so many columns, but not before a unit.
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

// The parts of --json that are not Cachegrind's.
type (
	jsonLevel struct {
		simcache.LevelCounts
		Size      int              `json:"size"`
		Ways      int              `json:"ways"`
		Sets      int              `json:"sets"`
		Line      int              `json:"line"`
		Policy    string           `json:"policy"`
		Inclusion string           `json:"inclusion"`
		MissRate  float64          `json:"missRate"`
		UsedPart  *float64         `json:"usedPart,omitempty"`
		Spread    *simcache.Spread `json:"spread,omitempty"`
	}
	jsonTLB struct {
		simcache.LevelCounts
		Entries  int             `json:"entries"`
		Ways     int             `json:"ways"`
		Page     int             `json:"page"`
		MissRate float64         `json:"missRate"`
		Source   simcache.Source `json:"source"`
	}
	jsonTensor struct {
		Tensor string          `json:"tensor"`
		Counts simcache.Counts `json:"counts"`
	}
	jsonOutcome struct {
		Machine     string       `json:"machine,omitempty"`
		Observed    []string     `json:"observed"`
		Levels      []jsonLevel  `json:"levels"`
		TLB         []jsonTLB    `json:"tlb,omitempty"`
		Tensors     []jsonTensor `json:"tensors"`
		Explanation []string     `json:"explanation,omitempty"`
	}
)

func (o *outcome) json() jsonOutcome {
	j := jsonOutcome{Machine: o.machine.Name, Observed: o.names(), Levels: []jsonLevel{}, Tensors: []jsonTensor{}, Explanation: o.explanation()}
	for i, l := range o.levels {
		of := o.config.Levels[i]
		level := jsonLevel{LevelCounts: l, Size: of.Size, Ways: of.Ways, Sets: of.Sets(), Line: of.Line,
			Policy: of.Policy.String(), Inclusion: of.Inclusion.String(), MissRate: l.MissRate()}
		if spread, ok := l.Spread(); ok {
			level.Spread = &spread
		}
		if o.observed(simcache.UsedBytes) {
			used := l.UsedPart()
			level.UsedPart = &used
		}
		j.Levels = append(j.Levels, level)
	}
	for i, l := range o.pages {
		of := o.config.TLB[i]
		j.TLB = append(j.TLB, jsonTLB{l, of.Entries, of.Ways, of.Page, l.MissRate(), of.Source})
	}
	for _, l := range o.tensors {
		j.Tensors = append(j.Tensors, jsonTensor{l.Function, l.Counts})
	}
	return j
}
