package terminal_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/terminal"
)

// written is the table of groups of lines of results.
func written(t *testing.T, width int, groups ...string) string {
	t.Helper()
	var all []terminal.Group
	for _, lines := range groups {
		set, err := results.Parse("run.txt", []byte(lines))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := set.Rows()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows)
	}
	var b strings.Builder
	if err := terminal.Write(&b, all, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWidths: misses of vectors of any width are told by element, so that the same
// lines count the same; what has a single sample has no interval, what is alone in its
// group stands on one line with its heading above, and studies are counted.
func TestWidths(t *testing.T) {
	got := written(t, 80,
		"BenchmarkStream/op=sum/kernel=scalar 1 1600 ns/op 1 ns/elem 1600 D-refs/op 100 D1-misses/op\n"+
			"BenchmarkStream/op=sum/kernel=avx512 1 400 ns/op 0.25 ns/elem 100 D-refs/op 100 D1-misses/op\n",
		"BenchmarkLatency/op=chase/size=4KiB 1 64 ns/op 1 ns/elem 64 D-refs/op 0 D1-misses/op\n",
		"BenchmarkSets/set=1 1 5 misses/op\nBenchmarkSets/set=2 1 5 misses/op\n")
	want := `          ns/elem  ±  ratio  D1/elem
Stream sum
  scalar        1  ?      1   0.0625
  avx512     0.25  ?   0.25   0.0625
Latency chase
  4KiB          1  ?      1        0
ns/elem: median; ±: its 95% interval; ratio: to the first of its group
D1, LL, TLB: simulated misses by element, exact
?: too few samples for an interval (--count 6 or more)
Sets: 2 results that are only simulated (bench report draws them)
`
	if got != want {
		t.Errorf("it writes\n%s\nwant\n%s", got, want)
	}
}

// TestNarrow: no line of figures is wider than the terminal, whatever the names are,
// and escape sequences in them do not reach it.
func TestNarrow(t *testing.T) {
	long := strings.Repeat("x", 70)
	got := written(t, 60, "BenchmarkA/view="+long+"/n=1 1 2 ns/op 2 ns/elem\nBenchmarkA/view=\x1b[2J"+long+"/n=2 1 3 ns/op 3 ns/elem\n")
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, " ") && !strings.Contains(line, long) && len([]rune(line)) > 61 || strings.Contains(line, "\x1b") {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(got, "1.5") {
		t.Errorf("no ratio in\n%s", got)
	}
}

// TestNothing: without times there is no table.
func TestNothing(t *testing.T) {
	if got := written(t, 80, "BenchmarkSets/set=1 1 5 misses/op\n"); got != "Sets: 1 results that are only simulated (bench report draws them)\n" {
		t.Errorf("%q", got)
	}
}
