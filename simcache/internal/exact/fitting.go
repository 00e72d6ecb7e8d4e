package exact

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// A level in which the working set fits, set by set, evicts nothing. It misses at first touches
// only, which miss in all nearer levels, too. So the nearer levels are simulated alone, without a
// miss stream. A walk that skips accesses without new lines finds the first touches ([firsts]).

// A fitting is a state of levels: the last ones, of one line size, hold the lines of all programs
// run.
type fitting struct {
	near    *regions // the nearer levels; nil if there are none
	levels  int      // number of nearer levels
	ran     []nest.Program
	touched lines
}

// runFitting runs a program if the last levels hold its lines and all earlier ones, and reports
// whether it did.
func (e *regions) runFitting(p nest.Program) (misses []uint64, done bool, err error) {
	if !e.options.Fitting || e.states != nil {
		return nil, false, nil
	}
	a := fitting{levels: len(e.levels)}
	if e.fitting != nil {
		a = *e.fitting
	}
	levels := len(e.levels)
	last := e.levels[levels-1]
	b := &builder{line: 1 << last.Shift, from: math.MaxInt}
	program := b.nodes(p)
	if slices.ContainsFunc(b.accesses, func(n *node) bool { return n.straddles }) {
		return nil, false, nil
	}
	accesses, err := p.Count()
	if err != nil {
		return nil, false, err
	}
	full := func(l engine.Level) bool {
		return l.Shift != last.Shift || a.touched.span() > l.Lines()
	}
	first, ok := a.touched.first(b, program, accesses, last)
	if !ok || slices.ContainsFunc(e.levels[a.levels:], full) {
		return nil, false, nil
	}
	if e.fitting == nil {
		for a.levels > 0 && !full(e.levels[a.levels-1]) {
			a.levels--
		}
		if a.levels > 0 {
			near := e.options
			near.Fitting = false
			a.near = newRegions(e.levels[:a.levels], near)
		}
		longer := func(l engine.Level) bool { return l.Shift > last.Shift }
		if slices.ContainsFunc(e.levels[:a.levels], longer) {
			return nil, false, nil
		}
	}
	misses = make([]uint64, b.ops*levels)
	if a.near != nil {
		near, err := a.near.Run(p)
		if err != nil {
			return nil, false, err
		}
		for op := range b.ops {
			copy(misses[op*levels:], near[op*a.levels:][:a.levels])
		}
	}
	for op, n := range first {
		for level := a.levels; level < levels; level++ {
			misses[op*levels+level] = n
		}
	}
	a.ran = append(a.ran, p)
	e.fitting = &a
	return misses, true, nil
}

// refill runs all earlier programs on the levels, which get their contents. If it fails, nothing
// has changed.
func (e *regions) refill() error {
	if e.fitting == nil {
		return nil
	}
	o := e.options
	o.Fitting = false
	filled := newRegions(e.levels, o)
	for _, p := range e.fitting.ran {
		if _, err := filled.Run(p); err != nil {
			return err
		}
	}
	*e = *filled
	return nil
}
