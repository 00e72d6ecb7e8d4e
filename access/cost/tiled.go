package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts/nest"
)

// tiled returns the ns of one read line plus one written line of memory, beyond the loop. It
// applies if the nest walks a tile of a transposed matrix like the measured ones. The result is at
// least the time of two streams, which all cores may share.
func (m Model) tiled(p access.Pattern, n nest.Nest, visits []visit) (ns float64, known bool) {
	if len(m.Times.Tiles) == 0 || len(visits) != 2 || len(n.Trips) < 3 ||
		visits[0].written() == visits[1].written() {
		return 0, false
	}
	inner := len(n.Trips) - 1
	i := slices.IndexFunc(visits, func(v visit) bool {
		return abs(v.op.Strides[inner]) >= samePage
	})
	if i < 0 {
		return 0, false
	}
	size, stepped, along := p.Spec.DType.Size(), visits[i], visits[1-i]
	if stepped.vectors || stepped.crowded || along.crowded ||
		abs(along.op.Strides[inner]) != size ||
		abs(stepped.op.Strides[inner-1]) != size || abs(along.op.Strides[inner-1]) < samePage {
		return 0, false
	}
	// in bytes of a row
	steps, rows := float64(n.Trips[inner]*size)/measuredBytes,
		float64(n.Trips[inner-1]*size)/measuredBytes
	if ns, known = m.Times.tile(stepped.written(), steps, rows); !known {
		return 0, false
	}
	from := m.serving(len(m.Caches.Levels) - 1)
	return max(2*from.Line+from.Stored, beyond(ns, m.Times.Hit*m.body(p, n)*line/measuredBytes,
		m.rules().Overlap)), true
}

const measuredBytes = 4

// mostTile is the factor by which a tile may exceed the measured rows or columns. The inner loop of
// a larger tile does not fit in any first level.
const mostTile = 4

// tile interpolates the measured tiles in the logarithms of rows and columns. The inner loop takes
// steps from row to row of the written or the read tensor, and the loop around it takes around.
// Smaller tiles take the nearest measured value. Far larger tiles are not known.
func (t Times) tile(written bool, steps, around float64) (ns float64, measured bool) {
	rows, columns := steps, around
	if !written { // the inner loop runs along rows of the written tensor
		rows, columns = around, steps
	}
	high, wide, known := []int{}, []int{}, map[[2]int]float64{}
	for _, m := range t.Tiles {
		if (m.Order == access.Col.String()) == written {
			high, wide = append(high, m.Rows), append(wide, m.Columns)
			known[[2]int{m.Rows, m.Columns}] = math.Log(m.Ns)
		}
	}
	if len(known) == 0 || rows > mostTile*float64(slices.Max(high)) ||
		columns > mostTile*float64(slices.Max(wide)) {
		return 0, false
	}
	up, down, between := neighbours(high, rows)
	left, right, across := neighbours(wide, columns)
	measured = true
	corner := func(rows, columns int) float64 {
		log, ok := known[[2]int{rows, columns}]
		measured = measured && ok
		return log
	}
	mix := func(a, b, part float64) float64 { return a + part*(b-a) }
	log := mix(mix(corner(up, left), corner(up, right), across),
		mix(corner(down, left), corner(down, right), across), between)
	return math.Exp(log), measured
}

// neighbours returns the values on both sides of value, and its position between their logarithms.
// Outside the list, both are the first or the last.
func neighbours(of []int, value float64) (below, above int, part float64) {
	below, above = slices.Min(of), slices.Max(of)
	for _, v := range of {
		if float64(v) <= value {
			below = max(below, v)
		}
		if float64(v) >= value {
			above = min(above, v)
		}
	}
	if below >= above {
		return above, above, 0
	}
	return below, above, min(1, max(0, math.Log(value/float64(below))/math.Log(
		float64(above)/float64(below))))
}
