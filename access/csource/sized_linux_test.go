package csource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// ofPointers are functions of pointers and of integers that they change, with the defines that say what they begin with, and what a
// main that is compiled would have: the arrays and the call.
var ofPointers = []struct{ text, defines, arrays, call string }{
	{"void scaled(int n, double by, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] += by * x[i]; }",
		"n=9 x[n] y[n]", "double x[9], y[9];", "scaled(9, 2, x, y)"},
	{"void summed(int n, const double *restrict x, double *restrict y) { while (n--) *y++ = 2 * *x++; }",
		"n=9 x[n] y[n]", "double x[9], y[9];", "summed(9, x, y)"},
	{"void hops(int n, const float *x, int by, float *y, int step) { if (by < 0) x -= (n - 1) * by; if (step < 0) y -= (n - 1) * step; while (n > 0) { *y += *x; x += by; y += step; n--; } }",
		"n=7 by=-2 step=3 x[14] y[21]", "float x[14], y[21];", "hops(7, x, -2, y, 3)"},
	{"void fours(int n, const int *x, int *y) { int rest = n % 4; for (int i = 0; i < rest; i++) y[i] = x[i]; n -= rest; x += rest; y += rest; for (; n > 0; n -= 4) { y[0] = x[0]; y[3] = x[3]; x += 4; y += 4; } }",
		"n=18 x[n] y[n]", "int x[18], y[18];", "fours(18, x, y)"},
	{"void rows(int n, double (*m)[6], double *v) { for (int i = 0; i < n; i++, m++) for (int j = 0; j < 6; j++) v[j] += (*m)[j]; }",
		"n=4 m[n] v[6]", "double m[4][6], v[6];", "rows(4, m, v)"},
	{"struct point { float x, y; double w; }; void moved(struct point *p, int n) { do { p->x += p->y; p++; } while (--n > 0); }",
		"n=5 p[n]", "struct point p[5];", "moved(p, 5)"},
	{"static double dot(const double *a, const double *b, int n) { double s = 0; for (; n; n--) s += *a++ * *b++; return s; } void product(int n, const double *m, const double *x, double *y) { for (int i = 0; i < n; i++, m += n) y[i] = dot(m, x, n); }",
		"n=6 m[n*n] x[n] y[n]", "double m[36], x[6], y[6];", "product(6, m, x, y)"},
	{"void taps(const short *in, short *out, const short *h, int n) { for (const short *end = in + n; in < end; in++) { long s = 0; for (int k = 0; k < 3; k++) s += h[k] * in[k]; *out++ = s; } }",
		"n=8 in[n+2] out[n] h[3]", "short in[10], out[8], h[3];", "taps(in, out, h, 8)"},
	{"void halves(int n, unsigned char *p, const unsigned char *q) { n = n / 2; p += n; for (int i = 0; i < n; i++) p[i] = q[2 * i]; }",
		"n=8 p[n] q[n]", "unsigned char p[8], q[8];", "halves(8, p, q)"},
	{"void both(int n, double *a, double *b) { for (int t = 0; t < 4; t++) { for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1]; double *c = a; a = b; b = c; } }",
		"n=6 a[n] b[n]", "double a[6], b[6];", "both(6, a, b)"},
	{"#define SIDE 4\n#define CELLS (SIDE * SIDE)\nvoid turned(const float *a, float *b, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[j * n + i] = a[i * n + j]; }",
		"n=4 a[CELLS] b[CELLS+2]", "float a[16], b[18];", "turned(a, b, 4)"},
	{"#include <stddef.h>\nvoid biased(int n, const double *x, const double *bias, double *y) { for (int i = 0; i < n; i++) { double s = bias != NULL ? bias[i] : 0; if (x == NULL) s += y[0]; if (NULL != y && i > 1) y[i] = s + x[i]; if ((void *)0 == bias || 0 == x) y[1] = 3; } }",
		"n=6 x[n] y[n] bias[n]", "double x[6], y[6], bias[6];", "biased(6, x, bias, y)"},
}

// TestCompiledParameters: functions whose parameters are pointers, of which defines say how much they point to, and integers, which both
// may change, make the accesses that they make when GCC has compiled them and they are called so.
func TestCompiledParameters(t *testing.T) {
	for _, c := range ofPointers {
		name, _, _ := strings.Cut(c.call, "(")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := csource.Read("t.c", []byte(c.text), csource.Options{Function: name, Defines: strings.Fields(c.defines)})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "run.c")
			if err := os.WriteFile(path, fmt.Appendf(nil, "%s\n%s\nvoid run(void) { %s; }\n", c.text, c.arrays, c.call), 0o644); err != nil {
				t.Fatal(err)
			}
			got, want := walkedWidths(f), instrumentedRun(t, path, "run", f.Arrays)
			if got != want || len(strings.Fields(got)) < 8 {
				t.Errorf("it does\n%s\ncompiled\n%s", got, want)
			}
		})
	}
}
