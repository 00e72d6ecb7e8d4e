package exact

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// Missing is how many of the levels, the nearest ones, may miss in a pass over nests that is made
// again and again. The level after them has room for all that the nests touch. All first touches
// miss in the levels before it, so that every line comes to it in the first pass, and stays. In the
// passes after, it misses nothing, and nothing comes to the levels after it.
func Missing(levels []engine.Level, nests []nest.Nest) int {
	for i, l := range levels {
		if hasRoom(l, nests) {
			return i
		}
	}
	return len(levels)
}

// hasRoom reports whether no set of a level gets more lines of nests than it has ways. Of each
// stretch of lines that operands reach, a set gets one for each time that the stretch goes around
// the sets, and one more. Stretches that overlap, or lie few sets apart, count as one.
func hasRoom(l engine.Level, nests []nest.Nest) bool {
	type stretch struct{ first, last uint64 }
	var all []stretch
	for _, n := range nests {
		if n.Iterations() == 0 {
			continue
		}
		for _, op := range n.Operands {
			first, last := op.Reach(n.Trips)
			all = append(all, stretch{first >> l.Shift, last >> l.Shift})
		}
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.first, b.first) })
	most := 0
	for i := 0; i < len(all); {
		one := all[i]
		for i++; i < len(all) && all[i].first <= one.last+1+uint64(l.Sets)/8; i++ {
			one.last = max(one.last, all[i].last)
		}
		most += int((one.last-one.first)/uint64(l.Sets)) + 1
	}
	return most <= l.Ways
}
