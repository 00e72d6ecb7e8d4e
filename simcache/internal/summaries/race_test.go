//go:build race

package summaries

// slow: the race detector makes everything here ten times slower, and finds
// nothing where there is one goroutine. Tests that are long do less.
const slow = true
