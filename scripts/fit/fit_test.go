package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// TestPage: the page says what the program has.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../" + pageName)
	if err != nil || !strings.Contains(string(page), tableOf(*cost.Fitted())) {
		t.Errorf("%s lacks the table of %s: go run ./scripts/fit fit (%v)", pageName, file, err)
	}
}

// TestErrors: predictions are off the measured times no more than the cross-validated errors say,
// which are those of patterns that the constants have not seen.
func TestErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("predicts some 2,800 patterns")
	}
	d, err := read("data")
	if err != nil {
		t.Fatal(err)
	}
	predicted := make([]float64, len(d.patterns))
	for i := range predicted {
		predicted[i] = d.predict(i, nil)
	}
	for k, crossed := range cost.Fitted().Machines {
		on := func(i int) bool { return d.patterns[i].machine == k }
		if d.machines[k].when != crossed.When {
			t.Fatalf("times of %s, want those of %s", d.machines[k].when, crossed.When)
		}
		got := append(d.byFamily(predicted, on), d.error("all", predicted, on))
		for i, want := range append(slices.Clone(crossed.Families), crossed.All) {
			// of a family, which the constants of all may fit less than those of the others did
			more := .05
			if want.Name == "all" {
				more = .01
			}
			if got[i].Name != want.Name || got[i].Patterns != want.Patterns ||
				got[i].Median > want.Median+more ||
				got[i].Tenth > want.Tenth+2*more || got[i].Rank < want.Rank-more {
				t.Errorf("%s: %+v, cross-validated %+v", crossed.When, got[i], want)
			}
		}
	}
}

// TestLeast: times that follow the model with other constants give these back, also
// where some were disturbed.
func TestLeast(t *testing.T) {
	caches := simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
		simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64})}
	model := cost.Model{Times: cost.Generic("in a test"), Caches: caches}
	d := &dataSet{machines: []machine{{model: model}}}
	want := cost.Fitted().Rules
	want.SumRow, want.Walk, want.Row, want.InFlight = 2*want.SumRow, want.Walk/2, 1.5*want.Row,
		.7*want.InFlight
	for i := range 120 {
		s := access.Spec{Op: []access.Op{access.Sum, access.Copy}[i%2],
			Shape: []int{64 << (i % 5), 32 + 7*i}, DType: layouts.Float32}
		if i%3 == 0 {
			s.Order = access.Col
		}
		p, err := s.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		counted, err := model.Count(p)
		if err != nil {
			t.Fatal(err)
		}
		d.patterns, d.lowered, d.counted = append(d.patterns, timed{family: "f", spec: s}),
			append(d.lowered, p), append(d.counted, counted)
		if d.patterns[i].ns = d.predict(i, &want); i%17 == 9 {
			d.patterns[i].ns *= 3
		}
	}
	got := d.least(cost.Fitted().Rules, func(int) bool { return true })
	for i, p := range d.patterns {
		if ratio := d.predict(i, &got) / d.predict(i, &want); math.Abs(ratio-1) > .12 {
			t.Errorf("%s: %.2f times what it is by the constants of the data", p.spec.Name(), ratio)
		}
	}
}
