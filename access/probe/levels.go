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
// that it can be. What lies behind the last of them is the memory; if there is but
// one plateau, it is a level, and the memory is unknown.
//
// A level serves no more than its stated size, but for the grid of the ladder. Where
// a stated level shows no plateau, as one of which little is left does not, the
// knee before the next plateau is not the level's before it, but that of the hidden
// one: up to there the two serve together. The level's own is then the last point
// with a latency that is not another level's (own), and the points from there to
// the knee are the hidden level, if they are enough.
func (m *Machine) name(found []plateau, stated []simcache.Cache) {
	behind := plateau{ns: math.Inf(1)}
	if last := len(found) - 1; last > 0 {
		behind, found = found[last], found[:last]
		m.Memory.Latency = behind.ns
	}
	which, number := m.match(found, stated), 0
	for i, p := range found {
		k, next, after := which[i], behind, len(stated)
		if i+1 < len(found) {
			next = found[i+1]
			if which[i+1] >= 0 {
				after = which[i+1]
			}
		}
		if k < 0 {
			number = max(number, i) + 1
			m.Levels = append(m.Levels, Level{Name: fmt.Sprintf("L%d", number), Capacity: m.Ladder[p.capacity].Size, Speed: Speed{Latency: p.ns}})
			continue
		}
		number = stated[k].Level
		end := p.capacity
		hidden := k+1 < after
		if hidden || beyond(m.Ladder[end].Size, stated[k]) {
			end = own(m.Ladder, p)
		}
		m.addLevel(stated[k], m.Ladder[end].Size, p.ns)
		if between := m.Ladder[end+1 : p.capacity+1]; hidden && len(between) >= leastLast {
			if ns := median(between); ns >= leastRise*p.ns && next.ns >= leastRise*ns {
				m.addLevel(stated[k+1], m.Ladder[p.capacity].Size, ns)
			}
		}
	}
}

// addLevel adds a stated level with what was found of it.
func (m *Machine) addLevel(c simcache.Cache, capacity int, ns float64) {
	size := c.Geometry.Size
	m.Levels = append(m.Levels, Level{Name: levelName(c), Stated: size, Capacity: min(capacity, size), Speed: Speed{Latency: ns}})
}

// beyond tells whether a working set is too large for a level that serves it: by
// more than the step of the ladder there, a quarter at most.
func beyond(size int, c simcache.Cache) bool { return 4*size > 5*c.Geometry.Size }

func median(points []Point) float64 {
	var ns []float64
	for _, p := range points {
		ns = append(ns, p.Ns)
	}
	slices.Sort(ns)
	return (ns[(len(ns)-1)/2] + ns[len(ns)/2]) / 2
}

// match finds the stated cache of each plateau, -1 where none can be it: of those
// that are not smaller than what it serves itself the one whose size is nearest, in
// the middle between that and its knee, such that enough are left for the plateaus
// that are left.
func (m *Machine) match(found []plateau, stated []simcache.Cache) []int {
	var which []int
	next := 0
	for i, p := range found {
		serves := m.Ladder[own(m.Ladder, p)].Size
		middle := math.Sqrt(float64(serves) * float64(m.Ladder[p.capacity].Size))
		best, off := -1, math.Inf(1)
		for k := next; k < len(stated); k++ {
			if beyond(serves, stated[k]) || best >= 0 && k > len(stated)-(len(found)-i) {
				continue
			}
			if d := math.Abs(math.Log(float64(stated[k].Geometry.Size) / middle)); d < off {
				best, off = k, d
			}
		}
		which = append(which, best)
		if best >= 0 {
			next = best + 1
		}
	}
	return which
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
