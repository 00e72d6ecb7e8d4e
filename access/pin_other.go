//go:build !linux && !darwin

package access

import (
	"errors"
	"runtime"
)

// pin locks the goroutine to its thread and returns what undoes it. On
// these systems none is pinned to a CPU, which is -1.
func pin(int) (pinned int, undo func()) {
	runtime.LockOSThread()
	return -1, runtime.UnlockOSThread
}

// pinThread does nothing here.
func pinThread(int) error { return errors.ErrUnsupported }
