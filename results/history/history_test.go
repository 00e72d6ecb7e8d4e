package history

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
)

const commit = "70e0fd7d81758fc2691922d5117761831a4c358b"

// run is a file of results, with a time that makes it one of its own.
func run(ns float64) []byte {
	return fmt.Appendf(nil, `cpu: A
sim-d1: 32768,8,64
# date: 2026-11-21T06:11:36Z
# commit: %s
Unit D1-misses/op assume=exact better=lower
family: X
BenchmarkX/a=b 1 %v ns/op 7 B/s 100 D1-misses/op
`, commit, ns)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func add(t testing.TB, s *Store, text []byte) Entry {
	t.Helper()
	e, added, err := s.Add("t.txt", text, "", time.Time{})
	if err != nil || !added {
		t.Fatalf("added: %v, %v", added, err)
	}
	return e
}

func read(t testing.TB, s *Store, wantEntries, wantDamaged int) ([]Entry, []Damaged) {
	t.Helper()
	entries, damaged, err := s.Entries()
	if err != nil || len(entries) != wantEntries || len(damaged) != wantDamaged {
		t.Fatalf("%d entries and %d damaged (%v), %v; want %d and %d", len(entries), len(damaged),
			damaged, err, wantEntries, wantDamaged)
	}
	return entries, damaged
}

func TestAdd(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "new"))
	read(t, s, 0, 0)
	e := add(t, s, run(1))
	if _, added, err := s.Add("t.txt", run(1), "", time.Time{}); added || err != nil {
		t.Errorf("the same again: %v, %v", added, err)
	}
	if _, _, err := s.Add("t.txt", append(bytes.TrimSpace(run(2)), '\n'), "v1.0",
		time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))); err != nil {
		t.Fatal(err)
	}
	entries, _ := read(t, s, 2, 0)
	if diff := cmp.Diff(e, entries[1]); diff != "" {
		t.Error(diff)
	}
	if first := entries[0]; first.Commit != "v1.0" ||
		first.Time.Format(time.RFC3339) != "2025-12-31T23:00:00Z" ||
		!strings.HasPrefix(first.File, "20251231T230000Z-v1.0-"+e.Fingerprint+"-") ||
		first.benchmarks() != 1 || len(first.Records) != 3 {
		t.Errorf("%+v", first)
	}
	text, err := s.text(e)
	if err != nil || !bytes.Equal(text, run(1)) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestAddRefusals(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir)
	for text, want := range map[string]string{
		"":                                      "holds no benchmark results",
		"BenchmarkX 1 2 ns/op\n":                "the results name no commit",
		"# commit: abc\nBenchmarkX 1 2 ns/op\n": "the results name no date",
		"# commit: ../../x\nBenchmarkX 1 2 ns/op\n":                             `commit "../../x": want letters`,
		"# commit: abc\n# date: yesterday\nBenchmarkX 1 2 ns/op\n":              `date "yesterday": want one such as`,
		"# commit: abc\n# date: 0001-01-01T00:00:01Z\nBenchmarkX 1 2 ns/op\n":   "want a year from 1970",
		"# commit: abc\n# date: 2026-01-01T00:00:00Z\nBenchmarkX 1 NaN ns/op\n": "NaN ns/op is not a finite number",
		"# commit: abc\n# date: 2026-01-01T00:00:00Z\ncpu: A\n" +
			differentMachine: "the results do not compare",
	} {
		if _, _, err := s.Add("t.txt", []byte(text), "", time.Time{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v was written, %v", files, err)
	}
}

const differentMachine = "BenchmarkX 1 2 ns/op\ncpu: B\nBenchmarkX 1 2 ns/op\n"

// TestDoubts: what is not whole, or is yet to come, is said when it is added.
func TestDoubts(t *testing.T) {
	whole := string(run(1))
	for name, c := range map[string]struct {
		text string
		at   time.Time
		want string // "" for nothing
	}{
		"a run":   {whole, time.Unix(1e9, 0), ""},
		"cut off": {"# command: bench run\n" + whole, time.Unix(1e9, 0), "it is cut off"},
		"not all": {"# partial: missing: shard 3 of 5\n" + whole, time.Unix(1e9, 0),
			"was merged of parts that are not all: missing: shard 3 of 5"},
		"one of many": {"# shard: 2/8\n" + whole, time.Unix(1e9, 0), "it is shard 2/8 of a suite"},
		"interrupted": {"# interrupted: after 3 of 8 samples\n" + whole, time.Unix(1e9, 0),
			"is of a run that was interrupted after 3 of 8 samples"},
		"to come": {whole, time.Now().Add(48 * time.Hour), "is yet to come"},
	} {
		entry, _, err := Open(t.TempDir()).Add("t.txt", []byte(c.text), "0123abc", c.at)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "" && len(entry.Doubts) > 0, c.want != "" &&
			(len(entry.Doubts) != 1 || !strings.Contains(entry.Doubts[0], c.want)):
			t.Errorf("%s: doubts %q, want %q", name, entry.Doubts, c.want)
		}
	}
}

// TestDamage: an entry that is cut off or changed at any byte is named, and the
// others are read all the same; adding it again mends it.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir)
	e := add(t, s, run(1))
	add(t, s, run(2))
	path := filepath.Join(dir, e.File)
	whole := must(os.ReadFile(path))
	for i := 0; i < len(whole); i += 1 + i%4 {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		for _, damaged := range [][]byte{whole[:i], flipped} {
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			_, names := read(t, s, 1, 1)
			if names[0].File != e.File || !strings.Contains(names[0].Error(), e.File) {
				t.Fatalf("%v is damaged, want %s", names, e.File)
			}
			if _, err := s.text(e); err == nil {
				t.Fatal("a damaged entry was read")
			}
		}
	}
	add(t, s, run(1))
	read(t, s, 2, 0)
}

// TestStrangeFiles: links, folders and what is on its way are not read as
// entries.
func TestStrangeFiles(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir)
	e := add(t, s, run(1))
	for _, err := range []error{
		os.Symlink(filepath.Join(dir, e.File), filepath.Join(dir, "link.txt")),
		os.Mkdir(filepath.Join(dir, "folder.txt"), 0o777),
		os.WriteFile(filepath.Join(dir, ".x.txt.123"), []byte("half"), 0o666),
		os.WriteFile(filepath.Join(dir, "notes.md"), []byte("notes"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	read(t, s, 1, 2)
}

// TestWriteText: entries that are written one after the other are read as what
// they were, each with its own configuration and commit.
func TestWriteText(t *testing.T) {
	s := Open(t.TempDir())
	add(t, s, []byte("cpu: A\nkernel: avx2\n# date: 2026-11-21T00:00:00Z\n# commit: "+
		"a\nBenchmarkX 1 2 ns/op\n"))
	add(t, s, []byte("cpu: A\n# date: 2026-11-22T00:00:00Z\n# commit: ab\nBenchmarkX 1 3 ns/op\n"))
	entries, _ := read(t, s, 2, 0)
	var b bytes.Buffer
	if err := s.WriteText(&b, entries); err != nil {
		t.Fatal(err)
	}
	set := must(results.Parse("all", b.Bytes()))
	for i, want := range []map[string]string{{"commit": "a", "kernel": "avx2", "cpu": "A"},
		{"commit": "ab", "kernel": "", "cpu": "A"}} {
		for key, value := range want {
			if got := set.Results[i].GetConfig(key); got != value {
				t.Errorf("entry %d: %s is %q, want %q", i, key, got, value)
			}
		}
	}
	b.Reset()
	if err := s.WriteText(&b, must(OfCommit(entries, "ab"))); err != nil ||
		strings.Contains(b.String(), "\ncommit: ") ||
		!strings.HasPrefix(b.String(), "cpu: A\n# date") {
		t.Errorf("%v: %s", err, b.String())
	}
	if whole, err := OfCommit(entries, "a"); err != nil || len(whole) != 1 ||
		whole[0].Commit != "a" {
		t.Error(whole, err)
	}
	for commit, want := range map[string]string{"ab": "it may be any of abc, abd", "b": ""} {
		if _, err := OfCommit([]Entry{{Commit: "abc"}, {Commit: "abd"}}, commit); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", commit, err, want)
		}
	}
}

// FuzzEntry: any text is an entry or an error, and an entry that was sealed is
// read back.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(version + commitKey + "abc\n" + timeKey +
		"2026-01-01T00:00:00Z\nBenchmarkX 1 2 ns/op\n"))
	f.Add(run(1))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := parseEntry("t.txt", text); err == nil {
			t.Fatal("an entry without its seal was read")
		}
		if e, err := parseEntry("t.txt", seal(text)); err == nil &&
			(e.Commit == "" || len(e.Records) == 0) {
			t.Fatalf("%+v", e)
		}
		if got, err := unseal(seal(text)); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

// TestLinksInTheStore: whoever made the folder does not say with a link what is
// written elsewhere, or read.
func TestLinksInTheStore(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	s := Open(dir)
	e := add(t, s, run(1))
	read(t, s, 1, 0)
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, e.File)
	if err := errors.Join(os.Remove(path), os.Symlink(victim, path)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Add("t.txt", run(1), "", time.Time{}); !errors.Is(err, errNotRegular) {
		t.Errorf("an entry over a link: %v", err)
	}
	add(t, s, run(2))
	read(t, s, 1, 1)
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("what the links lead to holds %q, %v", text, err)
	}
}

// TestSweep: what writers that were killed left is removed when it is old, and
// nothing else is.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	files := map[string]bool{ // of which some are left
		".20251231T230000Z-v1.0-a-b.txt.4711": false,
		".notes.txt.swp":                      true, ".young.txt.4711": true, "mine.txt.4711": true,
	}
	for name := range files {
		path, at := filepath.Join(dir, name), time.Now().Add(-2*time.Hour)
		if strings.HasPrefix(name, ".young") {
			at = time.Now()
		}
		if err := errors.Join(os.WriteFile(path, nil, 0o600),
			os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	add(t, Open(dir), run(1))
	for name, left := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != left {
			t.Errorf("%s is left: %v, want %v", name, err == nil, left)
		}
	}
}

// TestParseTime: a time is what people and git write, in UTC unless it has a zone.
func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-21T07:14:35Z":      "2026-11-21T07:14:35Z",
		"2026-11-21 09:14:35 +0200": "2026-11-21T07:14:35Z",
		"2026-11-21T07:14:35":       "2026-11-21T07:14:35Z",
		"2026-11-21 07:14":          "2026-11-21T07:14:00Z",
		"2026-11-21":                "2026-11-21T00:00:00Z",
	} {
		if at, err := ParseTime(text); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v, want %s", text, at, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "21.11.2026", "2026-13-21"} {
		if at, err := ParseTime(text); err == nil {
			t.Errorf("%q is %v", text, at)
		}
	}
}
