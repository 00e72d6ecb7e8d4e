package kernel

import "github.com/klauspost/cpuid/v2"

func init() { give(cpuid.CPU.Supports) }

// give installs the functions of sets whose instructions the CPU has and whose registers the system
// saves.
func give(has func(...cpuid.FeatureID) bool) {
	if has(cpuid.AVX, cpuid.AVX2, cpuid.F16C) {
		avx2.run = &functions{
			add: adders{addInt32AVX2, addFloat32AVX2, addFloat64AVX2, addFloat16AVX2,
				addBFloat16AVX2},
			fill: fillAVX2, copy: copyAVX2, transpose: transposeAVX2, pairs: transposePairsAVX2,
			block: transposeBlockAVX2, gather: gatherAVX2, drain: drainAVX2, move: moveAVX2,
			zip: zipAVX2, unzip: unzipAVX2, ask: askLines, fence: fence,
		}
		avx2blocks.run = avx2.run
	}
	if has(cpuid.AVX, cpuid.AVX2, cpuid.F16C, cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ,
		cpuid.AVX512VL) {
		wide := *avx2.run // whose other kernels wait for memory: wider vectors gain nothing
		wide.add = adders{addInt32AVX512, addFloat32AVX512, addFloat64AVX512, addFloat16AVX512,
			addBFloat16AVX512}
		wide.fill, wide.copy = fillAVX512, copyAVX512
		wide.transpose, wide.pairs = transposeAVX512, transposePairsAVX512
		avx512.run = &wide
	}
}
