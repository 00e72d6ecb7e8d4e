package merge

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWritten: a merged file says all that its files do, once, before what it holds for.
func TestWritten(t *testing.T) {
	const head = "goos: linux\ncpu: A\n"
	one := head + "host: a\n# version: v1\n# load: 0.5\n# shard: 1/2\nUnit ns/op better=lower\n\n" +
		"# part: 1\nfamily: F\nBenchmarkF/part=1 1 1.5 ns/op\nfamily: G\nBenchmarkG/part=1 1 2 " +
		"ns/op\n" +
		"# part: 4\nBenchmarkG/part=4 1 3 ns/op\nfamily: H\nBenchmarkH/part=4 1 4 ns/op\n# part: " +
		"6\nBenchmarkH/part=6 1 8 ns/op\n# overhead: 3%\n# warning: noisy\n# end: 5 results\n"
	two := head + "host: a\ndisk: d\n# version: v1\n# load: 0.7\n# shard: 2/2\nUnit ns/op " +
		"better=lower\n\n" +
		"# part: 2\nfamily: G\nBenchmarkG/part=2 1 5 ns/op\n# part: 3\nfamily: " +
		"F\nBenchmarkF/part=3 1 6 ns/op\n# part: 5\nfamily: H\nBenchmarkH/part=5 1 9 " +
		"ns/op\n# warning: steal\n# node: 1\n# end: 3 results\n"
	other := "goos: linux\nhost: b\n# version: v1\n# shard: 1/1\nUnit ns/op better=lower\n\n# " +
		"part: 1\nfamily: F\nBenchmarkF/part=1 1 7 ns/op\n# warning: noisy\n# end: 1 results\n"
	const want = `goos: linux
cpu: A
host: a
# version: v1
# merged: 2 of 2 shards
# merged: 2 runs
Unit ns/op better=lower

# warning: noisy
family: F
BenchmarkF/part=1 1 1.5 ns/op
family: G
BenchmarkG/part=1 1 2 ns/op
disk: d
# warning: steal
# node: 1
family: G
BenchmarkG/part=2 1 5 ns/op
family: F
BenchmarkF/part=3 1 6 ns/op
disk:
family: G
BenchmarkG/part=4 1 3 ns/op
family: H
BenchmarkH/part=4 1 4 ns/op
disk: d
family: H
BenchmarkH/part=5 1 9 ns/op
disk:
BenchmarkH/part=6 1 8 ns/op
cpu:
host: b
# version: v1
# warning: noisy
family: F
BenchmarkF/part=1 1 7 ns/op
# end: 9 results
`
	text, faults, err := merged(t, "host", other, two, one)
	if diff := cmp.Diff(want, text); diff != "" || faults != nil || err != nil {
		t.Error(diff, faults, err)
	}
	text, _, err = merged(t, "", two)
	if want := "Unit"; err != nil ||
		!strings.Contains(text, "# version: v1\n# partial: missing: shard 1 of 2\n"+want) {
		t.Error(text, err)
	}
}

// TestLines: what no reader of the format takes is a fault of its line, and what comes before it
// is left. The rows of testdata/lines.txt are a line and its fault, after a tab, which is empty
// where there is none.
func TestLines(t *testing.T) {
	rows, err := os.ReadFile("testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(rows)) {
		line, want, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		last := ""
		if want == "" {
			last = fmt.Sprintf("# end: %d results\n", 1+strings.Count(line, "Benchmark"))
		} else {
			want = "0.txt: line 2: " + want
		}
		text, faults, err := merged(t, "", "BenchmarkA 1 5 ns/op\n"+line+"\n"+last)
		if strings.Join(faults, ";") != want || err != nil ||
			!strings.Contains(text, "BenchmarkA 1 5 ns/op\n") {
			t.Errorf("%s: %q, %v, want %s", line, faults, err, want)
		}
	}
}

// TestTwice: of a shard that is there twice the file with more results is left.
func TestTwice(t *testing.T) {
	few, many := part(1, 1), shardText(1, 1, []int{1, 2})
	for _, texts := range [][]string{{few, many}, {many, few}} {
		if text, faults, err := merged(t, "", texts...); !strings.HasSuffix(text,
			"# end: 3 results\n") ||
			len(faults) != 1 || err != nil {
			t.Error(text, faults, err)
		}
	}
}

// TestNothing: what holds no result is refused as other readers refuse it, and one of several is
// named.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"<html>\n"}, `0.txt holds no benchmark results: line 1 is "<html>"`},
		{[]string{"", "cpu: A\n"}, "none of 2 files holds a result: 0.txt"},
	} {
		if _, _, err := merged(t, "", c.texts...); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
