package kernel

import "github.com/klauspost/cpuid/v2"

// native are the sets that this CPU has the instructions for, and whose
// registers the system saves.
var native = detect(cpuid.CPU.Supports)

func detect(has func(...cpuid.FeatureID) bool) []*Set {
	var sets []*Set
	if has(cpuid.AVX, cpuid.AVX2) {
		sets = append(sets, &avx2)
	}
	if has(cpuid.AVX, cpuid.AVX2, cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL) {
		sets = append(sets, &avx512)
	}
	return sets
}

var avx2 = Set{
	name: "avx2", width: 32,
	addInt32: addInt32AVX2, addFloat32: addFloat32AVX2, addFloat64: addFloat64AVX2,
	fill: fillAVX2, copy: copyAVX2, stream: streamAVX2,
	part: 16, transpose4: transpose4AVX2, transpose8: transpose8AVX2,
	stream4: transposeStream4AVX2, stream8: transposeStream8AVX2,
	block4: transposeBlock4AVX2, block8: transposeBlock8AVX2,
	streamBlock4: transposeStreamBlock4AVX2, streamBlock8: transposeStreamBlock8AVX2,
}

var avx512 = Set{
	name: "avx512", width: 64,
	addInt32: addInt32AVX512, addFloat32: addFloat32AVX512, addFloat64: addFloat64AVX512,
	fill: fillAVX512, copy: copyAVX512, stream: streamAVX512,
	part: 64, transpose4: transpose4AVX512, transpose8: transpose8AVX512,
	stream4: transposeStream4AVX512, stream8: transposeStream8AVX512,
}

func init() {
	// Stores past the caches spare reading what is overwritten. Measured on
	// copies of 256 MiB in virtual machines: 1.6 times as fast on AMD's Zen 3,
	// and 0.6 times on an Intel CPU with AVX-512. What is read and written
	// together leaves a last level of 32 MiB, all that one core of a Zen 3 has,
	// from half of that on; the gain is 1.6 times there, too.
	if cpuid.CPU.IsVendor(cpuid.AMD) {
		streamFrom = 16 << 20
	}
}
