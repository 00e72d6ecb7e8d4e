package session

import (
	"slices"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
)

// TestUncounted: which misses are not counted, and why, is a remark before the samples.
func TestUncounted(t *testing.T) {
	spec := access.Spec{Shape: []int{6400, 6400}, DType: layouts.Int8,
		Order: access.Col, Threads: 2}
	few := spec
	few.Shape = []int{640, 640}
	p := Plan{Comparisons: []access.Comparison{{{Name: "Few", Spec: few},
		{Name: "Many", Spec: spec}}}, Count: 1, SampleTime: time.Microsecond,
		Caches: simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 4 << 10, Ways: 2,
			Line: 64}, simcache.Geometry{Size: 128 << 10, Ways: 2, Line: 64})}}
	s, err := p.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	s.progress = untold{}
	if err := s.simulate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = "no LL-misses/op: Many: its threads share LL, and 41 million references would " +
		"be looked up (at most 20 are)"
	if got := s.uncounted(0); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	if one := (measured{pattern: s.patterns[0][1],
		counts: &s.counts[0][1]}); one.counts.D1Misses() != 6400*6400 {
		t.Errorf("%d misses of D1", one.counts.D1Misses())
	} else if slices.ContainsFunc(one.values(), func(v results.Value) bool {
		return v.Unit == "LL-misses/op"
	}) {
		t.Error("misses of LL that were not counted are written")
	}
}
