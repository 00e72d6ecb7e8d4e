//go:build !amd64

package cpu

import "github.com/klauspost/cpuid/v2/topology"

// cpuidLeaves returns nil: only x86 has CPUID.
func cpuidLeaves() func(leaf, subleaf uint32) registers { return nil }

// cpuidTopology returns nil: on arm64 the library reads sysctl's figures of the slowest cores.
func cpuidTopology() *topology.System { return nil }
