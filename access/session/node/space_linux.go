package node

import "golang.org/x/sys/unix"

// addressSpace returns the limit of this process's address space in bytes, 0 without one.
func addressSpace() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur > 1<<60 {
		return 0
	}
	return int(limit.Cur)
}
