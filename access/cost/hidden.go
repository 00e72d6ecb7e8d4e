package cost

import (
	"slices"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts"
)

// This file says how much of what streams a loop hides: more than of other lines on CPUs whose prefetchers run far ahead.

// leastAlike is the share of the longer of a loop and its memory that the shorter is at least, for what they take together to
// tell how much of it is hidden; and mostOrder as good as all.
const leastAlike, mostOrder = .5, 16

// hidden is the order of the norm that loops take together with memory that streams, as plain loops over int32 tell: the one in the middle of a
// sum's, a fill's and a copy's, as far as loop and memory are alike. It is 0 where that was not measured.
func hidden(m probe.Machine) float64 {
	var orders []float64
	for _, of := range m.Streamed {
		for _, l := range m.Loops {
			if loop := l.Run * line / 4; l.Op == of.Op && l.DType == layouts.Int32 && of.Ints > 0 && min(loop, of.Ns) >= leastAlike*max(loop, of.Ns) {
				orders = append(orders, orderOf(loop, of.Ns, of.Ints))
			}
		}
	}
	if len(orders) == 0 {
		return 0
	}
	slices.Sort(orders)
	return orders[len(orders)/2]
}

// orderOf is the order of the norm of two that is so much: 1 if it is their sum or more.
func orderOf(a, b, norm float64) float64 {
	least, most := 1.0, float64(mostOrder)
	for range 50 {
		if middle := (least + most) / 2; together(a, b, middle) > norm {
			least = middle
		} else {
			most = middle
		}
	}
	return most
}

// overlap is the order of the norm that a loop takes together with memory of which such a share streams.
func (m Model) overlap(streams float64) float64 {
	order := m.rules().Overlap
	if m.Times.Hidden > 0 {
		order += streams * (m.Times.Hidden - order)
	}
	return order
}
