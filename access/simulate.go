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
// its own core, with a TLB, and shares levels with others as simcache.NewThreads describes. Their
// counts are added up.
//
// Patterns with the same accesses are counted once. Simulate uses all CPUs, so it must not run
// during Measure. It calls step, unless nil, from several goroutines, but one at a time, once for
// each pattern.
func Simulate(ctx context.Context, caches simcache.Config, patterns []Pattern,
	step func()) ([]Counts, error) {
	first, alike := distinctPatterns(patterns)
	counts, times := make([]Counts, len(patterns)), make([]int, len(patterns))
	for _, of := range alike {
		times[of]++ // patterns with its accesses
	}
	// The longest first, so that no CPU works alone at the end.
	slices.SortStableFunc(first, func(a, b int) int {
		return cmp.Compare(patterns[b].accesses(), patterns[a].accesses())
	})
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	var adding sync.Mutex
	for _, i := range first {
		var parts []func() (Counts, error)
		parts, counts[i].Uncounted = patterns[i].simulations(caches)
		left := len(parts)
		for _, count := range parts {
			group.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				c, err := count()
				adding.Lock()
				defer adding.Unlock()
				counts[i].Counts = counts[i].Add(c.Counts)
				counts[i].TLBMisses += c.TLBMisses
				if left--; left == 0 && step != nil {
					for range times[i] {
						step()
					}
				}
				return err
			})
		}
	}
	err := group.Wait()
	for i, of := range alike {
		counts[i] = counts[of]
	}
	return counts, err
}

// simulations returns what has to be simulated, whose counts are added up, and why the misses of
// the last level are not counted, if they are not.
func (p Pattern) simulations(caches simcache.Config) (all []func() (Counts, error),
	uncounted string) {
	alone := func(levels []simcache.Level, of func(simcache.Counts) Counts) {
		for _, part := range p.walked() {
			all = append(all, func() (Counts, error) {
				c, err := part.steady(levels)
				return of(c), err
			})
		}
	}
	whole := func(c simcache.Counts) Counts { return Counts{Counts: c} }
	// The TLB is a separate hierarchy: neither waits for the other's steady state.
	if caches.TLB != nil {
		alone(simcache.PageLevels(caches.TLB), func(c simcache.Counts) Counts {
			return Counts{TLBMisses: c.LLMisses()}
		})
	}
	lookUps, err := p.inTurns(caches)
	if err != nil {
		uncounted = err.Error()
	}
	switch {
	case !caches.Shares(len(p.shared)):
		alone(caches.Levels, whole)
	case lookUps > 0:
		all = append(all, func() (Counts, error) {
			c, err := simcache.SteadyPass(simcache.Config{Levels: caches.Levels}, p.threads()...)
			return whole(c), err
		})
	default:
		alone(caches.Levels[:1], func(c simcache.Counts) Counts {
			c.DLmr, c.DLmw = 0, 0 // the only level is also the last
			return whole(c)
		})
	}
	return all, uncounted
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
			for i := range n.Operands {
				n.Operands[i].Tensor = ""
			}
			fmt.Fprintln(&text, n)
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
		return simcache.SteadyPass(simcache.Config{Levels: levels}, p.Nests)
	}
	return p.steadyChase(levels)
}
