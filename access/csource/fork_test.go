package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestTurns: pointers that a condition on the loops' variables chooses, or that are swapped in a loop, point where they do in C, and so
// do integers that have one of several values in turn.
func TestTurns(t *testing.T) {
	for text, same := range map[string]string{
		// By a ?:.
		"double *q = i > 1 ? a : b; q[0] = 1; q[i] = 2;":                                                "if (i > 1) { a[0] = 1; a[i] = 2; } else { b[0] = 1; b[i] = 2; }",
		"const double *p = i % 2 ? a : b; double *q = i % 2 == 0 ? a : b; q[i] = p[i + 1];":             "if (i == 1) b[i] = a[i + 1]; else a[i] = b[i + 1];",
		"double *q; q = i & 1 ? a + 3 : m[2]; for (int j = 0; j < 4; j++) *q++ = 1;":                    "for (int j = 0; j < 4; j++) { if (i == 1) a[3 + j] = 1; else m[2][j] = 1; }",
		"(i > 1 ? a : b)[i] = (i > 0 ? b : a)[3];":                                                      "if (i > 1) a[i] = b[3]; else if (i > 0) b[i] = b[3]; else b[i] = a[3];",
		"for (int j = 0; j < 9; j++) *((j % 3 == 1 ? a : b) + j) += 1;":                                 "for (int j = 0; j < 9; j++) { if (j == 1 || j == 4 || j == 7) a[j] += 1; else b[j] += 1; }",
		"for (int j = 0; j < 9; j++) { double *p = j % 3 == 0 ? a : j % 3 == 1 ? b : m[1]; p[i] = 1; }": "for (int j = 0; j < 3; j++) { a[i] = 1; b[i] = 1; m[1][i] = 1; }",
		"fill(i > 1 ? a : b, 3); twice(a, i ? m[1] : b + 2);":                                           "for (int j = 0; j < 3; j++) if (i > 1) a[j] = 1; else b[j] = 1; a[0] = i ? m[1][0] : b[2]; a[1] = i ? m[1][1] : b[3];",
		"for (double *p = i ? a : b, *e = p + 4; p < e; p++) *p = 1;":                                   "for (int j = 0; j < 4; j++) if (i) a[j] = 1; else b[j] = 1;",
		"(i > 0 ? &bodies[i] : bodies)->v[1] = (i > 0 ? m : m + 1)[0][3];":                              "if (i > 0) bodies[i].v[1] = m[0][3]; else bodies[0].v[1] = m[1][3];",
		"double *q = i > 0 ? a : b; if (i > 1) continue; *q = 1;":                                       "if (i == 0) b[0] = 1; if (i == 1) a[0] = 1;",
		"double *q = i > 0 ? a : b; if (i > 0) { q[1] = 1; } else { q[2] = 1; }":                        "if (i > 0) a[1] = 1; else b[2] = 1;",
		"double *q = i >= 0 ? a : given(2) > 1 ? b : a; q[i] = 1;":                                      "a[i] = 1;",
		"double *q = i > 5 ? 0 : b; q[i] = 1;":                                                          "b[i] = 1;",
		// By assignments.
		"double *q = a; q[i] = 1; q = b; q[i] = 2; q = q + 1; q[i] = 3;":                                        "a[i] = 1; b[i] = 2; b[i + 1] = 3;",
		"double *p, *q; if (i % 2) { p = a; q = b; } else { p = b; q = a; } p[i] = q[3];":                       "if (i == 1) a[i] = b[3]; else b[i] = a[3];",
		"double *p; if (i == 0) p = a; else if (i == 1) p = b; else p = m[2]; p[i] = 1; p[0] = 2;":              "if (i == 0) { a[0] = 1; a[0] = 2; } else if (i == 1) { b[1] = 1; b[0] = 2; } else { m[2][2] = 1; m[2][0] = 2; }",
		"double *p = a; if (i > 1) p = b; p[i] = 1; if (i < 1) p = m[3]; for (int j = 0; j < 3; j++) *p++ = 2;": "if (i > 1) { b[2] = 1; b[0] = 2; b[1] = 2; b[2] = 2; } else if (i < 1) { a[0] = 1; m[3][0] = 2; m[3][1] = 2; m[3][2] = 2; } else { a[1] = 1; a[0] = 2; a[1] = 2; a[2] = 2; }",
		// In turn.
		"double *p = a, *q = b, *r; for (int j = 0; j < 5; j++) { *p = q[j]; r = p; p = q; q = r; } p[3] = 1;":                               "for (int j = 0; j < 5; j++) { if (j % 2) b[0] = a[j]; else a[0] = b[j]; } b[3] = 1;",
		"double *p = a, *q = b; for (int j = 0; j < 4; j++) { p[j] = 1; double *r = p; p = q; q = r; q[j] = 2; } p[3] = 1;":                  "for (int j = 0; j < 4; j++) { if (j % 2) { b[j] = 1; b[j] = 2; } else { a[j] = 1; a[j] = 2; } } a[3] = 1;",
		"double *p = a, *q = b, *r = m[1]; for (int j = 0; j < 8; j++) { p[1] = q[2] + r[3]; double *s = p; p = q; q = r; r = s; }":          "for (int j = 0; j < 8; j++) { if (j % 3 == 0) a[1] = b[2] + m[1][3]; else if (j % 3 == 1) b[1] = m[1][2] + a[3]; else m[1][1] = a[2] + b[3]; }",
		"int k = 0; for (int j = 0; j < 7; j++) { m[k][j % 5] = m[1 - k][0]; k = 1 - k; } a[k] = 1;":                                         "for (int j = 0; j < 7; j++) m[j % 2][j % 5] = m[(j + 1) % 2][0]; a[1] = 1;",
		"int k = 0, l = 1; for (int j = 0; j < 7; j++) { m[k][2] = m[l][0]; int n = k; k = l; l = n; }":                                      "for (int j = 0; j < 7; j++) m[j % 2][2] = m[(j + 1) % 2][0];",
		"int k = 0; for (int j = 0; j < 7; j++) { m[k][2] = 1; k ^= 1; } for (int j = 6; j > 0; j -= 2) { m[k][2] = 1; k = !k; }":            "for (int j = 0; j < 7; j++) m[j % 2][2] = 1; for (int j = 0; j < 3; j++) m[(j + 1) % 2][2] = 1;",
		"int k = 1; for (int j = 0; j < 7; j++) { m[k][2] = 1; k = (k + 1) % 3; }":                                                           "for (int j = 0; j < 7; j++) m[(j + 1) % 3][2] = 1;",
		"int k = 0, l = 3; double *p = a, *q = b; for (int j = i; j < 9; j++, l++) { p[l] = m[k][1]; k ^= 1; double *r = p; p = q; q = r; }": "for (int j = 0; j < 9 - i; j++) if (j % 2) b[3 + j] = m[1][1]; else a[3 + j] = m[0][1];",
		"double *p = a, *q = b; for (int l = 0; l < 3; l++) for (int j = 0; j < 5; j++) { p[j] = q[l]; double *r = p; p = q; q = r; }":       "for (int j = 0; j < 15; j++) if (j % 2) b[j % 5] = a[j / 5]; else a[j % 5] = b[j / 5];",
		"double (*p)[5] = m, (*q)[5] = m + 2; for (int j = 0; j < 4; j++) { p[1][j] = **q; double (*r)[5] = p; p = q; q = r; }":              "for (int j = 0; j < 4; j++) if (j % 2) m[3][j] = m[0][0]; else m[1][j] = m[2][0];",
		"double *p = a, *q = b, *r = c1; for (int j = 0; j < 4; j++) { r = p; p = q; q = r; fill(p, 2); } fill(p, 1);":                       "for (int j = 0; j < 4; j++) if (j % 2) { a[0] = 1; a[1] = 1; } else { b[0] = 1; b[1] = 1; } a[0] = 1;",
	} {
		text, same = strings.ReplaceAll(text, "c1", "m[3]"), strings.ReplaceAll(same, "c1", "m[3]")
		sameWalk(t, walkingIn, text, same)
	}
}

// TestTurnsRefused: where data choose, or values do not come again, pointers are refused.
func TestTurnsRefused(t *testing.T) {
	const chosen = "a pointer to one of several is not understood: write the arrays and their subscripts, or one loop for each"
	for text, want := range map[string]string{
		"double *q = words[i] ? a : b; q[0] = 1;":                                                                       "words[i] ? a : b: " + chosen,
		"double *q = unsaid ? a : b; q[0] = 1;":                                                                         chosen,
		"(words[1] > 0 ? a : b)[i] = 1;":                                                                                chosen,
		"double *p = a; for (int j = 0; j < 400; j++) { *p = 1; p = j == 2 ? a : b; }":                                  "points is not known",
		"double *p = a; for (int j = 0; j < 400; j++) { if (j < 2) p = b; *p++ = 1; }":                                  "points is not known",
		"double *p = a, *q = b; for (int j = 0; j < 4; j++) { if (words[j]) { double *r = p; p = q; q = r; } *p = 1; }": "an if on data",
		"double *p = a, *q = b; for (int j = 0; j < 400; j++) { *p = 1; if (j % 2) { double *r = p; p = q; q = r; } }":  "points is not known",
		"double *p = a, *q = b; for (int j = 0; j < i; j++) { double *r = p; p = q; q = r; } *p = 1;":                   "p: the trip count of the loop around it is not affine",
		"double *p = a, *q = b; for (int j = 0; j < 400; j++) { double *r = p; p = q; q = r; *p++ = 1; }":               "points is not known",
		"int k = 1; for (int j = 0; j < 40; j++) { m[k & 1][0] = 1; k = k * 2 + 1; }":                                   "its value is not known here",
		"double *p = a, *q = b; for (int j = 0; j < 41; j++) { p[j] = 1; double *r = p; p = q; q = r; }":                "p[j]: the subscript of a[40] is outside of 0 to 39 where i = 0, j = 40",
		"double *p = i > 1 ? a : b; p[37 + i + i] = 1;":                                                                 "the subscript of a[40] is outside of 0 to 39 where i = 2",
		"double *p = i > 1 ? a : (double *)m; p[20] = 1;":                                                               "the subscript of m[4][5] as double[20] is outside of 0 to 19 where i = 0",
	} {
		_, err := csource.Read("t.c", walkingIn(text), csource.Options{Function: "f"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestApart: what is no affine function of the loops' variables is read one iteration at a time where loops are short, with the walkers
// that such loops change.
func TestApart(t *testing.T) {
	for text, same := range map[string]string{
		"int k = 0; for (int j = 0; j < 5; j++) for (int l = 0; l <= j; l++) b[l] = a[k++]; a[k] = 1;":               "for (int j = 0; j < 5; j++) for (int l = 0; l <= j; l++) b[l] = a[(j == 0 ? 0 : j == 1 ? 1 : j == 2 ? 3 : j == 3 ? 6 : 10) + l]; a[15] = 1;",
		"for (int j = 0; j < 5; j++) for (int l = 0; l <= j; l++) b[l] = a[j * (j + 1) / 2 + l];":                    "for (int j = 0; j < 5; j++) for (int l = 0; l <= j; l++) b[l] = a[(j == 0 ? 0 : j == 1 ? 1 : j == 2 ? 3 : j == 3 ? 6 : 10) + l];",
		"for (int j = 0; j < 4; j++) for (int l = 0; l <= j; l++) b[l] = a[j + l * (7 - l) / 2];":                    "for (int j = 0; j < 4; j++) for (int l = 0; l <= j; l++) b[l] = a[j + (l == 0 ? 0 : l == 1 ? 3 : l == 2 ? 5 : 6)];",
		"double *p = a; for (int j = 4; j > 0; j--) { for (int l = 0; l < j; l++) *p++ = 1; b[j] = 2; } *p = 3;":     "for (int l = 0; l < 4; l++) a[l] = 1; b[4] = 2; for (int l = 4; l < 7; l++) a[l] = 1; b[3] = 2; a[7] = 1; a[8] = 1; b[2] = 2; a[9] = 1; b[1] = 2; a[10] = 3;",
		"int k = 0; for (int j = 0; j < 4; j++) { a[k] = 1; if (j > 1) k++; }":                                       "a[0] = 1; a[0] = 1; a[0] = 1; a[1] = 1;",
		"int k = 1; for (int j = 0; j < 4; j++) { a[k] = 1; k *= 2; } a[k] = 1;":                                     "a[1] = 1; a[2] = 1; a[4] = 1; a[8] = 1; a[16] = 1;",
		"int k = 0; for (int j = 0; j < 4; j++) { a[k] = 1; k += j; } b[k] = 1;":                                     "a[0] = 1; a[0] = 1; a[1] = 1; a[3] = 1; b[6] = 1;",
		"int e = 0; for (int j = 0; j < 3; j++) { a[e] = 1; e = j; } a[e] = 1;":                                      "a[0] = 1; a[0] = 1; a[1] = 1; a[2] = 1;",
		"double *p = a; for (int j = 0; j < 4; j++) { if (j == 2) { continue; } *p++ = 1; } *p = 2;":                 "a[0] = 1; a[1] = 1; a[2] = 1; a[3] = 2;",
		"double *p = a, *q = b; for (int j = 0; j < 4; j++) { double *r = p; p = q; q = r; *p++ = 1; }":              "b[0] = 1; a[0] = 1; b[1] = 1; a[1] = 1;",
		"double *p = a; for (int j = 0; j < 4; j++) { *p = 1; p = j == 2 ? a : b; }":                                 "a[0] = 1; b[0] = 1; b[0] = 1; a[0] = 1;",
		"double *p = a, *q = b; for (int j = 0; j < 4; j++) { *p = 1; if (j % 2) { double *r = p; p = q; q = r; } }": "a[0] = 1; a[0] = 1; b[0] = 1; b[0] = 1;",
		"for (int j = 0; j < 3; j++) for (int l = 0; l < 3; l++) if (j * l < 3) a[j * l + i] = 1;":                   "for (int j = 0; j < 3; j++) for (int l = 0; l < 3; l++) if (!(j == 2 && l == 2)) a[(j == 0 ? 0 : j == 1 ? l : 2 * l) + i] = 1;",
		"int j = 0, k = 0; while (j < 4) { a[k] = 1; k += j; j++; }":                                                 "a[0] = 1; a[0] = 1; a[1] = 1; a[3] = 1;",
		"int k = 3, l = 0; do { a[l] = 1; l += k; } while (k--); a[l] = 1;":                                          "a[0] = 1; a[3] = 1; a[5] = 1; a[6] = 1; a[6] = 1;",
	} {
		sameWalk(t, walkingIn, text, same)
	}
	for text, want := range map[string]string{
		"int k = 0; for (int j = 0; j < 300; j++) { big[k] = 1; k += j % 2; }":                          "it does not change by the same constant in every iteration",
		"for (int j = 0; j < 257; j++) big[j * j / 500] = 1;":                                           "j * j: a product of variables is not affine (for this, loops of at most 256 iterations between constants are read one iteration at a time, and that over j has more)",
		"for (int j = 0; j < 65; j++) for (int k = 0; k < 65; k++) big[j * j / 500 + k * k / 500] = 1;": "the iterations of loops that are read one by one, for tables, pointers to one of several, or products, are too many",
		"for (int j = 0; j < n; j++) a[j * unsaid] = 1;":                                                "unsaid",
		"int k = 0; for (int j = 0; j < 4; j++) { a[k] = 1; k += words[j]; }":                           "k: its value is not known here: words[j]: it depends on data",
		"int k = 0; for (int j = 0; j < 9; j++) for (int l = 0; l <= j; l++) a[k++] = 1;":               "the subscript of a[40] is outside of 0 to 39 where i = 0, j = 8, l = 4",
	} {
		_, err := csource.Read("t.c", walkingIn(text), csource.Options{Function: "f"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		}
	}
}
