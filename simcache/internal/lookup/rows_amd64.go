package lookup

import "github.com/klauspost/cpuid/v2"

// filterAVX2 is filterGo for rows of whole vectors of 8 and a power of two of sets.
//
//go:noescape
func filterAVX2(l *rows, tags *uint32, refs, out []uint64) int

var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2, cpuid.BMI2)

func (l *rows) filter(refs, out []uint64) int {
	if l.vectors && l.tags != nil {
		return filterAVX2(l, &l.tags[0], refs, out)
	}
	return l.filterGo(refs, out)
}
