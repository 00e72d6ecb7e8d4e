package probe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// example is a machine with every field.
func example() Machine {
	return Machine{
		Simulated: simcache.Config{
			I1: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64},
			Levels: []simcache.Level{
				{Name: "L1D", Geometry: simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}},
				{Name: "L2", Geometry: simcache.Geometry{Size: 2 << 20, Ways: 32, Line: 64}}},
			TLB: []simcache.TLB{{Entries: 64, Ways: 64, Page: 4 << 10}},
		},
		Date: time.Date(2026, 11, 21, 10, 20, 30, 0, time.UTC), CPU: "Some CPU @ 3 GHz: fast",
		Pages: "thp",
		Levels: []Level{
			{Name: "L1D", Stated: 32 << 10, Capacity: 33000,
				Speed: Speed{Latency: 1.25, Read: 254, Copy: 184.5, ReadAll: 508, CopyAll: 369}},
			{Name: "L2", Capacity: 2 << 20, Speed: Speed{Latency: 4.5, Read: 110, Near: 1.5,
				Crowded: 3.5, CrowdedStore: 4.75}}},
		Memory:  Speed{Latency: 99.5, Read: 11.5, Copy: 11, ReadAll: 40, CopyAll: 38, Near: 5.5},
		TLB:     []Reach{{Entries: 64, Miss: 2.25, Apart: .75}},
		Threads: 8,
		Streams: 7,
		Loads: []Load{{0, []float64{99, 100}, []Bandwidth{.64, .65}},
			{0.25, []float64{120.5}, []Bandwidth{20}}},
		Streamed:   []Stream{{"sum", 10.5, 6.5}, {"copy", 20.5, 0}},
		Loops:      []Loop{{"sum", "float32", .25, .5}, {"add", "bfloat16", 1.25, 1.5}},
		Tiles:      []Tile{{"row", 8, 16, 21.5}, {"col", 64, 8, 50}},
		Ladder:     []Point{{4096, 1.25}, {6144, 1.5}, {64 << 20, 100}},
		PageLadder: []Pages{{8, 1.25}, {128, 3.5}},
	}
}

// TestWritten: the section measured, the tables and the JSON are written as they always were, to
// the byte. What is added to the format is left out where there is none of it.
func TestWritten(t *testing.T) {
	m := example()
	text, err := m.Format()
	if err != nil {
		t.Fatal(err)
	}
	_, measured, _ := strings.Cut(string(text), "\nmeasured:")
	golden(t, "measured.yaml", "measured:"+measured)
	text, err = json.MarshalIndent(ReportOf(m, "m.yaml", []string{"beware."}), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "measured.json", string(text)+"\n")
}

var update = os.Getenv("FORMATS") == "write" // the files of testdata/format are written anew

// golden compares a text with a file of testdata/format.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "format", name)
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
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
}

// TestFormatAny: whatever is measured is read as it was written.
func TestFormatAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Float64Range(1e-3, 1e6)
		speed := func(label string, least float64) Speed {
			bandwidth := func(label string) Bandwidth { return Bandwidth(positive.Draw(t, label)) }
			return Speed{least + positive.Draw(t, label), bandwidth("read"), bandwidth("copy"),
				bandwidth("read-all"), bandwidth("copy-all"),
				positive.Draw(t, "near"), positive.Draw(t, "crowded"),
				positive.Draw(t, "crowded store")}
		}
		m := Machine{Simulated: example().Simulated,
			Date: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "date"), 0).UTC(),
			CPU:  rapid.StringMatching(`(\? ?!?)?[ -~]*`).Draw(t, "cpu"), Pages: "4k",
			Memory: speed("memory", 0)}
		m.CPU = strings.Join(strings.Fields(m.CPU), " ")
		size, ns := 0, 0.0
		for range rapid.IntRange(1, 5).Draw(t, "levels") {
			size += rapid.IntRange(1, 1<<30).Draw(t, "size")
			bytes := strict.Size(size)
			l := Level{Name: rapid.StringMatching(`L[1-9]D?`).Draw(t, "name"), Capacity: bytes,
				Speed: speed("latency", ns)}
			ns = l.Latency
			m.Levels = append(m.Levels, l)
			m.Ladder = append(m.Ladder, Point{bytes, positive.Draw(t, "ns")})
			m.PageLadder = append(m.PageLadder, Pages{size, positive.Draw(t, "ns")})
			m.Loops = append(m.Loops, Loop{"sum", loopDTypes[len(m.Loops)].String(),
				positive.Draw(t, "run"), positive.Draw(t, "step")})
			m.TLB = append(m.TLB, Reach{Entries: size, Miss: positive.Draw(t, "miss"),
				Apart: positive.Draw(t, "apart")})
			m.Tiles = append(m.Tiles, Tile{rapid.SampledFrom([]string{"row", "col"}).Draw(t,
				"order"), size, size, positive.Draw(t, "ns")})
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

// TestOlder: what the section has beyond a Machine, as those of older versions do, is ignored.
func TestOlder(t *testing.T) {
	text, err := example().Format()
	if err != nil {
		t.Fatal(err)
	}
	older := strings.Replace(string(text), "  streams: 7",
		"  sparse-ns: 91.5\n  runs:\n    - {lines: 1, ns: 13.5}\n  streams: 7", 1)
	older = strings.Replace(older, "near-ns: 5.5", "near-ns: 5.5\n    far-ns: 14.25", 1)
	if got, err := Parse("f", []byte(older)); err != nil || older == string(text) ||
		!cmp.Equal(got, example()) {
		t.Errorf("%v: %s", err, cmp.Diff(example(), got))
	}
}

// TestParseErrors: what is wrong, where, and what would be right.
func TestParseErrors(t *testing.T) {
	whole, err := example().Format()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile(filepath.Join("testdata", "format", "errors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(cases), "\n\n")
	for block := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
		var before, after []string
		want := ""
		for line := range strings.Lines(block + "\n") {
			switch line = strings.TrimSuffix(line, "\n"); line[0] {
			case '-':
				before = append(before, line[1:])
			case '+':
				after = append(after, line[1:])
			default:
				want = line
			}
		}
		text := strings.Replace(string(whole), strings.Join(before, "\n"),
			strings.Join(after, "\n"), 1)
		_, err := Parse("f", []byte(text))
		if text == string(whole) || err == nil || !strings.HasPrefix(err.Error(), "f:") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v\nwant %s", after, err, want)
		}
	}
	if t.Failed() {
		t.Logf("%s", whole)
	}
	before, _, _ := strings.Cut(string(whole), "measured:\n")
	if _, err := Parse("f", []byte(before)); err == nil ||
		err.Error() != "f: "+ErrNotMeasured.Error() {
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
		if err != nil || !cmp.Equal(m, again, cmpopts.EquateApprox(1e-12, 0),
			cmpopts.EquateEmpty()) {
			t.Errorf("%v\n%s", err, cmp.Diff(m, again))
		}
	})
}
