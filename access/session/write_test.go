package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
)

// TestFinish: what is doubtful of a run stands in its results as comments, is
// returned, and is read from the results again.
func TestFinish(t *testing.T) {
	var out strings.Builder
	writer, err := results.NewWriter(&out, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Write("X", 1, []results.Value{{Value: 1, Unit: "ns/op"}}); err != nil {
		t.Fatal(err)
	}
	r := Session{Plan: Plan{Counters: true}, report: report{note: "none of the CPU's: a test", unpinned: true, done: 20,
		start: time.Now().Add(-10 * time.Second), timed: 8500 * time.Millisecond, series: []noise.Series{{Name: "X"}}}}
	for i := range 20 {
		r.series[0].Times = append(r.series[0].Times, float64(100+3*i))
	}
	warnings, err := r.finish(writer)
	if err != nil {
		t.Fatal(err)
	}
	set, err := results.Parse("run.txt", []byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, c := range set.Comments["run.txt"] {
		kind, _, _ := strings.Cut(c.Value, ": ")
		kinds = append(kinds, c.Key+" "+kind)
		if c.Key == "warning" && !slices.Contains(warnings, c.Value) {
			t.Errorf("%q is not returned: %q", c.Value, warnings)
		}
	}
	if got, want := strings.Join(kinds, ", "), "overhead 15% of 10.0 s outside samples, warning unpinned, warning drift"; got != want {
		t.Errorf("comments %q, want %q", got, want)
	}
	if len(warnings) != 2 {
		t.Errorf("warnings are %q", warnings)
	}
	if got := r.NoCounters(); got != r.note {
		t.Errorf("of the counters it says %q", got)
	}
}
