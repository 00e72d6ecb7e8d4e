package simcache

import (
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
)

// SteadyRing is SteadyPass of passes over single reads of size bytes at the addresses, in their
// order. It refuses what NewHierarchy refuses.
//
// If no two of them are in one line, nothing is simulated. Between two reads of a line, in one pass
// and in the next, all others are read: it hits if its set gets no more lines than it has ways, and
// misses if it gets more. What misses comes to the next level once a pass again.
func SteadyRing(c Config, size int, addrs []uint64) (Counts, error) {
	if c.Brute || c.ZeroTags || len(c.TLB) > 0 || c.Check() != nil || !c.lone() ||
		!c.apart(size, addrs) {
		return c.simulateRing(size, addrs)
	}
	n := nest.Nest{Trips: []int{len(addrs)}, Operands: []nest.Operand{{Width: size,
		Kind: nest.Read}}}
	var misses []uint64
	addrs, sets := slices.Clone(addrs), make([]uint32, len(addrs))
	for _, l := range c.Levels {
		level := l.shape()
		lines := make([]uint32, level.Sets)
		for i, addr := range addrs {
			set := addr >> level.Shift % uint64(level.Sets)
			sets[i] = uint32(set)
			lines[set]++
		}
		missed := addrs[:0]
		for i, addr := range addrs {
			if lines[sets[i]] > uint32(level.Ways) {
				missed = append(missed, addr)
			}
		}
		addrs, misses = missed, append(misses, uint64(len(missed)))
	}
	return countsOf(n, misses, len(misses))[0], nil
}

// apart reports whether no two reads touch one line, of any level, and none touches two.
func (c Config) apart(size int, addrs []uint64) bool {
	longest := 0
	for _, l := range c.Levels {
		longest = max(longest, l.Line)
		for _, addr := range addrs {
			if addr%uint64(l.Line)+uint64(size) > uint64(l.Line) {
				return false
			}
		}
	}
	if len(addrs) == 0 {
		return true
	}
	first, last := slices.Min(addrs)/uint64(longest), slices.Max(addrs)/uint64(longest)
	if last-first >= maxBlocks {
		return false
	}
	seen := make([]bool, last-first+1)
	for _, addr := range addrs {
		at := addr/uint64(longest) - first
		if seen[at] {
			return false
		}
		seen[at] = true
	}
	return true
}

// maxBlocks is over how many lines reads may lie for SteadyRing to look for two in one: a byte for
// each.
const maxBlocks = 1 << 28

// simulateRing is SteadyRing by as many passes as that takes.
func (c Config) simulateRing(size int, addrs []uint64) (pass Counts, err error) {
	h, err := NewHierarchy(c)
	if err != nil {
		return Counts{}, err
	}
	for range len(c.Levels) + 1 {
		before := h.Counts()
		for _, addr := range addrs {
			h.Access(nest.Read, addr, size)
		}
		pass = h.Counts().Sub(before)
	}
	return pass, nil
}
