package results_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
)

// TestFiles: a set comes apart into what each of its files has, and says of comments what all have
// in common. A mark of UTF-8 at the head of a file is not part of its first line.
func TestFiles(t *testing.T) {
	set := must(results.Read(write(t, "a.txt",
		"\xEF\xBB\xBF# commit: 1\n# version: 2\nBenchmarkA 1 5 ns/op\nBenchmarkB 1 5 ns/op\n"),
		write(t, "b.txt", "# commit: 1\n# version: 3\n# load: 4\nBenchmarkC 1 5 ns/op\n")))
	var got []string
	for _, part := range set.Files() {
		got = append(got, fmt.Sprint(len(part.Results), " ", part.Comment("version")))
	}
	if diff := cmp.Diff([]string{"2 2", "1 3"}, got); diff != "" {
		t.Error(diff)
	}
	if commit, version, load := set.Comment("commit"), set.Comment("version"),
		set.Comment("load"); commit != "1" || version != "" || load != "" {
		t.Errorf("%q, %q, %q", commit, version, load)
	}
}

// TestFacts: of a machine what is known is told, with its sources, and of what is not known
// nothing.
func TestFacts(t *testing.T) {
	m := results.Machine{GOOS: "linux", GOARCH: "amd64", GoVersion: "go1.26", CPUs: 4}
	if diff := cmp.Diff([]results.Fact{{"goos", "linux", "go"}, {"goarch", "amd64", "go"},
		{"goversion", "go1.26", "go"}, {"cpus", "4", "go"}}, m.Facts()); diff != "" {
		t.Error(diff)
	}
	m.CPU, m.CPUFrom, m.Hypervisor, m.CPUQuota, m.Memory = "Example 9000", "cpuid", "KVM",
		1.5, 8<<30
	m.MemoryLimit, m.LimitFrom, m.Available = 2<<30, "cgroup", 1<<30
	m.Governors, m.Turbo = []string{"powersave", "performance"}, "off"
	want := []results.Fact{{"cpu", "Example 9000", "cpuid"}, {"hypervisor", "KVM", "cpuid"},
		{"cpu quota", "1.5 CPUs", "/sys/fs/cgroup/cpu.max"}, {"memory", "8 GiB", "/proc/meminfo"},
		{"memory limit", "2 GiB", "cgroup"}, {"memory available", "1 GiB", "cgroup"},
		{"governor", "powersave performance", "sysfs"}, {"turbo", "off", "sysfs"}}
	if diff := cmp.Diff(want, m.Facts()[4:]); diff != "" {
		t.Error(diff)
	}
}
