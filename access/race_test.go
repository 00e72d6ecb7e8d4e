//go:build race

package access

// share is the part of cases that long tests of a single goroutine try: under the race
// detector, which is slow and finds nothing there, a seventh.
const share = 7
