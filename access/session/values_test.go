package session

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
)

// goTool is the pattern by which github-action-benchmark's tool "go" reads a
// line (src/extract.ts, extractGoResult, as of v1.20).
var goTool = regexp.MustCompile(`^(?<name>Benchmark\w+[\w()$%^&*-=|,\[\]{}"#]*?)(?<procs>-\d+)?\s+(?<times>\d+)\s+(?<remainder>.+)$`)

// TestGoTool: that tool reads every line of the suite, with its whole name.
func TestGoTool(t *testing.T) {
	var names []string
	for _, c := range access.Suite(false) {
		for _, b := range c {
			names = append(names, b.Name)
		}
	}
	for _, s := range studies() {
		all, err := s.records(simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			names = append(names, r.Name)
		}
	}
	for _, name := range names {
		var text strings.Builder
		w, err := results.NewWriter(&text, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text.Reset()
		if err := w.Write(name, 12, []results.Value{{Value: 1.5, Unit: "ns/op"},
			{Value: 1e10, Unit: "B/s"}}); err != nil {
			t.Fatal(err)
		}
		// after that of the family
		_, line, _ := strings.Cut(strings.TrimSpace(text.String()), "\n")
		m := goTool.FindStringSubmatch(line)
		if m == nil || m[1] != "Benchmark"+name || m[2] != "" || m[3] != "12" ||
			m[4] != "1.5 ns/op 10000000000 B/s" {
			t.Errorf("%q is read as %q", line, m)
		}
	}
}

// TestLineValues: a line has all units of the results, in their order, but for
// that of studies.
func TestLineValues(t *testing.T) {
	var units []string
	m := measured{counts: &access.Counts{}, tlb: true, predicted: 1}
	m.sample.Events = map[counters.Event]float64{counters.L1DMisses: 1, counters.LLCMisses: 1,
		counters.DTLBMisses: 1, counters.Instructions: 1, counters.Cycles: 1}
	for _, v := range m.values() {
		units = append(units, v.Unit)
	}
	var want []string
	for _, u := range results.Units {
		if u.Name != "misses/op" {
			want = append(want, u.Name)
		}
	}
	if !slices.Equal(units, want) {
		t.Errorf("a line has %q, the head of a file %q", units, want)
	}
}
