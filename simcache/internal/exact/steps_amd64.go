package exact

import "math"

// A stepper is a mover of any step for vector code, which cannot divide. Let the step be o<<k with
// o odd, and i the inverse of o modulo 2^32. n is a multiple of the step if and only if n*i,
// rotated right by k bits, is at most (2^32-1)/step. The rotated number is then n/step (Granlund
// and Montgomery, PLDI 1994, section 9).
type stepper struct{ low, size, by, inverse, right, left, most, _ uint32 }

// mostSteppers is the most movers of vector code. Fewer than leastStepped lines do not repay making
// steppers.
const mostSteppers, leastStepped = 8, 32

//go:noescape
func stepAVX2(lines *uint32, n int, steppers *stepper, k int)

func (v mover) stepper() stepper {
	k := trailing(uint64(v.step))
	odd := v.step >> k
	inverse := odd // correct in its lowest 3 bits; each round doubles their number
	for range 4 {
		inverse *= 2 - odd*inverse
	}
	most := math.MaxUint32 / v.step
	return stepper{v.low, v.size, v.by, inverse, uint32(k), uint32(32 - k), most, 0}
}

// stepLines moves lines by movers of any step, with vectors, and returns the lines left over.
func stepLines(lines []uint32, movers []mover) (rest []uint32) {
	n := len(lines) &^ 7
	if !hasAVX2 || n < leastStepped || len(movers) == 0 || len(movers) > mostSteppers {
		return lines
	}
	var steppers [mostSteppers]stepper
	for i, v := range movers {
		steppers[i] = v.stepper()
	}
	stepAVX2(&lines[0], n, &steppers[0], len(movers))
	return lines[n:]
}
