package kernel

import "github.com/klauspost/cpuid/v2"

func init() { give(cpuid.CPU.Supports) }

// give installs the functions of sets whose instructions the CPU has and whose registers the system
// saves.
func give(has func(...cpuid.FeatureID) bool) {
	if has(cpuid.AVX, cpuid.AVX2, cpuid.F16C) {
		avx2.run = &functions{
			add: adders[adder]{addInt32AVX2, addFloat32AVX2, addFloat64AVX2, addFloat16AVX2,
				addBFloat16AVX2},
			addAsk: adders[asker]{addAskInt32AVX2, addAskFloat32AVX2, addAskFloat64AVX2,
				addAskFloat16AVX2, addAskBFloat16AVX2},
			fill: fillAVX2, copy: copyAVX2, stream: streamAVX2,
			transpose: map[int]transposer{1: transpose1AVX2, 2: transpose2AVX2,
				4: transpose4AVX2, 8: transpose8AVX2, 16: transpose16AVX2},
			transposeStream: map[int]transposer{1: transposeStream1AVX2, 2: transposeStream2AVX2,
				4: transposeStream4AVX2, 8: transposeStream8AVX2, 16: transposeStream16AVX2},
			pairs: map[int]transposer{8: transposePairs8AVX2, 16: transposePairs16AVX2},
			pairsStream: map[int]transposer{8: transposePairsStream8AVX2,
				16: transposePairsStream16AVX2},
			block: map[int]blockMover{1: transposeBlock1AVX2, 2: transposeBlock2AVX2,
				4: transposeBlock4AVX2, 8: transposeBlock8AVX2},
			gather: map[int]gatherer{1: gather1AVX2, 2: gather2AVX2, 4: gather4AVX2,
				8: gather8AVX2},
			drain:       map[int]drainer{16: drain16AVX2, 32: drainAVX2},
			drainStream: map[int]drainer{16: drainStream16AVX2, 32: drainStreamAVX2},
			move:        moveAVX2,
			blockStream: map[int]blockMover{1: transposeStreamBlock1AVX2,
				2: transposeStreamBlock2AVX2, 4: transposeStreamBlock4AVX2,
				8: transposeStreamBlock8AVX2},
			zip: map[int]zipper{2: zip2AVX2, 3: zip3AVX2, 4: zip4AVX2, 5: zip5AVX2,
				6: zip6AVX2, 7: zip7AVX2},
			zipStream: map[int]zipper{2: zipStream2AVX2, 3: zipStream3AVX2, 4: zipStream4AVX2,
				5: zipStream5AVX2, 6: zipStream6AVX2, 7: zipStream7AVX2},
			unzip: map[int]zipper{2: unzip2AVX2, 3: unzip3AVX2, 4: unzip4AVX2, 5: unzip5AVX2,
				6: unzip6AVX2, 7: unzip7AVX2},
			unzipStream: map[int]zipper{2: unzipStream2AVX2, 3: unzipStream3AVX2,
				4: unzipStream4AVX2, 5: unzipStream5AVX2, 6: unzipStream6AVX2, 7: unzipStream7AVX2},
			pick: map[int]picker{2: pick2AVX2, 3: pick3AVX2, 4: pick4AVX2, 5: pick5AVX2,
				6: pick6AVX2, 7: pick7AVX2},
			pickStream: map[int]picker{2: pickStream2AVX2, 3: pickStream3AVX2, 4: pickStream4AVX2,
				5: pickStream5AVX2, 6: pickStream6AVX2, 7: pickStream7AVX2},
			ask: askLines, fence: fence,
		}
		avx2blocks.run = avx2.run
	}
	if has(cpuid.AVX, cpuid.AVX2, cpuid.F16C, cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ,
		cpuid.AVX512VL) {
		avx512.run = &functions{
			add: adders[adder]{addInt32AVX512, addFloat32AVX512, addFloat64AVX512,
				addFloat16AVX512, addBFloat16AVX512},
			addAsk: adders[asker]{addAskInt32AVX512, addAskFloat32AVX512, addAskFloat64AVX512,
				addAskFloat16AVX512, addAskBFloat16AVX512},
			fill: fillAVX512, copy: copyAVX512, stream: streamAVX512,
			transpose: map[int]transposer{1: transpose1AVX512, 2: transpose2AVX512,
				4: transpose4AVX512, 8: transpose8AVX512, 16: transpose16AVX512},
			transposeStream: map[int]transposer{1: transposeStream1AVX512,
				2: transposeStream2AVX512, 4: transposeStream4AVX512, 8: transposeStream8AVX512,
				16: transposeStream16AVX512},
			pairs: map[int]transposer{8: transposePairs8AVX512,
				16: transposePairs16AVX512},
			pairsStream: map[int]transposer{8: transposePairsStream8AVX512,
				16: transposePairsStream16AVX512},
			// Wider vectors gain nothing: these kernels wait for memory.
			zip: avx2.run.zip, zipStream: avx2.run.zipStream, unzip: avx2.run.unzip,
			unzipStream: avx2.run.unzipStream,
			gather:      avx2.run.gather, drain: avx2.run.drain, drainStream: avx2.run.drainStream,
			move: avx2.run.move,
			ask:  askLines, fence: fence,
		}
	}
}
