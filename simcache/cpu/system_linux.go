package cpu

import (
	"errors"
	"math/bits"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

func thisSystem() system {
	return system{files: os.DirFS("/"), cpu: lastCPU(), topology: cpuidTopology(),
		cpuid: cpuidLeaves()}
}

func allowed() []int {
	set, err := affinity(unix.SchedGetaffinityDynamic)
	if err != nil {
		return nil
	}
	var all []int
	for cpu := range len(set) * bits.UintSize {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all
}

// affinity returns the thread's affinity. The kernel requires a bit for each possible CPU,
// sometimes more than unix.CPUSet's 1024.
func affinity(get func(pid int, set unix.CPUSetDynamic) error) (set unix.CPUSetDynamic, err error) {
	err = unix.EINVAL
	for cpus := 1024; errors.Is(err, unix.EINVAL) && cpus <= maxCPU; cpus *= 2 {
		set = unix.NewCPUSet(cpus)
		err = get(0, set)
	}
	return set, err
}

// lastCPU returns the last permitted CPU, to which package access pins timed threads.
func lastCPU() int { return slices.Max(append(allowed(), 0)) }

// RunOn locks the goroutine to its thread and the thread to a CPU, and returns a function that
// undoes both. With the kernel's error the thread is unpinned.
func RunOn(cpu int) (undo func(), err error) {
	runtime.LockOSThread()
	before, err := affinity(unix.SchedGetaffinityDynamic)
	if err == nil {
		err = Pin(cpu)
	}
	if err != nil {
		return runtime.UnlockOSThread, err
	}
	return func() {
		_ = unix.SchedSetaffinityDynamic(0, before) // it was allowed before
		runtime.UnlockOSThread()
	}, nil
}

// Pin pins the calling thread to a CPU.
func Pin(cpu int) error {
	one := unix.NewCPUSet(cpu + 1)
	one.Set(cpu)
	return unix.SchedSetaffinityDynamic(0, one)
}
