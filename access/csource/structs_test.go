package csource_test

import (
	"bufio"
	"bytes"
	"fmt"
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

// bytesOf is the size of an array.
func bytesOf(a csource.Array) int {
	bytes := a.Element
	for _, n := range a.Extents {
		bytes *= n
	}
	return bytes
}
