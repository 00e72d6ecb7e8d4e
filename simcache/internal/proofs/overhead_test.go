package proofs

import (
	"slices"
	"testing"
	"time"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/lru"
)

// BenchmarkOverhead runs random nests of some millions of accesses on usual
// caches, by proof where the engine decides so and by the chain alone. Of the
// nests that it does not make quicker it tells how much longer all of them take
// together, and the one that fares worst.
func BenchmarkOverhead(b *testing.B) {
	levels := []engine.Level{{Sets: 64, Ways: 8, Shift: 6}, {Sets: 8192, Ways: 16, Shift: 6}}
	var nests []nest.Nest
	for seed := uint64(0); len(nests) < 80; seed++ {
		d := enginetest.Random(seed, 31)
		n := d.Nest(levels, 1<<22)
		if n = n.Canonical(); accessesOf(n) > 0 && accessesOf(n) < 1<<19 {
			n = n.Repeat(1 << 19 / accessesOf(n))
			for r := range n.Operands {
				n.Operands[r].Strides[0] = 64 * (1 + d(5000))
			}
		}
		if accessesOf(n) > 0 {
			nests = append(nests, n.Canonical())
		}
	}
	best := func(run func(nest.Nest) []uint64, n nest.Nest, least time.Duration) time.Duration {
		start := time.Now()
		run(n)
		return min(least, time.Since(start))
	}
	for b.Loop() {
		var by, brute time.Duration
		var worst []float64
		quicker := 0
		for _, n := range nests {
			with, without := time.Hour, time.Hour
			for range 3 { // interleaved, from cold caches
				with = best(New(levels, 1).one, n, with)
				without = best(lru.New(levels, lru.Options{}).One, n, without)
			}
			if with < without {
				quicker++
				continue
			}
			by, brute = by+with, brute+without
			worst = append(worst, with.Seconds()/without.Seconds())
		}
		slices.Sort(worst)
		b.ReportMetric(float64(quicker), "quicker")
		b.ReportMetric(float64(len(worst)), "not-quicker")
		b.ReportMetric(by.Seconds()/brute.Seconds(), "times-brute")
		b.ReportMetric(worst[len(worst)-1], "times-brute-worst")
		b.ReportMetric(worst[len(worst)*9/10], "times-brute-p90")
	}
}
