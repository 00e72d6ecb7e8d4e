package access

import "github.com/stridebench/stridebench/simcache/cpu"

// pin locks the goroutine to its thread and the thread to a CPU, and returns what
// undoes both. Where the kernel refuses, the thread stays unpinned and the CPU is -1.
func pin(to int) (pinned int, undo func()) {
	undo, err := cpu.RunOn(to)
	if err != nil {
		return -1, undo
	}
	return to, undo
}

// pinThread pins the thread that calls it.
func pinThread(to int) error { return cpu.Pin(to) }
