package results

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestNodeComments(t *testing.T) {
	root := fstest.MapFS{
		"proc/sys/kernel/osrelease": {Data: []byte("6.1.0\n")},
		"proc/cpuinfo": {Data: []byte(
			"processor\t: 0\nmicrocode\t: 0x1f\n\nprocessor\t: 1\nmicrocode\t: 0x20\n")},
	}
	all := nodeComments(Machine{Memory: 1 << 30, Governors: []string{"performance"}, Turbo: "on"},
		root)
	want := []Pair{{"kernel-release", "6.1.0"}, {"microcode", "0x1f"}, {"memory", "1 GiB"},
		{"governor", "performance"}, {"turbo", "on"}}
	if diff := cmp.Diff(want, all[1:]); all[0].Key != NodeKey || diff != "" {
		t.Error(all, diff)
	}
}

// TestConfigLabels: labels may differ between the benchmarks of one run, but not
// between the samples of a benchmark.
func TestConfigLabels(t *testing.T) {
	set, err := Parse("a", []byte(
		"cpu: A\nhost: a\nBenchmarkX 1 1 ns/op\nhost: b\nBenchmarkY 1 1 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := set.Config()
	if diff := cmp.Diff(map[string]string{"cpu": "A"}, config); err != nil || diff != "" {
		t.Error(err, diff)
	}
	all := map[string]string{"cpu": "A", "host": "h", "sim-ll": "1", "zone": "z", "goos": "linux",
		"pages": "4k"}
	if diff := cmp.Diff(Fingerprint{{"host", "h"}, {"zone", "z"}}, LabelsOf(all)); diff != "" {
		t.Error(diff)
	}
	if set, err = Parse("a",
		[]byte("host: a\nBenchmarkX 1 1 ns/op\nhost: b\nBenchmarkX 1 1 ns/op\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Config(); err == nil || !strings.Contains(err.Error(), "differ in host") {
		t.Error(err)
	}
}
