package probe

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

func stated(caches []cpu.Cache) (data []cpu.Cache) {
	for _, c := range caches {
		if !c.Instruction() && c.Geometry.Size > 0 {
			data = append(data, c)
		}
	}
	slices.SortStableFunc(data, func(a, b cpu.Cache) int { return cmp.Compare(a.Level, b.Level) })
	return data
}

// name makes levels of the ladder's plateaus and names them after matching stated caches. The
// plateau after the last level is the memory. A single plateau is a level, and the memory is then
// unknown.
//
// A level serves at most its stated size, within the grid of the ladder. A stated level may have no
// plateau if little of it is available. The knee before the next plateau then belongs to this
// hidden level, since both levels serve loads up to there. The plateau's level ends at the last
// point before another level's latency appears (own). The points from there to the knee are the
// hidden level, if there are enough.
func (m *Machine) name(found []plateau, stated []cpu.Cache) {
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
			m.Levels = append(m.Levels, Level{Name: fmt.Sprintf("L%d", number),
				Capacity: m.Ladder[p.capacity].Size, Speed: Speed{Latency: p.ns}})
			continue
		}
		number = stated[k].Level
		end := p.capacity
		hidden := k+1 < after
		if hidden || beyond(m.Ladder[end].Size, stated[k]) {
			end = own(m.Ladder, p)
		}
		m.addLevel(stated[k], end, p.ns)
		if between := m.Ladder[end+1 : p.capacity+1]; hidden && len(between) >= leastLast {
			if ns := median(between); ns >= leastRise*p.ns && next.ns >= leastRise*ns {
				m.addLevel(stated[k+1], p.capacity, ns)
			}
		}
	}
}

func (m *Machine) addLevel(c cpu.Cache, end int, ns float64) {
	size := c.Geometry.Size
	capacity := min(agreed(m.Ladder, end, size), size)
	l := Level{Name: levelName(c), Stated: strict.Size(size), Capacity: strict.Size(capacity)}
	l.Latency = ns
	m.Levels = append(m.Levels, l)
}

// agreed returns the size of point i, or the stated size if the ladder cannot distinguish them. The
// stated size then lies before the next point, or less than a step before this one.
func agreed(ladder []Point, i, stated int) int {
	size := int(ladder[i].Size)
	before := size <= stated && 4*stated <= 5*size && i+1 < len(ladder) &&
		stated < int(ladder[i+1].Size)
	if after := size > stated && 4*size <= 5*stated; before || after {
		return stated
	}
	return size
}

// beyond reports whether a working set is too large for a level: by more than a step of the ladder,
// which is at most a quarter.
func beyond(size strict.Size, c cpu.Cache) bool { return 4*int(size) > 5*c.Geometry.Size }

func median(points []Point) float64 {
	var ns []float64
	for _, p := range points {
		ns = append(ns, p.Ns)
	}
	return middle(ns)
}

// match returns the stated cache of each plateau, or -1 for none. The cache must not be smaller
// than what the plateau serves alone. Its size must be nearest to the middle between that and the
// knee, and enough caches must remain for the remaining plateaus.
func (m *Machine) match(found []plateau, stated []cpu.Cache) []int {
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

// nameTLB makes TLB levels of the page ladder's plateaus, at most the stated number if any are
// stated. Page walks form further plateaus once the page tables leave the caches.
func (m *Machine) nameTLB(stated []simcache.TLB) {
	var ladder []Point
	for _, p := range m.PageLadder {
		ladder = append(ladder, Point{strict.Size(p.Pages), p.Ns})
	}
	found := plateaus(ladder)
	levels := len(found) - 1
	if len(stated) > 0 {
		levels = min(levels, len(stated))
	}
	for i, p := range found[:levels] {
		entries := m.PageLadder[p.capacity].Pages
		if i < len(stated) && stated[i].Source != cpu.FromDefault { // a default states nothing
			entries = agreed(ladder, p.capacity, stated[i].Entries)
			if entries > stated[i].Entries { // a hypervisor states another CPU's TLB, or a part
				entries = likelyEntries(entries)
			}
		}
		m.TLB = append(m.TLB, Reach{Entries: entries, Miss: found[i+1].ns - p.ns})
	}
}

// likelyEntries returns the likely entries of a TLB level that translates this many pages: two or
// three times a power of two. Under random replacement, the level still serves most loads at the
// ladder's next point.
func likelyEntries(found int) int {
	n := 1
	for 2*n <= found {
		n *= 2
	}
	if n+n/2 <= found {
		return n + n/2
	}
	return n
}

func levelName(c cpu.Cache) string {
	if c.Level == 1 {
		return "L1D"
	}
	return fmt.Sprintf("L%d", c.Level)
}

// simulate sets the caches and the TLB to simulate, with the measured sizes and about the stated
// ways. Sets are a power of two, as in Cachegrind. Sizes of the ladder stay exact, and stated sizes
// are rounded by at most half a way.
func (m *Machine) simulate(o Options) {
	m.Simulated = simcache.Config{I1: cpu.Choose(o.Caches).I1}
	data := stated(o.Caches)
	for _, l := range m.Levels {
		like, cores := simcache.Geometry{Ways: 8, Line: line}, 0
		for _, c := range data {
			if levelName(c) == l.Name {
				like = c.Geometry
				cores = sharers(c, o)
			}
		}
		m.Simulated.Levels = append(m.Simulated.Levels,
			simcache.Level{Name: l.Name, Geometry: sized(int(l.Capacity), like), SharedBy: cores})
	}
	if len(m.Simulated.Levels) < 2 {
		m.Simulated.I1 = simcache.Geometry{} // its misses would have no next level
	}
	for i, r := range m.TLB {
		ways := r.Entries
		if i < len(o.TLB) {
			ways = divisor(r.Entries, o.TLB[i].Ways)
		}
		m.Simulated.TLB = append(m.Simulated.TLB,
			simcache.TLB{Entries: r.Entries, Ways: ways, Page: PageSize()})
	}
}

// sized returns a cache of this size with at least the ways of another.
func sized(size int, like simcache.Geometry) simcache.Geometry {
	lines := size / like.Line
	sets := 1
	for 2*sets*like.Ways <= lines {
		sets *= 2
	}
	ways := int(0.5 + float64(lines)/float64(sets))
	return simcache.Geometry{Size: sets * ways * like.Line, Ways: ways, Line: like.Line}
}

// divisor returns the divisor of n nearest to ways by ratio, so that n entries make whole sets.
func divisor(n, ways int) int {
	best := n
	for d := n; d > 0; d-- {
		off := func(d int) float64 { return math.Abs(math.Log(float64(d) / float64(ways))) }
		if n%d == 0 && off(d) < off(best) {
			best = d
		}
	}
	return best
}
