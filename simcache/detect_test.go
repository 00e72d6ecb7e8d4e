package simcache

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/cpuid/v2/topology"
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
			dir[index+"/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
	}
	want := []Cache{
		{1, "Data", Geometry{49152, 12, 64}, 2, FromSysfs},
		{1, "Instruction", Geometry{32768, 8, 64}, 2, FromSysfs},
		{2, "Unified", Geometry{2 << 20, 16, 64}, 2, FromSysfs},
		{3, "Unified", Geometry{37486592, 11, 64}, 8, FromSysfs},
	}
	caches := fromSysfs(dir)
	if diff := cmp.Diff(want, caches); diff != "" {
		t.Error(diff)
	}
	wantSettings := Settings{
		I1: Setting{Geometry{32768, 8, 64}, FromSysfs},
		D1: Setting{Geometry{49152, 12, 64}, FromSysfs},
		LL: Setting{Geometry{37748736, 18, 64}, FromSysfs}, // rounded
	}
	if diff := cmp.Diff(wantSettings, Choose(caches)); diff != "" {
		t.Error(diff)
	}
	if caches := fromSysfs(fstest.MapFS{}); caches != nil {
		t.Errorf("an empty folder has caches %v", caches)
	}
}

func TestFromTopology(t *testing.T) {
	system := &topology.System{Packages: []topology.Package{{Groups: []topology.Group{{
		Caches: []topology.Cache{{Level: 3, Type: topology.Unified, Size: 32 << 20, LineSize: 64, Ways: 16, Sets: 32768, SharedThreads: 8}},
		Cores: []topology.Core{{Caches: []topology.Cache{
			{Level: 1, Type: topology.Data, Size: 32 << 10, LineSize: 64, Ways: 8, SharedThreads: 1},
			{Level: 2, Type: topology.Unified, Size: -1, LineSize: 64, Ways: 8}, // unknown
		}}},
	}}}}}
	want := []Cache{
		{1, "Data", Geometry{32768, 8, 64}, 1, FromCPUID},
		{3, "Unified", Geometry{32 << 20, 16, 64}, 8, FromCPUID},
	}
	caches := fromTopology(system)
	if diff := cmp.Diff(want, caches); diff != "" {
		t.Error(diff)
	}
	got := Choose(caches)
	if got.I1.Source != FromDefault || got.D1.Source != FromCPUID || got.LL.Size != 32<<20 {
		t.Errorf("chose %+v", got)
	}
	if got := fromTopology(nil); got != nil {
		t.Errorf("no topology has caches %v", got)
	}
	if got := Choose(nil); got != defaults {
		t.Errorf("without caches chose %+v", got)
	}
}
