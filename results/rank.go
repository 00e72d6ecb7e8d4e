package results

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// RankCorrelation is Spearman's: the correlation of the ranks of two lists of one length, equal
// values sharing the mean of theirs.
func RankCorrelation(a, b []float64) float64 { return stat.Correlation(ranks(a), ranks(b), nil) }

// ranks are from 0 on, the least first.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	all := make([]float64, len(values))
	for i := 0; i < len(order); {
		k := i
		for k < len(order) && values[order[k]] == values[order[i]] {
			k++
		}
		for _, at := range order[i:k] {
			all[at] = float64(i+k-1) / 2
		}
		i = k
	}
	return all
}
