package csource_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/nest"
)

// walked writes the accesses of a file: r or w, the array, the bytes behind its
// start.
func walked(f *csource.File) string {
	return walkedBy(f, func(at string, _ int) string { return at })
}

// walkedBy writes them by what a function makes of that and of how many bytes there are.
func walkedBy(f *csource.File, written func(at string, width int) string) string {
	operands := f.Program.Operands()
	var list []string
	for op, addr := range f.Program.Accesses() {
		a := f.Arrays[f.Accesses[op].Array]
		kind := "r"
		if operands[op].Kind == nest.Write {
			kind = "w"
		}
		list = append(list, written(fmt.Sprintf("%s%s%d", kind, a.Name, addr-a.Base), operands[op].Width))
	}
	return strings.Join(list, " ")
}

// region is a file of a region, in which these are declared: arrays of 4 numbers,
// a matrix of 3x4, scalars, iterators, and parameters.
func region(body string) []byte {
	return []byte(`#include <math.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SQUARE(x) ((x) * (x))
char c[4]; double a[4], b[4], m[3][4];
int n = 3; const int two = 2; enum { FOUR = 4 }; int changed = 1;
double half(double x) { return x / 2; } volatile double shaky[2], *restless = b; int twice(int x) { return x + x; }
double sneaky(int i) { return a[i]; }
struct { double x; } point, *linked; struct { double v[2]; } made(void);
double *pointer; float **rows;
int which[4]; struct { int x; } points[2];
void set(void) { changed = 2; }
void f(double alpha, int p)
{
	int i, j, k;
	double s, t;
#pragma scop
` + body + "\n#pragma endscop\n}\n")
}

// TestIncluded: files are read from the named folders and from nowhere else.
func TestIncluded(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "inc")
	for name, text := range map[string]string{
		"inc/n.h": "#include \"sub/m.h\"\n", "inc/sub/m.h": "#include \"k.h\"\n", "inc/sub/k.h": "#define N 3\n",
		"inc/a.h": "#include \"b.h\"\n", "inc/b.h": "\n#include \"sub/c.h\"\n", "inc/sub/c.h": "#include <b.h>\n",
		"inc/once.h": "#pragma once\n#include \"twice.h\"\n", "inc/twice.h": "#pragma once\n#include \"once.h\"\n#define N 3\n",
		"inc/guard.h": "#ifndef G\n#define G\n#include \"guard2.h\"\n#define N 3\n#endif\n", "inc/guard2.h": "#include \"guard.h\"\n",
		"inc/self.h": "#include \"self.h\"\n", "secret.h": "#define N 9\n", "inc/big.h": strings.Repeat("int x;\n", 50_000),
		"inc/mark.h": "\ufeff#define N 3\n", "inc/bigmark.h": "\ufeff#define N 3\n" + strings.Repeat("int x;\n", 50_000),
	} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "secret.h"), filepath.Join(dir, "link.h")); err != nil {
		t.Fatal(err)
	}
	read := func(include string) (*csource.File, error) {
		text := include + "\nint a[N]; void f(void) {\n#pragma scop\na[N - 1] = 0;\n#pragma endscop\n}"
		return csource.Read(filepath.Join(top, "t.c"), []byte(text), csource.Options{IncludeDirs: []string{dir}})
	}
	for _, include := range []string{`#include "n.h"`, `#include <n.h>`, `#include "once.h"`, "#include \"once.h\"\n#include \"twice.h\"", `#include "guard.h"`, `#include "mark.h"`} {
		if f, err := read(include); err != nil || walked(f) != "wa8" {
			t.Errorf("%s: %v", include, err)
		}
	}
	for _, include := range []string{
		`#include "secret.h"`, `#include "../secret.h"`, `#include <../secret.h>`, `#include "link.h"`, `#include "` + filepath.Join(top, "secret.h") + `"`,
		`#include "/etc/passwd"`, "#if __has_include(\"../secret.h\")\n#define N 1\n#endif", "#include \"self.h\"", "#include \"big.h\"", "#include \"bigmark.h\"", "#include \"t.c\"",
	} {
		if f, err := read(include); err == nil {
			t.Errorf("%s was read: %v", include, f.Arrays)
		}
	}
	for include, want := range map[string]string{
		`#include "self.h"`: "t.c: files are included in a circle: DIR/self.h includes DIR/self.h (#pragma once, or #ifndef around a file, ends it)",
		`#include "a.h"`:    "t.c: files are included in a circle: DIR/b.h includes DIR/sub/c.h includes DIR/b.h (#pragma once",
	} {
		_, err := read(include)
		if err == nil || !strings.Contains(filepath.ToSlash(err.Error()), strings.ReplaceAll(want, "DIR", filepath.ToSlash(dir))) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", include, err, want)
		}
	}
	for _, folder := range []string{filepath.Join(top, "nowhere"), filepath.Join(top, "secret.h")} {
		_, err := csource.Read("t.c", region("a[0] = 0;"), csource.Options{IncludeDirs: []string{dir, folder}})
		if err == nil || !strings.Contains(err.Error(), "-I "+folder) {
			t.Errorf("the folder %s is refused with %v", folder, err)
		}
	}
}

// TestLimits: what would take a parser without end is refused.
func TestLimits(t *testing.T) {
	double := "#define A0 1 + 1\n"
	for i := range 60 {
		double += fmt.Sprintf("#define A%d A%d + A%d\n", i+1, i, i)
	}
	for name, text := range map[string]string{
		"macros":     double + "int x = A60;\n",
		"arguments":  "#define F(x) x x\nint a = " + strings.Repeat("F(", 40) + "1" + strings.Repeat(")", 40) + ";\n",
		"strings":    "#define S(x) #x\n",
		"pasting":    "#define P(x, y) x ## y\n",
		"a size":     strings.Repeat("int x;\n", 50_000),
		"brackets":   "int x = " + strings.Repeat("(", 50_000) + ";",
		"signs":      "int x = " + strings.Repeat("- ", 50_000) + "1;",
		"blocks":     "void f(void) " + strings.Repeat("{", 50_000),
		"ifs":        "void f(void) { " + strings.Repeat("if (1) ", 10_000) + ";}",
		"elses":      "void f(void) { " + strings.Repeat("if (1) ; else ", 5_000) + ";}",
		"conditions": "#if " + strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000) + "\n#endif\nvoid f(int x) { x" + strings.Repeat("[x", 3000) + "; }",
		"binary":     "int x = 1" + strings.Repeat("+1", 5_000) + ";",
		"bytes":      "long a[1L << 40][1L << 40]; void f(void) {\n#pragma scop\na[0][0] = 1;\n#pragma endscop\n}",
		"accesses":   "char a[1]; void f(void) {\n#pragma scop\nfor (long i = 0; i < 1L << 40; i++) for (long j = 0; j < 1L << 40; j++) a[0] = 0;\n#pragma endscop\n}",
	} {
		_, err := csource.Read("t.c", []byte(text), csource.Options{})
		var e *csource.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nested := func(n int) string { // loops, one inside of the other
		text := "int a[2]; void f(void) {\n"
		for i := range n {
			text += fmt.Sprintf("for (int i%d = 0; i%d < 1; i%d++)\n", i, i, i)
		}
		return text + "a[0] = 1; }\n"
	}
	if f, err := csource.Read("t.c", []byte(nested(64)), csource.Options{Function: "f"}); err != nil || walked(f) != "wa0" {
		t.Errorf("64 loops: %v", err)
	}
	for text, want := range map[string]string{
		nested(65): "t.c:66:10: i64: it is inside of 64 loops, and no more are read",
		"int a;\n#if 1\n#ifdef X\n#endif\n# ifndef Y // #endif\nint b;\n": "t.c:5:1: no #endif ends this",
		"int a;\n#if 1\n#ifdef X\n#endif\nint b;":                         "t.c:2:1: no #endif ends this",
	} {
		if _, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := csource.Read("t.c", []byte("#define CONST(x) x ## f\n#define HALF 0 ## 1\nfloat a[1]; void f(void) {\n#pragma scop\na[0] = CONST(1.0);\n#pragma endscop\n}"), csource.Options{}); err != nil {
		t.Errorf("pasting a suffix: %v", err)
	}
}

// TestReport: what a report needs is there, by the number of an access.
func TestReport(t *testing.T) {
	f, err := csource.Read("dir/t.c", []byte(`#define AT(x, y) x[y]
short unused[5]; float b[3];
void f(long long a[2][8], float alpha)
{
#pragma scop
	for (int i = 0; i < 2; i++) {
		b[i] += AT(a[i], 3) * alpha;
		b[i + 1] = a[0][i] > 0 ? b[0] : 1;
	}
#pragma endscop
}
`), csource.Options{Align: 128, Origin: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) csource.Pos { return csource.Pos{File: "dir/t.c", Line: line, Column: column} }
	want := &csource.File{
		Function: "f",
		Program:  f.Program, Align: 128, Carried: f.Carried,
		Arrays: []csource.Array{
			{Name: "unused", Type: "short", Element: 2, Extents: []int{5}, Base: 1 << 20},
			{Name: "b", Type: "float", Element: 4, Extents: []int{3}, Base: 1<<20 + 128},
			{Name: "a", Type: "long long", Element: 8, Extents: []int{2, 8}, Base: 1<<20 + 256},
		},
		Statements: []csource.Statement{{at(7, 3), "b[i] += AT(a[i], 3) * alpha"}, {at(8, 3), "b[i + 1] = a[0][i] > 0 ? b[0] : 1"}},
		Accesses: []csource.Access{
			{1, 0, at(7, 3), "b[i]"}, {2, 0, at(7, 11), "AT(a[i], 3)"}, {1, 0, at(7, 3), "b[i]"},
			{2, 1, at(8, 14), "a[0][i]"}, {1, 1, at(8, 28), "b[0]"}, {1, 1, at(8, 3), "b[i + 1]"},
		},
		Notes: []csource.Note{{Pos: at(8, 14), Text: "a[0][i] > 0: a condition on data: both arms are counted"}},
	}
	if d := cmp.Diff(f, want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
	for _, opts := range []csource.Options{{Align: 48}, {Align: -64}, {Origin: 100}, {Defines: []string{"a b=1"}}, {Defines: []string{"N=1\n#include \"x\""}}} {
		if _, err := csource.Read("t.c", nil, opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
}

// TestNoCompiler: no compiler is asked, and nothing else of this machine.
func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("CC", "/nowhere/cc")
	for _, k := range kernels {
		read(t, k.name, k.mini)
	}
}
