package exact

import "math"

// A stepper is a mover of any step, for vectors, which do not divide. With a step of o<<k,
// o odd, and i the inverse of o modulo 2^32, the multiples of the step are the numbers
// for which n*i, turned k bits to the right, is at most (2^32-1)/step: it is n/step
// (Granlund and Montgomery, PLDI 1994, section 9).
type stepper struct{ low, size, by, inverse, right, left, most, _ uint32 }

// mostSteppers is how many movers vectors move lines by, at most; fewer than leastStepped
// lines are not worth to make steppers of them.
const mostSteppers, leastStepped = 8, 32

//go:noescape
func stepAVX2(lines *uint32, n int, steppers *stepper, k int)

// stepper makes a mover one.
func (v mover) stepper() stepper {
	k := trailing(uint64(v.step))
	odd := v.step >> k
	inverse := odd // in its lowest 3 bits: each round doubles them
	for range 4 {
		inverse *= 2 - odd*inverse
	}
	most := math.MaxUint32 / v.step
	return stepper{v.low, v.size, v.by, inverse, uint32(k), uint32(32 - k), most, 0}
}

// stepLines moves lines by movers of any step, as many as it can with vectors, and
// returns the others.
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
