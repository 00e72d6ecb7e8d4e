package machines

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// TestPresets: each says its name, what it is and its sources, passes the
// check, and simulates a walk by columns.
func TestPresets(t *testing.T) {
	if len(Names()) != len(described()) || len(Names()) == 0 {
		t.Fatalf("names %v", Names())
	}
	for i, m := range described() {
		if m.Name != Names()[i] || m.Description == "" || len(m.Sources) == 0 ||
			m.Config.I1 == (simcache.Geometry{}) {
			t.Errorf("%s: %+v", Names()[i], m)
		}
		h, err := simcache.NewHierarchy(m.Config)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		column := nest.Nest{Trips: []int{16, 256}, Operands: []nest.Operand{
			{Tensor: "x", Base: 1 << 32, Width: 4, Strides: []int{4, 1 << 16}}}}
		counts, err := h.Run(1, column)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		// 256 lines lie 64 KiB apart, in a single set of D1, which holds fewer.
		if c := counts[0][0]; c.Dr != 4096 || c.D1mr != 4096 || c.DLmr < 256 ||
			len(h.Levels()) != len(m.Config.Levels) {
			t.Errorf("%s: counts %+v", m.Name, c)
		}
		if pages := h.TLBs(); len(pages) > 0 && pages[0].Reads != 4096 {
			t.Errorf("%s: TLB counts %+v", m.Name, pages)
		}
	}
	if _, err := Preset("pdp-11"); err == nil ||
		!strings.Contains(err.Error(), `no preset "pdp-11" (known: amd-zen3, `) {
		t.Errorf("an unknown name gives %v", err)
	}
}

const all = `
name: mine
description: everything that can be said
sources: [here, there]
i1: {size: 32768, ways: 8, line: 64B}
levels:
  - name: L1
    size: 1.25MiB
    ways: 20
    line: 64
    policy: random
    seed: 42
    write-policy: write-through
    write-miss: no-write-allocate
    victim-lines: 4
    prefetch: {kind: next-line, degree: 2}
  - size: 3 MiB
    ways: 16
    line: 64
    modulo: true
    inclusion: inclusive
    write-policy: write-back
    write-miss: write-allocate
tlb:
  - {name: DTLB, entries: 64, ways: 4, page: 2MiB}
write-backs: true
`

func TestParse(t *testing.T) {
	got, err := Parse("all.yaml", []byte(all))
	if err != nil {
		t.Fatal(err)
	}
	want := Machine{Name: "mine", Description: "everything that can be said",
		Sources: []string{"here", "there"},
		Config: simcache.Config{
			I1: simcache.Geometry{Size: 32768, Ways: 8, Line: 64},
			Levels: []simcache.Level{
				{Name: "L1", Geometry: simcache.Geometry{Size: 1310720, Ways: 20, Line: 64},
					Policy: "random", Seed: 42,
					WriteThrough: true, NoWriteAllocate: true, VictimLines: 4,
					Prefetch: simcache.Prefetch{Kind: "next-line", Degree: 2}},
				{Geometry: simcache.Geometry{Size: 3 << 20, Ways: 16, Line: 64}, Modulo: true,
					Inclusion: "inclusive"},
			},
			TLB:        []simcache.TLB{{Name: "DTLB", Entries: 64, Ways: 4, Page: 2 << 20}},
			WriteBacks: true,
		}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDocs: the description that docs/simulator.md shows can be simulated, and
// it names every preset.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```yaml\n")
	shown, rest, ok := strings.Cut(after, "```\n")
	if _, err := Parse("simulator.md", []byte(shown)); !ok || err != nil {
		t.Error(err)
	}
	for _, name := range Names() {
		if !strings.Contains(rest, "`"+name+"`") {
			t.Errorf("no preset %s", name)
		}
	}
}

// TestParseErrors: what is wrong, where, and what would be right.
func TestParseErrors(t *testing.T) {
	const level = "levels:\n  - {size: 32KiB, ways: 8, line: 64}\n"
	for _, test := range []struct{ text, want string }{
		{"", "f: no levels to simulate"},
		{"levels: []\n", "f: no levels to simulate"},
		{"colour: red\n" + level, `f:1:1: unknown field "colour" (want one of name,`},
		{"levels:\n  - size: 32KiB\n    way: 8\n", `f:3:5: unknown field "way" (want one of name,`},
		{level + "i1: {seize: 4}\n", `f:3:6: unknown field "seize" (want one of size, ways, line)`},
		{level + "tlb:\n  - pages: 4\n", `f:4:5: unknown field "pages" (want one of name,`},
		{"levels:\n  - size: 32KB\n", `f:2:11: "32KB" is not a size (want a whole number`},
		{"levels:\n  - line: 064\n", "f:2:11: 064 has zeros in front, which some take for octal " +
			"(want 64)"},
		{"levels:\n  - size: -4\n", `f:2:11: "-4" is not a size`},
		{"levels:\n  - size: 1.3B\n", `f:2:11: "1.3B" is not a size`},
		{"levels:\n  - size: [1]\n", `f:2:11: a list (want a size such as 32KiB, or in bytes)`},
		{"levels:\n  - size: 5GiB\n", "f:2:11: 5368709120 is too much (want at most 4294967296)"},
		{"levels:\n  - {size: 1KiB, ways: 2, line: 64, policy: mru}\n",
			`f:2:6: D1 1024,2,64: unknown policy "mru" (want one of ["lru" "fifo" "random" "tree-plru" "bit-plru" "srrip"])`},
		{"levels:\n  - {size: 1KiB, ways: 2, line: 64, inclusion: half}\n",
			`f:2:6: D1 1024,2,64: unknown inclusion "half" (want one of ["non-inclusive" "inclusive" "exclusive"])`},
		{"levels:\n  - write-policy: back\n",
			`f:2:19: unknown write policy "back" (want write-back or write-through)`},
		{"levels:\n  - write-miss: skip\n", `f:2:17: unknown policy for a write that misses "skip" (want write-allocate or no-write-allocate)`},
		{"levels:\n  - {size: 1KiB, ways: 2, line: 64, prefetch: {kind: all}}\n",
			`f:2:6: D1 1024,2,64: unknown prefetcher "all" (want one of ["none" "next-line" "stride"])`},
		{"levels:\n  - {name: \"\\e[2J\", size: 1KiB, ways: 2, line: 64}\n",
			`f:2:12: "\x1b[2J" has what cannot be printed (want letters`},
		{"name: \"a\\nb\"\n", `f:1:7: "a\nb" has what cannot be printed`},
		{level + "tlb: [{name: \"\\a\", entries: 4, ways: 4, page: 4KiB}]\n",
			`"\a" has what cannot be printed`},
		{"levels:\n  - {size: 48KiB}\n", "f:2:6: D1 49152,0,0: size 49152, associativity 0 and " +
			"line size 0 must all be positive"},
		{level + "  - {size: 12MiB, line: 64}\n",
			"f:3:6: LL 12582912,0,64: size 12582912, associativity 0"},
		{level + "i1: {ways: 8, line: 64}\n", "f:3:6: I1 0,8,64: size 0,"},
		{"levels:\n  - {size: 1e3, ways: 1, line: 10}\n", "f:2:6: D1 1000,1,10: "},
		{"levels:\n  - ways: 1.5\n", "f:2:11: 1.5 where a whole number is wanted"},
		{"levels:\n  - ways: many\n", "f:2:11: text where a whole number is wanted"},
		{"levels:\n  - ways: 8\n    ways: 8\n", "f:3:5: mapping key \"ways\" already defined"},
		{level + "  - {size: 3MiB, ways: 16, line: 64}\n",
			"f:3:6: LL 3145728,16,64: set count 3072 (size/line/associativity) is not a " +
				"power of two"},
		{level + "  - {size: 30000, ways: 8, line: 64, modulo: true}\n",
			"f:3:6: LL 30000,8,64: size 30000 is not a multiple of 512"},
		{level + "  - {size: 1MiB, ways: 16, line: 128}\nwrite-backs: true\n",
			"f:3:6: LL 1048576,16,128: its line is not the 64 B of a level before"},
		{level + "tlb:\n  - {entries: 10, ways: 4, page: 4KiB}\n",
			"f:4:6: DTLB: 10 entries do not make sets of 4 ways"},
		{level + "i1: {size: 896, ways: 2, line: 64}\n", "f:3:6: I1 896,2,64: set count 7"},
		{level + "i1: {size: 1024, ways: 2, line: 64}\n", "f:3:6: I1 wants a second level"},
		{level + "---\n" + level, "f:4:1: a second document"},
		{level + "measured: 7\n", "f:3:11: no section (want the keys and values of a measurement)"},
		{"sources:\n  !here 1\n", `f:2:3: "!here": anchors, aliases, tags and merges are not read`},
		{"levels: {\n", "f:1:"},
		{"a: b: c\n", "f:1:"},
	} {
		_, err := Parse("f", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q gives %v\nwant %s", test.text, err, test.want)
		}
	}
}

// A section measured, of a kind.
type part struct {
	Latency float64     `yaml:"latency"`
	Size    strict.Size `yaml:"size"`
}
type section struct {
	Parts []part `yaml:"parts"`
}

// TestFormat: what is written is read as what it was.
func TestFormat(t *testing.T) {
	mine, err := Parse("all.yaml", []byte(all))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(described(), mine) {
		text, err := Format[section](m, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(m.Name, text)
		if err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%s: %s", m.Name, diff)
		}
	}
}

// TestSection: the simulator skips it, and it is read strictly by whom it is for.
func TestSection(t *testing.T) {
	m, err := Preset("amd-zen3")
	if err != nil {
		t.Fatal(err)
	}
	want := section{[]part{{1.5, 32 << 10}, {2, 1000}}}
	text, err := Format(m, &want)
	if err != nil {
		t.Fatal(err)
	}
	read, got, _, err := ParseMeasured[section]("f", text)
	if err != nil || !cmp.Equal(*got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	skipping, err := Parse("f", text)
	if diff := cmp.Diff(m, skipping); err != nil || !cmp.Equal(read, skipping) || diff != "" {
		t.Error(err, diff)
	}
	const head = "levels: [{size: 32KiB, ways: 8, line: 64}]\n"
	for text, want := range map[string]string{
		"measured: {parts: [{latency: 1}, {speed: 3}]}": `f:2:35: unknown field "speed" (want one of latency, size)`,
		"measured: {parts: [{latency: soon}]}":          "f:2:30: text where a number is wanted",
		"measured: {parts: [{size: 4KB}]}":              `f:2:27: "4KB" is not a size`,
		"measured: {whole: 1}":                          `f:2:12: unknown field "whole" (want one of parts)`,
	} {
		if _, _, _, err := ParseMeasured[section]("f", []byte(head+text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v\nwant %s", text, err, want)
		}
	}
	if _, got, _, err := ParseMeasured[section]("f", []byte(head)); got != nil || err != nil {
		t.Errorf("without a section %v, %v", got, err)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "32KiB": 32768, "1.375MiB": 1441792,
		"2 GiB": 2 << 30, "64B": 64, "1e3": 1000, "32k": 32768, "4K": 4096, "8mib": 8 << 20,
		"1g": 1 << 30} {
		if got, err := simcache.ParseBytes(text); got != want || err != nil {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for n, want := range map[strict.Size]string{1: "1B", 1000: "1000B", 1536: "1536B",
		32 << 10: "32KiB", 5 << 19: "2560KiB", 64 << 20: "64MiB", 2 << 30: "2GiB"} {
		if got, err := simcache.ParseBytes(n.String()); n.String() != want || got != int(n) ||
			err != nil {
			t.Errorf("%d is written %s and read as %d, %v", n, n, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "KiB", "1KB", "1kb", "1.5", "k", "32kk", "0x10",
		"NaN", "inf", "1e300", "1KiBKiB"} {
		if got, err := simcache.ParseBytes(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// FuzzParse: what is read can be simulated, what is not gives an error, and
// nothing panics.
func FuzzParse(f *testing.F) {
	f.Add(all)
	f.Add("a: 1\n--- ") // an empty document
	f.Add("levels:\n  - {size: 48KiB}\n  - {ways: 8, line: 64}\ni1: {size: 12MiB, line: 64}\n")
	f.Add("levels:\n  - x\ntlb: 3\n")
	for _, name := range Names() {
		text, err := File(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("f", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error %q", err)
			}
			return
		}
		if err := m.Config.Check(); err != nil {
			t.Error(err)
		}
		written, err := Format[section](m, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f", written)
		if err != nil || !cmp.Equal(m, again, cmpopts.EquateEmpty()) {
			t.Errorf("%v; written as\n%s", err, written)
		}
		if slices.ContainsFunc(m.Config.Levels, func(l simcache.Level) bool {
			return l.Size > maxSize
		}) {
			t.Error("a level beyond the limit")
		}
	})
}
