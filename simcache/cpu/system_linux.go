package cpu

import (
	"os"
	"runtime"
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

// runOn moves the goroutine to a CPU, where the kernel lets it, and returns what undoes that.
func runOn(cpu int) (undo func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	one.Set(cpu)
	if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetaffinity(0, &one) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		_ = unix.SchedSetaffinity(0, &before) // it was allowed before
		runtime.UnlockOSThread()
	}
}
