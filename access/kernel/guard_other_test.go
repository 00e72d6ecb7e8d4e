//go:build !linux

package kernel

// guarded is memory of n bytes, which only Linux guards.
func guarded(n int) []byte { return make([]byte, n) }
