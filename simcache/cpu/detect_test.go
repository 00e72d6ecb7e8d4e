package cpu

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/cpuid/v2/topology"
	"github.com/stridebench/stridebench/simcache"
)

func sysfsIndex(level, kind, size, ways, line, shared string) map[string]string {
	return map[string]string{"level": level, "type": kind, "size": size,
		"ways_of_associativity": ways, "coherency_line_size": line, "shared_cpu_list": shared}
}

func TestFromSysfs(t *testing.T) {
	dir := fstest.MapFS{}
	for index, files := range map[string]map[string]string{
		"index0": sysfsIndex("1", "Data", "48K", "12", "64", "0,4"),
		"index1": sysfsIndex("1", "Instruction", "32K", "8", "64", "0,4"),
		"index2": sysfsIndex("2", "Unified", "2M", "16", "64", "0,4"),
		"index3": sysfsIndex("3", "Unified", "36608K", "11", "64", "0-7"),
		"index4": sysfsIndex("4", "Unified", "65536K", "", "64", "0-7"), // ways untold
	} {
		for name, text := range files {
			dir["sys/devices/system/cpu/cpu0/cache/"+index+"/"+name] = &fstest.MapFile{Data: []byte(
				text + "\n")}
		}
	}
	want := []Cache{
		{Level: 1, Type: "Data", Geometry: simcache.Geometry{Size: 49152, Ways: 12, Line: 64},
			Shared: 2, Source: ofSysfs},
		{Level: 1, Type: "Instruction", Geometry: simcache.Geometry{Size: 32768, Ways: 8, Line: 64},
			Shared: 2, Source: ofSysfs},
		{Level: 2, Type: "Unified", Geometry: simcache.Geometry{Size: 2 << 20, Ways: 16, Line: 64},
			Shared: 2, Source: ofSysfs},
		{Level: 3, Type: "Unified", Geometry: simcache.Geometry{Size: 37486592, Ways: 11, Line: 64},
			Shared: 8, Source: ofSysfs},
		{Level: 4, Type: "Unified", Geometry: simcache.Geometry{Size: 64 << 20, Ways: 16, Line: 64},
			Shared: 8, Source: "sysfs; ways: assumed"},
	}
	caches := system{files: dir}.known()
	if diff := cmp.Diff(want, caches); diff != "" {
		t.Error(diff)
	}
	chosen := func(i1, d1, ll simcache.Geometry, source string) simcache.Config {
		return simcache.Config{I1: i1, I1Source: source, Levels: []simcache.Level{
			{Name: "D1", Geometry: d1, Source: source}, {Name: "LL", Geometry: ll, Source: source}}}
	}
	wanted := chosen(simcache.Geometry{Size: 32768, Ways: 8, Line: 64},
		simcache.Geometry{Size: 49152, Ways: 12, Line: 64},
		simcache.Geometry{Size: 37748736, Ways: 18, Line: 64}, ofSysfs) // rounded
	wanted.Levels[1].SharedBy = 4 // of 8 logical CPUs, two on a core
	if diff := cmp.Diff(wanted, Choose(caches[:4])); diff != "" {
		t.Error(diff)
	}
	small := simcache.Geometry{Size: 32768, Ways: 8, Line: 64}
	wanted = chosen(small, small, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}, FromDefault)
	if diff := cmp.Diff(wanted, Choose(nil)); diff != "" {
		t.Error(diff)
	}
	// A last level of unknown size is behind the one that is known: that is not the last.
	unknown := append(slices.Clone(caches[:3]), Cache{Level: 3, Type: "Unified", Source: ofCPUID})
	if got := Choose(unknown).Last(); got.Size != 8<<20 || got.Source != FromDefault {
		t.Errorf("a last level of unknown size is simulated as %+v", got)
	}
	if caches := (system{files: fstest.MapFS{}}).known(); len(caches) > 0 {
		t.Errorf("an empty folder has caches %v", caches)
	}
}

func TestFromTopology(t *testing.T) {
	known := func(found *topology.System) []Cache { return system{topology: found}.known() }
	system := &topology.System{Packages: []topology.Package{{Groups: []topology.Group{{
		Caches: []topology.Cache{{Level: 3, Type: topology.Unified, Size: 32 << 20, LineSize: 64,
			Ways: 16, Sets: 32768, SharedThreads: 8}},
		Cores: []topology.Core{{Caches: []topology.Cache{
			{Level: 1, Type: topology.Data, Size: 32 << 10, LineSize: 64, Ways: 8,
				SharedThreads: 1},
			{Level: 2, Type: topology.Unified, Size: -1, LineSize: 64, Ways: 8}, // unknown
		}}},
	}}}}}
	want := []Cache{
		{Level: 1, Type: "Data", Geometry: simcache.Geometry{Size: 32768, Ways: 8, Line: 64},
			Shared: 1, Source: ofCPUID},
		{Level: 3, Type: "Unified", Geometry: simcache.Geometry{Size: 32 << 20, Ways: 16, Line: 64},
			Shared: 8, Source: ofCPUID},
	}
	caches := known(system)
	if diff := cmp.Diff(want, caches); diff != "" {
		t.Error(diff)
	}
	got := Choose(caches)
	if got.I1Source != FromDefault || got.Levels[0].Source != ofCPUID ||
		got.Levels[1].Size != 32<<20 {
		t.Errorf("chose %+v", got)
	}
	if got := known(nil); len(got) > 0 {
		t.Errorf("no topology has caches %v", got)
	}
}

// TestBetween: a last level whose sets were rounded up is not between the first and itself.
func TestBetween(t *testing.T) {
	caches := []Cache{
		{Level: 1, Type: "Data", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Level: 2, Type: "Unified", Geometry: simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64}},
		{Level: 3, Type: "Unified", Geometry: simcache.Geometry{Size: 36608 << 10,
			Ways: 11, Line: 64}},
	}
	var sizes []int
	for _, l := range Between(Choose(caches), caches) {
		sizes = append(sizes, l.Size)
	}
	if diff := cmp.Diff([]int{32 << 10, 1 << 20, 36 << 20}, sizes); diff != "" {
		t.Error(diff)
	}
}

// TestRounded: set counts become powers of two as Cachegrind makes them.
func TestRounded(t *testing.T) {
	odd := simcache.Geometry{Size: 37486592, Ways: 11, Line: 64}
	if got := rounded(odd).String(); got != "37748736,18,64" {
		t.Errorf("%v rounds to %s, Cachegrind to 37748736,18,64", odd, got)
	}
	if g := (simcache.Geometry{Size: 49152, Ways: 12, Line: 64}); rounded(g) != g {
		t.Errorf("%v with its 64 sets rounds to %v", g, rounded(g))
	}
}
