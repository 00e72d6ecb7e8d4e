//go:build unix

package results

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate opens another descriptor for an open file, at its current position.
func duplicate(fd int, name string) (*os.File, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(n), name), nil
}
