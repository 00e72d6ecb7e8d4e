//go:build !unix

package outfile

import (
	"errors"
	"os"
)

func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }
