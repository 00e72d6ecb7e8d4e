package cpu

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// twoSockets has two nodes of two cores with two threads each (siblings are 4
// apart), of which CPU 6 is offline, a node of memory alone (CXL) and one of CPUs
// 8 and 9 without memory, whose kernel has the older name of the siblings' file.
func twoSockets() system {
	files := map[string]any{
		"sys/devices/system/cpu/online":          "0-5,7-9",
		"sys/devices/system/node/online":         "0-1,3-4",
		"sys/devices/system/node/node0/cpulist":  "0-1,4-5",
		"sys/devices/system/node/node1/cpulist":  "2-3,7",
		"sys/devices/system/node/node3/cpulist":  "",
		"sys/devices/system/node/node4/cpulist":  "8-9",
		"sys/devices/system/node/node0/distance": "10 21 31 21",
		"sys/devices/system/node/node1/distance": "21 10 31 21",
		"sys/devices/system/node/node3/distance": "31 31 10 31",
		"sys/devices/system/node/node4/distance": "21 21 31 10",
		"sys/devices/system/node/node0/meminfo": "Node 0 MemTotal:       1048576 kB\nNode 0 " +
			"MemFree:         1024 kB",
		"sys/devices/system/node/node1/meminfo": "Node 1 MemTotal:       2097152 kB",
		"sys/devices/system/node/node3/meminfo": "Node 3 MemTotal:       4194304 kB",
		"sys/devices/system/node/node4/meminfo": "Node 4 MemTotal:             0 kB",
	}
	for _, c := range []struct {
		cpu            int
		name, siblings string
	}{{0, "core_cpus_list", "0,4"}, {1, "core_cpus_list", "1,5"}, {2, "core_cpus_list", "2"},
		{3, "core_cpus_list", "3,7"}, {4, "core_cpus_list", "0,4"},
		{5, "core_cpus_list", "1,5"}, {7, "core_cpus_list", "3,7"},
		{8, "thread_siblings_list", "8-9"}, {9, "thread_siblings_list", "8-9"}} {
		files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/%s", c.cpu, c.name)] = c.siblings
	}
	return system{files: linux(files)}
}

// TestWorkers: one CPU of each core comes first, from the last core on; what is
// offline, and what the process may not use, is left out.
func TestWorkers(t *testing.T) {
	for _, c := range []struct {
		system
		allowed []int
		want    string
	}{
		{twoSockets(), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
			"[{9 8 4} {7 3 1} {5 1 0} {4 0 0} {2 2 1} {8 8 4} {3 3 1} {1 1 0} {0 0 0}]"},
		{twoSockets(), []int{0, 4, 2}, "[{4 0 0} {2 2 1} {0 0 0}]"},
		// a sysfs that says nothing
		{system{files: linux(nil)}, []int{0, 1, 2}, "[{2 2 0} {1 1 0} {0 0 0}]"},
		// LXCFS in a container
		{system{files: linux(map[string]any{"sys/devices/system/cpu/online": "0-1"})}, []int{8, 9},
			"[{9 9 0} {8 8 0}]"},
	} {
		if got := fmt.Sprint(c.workers(c.allowed)); got != c.want {
			t.Errorf("of %v the workers are %s, want %s", c.allowed, got, c.want)
		}
	}
	if len(system{}.workers(nil)) == 0 || len(Workers()) == 0 {
		t.Error("there is no CPU")
	}
}

// TestNodes: nodes without CPUs and without memory are nodes.
func TestNodes(t *testing.T) {
	want := []Node{
		{0, []int{0, 1, 4, 5}, 1 << 30, []int{10, 21, 31, 21}},
		{1, []int{2, 3, 7}, 2 << 30, []int{21, 10, 31, 21}},
		{3, []int{}, 4 << 30, []int{31, 31, 10, 31}},
		{4, []int{8, 9}, 0, []int{21, 21, 31, 10}},
	}
	if diff := cmp.Diff(want, twoSockets().nodes()); diff != "" {
		t.Error(diff)
	}
	if got := (system{}).nodes(); got != nil {
		t.Errorf("a system without sysfs has nodes %v", got)
	}
}

func TestParseList(t *testing.T) {
	if got, err := ParseList("0-2,8,5-5"); err != nil || !slices.Equal(got, []int{0, 1, 2, 8, 5}) {
		t.Error(got, err)
	}
	for _, text := range []string{"0-2,8,5-6", "7", "3,1", "0-1"} {
		if list, err := ParseList(text); err != nil || FormatList(list) != text {
			t.Errorf("%s is written %s (%v)", text, FormatList(list), err)
		}
	}
	for _, wrong := range []string{"", "a", "1-", "3-1", "-1", "1,1", "0-3,2", "1 2",
		"0-99999999999", "0-9999999"} {
		if got, err := ParseList(wrong); err == nil {
			t.Errorf("%q is %v", wrong, got)
		}
	}
}

// TestOnlyCache: a last level that all CPUs share is one, however many threads there are; one
// of several is shared by its cores.
func TestOnlyCache(t *testing.T) {
	for online, want := range map[string]int{"0-7": 0, "0-15": 4, "": 4} {
		const index = "sys/devices/system/cpu/cpu0/cache/index"
		files := map[string]any{"sys/devices/system/cpu/online": online}
		for i, of := range []map[string]string{
			sysfsIndex("1", "Data", "48K", "12", "64", "0,4"),
			sysfsIndex("3", "Unified", "32M", "16", "64", "0-7"),
		} {
			for name, text := range of {
				files[fmt.Sprint(index, i, "/", name)] = text
			}
		}
		if got := Choose(system{files: linux(files)}.known()).Last(); got.SharedBy != want {
			t.Errorf("of CPUs %q, 8 of 4 cores share the last level, which is simulated as "+
				"shared by %d, want %d", online, got.SharedBy, want)
		}
	}
}
