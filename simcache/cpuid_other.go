//go:build !amd64

package simcache

// cpuidTLB knows nothing: only x86 tells a program of its TLB.
func cpuidTLB() []PageCache { return nil }
