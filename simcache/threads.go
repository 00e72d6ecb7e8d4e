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

// CheckThreads refuses what NewHierarchy can simulate, but NewThreads cannot: dependent levels,
// write-backs and observation.
func (c Config) CheckThreads() error {
	if !c.lone() || c.ZeroTags {
		return errors.New("threads share levels that are LRU, know nothing of each other, and " +
			"count references and misses alone")
	}
	return nil
}

// NewThreads returns the caches of threads that walk nests concurrently, each on its own core. They
// start cold, and have no TLB. If n cores share a level (Level.SharedBy), thread i uses the cache
// of cores from i/n*n on. It returns the error of NewHierarchy, Hierarchy.Run or
// Config.CheckThreads.
//
// The threads take turns, from the first thread in each pass. A turn ends with the iteration in
// which the thread has made at least 1024 references; finished threads are skipped. Real threads do
// not wait for each other, so this is one of many interleavings, the same everywhere.
//
// Effort and Run of this hierarchy are of all these nests, one thread after the other, and
// take no others. It simulates nothing else.
func NewThreads(c Config, threads [][]nest.Nest) (*Hierarchy, error) {
	c.TLB = nil
	h, err := NewHierarchy(c)
	if err == nil {
		err = c.CheckThreads()
	}
	if err != nil {
		return nil, err
	}
	t := &turns{Engine: h.data, levels: c.shapes(), nests: make([][]nest.Nest, len(threads))}
	for i, nests := range threads {
		for _, n := range nests {
			if err := n.Check(); err != nil {
				return nil, err
			}
			t.nests[i] = append(t.nests[i], n.Canonical())
		}
	}
	for i := range c.Levels {
		t.shared = append(t.shared, c.sharedBy(i))
	}
	if h.nests = slices.Concat(threads...); len(h.nests) > 1 { // else it has all caches
		t.Reset()
		h.data = t
	}
	return h, nil
}

// A turns is the engine of threads.
type turns struct {
	engine.Engine // for what makes no references
	threads       *lookup.Threads
	levels        []engine.Level
	shared        []int         // cores that share each level
	nests         [][]nest.Nest // canonical, by thread
}

func (t *turns) Reset() { t.threads = lookup.NewThreads(t.levels, t.shared, t.nests) }

func (t *turns) Work() uint64 { return t.threads.Work() }

// Run walks the nests of the threads, which are the hierarchy's.
func (t *turns) Run(_ []nest.Nest, passes int) (misses [][][]uint64) {
	for range passes {
		misses = append(misses, slices.Concat(t.threads.Pass()...))
	}
	return misses
}

// Effort counts references that stay in a first-level line once.
func (t *turns) Effort(nests []nest.Nest, passes int) (lookUps, seconds float64) {
	lookUps, _ = lookup.New(t.levels[:1], lookup.Options{}).Effort(nests, passes)
	return lookUps, lookUps / 5e7
}

// Settled is as of one thread: all passes have the same turns, so a level repeats one pass after
// its input does.
func (t *turns) Settled() int { return len(t.levels) + 1 }

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
