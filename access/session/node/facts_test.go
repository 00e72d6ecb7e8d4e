package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFacts: of a machine what is known is told, with its sources, and of what is not known
// nothing.
func TestFacts(t *testing.T) {
	m := Machine{GOOS: "linux", GOARCH: "amd64", GoVersion: "go1.26", CPUs: 4}
	if diff := cmp.Diff([]Fact{{"goos", "linux", "go"}, {"goarch", "amd64", "go"},
		{"goversion", "go1.26", "go"}, {"cpus", "4", "go"}}, m.Facts()); diff != "" {
		t.Error(diff)
	}
	m.CPU, m.CPUFrom, m.Hypervisor, m.CPUQuota, m.Memory = "Example 9000", "cpuid", "KVM",
		1.5, 8<<30
	m.MemoryLimit, m.LimitFrom, m.Available = 2<<30, "cgroup", 1<<30
	m.Governors, m.Turbo = []string{"powersave", "performance"}, "off"
	want := []Fact{{"cpu", "Example 9000", "cpuid"}, {"hypervisor", "KVM", "cpuid"},
		{"cpu quota", "1.5 CPUs", "/sys/fs/cgroup/cpu.max"}, {"memory", "8 GiB", "/proc/meminfo"},
		{"memory limit", "2 GiB", "cgroup"}, {"memory available", "1 GiB", "cgroup"},
		{"governor", "powersave performance", "sysfs"}, {"turbo", "off", "sysfs"}}
	if diff := cmp.Diff(want, m.Facts()[4:]); diff != "" {
		t.Error(diff)
	}
}
