//go:build race

package enginetest

// Share is the part of random cases that tests draw: under the race detector, which is
// slow and finds nothing where there is one goroutine, a twentieth.
const Share = 20
