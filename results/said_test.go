package results_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
)

// TestComplete: a file of ours says at its end how many results it has, and what it says is true.
func TestComplete(t *testing.T) {
	const a, b = "BenchmarkA 1 5 ns/op\n", "BenchmarkB 1 6 ns/op\n"
	for text, want := range map[string]string{
		a:                            "", // of others
		a + "# end: 1 results\n":     "",
		a + b + "# end: 1 results\n": "run.txt is cut off or was changed: it has 2 results, and by its last line 1",
		"# command: bench run\n" + a: "run.txt is cut off: its last line is not \"# end: N results\"",
		a + "# end: 2 results\n":     "run.txt is cut off or was changed: it has 1 result, and by its last line 2",
		a + a + "# end: 1 results\n": "", // both sides of a merge
		a + "# end: 1 results\n" + b + "# end: 1 results\n":             "", // one file after the other
		a + "# interrupted: after 1 of 9 samples\n# end: 1 results\n":   "run.txt is of a run that was interrupted after 1 of 9 samples",
		"# partial: missing: shard 2 of 2\n" + a + "# end: 1 results\n": "run.txt was merged of parts that are not all: missing: shard 2 of 2",
		"# command: bench run\n" + a + "# end: x results\n":             "run.txt is cut off: its last line is not \"# end: N results\"",
	} {
		set, err := results.Parse("run.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := set.Complete(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestFiles: a set comes apart into what each of its files has, and says of comments what all have in common.
func TestFiles(t *testing.T) {
	set, err := results.Read(write(t, "a.txt", "# commit: 1\n# version: 2\nBenchmarkA 1 5 ns/op\nBenchmarkB 1 5 ns/op\n"), write(t, "b.txt", "# commit: 1\n# version: 3\n# load: 4\nBenchmarkC 1 5 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, part := range set.Files() {
		got = append(got, fmt.Sprint(len(part.Results), " ", part.Comment("version")))
	}
	if diff := cmp.Diff([]string{"2 2", "1 3"}, got); diff != "" {
		t.Error(diff)
	}
	if commit, version, load := set.Comment("commit"), set.Comment("version"), set.Comment("load"); commit != "1" || version != "" || load != "" {
		t.Errorf("%q, %q, %q", commit, version, load)
	}
}

func TestBytesOfKey(t *testing.T) {
	for text, want := range map[string]int{"4KiB": 4096, "3MiB": 3 << 20, "2GiB": 2 << 30, "7B": 7, "1048576GiB": 1 << 50, "1048577GiB": 0, "0B": 0, "-1B": 0, "xKiB": 0, "4": 0, "": 0} {
		if got := (results.Row{Name: "Latency/size=" + text + "/k=1"}).Bytes("size"); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// TestInFiles: seconds above a fraction's line are ns in files, wherever else they stand they are not.
func TestInFiles(t *testing.T) {
	for unit, want := range map[string]string{"sec/op": "1.5 ns/op", "predicted-sec/op": "1.5 predicted-ns/op", "B/sec": "1.5e-09 B/sec", "x/sec*sec": "1.5 x/sec*ns", "D1-misses/op": "1.5e-09 D1-misses/op"} {
		value, plain := results.InFiles(1.5e-9, unit)
		if got := fmt.Sprint(value, " ", plain); got != want {
			t.Errorf("%s: %s, want %s", unit, got, want)
		}
	}
}

func TestExplains(t *testing.T) {
	for unit, want := range map[string]bool{"ns/elem": true, "sec/elem": true, "B/s": true, "hw-cycles/op": true, "predicted-ns/op": true, "sec/op": false, "ns/op": false, "D1-misses/op": false} {
		if got := results.Explains(unit); got != want {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
}

// TestFacts: of a machine what is known is told, with its sources, and of what is not known nothing.
func TestFacts(t *testing.T) {
	m := results.Machine{GOOS: "linux", GOARCH: "amd64", GoVersion: "go1.26", CPUs: 4}
	if diff := cmp.Diff([]results.Fact{{"goos", "linux", "go"}, {"goarch", "amd64", "go"}, {"goversion", "go1.26", "go"}, {"cpus", "4", "go"}}, m.Facts()); diff != "" {
		t.Error(diff)
	}
	m.CPU, m.CPUFrom, m.Hypervisor, m.CPUQuota, m.QuotaFrom, m.Memory = "Example 9000", "cpuid", "KVM", 1.5, "cgroup", 8<<30
	m.MemoryLimits, m.Available, m.AvailableFrom = []results.MemoryLimit{{Bytes: 2 << 30, Source: "cgroup"}}, 1<<30, "cgroup"
	m.Governors, m.Turbo = []string{"powersave", "performance"}, "off"
	want := []results.Fact{{"cpu", "Example 9000", "cpuid"}, {"hypervisor", "KVM", "cpuid"}, {"cpu quota", "1.5 CPUs", "cgroup"}, {"memory", "8 GiB", "/proc/meminfo"},
		{"memory limit", "2 GiB", "cgroup"}, {"memory available", "1 GiB", "cgroup"}, {"governor", "powersave performance", "sysfs"}, {"turbo", "off", "sysfs"}}
	if diff := cmp.Diff(want, m.Facts()[4:]); diff != "" {
		t.Error(diff)
	}
}
