package given_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/given"
)

// TestFindRegion: the lines between the pragmas, and the function around them.
func TestFindRegion(t *testing.T) {
	for text, want := range map[string]string{
		"void f(void) {\n#pragma scop\nx;\n#pragma endscop\n}": "f 2 4",
		"int g(int n) { return n; } /* { */\nvoid f(int A(n)) { char c = '{';\n# pragma " +
			"scop\n\n#pragma endscop\n}": "f 3 5",
		"extern \"C\" {\nnamespace n { void f() {\nif (x) {\n#pragma scop\n#pragma endscop\n}}}}": "f 4 5",
		"void f(void) { }": " 0 0",
		"int g(int x) {\nreturn x; }\nvoid exit(int); void f(int k) { if (k) {\n#pragma " +
			"scop\n#pragma endscop\n} }": "f 4 5",
		"int a[2]; static double *f(double x[2], int (*y)[3])\n{ for (;;) {\n#pragma " +
			"scop\n#pragma endscop\n} }": "f 3 4",
		"void g(void) {\n if (1) { }\n else if (2) { } }\nvoid\nf(void)\n{\n#pragma " +
			"scop\n#pragma endscop\n}": "f 7 8",
		"#pragma endscop\n#pragma scop\n":                                                 " 0 0",
		"void f(void) {\n#pragma scop\n#pragma endscop\n#pragma scop\n#pragma endscop\n}": " 0 0",
	} {
		function, from, to := given.FindRegion([]byte(text))
		if got := strings.TrimSpace(fmt.Sprint(function, " ", from, " ",
			to)); got != strings.TrimSpace(want) {
			t.Errorf("%s\nhas %s, want %s", text, got, want)
		}
	}
}
