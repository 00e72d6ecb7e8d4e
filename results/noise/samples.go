// Package noise finds what makes the times of a run doubtful: a drift, two
// speeds, outliers, a machine that also does other things. It reports its
// findings as warnings, each with what to do about it. A quiet machine gives
// none.
//
//  1. Keep the times of each benchmark in the order in which they were taken, in
//     one [Series] each.
//  2. [Samples] returns the warnings that they give together.
//  3. [Machine] returns the warnings about how the machine is set up and what
//     else it did during the run ([results.Activity]).
package noise

import (
	"math"
	"slices"

	"github.com/montanaflynn/stats"

	"github.com/stridebench/stridebench/results"
)

// driftOf tells by how much the later half of values, which are in the order of
// time, lies above the earlier one, as a share of it, by their medians; and how
// likely a trend such as theirs is without any: p of the Mann-Kendall test (Mann,
// "Nonparametric tests against trend", Econometrica 13, 1945), two-sided, in the
// normal approximation with its correction for continuity. Less than 4 values
// have no drift (0, 1).
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

// rises is the number of pairs of values of which the later one is larger, less that of those
// of which it is smaller: of hundreds of thousands of samples, too, by a tree of how many
// have come so far (Fenwick, "A new data structure for cumulative frequency tables", 1994).
func rises(values []float64) (s int) {
	sorted := slices.Compact(slices.Sorted(slices.Values(values)))
	// tree[i] counts those of the ranks from i-(i&-i) on, less than i
	tree := make([]int, len(sorted)+1)
	upTo := func(rank int) (n int) {
		for ; rank > 0; rank -= rank & -rank {
			n += tree[rank]
		}
		return n
	}
	for before, v := range values {
		rank, _ := slices.BinarySearch(sorted, v)
		s += upTo(rank) - (before - upTo(rank+1))
		for i := rank + 1; i < len(tree); i += i & -i {
			tree[i]++
		}
	}
	return s
}

// What makes two speeds of values: either group has at least minShare of them,
// and at least minGroup, and the empty space between the two is wider than
// emptiness times what the members of a group lie apart from its median (the
// median of that), and wider than minGap of the faster group's median.
const (
	minShare  = 0.2
	minGroup  = 3
	emptiness = 5
	minGap    = 0.05
)

// TwoSpeeds tells whether values are of two groups, and the medians of both. The
// groups are those of which the members lie nearest to their means: k-means with
// k = 2, which in one dimension is a split of the values in order.
func TwoSpeeds(values []float64) (fast, slow float64, found bool) {
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

// split is where ascending values come into two groups with the least sum of
// squared distances from their means: the greatest one between the means.
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

// farOut is hyperfine's limit of a modified z-score (src/outlier_detection.rs):
// ten standard deviations of normal values. What is less than minOut of the
// median above it is none: where values hardly scatter, little is far out.
const (
	farOut = 14.826
	minOut = 0.1
)

// outliers counts the values that lie above the median by more than farOut times
// the median absolute deviation, and by more than minOut of it.
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

// deviation is the median absolute deviation from the median, unscaled.
func deviation(values []float64) float64 {
	d, err := stats.MedianAbsoluteDeviation(values)
	if err != nil {
		return math.NaN()
	}
	return d
}
