package csource_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestOtherwiseThanParser: of what the parser has otherwise than GCC, it is refused or as GCC has it.
func TestOtherwiseThanParser(t *testing.T) {
	const undeclared, pointers, complex = "what %s returns is not known, because it is not declared", "the type of a ?: of pointers is not understood", "the type of an expression with complex numbers is not understood"
	for _, c := range []struct{ declared, body, want string }{
		// Types of expressions.
		{"int g(int);", "x[sizeof g] = 1;", "the size of a function is not understood; write the number"},
		{"int g(int);", "x[sizeof *g] = 1;", "the size of a function is not understood; write the number"},
		{"int g(int);", "x[sizeof g(1)] = 1;", "wx16"},
		{"int (*g)(int);", "x[sizeof g] = 1;", "wx32"},
		{"float _Complex z[2];", "x[sizeof(z[0] + 1.0)] = 1;", complex + "; write the number"},
		{"float _Complex z[2];", "x[sizeof z[0]] = 1;", "wx32"},
		{"typedef typeof((float _Complex)1 * 1.0) T; T q[3];", "q[1] = 1;", complex + ": write the type"},
		{"", "x[sizeof(1 ? x : 0)] = 1;", pointers + "; write the number"},
		{"", "x[sizeof(1 ? 2 : 3)] = 1;", "wx16"},
		{"", "x[sizeof undeclared(2)] = 1;", strings.ReplaceAll(undeclared, "%s", "undeclared") + "; write the number"},
		{"", "double s = sqrt(2); x[sizeof sqrt(2)] = s;", strings.ReplaceAll(undeclared, "%s", "sqrt") + "; write the number"},
		{"#include <math.h>", "x[sizeof sqrt(2)] = 1;", "wx32"},
		{"typeof(__builtin_expect(2, 2)) q[3];", "q[1] = 1;", strings.ReplaceAll(undeclared, "%s", "__builtin_expect") + ": write the type"},
		{"typeof(1.0f * 2) q[3];", "q[1] = 1;", "wq4"},
		// Attributes that make another type, or another place.
		{"typedef int I __attribute__((mode(DI))); I q[3];", "q[1] = 1;", "a.c:2:30: __attribute__((mode(...))) is not understood"},
		{"typedef float I __attribute__((aligned(16), __vector_size__(16))); I q[3];", "q[1] = x[1];", "__attribute__((vector_size(...))) is not understood"},
		{"extern int q[64] __attribute__((alias(\"x\")));", "q[1] = 1;", "__attribute__((alias(...))) is not understood"},
		{"void g(int *p) { x[9] = 1; }", "int v __attribute__((cleanup(g))) = 1; x[1] = v;", "__attribute__((cleanup(...))) is not understood"},
		{"extern int q[64] __asm__(\"x\");", "q[1] = 1;", "another name of an array is not understood: write the array"},
		{"#if 0\ntypedef float I __attribute__((mode(DI)));\n#endif\n__attribute__((noinline)) void mode(int v) {}", "x[1] = 1;", "wx4"},
		{"enum { A, B } __attribute__((packed)) q[3];", "q[1] = A;", "in a file with __attribute__, whose layout is not understood"},
		{"enum E { A, B } __attribute__((packed));", "x[sizeof(enum E)] = 1;", "the layout of enum E"},
		{"struct Z { char a; int b; } __attribute__((packed)); char q[(unsigned long)&((struct Z *)0)->b];", "x[sizeof q] = 1;", "the layout of struct Z is not understood: write the number"},
		{"struct Z { int a : 3; long b : 40; char c; }; enum { C = (long)&((struct Z *)0)->c };", "x[C] = 1;", "the layout of struct Z is not understood: write the number"},
		{"struct Z { char a; int b; }; char q[(unsigned long)&((struct Z *)0)->b];", "x[sizeof q] = 1;", "wx16"},
		// Constants of enums.
		{"enum { A = 3, B = 0x100000000 };", "if (B - 0x100000001 < 0) x[A] = 1;", "a constant of an enum that is not an int is not understood: write a macro in its place"},
		{"enum { A = 3, B = 0x100000000 }; char q[B - 0x100000001 < 0 ? 1 : 2];", "x[sizeof q] = 1;", "a constant of an enum that is not an int is not understood: write a macro in its place"},
		{"enum { A = 3, B = 0x100000000 };", "x[A] = 1;", "wx12"},
		{"enum { A = sizeof(long) };", "if (A - 9 < 0) x[A] = 1;", "wx32"},
		{"enum { A = sizeof(long) }; char q[A - 9 < 0 ? 1 : 2];", "x[sizeof q] = 1;", "wx4"},
		{"enum { A = sizeof(long) };", "x[sizeof A] = 1;", "wx16"},
		{"enum E { A = 3 }; char q[(enum E)-1 > 0 ? 1 : 2];", "x[sizeof q] = 1;", "a cast to an enum is not understood here: write the number"},
		{"enum E { A = 3 }; enum { C = (enum E)-1 > 0 ? 1 : 2 };", "x[C] = 1;", "a cast to an enum is not understood here: write the number"},
		{"enum E { A = 3 };", "if ((enum E)-1 > 0) x[1] = 1;", "wx4"},
		// Text, lines, and macros of headers.
		{"char q[] = u8\"abc\";", "x[sizeof q] = 1;", "a.c:2:12: a text in u8\"...\" is not understood: leave u8 out"},
		{"const char *q = \"u8\\\"abc\"; // u8\"", "x[1] = 1;", "wx4"},
		{"", "x[1] = 1; // a folder: C:\\ \nx[2] = 1;\nx[3] = 1;", "wx4 wx12"},
		{"#define TWO(a) \\\t \n 2 * (a)", "x[TWO(2)] = 1;", "wx16"},
		{"#include <stdint.h>\n#if INT64_MIN < 0 && INT8_MIN == -128 && PTRDIFF_MAX > 0 && UINT64_C(1) == 1\n#define Q 5\n#else\n#define Q 1\n#endif", "x[Q] = 1;", "wx20"},
		{"#include <float.h>\n#if DBL_MANT_DIG == 53 && FLT_RADIX == 2 && LDBL_DIG == 18\n#define Q 5\n#else\n#define Q 1\n#endif", "x[Q] = 1;", "wx20"},
		{"#include <stdint.h>", "x[sizeof INT64_C(1)] = INT64_C(5);", "wx32"},
	} {
		f, err := csource.Read("a.c", []byte("int x[64];\n"+c.declared+"\nvoid f(void)\n{\n"+c.body+"\n}\n"), csource.Options{Function: "f"})
		got := ""
		if err == nil {
			got = walkedBy(f, func(at string, _ int) string { return at })
		} else if _, is := errors.AsType[*csource.Error](err); is {
			got = err.Error()
		}
		if read := strings.HasPrefix(c.want, "wx") || strings.HasPrefix(c.want, "wq"); read && got != c.want || !read && !strings.Contains(got, c.want) {
			t.Errorf("%s ... %s\n%s (%v)\nwant %s", c.declared, c.body, got, err, c.want)
		}
	}
}

// TestUnknownToParser: what the parser does not know is refused in words of ours.
func TestUnknownToParser(t *testing.T) {
	_, err := csource.Read("t.c", []byte("struct s { int x; };\nvoid f(void) { typeof(struct s) q[3]; q[0].x = 1; }\n"), csource.Options{Function: "f"})
	if want := "t.c:2:16: the parser does not know what this declares or computes"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
