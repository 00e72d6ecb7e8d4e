package cpu

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"slices"

	"github.com/stridebench/stridebench/simcache"
)

// An array is one level of a data TLB, for one page size.
type array struct {
	Level int // 1, 2
	TLB   simcache.TLB
}

// Page sizes of x86.
const (
	page4K = 4 << 10
	page2M = 2 << 20
	page1G = 1 << 30
)

// defaultTLB is documented at TLB; it is Intel Skylake's.
func defaultTLB(page int) []simcache.TLB {
	first := simcache.TLB{Entries: 64, Ways: 4, Page: page, Source: FromDefault}
	if page == page2M {
		first.Entries = 32
	}
	return []simcache.TLB{first, {Entries: 1536, Ways: 12, Page: page,
		Source: FromDefault}}
}

// TLB returns this CPU's data TLB for pages of page bytes, the nearest level first: from cpuid, on
// arm64 from the table of cores, else the documented default. That is 64 entries, 4-way (32 for 2
// MiB pages) and 1536 entries, 12-way.
//
// With several kinds of cores, Linux describes the CPU of [Caches].
func TLB(page int, pinned ...int) []simcache.TLB {
	s := thisSystem().on(pinned)
	return chooseTLB(append(s.cpuidTLB(), s.coreTLB()...), page)
}

// cpuidTLB runs cpuid on the selected CPU: kinds of cores of Intel's hybrids differ.
func (s system) cpuidTLB() []array {
	if s.cpuid == nil {
		return nil
	}
	undo, _ := RunOn(s.cpu) // if refused, on any CPU
	defer undo()
	return decodeTLB(s.cpuid)
}

func chooseTLB(known []array, page int) []simcache.TLB {
	var found []simcache.TLB
	for _, a := range known {
		if a.TLB.Page == page {
			found = append(found, a.TLB)
		}
	}
	if found == nil {
		return defaultTLB(page)
	}
	return found
}

type registers struct{ eax, ebx, ecx, edx uint32 }

func maker(cpuid func(leaf, subleaf uint32) registers) string {
	basic := cpuid(0, 0)
	var name [12]byte
	for i, r := range []uint32{basic.ebx, basic.edx, basic.ecx} {
		binary.LittleEndian.PutUint32(name[4*i:], r)
	}
	return string(name[:])
}

func decodeTLB(cpuid func(leaf, subleaf uint32) registers) []array {
	var found []array
	switch maker(cpuid) {
	case "GenuineIntel":
		maxLeaf := cpuid(0, 0).eax
		if found = intelLeaf18(cpuid, maxLeaf); found == nil && maxLeaf >= 2 {
			found = intelLeaf2(cpuid(2, 0))
		}
	case "AuthenticAMD", "HygonGenuine":
		found = amdTLB(cpuid, cpuid(0x80000000, 0).eax)
	}
	for i := range found {
		found[i].TLB.Source = ofCPUID
	}
	slices.SortStableFunc(found, func(a, b array) int {
		return cmp.Or(cmp.Compare(a.TLB.Page, b.TLB.Page), cmp.Compare(a.Level, b.Level),
			cmp.Compare(a.TLB.Entries, b.TLB.Entries))
	})
	return found
}

// intelLeaf18 reads leaf 18H, the deterministic address translation parameters (Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2A, CPUID). Arrays of one level for the same
// pages count as one, since an entry may be in either.
func intelLeaf18(cpuid func(leaf, subleaf uint32) registers, maxLeaf uint32) []array {
	if maxLeaf < 0x18 {
		return nil
	}
	var found []array
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
				found = merge(found, array{Level: int(r.edx >> 5 & 7),
					TLB: simcache.TLB{Entries: ways * sets, Ways: ways, Page: page}})
			}
		}
	}
	return found
}

// merge adds an array to the one of its level and pages, if it has as many sets.
func merge(found []array, more array) []array {
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

//go:embed leaf2.csv
var leaf2Table string

// intelLeaf2 reads 15 descriptor bytes (leaf2.csv) of registers whose highest bit is clear. The
// lowest byte of eax is not one.
func intelLeaf2(r registers) []array {
	var found []array
	rows := table(leaf2Table)
	for _, register := range []uint32{r.eax &^ 0xff, r.ebx, r.ecx, r.edx} {
		if register>>31 != 0 {
			continue
		}
		for k := range 4 {
			for _, row := range rows {
				if number(row[0]) == int(byte(register>>(8*k))) {
					found = append(found, array{number(row[1]), simcache.TLB{
						Entries: number(row[2]), Ways: number(row[3]), Page: number(row[4])}})
				}
			}
		}
	}
	return found
}

// amdTLB reads leaves 80000005h, 80000006h and 80000019h (AMD64 Architecture Programmer's Manual,
// volume 3, appendix E).
func amdTLB(cpuid func(leaf, subleaf uint32) registers, maxLeaf uint32) []array {
	var found []array
	add := func(level, page, entries, ways int) {
		if entries > 0 && ways > 0 {
			found = append(found, array{Level: level,
				TLB: simcache.TLB{Entries: entries, Ways: ways, Page: page}})
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

// amdWays decodes an associativity, 0 if unknown. From 4 on, a code is a range: the result is the
// first in it that gives a power of two of sets, else the lowest that divides the entries.
func amdWays(code uint32, entries int) int {
	ranges := map[uint32][2]int{1: {1, 1}, 2: {2, 2}, 3: {3, 3}, 4: {4, 5}, 5: {6, 7}, 6: {8, 15},
		8:   {16, 31},
		0xA: {32, 47}, 0xB: {48, 63}, 0xC: {64, 95}, 0xD: {96, 127}, 0xE: {128, 255},
		0xF: {entries, entries}}
	of, ok := ranges[code]
	if !ok || entries == 0 {
		return 0
	}
	lowest := 0
	for ways := of[0]; ways <= of[1]; ways++ {
		if entries%ways != 0 {
			continue
		}
		if sets := entries / ways; sets&(sets-1) == 0 {
			return ways
		}
		lowest = cmp.Or(lowest, ways)
	}
	return lowest
}
