//go:build !unix

package results

import (
	"errors"
	"os"
)

func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }
