package simcache

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/exact"
)

// CheckPasses refuses a number of passes over a program if all their references, or the bytes that
// they may move if bytes are counted, exceed 63 bits.
func (c Config) CheckPasses(passes int, p nest.Program) error {
	if err := p.Check(); err != nil {
		return err
	}
	references, err := p.Count()
	if err != nil {
		return err
	}
	return c.checkPasses(passes, uint64(references))
}

// ErrPasses begins errors that refuse a number of passes.
var ErrPasses = errors.New("passes")

// checkPasses checks passes of a number of references each. It blames the passes only if fewer
// would fit.
func (c Config) checkPasses(passes int, references uint64) error {
	limit, what := uint64(math.MaxInt), "them" // of all
	for _, l := range c.Levels {
		if c.WriteBacks || c.Observes("bytes") {
			limit = min(limit, math.MaxInt/uint64(4*l.Line)) // two lines in, and two out
			what = "the bytes that they may move"
		}
	}
	switch most := limit / max(references, 1); {
	case passes < 0:
		return fmt.Errorf("%w %d: want none or more", ErrPasses, passes)
	case passes > 0 && most == 0:
		return fmt.Errorf("%d references: 64 bits do not count %s; want at most %d, a smaller shape",
			references, what, limit)
	case uint64(passes) > most:
		return fmt.Errorf("%w %d: with %d references each, 64 bits do not count %s; want at most %d",
			ErrPasses, passes, references, what, most)
	}
	return nil
}

// Run simulates passes over nests, one nest after the other, on the caches' present contents. It
// returns the counts of each operand of each nest in all passes, or the error of CheckPasses or of
// a nest's Check. Once all further passes are alike (see [SteadyPass]), it multiplies.
//
// Run decides how many accesses to look up (see Work); package simcache/internal/exact explains why
// that is exact. A large first nest may be counted without its final contents. The next run then
// simulates it again, which may take long.
func (h *Hierarchy) Run(passes int, nests ...nest.Nest) ([][]Counts, error) {
	nests = append(h.nests, nests...)
	for _, n := range nests {
		if err := n.Check(); err != nil {
			return nil, err
		}
	}
	if err := h.config.CheckPasses(passes, nest.Sequence(nests...)); err != nil {
		return nil, err
	}
	if h.loops(passes, nests) {
		passes, nests = 1, []nest.Nest{nests[0].Repeat(passes)}
	}
	walked, _ := h.walks(passes, nests)
	sums := make([][]Counts, len(nests))
	for k, n := range nests {
		sums[k] = make([]Counts, len(n.Operands))
	}
	for done := 0; done < walked; {
		some := min(walked-done, mostPasses)
		last := 1
		if done += some; done == walked {
			last = passes - walked + 1
		}
		counts, err := h.run(some, last, nests...)
		if err != nil {
			return nil, err
		}
		add(sums, counts, last)
	}
	return sums, nil
}

// loops reports whether passes over the nests are simulated as one nest with an outer loop. Then
// nothing may ask for the pass of a reference.
func (h *Hierarchy) loops(passes int, nests []nest.Nest) bool {
	return len(nests) == 1 && h.config.plain() && (h.config.Brute || h.config.lone())
}

// walks returns how many passes over which nests are simulated, until all further ones are alike.
func (h *Hierarchy) walks(passes int, nests []nest.Nest) (int, []nest.Nest) {
	if h.loops(passes, nests) {
		return 1, []nest.Nest{nests[0].Repeat(passes)}
	}
	if enough := h.settled(); enough > 0 && !h.config.Brute {
		passes = min(passes, enough)
	}
	return passes, nests
}

// mostPasses limits the passes walked at once, since the counts of each are kept.
const mostPasses = 1 << 10

// add adds the counts of passes to sums, and multiplies the last pass.
func add(sums [][]Counts, counts [][][]Counts, last int) {
	for p, pass := range counts {
		times := uint64(1)
		if p == len(counts)-1 {
			times = uint64(last)
		}
		for k, operands := range pass {
			for r, c := range operands {
				sums[k][r] = sums[k][r].plus(c, times)
			}
		}
	}
}

// settled returns the larger Settled of both engines.
func (h *Hierarchy) settled() int {
	data := h.data.Settled()
	if h.tlb == nil || data == 0 {
		return data
	}
	return max(data, h.tlb.Settled())
}

// SteadyPass simulates passes over nests, one nest after the other, from cold caches. It returns
// the counts of a pass in the steady state. Levels other than plain LRU (see [Config]) need not
// reach one. For those it returns the pass by which LRU levels would. It refuses what NewHierarchy
// and Run refuse.
//
// The steady state comes after one pass more than there are levels:
//
//  1. An access that hits in the first pass hits in all passes: the lines touched since the last
//     touch of its line are then the same.
//  2. An access of a later pass has the last touch of its line at most one pass back. So D1 repeats
//     itself from the second pass on.
//  3. The second level therefore sees a repeating stream from the second pass on, and repeats
//     itself from the third, and so on.
//
// Two observations save passes. If the first two passes have equal misses in D1, they miss in the
// same places. The stream of the second level then repeats one pass earlier. If the second of two
// levels has no misses in the second pass, the same stream misses nothing again.
//
// The pass is over the nests of one thread, or of several (see NewThreads).
func SteadyPass(c Config, threads ...[]nest.Nest) (Counts, error) {
	if len(threads) > 1 {
		h, err := NewThreads(c, threads)
		if err != nil {
			return Counts{}, err
		}
		return h.steady(len(c.Levels)+1, h.nests...)
	}
	nests := slices.Concat(threads...)
	if !c.isSimple(nests) {
		return c.steady(len(c.Levels)+1, nests)
	}
	few := c
	few.Levels = c.Levels[:max(1, exact.Missing(c.shapes(), nests))]
	counts, err := few.steadySimple(nests)
	if err == nil && len(few.Levels) < len(c.Levels) {
		counts.DLmr, counts.DLmw = 0, 0
	}
	return counts, err
}

// steady simulates a number of passes that is enough for the steady state.
func (c Config) steady(passes int, nests []nest.Nest) (Counts, error) {
	h, err := NewHierarchy(c)
	if err != nil {
		return Counts{}, err
	}
	return h.steady(passes, nests...)
}

// isSimple reports whether all levels are plain LRU, and no access is wider than a line.
func (c Config) isSimple(nests []nest.Nest) bool {
	if c.Brute || c.ZeroTags || len(c.TLB) > 0 || !c.lone() || c.Check() != nil {
		return false
	}
	return !slices.ContainsFunc(nests, func(n nest.Nest) bool {
		return n.Check() != nil || engine.Wide(c.shapes(), n.Operands)
	})
}

// shapes returns the geometries of all levels.
func (c Config) shapes() (all []engine.Level) {
	for _, l := range c.Levels {
		all = append(all, l.shape())
	}
	return all
}

// steadySimple is SteadyPass for plain LRU levels. Reuse intervals may decide one nest without
// looking up, or show that its first pass equals all others.
func (c Config) steadySimple(nests []nest.Nest) (Counts, error) {
	passes := len(c.Levels) + 1
	if len(nests) == 1 {
		var misses []uint64
		n := nests[0].Canonical()
		if misses, passes = exact.Steady(c.shapes(), n); passes == 0 {
			return total([][]Counts{countsOf(n, misses, len(c.Levels))}), nil
		}
	}
	return c.steady(passes, nests)
}

// steady is SteadyPass on a new hierarchy, by a number of passes that is enough.
func (h *Hierarchy) steady(enough int, nests ...nest.Nest) (Counts, error) {
	some := min(enough, 2) // at once, since the engine then knows that the first has a successor
	counts, err := h.run(some, 1, nests...)
	if err != nil {
		return Counts{}, err
	}
	first, pass := total(counts[0]), total(counts[some-1])
	if h.config.lone() && some == 2 && (pass.D1Misses() == 0 ||
		enough == 3 && (pass.LLMisses() == 0 || first.D1Misses() == pass.D1Misses())) {
		return pass, nil
	}
	for range enough - some {
		if counts, err = h.run(1, 1, nests...); err != nil {
			return Counts{}, err
		}
		pass = total(counts[0])
	}
	return pass, nil
}

// total sums the counts of all operands of all nests.
func total(counts [][]Counts) (sum Counts) {
	for _, operands := range counts {
		for _, c := range operands {
			sum = sum.Add(c)
		}
	}
	return sum
}
