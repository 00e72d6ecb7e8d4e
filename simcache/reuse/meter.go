package reuse

import (
	"iter"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	accesstrace "github.com/stridebench/stridebench/simcache/trace" // tests use the name trace
)

// A Meter counts during a simulation and marks its caches on the curve. A nil Meter counts nothing.
//
// It takes some 20 B for each line of a dense working set, and ten times that for a sparse one, for
// any length of the sequence. Above 4 GiB it stops with an error. It is not safe for concurrent
// use.
type Meter struct {
	stacks *stacks
	config simcache.Config
}

// NewMeter returns a Meter for caches with sets sets, 1 for fully associative ones, and lines of
// the first level. A line's set is its number modulo sets.
func NewMeter(config simcache.Config, sets int) (*Meter, error) {
	stacks, err := makeStacks(config.First().Line, sets)
	return &Meter{stacks, config}, err
}

// Passes counts passes over a program.
func (m *Meter) Passes(passes int, p nest.Program) error {
	if m == nil {
		return nil
	}
	return m.stacks.passes(passes, p)
}

// Watch passes a trace on and counts its data accesses, clipped as in trace.Feed. Cachegrind's
// quirk, that block 0 hits in a cold cache, does not affect the curve.
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

// Access counts one access of size bytes, at least 1, at addr, clipped as in Watch. Reads and
// writes count equally, as with write-allocate; a modify is one reference.
//
// An access that crosses lines looks up all of them, the lowest first, and is one reference, as in
// Cachegrind. It misses if any lookup does, so its distance is the largest. The second line is
// found after the first has moved to the top. Within one set its distance is at least 2: a cache of
// one line cannot hold both.
func (m *Meter) Access(addr uint64, size int) error {
	if m == nil {
		return nil
	}
	m.stacks.push(addr, uint64(m.config.Clip(size)), 0, 1)
	return m.stacks.full
}

// perSecond approximates the speed in lookups/s.
const perSecond = 3e7

// Effort estimates the cost of Passes, 0 for a nil Meter. At most two passes are walked. Of
// consecutive innermost iterations that stay in their lines, two are.
func (m *Meter) Effort(passes int, p nest.Program) simcache.Effort {
	if m == nil {
		return simcache.Effort{}
	}
	refs, err := p.Count()
	if err != nil {
		return simcache.Effort{} // Passes returns the error
	}
	run := m.stacks.line
	for _, op := range p.Operands() {
		if len(op.Strides) == 0 {
			run = 1
		} else if s := op.Strides[len(op.Strides)-1]; s != 0 {
			run = min(run, m.stacks.line/max(s, -s))
		}
	}
	walked := float64(refs) * float64(min(passes, 2)) / max(1, float64(run)/2)
	return simcache.Effort{LookUps: walked,
		Time: time.Duration(min(walked/perSecond*1e9, 1<<62))}
}

// Table returns the curve so far, nil for a nil Meter.
func (m *Meter) Table() *Table {
	if m == nil {
		return nil
	}
	t := m.stacks.table()
	t.draw(m.marks())
	return t
}

// marks names the levels' capacities on the curve: all if fully associative, else those with its
// sets and lines.
func (m *Meter) marks() map[uint64][]string {
	marks := map[uint64][]string{}
	line, sets := m.stacks.line, len(m.stacks.stacks)
	for i, l := range m.config.Levels {
		capacity := uint64(l.Size / line)
		if sets > 1 {
			if l.Sets() != sets || l.Line != line {
				continue
			}
			capacity = uint64(l.Ways)
		}
		marks[capacity] = append(marks[capacity], m.config.LevelNames()[i])
	}
	return marks
}
