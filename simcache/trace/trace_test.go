package trace_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
	"github.com/stridebench/stridebench/simcache/trace"
)

// vectors are what was recorded from Valgrind 3.19: the files of a folder and of
// those below it, by kind. A folder need not have all kinds, nor all of one.
type vectors struct {
	dir       string
	expected  []string // counts of the traces beside them
	outs      []string // cachegrind.out files
	summaries []string // what Cachegrind printed
	traces    []string // Lackey's, with expected counts or without
}

// recorded are the vectors of this package, and those of the folder that
// CACHEGRIND_VECTORS names.
func recorded(t *testing.T) []vectors {
	t.Helper()
	all := []vectors{list(t, filepath.Join("testdata", "cachegrind"))}
	if len(all[0].expected) == 0 || len(all[0].outs) == 0 || len(all[0].summaries) == 0 {
		t.Fatalf("%s lacks a kind of file: %+v", all[0].dir, all[0])
	}
	if dir := os.Getenv("CACHEGRIND_VECTORS"); dir != "" {
		all = append(all, list(t, dir))
	}
	return all
}

func list(t *testing.T, dir string) vectors {
	t.Helper()
	v := vectors{dir: dir}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
		case entry.Name() == "expected.json":
			v.expected = append(v.expected, path)
		case strings.HasSuffix(path, outFile):
			v.outs = append(v.outs, path)
		case strings.HasSuffix(path, summaryFile):
			v.summaries = append(v.summaries, path)
		case strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".trace"):
			v.traces = append(v.traces, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.expected)+len(v.outs)+len(v.summaries)+len(v.traces) == 0 {
		t.Fatalf("%s holds no expected.json, *%s, *%s, *.trace or *.trace.gz", dir, outFile,
			summaryFile)
	}
	return v
}

const (
	outFile     = ".cachegrind.out"
	summaryFile = ".summary.txt"
)

func geometry(t testing.TB, text string) simcache.Geometry {
	t.Helper()
	g, err := simcache.ParseGeometry(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g
}

// load reads a whole trace.
func load(t testing.TB, path string) []trace.Record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []trace.Record
	for r, err := range trace.Records(f, path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func replay(c simcache.Config, records iter.Seq2[trace.Record, error]) (simcache.Counts, error) {
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		return simcache.Counts{}, err
	}
	_, err = trace.Feed(h, c, records)
	return h.Counts(), err
}

func again(all []trace.Record) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// TestCachegrindCounts replays every recorded trace on every recorded
// geometry: all nine counts are Cachegrind's.
func TestCachegrindCounts(t *testing.T) {
	for _, v := range recorded(t) {
		for _, file := range v.expected {
			replayExpected(t, file)
		}
	}
}

// replayExpected holds the traces beside a file of expected counts to it. One
// that is not there, in a folder that has but a part of them, is told of.
func replayExpected(t *testing.T, file string) {
	t.Helper()
	var expected []struct {
		Trace      string
		Geometry   string
		I1, D1, LL string
		Counts     simcache.Counts
	}
	if err := json.Unmarshal([]byte(read(t, file)), &expected); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	traces, absent, replays := map[string][]trace.Record{}, map[string]bool{}, 0
	for _, e := range expected {
		path := filepath.Join(filepath.Dir(file), e.Trace)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			absent[e.Trace] = true
			continue
		}
		if traces[e.Trace] == nil {
			traces[e.Trace] = load(t, path)
		}
		replays++
		c := simcache.Config{I1: geometry(t, e.I1),
			Levels: simcache.TwoLevels(geometry(t, e.D1), geometry(t, e.LL)), ZeroTags: true}
		got, err := replay(c, again(traces[e.Trace]))
		if err != nil {
			t.Errorf("%s on %s: %v", e.Trace, e.Geometry, err)
		}
		if got != e.Counts {
			t.Errorf("%s on %s:\ngot        %+v\nCachegrind %+v", e.Trace, e.Geometry,
				got, e.Counts)
		}
	}
	t.Logf("%s: %d replays of %d traces, %d traces are not there", file, replays, len(traces),
		len(absent))
	if replays == 0 {
		t.Errorf("%s: none of its %d cases has its trace", file, len(expected))
	}
	if len(absent) > 0 && strings.HasPrefix(file, "testdata") {
		t.Errorf("%s: no %v", file, slices.Sorted(maps.Keys(absent)))
	}
}

// TestCachegrindTraces: every recorded trace is read to its end, whether counts
// are expected of it or not.
func TestCachegrindTraces(t *testing.T) {
	for _, v := range recorded(t) {
		for _, file := range v.traces {
			if len(load(t, file)) == 0 {
				t.Errorf("%s: no record in it", file)
			}
		}
	}
}

// TestCachegrindFiles formats the counts of each recorded cachegrind.out back
// into the file, byte for byte, and into the summary recorded beside it.
func TestCachegrindFiles(t *testing.T) {
	line := regexp.MustCompile(`(?m)^0 (.*)$`)
	desc := regexp.MustCompile(`(?m)^desc: (I1|D1|LL) cache: +(\d+) B, (\d+) B, (?:(\d+)-way associative|direct-mapped)$`)
	for _, v := range recorded(t) {
		for _, file := range v.outs {
			out := read(t, file)
			var c simcache.Counts
			numbers := line.FindStringSubmatch(out)[1]
			if _, err := fmt.Sscan(numbers, &c.Ir, &c.I1mr, &c.ILmr, &c.Dr, &c.D1mr, &c.DLmr, &c.Dw,
				&c.D1mw, &c.DLmw); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			beside := strings.TrimSuffix(file, outFile) + summaryFile
			if slices.Contains(v.summaries, beside) {
				compareSummary(t, beside, c)
			}
			config := simcache.Config{Levels: make([]simcache.Level, 2)}
			for _, m := range desc.FindAllStringSubmatch(out, -1) {
				ways := m[4]
				if ways == "" {
					ways = "1"
				}
				g := geometry(t, m[2]+","+ways+","+m[3])
				*map[string]*simcache.Geometry{"I1": &config.I1, "D1": &config.Levels[0].Geometry,
					"LL": &config.Levels[1].Geometry}[m[1]] = g
			}
			_, command, _ := strings.Cut(out, "\ncmd: ")
			command, _, _ = strings.Cut(command, "\n")
			var b strings.Builder
			if err := explain.WriteOut(&b, config, command,
				explain.Line{Function: "???", Counts: c}); err != nil {
				t.Fatal(err)
			}
			if b.String() != out {
				t.Errorf("%s: we write\n%sCachegrind wrote\n%s", file, b.String(), out)
			}
		}
	}
}

// TestCachegrindSummaries reads the counts out of each recorded summary and
// prints it again: its rates follow from them, and its columns.
func TestCachegrindSummaries(t *testing.T) {
	for _, v := range recorded(t) {
		for _, file := range v.summaries {
			var n [3][3]uint64 // of I, D reads and D writes: references, misses, misses in LL
			for i, name := range []string{"refs", "misses", "misses"} {
				level := [3][2]string{{"I", "D"}, {"I1", "D1"}, {"LLi", "LLd"}}[i]
				n[0][i] = summed(t, file, level[0]+" +"+name+`: +([\d,]+)$`)[0]
				d := summed(t, file, level[1]+" +"+name+`: +[\d,]+  \( *([\d,]+) rd +\+ *([\d,]+) wr\)$`)
				n[1][i], n[2][i] = d[0], d[1]
			}
			compareSummary(t, file, simcache.Counts{Ir: n[0][0], I1mr: n[0][1], ILmr: n[0][2],
				Dr: n[1][0], D1mr: n[1][1], DLmr: n[1][2], Dw: n[2][0], D1mw: n[2][1],
				DLmw: n[2][2]})
		}
	}
}

// summed are the counts in a line of a summary.
func summed(t *testing.T, file, line string) (counts []uint64) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^==\d+== ` + line).FindStringSubmatch(read(t, file))
	if found == nil {
		t.Fatalf("%s: no line %q", file, line)
	}
	for _, text := range found[1:] {
		n, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		counts = append(counts, n)
	}
	return counts
}

func compareSummary(t *testing.T, file string, c simcache.Counts) {
	t.Helper()
	summary := regexp.MustCompile(`(?m)^==\d+== ?`).ReplaceAllString(read(t, file), "")
	_, summary, _ = strings.Cut(summary, "I   refs:")
	if got := explain.Summary(c, true); got != "I   refs:"+summary {
		t.Errorf("%s: the summary is\n%sCachegrind prints\nI   refs:%s", file, got, summary)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCachegrindAnnotates opens a file of ours with the real cg_annotate.
func TestCachegrindAnnotates(t *testing.T) {
	annotate, err := exec.LookPath("cg_annotate")
	if err != nil {
		t.Skip("cg_annotate is not here (Debian: valgrind), so nothing opens our cachegrind.out")
	}
	path := filepath.Join(t.TempDir(), "cachegrind.out")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	g := geometry(t, "32768,8,64")
	x := simcache.Counts{Dr: 123456, D1mr: 7890, DLmr: 12}
	y := simcache.Counts{Dw: 654321, D1mw: 987, DLmw: 65}
	err = errors.Join(explain.WriteOut(f, simcache.Config{I1: g,
		Levels: simcache.TwoLevels(g, geometry(t, "33554432,16,64"))}, "bench sim",
		explain.Line{Function: "x", Counts: x}, explain.Line{Function: "y", Counts: y}), f.Close())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(annotate, path).CombinedOutput()
	if err != nil {
		t.Fatalf("cg_annotate: %v\n%s", err, out)
	}
	for _, want := range []string{"123,456", "7,890", "654,321", "987", "bench sim", "???:x",
		"???:y", "PROGRAM TOTALS"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("cg_annotate does not show %q:\n%s", want, out)
		}
	}
}

// TestFormats reads the same accesses in both formats.
func TestFormats(t *testing.T) {
	read, write := trace.Record{Addr: 0x1ffefff8a0, Size: 8},
		trace.Record{Kind: nest.Write, Size: 1}
	fetch := trace.Record{Fetch: true, Addr: 0x401000, Size: 7}
	for text, want := range map[string][]trace.Record{
		"I  00401000,7\n L 1ffefff8a0,8\n S 00000000,1\n M fffffffffffffffc,4\n": {
			fetch, read, write, {Kind: nest.Modify, Addr: 1<<64 - 4, Size: 4}},
		"2 401000 7\n0 1ffefff8a0 8\n1 0 1\n": {fetch, read, write},
		"0 10\n1 0x20\n": {{Addr: 0x10, Size: 4},
			{Kind: nest.Write, Addr: 0x20, Size: 4}},
	} {
		if got, err := collect(strings.NewReader(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: read %v, %v, want %v", text, got, err, want)
		}
	}
}

func collect(r io.Reader) (all []trace.Record, err error) {
	for record, err := range trace.Records(r, "a.trace") {
		if err != nil {
			return all, err
		}
		all = append(all, record)
	}
	return all, nil
}

func TestBadTraces(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	// which ends within a line
	if _, err := z.Write([]byte(" L 1000,4\n L 10")); err != nil || z.Flush() != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		packed.String():                  "a.trace:2: its gzip stream is cut off",
		"I  1000,4\n L 1000\n":           `a.trace:2: "L 1000" is not an access`,
		" X 1000,4\n":                    `a.trace:1: "X 1000,4" is not an access`,
		" L zz,4\n":                      "a.trace:1",
		" L 1000,0\n":                    "a.trace:1",
		" L 1000,-1\n":                   "a.trace:1",
		" L 1000,999999\n":               "a.trace:1",
		" L ffffffffffffffff,2\n":        "a.trace:1",
		"==1== Lackey\n\n L 10000,4,5\n": "a.trace:3",
		"0 1000\n5 1000\n":               "a.trace:2",
		"0 1000 4 4\n":                   "a.trace:1",
		"\x1f\x8bnot gzip":               "a.trace: ",
		strings.Repeat("x", 1<<17):       "a.trace:1: ",
	} {
		if _, err := collect(strings.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", text, err, want)
		}
	}
	g := geometry(t, "1024,2,32")
	if _, err := replay(simcache.Config{Levels: simcache.TwoLevels(g, g)},
		again([]trace.Record{{Fetch: true, Size: 1}})); err == nil {
		t.Error("a fetch without an I1 is accepted")
	}
}

// FuzzRecords: whatever the text, reading ends, and each record is an access within memory.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("I  00401000,7\n L 1ffefff8a0,8\n S 00408fb8,8\n M 10,4\n"))
	f.Add([]byte("2 401000\n0 10 8\n1 0x20\n"))
	f.Add([]byte("==12== x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, _ := collect(bytes.NewReader(text))
		for _, r := range records {
			if r.Size < 1 || r.Addr+uint64(r.Size)-1 < r.Addr {
				t.Errorf("%q: %+v", text, r)
			}
		}
	})
}
