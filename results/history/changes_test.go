package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// plainSplit is split as the paper writes it, in n cubed steps.
func plainSplit(x []float64) (at int, q float64) {
	sum := func(a, b []float64) (s float64) {
		for _, v := range a {
			for _, w := range b {
				s += math.Abs(v - w)
			}
		}
		return s
	}
	for i := minSegment; i <= len(x)-minSegment; i++ {
		a, b := x[:i], x[i:]
		n, m := float64(len(a)), float64(len(b))
		e := 2/(n*m)*sum(a, b) - sum(a, a)/2/(n*(n-1)/2) - sum(b, b)/2/(m*(m-1)/2)
		if v := n * m / (n + m) * e; v > q {
			at, q = i, v
		}
	}
	return at, q
}

// TestSplit: the sums by Fenwick tree are those of the formula, ties included.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ints := rapid.SliceOfN(rapid.IntRange(-5, 20), 0, 40).Draw(t, "values")
		values := make([]float64, len(ints))
		for i, v := range ints {
			values[i] = float64(v)
		}
		s := newSegment(values, 0)
		_, want := plainSplit(values)
		if math.Abs(s.q-want) > 1e-9*(1+want) {
			t.Fatalf("q of %v is %v, want %v", values, s.q, want)
		}
	})
}

func TestDivide(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	noisy := func(levels ...float64) (series []float64) {
		for _, level := range levels {
			for range 30 {
				series = append(series, level*(1+0.02*random.NormFloat64()))
			}
		}
		return series
	}
	for _, test := range []struct {
		series []float64
		want   []int
	}{
		{nil, nil},
		{[]float64{1, 2}, nil},
		{slices.Repeat([]float64{7}, 50), nil},
		{noisy(100), nil},
		{noisy(100, 110), []int{30}},
		{noisy(100, 110, 100), []int{30, 60}},
		{noisy(100, 110, 121, 100), []int{30, 60, 90}},
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}, []int{8}},
	} {
		var at []int
		for _, s := range divide(test.series, 0.01) {
			at = append(at, s.At)
			if s.Confidence < 0.99 || s.Confidence >= 1 {
				t.Errorf("confidence %v", s.Confidence)
			}
		}
		if diff := cmp.Diff(test.want, at); diff != "" {
			t.Errorf("%d values: %s", len(test.series), diff)
		}
		if diff := cmp.Diff(divide(test.series, 0.01), divide(test.series, 0.01)); diff != "" {
			t.Error("twice the same series:", diff)
		}
	}
}

// TestDivideProperties: scaling and shifting a series moves no change, and
// none is nearer to another or to an end than minSegment.
func TestDivideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ints := rapid.SliceOfN(rapid.IntRange(0, 8), 0, 30).Draw(t, "values")
		values, moved := make([]float64, len(ints)), make([]float64, len(ints))
		for i, v := range ints {
			values[i], moved[i] = float64(v), 4*float64(v)+16
		}
		splits, last := divide(values, 0.05), 0
		if diff := cmp.Diff(splits, divide(moved, 0.05)); diff != "" {
			t.Fatal(diff)
		}
		for _, s := range append(splits, split{At: len(values)}) {
			if s.At-last < minSegment && len(splits) > 0 {
				t.Fatalf("changes at %v of %d values", splits, len(values))
			}
			last = s.At
		}
	})
}

// TestChanges: sizes, directions and the commits between which a change lies.
func TestChanges(t *testing.T) {
	series := func(exact bool, better string, values ...float64) Series {
		s := Series{Name: "BenchmarkX", Unit: "u", Exact: exact, Better: better}
		for i, v := range values {
			s.Points = append(s.Points, Point{Commit: string(rune('a' + i)), Value: v})
		}
		return s
	}
	type found struct {
		before, after, size float64
		worse               bool
		last, first         string
	}
	of := func(changes []Change) (list []found) {
		for _, c := range changes {
			f := found{c.Before, c.After, math.Inf(1), c.Worse, c.Last.Commit, c.First.Commit}
			if c.Size != nil {
				f.size = *c.Size
			}
			list = append(list, f)
		}
		return list
	}
	for _, test := range []struct {
		series Series
		want   []found
	}{
		{series(true, "lower", 4, 4, 5, 5, 4),
			[]found{{4, 5, 0.25, true, "b", "c"}, {5, 4, -0.2, false, "d", "e"}}},
		{series(true, "higher", 4, 5), []found{{4, 5, 0.25, false, "a", "b"}}},
		{series(true, "lower", 0, 1), []found{{0, 1, math.Inf(1), true, "a", "b"}}},
		{series(true, "lower", 1000, 1001), nil}, // under the threshold
		{series(false, "lower", 10, 11, 10, 11, 10, 11, 10, 20, 21, 20, 21, 20, 21, 20),
			[]found{{10, 20, 1, true, "g", "h"}}},
	} {
		if diff := cmp.Diff(test.want, of(test.series.Changes(0.05, 0.01)),
			cmp.AllowUnexported(found{})); diff != "" {
			t.Error(diff)
		}
	}
	// By default any change of an exact unit counts, and of times what is more than 1%.
	slight := []float64{1000, 1000.1, 1000, 1000.1, 1000, 1000.1, 1000, 1001, 1001.1, 1001, 1001.1,
		1001, 1001.1, 1001}
	for exact, want := range map[bool]int{true: 13, false: 0} {
		if got := series(exact, "lower", slight...).Changes(0.05, DefaultThreshold); len(got) != want {
			t.Errorf("exact %t: %d changes, want %d", exact, len(got), want)
		}
	}
	if got := series(false, "lower", slight...).Changes(0.05, 0); len(got) != 1 {
		t.Errorf("of any size: %v", got)
	}
}

// TestEntriesOfOneCommit: they differ by chance, and that is no change; nor does
// it matter in which order they are.
func TestEntriesOfOneCommit(t *testing.T) {
	var noisy []Point
	for c := range 12 {
		for _, by := range []float64{1, 9, 1.1} { // one of three is far off
			noisy = append(noisy, Point{Commit: string(rune('a' + c)), Value: float64(10+c/6*5) * by})
		}
	}
	counts := []Point{{Commit: "a", Value: 4}, {Commit: "b", Value: 4}, {Commit: "b", Value: 5},
		{Commit: "b", Value: 4},
		{Commit: "c", Value: 5}, {Commit: "d", Value: 6}, {Commit: "d", Value: 6}}
	for want, s := range map[string]Series{
		" a-b 4 5 c-d 5 6": {Exact: true, Better: "lower", Points: counts},
		" f-g 11 16.5":     {Better: "lower", Points: noisy},
	} {
		got := ""
		for _, c := range s.Changes(0.05, 0.01) {
			got += fmt.Sprintf(" %s-%s %v %v", c.Last.Commit, c.First.Commit, c.Before, c.After)
		}
		if got != want {
			t.Errorf("changes%s, want%s", got, want)
		}
	}
}
