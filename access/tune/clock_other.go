//go:build !linux

package tune

import "time"

// now is a clock.
func now() time.Duration { return time.Since(begin) }
