package cpu

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// A core is a known arm64 core, with implementer and part of its MIDR_EL1 (see cores.csv).
type core struct {
	implementer, part int
	name, source      string // source of its figures
	l1d, l1i, l2      held
	tlb               pages
}

// A held is one cache. If chips choose the size, kib is a common one. ways is 0 if not stated.
type held struct {
	kib, ways int
	chosen    bool
}

// pages are a core's data TLBs for pages of 4 to 64 KiB, with huge also of 2 MiB. The first level
// is fully associative in all known cores. It is zero if no source was read.
type pages struct {
	first, second, ways int
	huge                bool
}

// The implementers of MIDR_EL1 with names that their cores' names lack.
const (
	arm   = 0x41
	apple = 0x61
)

//go:embed cores.csv
var coresTable string

// cores are the known cores.
var cores = sync.OnceValue(func() (all []core) {
	for _, row := range table(coresTable) {
		all = append(all, core{implementer: number(row[0]), part: number(row[1]), name: row[2],
			source: row[3], l1d: heldOf(row[4]), l1i: heldOf(row[5]), l2: heldOf(row[6]),
			tlb: pagesOf(row[7])})
	}
	return all
})

// table returns the rows of an embedded file without its header.
func table(text string) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		panic(err) // a test reads all
	}
	return rows[1:]
}

func number(text string) int {
	n, _ := strconv.ParseInt(text, 0, 64)
	return int(n)
}

func heldOf(cell string) held {
	f := strings.Fields(cell)
	return held{number(f[0]), number(f[1]), len(f) > 2}
}

func pagesOf(cell string) pages {
	if cell == "" {
		return pages{}
	}
	f := strings.Fields(cell)
	return pages{number(f[0]), number(f[1]), number(f[2]), len(f) > 3}
}

// fromCore finds this core in the table by MIDR_EL1.
func (s system) fromCore() []Cache {
	if c := s.core(); c != nil {
		return c.list()
	}
	return nil
}

func (s system) core() *core {
	implementer, part := s.midr()
	for _, c := range cores() {
		if c.implementer == implementer && c.part == part {
			return &c
		}
	}
	return nil
}

// Name returns the core's name on an arm64 CPU under Linux, such as "Arm Neoverse N1". For an
// unknown core it returns the numbers, such as "implementer 0x41 part 0xd4d". With several kinds of
// cores it names the one of [Caches]; on other CPUs it returns "".
func Name(pinned ...int) string { return thisSystem().on(pinned).name() }

func (s system) name() string {
	if c := s.core(); c != nil {
		return strings.TrimSpace(map[int]string{arm: "Arm", apple: "Apple"}[c.implementer] +
			" " + c.name)
	}
	if implementer, part := s.midr(); implementer != 0 {
		return fmt.Sprintf("implementer %#x part %#x", implementer, part)
	}
	return ""
}

// coreTLB returns this core's data TLB for all page sizes that its source states.
func (s system) coreTLB() []array {
	c := s.core()
	if c == nil || c.tlb == (pages{}) {
		return nil
	}
	sizes := []int{page4K, 16 << 10, 64 << 10}
	if c.tlb.huge {
		sizes = append(sizes, page2M)
	}
	var all []array
	for _, page := range sizes {
		all = append(all, array{1, simcache.TLB{Entries: c.tlb.first, Ways: c.tlb.first, Page: page,
			Source: c.from()}},
			array{2, simcache.TLB{Entries: c.tlb.second, Ways: c.tlb.ways, Page: page,
				Source: c.from()}})
	}
	return all
}

func (c core) from() string { return ofCore + " " + c.name + " (" + c.source + ")" }

func (c core) list() []Cache {
	var all []Cache
	for _, part := range []struct {
		level int
		kind  topology.CacheType
		held
	}{{1, topology.Data, c.l1d}, {1, topology.Instruction, c.l1i}, {2, topology.Unified, c.l2}} {
		if part.kib == 0 {
			continue
		}
		source := c.from()
		if part.chosen {
			source += "; size: assumed"
		}
		all = append(all, Cache{Level: part.level, Type: part.kind.String(), Source: source,
			Geometry: simcache.Geometry{Size: part.kib << 10, Ways: part.ways,
				Line: c.line(part.level)}})
	}
	return all
}

// line returns 64 B, except for the second level of Apple's cores. Their first level has 64 B
// (CTR_EL0.DminLine, and the table's sources). hw.cachelinesize is the 128 B of the second level
// and memory. So the first level misses twice in such a line, and the second miss hits there.
func (c core) line(level int) int {
	if c.implementer == apple && level > 1 {
		return 128
	}
	return 64
}

// midr returns the selected CPU's implementer and part, from sysfs
// (Documentation/arch/arm64/cpu-feature-registers.rst).
func (s system) midr() (implementer, part int) {
	text := s.text(path.Join(s.folder(), "regs/identification/midr_el1"))
	midr, _ := strconv.ParseUint(text, 0, 64)
	return int(midr >> 24 & 0xff), int(midr >> 4 & 0xfff)
}
