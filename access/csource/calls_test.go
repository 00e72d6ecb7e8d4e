package csource_test

import (
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestCalled: a function that is called touches memory also by an array without subscripts, or a whole struct that holds one.
func TestCalled(t *testing.T) {
	const types = "#include <assert.h>\n#include <string.h>\ntypedef struct { double x[8]; int n; struct { int k; } in; } T; T p, q; double a[8], *to; void out(double *);\n"
	for body, refused := range map[string]bool{
		"out(a);": true, "memset(a, 0, sizeof a);": true, "memset(to, 0, 8);": true, "p = q;": true, "T k = p;": true, "out(p.x);": true, "out((p).x);": true,
		"i += p.n + (q).in.k; p.n++; assert(i > 0);": false, "struct { double x; } k, l = {0}; k = l;": false,
		"i += sizeof a / sizeof *a + sizeof p.x[1] + sizeof(to[i]);": false, "i += sizeof a + a[1];": true,
	} {
		_, err := csource.Read("t.c", []byte(types+"int z(int i) { "+body+" return i; } void f(void) { a[0] = 1 + z(1); }"), csource.Options{Function: "f"})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "z(1): z uses arrays or pointers") {
			t.Errorf("%s: %v", body, err)
		}
	}
}
