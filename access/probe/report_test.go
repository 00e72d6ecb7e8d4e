package probe

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// rows are the lines of a table with one blank between words, and none that are empty.
func rows(text string) (all []string) {
	for line := range strings.Lines(text) {
		if words := strings.Join(strings.Fields(line), " "); words != "" {
			all = append(all, words)
		}
	}
	return all
}

// TestTables: what was measured is a row, in the units of people; of what was not there is no row.
func TestTables(t *testing.T) {
	m := example()
	m.Levels[0].Ways, m.Streams = 8, 1
	var text strings.Builder
	if err := m.writeTables(&text); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"measured serves up to stated simulated latency near far crowded read copy",
		"L1D 32.23 KiB, 8 ways 32 KiB 32 KiB, 8 ways 1.25 ns 254 GB/s 184 GB/s",
		"L2 2 MiB unknown 2 MiB, 32 ways 4.5 ns 3.5, 4.75 ns 110 GB/s unknown",
		"memory 99.5 ns 5.5 ns 14.2 ns 11.5 GB/s 11 GB/s",
		"measured data TLB entries reach simulated a miss costs far scattered",
		fmt.Sprintf("level 1 64, 16 ways %s 64, 64 ways 2.25 ns 0.75 ns 1.5 ns", simcache.Bytes(64*PageSize())),
		"by 8 threads read copy", "L1D 508 GB/s 369 GB/s", "L2 unknown unknown", "memory 40 GB/s 38 GB/s",
		"CPUs of memory of latency read, by all of the node", "node 0 node 1 150 ns 20 GB/s",
		"1 thread streams for a share of time memory moves latency", "0% 0.645 GB/s 99.5 ns", "25% 20 GB/s 120 ns",
		"reads again and again of 16 MiB 24 MiB", "by one core 90 GB/s 60.5 GB/s", "by 8 threads together 180 GB/s unknown",
		"lines of memory by plain loops sum copy", "one after the other 10.5 ns 20.5 ns", "of int32 11.5 ns", "by 8 threads together 6.5 ns",
		"lines of memory that are adjacent 1 2", "of many rows, interleaved 13.5 ns 55 ns",
		"a run of memory, in elements of 2 B 8 B", "takes to begin 310 ns",
		"of L2, 512 B apart 91.5 ns",
		"an element takes sum apart fill apart copy apart add apart",
		"int8", "int16", "int32", "int64", "float16", "bfloat16 1.25 ns 1.5 ns", "float32 0.25 ns 0.5 ns", "float64",
		"transposed by tiles of x16", "8, row-major 21.5 ns", "64, col-major 50 ns",
	}
	got := rows(text.String())
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("row %d of\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	m = Machine{Levels: []Level{{Name: "L1D", Capacity: 32 << 10, Speed: Speed{Latency: 1.25}}}, TLB: []Reach{{Entries: 64, Miss: 2}}}
	text.Reset()
	if err := m.writeTables(&text); err != nil {
		t.Fatal(err)
	}
	if got := rows(text.String()); len(got) != 4 || got[1] != "L1D 32 KiB unknown not 1.25 ns unknown unknown" || !strings.HasSuffix(got[3], " not 2 ns unknown unknown") {
		t.Errorf("of one level and its TLB:\n%s", strings.Join(got, "\n"))
	}
	// A row of a matrix of tiles has all columns of one order, in which some dtypes were measured.
	m.Tiles = []Tile{{false, 8, 8, 1}, {false, 8, 16, 2}, {false, 16, 8, 3}, {false, 16, 16, 4}, {true, 16, 8, 5}, {true, 16, 16, 6}}
	m.Loops = []Loop{{access.Sum, layouts.Int8, 1, 2}, {access.Fill, layouts.Int16, 3, 4}}
	text.Reset()
	if err := m.writeTables(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nint8 1 ns 2 ns\nint16 3 ns 4 ns\nint32\n", "\ntransposed by tiles of x8 x16\n8, row-major 1 ns 2 ns\n16, row-major 3 ns 4 ns\n16, col-major 5 ns 6 ns"} {
		if got := strings.Join(rows(text.String()), "\n"); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestWarnings: what was measured otherwise than is stated, or in a way that says less, is warned of, and nothing else.
func TestWarnings(t *testing.T) {
	stated := []cpu.Cache{
		{Level: 1, Type: "Data", Source: simcache.FromCPUID, Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
		{Level: 1, Type: "Instruction", Source: simcache.FromCPUID, Geometry: simcache.Geometry{Size: 64 << 20, Ways: 8, Line: 64}},
		{Level: 2, Type: "Unified", Source: simcache.FromCPUID, Geometry: simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64}},
		{Level: 3, Type: "Unified", Source: simcache.FromCPUID, Geometry: simcache.Geometry{Size: 16 << 20, Ways: 16, Line: 64}},
	}
	quiet := func() Machine {
		m := Machine{Pages: "hugetlb", Memory: Speed{Latency: 90}, Ladder: []Point{{4096, 1}, {32 << 20, 90}}}
		for i, size := range []int{32 << 10, 1 << 20, 16 << 20} {
			m.Levels = append(m.Levels, Level{Name: fmt.Sprintf("L%d", i+1), Stated: size, Capacity: size, Speed: Speed{Latency: float64(1 + i), Read: 50e9}})
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
		{"less", func(m *Machine) { m.Levels[2].Capacity = 4 << 20 }, "L3 serves working sets up to 4 MiB, where cpuid states 16 MiB. "},
		{"none that the machine states", func(m *Machine) { m.Levels = append(m.Levels, Level{Name: "L4", Capacity: 20 << 20}) }, ""},
		{"hidden", func(m *Machine) { m.Levels = append(m.Levels[:1:1], m.Levels[2]) }, "L2 of 1 MiB, which cpuid states, shows at no working set."},
		{"a short ladder", func(m *Machine) { m.Ladder[1].Size = 24 << 20 }, "The largest working set is 24 MiB, not twice the 16 MiB of L3: the figures for memory may be a cache's."},
		{"no ladder", func(m *Machine) { m.Ladder, m.Levels = nil, m.Levels[:2] }, "The largest working set is 0 B, not twice the 16 MiB of L3"},
		{"nothing behind", func(m *Machine) { m.Ladder[1].Size, m.Memory = 1<<20, Speed{} }, ""},
		{"threads", func(m *Machine) { m.Threads, m.Levels[0].ReadAll = 8, 200e9 }, ""},
		{"disturbed", func(m *Machine) { m.Threads, m.Levels[0].ReadAll = 8, 100e9 }, "8 threads together read L1 at 100 GB/s, one alone at 50 GB/s: something else ran on a core"},
		{"one thread", func(m *Machine) { m.Threads, m.Levels[0].ReadAll = 1, 10e9 }, ""},
		{"small pages", func(m *Machine) { m.Pages = "4k" }, "No huge pages could be had: "},
		{"apart", func(m *Machine) { m.PageLadder, m.HugeLadder = []Point{{8, 1}, {64, 9}}, []Point{{8, 1}, {64, 6}} }, "Huge pages are translated as small ones are"},
		{"half apart", func(m *Machine) { m.PageLadder, m.HugeLadder = []Point{{8, 1}, {64, 9}}, []Point{{8, 1}, {64, 5}} }, ""},
	} {
		m := quiet()
		c.change(&m)
		got := m.Warnings(stated, "measured")
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	less := quiet()
	less.Levels[1].Capacity = 4096
	if got := less.Warnings(nil, "here.yaml"); len(got) != 1 || !strings.HasPrefix(got[0], "L2 serves working sets up to 4 KiB, where the file states 1 MiB. ") || !strings.HasSuffix(got[0], "; --caches=here.yaml simulates it.") {
		t.Errorf("%q", got)
	}
}

// TestSimulatedWarnings: what a file simulates otherwise than was measured is warned of.
func TestSimulatedWarnings(t *testing.T) {
	m := example()
	m.Levels[0].Capacity = 32 << 10
	if got := m.SimulatedWarnings(); got != nil {
		t.Errorf("%q", got)
	}
	m.Levels[1].Capacity, m.TLB[0].Entries = 1<<20, 72
	m.TLB, m.Levels = append(m.TLB, Reach{Entries: 2048}), append(m.Levels, Level{Name: "L3", Capacity: 8 << 20})
	got := m.SimulatedWarnings()
	for i, want := range []string{"L2 was found to serve 1 MiB and is simulated as 2 MiB, 32 ways: ", "L3 was found to serve 8 MiB and is not simulated: ", "Level 1 of the TLB was found to have 72 entries and is simulated with 64, 64 ways: ",
		"Level 2 of the TLB was found to have 2048 entries and is not simulated: "} {
		if len(got) != 4 || !strings.HasPrefix(got[i], want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// TestReport: a report says when and where, and warns; a machine that was not measured has no JSON.
func TestReport(t *testing.T) {
	r := &Report{Machine: example(), File: "m.yaml", Warnings: []string{"beware."}}
	var text strings.Builder
	if err := r.Write(&text); err != nil {
		t.Fatal(err)
	}
	if want := "\nmeasured on 2026-11-21 10:20:30, the ladder on pages of thp; saved in m.yaml\n"; !strings.Contains(text.String(), want) || !strings.Contains(text.String(), "warning: beware.") || !strings.HasPrefix(text.String(), "measured ") {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	if j := r.JSON(); j == nil || j.File != "m.yaml" || len(j.Warnings) != 1 || len(j.Levels) != 2 {
		t.Errorf("%+v", j)
	}
	if j := (*Report)(nil).JSON(); j != nil {
		t.Errorf("%+v", j)
	}
	if err := r.Write(failing{}); err == nil {
		t.Error("what cannot be written is no error")
	}
}

// failing cannot be written to.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestBehindAll: instructions are no data that all cores have in their caches.
func TestBehindAll(t *testing.T) {
	s := &sampler{Options: Options{MaxSize: 1 << 20, Caches: []cpu.Cache{
		{Level: 1, Type: "Data", Geometry: simcache.Geometry{Size: 32 << 10}}, {Level: 1, Type: "Instruction", Geometry: simcache.Geometry{Size: 64 << 20}},
		{Level: 2, Type: "Unified", Geometry: simcache.Geometry{Size: 1 << 20}}}, Workers: []cpu.Logical{{Core: 0}, {Core: 1}, {Core: 2}}}}
	if got, want := s.behindAll(), 4*3*(1<<20+32<<10); got != want {
		t.Errorf("%d B, want %d", got, want)
	}
}
