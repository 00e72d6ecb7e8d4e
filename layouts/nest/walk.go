package nest

import "iter"

// Walk yields, for every index of the trips in row-major order, the loop whose step leads there.
// Loop l goes to its next iteration, and all loops inside it restart. The first index yields -1.
// All walks use this odometer:
//
//	for l := range nest.Walk(trips) {
//		if l >= 0 {
//			at += by[l] // see Steps
//		}
//		...
//	}
//
// It yields once without loops, and never if any trip is 0.
func Walk(trips []int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, t := range trips {
			if t <= 0 {
				return
			}
		}
		left := make([]int, len(trips)) // remaining iterations of each loop
		for l, t := range trips {
			left[l] = t - 1
		}
		l := -1
		for yield(l) {
			for l = len(trips) - 1; l >= 0 && left[l] == 0; l-- {
				left[l] = trips[l] - 1
			}
			if l < 0 {
				return
			}
			left[l]--
		}
	}
}

// Steps returns how far each loop's step moves a walk with these strides. The step restarts all
// loops inside it.
func Steps(trips, strides []int) []int {
	steps := make([]int, len(trips))
	back := 0
	for l := len(trips) - 1; l >= 0; l-- {
		steps[l] = strides[l] - back
		back += strides[l] * (trips[l] - 1)
	}
	return steps
}

// Accesses yields W(n): the operand's number and the address of every access, in order.
func (n Nest) Accesses() iter.Seq2[int, uint64] { return n.program().Accesses() }

// GCD returns the greatest common divisor of the absolute values of a and b. GCD(0, 0) is 0.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// UpTo returns 0, 1, ... n-1.
func UpTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
