package probe

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// TestTables: what was measured is a row, in the units of people; of what was not there is no row.
func TestTables(t *testing.T) {
	if PageSize() != 4<<10 {
		t.Skip("the table has what a TLB reaches on pages of 4 KiB")
	}
	whole := example()
	whole.Streams = 1
	small := Machine{
		Levels: []Level{{Name: "L1D", Capacity: 32 << 10,
			Speed: Speed{Latency: 1.25, Read: 999.4, Copy: 999.6}}},
		TLB: []Reach{{Entries: 64, Miss: 2}},
	}
	some := small
	some.Streams, some.Loads = 7, whole.Loads
	var text strings.Builder
	for _, m := range []Machine{whole, small, some} {
		if err := m.writeTables(&text); err != nil {
			t.Fatal(err)
		}
	}
	nodes := []cpu.Node{{ID: 0, CPUs: []int{0, 1, 4}, Memory: 3 << 30, Distances: []int{10, 21}},
		{ID: 2, CPUs: []int{2}}}
	if err := cpu.WriteNodes(&text, nodes); err != nil {
		t.Fatal(err)
	}
	golden(t, "tables.txt", text.String())
}

// TestWarnings: what was measured otherwise than is stated, or in a way that says less, is warned
// of, and nothing else.
func TestWarnings(t *testing.T) {
	stated := []cpu.Cache{
		{Level: 1, Type: "Data", Source: "cpuid",
			Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Level: 1, Type: "Instruction", Source: "cpuid",
			Geometry: simcache.Geometry{Size: 64 << 20, Ways: 8, Line: 64}},
		{Level: 2, Type: "Unified", Source: "cpuid",
			Geometry: simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64}},
		{Level: 3, Type: "Unified", Source: "cpuid",
			Geometry: simcache.Geometry{Size: 16 << 20, Ways: 16, Line: 64}},
	}
	quiet := func() Machine {
		m := Machine{Pages: "hugetlb", Memory: Speed{Latency: 90},
			Ladder: []Point{{4096, 1}, {32 << 20, 90}}}
		for i, size := range []int{32 << 10, 1 << 20, 16 << 20} {
			m.Levels = append(m.Levels, Level{Name: fmt.Sprintf("L%d", i+1),
				Stated: strict.Size(size), Capacity: strict.Size(size),
				Speed: Speed{Latency: float64(1 + i), Read: 50}})
		}
		return m
	}
	for _, c := range []struct {
		what   string
		change func(*Machine)
		want   string // the beginning of the one warning, "" for none
	}{
		{"nothing", func(*Machine) {}, ""},
		{"a little less", func(m *Machine) { m.Levels[2].Capacity = 12 << 20 }, ""},
		{"less", func(m *Machine) {
			m.Levels[2].Capacity = 4 << 20
		}, "L3 serves working sets up to 4 MiB, where cpuid states 16 MiB. "},
		{"none that the machine states", func(m *Machine) {
			m.Levels = append(m.Levels, Level{Name: "L4", Capacity: 20 << 20})
		}, ""},
		{"hidden", func(m *Machine) {
			m.Levels = append(m.Levels[:1:1], m.Levels[2])
		}, "L2 of 1 MiB, which cpuid states, shows at no working set."},
		{"a short ladder", func(m *Machine) {
			m.Ladder[1].Size = 24 << 20
		}, "The largest working set is 24 MiB, not twice the 16 MiB of L3: the figures for " +
			"memory may be a cache's."},
		{"no ladder", func(m *Machine) {
			m.Ladder, m.Levels = nil, m.Levels[:2]
		}, "The largest working set is 0 B, not twice the 16 MiB of L3"},
		{"nothing behind", func(m *Machine) { m.Ladder[1].Size, m.Memory = 1<<20, Speed{} }, ""},
		{"threads", func(m *Machine) { m.Threads, m.Levels[0].ReadAll = 8, 200 }, ""},
		{"disturbed", func(m *Machine) {
			m.Threads, m.Levels[0].ReadAll = 8, 100
		}, "8 threads together read L1 at 100 GB/s, one alone at 50 GB/s: something else ran " +
			"on a core"},
		{"one thread", func(m *Machine) { m.Threads, m.Levels[0].ReadAll = 1, 10 }, ""},
		{"small pages", func(m *Machine) { m.Pages = "4k" }, "No huge pages could be had: "},
	} {
		m := quiet()
		c.change(&m)
		got := m.Warnings(stated, "measured")
		if c.want == "" && len(got) > 0 || c.want != "" &&
			(len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	less := quiet()
	less.Levels[1].Capacity = 4096
	if got := less.Warnings(nil, "here.yaml"); len(got) != 1 ||
		!strings.HasPrefix(got[0], "L2 serves working sets up to 4 KiB, where the file states "+
			"1 MiB. ") || !strings.HasSuffix(got[0], "; --caches=here.yaml simulates it.") {
		t.Errorf("%q", got)
	}
}

// TestReport: a report says when and where, and warns.
func TestReport(t *testing.T) {
	r := ReportOf(example(), "m.yaml", []string{"beware."})
	var text strings.Builder
	if err := r.Write(&text); err != nil {
		t.Fatal(err)
	}
	if want := "\nmeasured on 2026-11-21 10:20:30, the ladder on pages of thp; saved in m.yaml\n"; !strings.Contains(text.String(), want) || !strings.Contains(text.String(), "warning: beware.") || !strings.HasPrefix(text.String(), "measured ") {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	if err := r.Write(failing{}); err == nil {
		t.Error("what cannot be written is no error")
	}
}

// failing cannot be written to.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
