package csource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestMacrosCompiled: what the preprocessor makes of a file is what GCC's does.
func TestMacrosCompiled(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		defines    []string
	}{
		"assert":                {text: "#include <assert.h>\nint x[64];\nvoid f(void) { assert(x[1] == 0); x[2] = 1; assert(!x[3]); }", want: "rx4:4 wx8:4 rx12:4"},
		"assert left out":       {text: "#define NDEBUG\n#include <assert.h>\nint x[64];\nvoid f(void) { assert(x[1] == 0); x[2] = 1; }", want: "wx8:4"},
		"assert of pointers":    {text: "#include <assert.h>\n#include <stdlib.h>\nint x[64];\nvoid g(int *p, int n) { assert(p != NULL && n > 2 && \"few\"); assert(p); assert(!!p); p[1] = n; }\nvoid f(void) { g(x, 4); }", want: "wx4:4"},
		"the system":            {text: "int x[64];\nvoid f(void) {\n#if defined(linux) && unix && __INT_WIDTH__ == 32 && __FLT_EVAL_METHOD__ == 0\nx[1] = 1;\n#endif\n#if linux + unix == 2 && __INT64_MAX__ > 0 && __STDC_IEC_559__ && __INT8_C(1)\nx[2] = 1;\n#endif\n}", want: "wx4:4 wx8:4"},
		"elifndef":              {text: "int x[64];\n#if 0\n#elifndef A\n#define V 1\n#else\n#define V 2\n#endif\nvoid f(void) { x[V] = 1; }", want: "wx4:4"},
		"elifdef":               {text: "int x[64];\n#define A\n#if 0\n # elifdef A /* */\n#define V 1\n#else\n#define V 2\n#endif\nvoid f(void) { x[V] = 1; }", want: "wx4:4"},
		"elifdef in a text":     {text: "int x[64];\nvoid f(void) { x[sizeof \"\\\n#elifdef A\"] = 1; }", want: "wx44:4"},
		"a keyword":             {text: "#define int long\n#define extern\nint x[64];\nvoid f(void) { x[3] = 1; }", want: "wx24:8"},
		"limits of headers":     {text: "#include <float.h>\n#include <limits.h>\n#include <stdint.h>\nint x[64];\nint_fast16_t y[2];\nuint_least8_t z[2];\nvoid f(void) {\n#if defined(LDBL_MAX) && DBL_MIN_EXP < 0 && FLT_DECIMAL_DIG == 9 && MB_LEN_MAX == 16 && INT_FAST32_MAX > INT32_MAX && UINT_LEAST16_MAX == 65535 && WCHAR_MAX == INT32_MAX\nx[1] = 1;\n#endif\ny[1] = 1; z[1] = 1; }", want: "wx4:4 wy8:8 wz1:1"},
		"text that is left out": {text: "int x[64];\n#if 0\n it's /* no comment\n#elif 1 // can't\n#define V 2\n#else\n say \"so\n#error this isn't \"it\n#endif\n#ifndef __x86_64__\n#error it can't be 'so'\n#endif\nvoid f(void) { x[V] = 'a' - 'b' + 1; }", want: "wx8:4"},
		"a pragma of a macro":   {text: "#define PRAGMA(x) _Pragma(#x)\nint x[64];\nvoid f(void) {\nPRAGMA(omp parallel for)\nfor (int i = 0; i < 2; i++) x[i] = 1; }", want: "wx0:4 wx4:4"},
		"what tells compilers":  {text: "int x[64];\nvoid f(void) {\n#if defined(__GNUC__) && __GNUC__ >= 4\nx[1] = 1;\n#else\nx[2] = 1;\n#endif\n}", want: "wx4:4", defines: []string{"__GNUC__=12"}},
		"names of headers":      {text: "#include <sys/types.h>\n#include <errno.h>\n#include <inttypes.h>\n#include <malloc.h>\n#include <math.h>\n#include <stdalign.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <strings.h>\n#include <sys/time.h>\n#include <time.h>\n#include <unistd.h>\n#include <stdint.h>\nint x[64];\nfloat_t y[2];\nulong z[2];\nvoid f(void) { alignas(16) ssize_t n = EOF; off_t o = SEEK_END; x[sizeof \"%\" PRId64 PRIx8 SCNu16] = alignof(pid_t) + isnan(y[0]); y[1] = M_PI_4 * NAN + FP_NORMAL; z[1] = sizeof(time_t) + BUFSIZ + n + o; x[sizeof PRIuMAX SCNd8 PRIdPTR] = 1; }", want: "ry0:4 wx28:4 wy4:4 wz8:8 wx32:4"},
		"offsets of fields":     {text: "#include <stddef.h>\nstruct s { char a; int b; };\nenum { V = offsetof(struct s, b) };\nint x[64];\nvoid f(void) { x[V] = 1; }", want: "wx16:4"},
	} {
		path := filepath.Join(t.TempDir(), "t.c")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := csource.Read(path, []byte(c.text), csource.Options{Function: "f", Defines: c.defines})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := walkedWidths(f); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if compiled := instrumentedRun(t, path, "f", f.Arrays); compiled != c.want {
			t.Errorf("%s: compiled %s, want %s", name, compiled, c.want)
		}
		for _, n := range f.Notes {
			if strings.Contains(n.Text, "asked for") {
				t.Errorf("%s: %v", name, n)
			}
		}
	}
}
