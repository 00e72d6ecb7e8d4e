package results

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// system is a root folder with these files.
func system(files map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

const (
	mountsV2 = "21 1 8:1 / / rw - ext4 /dev/root rw\n30 21 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountsV1 = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n" +
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)

func TestLimits(t *testing.T) {
	const none = "9223372036854771712\n" // of version 1
	for _, test := range []struct {
		name   string
		files  map[string]string
		limits []MemoryLimit
		quota  quota
	}{
		{name: "nothing is known"},
		{name: "version 2 without limits", files: map[string]string{
			"proc/self/cgroup": "0::/user.slice\n", "proc/self/mountinfo": mountsV2,
			"sys/fs/cgroup/user.slice/memory.max": "max\n",
			"sys/fs/cgroup/user.slice/cpu.max":    "max 100000\n",
		}},
		{name: "version 2, the limits of groups above", files: map[string]string{
			"proc/self/cgroup": "0::/pod/container\n", "proc/self/mountinfo": mountsV2,
			"sys/fs/cgroup/pod/container/memory.max":     "1610612736\n",
			"sys/fs/cgroup/pod/container/memory.current": "104857600\n",
			"sys/fs/cgroup/pod/container/memory.stat":    "anon 5\nfile 94371840\ninactive_file 52428800\nactive_file 41943040\n",
			"sys/fs/cgroup/pod/container/cpu.max":        "200000 100000\n",
			"sys/fs/cgroup/pod/memory.max":               "1073741824\n",
			"sys/fs/cgroup/pod/memory.current":           "536870912\n",
			"sys/fs/cgroup/pod/cpu.max":                  "75000 50000\n",
		}, limits: []MemoryLimit{
			{1 << 30, 1<<30 - 1<<26 - 1<<29, "/sys/fs/cgroup/pod/memory.max"},
			{3 << 29, 3<<29 - 3<<25 - 10<<20, "/sys/fs/cgroup/pod/container/memory.max"},
		}, quota: quota{1.5, "/sys/fs/cgroup/pod/cpu.max"}},
		{name: "version 2 in a namespace of its own", files: map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountsV2,
			"sys/fs/cgroup/memory.max": "1073741824\n", "sys/fs/cgroup/cpu.max": "50000 100000\n",
		}, limits: []MemoryLimit{{1 << 30, 15 << 26, "/sys/fs/cgroup/memory.max"}},
			quota: quota{0.5, "/sys/fs/cgroup/cpu.max"}},
		{name: "version 1", files: map[string]string{
			"proc/self/cgroup":                               "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/a\n0::/\n",
			"proc/self/mountinfo":                            mountsV1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     none,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   "1073741824\n",
			"sys/fs/cgroup/memory/a/memory.usage_in_bytes":   "20971520\n",
			"sys/fs/cgroup/memory/a/memory.stat":             "inactive_file 7\ntotal_inactive_file 10485760\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": none,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":     "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":    "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us":   "150000\n",
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us":  "100000\n",
		}, limits: []MemoryLimit{{1 << 30, 15<<26 - 10<<20,
			"/sys/fs/cgroup/memory/a/memory.limit_in_bytes"}},
			quota: quota{1.5, "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us"}},
		{name: "version 1 in a container that sees its own group only", files: map[string]string{
			"proc/self/cgroup":                           "4:memory:/docker/7ea8\n",
			"proc/self/mountinfo":                        "35 31 0:32 /docker/7ea8 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
		}, limits: []MemoryLimit{{1 << 30, 15 << 26, "/sys/fs/cgroup/memory/memory.limit_in_bytes"}}},
		{name: "more than the machine has, and more than is left", files: map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2,
			"sys/fs/cgroup/memory.max":       "68719476736\n",
			"sys/fs/cgroup/a/memory.max":     "1073741824\n",
			"sys/fs/cgroup/a/memory.current": "1073741824\n",
		}, limits: []MemoryLimit{{1 << 30, 0, "/sys/fs/cgroup/a/memory.max"}}},
		{name: "ulimit", files: map[string]string{
			"proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
				"Max data size             unlimited            unlimited            bytes     \n" +
				"Max address space         4294967296           unlimited            bytes     \n",
			"proc/self/status": "Name:\tbench\nVmPeak:\t 9 kB\nVmSize:\t 1048576 kB\nVmData:\t 1 kB\n",
		}, limits: []MemoryLimit{{4 << 30, 11 << 28, "ulimit -v"}}},
		{name: "broken", files: map[string]string{
			"proc/self/cgroup":         "x\n0::\n::\n",
			"proc/self/mountinfo":      "1 2 3\n - cgroup2\n1 2 3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory.max": "-5\n", "sys/fs/cgroup/cpu.max": "7\n",
			"proc/self/limits": "Max address space\n", "proc/self/status": "VmSize:\n",
		}},
	} {
		root := system(test.files)
		if diff := cmp.Diff(test.limits, readMemoryLimits(root, 32<<30)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if got := readQuota(root); got != test.quota {
			t.Errorf("%s: quota %v, want %v", test.name, got, test.quota)
		}
	}
}

// TestLimitedMachine: what a limit leaves is what is available, and both are told
// with where they are from.
func TestLimitedMachine(t *testing.T) {
	root := system(map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountsV2,
		"sys/fs/cgroup/memory.max": "1610612736\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"})
	m := Machine{CPUs: 2, Memory: 32 << 30, Available: 23 << 30}
	m.setLimits(root)
	if m.Available != 45<<25 || m.AvailableFrom != "/sys/fs/cgroup/memory.max" {
		t.Errorf("%d B are available from %s", m.Available, m.AvailableFrom)
	}
	for _, want := range []Fact{{"memory limit", "1.5 GiB", "/sys/fs/cgroup/memory.max"},
		{"cpu quota", "1.5 CPUs", "/sys/fs/cgroup/cpu.max"}} {
		if !slices.Contains(m.Facts(), want) {
			t.Errorf("%v is not said: %v", want, m.Facts())
		}
	}
	free := Machine{Memory: 32 << 30, Available: 1 << 30}
	if free.setLimits(root); free.Available != 1<<30 || free.AvailableFrom != "/proc/meminfo" {
		t.Errorf("of less than the limit: %d B are available from %s", free.Available, free.AvailableFrom)
	}
}

func TestCheckResources(t *testing.T) {
	for limits, want := range map[string]string{
		"": "",
		"Max address space         unlimited            unlimited            bytes\n":  "",
		"Max address space         2147483648           unlimited            bytes\n":  "",
		"Max address space         1024000000           2147483648           bytes\n":  "ulimit -v 1000000: want at least 2097152 or unlimited",
		"Max data size             102400000            102400000            bytes \n": "ulimit -d 100000: want at least 294912 or unlimited",
	} {
		err := checkResources(system(map[string]string{"proc/self/limits": limits}), 2)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", limits, err, want)
		}
	}
}
