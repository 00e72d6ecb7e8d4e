package cost

import (
	"math"
	"slices"

	"github.com/stridebench/stridebench/access/probe"
)

// cachesAlone is a measured machine with the latencies of its caches alone: without what translations took there, where that was measured,
// since those of what is predicted are added.
func cachesAlone(m probe.Machine) probe.Machine {
	measured, before := m.Ladder, 0
	m.Ladder, m.Levels = slices.Clone(m.Ladder), slices.Clone(m.Levels)
	alone := func(ns, bytes float64) float64 { return max(ns-translated(m, bytes), ns*leastAlone) }
	for i, p := range measured {
		m.Ladder[i].Ns = alone(p.Ns, float64(p.Size))
	}
	for i, l := range m.Levels {
		m.Levels[i].Latency = alone(l.Latency, reached(measured, before, l.Capacity, l.Latency))
		before = l.Capacity
	}
	m.Memory.Latency = alone(m.Memory.Latency, reached(measured, before, math.MaxInt, m.Memory.Latency))
	return m
}

// leastAlone is the share of a latency that is the cache's own at least, whatever translations took at another moment.
const leastAlone = .5

// reached is the working set, more than one and not more than another, whose latency is nearest to one.
func reached(ladder []probe.Point, above, most int, ns float64) (bytes float64) {
	off := math.Inf(1)
	for _, p := range ladder {
		if d := math.Abs(p.Ns - ns); p.Size > above && p.Size <= most && d < off {
			bytes, off = float64(p.Size), d
		}
	}
	return bytes
}

// translated is what translations took of a chase over so many bytes of the ladder's memory.
func translated(m probe.Machine, bytes float64) float64 {
	var entries []int
	for _, t := range m.TLB {
		entries = append(entries, t.Entries)
	}
	return translating(m.HugeLadder, entries, bytes/float64(probe.PageSize()))
}

// translating is the ns that translations add to a load of a chase through so many pages, line by line in random order: a level misses those
// that it has no entry for, at what a ladder of pages says that they take beyond twice its entries; beyond those of the last level page
// tables leave the caches, so that a miss takes longer the more pages there are.
func translating(ladder []probe.Point, entries []int, pages float64) (sum float64) {
	nearer := within(ladder, 0)
	for i, n := range entries {
		has := float64(n)
		beyond := 2 * has
		if i == len(entries)-1 {
			beyond = max(beyond, pages)
		}
		missed := within(ladder, beyond)
		if pages > has {
			sum += max(0, missed-nearer) * (1 - has/pages)
		}
		nearer = max(nearer, missed)
	}
	return sum
}

// within is the time of a ladder at a size, that of its end for what lies outside.
func within(ladder []probe.Point, size float64) float64 {
	ns, between := at(ladder, size)
	switch last := len(ladder) - 1; {
	case between:
		return ns
	case last >= 0 && size > float64(ladder[last].Size):
		return ladder[last].Ns
	case last >= 0:
		return ladder[0].Ns
	}
	return 0
}

// streaming is what translations took of each line of a stream that goes round over so many bytes of memory such as the ladder's: as much as
// was measured of small pages side by side, of as many as that memory takes translations.
func streaming(m probe.Machine, bytes float64) float64 {
	last := len(m.TLB) - 1
	if last < 0 {
		return 0
	}
	has, pages := float64(m.TLB[last].Entries), bytes/float64(probe.PageSize())
	missed := between(within(m.HugeLadder, pages), within(m.PageLadder, has), within(m.PageLadder, 2*has))
	return missed * m.TLB[last].Apart * line / float64(probe.PageSize())
}
