package cpu

import (
	"github.com/klauspost/cpuid/v2"
	"github.com/klauspost/cpuid/v2/topology"
)

// identify executes CPUID. klauspost/cpuid asks it for
// caches, but not for TLBs.
//
//go:noescape
func identify(leaf, subleaf uint32) (r registers)

func cpuidTLB() []array { return decodeTLB(identify) }

func cpuidTopology() *topology.System { return cpuid.CPU.Topology() }
