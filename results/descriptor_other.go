//go:build !unix

package results

import (
	"errors"
	"os"
)

// duplicate is unused on systems whose open files have no paths.
func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }
