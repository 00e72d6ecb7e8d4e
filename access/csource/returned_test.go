package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

const helpers = `double a[40]; int b[9], moves; int n = 10; enum { T = 4 };
static inline int imin(int a, int b) { return a < b ? a : b; }
static int imax(const int a, const int b) { { return (a > b) ? a : b; } }
int clamp(int v, int low, int high) { return imax(low, imin(v, high)); }
int at(int r, int c) { return r * 5 + c; }
unsigned char byte(int v) { return v; } int narrow(unsigned char v) { return v; }
int even(int v) { return v == 0 || v == 8; }
int loaded(int v) { return b[v]; }
int moved(int v) { return moves = v; }
int twoSteps(int v) { v = v + 1; return v; }
int again(int v) { return v > 0 ? again(v - 1) : 0; }
int counted(double v) { return 3; }
int moving(int v) { return v + moves; }
`

// TestReturned: a call of a function that only returns an expression of integers is that expression.
func TestReturned(t *testing.T) {
	read := func(text string) (*csource.File, error) {
		return csource.Read("t.c", []byte(helpers+"void f(void) { for (int i = 0; i < 12; i += 4) { "+text+" } }"), csource.Options{Function: "f"})
	}
	for text, same := range map[string]string{
		"for (int k = i; k < imin(i + T, n); k++) a[k] = 1;":                   "for (int k = i; k < (i + T < n ? i + T : n); k++) a[k] = 1;",
		"for (int k = imax(i, 3); k < imin(imin(i + 4, n), 9); k++) a[k] = 1;": "for (int k = i > 3 ? i : 3; k < i + 4 && k < n && k < 9; k++) a[k] = 1;",
		"a[clamp(i - 1, 0, 6)] = a[at(i, 3) - i];":                             "a[i == 0 ? 0 : i == 4 ? 3 : 6] = a[i * 4 + 3];",
		"a[byte(257)] = 1;":      "a[1] = 1;",
		"a[narrow(258)] = 1;":    "a[2] = 1;",
		"if (even(i)) a[i] = 1;": "if (i != 4) a[i] = 1;",
		"int e = imin(i + T, n); a[e] = even(i) ? a[1] : b[2];": "int e = i + T < n ? i + T : n; a[e] = i != 4 ? a[1] : b[2];",
	} {
		got, err := read(text)
		want, err2 := read(same)
		if err != nil || err2 != nil || walked(got) != walked(want) || walked(got) == "" {
			t.Errorf("%s and %s: %v, %v", text, same, err, err2)
		}
	}
	const unknown = "returns is not known"
	for text, want := range map[string]string{
		"a[loaded(i)] = 1;":                     "loaded returns is not known (b[v]: it depends on data)",
		"a[moved(2)] = 1;":                      "moved returns is not known (moves = v: ",
		"a[twoSteps(2)] = 1;":                   "t.c:14:50: a[twoSteps(2)]: subscript twoSteps(2) depends on data (twoSteps(2): what a call of twoSteps returns is not known: write the expression, or a macro, in its place)",
		"a[again(i)] = 1;":                      unknown,
		"a[counted(2)] = 1;":                    unknown,
		"a[moving(2)] = moved(1);":              "moving returns is not known (moves: its value is not known",
		"int (*imin)(int) = 0; a[imin(2)] = 1;": unknown,
		"a[imin(b[0], 3)] = 1;":                 "b[0]: it depends on data",
		"a[byte(i * 100)] = 1;":                 "it would wrap as int, or as unsigned char where i = 4",
		"a[narrow(i * 100)] = 1;":               "it would wrap as int, or as unsigned char where i = 4",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
