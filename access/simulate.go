package access

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/simcache"
)

// Counts are the simulated events of one pass.
type Counts struct {
	simcache.Counts
	TLBMisses uint64 // page table walks; 0 without a TLB
	// Uncounted is why the misses of the last level, which threads share, were not counted; "" if
	// they were.
	Uncounted string
}

// Simulate counts one pass over each pattern in the steady state (simcache.SteadyPass), in the
// caches and the TLB, if any. Measure times the same pass. Each part of a pattern with parts has
// its own core, with a TLB, and shares levels with others as simcache.Threads describes. Their
// counts are added up.
//
// Patterns with the same accesses are counted once. Simulate uses all CPUs, so it must not run
// during Measure. It calls step, unless nil, from several goroutines, but one at a time. It does so
// for each pattern after the caches, and again after a TLB.
func Simulate(ctx context.Context, caches simcache.Config, patterns []Pattern,
	step func()) ([]Counts, error) {
	if step == nil {
		step = func() {}
	}
	first, alike := distinctPatterns(patterns)
	s := simulation{patterns: patterns, counts: make([]Counts, len(patterns)), step: step,
		times: make([]int, len(patterns))}
	s.group, s.ctx = errgroup.WithContext(ctx)
	s.group.SetLimit(runtime.NumCPU())
	for _, of := range alike {
		s.times[of]++
	}
	// The longest first, so that no CPU works alone at the end.
	slices.SortStableFunc(first, func(a, b int) int {
		return cmp.Compare(patterns[b].accesses(), patterns[a].accesses())
	})
	for _, i := range first {
		s.begin(caches, i)
	}
	err := s.group.Wait()
	for i, of := range alike {
		s.counts[i] = s.counts[of]
	}
	return s.counts, err
}

type simulation struct {
	ctx      context.Context
	group    *errgroup.Group
	adding   sync.Mutex // guards counts and calls of step
	patterns []Pattern
	counts   []Counts
	step     func()
	times    []int // by pattern: patterns with its accesses
}

func (s *simulation) begin(caches simcache.Config, i int) {
	p := s.patterns[i]
	// The TLB is a separate hierarchy: neither waits for the other's steady state.
	if caches.TLB != nil {
		s.alone(simcache.PageLevels(caches.TLB), i, func(c simcache.Counts) {
			s.counts[i].TLBMisses += c.LLMisses()
		})
	}
	add := func(c simcache.Counts) { s.counts[i].Counts = s.counts[i].Add(c) }
	lookUps, err := p.inTurns(caches)
	if err != nil {
		s.counts[i].Uncounted = err.Error()
	}
	switch {
	case !caches.Shares(len(p.shared)):
		s.alone(caches.Levels, i, add)
	case lookUps > 0:
		s.count(func() (simcache.Counts, error) {
			return simcache.SteadyThreads(simcache.Config{Levels: caches.Levels}, p.threads())
		}, s.told(i, 1, add))
	default:
		s.alone(caches.Levels[:1], i, func(c simcache.Counts) {
			c.DLmr, c.DLmw = 0, 0 // the only level is also the last
			add(c)
		})
	}
}

func (s *simulation) alone(levels []simcache.Level, i int, add func(simcache.Counts)) {
	walked := s.patterns[i].walked()
	add = s.told(i, len(walked), add)
	for _, w := range walked {
		s.count(func() (simcache.Counts, error) { return w.steady(levels) }, add)
	}
}

// told returns add with a step of the pattern on its left-th call.
func (s *simulation) told(i, left int, add func(simcache.Counts)) func(simcache.Counts) {
	return func(c simcache.Counts) {
		if add(c); left > 1 {
			left--
			return
		}
		for range s.times[i] {
			s.step()
		}
	}
}

func (s *simulation) count(count func() (simcache.Counts, error), add func(simcache.Counts)) {
	s.group.Go(func() error {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		c, err := count()
		s.adding.Lock()
		defer s.adding.Unlock()
		add(c)
		return err
	})
}

// distinctPatterns returns the patterns whose accesses no earlier one makes. For each pattern it
// also returns the first with the same accesses.
func distinctPatterns(patterns []Pattern) (first, alike []int) {
	seen := map[string]int{}
	for i, p := range patterns {
		key := p.key()
		of, known := seen[key]
		if !known {
			of, seen[key] = i, i
			first = append(first, i)
		}
		alike = append(alike, of)
	}
	return first, alike
}

// key is a text of the accesses, which determine the counts of a simulation.
func (p Pattern) key() string {
	var text strings.Builder
	for _, part := range p.walked() {
		for _, n := range part.Nests {
			n = n.Canonical()
			fmt.Fprint(&text, n.Trips)
			for _, op := range n.Operands {
				fmt.Fprint(&text, " ", op.Kind, op.Base, op.Width, op.Strides)
			}
			fmt.Fprintln(&text)
		}
		fmt.Fprintln(&text)
	}
	if p.Ring != nil {
		view := p.operands[0].view // determines the ring
		fmt.Fprintln(&text, "chase", chaseSeed, p.Spec.DType.Size(), view.Shape(), view.Strides(),
			view.Offset())
	}
	return text.String()
}

func (p Pattern) accesses() (sum int) {
	for _, n := range p.Nests {
		sum += n.Iterations() * len(n.Operands)
	}
	return sum + len(p.Ring)
}

func (p Pattern) walked() []Pattern {
	if p.shared == nil {
		return []Pattern{p}
	}
	return p.shared
}

func (p Pattern) steady(levels []simcache.Level) (simcache.Counts, error) {
	if p.Spec.Op != Chase {
		return simcache.SteadyPass(simcache.Config{Levels: levels}, p.Nests...)
	}
	return p.steadyChase(levels)
}
