package access

import "github.com/stridebench/stridebench/simcache/cpu"

// pin locks the goroutine to its thread and the thread to a CPU. If the kernel refuses, pinned is
// -1.
func pin(to int) (pinned int, undo func()) {
	undo, err := cpu.RunOn(to)
	if err != nil {
		return -1, undo
	}
	return to, undo
}

func pinThread(to int) error { return cpu.Pin(to) }
