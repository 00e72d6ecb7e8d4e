//go:build !amd64

package cpu

// cpuidTLB knows nothing: only x86 tells a program of its TLB.
func cpuidTLB() []array { return nil }
