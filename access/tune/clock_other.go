//go:build !linux

package tune

import "time"

func now() time.Duration { return time.Since(begin) }
