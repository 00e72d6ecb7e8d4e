package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session/node"
)

// TestTake: the shares of some of the quick suite are all of it, each comparison whole and in
// the suite's order, and none takes much longer than what cannot be helped.
func TestTake(t *testing.T) {
	plan := Plan{Comparisons: access.Suite(true)[:6], Studies: Studies(), Count: 6,
		SampleTime: time.Millisecond}
	times, err := plan.times()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, ns := range times {
		sum += ns
	}
	for _, n := range []int{1, 3, len(times)} {
		var places []int
		names := map[string]bool{}
		for i := range n {
			share, err := plan.Take(node.Shard{Index: i + 1, Of: n})
			if err != nil {
				t.Fatal(err)
			}
			if share.suite() != plan.suite() {
				t.Errorf("shard %d of %d is of the suite %s, want %s", i+1, n, share.suite(),
					plan.suite())
			}
			if !slices.IsSorted(share.part.places) ||
				len(share.part.places) != len(share.Comparisons)+len(share.Studies) {
				t.Errorf("shard %d of %d has the places %v", i+1, n, share.part.places)
			}
			longest, own := 0.0, 0.0
			for _, k := range share.part.places {
				longest, own = max(longest, times[k-1]), own+times[k-1]
			}
			if limit := sum/float64(n) + longest; own > limit {
				t.Errorf("shard %d of %d takes %g ns, want at most %g", i+1, n, own, limit)
			}
			places = append(places, share.part.places...)
			for name := range namesOf(share.Comparisons) {
				names[name] = true
			}
		}
		slices.Sort(places)
		if len(places) != len(times) || places[0] != 1 || places[len(places)-1] != len(times) ||
			len(slices.Compact(places)) != len(times) {
			t.Errorf("%d shards have the places %v of %d", n, places, len(times))
		}
		if len(names) != len(namesOf(plan.Comparisons)) {
			t.Errorf("%d shards have %d benchmarks of %d", n, len(names),
				len(namesOf(plan.Comparisons)))
		}
	}
	if all, err := plan.Take(node.Shard{}); err != nil ||
		len(all.Comparisons) != len(plan.Comparisons) || all.part.shard != (node.Shard{}) {
		t.Errorf("of no shard: %v", err)
	}
	for _, bad := range []node.Shard{{Index: 3, Of: 2}, {Of: 2}, {Index: -1, Of: -1}} {
		if _, err := plan.Take(bad); err == nil ||
			!strings.Contains(err.Error(), "want the first number from 1") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := plan.Take(node.Shard{Index: 1, Of: len(times) + 1}); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("want at most %d shards", len(times))) {
		t.Errorf("more shards than comparisons: %v", err)
	}
}

// TestDivide: no share is longer than the mean and one more, and none is empty.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Float64Range(1, 1e9), 1, 60).Draw(t, "times")
		n := rapid.IntRange(1, len(times)).Draw(t, "n")
		sums, sum := make([]float64, n), 0.0
		for i, share := range divide(times, n) {
			sums[share] += times[i]
			sum += times[i]
		}
		for k, own := range sums {
			if own == 0 || own > 1.001*(sum/float64(n)+slices.Max(times)) {
				t.Fatalf("share %d of %d takes %g of %g", k, n, own, sum)
			}
		}
	})
}
