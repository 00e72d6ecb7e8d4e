package tune

import (
	"time"

	"golang.org/x/sys/unix"
)

// now returns this thread's CPU time, which excludes other programs on its CPU.
func now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return time.Since(begin)
	}
	return time.Duration(t.Nano())
}
