package noise

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDrift(t *testing.T) {
	for _, test := range []struct {
		values    []float64
		change, p float64
	}{
		{[]float64{1, 2, 3}, 0, 1},
		// S = 45, variance 125: z = 44/11.18.
		{[]float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, 17.0/12 - 1, 8.3e-5},
		{[]float64{19, 18, 17, 16, 15, 14, 13, 12, 11, 10}, 12.0/17 - 1, 8.3e-5},
		// Of 6 pairs 4 rise and 2 fall: S = 2, variance 8.67.
		{[]float64{10, 30, 20, 25}, 22.5/20 - 1, 0.7341},
		{[]float64{5, 5, 5, 5, 5}, 0, 1},
		// Of 10 pairs 7 rise, 1 falls and 2 do neither: S = 6, variance 16.67.
		{[]float64{5, 6, 5, 6, 7}, 6.5/5.5 - 1, 0.2207},
	} {
		change, p := driftOf(test.values)
		if math.Abs(change-test.change) > 1e-9 || math.Abs(p-test.p) > 0.01*test.p {
			t.Errorf("%v: %v, p %v; want %v, %v", test.values, change, p, test.change, test.p)
		}
	}
}

func TestTwoSpeeds(t *testing.T) {
	for _, test := range []struct {
		name       string
		values     []float64
		fast, slow float64
		found      bool
	}{
		{"two groups", []float64{10, 20, 10.1, 20.2, 10.2, 20.1, 9.9, 19.9}, 10.05, 20.05, true},
		{"one group", []float64{10, 10.1, 10.2, 9.9, 9.8, 10, 10.1, 10.2}, 0, 0, false},
		{"an outlier is no group", []float64{10, 10.1, 10.2, 9.9, 9.8, 10, 10.1, 90}, 0, 0, false},
		{"too near to matter", []float64{10, 10.4, 10, 10.4, 10, 10.4, 10, 10.4}, 0, 0, false},
		{"no space between", []float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, 0, 0, false},
		{"few", []float64{1, 2}, 0, 0, false},
		{"none", nil, 0, 0, false},
	} {
		fast, slow, found := twoSpeeds(test.values)
		if found != test.found || found &&
			(math.Abs(fast-test.fast) > 1e-9 || math.Abs(slow-test.slow) > 1e-9) {
			t.Errorf("%s: %v and %v, %v", test.name, fast, slow, found)
		}
	}
}

func TestOutliers(t *testing.T) {
	for want, values := range map[int][]float64{
		0: {10, 11, 12, 13, 14, 30}, // the median absolute deviation is 1.5, the limit 34.7
		1: {10, 11, 12, 13, 14, 35},
		// which do not scatter at all but for these
		3: {10, 10, 10, 10, 10, 10, 10, 10.9, 11.1, 11.1, 11.1},
		2: {10, 11, 10, 11, 10, 11, 10, 11, 60, 61},
	} {
		if got := outliers(values); got != want {
			t.Errorf("%v: %d, want %d", values, got, want)
		}
	}
	if outliers(nil) != 0 {
		t.Error("none of nothing")
	}
}

// TestFalseAlarms: what the criteria find in clean samples, and in samples of
// what they are meant to find, at the number of samples that bench run takes.
func TestFalseAlarms(t *testing.T) {
	const n, rounds = 20, 4000
	r := rand.New(rand.NewPCG(1, 2))
	samples := func(one func(i int) float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = one(i)
		}
		return values
	}
	normal := func(int) float64 { return 100 + 4*r.NormFloat64() }
	skewed := func(int) float64 { return 100 * (1 + 0.05*r.ExpFloat64()) }
	share := func(one func(i int) float64, found func([]float64) bool) float64 {
		times := 0
		for range rounds {
			if found(samples(one)) {
				times++
			}
		}
		return float64(times) / rounds
	}
	drifts := func(v []float64) bool {
		change, p := driftOf(v)
		return p < 1e-4 &&
			math.Abs(change) > minDrift
	}
	twice := func(v []float64) bool { _, _, found := twoSpeeds(v); return found }
	out := func(v []float64) bool { return outliers(v) > 0 }
	for _, test := range []struct {
		name        string
		share       float64
		least, most float64
	}{
		{"drift of normal samples", share(normal, drifts), 0, 1e-3},
		{"drift of skewed samples", share(skewed, drifts), 0, 1e-3},
		{"two speeds of normal samples", share(normal, twice), 0, 2e-3},
		{"two speeds of skewed samples", share(skewed, twice), 0, 5e-3},
		{"outliers of normal samples", share(normal, out), 0, 2e-3},
		{"drift of 2% a sample",
			share(func(i int) float64 { return normal(i) * (1 + 0.02*float64(i)) }, drifts), 0.8, 1},
		{"two speeds, 50% apart, a third of the time", share(func(i int) float64 {
			if r.IntN(3) == 0 {
				return 1.5 * normal(i)
			}
			return normal(i)
		}, twice), 0.8, 1},
		{"outliers, three times as long", share(func(i int) float64 {
			if i == 7 {
				return 3 * normal(i)
			}
			return normal(i)
		}, out), 0.95, 1},
	} {
		t.Logf("%s: %.4f", test.name, test.share)
		if test.share < test.least || test.share > test.most {
			t.Errorf("%s: found in %.4f, want %v to %v", test.name, test.share, test.least, test.most)
		}
	}
}
