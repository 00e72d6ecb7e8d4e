package csource_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// FuzzRead: whatever the text, Read ends, and says an *Error or a program that
// can be walked.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/polybench/*.c", "testdata/*.c"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for _, text := range fragments {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		opts := csource.Options{}
		if strings.Contains(text, "int n") {
			opts.Defines = []string{"n=3"}
		}
		file, err := csource.Read("fuzz.c", []byte(text), opts)
		if err != nil {
			var e *csource.Error
			if !errors.As(err, &e) {
				t.Fatalf("an error of another type: %v", err)
			}
			return
		}
		if err := file.Program.Check(); err != nil {
			t.Fatal(err)
		}
		if n := len(file.Program.Operands()); n != len(file.Accesses) {
			t.Fatalf("%d operands and %d accesses", n, len(file.Accesses))
		}
		n := 0
		for op, addr := range file.Program.Accesses() {
			a := file.Arrays[file.Accesses[op].Array]
			if addr < a.Base || addr >= a.Base+uint64(bytesOf(a)) {
				t.Fatalf("%s at %v is outside of its array", file.Accesses[op].Text, file.Accesses[op].Pos)
			}
			if n++; n > 100_000 {
				break
			}
		}
	})
}

// fragments are small files of everything that the language has.
var fragments = []string{
	"'\\", "\"\\", "#include <x\\", "#define x \\", "/*\\", // the scanner once did not end
	"int A[9]; void f(void) {\n#pragma scop\nfor (int i = 8; i >= 0; i -= 2) if (i > 2 && !(i == 4)) A[i]++; else A[i] = 0;\n#pragma endscop\n}",
	"#define MIN(a,b) ((a)<(b)?(a):(b))\nfloat A[9][8]; void f(int n, float B[8]) {\n#pragma scop\nfor (int i = 0; i < 9; i += 3) for (int j = i; j < MIN(i + 3, 8); ++j) A[j][i % 1] += B[j] > 0 ? i > 4 ? B[0] : A[1][1] : -1;\n#pragma endscop\n}",
	"enum { N = 4 }; typedef double row[N]; row A[N]; unsigned u = 3;\nvoid f(void) {\n#pragma scop\nfor (unsigned i = 1; i != sizeof A / sizeof A[0]; i++) { int k = i - 1; A[i][k] = A[k][i] = u; do { A[0][0] /= 2; } while (0); }\n#pragma endscop\n}",
	"struct p { char c; union { double d; int k[2]; }; struct { short s; } in[3]; } a[4][2]; void f(void) {\n#pragma scop\nfor (int i = 0; i < 4; i++) a[i][1].in[i > 2 ? 2 : i].s += a[3 - i][0].k[1] * a[i][0].d;\n#pragma endscop\n}",
	"#include <math.h>\n#include <stdio.h>\nlong long A[3]; struct s { int x; } v; int g(int a) { return a * 2; }\nvoid f(void) {\n#pragma scop\nA[0] = g(A[1]) + sqrt(A[2]), A[2] <<= 1; printf(\"%d\", A[0]);\n#pragma endscop\n}",
}
