package cost

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
)

// BenchmarkError is how far predictions are off over random patterns, timed here
// and now, the least of 7 samples: the rank correlation of ns per element, and
// the error in the median and for one in ten. Run it with -benchtime 1x.
func BenchmarkError(b *testing.B) {
	random := rand.New(rand.NewPCG(7, 8))
	var predicted, measured, off []float64
	for b.Loop() {
		for range 120 {
			p := pattern(b, randomSpec(random))
			prediction, err := generic.Predict(p)
			if err != nil {
				b.Fatal(err)
			}
			least := math.Inf(1)
			for s, err := range access.Measure(context.Background(), []access.Pattern{p}, access.Options{Count: 7, MinTime: time.Millisecond}) {
				if err != nil {
					b.Fatal(err)
				}
				least = min(least, s.PerPass())
			}
			n := float64(p.Elems)
			predicted, measured = append(predicted, prediction.Ns/n), append(measured, least/n)
			off = append(off, Error(prediction.Ns, least))
		}
	}
	slices.Sort(off)
	b.ReportMetric(stat.Correlation(ranks(predicted), ranks(measured), nil), "rank-correlation")
	b.ReportMetric(100*stat.Quantile(.5, stat.Empirical, off, nil), "%-off-in-the-median")
	b.ReportMetric(100*stat.Quantile(.9, stat.Empirical, off, nil), "%-off-for-one-in-ten")
}

func ranks(x []float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	all := make([]float64, len(x))
	for i, v := range x {
		at, _ := slices.BinarySearch(sorted, v)
		all[i] = float64(at)
	}
	return all
}

// randomSpec is a sum, fill or copy of at most four dims and 2^24 elements, in
// some order, sliced or tiled.
func randomSpec(r *rand.Rand) access.Spec {
	for {
		shape, left := make([]int, 1+r.IntN(4)), 1<<(10+r.IntN(15))
		for d := range shape {
			shape[d] = left
			if d < len(shape)-1 {
				shape[d] = min(1+r.IntN(64), left)
				if r.IntN(3) == 0 {
					shape[d] = min(1<<r.IntN(9), left)
				}
				left /= shape[d]
			}
		}
		r.Shuffle(len(shape), func(i, j int) { shape[i], shape[j] = shape[j], shape[i] })
		dims := r.Perm(len(shape))
		s := access.Spec{Op: access.Op(r.IntN(3)), Shape: shape, DType: []layouts.DType{layouts.Float32, layouts.Int32, layouts.Float64}[r.IntN(3)]}
		view := "permute(" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(dims), "[]")), ",") + ")"
		if d := r.IntN(len(shape)); r.IntN(3) == 0 {
			view += fmt.Sprintf(".slice(%d,0,%d,%d)", d, shape[dims[d]], 2+r.IntN(6))
		}
		s.View = layouts.MustParseChain(view)
		switch r.IntN(4) {
		case 0:
			s.Order = access.Col
		case 1:
			s.Tile = make([]int, len(shape))
			for d := range s.Tile {
				s.Tile[d] = 4 << r.IntN(6)
			}
		}
		if p, err := s.Pattern(); err == nil && p.Elems >= 1000 {
			return s
		}
	}
}
