package main

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
)

// TestFinish: what is doubtful of a run stands in its results as comments, on
// stderr, and is read from the results again.
func TestFinish(t *testing.T) {
	var out, stderr strings.Builder
	writer, err := results.NewWriter(&out, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Write("X", 1, []results.Value{{Value: 1, Unit: "ns/op"}}); err != nil {
		t.Fatal(err)
	}
	r := recording{writer: writer, note: "none of the CPU's: a test", unpinned: true, done: 20, total: 20,
		start: time.Now().Add(-10 * time.Second), timed: 8500 * time.Millisecond, series: []noise.Series{{Name: "X"}}}
	for i := range 20 {
		r.series[0].Times = append(r.series[0].Times, float64(100+3*i))
	}
	if err := r.finish(&stderr); err != nil {
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
		if c.Key == "warning" && !strings.Contains(stderr.String(), "warning: "+c.Value+"\n") {
			t.Errorf("%q is not on stderr: %q", c.Value, stderr.String())
		}
	}
	if got, want := strings.Join(kinds, ", "), "overhead 15% of 10.0 s outside samples, warning unpinned, warning drift"; got != want {
		t.Errorf("comments %q, want %q", got, want)
	}
	if !strings.HasSuffix(stderr.String(), "note: counters: none of the CPU's: a test\n") || strings.Count(stderr.String(), "\n") != 3 {
		t.Errorf("stderr is %q", stderr.String())
	}
}

func TestRevision(t *testing.T) {
	at := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: modified}}
	}
	for _, test := range []struct {
		settings []debug.BuildSetting
		want     string
	}{{at("false"), "abc"}, {at("true"), "abc+dirty"}, {nil, ""}, {at("true")[2:], ""}} {
		if got := revision(test.settings); got != test.want {
			t.Errorf("%v: %q, want %q", test.settings, got, test.want)
		}
	}
}
