package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestJumps: what continue and return lead out of is left there, wherever they stand, and nothing else.
func TestJumps(t *testing.T) {
	const declared = "double a[4], b[4], c[4], m[4][4]; int on;\n"
	read := func(body string) (*csource.File, error) {
		return csource.Read("t.c", []byte(declared+"static int at(double *x, int i, int j) {\n"+body+"\n}\nvoid f(void) { int i, j; for (i = 0; i < 4; i++) for (j = 0; j < 3; j++) at(m[i], i, j); }"), csource.Options{Function: "f"})
	}
	for body, same := range map[string]string{
		"if (i > j) return 0; else x[j] = 1; x[3] = 2;":                                                                                  "if (i <= j) { x[j] = 1; x[3] = 2; }",
		"if (i > j) x[j] = 1; else return 0; x[3] = 2;":                                                                                  "if (i > j) { x[j] = 1; x[3] = 2; }",
		"if (i > j) return x[0]; else return x[1]; x[9] = 2;":                                                                            "if (i > j) x[0]; else x[1];",
		"if (i == 0) return 0; else if (i == 1) { a[j] = 1; return 1; } x[3] = 2;":                                                       "if (i == 1) a[j] = 1; else if (i) x[3] = 2;",
		"if (i == 0) ; else if (i == 1) { a[j] = 1; return 1; } else a[2]; x[3] = 2;":                                                    "if (i == 1) a[j] = 1; else { if (i) a[2]; x[3] = 2; }",
		"if (i) { if (j) return 0; a[i] = 1; } x[3] = 2; b[j] = 1;":                                                                      "if (i) { if (!j) a[i] = 1; } if (!(i && j)) { x[3] = 2; b[j] = 1; }",
		"{ { if (i > 1) { a[0] = 1; return 1; } } a[1] = 1; } a[2] = 1;":                                                                 "if (i > 1) a[0] = 1; else { a[1] = 1; a[2] = 1; }",
		"if (i) { if (j == 1) return 0; a[i]; } else { if (j == 2) return 1; b[j]; } if (i + j > 3) return 2; c[0] = 1;":                 "if (i && j != 1) a[i]; if (!i && j != 2) b[j]; if ((i ? j != 1 : j != 2) && i + j <= 3) c[0] = 1;",
		"if (i) { if (j > 1) { a[j] = 1; if (i > 2) return 0; b[j] = 1; } a[i] = 1; } x[3] = 2;":                                         "if (i && j > 1) { a[j] = 1; if (i <= 2) b[j] = 1; } if (i && !(j > 1 && i > 2)) a[i] = 1; if (!(i && j > 1 && i > 2)) x[3] = 2;",
		"int e = i; if (e > 2) { e = 2; } if (e < j) return 0; e = e + 1; if (e) { if (j) return 1; } x[e] = 1;":                         "if ((i > 2 ? 2 : i) >= j) if (!j) x[(i > 2 ? 2 : i) + 1] = 1;",
		"int e = 0; if (i) { e = 1; if (j) return 0; } x[e] = 1;":                                                                        "if (!(i && j)) x[i ? 1 : 0] = 1;",
		"a[i] = 1; return 0; x[99] = on;":                                                                                                "a[i] = 1;",
		"{ return a[i]; } b[0] = 1;":                                                                                                     "a[i];",
		"if (i) { double *q; q = a + i; if (j) return *q; q[0] = 1; } b[0] = 1;":                                                         "if (i) { if (j) a[i]; else a[i] = 1; } if (!(i && j)) b[0] = 1;",
		"for (int k = 0; k < 3; k++) { if (k < j) { if (i) continue; a[k]; } else if (k > 1) continue; b[k] = 1; } c[j] = 1;":            "for (int k = 0; k < 3; k++) { if (k < j && !i) a[k]; if (k < j ? !i : k <= 1) b[k] = 1; } c[j] = 1;",
		"for (int k = 0; k < 3; k++) if (k == j) continue; else x[k] = 1;":                                                               "for (int k = 0; k < 3; k++) if (k != j) x[k] = 1;",
		"for (int k = 0; k < 3; k++) { if (i) { continue; } for (int l = 0; l < 3; l++) { { if (l == k) continue; } a[l] = 1; } b[k]; }": "for (int k = 0; k < 3; k++) if (!i) { for (int l = 0; l < 3; l++) if (l != k) a[l] = 1; b[k]; }",
		"for (int k = 0; k < 3; k++) { x[k] = 1; continue; x[99] = on; }":                                                                "for (int k = 0; k < 3; k++) x[k] = 1;",
	} {
		got, err := read(body)
		want, err2 := read(same)
		if err != nil || err2 != nil || walked(got) != walked(want) || walked(got) == "" {
			t.Errorf("%s and %s: %v, %v", body, same, err, err2)
			if err == nil && err2 == nil {
				t.Errorf("%s\n%s", walked(got), walked(want))
			}
		}
	}
	const away = "a jump is not understood"
	for body, want := range map[string]string{
		"if (x[0] > 0) return 0; else a[0] = 1;":                                                                                "x[0] > 0: an if on data",
		"if (i) { if (on) return 0; } a[0] = 1;":                                                                                "on: an if on data",
		"for (int k = 0; k < 3; k++) { if (k == 1) return 0; x[k]; }":                                                           "return 0;: " + away + ": only outside of the loops of a function",
		"for (int k = 0; k < 3; k++) { if (k == 1) { break; } x[k]; }":                                                          "break;: " + away + ": write what ends the loop into its condition",
		"do { if (i) return 0; a[0] = 1; } while (0);":                                                                          "return 0;: " + away,
		"for (int k = 0; k < 3; k++) do { continue; } while (0);":                                                               "continue;: " + away + ": only continue in the body of a for, and not in a do",
		"if (i) { if (j) goto out; a[0] = 1; } out: ;":                                                                          "goto out;: " + away,
		"if (i) { if (j) return 0; } x[4] = 1;":                                                                                 "x[4]: the second subscript of m[4][4] is outside of 0 to 3",
		"if (i) { if (j) return 0; x[3 + i] = 1; } x[3] = 1;":                                                                   "x[3 + i]: the second subscript of m[4][4] is outside of 0 to 3 ",
		"if (i > 2" + strings.Repeat(" || i > 1", 8) + ") { if (j > 2" + strings.Repeat(" || j > 1", 8) + ") return 0; } c[0];": "c[0];: where it is reached after jumps is not known: it has too many cases",
	} {
		if _, err := read(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	// In a region, return leads out of the function only where the region ends with it.
	for body, want := range map[string]string{
		"#pragma scop\nif (on + 1 - on < 2) ; a[0] = 1;\n#pragma endscop\n":                                               "an if on data",
		"#pragma scop\nfor (int i = 0; i < 2; i++) { if (i) { if (i) continue; } a[i] = 1; }\n#pragma endscop\na[1] = 2;": "",
		"#pragma scop\n{ if (1) return; a[0] = 1; }\n#pragma endscop\na[1] = 2;":                                          away,
		"for (int i = 0; i < 2; i++) {\n#pragma scop\nif (1) continue; a[0] = 1;\n#pragma endscop\n}":                     away,
	} {
		_, err := csource.Read("t.c", []byte(declared+"void f(void) {\n"+body+"}"), csource.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
