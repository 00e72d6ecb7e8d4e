//go:build unix

package outfile

import (
	"os"

	"golang.org/x/sys/unix"
)

func duplicate(fd int, name string) (*os.File, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(n), name), nil
}
