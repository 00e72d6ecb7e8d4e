package simcache

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FormatTLB writes the levels of a TLB as "entries,associativity,page" each, in
// bytes, the nearest first: "64,4,4096 1536,12,4096".
func FormatTLB(levels []TLB) string {
	var parts []string
	for _, t := range levels {
		parts = append(parts, fmt.Sprintf("%d,%d,%d", t.Entries, t.Ways, t.Page))
	}
	return strings.Join(parts, " ")
}

// ParseTLB reads what FormatTLB writes, and checks it (see Config.Check).
func ParseTLB(text string) ([]TLB, error) {
	const want = "want entries,associativity,page in bytes of each level, such as '64,4,4096 1536,12,4096'"
	var levels []TLB
	for level := range strings.FieldsSeq(text) {
		parts := strings.Split(level, ",")
		if len(parts) != 3 {
			return nil, fmt.Errorf("level %q: %s", level, want)
		}
		var n [3]int
		for i, what := range []string{"entries", "associativity", "page size"} {
			var err error
			if n[i], err = strconv.Atoi(parts[i]); err != nil || n[i] <= 0 {
				return nil, fmt.Errorf("%s %q is no positive integer (%s)", what, parts[i], want)
			}
			if most := [...]int{1 << 20, 1 << 20, 1 << 32}[i]; n[i] > most {
				return nil, fmt.Errorf("%s %s is too much (want at most %d)", what, parts[i], most)
			}
		}
		levels = append(levels, TLB{Entries: n[0], Ways: n[1], Page: n[2]})
	}
	if levels == nil {
		return nil, errors.New(want)
	}
	return levels, Config{TLB: levels}.checkTLB()
}

// PageLevels are the levels of a TLB as those of caches whose lines are pages.
// A hierarchy of them alone counts what the TLB beside caches counts, since a
// TLB knows nothing of these; and it finds a steady state on its own.
func PageLevels(levels []TLB) []Level {
	var caches []Level
	for i, t := range levels {
		caches = append(caches, Level{Name: t.name(i), Geometry: t.geometry(), Modulo: true})
	}
	return caches
}

// geometry is that of a cache whose lines are pages.
func (t TLB) geometry() Geometry {
	return Geometry{Size: t.Entries * t.Page, Ways: t.Ways, Line: t.Page}
}

// A PageCache is one level of this CPU's data TLB, for one size of pages.
type PageCache struct {
	Level  int // 1, 2
	TLB    TLB
	Source Source
}

// Page sizes that x86 has.
const (
	page4K = 4 << 10
	page2M = 2 << 20
	page1G = 1 << 30
)

// Documented defaults, for a CPU that does not tell: those of Intel's Skylake
// (64-entry, 4-way and 1536-entry, 12-way; 32 entries, 4-way of 2 MiB in the
// first level), for pages of any other size those of 4 KiB.
func defaultTLB(page int) []PageCache {
	first := TLB{Entries: 64, Ways: 4, Page: page}
	if page == page2M {
		first.Entries = 32
	}
	return []PageCache{{1, first, FromDefault}, {2, TLB{Entries: 1536, Ways: 12, Page: page}, FromDefault}}
}

// DetectTLB returns the data TLB of this CPU for pages of so many bytes, the
// nearest level first, from cpuid where it tells, else the documented default:
// 64 entries, 4-way (32 of 2 MiB pages) and 1536 entries, 12-way.
func DetectTLB(page int) []PageCache { return chooseTLB(cpuidTLB(), page) }

func chooseTLB(known []PageCache, page int) []PageCache {
	var found []PageCache
	for _, p := range known {
		if p.TLB.Page == page {
			found = append(found, p)
		}
	}
	if found == nil {
		return defaultTLB(page)
	}
	return found
}

// registers are what cpuid returns.
type registers struct{ eax, ebx, ecx, edx uint32 }

// decodeTLB reads the data TLBs out of cpuid's leaves, sorted by page and level.
func decodeTLB(cpuid func(leaf, subleaf uint32) registers) []PageCache {
	basic := cpuid(0, 0)
	var vendor [12]byte
	for i, r := range []uint32{basic.ebx, basic.edx, basic.ecx} {
		binary.LittleEndian.PutUint32(vendor[4*i:], r)
	}
	var found []PageCache
	switch string(vendor[:]) {
	case "GenuineIntel":
		if found = intelLeaf18(cpuid, basic.eax); found == nil && basic.eax >= 2 {
			found = intelLeaf2(cpuid(2, 0))
		}
	case "AuthenticAMD", "HygonGenuine":
		found = amdTLB(cpuid, cpuid(0x80000000, 0).eax)
	}
	for i := range found {
		found[i].Source = FromCPUID
	}
	slices.SortStableFunc(found, func(a, b PageCache) int {
		return cmp.Or(cmp.Compare(a.TLB.Page, b.TLB.Page), cmp.Compare(a.Level, b.Level), cmp.Compare(a.TLB.Entries, b.TLB.Entries))
	})
	return found
}

// intelLeaf18 reads the deterministic address translation parameters (Intel 64
// and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID, leaf
// 18H). Arrays of one level that hold the same pages are taken as one: an
// entry may be in either.
func intelLeaf18(cpuid func(leaf, subleaf uint32) registers, maxLeaf uint32) []PageCache {
	if maxLeaf < 0x18 {
		return nil
	}
	var found []PageCache
	for sub := range min(cpuid(0x18, 0).eax, 64) + 1 {
		r := cpuid(0x18, sub)
		const data, unified, loads = 1, 3, 4 // the types that serve loads
		if kind := r.edx & 0x1f; kind != data && kind != unified && kind != loads {
			continue
		}
		ways, sets := int(r.ebx>>16), int(r.ecx)
		if r.edx>>8&1 != 0 { // fully associative
			ways, sets = ways*sets, 1
		}
		for bit, page := range map[int]int{0: page4K, 1: page2M, 3: page1G} {
			if r.ebx>>bit&1 != 0 && ways > 0 && sets > 0 {
				found = merge(found, PageCache{Level: int(r.edx >> 5 & 7), TLB: TLB{Entries: ways * sets, Ways: ways, Page: page}})
			}
		}
	}
	return found
}

// merge adds an array to those of its level and pages, if it has as many sets.
func merge(found []PageCache, more PageCache) []PageCache {
	for i := range found {
		t := &found[i].TLB
		if found[i].Level == more.Level && t.Page == more.TLB.Page {
			if t.Entries/t.Ways == more.TLB.Entries/more.TLB.Ways {
				t.Entries, t.Ways = t.Entries+more.TLB.Entries, t.Ways+more.TLB.Ways
			}
			return found
		}
	}
	return append(found, more)
}

// descriptors are those bytes of leaf 2 that mean data or shared TLBs (the same
// manual, table "Encoding of CPUID Leaf 2 Descriptors"). Ways of 0 are full.
var descriptors = map[byte][]PageCache{
	0x03: {{Level: 1, TLB: TLB{Entries: 64, Ways: 4, Page: page4K}}},
	0x57: {{Level: 1, TLB: TLB{Entries: 16, Ways: 4, Page: page4K}}},
	0x59: {{Level: 1, TLB: TLB{Entries: 16, Page: page4K}}},
	0x5A: {{Level: 1, TLB: TLB{Entries: 32, Ways: 4, Page: page2M}}},
	0x5B: {{Level: 1, TLB: TLB{Entries: 64, Page: page4K}}},
	0x5C: {{Level: 1, TLB: TLB{Entries: 128, Page: page4K}}},
	0x5D: {{Level: 1, TLB: TLB{Entries: 256, Page: page4K}}},
	0x63: {{Level: 1, TLB: TLB{Entries: 32, Ways: 4, Page: page2M}}, {Level: 1, TLB: TLB{Entries: 4, Ways: 4, Page: page1G}}},
	0x64: {{Level: 2, TLB: TLB{Entries: 512, Ways: 4, Page: page4K}}},
	0x6A: {{Level: 1, TLB: TLB{Entries: 64, Ways: 8, Page: page4K}}},
	0x6B: {{Level: 2, TLB: TLB{Entries: 256, Ways: 8, Page: page4K}}},
	0x6C: {{Level: 2, TLB: TLB{Entries: 128, Ways: 8, Page: page2M}}},
	0x6D: {{Level: 2, TLB: TLB{Entries: 16, Page: page1G}}},
	0xA0: {{Level: 1, TLB: TLB{Entries: 32, Page: page4K}}},
	0xB3: {{Level: 1, TLB: TLB{Entries: 128, Ways: 4, Page: page4K}}},
	0xB4: {{Level: 2, TLB: TLB{Entries: 256, Ways: 4, Page: page4K}}}, // DTLB1 of Core 2, behind its DTLB0
	0xBA: {{Level: 1, TLB: TLB{Entries: 64, Ways: 4, Page: page4K}}},
	0xC0: {{Level: 1, TLB: TLB{Entries: 8, Ways: 4, Page: page4K}}},
	0xC1: {{Level: 2, TLB: TLB{Entries: 1024, Ways: 8, Page: page4K}}, {Level: 2, TLB: TLB{Entries: 1024, Ways: 8, Page: page2M}}},
	0xC2: {{Level: 1, TLB: TLB{Entries: 16, Ways: 4, Page: page4K}}, {Level: 1, TLB: TLB{Entries: 16, Ways: 4, Page: page2M}}},
	0xC3: {{Level: 2, TLB: TLB{Entries: 1536, Ways: 6, Page: page4K}}, {Level: 2, TLB: TLB{Entries: 1536, Ways: 6, Page: page2M}},
		{Level: 2, TLB: TLB{Entries: 16, Ways: 4, Page: page1G}}},
	0xC4: {{Level: 1, TLB: TLB{Entries: 32, Ways: 4, Page: page2M}}},
	0xCA: {{Level: 2, TLB: TLB{Entries: 512, Ways: 4, Page: page4K}}},
}

// intelLeaf2 reads the descriptor bytes: 15, since the lowest of eax is none,
// in the registers whose highest bit is clear.
func intelLeaf2(r registers) []PageCache {
	var found []PageCache
	for _, register := range []uint32{r.eax &^ 0xff, r.ebx, r.ecx, r.edx} {
		if register>>31 != 0 {
			continue
		}
		for k := range 4 {
			for _, p := range descriptors[byte(register>>(8*k))] {
				if p.TLB.Ways == 0 {
					p.TLB.Ways = p.TLB.Entries
				}
				found = append(found, p)
			}
		}
	}
	return found
}

// amdTLB reads leaves 80000005h, 80000006h and 80000019h (AMD64 Architecture
// Programmer's Manual, volume 3, appendix E).
func amdTLB(cpuid func(leaf, subleaf uint32) registers, maxLeaf uint32) []PageCache {
	var found []PageCache
	add := func(level, page, entries, ways int) {
		if entries > 0 && ways > 0 {
			found = append(found, PageCache{Level: level, TLB: TLB{Entries: entries, Ways: ways, Page: page}})
		}
	}
	if maxLeaf >= 0x80000005 {
		r := cpuid(0x80000005, 0)
		for page, bits := range map[int]uint32{page2M: r.eax, page4K: r.ebx} {
			entries, ways := int(bits>>16&0xff), int(bits>>24)
			if ways == 0xff {
				ways = entries
			}
			add(1, page, entries, ways)
		}
	}
	if maxLeaf >= 0x80000006 {
		r := cpuid(0x80000006, 0)
		for page, bits := range map[int]uint32{page2M: r.eax, page4K: r.ebx} {
			entries := int(bits >> 16 & 0xfff)
			add(2, page, entries, amdWays(bits>>28, entries))
		}
	}
	if maxLeaf >= 0x80000019 {
		r := cpuid(0x80000019, 0)
		for level, bits := range map[int]uint32{1: r.eax, 2: r.ebx} {
			entries := int(bits >> 16 & 0xfff)
			add(level, page1G, entries, amdWays(bits>>28, entries))
		}
	}
	return found
}

// amdWays decodes an associativity. From 4 on, a code is a range of ways: the
// first of it that makes a power of two sets of the entries, else the lowest
// that divides them. 0 is unknown.
func amdWays(code uint32, entries int) int {
	ranges := map[uint32][2]int{1: {1, 1}, 2: {2, 2}, 3: {3, 3}, 4: {4, 5}, 5: {6, 7}, 6: {8, 15}, 8: {16, 31},
		0xA: {32, 47}, 0xB: {48, 63}, 0xC: {64, 95}, 0xD: {96, 127}, 0xE: {128, 255}, 0xF: {entries, entries}}
	of, ok := ranges[code]
	if !ok || entries == 0 {
		return 0
	}
	lowest := 0
	for ways := of[0]; ways <= of[1]; ways++ {
		if entries%ways != 0 {
			continue
		}
		if isPowerOfTwo(entries / ways) {
			return ways
		}
		lowest = cmp.Or(lowest, ways)
	}
	return lowest
}
