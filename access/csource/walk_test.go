package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// walkingIn is a file of a function that has a body, of which the loop over i is around it.
func walkingIn(text string) []byte {
	return []byte(pointed + `char c[300]; double big[400]; int param(int k) { return k + 1; } double given(double x); int mixed;
static void fill(double *p, int n) { for (int i = 0; i < n; i++) *p++ = 1; }
static void twice(double *p, double *q) { *p++ = *q++; *p = *q; }
static void count(double *p, int n) { while (n > 0) p[--n] = 0; }
static void walk(double *x) { x++; x[0] = 1; }
void f(int unsaid, double *from) { for (int i = 0; i < 3; i++) {
` + text + " } }")
}

// TestWalking: variables that steps change are what they are in C, also behind the loops that change them.
func TestWalking(t *testing.T) {
	for text, same := range map[string]string{
		// Pointers.
		"double *p = a; for (int j = 0; j < 5; j++) s += *p++;":                                                "for (int j = 0; j < 5; j++) a[j];",
		"double *p = a + i, *q = b; for (int j = 0; j < 5; j++) *p++ = *q++; *p = *q;":                         "for (int j = 0; j < 5; j++) a[i + j] = b[j]; a[i + 5] = b[5];",
		"double *p = a + 9; for (int j = 0; j < 5; j++) *--p = p == 0;":                                        "",
		"double *p = a + 9; for (int j = 0; j < 5; j++) { *--p = j; s = *p; }":                                 "for (int j = 0; j < 5; j++) { a[8 - j] = j; a[8 - j]; }",
		"double *p = (double *)m; for (int j = 0; j < 4; j++) { *p = 1; p += 5; }":                             "for (int j = 0; j < 4; j++) m[j][0] = 1;",
		"double *p = a; for (int j = 0; j < 4; j++) { *p = p[1]; p = p + two; *p = 1; }":                       "for (int j = 0; j < 4; j++) { a[2 * j] = a[2 * j + 1]; a[2 * j + 2] = 1; }",
		"double *p = a; p++; p = p + i; p = 2 + p; *p = 1; p -= 2; p--; *p = 2;":                               "a[i + 3] = 1; a[i] = 2;",
		"double *p = a; for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) *p++ = 1;":                     "for (int j = 0; j < 12; j++) a[j] = 1;",
		"double *p = a; for (int j = 0; j < 3; j++) { for (int k = 0; k < 4; k++) *p++ = 1; p += 2; } *p = 2;": "for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) a[6 * j + k] = 1; a[18] = 2;",
		"double *p; for (int j = 0; j < 4; j++) { p = m[j]; for (int k = 0; k < 5; k++) *p++ = 1; }":           "for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++) m[j][k] = 1;",
		"double *p; for (int j = i; j < 4; j++) { p = &m[j][j]; for (int k = j; k < 5; k++) *p++ = 1; }":       "for (int j = i; j < 4; j++) for (int k = j; k < 5; k++) m[j][k] = 1;",
		"for (double *p = a; p < a + 9; p++) *p = 1;":                                                          "for (int j = 0; j < 9; j++) a[j] = 1;",
		"for (double *p = a + i; p != a + 9; ++p) *p = 1;":                                                     "for (int j = i; j < 9; j++) a[j] = 1;",
		"for (double *p = &a[8]; p >= a + i; p -= 3) *p = 1;":                                                  "for (int j = 8; j >= i; j -= 3) a[j] = 1;",
		"for (double *p = a, *e = a + 7; p <= e - 1; p += 2) *p = 1;":                                          "for (int j = 0; j <= 6; j += 2) a[j] = 1;",
		"double *p, *q; for (p = a, q = b + 8; p < a + 9; p++, q--) *p = *q;":                                  "for (int j = 0; j < 9; j++) a[j] = b[8 - j];",
		"double *p = a, *e = p + 9; while (p < e) { *p = 1; p++; } *p = 2;":                                    "for (int j = 0; j < 9; j++) a[j] = 1; a[9] = 2;",
		"double *p = a; for (; p < a + 5; p++) *p = 1; for (; p < a + 9;) *p++ = 2;":                           "for (int j = 0; j < 5; j++) a[j] = 1; for (int j = 5; j < 9; j++) a[j] = 2;",
		"body *p = bodies; for (int j = 0; j < 6; j++, p++) p->v[1] = p->x;":                                   "for (int j = 0; j < 6; j++) bodies[j].v[1] = bodies[j].x;",
		"double (*r)[5] = m; for (int j = 0; j < 4; j++, r++) (*r)[j] = r[0][4];":                              "for (int j = 0; j < 4; j++) m[j][j] = m[j][4];",
		"double *p = bodies[i].v; *p++ = 1; *p++ = 2; *p = 3;":                                                 "bodies[i].v[0] = 1; bodies[i].v[1] = 2; bodies[i].v[2] = 3;",
		"double *p = a, *q = p++, *r; r = ++p; *q = *p = *r;":                                                  "a[0] = a[2] = a[2];",
		"fill(a, 5); fill(b + i, 2); fill(m[1], i);":                                                           "for (int j = 0; j < 5; j++) a[j] = 1; for (int j = 0; j < 2; j++) b[i + j] = 1; for (int j = 0; j < i; j++) m[1][j] = 1;",
		"double *p = a; twice(p, b); twice(++p, m[i]); *p++ = 1; *p = 1;":                                      "a[0] = b[0]; a[1] = b[1]; a[1] = m[i][0]; a[2] = m[i][1]; a[1] = 1; a[2] = 1;",
		"count(a, 4); count(b, i);":                                                                            "for (int j = 3; j >= 0; j--) a[j] = 0; for (int j = i - 1; j >= 0; j--) b[j] = 0;",
		"walk(a); walk(m[i]);":                                                                                 "a[1] = 1; m[i][1] = 1;",
		"double *p = a; for (int j = 0; j < 3; j++) { fill(p, 2); p += 3; }":                                   "for (int j = 0; j < 3; j++) for (int k = 0; k < 2; k++) a[3 * j + k] = 1;",
		"double *p = a + 20; for (int j = 0; j < 8; j++, p -= 2) *p += b[j] * *p;":                             "for (int j = 0; j < 8; j++) a[20 - 2 * j] += b[j] * a[20 - 2 * j];",
		"double *p = &s; *p++ = a[i];":                                                                         "a[i];",
		// Integers that go round, in rings of other forms, also in loops within each other.
		"int k = 0; if (k++ < 2) a[k] = 1; if (--k) a[9] = 1; else a[k] = 2;":                                                                       "a[1] = 1; a[0] = 2;",
		"int k = 0; for (int j = 0; j < 30; j++) { a[k] = j; k = k == 19 ? 0 : k + 1; } a[k] = 1;":                                                  "for (int j = 0; j < 30; j++) a[j % 20] = j; a[10] = 1;",
		"int k = 7; for (int j = 0; j < 40; j++) { if (--k < 0) k += 15; a[k] = j; } a[k] = 1;":                                                     "for (int j = 0; j < 40; j++) a[(6 - j + 45) % 15] = j; a[12] = 1;",
		"unsigned k = 1; for (int j = 0; j < 50; j++) { a[k] = j; k = k % 17 + 1; }":                                                                "for (int j = 0; j < 50; j++) a[j % 17 + 1] = j;",
		"int k = 2; for (int j = 0; j < 40; j++) { k += 3; if (k >= 16) k -= 16; a[k] = j; }":                                                       "for (int j = 0; j < 40; j++) a[(5 + 3 * j) % 16] = j;",
		"int k = 0; for (int j = 0; j < 4; j++) for (int l = 0; l < 13; l++) { a[k] = j; if (++k == 20) k = 0; }":                                   "for (int j = 0; j < 4; j++) for (int l = 0; l < 13; l++) a[(13 * j + l) % 20] = j;",
		"int k = 0; for (int j = 0; j < 30; j++) { int l = k; for (int t = 0; t < 5; t++) { b[t] = a[l]; l = l ? l - 1 : 15; } k = (k + 1) % 16; }": "for (int j = 0; j < 30; j++) for (int t = 0; t < 5; t++) b[t] = a[(j - t + 16) % 16];",
		"int k = 0; while (k < 3) { k++; } for (int j = 0; j < 30; j += 2) { a[k] = j; k = k < 15 ? k + 1 : 0; }":                                   "for (int j = 0; j < 15; j++) a[(3 + j) % 16] = j;",
		// Integers.
		"int k = 0; for (int j = 0; j < 5; j++) a[k++] = b[j];":                                          "for (int j = 0; j < 5; j++) a[j] = b[j];",
		"int k = 3; for (int j = 0; j < 3; j++) for (int l = 0; l < 4; l++) a[k++] = m[j][l]; a[k] = 1;": "for (int j = 0; j < 3; j++) for (int l = 0; l < 4; l++) a[3 + 4 * j + l] = m[j][l]; a[15] = 1;",
		"unsigned k = 9; for (int j = 0; j < 9; j++) a[--k] = b[k + 1] * 0;":                             "",
		"unsigned k = 9; for (int j = 0; j < 9; j++) { a[--k] = 1; b[k]; }":                              "for (int j = 8; j >= 0; j--) { a[j] = 1; b[j]; }",
		"int k = i, l; l = k++; a[k] = b[l]; l += k; a[l] = 1; k += k; a[k] = 2;":                        "a[i + 1] = b[i]; a[2 * i + 1] = 1; a[2 * i + 2] = 2;",
		"int k = 0; for (int j = 0; j < 8; j += 2) b[k++] = a[j] + a[j + 1]; b[k] = 0;":                  "for (int j = 0; j < 4; j++) b[j] = a[2 * j] + a[2 * j + 1]; b[4] = 0;",
		"int k = 0; for (int j = 7; j > 1; j -= 3) { b[k] = a[j]; k = k + 1; }":                          "for (int j = 0; j < 2; j++) b[j] = a[7 - 3 * j];",
		"int k = 0; for (unsigned j = 8; j-- > 0;) b[k++] = a[j]; b[k] = 1;":                             "for (int j = 0; j < 8; j++) b[j] = a[7 - j]; b[8] = 1;",
		"short k = 0; unsigned char l = 250; for (int j = 0; j < 5; j++) a[k++] = c[l++];":               "for (int j = 0; j < 5; j++) a[j] = c[250 + j];",
		"unsigned char l = 255; l++; a[l] = 1; l -= 1; c[l] = 2;":                                        "a[0] = 1; c[255] = 2;",
		"int k = 0; for (int j = 0; j < 4; j++, k += 2) a[k] = a[k + 1]; int l = k; a[l] = 1;":           "for (int j = 0; j < 4; j++) a[2 * j] = a[2 * j + 1]; a[8] = 1;",
		"int k = 0, l = 9; for (int j = 0; j < 4; j++) { a[k] = b[l]; k += 2, l -= k - k + 1; }":         "for (int j = 0; j < 4; j++) a[2 * j] = b[9 - j];",
		"int k = 5; for (int j = 0; j < 4; j++) { k = j; a[k++] = 1; a[k] = 2; }":                        "for (int j = 0; j < 4; j++) { a[j] = 1; a[j + 1] = 2; }",
		"int k = 0; for (int j = 0; j < 4; j++) { if (j > 1) a[k] = 1; else b[k] = 2; k++; }":            "for (int j = 0; j < 4; j++) { if (j > 1) a[j] = 1; else b[j] = 2; }",
		"int k = 0; for (int j = 0; j < 4; j++, k++) { if (j == 2) continue; a[k] = 1; }":                "for (int j = 0; j < 4; j++) if (j != 2) a[j] = 1;",
		"int k = 0; for (int j = 0; j < 4; j++) { if (i > 0) k++; else k += 1; a[k] = 1; }":              "for (int j = 0; j < 4; j++) a[j + 1] = 1;",
		"int k = 0; if (i > 0) k += 3; for (int j = 0; j < 4; j++) a[k++] = 1;":                          "for (int j = 0; j < 4; j++) a[(i > 0 ? 3 : 0) + j] = 1;",
		"int k = 0; for (int j = i; j < 4; j++) k += 2; a[k] = 1;":                                       "a[8 - 2 * i] = 1;",
		"int k = 0; for (int j = i; j < 2; j++) k += 2; a[k] = 1;":                                       "a[i > 2 ? 0 : 4 - 2 * i] = 1;",
		"int k = 0; for (int j = i * 2; j < 2; j++) k++; a[k] = 1;":                                      "a[i >= 1 ? 0 : 2 - 2 * i] = 1;",
		"int k = 0; for (int j = 0; j < (i < 1 ? 3 : 5); j++) k++; a[k] = 1;":                            "a[i < 1 ? 3 : 5] = 1;",
		"int k = 1; a[i] = k++ > 0 ? b[0] : b[1]; a[k] = k > 1 && i > 0 ? b[2] : b[3];":                  "a[i] = b[0]; a[2] = i > 0 ? b[2] : b[3];",
		"int k = 0; for (int j = 0; j < 6; j++) { s = k > 3 ? a[0] : b[0]; k++; }":                       "for (int j = 0; j < 6; j++) s = j > 3 ? a[0] : b[0];",
		"int e = i; e++; if (e > 2) e = 2; a[e] = 1;":                                                    "a[i + 1 > 2 ? 2 : i + 1] = 1;",
		"int k = 2; { int k = 7; a[k++] = 1; a[k] = 1; } a[k++] = 1; a[param(k)] = 1;":                   "a[7] = 1; a[8] = 1; a[2] = 1; a[4] = 1;",
		"int k = 0; for (int j = 0; j < 3; j++) { int l = k; k += 4; for (; l < k; l++) a[l] = 1; }":     "for (int j = 0; j < 12; j++) a[j] = 1;",
		// Several variables, and while.
		"int j, k; for (j = 0, k = 8; j < 9; j++, k--) a[j] = b[k]; ":                      "for (int j = 0; j < 9; j++) a[j] = b[8 - j];",
		"for (int j = 0, k = 8; j < k; j++, k--) a[j] = b[k];":                             "for (int j = 0; j < 4; j++) a[j] = b[8 - j];",
		"for (int j = 0, k = i; k < 7; j += 4, k += 2) a[j] = b[k];":                       "for (int k = i; k < 7; k += 2) a[2 * k - 2 * i] = b[k];",
		"for (int k = 1, j = k + 1; j > -4; j -= 2, k++) a[k] = 1;":                        "for (int j = 0; j < 3; j++) a[j + 1] = 1;",
		"int n2 = 9; for (int j = 0; j < n2; j++) { a[j] = 1; n2--; } a[n2] = 2;":          "for (int j = 0; j < 5; j++) a[j] = 1; a[4] = 2;",
		"int j = 0; while (j < 5) { a[j] = 1; j++; } b[j] = 1;":                            "for (int j = 0; j < 5; j++) a[j] = 1; b[5] = 1;",
		"int j = 9; while (j >= i) { a[j] = 1; j -= 2; }":                                  "for (int j = 9; j >= i; j -= 2) a[j] = 1;",
		"unsigned long j = 0; while (j + 1 < 6) { a[j + 1] = a[j]; j += 1; }":              "for (int j = 0; j < 5; j++) a[j + 1] = a[j];",
		"int j = 0; while (j < 9u) { a[j] = 1; j += 4; if (j > 100) continue; }":           "for (int j = 0; j < 9; j += 4) a[j] = 1;",
		"int j = 0, k = 20; while (j <= k && j != 9) { a[j++] = b[k--]; }":                 "for (int j = 0; j < 9; j++) a[j] = b[20 - j];",
		"int j = 0; while (j < 4) { int k = 0; while (k < 5) { m[j][k] = 1; k++; } j++; }": "for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++) m[j][k] = 1;",
		"int j = 5; while (j < 5) { a[j] = 1; j++; } while (j) { b[j] = 1; j--; }":         "for (int j = 5; j > 0; j--) b[j] = 1;",
		"int j = i, k = 0; while (j < 2) { k += 3; j++; } a[k] = j == 2 ? b[0] : b[1];":    "a[i > 2 ? 0 : 6 - 3 * i] = b[0];",
		// Conditions that change variables, and do.
		"int k = 9; while (k--) a[k] = 1; a[k + 1] = 2;":                                                            "for (int j = 8; j >= 0; j--) a[j] = 1; a[0] = 2;",
		"int k = 9; while (k-- > 0) a[k] = 1; a[k + 2] = 2;":                                                        "for (int j = 8; j >= 0; j--) a[j] = 1; a[1] = 2;",
		"int k = 9; while (--k) a[k] = 1; a[k] = 2;":                                                                "for (int j = 8; j >= 0; j--) a[j] = 1;",
		"int k = 9; while (--k >= 2) { if (k == 5) continue; a[k] = 1; } a[k] = 2;":                                 "for (int j = 8; j >= 2; j--) if (j != 5) a[j] = 1; a[1] = 2;",
		"int k = 9 - i; for (; k--; ) a[k] = 1;":                                                                    "for (int j = 8 - i; j >= 0; j--) a[j] = 1;",
		"int k = i; while (k--) a[k] = 1; b[k + 1] = 2;":                                                            "for (int j = i - 1; j >= 0; j--) a[j] = 1; b[0] = 2;",
		"int k = 0; while (k++ < 5) a[k] = 1; a[k] = 2;":                                                            "for (int j = 1; j <= 6; j++) a[j] = 1;",
		"int k = 0; while (k++ != 5) a[k] = b[i]; a[k] = 2;":                                                        "for (int j = 1; j <= 5; j++) a[j] = b[i]; a[6] = 2;",
		"int k = 0; for (int j = 0; k++ < 4; j++) a[j] = b[k];":                                                     "for (int j = 0; j < 4; j++) a[j] = b[j + 1];",
		"double *p = a; unsigned k = 9; while (k--) *p++ = b[k];":                                                   "for (int j = 0; j < 9; j++) a[j] = b[8 - j];",
		"unsigned long k = 9; double *p = a + i; while (k-- > 0) { *p = 1; p += 2; } *p = 2;":                       "for (int j = 0; j < 9; j++) a[i + 2 * j] = 1; a[18 + i] = 2;",
		"double *p = a + 9; while (p-- > a + i) *p = 1;":                                                            "for (int j = 8; j >= i; j--) a[j] = 1;",
		"int k = 9; do { a[k] = 1; } while (--k); a[k] = 2;":                                                        "for (int j = 9; j >= 0; j--) a[j] = 1;",
		"int k = 9; do { a[k] = 1; } while (k--); a[k + 2] = 2;":                                                    "for (int j = 9; j >= 0; j--) a[j] = 1; a[1] = 2;",
		"int k = 9; do { a[k] = 1; } while (k-- > 4); a[k] = 2;":                                                    "for (int j = 9; j >= 3; j--) a[j] = 1;",
		"int k = 0; do { a[k] = 1; k++; } while (k < 5); a[k] = 2;":                                                 "for (int j = 0; j <= 5; j++) a[j] = 1;",
		"int k = i; do { if (k == 1) continue; a[k] = 1; } while (++k < 4); a[k] = 2;":                              "for (int j = i; j < 4; j++) if (j != 1) a[j] = 1; a[4] = 2;",
		"int k = 5; do { k--; a[k] = 1; } while (k > 0);":                                                           "for (int j = 4; j >= 0; j--) a[j] = 1;",
		"double *p = a; do *p++ = 1; while (p < a + 7 + i); *p = 1;":                                                "for (int j = 0; j < 8 + i; j++) a[j] = 1;",
		"int k = 3; do { int l = 4; do { m[k][l] = 1; } while (l--); } while (k--);":                                "for (int k = 3; k >= 0; k--) for (int l = 4; l >= 0; l--) m[k][l] = 1;",
		"double *p = a, *q = b; int k = 5; while (k--) { *p = q[k]; double *r = p; p = q; q = r; }":                 "for (int k = 4; k >= 0; k--) if (k % 2) b[0] = a[k]; else a[0] = b[k];",
		"double *p = a, *q = b; int k = 0; do { *p = q[k]; double *r = p; p = q; q = r; } while (++k < 5); *p = 1;": "for (int k = 0; k < 5; k++) if (k % 2) b[0] = a[k]; else a[0] = b[k]; b[0] = 1;",
		// How far pointers are from each other.
		"for (double *p = a; p - a < 9; p++) b[p - a] = *p;":                                                     "for (int j = 0; j < 9; j++) b[j] = a[j];",
		"double *p = a + i, *e = a + 9; long k = e - p; for (int j = 0; j < k; j++) p[j] = 1; b[e - p - 1] = 2;": "for (int j = i; j < 9; j++) a[j] = 1; b[8 - i] = 2;",
		"for (double *p = a; p < a + 9; p++) if (p > a && p != &a[4]) *p = p[-1];":                               "for (int j = 1; j < 9; j++) if (j != 4) a[j] = a[j - 1];",
		"for (double *p = a + 1; p <= &a[8]; p += 2) m[(p - a) - (int)(p - a)][2] = *p;":                         "for (int j = 0; j < 4; j++) m[0][2] = a[2 * j + 1];",
		"double (*r)[5] = m + i; b[r - m] = (*r)[&m[i][3] - m[i]];":                                              "b[i] = m[i][3];",
		// What is no subscript may change as it likes.
		"unsigned h = 5; for (int j = 0; j < 9; j++) { h = h * 31 + j; h += 0x9e3779b9; h ^= 1; a[j] = h; }": "for (int j = 0; j < 9; j++) a[j] = 1;",
		"int k = 0; for (int j = 0; j < 9; j++) { k += words[j]; k++; } s = k;":                              "for (int j = 0; j < 9; j++) words[j];",
		"int k = 0; for (int j = 0; j < 9; j++) a[j] = words[j] > 0 ? k++ : 0;":                              "for (int j = 0; j < 9; j++) a[j] = words[j] > 0 ? 1 : 0;",
		"unsigned k = 0; for (int j = 0; j < 9; j++) { k += 0x80000000; } s = k;":                            "",
	} {
		if same != "" {
			sameWalk(t, walkingIn, text, same)
			continue
		}
		got, err := csource.Read("t.c", walkingIn(text), csource.Options{Function: "f"})
		if strings.Contains(text, "0x8") {
			if err != nil || walked(got) != "" {
				t.Errorf("%s: %v", text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "it changes and is used, or changes again, in one expression") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// sameWalk demands of two texts that they make the same accesses, and some.
func sameWalk(t *testing.T, in func(text string) []byte, text, same string) {
	t.Helper()
	got, err := csource.Read("t.c", in(text), csource.Options{Function: "f"})
	want, err2 := csource.Read("t.c", in(same), csource.Options{Function: "f"})
	if err != nil || err2 != nil {
		t.Errorf("%s: %v, %v", text, err, err2)
	} else if walked(got) != walked(want) || walked(got) == "" {
		t.Errorf("%s does %s, and %s does %s", text, walked(got), same, walked(want))
	}
}

// TestWalkingRefused: what steps do not change by the same in every iteration, or may change otherwise, is refused where it matters.
func TestWalkingRefused(t *testing.T) {
	for text, want := range map[string]string{
		// Not the same in every iteration.
		"int k = 0; for (int j = 0; j < 400; j++) { a[k] = 1; if (j > 1) k++; }":                           "a[k]: subscript k depends on data (k: its value is not known here: k: it does not change by the same constant in every iteration of the loop",
		"double *p = a; for (int j = 0; j < 400; j++) { *p = 1; if (j > 1) p++; }":                         "*p: where p points is not known: p: it does not change by the same constant in every iteration of the loop: write the array and its subscripts",
		"int k = 0; for (int j = 0; j < 400; j++) { if (j == 2) continue; a[k++] = 1; }":                   "it does not change by the same constant in every iteration",
		"double *p = a; for (int j = 0; j < 400; j++) { if (j == 2) { continue; } *p++ = 1; }":             "it does not change by the same constant in every iteration",
		"int k = 0; for (int j = 0; j < 400; j++) { a[k] = 1; k += j; }":                                   "it does not change by the same constant in every iteration",
		"int k = 1; for (int j = 0; j < 400; j++) { a[k] = 1; k *= 2; }":                                   "k *= 2: its new value is not understood",
		"int k = 1; for (int j = 0; j < 400; j++) { a[k] = 1; k += k; }":                                   "it does not change by the same constant in every iteration",
		"int k = 0; for (int j = 0; j < 4; j++) k += j > 9 ? 7 : 1; a[k] = 1;":                             "it does not change by the same constant in every iteration",
		"int k = 0; for (int j = 0; j < 400; j++) for (int l = 0; l < j; l++) a[k++] = 1;":                 "it does not change by the same constant in every iteration",
		"double *p = a; for (int j = 0; j < 400; j++) for (int l = j; l < 4; l++) *p++ = 1;":               "it does not change by the same constant in every iteration",
		"int k = 0, l = 0; for (int j = 0; j < 400; j++) { for (int q = 0; q < l; q++) a[k++] = 1; l++; }": "it does not change by the same constant in every iteration",
		"int k = 0, l = 1; for (int j = 0; j < 400; j++) { a[k] = 1; k += l; l = 3 - l; }":                 "it does not change by the same constant in every iteration",
		"int k = 0; for (int j = 0; j < 400; j++) { a[k] = 1; k = j; k++; }":                               "k: it changes in each iteration of a loop",
		"int k = 0; for (int j = 0; j < 4; j++) { k = j; k++; } a[k] = 1;":                                 "k: it changes in each iteration of a loop",
		"double *p = a; for (int j = 0; j < 400; j++) { if (j < 2) p = b; *p++ = 1; }":                     "points is not known: p: after a condition it points to one of several",
		"int k = 0; for (int j = i; j < 9; j += 2) a[k++] = 1;":                                            "k: it does not change in step with the loop's variable",
		"int k = 0; for (int j = i; j < 9; j += 2) k += 2; a[k] = 1;":                                      "k: the trip count of the loop around it is not affine",
		"int k = 1; for (int j = 0; j < 9; j += k) { a[j] = 1; k++; }":                                     "j: its value is not known here: j: it does not change by the same constant in every iteration",
		"int k = 1; for (int j = 0, l = 1; j < 9; j += k, l++) { a[l] = 1; k++; }":                         "j: its value is not known here: j: it does not change by the same constant in every iteration",
		"int k = 1; for (int j = 0; j < 9; j += k, k++) a[j] = 1;":                                         "j: its value is not known here: j: it does not change by the same constant in every iteration",
		// By data.
		"int k = 0; for (int j = 0; j < words[j]; j++) a[k++] = 1;":                        "words[j]: it depends on data",
		"int k = 0; for (int j = 0; j < 4; j++) { a[k] = 1; k += words[j]; }":              "k: its value is not known here: words[j]: it depends on data",
		"int k = 0; for (int j = 0; j < 4; j++) { if (words[j] > 0) a[k++] = 1; }":         "words[j] > 0: an if on data",
		"int k = 0; for (int j = 0; j < 4; j++) { s = words[j] > 0 ? k++ : 0; a[k] = 1; }": "k: its value is not known here: k++: it changes within an expression only where a condition holds: make the change a statement",
		"int k = 0; s = words[0] && k++; a[k] = 1;":                                        "k++: it changes within an expression only where a condition holds",
		"double *p = a; s = words[0] ? *p++ : 0;":                                          "p++: it changes within an expression only where a condition holds",
		"double *p = a; p += words[i]; *p = 1;":                                            "p += words[i]: p changes by words[i], which is not known (words[i]: it depends on data): write the array and its subscripts",
		"double *p = a; for (int j = 0; j < 4; j++) p += unsaid; ":                         "p += unsaid: p changes by unsaid, which is not known",
		"double *p = from; for (int j = 0; j < 4; j++) *p++ = 1;":                          "from: from is not an array of constant extents but a pointer",
		"for (int j = 0; j < 4; j++) *from++ = 1;":                                         "from",
		// In one expression.
		"int k = 0; a[k++] = b[k];":            "b[k]: subscript k depends on data (k: its value is not known here: k++: it changes and is used, or changes again, in one expression",
		"int k = 0; a[k] = k++; a[k] = 1;":     "k++: it changes and is used, or changes again, in one expression",
		"int k = 0; a[k++] = b[k++];":          "it changes and is used, or changes again, in one expression",
		"double *p = a; *p++ = *p;":            "p++: it changes and is used, or changes again, in one expression: make them statements, one after the other",
		"double *p = a; s = *p++ + *p++;":      "p++: it changes and is used, or changes again, in one expression",
		"int k = 0; k = k++; a[k] = 1;":        "it changes and is used, or changes again",
		"int k = 0; given(k++ + k); a[k] = 1;": "it changes and is used, or changes again",
		"int k = 0; s = (k++, k); a[k] = 1;":   "it changes and is used, or changes again",
		// Changed from elsewhere, or of which there is no telling.
		"int k = 0, *at = &k; a[k++] = 1; *at = 5; a[k] = 2;":             "k++: it is not a value of the loops' variables",
		"double *p = a, **at = &p; *p++ = 1;":                             "a pointer to a pointer is not understood",
		"static int k = 0; a[k++] = 1;":                                   "k++: it is not a value of the loops' variables",
		"volatile int k = 0; a[k++] = 1;":                                 "k++: it is not a value of the loops' variables",
		"static double *p = a; *p++ = 1;":                                 "p++: a pointer that changes is not understood",
		"a[mixed++] = 1;":                                                 "mixed++: it is not a value of the loops' variables",
		"int k = 9; while (k-- && words[k]) a[k] = 1;":                    "k--: it changes and is used, or changes again",
		"int k = 9; while (k-- + k > 3) a[0] = 1; a[k] = 1;":              "it changes and is used, or changes again",
		"int k = 9, l = 3; while (l > 0 && k--) l--; a[k] = 1;":           "it changes within an expression only where a condition holds",
		"int k = 9; while (k -= words[1]) a[k] = 1;":                      "words[1]: it depends on data",
		"int k = -1; while (k--) a[0] = 1;":                               "the loop begins beyond the end that != names",
		"unsigned k = 9; while (k--) a[k] = 1; big[k] = 1;":               "big[k]: the subscript of big[400] is outside of 0 to 399",
		"int k = 0; do { a[k] = 1; k++; } while (k < i);":                 "do ... while (...): its condition does not hold before the first iteration, which a do makes all the same: write a for with affine bounds where i = 0",
		"int k = 0; do { a[k] = 1; k++; } while (k);":                     "its condition does not hold before the first iteration",
		"int k = 5; do { k--; a[k] = 1; } while (k < 5 && k > 0);":        "its condition does not hold before the first iteration",
		"int k = 0; do { a[k++] = 1; } while (words[k]);":                 "words[k]",
		"int k = 0; do { if (k == 3) break; a[k++] = 1; } while (k < 9);": "a jump is not understood",
		"double *p = a; b[p - b] = 1;":                                    "p - b: pointers that are not to the same array, by the same subscript, are subtracted: write the subscripts",
		"double *p = m[1]; b[p - m[0]] = 1;":                              "are subtracted",
		"double *p = from; b[p - from] = 1;":                              "from",
		"double *p = a; while (*p) p++;":                                  "*p: want comparisons by < <= > >= != in the condition of a loop, and && between them, of a while whose iterations are to be counted",
		"int k; a[k++] = 1;":                                              "k++: its value is not known here: k: it has no value yet",
		"int k = 1; switch (i) { case 0: k++; } a[k] = 1;":                "a switch is not understood",
		"int k = 0; int v[2] = {k++, k++}; a[k] = 1;":                     "the initial value of an array is not understood here",
		// Types.
		"unsigned char k = 254; for (int j = 0; j < 4; j++) a[k++] = 1;":                     "k++: it would wrap as unsigned char where i = 0, j = 2",
		"unsigned k = 3; for (int j = 0; j < 5; j++) big[k-- + 10] = 1;":                     "k--: it would wrap as unsigned int where i = 0, j = 4",
		"unsigned k = 3; for (int j = 0; j < 5; j++) { big[k + 10] = 1; k--; }":              "k: it would wrap as unsigned int where i = 0, j = 4",
		"unsigned char k = 0; while (k < 256) { big[k] = 1; k++; }":                          "k: it would wrap as unsigned char where i = 0, iteration of k = 256",
		"unsigned k = 5; while (k >= 0) { big[k] = 1; k--; }":                                "k: it would wrap as unsigned int",
		"int k = 5; while (k < 7u) { big[k + 5] = 1; k -= 2; }":                              "the condition does not end the loop in the direction of its step",
		"int k = -2; while (k < 7u) { big[k + 5] = 1; k += 2; }":                             "wrap as",
		"int k = 2147483647; k++; big[k] = 1;":                                               "2147483648 overflows int",
		"int k = 2147483600; for (int j = 0; j < 60; j++) { big[k - 2147483600] = 1; k++; }": "k: it overflows int where i = 0, j = 48",
		"unsigned k = 0; k--; big[k] = 1;":                                                   "the subscript of big[400] is outside of 0 to 399",
		// Bounds, and ends.
		"double *p = a; for (int j = 0; j < 41; j++) *p++ = 1;":                                                                    "*p++: the subscript of a[40] is outside of 0 to 39 where i = 0, j = 40",
		"double *p = m[0]; for (int j = 0; j < 6; j++) *p++ = 1;":                                                                  "*p++: the second subscript of m[4][5] is outside of 0 to 4 (a pointer to (double *)m goes through all of it) where i = 0, j = 5",
		"for (double *p = a; p <= a + 40; p++) *p = 1;":                                                                            "*p: the subscript of a[40] is outside of 0 to 39 where i = 0, iteration of p = 40",
		"int k = 0; for (int j = 1; j < 90; j += 2) a[k++] = 1;":                                                                   "a[k++]: the subscript of a[40] is outside of 0 to 39 where i = 0, iteration of j = 40",
		"for (double *p = a; p != a + 9; p += 2) *p = 1;":                                                                          "for (...): a bound that is a fraction of a variable is not affine",
		"for (double *p = a; p < b; p++) *p = 1;":                                                                                  "p < b: pointers that are not to the same array, by the same subscript, are compared: write for (i = 0; i < n; i++)",
		"for (double *p = m[0]; p < m[1]; p++) *p = 1;":                                                                            "pointers that are not to the same array, by the same subscript, are compared",
		"for (double *p = a; p < a + 9; p--) *p = 1;":                                                                              "the condition does not end the loop in the direction of its step",
		"for (double *p = a; p < a + 9; p += 0) *p = 1;":                                                                           "the condition does not end the loop in the direction of its step",
		"int k = 0; while (k < 9) { a[k] = 1; if (k < 5) k++; }":                                                                   "k: its value is not known here",
		"int k = 0; while (k < 9) { if (i > 0) continue; a[k++] = 1; }":                                                            "k: its value is not known here",
		"int k = 25; for (int j = 0; j < 30; j++) { a[k] = 1; k = k == 19 ? 0 : k + 1; }":                                          "is outside of 0 to 39 where i = 0, j = 15",
		"for (int j = 0; j < 30; j++) { int k = j; for (int l = 0; l < 30; l++) { a[k] = 1; k = k >= 19 ? 0 : k + 1; } }":          "k: it has too many cases",
		"signed char k = 0; for (int j = 0; j < 300; j++) { b[0] = k; a[k & 7] = 1; k = (signed char)(k + 1) == -1 ? 0 : k + 1; }": "k",
		"int k = 0; while (k < 9) { if (k == 5) break; a[k++] = 1; }":                                                              "a jump is not understood: write what ends the loop into its condition",
		"int k = 0; while (k < 9) { a[k++] = 1; a[k++] = 2; k -= words[i]; }":                                                      "k: its value is not known here: words[i]: it depends on data",
		"for (int j = 0, k = 9; j < k; j++, k = words[j]) a[j] = 1;":                                                               "k: ",
		"for (int j = 0; j < 5; j++, j++) a[j] = 1;":                                                                               "",
	} {
		_, err := csource.Read("t.c", walkingIn(text), csource.Options{Function: "f"})
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestWalkingIntoRegions: in a region a variable begins with its initial value only where nothing in front can have changed it.
func TestWalkingIntoRegions(t *testing.T) {
	for text, read := range map[string]bool{
		"int k = 2;\n#pragma scop\nfor (int i = 0; i < 3; i++) a[k++] = 1;\n#pragma endscop\n":                                       true,
		"double *p = a + 2;\n#pragma scop\nfor (int i = 0; i < 3; i++) *p++ = 1;\n#pragma endscop\nfree(p);":                         true,
		"int k = 1; k = 2;\n#pragma scop\nfor (int i = 0; i < 3; i++) a[k++] = 1;\n#pragma endscop\n":                                false,
		"int k = 2; if (n) k = 3;\n#pragma scop\nfor (int i = 0; i < 3; i++) a[k++] = 1;\n#pragma endscop\n":                         false,
		"double *p = a + 2; p++;\n#pragma scop\nfor (int i = 0; i < 3; i++) *p++ = 1;\n#pragma endscop\n":                            false,
		"int k = 2; for (int t = 0; t < 2; t++) {\n#pragma scop\nfor (int i = 0; i < 3; i++) a[k++] = 1;\n#pragma endscop\n}":        false,
		"int k = 2; again: n--;\n#pragma scop\nfor (int i = 0; i < 3; i++) a[k++] = 1;\n#pragma endscop\nif (n) goto again;":         false,
		"int k = 7; for (int t = 0; t < 2; t++) {\n#pragma scop\nk = 2; for (int i = 0; i < 3; i++) a[k++] = 1;\n#pragma endscop\n}": true,
	} {
		f, err := csource.Read("t.c", []byte("double a[9]; void free(void *);\nvoid f(int n) { "+text+" }"), csource.Options{})
		if (err == nil) != read || read && walked(f) != "wa16 wa24 wa32" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestWalkingChosen: steps go on through loops that are read as two for a remainder and past jumps, and are refused where these, or a
// table for which a loop is unrolled, make them other than by one constant. What asks for no value of theirs is read as without them.
func TestWalkingChosen(t *testing.T) {
	in := func(text string) []byte {
		return []byte("double a[400], b[400]; static const int dx[4] = {0, 3, -1, 5}; int s;\nvoid f(void) { " + text + " }")
	}
	for text, same := range map[string]string{
		"int k = 0; for (int i = 0; i < 30; i++) a[k++] = b[i % 4]; a[k] = 1;":                                                                   "for (int i = 0; i < 30; i++) a[i] = b[i % 4]; a[30] = 1;",
		"double *p = a + 90; for (int i = 29; i >= 0; i--) { *--p = b[i % 4]; p -= 2; } *p = 1;":                                                 "for (int i = 0; i < 30; i++) a[89 - 3 * i] = b[(29 - i) % 4]; a[0] = 1;",
		"int k = 5; for (int i = 0; i < 30; i += 3, k += 6) { if (i % 4 == 1) continue; a[k] = b[i % 4]; }":                                      "for (int i = 0; i < 30; i += 3) if (i % 4 != 1) a[5 + 2 * i] = b[i % 4];",
		"int k = 0; for (int i = 0; i < 30; i++) a[k++] = b[(i + 1) % 30];":                                                                      "for (int i = 0; i < 30; i++) a[i] = b[(i + 1) % 30];",
		"int k = 0; for (int i = 0; i < 9; i++) { if (i < 4) { k += 2; continue; } k++; a[++k] = 1; } a[k] = 2;":                                 "for (int i = 4; i < 9; i++) a[2 * i + 2] = 1; a[18] = 2;",
		"int k = 0; for (int i = 0; i < 9; i++) { if (i < 4) { k++; if (i > 2) { k++; continue; } k++; } else { k += 2; continue; } a[k] = 1; }": "for (int i = 0; i < 3; i++) a[2 * i + 2] = 1;",
		"int k = 2; k++; a[dx[k]] = b[dx[k - 2]];":                                                                                               "a[dx[3]] = b[dx[1]];",
		"int k = 0; for (int i = 1; i < 9; i++) { for (int j = 0; j < 4; j++) a[i + dx[j]] = 1; b[k++] = 2; }":                                   "for (int i = 1; i < 9; i++) { for (int j = 0; j < 4; j++) a[i + dx[j]] = 1; b[i - 1] = 2; }",
		"for (int j = 0; j < 4; j++) { int k = 1; for (int i = 0; i < 3; i++) a[k++ + dx[j]] = 1; a[k] = 2; }":                                   "for (int j = 0; j < 4; j++) { for (int i = 0; i < 3; i++) a[i + 1 + dx[j]] = 1; a[4] = 2; }",
		"int x = dx[2]; int k = x + 1; k++; a[k] = 1;":                                                                                           "int x = dx[2]; a[x + 2] = 1;",
		"int k = 7; k++; a[k % 3] = b[k / 3];":                                                                                                   "a[2] = b[2];",
		// Remainders of what steps change.
		"int k = 0; for (int j = 0; j < 300; j++) { a[k % 4] = 1; k++; }":                                                      "for (int j = 0; j < 300; j++) a[j % 4] = 1;",
		"int k = 0; for (int j = 0; j < 300; j++) a[k++ % 4] = b[j / 2];":                                                      "for (int j = 0; j < 300; j++) a[j % 4] = b[j / 2];",
		"int k = 0; while (k < 300) { a[k % 4] = b[k / 8]; k += 2; }":                                                          "for (int j = 0; j < 300; j += 2) a[j % 4] = b[j / 8];",
		"unsigned k = 300; while (k-- > 0) a[k & 7] = b[k >> 1];":                                                              "for (int j = 299; j >= 0; j--) a[j % 8] = b[j / 2];",
		"double *p = b + 40; for (int j = 0; j < 300; j++, p++) { if ((p - b) % 5 == 1) a[(p - b) / 9] = *p; }":                "for (int j = 0; j < 300; j++) if ((j + 40) % 5 == 1) a[(j + 40) / 9] = b[j + 40];",
		"int k = 7; for (int i = 0; i < 20; i++) { for (int j = 0; j < 15; j++) a[k++ % 6] = 1; b[k % 4] = 2; } a[k % 9] = 1;": "for (int i = 0; i < 20; i++) { for (int j = 0; j < 15; j++) a[(7 + 15 * i + j) % 6] = 1; b[(15 * i + 22) % 4] = 2; } a[1] = 1;",
		// Nothing asks for what count is.
		"int count = 0; for (int j = 0; j < 4; j++) { count++; a[1 + dx[j]] = 1; }":                                "for (int j = 0; j < 4; j++) a[1 + dx[j]] = 1;",
		"unsigned h = 1; for (int j = 0; j < 40; j++) { h = h * 31 + 1; if (j % 2) continue; h++; a[j % 5] = 1; }": "for (int j = 0; j < 40; j++) if (j % 2 == 0) a[j % 5] = 1;",
	} {
		sameWalk(t, in, text, same)
	}
	for text, want := range map[string]string{
		"int k = 0; for (int j = 0; j < 300; j++) a[1 + dx[k++]] = 1;":                       "dx[k++]: ",
		"int k = 0; for (int j = 0; j < 300; j++) { a[1 + dx[k]] = 1; k++; }":                "dx[k]: ",
		"int k = 0; for (int j = 0; j < 30; j += 3) a[k++] = b[j % 4];":                      "k: it does not change by a multiple of the step of the loop, which is read as two for a remainder in it",
		"int k = 0; for (int j = 0; j < 300; j++) { if (j % 4 == 1) continue; a[k++] = 1; }": "k: it does not change by the same constant in every iteration",
		"int k = 0; for (int j = 0; j < 300; j++) { k += j % 2; a[k] = 1; }":                 "k: it does not change by the same constant in every iteration",
		"int k = 0; for (int j = 0; j < 30; j++) { k = j % 4; a[k] = 1; k++; } a[k] = 1;":    "k: it changes in each iteration of a loop",
		"int k = 0, l = 0; for (int j = 0; j < 300; j++) { l += k % 3; a[l] = 1; k++; }":     "l: it does not change by the same constant in every iteration",
		"int k = 0, l = 0; for (int j = 0; j < 300; j++) { if (k % 3) l++; a[l] = 1; k++; }": "l: it does not change by the same constant in every iteration",
		"int k = 0; for (int j = 0; j < 300; j++) { a[k] = 1; k = 3 * k % 7 + 1; }":          "k: it changes in each iteration",
		"int k = dx[1]; k++; a[k] = 1;":                                                      "k: its value is not known here: dx[1]: the value of a constant array is known in subscripts",
		"double *p = a; p += dx[1]; *p = 1;":                                                 "p changes by dx[1], which is not known",
		"double *p = a; for (int j = 0; j < 4; j++) a[dx[1] + j] = *p++;":                    "whether its subscripts are read before the right side, which changes a variable, is not known: declare variables with them in front",
		"int k = 0; while (k < 9) { if (k == 4) continue; k++; a[k] = 1; }":                  "k: it does not change by the same constant in every iteration",
	} {
		_, err := csource.Read("t.c", in(text), csource.Options{Function: "f"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		}
	}
}
