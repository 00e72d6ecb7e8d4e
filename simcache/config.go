package simcache

import (
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

// A Config says what is simulated. Levels alone, in their zero settings, are
// Cachegrind's kind of hierarchy: LRU, write-allocate, no inclusion.
type Config struct {
	// I1 is the first-level instruction cache; the zero Geometry for none, and
	// then nothing may be fetched.
	I1 Geometry
	// I1Source says where it comes from, for reports.
	I1Source Source
	// Levels are the data caches, the nearest first. From the second on they
	// are unified: they see the misses of I1 too.
	Levels []Level
	// TLB are the levels of the data TLB, the nearest first; none by default.
	TLB []TLB
	// ZeroTags is a quirk of Cachegrind, on for equality with it: it has no
	// valid bits and its tags start as 0, so that block 0 hits in a cold cache.
	ZeroTags bool
	// WriteBacks counts dirty lines and the bytes that are moved (LevelCounts).
	// All levels must then have one line size. A write-back touches the order of
	// replacement of the level that it goes to, so that from the second level on
	// (with inclusion, from the first) misses may be others than without.
	WriteBacks bool
	// Observe counts more about each miss, at a cost in speed.
	Observe Observe
	// Brute looks up every access of every nest, where otherwise some are
	// proved to hit or miss like others.
	Brute bool
	// Cores simulates a nest on so many cores, each its own sets, where that is
	// exact; 0 and 1 mean one.
	Cores int
}

// A Source says where a figure comes from, for reports.
type Source string

// The sources of what is simulated by default, in the order in which they are
// asked. Others are the names of files and presets.
const (
	FromFlag       Source = "flag"
	FromSysfs      Source = "sysfs"
	FromDeviceTree Source = "device tree"
	FromSysctl     Source = "sysctl"
	FromWindows    Source = "windows"
	FromCPUID      Source = "cpuid"
	FromCore       Source = "core" // which one, as the table of cores knows it
	FromDefault    Source = "default"
)

// Observe says what is observed beyond counts, as a set of flags.
type Observe uint8

// What can be observed.
const (
	// Classes splits misses into compulsory, capacity and conflict (Hill, "Aspects
	// of Cache Memory and Instruction Buffer Performance", 1987), and tells when
	// the lines of a nest were touched before.
	Classes Observe = Observe(lookup.Classes)
	// SetMisses counts misses by set.
	SetMisses Observe = Observe(lookup.SetMisses)
	// UsedBytes counts the bytes of a line that are touched while it is in the
	// cache.
	UsedBytes Observe = Observe(lookup.UsedBytes)
)

// ObserveAll is all that can be observed.
const ObserveAll = Classes | SetMisses | UsedBytes

var observations = []struct {
	name string
	flag Observe
}{{"classes", Classes}, {"sets", SetMisses}, {"bytes", UsedBytes}}

// ParseObserve parses words joined by commas, such as "classes,sets".
func ParseObserve(text string) (Observe, error) {
	var all Observe
next:
	for word := range strings.SplitSeq(text, ",") {
		for _, o := range observations {
			if o.name == word {
				all |= o.flag
				continue next
			}
		}
		return 0, fmt.Errorf("%q cannot be observed (want classes, sets, bytes, or several "+
			"joined by commas)", word)
	}
	return all, nil
}

// Names returns the words for what is observed.
func (o Observe) Names() []string {
	names := []string{}
	for _, known := range observations {
		if o.Has(known.flag) {
			names = append(names, known.name)
		}
	}
	return names
}

// Has reports whether all of these are observed.
func (o Observe) Has(all Observe) bool { return o&all == all }

// A Level is one cache of a hierarchy.
type Level struct {
	// Name is for reports; empty, it is D1 for the first, LL for the last,
	// and L2, L3, ... between.
	Name string
	Geometry
	// SharedBy is how many cores share a cache of the level, where several threads are
	// simulated (Threads); 0 is all cores for the last of several levels, and one for
	// the others.
	SharedBy int
	// Source says where the geometry comes from, for reports.
	Source Source
	// Modulo allows a set count that is no power of two: a block's set is its
	// number modulo the set count.
	Modulo bool
	// Policy chooses what a set evicts; LRU by default.
	Policy Policy
	// Seed is for the Random policy.
	Seed uint64
	// Inclusion relates the level to those before it; NonInclusive by default.
	Inclusion Inclusion
	// WriteThrough passes every store on to the next level, and no line is ever
	// dirty. By default a level is write-back.
	WriteThrough bool
	// NoWriteAllocate passes a store that misses on to the next level, and
	// fetches nothing. By default a store's miss fetches the line.
	NoWriteAllocate bool
	// VictimLines is the size of a fully associative LRU victim cache beside the
	// level (Jouppi, ISCA 1990); 0 for none. What hits there is no miss of the
	// level.
	VictimLines int
	// Prefetch is the level's prefetcher; none by default.
	Prefetch Prefetch
}

// A Policy is a replacement policy: which line of a full set goes.
type Policy uint8

// The policies. Ways that are empty are filled first, the lowest one first.
const (
	// LRU evicts the least recently used line.
	LRU Policy = iota
	// FIFO evicts the line that was filled first.
	FIFO
	// Random evicts a line drawn by splitmix64 from the level's Seed.
	Random
	// TreePLRU follows a binary tree of bits that point away from the last
	// touched; the ways are a power of two.
	TreePLRU
	// BitPLRU has a bit a way, set when it is touched; when all would be set, the
	// others are cleared. The lowest way whose bit is clear goes. Also known as
	// MRU or not-recently-used.
	BitPLRU
	// SRRIP has a 2-bit re-reference prediction a way: 2 when filled, 0 when hit;
	// the lowest way at 3 goes, after all were raised until there is one (Jaleel
	// et al., "High Performance Cache Replacement Using Re-Reference Interval
	// Prediction (RRIP)", ISCA 2010, SRRIP-HP).
	SRRIP
)

var policyNames = []string{"lru", "fifo", "random", "tree-plru", "bit-plru", "srrip"}

// String is the policy's name in a configuration file.
func (p Policy) String() string { return policyNames[p] }

// UnmarshalText reads a policy's name.
func (p *Policy) UnmarshalText(text []byte) error { return oneOf(p, "policy", policyNames, text) }

// Inclusion says what a level knows of those before it.
type Inclusion uint8

// The kinds of inclusion.
const (
	// NonInclusive levels know nothing of each other, as in Cachegrind.
	NonInclusive Inclusion = iota
	// Inclusive levels hold all that the levels before them hold: what they
	// evict is invalidated there, and written back where it was dirty.
	Inclusive
	// Exclusive levels hold what the level before them evicted, and nothing that
	// it holds: a hit moves the line up, every line evicted there moves down.
	Exclusive
)

var inclusionNames = []string{"non-inclusive", "inclusive", "exclusive"}

// String is the inclusion's name in a configuration file.
func (i Inclusion) String() string { return inclusionNames[i] }

// UnmarshalText reads an inclusion's name.
func (i *Inclusion) UnmarshalText(text []byte) error {
	return oneOf(i, "inclusion", inclusionNames, text)
}

// A Prefetch is a prefetcher. What it fetches arrives at once.
type Prefetch struct {
	Kind PrefetchKind
	// Degree is how many lines, or strides, ahead it fetches; 0 means 1.
	Degree int
}

// A PrefetchKind is a kind of prefetcher.
type PrefetchKind uint8

// The kinds of prefetcher.
const (
	// NoPrefetch fetches nothing ahead.
	NoPrefetch PrefetchKind = iota
	// NextLine fetches the lines after one that missed, or that was prefetched
	// and is used for the first time, within its 4 KiB page (Smith, "Cache
	// Memories", 1982, tagged prefetch).
	NextLine
	// StridePrefetch watches the addresses of each instruction, or operand of a
	// Nest, and once a stride repeats fetches what lies so many strides ahead
	// (Chen and Baer, "Effective Hardware-Based Data Prefetching for
	// High-Performance Processors", 1995, reference prediction table).
	StridePrefetch
)

var prefetchNames = []string{"none", "next-line", "stride"}

// String is the prefetcher's name in a configuration file.
func (k PrefetchKind) String() string { return prefetchNames[k] }

// UnmarshalText reads a prefetcher's name.
func (k *PrefetchKind) UnmarshalText(text []byte) error {
	return oneOf(k, "prefetcher", prefetchNames, text)
}

// oneOf sets value to the index of text in names.
func oneOf[T ~uint8](value *T, what string, names []string, text []byte) error {
	for i, name := range names {
		if name == string(text) {
			*value = T(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q (want one of %q)", what, text, names)
}

// A TLB is one level of a data TLB: LRU, and knowing nothing of the others. A
// reference that crosses from one page into the next looks up both.
type TLB struct {
	Name    string // for reports; empty, it is DTLB for the first and STLB for the second
	Entries int
	Ways    int    // associativity; Entries for fully associative
	Page    int    // bytes
	Source  Source // where the figures come from, for reports
}

// TwoLevels are Cachegrind's data caches: D1 and LL.
func TwoLevels(d1, ll Geometry) []Level {
	return []Level{{Name: "D1", Geometry: d1}, {Name: "LL", Geometry: ll}}
}

// TwoLevels reduces a configuration to what Cachegrind simulates: the first and the
// last level, with all their other settings zero but who shares the last, I1, and the
// TLB. The last level is rounded, since Cachegrind wants a power of two of sets.
func (c Config) TwoLevels() (Config, error) {
	first, last := c.First().Geometry, c.Last().Geometry.Rounded()
	levels := TwoLevels(first, last)
	levels[1].SharedBy = c.Last().SharedBy
	return Config{I1: c.I1, Levels: levels, TLB: c.TLB}, errors.Join(first.Check(), last.Check())
}

// Check refuses what cannot be simulated, and names the level at fault.
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
	for i, l := range c.Levels {
		if err := l.check(i); err != nil {
			return fmt.Errorf("%s %s: %w", c.name(i), l.Geometry, err)
		}
		for _, before := range c.Levels[:i] {
			if before.Line != l.Line && (c.WriteBacks || l.Inclusion != NonInclusive) {
				return fmt.Errorf("%s %s: its line is not the %d B of a level before, as "+
					"write-backs and inclusion want", c.name(i), l.Geometry, before.Line)
			}
		}
	}
	if c.I1 != (Geometry{}) && c.Levels[1].Inclusion == Exclusive {
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

// byCachegrind refuses caches with a line or a size that Cachegrind does not take.
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

// Clip is how many of the bytes of an access of a trace are looked up. Cachegrind clips
// an access to the smallest line of all caches (cachegrind/cg_main.c). Where it has no
// such caches, an access looks up all lines that it spans.
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
	switch {
	case l.Modulo && l.Geometry.check() != nil:
		return l.Geometry.check()
	case !l.Modulo && l.Geometry.Check() != nil:
		return l.Geometry.Check()
	case l.Policy == TreePLRU && !isPowerOfTwo(l.Ways):
		return fmt.Errorf("tree-plru wants ways that are a power of two, not %d", l.Ways)
	case i == 0 && l.Inclusion != NonInclusive:
		return fmt.Errorf("the first level is %s of nothing", l.Inclusion)
	case l.WriteThrough && l.Inclusion == Exclusive:
		return errors.New("an exclusive level takes dirty lines from the one before it, so that " +
			"it cannot be write-through")
	case l.SharedBy < 0:
		return fmt.Errorf("shared by %d cores", l.SharedBy)
	case i == 0 && l.SharedBy > 1:
		return fmt.Errorf("shared by %d cores: each core has a first level of its own", l.SharedBy)
	case l.VictimLines < 0:
		return fmt.Errorf("%d victim lines", l.VictimLines)
	case l.Prefetch.Degree < 0:
		return fmt.Errorf("prefetch degree %d", l.Prefetch.Degree)
	case l.Prefetch.Kind != NoPrefetch && l.Inclusion == Exclusive:
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

// isLRU reports whether all levels are LRU caches that know nothing of each
// other, so that a chain simulates them.
func (c Config) isLRU() bool {
	for _, l := range c.Levels {
		l.Name, l.Geometry, l.SharedBy, l.Source, l.Modulo, l.Seed = "", Geometry{}, 0, "", false, 0
		if l.Prefetch.Kind == NoPrefetch {
			l.Prefetch.Degree = 0
		}
		if l != (Level{}) {
			return false
		}
	}
	return true
}

// plain is isLRU where nothing is observed.
func (c Config) plain() bool { return c.isLRU() && c.Observe == 0 }

// lone reports whether all levels are LRU caches that see nothing of each other but
// misses, so that a level's misses tell all that the next one sees.
func (c Config) lone() bool { return c.plain() && !c.WriteBacks }

// From is the configuration with one source for all figures.
func (c Config) From(source Source) Config {
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

// First is the level that accesses come to, D1 in Cachegrind.
func (c Config) First() Level { return c.Levels[0] }

// Last is the level before memory, LL in Cachegrind.
func (c Config) Last() Level { return c.Levels[len(c.Levels)-1] }

// Aligned is the first multiple of so many bytes from an address on that falls into the
// first set of every level: the least multiple of that, and of lines times sets of all of
// them. Where 62 bits do not hold it, it is the address.
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

// name is the name of level i.
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

// shape is the geometry for an engine.
func (g Geometry) shape() engine.Level {
	return engine.Level{Sets: g.Sets(), Ways: g.Ways, Shift: uint(bits.TrailingZeros(uint(g.Line)))}
}

// policies is the level for the engine that follows all of it.
func (l Level) policies() policies.Level {
	p := policies.Level{Level: l.shape(), WriteThrough: l.WriteThrough,
		NoWriteAllocate: l.NoWriteAllocate, VictimLines: l.VictimLines,
		Replace: map[Policy]func(sets, ways int) policies.Policy{LRU: policies.LRU,
			FIFO: policies.FIFO, Random: policies.Random(l.Seed),
			TreePLRU: policies.TreePLRU, BitPLRU: policies.BitPLRU,
			SRRIP: policies.SRRIP}[l.Policy],
		Tie: map[Inclusion]policies.Tie{NonInclusive: policies.Untied,
			Inclusive: policies.Inclusive, Exclusive: policies.Exclusive}[l.Inclusion],
	}
	degree := max(l.Prefetch.Degree, 1)
	switch l.Prefetch.Kind {
	case NextLine:
		p.Prefetch = policies.NextLine(degree)
	case StridePrefetch:
		p.Prefetch = policies.Strides(degree)
	}
	return p
}
