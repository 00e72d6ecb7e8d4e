package access

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/montanaflynn/stats"

	"github.com/stridebench/stridebench/layouts"
)

// estimators make one figure of the samples of a benchmark.
var estimators = []struct {
	name string
	of   func(samples []float64) (float64, error)
}{
	{"min", func(s []float64) (float64, error) { return stats.Min(s) }},
	{"quartile", func(s []float64) (float64, error) { return stats.Percentile(s, 25) }},
	{"median", func(s []float64) (float64, error) { return stats.Median(s) }},
	{"mean", func(s []float64) (float64, error) { return stats.Mean(s) }},
}

// BenchmarkEstimators shows how much the ratio of two copies of one pattern, whose
// samples are interleaved, scatters about 1: by the length of a sample, for 20 ms
// of samples of each copy, and of a pattern that is longer for 6 passes; and by
// what is made of the samples. The figures are the standard deviation of the ratio's
// logarithm and the largest deviation, in %, over 30 estimates:
//
//	go test -run '^$' -bench Estimators -benchtime 30x ./access
func BenchmarkEstimators(b *testing.B) {
	for _, pattern := range []struct {
		name string
		spec Spec
	}{
		{"L1", Spec{Shape: []int{64, 64}, DType: layouts.Int32}},
		{"L1-vector", Spec{Shape: []int{64, 64}, DType: layouts.Int32,
			Kernel: append(vector(), Scalar)[0]}},
		{"L2-column", Spec{Shape: []int{256, 256}, DType: layouts.Int32, Order: Col}},
		{"L3", Spec{Shape: []int{1024, 1024}, DType: layouts.Int32, Order: Col}},
		{"memory", Spec{Shape: []int{4000, 4000}, DType: layouts.Int32}},
	} {
		for _, length := range []time.Duration{100 * time.Microsecond, 300 * time.Microsecond,
			time.Millisecond, 3 * time.Millisecond} {
			if pattern.name == "memory" && length != 3*time.Millisecond {
				continue // since a pass takes longer
			}
			b.Run(fmt.Sprintf("of=%s/sample=%v", pattern.name, length), func(b *testing.B) {
				p, err := pattern.spec.Pattern()
				if err != nil {
					b.Fatal(err)
				}
				ratios := make([][]float64, len(estimators))
				for b.Loop() {
					pair := samplesOfTwo(b, p, length, int(20*time.Millisecond/length))
					for e, estimator := range estimators {
						var at [2]float64
						for k, samples := range pair {
							if at[k], err = estimator.of(samples); err != nil {
								b.Fatal(err)
							}
						}
						ratios[e] = append(ratios[e], 100*math.Abs(math.Log(at[0]/at[1])))
					}
				}
				for e, estimator := range estimators {
					squares := 0.0
					for _, r := range ratios[e] {
						squares += r * r
					}
					b.ReportMetric(math.Sqrt(squares/float64(len(ratios[e]))),
						estimator.name+"-sd-%")
					b.ReportMetric(slices.Max(ratios[e]), estimator.name+"-max-%")
				}
				b.ReportMetric(0, "ns/op") // what the loop takes says nothing
			})
		}
	}
}

// samplesOfTwo measures a pattern beside itself.
func samplesOfTwo(b *testing.B, p Pattern, length time.Duration, count int) (pair [2][]float64) {
	for s, err := range Measure(b.Context(), []Pattern{p, p},
		Options{Count: count, MinTime: length}) {
		if err != nil {
			b.Fatal(err)
		}
		pair[s.Pattern] = append(pair[s.Pattern], s.PerPass)
	}
	return pair
}
