//go:build !amd64

package cpu

import "github.com/klauspost/cpuid/v2/topology"

// cpuidLeaves has none: only x86 has CPUID.
func cpuidLeaves() func(leaf, subleaf uint32) registers { return nil }

// cpuidTopology knows nothing: the library's of arm64 is sysctl's of the slowest
// cores.
func cpuidTopology() *topology.System { return nil }
