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

// TestMeaning: what a C file means, case by case.
func TestMeaning(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Scalars live in registers.
		{"s = alpha * 2; t = s + p; i = 3;", ""},
		{"s += a[1];", "ra8"},
		{"a[1] = s;", "wa8"},
		{"1[a] = s; for (i = 0; i < 2; i++) i[1[m]] = (i + 2)[b];", "wa8 rb16 wm32 rb24 wm40"},
		// Reads in the order of the text, whatever precedence says, then the write.
		{"a[0] = a[1] + alpha * a[2];", "ra8 ra16 wa0"},
		{"m[1][2] = b[3] - (a[0] - a[1]) * c[2];", "rb24 ra0 ra8 rc2 wm48"},
		{"a[0] = a[1] * a[1];", "ra8 ra8 wa0"},
		{"a[0] = SQUARE(a[1]);", "ra8 ra8 wa0"},
		// Compound assignments read their left side first.
		{"a[0] += b[0];", "ra0 rb0 wa0"},
		{"a[0] /= b[0] - a[0];", "ra0 rb0 ra0 wa0"},
		{"c[1] <<= 2; c[1] |= c[0];", "rc1 wc1 rc1 rc0 wc1"},
		{"a[2]++; --a[3];", "ra16 wa16 ra24 wa24"},
		{"a[0] = b[1] = s;", "wb8 wa0"},
		{"a[0] = b[1] += a[2];", "rb8 ra16 wb8 wa0"},
		{"a[0] = b[0]++;", "rb0 wb0 wa0"},
		{"for (i = 0; i < 2; i++) a[i] = i > 0 ? (b[i] = c[0]) : s;", "wa0 rc0 wb8 wa8"},
		{"a[0] = (s = b[1]) * 2;", "rb8 wa0"},
		{"a[0] = 1, b[0] = 2;", "wa0 wb0"},
		// Conditions on data.
		{"s = a[0] < b[0] ? a[1] : b[1];", "ra0 rb0 ra8 rb8"},
		{"s = alpha > 0 ? a[1] : b[1];", "ra8 rb8"},
		{"s = a[0] && b[0] || c[0];", "ra0 rb0 rc0"},
		{"s = sqrt(a[0]) + fmax(a[1], b[1]) + half(a[2]);", "ra0 rb8 ra8 ra16"},
		// Of arguments GCC evaluates the last one first, and a call before the left side of a compound assignment, if it is not known to do no more than compute.
		{"s = fmax(fmin(a[0], a[1]), half(a[2]) + b[0]) * pow(b[1], fma(b[2], s, b[3]));", "ra16 rb0 ra8 ra0 rb24 rb16 rb8"},
		{"a[0] += half(b[0]); a[0] -= fabs(b[0]); a[0] *= sqrtf(b[0]) + fabs(b[1]); a[0] += cosf(b[0]) - ceill(b[1]);", "rb0 ra0 wa0 ra0 rb0 wa0 rb0 rb8 ra0 wa0 ra0 rb0 rb8 wa0"},
		{"a[0] += c[0] + (0 ? half(s) : s); a[0] += sizeof(half(s)) * b[0];", "rc0 ra0 wa0 ra0 rb0 wa0"},
		{"a[0] += b[0] = c[0]; a[0] += b[0] *= c[0]; a[0] += s = b[1]; a[0] += shaky[1]; a[0] += *(volatile double *)b; a[0] += c[0] * *restless; shaky[0] += a[0];", "rc0 wb0 ra0 wa0 rb0 rc0 wb0 ra0 wa0 rb8 ra0 wa0 rshaky8 ra0 wa0 rb0 ra0 wa0 rc0 rb0 ra0 wa0 rshaky0 ra0 wshaky0"},
		{"s = -a[0] + !a[1] + (float)a[2] + (a[3]);", "ra0 ra8 ra16 ra24"},
		{"a[0];", "ra0"},
		// What C may evaluate: it stops at an operand that decides.
		{"for (i = 0; i < 3; i++) a[i] = i > 0 && b[i - 1] > 0 ? 1 : 2;", "wa0 rb0 wa8 rb8 wa16"},
		{"for (i = 0; i < 3; i++) a[i] = i < 1 || b[i - 1] > 0;", "wa0 rb0 wa8 rb8 wa16"},
		{"for (i = 0; i < 3; i++) s = i > 0 && a[i - 1] > 0 && b[i - 1] > 0;", "ra0 rb0 ra8 rb8"},
		{"for (i = 0; i < 3; i++) s = i > 0 && a[i - 1] > 0 ? b[i - 1] : b[3];", "rb24 ra0 rb0 rb24 ra8 rb8 rb24"},
		{"for (i = 0; i < 2; i++) s = i < 1 || a[i] > 0 ? b[0] : b[1];", "rb0 ra8 rb0 rb8"},
		{"for (i = 0; i < 2; i++) s = !(i > 0 && a[i] > 0) ? b[0] : b[1];", "rb0 ra8 rb0 rb8"},
		{"for (i = 0; i < 2; i++) s = (a[i] > 0 && i > 0) ? b[0] : b[1];", "ra0 rb8 ra8 rb0 rb8"},
		{"for (i = 0; i < 2; i++) s = (a[i] > 0 || alpha > 1) && b[i];", "ra0 rb0 ra8 rb8"},
		{"s = 1.5 && a[0]; s = two > 2 && a[9];", "ra0"},
		{"for (unsigned i = 0; i < 3; i++) if (i > 0 && i - 1 < 1) a[i] = 0;", "wa8"},
		{"for (unsigned i = 0; i < 3; i++) a[i > 0 ? i - 1 : 3u] = 0;", "wa24 wa0 wa8"},
		{"(void)a[0];", "ra0"},
		{"s = sizeof(a[0]) * sizeof a;", ""},
		// Conditions on the loops' variables.
		{"for (i = 0; i < 4; i++) if (i == 1 || i > 2) a[i] = 0; else if (i) b[i] = 0;", "wa8 wb16 wa24"},
		{"for (i = 0; i < 3; i++) if (!(i >= 1 && i != 2)) a[i] = 0;", "wa0 wa16"},
		{"for (i = 0; i < 3; i++) s = i >= 1 ? a[i - 1] : 0.0;", "ra0 ra8"},
		{"for (i = 0; i < 3; i++) a[i < 1 ? 3 : i] = 0;", "wa24 wa8 wa16"},
		{"for (i = 0; i < 2; i++) i ? (a[0] = 1) : (b[0] = 1);", "wb0 wa0"},
		{"if (0) a[9] = 0; if (1) a[0] = 0; else a[9] = 1; s = two > 1 ? a[1] : a[7];", "wa0 ra8"},
		{"for (i = 5; i < 5; i++) a[i] = 0;", ""},
		{"for (i = 0; i < 9; i++) if (i < 2) a[i] = 0;", "wa0 wa8"},
		{"for (i = 0; i < 4; i++) if ((i < 2 ? 3 : i) > 2) a[i] = 0;", "wa0 wa8 wa24"},
		{"for (i = 0; i < 4; i++) if (MAX(i, 2) == 2 && MIN(i, 1) >= 1) a[i] = 0;", "wa8 wa16"},
		// Loops.
		{"for (i = 0; i < 2; ++i) a[i] = 0;", "wa0 wa8"},
		{"for (i = 1; 3 >= i; i++) a[i] = 0;", "wa8 wa16 wa24"},
		{"for (int i = 3; i >= 0; i--) a[i] = 0;", "wa24 wa16 wa8 wa0"},
		{"for (int i = 3; i > 0; --i) a[i] = 0;", "wa24 wa16 wa8"},
		{"for (i = 0; i < FOUR; i += two) a[i] = 0;", "wa0 wa16"},
		{"for (i = 3; i >= 0; i -= 2) a[i] = 0;", "wa24 wa8"},
		{"for (i = 3; i >= 0; i = i - 3) a[i] = 0;", "wa24 wa0"},
		{"for (i = 0; i <= 3; i = 3 + i) a[i] = 0;", "wa0 wa24"},
		{"for (i = 1; i != 3; i++) a[i] = 0;", "wa8 wa16"},
		{"for (i = 3; i != -1; i -= 2) a[i] = 0;", "wa24 wa8"},
		{"for (i = 0; i < n; i++) a[i] = 0;", "wa0 wa8 wa16"},
		{"for (i = 0; 2 * i < 5; i++) a[i] = 0;", "wa0 wa8 wa16"},
		{"for (i = 0; i < 4 - i; i++) a[i] = 0;", "wa0 wa8"},
		{"for (i = 0; i < 4 && i < n; i++) a[i] = 0;", "wa0 wa8 wa16"},
		{"for (j = 0; j < 2; j++) for (i = 0; i < 4 && j > 0; i += 3) a[i] = 0;", "wa0 wa24"},
		{"for (i = 0; i >= 0 && i < 2; i++) a[i] = 0;", "wa0 wa8"},
		{"for (j = 0; j < 4; j += 2) for (i = MAX(j, 1); i < MIN(j + 2, 3); i++) a[i] = 0;", "wa8 wa16"},
		{"for (j = 0; j < 3; j++) for (i = j < 1 ? 2 : 1; i < (j > 1 ? 2 : 3); i++) m[j][i] = 0;", "wm16 wm40 wm48 wm72"},
		{"for (j = 0; j < 2; j++) for (i = 3; i > MIN(j, 2) && i >= 0; i--) m[j][i] = 0;", "wm24 wm16 wm8 wm56 wm48"},
		{"for (j = 0; j < 3; j++) for (i = 0; i < MAX(j, 2) - 1; i++) m[j][i] = 0;", "wm0 wm32 wm64"},
		{"for (i = -3; 2 * i < -2; i++) a[i + 3] = 0;", "wa0 wa8"},
		{"for (i = 2147483643; i < 2147483646; i += 2) a[0] = 0;", "wa0 wa0"},
		{"for (j = 0; j < 2; j++) for (i = MAX(j, 1); i != MAX(j, 1) + 2; i += 2) a[i] = 0;", "wa8 wa8"},
		{"for (j = 0; j < 4; j++) for (i = (1 < MIN(j, 2) ? MIN(j, 2) : 1); i < 3; i++) a[i] = 0;", "wa8 wa16 wa8 wa16 wa16 wa16"},
		{"for (j = 1; j < 4; j++) for (i = (j > 2 ? j - 1 : 0); i < 2; i++) a[i] = 0;", "wa0 wa8 wa0 wa8"},
		{"for (unsigned i = 0; i < sizeof(a) / sizeof(a[0]); i += 2) a[i] = 0;", "wa0 wa16"},
		{"for (unsigned i = 4; i > 0; i -= 2) a[i - 1u] = 0;", "wa24 wa8"},
		{"for (unsigned i = 0; i < 3; i++) a[-1 * i + 2] = a[i * -1 + 3];", "ra24 wa16 ra16 wa8 ra8 wa0"},
		{"for (unsigned long i = 1; i < 3; i++) a[-i + 2] = a[i + -1];", "ra0 wa8 ra8 wa0"},
		{"for (unsigned i = 2; i < 4; i++) a[i + -2u] = a[(3u - 4) + i] + a[i * -1u + 3];", "ra8 ra8 wa0 ra16 ra0 wa8"},
		{"for (unsigned i = 0; i + 1 < 3; i++) a[i] = 0;", "wa0 wa8"},
		{"for (unsigned long i = 1; i + 1 < 4 && i + 2 <= 4; i++) a[i] = 0;", "wa8 wa16"},
		{"for (unsigned i = 0; 2 + i != 4; i++) a[i] = 0;", "wa0 wa8"},
		{"for (int i = 0; i + 1 < 3u; i++) a[i] = 0;", "wa0 wa8"},
		{"for (unsigned r = 1; r < 3; r++) for (unsigned i = 0; i + 1 < r; i++) a[r] = 0;", "wa16"},
		{"for (unsigned i = 4294967290u; i + 4 < 4294967295u; i++) a[i - 4294967290u] = 0;", "wa0"},
		{"for (unsigned i = 4294967294u; i < 4294967295u; i++) a[i - 4294967294u] = 0;", "wa0"},
		{"for (unsigned i = 0; i < 2; i++) for (j = 0; j < -2 * i + 3; j++) if (-2 * i + 3 > 1u) a[j] = 0;", "wa0 wa8 wa16"},
		{"for (i = 0; i < 2; i++) { int r = 2 * i + 1; a[r] = 0; }", "wa8 wa24"},
		// The condition takes the step.
		{"for (unsigned long i = 3; i-- > 0;) a[i] = 0;", "wa16 wa8 wa0"},
		{"for (unsigned i = 4; i-- != 0;) a[i] = 0; for (unsigned i = 0; i-- > 0;) a[i] = 0;", "wa24 wa16 wa8 wa0"},
		{"for (i = 2; i--;) a[i] = 0; for (i = 3; i; i--) b[i] = 0;", "wa8 wa0 wb24 wb16 wb8"},
		{"for (j = 1; j < 3; j++) for (i = j + 2; i-- > j;) m[j][i] = 0;", "wm48 wm40 wm88 wm80"},
		{"for (j = 0; j < 3; j++) for (unsigned i = MIN(j, 2); i-- > MAX(j - 1, 0);) m[j][i] = 0;", "wm32 wm72"},
		// continue where the loops' variables decide.
		{"for (i = 0; i < 3; i++) { if (i == 1) continue; a[i] = 0; }", "wa0 wa16"},
		{"for (i = 0; i < 3; i++) { a[i] = 0; if (i == 1) { b[i] = 0; continue; } for (j = 0; j < 2; j++) { if (j < i) { continue; } m[i][j] = 0; } if (i > 1) continue; c[i] = 0; }", "wa0 wm0 wm8 wc0 wa8 wb8 wa16"},
		{"for (i = 0; i < 3; i++) { int e = i; if (e > 1) continue; if (e < 1) e = 2; a[e] = 0; if (i) continue; }", "wa16 wa8"},
		// Initial values that assign, and of structs in registers.
		{"double u = b[1] = a[0] *= 2, v = (a[1] = s);", "ra0 wa0 wb8 wa8"},
		{"for (i = 0; i < 2; i++) { struct { double x, y; struct { int k; } in; } u = {a[i], .in = {c[i]}, .y = b[1]}; int v = {1}; }", "ra0 rc0 rb8 ra8 rc1 rb8"},
		// What is converted to _Bool is 0 or 1.
		{"_Bool q = 7; a[q] = 0; for (i = 0; i < q; i++) a[i] = 0; a[(_Bool)256 + (_Bool)-4] = 0; a[(_Bool)two] = 0;", "wa8 wa0 wa16 wa8"},
		{"for (i = 0; i < 3; i++) { _Bool r = i; a[r] = a[(_Bool)(i - 1)]; }", "ra8 wa0 ra0 wa8 ra8 wa8"},
		{"if ((_Bool)2 == 1) a[0] = 0; else a[1] = 0;", "wa0"},
		{"for (i = 0; i < 2; i++) { double r = a[i]; b[i] = r; }", "ra0 wb0 ra8 wb8"},
		{"for (i = 0; i < 2; i++) { } for (i = 0; i < 2; i++) ; { a[0] = 0; }", "wa0"},
		{"do { a[0] = 0; } while (0);", "wa0"},
		// What is 1 or 0, of several cases.
		{"for (i = 0; i < 4; i++) { int q = i == 0 || i == 3, r = !q && i < 2; if (q) a[i] = 0; if (r) b[i] = 0; m[q][r] = 0; }", "wa0 wm32 wb8 wm8 wm0 wa24 wm32"},
		// C's arithmetic of constants.
		{"a[(7 + 2 * 1 - 3) / 2 / 2 + 5 % 3] = 0; a[-7 / 2 + 3] = 0; a[1 << 1 & 6] = 0; a[~0 + 1] = 0;", "wa24 wa0 wa16 wa0"},
		{"a[2 - (unsigned char)257] = 0; a[(int)2.9] = 0; a['b' - 'a'] = 0; a[5u > -1] = 0;", "wa8 wa16 wa8 wa0"},
		{"for (i = 0; i < 2; i++) a[(4 * i + 2) / 2] = a[(i << 1) % 2];", "ra0 wa8 ra0 wa24"},
		{"for (i = 0; i < 2; i++) a[i * (1 + 1) + (i > 0)] = 0;", "wa0 wa24"},
		{"for (long i = 0; i < 3L; i += 2) a[(int)i] = 0;", "wa0 wa16"},
	} {
		f, err := csource.Read("t.c", region(c.text), csource.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := walked(f); got != c.want {
			t.Errorf("%s does %s, want %s", c.text, got, c.want)
		}
	}
}

// TestOneLoop: the least and the greatest of several are bounds of one loop,
// whatever their spelling.
func TestOneLoop(t *testing.T) {
	for _, bounds := range []string{
		"i = MAX(j, 1); i < MIN(j + 2, 4)", "i = j >= 1 ? j : 1; i < (4 <= j + 2 ? 4 : j + 2)", "i = (j < 2 ? 1 : j); i <= (j + 1 > 3 ? 3 : j + 1)",
		"i = MAX(MAX(1, j), 0); i < MIN(4, MIN(j + 2, 9))", "i = MAX(1, j); i < 4 && i < j + 2", "i = (1 < j ? j : 1); i + 1 <= MIN(4, 2 + j)",
	} {
		f, err := csource.Read("t.c", region("for (j = 0; j < 4; j++) for ("+bounds+"; i++) a[i] = 0;"), csource.Options{})
		if err != nil {
			t.Errorf("%s: %v", bounds, err)
			continue
		}
		if got, want := walked(f), "wa8 wa8 wa16 wa16 wa24 wa24"; got != want || strings.Count(f.Program.String(), "\n") != 3 {
			t.Errorf("%s is\n%vand does %s, want %s", bounds, f.Program, got, want)
		}
	}
}

// TestRefused: what is not understood is refused with its place, the expression
// and why.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a[which[0]] = 0;":                    "t.c:18:1: a[which[0]]: subscript which[0] depends on data (which[0]: it depends on data)",
		"a[p] = 0;":                           "t.c:18:1: a[p]: subscript p depends on data (p: its value is not known: it is neither a constant nor a variable of a loop around it; if it never changes, give it with -D p=100)",
		"a[changed] = 0;":                     "subscript changed depends on data",
		"for (i = 0; i < 2; i++) ; a[i] = 0;": "subscript i depends on data",
		"for (i = 0; i < 300; i++) for (j = 0; j < 300; j++) a[i * j] = 0;": "t.c:18:55: i * j: a product of variables is not affine",
		"for (i = 0; i < 400; i++) { int p = i ^ 2; a[p] = 0; }":            "t.c:18:44: a[p]: subscript p depends on data (p: its value is not known: it is declared as i ^ 2: ^ of a variable is not affine)",
		"for (i = 0; i >> 1 < 4; i++) a[i / 2] = 0;":                        "t.c:18:13: i >> 1: >> of a variable is not affine: write the loop over v, say, as for (q = 0; 2 * q < N; q++) for (r = 0; r < 2 && 2 * q + r < N; r++), where v is 2 * q + r and v >> 1 is q",
		"pointer[0] = 0;":          "t.c:18:1: pointer[0]: pointer is not an array of constant extents but a pointer, which does not say how much it points to: write double pointer[N], as a parameter or before the function, with extents that are constants or that -D sets, such as [n*n] and -D n=100",
		"rows[1][2] = 0;":          "t.c:18:1: rows[1][2]: rows is not an array of constant extents but a pointer, which does not say how much it points to: write float rows[N][M]",
		"points[0] = points[1];":   "t.c:18:13: points[1]: a whole struct is not understood: write its fields one by one",
		"*pointer = 0;":            "t.c:18:1: *pointer: pointer is not an array of constant extents but a pointer, which does not say how much it points to: write double pointer[N], as a parameter",
		"s = made().v[1];":         "what a call returns is not an array of constant extents: write the array, or the number, in its place",
		"s = linked->x;":           "t.c:18:5: linked->x: linked is not an array of constant extents but a pointer, which does not say how much it points to: write struct s linked[N], with the tag s for its struct, as a parameter",
		"m[0] == 0;":               "1 of the 2 subscripts of m (a pointer) is not understood",
		"s = a == b;":              "t.c:18:5: a: an array without its subscripts (a pointer) is not understood",
		"while (i < 2) i++;":       "t.c:18:1: while (i < 2) i++;: a while is not understood: write a for with affine bounds",
		"do { } while (i);":        "a while is not understood",
		"switch (i) { case 1: ; }": "a switch is not understood",
		"for (i = 0; i < 2; i++) { if (a[i] > 0) continue; b[i] = 0; }":                 "t.c:18:31: a[i] > 0: an if on data: a[i]: it depends on data",
		"for (i = 0; i < 2; i++) { do { if (i) continue; a[0] = 0; } while (0); }":      "t.c:18:39: continue;: a jump is not understood: only continue in the body of a for, and not in a do",
		"for (unsigned i = 3; i < 4; i--) a[i] = 0;":                                    "the condition does not end the loop in the direction of its step: write for (i = n; i-- > 0;)",
		"for (i = -2; i--;) a[0] = 0;":                                                  "the loop begins beyond the end that != names",
		"for (j = 0; j < 2; j++) for (unsigned i = j - 1; i-- > 0;) a[0] = 0;":          "it would wrap as int, or as unsigned int where j = 0",
		"for (unsigned k = 3; k < 5; k++) for (unsigned i = k - 4; i-- > 0;) a[0] = 0;": "as unsigned, the first value would wrap: begin at 0 or above, or compare signed values, such as (int)n for an unsigned n where k = 3",
		"for (i = 0; i++ < 3;) a[i] = 0;":                                               "a loop without a condition or without a step",
		"for (i = 3; j-- > 0;) a[i] = 0;":                                               "a loop without a condition or without a step",
		"for (i = 3; i-- > 0; i--) a[i] = 0;":                                           "i--: it is not a value of the loops' variables",
		"goto out; out: ;":                                                              "a jump is not understood",
		"for (i = 0; i < 2; i++) { if (i == 1) break; }":                                "t.c:18:39: break;: a jump is not understood",
		"return;":                                                                         "a jump is not understood",
		"if (a[0] > 0) b[0] = 0;":                                                         "t.c:18:5: a[0] > 0: an if on data: a[0]: it depends on data (a ?: would count both arms)",
		"if (alpha > 0) b[0] = 0;":                                                        "t.c:18:5: alpha > 0: an if on data: alpha: it is not an integer (a ?: would count both arms)",
		"for (i = 0; i < p; i++) a[i] = 0;":                                               "t.c:18:17: p: its value is not known: it is neither a constant nor a variable of a loop around it; if it never changes, give it with -D p=100",
		"for (i = 0; i < 2; i++) i = 5;":                                                  "t.c:18:25: i = 5: the variable of a loop is assigned to inside of it",
		"for (i = 0; i < 2; i++) for (i = 0; i < 2; i++) ;":                               "i is the variable of a loop around it",
		"for (i = 0; i < 2; i--) a[0] = 0;":                                               "t.c:18:1: for (i ...): the condition does not end the loop in the direction of its step",
		"for (i = 0; i < 2; i += 0) a[0] = 0;":                                            "the step is 0: the loop does not end",
		"for (i = 0; i < 2; i *= 2) a[0] = 0;":                                            "want a step of i by a constant",
		"for (i = 3; i != 2; i++) a[0] = 0;":                                              "the loop begins beyond the end that != names",
		"for (i = 0; i != 3; i += 2) a[0] = 0;":                                           "t.c:18:1: for (i ...): steps of 2 pass by the end that != names: the loop does not end",
		"for (i = 0; i < 2; i++) for (int j = i; j != 4; j += 2) a[j] = 0;":               "t.c:18:25: for (j ...): whether the steps hit the end that != names is not known",
		"for (unsigned i = 3; i >= 0; i--) a[i] = 0;":                                     "the variable would leave the range of its type",
		"for (i = 0; i < 3000000000; i++) s = a[0];":                                      "the variable would leave the range of its type",
		"for (unsigned i = 0; i < 2; i++) for (long j = i - 1; j < 1; j++) a[j + 1] = 0;": "t.c:18:48: i - 1: it would wrap as unsigned int, or as long where i = 0",
		"for (unsigned i = 4294967290u; i + 4 <= 4294967295u; i++) a[0] = 0;":             "the variable would leave the range of its type",
		"for (unsigned i = 4294967290u; i + 4 < 4294967295u; i += 2) a[0] = 0;":           "the variable would leave the range of its type",
		"for (int i = -1; i + 1 < 3u; i++) a[i + 1] = 0;":                                 "as unsigned, the first value would wrap: begin at 0 or above, or compare signed values, such as (int)n",
		"for (unsigned i = 3; i + 1 > 1; i--) a[i] = 0;":                                  "i + 1: it would wrap as unsigned int, which is not looked into in the condition of a loop",
		"for (unsigned i = 0; i - 1 < 3; i++) a[i] = 0;":                                  "i - 1: it would wrap as unsigned int, which is not looked into in the condition of a loop",
		"for (unsigned i = 0; i < 4; i++) if (i - 1 < 2) a[i - 1] = 0;":                   "t.c:18:38: i - 1: it would wrap as unsigned int where i = 0",
		"for (i = 2147483644; i < 2147483647; i += 2) a[0] = 0;":                          "the variable would leave the range of its type",
		"for (i = 0;; i++) a[0] = 0;":                                                     "t.c:18:1: for (...): a loop without a condition or without a step is not understood: write for (i = 0; i < n; i++), or downwards for (i = n; i-- > 0;)",
		"for (; i < 2; i++) a[0] = 0;":                                                    "does not say the first value",
		"for (i = 0; i < 2 || i < 3; i++) a[0] = 0;":                                      "want comparisons by < <= > >= != in the condition of a loop, and && between them",
		"for (i = 0; i * i < 3; i++) a[0] = 0;":                                           "i * i: a product of variables is not affine",
		"for (i = 0; i < 5; i++) a[i] = 0;":                                               "t.c:18:25: a[i]: the subscript of a[4] is outside of 0 to 3 where i = 4",
		"for (i = 0; i < 3; i++) for (j = 0; j <= i + 2; j++) m[i][j] = 0;":               "t.c:18:54: m[i][j]: the second subscript of m[3][4] is outside of 0 to 3 where i = 2, j = 4",
		"m[0][5] = 0;": "t.c:18:1: m[0][5]: the second subscript of m[3][4] is outside of 0 to 3",
		"for (i = 0; i < 4; i++) a[i] = i >= 0 && a[i - 1] > 0 ? 1 : 2;": "the subscript of a[4] is outside of 0 to 3 where i = 0",
		"for (i = 0; i < 4; i++) a[i] = a[i - 1] > 0 && i > 0 ? 1 : 2;":  "the subscript of a[4] is outside of 0 to 3 where i = 0",
		"for (i = 0; i < 4; i++) s = i > 0 || b[i] > 0 ? a[i - 1] : 2;":  "the subscript of a[4] is outside of 0 to 3 where i = 0",
		"s = a[0] ? 1 : sneaky(1);":                                      "t.c:18:16: sneaky(1): sneaky uses arrays or pointers: after a condition on data only functions of numbers are understood: make the call all of a statement, or all that one assigns, such as t = sneaky(...)",
		"s = cbrt(a);":                                                   "t.c:18:",
		"a[0] = b[0] + (b[1] = 2);":                                      "an assignment to an array within an expression is not understood: make it a statement",
		"a[0] = b[0] + b[1]++;":                                          "an assignment to an array within an expression is not understood: make it a statement",
		"a[2147483647 + 1] = 0;":                                         "2147483648 overflows int",
		"a[1 / 0] = 0;":                                                  "a division by 0",
		"double x[2] = {1, 2};":                                          "the initial value of an array is not understood here: write statements or loops that give it, or static in front if nothing changes it",
		"struct { int x[2]; } p1 = {1};":                                 "the initial value of a struct that holds an array is not understood here: write statements",
		"struct { int x; } p1 = {which};":                                "which: an array without its subscripts (a pointer) is not understood",
		"memset(a, 0, 8);":                                               "memset, which gets pointers, is not understood: write its loop, such as for (i = 0; i < N; i++) a[i] = 0",
		"for (i = 0; i < 300; i++) for (j = 0; j < 300; j++) s = i * j > 2 ? a[0] : b[0];": "i * j: a product of variables is not affine",
		"s = undeclared;":    "t.c:18:5: undefined: undeclared",
		"a[(_Bool)0.5] = 0;": "0.5: it is not an integer",
		"for (unsigned i = 0; i < 3; i++) a[i + -1] = 0;":  "the subscript of a[4] is outside of 0 to 3 where i = 0",
		"for (unsigned i = 0; i < 3; i++) a[i + -1u] = 0;": "the subscript of a[4] is outside of 0 to 3 where i = 0",
		"s = ;": "t.c:18:5: ",
	} {
		_, err := csource.Read("t.c", region(text), csource.Options{})
		var e *csource.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		} else if e.Pos.Line != 18 || e.Pos.File != "t.c" {
			t.Errorf("%s is refused at %v", text, e.Pos)
		}
	}
}

// TestWrap: a subscript that leaves its type within the array is refused, since it is another element, or none, that C
// would access; bounds see to it where the array ends before.
func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"for (unsigned r = 0; r < 4; r++) for (unsigned i = 0; i < 2; i++) c[r * 2147483648u + i] = 0;": "r * 2147483648u + i: it would wrap as unsigned int where r = 2, i = 0",
		"for (int i = 0; i < 4; i++) { unsigned q = i * 2147483648u; c[q] = 0; }":                       "q: it would wrap as unsigned int where i = 2",
		"for (int i = 0; i < 60000; i += 20000) c[i * 60000 + 1] = 0;":                                  "i * 60000 + 1: it overflows int where i = 40000",
		"for (int i = 0; i < 60000; i += 20000) c[i * 60000L + 1] = 0;":                                 "",
		"for (unsigned r = 0; r < 2; r++) c[r * 2147483648u + 1] = 0;":                                  "",
		"for (int i = 0; i < 60000; i += 20000) few[i * 60000 + 1] = 0;":                                "few[i * 60000 + 1]: the subscript of few[9] is outside of 0 to 8",
	} {
		_, err := csource.Read("t.c", []byte("char c[8589934592], few[9];\nvoid f(void) {\n#pragma scop\n"+text+"\n#pragma endscop\n}"), csource.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestEnds: what ends the program in a loop is refused as what leaves the loop; a variable of an enumeration without negative
// values is unsigned, as GCC has it.
func TestEnds(t *testing.T) {
	for text, want := range map[string]string{
		"for (int i = 0; i < 4; i++) { if (i == 2) exit(0); x[i] = 1; }":         "t.c:5:43: exit(0): exit ends the program, which like break is not understood",
		"for (int i = 0; i < 4; i++) { x[i] = 1; fail(i); }":                     "t.c:5:41: fail(i): fail calls abort, which ends the program: only functions of numbers are understood",
		"for (int i = 0; i < 4; i++) { enum e k = i; if (k - 3 < 0) x[i] = 1; }": "k - 3: it would wrap as unsigned int where i = 0",
		"for (int i = 0; i < 4; i++) { enum m k = i; if (k - 3 < 0) x[i] = 1; }": "",
		"for (int i = -2; i < FEW; i++) x[i + 2] = 1;":                           "",
	} {
		_, err := csource.Read("t.c", []byte("enum e { NONE, FEW = 2 }; enum m { BELOW = -1, ONE = 1 }; int x[4]; void exit(int), abort(void);\nvoid fail(int i) { if (i > 2) abort(); }\nvoid f(void) {\n#pragma scop\n"+text+"\n#pragma endscop\n}"), csource.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestCutOff: of a file that ends within a declaration, is packed, or has a type that is none here, that is said, and where.
func TestCutOff(t *testing.T) {
	const whole = "double a[9];\nvoid f(void) { for (int i = 0; i < 9; i++) a[i] = 1; }\n"
	for text, want := range map[string]string{
		whole + "struct":                      "t.c:3:6: the file ends before this declaration does (expected struct or union specifier)",
		whole + "_Float16 b[9];":              "t.c:3:1: the type _Float16 is not understood",
		whole + "#define H _Float16\nH b[9];": "t.c:3:11: the type _Float16 is not understood",
		whole + "int b =  \n\n":               "t.c:3:7: the file ends before this declaration does (expected unary expression)",
		"int a[2];\n<<<<<<< HEAD\r\nvoid f(void) { a[0] = 1; }\n=======\nvoid f(void) { a[1] = 1; }\n>>>>>>> other\n": "t.c:2:1: the line \"<<<<<<< HEAD\" is of a merge that is not resolved: keep one side",
		"#define N 2\n<<<<<<< HEAD\n#if N\n=======\n#if 1\n>>>>>>> other\n#endif\n":                                   "t.c:2:1: the line \"<<<<<<< HEAD\" is of a merge that is not resolved: keep one side",
		"/*\n<<<<<<< HEAD\n*/ int a[2] 3;": "t.c:3:13: unexpected integer constant, expected external declaration",
		"\x1f\x8b\x08\x00 packed":          "t.c: it is packed by gzip: unpack it first (gunzip)",
	} {
		if _, err := csource.Read("t.c", []byte(text), csource.Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestGrowing: macros that make strings, or paste, matter where they are used alone.
func TestGrowing(t *testing.T) {
	const text = `#define CHECK(c) do { if (!(c)) \
  die(#c); \
} while (0) /* and
  so on */
#define CAT(a, b) a ## b
int CAT(my, own);
float x[4];
void other(int n) { CHECK(n > 0); }
void f(void) { for (int i = 0; i < 2; i++) x[i] = 1; }
void g(void) { for (int i = 0; i < 2; i++) { CHECK(i > 0); x[i] = 1; } }
`
	f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"})
	if err != nil || walked(f) != "ws0 ws4" && walked(f) != "wx0 wx4" {
		t.Fatalf("%v", err)
	}
	_, err = csource.Read("t.c", []byte(text), csource.Options{Function: "g"})
	if want := "t.c:10:46: CHECK is a macro that makes a string of an argument, or pastes two, which is not understood"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestUnknownTypes: a name that stands where a type is wanted is said to be none; enumerations are numbers.
func TestUnknownTypes(t *testing.T) {
	for text, want := range map[string]string{
		"typedef uint32_t idx;\nfloat x[4];":                        "t.c:1:18: uint32_t is not known here as a type: include its header, or write a typedef",
		"#include <stdint.h>\ntypedef uint32_t idx;\nfloat x[4];":   "",
		"enum colour { RED, GREEN } y[4]; enum colour z; int x[4];": "",
	} {
		_, err := csource.Read("t.c", []byte(text+"\nvoid f(void) {\n#pragma scop\nx[0] = 1;\n#pragma endscop\n}"), csource.Options{})
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	f, err := csource.Read("t.c", []byte("enum { RED, GREEN } y[4];\nvoid f(void) {\n#pragma scop\nfor (int i = 0; i < 2; i++) y[i + 1] = GREEN;\n#pragma endscop\n}"), csource.Options{})
	if err != nil || walked(f) != "wy4 wy8" {
		t.Errorf("an array of an enumeration: %v", err)
	}
}

// TestFiles: whole files that are refused, or read.
func TestFiles(t *testing.T) {
	scop := "#pragma scop\na[0] = 0;\n#pragma endscop\n"
	for name, c := range map[string]struct {
		text, function, want, refused string
	}{
		"no region":                             {text: "int a[2]; void f(void) { a[0] = 0; }", refused: "t.c: there is nothing to read: no #pragma scop ... #pragma endscop in a function, and no function was named (--function); there are f"},
		"a function":                            {text: "int a[2]; int g(int b[3]) { b[1] = a[0]; return b[2] + 1; }", function: "g", want: "ra0 wb4 rb8"},
		"a return":                              {text: "int n = 2, a[9]; int g(int k) { if (n > 3) return a[8]; if (n > 1) { a[1] = 1; return 0; } a[2] = 1; }", function: "g", want: "wa4"},
		"another function":                      {text: "int a[2]; void f(void) {} void e(void) {}", function: "g", refused: "t.c: no function g is defined; there are e, f"},
		"no such function":                      {text: "int a[2];", function: "g", refused: "t.c: no function g is defined"},
		"a region in a loop":                    {text: "int a[2]; void f(void) { int i; for (i = 0; i < 3; i++) {\n" + scop + "} }", want: "wa0"},
		"two regions":                           {text: "int a[2]; void f(void) {\n" + scop + "a[1] = 3;\n" + scop + "}", want: "wa0 wa0"},
		"two functions":                         {text: "int a[2]; void f(void) {\n" + scop + "}\nvoid g(void) {\n" + scop + "}", refused: "t.c:6:1: g has a #pragma scop, and f has one: choose one with --function"},
		"half a region":                         {text: "int a[2]; void f(void) {\n#pragma scop\n}", refused: "#pragma scop and #pragma endscop have to be in one block"},
		"crossing":                              {text: "int a[2]; void f(void) { {\n#pragma scop\n}\n#pragma endscop\n}", refused: "#pragma scop and #pragma endscop have to be in one block"},
		"in a comment":                          {text: "int a[2]; void f(void) {\n/*\n#pragma scop\n*/\n" + scop + "\n}", want: "wa0"},
		"not compiled":                          {text: "int a[2]; void f(void) {\n#if 0\n#pragma scop\n#endif\n" + scop + "\n}", want: "wa0"},
		"a pragma by operator":                  {text: "int a[2]; void f(void) { _Pragma(\"scop\") a[0] = 0; _Pragma(\"endscop\") }", refused: "#pragma scop and #pragma endscop stand on lines of their own"},
		"a pragma and comments":                 {text: "int a[2]; void f(void) {\n # pragma scop /* x */\na[0] = 0;\n#\tpragma endscop // y\n}", want: "wa0"},
		"an open brace":                         {text: "int a[2];\nvoid f(void) {\nif (1) {\n}", refused: "t.c:2:1: its brackets ( [ { } ] ) do not match"},
		"another brace":                         {text: "int a[2];\nvoid f(void) {\na[0) = 1; }", refused: "t.c:3:4: its brackets ( [ { } ] ) do not match"},
		"another pragma":                        {text: "int a[2]; void f(void) {\n#pragma omp parallel\n" + scop + "}", want: "wa0"},
		"a variable extent":                     {text: "void f(int n, int a[n]) {\n" + scop + "}", refused: "t.c:1:19: a[n]: extent 0 of the array is not a constant"},
		"no extent":                             {text: "void f(int a[]) {\n" + scop + "}", refused: "t.c:1:12: a[]: extent 0 of the array is not a constant"},
		"an unused pointer":                     {text: "int a[1]; void f(int *p) {\n" + scop + "}", want: "wa0"},
		"an array of structs":                   {text: "struct { int x; } a[2]; void f(void) {\n#pragma scop\na[0];\n#pragma endscop\n}", refused: "a[0]: a whole struct is not understood"},
		"an array of pointers":                  {text: "int *a[2]; void f(void) {\n#pragma scop\na[0];\n#pragma endscop\n}", refused: "want numbers"},
		"nothing":                               {text: "void f(void) {\n#pragma scop\n#pragma endscop\n}", want: ""},
		"initial values":                        {text: "int a[] = {1, 2, 3}; void f(void) {\n#pragma scop\nfor (int i = 0; i < sizeof a / sizeof *a; i++) a[i] = 0;\n#pragma endscop\n}", want: "wa0 wa4 wa8"},
		"declared twice":                        {text: "extern int a[2]; int b[2]; int a[2]; void f(void) {\n#pragma scop\na[0] = b[0];\n#pragma endscop\n}", want: "rb0 wa0"},
		"a loop's variable that a call changes": {text: "int a[9], i; void h(void) { i += 3; } int g(void) { h(); return 1; } void f(void) {\n#pragma scop\nfor (i = 0; i < 9; i++) a[i] = g();\n#pragma endscop\n}", refused: "t.c:3:32: g(): g changes i, the variable of a loop around it"},
		"a long chain of else ifs":              {text: "int a[40]; void f(void) {\n#pragma scop\nfor (int i = 0; i < 40; i++) { " + chain(39) + "a[i] = 1; }\n#pragma endscop\n}", want: strings.Join(each(40, func(i int) string { return fmt.Sprint("wa", 4*i) }), " ")},
		"a variable in each arm of a loop's bounds": {text: "double a[300]; void f(void) {\n#pragma scop\nfor (int j = 0; j < 8; j++) for (int i = (j < 4 ? 0 : 250); i < (j < 4 ? 10 : 260); i++) { unsigned char k = i; a[k] = 1; }\n#pragma endscop\n}", refused: "i: it would wrap as int, or as unsigned char where j = 4, i = 256"},
		"a condition that wraps":                    {text: "double a[400]; void f(void) {\n#pragma scop\nfor (int i = 300; (unsigned char)i < 100; i++) a[i] = 1;\n#pragma endscop\n}", refused: "t.c:3:19: (unsigned char)i: it would wrap as int, or as unsigned char, which is not looked into in the condition of a loop"},
		"conditions that do not":                    {text: "int a[3]; void f(void) {\n#pragma scop\nfor (int i = 0; i < 2ul; i++) a[i] = 0; for (unsigned i = 1; i < 3l; i++) a[i] = 0;\n#pragma endscop\n}", want: "wa0 wa4 wa4 wa8"},
		"one that a call reads":                     {text: "int a[2], i; int g(void) { int k = i; k++; return i == 1; } void f(void) {\n#pragma scop\nfor (i = 0; i < 2; i++) a[i] = g();\n#pragma endscop\n}", want: "wa0 wa4"},
		"a file above":                              {text: "#include \"../other.h\"\n", refused: "t.c:1:10: include file not found: \"../other.h\" (only folders that -I names are looked in, which no name with .. leads out of, and the headers assert.h"},
		"an included file":                          {text: "#include \"other.h\"\n", refused: "t.c:1:10: include file not found: \"other.h\" (only folders that -I names are looked in, and the headers assert.h"},
		"an unknown header":                         {text: "#include <pthread.h>\n", refused: "t.c:1:10: include file not found: <pthread.h>"},
		"a local array":                             {text: "int a[2]; void f(void) { static float t[3];\n#pragma scop\nint u[2]; t[1] = u[1] = a[0];\n#pragma endscop\n}", want: "ra0 wu4 wt4"},
		"a type of its own":                         {text: "#include <stdint.h>\ntypedef uint8_t row[3]; row a[2]; void f(void) {\n#pragma scop\na[1][2] = 0;\n#pragma endscop\n}", want: "wa5"},
		"an error of the file's":                    {text: "#error no\n", refused: "t.c:1:2: no"},
	} {
		f, err := csource.Read("t.c", []byte(c.text), csource.Options{Function: c.function})
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s is refused with\n%v\nwant\n%s", name, err, c.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case walked(f) != c.want:
			t.Errorf("%s does %s, want %s", name, walked(f), c.want)
		}
	}
}

// TestNotes: what is not counted and not understood is a note, as is what has no effect.
func TestNotes(t *testing.T) {
	const counted = "void f(void) {\n#pragma scop\na[0] = 0;\n#pragma endscop\n}\n"
	for name, c := range map[string]struct {
		text, note string
		defines    []string
		base       uint64 // of the array a
	}{
		"structs":            {text: "struct { int x; } s[20]; int a[2]; " + counted, base: 0},
		"pointers":           {text: "int *p[2], a[2]; " + counted, note: "t.c:1:5: *p[2]: an array of pointer to int is not understood", base: 64},
		"another's extent":   {text: "int a[2]; void g(int n, double b[n][n]) { b[0][0] = 1; }" + counted},
		"an extent":          {text: "int a[2]; void f(int n, double b[n]) {\n#pragma scop\na[0] = 0;\n#pragma endscop\n}", note: "t.c:1:32: b[n]: extent 0 of the array is not a constant: write a number, an enum, or a macro or a variable, which -D can set; nothing that is counted uses it, and it takes no place"},
		"another function":   {text: "int a[2]; void g(void) {\n__m256 x = 3; /* } */ \"}\";\n}\n" + counted, note: "t.c:2:8: g is left out: unexpected identifier, expected ';'; nothing that is counted calls it"},
		"a type":             {text: "int a[2]; /* _Float16 */\nvoid g(void) { int x; _Float16 y; }\nvoid h(void) { _Float16 z; }\n" + counted, note: "t.c:2:23: g is left out: the type _Float16 is not understood; nothing that is counted calls it\nt.c:3:16: h is left out: the type _Float16 is not understood"},
		"two others":         {text: "int a[2]; static int\ng(int (*h)(int))\n{\n#if 1\nnowhere(x);\n}\n#endif\n" + counted + "int h(int y) { return z; }", note: "t.c:13:23: h is left out: undefined: z"},
		"a macro anew":       {text: "#define N 2\nint a[N]; " + counted, defines: []string{"N=4"}, note: "t.c:1:9: N is redefined here, and -D N=4 has no effect from here on (#ifndef N around this line lets it have one)"},
		"a macro as it is":   {text: "#define N 2\nint a[N]; " + counted, defines: []string{"N=2"}},
		"a macro of nobody":  {text: "int a[2]; " + counted, defines: []string{"NX=4"}, note: "t.c: -D NX=4 has no effect: nothing in it is called NX"},
		"another's variable": {text: "int a[2]; void g(int n) { a[1] = n; }" + counted, defines: []string{"n=4"}, note: "t.c: -D n=4 has no effect: neither the file nor f, which is read, declares an integer n"},
		"a called one's own": {text: "int a[2]; void g(int n, int *x) { x[n] = 1; }\nvoid f(void) {\n#pragma scop\ng(1, a);\n#pragma endscop\n}", defines: []string{"n=0"}, note: "t.c: -D n=0 has no effect: neither the file nor f, which is read, declares an integer n"},
		"no integer of f":    {text: "int a[2]; void g(int n) { a[1] = n; } void f(double n) {\n#pragma scop\na[0] = n;\n#pragma endscop\n}", defines: []string{"n=4"}, note: "t.c: -D n=4 has no effect"},
		"of f and another":   {text: "void g(int n) { n++; } void f(int n) { int a[2];\n#pragma scop\na[n] = 0;\n#pragma endscop\n}", defines: []string{"n=1"}},
		"of another macro":   {text: "int a[N]; " + counted, defines: []string{"N=M", "M=2"}},
		"made of two":        {text: "#define S(x) SIZE_##x\nint a[S(X)]; " + counted, defines: []string{"SIZE_X=2"}},
		"a mark":             {text: "\ufeff#ifdef N\n#endif\r\nint a[2]; " + counted, defines: []string{"N"}},
		"a macro of outside": {text: "#ifndef N\n#define N 2\n#endif\nint a[N]; " + counted, defines: []string{"N=4"}},
		"a pragma":           {text: "int a[2]; void f(void) {\n#pragma scop\n#pragma omp parallel for\nfor (size_t i = 0; i < 2; i++) a[i] = 0;\n#pragma endscop\n}", note: "t.c:3:9: #pragma omp parallel for: it is ignored: one thread makes all accesses, in the order of the text"},
		"aligned":            {text: "int a[2], b[2] __attribute__((aligned(128))); " + counted, note: "t.c:1:11: b asks for an address that is a multiple of 128 and does not have one: arrays are placed at multiples of 64, or of --align"},
		"aligned by a word":  {text: "int a[2]; _Alignas(256) int b[2]; " + counted, note: "t.c:1:29: b asks for an address that is a multiple of 256"},
		"aligned anyway":     {text: "_Alignas(4096) int a[2]; int b[2] __attribute__((aligned(64))); long double c[2]; " + counted},
		"a called one's":     {text: "int a[2]; void g(int *x) {\n#pragma omp simd\nfor (int i = 0; i < 2; i++) x[i] = 1;\n}\nvoid f(void) {\n#pragma scop\ng(a);\n#pragma endscop\n}", note: "t.c:2:9: #pragma omp simd: it is ignored"},
		"another's pragma":   {text: "int a[2]; void g(void) {\n#pragma omp barrier\n}\n" + counted},
	} {
		f, err := csource.Read("t.c", []byte(c.text), csource.Options{Defines: c.defines, Origin: 1 << 20})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var notes []string
		for _, n := range f.Notes {
			notes = append(notes, n.String())
		}
		if all := strings.Join(notes, "\n"); (all == "") != (c.note == "") || !strings.Contains(all, c.note) {
			t.Errorf("%s: notes are\n%s\nwant\n%s", name, all, c.note)
		}
		if got := f.Arrays[0].Base; got != 1<<20+c.base {
			t.Errorf("%s: a is at %#x, want %#x behind the origin", name, got, c.base)
		}
	}
	for text, want := range map[string]string{
		"int a[2]; int g(int x) { return nowhere; } void f(void) {\n#pragma scop\na[0] = g(1);\n#pragma endscop\n}":                                "t.c:1:33: undefined: nowhere",
		"int a[2]; int h(int x) { return nowhere; }\nint g(int x) { return h(x); } void f(void) {\n#pragma scop\na[0] = g(1);\n#pragma endscop\n}": "t.c:4:8: g(1): g calls h, which is not understood",
		"int a[2]; int g(int x) { return nowhere; } nowhere b; " + counted:                                                                         "t.c:1:",
		"int a[2]; int g(int x) { return nowhere; } void f(void) {\n#pragma scop\na[0] = nowhere;\n#pragma endscop\n}":                             "t.c:3:8: undefined: nowhere",
	} {
		if _, err := csource.Read("t.c", []byte(text), csource.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nis refused with\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestElements: what arrays may be of, with the headers that declare it.
func TestElements(t *testing.T) {
	text := `#include <complex.h>
#include <omp.h>
double complex z[2]; float _Complex c[2]; long double l[2];
void f(void) {
#pragma scop
	for (size_t i = 0; i < 2; i++)
		z[i] = 2 * I * c[i] + cexp(z[0]) * creal(l[i]) * omp_get_wtime();
#pragma endscop
}`
	f, err := csource.Read("t.c", []byte(text), csource.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := walked(f), "rc0 rz0 rl0 wz0 rc8 rz0 rl16 wz16"; got != want {
		t.Errorf("it does %s, want %s", got, want)
	}
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

// TestAsWritten: a statement is shown as the file has it, and after macros where one of them
// makes several.
func TestAsWritten(t *testing.T) {
	text := `#define N 4
#define AT(i, j) [(i)][(j)]
#define TWICE(x) x; x
double a[N][N], s;
void f(void) {
  for (int i = 0; i < N; i++) {
    a AT(i, 0)   += 2 *  a AT(i, 1); s += a[i]  [2];
    TWICE(s += a AT(i, 3));
    s +=
      a AT(0, i);
  }
}
`
	_, got := statementsOf(t, text)
	want := []string{"a AT(i, 0) += 2 * a AT(i, 1)", "s += a[i][2]", "s += a[(i)][(3)]", "s += a[(i)][(3)]", "s += a[(0)][(i)]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNamedAsWritten: an access is named as the file has it, and after macros where one makes several; of a
// declaration each variable is a statement, with its own text.
func TestNamedAsWritten(t *testing.T) {
	text := `#define N 9
#define IDX(i, j) ((i)*N + (j))
#define AT(a, i) a[IDX(i, i)]
#define SUM(i) (u[i] + v[i])
#define ROW [i]
double u[N * N], v[N * N];
void f(void) {
  for (int i = 1; i < 3; i++) {
    double x = u[IDX(i-1, 0)], y = v[ IDX(i,  1) ], z = AT(u, i);
    v ROW = x + SUM(i) + y * (z + u[i]);
  }
}
`
	f, got := statementsOf(t, text)
	for _, a := range f.Accesses {
		got = append(got, a.Text)
	}
	want := []string{"x = u[IDX(i-1, 0)]", "y = v[ IDX(i, 1) ]", "z = AT(u, i)", "v ROW = x + SUM(i) + y * (z + u[i])",
		"u[IDX(i-1, 0)]", "v[ IDX(i, 1) ]", "AT(u, i)", "u[i]", "v[i]", "u[i]", "v ROW"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCarried: a scalar keeps a value between the iterations of the loops inside of its declaration.
func TestCarried(t *testing.T) {
	for body, want := range map[string]int{
		"double s = 0; for (int k = 0; k < 4; k++) s += a[k][j]; b[i][j] = s;": 2,
		"double x = a[j][i]; b[i][j] = fabs(x) * 2;":                           64,
		"s += a[j][i];":                     0,
		"b[i][j] = rand();":                 0,
		"w[i][j] = a[j][i];":                0, // volatile
		"p[i][j] = a[j][i];":                0, // a parameter, which may be a
		"q.u = q.u * 3 + 1; b[j][i] = q.u;": 0,
		"static int kept = 1; kept = kept * 3; b[j][i] = kept;": 0,
		"d[i].v = a[j][i];": 64,
	} {
		parameter, volatile := "", ""
		switch body[:2] {
		case "p[":
			parameter = "double p[4][4]"
		case "w[":
			volatile = "volatile "
		}
		text := "double a[4][4], b[4][4]; struct { int u; } q; struct { double v; } d[4]; " + volatile + "double w[4][4]; double fabs(double); int rand(void); void f(" + parameter + ") { double s = 0; for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) {" + body + "} }"
		f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"})
		if err != nil {
			t.Fatal(err)
		}
		if f.Carried != want && (want < 64 || f.Carried < 3) {
			t.Errorf("%s: from depth %d on, want %d", body, f.Carried, want)
		}
	}
}

// chain is of n ifs, on which an else waits for a statement.
func chain(n int) string {
	return strings.Join(each(n, func(i int) string { return fmt.Sprintf("if (i == %d) a[%[1]d] = 1; else ", i) }), "")
}

func each[T any](n int, f func(i int) T) (all []T) {
	for i := range n {
		all = append(all, f(i))
	}
	return all
}

// statementsOf reads the function f of a file, and returns the texts of its statements.
func statementsOf(t *testing.T, text string) (f *csource.File, texts []string) {
	t.Helper()
	f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Statements {
		texts = append(texts, s.Text)
	}
	return f, texts
}
