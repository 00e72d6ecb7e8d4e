package merge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWritten: a merged file says all that its files do, once, before what it holds for.
func TestWritten(t *testing.T) {
	const head = "goos: linux\ncpu: A\n"
	one := head + "host: a\n# version: v1\n# load: 0.5\n# shard: 1/2\nUnit ns/op better=lower\n\n" +
		"# part: 1\nfamily: F\nBenchmarkF/part=1 1 1.5 ns/op\nfamily: G\nBenchmarkG/part=1 1 2 ns/op\n" +
		"# part: 4\nBenchmarkG/part=4 1 3 ns/op\nfamily: H\nBenchmarkH/part=4 1 4 ns/op\n# part: 6\nBenchmarkH/part=6 1 8 ns/op\n# overhead: 3%\n# warning: noisy\n# end: 5 results\n"
	two := head + "host: a\ndisk: d\n# version: v1\n# load: 0.7\n# shard: 2/2\nUnit ns/op better=lower\n\n" +
		"# part: 2\nfamily: G\nBenchmarkG/part=2 1 5 ns/op\n# part: 3\nfamily: F\nBenchmarkF/part=3 1 6 ns/op\n# part: 5\nfamily: H\nBenchmarkH/part=5 1 9 ns/op\n# warning: steal\n# node: 1\n# end: 3 results\n"
	other := "goos: linux\nhost: b\n# version: v1\n# shard: 1/1\nUnit ns/op better=lower\n\n# part: 1\nfamily: F\nBenchmarkF/part=1 1 7 ns/op\n# warning: noisy\n# end: 1 results\n"
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
	if want := "Unit"; err != nil || !strings.Contains(text, "# version: v1\n# partial: missing: shard 1 of 2\n"+want) {
		t.Error(text, err)
	}
}

// TestLines: what no reader of the format takes is a fault of its line, and what comes before it is left.
func TestLines(t *testing.T) {
	for line, want := range map[string]string{
		"# part: x":                       `part "x": want a number`,
		"# part: 0":                       `part "0": want a number`,
		"# shard: 3/2":                    `shard "3/2": want i/n`,
		"# shard: 0/2":                    `shard "0/2": want i/n`,
		"# shard: 1":                      `shard "1": want i/n`,
		"# end: x results":                `end "x results": want a number of results`,
		"# end: -1 results":               `end "-1 results": want a number of results`,
		"nonsense":                        `"nonsense" is not a line of results`,
		"Cpu: A":                          `"Cpu: A" is not a line of results`,
		"{cpu: A":                         `"{cpu: A" is not a line of results`,
		": A":                             `": A" is not a line of results`,
		"a b: A":                          `"a b: A" is not a line of results`,
		"zone: 1":                         "zone changes inside the file, which is merged already: take the files that it was made of",
		"BenchmarkX 1  5 ns/op":           `"BenchmarkX 1  5 ns/op" has two spaces in a row`,
		"BenchmarkX 1":                    `"BenchmarkX 1" is not a line of results`,
		"BenchmarkX 1 5":                  `"BenchmarkX 1 5" is not a line of results`,
		"BenchmarkX 1.5 5 ns/op":          "1.5 is not a finite number from 0 on",
		"BenchmarkX x 5 ns/op":            `"x" is not a number`,
		"BenchmarkX 1 -5 ns/op":           "-5 is not a finite number from 0 on",
		"BenchmarkX 1 +Inf ns/op":         "+Inf is not a finite number from 0 on",
		"BenchmarkX 1 1.2.3 ns/op":        `"1.2.3" is not a number`,
		"BenchmarkX 1 . ns/op":            `"." is not a number`,
		"BenchmarkX 1 5 ns/op 1e400 B/op": `"1e400" is not a number`,
	} {
		text, faults, err := merged(t, "", "BenchmarkA 1 5 ns/op\n"+line+"\n")
		if len(faults) != 1 || faults[0] != "0.txt: line 2: "+want || err != nil || !strings.Contains(text, "BenchmarkA 1 5 ns/op\n") {
			t.Errorf("%s: %q, %v, want %s", line, faults, err, want)
		}
	}
	for _, line := range []string{"", "# any: thing", "BenchmarkX 1 5e3 ns/op", "BenchmarkX 9 0.5 ns/op 1e+06 B/op"} {
		n := 1 + strings.Count(line, "Benchmark")
		if _, faults, err := merged(t, "", fmt.Sprintf("BenchmarkA 1 5 ns/op\n%s\n# end: %d results\n", line, n)); faults != nil || err != nil {
			t.Errorf("%s: %q, %v", line, faults, err)
		}
	}
}

// TestTwice: of a shard that is there twice the file with more results is left.
func TestTwice(t *testing.T) {
	few, many := shardText(1, 1, []int{1}), shardText(1, 1, []int{1, 2})
	for _, texts := range [][]string{{few, many}, {many, few}} {
		if text, faults, err := merged(t, "", texts...); !strings.HasSuffix(text, "# end: 3 results\n") || len(faults) != 1 || err != nil {
			t.Error(text, faults, err)
		}
	}
}

// TestNothing: what holds no result is refused as other readers refuse it, and one of several is named.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"<html>\n"}, `0.txt holds no benchmark results: line 1 is "<html>"`},
		{[]string{"", "cpu: A\n"}, "none of 2 files holds a result: 0.txt"},
	} {
		if _, _, err := merged(t, "", c.texts...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
