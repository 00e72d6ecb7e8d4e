package cpu

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

// linux makes files of names and contents; those of a device tree's cells are
// numbers.
func linux(files map[string]any) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, content := range files {
		data := []byte(fmt.Sprint(content, "\n"))
		if cell, ok := content.(int); ok {
			data = binary.BigEndian.AppendUint32(nil, uint32(cell))
		}
		dir[name] = &fstest.MapFile{Data: data}
	}
	return dir
}

// mac is what sysctl hw prints.
func mac(brand, values string) system {
	numbers := map[string]int{}
	for line := range strings.Lines(values) {
		var n int
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			fmt.Sscan(value, &n)
			numbers[name] = n
		}
	}
	return system{brand: brand, sysctl: func(name string) int { return numbers[name] }}
}

// windowsCache is a record of GetLogicalProcessorInformationEx(RelationCache).
func windowsCache(level, ways byte, line uint16, size, kind uint32, mask uint64) []byte {
	r := make([]byte, 56)
	binary.LittleEndian.PutUint32(r, 2)
	binary.LittleEndian.PutUint32(r[4:], 56)
	r[8], r[9] = level, ways
	binary.LittleEndian.PutUint16(r[10:], line)
	binary.LittleEndian.PutUint32(r[12:], size)
	binary.LittleEndian.PutUint32(r[16:], kind)
	binary.LittleEndian.PutUint16(r[38:], 1)
	binary.LittleEndian.PutUint64(r[40:], mask)
	return r
}

// written is caches in short.
func written(caches []Cache) []string {
	var all []string
	for _, c := range caches {
		all = append(all, fmt.Sprintf("%s %s shared by %d, %s", c.Name(), c.Geometry, c.Shared, c.Source))
	}
	return all
}

const cpu0 = "sys/devices/system/cpu/cpu0/"

// TestSystems: what machines say of themselves. Where the name ends in a source, the
// values were recorded there: of a device tree its properties, whose phandles the
// compiler chooses. The others are made, to say what no recording here does.
func TestSystems(t *testing.T) {
	for _, test := range []struct {
		name string
		system
		want []string
	}{
		{"Apple M1 Pro with 6 performance cores, macOS 13: dotnet/runtime pull request 75881, and the line of 128 B", mac("Apple M1 Pro", `hw.cachelinesize: 128
			hw.perflevel0.physicalcpu: 6
			hw.perflevel0.logicalcpu: 6
			hw.perflevel0.l1icachesize: 196608
			hw.perflevel0.l1dcachesize: 131072
			hw.perflevel0.l2cachesize: 12582912
			hw.perflevel0.cpusperl2: 3`), []string{
			"L1d 131072,8,64 shared by 1, sysctl; line: core Apple M1 Pro (" + guide + "); ways: core Apple M1 Pro (" + guide + ")",
			"L1i 196608,6,64 shared by 1, sysctl; line: core Apple M1 Pro (" + guide + "); ways: core Apple M1 Pro (" + guide + ")",
			"L2 12582912,12,128 shared by 3, sysctl; ways: assumed",
		}},
		{"Apple M1 Pro with 8: Dr-Noob/cpufetch issue 139, which tells no line", mac("Apple M1 Pro", `hw.perflevel1.cpusperl2: 2
			hw.perflevel1.l1dcachesize: 65536
			hw.perflevel1.l1icachesize: 131072
			hw.perflevel1.l2cachesize: 4194304
			hw.perflevel1.logicalcpu: 2
			hw.perflevel1.physicalcpu: 2
			hw.perflevel0.cpusperl2: 4
			hw.perflevel0.l1dcachesize: 131072
			hw.perflevel0.l1icachesize: 196608
			hw.perflevel0.l2cachesize: 12582912
			hw.perflevel0.logicalcpu: 8
			hw.perflevel0.physicalcpu: 8`), []string{
			"L1d 131072,8,64 shared by 1, sysctl; line: core Apple M1 Pro (" + guide + "); ways: core Apple M1 Pro (" + guide + ")",
			"L1i 196608,6,64 shared by 1, sysctl; line: core Apple M1 Pro (" + guide + "); ways: core Apple M1 Pro (" + guide + ")",
			"L2 12582912,12,64 shared by 4, sysctl; line: assumed; ways: assumed",
		}},
		{"an Apple M1", mac("Apple M1", `hw.cachelinesize: 128
			hw.perflevel0.physicalcpu: 4
			hw.perflevel0.logicalcpu: 4
			hw.perflevel0.l1dcachesize: 131072
			hw.perflevel0.l2cachesize: 12582912
			hw.perflevel0.cpusperl2: 4`), []string{
			"L1d 131072,8,64 shared by 1, sysctl; line: core Apple M1 (" + guide + "); ways: core Apple M1 (" + guide + ")",
			"L2 12582912,12,128 shared by 4, sysctl; ways: core Apple M1 (" + guide + ")",
		}},
		{"a Mac of a later kind", mac("Apple M9", `hw.cachelinesize: 128
			hw.perflevel0.l1icachesize: 196608
			hw.perflevel0.l2cachesize: 16777216`), []string{
			"L1i 196608,6,64 shared by 0, sysctl; line: assumed; ways: assumed",
			"L2 16777216,16,128 shared by 0, sysctl; ways: assumed",
		}},
		{"a Neoverse N1 whose sysfs tells all", system{files: linux(map[string]any{
			cpu0 + "regs/identification/midr_el1": "0x00000000413fd0c1",
			cpu0 + "cache/index0/level":           "1", cpu0 + "cache/index0/type": "Data",
			cpu0 + "cache/index0/size": "64K", cpu0 + "cache/index0/number_of_sets": "256",
			cpu0 + "cache/index0/coherency_line_size": "64", cpu0 + "cache/index0/shared_cpu_list": "0",
			cpu0 + "cache/index2/level": "2", cpu0 + "cache/index2/type": "Unified",
			cpu0 + "cache/index2/size": "1024K", cpu0 + "cache/index2/ways_of_associativity": "8",
			cpu0 + "cache/index2/coherency_line_size": "64", cpu0 + "cache/index2/shared_cpu_list": "0",
		})}, []string{"L1d 65536,4,64 shared by 1, sysfs", "L2 1048576,8,64 shared by 1, sysfs"}},
		{"Cortex-X3, whose sysfs knows levels only: CPU 7 of util-linux, tests/ts/lscpu/dumps/arm-A510-A710-A715-X3", x3(), []string{
			"L1d 65536,4,64 shared by 1, core Cortex-X3 (Arm 101593)",
			"L1i 65536,4,64 shared by 1, core Cortex-X3 (Arm 101593)",
			"L2 1048576,8,64 shared by 1, core Cortex-X3 (Arm 101593); size: assumed",
			"L3 0,0,0 shared by 8, sysfs",
		}},
		{"a Cortex-A72 that has no MIDR in sysfs, but in cpuinfo", system{cpu: 1, files: linux(map[string]any{
			"sys/devices/system/cpu/cpu1/cache/index2/level": "2", "sys/devices/system/cpu/cpu1/cache/index2/type": "Unified",
			"proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n",
		})}, []string{"L2 1048576,16,64 shared by 0, core Cortex-A72 (Arm 100095); size: assumed"}},
		{"Raspberry Pi 4: Linux, arch/arm/boot/dts/broadcom/bcm2711.dtsi", system{files: linux(map[string]any{
			cpu0 + "of_node/d-cache-size": 0x8000, cpu0 + "of_node/d-cache-line-size": 64, cpu0 + "of_node/d-cache-sets": 256,
			cpu0 + "of_node/i-cache-size": 0xc000, cpu0 + "of_node/i-cache-line-size": 64, cpu0 + "of_node/i-cache-sets": 256,
			cpu0 + "of_node/next-level-cache":                     9,
			"sys/firmware/devicetree/base/cpus/l2-cache0/phandle": 9, "sys/firmware/devicetree/base/cpus/l2-cache0/cache-size": 0x100000,
			"sys/firmware/devicetree/base/cpus/l2-cache0/cache-line-size": 64, "sys/firmware/devicetree/base/cpus/l2-cache0/cache-sets": 1024,
		})}, []string{
			"L1d 32768,2,64 shared by 0, device tree",
			"L1i 49152,3,64 shared by 0, device tree",
			"L2 1048576,16,64 shared by 0, device tree",
		}},
		{"Juno's Cortex-A57: Linux, arch/arm64/boot/dts/arm/juno.dts", system{cpu: 1, files: linux(map[string]any{
			"sys/devices/system/cpu/cpu1/of_node/d-cache-size": 0x8000, "sys/devices/system/cpu/cpu1/of_node/d-cache-line-size": 64,
			"sys/devices/system/cpu/cpu1/of_node/d-cache-sets": 256, "sys/devices/system/cpu/cpu1/of_node/i-cache-size": 0xc000,
			"sys/devices/system/cpu/cpu1/of_node/i-cache-line-size": 64, "sys/devices/system/cpu/cpu1/of_node/i-cache-sets": 256,
			"sys/devices/system/cpu/cpu1/of_node/next-level-cache": 7,
			"sys/firmware/devicetree/base/cpus/cpu@0/phandle":      6,
			"sys/firmware/devicetree/base/cpus/l2-cache0/phandle":  7, "sys/firmware/devicetree/base/cpus/l2-cache0/cache-size": 0x200000,
			"sys/firmware/devicetree/base/cpus/l2-cache0/cache-line-size": 64, "sys/firmware/devicetree/base/cpus/l2-cache0/cache-sets": 2048,
		})}, []string{
			"L1d 32768,2,64 shared by 0, device tree",
			"L1i 49152,3,64 shared by 0, device tree",
			"L2 2097152,16,64 shared by 0, device tree",
		}},
		{"Apple M1 Max under Linux, the rest by MIDR: arch/arm64/boot/dts/apple/t600x-dieX.dtsi, include/asm/cputype.h", system{files: linux(map[string]any{
			cpu0 + "of_node/d-cache-size": 0x20000, cpu0 + "of_node/i-cache-size": 0x30000, cpu0 + "of_node/next-level-cache": 3,
			"sys/firmware/devicetree/base/cpus/l2-cache-1/phandle": 3, "sys/firmware/devicetree/base/cpus/l2-cache-1/cache-size": 0xc00000,
			cpu0 + "regs/identification/midr_el1": "0x00000000611f0291",
		})}, []string{
			"L1d 131072,8,64 shared by 0, device tree; line: core Firestorm of M1 Max (" + guide + "); ways: core Firestorm of M1 Max (" + guide + ")",
			"L1i 196608,6,64 shared by 0, device tree; line: core Firestorm of M1 Max (" + guide + "); ways: core Firestorm of M1 Max (" + guide + ")",
			"L2 12582912,12,128 shared by 0, device tree; line: core Firestorm of M1 Max (" + guide + "); ways: assumed",
		}},
		{"Windows: two first levels, the second CPU's and a full one", system{processors: slicesOf(
			windowsCache(1, 8, 64, 32<<10, 2, 0b11), windowsCache(1, 8, 64, 32<<10, 1, 0b11), windowsCache(1, 12, 64, 48<<10, 2, 0b100),
			windowsCache(2, 0xff, 64, 1<<20, 0, 0b11), windowsCache(3, 16, 64, 32<<20, 0, 0xffff), []byte{2, 0, 0, 0, 99, 0, 0, 0})}, []string{
			"L1d 32768,8,64 shared by 2, windows", "L1i 32768,8,64 shared by 2, windows",
			"L2 1048576,16384,64 shared by 2, windows", "L3 33554432,16,64 shared by 16, windows",
		}},
		{"an Intel Mac: sizes by sysctl, ways by cpuid", intelMac(), []string{"L1d 32768,8,64 shared by 2, sysctl; line: cpuid; ways: cpuid"}},
		{"EPYC (Turin, Zen 5) in a virtual machine that hides leaf 8000001Dh, recorded", system{cpuid: amd(map[leaf]registers{
			{0x80000000, 0}: {eax: 0x80000021},
			{0x80000005, 0}: {0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140},
			{0x80000006, 0}: {0x40802040, 0x60804040, 0x04006140, 0x0fe09140},
		})}, []string{
			"L1d 49152,12,64 shared by 0, cpuid", "L1i 32768,8,64 shared by 0, cpuid",
			"L2 1048576,8,64 shared by 0, cpuid", "L3 0,0,0 shared by 0, cpuid",
		}},
		{"older leaves that tell of a third level, and of a full first one", system{cpuid: amd(map[leaf]registers{
			{0x80000000, 0}: {eax: 0x8000001b},
			{0x80000005, 0}: {ecx: 0x40ff0140, edx: 0x40020140},
			{0x80000006, 0}: {ecx: 0x02008140, edx: 0x0030b140},
		})}, []string{
			"L1d 65536,1024,64 shared by 0, cpuid", "L1i 65536,2,64 shared by 0, cpuid",
			"L2 524288,16,64 shared by 0, cpuid", "L3 6291456,48,64 shared by 0, cpuid",
		}},
		{"older leaves that are empty", system{cpuid: amd(map[leaf]registers{{0x80000000, 0}: {eax: 0x80000006}})}, nil},
		{"no such leaves", system{cpuid: amd(nil)}, nil},
		{"Intel's", system{cpuid: intel(0x16, map[leaf]registers{
			{0x80000000, 0}: {eax: 0x80000008}, {0x80000006, 0}: {ecx: 0x01006040},
		})}, nil},
		{"nothing", system{files: linux(map[string]any{"proc/cpuinfo": "processor : 0"})}, nil},
	} {
		if diff := cmp.Diff(test.want, written(test.known())); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// x3 is CPU 7 of a phone.
func x3() system {
	const cpu7 = "sys/devices/system/cpu/cpu7/"
	files := map[string]any{cpu7 + "regs/identification/midr_el1": "0x00000000411fd4e0"}
	for index, words := range []string{"1 Data 7", "1 Instruction 7", "2 Unified 7", "3 Unified 0-7"} {
		folder, w := fmt.Sprintf("%scache/index%d/", cpu7, index), strings.Fields(words)
		files[folder+"level"], files[folder+"type"], files[folder+"shared_cpu_list"] = w[0], w[1], w[2]
	}
	return system{cpu: 7, files: linux(files)}
}

// TestName: a core has the name that its MIDR says, or its numbers.
func TestName(t *testing.T) {
	of := func(midr string) system {
		return system{files: linux(map[string]any{cpu0 + "regs/identification/midr_el1": midr})}
	}
	for _, test := range []struct {
		system
		want string
	}{
		{x3(), "Arm Cortex-X3"}, {of("0x00000000413fd0c1"), "Arm Neoverse N1"}, {of("0x00000000c00fac30"), "AmpereOne"},
		{of("0x00000000611f0231"), "Apple Firestorm of M1"}, {of("0x00000000411fd4d0"), "implementer 0x41 part 0xd4d"}, {system{}, ""},
	} {
		if got := test.name(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestCoreTLB: the table's TLBs serve all base pages, and huge ones where the source
// says so; every other is a default, as before.
func TestCoreTLB(t *testing.T) {
	n1 := system{files: linux(map[string]any{cpu0 + "regs/identification/midr_el1": "0x00000000413fd0c1"})}
	a53 := system{files: linux(map[string]any{cpu0 + "regs/identification/midr_el1": "0x00000000410fd034"})}
	for _, test := range []struct {
		system
		page int
		want string
	}{
		{n1, page4K, "48,48,4096 1280,5,4096"}, {n1, 64 << 10, "48,48,65536 1280,5,65536"}, {n1, page2M, "48,48,2097152 1280,5,2097152"},
		{a53, 16 << 10, "10,10,16384 512,4,16384"}, {a53, page2M, "32,4,2097152 1536,12,2097152"}, {x3(), page4K, "64,4,4096 1536,12,4096"},
	} {
		if got := simcache.FormatTLB(chooseTLB(test.coreTLB(), test.page)); got != test.want {
			t.Errorf("%d: %s, want %s", test.page, got, test.want)
		}
	}
	if source := chooseTLB(n1.coreTLB(), page4K)[1].Source; source != "core Neoverse N1 (Arm 100616)" {
		t.Error(source)
	}
	for _, c := range cores {
		if c.tlb != (pages{}) && c.tlb.second%c.tlb.ways != 0 {
			t.Errorf("%s: %+v", c.name, c.tlb)
		}
	}
}

func slicesOf(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func intelMac() system {
	s := mac("Intel(R) Core(TM) i7", `hw.cachelinesize: 64
		hw.perflevel0.physicalcpu: 4
		hw.perflevel0.logicalcpu: 8
		hw.perflevel0.l1dcachesize: 32768`)
	s.topology = &topology.System{Packages: []topology.Package{{Caches: []topology.Cache{
		{Level: 1, Type: topology.Data, Size: 32 << 10, LineSize: 64, Ways: 8, SharedThreads: 2}}}}}
	return s
}

// TestCores: every core of the table can be simulated, with what is assumed where
// its source states no ways, and no core is there twice.
func TestCores(t *testing.T) {
	seen := map[[2]int]string{}
	for _, c := range cores {
		key := [2]int{c.implementer, c.part}
		if other := seen[key]; other != "" {
			t.Errorf("%s and %s are both %#x", other, c.name, key)
		}
		seen[key] = c.name
		midr := fmt.Sprintf("0x%08x", c.implementer<<24|c.part<<4)
		caches := system{files: linux(map[string]any{cpu0 + "regs/identification/midr_el1": midr})}.known()
		if len(caches) != 3 {
			t.Errorf("%s has %v", c.name, written(caches))
		}
		for _, known := range caches {
			if err := known.Geometry.Check(); err != nil {
				t.Errorf("%s: %v: %v", c.name, known, err)
			}
		}
		if config := Choose(caches); config.First().Source == simcache.FromDefault || config.Last().Source == simcache.FromDefault {
			t.Errorf("%s: chose %+v", c.name, config)
		}
	}
}

// TestPinned: of a hybrid the caches are those of the first CPU that threads are pinned to, or of
// the one that they are pinned to by default.
func TestPinned(t *testing.T) {
	for _, test := range []struct {
		pinned []int
		want   string
	}{{nil, "L1d 32768,8,64"}, {[]int{0}, "L1d 49152,12,64"}, {[]int{1, 2}, "L1d 49152,12,64"}, {[]int{2, 0}, "L1d 32768,8,64"}} {
		if got := written(hybrid().on(test.pinned).known()); len(got) != 1 || !strings.HasPrefix(got[0], test.want+" ") {
			t.Errorf("pinned to %v: %q, want %s", test.pinned, got, test.want)
		}
	}
}

// TestApart: of the CPUs named those are apart that have other caches than the first.
func TestApart(t *testing.T) {
	for _, test := range []struct{ cpus, want string }{{"3,2,1,0", "0-1"}, {"0-3", "2-3"}, {"2-3", ""}, {"1", ""}} {
		cpus, err := ParseList(test.cpus)
		if got := FormatList(hybrid().apart(cpus)); err != nil || got != test.want {
			t.Errorf("of %s %q are apart, want %q", test.cpus, got, test.want)
		}
	}
	if others := (system{}).apart([]int{0, 1}); others != nil {
		t.Error(others)
	}
	if _, others := Apart(Workers()[0].CPU); others != nil {
		t.Errorf("of one CPU %v are apart", others)
	}
}

// hybrid has a performance core of two threads, CPUs 0 and 1, and efficiency cores 2 and 3.
func hybrid() system {
	files := map[string]any{"sys/devices/system/cpu/online": "0-3"}
	for cpu, of := range []map[string]string{
		sysfsIndex("1", "Data", "48K", "12", "64", "0-1"), sysfsIndex("1", "Data", "48K", "12", "64", "0-1"),
		sysfsIndex("1", "Data", "32K", "8", "64", "2"), sysfsIndex("1", "Data", "32K", "8", "64", "3"),
	} {
		for name, text := range of {
			files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index0/%s", cpu, name)] = text
		}
	}
	return system{cpu: 3, files: linux(files)}
}
