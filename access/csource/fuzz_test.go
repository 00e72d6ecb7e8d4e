package csource_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// FuzzRead: whatever the text, Read ends, and says an *Error or a program that
// can be walked.
func FuzzRead(f *testing.F) {
	for _, text := range fragments {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// what is wrong with a long text is so with a short one, which takes less time
		if len(text) > 1000 {
			return
		}
		opts := csource.Options{}
		if !strings.Contains(text, "scop") {
			opts.Function = "f"
		}
		if strings.Contains(text, "int n") {
			opts.Defines = []string{"n=3"}
		}
		file, err := csource.Read("fuzz.c", []byte(text), opts)
		if err != nil {
			var e *csource.Error
			if !errors.As(err, &e) {
				t.Fatalf("an error of another type: %v", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %v", err)
			}
			return
		}
		if err := file.Program.Check(); err != nil {
			t.Fatal(err)
		}
		if n := len(file.Program.Operands()); n != len(file.Accesses) {
			t.Fatalf("%d operands and %d accesses", n, len(file.Accesses))
		}
		n, operands := 0, file.Program.Operands()
		for op, addr := range file.Program.Accesses() {
			a := file.Arrays[file.Accesses[op].Array]
			if addr < a.Base || addr+uint64(operands[op].Width) > a.Base+uint64(bytesOf(a)) {
				t.Fatalf("%s at %v is outside of its array", file.Accesses[op].Text,
					file.Accesses[op].Pos)
			}
			if n++; n > 10_000 {
				break
			}
		}
	})
}

// fragments are small files of everything that the language has.
var fragments = []string{
	"'\\", "\"\\", "#include <x\\", "#define x \\", "/*\\", // the scanner once did not end
	"int A[9]; void f(void) {\n#pragma scop\nfor (int i = 8; i >= 0; i -= 2) if (i > 2 && !(i == " +
		"4)) A[i]++; else A[i] = 0;\n#pragma endscop\n}",
	"#define MIN(a,b) ((a)<(b)?(a):(b))\nfloat A[9][8]; void f(int n, float B[8]) {\n#pragma " +
		"scop\nfor (int i = 0; i < 9; i += 3) for (int j = i; j < MIN(i + 3, 8); ++j) A[j][i % " +
		"1] += B[j] > 0 ? i > 4 ? B[0] : A[1][1] : -1;\n#pragma endscop\n}",
	"enum { N = 4 }; typedef double row[N]; row A[N]; unsigned u = 3;\nvoid f(void) {\n#pragma " +
		"scop\nfor (unsigned i = 1; i != sizeof A / sizeof A[0]; i++) { int k = i - 1; A[i][k] = " +
		"A[k][i] = u; do { A[0][0] /= 2; } while (0); }\n#pragma endscop\n}",
	"struct p { char c; union { double d; int k[2]; }; struct { short s; } in[3]; } a[4][2]; " +
		"void f(void) {\n#pragma scop\nfor (int i = 0; i < 4; i++) a[i][1].in[i > 2 ? 2 : i].s " +
		"+= a[3 - i][0].k[1] * a[i][0].d;\n#pragma endscop\n}",
	"#include <assert.h>\n#include \"stdio.h\"\ndouble sqrt(double); long long A[3]; struct s { " +
		"int x; } v; int g(int a) { return a * 2; }\nvoid f(void) {\n#pragma scop\nA[0] = " +
		"g(A[1]) + sqrt(A[2]), A[2] <<= 1; printf(\"%d\", A[0]);\n#pragma endscop\n}",
	// A struct that holds arrays, beside bit-fields, and one by value or packed.
	"typedef struct { float x[4]; int b : 3, c : 9; struct { short s; char k[2]; } in[3]; union " +
		"{ int i[2]; double d; }; int *to; } T; T one, a[2]; void f(void) { for (int i = 0; i < " +
		"2; i++) one.in[i].k[1] = (one).x[i + 2] + a[i].in[2 - i].s * one.d + one.b + sizeof(T); }",
	"struct __attribute__((packed)) p { char c; _Alignas(16) double d[2]; } a[3];\n#pragma " +
		"pack(1)\nvoid f(struct p own, struct p v[2]) { v[1].d[0] = own.d[1] + a[0].c; v[0] = " +
		"a[1]; }",
	// Jumps, quotients and remainders, tables.
	"double a[9], b[9]; void g(double *x, int k) { if (k) { if (k > 2) return; x[k] = 1; } else " +
		"if (k < 0) return; x[0] = 2; } void f(void) { for (int i = 0; i < 4; i++) { if (i == 1) " +
		"{ a[i] = 1; continue; } else { if (i > 2) continue; } g(b, i); } }",
	"double a[2][9]; void f(void) { for (int t = 0; t < 9; t++) for (unsigned i = 1 + (t & 1); i " +
		"< 8; i += 2) if ((i + t) / 3 % 2) a[(t + 1) % 2][(i - 1 + 9) % 9] = a[t % 2][i >> 1]; " +
		"for (int j = 7; j > -3; j -= 2) a[0][j % 3 + 4] = j / 2 % -2; }",
	"double a[9][9]; static const int d[4][2] = {{1, 0}, {0, 1}, {-1}, {0, -1}}; const char c[] " +
		"= {2, 0, 2}; void f(void) { for (int i = 1; i < 8; i++) for (int k = 0; k < 4; k++) { " +
		"int y = i + d[k][1]; a[i + d[k][0]][y] += a[c[k % 3]][c[c[i % 3]]]; } }",
	// Steps, beside these.
	"double a[99], b[99]; static const int d[3] = {4, 0, 9}; void g(double *x, int n) { while (n " +
		"> 0) { *x++ = d[n % 3]; n--; if (n == 2) continue; *x = 1; } } void f(void) { int k = " +
		"0; double *p = a + 40; for (int i = 0, j = 30; i < j; i++, j -= 2) { if (i % 3 == 1) { " +
		"k += 2; continue; } *p++ = b[k % 5]; k++; k++; } for (int i = 0; i < 30; i += 2) { " +
		"b[k++] = *--p + a[i % 5]; for (int l = 0; l < 3; l++, k++) a[i + d[l]] = b[k]; } " +
		"g(a, 4); }",
	// Variables that are clipped.
	"double a[20]; int b[9]; void f(void) { for (int i = 0; i < 12; i += 4) { int e = i + 4, o = " +
		"1; if (e > 9) e = 9; if (e < 6) { e = 6u; } e = e - o; for (int k = i; k < e; k++) a[k] " +
		"= e; } }",
	"double a[20]; void f(void) { for (int i = 0; i < 9; i++) { unsigned char e = i; if (0) e = " +
		"a[i]; e = 256 + 9; unsigned u = i; if (u < 4) u = 4; _Bool t = i; t = 7; int s = i - 4; " +
		"if (i == 8) s = 10; if (s < 0) s = 0; a[s] = a[t]; } }",
	// Values that are given, of variables, and extents of them.
	"int m = 7; void other(int n) { n++; } void f(int n, double A[n][n], double v[static n], " +
		"float w[2*n+1]) { double t[n + 1]; for (long j = 0; j < n && j < m; j++) { t[j] += " +
		"A[j][n - 1] * v[j]; w[2*j] = 0; } }",
	// Quotients, remainders and bits.
	"double a[8], b[8]; void f(void) { int q, r; for (q = 0; 3 * q < 7; q++) for (r = 0; r < 3 " +
		"&& 3 * q + r < 7; r++) a[q] = b[3 * q + r] + 2[a]; }",
	"double a[8], b[8]; void f(void) { for (int v = 0; v < 7; v++) a[v % 2] = b[v >> 1] + a[v " +
		"& 3]; }",
	// Steps that conditions take, continue, conditions that are kept, initial values that assign or
	// stand in braces.
	"typedef struct { double x; struct { int k; } in; } T; double a[8], b[8]; int z(void) { " +
		"return sizeof a / sizeof *a; } void f(void) { for (unsigned long i = z(); i-- > 0;) { " +
		"int q = i == 0 || i == 3, e = q + 1; T t = {a[i], .in = {2}}; double u = b[e] = a[i] *= " +
		"t.x; if (q) { b[i] = u; continue; } if (i > 5) continue; for (int j = 3; j; j--) a[j] = " +
		"1; for (int j = 2; j--;) a[e] = 1; } }",
	// Functions that are called, and memory that they touch; static arrays; what OpenMP adds.
	"#include <string.h>\ntypedef struct { double x[8]; int n; } T; T p, q; double a[8]; void " +
		"out(double *); int z(int i) { T k = p; p = q; out(a); out((p).x); memset(a, 0, sizeof " +
		"a); return i; } double y(double d) { p.n++; return d > 0 ? d : -d; } void f(void) { " +
		"a[0] = y(a[1]); a[2] = z(1); }",
	"double a[4]; void g(void) { __int128 x; } void f(void) { static const double w[3] = {1, 2, " +
		"1}; static int unused = {2}; int k[2];\n#pragma omp parallel for\nfor (int i = 0; i < " +
		"3; i++) { k[1] = w[i]; } }",
	// Pointers, to rows, fields and single things, and what is no alias.
	"typedef struct { double x, v[3]; struct { int k; } in; } T; T t[4], one; double m[3][4], " +
		"a[9], s, *const w = a + 2; void f(int n, double p[n][n]) { for (int i = 0; i < 3; i++) " +
		"{ double *row = m[i], (*r)[4] = m + 1, *q = &row[2], *const at = &t[i].v[1]; const T *b " +
		"= &t[i]; T *o = &one; q[-1] = *(*(r - 1) + i) + w[-i] + 1[at]; b->v[0] = (*b).x + (b + " +
		"1)->x + (&t[0])->in.k + o->x; double (*c)[n] = p; c[1][i] = **p; double *z = &s; *z = " +
		"a[(unsigned)i - 1u + 1]; } }",
	"struct l { struct l *next; int k[2]; } l[3], *h = l, **hh = &h; float *x, y[4], *c = (float " +
		"*)y, *v = (float *)l; void f(void) { for (float *e = y; e < y + 4; e++) *e = 1; " +
		"l->next->k[0] = h->k[1]; x = y; *x++ = 0; float *u = x ? y : c; int *i = &l[1].k[0]; " +
		"i[l[0].k[1]] = (*hh)->k[0] + *&*i + (&l)[0][1].k[-1 + 1]; void *o = y; (*&f)(); }",
	// Calls that are read in place.
	"double m[3][4], a[9]; struct { double x; } t[2], u; double d(int n, const double *x, double " +
		"y[n]) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * y[i]; return s; } void " +
		"z(int r, int c, double x[r][c], int k) { if (k > 0) z2(x[0]); for (int i = 0; i < r; " +
		"i++) { int e = i + 1; if (e > c) e = c; x[i][e - 1] += d(e, x[i], a); } } void " +
		"z2(double *p) { p++; *p = k(2.5); z2(p); } int k(int v) { return a[v] > t[v].x ? v : " +
		"a[0]; } void f(void) { for (int i = 0; i < 2; i++) { z(2, 4, m + i, i); a[k(i)] = d(i, " +
		"&m[1][i], m[0]); (void)d(3, &u.x, &t[i].x), z(1, a[0], m, 0); } }",
	// Conditions on data, and operands behind && and ||.
	"#if defined(N) && N > 2\n#error no\n#else\n#define F(x, ...) " +
		"x##1(__VA_ARGS__)\n#endif\nfloat a[9], b[9]; int n1(int i) { return i; } void f(void) { " +
		"for (int i = 0; i < 9; i++) b[i] = i > 0 && a[i - 1] > 0 || !b[0] ? F(n, a[i]) : (a[0], " +
		"b[8]); for (int i = 3 << 1 ^ 14; i > -1 && i <= 8; --i) if (!(i % 1) && (i > 3 || i < " +
		"1)) a[i] = -a[7] * sizeof(float) / 'x'; }",
}
