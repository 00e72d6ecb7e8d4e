package compiled_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/access/compiled"
	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/access/given"
	"github.com/stridebench/stridebench/simcache"
)

// drive builds a function with what calls it, runs it, and returns what it accesses.
func drive(t *testing.T, text string, task compiled.Task, o compiled.Options) *record {
	t.Helper()
	dir := t.TempDir()
	task.Path = filepath.Join(dir, "f.c")
	if err := os.WriteFile(task.Path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "program")
	driver, err := task.Build(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	o.Arrange = compiled.Arrangement{Origin: 1 << 32, Align: 64, Parameters: driver.Parameters}
	r, outcome := run(t, path, o)
	if outcome.Code != 0 || outcome.Signal != "" {
		t.Errorf("%s\nended with %+v", text, outcome)
	}
	return r
}

// TestAffine: affine loops make the accesses that package csource reads, at the same addresses.
func TestAffine(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc here")
	}
	for text, defines := range map[string][]string{
		`double a[30][20], s; static char unused[3]; float b[20];
void f(void) { for (int i = 0; i < 30; i++) for (int j = i % 2; j < 20; j++) a[i][j] = b[j] * a[i][j] + s; }`: nil,
		`int c[9]; void f(int n, double x[n], const double y[restrict n][4], int *z) {
	for (int i = 0; i < n; i++) { x[i] += y[i][2]; z[n - 1 - i] = c[i % 3]; } }`: {"n=50", "z[n+7]"},
		`struct p { float u[3]; double v; }; void g(struct p *q, int k) { q[k].u[k % 3] = q[k].v; }
void f(struct p *q) { for (int i = 0; i < 10; i++) g(q, i); }`: {"q[10]"},
		`extern int a[5]; int b[5]; int a[5]; void f(void) { for (int i = 0; i < 5; i++) a[i] = b[i]; }`: nil,
		`short m[8][8]; void f(void) { for (int i = 0; i < 8; i++) { short *row = m[i];
#define N 5
	for (int j = N; j >= i; j--) row[j] = -row[i]; } }`: nil,
		`int n; int a[100]; void f(double by) {
#pragma scop
	for (int i = 0; i < n; i += 3) if (i > 10) a[i] = by; else a[2 * i] += 1;
#pragma endscop
	a[0] = 1; }`: {"n=60"},
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			o := csource.Options{Defines: defines, Function: "f"}
			task := compiled.Task{Compiler: []string{"gcc"}, Function: "f", Passes: 1}
			made := compiled.Options{Function: "f"}
			if function, from, to := given.FindRegion([]byte(text)); to > 0 {
				o.Function, task.Function = "", function
				made = compiled.Options{Region: compiled.Region{File: "f.c", From: from, To: to}}
			}
			file, err := csource.Read("f.c", []byte(text), o)
			if err != nil {
				t.Fatal(err)
			}
			values, err := given.Parse([]byte(text), defines)
			if err != nil {
				t.Fatal(err)
			}
			task.Values, task.Sizes = values.Values, values.Sizes
			r := drive(t, text, task, made)
			levels := simcache.TwoLevels(simcache.Geometry{Size: 512, Ways: 2, Line: 64},
				simcache.Geometry{Size: 2048, Ways: 4, Line: 64})
			want, got := hierarchy(t, levels), hierarchy(t, levels)
			if _, err := want.RunProgram(1, file.Program); err != nil {
				t.Fatal(err)
			}
			for _, s := range r.sources {
				got.NewSource(s.Kind)
			}
			got.AccessAll(r.accesses)
			if diff := cmp.Diff(want.Counts(), got.Counts()); diff != "" ||
				want.Counts().Refs() == 0 {
				t.Errorf("%s\ncounts are (-affine +compiled)\n%s", text, diff)
			}
		})
	}
}

func hierarchy(t *testing.T, levels []simcache.Level) *simcache.Hierarchy {
	t.Helper()
	h, err := simcache.NewHierarchy(simcache.Config{Levels: levels})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestAsWritten: how often expressions of docs/compiled.md access memory.
func TestAsWritten(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc here")
	}
	const head = "int i, k[9], m[9]; double a[9], b[9], h[9]; struct { double x[9], y; } g;\n" +
		"void f(int n) { double u[2]; for (i = 0; i < n; i++) { "
	for text, want := range map[string]int{
		"a[i];":                                  0,
		"a[i] = b[i] = 0;":                       3,
		"h[k[i]] += b[i];":                       5,
		"h[k[i]]++;":                             3,
		"h[i] = a[i] + a[i];":                    2,
		"m[i] = k[i] < k[1] ? k[i] : k[1];":      3,
		"if (a[i] > 0) h[i] = b[i];":             1,
		"h[i] = g.y;":                            2,
		"u[1] = a[i]; h[i] = u[1];":              2,
		"a[i] > 0 ? (h[i] = 1) : (h[i] = b[i]);": 4,
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			task := compiled.Task{Compiler: []string{"gcc"}, Function: "f", Passes: 1,
				Values: values("n=4")}
			options := compiled.Options{Function: "f",
				Arrange: compiled.Arrangement{Origin: 1 << 32, Align: 64}}
			r := drive(t, head+text+" } }", task, options)
			if got := len(r.accesses); got != 4*want {
				t.Errorf("%s makes %d accesses in four iterations, want %d", text, got, 4*want)
			}
		})
	}
}

// TestTasks: what a main of ours gives to a function, and what is missing.
func TestTasks(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc here")
	}
	for _, c := range some([]struct {
		text, values, sizes string // of names, separated by spaces
		accesses            int
		err                 string
	}{
		{"void f(int n, double *x) { for (; n; n--) *x++ = n; }", "n=7", "x=7", 7, ""},
		{"void f(unsigned long n, double (*x)[3]) { while (n--) (*x++)[1] = n; }", "n=7",
			"x=7", 7, ""},
		{"typedef struct { int n; double v[4]; } box; void f(box *b) { int i = 0; while (i < " +
			"b->n) b->v[i++] = 1; }", "b->n=4", "", 9, ""},
		{"typedef struct { int n; double v[4]; } box; void f(box b, double *x) { int i = 0; " +
			"while (i < b.n) x[i++] = 1; }", "b.n=3", "x=3", 3, ""},
		{"void f(int n, double **m) { while (n--) m[n][n] = 1; }", "n=5", "m=n][n", 10, ""},
		{"static void f(int n, double m[n][2 * n]) { int i = 0; while (i < n) { m[i][0] = 1; " +
			"i++; } } int main(void) { return 1; }", "n=5", "", 5, ""},
		{"double a[4]; static void f(int k) { a[k] = 1; } int main(void) { f(0); f(1); return 0; }",
			"", "", 2, ""},
		{"int n, a[9]; void f(void) { int i = 0; while (i < n) a[i++] = 1; }", "n=6", "", 6, ""},
		{"void f(int n, double x[]) { while (n--) x[n] = 0; }", "n=4", "x=4", 4, ""},
		{"#define ARGS int n, double *x\nvoid f(ARGS) { while (n--) x[n] = 0; }", "n=4",
			"x=4", 4, ""},
		{"typedef double *vec; void f(vec x, int n) { while (n--) x[n] = 0; }", "n=4",
			"x=4", 4, ""},
		{"void f(double *rows[], int n) { while (n--) rows[n][n] = 0; }", "n=4",
			"rows=4][4", 8, ""},
		{"typedef double *vec; void f(vec x) { x[0] = 0; }", "", "", 0,
			"-D 'x[1000]' if it points"},
		{"void f(int n, double *x) { while (n--) x[n] = 0; }", "n=4", "", 0, "-D 'x[1000]'"},
		{"void f(int n, double *x) { while (n--) x[n] = 0; }", "", "x=4", 0, "-D n=1000"},
		{"void f(int n, double **m) { m[0][n] = 1; }", "n=4", "m=5", 0,
			"-D 'm[1000]', or 'm[100][100]'"},
		{"void f(int n) { }", "n=4", "y=4", 0, "y is no pointer"},
		{"void g(int n) { }", "n=4", "", 0, "no function f"},
		{"void f(int n) { nothing; }", "n=4", "", 0, "nothing"},
	}) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			task := compiled.Task{Compiler: []string{"gcc"}, Function: "f", Passes: 1,
				Values: values(c.values), Sizes: sizes(c.sizes)}
			if c.err == "" {
				if r := drive(t, c.text, task,
					compiled.Options{Function: "f"}); len(r.accesses) != c.accesses {
					t.Errorf("%s\nmakes %d accesses, want %d", c.text, len(r.accesses), c.accesses)
				}
				return
			}
			task.Path = filepath.Join(t.TempDir(), "f.c")
			if err := os.WriteFile(task.Path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := task.Build(t.Context(), task.Path+".out"); err == nil ||
				!strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.text, err, c.err)
			}
		})
	}
}

// TestTasksOfCPP: references and default values are parameters too; objects and overloads are not.
func TestTasksOfCPP(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("there is no g++ here")
	}
	for _, c := range []struct{ text, err string }{
		{"void f(double *x, const int &n, int k = 1) { for (int i = n; i; i--) x[i - k] = 0; }",
			""},
		{"template <class T> struct s {}; void f(s<int> &x) { }", "x is an object"},
		{"void f(double *x) { } void f(int n) { }", "f is defined more than once"},
	} {
		path := filepath.Join(t.TempDir(), "f.cpp")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		task := compiled.Task{Path: path, Compiler: []string{"g++"}, Function: "f", Passes: 1,
			Values: map[string]int{"n": 4, "k": 1}, Sizes: map[string]string{"x": "4"}}
		switch _, err := task.Build(t.Context(), path+".out"); {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want %s", c.text, err, c.err)
		}
	}
}

func sizes(text string) map[string]string {
	all := map[string]string{}
	if name, value, is := strings.Cut(text, "="); is {
		all[name] = value
	}
	return all
}

func values(text string) map[string]int {
	all := map[string]int{}
	for name, value := range sizes(text) {
		all[name], _ = strconv.Atoi(value)
	}
	return all
}
