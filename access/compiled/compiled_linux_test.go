package compiled_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/compiled"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A record keeps all accesses.
type record struct {
	sources  []compiled.Source
	accesses []simcache.Reference
}

func (r *record) New(s compiled.Source) int {
	r.sources = append(r.sources, s)
	return len(r.sources) - 1
}

func (r *record) Accesses(refs []simcache.Reference) {
	r.accesses = append(r.accesses, refs...)
}

// build builds a file of testdata, and skips the test where there is no such compiler.
func build(t *testing.T, command, file string) string {
	t.Helper()
	words := strings.Fields(command)
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skipf("there is no %s here", words[0])
	}
	path := filepath.Join(t.TempDir(), "program")
	words = append(words, filepath.Join("testdata", file), "-o", path)
	cmd, err := compiled.Command(t.Context(), t.TempDir(), words)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// some is the first of what there is with -short: each takes a second of a compiler's time.
func some[T any](all []T) []T {
	if testing.Short() {
		return all[:(len(all)+3)/4]
	}
	return all
}

// run runs a program.
func run(t *testing.T, path string, o compiled.Options) (*record, compiled.Outcome) {
	t.Helper()
	program, err := compiled.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r := new(record)
	outcome, err := program.Run(t.Context(), o, r)
	if err != nil {
		t.Fatal(err)
	}
	return r, outcome
}

// TestOrder compares accesses with those of the loops in the source, one by one.
func TestOrder(t *testing.T) {
	const n = 400
	for _, command := range some([]string{"g++ -O2", "g++ -O1", "clang++ -O2 -fno-vectorize",
		"g++ -O2 -no-pie -static-libgcc"}) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			path := build(t, command, "article.cpp")
			for function, strides := range map[string][2]uint64{"loop1": {4 * n, 4},
				"loop2": {4, 4 * n}} {
				r, outcome := run(t, path, compiled.Options{Function: function})
				if len(r.accesses) != 2*n*n || outcome.Calls != 1 || outcome.Code != 0 {
					t.Fatalf("%s: %d accesses, want %d; %+v", function, len(r.accesses),
						2*n*n, outcome)
				}
				base := r.accesses[0].Addr
				for i, a := range r.accesses {
					s := r.sources[a.Source]
					at := base + uint64(i/2/n)*strides[0] + uint64(i/2%n)*strides[1]
					kind := nest.Kind(i % 2) // a read, then a write
					if a.Addr != at || a.Size != 4 || s.Kind != kind || s.Object != "a" ||
						s.Place.Function != function {
						t.Fatalf("%s: access %d is %+v of %+v, want %v of 4 B at %#x", function, i,
							a, s, kind, at)
					}
				}
			}
		})
	}
}

// TestVectors: what Clang makes vectors of is reported whole.
func TestVectors(t *testing.T) {
	t.Parallel()
	const n = 400
	r, _ := run(t, build(t, "clang++ -O3 -mavx2", "article.cpp"),
		compiled.Options{Function: "loop1"})
	bytes := 0
	for _, a := range r.accesses {
		bytes += int(a.Size)
	}
	if bytes != 2*4*n*n {
		t.Errorf("accesses of %d B, want %d", bytes, 2*4*n*n)
	}
}

// TestFortran: columns lie together, and names are those of the source.
func TestFortran(t *testing.T) {
	t.Parallel()
	r, _ := run(t, build(t, "gfortran -O2", "column.f90"), compiled.Options{Function: "rows"})
	const n = 200
	for i, a := range r.accesses {
		want := r.accesses[0].Addr + uint64(i/2/n)*8 + uint64(i/2%n)*8*n
		if s := r.sources[a.Source]; a.Addr != want || s.Object != "a" || s.Place.Line != 14 {
			t.Fatalf("access %d is %+v of %+v, want %#x", i, a, s, want)
		}
	}
	if len(r.accesses) != 2*n*n {
		t.Errorf("%d accesses, want %d", len(r.accesses), 2*n*n)
	}
}

// TestNames: what is counted inside of functions, with what they call, by object.
func TestNames(t *testing.T) {
	for _, command := range some([]string{"g++ -O2", "g++ -O1", "g++ -O0 -DO0", "clang++ -O1"}) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			path := build(t, command, "list.cpp")
			for function, want := range map[string]map[string]int{
				"walk":       {"heap of list.cpp:11": 200},
				"total":      {"heap of list.cpp:42": 100000},
				"tree::fill": {"numbers": 50},
				"fill":       {"numbers": 50},
			} {
				r, _ := run(t, path, compiled.Options{Function: function})
				got := map[string]int{}
				for _, a := range r.accesses {
					got[r.sources[a.Source].Object]++
				}
				for object, n := range want {
					if got[object] != n {
						t.Errorf("%s: %v, want %v", function, got, want)
					}
				}
			}
		})
	}
}

// TestGlobals: variables have the names of the source.
func TestGlobals(t *testing.T) {
	for _, command := range some([]string{"g++ -O2", "g++ -O0", "clang++ -O1", "clang++ -O0"}) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r, _ := run(t, build(t, command, "globals.cpp"), compiled.Options{Function: "all"})
			got := map[string]int{}
			for _, a := range r.accesses {
				got[r.sources[a.Source].Object]++
			}
			for object, n := range map[string]int{"outer::plain": 10, "outer::hidden": 20,
				"S::member":      30,
				"box<int>::held": 40, "file": 50, "kept": 60, "c": 70} {
				if got[object] != 2*n {
					t.Errorf("%s: %d accesses, want %d", object, got[object], 2*n)
				}
			}
			for object := range got {
				if strings.HasPrefix(object, "_Z") {
					t.Errorf("%s: want the name of the source", object)
				}
			}
		})
	}
}

// TestRanges: structs and the C library's memset and memcpy are accesses of 16 B, none twice,
// and a copy reads before it writes.
func TestRanges(t *testing.T) {
	for _, command := range some([]string{"gcc -O2", "gcc -O0", "clang -O2"}) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			path := build(t, command, "ranges.c")
			for function, want := range map[string][2]int{
				"small": {300, 300}, "large": {2000, 2000}, "zero": {0, 2000}, "set": {0, 1600},
				"copy": {10000, 10000},
			} {
				r, _ := run(t, path, compiled.Options{Function: function})
				var got [2]int
				var before nest.Kind
				for i, a := range r.accesses {
					s := r.sources[a.Source]
					if !strings.HasPrefix(s.Object, "heap") { // -O0 keeps scalars on the stack
						continue
					}
					got[s.Kind]++
					if want[0] > 0 && i > 0 && s.Kind == before {
						t.Fatalf("%s: access %d is another %v", function, i, s.Kind)
					}
					before = s.Kind
				}
				if got != want {
					t.Errorf("%s: %v accesses, want %v", function, got, want)
				}
			}
		})
	}
}

// TestCalls: the calls that are counted, which ends a run, and what is said of it.
func TestCalls(t *testing.T) {
	t.Parallel()
	path := build(t, "gcc -O2 -pthread", "ends.c")
	for _, c := range []struct {
		args        string
		first, last uint64
		accesses    int
		want        compiled.Outcome
	}{
		{"0", 0, 0, 2000, compiled.Outcome{Calls: 1}},
		{"d", 0, 0, 4000, compiled.Outcome{Calls: 2}}, // closes all descriptors
		{"d", 2, 2, 2000, compiled.Outcome{Calls: 2}},
		{"d", 3, 9, 0, compiled.Outcome{Calls: 2}},
		{"x", 0, 0, 2000, compiled.Outcome{Calls: 1, Code: 3, Said: "could not open foo"}},
		{"c", 0, 0, 2000, compiled.Outcome{Calls: 1, Signal: "segmentation fault"}},
		{"f", 0, 0, 2000, compiled.Outcome{Calls: 1, Forked: true}},
		{"t", 0, 0, 2000, compiled.Outcome{Calls: 1, Stopped: "it starts a thread"}},
		{"g", 0, 0, 2000, compiled.Outcome{Calls: 1}},
		{"_", 0, 0, 2000, compiled.Outcome{Calls: 1}}, // _exit
	} {
		r, got := run(t, path, compiled.Options{Args: []string{c.args}, Function: "f",
			First: c.first, Last: c.last})
		got.Moved = false
		if c.want.Stopped != "" && strings.HasPrefix(got.Stopped, c.want.Stopped) {
			got = c.want // how far it came until it was ended is chance
		}
		if len(r.accesses) != c.accesses || got != c.want {
			t.Errorf("%s, calls %d to %d: %d accesses, %+v, want %d, %+v", c.args, c.first, c.last,
				len(r.accesses), got, c.accesses, c.want)
		}
	}
}

// TestRepeats: two runs make the same accesses, where the kernel fixes addresses.
func TestRepeats(t *testing.T) {
	t.Parallel()
	path := build(t, "g++ -O2", "list.cpp")
	r, outcome := run(t, path, compiled.Options{})
	again, _ := run(t, path, compiled.Options{})
	if outcome.Moved {
		t.Skip("addresses differ from run to run here")
	}
	if !slices.Equal(r.accesses, again.accesses) || !slices.Equal(r.sources, again.sources) {
		t.Error("two runs differ")
	}
}

// TestStop: a program that does not end is ended.
func TestStop(t *testing.T) {
	t.Parallel()
	program, err := compiled.Open(build(t, "gcc -O2 -pthread", "ends.c"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	seen := &stopAfter{cancel: func() { cancel(why) }}
	if _, err := program.Run(ctx, compiled.Options{Args: []string{"l"}},
		seen); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// A stopAfter cancels a run after some accesses.
type stopAfter struct {
	record
	n      int
	cancel func()
}

func (s *stopAfter) Accesses(refs []simcache.Reference) {
	if s.n += len(refs); s.n >= 100000 {
		s.cancel()
	}
}

// TestRefused: what cannot be counted, and what would be right.
func TestRefused(t *testing.T) {
	t.Parallel()
	path := build(t, "gcc -O2 -pthread", "ends.c")
	stripped := filepath.Join(t.TempDir(), "stripped")
	if out, err := exec.Command("objcopy", "--strip-all", path,
		stripped).CombinedOutput(); err != nil {
		t.Skipf("no objcopy: %v, %s", err, out)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if out, err := exec.Command("gcc", "-pthread", "testdata/ends.c", "-o",
		plain).CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	for path, want := range map[string]string{stripped: "stripped", plain: "bench cc -- ",
		"testdata/ends.c": "no program", "nothing": "no such file"} {
		if _, err := compiled.Open(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	program, err := compiled.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program.Run(t.Context(), compiled.Options{Function: "nothing"},
		new(record)); err == nil ||
		!strings.Contains(err.Error(), "nothing") {
		t.Errorf("%v", err)
	}
	if _, err := compiled.Command(t.Context(), t.TempDir(),
		[]string{"no-such-compiler", "a.c"}); err == nil {
		t.Error("no compiler is one")
	}
}
