//go:build !race

package enginetest

// Share is the part of random cases that tests draw: all.
const Share = 1
