package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/simcache"
)

// Counts are the simulated events of one pass.
type Counts struct {
	simcache.Counts
	TLBMisses uint64 // walks of the page table; 0 without a TLB
	// Shared says that several threads share the last level, and that its misses were
	// not counted (Pattern.InTurns says why).
	Shared bool
}

// Simulate counts one pass over each pattern in the steady state
// (simcache.SteadyPass), on these caches and the TLB, if it has one; this is the op
// that Measure times. Of a pattern with parts each is walked by a thread on a core of its
// own, which has a TLB and shares levels with others as simcache.Threads says; all counts
// are added up. Patterns of the same accesses are counted once. It
// works on all CPUs, so it must not run beside Measure. It calls step, unless that is
// nil, from several goroutines, one at a time: for each pattern when its misses in the
// caches are counted, and once more for those in a TLB.
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
	// Those of most accesses first, so that no CPU is left with one in the end.
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

// A simulation is Simulate under way.
type simulation struct {
	ctx      context.Context
	group    *errgroup.Group
	adding   sync.Mutex // held to add to counts, and to step
	patterns []Pattern
	counts   []Counts
	step     func()
	times    []int // by pattern: how many make its accesses
}

// begin counts a pattern.
func (s *simulation) begin(caches simcache.Config, i int) {
	p := s.patterns[i]
	// The TLB is a hierarchy of its own: neither waits for the other's steady state.
	if caches.TLB != nil {
		s.alone(simcache.PageLevels(caches.TLB), i, func(c simcache.Counts) {
			s.counts[i].TLBMisses += c.LLMisses()
		})
	}
	add := func(c simcache.Counts) { s.counts[i].Counts = s.counts[i].Add(c) }
	lookUps, err := p.InTurns(caches)
	switch s.counts[i].Shared = err != nil; {
	case !caches.Shares(len(p.shared)):
		s.alone(caches.Levels, i, add)
	case lookUps > 0:
		s.count(func() (simcache.Counts, error) {
			return simcache.SteadyThreads(simcache.Config{Levels: caches.Levels}, p.Threads())
		}, s.told(i, 1, add))
	default:
		s.alone(caches.Levels[:1], i, func(c simcache.Counts) {
			c.DLmr, c.DLmw = 0, 0 // those of the only level
			add(c)
		})
	}
}

// alone counts what each thread of a pattern does where it shares no level.
func (s *simulation) alone(levels []simcache.Level, i int, add func(simcache.Counts)) {
	walked := s.patterns[i].walked()
	add = s.told(i, len(walked), add)
	for _, w := range walked {
		s.count(func() (simcache.Counts, error) { return w.steady(levels) }, add)
	}
}

// told is add, and tells of the step of a pattern when it has been called so often.
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

// count adds up what is counted when a CPU is free.
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

// distinctPatterns are the indices of patterns of which no earlier one makes the same
// accesses, and for each of all the index of the one that does.
func distinctPatterns(patterns []Pattern) (first, alike []int) {
	seen := map[string]int{}
	for i, p := range patterns {
		key := p.Fingerprint()
		of, known := seen[key]
		if !known {
			of, seen[key] = i, i
			first = append(first, i)
		}
		alike = append(alike, of)
	}
	return first, alike
}

// Fingerprint tells patterns apart by their accesses, which are all that a simulation is
// told: those of the same are counted alike. It is 32 hex digits.
func (p Pattern) Fingerprint() string {
	hash := sha256.New()
	for _, part := range p.walked() {
		for _, n := range part.Nests {
			n = n.Canonical()
			fmt.Fprint(hash, n.Trips)
			for _, op := range n.Operands {
				fmt.Fprint(hash, " ", op.Kind, op.Base, op.Width, op.Strides)
			}
			fmt.Fprintln(hash)
		}
		fmt.Fprintln(hash)
	}
	if p.Ring != nil {
		view := p.operands[0].view // of which the ring is made
		fmt.Fprintln(hash, "chase", chaseSeed, p.Spec.DType.Size(), view.Shape(), view.Strides(),
			view.Offset())
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// accesses is how many a pass makes.
func (p Pattern) accesses() (sum int) {
	for _, n := range p.Nests {
		sum += n.Iterations() * len(n.Operands)
	}
	return sum + len(p.Ring)
}

// walked is what each thread walks.
func (p Pattern) walked() []Pattern {
	if p.shared == nil {
		return []Pattern{p}
	}
	return p.shared
}

// steady is a pass of one thread.
func (p Pattern) steady(levels []simcache.Level) (simcache.Counts, error) {
	if p.Spec.Op != Chase {
		return simcache.SteadyPass(simcache.Config{Levels: levels}, p.Nests...)
	}
	return p.steadyChase(levels)
}
