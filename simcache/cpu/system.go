package cpu

import (
	"io/fs"
	"math/bits"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// The sources of figures, in the order of inquiry.
const (
	ofSysfs  = "sysfs"
	ofSysctl = "sysctl"
	ofCPUID  = "cpuid"
	ofCore   = "core" // the core's entry in cores.csv
	assumed  = "assumed"
)

// Sources that are not asked.
const (
	FromFlag    = "flag"
	FromDefault = "default"
)

// A system is what a machine states about itself. Tests use recorded ones.
type system struct {
	files  fs.FS                 // Linux's files from the root
	cpu    int                   // the selected one of Linux's CPUs
	sysctl func(name string) int // macOS's numbers, 0 if absent

	topology *topology.System // from CPUID
	cpuid    func(leaf, subleaf uint32) registers
}

// Caches returns the caches of this CPU. The first source that knows any determines the list:
// Linux's sysfs, macOS's sysctl, cpuid, the table of arm64 cores. Later sources fill in a missing
// size, ways or line; then ways and line are assumed (Cache.Source). A cache of unknown size is
// left out, except a last level, whose geometry is then zero.
//
// With several kinds of cores, Linux describes the first of pinned, else the last CPU that the
// process may run on, to which timed threads are pinned. macOS describes a performance core, and
// cpuid the first one.
func Caches(pinned ...int) []Cache { return thisSystem().on(pinned).known() }

// Apart returns the CPU that [Caches] describes, and the pinned CPUs (by default all permitted
// ones) whose caches differ in size, ways or line. Outside Linux there are none.
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

func (s system) on(pinned []int) system {
	if len(pinned) > 0 {
		s.cpu = pinned[0]
	}
	return s
}

func (s system) known() []Cache {
	var all []Cache
	for _, found := range [][]Cache{s.fromSysfs(), s.fromSysctl(), fromTopology(s.topology),
		s.fromOlderLeaves(), s.fromCore()} {
		all = fill(all, found)
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

func (c *Cache) add(figure string, source string) {
	from, _, _ := strings.Cut(source, "; ")
	if !strings.HasPrefix(c.Source, from) {
		c.Source += "; " + figure + ": " + from
	}
}

// assume completes a cache of known size. It assumes lines of 64 B, and the ways nearest to 8
// (level 1) or 16 that give a power of two of sets.
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
