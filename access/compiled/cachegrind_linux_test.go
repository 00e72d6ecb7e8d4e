package compiled_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/compiled"
	"github.com/stridebench/stridebench/simcache"
)

// cachegrindPrograms are compared with Cachegrind inside of a function, with what it calls.
var cachegrindPrograms = []struct {
	compiler, file, function string
	calls                    string   // a pattern of the names of functions that it calls
	differ                   []string // by what the counts of all instructions differ
}{
	{"gcc", "stencil.c", "step", "", nil},
	{"gcc", "matmul.c", "multiply", "", []string{"stack"}},
	{"gcc", "csr.c", "product", "", nil},
	{"gcc", "list.c", "walk", "", nil},
	{"gcc", "hash.c", "count", "find", []string{"stack", "modify"}},
	{"gcc", "quicksort.c", "sort", "", []string{"stack"}},
	{"g++", "particles.cpp", "simulate", "void std::.*", []string{"stack", "constant", "library"}},
	{"gcc", "tree.c", "all", "build|sum", []string{"stack"}},
	{"g++ -DN=1000", "article.cpp", "loop1", "", []string{"modify"}},
	{"g++ -DN=1000", "article.cpp", "loop2", "", []string{"modify"}},
	{"gfortran", "nest.f90", "blend", "", nil},
}

// A difference is why Cachegrind counts other references than those of the source.
type difference struct {
	reason       string
	instructions *regexp.Regexp // that make them
}

var differences = map[string]difference{
	"stack": {"The compiler keeps return addresses, saved registers and what finds no register on " +
		"the stack. These are no accesses of the source, and it puts no call before them.",
		regexp.MustCompile(`^\t(push|pop|call|ret|leave)|\(%rsp`)},
	"constant": {"Floating-point constants lie in memory. The compiler puts no call before their " +
		"loads.",
		regexp.MustCompile(`\.LC\d+\(%rip\)`)},
	"modify": {"Cachegrind counts an instruction that reads and writes one place as one read. " +
		"Here that is a read and a write, which hits.",
		regexp.MustCompile(`^\t(add|sub|inc|dec)[bwlq]\t([^(]*, *)?[^,(]*\([^)]*\)$`)},
	"library": {"memmove moves what a vector holds when it grows. Here that is accesses of 16 B, in " +
		"the C library wider ones. So references leave it out, and misses do not.", nil},
}

// relocates is the file of the C++ library whose accesses are those of memmove.
const relocates = "stl_uninitialized.h"

// TestCachegrind compares references and misses with Cachegrind's, instruction by instruction:
// the program that it runs is assembled such that each line of its source is an instruction.
func TestCachegrind(t *testing.T) {
	if _, err := exec.LookPath("valgrind"); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("there is no valgrind here, or no instructions of amd64")
	}
	programs := cachegrindPrograms
	if testing.Short() {
		programs = programs[:1]
	}
	for _, p := range programs {
		t.Run(p.function, func(t *testing.T) {
			t.Parallel()
			command := p.compiler + " -O1 -fno-tree-vectorize"
			got, moved := ourCounts(t, command, "programs/"+p.file, p.function)
			lines := cachegrind(t, command, "testdata/programs/"+p.file)
			inside := regexp.MustCompile(`^(` + p.function + `_?|` + p.calls + `)(\(|$)`)
			want := sumOf(lines, inside, nil)
			t.Logf("of all instructions: %d references, %d D1 misses, want %d, %d",
				got.Refs(), got.D1Misses(), want.Refs(), want.D1Misses())
			if explained := sumOf(lines, inside, p.differ); p.differ != nil {
				if slices.Contains(p.differ, "library") {
					got.Dr, got.Dw = got.Dr-moved.Dr, got.Dw-moved.Dw
				}
				for _, why := range p.differ {
					t.Logf("%s: %s", why, differences[why].reason)
				}
				t.Logf("without these: %d references, %d D1 misses, want %d, %d",
					got.Refs(), got.D1Misses(), explained.Refs(), explained.D1Misses())
				if near(got.Refs(), want.Refs()) {
					t.Errorf("%v: there is no difference", p.differ)
				}
				want = explained
			}
			if !near(got.Refs(), want.Refs()) || !near(got.D1Misses(), want.D1Misses()) {
				t.Errorf("%+v, want %+v within 1%%", got, want)
			}
		})
	}
}

// near reports whether counts differ by at most 1%.
func near(got, want uint64) bool {
	return math.Abs(float64(got)-float64(want)) <= 0.01*float64(want)
}

// A simulated is a sink that counts misses.
type simulated struct {
	*simcache.Hierarchy
	sources []compiled.Source
}

func (s *simulated) New(source compiled.Source) int {
	s.sources = append(s.sources, source)
	return s.NewSource(source.Kind)
}

func (s *simulated) Accesses(refs []simcache.Reference) { s.AccessAll(refs) }

// ourCounts are those of a function, and of them those of memmove.
func ourCounts(t *testing.T, command, file, function string) (all, moved simcache.Counts) {
	t.Helper()
	program, err := compiled.Open(build(t, command, file))
	if err != nil {
		t.Fatal(err)
	}
	d1 := simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}
	ll := simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}
	h, err := simcache.NewHierarchy(simcache.Config{Levels: simcache.TwoLevels(d1, ll)})
	if err != nil {
		t.Fatal(err)
	}
	s := &simulated{Hierarchy: h}
	if _, err := program.Run(t.Context(), compiled.Options{Function: function}, s); err != nil {
		t.Fatal(err)
	}
	for i, counts := range h.SourceCounts() {
		if all = all.Add(counts); filepath.Base(s.sources[i].Place.File) == relocates {
			moved = moved.Add(counts)
		}
	}
	if h.Counts() != all {
		t.Errorf("the sources count %+v, and all together %+v", all, h.Counts())
	}
	return all, moved
}

// A cachegrindLine is what an instruction counted.
type cachegrindLine struct {
	function, instruction string // of the C library, without an instruction
	counts                simcache.Counts
}

// cachegrind runs a program under Cachegrind.
func cachegrind(t *testing.T, command, file string) (lines []cachegrindLine) {
	t.Helper()
	dir := t.TempDir()
	assembly, path, out := filepath.Join(dir, "program.s"), filepath.Join(dir, "program"),
		filepath.Join(dir, "out")
	words := strings.Fields(command)
	for _, args := range [][]string{
		append(slices.Clone(words), "-S", file, "-o", assembly),
		{words[0], "-g", assembly, "-o", path},
		{"valgrind", "--tool=cachegrind", "--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64",
			"--LL=8388608,16,64", "--cachegrind-out-file=" + out, path},
	} {
		if said, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	code, err := os.ReadFile(assembly)
	if err != nil {
		t.Fatal(err)
	}
	counted, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	instructions := strings.Split(string(code), "\n")
	ours, line := false, cachegrindLine{}
	for text := range strings.Lines(string(counted)) {
		text = strings.TrimSpace(text)
		if file, is := strings.CutPrefix(text, "fl="); is {
			ours = file == assembly
		} else if function, is := strings.CutPrefix(text, "fn="); is {
			line.function = function
		} else if number, counts, is := parseCounts(text); is {
			if line.counts, line.instruction = counts, ""; ours {
				line.instruction = instructions[number-1]
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// parseCounts reads a line of Cachegrind's file: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw.
func parseCounts(text string) (line int, c simcache.Counts, ok bool) {
	var n [10]uint64
	fields := strings.Fields(text)
	if len(fields) != len(n) {
		return 0, c, false
	}
	for i, field := range fields {
		var err error
		if n[i], err = strconv.ParseUint(field, 10, 64); err != nil {
			return 0, c, false
		}
	}
	c = simcache.Counts{Dr: n[4], D1mr: n[5], DLmr: n[6], Dw: n[7], D1mw: n[8], DLmw: n[9]}
	return int(n[0]), c, true
}

// ofMemmove are the functions of the C library that do what memmove does.
var ofMemmove = regexp.MustCompile(`^_*(memmove|memcpy)`)

// sumOf adds what functions counted, with what differs made what it is here.
func sumOf(lines []cachegrindLine, inside *regexp.Regexp, differ []string) (sum simcache.Counts) {
	differs := func(l cachegrindLine, why string) bool {
		return slices.Contains(differ, why) &&
			differences[why].instructions.MatchString(l.instruction)
	}
	for _, l := range lines {
		c := l.counts
		switch {
		case l.instruction == "" && ofMemmove.MatchString(l.function) &&
			slices.Contains(differ, "library"):
			sum.D1mr, sum.D1mw = sum.D1mr+c.D1mr, sum.D1mw+c.D1mw
		case l.instruction == "" || !inside.MatchString(l.function):
		case differs(l, "stack") || differs(l, "constant"):
		case differs(l, "modify"):
			c.Dw += c.Dr
			fallthrough
		default:
			sum = sum.Add(c)
		}
	}
	return sum
}
