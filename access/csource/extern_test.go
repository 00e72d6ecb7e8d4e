package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestDeclaredOnceMore: what a function declares once more, with extern, is the same variable, also if only that one is written.
func TestDeclaredOnceMore(t *testing.T) {
	const types = "double a[40], b[40]; int n = 5, i; static int k = 3; double *p = a; void to(int *x) { *x = 7; }\n"
	for functions, want := range map[string]string{
		"void set(void) { extern int n; n = 7; } void f(void) { set(); for (int j = 0; j < n; j++) a[j] = 1; }":                  "n: its value is not known",
		"void set(double *x) { extern int n; n++; x[0] = 1; } void f(void) { set(a); for (int j = 0; j < n; j++) a[j] = 1; }":    "n: its value is not known",
		"void set(void) { extern int n; to(&n); } void f(void) { set(); for (int j = 0; j < n; j++) a[j] = 1; }":                 "n: its value is not known",
		"void set(void) { extern int k; k = 1; } void f(void) { set(); a[k] = 1; }":                                              "k: its value is not known",
		"void set(void) { extern double *p; p = b; } void f(void) { p[1] = 1; }":                                                 "where p points is not known",
		"void set(void) { extern int i; i++; } void f(void) { for (i = 0; i < 8; i++) { a[i] = 1; set(); } }":                    "i: the variable of a loop is declared again, in a function: declare it in the loop, as for (int i = 0; ...)",
		"void f(void) { extern int i; for (i = 0; i < 8; i++) a[i] = 1; }":                                                       "the variable of a loop is declared again",
		"int get(void) { extern int n, k; extern double *p; return n + k; } void f(void) { a[n] = k + get(); p[n] = 2; }":        "",
		"void set(void) { { int n; n = 1; } int k = 2; k++; } void f(void) { set(); a[n] = a[k]; extern double b[]; b[k] = 1; }": "",
	} {
		got, err := csource.Read("t.c", []byte(types+functions), csource.Options{Function: "f"})
		switch {
		case want == "" && (err != nil || walked(got) == ""):
			t.Errorf("%s: %v", functions, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s is refused with\n%v\nwant\n%s", functions, err, want)
		}
	}
	// A define says no value of what changes by another of its declarations.
	_, err := csource.Read("t.c", []byte(types+"void set(void) { n = 7; } void f(void) { extern int n; set(); a[n] = 1; }"), csource.Options{Function: "f", Defines: []string{"n=2"}})
	if want := "-D n=2 gives it a value, which it does not keep"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
