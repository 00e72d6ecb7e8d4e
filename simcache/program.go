package simcache

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// RunProgram simulates so many passes over a program, on whatever the caches hold from
// before, and returns the counts of each of its accesses by their numbers, all passes
// together. Like Run, it decides by itself how many accesses to look up, and once all
// further passes are alike, they are multiplied. It refuses a program that does not
// pass Check, and what Config.CheckProgram refuses.
//
// Summaries of its parts (package simcache/internal/summaries) count a program on LRU
// levels that know nothing of each other, if these are empty or hold what programs
// before have left; everything else looks up every access.
func (h *Hierarchy) RunProgram(passes int, p nest.Program) ([]Counts, error) {
	if err := h.config.CheckProgram(passes, p); err != nil {
		return nil, err
	}
	if n, is := p.Nest(); is && h.loops(passes, []nest.Nest{n}) {
		counts, err := h.RunPasses(passes, n)
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

// Progress has a function called, now and then, from the goroutine that counts, with the share that
// is done of the first program: of the outermost loops' iterations of a pass. Only what is counted
// by summaries calls it.
func (h *Hierarchy) Progress(done func(share float64)) { h.data.Progress(done) }

// tells reports whether the engine says more of a program than of a nest.
func (h *Hierarchy) tells() bool {
	return !h.config.plain()
}

// runProgram sums the misses of passes over a program. Once they are settled the last
// is multiplied.
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

// addProgram counts passes over a program whose accesses are made so often in each, and
// missed so often in all.
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
