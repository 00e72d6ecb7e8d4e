package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestCompiledBuiltins: calls of functions that GCC knows, of comparisons that it takes for operators and of constants within compound
// assignments make the accesses that they make when GCC has compiled them, or are refused as not known.
func TestCompiledBuiltins(t *testing.T) {
	t.Parallel()
	const arrays = "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\ndouble a[4], b[4], c[4]; int k[4]; double x = 2; int n = 1;\nint clz(int p);\n"
	statements := strings.Split(`a[1] += isgreater(b[1], c[2])@a[1] += isless(b[1], sqrt(c[2]))@x = isunordered(b[1], c[2])@a[1] = __builtin_islessequal(b[1], c[2]) + islessgreater(a[1], b[2])@
a[1] += __builtin_isinf(b[1])@a[1] += isinf(b[1])@a[1] += isnan(b[1])@k[1] += atoi("3") * k[2]@a[1] += strlen("abc") * b[1]@k[1] += __builtin_clrsb(k[2])@k[1] += clz(k[2])@k[1] += __builtin_clz(k[2] | 1)@
a[1] += __builtin_inf() + b[1]@a[1] *= __builtin_huge_val() * b[1]@a[1] -= __builtin_powi(b[1], 3)@a[1] += finite(b[1])@
a[1] += __builtin_sqrt(b[1])@a[1] += sqrt(2.0) * b[1]@a[1] += pow(2, 3) * b[1]@a[1] += exp(1.0) + b[1]@
a[1] += 1 ? b[1] : sqrt(c[1])@a[1] += (0 && sqrt(n) > 1) + b[1]@a[1] += n == n ? b[1] : sqrt(c[1])@
a[1] += sin(2 != 2 ? log(c[2]) : b[2])@a[1] += fabs(1 ? b[1] : exp(c[1]))@a[1] += fabs(0 ? b[1] : exp(c[1]))@a[1] += sin((1 || exp(c[1]) > 2) + b[1])@a[1] += sin((1 && exp(c[1]) > 2) + b[1])@
a[1] += sqrt(1 ? b[1] : exp(c[1]))@a[1] += cos(fmax(0 && sqrt(n) > 1, b[1]))@for (int i = 0; i < 3; i++) a[i] += fmax(i > 1 ? sqrt(b[i]) : c[i], b[2])`, "@")
	refused := `a[1] += __builtin_sqrt(2.0) * b[1];a[1] += sin(n == n ? b[1] : sqrt(c[1]));a[1] += __builtin_pow(b[1], 1.0);a[1] -= fmin(b[1] * c[2], exp2(1.5));a[1] -= fabs(pow(b[1], 1));a[1] -= sin(sqrt(fabs(2.0)) * b[1]);a[1] -= __builtin_exp(fmax(1.5, 2.5)) * b[1]`
	of := func(s string) (*csource.File, error) {
		return csource.Read("t.c", []byte(arrays+"void f(void) { int n = 1;"+s+"; }"), csource.Options{Function: "f"})
	}
	for _, s := range strings.Split(refused, ";") {
		if _, err := of(s); err == nil || !strings.Contains(err.Error(), "whether it is read before the left side of the assignment is not known") {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"x = a[1] - (x += sqrt(b[1]))", "x = a[1] * (x = c[1], b[1])", "x = fabs(a[1] > 2 + (x += sqrt(b[1])))"} {
		if _, err := of(s); err == nil || !strings.Contains(err.Error(), "which operand is read first is not known") {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"k[1] = __builtin_constant_p(b[1])", "a[1] = __builtin_choose_expr(1, b[1], c[1])", "a[1] = __builtin_cimag(b[1])"} {
		if _, err := of(s); err == nil || !strings.Contains(err.Error(), "whether __builtin_") || !strings.Contains(err.Error(), "is not known: write its value") {
			t.Errorf("%s: %v", s, err)
		}
	}
	function := "int clz(int p) { return p; }\nvoid f(void) { int n = 1;\n"
	var want []string
	var first *csource.File
	for _, s := range statements {
		f, err := of(s)
		if err != nil {
			t.Fatal(err)
		}
		first = f
		function, want = function+s+";\n", append(want, walkedWidths(f))
	}
	compiledInTurn(t, arrays+function+"}\n", first.Arrays, statements, want)
}
