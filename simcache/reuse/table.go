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
	accesstrace "github.com/stridebench/stridebench/simcache/trace" // trace is taken by the tests
)

// A Meter counts alongside a simulation and marks the capacities of the simulated
// caches on its curve. A nil Meter counts nothing.
type Meter struct {
	stacks *Stacks
	sets   int
	config simcache.Config
}

// NewMeter returns a Meter for caches with this number of sets and with the line size
// of the first level of a configuration.
func NewMeter(config simcache.Config, sets int) (*Meter, error) {
	stacks, err := New(config.First().Line, sets)
	if err == nil {
		stacks.most = mostPages
	}
	return &Meter{stacks, sets, config}, err
}

// Passes counts a number of passes over nests. It refuses what takes more than
// 4 GiB (mostMemory), before anything is counted.
func (m *Meter) Passes(passes int, nests []nest.Nest) error {
	if m == nil {
		return nil
	}
	if err := m.checkNests(nests); err != nil {
		return err
	}
	return m.stacks.runPasses(passes, nests...)
}

// Program counts a number of passes over a program. It ends with an error where that
// takes more than 4 GiB.
func (m *Meter) Program(passes int, p nest.Program) error {
	if m == nil {
		return nil
	}
	return m.stacks.runProgram(passes, p)
}

// Watch passes a trace on and counts its data accesses, clipped as trace.Replay clips
// them. Cachegrind's quirk, by which block 0 hits in a cold cache, does not affect the
// curve. It ends with an error where that takes more than 4 GiB.
func (m *Meter) Watch(records iter.Seq2[accesstrace.Record, error]) iter.Seq2[accesstrace.Record,
	error] {
	if m == nil {
		return records
	}
	return func(yield func(accesstrace.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Kind != accesstrace.Fetch {
				err = m.Access(r.Addr, r.Size)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Access counts one access of a program, clipped as Watch clips it. It returns an error where
// that takes more than 4 GiB. A nil Meter counts nothing.
func (m *Meter) Access(addr uint64, size int) error {
	if m == nil {
		return nil
	}
	m.stacks.Access(nest.Read, addr, m.config.Clip(size)) // reads and writes count alike
	return m.stacks.full
}

// A Table has the points that show the shape of a curve, for JSON. Capacities and
// distances are in lines of a set.
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

// Table returns the curve of what was counted, or nil if the Meter is nil.
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

// marks names the capacities of the levels that are on the curve: all if it is of
// fully associative caches, otherwise those with its sets and lines. The first is D1
// and the last LL, as in the summary; those between have the names of the tables.
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

// names are those of a level on the curve; a single level is both the first and the last.
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

// Rows is the table for people: a line that says what it is of, and rows of cells, the first the
// header. All cells of the first column are of one width, and so are those of the last, the marks.
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
