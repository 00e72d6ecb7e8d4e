package cpu

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/cpuid/v2/topology"
)

// linux makes files of names and contents.
func linux(files map[string]any) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, content := range files {
		dir[name] = &fstest.MapFile{Data: []byte(fmt.Sprint(content, "\n"))}
	}
	return dir
}

// written is caches in short.
func written(caches []Cache) []string {
	var all []string
	for _, c := range caches {
		all = append(all, fmt.Sprintf("%s %s shared by %d, %s", c.Name(), c.Geometry,
			c.Shared, c.Source))
	}
	return all
}

const cpu0 = "sys/devices/system/cpu/cpu0/"

// A machine is what one says of itself, as in testdata/systems.yaml.
type machine struct {
	Name   string
	CPU    int
	Sysctl map[string]int
	Files  map[string]any
	Vendor string
	Leaves map[uint32][4]uint32
	Want   []string
}

func (m machine) system() system {
	s := system{cpu: m.CPU, files: linux(m.Files)}
	if m.Sysctl != nil {
		s.sysctl = func(name string) int { return m.Sysctl[name] }
	}
	leaves := map[leaf]registers{}
	for l, r := range m.Leaves {
		leaves[leaf{l, 0}] = registers{r[0], r[1], r[2], r[3]}
	}
	switch m.Vendor {
	case "amd":
		s.cpuid = amd(leaves)
	case "intel":
		s.cpuid = intel(0x16, leaves)
	}
	return s
}

// TestSystems: the caches of machines are found in what these say of themselves.
func TestSystems(t *testing.T) {
	text, err := os.ReadFile("testdata/systems.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []machine
	if err := yaml.UnmarshalWithOptions(text, &all, yaml.Strict()); err != nil || len(all) == 0 {
		t.Fatalf("%d machines, %v", len(all), err)
	}
	for _, m := range all {
		if diff := cmp.Diff(m.Want, written(m.system().known()),
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", m.Name, diff)
		}
	}
	intelMac := machine{Sysctl: map[string]int{
		"hw.cachelinesize": 64, "hw.perflevel0.physicalcpu": 4, "hw.perflevel0.logicalcpu": 8,
		"hw.perflevel0.l1dcachesize": 32768,
	}}.system()
	intelMac.topology = &topology.System{Packages: []topology.Package{{Caches: []topology.Cache{
		{Level: 1, Type: topology.Data, Size: 32 << 10, LineSize: 64, Ways: 8, SharedThreads: 2}}}}}
	want := []string{"L1d 32768,8,64 shared by 2, sysctl; line: cpuid; ways: cpuid"}
	if diff := cmp.Diff(want, written(intelMac.known())); diff != "" {
		t.Errorf("an Intel Mac, sizes by sysctl, ways by cpuid: %s", diff)
	}
}

// x3 is a core whose sysfs has its MIDR alone.
var x3 = system{cpu: 7, files: linux(map[string]any{
	"sys/devices/system/cpu/cpu7/regs/identification/midr_el1": "0x00000000411fd4e0"})}

// TestName: a core has the name that its MIDR says, or its numbers.
func TestName(t *testing.T) {
	of := func(midr string) system {
		return system{files: linux(map[string]any{cpu0 + "regs/identification/midr_el1": midr})}
	}
	for _, test := range []struct {
		system
		want string
	}{
		{x3, "Arm Cortex-X3"}, {of("0x00000000413fd0c1"), "Arm Neoverse N1"},
		{of("0x00000000c00fac30"), "AmpereOne"},
		{of("0x00000000611f0231"), "Apple Firestorm of M1"},
		{of("0x00000000411fd4d0"), "implementer 0x41 part 0xd4d"}, {system{}, ""},
	} {
		if got := test.name(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestCoreTLB: the table's TLBs serve all base pages, and huge ones where the source
// says so; every other is a default, as before.
func TestCoreTLB(t *testing.T) {
	n1 := system{files: linux(map[string]any{cpu0 +
		"regs/identification/midr_el1": "0x00000000413fd0c1"})}
	a53 := system{files: linux(map[string]any{cpu0 +
		"regs/identification/midr_el1": "0x00000000410fd034"})}
	for _, test := range []struct {
		system
		page int
		want string
	}{
		{n1, page4K, "48,48,4096 1280,5,4096"}, {n1, 64 << 10, "48,48,65536 1280,5,65536"},
		{n1, page2M, "48,48,2097152 1280,5,2097152"},
		{a53, 16 << 10, "10,10,16384 512,4,16384"}, {a53, page2M, "32,4,2097152 1536,12,2097152"},
		{x3, page4K, "64,4,4096 1536,12,4096"},
	} {
		if got := FormatTLB(chooseTLB(test.coreTLB(), test.page)); got != test.want {
			t.Errorf("%d: %s, want %s", test.page, got, test.want)
		}
	}
	if source := chooseTLB(n1.coreTLB(), page4K)[1].Source; source != "core Neoverse N1 (Arm "+
		"100616)" {
		t.Error(source)
	}
	for _, c := range cores() {
		if c.tlb != (pages{}) && c.tlb.second%c.tlb.ways != 0 {
			t.Errorf("%s: %+v", c.name, c.tlb)
		}
	}
}

// TestCores: every core of the table can be simulated, with what is assumed where
// its source states no ways, and no core is there twice.
func TestCores(t *testing.T) {
	seen := map[[2]int]string{}
	for _, c := range cores() {
		key := [2]int{c.implementer, c.part}
		if other := seen[key]; other != "" {
			t.Errorf("%s and %s are both %#x", other, c.name, key)
		}
		seen[key] = c.name
		midr := fmt.Sprintf("0x%08x", c.implementer<<24|c.part<<4)
		caches := system{files: linux(map[string]any{cpu0 +
			"regs/identification/midr_el1": midr})}.known()
		if len(caches) != 3 {
			t.Errorf("%s has %v", c.name, written(caches))
		}
		for _, known := range caches {
			if err := known.Geometry.Check(); err != nil {
				t.Errorf("%s: %v: %v", c.name, known, err)
			}
		}
		if config := Choose(caches); config.First().Source == FromDefault ||
			config.Last().Source == FromDefault {
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
	}{{nil, "L1d 32768,8,64"}, {[]int{0}, "L1d 49152,12,64"}, {[]int{1, 2}, "L1d 49152,12,64"},
		{[]int{2, 0}, "L1d 32768,8,64"}} {
		if got := written(hybrid().on(test.pinned).known()); len(got) != 1 ||
			!strings.HasPrefix(got[0], test.want+" ") {
			t.Errorf("pinned to %v: %q, want %s", test.pinned, got, test.want)
		}
	}
}

// TestApart: of the CPUs named those are apart that have other caches than the first.
func TestApart(t *testing.T) {
	for _, test := range []struct{ cpus, want string }{{"3,2,1,0", "0-1"}, {"0-3", "2-3"},
		{"2-3", ""}, {"1", ""}} {
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
		sysfsIndex("1", "Data", "48K", "12", "64", "0-1"),
		sysfsIndex("1", "Data", "48K", "12", "64", "0-1"),
		sysfsIndex("1", "Data", "32K", "8", "64", "2"),
		sysfsIndex("1", "Data", "32K", "8", "64", "3"),
	} {
		for name, text := range of {
			files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index0/%s", cpu, name)] = text
		}
	}
	return system{cpu: 3, files: linux(files)}
}
