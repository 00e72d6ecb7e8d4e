package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestClipped: a variable that statements of its own block give other values has, behind each, the value that a
// declaration would give it.
func TestClipped(t *testing.T) {
	const loop = " for (int k = i; k < e; k++) a[k] = e; }"
	for text, same := range map[string]string{
		"int e = i + 4; if (e > 9) e = 9;":                             "int e = i + 4 > 9 ? 9 : i + 4;",
		"int e = i + 4; if (e > 9) { e = 9; }":                         "int e = i + 4 > 9 ? 9 : i + 4;",
		"int e = i + 4; { { if (e > 9) { { e = 9; } } } }":             "int e = i + 4 > 9 ? 9 : i + 4;",
		"int e = i + 4; if (9 <= e) { { } } if (e >= 9) e = 9;":        "int e = i + 4 > 9 ? 9 : i + 4;",
		"int e = i + 4; e = e > 9 ? 9 : e;":                            "int e = i + 4 > 9 ? 9 : i + 4;",
		"int e = i + 4, o = 1; e = e - o; if (e < 5) e = 5;":           "int e = i + 3 < 5 ? 5 : i + 3;",
		"int e = i + 4; if (e > 9) e = 9; if (e < 6) e = 6;":           "int e = (i + 4 > 9 ? 9 : i + 4) < 6 ? 6 : i + 4 > 9 ? 9 : i + 4;",
		"int e = i - 4; if (i == 8) e = 10u; if (e < 0) e = 0u;":       "int e = i == 8 ? 10 : i - 4 < 0 ? 0 : i - 4;",
		"unsigned e = i + 4; if (e > 9) e = 9;":                        "unsigned e = i + 4 > 9 ? 9 : i + 4;",
		"unsigned char e = i + 4; e = 256 + 9;":                        "int e = 9;",
		"_Bool e = i; e = 7;":                                          "int e = 1;",
		"int e = i; if (0) e = b[i]; if (i > 3 || 1) e = 6;":           "int e = 6;",
		"int e = i + 1; a[e] = 1; e = e + 2; { a[e] = 1; } e = i;":     "a[i + 1] = 1; a[i + 3] = 1; int e = i;",
		"if (i > 3) { int e = i; if (e > 6) e = 6; a[e] = 1; } int e;": "if (i > 3) a[i > 6 ? 6 : i] = 1; int e; if (0)",
		"int f = i + 4; if (f > 9) f = 9; int e = f;":                  "int e = i + 4 > 9 ? 9 : i + 4;",
	} {
		read := func(text string) *csource.File {
			f, err := csource.Read("t.c", []byte("double a[20]; int b[9];\nvoid f(void) { for (int i = 0; i < 12; i += 4) { "+text+loop+" }"), csource.Options{Function: "f"})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return &csource.File{}
			}
			return f
		}
		if strings.HasSuffix(text, "int e;") {
			text += " if (0)"
		}
		got, want := read(text), read(same)
		if walked(got) != walked(want) || walked(got) == "" {
			t.Errorf("%s does %s, and %s does %s", text, walked(got), same, walked(want))
		}
		if strings.Contains(text, "(e > 9)") && got.Program.String() != want.Program.String() && !strings.Contains(text, "< 6") {
			t.Errorf("%s is\n%vand %s is\n%v", text, got.Program, same, want.Program)
		}
	}
}

// TestNotClipped: other variables that change are refused, without the advice to give them a value that they do not keep.
func TestNotClipped(t *testing.T) {
	const changes = "e: its value is not known: it is neither a constant nor a variable of a loop around it, and it changes; declare one with its value, such as int e = n < m ? n : m"
	for text, want := range map[string]string{
		"int e; if (i > 4) e = 4; else e = b[2]; a[e] = 1;":                                changes,
		"int e = 0; for (int k = 0; k < 300; k++) { a[e] = 1; e = k; }":                    "e: its value is not known here: e: it changes in each iteration of a loop",
		"int e = i; if (e > 4) { e = 4; a[0] = 1; } e = b[2]; a[e] = 1;":                   "e: its value is not known",
		"int e = i; int *p = &e; if (e > 4) e = 4; a[e] = 1;":                              changes,
		"static int e = 3; if (e > 4) e = 4; a[e] = 1;":                                    changes,
		"volatile int e = i; if (e > 4) e = 4; a[e] = 1;":                                  changes,
		"int e = i; if (e > 4) e = b[2]; a[e] = 1;":                                        "e: its value is not known: it is declared as b[2]: it depends on data",
		"int e = i; if (b[e] > 4) e = 4; a[e] = 1;":                                        "b[e] > 4: an if on data",
		"unsigned char e = i; e = i * 100; a[e] = 1;":                                      "e = i * 100: it would wrap as int, or as unsigned char where i = 4",
		"unsigned e = i; if (e < 4) e = e - 4; for (unsigned k = e; k < 9; k++) a[k] = 1;": "as unsigned, the first value would wrap: begin at 0 or above, or compare signed values, such as (int)n for an unsigned n where i = 0",
	} {
		_, err := csource.Read("t.c", []byte("double a[2000]; int b[9];\nvoid f(void) { for (int i = 0; i < 12; i += 4) { "+text+" } }"), csource.Options{Function: "f"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
