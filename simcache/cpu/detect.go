// Package cpu is the program's own and promises nothing. It returns what this CPU states about its
// caches and its TLB. Package simcache simulates these by default ([Choose], [TLB]).
package cpu

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// A Cache is one cache of this CPU, as one core of [Caches] sees it.
type Cache struct {
	Level    int    // 1, 2, 3, ...
	Type     string // "Data", "Instruction" or "Unified"
	Geometry simcache.Geometry
	Shared   int // logical CPUs that share it, 0 if unknown
	// all CPUs of the machine share it, so there is only one; false if unknown
	Only bool
	// Source is the source of the size. Other figures' sources follow, as in "sysctl; ways:
	// assumed".
	Source string
}

// Name returns the cache's name as lscpu writes it: L1d, L1i, L2, L3.
func (c Cache) Name() string {
	suffix := map[string]string{topology.Data.String(): "d",
		topology.Instruction.String(): "i"}[c.Type]
	return fmt.Sprintf("L%d%s", c.Level, suffix)
}

// Cores returns the number of cores that share the cache, 0 if unknown: its logical CPUs, divided
// by those that share the first level of caches.
func (c Cache) Cores(caches []Cache) int {
	for _, first := range caches {
		if first.Level == 1 && !first.Instruction() && first.Shared > 0 && c.Shared > 0 {
			return max(c.Shared/first.Shared, 1)
		}
	}
	return 0
}

// Instruction reports whether the cache holds only instructions.
func (c Cache) Instruction() bool { return c.Type == topology.Instruction.String() }

// fromTopology returns the caches of the first core, its group and its package.
func fromTopology(system *topology.System) []Cache {
	if system == nil || len(system.Packages) == 0 {
		return nil
	}
	pkg := system.Packages[0]
	found := slices.Clone(pkg.Caches)
	if len(pkg.Groups) > 0 {
		group := pkg.Groups[0]
		found = append(found, group.Caches...)
		if len(group.Cores) > 0 {
			found = append(found, group.Cores[0].Caches...)
		}
	}
	var caches []Cache
	for _, f := range found {
		c := Cache{Level: f.Level, Type: f.Type.String(), Shared: max(f.SharedThreads, 0),
			Source: ofCPUID,
			Geometry: simcache.Geometry{Size: max(f.Size, 0), Ways: max(f.Ways, 0),
				Line: max(f.LineSize, 0)}}
		caches = append(caches, c)
	}
	slices.SortStableFunc(caches, func(a, b Cache) int { return a.Level - b.Level })
	return caches
}

// fromOlderLeaves reads leaves 80000005h and 80000006h (AMD64 Architecture Programmer's Manual,
// volume 3, appendix E), if 8000001Dh is missing. On all Zens they only give the package's total
// last level; then its size is unknown.
func (s system) fromOlderLeaves() []Cache {
	if s.cpuid == nil || !slices.Contains([]string{"AuthenticAMD", "HygonGenuine"},
		maker(s.cpuid)) || s.cpuid(0x80000000, 0).eax < 0x80000006 {
		return nil
	}
	var caches []Cache
	add := func(level int, kind topology.CacheType, size, ways int, line uint32) {
		caches = append(caches, Cache{Level: level, Type: kind.String(), Source: ofCPUID,
			Geometry: simcache.Geometry{Size: size, Ways: ways, Line: int(line & 0xff)}})
	}
	first, further := s.cpuid(0x80000005, 0), s.cpuid(0x80000006, 0)
	for kind, bits := range map[topology.CacheType]uint32{topology.Data: first.ecx,
		topology.Instruction: first.edx} {
		size, ways := int(bits>>24)<<10, int(bits>>16&0xff)
		if ways == 0xff { // fully associative
			ways = size / max(int(bits&0xff), 1)
		}
		add(1, kind, size, ways, bits)
	}
	beyond := func(level int, bits uint32, size int) {
		code := bits >> 12 & 0xf
		if size == 0 {
			return
		}
		if code == elsewhere {
			size = 0
		}
		add(level, topology.Unified, size, amdWays(code, size/max(int(bits&0xff), 1)), bits)
	}
	beyond(2, further.ecx, int(further.ecx>>16)<<10)
	beyond(3, further.edx, int(further.edx>>18)*(512<<10))
	slices.SortFunc(caches, func(a, b Cache) int {
		return cmp.Or(a.Level-b.Level, strings.Compare(a.Type, b.Type))
	})
	return caches
}

// elsewhere is the associativity code of a cache that only leaf 8000001Dh describes.
const elsewhere = 9

// Between returns the first and last level of a configuration, with the CPU's caches of sizes
// between them that can be simulated.
func Between(c simcache.Config, caches []Cache) []simcache.Level {
	first, last := c.First(), c.Last()
	levels := []simcache.Level{first}
	for _, known := range caches {
		// as the last level is: else one whose sets are not a power of two would lie below itself
		g := rounded(known.Geometry)
		if g.Check() == nil && known.Level > 1 && !known.Instruction() && g.Line == first.Line &&
			g.Size > first.Size && g.Size < last.Size {
			levels = append(levels, simcache.Level{Name: known.Name(), Geometry: g})
		}
	}
	return append(levels, last)
}

// rounded makes the set count a power of two, as Cachegrind does for the CPU's last level
// (cachegrind/cg_arch.c, maybe_tweak_LLc). It takes the power of two below, and the ways that best
// keep the size: 37486592 B, 11-way, 64 B lines become 37748736 B, 18-way.
func rounded(g simcache.Geometry) simcache.Geometry {
	if g.Ways <= 0 || g.Line <= 0 || g.Sets() <= 0 || g.Sets()&(g.Sets()-1) == 0 {
		return g
	}
	sets := g.Sets()
	below := 1 << (bits.Len(uint(sets)) - 1)
	ways := int(0.5 + float64(g.Ways)*float64(sets)/float64(below))
	return simcache.Geometry{Size: below * ways * g.Line, Ways: ways, Line: g.Line}
}

// TwoLevels reduces a configuration to what Cachegrind simulates: I1, the first and last level, and
// the TLB. Other settings of levels become zero, except SharedBy of the last. Cachegrind needs a
// power of two of sets, so the last level is rounded.
func TwoLevels(c simcache.Config) (simcache.Config, error) {
	two := simcache.Config{I1: c.I1, TLB: c.TLB,
		Levels: simcache.TwoLevels(c.First().Geometry, rounded(c.Last().Geometry))}
	two.Levels[1].SharedBy = c.Last().SharedBy
	return two, two.Check()
}

// From returns a configuration with one source.
func From(c simcache.Config, source string) simcache.Config {
	c.I1Source = source
	c.Levels, c.TLB = slices.Clone(c.Levels), slices.Clone(c.TLB)
	for i := range c.Levels {
		c.Levels[i].Source = source
	}
	for i := range c.TLB {
		c.TLB[i].Source = source
	}
	return c
}

// Known reports whether the geometry is known. The machine may state only that a last level exists.
func (c Cache) Known() bool {
	g := c.Geometry
	return c.Level > 0 && g.Size > 0 && g.Ways > 0 && g.Line > 0 && g.Sets() > 0
}

// Choose returns the default simulation, from a CPU's caches as Cachegrind takes them: I1 and D1
// from level 1, LL from the highest level.
//
// Set counts are rounded (rounded). The caches say how many cores share the last level;
// the only one is shared by any number of cores. Missing, unknown or unusable figures have
// documented defaults: 32768,8,64 for I1 and D1, 8388608,16,64 for LL.
func Choose(caches []Cache) simcache.Config {
	small := simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}
	c := simcache.Config{I1: small, I1Source: FromDefault,
		Levels: simcache.TwoLevels(small, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64})}
	d1, ll := &c.Levels[0], &c.Levels[1]
	d1.Source, ll.Source = FromDefault, FromDefault
	unknown, top := *ll, 1
	for _, known := range caches {
		if !known.Known() && known.Level > top {
			*ll, top = unknown, known.Level
		}
		g, source := rounded(known.Geometry), known.Source
		if g.Check() != nil {
			continue
		}
		instructions, data := known.Instruction(), known.Type == topology.Data.String()
		if known.Level == 1 && !data { // or unified
			c.I1, c.I1Source = g, source
		}
		if known.Level == 1 && !instructions {
			d1.Geometry, d1.Source = g, source
		}
		if known.Level > top && !instructions {
			ll.Geometry, ll.Source, ll.SharedBy = g, source, 0
			if top = known.Level; !known.Only {
				ll.SharedBy = known.Cores(caches)
			}
		}
	}
	return c
}
