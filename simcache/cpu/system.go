package cpu

import (
	"io/fs"
	"math/bits"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// A system is all that a machine says of itself, of which each kind of machine
// says a part. The tests have recorded ones.
type system struct {
	files  fs.FS                 // Linux's, from the root on
	cpu    int                   // of Linux's, the one that is meant
	sysctl func(name string) int // macOS's numbers, 0 where it has none
	brand  string                // macOS's name of the CPU
	// what Windows' GetLogicalProcessorInformationEx(RelationCache) fills
	processors []byte
	topology   *topology.System // what CPUID says
	cpuid      func(leaf, subleaf uint32) registers
}

// Caches returns the caches of this CPU. The first of these sources that knows
// any says which there are: Linux's sysfs, its device tree, macOS's sysctl,
// Windows, cpuid, and the table of arm64 cores. Where that leaves a size, ways
// or a line open, the ones after it are asked, and what then is missing of ways
// and line is assumed (Cache.Source says so). Caches of which nobody knows the size
// are left out, but for a last level, whose geometry then is zero.
//
// On a machine of several kinds of cores it is, on Linux, the CPU that a timed
// thread is pinned to (the first one named, else the last one that it may run on), on
// macOS a performance core, on Windows the first.
func Caches(pinned ...int) []Cache { return thisSystem().on(pinned).known() }

// Apart tells whose caches [Caches] returns on a machine of several kinds of cores, and which
// others, of the CPUs that threads are pinned to (nil for all that this process may run on), have
// caches of other sizes, ways or lines; none elsewhere than on Linux.
func Apart(pinned ...int) (shown int, others []int) {
	if len(pinned) == 0 {
		for _, l := range Workers() {
			pinned = append(pinned, l.CPU)
		}
	}
	return pinned[0], thisSystem().apart(pinned)
}

func (s system) apart(cpus []int) (others []int) {
	if s.files == nil {
		return nil
	}
	geometries := func(cpu int) (all []simcache.Geometry) {
		for _, c := range s.on([]int{cpu}).known() {
			all = append(all, c.Geometry)
		}
		return all
	}
	first := geometries(cpus[0])
	for _, cpu := range cpus[1:] {
		if !slices.Equal(geometries(cpu), first) {
			others = append(others, cpu)
		}
	}
	slices.Sort(others)
	return others
}

// on is the system with the first of the CPUs meant, where any is named.
func (s system) on(pinned []int) system {
	if len(pinned) > 0 {
		s.cpu = pinned[0]
	}
	return s
}

// known asks all sources.
func (s system) known() []Cache {
	var all []Cache
	for _, source := range []func(system) []Cache{system.fromSysfs, system.fromDeviceTree,
		system.fromSysctl,
		system.fromWindows, func(s system) []Cache {
			return fromTopology(s.topology)
		}, system.fromOlderLeaves, system.fromCore} {
		all = fill(all, source(s))
	}
	for i := range all {
		all[i].assume()
	}
	known := slices.DeleteFunc(slices.Clone(all), func(c Cache) bool { return !c.Known() })
	if last, n := len(all)-1, len(known); n > 0 && !all[last].Known() &&
		all[last].Level > known[n-1].Level {
		all[last].Geometry = simcache.Geometry{}
		known = append(known, all[last])
	}
	return known
}

// fill puts into caches what they leave open and more knows, or returns more
// where there are none.
func fill(caches, more []Cache) []Cache {
	if len(caches) == 0 {
		return more
	}
	for i := range caches {
		c := &caches[i]
		at := slices.IndexFunc(more, func(m Cache) bool {
			return m.Level == c.Level && m.Type == c.Type
		})
		if at < 0 {
			continue
		}
		m := more[at]
		if c.Geometry.Size <= 0 {
			c.Geometry.Size, c.Source = m.Geometry.Size, m.Source
		}
		if c.Geometry.Line <= 0 && m.Geometry.Line > 0 {
			c.Geometry.Line = m.Geometry.Line
			c.add("line", m.Source)
		}
		if c.Geometry.Ways <= 0 && m.Geometry.Ways > 0 {
			c.Geometry.Ways = m.Geometry.Ways
			c.add("ways", m.Source)
		}
	}
	return caches
}

// add says of one figure that it has another source than the size.
func (c *Cache) add(figure string, source simcache.Source) {
	from, _, _ := strings.Cut(string(source), "; ")
	if !strings.HasPrefix(string(c.Source), from) {
		c.Source += simcache.Source("; " + figure + ": " + from)
	}
}

// assume completes a cache of which the size is known: lines of 64 B, and of the
// ways that make a power of two of sets those nearest to 8 in the first level
// and to 16 beyond.
func (c *Cache) assume() {
	g := &c.Geometry
	if g.Size <= 0 {
		return
	}
	if g.Line <= 0 {
		g.Line = 64
		c.add("line", assumed)
	}
	lines := g.Size / g.Line
	if g.Ways > 0 && lines%g.Ways == 0 || lines == 0 {
		return
	}
	likely := 16
	if c.Level == 1 {
		likely = 8
	}
	g.Ways = lines >> bits.TrailingZeros(uint(lines)) // the odd part
	for 3*g.Ways <= 2*likely && g.Ways < lines {
		g.Ways *= 2
	}
	c.add("ways", assumed)
}

// Assumed tells whether a figure of the cache, ways or line, is stated by nobody.
func (c Cache) Assumed(figure string) bool {
	return strings.Contains(string(c.Source), "; "+figure+": "+string(assumed))
}

// assumed is the source of a figure that nobody states.
const assumed simcache.Source = "assumed"
