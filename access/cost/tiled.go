package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts/nest"
)

// tiled is the ns of a line that is read and one that is written, of memory, beyond what the
// loop is said to take beside them, where the nest walks a tile of a transposed matrix as those
// that were measured. It is no less than such lines take of streams, of which all cores may
// have less each.
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
	// By the bytes of a row.
	steps, rows := float64(n.Trips[inner]*size)/measuredBytes,
		float64(n.Trips[inner-1]*size)/measuredBytes
	if ns, known = m.Times.tile(stepped.written(), steps, rows); !known {
		return 0, false
	}
	from := m.serving(len(m.Caches.Levels) - 1)
	return max(2*from.Line+from.Stored, beyond(ns, m.Times.Hit*m.body(p, n)*line/measuredBytes,
		m.rules().Overlap)), true
}

// measuredBytes are those of an element of the tiles that were measured.
const measuredBytes = 4

// mostTile is by how much more rows or columns a tile may have than those that were measured:
// what the inner loop of a larger one goes over stays in no first level.
const mostTile = 4

// tile is what was measured of a tile whose inner loop has so many steps from row to row, of
// what is written or read, and the loop around it so many; between those that were measured by
// their logarithms. Smaller ones take what the nearest does, and far larger ones are not known.
func (t Times) tile(written bool, steps, around float64) (ns float64, measured bool) {
	rows, columns := steps, around
	if !written { // the inner loop goes along rows of what is written
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

// neighbours are the nearest values on both sides of one, and how far it is from the first
// to the second, by their logarithms; twice the last one or the first beyond these.
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
