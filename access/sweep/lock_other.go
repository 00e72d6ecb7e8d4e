//go:build !unix || aix || solaris

package sweep

import "os"

// lock does nothing: this system has no flock.
func lock(*os.File, string) error { return nil }
