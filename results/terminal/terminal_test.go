package terminal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
)

// tableOf is the table of groups of lines of results.
func tableOf(t *testing.T, groups ...string) terminal.Table {
	t.Helper()
	var all []terminal.Group
	for _, lines := range groups {
		set, err := results.Parse("run.txt", []byte(lines))
		if err != nil {
			t.Fatal(err)
		}
		rows := set.Rows()
		all = append(all, rows)
	}
	return terminal.Of(all)
}

// TestWidths: misses of vectors of any width are told by element, so that the same
// lines count the same; what has a single sample has no interval, what is alone in its
// group stands on one line with its heading above, and studies are counted.
func TestWidths(t *testing.T) {
	got := tableOf(t,
		"BenchmarkStream/op=sum/kernel=scalar 1 1600 ns/op 1 ns/elem 1600 D-refs/op 100 "+
			"D1-misses/op\n"+
			"BenchmarkStream/op=sum/kernel=avx512 1 400 ns/op 0.25 ns/elem 100 D-refs/op 100 "+
			"D1-misses/op\n",
		"BenchmarkLatency/op=chase/size=4KiB 1 64 ns/op 1 ns/elem 64 D-refs/op 0 D1-misses/op\n",
		"BenchmarkSets/set=1 1 5 misses/op\nBenchmarkSets/set=2 1 5 misses/op\n")
	want := terminal.Table{
		Rows: [][]string{
			{"", "ns/elem", "±", "ratio", "D1/elem"},
			{"Stream sum"},
			{"  scalar", "1", "?", "1", "0.0625"},
			{"  avx512", "0.25", "?", "0.25", "0.0625"},
			{"Latency chase"},
			{"  4KiB", "1", "?", "1", "0"},
		},
		Notes: []string{
			"ns/elem: median; ±: its 95% interval; ratio: to the first of its group",
			"D1, LL, TLB: simulated misses per element, exact",
			"?: too few samples for an interval (--count 6 or more)",
			"Sets: 2 results without times, simulated only (bench report draws them)",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnstable: an interval that is wider than the time is a word, and no percentage.
func TestUnstable(t *testing.T) {
	lines := ""
	for _, ns := range []int{1, 1, 1, 1, 1, 1, 1, 90, 90} {
		lines += fmt.Sprintf("BenchmarkStream/op=sum/kernel=scalar 1 %d ns/op %[1]d ns/elem\n", ns)
	}
	got := tableOf(t, lines)
	row := got.Rows[len(got.Rows)-1]
	if note := got.Notes[len(got.Notes)-1]; row[2] != "unstable" ||
		!strings.HasPrefix(note, "unstable: ") {
		t.Errorf("%q, %q", row, note)
	}
}

// TestEscapes: escape sequences in names do not reach the terminal.
func TestEscapes(t *testing.T) {
	got := tableOf(t, "BenchmarkA/view=x/n=1 1 2 ns/op 2 ns/elem\nBenchmarkA/view=\x1b[2Jx/n=2 1 "+
		"3 ns/op 3 ns/elem\n")
	if text := fmt.Sprint(got); strings.Contains(text, "\x1b") || !strings.Contains(text, "1.5") {
		t.Errorf("%q", text)
	}
}

// TestNothing: without times there is no table.
func TestNothing(t *testing.T) {
	want := terminal.Table{Notes: []string{"Sets: 1 result without times, simulated only (bench " +
		"report draws them)"}}
	if diff := cmp.Diff(want, tableOf(t, "BenchmarkSets/set=1 1 5 misses/op\n")); diff != "" {
		t.Error(diff)
	}
}
