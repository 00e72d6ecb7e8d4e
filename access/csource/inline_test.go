package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// called are functions that touch memory.
const called = pointed + `
static inline void axpy(int count, double alpha, const double *x, double *restrict y) { for (int i = 0; i < count; i++) y[i] += alpha * x[i]; }
static double dot(const double x[5], const double *y, unsigned count) { double sum = 0; for (unsigned i = 0; i < count; i++) sum += x[i] * y[i]; return sum; }
void scale(double (*rows)[5], int from, int to) { for (int i = from; i < to; i++) { double *row = rows[i]; axpy(2, row[0], row, row + 2); } }
void whole3(int r, int c, double x[r][c]) { for (int i = 0; i < r; i++) for (int j = 0; j < c; j++) x[i][j] = 0; }
void push(body *one, double by) { one->x += by * one->v[1]; one->in.k++; }
double first(double *x) { return *x; }
void put(double *x, double value) { *x = value; } double put2(double *x, double value, double too) { *x = value + too; return x[1]; }
void clip(double *x, int low, int high) { int e = low + 2; if (e > high) e = high; for (int k = low; k < e; k++) x[k] = k; }
void mine(void) { double own[3]; own[0] = a[0]; }
void mineToo(void) { struct { double x[3]; } own; own.x[0] = a[0]; }
void walk(double *x) { for (int i = 0; i < 3; i++) *x++ = 0; }
void less(double *x, int count) { count--; x[count] = 1; }
void early(double *x, int count) { if (count < 1) return; x[0] = count; }
void inLoop(double *x) { for (int i = 0; i < 3; i++) { if (i > 1) return; x[i] = 1; } }
void onData(double *x) { if (*x > 0) return; x[0] = 1; }
void clipped(double *x, int count) { if (count > 2) count = 2; for (int k = 0; k < count; k++) x[k] = 1; }
double *picked(int i) { return i ? a : b; }
void untouched(const void *x, int count) { count++; }
double later(double *x, int i) { if (i > 1) { x[0] = 1; return x[1]; } x[i] = 2; return x[2]; }
void ping(double *x, int depth); void pong(double *x, int depth) { ping(x, depth - 1); }
void ping(double *x, int depth) { x[0] = 1; if (depth > 0) pong(x, depth); }
void given(double *x, ...) { x[0] = 1; }
void ends(double *x) { if (n > 4) exit(1); x[0] = 1; }
void shaky(volatile double *x, const volatile double y[4], volatile int k) { x[1] = y[2]; }
void take(struct grid by) { a[0] = by.scale; }
int least(int x, int y) { return x < y ? x : y; } double half(double x) { return x / 2; }
`

// TestInlined: the call of a function of the file that uses arrays is its body, with what is passed for its parameters.
func TestInlined(t *testing.T) {
	read := func(text string) (*csource.File, error) {
		return csource.Read("t.c", []byte(called+"void exit(int); void f(int k) {\n#pragma scop\nfor (int i = 0; i < 3; i++) { "+text+" }\n#pragma endscop\n}"), csource.Options{})
	}
	for text, same := range map[string]string{
		"axpy(n, 2.5, a, m[i]);":                                          "for (int j = 0; j < 5; j++) m[i][j] += a[j];",
		"axpy(i, b[9], &a[i], b + 2 * i);":                                "b[9]; for (int j = 0; j < i; j++) b[2 * i + j] += a[i + j];",
		"axpy(least(i, 1), s, m[i], a);":                                  "for (int j = 0; j < (i < 1 ? i : 1); j++) a[j] += m[i][j];",
		"s = dot(m[i], a + 1, 4);":                                        "for (int j = 0; j < 4; j++) s += m[i][j] * a[1 + j];",
		"a[i] = dot(m[i], b, n);":                                         "for (int j = 0; j < 5; j++) s += m[i][j] * b[j]; a[i] = s;",
		"a[i] += dot(m[i], b, 2);":                                        "for (int j = 0; j < 2; j++) s += m[i][j] * b[j]; a[i] += 1;",
		"double d = dot(a, b, i), e = dot(b, a, 1);":                      "for (int j = 0; j < i; j++) s += a[j] * b[j]; s = b[0] * a[0];",
		"axpy(1, dot(a, b, 2), a, b);":                                    "s = a[0] * b[0]; s = a[1] * b[1]; b[0] += a[0];",
		"scale(m + 1, i, 3);":                                             "for (int j = i; j < 3; j++) { m[j + 1][0]; for (int k = 0; k < 2; k++) m[j + 1][2 + k] += m[j + 1][k]; }",
		"whole3(2, 5, m + i); whole3(1, 5, t[i]);":                        "for (int j = 0; j < 2; j++) for (int k = 0; k < 5; k++) m[j + i][k] = 0; for (int k = 0; k < 5; k++) t[i][0][k] = 0;",
		"push(&bodies[i], a[i]); push(bodies + 3, 1); push(pairs[i], 2);": "a[i]; bodies[i].x += bodies[i].v[1]; bodies[i].in.k++; bodies[3].x += bodies[3].v[1]; bodies[3].in.k++; pairs[i][0].x += pairs[i][0].v[1]; pairs[i][0].in.k++;",
		"if (i > 0) put(&m[i][2], first(bodies[i].v)); else put(a, s);":   "if (i > 0) m[i][2] = bodies[i].v[0]; else a[0] = s;",
		"shaky(m[i], a + i, 1);":                                          "m[i][1] = a[i + 2];",
		"a[i] += s = first(b); a[i] *= i > 1 ? first(b) : 2;":             "s = b[0]; a[i] += 1; if (i > 1) b[0]; a[i] *= 1;",
		"a[i] -= (s, first(b));":                                          "b[0]; a[i] -= 1;",
		"clip(a, i, 4); clip(b, i, 3);":                                   "for (int k = i; k < (i + 2 > 4 ? 4 : i + 2); k++) a[k] = 0; for (int k = i; k < (i + 2 > 3 ? 3 : i + 2); k++) b[k] = 0;",
		"early(a, i); early(b, i);":                                       "if (i >= 1) a[0] = 1; if (i >= 1) b[0] = 1;",
		"a[i] = later(b, i); a[1];":                                       "if (i > 1) { b[0] = 1; s = b[1]; } else { b[i] = 2; s = b[2]; } a[i] = s; a[1];",
		"clipped(a, i); clipped(b, 9);":                                   "for (int k = 0; k < (i > 2 ? 2 : i); k++) a[k] = 1; b[0] = 1; b[1] = 1;",
		"untouched(m[i], 2); a[i] = 1; untouched(\"text\", 1);":           "a[i] = 1;",
		"walk(a); less(a, 3); less(m[i], i + 1);":                         "for (int k = 0; k < 3; k++) a[k] = 0; a[2] = 1; m[i][i] = 1;",
		// As arguments, the last one first.
		"axpy(1, b[1] + first(a), a, b);":                                          "s = b[1] + a[0]; b[0] += a[0];",
		"s = least(b[i], first(a)); s = half(first(a)) + least(first(b), 2);":      "a[0]; b[i]; a[0]; b[0];",
		"put2(a, b[i], first(b + 1)); put2(a + 2, first(b), put2(b, a[1], a[2]));": "b[1]; b[i]; a[0] = 1; a[1]; a[2]; a[1]; b[0] = 1; s = b[1]; b[0]; a[2] = 1; s = a[3];",
		"double *p = a, *q = b + 1; a[i] += half(*p++ * first(q++)); *p = *q;":     "a[0]; b[1]; a[i] += 1; a[1] = b[2];",
		// Beside other accesses, in the order of the text.
		"s = 1 + first(a);":                                                     "a[0];",
		"s += first(a) * b[i]; s += b[i] * first(a);":                           "a[0]; b[i]; b[i]; a[0];",
		"a[i] = dot(m[i], b, 2) + b[9] - first(b);":                             "s = m[i][0] * b[0]; s = m[i][1] * b[1]; s = b[9] + b[0]; a[i] = s;",
		"a[i] += b[1] * (first(b) + a[2]);":                                     "b[1]; b[0]; a[2]; a[i] += 1;",
		"s = i > 0 ? b[i] * first(a) : b[7];":                                   "if (i > 0) s = b[i] * a[0]; else b[7];",
		"s = i > 0 && first(a) > 2; s = -first(b);":                             "if (i > 0) a[0]; b[0];",
		"s = (float)b[i] * ((bodies[1].in.k & 3) - 1) * first(a);":              "s = b[i] * bodies[1].in.k * a[0];",
		"double *p = b + i; s = *p++ * first(a); *p = 1;":                       "s = b[i] * a[0]; b[i + 1] = 1;",
		"(void)first(a); s = first(&g.scale); put(&s, 1); put(&g.scale, a[1]);": "a[0]; a[1];",
	} {
		got, err := read(text)
		want, err2 := read(same)
		if err != nil || err2 != nil || walked(got) != walked(want) || walked(got) == "" {
			t.Errorf("%s and %s: %v, %v", text, same, err, err2)
			if err == nil && err2 == nil {
				t.Errorf("%s\n%s", walked(got), walked(want))
			}
		}
	}
	for text, want := range map[string]string{
		"axpy(6, 1, a, m[i]);":                                   "y[i]: the second subscript of m[4][5] is outside of 0 to 4 (a pointer to (double *)m goes through all of it), in the call at t.c:33:31 where i = 0, i = 5",
		"axpy(k, 1, a, b);":                                      "count: its value is not known: it is declared as k: its value is not known",
		"axpy(bodies[0].in.k, 1, a, b);":                         "it is declared as bodies[0].in.k: it depends on data",
		"axpy(1, 1, &a[bodies[0].in.k], b);":                     "&a[bodies[0].in.k]: subscript bodies[0].in.k depends on data",
		"whole3(2, 4, m);":                                       "m: a pointer to double[5] as one to ",
		"put((double *)bodies, 1);":                              "a pointer to struct as one to double is not understood",
		"put(0, 1);":                                             "*x: x is not an array of constant extents but a pointer",
		"s = b[1] > 0 ? first(a) : 2;":                           "first(a): first uses arrays or pointers: after a condition on data only functions of numbers are understood: make the call all of a statement, or all that one assigns, such as t = first(...)",
		"s = -b[i] + first(a);":                                  "whether first(a) comes before what else is read here is not known: declare a variable with its result before",
		"s = b[1] * half(b[2] - (b[3] > first(a)));":             "whether first(a) comes before",
		"s = b[i] * -1.0 + first(a);":                            "whether first(a) comes before",
		"s = b[i] > first(a);":                                   "whether first(a) comes before",
		"s = 0 * b[i] + first(a);":                               "whether first(a) comes before",
		"s = !first(a) + b[1];":                                  "whether first(a) comes before",
		"s = (b[i] > 0) * first(a);":                             "whether first(a) comes before",
		"s = (i > 1 ? b[i] : 0) * first(a);":                     "whether first(a) comes before",
		"s = bodies[1].in.k - (bodies[2].in.k - (int)first(a));": "whether first(a) comes before",
		"s = b[i] > 0 || first(a);":                              "first(a): first uses arrays or pointers: after a condition on data",
		"mine();":                                                "own[3]: an array of a function that is called is not understood: declare it before the functions, or pass it",
		"mineToo();":                                             "own: an array of a function that is called is not understood",
		"double *q = picked(1); q[0] = 1;":                       "picked returns a pointer, which is not understood: write the array and its subscripts in place of the call",
		"scale(m + 2, 1, 3);":                                    "row[0]: the first subscript of m[4][5] is outside of 0 to 3, in the call at t.c:33:31 where i = 0, i = 2",
		"inLoop(a);":                                             "return;: a jump is not understood: only outside of the loops of a function, and of a region that ends before the function does: write what ends a loop into its condition, such as for (j = 0; j < n && j <= i; j++), in the call at ",
		"onData(a);":                                             "*x > 0: an if on data",
		"ping(a, 2);":                                            "ping(x, depth - 1): ping calls itself, which is not understood: write a loop",
		"given(a, 1);":                                           "given has other parameters than the call has arguments",
		"ends(a);":                                               "exit ends the program, which like break is not understood",
		"take(g);":                                               "a parameter of type ",
		"f(1); a[0] = 1;":                                        "f calls itself, which is not understood: write a loop",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", text, err, want)
		}
	}
	many := "void g0(void) { a[0] = 1; }\n"
	for _, n := range []string{"10", "21", "32", "43", "54", "65", "76", "87", "98"} {
		many += "void g" + n[:1] + "(void) { " + strings.Repeat("g"+n[1:]+"(); ", 4) + "}\n"
	}
	_, err := csource.Read("t.c", []byte("double a[2];\n"+many+"void f(void) { g9(); }"), csource.Options{Function: "f"})
	if want := "no more than 16 calls of functions that use arrays are read inside of each other, and 1000 of all"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
