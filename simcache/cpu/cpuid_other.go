//go:build !amd64

package cpu

import "github.com/klauspost/cpuid/v2/topology"

// cpuidTLB knows nothing: only x86 tells a program of its TLB.
func cpuidTLB() []array { return nil }

// cpuidTopology knows nothing: the library's of arm64 is sysctl's of the slowest
// cores.
func cpuidTopology() *topology.System { return nil }
