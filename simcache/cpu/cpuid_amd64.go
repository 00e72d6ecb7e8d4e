package cpu

// identify executes CPUID. klauspost/cpuid asks it for
// caches, but not for TLBs.
//
//go:noescape
func identify(leaf, subleaf uint32) (r registers)

func cpuidTLB() []array { return decodeTLB(identify) }
