package cpu

import (
	"github.com/klauspost/cpuid/v2"
	"github.com/klauspost/cpuid/v2/topology"
)

// identify executes CPUID. klauspost/cpuid lacks TLBs, and the ways of AMD's older leaves.
//
//go:noescape
func identify(leaf, subleaf uint32) (r registers)

func cpuidLeaves() func(leaf, subleaf uint32) registers { return identify }

func cpuidTopology() *topology.System { return cpuid.CPU.Topology() }
