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

// allowed are the CPUs that this process may run on.
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

// affinity is the thread's, in as many bits as the kernel wants: one for each CPU that there
// may be, which are more than the 1024 of unix.CPUSet on some machines.
func affinity(get func(pid int, set unix.CPUSetDynamic) error) (set unix.CPUSetDynamic, err error) {
	err = unix.EINVAL
	for cpus := 1024; errors.Is(err, unix.EINVAL) && cpus <= maxCPU; cpus *= 2 {
		set = unix.NewCPUSet(cpus)
		err = get(0, set)
	}
	return set, err
}

// lastCPU is the last one that this process may run on, which package access pins
// timed threads to.
func lastCPU() int { return slices.Max(append(allowed(), 0)) }

// RunOn locks the goroutine to its thread and the thread to a CPU, and returns what undoes
// both. Where the kernel refuses, the thread stays as it is, and the error is the kernel's.
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

// Pin pins the thread that calls it to a CPU.
func Pin(cpu int) error {
	one := unix.NewCPUSet(cpu + 1)
	one.Set(cpu)
	return unix.SchedSetaffinityDynamic(0, one)
}
