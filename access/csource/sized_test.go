package csource_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestSizedRefused: what a define cannot say of a pointer, and what it says and is not so.
func TestSizedRefused(t *testing.T) {
	t.Parallel()
	const text = "#define TWICE(x) (2*(x))\nenum { K = 3 };\ndouble *other;\nvoid f(int n, double *x, const double *y, double **z, void *v, double c[4]) { for (int i = 0; i < n; i++) x[i] = y[i] + c[1]; }\n"
	const want = "want an integer of at least 1, computed by + - * / % from numbers and names whose values -D or a macro gives"
	for define, says := range map[string]string{
		"other[4]":                "-D 'other[4]': other is not a pointer parameter of f: there are v, x, y, z",
		"c[4]":                    "-D 'c[4]': c is not a pointer parameter of f",
		"n[4]":                    "-D 'n[4]': n is not a pointer parameter",
		"x[n][n]":                 "-D x[n][n]: want one extent of a parameter that is a pointer, such as x[1000] or 'x[n*n]'",
		"x[4]=2":                  "-D x[4]=2: want one extent",
		"x[4":                     "-D x[4: want one extent",
		"x[]":                     "-D 'x[]': " + want,
		"x[n-5]":                  "-D 'x[n-5]': it is 0: want an integer of at least 1",
		"x[1/0]":                  "-D 'x[1/0]': want an integer",
		"x[m]":                    "-D 'x[m]': the value of m is not known: " + want,
		"x[K]":                    "-D 'x[K]': the value of K is not known",
		"x[TWICE(2)]":             "-D 'x[TWICE(2)]': the value of TWICE is not known",
		"x[010]":                  "-D 'x[010]': the value of 010 is not known",
		"x[2.0]":                  "-D 'x[2.0]': the value of 2.0 is not known",
		"x[len(\"a\")]":           "-D 'x[len(\"a\")]': ",
		"x[99999999999999999999]": "-D 'x[99999999999999999999]': it is 99999999999999999999: want",
		"x[4]":                    "t.c:4:107: x[i]: the subscript of x[4] is outside of 0 to 3 where i = 4",
		"x[1000000000000000000]":  "an array of more than 2^61 bytes",
	} {
		_, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f", Defines: []string{"n=5", "y[n]", define}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("-D %s:\n%v, want\n%s", define, err, says)
		}
	}
	for define, says := range map[string]string{"z[2]": "an array of pointer to double is not understood", "v[2]": "an array of void is not understood"} {
		f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f", Defines: []string{"n=5", "x[n]", "y[n]", define}})
		if err != nil || len(f.Notes) != 1 || !strings.Contains(f.Notes[0].Text, says) {
			t.Errorf("-D %s: %v %v, want %s", define, f, err, says)
		}
	}
	_, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f", Defines: []string{"x[2]", "x[3]"}})
	if err == nil || !strings.Contains(err.Error(), "-D x[3]: x is given twice, as -D x[2] before: leave one of them out") {
		t.Error(err)
	}
	for body, says := range map[string]string{
		"double **p = &x; (*p)[0] = 1;":                            "a pointer to a pointer is not understood",
		"if (y == (void *)0) x[0] = 1;":                            "an if on data", // of which it is not known where it points
		"if (x == (double *)8) x[0] = 1;":                          "an if on data",
		"x[n] = 1;":                                                "is outside of 0 to 4",
		"x += n; x[-1] = 1; x[0] = 1;":                             "is outside of 0 to 4",
		"n--; double t[n][n]; t[1][0] = 1;":                        "extent 0 of the array is not a constant", // which would be one more with the value at first
		"if (x[0] > 0) n--; for (int i = 0; i < n; i++) x[i] = 0;": "an if on data",
	} {
		_, err := csource.Read("t.c", []byte("void f(int n, double *x, double *y) { "+body+" }"), csource.Options{Function: "f", Defines: []string{"n=5", "x[n]"}})
		if e, is := errors.AsType[*csource.Error](err); !is || !strings.Contains(e.Error(), says) {
			t.Errorf("%s:\n%v, want\n%s", body, err, says)
		}
	}
}

// TestIncludeSays: what to do about a header that is not found.
func TestIncludeSays(t *testing.T) {
	t.Parallel()
	for include, says := range map[string]string{
		`"own.h"`:     "; -I kernels looks in the file's)",
		`<pthread.h>`: "; if the loops need nothing of it, an empty file of that name in a folder of -I will do)",
	} {
		_, err := csource.Read("kernels/t.c", []byte("#include "+include+"\nvoid f(void) {}\n"), csource.Options{Function: "f"})
		if err == nil || !strings.HasSuffix(err.Error(), says) {
			t.Errorf("%s: %v", include, err)
		}
	}
}

// TestDefined: what a define is of, and what it gives it; of a macro whatever stands behind the sign.
func TestDefined(t *testing.T) {
	for define, want := range map[string][2]string{
		"N=5": {"N", "5"}, "N": {"N", "1"}, "N=": {"N", ""}, "OF=y[i]": {"OF", "y[i]"}, "OF=a==b": {"OF", "a==b"},
		"x[1000]": {"x", "[1000]"}, " x [ n * n / 2 ] ": {"x", "[n*n/2]"},
	} {
		if name, value := csource.Defined(define); name != want[0] || value != want[1] {
			t.Errorf("%q: %q is %q, want %q", define, name, value, want)
		}
	}
}
