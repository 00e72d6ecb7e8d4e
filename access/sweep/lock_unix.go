//go:build unix && !aix && !solaris

package sweep

import (
	"fmt"
	"os"
	"syscall"
)

// lock locks a record for this process until the file is closed.
func lock(file *os.File, path string) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%s: another program writes to it: %w", path, err)
	}
	return nil
}
