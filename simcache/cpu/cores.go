package cpu

import (
	"bufio"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// A core is a known arm64 core: implementer and part as its MIDR_EL1 has them
// (Arm Architecture Reference Manual, DDI 0487), and its caches.
type core struct {
	implementer, part int
	name, source      string // where its figures are from
	l1d, l1i, l2      held
	tlb               pages
}

// A held is one cache of a core. Where chips choose the size, kib is a common one;
// ways are 0 where the source does not state them.
type held struct {
	kib, ways int
	chosen    bool
}

// pages are a core's data TLBs for pages of 4 to 64 KiB: the first level, which is
// fully associative in all that are known, and the second; zero where no source was
// read. Where huge is set, the same entries hold pages of 2 MiB.
type pages struct {
	first, second, ways int
	huge                bool
}

// The implementers of MIDR_EL1 that are in the table.
const (
	arm    = 0x41
	apple  = 0x61
	ampere = 0xc0
)

// Where several cores have their figures from.
const (
	pacman = "Ravichandran et al., PACMAN, ISCA 2022, table 2"
	guide  = "Apple Silicon CPU Optimization Guide"
)

// cores are known cores. The sources of Arm's are the chapters on the level 1
// and level 2 memory systems of the technical reference manual of that number, TLBs
// those on memory management units (of the Cortex-A55 as Intel 814346, the manual of
// a chip that has it, repeats them).
var cores = []core{
	{arm, 0xd03, "Cortex-A53", "Arm DDI 0500", held{32, 4, true}, held{32, 2, true},
		held{512, 16, true}, pages{10, 512, 4, false}},
	{arm, 0xd05, "Cortex-A55", "Arm 100442", held{32, 4, true}, held{32, 4, true},
		held{128, 4, true}, pages{16, 1024, 4, false}},
	{arm, 0xd07, "Cortex-A57", "Arm DDI 0488", held{32, 2, false}, held{48, 3, false},
		held{1024, 16, true}, pages{32, 1024, 4, false}},
	{arm, 0xd08, "Cortex-A72", "Arm 100095", held{32, 2, false}, held{48, 3, false},
		held{1024, 16, true}, pages{32, 1024, 4, false}},
	{arm, 0xd09, "Cortex-A73", "Arm 100048", held{64, 16, true}, held{64, 4, false},
		held{1024, 16, true}, pages{}},
	{arm, 0xd0a, "Cortex-A75", "Arm 100403", held{64, 16, false}, held{64, 4, false},
		held{256, 8, true}, pages{}},
	{arm, 0xd0b, "Cortex-A76", "Arm 100798", held{64, 4, false}, held{64, 4, false},
		held{512, 8, true}, pages{48, 1280, 5, true}},
	{arm, 0xd0d, "Cortex-A77", "Arm 101111", held{64, 4, false}, held{64, 4, false},
		held{512, 8, true}, pages{}},
	{arm, 0xd41, "Cortex-A78", "Arm 101430", held{64, 4, true}, held{64, 4, true},
		held{512, 8, true}, pages{}},
	{arm, 0xd44, "Cortex-X1", "Arm 101433", held{64, 4, false}, held{64, 4, false},
		held{1024, 8, true}, pages{}},
	{arm, 0xd48, "Cortex-X2", "Arm 101803", held{64, 4, false}, held{64, 4, false},
		held{1024, 8, true}, pages{}},
	{arm, 0xd4e, "Cortex-X3", "Arm 101593", held{64, 4, false}, held{64, 4, false},
		held{1024, 8, true}, pages{}},
	{arm, 0xd82, "Cortex-X4", "Arm 102484", held{64, 4, false}, held{64, 4, false},
		held{2048, 0, true}, pages{}},
	{arm, 0xd0c, "Neoverse N1", "Arm 100616", held{64, 4, false}, held{64, 4, false},
		held{1024, 8, true}, pages{48, 1280, 5, true}},
	{arm, 0xd40, "Neoverse V1", "Arm 101427", held{64, 4, false}, held{64, 4, false},
		held{1024, 8, true}, pages{}},
	{arm, 0xd49, "Neoverse N2", "Arm 102099", held{64, 4, false}, held{64, 4, false},
		held{1024, 8, true}, pages{}},
	{arm, 0xd4f, "Neoverse V2", "Arm 102375", held{64, 4, false}, held{64, 4, false},
		held{2048, 8, true}, pages{}},
	// The product brief states no ways of the level 1.
	{ampere, 0xac3, "AmpereOne", "AmpereOne product brief", held{64, 0, false}, held{16, 0, false},
		held{2048, 8, false}, pages{}},
	{ampere, 0xac4, "AmpereOne A", "AmpereOne product brief", held{64, 0, false},
		held{16, 0, false}, held{2048, 8, false}, pages{}},
	{apple, 0x22, "Icestorm of M1", pacman, held{64, 8, false}, held{128, 8, false},
		held{4096, 16, false}, pages{}},
	{apple, 0x23, "Firestorm of M1", pacman, held{128, 8, false}, held{192, 6, false},
		held{12288, 12, false}, pages{}},
	{apple, 0x24, "Icestorm of M1 Pro", guide, held{64, 8, false}, held{128, 8, false},
		held{4096, 0, false}, pages{}},
	{apple, 0x25, "Firestorm of M1 Pro", guide, held{128, 8, false}, held{192, 6, false},
		held{12288, 0, false}, pages{}},
	{apple, 0x28, "Icestorm of M1 Max", guide, held{64, 8, false}, held{128, 8, false},
		held{4096, 0, false}, pages{}},
	{apple, 0x29, "Firestorm of M1 Max", guide, held{128, 8, false}, held{192, 6, false},
		held{12288, 0, false}, pages{}},
	{apple, 0x32, "Blizzard of M2", guide, held{64, 8, false}, held{128, 8, false},
		held{4096, 0, false}, pages{}},
	{apple, 0x33, "Avalanche of M2", guide, held{128, 8, false}, held{192, 6, false},
		held{16384, 0, false}, pages{}},
	{apple, 0x34, "Blizzard of M2 Pro", guide, held{64, 8, false}, held{128, 8, false},
		held{4096, 0, false}, pages{}},
	{apple, 0x35, "Avalanche of M2 Pro", guide, held{128, 8, false}, held{192, 6, false},
		held{16384, 0, false}, pages{}},
	{apple, 0x38, "Blizzard of M2 Max", guide, held{64, 8, false}, held{128, 8, false},
		held{4096, 0, false}, pages{}},
	{apple, 0x39, "Avalanche of M2 Max", guide, held{128, 8, false}, held{192, 6, false},
		held{16384, 0, false}, pages{}},
}

// fromCore is what the table knows of this core, by MIDR_EL1 on Linux and by its
// name on macOS.
func (s system) fromCore() []Cache {
	if strings.HasPrefix(s.brand, "Apple ") {
		return s.appleCore()
	}
	if c := s.core(); c != nil {
		return c.list()
	}
	return nil
}

// core is this core in the table, nil if it is not there.
func (s system) core() *core {
	implementer, part := s.midr()
	at := slices.IndexFunc(cores, func(c core) bool {
		return c.implementer == implementer && c.part == part
	})
	if at < 0 {
		return nil
	}
	return &cores[at]
}

// Name names the core of an arm64 CPU that runs Linux, which gives no other name: as
// in "Arm Neoverse N1", or its numbers, as in "implementer 0x41 part 0xd4d". Of a
// machine of several kinds of cores it is that of [Caches]. It is "" on other CPUs.
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

// coreTLB is the data TLB of this core, for all sizes of pages that its source
// states.
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

// from is the source of the core's figures.
func (c core) from() simcache.Source {
	return simcache.Source(string(simcache.FromCore) + " " + c.name + " (" + c.source + ")")
}

// appleCore is the performance core of a Mac. Sizes are sysctl's; of ways Apple
// and the literature state those of the M1, and of the level 1 up to the M4.
func (s system) appleCore() []Cache {
	family, _, _ := strings.Cut(strings.TrimPrefix(s.brand, "Apple "), " ")
	if !slices.Contains([]string{"M1", "M2", "M3", "M4"}, family) {
		return nil
	}
	c := core{implementer: apple, name: s.brand, source: guide, l1d: held{128, 8, false},
		l1i: held{192, 6, false}}
	if s.brand == "Apple M1" {
		c.l2 = held{12288, 12, false}
	}
	return c.list()
}

// list is a core as caches.
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

// line is 64 B, but for the second level of Apple's cores. Their first level
// works by 64 B (CTR_EL0.DminLine, and the sources of the table), whatever
// hw.cachelinesize says, which is the 128 B that the second level and memory
// move: so the first level misses twice in a line of the second, and hits there
// the second time.
func (c core) line(level int) int {
	if c.implementer == apple && level > 1 {
		return 128
	}
	return 64
}

// midr is the implementer and the part of the CPU that is meant, from sysfs
// (Documentation/arch/arm64/cpu-feature-registers.rst) or /proc/cpuinfo.
func (s system) midr() (implementer, part int) {
	text := s.text(path.Join(s.folder(), "regs/identification/midr_el1"))
	if midr, err := strconv.ParseUint(text, 0, 64); err == nil {
		return int(midr >> 24 & 0xff), int(midr >> 4 & 0xfff)
	}
	inside := false
	lines := bufio.NewScanner(strings.NewReader(s.text("proc/cpuinfo")))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		n, _ := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
		switch strings.TrimSpace(name) {
		case "processor":
			inside = int(n) == s.cpu
		case "CPU implementer":
			if inside {
				implementer = int(n)
			}
		case "CPU part":
			if inside {
				part = int(n)
			}
		}
	}
	return implementer, part
}
