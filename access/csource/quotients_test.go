package csource_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// quotientOf is what C makes of a number and a constant.
func quotientOf(x int, op string, n int) int {
	switch op {
	case "%":
		return x % n
	case "/":
		return x / n
	case "&":
		return x & n
	}
	return x >> n
}

// TestRandomQuotients: quotients and remainders of the variables of random loops are C's, wherever they begin again.
func TestRandomQuotients(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 18))
	parted, read := 0, 0
	for range 400 {
		// for i, and for j from a function of i or the greater of i and a number, up or down by any step, to the least of two.
		type bounds struct{ from, to, more, step, slope int }
		const ofTwo = 2 // a slope
		var loops [2]bounds
		head := ""
		for d, name := range []string{"i", "j"} {
			l := &loops[d]
			l.from, l.step = r.IntN(30)-10, 1+max(0, r.IntN(5)-2)
			if d > 0 {
				l.slope = r.IntN(4) - 1
			}
			compares, sign := "<", "+"
			if l.to, l.more = l.from+r.IntN(14), l.from+r.IntN(20); r.IntN(3) == 0 {
				l.to, l.more, l.step = 2*l.from-l.to, 2*l.from-l.more, -l.step
				compares, sign = ">", "-"
			}
			first, end := fmt.Sprint(l.from), fmt.Sprint(l.to)
			switch {
			case l.slope == ofTwo:
				first = map[string]string{"<": fmt.Sprintf("(i > %d ? i : %[1]d)", l.from), ">": fmt.Sprintf("(i < %d ? i : %[1]d)", l.from)}[compares]
			case d > 0:
				first, end = fmt.Sprintf("%d + %d * i", l.from, l.slope), fmt.Sprintf("%d + %d * i", l.to, l.slope)
			}
			head += fmt.Sprintf("for (int %[1]s = %[2]s; %[1]s %[3]s %[4]s && %[1]s %[3]s %[5]d; %[1]s %[6]s= %[7]d) ", name, first, compares, end, l.more, sign, max(l.step, -l.step))
		}
		op, n := []string{"%", "/", "&", ">>", "%"}[r.IntN(5)], 1+r.IntN(7)
		switch op {
		case "&":
			n = []int{1, 3, 7}[r.IntN(3)]
		case ">>":
			n = r.IntN(4)
		case "%":
			n *= 1 - 2*(r.IntN(6)/5)
		}
		c := [3]int{r.IntN(5) - 1, r.IntN(5) - 2, r.IntN(9) - 3}
		var want []string
		one := func(i, j int) {
			x := quotientOf(c[0]*i+c[1]*j+c[2], op, n)
			want = append(want, fmt.Sprintf("wa%d", x+500))
			if x%2 == 0 {
				want = append(want, fmt.Sprintf("wb%d", 500+j))
			}
		}
		runs := func(l bounds, at, to int) bool {
			return l.step > 0 && at < to && at < l.more || l.step < 0 && at > to && at > l.more
		}
		outer, inner := loops[0], loops[1]
		for i := outer.from; runs(outer, i, outer.to); i += outer.step {
			from, to := inner.from+inner.slope*i, inner.to+inner.slope*i
			if inner.slope == ofTwo {
				if from, to = max(i, inner.from), inner.to; inner.step < 0 {
					from = min(i, inner.from)
				}
			}
			for j := from; runs(inner, j, to); j += inner.step {
				one(i, j)
			}
		}
		x := fmt.Sprintf("((%d * i + %d * j + %d) %s %d)", c[0], c[1], c[2], op, n)
		text := head + fmt.Sprintf("{ a[%s + 500] = 1; if (%[1]s %% 2 == 0) b[j + 500] = 1; }", x)
		f, err := csource.Read("t.c", []byte("char a[1000], b[1000];\nvoid f(void) { "+text+" }"), csource.Options{Function: "f"})
		if err != nil && (strings.Contains(err.Error(), "of a variable is not affine") || strings.Contains(err.Error(), "too many cases")) {
			continue
		}
		read++
		if err != nil || walked(f) != strings.Join(want, " ") {
			t.Errorf("%s: %v, want\n%s", text, err, strings.Join(want, " "))
			continue
		}
		if strings.Contains(f.Program.String(), "_q") {
			parted++
		}
	}
	if t.Logf("%d are read, %d of them in turns", read, parted); read < 380 || parted < 100 {
		t.Error("too few")
	}
}

// TestQuotients: where loops that are known to be read have quotients and remainders, and how these come out.
func TestQuotients(t *testing.T) {
	const file = "double a[40], b[40], m[2][40]; int moves; enum { N = 12 };\nint ring(int i) { return (i + 1) % N; }\n" +
		"void inner(double *x, int k) { for (int j = k & 1; j < 6; j += 2) x[j] = 1; }\n"
	read := func(text string) (*csource.File, error) {
		return csource.Read("t.c", []byte(file+"void f(void) { "+text+" }"), csource.Options{Function: "f"})
	}
	for text, same := range map[string]string{
		// Once around.
		"for (int i = 0; i < N; i++) b[i] = a[(i + 1) % N] + a[(i - 1 + N) % N] + a[(i + N - 1) % N];":                                        "for (int i = 0; i < N; i++) b[i] = a[i < N - 1 ? i + 1 : 0] + a[i ? i - 1 : N - 1] + a[i ? i - 1 : N - 1];",
		"for (unsigned i = 0; i < N; i++) b[i] = a[(i - 1 + N) % N] + a[ring(i)];":                                                            "for (int i = 0; i < N; i++) b[i] = a[i ? i - 1 : N - 1] + a[i < N - 1 ? i + 1 : 0];",
		"for (int i = -3; i < 4; i++) a[i % 3 + 5] = b[i / 2 + 4];":                                                                           "a[5] = b[3]; a[3] = b[3]; a[4] = b[4]; a[5] = b[4]; a[6] = b[4]; a[7] = b[5]; a[5] = b[5];",
		"for (int i = -3; i < 4; i++) a[i & 3] = b[(i >> 1) + 4] + a[i % -3 + 5];":                                                            "a[1] = b[2] + a[5]; a[2] = b[3] + a[3]; a[3] = b[3] + a[4]; a[0] = b[4] + a[5]; a[1] = b[4] + a[6]; a[2] = b[5] + a[7]; a[3] = b[5] + a[5];",
		"for (int i = 0; i < 3; i++) a[(i > 1 ? 3 : 4) % 2] = a[((i > 1 ? -3 : -5) >> 1) + 4];":                                               "a[0] = a[1]; a[0] = a[1]; a[1] = a[2];",
		"for (int k = 1; k < 4; k++) for (int i = 0; i < 9; i++) a[i % k] = 1;":                                                               "for (int i = 0; i < 9; i++) a[0] = 1; for (int i = 0; i < 9; i++) a[i % 2] = 1; for (int i = 0; i < 9; i++) a[i % 3] = 1;",
		"for (int i = 0; i < 9; i++) a[7 % (i + 1)] = 1;":                                                                                     "a[0] = 1; a[1] = 1; a[1] = 1; a[3] = 1; a[2] = 1; a[1] = 1; a[0] = 1; a[7] = 1; a[7] = 1; ",
		"for (int i = 0; i < 9; i++) a[i / -2 + 9] = 1;":                                                                                      "a[9] = 1; a[9] = 1; a[8] = 1; a[8] = 1; a[7] = 1; a[7] = 1; a[6] = 1; a[6] = 1; a[5] = 1; ",
		"for (int i = 0; i < 9; i++) a[i & 2] = 1;":                                                                                           "a[0] = 1; a[0] = 1; a[2] = 1; a[2] = 1; a[0] = 1; a[0] = 1; a[2] = 1; a[2] = 1; a[0] = 1; ",
		"for (int i = 0; i < 9; i++) a[i ^ 1] = 1;":                                                                                           "a[1] = 1; a[0] = 1; a[3] = 1; a[2] = 1; a[5] = 1; a[4] = 1; a[7] = 1; a[6] = 1; a[9] = 1; ",
		"for (int i = 0; i < 9; i++) for (int j = i > 3 ? i : 3; j < 99; j += 2) a[j % 5] = 1;":                                               "for (int i = 0; i < 9; i++) for (int j = 0; j < (i > 3 ? (100 - i) / 2 : 48); j++) a[(i > 3 ? i + 2 * j : 3 + 2 * j) % 5] = 1;",
		"for (int i = 0; i < 4; i++) for (int s = 0; s < 3; s++) { int len = 1 << s; for (int j = 0; j < 8; j += len) a[j + (i >> s)] = 1; }": "for (int i = 0; i < 4; i++) { for (int j = 0; j < 8; j++) a[j + i] = 1; for (int j = 0; j < 8; j += 2) a[j + i / 2] = 1; for (int j = 0; j < 8; j += 4) a[j] = 1; }",
		// Over and over, in conditions, bounds, values that are kept, and calls.
		"for (int t = 0; t < 9; t++) for (int i = 1; i < 3; i++) m[(t + 1) % 2][i] = m[t % 2][i - 1] + m[t & 1][i + 1];":      "for (int q = 0; q < 5; q++) for (int r = 0; r < 2 && 2 * q + r < 9; r++) for (int i = 1; i < 3; i++) m[1 - r][i] = m[r][i - 1] + m[r][i + 1];",
		"for (int i = 1; i < 20; i++) { if (i % 3 == 0) continue; if (i % 2) a[i] = 1; else b[i] = 1; }":                      "for (int q = 0; q < 4; q++) for (int r = 0; r < 6 && 6 * q + r < 20; r++) { if (r == 1 || r == 5) a[6 * q + r] = 1; if (r == 2 || r == 4) b[6 * q + r] = 1; }",
		"for (int t = 0; t < 4; t++) for (int i = 0; i < 7; i++) for (int j = 1 + (i + t) % 2; j < 6; j += 2) a[j] = b[i];":   "for (int t = 0; t < 4; t++) for (int q = 0; q < 4; q++) for (int r = 0; r < 2 && 2 * q + r < 7; r++) for (int j = (r == 0 && (t == 0 || t == 2) || r == 1 && (t == 1 || t == 3)) ? 1 : 2; j < 6; j += 2) a[j] = b[2 * q + r];",
		"for (long i = 19; i >= 0; i--) { long p = i % 4, q = i / 4; a[p] = b[q]; }":                                          "for (int q = 4; q >= 0; q--) for (int r = 3; r >= 0; r--) a[r] = b[q];",
		"for (unsigned i = 30; i-- > 3;) a[i % 5u] = b[i];":                                                                   "for (int i = 29; i >= 3; i--) a[i % 5] = b[i];",
		"for (int i = 0; i < 12; i++) inner(m[i % 2], i);":                                                                    "for (int i = 0; i < 6; i++) { for (int j = 0; j < 6; j += 2) m[0][j] = 1; for (int j = 1; j < 6; j += 2) m[1][j] = 1; }",
		"for (int i = 3; i < 40; i += 3) a[i % 4] = b[i];":                                                                    "for (int q = 0; q < 4; q++) for (int r = 0; r < 4 && 12 * q + 3 * r < 37; r++) a[3 - r] = b[3 + 12 * q + 3 * r];",
		"for (int i = 0; i < 40; i += 4) a[i % 2] = b[i % 4 + 1];":                                                            "for (int i = 0; i < 10; i++) a[0] = b[1];",
		"for (int i = 0; i < 9; i++) { double *row = m[i % 2]; for (int j = i; j < 9; j++) row[j % 3] = row[(i + j) % 3]; }":  "for (int i = 0; i < 9; i++) for (int j = i; j < 9; j++) m[i & 1][j - j / 3 * 3] = m[i & 1][(i + j) - (i + j) / 3 * 3];",
		"for (int i = 0; i < 36; i++) a[i / 3 % 4] = b[i / 12];":                                                              "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 3; k++) a[j] = b[i];",
		"for (int i = 5; i < 5; i++) a[i % 7] = 1; for (int i = 0; i < 1; i++) for (int j = i + 3; j < i; j++) a[j % 2] = 1;": "",
		"for (int i = 0; i < 20; i++) { int other = i % 3; a[i] = 1; }":                                                       "for (int i = 0; i < 20; i++) a[i] = 1;",
	} {
		got, err := read(text)
		want, err2 := read(same)
		if err != nil || err2 != nil || walked(got) != walked(want) {
			t.Errorf("%s and %s: %v, %v", text, same, err, err2)
			if err == nil && err2 == nil {
				t.Errorf("%s\n%s", walked(got), walked(want))
			}
		} else if len(got.Statements) > len(strings.Split(text, "= ")) {
			t.Errorf("%s has %d statements", text, len(got.Statements))
		}
	}
	for text, want := range map[string]string{
		"for (int i = 0; i < 40; i++) a[i % 7 + 34] = 1;":                                          "a[i % 7 + 34]: the subscript of a[40] is outside of 0 to 39 where i = 6",
		"for (int i = 30; i >= 0; i -= 2) a[i % 9 + 34] = 1;":                                      "a[i % 9 + 34]: the subscript of a[40] is outside of 0 to 39 where i = 16",
		"for (int k = 0; k < 9; k++) for (int i = k; i < 40; i++) m[i % 7 - 5][0] = 1;":            "m[i % 7 - 5][0]: the first subscript of m[2][40] is outside of 0 to 1 where k = 0, i = 0",
		"for (int i = 0; i < 40; i++) a[i % moves] = 1;":                                           "subscript i % moves depends on data",
		"for (int k = 1; k < 400; k++) for (int i = 0; i < 9; i++) a[i % k] = 1;":                  "i % k: the right side of % is not a constant",
		"for (int i = 0; i < 900; i++) a[7 % (i + 1)] = 1;":                                        "7 % (i + 1): the right side of % is not a constant",
		"for (int i = 0; i < 9; i++) a[i % 0] = 1;":                                                "i % 0: ",
		"for (unsigned i = 0; i < 9; i++) a[(i - 1) % 9] = 1;":                                     "(i - 1) % 9: it would wrap as unsigned int where i = 0",
		"for (int i = 0; i < 60000; i += 20000) a[(i * 60000 + 1) % 2000000000] = 1;":              "i * 60000 + 1: it overflows int where i = 40000",
		"for (int i = 0; i % 5 < 4; i++) a[i] = 1;":                                                "i % 5: % of a variable is not affine",
		"for (int i = 0; i < 900; i++) a[i / -2 + 9] = 1;":                                         "/ of a variable is not affine",
		"for (int i = 0; i < 900; i++) a[i & 2] = 1;":                                              "& of a variable is not affine",
		"for (int i = 0; i < 900; i++) a[i ^ 1] = 1;":                                              "^ of a variable is not affine",
		"for (int i = 0; i < 900; i++) for (int j = i > 3 ? i : 3; j < 999; j += 2) a[j % 5] = 1;": "j % 5: % of a variable is not affine: write the loop over v, say, as for (q = 0; q < N; q += 5) for (r = 0; r < 5 && q + r < N; r++), where v is q + r and v % 5 is r",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
