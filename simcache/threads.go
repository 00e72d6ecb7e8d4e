package simcache

import (
	"errors"
	"math"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
)

// sharedBy is how many cores share level i.
func (c Config) sharedBy(i int) int {
	switch n := c.Levels[i].SharedBy; {
	case n > 0:
		return n
	case i > 0 && i == len(c.Levels)-1:
		return math.MaxInt
	}
	return 1
}

// Shares reports whether so many threads, each on a core of its own, share a level.
func (c Config) Shares(threads int) bool {
	for i := range c.Levels {
		if threads > 1 && c.sharedBy(i) > 1 {
			return true
		}
	}
	return false
}

// errThreads is that of levels which no threads share.
var errThreads = errors.New("threads share levels that are LRU, know nothing of each other, and " +
	"count references and misses alone")

// CheckThreads refuses what NewThreads cannot simulate, though one thread can be: levels
// that know of each other, write-backs and what is observed.
func (c Config) CheckThreads() error {
	if !c.lone() || c.ZeroTags {
		return errThreads
	}
	return nil
}

// Threads are threads that walk nests side by side, each on a core of its own with
// caches that start cold: thread i has of each level the cache of the cores from
// i/n*n on, n being those that share it (Level.SharedBy).
//
// They take turns: a thread makes references until an iteration ends with which it has
// made 1024 or more since its turn began, then the next thread does, and after the
// last the first; who is done is left out. Each pass begins with the first thread. Threads
// of a machine do not wait for each other, so that this is one of many ways in which
// their references may mix, and one that is the same everywhere.
type Threads struct {
	config Config
	nests  [][]nest.Nest
	engine *lookup.Threads
	total  totals
}

// NewThreads makes the caches of threads, each of which walks nests one after the
// other. It refuses what NewHierarchy, Hierarchy.Run and Config.CheckThreads refuse. A TLB
// is not simulated.
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
	var levels []engine.Level
	var shared []int
	for i, l := range c.Levels {
		levels, shared = append(levels, l.shape()), append(shared, c.sharedBy(i))
	}
	t.engine = lookup.NewThreads(levels, shared, canonical)
	for sort := range engine.Sorts {
		t.total.misses[sort] = make([]uint64, len(levels))
	}
	return t, nil
}

// RunPasses simulates so many passes of all threads, of which no more are walked once all
// further ones are alike (see SteadyThreads), and returns the counts by thread, nest and
// operand, all passes together. It refuses what Config.CheckPasses refuses.
func (t *Threads) RunPasses(passes int) ([][][]Counts, error) {
	if err := t.config.CheckPasses(passes, slices.Concat(t.nests...)...); err != nil {
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

// settled is the number of passes after which all that follow are like the last of them.
func (t *Threads) settled() int { return len(t.config.Levels) + 1 }

// pass simulates one pass of all threads, which counts so many times, and returns its
// counts by thread, nest and operand.
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

// Effort is about what RunPasses would take.
func (t *Threads) Effort(passes int) (effort Effort) {
	lookUps := float64(min(passes, t.settled())) * EffortOfThreads(t.config, t.nests)
	effort.add(lookUps, lookUps/5e7)
	return effort
}

// Counts returns what has been counted so far, by all threads together.
func (t *Threads) Counts() Counts { return t.total.counts() }

// Levels returns what has been counted so far at each level, in the caches of all
// threads together.
func (t *Threads) Levels() []LevelCounts {
	levels := t.total.levels()
	for i := range levels {
		levels[i].Name = t.config.name(i)
	}
	return levels
}

// Work is how many references were looked up so far.
func (t *Threads) Work() uint64 { return t.engine.Work() }

// SteadyThreads counts one pass of threads in the steady state, as SteadyPass does of
// one thread, and for the same reason: a level repeats itself from one pass after the
// one from which on what it is asked repeats itself, whoever asks, since all passes have
// the same turns. It refuses what NewThreads refuses.
func SteadyThreads(c Config, threads [][]nest.Nest) (Counts, error) {
	t, err := NewThreads(c, threads)
	if err != nil {
		return Counts{}, err
	}
	var sum Counts
	var first []LevelCounts
	for pass := range t.settled() {
		sum = Counts{}
		for _, nests := range t.pass(1) {
			sum = sum.Add(total(nests))
		}
		if pass == 0 {
			first = t.Levels()
		}
		if pass == 1 && twice(t.Levels(), first) {
			break
		}
	}
	return sum, nil
}

// twice reports whether two passes missed at each level but the last exactly twice as
// often as the first of them: then in the same places, so that the last level was
// asked the same in both, and misses in all that follow what it missed in the second.
func twice(both, first []LevelCounts) bool {
	for i := range len(first) - 1 {
		if both[i].Misses() != 2*first[i].Misses() {
			return false
		}
	}
	return true
}

// Holds reports whether the last level has room for all that nests touch, in the steady
// state and in whatever order, so that it misses nothing then: the lines from the first
// byte to the last fall into all sets alike. It may report false where it has.
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

// EffortOfThreads is about how many references a pass of threads looks up, those that
// stay in a line of the first level counting once.
func EffortOfThreads(c Config, threads [][]nest.Nest) float64 {
	chain := lookup.New([]engine.Level{c.First().shape()}, lookup.Options{})
	sum := 0.0
	for _, nests := range threads {
		for _, n := range nests {
			lookUps, _ := chain.Effort([]nest.Nest{n.Canonical()}, 1)
			sum += lookUps
		}
	}
	return sum
}
