package results

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRankCorrelation compares with the formula for ranks without ties, and knows
// what ties share.
func TestRankCorrelation(t *testing.T) {
	if r := ranks([]float64{3, 1, 3, 2}); !slices.Equal(r, []float64{2.5, 0, 2.5, 1}) {
		t.Errorf("ranks %v", r)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 30).Draw(t, "n")
		var order []float64
		for i := range n {
			order = append(order, float64(i))
		}
		a, b := rapid.Permutation(order).Draw(t, "a"), rapid.Permutation(order).Draw(t, "b")
		sum := 0.0
		for i := range a {
			sum += (a[i] - b[i]) * (a[i] - b[i])
		}
		want := 1 - 6*sum/float64(n*(n*n-1))
		scaled := make([]float64, n)
		for i, v := range a {
			scaled[i] = math.Exp(v) // ranks know nothing of size
		}
		if got := RankCorrelation(scaled, b); math.Abs(got-want) > 1e-9 {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
