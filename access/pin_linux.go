package access

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin locks the goroutine to its thread and the thread to a CPU, and returns what
// undoes both. Where the kernel refuses, the thread stays unpinned and the CPU is -1.
func pin(cpu int) (pinned int, undo func()) {
	runtime.LockOSThread()
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil || pinThread(cpu) != nil {
		return -1, runtime.UnlockOSThread
	}
	return cpu, func() {
		_ = unix.SchedSetaffinity(0, &allowed) // it was allowed before
		runtime.UnlockOSThread()
	}
}

// pinThread pins the thread that calls it.
func pinThread(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	return unix.SchedSetaffinity(0, &one)
}
