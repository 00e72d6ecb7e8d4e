package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestCalled: a function that is called touches memory also by an array without subscripts, or a whole struct that holds one.
func TestCalled(t *testing.T) {
	const types = "#include <assert.h>\n#include <string.h>\ntypedef struct { double x[8]; int n; struct { int k; } in; } T; T p, q; double a[8], *to; void out(double *);\n"
	for body, refused := range map[string]bool{
		"out(a);": true, "memset(a, 0, sizeof a);": true, "memset(to, 0, 8);": true, "p = q;": true, "T k = p;": true, "out(p.x);": true, "out((p).x);": true,
		"i += p.n + (q).in.k; p.n++; assert(i > 0);": false, "struct { double x; } k, l = {0}; k = l;": false,
		"i += sizeof a / sizeof *a + sizeof p.x[1] + sizeof(to[i]);": false, "i += sizeof a + a[1];": true,
	} {
		_, err := csource.Read("t.c", []byte(types+"int z(int i) { "+body+" return i; } void f(void) { a[0] = a[1] > 0 ? z(1) : 1; }"), csource.Options{Function: "f"})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "z(1): z uses arrays or pointers") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestCalledByPointer: what a pointer to a function calls may touch anything, in a statement, an expression, and a function of numbers.
func TestCalledByPointer(t *testing.T) {
	const types = `double a[100]; int h(int x) { a[x] = 1; return x; } int twice(int x) { return 2 * x; } int (*to)(int) = h; struct { int (*op)(int); } ops = { h };
int byName(int x) { return (twice)(x); } int byPointer(int x) { return to(x); } int byField(int x) { return ops.op(x); } int through(int x) { return byField(x) + twice(x); }
int apply(int (*twice)(int), int x) { return twice(x); } int choose(int x) { return (x > 1 ? twice : twice)(x); }
`
	for text, want := range map[string]string{
		"byName(3); a[0] = twice(1) + (twice)(2);": "",
		"to(3); a[0] = 1;":                         "to(3): a call of something else than a named function is not understood",
		"a[0] = 1 + to(3);":                        "to(3): a call of something else than a named function is not understood",
		"byPointer(3); a[0] = 1;":                  "byPointer(3): byPointer calls a function by a pointer: only functions of numbers are understood",
		"a[0] = byField(3);":                       "byField(3): byField calls a function by a pointer: only functions of numbers are understood",
		"a[0] = 1 + through(3);":                   "through(3): through calls a function by a pointer: only functions of numbers are understood",
		"a[0] = apply(h, 3);":                      "apply(h, 3): apply calls a function by a pointer: only functions of numbers are understood",
		"a[0] = choose(3);":                        "choose(3): choose calls a function by a pointer: only functions of numbers are understood",
	} {
		f, err := csource.Read("t.c", []byte(types+"void f(void) { "+text+" }"), csource.Options{Function: "f"})
		switch {
		case want == "" && (err != nil || walked(f) == ""):
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestSizeOfPointer: the size of a parameter that is an array, or of a sum, is that of a pointer, whatever the parser says.
func TestSizeOfPointer(t *testing.T) {
	for text, refused := range map[string]bool{
		"for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++) x[i][0] = 1;":                true,
		"for (unsigned i = 0; i < sizeof((x)) / sizeof x[0]; i++) x[i][0] = 1;":             true,
		"enum { N = sizeof(x) / 8 }; x[0][N] = 1;":                                          true,
		"for (unsigned i = 0; i < sizeof(a + 0) / sizeof *x; i++) x[i][0] = 1;":             true,
		"for (unsigned i = 0; i < sizeof(0, a) / sizeof *x; i++) x[i][0] = 1;":              true,
		"for (unsigned i = 0; i < sizeof *(a + 1) / sizeof(a[0][0] + 1); i++) x[0][i] = 1;": false,
		"for (unsigned i = 0; i < sizeof x[0] / sizeof(double); i++) x[0][i] = 1;":          false,
		"for (unsigned i = 0; i < sizeof a / sizeof *a; i++) x[i][0] = sizeof(y) + 1;":      false,
		"for (unsigned i = 0; i < sizeof(double [3][4]) / sizeof *x; i++) x[i][0] = *y+1;":  false,
	} {
		for _, function := range []string{"g", "f"} {
			f, err := csource.Read("t.c", []byte("double a[3][4]; void g(double x[3][4], double *y) { "+text+" } void f(void) { g(a, a[1]); }"), csource.Options{Function: function})
			const want = "a pointer: its size is not the array's; write the number"
			switch {
			case !refused && function == "f" && (err != nil || walked(f) == ""):
				t.Errorf("%s: %v", text, err)
			case refused && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
			}
		}
	}
}
