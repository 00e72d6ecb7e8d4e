package probe_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines"
)

// TestFiles: a name stands for the machine that was measured and saved; it is this
// machine's unless its CPU is surely another; and there may be none.
func TestFiles(t *testing.T) {
	measured := `
levels:
  - {name: L1D, size: 32KiB, ways: 8, line: 64}
  - {name: L2, size: 1MiB, ways: 16, line: 64}
measured:
  date: 2026-11-21T07:14:35Z
  cpu: one CPU
  pages: thp
  levels:
    - {name: L1D, stated: 32KiB, capacity: 32KiB, latency-ns: 1.5, read-GB/s: 80, copy-GB/s: 60}
    - {name: L2, stated: 1MiB, capacity: 1MiB, latency-ns: 5, read-GB/s: 50, copy-GB/s: 30}
  memory: {latency-ns: 100, read-GB/s: 10, copy-GB/s: 8}
`
	dir := t.TempDir()
	f := probe.Files{Saved: filepath.Join(dir, "measured.yaml")}
	if _, found, err := f.Own(probe.Host{CPU: "one CPU"}); found || err != nil {
		t.Errorf("before there is one: %v, %v", found, err)
	}
	if _, err := f.Machine(probe.SavedName); err == nil ||
		!strings.Contains(err.Error(), "bench machine --measure") {
		t.Errorf("before there is one: %v", err)
	}
	text := []byte("name: test\ndescription: a test\n" + measured)
	if err := os.WriteFile(f.Saved, text, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := f.Machine(probe.SavedName)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Capacities(); len(got) != 2 || got[1] != 1<<20 {
		t.Errorf("capacities %v", got)
	}
	core := func(l1, l2 int) []cpu.Cache {
		return []cpu.Cache{{Level: 1, Type: "Data", Geometry: simcache.Geometry{Size: l1}},
			{Level: 1, Type: "Instruction", Geometry: simcache.Geometry{Size: 64 << 10}},
			{Level: 2, Type: "Unified", Geometry: simcache.Geometry{Size: l2}},
			{Level: 3, Type: "Unified", Geometry: simcache.Geometry{Size: 12 << 20}}}
	}
	for _, c := range []struct {
		this probe.Host
		why  string
	}{
		{probe.Host{CPU: "one CPU"}, ""},
		{probe.Host{CPU: "another"}, "one CPU was measured, this is another"},
		{probe.Host{}, ""},
		{probe.Host{CPU: "one CPU", Caches: core(32<<10, 1<<20)}, ""},
		{probe.Host{CPU: "one CPU", Caches: core(32<<10, 0)}, ""},
		{probe.Host{CPU: "one CPU", Caches: core(48<<10, 1<<20)},
			"a core with L1D of 32 KiB was measured, this one has 48 KiB"},
		{probe.Host{CPU: "one CPU", Caches: core(32<<10, 2<<20)},
			"a core with L2 of 1 MiB was measured, this one has 2 MiB"},
		{probe.Host{Caches: core(48<<10, 1<<20)}, ""},
	} {
		if _, found, err := f.Own(c.this); found != (c.why == "") || err != nil {
			t.Errorf("on %v: %v, %v", c.this, found, err)
		}
		if why := m.Other(c.this); why != c.why {
			t.Errorf("on %v: other as %q, want %q", c.this, why, c.why)
		}
	}
	if _, found, err := (probe.Files{Err: errors.New("no home")}).Own(
		probe.Host{CPU: "one CPU"}); found || err != nil {
		t.Errorf("without a home: %v, %v", found, err)
	}
	preset, err := machines.File("amd-zen3")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Saved, preset, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Machine(probe.SavedName); !errors.Is(err, probe.ErrNotMeasured) {
		t.Errorf("%v", err)
	}
	if d, err := f.Description(probe.SavedName); err != nil || d.Name != "amd-zen3" {
		t.Errorf("%v, %v", d.Name, err)
	}
}
