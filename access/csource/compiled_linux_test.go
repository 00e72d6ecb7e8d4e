package csource_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// logger is what GCC's instrumentation for races calls at each access to memory that is no variable in a register, and a main
// that says where arrays lie. The text of the program itself is compiled as it is.
const logger = `#include <stdio.h>
#define AT(n) \
	void __tsan_read##n(void *p) { printf("%lu %d r\n", (unsigned long)p, n); } \
	void __tsan_write##n(void *p) { printf("%lu %d w\n", (unsigned long)p, n); } \
	void __tsan_unaligned_read##n(void *p) { __tsan_read##n(p); } \
	void __tsan_unaligned_write##n(void *p) { __tsan_write##n(p); }
AT(1) AT(2) AT(4) AT(8) AT(16)
void __tsan_init(void) {}
void __tsan_func_entry(void *p) {}
void __tsan_func_exit(void) {}
`

// instrumentedRun are the accesses that a function of a C file makes to the arrays when gcc has compiled it, by the array and the
// bytes behind its start, as walked writes them.
func instrumentedRun(t *testing.T, path, function string, arrays []csource.Array) string {
	t.Helper()
	dir := t.TempDir()
	main := logger + "void " + function + "(void);\nint main(void) {\n"
	names := ""
	for _, a := range arrays {
		names += "extern char " + a.Name + "[];\n"
		main += fmt.Sprintf("\tprintf(\"%%lu %d %s\\n\", (unsigned long)%[2]s);\n", bytesOf(a), a.Name)
	}
	log, object, program := filepath.Join(dir, "log.c"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.out")
	if err := os.WriteFile(log, []byte(names+main+"\t"+function+"();\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-w", "-O0", "-fsanitize=thread", "-c", "-o", object, path}, {"-w", "-o", program, log, object, "-lm"}} {
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%.4000s", err, out)
		}
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	bases, ends := make([]uint64, len(arrays)), make([]uint64, len(arrays))
	for i, line := range lines[:len(arrays)] {
		var size uint64
		if _, err := fmt.Sscan(line, &bases[i], &size); err != nil {
			t.Fatal(err)
		}
		ends[i] = bases[i] + size
	}
	var list []string
	for _, line := range lines[len(arrays):] {
		var at uint64
		var width int
		var kind string
		if _, err := fmt.Sscan(line, &at, &width, &kind); err != nil {
			t.Fatal(err)
		}
		for i, a := range arrays {
			if at >= bases[i] && at < ends[i] {
				list = append(list, fmt.Sprintf("%s%s%d:%d", kind, a.Name, at-bases[i], width))
			}
		}
	}
	return strings.Join(list, " ")
}

// walkedWidths are the accesses of a file as instrumentedRun has them.
func walkedWidths(f *csource.File) string {
	return walkedBy(f, func(at string, width int) string { return fmt.Sprintf("%s:%d", at, width) })
}

// ofTables are reads of constant arrays, which GCC's instrumentation for races leaves out.
var ofTables = regexp.MustCompile(`r(dx|ptr|row|col)\d+:4 ?`)

// compiledAs compares what is read of the function of each file with what its program does when GCC has compiled it, and with a
// function plain without pointers or steps, where the file has one.
func compiledAs(t *testing.T, folder, function string, least int, has *regexp.Regexp) {
	files, err := filepath.Glob("testdata/" + folder + "/*.c")
	if err != nil || len(files) < least {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			read := func(function string) *csource.File {
				f, err := csource.Read(path, text, csource.Options{Function: function})
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			with := read(function)
			got := ofTables.ReplaceAllString(walkedWidths(with), "")
			if strings.Contains(string(text), "void plain(") {
				if plain := walkedWidths(read("plain")); got != plain {
					t.Errorf("it does\n%.2000s\nwithout pointers\n%.2000s", got, plain)
				}
			}
			if want := instrumentedRun(t, path, function, with.Arrays); got != want {
				at := 0 // where they begin to differ
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				at = max(0, at-100)
				t.Errorf("it does\n... %.500s\ncompiled\n... %.500s", got[at:], want[at:])
			}
			if n := len(strings.Fields(got)); n < 100 || !has.Match(text) {
				t.Errorf("%d accesses", n)
			}
		})
	}
}

// TestCompiledPointers: programs with pointers make the accesses that they make when GCC has compiled them, and those of the same
// program without pointers, where the file has that too.
func TestCompiledPointers(t *testing.T) {
	compiledAs(t, "pointers", "pointers", 10, regexp.MustCompile(`\*\w+ =|\(\*\w+\)|->`))
}

// TestCompiledWalking: so do programs with pointers and integers that steps change.
func TestCompiledWalking(t *testing.T) {
	compiledAs(t, "walking", "walking", 12, regexp.MustCompile(`\w\+\+|--\w|\w [+-]= `))
}

// TestCompiledBoth: so do those in which loops are cut for remainders and tables, and left by continue, beside steps.
func TestCompiledBoth(t *testing.T) {
	compiledAs(t, "both", "both", 10, regexp.MustCompile(`%|&|continue|dx\[`))
}

// TestCompiledTurns: so do those whose buffers are swapped, or chosen by the loops' variables, those with packed triangles, and those
// whose conditions count.
func TestCompiledTurns(t *testing.T) {
	compiledAs(t, "turns", "turns", 12, regexp.MustCompile(`\w`))
}

// TestCompiledOrder: random expressions with calls beside other accesses, as far as they are read, make these in the order in which they
// come when GCC has compiled them.
func TestCompiledOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	types := []string{"double", "float", "int", "unsigned", "long", "short", "char"}
	head := "double x = 2; int n = 3;\n"
	for i, of := range types {
		head += fmt.Sprintf("%s a%d[4], b%[2]d[4], c%[2]d[4]; __attribute__((noinline, noclone)) static %[1]s f%[2]d(const %[1]s *v) { return v[2]; }\n", of, i)
	}
	var write func(deep int) string
	write = func(deep int) string {
		of := r.IntN(len(types))
		if r.IntN(3) > 0 {
			of = r.IntN(2)
		}
		array := fmt.Sprintf("%c%d", "abc"[r.IntN(3)], of)
		switch n := r.IntN(20); {
		case deep > 0 && n < 12:
			op := []string{"+", "-", "*", "+", "-", "*", "/ (x +", "&", "<"}[r.IntN(9)]
			return fmt.Sprintf("(%s %s %s)%s", write(deep-1), op, write(deep-1), strings.Repeat(")", strings.Count(op, "(")))
		case deep > 0 && n < 13:
			return fmt.Sprintf("%s(%s)", []string{"-", "~", "!", "+"}[r.IntN(4)], write(deep-1))
		case deep > 0 && n < 14:
			return fmt.Sprintf("(%s)%s", types[of], write(deep-1))
		case n < 16 && deep < 3:
			return fmt.Sprintf("f%d(%s)", of, array)
		case n == 19:
			return []string{"2.5", "3", "n", "x", "0", "-1.0"}[r.IntN(6)]
		}
		return array + "[1]"
	}
	var files, want []string
	all, function := head, "void f(void) {\n"
	calls := regexp.MustCompile(`f\d\(.*\[1\]|\[1\].*f\d\(|f\d\(.*f\d\(`)
	var first *csource.File
	for tries := 0; len(files) < 400 && tries < 40000; tries++ {
		e := write(1 + r.IntN(3))
		if !calls.MatchString(e) {
			continue
		}
		f, err := csource.Read("t.c", []byte(head+"void f(void) { x = "+e+"; }"), csource.Options{Function: "f"})
		if err != nil {
			continue
		}
		first = f
		files, want = append(files, e), append(want, walkedWidths(f))
		function += "x = " + e + ";\n"
	}
	if len(files) < 400 {
		t.Fatalf("%d are read", len(files))
	}
	compiledInTurn(t, all+function+"}\n", first.Arrays, files, want)
}

// compiledInTurn compares what statements of a function f make of accesses, one after the other, with what the compiled function does.
func compiledInTurn(t *testing.T, text string, arrays []csource.Array, statements, want []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "turns.c")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(instrumentedRun(t, path, "f", arrays))
	for i, s := range statements {
		of := strings.Fields(want[i])
		if len(got) < len(of) || strings.Join(got[:len(of)], " ") != want[i] {
			t.Fatalf("%s does %s, compiled %.300s", s, want[i], got)
		}
		got = got[len(of):]
	}
	if len(got) > 0 {
		t.Errorf("compiled it goes on with %.300s", got)
	}
}

// TestCompiledArguments: random calls of functions of numbers and of arrays, of the file and of the library, within each other and in
// assignments of all kinds, make the accesses that they make when GCC has compiled them, in its order.
func TestCompiledArguments(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 7))
	const arrays = "#include <math.h>\n#include <stdlib.h>\ndouble a[4], b[4], c[4]; float e[4]; int k[4]; volatile double v[4]; double x = 2; int n = 1;\n"
	const functions = `static double least(double p, double q) { return p < q ? p : q; } __attribute__((noinline)) double mixed(int p, double q, float s, long u) { return p + q + s + u; }
static inline double half(double p) { return p / 2; } __attribute__((const)) double same(double p) { return p; } double __attribute__((__pure__)) pure(double p, double q) { return p - q; }
static int clamp(int p, int low, int high) { return p < low ? low : p > high ? high : p; } double many(double p, double q, double s, double u, double w, double y, double z, double aa, double bb, double cc) { return p + cc; }
static double dot(const double *p, const double *q, int count) { double s = 0; for (int i = 0; i < count; i++) s += p[i] * q[i]; return s; }
static double at(const double *p, double by) { return p[2] * by; } static double put(double *p, double by, double to) { p[3] = by - to; return p[1]; }
`
	const given = "double given(int p, ...);\n"
	var write func(deep int) string
	write = func(deep int) string {
		next := func() string { return write(deep - 1) }
		if deep == 0 || r.IntN(4) == 0 {
			return []string{"a[0]", "b[1]", "c[n]", "e[2]", "k[3]", "x", "2.5", "v[1]", "a[2]", "b[3]"}[r.IntN(10)]
		}
		switch r.IntN(22) {
		case 0, 1:
			return "least(" + next() + ", " + next() + ")"
		case 2, 3:
			return "mixed(" + next() + ", " + next() + ", " + next() + ", " + next() + ")"
		case 4:
			return "half(" + next() + ")"
		case 5:
			return "same(" + next() + ")"
		case 6:
			return "pure(" + next() + ", " + next() + ")"
		case 7:
			return "clamp(" + next() + ", k[1], " + next() + ")"
		case 8:
			return "many(" + next() + ", " + next() + ", 2, " + next() + ", x, " + next() + ", " + next() + ", n, a[1], " + next() + ")"
		case 9:
			return "dot(a, b + 1, " + []string{"2", "3", "1"}[r.IntN(3)] + ")"
		case 10, 11:
			return "at(" + []string{"a", "b", "c + 1"}[r.IntN(3)] + ", " + next() + ")"
		case 12:
			return "put(" + []string{"a", "b", "c"}[r.IntN(3)] + ", " + next() + ", " + next() + ")"
		case 13:
			return "given(2, " + next() + ", " + next() + ")"
		case 14:
			return []string{"fmax", "fmin", "copysign", "pow", "hypot", "atan2", "fmod"}[r.IntN(7)] + "(" + next() + ", " + next() + ")"
		case 15:
			return []string{"sqrt", "fabs", "sin", "cos", "exp", "floorf", "ceil", "tanh", "log", "fabsf", "sqrtf", "rint"}[r.IntN(12)] + "(" + next() + ")"
		case 16:
			return "fma(" + next() + ", " + next() + ", " + next() + ")"
		case 17:
			return "abs(" + next() + ")"
		case 18:
			return "(x = " + next() + ")"
		}
		return "(" + next() + " " + []string{"+", "-", "*"}[r.IntN(3)] + " 1.5 * " + next() + ")"
	}
	function := "void f(void) {\n"
	var files, want []string
	var first *csource.File
	for tries := 0; len(files) < 800 && tries < 40000; tries++ {
		s := []string{"x = ", "a[1] = ", "b[2] += ", "c[3] -= ", "e[1] *= ", "k[2] += ", "v[2] /= 4 + ", "x += "}[r.IntN(8)] + write(1+r.IntN(3)) + ";"
		if !strings.Contains(s, "(") {
			continue
		}
		f, err := csource.Read("t.c", []byte(arrays+functions+given+"void f(void) { "+strings.ReplaceAll(s, "c[n]", "c[1]")+" }"), csource.Options{Function: "f"})
		if err != nil {
			if !strings.Contains(err.Error(), "comes before what else is read here is not known") {
				t.Fatalf("%s: %v", s, err)
			}
			continue
		}
		first = f
		files, want = append(files, s), append(want, walkedWidths(f))
		function += s + "\n"
	}
	if len(files) < 800 {
		t.Fatalf("%d are read", len(files))
	}
	const called = "double given(int p, ...) { return p; }\n"
	compiledInTurn(t, arrays+functions+called+function+"}\n", first.Arrays, files, want)
}

// TestCompiledFields: so do programs of many fields, from convolutions and transforms to sparse matrices and attention.
func TestCompiledFields(t *testing.T) {
	compiledAs(t, "fields", "kernel", 50, regexp.MustCompile(`\w`))
}
