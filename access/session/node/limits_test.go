package node

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestLimits: what the control group leaves is what is available, and both are facts.
func TestLimits(t *testing.T) {
	root := fstest.MapFS{}
	for name, text := range map[string]string{"memory.max": "1610612736\n",
		"memory.current": "536870912\n", "cpu.max": "150000 100000\n"} {
		root["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	m := Machine{CPUs: 2, Memory: 32 << 30, Available: 23 << 30}
	if m.setLimits(root); m.Available != 1<<30 || m.CPUQuota != 1.5 {
		t.Errorf("%d B are available, quota %v", m.Available, m.CPUQuota)
	}
	for _, want := range []Fact{{"memory limit", "1.5 GiB", "/sys/fs/cgroup/memory.max"},
		{"cpu quota", "1.5 CPUs", "/sys/fs/cgroup/cpu.max"}} {
		if !slices.Contains(m.Facts(), want) {
			t.Errorf("%v is missing: %v", want, m.Facts())
		}
	}
	for _, text := range []string{"max\n", "-5\n", "68719476736\n", ""} {
		root["sys/fs/cgroup/memory.max"] = &fstest.MapFile{Data: []byte(text)}
		root["sys/fs/cgroup/cpu.max"] = &fstest.MapFile{Data: []byte("max 100000\n")}
		m := Machine{Memory: 32 << 30, Available: 1 << 30}
		if m.setLimits(root); m.Available != 1<<30 || m.LimitFrom != "" || m.CPUQuota != 0 {
			t.Errorf("%q: %+v", text, m)
		}
	}
}
