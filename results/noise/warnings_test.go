package noise_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results/noise"
)

// series are times of so many benchmarks, 20 each, made by one.
func series(benchmarks int, one func(benchmark, sample int) float64) []noise.Series {
	var all []noise.Series
	for b := range benchmarks {
		s := noise.Series{Name: fmt.Sprintf("X/n=%d", b)}
		for i := range 20 {
			s.Times = append(s.Times, one(b, i))
		}
		all = append(all, s)
	}
	return all
}

func TestSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	normal := func() float64 { return 100 + 2*r.NormFloat64() }
	for _, test := range []struct {
		name string
		all  []noise.Series
		want []string
	}{
		{"nothing", nil, nil},
		{"clean", series(80, func(_, _ int) float64 { return normal() }), nil},
		{"two of 80 drift", series(80, func(b, i int) float64 {
			if b > 1 {
				return normal()
			}
			return normal() * (1 + 0.02*float64((b+1)*i))
		}), []string{"drift: 2 of 80 benchmarks became slower or faster as the run went on, most " +
			"X/n=1 (by +32%): let the machine warm up or cool down, and run again"}},
		{"one of 80 has two speeds",
			series(80, func(b, i int) float64 {
				return normal() * (1 + float64(i%2)*max(0, 1-float64(b)))
			}),
			nil},
		{"ten of 80 have two speeds", series(80, func(b, i int) float64 {
			if b < 70 {
				return normal()
			}
			return normal() * float64(1+i%2*(b-68))
		}), []string{"two-speeds: 10 of 80 benchmarks ran at one of two speeds, furthest apart " +
			"X/n=79 (12 times as long): a median may be of either; compare interleaved (--ab), " +
			"or take more samples (--count)"}},
		{"the only one has an outlier", series(1, func(b, i int) float64 {
			if i == 3 {
				return 500
			}
			return normal()
		}), []string{"outliers: 1 of 1 benchmark had samples far above the median, most X/n=0 (1 " +
			"of 20): end other programs, or take more samples (--count)"}},
	} {
		if diff := cmp.Diff(test.want, noise.Samples(test.all)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestCleanRuns: of 200 clean runs of 80 benchmarks next to none is warned of.
func TestCleanRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	warned := 0
	for range 200 {
		if w := noise.Samples(series(80,
			func(_, _ int) float64 { return 100 * (1 + 0.03*r.ExpFloat64()) })); w != nil {
			warned++
			t.Log(w)
		}
	}
	if warned > 2 {
		t.Errorf("%d of 200 clean runs are warned of", warned)
	}
}
