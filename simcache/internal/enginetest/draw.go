// Package enginetest draws levels and nests for the tests of the engines, and compares contents.
package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// At is an address near 1 GiB.
const At = 1 << 30

// Operand returns an operand at an offset from At.
func Operand(place, width int, strides ...int) nest.Operand {
	return nest.Operand{Base: uint64(At + place), Width: width, Strides: strides}
}

// A Draw returns a random number from 0 to n-1.
type Draw func(n int) int

// Random returns a random Draw.
func Random(seed, stream uint64) Draw { return rand.New(rand.NewPCG(seed, stream)).IntN }

// One returns true once in n times.
func (d Draw) One(n int) bool { return d(n) == n-1 }

// Of draws one of the numbers.
func (d Draw) Of(list ...int) int { return list[d(len(list))] }

func (d Draw) shift() uint {
	if d.One(3) {
		return uint(d(4))
	}
	return uint(4 + d(3))
}

// Levels draws 1 to 3 levels, mostly two with one line size.
func (d Draw) Levels() []engine.Level {
	shift := d.shift()
	count := 2
	if d.One(2) {
		count = 1 + d(3)
	}
	var specs []engine.Level
	sets := 1
	for range count {
		sets = max(1, sets*(1+d(3)))
		if d(3) > 0 {
			sets = 1 << d(6)
		}
		s := engine.Level{Sets: sets, Ways: 1 + d(8), Shift: shift}
		if d.One(6) {
			s.Shift = d.shift()
		}
		specs = append(specs, s)
	}
	return specs
}

// Nest draws 0 to 4 loops around 1 to 3 operands, with at most most accesses. Operands may overlap,
// touch, lie apart, or share strides.
func (d Draw) Nest(specs []engine.Level, most int) nest.Nest {
	line := 1 << specs[0].Shift
	for _, s := range specs {
		line = min(line, 1<<s.Shift)
	}
	var n nest.Nest
	for range d(5) {
		trips := 1 + d(6)
		if d.One(2) {
			trips += d(100)
		}
		n.Trips = append(n.Trips, trips)
	}
	width := min(1<<d(5), line)
	sets := specs[d(len(specs))].Sets
	apart, alike := d.One(2), d.One(2)
	for k := range 1 + d(3) {
		op := nest.Operand{Kind: nest.Kind(d(3)), Base: 1<<30 + uint64(d(8*line)), Width: width}
		if apart {
			op.Base += uint64(k) << 24
		}
		if d.One(4) {
			op.Width = 1 + d(line)
		}
		op.Strides = make([]int, len(n.Trips))
		inner := width
		for l := len(n.Trips) - 1; l >= 0; l-- {
			choices := []int{0, width, -width, line, -line, 2 * line, 3 * line, sets * line,
				-sets * line, sets*line + width, sets*line + line,
				d(3 * line), -d(3 * line), inner, inner, -inner, inner + width, inner + line}
			op.Strides[l] = choices[d(len(choices))]
			if alike && k > 0 && d(8) > 0 {
				op.Strides[l] = n.Operands[0].Strides[l]
			}
			if inner = op.Strides[l] * n.Trips[l]; inner > 1<<18 || inner < -1<<18 {
				inner = width
			}
		}
		n.Operands = append(n.Operands, op)
	}
	for n.Iterations()*len(n.Operands) > most {
		l := d(len(n.Trips))
		if n.Trips[l] == 1 {
			l = slices.Index(n.Trips, slices.Max(n.Trips))
		}
		n.Trips[l] = (n.Trips[l] + 1) / 2
	}
	return n
}

// Wide makes some operands of a nest up to five lines wide.
func (d Draw) Wide(n nest.Nest, levels []engine.Level) nest.Nest {
	for r := range n.Operands {
		if d.One(2) {
			n.Operands[r].Width = 1 + d(5<<levels[d(len(levels))].Shift)
		}
	}
	return n
}

// Straddling draws 0 to 4 loops around 1 to 4 operands, with at most most iterations. Strides are
// zero, negative, odd, shorter and longer than a line, and sometimes fusible. Operands may overlap
// and straddle lines.
func (d Draw) Straddling(line, most int) nest.Nest {
	var n nest.Nest
	for range d(5) {
		n.Trips = append(n.Trips, d(7)+d(2)*d(20))
	}
	width := 1 << d(5)
	for range 1 + d(4) {
		op := nest.Operand{Kind: nest.Kind(d(3)), Base: 1<<32 + uint64(d(4*line)),
			Width: min(width, line)}
		if d.One(2) {
			op.Base = 1<<32 + uint64(d(64)*line)
		}
		if d.One(4) {
			op.Width = 1 + d(line)
		}
		op.Strides = make([]int, len(n.Trips))
		inner := 1
		for l := len(n.Trips) - 1; l >= 0; l-- {
			choices := []int{0, width, -width, 2 * width, line, -line, 8 * line, 16 * line,
				16*line + width, 1 + d(3*line), -d(3 * line), inner, inner}
			op.Strides[l] = choices[d(len(choices))]
			inner = op.Strides[l] * n.Trips[l]
		}
		n.Operands = append(n.Operands, op)
	}
	for n.Iterations() > most {
		l := d(len(n.Trips))
		n.Trips[l] = (n.Trips[l] + 1) / 2
	}
	return n
}

// Contents returns where levels and the reference hold different blocks, "" if nowhere.
func Contents(levels []engine.Level, got interface {
	Contents(list []uint64, level, set int) []uint64
}, want *reference.Caches) string {
	for level, l := range levels {
		for set := range l.Sets {
			if have, want := got.Contents(nil, level, set),
				want.Contents(level, set); !slices.Equal(have, want) {
				return fmt.Sprintf("set %d of level %d holds %v, want %v", set, level, have, want)
			}
		}
	}
	return ""
}
