package results_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const row, col = "Traverse/op=sum/order=row/shape=64x64/dtype=int32", "Traverse/op=sum/order=col/shape=64x64/dtype=int32"

// sample writes a file as bench run does, with times for the two orders.
func sample(t *testing.T, config []results.Pair, rowTimes ...float64) string {
	t.Helper()
	var b strings.Builder
	w, err := results.NewWriter(&b, config, []results.Pair{{Key: "commit", Value: "abc\n"}, {Key: "load"}, {Key: "date", Value: "2026-11-21T00:00:00Z"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range rowTimes {
		for name, factor := range map[string]float64{row: 1, col: 4} {
			err := w.Write(name, 3, []results.Value{
				{Value: factor * ns, Unit: "ns/op"}, {Value: factor * ns / 4096, Unit: "ns/elem"}, {Value: 4 * 4096 / (factor * ns) * 1e9, Unit: "B/s"},
				{Value: 4096, Unit: "D-refs/op"}, {Value: 256 * factor, Unit: "D1-misses/op"}, {Value: 0, Unit: "LL-misses/op"}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Comment("interrupted: after\n3 of 4"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRoundTrip: what the Writer writes, benchfmt reads without a complaint,
// with units, and Read gives back with the comments.
func TestRoundTrip(t *testing.T) {
	config := []results.Pair{{Key: "goos", Value: "linux"}, {Key: "cpu", Value: "Some  CPU\n@ 2 GHz"}}
	text := sample(t, config, 1000, 1100, 900, 1000, 1050, 1020)
	path := write(t, "run.txt", text)
	set, err := results.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Config()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"goos": "linux", "cpu": "Some CPU @ 2 GHz"}, got); diff != "" {
		t.Error(diff)
	}
	want := []results.Pair{{Key: "commit", Value: "abc"}, {Key: "date", Value: "2026-11-21T00:00:00Z"}, {Key: "interrupted", Value: "after 3 of 4"}}
	if diff := cmp.Diff(want, set.Comments[path]); diff != "" {
		t.Error(diff)
	}
	for _, u := range results.Units {
		if got := set.Units.Get(u.Name, "better"); got == nil || got.Value != u.Better {
			t.Errorf("%s: better is %v", u.Name, got)
		}
		if exact := set.Units.Get(u.Name, "assume"); u.Exact != (exact != nil && exact.Value == "exact") {
			t.Errorf("%s: assume is %v", u.Name, exact)
		}
	}
	rows := set.Rows()
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Family() != "Traverse" || r.Key("shape") != "64x64" || r.Key("pad") != "" {
			t.Errorf("%s: family %q, shape %q, pad %q", r.Name, r.Family(), r.Key("shape"), r.Key("pad"))
		}
		s, factor := r.Stats["sec/op"], map[string]float64{"row": 1, "col": 4}[r.Key("order")]
		if s.N != 6 || s.Center < factor*1009e-9 || s.Center > factor*1011e-9 || s.Lo > s.Center || s.Hi < s.Center {
			t.Errorf("%s: %+v", r.Name, s)
		}
		if exact := r.Stats["D1-misses/op"]; exact.Center != 256*factor || exact.Lo != exact.Hi || len(exact.Warnings) != 0 {
			t.Errorf("%s: D1 misses %+v", r.Name, exact)
		}
	}
	if strings.Contains(text, "e+") {
		t.Errorf("a number has an exponent:\n%s", text)
	}
}

func TestNumbers(t *testing.T) {
	for value, want := range map[float64]string{
		16000000: "16000000", 0: "0", 0.25: "0.25", 1.5e-9: "0.0000000015", 12345678912.3456: "12345678912",
		26.4123456789: "26.4123", 99999999.5: "100000000", 1e15: "1000000000000000", 0.0012345678: "0.00123457",
	} {
		var b strings.Builder
		w, err := results.NewWriter(&b, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write("X", 1, []results.Value{{Value: value, Unit: "ns/op"}}); err != nil {
			t.Fatal(err)
		}
		if line := "BenchmarkX 1 " + want + " ns/op\n"; !strings.HasSuffix(b.String(), line) {
			t.Errorf("%v: want %q at the end of %q", value, line, b.String())
		}
	}
	for n, want := range map[int]string{0: "0 B", 1023: "1023 B", 32768: "32 KiB", 37748736: "36 MiB", 1536: "1.5 KiB", 1 << 34: "16 GiB"} {
		if got := results.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for want, got := range map[string]string{
		"1.230 ns/elem": results.Scale(1.23e-9, "sec/elem"),
		"7.451 GiB/s":   results.Scale(8e9, "B/s"),
		"88.65 ms/op":   results.Scale(88.651e-3, "sec/op"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReadRefusals(t *testing.T) {
	head := "goos: linux\nBenchmarkX 1 2 ns/op\n"
	for text, want := range map[string]string{
		head + "BenchmarkY 1 abc ns/op\n":                              `bad.txt:3: parsing measurement: invalid syntax: "abc ns/op" (want a number and its unit, such as 12.5 ns/op) in the line "BenchmarkY 1 abc ns/op"`,
		head + "BenchmarkY 1 5 ns/op 1e999 B/s 7 x/op\n":               `bad.txt:3: parsing measurement: value out of range: "1e999 B/s" (want a number and its unit, such as 12.5 ns/op) in the line "BenchmarkY 1 5 ns/op 1e999 B/s 7 x/op"`,
		head + "BenchmarkY 1 5 ns/op D1-misses/op\n":                   `bad.txt:3: parsing measurement: invalid syntax: "D1-misses/op" (want`,
		head + "BenchmarkY x 2 ns/op\n":                                "bad.txt:3: parsing iteration count",
		head + "BenchmarkY 1 2\n":                                      "bad.txt:3: missing units",
		head + "BenchmarkY 1\n":                                        "bad.txt:3: missing measurements",
		"BenchmarkX 1 2 ns/op\n\n" + strings.Repeat("x", 1<<16) + "\n": "bad.txt:3: the line is longer than the 64 KiB that readers of the format take",
		"":                                 "bad.txt holds no benchmark results: it is empty",
		"{\"traceEvents\": []}":            `bad.txt holds no benchmark results: line 1 is "{\"traceEvents\": []}"`,
		"goos: linux\n\nhello: a\nHello a": `bad.txt holds no benchmark results: line 4 is "Hello a"`,
		"\xff\xfeB\x00":                    "bad.txt holds no benchmark results: it is UTF-16, as > of PowerShell writes it: want UTF-8 (| Out-File -Encoding utf8)",
		"a\x00b\x00":                       "bad.txt holds no benchmark results: line 1 is not text",
		"\x7fELF\x02\x80":                  "bad.txt holds no benchmark results: line 1 is not text",
		"BenchmarkA 1 2 ns/o":              "bad.txt: the last line has no end: the file is cut off",
		"\x1f\x8b\x08\x00":                 "bad.txt holds no benchmark results: it is packed by gzip: unpack it first (gunzip)",
		"cpu: A\n<<<<<<< ours\nBenchmarkX 1 1 ns/op\n=======\n": `bad.txt:2: the line "<<<<<<< ours" is of a merge that is not resolved: keep one side, or both without such lines`,
		"BenchmarkX 1 1 ns/op\n=======\r\n":                     "bad.txt:2: the line \"=======\" is of a merge",
		"BenchmarkX 1 1 ns/op\n>>>>>>> theirs\n":                `bad.txt:2: the line ">>>>>>> theirs" is of a merge`,
		"PASS\n":                                                "bad.txt holds no benchmark results: no line begins with Benchmark",
	} {
		if _, err := results.Read(write(t, "bad.txt", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.99q: got %v, want %q", text, err, want)
		}
	}
	if _, err := results.Read(filepath.Join(t.TempDir(), "absent.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestMark: the mark of UTF-8 that some editors put at the head of a file is no part of its first line.
func TestMark(t *testing.T) {
	set, err := results.Read(write(t, "marked.txt", "\xEF\xBB\xBFgoos: linux\nBenchmarkX 1 2 ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	if config, err := set.Config(); err != nil || config["goos"] != "linux" || len(config) != 1 {
		t.Error(config, err)
	}
}

func TestConfigsThatDiffer(t *testing.T) {
	one := write(t, "one.txt", sample(t, []results.Pair{{Key: "goos", Value: "linux"}, {Key: "sim-d1", Value: "32768,8,64"}}, 1))
	two := write(t, "two.txt", sample(t, []results.Pair{{Key: "goos", Value: "linux"}, {Key: "sim-d1", Value: "49152,12,64"}}, 1))
	set, err := results.Read(one, two)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Config(); err == nil || !strings.Contains(err.Error(), `differ in sim-d1 ("32768,8,64" and "49152,12,64")`) || strings.Contains(err.Error(), "goos") {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct{ key, hint string }{{"host", ", or compare machines with bench report --by host"}, {"tuning-avx512", "of one machine and geometry"}} {
		one := write(t, "one.txt", sample(t, []results.Pair{{Key: c.key, Value: "a"}}, 1))
		two := write(t, "two.txt", sample(t, []results.Pair{{Key: c.key, Value: "b"}}, 1))
		set, err := results.Read(one, two)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set.Config(); err == nil || !strings.HasSuffix(err.Error(), c.hint) {
			t.Errorf("%s: got %v", c.key, err)
		}
	}
	set, err = results.Read(one, one)
	if err != nil {
		t.Fatal(err)
	}
	if rows := set.Rows(); rows[0].Stats["sec/op"].N != 2 {
		t.Errorf("two files of one machine are not pooled: %v", rows)
	}
}

func TestNoisy(t *testing.T) {
	set, err := results.Read(write(t, "run.txt", sample(t, nil, 100, 120, 130, 135, 140, 145, 150, 180)))
	if err != nil {
		t.Fatal(err)
	}
	rows := set.Rows()
	if n := len(results.Noisy(rows, 0.05)); n != 2 {
		t.Errorf("%d rows that are uncertain by 33%% are noisy at 5%%, want 2", n)
	}
	if n := len(results.Noisy(rows, 0.4)); n != 0 {
		t.Errorf("%d rows that are uncertain by 33%% are noisy at 40%%", n)
	}
}

func TestFilesAreWholeOrAbsent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "run.txt")
	f, err := results.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "half"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there before it is committed: %v", err)
	}
	f.Discard()
	f, err = results.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "whole"); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard() // as deferred: does nothing now
	if err := results.WriteFile(path, []byte("again")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v are left, %v", entries, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "again" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if err := results.WriteFile(dir, nil); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("writing to a folder: %v", err)
	}
	if err := results.WriteFile(filepath.Join(path, "below"), nil); err == nil {
		t.Error("writing below a file is accepted")
	}
}

func TestThisMachine(t *testing.T) {
	m := results.ThisMachine()
	if m.GOOS == "" || m.GoVersion == "" || m.CPUs < 1 || m.Available > m.Memory {
		t.Errorf("%+v", m)
	}
	for _, f := range m.Facts() {
		if f.Name == "" || f.Value == "" || f.Source == "" {
			t.Errorf("fact %+v", f)
		}
	}
}

// FuzzRead: whatever a file holds, Read returns, and what it accepts can be
// summed up.
func FuzzRead(f *testing.F) {
	f.Add("goos: linux\n# commit: abc\nUnit ns/op better=lower\nBenchmarkX/a=b 1 2 ns/op 3 B/s\n")
	f.Add("Unit D1-misses/op assume=exact\nBenchmarkX 1 2 D1-misses/op\nBenchmarkX 1 3 D1-misses/op\n")
	f.Add("BenchmarkX 1 NaN ns/op\nBenchmarkX 1 Inf ns/op\n")
	f.Add("Unit ns/op assume=other\nBenchmarkX-8 1 0 ns/op\ngoos:\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "fuzz.txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		set, err := results.Read(path)
		if err != nil {
			return
		}
		if _, err := set.Config(); err != nil && !strings.Contains(err.Error(), "differ in") {
			t.Fatal(err)
		}
		set.Rows()
	})
}

// TestLimits: a stranger's file does not eat the memory.
func TestLimits(t *testing.T) {
	for name, text := range map[string]string{
		"results":       strings.Repeat("BenchmarkX 1 1 u\n", 1<<18+1),
		"configuration": manyKeys(1000) + strings.Repeat("a: b\nBenchmarkX 1 1 u\na: c\nBenchmarkX 1 1 u\n", 200),
		"bytes":         strings.Repeat("#\n", 33<<20),
	} {
		if _, err := results.Parse("big.txt", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "big.txt ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := results.Parse("long.txt", []byte("BenchmarkX 1 1 "+strings.Repeat("u", 1<<20))); err == nil || !strings.HasPrefix(err.Error(), "long.txt: ") {
		t.Errorf("long line: %v", err)
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}

// FuzzParse: any text is results or an error, and what Config, Rows and
// FingerprintOf make of them does not panic.
func FuzzParse(f *testing.F) {
	f.Add("goos: linux\n# commit: abc\nUnit ns/op better=lower\nBenchmarkX/a=b 1 2 ns/op 3 B/s\n")
	f.Add("BenchmarkX 1 NaN ns/op Inf MB/s\nBenchmarkX-8 1 0 ns\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := results.Parse("fuzz", []byte(text))
		if err != nil {
			return
		}
		if len(set.Results) == 0 {
			t.Fatal("neither results nor an error")
		}
		if config, err := set.Config(); err == nil {
			if f := results.FingerprintOf(config); f.Differ(f) != nil {
				t.Fatal("a fingerprint differs from itself")
			}
		}
		if set.CheckValues() == nil {
			set.Rows()
		}
	})
}

// TestSweptGeometry: of a sweep's caches a count hangs on those alone that its benchmark
// names, whose name may have a = of its own.
func TestSweptGeometry(t *testing.T) {
	g := results.GeometryOf(map[string]string{results.SweptKey: "a=b=1024,2,64+8192,4,64 aa=512,2,64+8192,4,64 a=2048,2,64+8192,4,64", results.TLBKey: "64,4,4096"})
	for _, c := range []struct{ name, unit, want string }{
		{"Traverse/caches=a", "D1-misses/op", "[{sim-caches a=2048,2,64+8192,4,64}]"},
		{"Traverse/caches=aa", "D1-misses/op", "[{sim-caches aa=512,2,64+8192,4,64}]"},
		{"Traverse/order=row", "D1-misses/op", "[]"},
		{"Traverse/caches=a=b", "LL-misses/op", "[{sim-caches a=b=1024,2,64+8192,4,64}]"},
		{"Traverse/caches=1024,2,64+8192,4,64", "D1-misses/op", "[]"},
		{"Traverse/caches=a", "TLB-misses/op", "[{sim-tlb 64,4,4096}]"},
	} {
		if got := fmt.Sprint(g.For(c.name, c.unit)); got != c.want {
			t.Errorf("%s %s hangs on %s, want %s", c.name, c.unit, got, c.want)
		}
	}
}

// TestSweptConfig: sweeps of several lists of caches are of one geometry, unless a name
// that has results in both means different caches.
func TestSweptConfig(t *testing.T) {
	file := func(name, caches string, names ...string) string {
		text := "sim-caches: " + caches + "\n"
		for _, n := range names {
			text += "BenchmarkX/caches=" + n + " 1 5 D1-misses/op\n"
		}
		return write(t, name, text)
	}
	one := file("one.txt", "a=1024,2,64+8192,4,64", "a")
	for _, c := range []struct{ two, config, refused string }{
		{file("more.txt", "b=2048,2,64+8192,4,64 a=1024,2,64+8192,4,64", "a", "b"), "a=1024,2,64+8192,4,64 b=2048,2,64+8192,4,64", ""},
		{file("unnamed.txt", "", "512,2,64+8192,4,64"), "a=1024,2,64+8192,4,64", ""},
		{file("other.txt", "a=2048,2,64+8192,4,64", "a", "a"), "", `differ in sim-caches of a ("a=1024,2,64+8192,4,64" and "a=2048,2,64+8192,4,64"): take`},
		{file("before.txt", "", "a"), "", `differ in sim-caches of a ("a=1024,2,64+8192,4,64" and absent): take`},
	} {
		set, err := results.Read(one, c.two)
		if err != nil {
			t.Fatal(err)
		}
		config, err := set.Config()
		if config[results.SweptKey] != c.config || (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, %v, want %q %q", c.two, config, err, c.config, c.refused)
		}
	}
}

func TestFingerprint(t *testing.T) {
	config := map[string]string{"cpu": "A", "cpus": "2", "kernel": "avx2", "goversion": "go1", "sim-d1": "1", "caches": ""}
	f := results.FingerprintOf(config)
	if diff := cmp.Diff(results.Fingerprint{{Key: "cpu", Value: "A"}, {Key: "cpus", Value: "2"}, {Key: "kernel", Value: "avx2"}}, f); diff != "" {
		t.Error(diff)
	}
	config["kernel"], config["goversion"] = "scalar", "go2"
	g := results.FingerprintOf(config)
	if diff := cmp.Diff([]string{`kernel ("avx2" and "scalar")`}, f.Differ(g)); diff != "" || f.Hash() == g.Hash() || len(f.Hash()) != 12 {
		t.Errorf("%s; %s and %s", diff, f.Hash(), g.Hash())
	}
	if !f.Known() || results.FingerprintOf(map[string]string{"goos": "linux"}).Known() {
		t.Error("a machine is known by its cpu or caches")
	}
}

// TestAre: results of bench begin as these do, have one, and say that they are bench's.
func TestAre(t *testing.T) {
	for text, want := range map[string]bool{
		"goos: linux\nsim-d1: 32768,8,64\nBenchmarkX 1 2 ns/op\n": true, "# version: (devel)\n\nBenchmarkX 1 2 ns/op": true,
		"goos: linux\npkg: x\nBenchmarkX 1 2 ns/op\nPASS\n": false, "# end\n\nBenchmarkX 1 2 ns/op": false, "BenchmarkX": false,
		"#!/bin/sh\n\nBenchmarkSum 1 1 x\n": false, "sim-d1: 32768,8,64\n": false,
		"BenchmarkX 1 2 ns/op\n# end: 1 results\n": true, "# end: 1 results\nBenchmarkX 1 2 ns/op\n": false,
		"": false, "# Notes\nof Benchmarks\n": false, "package x\n\nfunc\nBenchmarkX": false,
	} {
		if got := results.Are([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestByElement: what is exact is the same by element whatever the times, of which lines have six digits, and
// there is none where no time tells the elements. These lines came out as 0.187 and 0.188 when cut to three digits.
func TestByElement(t *testing.T) {
	for times, want := range map[string]float64{
		"15809402 ns/op 1.88463 ns/elem": 0.1875, "12353078 ns/op 1.4726 ns/elem": 0.1875, "51187519 ns/op 6.10203 ns/elem": 0.1875,
		"5391438 ns/op 0.642709 ns/elem": 0.1875, "15809402 ns/op": 0, "0 ns/op 0 ns/elem": 0, "5 ns/op 0 ns/elem": 0,
	} {
		set, err := results.Parse("run.txt", []byte("Unit D1-misses/op assume=exact\nBenchmarkCopy/shape=4096x4096/step=2 1 "+times+" 1572864 D1-misses/op\n"))
		if err != nil {
			t.Fatal(err)
		}
		row := set.Rows()[0]
		if got, ok := row.ByElement("D1-misses/op"); ok != (want > 0) || ok && got != want {
			t.Errorf("%s: %v, %v misses by element, want %v", times, got, ok, want)
		}
		if got, ok := row.ByElement("LL-misses/op"); ok {
			t.Errorf("%s: %v of a unit that it does not have", times, got)
		}
	}
}
