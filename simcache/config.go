package simcache

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lookup"
	"github.com/stridebench/stridebench/simcache/internal/policies"
)

// A Config describes a simulation. Levels with zero settings are like Cachegrind's: LRU,
// write-allocate, non-inclusive.
type Config struct {
	// I1 is the first-level instruction cache. Without one, nothing may be fetched.
	I1 Geometry
	// I1Source is the origin of I1, such as "flag" or a file's name, for reports.
	I1Source string
	// Levels are the data caches, the nearest first. From the second on they also see the misses of
	// I1.
	Levels []Level
	// TLB is the levels of the data TLB, the nearest first; none by default.
	TLB []TLB
	// ZeroTags reproduces a quirk of Cachegrind: without valid bits, tags start as 0, so that block
	// 0 hits in a cold cache.
	ZeroTags bool
	// WriteBacks counts dirty lines and the bytes moved (LevelCounts), for levels of one line size.
	// A write-back updates the replacement order of its level. So misses may differ from those
	// without WriteBacks, from the second level on (with inclusion, from the first).
	WriteBacks bool
	// Observe counts more about each miss, but is slower. It is names joined by commas:
	//
	//   - "classes" splits misses into compulsory, capacity and conflict (Hill, "Aspects of Cache
	//     Memory and Instruction Buffer Performance", 1987), and finds when lines of a nest were
	//     last touched.
	//   - "sets" counts misses by set.
	//   - "bytes" counts the bytes of a line touched while cached.
	Observe string
	// Brute looks up every access. Otherwise some are proved to hit or miss like others.
	Brute bool
	// Cores is the number of host cores that simulate a nest, each with its own sets, if exact; 0
	// means 1.
	Cores int
}

// observe returns what Observe names, or an error for an unknown name.
func (c Config) observe() (all lookup.Observe, err error) {
	for name := range strings.SplitSeq(c.Observe, ",") {
		switch {
		case name == "" && c.Observe == "":
		case name == "classes":
			all |= lookup.Classes
		case name == "sets":
			all |= lookup.SetMisses
		case name == "bytes":
			all |= lookup.UsedBytes
		default:
			return 0, fmt.Errorf("%q cannot be observed (want classes, sets, bytes, or several "+
				"joined by commas)", name)
		}
	}
	return all, nil
}

// Observes reports whether Observe has this name.
func (c Config) Observes(name string) bool {
	return slices.Contains(strings.Split(c.Observe, ","), name)
}

// A Level is one cache of a hierarchy.
type Level struct {
	// Name is for reports; by default D1, L2, L3, ..., LL.
	Name string
	Geometry
	// SharedBy is the number of cores that share a cache of the level (NewThreads). 0 means all for
	// the last of several levels, else one.
	SharedBy int
	// Source is the origin of the geometry, for reports.
	Source string
	// Modulo allows any set count: a block's set is its number modulo the set count.
	Modulo bool
	// Policy is the replacement policy: it chooses the line that a full set evicts. Empty ways are
	// filled first, the lowest one first. The policies are:
	//
	//   - "lru", or "", evicts the least recently used line.
	//   - "fifo" evicts the line that was filled first.
	//   - "random" evicts a line drawn by splitmix64 from Seed.
	//   - "tree-plru" follows a binary tree of bits that point away from the last touched way. Ways
	//     must be a power of two.
	//   - "bit-plru" has a bit for each way, set when touched. When all would be set, the others
	//     are cleared. It evicts the lowest way whose bit is clear. It is also known as MRU or
	//     not-recently-used.
	//   - "srrip" has a 2-bit re-reference prediction for each way: 2 when filled, 0 when hit. It
	//     raises all until one is at 3, and evicts the lowest of these. This is SRRIP-HP (Jaleel et
	//     al., "High Performance Cache Replacement Using Re-Reference Interval Prediction (RRIP)",
	//     ISCA 2010).
	Policy string
	// Seed seeds the random policy.
	Seed uint64
	// Inclusion relates the level to the levels before it:
	//
	//   - "non-inclusive", or "": levels are independent, as in Cachegrind.
	//   - "inclusive" levels hold all that the levels before them hold. An evicted line is
	//     invalidated there, and written back if dirty.
	//   - "exclusive" levels hold what the level before them evicted, and nothing that it holds. A
	//     hit moves the line up; lines evicted there move down.
	Inclusion string
	// WriteThrough passes every store on, so lines are never dirty. The default is write-back.
	WriteThrough bool
	// NoWriteAllocate passes a store that misses on without a fetch. By default it fetches the
	// line.
	NoWriteAllocate bool
	// VictimLines is the size of the level's fully associative LRU victim cache (Jouppi, ISCA
	// 1990). A hit there is not a miss.
	VictimLines int
	// Prefetch is the level's prefetcher; none by default.
	Prefetch Prefetch
}

// A Prefetch is a prefetcher. Prefetched lines arrive at once.
type Prefetch struct {
	// Kind is the kind of prefetcher:
	//
	//   - "none", or "", fetches nothing ahead.
	//   - "next-line" fetches the next lines after a miss or the first use of a prefetched line,
	//     within a 4 KiB page (Smith, "Cache Memories", 1982, tagged prefetch).
	//   - "stride" watches the addresses of each instruction, or operand of a Nest. Once a stride
	//     repeats, it fetches up to Degree strides ahead (Chen and Baer, "Effective Hardware-Based
	//     Data Prefetching for High-Performance Processors", 1995, reference prediction table).
	Kind string
	// Degree is how many lines, or strides, to fetch ahead; 0 means 1.
	Degree int
}

// The names of a level's settings. The first one is also "".
var (
	policyNames    = []string{"lru", "fifo", "random", "tree-plru", "bit-plru", "srrip"}
	inclusionNames = []string{"non-inclusive", "inclusive", "exclusive"}
	prefetchNames  = []string{"none", "next-line", "stride"}
)

// oneOf returns an error unless a name is one of some.
func oneOf(what string, names []string, name string) error {
	if name != "" && !slices.Contains(names, name) {
		return fmt.Errorf("unknown %s %q (want one of %q)", what, name, names)
	}
	return nil
}

// A TLB is one level of a data TLB: LRU, independent. A reference that crosses a page boundary
// looks up both pages.
type TLB struct {
	Name    string // for reports; by default DTLB, then STLB
	Entries int
	Ways    int    // associativity; Entries means fully associative
	Page    int    // bytes
	Source  string // origin of the figures, for reports
}

// TwoLevels returns Cachegrind's data caches: D1 and LL.
func TwoLevels(d1, ll Geometry) []Level {
	return []Level{{Name: "D1", Geometry: d1}, {Name: "LL", Geometry: ll}}
}

// Check returns an error, with the level, for what cannot be simulated.
func (c Config) Check() error {
	if len(c.Levels) == 0 {
		return errors.New("no levels to simulate")
	}
	if c.I1 != (Geometry{}) {
		if err := c.I1.Check(); err != nil {
			return fmt.Errorf("I1 %s: %w", c.I1, err)
		}
		if len(c.Levels) < 2 {
			return errors.New("I1 wants a second level for its misses to go to")
		}
	}
	if _, err := c.observe(); err != nil {
		return err
	}
	for i, l := range c.Levels {
		if err := l.check(i); err != nil {
			return fmt.Errorf("%s %s: %w", c.name(i), l.Geometry, err)
		}
		for _, before := range c.Levels[:i] {
			if before.Line != l.Line && (c.WriteBacks || l.tied()) {
				return fmt.Errorf("%s %s: its line is not the %d B of a level before, as "+
					"write-backs and inclusion want", c.name(i), l.Geometry, before.Line)
			}
		}
	}
	if c.I1 != (Geometry{}) && c.Levels[1].Inclusion == "exclusive" {
		return fmt.Errorf("%s is exclusive of the level before, so that it cannot serve I1",
			c.name(1))
	}
	if c.ZeroTags && !c.plain() {
		return errors.New("the zero tags of Cachegrind go with LRU levels that know nothing of " +
			"each other, and with nothing else")
	}
	if err := c.byCachegrind(); c.ZeroTags && err != nil {
		return fmt.Errorf("the zero tags of Cachegrind go with caches that it simulates: %w", err)
	}
	return c.checkTLB()
}

// byCachegrind returns an error for caches that Cachegrind rejects.
func (c Config) byCachegrind() error {
	if err := c.I1.byCachegrind(); err != nil && c.I1 != (Geometry{}) {
		return fmt.Errorf("I1 %s: %w", c.I1, err)
	}
	for i, l := range c.Levels {
		if err := l.byCachegrind(); err != nil {
			return fmt.Errorf("%s %s: %w", c.name(i), l.Geometry, err)
		}
	}
	return nil
}

// Clip returns how many bytes of a trace's access are looked up. Cachegrind clips an access to the
// smallest line of all caches (cachegrind/cg_main.c). For caches that Cachegrind rejects, nothing
// is clipped.
func (c Config) Clip(bytes int) int {
	if c.byCachegrind() != nil {
		return bytes
	}
	if c.I1.Line > 0 {
		bytes = min(bytes, c.I1.Line)
	}
	for _, l := range c.Levels {
		bytes = min(bytes, l.Line)
	}
	return bytes
}

func (l Level) check(i int) error {
	err := cmp.Or(oneOf("policy", policyNames, l.Policy),
		oneOf("inclusion", inclusionNames, l.Inclusion),
		oneOf("prefetcher", prefetchNames, l.Prefetch.Kind))
	if err == nil && l.Modulo {
		err = l.Geometry.check()
	} else if err == nil {
		err = l.Geometry.Check()
	}
	switch {
	case err != nil:
		return err
	case l.Policy == "tree-plru" && !isPowerOfTwo(l.Ways):
		return fmt.Errorf("tree-plru wants ways that are a power of two, not %d", l.Ways)
	case i == 0 && l.tied():
		return fmt.Errorf("the first level is %s of nothing", l.Inclusion)
	case l.WriteThrough && l.Inclusion == "exclusive":
		return errors.New("an exclusive level takes dirty lines from the one before it, so that " +
			"it cannot be write-through")
	case l.SharedBy < 0 || l.VictimLines < 0 || l.Prefetch.Degree < 0:
		return fmt.Errorf(
			"shared by %d cores, %d victim lines, prefetch degree %d: one is negative",
			l.SharedBy, l.VictimLines, l.Prefetch.Degree)
	case i == 0 && l.SharedBy > 1:
		return fmt.Errorf("shared by %d cores: each core has a first level of its own", l.SharedBy)
	case l.prefetches() && l.Inclusion == "exclusive":
		return errors.New("an exclusive level is filled from the one before it, not by a " +
			"prefetcher: give that one the prefetcher")
	}
	return nil
}

func (c Config) checkTLB() error {
	for i, t := range c.TLB {
		name := t.name(i)
		switch {
		case t.Entries <= 0 || t.Ways <= 0 || t.Entries%t.Ways != 0:
			return fmt.Errorf("%s: %d entries do not make sets of %d ways", name, t.Entries, t.Ways)
		case !isPowerOfTwo(t.Page) || t.Page < 1<<12:
			return fmt.Errorf("%s: page size %d is not a power of two from 4096 on", name, t.Page)
		}
	}
	return nil
}

// tied reports whether the level depends on those before it.
func (l Level) tied() bool { return cmp.Or(l.Inclusion, inclusionNames[0]) != inclusionNames[0] }

func (l Level) prefetches() bool {
	return cmp.Or(l.Prefetch.Kind, prefetchNames[0]) != prefetchNames[0]
}

// isLRU reports whether all levels are independent LRU caches, for a chain.
func (c Config) isLRU() bool {
	for _, l := range c.Levels {
		if cmp.Or(l.Policy, policyNames[0]) != policyNames[0] || l.tied() || l.prefetches() ||
			l.WriteThrough || l.NoWriteAllocate || l.VictimLines > 0 {
			return false
		}
	}
	return true
}

func (c Config) plain() bool { return c.isLRU() && c.Observe == "" }

// lone reports whether LRU levels see only each other's misses. Then a level's miss stream is all
// that the next sees.
func (c Config) lone() bool { return c.plain() && !c.WriteBacks }

// First returns the nearest level, D1 in Cachegrind.
func (c Config) First() Level { return c.Levels[0] }

// Last returns the level before memory, LL in Cachegrind.
func (c Config) Last() Level { return c.Levels[len(c.Levels)-1] }

// Aligned returns the first multiple of bytes at or above from that maps to the first set of every
// level. If the step exceeds 62 bits, it returns from.
func (c Config) Aligned(from uint64, bytes int) uint64 {
	span := bytes
	for _, l := range c.Levels {
		all := l.Sets() * l.Line
		factor := all / nest.GCD(span, all)
		if high, low := bits.Mul64(uint64(span), uint64(factor)); high != 0 || low >= 1<<61 {
			return from
		}
		span *= factor
	}
	return (from + uint64(span) - 1) / uint64(span) * uint64(span)
}

// LevelNames returns the names of the data levels, the nearest first.
func (c Config) LevelNames() (names []string) {
	for i := range c.Levels {
		names = append(names, c.name(i))
	}
	return names
}

func (c Config) name(i int) string {
	switch {
	case c.Levels[i].Name != "":
		return c.Levels[i].Name
	case i == 0:
		return "D1"
	case i == len(c.Levels)-1:
		return "LL"
	}
	return fmt.Sprintf("L%d", i+1)
}

func (t TLB) name(i int) string {
	if t.Name != "" {
		return t.Name
	}
	return [...]string{"DTLB", "STLB"}[min(i, 1)]
}

func (g Geometry) shape() engine.Level {
	return engine.Level{Sets: g.Sets(), Ways: g.Ways, Shift: uint(bits.TrailingZeros(uint(g.Line)))}
}

func (l Level) policies() policies.Level {
	p := policies.Level{Level: l.shape(), WriteThrough: l.WriteThrough,
		NoWriteAllocate: l.NoWriteAllocate, VictimLines: l.VictimLines,
		Replace: map[string]func(sets, ways int) policies.Policy{"lru": policies.LRU,
			"fifo": policies.FIFO, "random": policies.Random(l.Seed),
			"tree-plru": policies.TreePLRU, "bit-plru": policies.BitPLRU,
			"srrip": policies.SRRIP}[cmp.Or(l.Policy, policyNames[0])],
		Tie: map[string]policies.Tie{"inclusive": policies.Inclusive,
			"exclusive": policies.Exclusive}[l.Inclusion],
	}
	degree := max(l.Prefetch.Degree, 1)
	switch l.Prefetch.Kind {
	case "next-line":
		p.Prefetch = policies.NextLine(degree)
	case "stride":
		p.Prefetch = policies.Strides(degree)
	}
	return p
}
