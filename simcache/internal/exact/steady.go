package exact

import (
	"cmp"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// Missing returns how many levels, the nearest ones, may miss in a pass over nests that is repeated
// many times. The whole working set fits in the next level. All first touches miss before it, so
// each line reaches it in the first pass, and stays. Later passes have no misses there, and send
// nothing beyond.
func Missing(levels []engine.Level, nests []nest.Nest) int {
	for i, l := range levels {
		if hasRoom(l, nests) {
			return i
		}
	}
	return len(levels)
}

// hasRoom reports whether no set of a level gets more lines of nests than it has ways. A range of
// lines gives a set one line for each round over the sets, and one more. Ranges that overlap, or
// are few sets apart, count as one.
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

// Steady returns the misses of a repeated pass over a canonical nest, once all passes are equal
// (see simcache.SteadyPass), if reuse intervals decide them. The misses of operand r in level i are
// at r*len(levels)+i. Otherwise passes is the number of passes to simulate until then.
func Steady(levels []engine.Level, n nest.Nest) (misses []uint64, passes int) {
	passes = len(levels) + 1
	if accessesOf(n) < intervalsFrom {
		return nil, passes
	}
	return steady(levels, n)
}

// steady is Steady for a nest of any size.
func steady(levels []engine.Level, n nest.Nest) (misses []uint64, passes int) {
	passes = len(levels) + 1
	many := n.Repeat(passes).Canonical()
	refs, ok := operandsOf(levels, many)
	if !ok {
		return nil, passes
	}
	misses, first, ok := reuseIntervals(levels, slices.Clone(refs), passes)
	switch {
	case ok && first:
		return misses, 0
	case alike(levels, refs):
		return nil, 1
	}
	return nil, passes
}

// alike reports whether in all passes the same accesses miss.
//
//  1. An access that is not the first of its line in a pass has the same window in each pass.
//  2. Say that each line is evicted from a level before the next pass touches it.
//  3. Then the first accesses of lines miss in each pass, as in the first one.
//  4. So the next level receives the same accesses in each pass.
func alike(levels []engine.Level, refs []operand) bool {
	for i := range levels {
		l, next := &level{Level: levels[i]}, slices.Clone(refs)
		for r := range refs {
			next[r].misses = never
			for _, p := range refs[r].patterns {
				if p.lead == 0 {
					next[r].misses = min(next[r].misses, p.least)
				}
			}
			if !l.thrashes(refs, next[r].misses-1) {
				return false
			}
		}
		refs = next
	}
	return true
}
