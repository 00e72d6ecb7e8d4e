package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/results/history"
)

// TestTrendBy: a node that becomes slower, of one program, is found among nodes that do
// not, which without their label is no change of anything.
func TestTrendBy(t *testing.T) {
	store := history.Open(t.TempDir())
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for week := range 16 {
		for node := range 3 {
			ns := 100 + week%3
			if node == 1 && week >= 8 {
				ns += 30
			}
			text := fmt.Sprintf("cpu: A\ncaches: L1d=32768,8,64\nhost: node%d\nBenchmarkX 1 %d ns/op\n",
				9+node, ns)
			if _, _, err := store.Add("t.txt", []byte(text), "abc",
				start.AddDate(0, 0, 7*week)); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, damaged, err := store.Entries()
	if err != nil || damaged != nil || len(entries) != 48 {
		t.Fatal(len(entries), damaged, err)
	}
	trend, err := history.TrendBy(entries, "host", 0.01, 0.01, false)
	if err != nil || len(trend.Changes) != 1 || len(trend.Gone) != 0 {
		t.Fatal(trend, err)
	}
	c := trend.Changes[0]
	if !c.Worse || c.Label != "host=node10" || !c.First.Time.Equal(start.AddDate(0, 0, 7*8)) ||
		!strings.HasSuffix(c.String(), ", on host=node10") {
		t.Errorf("%v", c)
	}
	if found := history.TrendOf(entries, 0.01, 0.01, false).Changes; len(found) != 0 {
		t.Error(found)
	}
	if _, err := history.TrendBy(entries, "zone", 0.01, 0.01, false); err == nil ||
		!strings.Contains(err.Error(), "no entry has the label zone") {
		t.Error(err)
	}
}
