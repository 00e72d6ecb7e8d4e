//go:build !linux && !darwin

package access

import (
	"errors"
	"runtime"
)

// pin locks the goroutine to its thread. These systems pin no thread to a CPU, so pinned is -1.
func pin(int) (pinned int, undo func()) {
	runtime.LockOSThread()
	return -1, runtime.UnlockOSThread
}

func pinThread(int) error { return errors.ErrUnsupported }
