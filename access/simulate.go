package access

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/simcache"
)

// Simulate counts one pass over each pattern in the steady state
// (simcache.Hierarchy.Steady), on caches of these geometries; this is the op
// that Measure times. It works on all CPUs, so it must not run beside Measure.
func Simulate(ctx context.Context, d1, ll simcache.Geometry, patterns []Pattern) ([]simcache.Counts, error) {
	counts := make([]simcache.Counts, len(patterns))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i, p := range patterns {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.TwoLevels(d1, ll)})
			if err != nil {
				return err
			}
			counts[i], err = h.Steady(p.Nests...)
			return err
		})
	}
	return counts, group.Wait()
}
