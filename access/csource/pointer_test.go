package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// pointed are the arrays that TestPointers has.
const pointed = `double a[40], b[40], m[4][5], t[3][4][5]; const double w[9]; int n = 5; const int two = 2; unsigned char bytes[9]; int words[9];
typedef struct { double x, v[3]; struct { int k; float f[2]; } in; } body; body bodies[6], pairs[3][2]; struct grid { double x[8], scale; body in[2]; } g;
double *const whole = a, *aimed; static double *tail = &a[30]; double s; void *malloc(unsigned long);
`

// TestPointers: what a pointer that does not change points to is accessed as by the array and its subscripts.
func TestPointers(t *testing.T) {
	read := func(text string) (*csource.File, error) {
		return csource.Read("t.c", []byte(pointed+"void f(void) { double *const front = m[2] + 1; for (int i = 0; i < 3; i++) { "+text+" } }"), csource.Options{Function: "f"})
	}
	for text, same := range map[string]string{
		// Aliases of all kinds.
		"double *row = m[i]; for (int j = 0; j < 5; j++) row[j] = row[4 - j];":                                         "for (int j = 0; j < 5; j++) m[i][j] = m[i][4 - j];",
		"const double *restrict q = &a[i*n]; for (int j = 0; j < n; j++) b[j] = q[j];":                                 "for (int j = 0; j < n; j++) b[j] = a[i*n+j];",
		"double *q = a + i*n + 1; q[0] = q[2] + *(q + i);":                                                             "a[i*n+1] = a[i*n+3] + a[i*n+1+i];",
		"double *q = a; q[i] += *q;":                                                                                   "a[i] += a[0];",
		"double (*q)[5] = m + 1; q[i][2] = (*q)[i] + q[-1][i] + *(*(q + i) + 3);":                                      "m[i+1][2] = m[1][i] + m[0][i] + m[i+1][3];",
		"double *q = &m[i][1]; q[i] = q[-1];":                                                                          "m[i][1+i] = m[i][0];",
		"body *q = &bodies[i]; q->x = (*q).v[1] + q[1].x + q->in.f[1] + (q + 2)->v[2];":                                "bodies[i].x = bodies[i].v[1] + bodies[i+1].x + bodies[i].in.f[1] + bodies[i+2].v[2];",
		"double *x = bodies[i].v; for (int j = 0; j < 3; j++) x[j] = 1;":                                               "for (int j = 0; j < 3; j++) bodies[i].v[j] = 1;",
		"double *p = m[i], *q = p + 3, *r = q - 2; *r = *q;":                                                           "m[i][1] = m[i][3];",
		"double *p = m[i], *q = &p[2]; q[-1] = q[1 - i];":                                                              "m[i][1] = m[i][3-i];",
		"double *q = (double *)w + i; s += *q; const int *k = (const int *)words; k[i];":                               "s += w[i]; words[i];",
		"unsigned *q = (unsigned *)words; q[i] = q[2 * i];":                                                            "words[i] = words[2 * i];",
		"double *q = &bodies[i].x; *q = q[0];":                                                                         "bodies[i].x = bodies[i].x;",
		"double *q = &bodies[i].v[2]; q[-i] = 1; int *k = &(bodies + i)->in.k; k[0]++;":                                "bodies[i].v[2-i] = 1; bodies[i].in.k++;",
		"double (*q)[4][5] = &t[i]; (*q)[1][2] = q[0][3][i];":                                                          "t[i][1][2] = t[i][3][i];",
		"double (*q)[5] = t[i]; q[3][i] = **q + *q[2] + 1[q][1];":                                                      "t[i][3][i] = t[i][0][0] + t[i][2][0] + t[i][1][1];",
		"body (*q)[2] = &pairs[i]; (*q)[1].x = (*q)->x + q[0][1].v[i];":                                                "pairs[i][1].x = pairs[i][0].x + pairs[i][1].v[i];",
		"whole[i] = tail[-i] + front[i] + *front;":                                                                     "a[i] = a[30-i] + m[2][i+1] + m[2][1];",
		"double *one = a - 1; one[i + 1] = 0;":                                                                         "a[i] = 0;",
		"double *q = i > 1 ? &a[3] : &a[3]; s = *q;":                                                                   "a[3];",
		"double *q = two > 1 ? a : b, *r = 0 ? a : b; q[i] = *r;":                                                      "a[i] = b[0];",
		"double *q = __builtin_assume_aligned(a, 64), *r = (double *)__builtin_assume_aligned(m[i], 32); q[i] = r[1];": "a[i] = m[i][1];",
		"double *unused = &m[3][4]; static double *const q = b + 2; q[i] = 1;":                                         "b[i + 2] = 1;",
		"int e = i + 4; double *q = a + e; if (e > 5) e = 5; q[e] = 1;":                                                "a[i + 4 + (i + 4 > 5 ? 5 : i + 4)] = 1;",
		"double *q = &a[i > 1 ? 7 : i]; q[i] = 1;":                                                                     "a[(i > 1 ? 7 : i) + i] = 1;",
		"if (i > 0) { double *q = &a[i - 1]; *q = 1; } else { double *q = &b[0]; *q = 2; }":                            "if (i > 0) a[i - 1] = 1; else b[0] = 2;",
		"for (int j = i; j < (i < 1 ? 3 : 4); j++) { double *q = &m[j][i]; *q += 1; }":                                 "for (int j = i; j < (i < 1 ? 3 : 4); j++) m[j][i] += 1;",
		"double *q = &a[i]; if (i == 1) continue; q[1] = 2;":                                                           "if (i == 1) continue; a[i + 1] = 2;",
		"size_t d = 3; double *q = a + d; q[i + d] = 1;":                                                               "a[i + 6] = 1;",
		"double *q = a + 9; for (unsigned j = 1; j < 4; j++) q[j - 1] = q[-3 + i];":                                    "for (unsigned j = 1; j < 4; j++) a[8 + j] = a[6 + i];",
		"double *p = 0, *h = malloc(9 * sizeof(double)); a[i] = 1;":                                                    "a[i] = 1;",
		// Given their value later, once.
		"double *q; q = m[i]; q[0] = *(q + i);":                                                                     "m[i][0] = m[i][i];",
		"double *q, *r; q = a + i; r = q + 2; r[-1] = *q;":                                                          "a[i + 1] = a[i];",
		"double *q; for (int j = 0; j < 3; j++) { q = &m[j][i]; for (int k = 0; k < 2; k++) q[k] = q[0]; }":         "for (int j = 0; j < 3; j++) for (int k = 0; k < 2; k++) m[j][i + k] = m[j][i];",
		"double *q; { q = b; } q[i] = 1;":                                                                           "b[i] = 1;",
		"double *q, *r; for (int j = i; j < (i < 1 ? 3 : 4); j++) { q = m[j]; if (j > 1) { r = q + i; *r = *q; } }": "for (int j = i; j < (i < 1 ? 3 : 4); j++) if (j > 1) m[j][i] = m[j][0];",
		// Changed by steps.
		"double *q = a; q++; *q = 1; q += 2; *q++ = *b; *q = 2;": "a[1] = 1; a[3] = b[0]; a[4] = 2;",
		// As arrays of other extents.
		"double *q = (double *)m; q[6 * i] = q[i + 5];":                                                         "m[i][i] = m[1][i];",
		"double *q = (double *)(m + 1); q[5 + i] = q[i - 5];":                                                   "m[2][i] = m[0][i];",
		"double *q = (double *)t[i]; for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++) q[5 * j + k] = 1;": "for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++) t[i][j][k] = 1;",
		"double (*q)[8] = (double (*)[8])a; q[i + 1][2 * i] = q[4][7];":                                         "a[8 * i + 8 + 2 * i] = a[39];",
		"double (*q)[2][5] = (double (*)[2][5])(a + 10); q[i][1][i] = **q[-1];":                                 "a[10 + 10 * i + 5 + i] = a[0];",
		"double (*q)[20] = (double (*)[20])t; q[i][3] = ((double *)&m)[4 - i];":                                 "t[i][0][3] = m[0][4 - i];",
		// Uses of arrays as pointers.
		"*a = *(a + i) + *(i + a) + *(*(m + i) + 3) + **m + *m[i] + (a + i)[2] + (*m)[i];":        "a[0] = a[i] + a[i] + m[i][3] + m[0][0] + m[i][0] + a[i+2] + m[0][i];",
		"(&bodies[i])->x = bodies->x + (&a[2])[i] + *&a[3] + (*(&m))[i][1] + (*&bodies[i]).v[1];": "bodies[i].x = bodies[0].x + a[2+i] + a[3] + m[i][1] + bodies[i].v[1];",
		"*(bodies[i].v + 1) = *bodies->in.f; s = sizeof *m;":                                      "bodies[i].v[1] = bodies[0].in.f[0];",
		"*a += 1; ++*(a + 1); (*m)[2]--; *b = *a = 2;":                                            "a[0] += 1; ++a[1]; m[0][2]--; b[0] = a[0] = 2;",
		// A struct that is a variable, of which numbers are in registers.
		"struct grid *q = &g; q->x[i] = q->scale * (*q).in[1].v[i] + q->in->x;":        "g.x[i] = g.scale * g.in[1].v[i] + g.in[0].x;",
		"double *q = &g.scale; a[i] = *q; double *sum = &s; *sum += b[i]; sum[0] = 1;": "a[i] = g.scale; s += b[i];",
		"double *q = g.x + 1; q[i] = 2;":                                               "g.x[i + 1] = 2;",
	} {
		got, err := read(text)
		want, err2 := read(same)
		switch {
		case err != nil || err2 != nil:
			t.Errorf("%s: %v, %v", text, err, err2)
		case walked(got) != walked(want) || walked(got) == "":
			t.Errorf("%s does %s, and %s does %s", text, walked(got), same, walked(want))
		}
	}
}

// TestPointersRefused: pointers that are not understood are refused with what to write, as are accesses out of the extent of
// the subscript that a pointer moves.
func TestPointersRefused(t *testing.T) {
	const changes = "a pointer that changes is not understood: declare one with its value where it is used, such as double *row = m[i], or write the array and its subscripts"
	const unknown = "which does not say how much it points to: write double "
	for text, want := range map[string]string{
		// Out of its extent.
		"double *q = &m[i][1]; q[4] = 1;":                                               "t.c:8:23: q[4]: the second subscript of m[4][5] is outside of 0 to 4 (a pointer to (double *)m goes through all of it) where i = 0",
		"double *q = m[i + 2]; q[0] = 1;":                                               "q[0]: the first subscript of m[4][5] is outside of 0 to 3 where i = 2",
		"double *q = m[0]; q[2 * i + 1] = 1;":                                           "q[2 * i + 1]: the second subscript of m[4][5] is outside of 0 to 4 (a pointer to (double *)m goes through all of it) where i = 2",
		"double *q = (double *)m; q[8 * i + 5] = 1;":                                    "q[8 * i + 5]: the subscript of m[4][5] as double[20] is outside of 0 to 19 where i = 2",
		"double (*q)[7] = (double (*)[7])a; q[i + 3][6] = 1;":                           "q[i + 3][6]: the first subscript of a[40] as double[5][7] is outside of 0 to 4 where i = 2",
		"double (*q)[8] = (double (*)[8])(a + 3); q[i][0] = 1;":                         "a pointer to double as one to array of 8 double is not understood",
		"double *q = (double *)(m + i); q[0] = 1;":                                      "a pointer to double[5] as one to double is not understood",
		"double (*q)[1L << 40][1L << 40] = (double (*)[1L << 40][1L << 40])a; s = 1;":   "a pointer to double as one to array of",
		"double *q = &a[i]; q[-1] = 1;":                                                 "the subscript of a[40] is outside of 0 to 39 where i = 0",
		"double *q = a + 39; q[i] = 1;":                                                 "the subscript of a[40] is outside of 0 to 39 where i = 1",
		"double *q = &bodies[i].x; q[i] = 1;":                                           "q[i]: it lies outside the object that the pointer points to, which is not an array element where i = 1",
		"double *q = bodies[i].v; q[i + 1] = 1;":                                        "the second subscript of bodies[6].v[3] is outside of 0 to 2 where i = 2",
		"body *q = &bodies[5]; q[i].x = 1;":                                             "q[i].x: the subscript of bodies[6].x is outside of 0 to 5 where i = 1",
		"double *q = &g.scale; q[i] = 1;":                                               "q[i]: it lies outside the array that the pointer points into where i = 1",
		"struct grid *q = &g; q[1].x[0] = 1;":                                           "q[1].x[0]: it lies outside the object that the pointer points to",
		"double (*q)[5] = &m[3]; q[1][0] = 1;":                                          "the first subscript of m[4][5] is outside of 0 to 3",
		"double (*q)[40] = &a; q[1][0] = 1;":                                            "it lies outside the object that the pointer points to",
		"double *q = a + 9; for (unsigned j = 0; j < 4; j++) q[j - 1] = 1;":             "j - 1: it would wrap as unsigned int where i = 0, j = 0",
		"for (unsigned j = 0; j < 4; j++) { double *q = &a[j - 1]; q[1] = 1; }":         "j - 1: it would wrap as unsigned int where i = 0, j = 0",
		"for (unsigned j = 0; j < 4; j++) { double *q = a + (j - 1) + 1; *q = 1; }":     "j - 1: it would wrap as unsigned int where i = 0, j = 0",
		"for (unsigned j = 0; j < 4; j++) { double *q = a + i + (j - 1) + 1; *q = 1; }": "j - 1: it would wrap as unsigned int where i = 0, j = 0",
		// Pointers that change.
		"static double *q = a; q = b; *q = 1;":                                      "q = b: " + changes,
		"double *q; if (i > 0) q = a; q[0] = 1;":                                    "q = a: " + changes,
		"double *q; for (int j = 0; j < 3; j++) { if (j > 0) q[0] = 1; q = m[j]; }": "q[0]: q is not an array of constant extents but a pointer",
		"double *q; for (int j = 0; j < 3; j++) { q = m[j]; } q[0] = 1;":            "q[0]: where q points is not known: it is given *q: it is given its value in a block that has ended",
		"double *q; if (i > 0) { q = a; s = *q; } q[0] = 1;":                        "q[0]: where q points is not known: it is given *q: it is given its value in a block that has ended",
		"aimed = m[i]; aimed[0] = 1;":                                               "aimed = m[i]: " + changes,
		"static double *q; s = *q; q = m[i];":                                       "q is not an array of constant extents but a pointer",
		"moved[i] = 1;":                                                             "moved[i]: where moved points is not known: it is given *moved = a: " + changes,
		"twice[i] = 1;":                                                             "twice is not an array of constant extents but a pointer, " + unknown + "twice[N]",
		"double *q = a, **to = &q; q[0] = 1;":                                       "&q: a pointer to a pointer is not understood",
		"double *q = a; given(&q); q[0] = 1;":                                       "given(&q): given gets an array or a pointer",
		"double *q = words[i] > 1 ? a : b; q[0] = 1;":                               "words[i] > 1 ? a : b: a pointer to one of several is not understood: write the arrays and their subscripts, or one loop for each",
		// Where they point is not said.
		"double *q = malloc(80); q[i] = 1;":   "q[i]: q is not an array of constant extents but a pointer, " + unknown + "q[N]",
		"param[i] = 1;":                       "param is not an array of constant extents but a pointer, " + unknown + "param[N]",
		"double *q = param + i; q[i] = 1;":    "param + i: param is not an array of constant extents but a pointer, " + unknown + "param[N]",
		"*param = 1;":                         "*param: param is not an array of constant extents but a pointer, " + unknown + "param[N]",
		"rows[i][0] = 1;":                     "rows is not an array of constant extents but a pointer, " + unknown + "rows[N][M]",
		"linked->x = 1;":                      "linked->x: linked is not an array of constant extents but a pointer, which does not say how much it points to: write body linked[N]",
		"double *q = list[i]; q[0] = 1;":      "an array of pointer to double is not understood",
		"double *q = holder[i].to; q[0] = 1;": "holder[i].to: holder[3].to has too many subscripts, or is a pointer, which is not understood",
		// On data.
		"double *q = &a[words[i]]; q[0] = 1;":           "t.c:8:13: &a[words[i]]: subscript words[i] depends on data (words[i]: it depends on data)",
		"double *q = a + words[i];":                     "a + words[i]: subscript words[i] depends on data",
		"double *q = &a[k]; q[0] = 1;":                  "subscript k depends on data (k: its value is not known",
		"before[0] = 1;":                                "before[0]: where before points is not known: it is given &a[k]: subscript k depends on data",
		"a[*words] = 1;":                                "subscript *words depends on data (*words: it depends on data)",
		"if (*a > 1) b[0] = 1;":                         "*a > 1: an if on data",
		"for (int j = 0; j < bodies->x; j++) b[j] = 1;": "bodies->x: it depends on data",
		// Of another type.
		"float *q = (float *)a; q[i] = 1;":      "(float *)a: a pointer to double as one to float is not understood: declare the array with the type that is used, or write it and its subscripts",
		"float *q = (float *)m; q[i] = 1;":      "(float *)m: a pointer to double[5] as one to float is not understood",
		"double *q = m; q[i] = 1;":              "m: a pointer to double[5] as one to double is not understood",
		"double (*q)[4] = m; q[i][0] = 1;":      "a pointer to double[5] as one to array of 4 double is not understood",
		"void *q = a; double *p = q; *p = 1;":   "a pointer to double as one to void is not understood",
		"double *q = (double *)bodies; *q = 1;": "a pointer to struct as one to double is not understood",
		"char *q = (char *)&bodies[i]; *q = 1;": "a pointer to struct as one to char is not understood",
		"((float *)a)[0] = 1;":                  "a pointer to double as one to float is not understood",
		// As values.
		"double *q = a; if (q == b) b[0] = 1;": "an if on data: q: it is not an integer",
		"given(&a[1]);":                        "given(&a[1]): given gets an array or a pointer, and its body is not in the file: define it there, and it is read in place of the call",
		"given(a);":                            "given(a): given gets an array or a pointer, and its body is not in the file",
		"s = 1 + taken(m[i]);":                 "taken(m[i]): taken gets an array or a pointer, and its body is not in the file",
		"taken(a[90]);":                        "a[90]: the subscript of a[",
		"bodies[0] = *bodies;":                 "*bodies: a whole struct is not understood: write its fields one by one",
		"body *q = bodies; s = q->v;":          "q->v: it is of type array of 3 double, and no number",
		"double (*q)[5] = m; q[0] = 1;":        "q[0]: 1 of the 2 subscripts of m (a pointer) is not understood: write them all where it is used",
		"s = a[1] > 0 ? 1 : using();":          "using uses arrays or pointers",
		"s = a[1] > 0 && passing();":           "passing uses arrays or pointers",
	} {
		_, err := csource.Read("t.c", []byte(pointed+`struct { double *to; } holder[3]; double *list[3], *moved = a, *twice, *before; void given(); double taken();
void change(void) { moved++; twice = b; } double *twice = a; double using(void) { return *whole; } double passing(void) { given(whole); return 1; } void f(double *param, double **rows, body *linked, int k) { double *before = &a[k]; 
#pragma scop
for (int i = 0; i < 3; i++) {
`+text+" }\n#pragma endscop\n}"), csource.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestParametersThatChange: an array that is a parameter is a pointer, which may change in front of the region.
func TestParametersThatChange(t *testing.T) {
	for before, refused := range map[string]bool{"": false, "a += 2;": true, "a++;": true, "double **to = &a;": true, "a = b;": true, "a[1] = *a;": false, "double *q = &a[1];": false} {
		_, err := csource.Read("t.c", []byte("void f(double a[9], double b[9]) { "+before+"\n#pragma scop\na[3] = 1;\n#pragma endscop\n}"), csource.Options{})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "a[9]: a parameter that is an array and changes, as any pointer may, is not understood") {
			t.Errorf("%s: %v", before, err)
		}
	}
	_, err := csource.Read("t.c", []byte("void f(double a[9]) { double (*q)[9] = &a; (*q)[3] = 1; }"), csource.Options{Function: "f"})
	if err == nil {
		t.Error("the address of a parameter is read")
	}
}

// TestPointersOfExtents: pointers to rows have the extents that values give.
func TestPointersOfExtents(t *testing.T) {
	const text = "void f(int n, double a[n][n], double *p) { double (*q)[n] = a + 1; double *row = q[1]; double *at = &a[n - 1][n - 1]; at[-2] = row[n - 2] + (*q)[0] + a[0][0]; }"
	f, err := csource.Read("t.c", []byte(text), csource.Options{Function: "f", Defines: []string{"n=6"}})
	if want := "ra128 ra48 ra0 wa264"; err != nil || walked(f) != want {
		t.Fatalf("%v, want %s", err, want)
	}
}
