package access

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/simcache"
)

// Counts are the simulated events of one pass.
type Counts struct {
	simcache.Counts
	TLBMisses uint64 // walks of the page table; 0 without a TLB
}

// Simulate counts one pass over each pattern in the steady state
// (simcache.SteadyPass), on these caches and the TLB, if it has one; this is the op that Measure times. It works on all CPUs, so it must not run
// beside Measure.
func Simulate(ctx context.Context, caches simcache.Config, patterns []Pattern) ([]Counts, error) {
	counts := make([]Counts, len(patterns))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	steady := func(levels []simcache.Level, p Pattern, done func(simcache.Counts)) {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if p.Spec.Op != Chase {
				c, err := simcache.SteadyPass(simcache.Config{Levels: levels}, p.Nests...)
				done(c)
				return err
			}
			h, err := simcache.NewHierarchy(simcache.Config{Levels: levels})
			if err == nil {
				done(p.chasePasses(h, len(levels)+1)) // by when it is steady, see SteadyPass
			}
			return err
		})
	}
	// The TLB is a hierarchy of its own: neither waits for the other's steady
	// state. It is begun with, since one that is fully associative takes longest.
	if caches.TLB != nil {
		for i, p := range patterns {
			steady(simcache.PageLevels(caches.TLB), p, func(c simcache.Counts) { counts[i].TLBMisses = c.LLMisses() })
		}
	}
	for i, p := range patterns {
		steady(caches.Levels, p, func(c simcache.Counts) { counts[i].Counts = c })
	}
	return counts, group.Wait()
}
