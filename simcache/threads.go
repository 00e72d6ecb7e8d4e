package simcache

import (
	"errors"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
)

// sharedBy returns how many cores share level i.
func (c Config) sharedBy(i int) int {
	switch n := c.Levels[i].SharedBy; {
	case n > 0:
		return n
	case i > 0 && i == len(c.Levels)-1:
		return math.MaxInt
	}
	return 1
}

// Shares reports whether threads on separate cores share a level.
func (c Config) Shares(threads int) bool {
	for i := range c.Levels {
		if threads > 1 && c.sharedBy(i) > 1 {
			return true
		}
	}
	return false
}

var errThreads = errors.New("threads share levels that are LRU, know nothing of each other, and " +
	"count references and misses alone")

// CheckThreads refuses what NewHierarchy can simulate, but NewThreads cannot: dependent levels,
// write-backs and observation.
func (c Config) CheckThreads() error {
	if !c.lone() || c.ZeroTags {
		return errThreads
	}
	return nil
}

// Threads are threads that walk nests concurrently, each on its own core, with caches that start
// cold. If n cores share a level (Level.SharedBy), thread i uses the cache of cores from i/n*n on.
//
// The threads take turns, from the first thread in each pass. A turn ends with the iteration in
// which the thread has made at least 1024 references; finished threads are skipped. Real threads do
// not wait for each other, so this is one of many interleavings, the same everywhere.
type Threads struct {
	config Config
	nests  [][]nest.Nest
	engine *lookup.Threads
	total  totals
}

// NewThreads returns the caches of threads, without a TLB, or the error of NewHierarchy,
// Hierarchy.Run or Config.CheckThreads.
func NewThreads(c Config, threads [][]nest.Nest) (*Threads, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := c.CheckThreads(); err != nil {
		return nil, err
	}
	t := &Threads{config: c, nests: threads}
	canonical := make([][]nest.Nest, len(threads))
	for i, nests := range threads {
		for _, n := range nests {
			if err := n.Check(); err != nil {
				return nil, err
			}
			canonical[i] = append(canonical[i], n.Canonical())
		}
	}
	var shared []int
	for i := range c.Levels {
		shared = append(shared, c.sharedBy(i))
	}
	t.engine = lookup.NewThreads(c.shapes(), shared, canonical)
	for sort := range engine.Sorts {
		t.total.misses[sort] = make([]uint64, len(c.Levels))
	}
	return t, nil
}

// RunPasses simulates passes of all threads and returns the counts by thread, nest and operand, or
// the error of Config.CheckPasses. Once passes repeat (see SteadyPass), the last is multiplied.
func (t *Threads) RunPasses(passes int) ([][][]Counts, error) {
	if err := t.config.CheckPasses(passes,
		nest.Sequence(slices.Concat(t.nests...)...)); err != nil {
		return nil, err
	}
	all := make([][][]Counts, len(t.nests))
	for i, nests := range t.nests {
		for _, n := range nests {
			all[i] = append(all[i], make([]Counts, len(n.Operands)))
		}
	}
	walked := min(passes, t.settled())
	for p := range walked {
		times := 1
		if p == walked-1 {
			times = passes - p
		}
		for i, counts := range t.pass(times) {
			add(all[i], [][][]Counts{counts}, times)
		}
	}
	return all, nil
}

func (t *Threads) settled() int { return len(t.config.Levels) + 1 }

// pass returns one pass's counts by thread, nest and operand, and adds them to the totals times
// times.
func (t *Threads) pass(times int) [][][]Counts {
	all := make([][][]Counts, len(t.nests))
	for i, misses := range t.engine.Pass() {
		t.total.add(t.nests[i], [][][]uint64{misses}, times)
		for k, n := range t.nests[i] {
			all[i] = append(all[i], countsOf(n, misses[k], len(t.config.Levels)))
		}
	}
	return all
}

// Effort estimates the cost of RunPasses. References that stay in a first-level line count once.
func (t *Threads) Effort(passes int) (effort Effort) {
	chain := lookup.New([]engine.Level{t.config.First().shape()}, lookup.Options{})
	for _, n := range slices.Concat(t.nests...) {
		lookUps, _ := chain.Effort([]nest.Nest{n.Canonical()}, 1)
		lookUps *= float64(min(passes, t.settled()))
		effort.add(lookUps, lookUps/5e7)
	}
	return effort
}

// Counts returns the counts so far, of all threads together.
func (t *Threads) Counts() Counts { return t.total.counts() }

// Levels returns the counts so far at each level, over all threads' caches.
func (t *Threads) Levels() []LevelCounts { return t.total.levels(t.config.name) }

// Work returns the number of references looked up.
func (t *Threads) Work() uint64 { return t.engine.Work() }

// steadyThreads is SteadyPass for threads. All passes have the same turns, so a level repeats one
// pass after its input does.
func steadyThreads(c Config, threads [][]nest.Nest) (pass Counts, err error) {
	t, err := NewThreads(c, threads)
	if err != nil {
		return pass, err
	}
	for range t.settled() {
		before := t.Counts()
		t.pass(1)
		pass = t.Counts().Sub(before)
	}
	return pass, nil
}

// Holds reports whether the nests' working set fits in the last level, so that it misses nothing in
// the steady state, in any order: the lines from first to last byte spread evenly over the sets. It
// may return false for nests that fit.
func (c Config) Holds(nests ...nest.Nest) bool {
	if !c.lone() {
		return false
	}
	first, last := uint64(math.MaxUint64), uint64(0)
	for _, n := range nests {
		if n.Iterations() == 0 {
			continue
		}
		for _, op := range n.Operands {
			low, high := op.Reach(n.Trips)
			first, last = min(first, low), max(last, high)
		}
	}
	g := c.Last().Geometry
	line, sets := uint64(g.Line), uint64(g.Sets())
	return first > last || (last/line-first/line)/sets < uint64(g.Ways)
}
