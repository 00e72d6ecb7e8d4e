package cpu

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

func thisSystem() system {
	return system{files: os.DirFS("/"), cpu: lastCPU(), topology: cpuidTopology(), cpuid: cpuidLeaves()}
}

// allowed are the CPUs that this process may run on.
func allowed() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var all []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all
}

// lastCPU is the last one that this process may run on, which package access pins
// timed threads to.
func lastCPU() int { return slices.Max(append(allowed(), 0)) }
