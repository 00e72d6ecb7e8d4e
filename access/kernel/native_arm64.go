package kernel

// Every arm64 CPU that Go runs on has NEON, which Go's own assembly requires.
func init() {
	transposers := map[int]func(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int){
		1: transpose1NEON, 2: transpose2NEON, 4: transpose4NEON, 8: transpose8NEON,
		16: transpose16NEON}
	neon.run = &functions{
		add:  adders{int32: addInt32NEON, float32: addFloat32NEON, float64: addFloat64NEON},
		fill: fillNEON, copy: copyNEON,
		transpose: func(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead, size,
			_ int) {
			transposers[size](dst, src, n, dstPitch, srcPitch, dstStep, srcStep, ahead)
		},
	}
}

// NEON has only hints for stores past the caches, and hardware prefetches for sums. So these
// functions ignore past and ahead.

//go:noescape
func addInt32NEON(lanes, x *byte, groups, rows, pitch, ahead int)

//go:noescape
func addFloat32NEON(lanes, x *byte, groups, rows, pitch, ahead int)

//go:noescape
func addFloat64NEON(lanes, x *byte, groups, rows, pitch, ahead int)

//go:noescape
func fillNEON(dst *byte, value uint64, groups, rows, pitch int)

//go:noescape
func copyNEON(dst, src *byte, groups, rows, dstPitch, srcPitch, past int)

//go:noescape
func transpose1NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)

//go:noescape
func transpose2NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)

//go:noescape
func transpose4NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)

//go:noescape
func transpose8NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)

//go:noescape
func transpose16NEON(dst, src *byte, n, dstPitch, srcPitch, dstStep, srcStep, ahead int)
