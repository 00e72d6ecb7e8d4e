package node

import (
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/results/show"
)

const minSteal = 0.01

// minOthers is the number of CPUs busy with other programs from which measurements are doubtful.
const minOthers = 0.25

// Busy says how busy other programs were, or returns "" if measurements are not doubtful for it.
func (a Activity) Busy() string {
	if a.Others <= minOthers {
		return ""
	}
	return fmt.Sprintf("other programs kept %.1f of %s busy", a.Others,
		show.Counted(a.CPUs, "CPU"))
}

// Warnings returns warnings of noise.Samples' form on the machine's settings and its activity, nil
// if unknown.
func Warnings(m Machine, pinned bool, a *Activity) []string {
	var warnings []string
	warn := func(kind, format string, args ...any) {
		warnings = append(warnings, kind+": "+fmt.Sprintf(format, args...))
	}
	if governors := strings.Join(m.Governors, ", "); governors != "" && governors != "performance" {
		warn("frequency", "the CPUs' frequency governor is %s, which follows the load: set "+
			"performance (cpupower frequency-set -g performance)", governors)
	}
	if m.Turbo == "on" {
		warn("turbo", "the CPU runs faster while it is cool: turn turbo off (echo 1 > "+
			"%[1]s/intel_pstate/no_turbo, or echo 0 > %[1]s/cpufreq/boost)",
			"/sys/devices/system/cpu")
	}
	if !pinned {
		warn("unpinned", "%s", unpinned(m.GOOS))
	}
	if m.CPUQuota > 0 && m.CPUQuota < float64(m.CPUs) {
		warn("quota", "this process may use %.4g of %s (cpu.max), and is stopped in the "+
			"middle of a "+
			"sample when it has: run it without a quota", m.CPUQuota,
			show.Counted(m.CPUs, "CPU"))
	}
	if a != nil && a.Busy() != "" {
		warn("load", "%s during the run: end them, or compare interleaved (--ab)", a.Busy())
	}
	if a != nil && a.Steal > minSteal {
		warn("steal", "the host took %.1f%% of the CPU time: use a machine with CPUs of its own, "+
			"or compare interleaved (--ab)", 100*a.Steal)
	}
	return warnings
}

func unpinned(system string) string {
	if system == "linux" {
		return "Linux refused to pin the thread to its CPU (sched_setaffinity(2)), as sandboxes " +
			"do or after a change of its cpuset, and may move it: run outside of a sandbox, or " +
			"compare interleaved (--ab)"
	}
	return "the thread may be moved from CPU to CPU, since only Linux pins it: compare " +
		"interleaved (--ab), or run on Linux"
}
