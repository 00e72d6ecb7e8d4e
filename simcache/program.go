package simcache

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// RunProgram simulates passes over a program on the caches' present contents. It returns each
// access's counts over all passes, or the error of Config.CheckPasses. It decides how many
// accesses to look up, and multiplies passes that repeat.
//
// On independent LRU levels that are empty, or hold what earlier programs left, package
// simcache/internal/exact counts programs by summaries of regions. Otherwise every access is looked
// up.
func (h *Hierarchy) RunProgram(passes int, p nest.Program) ([]Counts, error) {
	if err := h.config.CheckPasses(passes, p); err != nil {
		return nil, err
	}
	if n, is := p.Nest(); is && h.loops(passes, []nest.Nest{n}) {
		counts, err := h.Run(passes, n)
		if err != nil {
			return nil, err
		}
		return counts[0], nil
	}
	operands := p.Operands()
	refs, err := p.Counts()
	if err != nil {
		return nil, err
	}
	if passes == 0 {
		return make([]Counts, len(operands)), nil
	}
	h.tally()
	h.tracked = 0
	if h.tlb != nil {
		misses := h.runProgram(h.tlb, p, passes)
		h.pages.addProgram(operands, refs, passes, misses)
	}
	misses := h.runProgram(h.data, p, passes)
	h.total.addProgram(operands, refs, passes, misses)
	counts, levels := make([]Counts, len(operands)), len(h.config.Levels)
	for r, op := range operands {
		counts[r] = countsOfOperand(op, uint64(refs[r])*uint64(passes), misses[r*levels:][:levels])
	}
	return counts, nil
}

// Progress sets a function that the counting goroutine calls now and then with the share done of
// the first program: of the outermost loops' iterations in a pass. References that are looked up
// one by one do not call it.
func (h *Hierarchy) Progress(done func(share float64)) { h.data.Progress(done) }

// runProgram sums the misses of passes. Once passes repeat, the last is multiplied.
func (h *Hierarchy) runProgram(e engine.Engine, p nest.Program, passes int) []uint64 {
	walked := passes
	if enough := e.Settled(); enough > 0 && !h.config.Brute {
		walked = min(passes, enough)
	}
	var sum []uint64
	add := func(misses []uint64, times uint64) {
		if sum == nil {
			sum = make([]uint64, len(misses))
		}
		for i, m := range misses {
			sum[i] += times * m
		}
	}
	for range walked - 1 {
		add(e.RunProgram(p), 1)
	}
	last := uint64(passes - walked + 1)
	if e != h.data || last == 1 || h.config.lone() {
		add(e.RunProgram(p), last)
		return sum
	}
	extra := extraPasses{before: h.besides(), times: last - 1}
	add(e.RunProgram(p), last)
	extra.after = h.besides()
	h.extra = append(h.extra, extra)
	return sum
}

func (t *totals) addProgram(operands []nest.Operand, refs []int, passes int, misses []uint64) {
	levels := len(t.misses[engine.Loads])
	for r, op := range operands {
		sort := engine.Sort(op.Kind)
		t.refs[sort] += uint64(passes) * uint64(refs[r])
		for level, m := range misses[r*levels:][:levels] {
			t.misses[sort][level] += m
		}
	}
}
