package node

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// The files of this process's control group of version 2, as a container sees them.
const (
	memoryLimit = "/sys/fs/cgroup/memory.max"
	memoryTaken = "/sys/fs/cgroup/memory.current"
	cpuLimit    = "/sys/fs/cgroup/cpu.max"
)

// setLimits reads what control groups grant. Cached file pages count as taken, so Available is
// cautious.
func (m *Machine) setLimits(root fs.FS) {
	most, period, _ := strings.Cut(fileText(root, cpuLimit), " ")
	of, err1 := strconv.ParseFloat(most, 64) // or "max"
	each, err2 := strconv.ParseFloat(period, 64)
	if err1 == nil && err2 == nil && of > 0 && each > 0 {
		m.CPUQuota = of / each
	}
	m.MemoryLimit = cmp.Or(m.Memory, math.MaxInt)
	limit := func(bytes, taken int, from string) {
		if bytes > 0 && bytes < m.MemoryLimit {
			m.MemoryLimit, m.LimitFrom = bytes, from
			m.Available = min(cmp.Or(m.Available, bytes), max(1, bytes-taken)) // 0 is unknown
		}
	}
	group, _ := strconv.Atoi(fileText(root, memoryLimit)) // 0 for "max"
	taken, _ := strconv.Atoi(fileText(root, memoryTaken))
	limit(group, taken, memoryLimit)
	limit(addressSpace(), reserved, "ulimit -v")
}

// reserved is about how much address space Go's runtime takes.
const reserved = 2 << 30

// CheckResources returns an error for an address space (ulimit -v) in which Go's runtime may fail
// with a traceback. The runtime reserves more memory than it uses.
func CheckResources() error {
	if limit := addressSpace(); limit > 0 && limit < reserved {
		return fmt.Errorf("ulimit -v %d: want at least %d or unlimited, since Go's runtime "+
			"reserves "+
			"more memory than it uses", limit>>10, reserved>>10)
	}
	return nil
}

func fileText(root fs.FS, file string) string {
	data, _ := fs.ReadFile(root, strings.TrimPrefix(file, "/"))
	return strings.TrimSpace(string(data))
}
