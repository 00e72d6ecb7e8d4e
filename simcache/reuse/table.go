package reuse

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	accesstrace "github.com/stridebench/stridebench/simcache/trace" // tests use the name trace
)

// A Meter counts during a simulation and marks its caches on the curve. A nil Meter counts nothing.
type Meter struct {
	stacks *Stacks
	sets   int
	config simcache.Config
}

// NewMeter returns a Meter for caches with sets sets, and lines of the first level.
func NewMeter(config simcache.Config, sets int) (*Meter, error) {
	stacks, err := New(config.First().Line, sets)
	if err == nil {
		stacks.most = mostPages
	}
	return &Meter{stacks, sets, config}, err
}

// Passes counts passes over nests, or returns an error beforehand if that would take more than 4
// GiB (mostMemory).
func (m *Meter) Passes(passes int, nests []nest.Nest) error {
	if m == nil {
		return nil
	}
	if err := m.checkNests(nests); err != nil {
		return err
	}
	return m.stacks.runPasses(passes, nests...)
}

// Program counts passes over a program. It stops with an error above 4 GiB.
func (m *Meter) Program(passes int, p nest.Program) error {
	if m == nil {
		return nil
	}
	return m.stacks.runProgram(passes, p)
}

// Watch passes a trace on and counts its data accesses, clipped as in trace.Feed. Cachegrind's
// quirk, that block 0 hits in a cold cache, does not affect the curve. Above 4 GiB it stops with an
// error.
func (m *Meter) Watch(records iter.Seq2[accesstrace.Record, error]) iter.Seq2[accesstrace.Record,
	error] {
	if m == nil {
		return records
	}
	return func(yield func(accesstrace.Record, error) bool) {
		for r, err := range records {
			if err == nil && !r.Fetch {
				err = m.Access(r.Addr, r.Size)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Access counts one access of a program, clipped as in Watch. It returns an error above 4 GiB.
func (m *Meter) Access(addr uint64, size int) error {
	if m == nil {
		return nil
	}
	m.stacks.Access(nest.Read, addr, m.config.Clip(size)) // reads and writes count equally
	return m.stacks.full
}

// A Table is the JSON of a curve's points. Capacities and distances are in lines of a set.
type Table struct {
	Line      int     `json:"line"`
	Sets      int     `json:"sets"`
	Refs      uint64  `json:"refs"`
	Cold      uint64  `json:"cold"`
	Lines     uint64  `json:"lines"`
	Points    []point `json:"points"`
	Distances []Bin   `json:"distances"`
}

type point struct {
	Capacity uint64   `json:"capacity"`
	Bytes    uint64   `json:"bytes"`
	Misses   uint64   `json:"misses"`
	Ratio    float64  `json:"ratio"`
	Marks    []string `json:"marks,omitempty"`
}

// Table returns the curve so far, nil for a nil Meter.
func (m *Meter) Table() *Table {
	if m == nil {
		return nil
	}
	of, line := m.stacks.Curve(), m.config.First().Line
	t := &Table{line, m.sets, of.Refs, of.Cold, of.Lines, []point{}, of.Distances}
	if t.Distances == nil {
		t.Distances = []Bin{}
	}
	marks := m.marks()
	for _, p := range of.Points(slices.Collect(maps.Keys(marks))...) {
		names := marks[p.Capacity]
		if p.Knee {
			names = append(names, "knee")
		}
		t.Points = append(t.Points, point{p.Capacity, p.Capacity * uint64(m.sets*line), p.Misses,
			float64(p.Misses) / float64(max(of.Refs, 1)), names})
	}
	return t
}

// marks names the levels' capacities on the curve: all if fully associative, else those with its
// sets and lines. The first is D1 and the last LL, as in the summary.
func (m *Meter) marks() map[uint64][]string {
	marks := map[uint64][]string{}
	line := m.config.First().Line
	for i, l := range m.config.Levels {
		capacity := uint64(l.Size / line)
		if m.sets > 1 {
			if l.Sets() != m.sets || l.Line != line {
				continue
			}
			capacity = uint64(l.Ways)
		}
		marks[capacity] = append(marks[capacity], m.names(i)...)
	}
	return marks
}

func (m *Meter) names(i int) (names []string) {
	last := len(m.config.Levels) - 1
	if i == 0 {
		names = append(names, "D1")
	}
	if i == last {
		names = append(names, "LL")
	}
	if 0 < i && i < last {
		names = append(names, cmp.Or(m.config.Levels[i].Name, fmt.Sprintf("L%d", i+1)))
	}
	return names
}

// Rows returns a title and rows of cells, the header first. The first and last columns are padded.
func (t *Table) Rows() (title string, rows [][]string) {
	english := message.NewPrinter(language.English)
	shape, unit := "fully associative", "lines"
	if t.Sets > 1 {
		shape, unit = fmt.Sprintf("%d sets", t.Sets), "ways"
	}
	title = english.Sprintf("LRU, %s, lines of %d B: %d refs to %d lines (%s), %d cold misses",
		shape, t.Line, t.Refs, t.Lines, simcache.Bytes(int(t.Lines)*t.Line), t.Cold)
	rows = [][]string{{"capacity", unit, "misses", "of all references", ""}}
	size, marked := len(rows[0][0]), 0
	for _, p := range t.Points {
		row := []string{simcache.Bytes(int(p.Bytes)), english.Sprint(p.Capacity),
			english.Sprint(p.Misses), fmt.Sprintf("%.2f%%", 100*p.Ratio),
			strings.Join(p.Marks, ", ")}
		size, marked = max(size, len(row[0])), max(marked, len(row[4]))
		rows = append(rows, row)
	}
	for _, row := range rows {
		row[0], row[4] = fmt.Sprintf("  %*s", size, row[0]), fmt.Sprintf("%-*s", marked, row[4])
	}
	return title, rows
}
