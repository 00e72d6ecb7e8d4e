package kernel

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkRuns reports how fast sums and copies of runs are, as a ratio to the
// builtin copy of the same bytes, interleaved; bests of the run.
func BenchmarkRuns(b *testing.B) {
	for _, set := range Sets()[1:] {
		for _, size := range []int{16 << 10, 512 << 10, 1536 << 10, 64 << 20} {
			mem := randomBytes(1, size)
			x := as[int32](mem, 0)
			half := size / 2
			times := max(1, 4<<20/size)
			plan := NewPlan(set, 1, []Loop{{half, 1, 1}})
			sum := NewSum[int32](set)
			b.Run(fmt.Sprintf("kernel=%s/size=%dKiB", set.Name(), size>>10), func(b *testing.B) {
				best := fastest(b,
					func() {
						for range times {
							copy(mem[half:], mem[:half])
						}
					},
					func() { plan.Run(mem[half:], mem[:half], nil, times) },
					func() { sum.Add(x, Rows{0, len(x), times, 0}) },
				)
				b.ReportMetric(float64(best[0])/float64(best[1]), "x-copy")
				b.ReportMetric(float64(best[0])/float64(best[2]), "x-read")
				b.ReportMetric(float64(times*size)/best[1].Seconds()/1e9, "GB/s-copy")
				b.ReportMetric(float64(times*size)/best[2].Seconds()/1e9, "GB/s-read")
			})
		}
	}
}

// BenchmarkPermuted reports permuted copies of elements of any size: as shares of our own plain
// copy of the same bytes, and as how many times as fast they are as the plain loop over the
// view, interleaved; bests of the run.
func BenchmarkPermuted(b *testing.B) {
	for _, size := range []int{1, 2, 4, 8, 16} {
		for _, c := range []struct {
			name  string
			loops []Loop
		}{
			{"transpose-256x256", []Loop{{256, 1, 256}, {256, 256, 1}}},
			{"transpose-4000x4000", []Loop{{4000, 4000, 1}, {4000, 1, 4000}}},
			{"transpose-4096x4096", []Loop{{4096, 4096, 1}, {4096, 1, 4096}}},
			{"nchw-nhwc", []Loop{{8, 64 * 3136, 64 * 3136}, {3136, 64, 1}, {64, 1, 3136}}},
			{"nhwc-nchw", []Loop{{8, 64 * 3136, 64 * 3136}, {64, 3136, 1}, {3136, 1, 64}}},
		} {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, c.name), func(b *testing.B) {
				for i := range c.loops {
					c.loops[i].To, c.loops[i].From = c.loops[i].To*size, c.loops[i].From*size
				}
				n := size * trips(c.loops)
				dst, src := randomBytes(1, n), randomBytes(2, n)
				view := &Plan{set: portable, size: size}
				view.elements(0, 0, c.loops)
				plain := NewPlan(Best(), 4, []Loop{{n / 4, 4, 4}})
				runs := []func(){func() { plain.Run(dst, src, nil, 1) }, func() { view.Run(dst, src, nil, 1) }}
				for _, s := range Sets() {
					plan := NewPlan(s, size, c.loops)
					buffers := make([]byte, plan.Buffers)
					runs = append(runs, func() { plan.Run(dst, src, buffers, 1) })
				}
				times := fastest(b, runs...)
				for i, s := range Sets() {
					b.ReportMetric(float64(times[0])/float64(times[i+2]), s.Name()+"-x-plain")
					b.ReportMetric(float64(times[1])/float64(times[i+2]), s.Name()+"-x-view")
				}
			})
		}
	}
}

// fastest runs all in turn, at least seven times, and returns the best of each.
func fastest(b *testing.B, runs ...func()) []time.Duration {
	best := slices.Repeat([]time.Duration{time.Hour}, len(runs))
	for range max(b.N, 7) {
		for i, run := range runs {
			start := time.Now()
			run()
			best[i] = min(best[i], time.Since(start))
		}
	}
	return best
}
