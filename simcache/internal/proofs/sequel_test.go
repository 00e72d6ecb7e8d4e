package proofs

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// pagedOf draws two levels and a nest over tiles, of which some operands stay in their lines from tile to tile
// and others leave them: of the lines of a tile, and of those of some, about as many as a level has.
func pagedOf(d enginetest.Draw) ([]engine.Level, nest.Nest) {
	if d.One(3) {
		levels, n := tilesOf(d)
		l := levels[0]
		return append(levels[:1], engine.Level{Sets: l.Sets + d(3)*l.Sets, Ways: l.Ways + d(5), Shift: 4}), n
	}
	a, b := 2+d(4), 2+d(6)
	n := nest.Nest{Trips: []int{1 + d(5), 2 + d(20), a, b}}
	shift := uint(5 + d(3))
	for r := range 1 + d(3) {
		pitch := 4 * (1<<shift/4 + d(100))
		op := nest.Operand{Base: enginetest.At + uint64(r)<<26 + uint64(4*d(32)), Width: 4}
		switch {
		case r == 0 || d.One(3):
			op.Strides = []int{pitch * a, 4 * b, pitch, 4}
		case d.One(3):
			op.Strides = []int{pitch * b, 4 * a, 4, pitch}
		case d.One(3):
			op.Strides = []int{0, 4 * b, 0, 4}
		default:
			op.Strides = []int{4 * a, pitch * b, 4, pitch}
		}
		n.Operands = append(n.Operands, op)
	}
	slices.SortFunc(n.Operands, func(nest.Operand, nest.Operand) int { return d(3) - 1 })
	first := engine.Level{Sets: 1 << d(3), Shift: shift}
	if d.One(4) {
		first.Sets = 1 + d(6)
	}
	first.Ways = max(1, (a+b)*(2+d(8))/4/first.Sets)
	last := engine.Level{Sets: first.Sets << d(2), Shift: shift}
	if d.One(4) {
		last.Sets = 1 + d(8)
	}
	last.Ways = max(1, (a+b)*(3+d(10))/last.Sets)
	return []engine.Level{first, last}, n
}
