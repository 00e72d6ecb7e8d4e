package access

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin locks the goroutine to its thread and the thread to the last CPU that it
// may run on (the first ones serve most interrupts), and returns what undoes
// both. Where the kernel refuses, the thread stays unpinned and the CPU is -1.
func pin() (cpu int, undo func()) {
	runtime.LockOSThread()
	var allowed, one unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return -1, runtime.UnlockOSThread
	}
	for cpu = len(allowed)*64 - 1; cpu >= 0; cpu-- {
		if allowed.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return -1, runtime.UnlockOSThread
	}
	return cpu, func() {
		_ = unix.SchedSetaffinity(0, &allowed) // it was allowed before
		runtime.UnlockOSThread()
	}
}
