package csource_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/nest"
)

// walked writes the accesses of a file: r or w, the array, the bytes after its start.
func walked(f *csource.File) string {
	operands := f.Program.Operands()
	var list []string
	for op, addr := range f.Program.Accesses() {
		a := f.Arrays[f.Accesses[op].Array]
		kind := "r"
		if operands[op].Kind == nest.Write {
			kind = "w"
		}
		list = append(list, fmt.Sprint(kind, a.Name, addr-a.Base))
	}
	return strings.Join(list, " ")
}

// bytesOf is the size of an array.
func bytesOf(a csource.Array) int {
	bytes := a.Element
	for _, n := range a.Extents {
		bytes *= n
	}
	return bytes
}

// TestIncluded: files are read from the named folders and from nowhere else.
func TestIncluded(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/include.txtar")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	files := archive.Files
	last := len(files) - 2
	for i, f := range files[:last] {
		if strings.Contains(f.Name, "big") {
			files[i].Data = append(f.Data, strings.Repeat("int x;\n", 50_000)...)
		}
	}
	if err := txtar.Write(&txtar.Archive{Files: files[:last]}, "."); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret.h", "inc/link.h"); err != nil {
		t.Fatal(err)
	}
	checkCases(t, csource.Options{IncludeDirs: []string{"inc"}}, files[last:])
	for _, folder := range []string{"nowhere", "secret.h"} {
		_, err := csource.Read("t.c", nil, csource.Options{IncludeDirs: []string{"inc", folder}})
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
	within := func(before, inner, after string, n int) string {
		return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
	}
	for text, want := range map[string]string{
		double + "int x = A60;\n": "",
		"#define F(x) x x\nint a = " + within("F(", "1", ")", 40) + ";\n": "",
		within("int x;\n", "", "", 50_000):                                "",
		"int x = " + within("(", ";", "", 50_000):                         "",
		"int x = " + within("- ", "1;", "", 50_000):                       "",
		"int x = 1" + within("+1", ";", "", 5_000):                        "",
		"void f(void) " + within("{", "", "", 50_000):                     "",
		"#if " + within("(", "1", ")", 10_000) + "\n#endif\nvoid f(int x) { x" +
			within("[x", "; }", "", 3000): "",
		"int a[2]; void f(void) {\n" +
			within("for (int i = 0; i < 1; i++)\n", "a[0] = 1; }", "",
				65): "t.c:66:10: i: it is inside of 64 loops",
	} {
		_, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"})
		var refused *csource.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, want %s", text, err, want)
		}
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
	at := func(line, column int) csource.Pos {
		return csource.Pos{File: "dir/t.c", Line: line, Column: column}
	}
	want := &csource.File{
		Function: "f",
		Program:  f.Program, Align: 128, Carried: f.Carried,
		Arrays: []csource.Array{
			{Name: "unused", Type: "short", Element: 2, Extents: []int{5}, Base: 1 << 20},
			{Name: "b", Type: "float", Element: 4, Extents: []int{3}, Base: 1<<20 + 128},
			{Name: "a", Type: "long long", Element: 8, Extents: []int{2, 8}, Base: 1<<20 + 256},
		},
		Statements: []csource.Statement{{at(7, 3), "b[i] += AT(a[i], 3) * alpha"},
			{at(8, 3), "b[i + 1] = a[0][i] > 0 ? b[0] : 1"}},
		Accesses: []csource.Access{
			{1, 0, at(7, 3), "b[i]"}, {2, 0, at(7, 11), "AT(a[i], 3)"}, {1, 0, at(7, 3), "b[i]"},
			{2, 1, at(8, 14), "a[0][i]"}, {1, 1, at(8, 28), "b[0]"}, {1, 1, at(8, 3), "b[i + 1]"},
		},
		Notes: []*csource.Error{{Pos: at(8, 14), Expr: "a[0][i] > 0",
			Why: "a condition on data: both arms are counted"}},
	}
	if d := cmp.Diff(f, want, cmpopts.IgnoreUnexported(csource.Error{})); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
	for _, opts := range []csource.Options{{Align: 48}, {Align: -64}, {Origin: 100},
		{Defines: []string{"a b=1"}}, {Defines: []string{"N=1\n#include \"x\""}}} {
		if _, err := csource.Read("t.c", nil, opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
}

// TestNoCompiler: no compiler is asked, and nothing else of this machine.
func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("CC", "/nowhere/cc")
	for _, k := range kernels(t) {
		read(t, k.name, k.mini)
	}
}
