package csource_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/nest"
)

// structs are arrays of structs of all kinds, whose references R reads and W writes.
const structs = `
#ifndef LOGGED
#define R(x) (x)
#define W(x) x
#endif
typedef struct point { float x, y, z; } point;
struct mixed { char c; double d; short s; int i; signed char tail; };
typedef struct { point at[2]; double m[3][2]; struct { char a; long long b; } in; unsigned char last; } body;
union either { char c[12]; double d; struct { short s; int i; } both; };
struct nameless { int before; union { double d; struct { short low; int high; }; }; char behind; };
struct odd { char c[3]; };
point points[20]; struct mixed mixes[7]; body bodies[3][5]; union either eithers[9]; struct nameless unnamed[6]; struct odd odds[11];
struct { char c; double x[20]; short y[3], s; struct { char head; point at[2][5]; } in; union { int i[2]; double d; }; char tail; } one;
double plain[20];
void f(void)
{
#pragma scop
	for (int i = 0; i < 20; i++)
		W(plain[i]) = R(points[i].x) * R(points[i].x) + R(points[19 - i].z);
	for (int i = 1; i < 7; i += 2) {
		W(mixes[i].tail) = R(mixes[i - 1].c) + R(mixes[i].d) + R(mixes[i].s) + R(mixes[6 - i].i);
		W((mixes[i]).c) = 1;
	}
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 5; j++) {
			W(bodies[i][j].last) = R(bodies[i][4 - j].in.b) + R(bodies[i][j].in.a);
			for (int k = 0; k < 3; k++)
				W(bodies[i][j].m[k][1]) = R(bodies[2 - i][j].m[2 - k][0]) + R(bodies[i][j].at[k > 1 ? 1 : 0].y) + R(bodies[i][j].at[1].z);
		}
	for (int i = 0; i < 9; i++)
		W(eithers[i].both.i) = R(eithers[i].c[i]) + R(eithers[8 - i].d) + R(eithers[i].both.s);
	for (int i = 0; i < 6; i++)
		W(unnamed[i].high) = R(unnamed[i].before) + R(unnamed[i].low) + R(unnamed[5 - i].d) + R(unnamed[i].behind);
	for (int i = 0; i < 11; i++)
		W(odds[i].c[i < 5 ? 2 : 0]) = R(odds[i].c[1]);
	for (int i = 0; i < 5; i++) {
		W(one.x[i]) = R(one.x[19 - i]) + R(one.y[i > 2 ? 2 : i]) + R(one.in.at[1][i].z);
		W(one.i[1]) = one.s + one.d + R((one).in.at[0][4 - i].x);
	}
#pragma endscop
}
`

// TestStructs: fields are where a compiler has them, of its widths.
func TestStructs(t *testing.T) {
	f, err := csource.Read("t.c", []byte(structs), csource.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := "int main() {\n"
	for _, a := range f.Arrays {
		main += fmt.Sprintf("\tprintf(\"%%zu %%zu\\n\", (size_t)&%s, sizeof %s);\n", a.Name, a.Name)
	}
	text := "#include <cstdio>\n#define LOGGED\ntemplate <class T> T &logged(T &x, int write) { printf(\"%zu %zu %d\\n\", (size_t)&x, sizeof x, write); return x; }\n" +
		"#define R(x) logged(x, 0)\n#define W(x) logged(x, 1)\n" + structs + main + "\tf();\n}\n"
	lines := bufio.NewScanner(bytes.NewReader(output(t, text)))
	bases := make([]uint64, len(f.Arrays))
	for i, a := range f.Arrays {
		var size int
		lines.Scan()
		if _, err := fmt.Sscan(lines.Text(), &bases[i], &size); err != nil || size != bytesOf(a) {
			t.Fatalf("%s is of %d B, compiled of %d (%v)", a.Name, bytesOf(a), size, err)
		}
	}
	operands := f.Program.Operands()
	n := 0
	for op, addr := range f.Program.Accesses() {
		o, number := operands[op], f.Accesses[op].Array
		got := access{addr - f.Arrays[number].Base, o.Width, o.Kind == nest.Write}
		var want access
		var write int
		if !lines.Scan() {
			t.Fatalf("access %d is %+v (%s), compiled there are fewer", n, got, f.Accesses[op].Text)
		}
		if _, err := fmt.Sscan(lines.Text(), &want.addr, &want.bytes, &write); err != nil {
			t.Fatal(err)
		}
		want.addr, want.write = want.addr-bases[number], write == 1
		if got != want {
			t.Fatalf("access %d is %+v (%s), compiled %+v", n, got, f.Accesses[op].Text, want)
		}
		n++
	}
	if lines.Scan() || n != 20*4+3*6+15*3+15*3*4+9*4+6*5+11*2+5*6 {
		t.Errorf("%d accesses, and compiled %q follows", n, lines.Text())
	}
}

// TestStructsRefused: what is no number of an array of structs is refused, and says what would be.
func TestStructsRefused(t *testing.T) {
	const types = "struct p { float x; int b : 3; struct { int k[4]; } in; int *to; }; struct p a[5], one, *to; float s[2]; struct { int *to; } few; struct { double x[1l << 61]; } huge; struct { union { double y[1l << 40]; float z; } of[1l << 40]; } deep[2];\n"
	for statement, want := range map[string]string{
		"s[0] = one.in.k[4];":                       "t.c:4:8: one.in.k[4]: the subscript of one.in.k[4] is outside of 0 to 3",
		"huge.x[0] = 1;":                            "t.c:1:162: huge: a struct of more than 2^61 bytes",
		"deep[1].of[0].y[0] = 1;":                   "deep[2]: a struct of more than 2^61 bytes",
		"s[0] = one.in.k;":                          "t.c:4:8: one.in.k: it is of type array of 4 int, and no number",
		"s[0] = one.to[1];":                         "t.c:4:8: one.to[1]: one.to has too many subscripts, or is a pointer, which is not understood",
		"s[0] = few.to[1];":                         "t.c:4:8: few.to[1]: few.to has too many subscripts, or is a pointer, which is not understood",
		"s[0] = one.in;":                            "t.c:4:8: one.in: a whole struct is not understood: write its fields one by one",
		"s[0] = one;":                               "t.c:4:8: one: a whole struct p is not understood: write its fields one by one",
		"s[one.in.k[0]] = 1;":                       "subscript one.in.k[0] depends on data",
		"s[(int)one.x] = 1;":                        "depends on data",
		"for (int i = 0; i < one.b; i++) s[0] = 1;": "one.b: it depends on data: the value of a field is not known; write a number or a macro in its place, or a variable, which -D can set",
		"s[0] = a[0].b;":                            "t.c:4:8: a[0].b: a bit-field is not understood",
		"a[0] = a[1];":                              "t.c:4:8: a[1]: a whole struct p is not understood: write its fields one by one",
		"a[0].in = a[1].in;":                        "t.c:4:11: a[1].in: a whole struct is not understood: write its fields one by one",
		"s[0] = a.x;":                               "expected a struct or union",
		"s[0] = a[0].in.k;":                         "t.c:4:8: a[0].in.k: it is of type array of 4 int, and no number",
		"s[0] = a[5].x;":                            "t.c:4:8: a[5].x: the subscript of a[5].x is outside of 0 to 4",
		"s[0] = a[4].in.k[4];":                      "t.c:4:8: a[4].in.k[4]: the second subscript of a[5].in.k[4] is outside of 0 to 3",
		"for (int i = 0; i < 3; i++) s[0] = a[i].in.k[i - 1];": "the second subscript of a[5].in.k[4] is outside of 0 to 3",
		"s[0] = a[0].to[1];":   "t.c:4:8: a[0].to[1]: a[5].to has too many subscripts, or is a pointer, which is not understood",
		"s[0] = to[1].x;":      "t.c:4:8: to[1].x: to is not an array of constant extents but a pointer, which does not say how much it points to: write struct p to[N], as a parameter",
		"s[0] = to->x;":        "t.c:4:8: to->x: to is not an array of constant extents but a pointer, which does not say how much it points to: write struct p to[N]",
		"s[a[0].in.k[0]] = 1;": "subscript a[0].in.k[0] depends on data",
		"for (int i = 0; i < a[0].in.k[0]; i++) s[0] = 1;": "depends on data",
	} {
		_, err := csource.Read("t.c", []byte(types+"void f(void) {\n#pragma scop\n"+statement+"\n#pragma endscop\n}"), csource.Options{})
		var e *csource.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with\n%v\nwant\n%s", statement, err, want)
		}
	}
	_, err := csource.Read("t.c", []byte(types+"void f(struct p own) { own.in.k[1] = own.x; }"), csource.Options{Function: "f"})
	if want := "own: a struct p by value, which the call copies, is not understood: declare it as own[1] and write own[0]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("by value: %v", err)
	}
	for _, packed := range []string{
		"struct __attribute__((packed)) p { char c; int i[2]; };", "struct p { char c; int i[2]; } __attribute__((packed));",
		"#pragma pack(1)\nstruct p { char c; int i[2]; };", "struct p { char c; _Alignas(16) int i[2]; };",
	} {
		for _, of := range []string{"a[1]", "one"} {
			_, err := csource.Read("t.c", []byte(packed+"\nstruct p a[2], one;\nvoid f(void) {\n#pragma scop\n"+of+".i[1] = 0;\n#pragma endscop\n}"), csource.Options{})
			if err == nil || !strings.Contains(err.Error(), "whose layout is not understood") {
				t.Errorf("%s: %v", packed, err)
			}
		}
	}
}

// TestBitFields: beside bit-fields, fields are where GCC has them, of which the sizes and the places here are, or the
// array is refused: the parser lays some out otherwise.
func TestBitFields(t *testing.T) {
	for text, want := range map[string]string{
		"int a; int b : 3; float f;":                                  "ra8 ra20",
		"char a; int b : 3, c : 9; float f;":                          "",
		"char b : 4; char : 0; char c; float f;":                      "ra4 ra12",
		"double d; long b : 40, c : 30; float f;":                     "ra20 ra44",
		"unsigned m1 : 19; char m2; float f;":                         "",
		"int a; char b; int c : 9; float f;":                          "",
		"unsigned short m1[3]; int m2 : 9; float f;":                  "",
		"char m2; char m3 : 1; long m5 : 9; char m6; float f;":        "",
		"short a[3]; int b : 9; int x; float f;":                      "",
		"short s[3]; char c; short m5 : 2; char m6 : 2; float f;":     "",
		"char a; int : 4; char b; float f;":                           "",
		"struct { char a; int : 4; char b; } in[2]; float f;":         "",
		"union { unsigned m1 : 19; char m2; } u; int b : 2; float f;": "ra8 ra20",
		"union { struct { short s[3]; int m : 9; } v; } u; float f;":  "",
	} {
		f, err := csource.Read("t.c", []byte("struct s { "+text+" } a[2]; float s;\nvoid k(void) {\n#pragma scop\nfor (int i = 0; i < 2; i++) s += a[i].f;\n#pragma endscop\n}"), csource.Options{})
		switch {
		case want == "" && (err == nil || !strings.Contains(err.Error(), "bit-fields lie otherwise than is understood")):
			t.Errorf("%s: %v", text, err)
		case want != "" && (err != nil || walked(f) != want):
			t.Errorf("%s: %v", text, err)
			if err == nil {
				t.Error(walked(f))
			}
		}
	}
}

// TestSizes: the size of a struct that is packed, or has bit-fields that lie otherwise, is not taken for a bound or an extent.
func TestSizes(t *testing.T) {
	const packed = "typedef struct __attribute__((packed)) { char a; double q; } T;\n"
	for text, refused := range map[string]bool{
		packed + "char x[40][sizeof(T)];":                                                         true,
		packed + "char x[40][sizeof(double)]; int other(void) { return sizeof(T); }":              false,
		"typedef struct { char a; int b : 3; int c : 30; char d : 1; } T; char x[40][sizeof(T)];": true,
		"typedef struct { int a; int b : 3; } T; char x[40][sizeof(T)];":                          false,
		"typedef struct { char a; double q; } T; T y[2]; char x[40][sizeof y / sizeof *y];":       false,
		packed + "char x[40][9]; int z(void) { return sizeof(T); }\n#define M z()":                true,
		packed + "char x[40][9]; T y; int z(void) { return sizeof y; }\n#define M z()":            true,
		packed + "char x[40][9]; int z(void) { return _Alignof(T); }\n#define M z()":              true,
		packed + "char x[40][9]; int z(void) { return sizeof(double); }\n#define M z()":           false,
	} {
		_, err := csource.Read("t.c", []byte(text+"\n#ifndef M\n#define M 40\n#endif\nvoid f(void) { for (int i = 0; i < M; i++) x[i][0] = 1; }"), csource.Options{Function: "f"})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "of: the layout of struct is not understood: write the number") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestStructsOfOne: numbers of a struct that is a variable are as other variables: no accesses.
func TestStructsOfOne(t *testing.T) {
	f, err := csource.Read("t.c", []byte("struct { struct { float scale; int n : 4; } in; double sum; } p; float s[4];\nvoid f(void) {\n#pragma scop\n"+
		"for (int i = 0; i < 2; i++) { p.sum += s[i] * p.in.scale; p.in.n++; s[i + 1] = p.in.n > 1 ? p.sum : 0; }\n#pragma endscop\n}"), csource.Options{})
	if err != nil || walked(f) != "rs0 ws4 rs4 ws8" {
		t.Errorf("%v", err)
		if err == nil {
			t.Error(walked(f))
		}
	}
}

// TestStatic: a static array in a function has its initial value before anything runs.
func TestStatic(t *testing.T) {
	f, err := csource.Read("t.c", []byte("double a[4];\nvoid f(void) { static const double w[3] = {1, 2, 1}; static int unused = {2};\n"+
		"for (int i = 0; i < 3; i++) a[i] = w[i]; }"), csource.Options{Function: "f"})
	if err != nil || walked(f) != "rw0 wa0 rw8 wa8 rw16 wa16" {
		t.Errorf("%v", err)
	}
}

// bytesOf is the size of an array.
func bytesOf(a csource.Array) int {
	bytes := a.Element
	for _, n := range a.Extents {
		bytes *= n
	}
	return bytes
}
