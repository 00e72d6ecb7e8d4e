package csource_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestGiven: a define of a name that is a variable's is its value, as though the text had it
// everywhere but in the declaration.
func TestGiven(t *testing.T) {
	const text = `double T[50][50];
int m = 7; /* int k; */
void other(int n) { n++; }
void f(int n, double A[n][n], double v[static n], const size_t k, float w[2*n+1]) {
  double tmp[n + 1];
  for (int i = 0; i < n; i++)
    for (size_t j = 0; j < k && j < m; j++) { tmp[i] += A[i][j] * v[j]; w[2*i] = T[m][j]; }
}
`
	plain := strings.NewReplacer("[n]", "[40]", "static n", "static 40", "2*n", "2*40", "n + 1", "40 + 1", "< n", "< 40", "< k", "< 30", "m = 7", "m = 9").Replace(text)
	got, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f", Defines: []string{"n=0x28", "k=30", "m=9", "Q=3"}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := csource.Read("t.c", []byte(plain), csource.Options{Function: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Program, want.Program) {
		t.Errorf("with values it is\n%v\nwith numbers in the text\n%v", got.Program, want.Program)
	}
	for i := range want.Arrays {
		if g, w := got.Arrays[i], want.Arrays[i]; g.Base != w.Base || !reflect.DeepEqual(g.Extents, w.Extents) {
			t.Errorf("array %+v, want %+v", g, w)
		}
	}
}

// TestNotGiven: a variable that does not keep its value is refused, and so is a value that is none of
// its type; a loop's variable has its own values.
func TestNotGiven(t *testing.T) {
	for _, c := range []struct{ text, define, want string }{
		{"void f(int n) { int *p = &n; n = n/2; for (int i = 0; i < n; i++) a[i] = 0; }", "n=4", "t.c:2:12: n: -D n=4 gives it a value, which it does not keep: it is written elsewhere, or its address is taken"},
		{"void g(int *); void f(int n) { g(&n); for (int i = 0; i < n; i++) a[i] = 0; }", "n=4", "t.c:2:27: n: -D n=4 gives it a value, which it does not keep"},
		{"void f(volatile int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=4", "t.c:2:21: n: -D n=4 gives it a value, which it does not keep"},
		{"void f(unsigned n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=-4", "t.c:2:17: n: -D n=-4 is not a value of type unsigned int"},
		{"void f(int n, double b[n]) { b[0] = 0; }", "n=-4", "t.c:2:22: b[n]: extent 0 of the array is -4: want at least 1"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=11", "t.c:2:45: a[i]: the subscript of a[10] is outside of 0 to 9 where i = 10"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=10", ""},
		{"typedef int number; void f(number n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=10", ""},
		{"enum e { NO }; void f(enum e n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=10", ""},
		{"void f(_Bool n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=1", ""},
		{"void f(int unsigned const long volatile n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=10", "t.c:2:41: n: -D n=10 gives it a value, which it does not keep"},
		{"void f(void) { int m = 3, n = 7, k; k = m; for (int i = 0; i < n; i++) a[i] = 0; }", "n=10", ""},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=1e1", "t.c: -D n=1e1: n is a variable of the file: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=NaN", "t.c: -D n=NaN: n is a variable of the file: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=-inf", "t.c: -D n=-inf: n is a variable of the file: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=Infinity", "t.c: -D n=Infinity: n is a variable of the file: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=1e400", "t.c: -D n=1e400: n is a variable of the file: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=", "t.c: -D n=: n is a variable of the file: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=3x", "t.c: -D n=3x: n is a variable of the file: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=99999999999999999999", "t.c: -D n=99999999999999999999: n is a variable of the file, and that is beyond 64 bits: want an integer, such as n=1000"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n", "t.c: -D n: n is a variable of the file: want an integer"},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=m", "t.c:2:37: m: its value is not known"},
		{"void f(int m) { for (int n = 0; n < 9; n++) a[n] = 0; }", "n=4", "t.c:2:26: n: -D n=4 gives it a value, which it does not keep"},
		{"void f(int n) { for (int n = 0; n < 9; n++) a[n] = 0; }", "n=4", ""},
		{"void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; }", "n=4 m=1 n=5", "t.c: -D n=5: n is given twice, as -D n=4 before: leave one of them out"},
		{"void f(void) { for (int i = 0; i < N; i++) a[i] = 0; }", "N N=1", "t.c: -D N=1: N is given twice, as -D N before"},
		{"enum { n = 5 }; void f(int i) { for (i = 0; i < n; i++) a[i] = 0; }", "n=4", "t.c:2:8: "},
	} {
		_, err := csource.Read("t.c", []byte("double a[10];\n"+c.text), csource.Options{Function: "f", Defines: strings.Fields(c.define)})
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s with -D %s:\n%v, want\n%s", c.text, c.define, err, c.want)
		}
	}
}
