package simcache

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkOverhead runs random nests of some millions of accesses on usual
// caches, by proof where the engine decides so and by the chain alone. Of the
// nests that it does not make quicker it tells how much longer all of them take
// together, and the one that fares worst.
func BenchmarkOverhead(b *testing.B) {
	levels := []Geometry{{32 << 10, 8, 64}, {8 << 20, 16, 64}}
	var nests []Nest
	for seed := uint64(0); len(nests) < 80; seed++ {
		d := randomDraw(seed, 31)
		n := d.nest([]levelSpec{{64, 8, 6}, {8192, 16, 6}}, 1<<22)
		if n = n.Canonical(); n.accesses() > 0 && n.accesses() < 1<<19 {
			n = n.repeated(1 << 19 / n.accesses())
			for r := range n.Operands {
				n.Operands[r].Strides[0] = 64 * (1 + d(5000))
			}
		}
		if n.accesses() > 0 {
			nests = append(nests, n.Canonical())
		}
	}
	best := func(run func(Nest) []uint64, n Nest, least time.Duration) time.Duration {
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
				with = best(newProving(newChain(levels, Config{})).one, n, with)
				without = best(newChain(levels, Config{}).one, n, without)
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
