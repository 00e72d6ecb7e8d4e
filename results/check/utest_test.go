package check

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestUTest compares the p-value with one counted over all ways to deal the
// values to the two samples, with many ties.
func TestUTest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		values := make([]float64, 2+random.IntN(8))
		for i := range values {
			values[i] = float64(random.IntN(5))
		}
		n := 1 + random.IntN(len(values)-1)
		a, b := slices.Clone(values[:n]), slices.Clone(values[n:])
		slices.Sort(a)
		slices.Sort(b)
		want := counted(values, n)
		if p := uTest(a, b); math.Abs(p-want) > 1e-9 {
			t.Errorf("p of %v and %v is %v, want %v", a, b, p, want)
		}
		if p := uTest(b, a); math.Abs(p-want) > 1e-9 {
			t.Errorf("p of %v and %v is %v, want %v", b, a, p, want)
		}
	}
}

// counted is twice the share of deals whose U is as extreme, on the same side,
// as that of the first n values against the others.
func counted(values []float64, n int) float64 {
	u := func(chosen int) (u float64) { // from its mean
		for i, x := range values {
			for j, y := range values {
				if chosen>>i&1 == 1 && chosen>>j&1 == 0 {
					switch {
					case x > y:
						u += 0.5
					case x < y:
						u -= 0.5
					}
				}
			}
		}
		return u
	}
	found := u(1<<n - 1)
	deals, extreme := 0.0, 0.0
	for chosen := range 1 << len(values) {
		if bits.OnesCount(uint(chosen)) == n {
			deals++
			if v := u(chosen); found >= 0 && v >= found || found <= 0 && v <= found {
				extreme++
			}
		}
	}
	if found == 0 {
		return 1
	}
	return min(1, 2*extreme/deals)
}
