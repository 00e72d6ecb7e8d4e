package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
)

// TestTake: the shares of some of the quick suite are all of it, each comparison whole and in
// the suite's order, and none takes much longer than what cannot be helped.
func TestTake(t *testing.T) {
	plan := Plan{Comparisons: access.Suite(true)[:6], Studies: Studies(), Count: 6, SampleTime: time.Millisecond}
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
			share, err := plan.Take(Shard{i + 1, n})
			if err != nil {
				t.Fatal(err)
			}
			if share.suite() != plan.suite() {
				t.Errorf("shard %d of %d is of the suite %s, want %s", i+1, n, share.suite(), plan.suite())
			}
			if !slices.IsSorted(share.part.places) || len(share.part.places) != len(share.Comparisons)+len(share.Studies) {
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
		if len(places) != len(times) || places[0] != 1 || places[len(places)-1] != len(times) || len(slices.Compact(places)) != len(times) {
			t.Errorf("%d shards have the places %v of %d", n, places, len(times))
		}
		if len(names) != len(namesOf(plan.Comparisons)) {
			t.Errorf("%d shards have %d benchmarks of %d", n, len(names), len(namesOf(plan.Comparisons)))
		}
	}
	if all, err := plan.Take(Shard{}); err != nil || len(all.Comparisons) != len(plan.Comparisons) || all.part.shard != (Shard{}) {
		t.Errorf("of no shard: %v", err)
	}
	for _, bad := range []Shard{{3, 2}, {0, 2}, {-1, -1}} {
		if _, err := plan.Take(bad); err == nil || !strings.Contains(err.Error(), "want the first number from 1") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := plan.Take(Shard{1, len(times) + 1}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("want at most %d shards", len(times))) {
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

func TestShardOf(t *testing.T) {
	for _, c := range []struct{ environment, want string }{
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_STEP=1", "3/8"},
		{"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7", "1/8"},
		{"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=3", "3/3"},
		{"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7", "the Slurm array has 2 tasks from 3 to 7"},
		{"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3", "SLURM_ARRAY_TASK_MIN is not set"},
		{"JOB_COMPLETION_INDEX=4 JOB_COMPLETIONS=5", "5/5"},
		{"JOB_COMPLETION_INDEX=5 JOB_COMPLETIONS=5", `"6/5": want i/n`},
		{"JOB_COMPLETION_INDEX=x JOB_COMPLETIONS=5", `JOB_COMPLETION_INDEX="x": want a number`},
		{"JOB_COMPLETION_INDEX=4", "no array is known here: want SLURM_ARRAY_TASK_ID"},
	} {
		environment := map[string]string{}
		for field := range strings.FieldsSeq(c.environment) {
			key, value, _ := strings.Cut(field, "=")
			environment[key] = value
		}
		s, err := ParseShard("auto", func(key string) string { return environment[key] })
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.environment, got, c.want)
		}
	}
	for _, wrong := range []string{"", "3", "0/3", "4/3", "-1/3", "1/9999999", "a/b"} {
		if s, err := ParseShard(wrong, nil); err == nil {
			t.Errorf("%q is the shard %v", wrong, s)
		}
	}
}
