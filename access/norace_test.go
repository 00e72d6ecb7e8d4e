//go:build !race

package access

// share is the part of cases that long tests of a single goroutine try: all.
const share = 1
