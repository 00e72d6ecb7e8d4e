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
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/outfile"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const row, col = "Traverse/op=sum/order=row/shape=64x64/dtype=int32",
	"Traverse/op=sum/order=col/shape=64x64/dtype=int32"

// sample writes a file as bench run does, with times for the two orders.
func sample(t *testing.T, config []results.Pair, rowTimes ...float64) string {
	t.Helper()
	var b strings.Builder
	w, err := results.NewWriter(&b, config,
		[]results.Pair{{Key: "commit", Value: "abc\n"}, {Key: "load"},
			{Key: "date", Value: "2026-11-21T00:00:00Z"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range rowTimes {
		for name, factor := range map[string]float64{row: 1, col: 4} {
			err := w.Write(name, 3, []results.Value{
				{Value: factor * ns, Unit: "ns/op"}, {Value: factor * ns / 4096, Unit: "ns/elem"},
				{Value: 4 * 4096 / (factor * ns) * 1e9, Unit: "B/s"},
				{Value: 4096, Unit: "D-refs/op"}, {Value: 256 * factor, Unit: "D1-misses/op"},
				{Value: 0, Unit: "LL-misses/op"}})
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
	config := []results.Pair{{Key: "goos", Value: "linux"},
		{Key: "cpu", Value: "Some  CPU\n@ 2 GHz"}}
	text := sample(t, config, 1000, 1100, 900, 1000, 1050, 1020)
	path := write(t, "run.txt", text)
	set := must(results.Read(path))
	got := must(set.Config())
	if diff := cmp.Diff(map[string]string{"goos": "linux", "cpu": "Some CPU @ 2 GHz"},
		got); diff != "" {
		t.Error(diff)
	}
	want := []results.Pair{{Key: "commit", Value: "abc"},
		{Key: "date", Value: "2026-11-21T00:00:00Z"},
		{Key: "interrupted", Value: "after 3 of 4"}}
	if diff := cmp.Diff(want, set.Comments[path]); diff != "" {
		t.Error(diff)
	}
	for _, u := range results.Units {
		if got := set.Units.Get(u.Name, "better"); got == nil || got.Value != u.Better {
			t.Errorf("%s: better is %v", u.Name, got)
		}
		if exact := set.Units.Get(u.Name, "assume"); u.Exact != (exact != nil &&
			exact.Value == "exact") {
			t.Errorf("%s: assume is %v", u.Name, exact)
		}
	}
	rows := set.Rows()
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Family() != "Traverse" || r.Key("shape") != "64x64" || r.Key("pad") != "" {
			t.Errorf("%s: family %q, shape %q, pad %q", r.Name, r.Family(), r.Key("shape"),
				r.Key("pad"))
		}
		s, factor := r.Stats["sec/op"], map[string]float64{"row": 1, "col": 4}[r.Key("order")]
		if s.N != 6 || s.Center < factor*1009e-9 || s.Center > factor*1011e-9 || s.Lo > s.Center ||
			s.Hi < s.Center {
			t.Errorf("%s: %+v", r.Name, s)
		}
		if exact := r.Stats["D1-misses/op"]; exact.Center != 256*factor || exact.Lo != exact.Hi ||
			len(exact.Warnings) != 0 {
			t.Errorf("%s: D1 misses %+v", r.Name, exact)
		}
	}
	if strings.Contains(text, "e+") {
		t.Errorf("a number has an exponent:\n%s", text)
	}
}

func TestConfigsThatDiffer(t *testing.T) {
	of := func(key, value string) string {
		return write(t, "run.txt",
			sample(t, []results.Pair{{Key: "goos", Value: "linux"}, {Key: key, Value: value}}, 1))
	}
	for _, c := range []struct{ key, want string }{
		{"sim-d1", `differ in sim-d1 ("a" and "b")`},
		{"host", ", or compare machines with bench report --by host"},
		{"tuning-avx512", "of one machine and geometry"},
	} {
		_, err := must(results.Read(of(c.key, "a"), of(c.key, "b"))).Config()
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "goos") {
			t.Errorf("%s: got %v", c.key, err)
		}
	}
	one := of("host", "a")
	if rows := must(results.Read(one, one)).Rows(); rows[0].Stats["sec/op"].N != 2 {
		t.Errorf("two files of one machine are not pooled: %v", rows)
	}
	if _, err := results.Read(one + ".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestFilesAreWholeOrAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "run.txt")
	half, whole := must(outfile.Create(path)), must(outfile.Create(path))
	must(io.WriteString(half, "half"))
	must(io.WriteString(whole, "whole"))
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there before it is committed: %v", err)
	}
	half.Discard()
	if err := whole.Commit(); err != nil {
		t.Fatal(err)
	}
	whole.Discard() // as deferred: does nothing now
	for _, text := range []string{"whole", "again"} {
		if got := must(os.ReadFile(path)); string(got) != text {
			t.Errorf("the file holds %q, want %s", got, text)
		}
		if err := outfile.WriteFile(path, []byte("again")); err != nil {
			t.Fatal(err)
		}
	}
	if entries := must(os.ReadDir(filepath.Dir(path))); len(entries) != 1 {
		t.Errorf("%v are left", entries)
	}
}

// TestLimits: a stranger's file does not eat the memory.
func TestLimits(t *testing.T) {
	for name, text := range map[string]string{
		"results": strings.Repeat("BenchmarkX 1 1 u\n", 1<<18+1),
		"configuration": manyKeys(1000) +
			strings.Repeat("a: b\nBenchmarkX 1 1 u\na: c\nBenchmarkX 1 1 u\n", 200),
		"bytes": strings.Repeat("#\n", 33<<20),
	} {
		if _, err := results.Parse("big.txt", []byte(text)); err == nil ||
			!strings.HasPrefix(err.Error(), "big.txt ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := results.Parse("long.txt",
		[]byte("BenchmarkX 1 1 u\n\n"+strings.Repeat("u", 1<<16)+"\n")); err == nil ||
		!strings.HasPrefix(err.Error(), "long.txt:2: bufio.Scanner: token too long") {
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
	f.Add("Unit D1-misses/op assume=exact\nBenchmarkX 1 2 D1-misses/op\nBenchmarkX 1 3 " +
		"D1-misses/op\n")
	f.Add("Unit ns/op assume=other\nBenchmarkX-8 1 0 ns/op\ngoos:\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := results.Parse("fuzz", []byte(text))
		if err != nil {
			return
		}
		if len(set.Results) == 0 {
			t.Fatal("neither results nor an error")
		}
		config, err := set.Config()
		if err != nil && !strings.Contains(err.Error(), "differ in") {
			t.Fatal(err)
		}
		if err == nil {
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
	g := results.GeometryOf(
		map[string]string{keys.Swept: "a=b=1024,2,64+8192,4,64 aa=512,2,64+8192,4,64 " +
			"a=2048,2,64+8192,4,64", keys.TLB: "64,4,4096"})
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
		{file("more.txt", "b=2048,2,64+8192,4,64 a=1024,2,64+8192,4,64", "a", "b"),
			"a=1024,2,64+8192,4,64 b=2048,2,64+8192,4,64", ""},
		{file("unnamed.txt", "", "512,2,64+8192,4,64"), "a=1024,2,64+8192,4,64", ""},
		{file("other.txt", "a=2048,2,64+8192,4,64", "a", "a"), "",
			`differ in sim-caches of a ("a=1024,2,64+8192,4,64" and "a=2048,2,64+8192,4,64"): take`},
		{file("before.txt", "", "a"), "",
			`differ in sim-caches of a ("a=1024,2,64+8192,4,64" and absent): take`},
	} {
		config, err := must(results.Read(one, c.two)).Config()
		if config[keys.Swept] != c.config || (err != nil) != (c.refused != "") || err != nil &&
			!strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, %v, want %q %q", c.two, config, err, c.config, c.refused)
		}
	}
}

func TestFingerprint(t *testing.T) {
	config := map[string]string{"cpu": "A", "cpus": "2", "kernel": "avx2", "goversion": "go1",
		"sim-d1": "1", "caches": ""}
	f := results.FingerprintOf(config)
	if diff := cmp.Diff(results.Fingerprint{{Key: "cpu", Value: "A"}, {Key: "cpus", Value: "2"},
		{Key: "kernel", Value: "avx2"}}, f); diff != "" {
		t.Error(diff)
	}
	config["kernel"], config["goversion"] = "scalar", "go2"
	g := results.FingerprintOf(config)
	if diff := cmp.Diff([]string{`kernel ("avx2" and "scalar")`}, f.Differ(g)); diff != "" ||
		f.Hash() == g.Hash() || len(f.Hash()) != 12 {
		t.Errorf("%s; %s and %s", diff, f.Hash(), g.Hash())
	}
	if !f.Known() || results.FingerprintOf(map[string]string{"goos": "linux"}).Known() {
		t.Error("a machine is known by its cpu or caches")
	}
}

// TestByElement: what is exact is the same by element whatever the times, of which lines have six
// digits, and there is none where no time tells the elements. These lines came out as 0.187 and
// 0.188 when cut to three digits.
func TestByElement(t *testing.T) {
	for times, want := range map[string]float64{
		"15809402 ns/op 1.88463 ns/elem": 0.1875, "12353078 ns/op 1.4726 ns/elem": 0.1875,
		"51187519 ns/op 6.10203 ns/elem": 0.1875,
		"5391438 ns/op 0.642709 ns/elem": 0.1875, "15809402 ns/op": 0, "0 ns/op 0 ns/elem": 0,
		"5 ns/op 0 ns/elem": 0,
	} {
		lines := "Unit D1-misses/op assume=exact\nBenchmarkCopy/shape=4096x4096/step=2 1 " + times +
			" 1572864 D1-misses/op\n"
		row := must(results.Parse("run.txt", []byte(lines))).Rows()[0]
		if got, ok := row.ByElement("D1-misses/op"); ok != (want > 0) || ok && got != want {
			t.Errorf("%s: %v, %v misses by element, want %v", times, got, ok, want)
		}
		if got, ok := row.ByElement("LL-misses/op"); ok {
			t.Errorf("%s: %v of a unit that it does not have", times, got)
		}
	}
}
