package probe

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/simcache"
)

// stated are the data caches that a machine says it has, the nearest first.
func stated(caches []simcache.Cache) (data []simcache.Cache) {
	for _, c := range caches {
		if c.Type != "Instruction" {
			data = append(data, c)
		}
	}
	slices.SortStableFunc(data, func(a, b simcache.Cache) int { return cmp.Compare(a.Level, b.Level) })
	return data
}

// name makes levels of the plateaus of the ladder, each named as the stated cache
// that it is. What lies behind the last of them is the memory; if there is but
// one plateau, it is a level, and the memory is unknown.
func (m *Machine) name(found []plateau, stated []simcache.Cache) {
	if last := len(found) - 1; last > 0 {
		m.Memory.Latency = found[last].ns
		found = found[:last]
	}
	next := 0
	for i, p := range found {
		l := Level{Name: fmt.Sprintf("L%d", i+1), Capacity: m.Ladder[p.capacity].Size, Speed: Speed{Latency: p.ns}}
		if k := nearest(l.Capacity, stated, next, len(found)-i); k >= 0 {
			l.Name, l.Stated, next = levelName(stated[k]), stated[k].Geometry.Size, k+1
		}
		m.Levels = append(m.Levels, l)
	}
}

// nameTLB makes levels of the TLB of the plateaus of the page ladder. Behind the
// last of them the page tables are walked, which takes longer still where these
// leave the caches: no more levels are taken than are stated, if any are.
func (m *Machine) nameTLB(stated int) {
	found := plateaus(m.PageLadder)
	levels := len(found) - 1
	if stated > 0 {
		levels = min(levels, stated)
	}
	for i, p := range found[:levels] {
		m.TLB = append(m.TLB, Reach{Entries: m.PageLadder[p.capacity].Size, Miss: found[i+1].ns - p.ns})
	}
}

// nearest is the stated cache, from the next one on, whose size is nearest to a
// capacity, such that enough are left for the levels that are left, this one
// among them; where they are too few, it is the next one, and -1 if there is none.
func nearest(capacity int, stated []simcache.Cache, next, left int) int {
	if next >= len(stated) {
		return -1
	}
	best := next
	for k := next; k <= len(stated)-left; k++ {
		off := func(k int) float64 {
			return math.Abs(math.Log(float64(stated[k].Geometry.Size) / float64(capacity)))
		}
		if off(k) < off(best) {
			best = k
		}
	}
	return best
}

// levelName is L1D, L2, L3.
func levelName(c simcache.Cache) string {
	if c.Level == 1 {
		return "L1D"
	}
	return fmt.Sprintf("L%d", c.Level)
}

// simulate makes the caches to simulate: those that are stated, where the
// measured capacity is as good as theirs, else with a size such as was measured
// and about their ways. Sets are a power of two, as Cachegrind's.
func (m *Machine) simulate(o Options) {
	m.Simulated = simcache.Config{I1: simcache.Choose(o.Caches).I1.Geometry}
	for i, l := range m.Levels {
		g := simcache.Geometry{Ways: 8, Line: line}
		for _, c := range stated(o.Caches) {
			if levelName(c) == l.Name {
				g = c.Geometry
			}
		}
		if g.Size == 0 || !near(l.Capacity, g.Size) {
			g.Size = l.Capacity
		}
		if g = g.Rounded(); g.Check() != nil { // fewer lines than ways
			g = simcache.Geometry{Size: l.Capacity, Ways: l.Capacity / line, Line: line}
		}
		m.Simulated.Levels = append(m.Simulated.Levels, simcache.Level{Name: m.Levels[i].Name, Geometry: g})
	}
	if len(m.Simulated.Levels) < 2 {
		m.Simulated.I1 = simcache.Geometry{} // whose misses have no level to go to
	}
	for i, r := range m.TLB {
		t := simcache.TLB{Entries: r.Entries, Ways: r.Entries, Page: PageSize}
		if i < len(o.TLB) {
			if of := o.TLB[i].TLB; near(r.Entries, of.Entries) {
				t = of
			} else if r.Entries >= of.Ways {
				t.Entries, t.Ways = r.Entries/of.Ways*of.Ways, of.Ways
			}
		}
		m.Simulated.TLB = append(m.Simulated.TLB, t)
	}
}
