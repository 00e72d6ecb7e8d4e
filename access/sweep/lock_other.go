//go:build !unix || aix || solaris

package sweep

import "os"

// lock does nothing where there is no flock.
func lock(*os.File, string) error { return nil }
