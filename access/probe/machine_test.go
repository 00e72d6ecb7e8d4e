package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines"
)

// example is a machine with every field.
func example() Machine {
	return Machine{
		Simulated: simcache.Config{
			I1: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
			Levels: []simcache.Level{
				{Name: "L1D", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
				{Name: "L2", Geometry: simcache.Geometry{Size: 2 << 20, Ways: 32, Line: 64}}},
			TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: PageSize()}},
		},
		Date: time.Date(2026, 11, 21, 10, 20, 30, 0, time.UTC), CPU: "Some CPU @ 3 GHz: fast", Pages: "thp",
		Levels: []Level{
			{"L1D", 32 << 10, 33000, Speed{1.25, 254e9, 184.5e9, 508e9, 369e9, 0, 0, 0, 0, 0, 0}, 0},
			{"L2", 0, 2 << 20, Speed{Latency: 4.5, Read: 110e9, Crowded: 3.5, CrowdedStore: 4.75, Beside: 3.25, BesideStore: 1.25}, 0}},
		Memory:     Speed{99.5, 11.5e9, 11e9, 40e9, 38e9, 5.5, 14.25, 0, 0, 0, 0},
		TLB:        []Reach{{64, 2.25, .75, 1.5, 16}},
		Threads:    8,
		Remote:     []Remote{{0, 1, 150.5, 20e9}},
		Streams:    7,
		Loads:      []Load{{0, []float64{99, 100}, []float64{64e7, 65e7}}, {0.25, []float64{120.5}, []float64{20e9}}},
		Sparse:     91.5,
		Streamed:   []Stream{{access.Sum, 10.5, 11.5, 6.5}, {access.Copy, 20.5, 0, 0}},
		Runs:       []Run{{1, 13.5}, {2, 55}},
		Starts:     []Point{{2, 310.5}, {8, 0}},
		Loops:      []Loop{{access.Sum, layouts.Float32, .25, .5}, {access.Add, layouts.BFloat16, 1.25, 1.5}},
		Tiles:      []Tile{{false, 8, 16, 21.5}, {true, 64, 8, 50}},
		Ladder:     []Point{{4096, 1.25}, {6144, 1.5}, {64 << 20, 100}},
		ReadLadder: []Reading{{16 << 20, 90e9, 180e9}, {24 << 20, 60.5e9, 0}},
		PageLadder: []Point{{8, 1.25}, {128, 3.5}},
		HugeLadder: []Point{{8, 1.25}, {128, 2.75}},
	}
}

// TestWritten: the section measured is written as it always was, to the byte: what is added to the format is left
// out where there is none of it.
func TestWritten(t *testing.T) {
	m := example()
	m.Levels[1].Near, m.Levels[1].Far, m.Levels[1].Ways = 1.5, 2.25, 16
	text, err := m.Format()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "format", "measured.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, measured, _ := strings.Cut(string(text), "\nmeasured:")
	if diff := cmp.Diff(string(want), "measured:"+measured); diff != "" {
		t.Error(diff)
	}
}

func TestFormat(t *testing.T) {
	want := example()
	text, err := want.Format()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("f", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// It is a description like others.
	d, err := machines.Parse("f", text)
	if err != nil || !cmp.Equal(d.Config, want.Simulated) || d.Name != "measured" ||
		d.Description != "Some CPU @ 3 GHz: fast, measured on 2026-11-21" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, line := range []string{"  page-ladder:\n", "    - {size: 6KiB, ns: 1.5}\n", "    - {pages: 128, ns: 3.5}\n", "      latency-ns: 4.5\n"} {
		if !strings.Contains(string(text), line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// TestFormatAny: whatever is measured is read as it was written.
func TestFormatAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Float64Range(1e-3, 1e6)
		speed := func(label string, least float64) Speed {
			return Speed{least + positive.Draw(t, label), giga * positive.Draw(t, "read"), giga * positive.Draw(t, "copy"), giga * positive.Draw(t, "read-all"), giga * positive.Draw(t, "copy-all"), positive.Draw(t, "near"), positive.Draw(t, "far"),
				positive.Draw(t, "crowded"), positive.Draw(t, "crowded store"), positive.Draw(t, "beside"), positive.Draw(t, "store beside")}
		}
		m := Machine{Simulated: example().Simulated, Date: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "date"), 0).UTC(),
			CPU: rapid.StringMatching(`(\? ?!?)?[ -~]*`).Draw(t, "cpu"), Pages: "4k", Memory: speed("memory", 0)}
		m.CPU = strings.Join(strings.Fields(m.CPU), " ")
		size, ns := 0, 0.0
		for range rapid.IntRange(1, 5).Draw(t, "levels") {
			size += rapid.IntRange(1, 1<<30).Draw(t, "size")
			l := Level{Name: rapid.StringMatching(`L[1-9]D?`).Draw(t, "name"), Capacity: size, Speed: speed("latency", ns), Ways: rapid.IntRange(0, 40).Draw(t, "ways")}
			ns = l.Latency
			m.Levels = append(m.Levels, l)
			m.Ladder = append(m.Ladder, Point{size, positive.Draw(t, "ns")})
			m.PageLadder = append(m.PageLadder, Point{size, positive.Draw(t, "ns")})
			m.HugeLadder = append(m.HugeLadder, Point{size, positive.Draw(t, "ns")})
			m.ReadLadder = append(m.ReadLadder, Reading{size, giga * positive.Draw(t, "read"), giga * positive.Draw(t, "read-all")})
			m.Runs = append(m.Runs, Run{size, positive.Draw(t, "ns")})
			m.Starts = append(m.Starts, Point{size, positive.Draw(t, "ns")})
			m.Loops = append(m.Loops, Loop{rapid.SampledFrom(loopOps).Draw(t, "op"), loopDTypes[len(m.Loops)], positive.Draw(t, "run"), positive.Draw(t, "step")})
			m.TLB = append(m.TLB, Reach{size, positive.Draw(t, "miss"), positive.Draw(t, "apart"), positive.Draw(t, "scattered"), rapid.IntRange(0, 40).Draw(t, "ways")})
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "tiles") { // of three rows, or two orders
			m.Tiles = append(m.Tiles, Tile{i > 2, i%3 + size, size, positive.Draw(t, "ns")})
		}
		text, err := m.Format()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("f", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(m, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestParseErrors: what is wrong, where, and what would be right.
func TestParseErrors(t *testing.T) {
	whole, err := example().Format()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{"\nmeasured:", "\nmeasure:", `f:22:1: unknown field "measure" (want one of name,`},
		{"  memory:", "  memories:", `f:43:3: unknown field "memories" (want one of date, cpu, pages, levels, memory, tlb, threads, remote, streams, loads, sparse-ns, streamed, runs, starts, loops, tiles, ladder, read-ladder, page-ladder, huge-page-ladder)`},
		{"{bytes: 2, ns: 310.5}", "{bytes: 8, ns: 310.5}", "f:73:8: 8 bytes after 8, 0 ns (want sizes that ascend, and finite times, none of them negative)"},
		{"{bytes: 2, ns: 310.5}", "{bytes: 2, ns: .inf}", "f:72:8: 2 bytes after 0, +Inf ns (want sizes that ascend, and finite times, none of them negative)"},
		{"{bytes: 2, ns: 310.5}", "{bytes: 2, ns: -1}", "f:72:8: 2 bytes after 0, -1 ns (want sizes that ascend, and finite times, none of them negative)"},
		{"capacity: 33000B", "capacity: much", `f:29:17: "much" is not a size`},
		{"capacity: 2MiB", "capacity: 1KiB", "f:35:7: a capacity of 1KiB (want more than the 33000B of the level before)"},
		{"latency-ns: 4.5", "latency-ns: 0.5", "f:35:7: a latency of 0.5 ns (want more than the 1.25 of the level before)"},
		{"latency-ns: 99.5", "latency-ns: -1", "f:44:5: a latency of -1 ns, near 5.5, far 14.25, crowded 0 and of stores 0 ns, in four sets 0 and of stores 0 ns, read 11.5 and copy 11 GB/s, of all cores 40 and 38 (want a positive latency"},
		{"latency-ns: 99.5", "latency-ns: .nan", "f:44:5: a latency of NaN ns"},
		{"entries: 64\n      miss", "entries: 0\n      miss", "f:52:7: 0 entries and 2.25 ns, apart 0.75 and scattered 1.5 ns (want the first two positive, and no time below 0)"},
		{"ways: 16", "ways: -1", "f:52:7: -1 ways (want 0 for none found, or more)"},
		{"latency-ns: 150.5", "latency-ns: 0", "f:59:8: a latency of 0 ns, read 20 GB/s (want both positive)"},
		{"threads: 8", "threads: -1", "f:57:12: -1 threads"},
		{"share: 0.25", "share: 1.25", "f:63:8: share 1.25 with 1 and 1 samples (want shares that ascend up to 1, and as many bandwidths as times)"},
		{"share: 0.25", "share: 0", "f:63:8: share 0 with 1 and 1 samples (want shares that ascend"},
		{"ns: [99.0, 100.0]", "ns: [99.0]", "f:62:8: share 0 with 1 and 2 samples (want"},
		{"ns: [99.0, 100.0]", "ns: [99.0, -1]", "f:62:8: samples [99 -1] ns and"},
		{"sparse-ns: 91.5", "sparse-ns: -1", "f:64:14: -1 ns (want a positive time)"},
		{"op: sum, ns: 10.5", "op: sum, ns: .inf", "f:66:8: +Inf ns, of int32 11.5 ns, by all cores 6.5 ns (want positive times, or no int32-ns or all-ns)"},
		{"all-ns: 6.5", "all-ns: -6.5", "f:66:8: 10.5 ns, of int32 11.5 ns, by all cores -6.5 ns (want positive times"},
		{"int32-ns: 11.5", "int32-ns: -11.5", "f:66:8: 10.5 ns, of int32 -11.5 ns, by all cores 6.5 ns (want positive times"},
		{"op: copy, ns: 20.5", "op: add, ns: 20.5", `f:67:8: op "add" (want sum, fill or copy)`},
		{"op: copy, ns: 20.5", "op: sum, ns: 20.5", "f:67:8: a second time of op sum"},
		{"near-ns: 5.5", "nearby-ns: 5.5", `f:49:5: unknown field "nearby-ns" (want one of latency-ns, read-GB/s, copy-GB/s, read-all-GB/s, copy-all-GB/s, near-ns, far-ns, crowded-ns, crowded-store-ns, crowded-beside-ns, crowded-store-beside-ns)`},
		{"crowded-ns: 3.5", "crowd-ns: 3.5", `f:39:7: unknown field "crowd-ns" (want one of name, stated, capacity, latency-ns, read-GB/s, copy-GB/s, read-all-GB/s, copy-all-GB/s, near-ns, far-ns, crowded-ns, crowded-store-ns, crowded-beside-ns, crowded-store-beside-ns, ways)`},
		{"crowded-ns: 3.5", "crowded-ns: much", "f:39:19: text where a number is wanted"},
		{"crowded-ns: 3.5", "crowded-ns: 03.5", "f:39:19: 03.5 has zeros in front"},
		{"{lines: 2, ns: 55.0}", "{lines: 1, ns: 55.0}", "f:70:8: 1 after 1, of 55 ns (want sizes that ascend and positive times)"},
		{"op: sum, dtype", "op: summe, dtype", `f:75:8: op "summe": no such operation (known: sum, fill,`},
		{"dtype: float32", "dtype: float31", `f:75:8: dtype "float31": `},
		{"op: add, dtype: bfloat16", "op: sum, dtype: float", "f:76:8: a second time of op sum of float32"},
		{"run-ns: 0.25", "run-ns: 0", "f:75:8: 0 and 0.5 ns an element (want both positive)"},
		{"{size: 6KiB, ns: 1.5}", "{size: 4KiB, ns: 1.5}", "f:82:8: 4096 after 4096, of 1.5 ns (want sizes that ascend and positive times)"},
		{"{pages: 128, ns: 3.5}", "{pages: 128, ns: 0}", "f:89:8: 128 after 8, of 0 ns"},
		{"{pages: 128, ns: 2.75}", "{pages: 8, ns: 2.75}", "f:92:8: 8 after 8, of 2.75 ns (want sizes that ascend and positive times)"},
		{"{pages: 128, ns: 2.75}", "{pages: 128, ns: 1e13}", "f:92:8: ns: 1e+13 (want"},
		{"{size: 24MiB, read", "{size: 16MiB, read", "f:86:8: 16MiB after 16MiB, of 60.5 GB/s and of all cores 0 (want sizes that ascend and positive bandwidths, or no read-all-GB/s)"},
		{"read-GB/s: 60.5", "read-GB/s: 0", "f:86:8: 24MiB after 16MiB, of 0 GB/s and"},
		{"read-all-GB/s: 180.0}", "read-all-GB/s: -1}", "f:85:8: 16MiB after 0B, of 90 GB/s and of all cores -1 (want"},
		{"copy-all-GB/s: 369.0", "copy-all-GB/s: 1e308", "f:27:7: copy-all-GB/s: 1e+308 (want a figure between 1e-06 and 1e+12)"},
		{"copy-GB/s: 11.0", "copy-GB/s: 1e-320", "f:44:5: copy-GB/s: 1e-320 (want a figure between 1e-06 and 1e+12)"},
		{"crowded-ns: 3.5", "crowded-ns: 1e13", "f:35:7: crowded-ns: 1e+13 (want a figure between 0 and 1e+12)"},
		{"ns: [99.0, 100.0]", "ns: [99.0, 1e300]", "f:62:8: ns: 1e+300 (want"},
		{"sparse-ns: 91.5", "sparse-ns: 1e13", "f:64:14: sparse-ns: 1e+13 (want"},
		{"miss-ns: 2.25", "miss-ns: 1e13", "f:52:7: miss-ns: 1e+13 (want"},
		{"{size: 6KiB, ns: 1.5}", "{size: 6KiB, ns: 1e13}", "f:82:8: ns: 1e+13 (want"},
		{"copy-all-GB/s: 369.0", "copy-all-GB/s: 369.0\n      ways: -1", "f:27:7: -1 ways (want 0 for none found, or more)"},
	} {
		text := strings.Replace(string(whole), test.old, test.new, 1)
		if _, err := Parse("f", []byte(text)); text == string(whole) || (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s gives %v\nwant %s", test.new, err, test.want)
		}
	}
	if t.Failed() {
		t.Logf("%s", whole)
	}
	before, _, _ := strings.Cut(string(whole), "measured:\n")
	if _, err := Parse("f", []byte(before)); err == nil || err.Error() != "f: "+ErrNotMeasured.Error() {
		t.Error(err)
	}
}

// FuzzParse: what is read is written as it was, what is not gives an error, and
// nothing panics.
func FuzzParse(f *testing.F) {
	text, err := example().Format()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("f", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error %q", err)
			}
			return
		}
		written, err := m.Format()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f", written)
		m.Date = m.Date.UTC().Truncate(time.Second)
		if err != nil || !cmp.Equal(m, again, cmpopts.EquateApprox(1e-12, 0), cmpopts.EquateEmpty()) {
			t.Errorf("%v\n%s", err, cmp.Diff(m, again))
		}
	})
}
