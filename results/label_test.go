package results

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
