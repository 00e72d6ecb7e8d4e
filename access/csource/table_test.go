package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestTables: arrays of constants are read where they are subscripts, and choose what C chooses by them.
func TestTables(t *testing.T) {
	const file = `double a[9][9], b[60], c[60]; int plain[3] = {1, 2, 3}, on;
static const int dx[4] = {1, 0, -1, 0}, dy[] = {0, 1, 0, -1}, even[4] = {0, 2, 4, 6}, same[3] = {5, 5, 5};
const signed char off[5][2] = {{0, 0}, {1, 0}, {0, 1}, {-1}, {0, -1}}; const int by[4] = {[1] = 2}, flat[2][2] = {1, 2, 3, 4}; const unsigned char byte[2] = {258, 1};
const struct { int k; } boxed[1] = {{1}}; const double half[2] = {0.5, 1}; volatile const int port[2] = {1, 2}; extern const int far[2];
double sqrt(double); static int at(int k) { return dx[k]; } static double take(double *x, int k) { return x[k]; }
void put(double *x, int k) { x[dx[k] + 1] = 1; }
`
	read := func(text string) (*csource.File, error) {
		return csource.Read("t.c", []byte(file+"void f(void) { "+text+" }"), csource.Options{Function: "f"})
	}
	for text, want := range map[string]string{
		// Order: what is read in subscripts comes first, once, in the order of the text.
		"for (int k = 0; k < 4; k++) b[k] = c[3 + dx[k]];":                       "rdx0 rc32 wb0 rdx4 rc24 wb8 rdx8 rc16 wb16 rdx12 rc24 wb24",
		"for (int k = 0; k < 2; k++) b[1 + dx[k]] = c[0];":                       "rdx0 rc0 wb16 rdx4 rc0 wb8",
		"for (int k = 0; k < 2; k++) b[1 + dx[k]] += c[same[k]];":                "rdx0 rb16 rsame0 rc40 wb16 rdx4 rb8 rsame4 rc40 wb8",
		"for (int k = 0; k < 2; k++) b[dx[k]] += take(c, k);":                    "rc0 rdx0 rb8 wb8 rc8 rdx4 rb0 wb0",
		"b[dx[1]] += sqrt(c[even[1]]);":                                          "reven4 rc16 rdx4 rb0 wb0",
		"b[even[1]]++; b[dy[dx[0]]] = 1;":                                        "reven4 rb16 wb16 rdx0 rdy4 wb8",
		"b[byte[0]] = dx[1];":                                                    "rbyte0 rdx4 wb16",
		"for (int k = 0; k < 2; k++) { int q = dx[k], r = 1 + q; b[r] = c[r]; }": "rdx0 rc16 wb16 rdx4 rc8 wb8",
		"for (int k = 0; k < 2; k++) { int q = 3; q = q + dx[k]; b[q] = c[q]; }": "rdx0 rc32 wb32 rdx4 rc24 wb24",
		"for (int k = 1; k < 4; k++) b[k > 1 ? dx[k] + 2 : 9] = 1;":              "wb72 rdx8 wb8 rdx12 wb16",
		"for (int k = 0; k < 3; k++) a[1 + off[k][0]][1 + off[k][1]] = 1;":       "roff0 roff1 wa80 roff2 roff3 wa152 roff4 roff5 wa88",
		"a[1 + off[3][0]][off[3][1]] = 1;":                                       "roff6 roff7 wa0",
		// One program: constants, and what goes on evenly, need no copies of the loop.
		"for (int k = 0; k < 3; k++) b[even[k]] = c[same[k]];":                                              "reven0 rsame0 rc40 wb0 reven4 rsame4 rc40 wb16 reven8 rsame8 rc40 wb32",
		"for (int k = 3; k >= 0; k -= 2) { if (k == 1) continue; double *row = a[k]; row[dy[k] + 1] = 1; }": "rdy12 wa216",
		"for (int t = 0; t < 9; t += 4) for (int k = t; k < t + 2; k++) b[k] = c[dx[k % 4] + 1];":           "rdx0 rc16 wb0 rdx4 rc8 wb8 rdx0 rc16 wb32 rdx4 rc8 wb40 rdx0 rc16 wb64 rdx4 rc8 wb72",
		"for (int k = 0; k < 2; k++) put(a[k], k);":                                                         "rdx0 wa16 rdx4 wa80",
	} {
		f, err := read(text)
		if err != nil || walked(f) != want {
			t.Errorf("%s: %v", text, err)
			if err == nil {
				t.Errorf("does %s, want\n%s", walked(f), want)
			}
		}
	}
	// A loop in two, and copies of it, have the statements of the text once.
	f, err := read("for (int i = 1; i < 8; i++) for (int j = 1; j < 8; j++) for (int k = 0; k < 4; k++) { int x = i + dx[k], y = j + dy[k]; a[x][y] = b[k] + 1; put(b, k); }")
	if err != nil || len(f.Statements) != 5 || strings.Count(f.Program.String(), "for ") != 2 || strings.Count(walked(f), "wa") != 49*4 {
		t.Errorf("%v: %+v", err, f)
	}
	const kept = "the value of a constant array is known in subscripts, and of variables that are declared with it: declare one, such as int v = "
	for text, want := range map[string]string{
		"for (int k = 0; k < 5; k++) b[k] = c[3 + dx[k]];":                 "dx[k]: the subscript of dx[4] is outside of 0 to 3 where k = 4",
		"for (int k = 0; k < 4; k++) b[k] = c[dx[k]];":                     "c[dx[k]]: the subscript of c[60] is outside of 0 to 59 where k = 2",
		"for (int k = 0; k < 2; k++) if (dx[k] > 0) b[k] = 1;":             "an if on data: dx[k]: " + kept + "dx[k]",
		"for (int k = 0; k < dx[0]; k++) b[k] = 1;":                        kept + "dx[0]",
		"for (int k = 0; k < 2; k++) { double *q = &b[dx[k]]; q[0] = 1; }": kept + "dx[k]",
		"for (int k = 0; k < 2; k++) *(b + dx[k]) = 1;":                    kept + "dx[k]",
		"for (int k = 0; k < 2; k++) b[at(k)] = 1;":                        kept + "dx[k]",
		"for (int k = 0; k < 2; k++) put(b, dx[k]);":                       "k: its value is not known: it is declared as dx[k]: " + kept,
		"for (int k = 0; k < 2; k++) b[dx[k]] = take(c, 1);":               "b[dx[k]]: whether its subscripts are read before the call is not known: declare variables with them in front",
		"b[plain[1]] = 1;":     "plain[1]: it depends on data",
		"b[by[1]] = 1;":        "by[1]: it depends on data",
		"b[flat[1][1]] = 1;":   "flat[1][1]: it depends on data",
		"b[boxed[0].k] = 1;":   "it depends on data",
		"b[(int)half[1]] = 1;": "it depends on data",
		"b[port[1]] = 1;":      "port[1]: it depends on data",
		"b[far[1]] = 1;":       "far",
		"b[dx[on]] = 1;":       "on: its value is not known",
		"for (int i = 0; i < 2; i++) for (int k = i; k < 2 + i; k++) b[dx[k] + 1] = i;": "",
		"const int mine[2] = {1, 2}; b[mine[1]] = 1;":                                   "the initial value of an array is not understood here",
	} {
		_, err := read(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
