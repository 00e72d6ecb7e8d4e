//go:build !linux

package access

import "runtime"

// pin locks the goroutine to its thread and returns what undoes it. This
// system has no call that pins a thread to a CPU, which is -1.
func pin() (cpu int, undo func()) {
	runtime.LockOSThread()
	return -1, runtime.UnlockOSThread
}
