package access

import "github.com/stridebench/stridebench/simcache/cpu"

// pin locks the goroutine to its thread and the thread to a CPU, and returns a function that undoes
// both. If the kernel refuses, pinned is -1 and the thread stays unpinned.
func pin(to int) (pinned int, undo func()) {
	undo, err := cpu.RunOn(to)
	if err != nil {
		return -1, undo
	}
	return to, undo
}

// pinThread pins the calling thread.
func pinThread(to int) error { return cpu.Pin(to) }
