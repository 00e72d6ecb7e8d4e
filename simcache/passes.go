package simcache

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/policies"
	"github.com/stridebench/stridebench/simcache/internal/proofs"
)

// RunPasses simulates so many passes over nests, walked one after the other, and
// returns the counts of each operand of each nest, all passes together. Once
// all further passes are alike (see SteadyPass), no more are walked.
func (h *Hierarchy) RunPasses(passes int, nests ...nest.Nest) ([][]Counts, error) {
	if _, tells := h.data.(*policies.Engine); len(nests) == 1 && !tells { // one pass from another
		counts, err := h.Run(nests[0].Repeat(passes))
		return [][]Counts{counts}, err
	}
	walked := passes
	if enough := h.settled(); enough > 0 && !h.config.Brute {
		walked = min(passes, enough)
	}
	counts, err := h.run(walked, passes-walked+1, nests...)
	if err != nil {
		return nil, err
	}
	sums := make([][]Counts, len(nests))
	for k, n := range nests {
		sums[k] = make([]Counts, len(n.Operands))
		for p := range passes {
			for r, c := range counts[min(p, walked-1)][k] {
				sums[k][r] = sums[k][r].Add(c)
			}
		}
	}
	return sums, nil
}

// settled is engine.Engine.Settled of both engines.
func (h *Hierarchy) settled() int {
	data := h.data.Settled()
	if h.tlb == nil || data == 0 {
		return data
	}
	return max(data, h.tlb.Settled())
}

// SteadyPass simulates passes over nests, walked one after the other, from cold
// caches, and returns the counts of one pass in the steady state that they
// reach. Levels that are no plain ones (see Config) need not reach one; then it
// is the first pass by which LRU would have. It refuses what NewHierarchy and
// Run refuse.
//
// An access that hits in the first pass hits in all: what was touched since
// the line's last touch is then the same. An access of a later pass has its
// line's last touch at most one pass back, so D1 repeats itself from the
// second pass on. The next level therefore sees a repeating stream from the
// second pass on and repeats itself from the third, and so on: all levels do
// after one pass more than there are levels. If the first pass missed in D1
// exactly as often as the second, then in the same places, the next level's
// stream repeats from the first pass on, and is one pass ahead.
func SteadyPass(c Config, nests ...nest.Nest) (Counts, error) {
	h, err := NewHierarchy(c)
	if err != nil {
		return Counts{}, err
	}
	return h.steady(nests...)
}

// steady is SteadyPass of a new hierarchy.
func (h *Hierarchy) steady(nests ...nest.Nest) (Counts, error) {
	enough := len(h.config.Levels) + 1
	if e, ok := h.data.(*proofs.Engine); ok && h.tlb == nil {
		if counts, ok := h.steadyIndependent(e, enough, nests); ok {
			return counts, nil
		}
	}
	var first, pass Counts
	for p := 1; p <= enough; p++ {
		counts, err := h.run(1, 1, nests...)
		if err != nil {
			return Counts{}, err
		}
		pass = total(counts[0])
		if p == 1 {
			first = pass
		}
		if p == 2 && h.settled() > 0 && (pass.D1Misses() == 0 || first.D1Misses() == pass.D1Misses() && enough == 3) {
			break
		}
	}
	return pass, nil
}

// steadyIndependent is steady by the proof that operands are independent, which
// has to know all passes beforehand.
func (h *Hierarchy) steadyIndependent(e *proofs.Engine, passes int, nests []nest.Nest) (Counts, bool) {
	var canonical []nest.Nest
	for _, n := range nests {
		if h.check(n) != nil {
			return Counts{}, false
		}
		canonical = append(canonical, n.Canonical())
	}
	misses, ok := e.Independent(canonical, passes)
	if !ok {
		return Counts{}, false
	}
	h.total.add(nests, misses, 1)
	var last [][]Counts
	for k, n := range nests {
		last = append(last, countsOf(n, misses[passes-1][k], len(h.config.Levels)))
	}
	return total(last), true
}

// total is the sum of the counts of all operands of all nests.
func total(counts [][]Counts) (sum Counts) {
	for _, operands := range counts {
		for _, c := range operands {
			sum = sum.Add(c)
		}
	}
	return sum
}
