package proofs

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// tilesOf draws levels and a nest over tiles of matrices, each walked by rows or by columns, and
// of vectors.
func tilesOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	levels := []engine.Level{{Sets: 1 << d(4), Ways: 1 + d(8), Shift: 4}}
	if d.One(4) {
		levels[0] = engine.Level{Sets: 1 + d(12), Ways: 1 + d(16), Shift: 4}
	}
	for range d(3) {
		before := levels[len(levels)-1]
		levels = append(levels, engine.Level{Sets: before.Sets << d(2), Ways: before.Ways + d(10), Shift: 4})
	}
	outer, inner := []int{1 + d(9), 2 + d(12)}, []int{1 + d(9), 1 + d(9)}
	n := nest.Nest{Trips: slices.Concat(outer, inner)}
	for r := range 1 + d(3) {
		width := 1 << d(4)
		op := nest.Operand{Kind: nest.Kind(d(2)), Base: enginetest.At + uint64(r)<<26 + uint64(width*d(32)), Width: width}
		a, b := width, width*outer[0]*inner[0] // strides of the first and the second of a pair of loops
		if d.One(2) {
			a, b = width*outer[1]*inner[1], width
		}
		switch d(8) {
		case 0: // a vector
			a = 0
		case 1:
			b = 0
		case 2: // elements that lie apart
			a, b = 2*a, 2*b
		case 3:
			b += width * d(9)
		}
		op.Strides = []int{a * inner[0], b * inner[1], a, b}
		if d.One(4) {
			op.Strides = []int{b * inner[1], a * inner[0], b, a}
			n.Trips = []int{outer[1], outer[0], inner[1], inner[0]}
			for k := range n.Operands {
				n.Operands[k].Strides = []int{n.Operands[k].Strides[1], n.Operands[k].Strides[0], n.Operands[k].Strides[3], n.Operands[k].Strides[2]}
			}
			outer, inner = []int{outer[1], outer[0]}, []int{inner[1], inner[0]}
		}
		if d.One(12) { // upwards
			first, _ := op.Reach(n.Trips)
			m := d(4)
			op.Strides[m] = -op.Strides[m]
			low, _ := op.Reach(n.Trips)
			op.Base += first - low
		}
		n.Operands = append(n.Operands, op)
	}
	return levels, n
}
