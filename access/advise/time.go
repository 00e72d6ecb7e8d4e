package advise

import (
	"context"
	"maps"
	"slices"

	"github.com/montanaflynn/stats"
	"github.com/stridebench/stridebench/access"
)

// Time times the walks of toTime. Walks of the same operation alternate, because a copy writes what
// a sum reads. It omits walks that need too much memory. The caller must check the naive one with
// access.Measurable.
func (a *Advice) Time(ctx context.Context, o access.Options) error {
	byOp := map[access.Op][]Walk{}
	for _, w := range a.toTime() {
		if op := w.Spec.Op; access.Measurable(w.Pattern, o.MaxMemory) == nil {
			byOp[op] = append(byOp[op], w)
		}
	}
	var timed []Walk
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		walks := byOp[op]
		if err := medians(ctx, walks, o); err != nil {
			return err
		}
		timed = append(timed, walks...)
	}
	a.setTimes(timed)
	return nil
}

func medians(ctx context.Context, walks []Walk, o access.Options) error {
	var patterns []access.Pattern
	for _, w := range walks {
		patterns = append(patterns, w.Pattern)
	}
	samples := make([][]float64, len(walks))
	for s, err := range access.Measure(ctx, patterns, o) {
		if err != nil {
			return err
		}
		samples[s.Pattern] = append(samples[s.Pattern], s.PerPass)
	}
	for i, all := range samples {
		var err error
		if walks[i].Measured, err = stats.Median(all); err != nil {
			return err
		}
	}
	return nil
}
