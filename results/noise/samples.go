// Package noise is the program's own and promises nothing. It finds what makes the times of a run
// doubtful: drift, two speeds, outliers. It reports warnings with advice. A quiet machine gives
// none.
//
//  1. Keep each benchmark's times in the order in which they were taken, in one
//     [Series] each.
//  2. [Samples] returns the warnings that they give together.
//  3. [Scattered] returns a note on times that are uncertain, and [ServedBy] on a
//     last cache that serves far less than the CPU states.
package noise

import (
	"cmp"
	"math"
	"slices"

	"github.com/montanaflynn/stats"

	"github.com/stridebench/stridebench/results"
)

// driftOf returns how far the later half of values lies above the earlier half, as a share, by
// their medians. p is the chance of such a trend by the Mann-Kendall test (Mann, "Nonparametric
// tests against trend", Econometrica 13, 1945): two-sided, normal approximation, continuity
// correction. Fewer than 4 values give (0, 1).
func driftOf(values []float64) (change, p float64) {
	n := len(values)
	if n < 4 {
		return 0, 1
	}
	all := float64(n)
	variance := all * (all - 1) * (2*all + 5) / 18
	z := max(0, math.Abs(float64(rises(values)))-1) / math.Sqrt(variance)
	early, late := results.Median(values[:n/2]), results.Median(values[n-n/2:])
	return late/early - 1, math.Erfc(z / math.Sqrt2)
}

// rises returns the number of rising pairs minus the number of falling ones.
func rises(values []float64) (s int) {
	for i, v := range values {
		for _, before := range values[:i] {
			s += cmp.Compare(v, before)
		}
	}
	return s
}

// Two speeds: each group has at least minShare of the values and minGroup of them. The gap exceeds
// emptiness times the median absolute deviation within a group, and minGap of the faster median.
const (
	minShare  = 0.2
	minGroup  = 3
	emptiness = 5
	minGap    = 0.05
)

// twoSpeeds reports whether values form two groups by k-means with k = 2, a split of the sorted
// values, and returns both medians.
func twoSpeeds(values []float64) (fast, slow float64, found bool) {
	sorted := slices.Sorted(slices.Values(values))
	at := split(sorted)
	least := max(minGroup, int(math.Ceil(minShare*float64(len(sorted)))))
	if at < least || len(sorted)-at < least {
		return 0, 0, false
	}
	low, high := sorted[:at], sorted[at:]
	fast, slow = results.Median(low), results.Median(high)
	gap := high[0] - low[at-1]
	apart := max(deviation(low), deviation(high))
	return fast, slow, gap > emptiness*apart && gap > minGap*fast
}

// split returns where ascending values split into two groups with the largest sum of squares
// between their means.
func split(sorted []float64) int {
	total := 0.0
	for _, v := range sorted {
		total += v
	}
	best, at, sum := 0.0, 0, 0.0
	for i, v := range sorted[:max(len(sorted)-1, 0)] {
		sum += v
		a, b := float64(i+1), float64(len(sorted)-i-1)
		means := sum/a - (total-sum)/b
		if between := a * b * means * means; between > best {
			best, at = between, i+1
		}
	}
	return at
}

// farOut is hyperfine's limit of a modified z-score (src/outlier_detection.rs): ten standard
// deviations of normal values. An outlier also exceeds the median by minOut of it, because little
// is far out where values hardly scatter.
const (
	farOut = 14.826
	minOut = 0.1
)

// outliers counts values above the median by more than farOut median absolute deviations and minOut
// of it.
func outliers(values []float64) int {
	if len(values) == 0 {
		return 0
	}
	middle := results.Median(values)
	limit := middle + max(farOut*deviation(values), minOut*middle)
	n := 0
	for _, v := range values {
		if v > limit {
			n++
		}
	}
	return n
}

func deviation(values []float64) float64 {
	d, err := stats.MedianAbsoluteDeviation(values)
	if err != nil {
		return math.NaN()
	}
	return d
}
