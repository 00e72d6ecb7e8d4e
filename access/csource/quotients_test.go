package csource_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
)

// TestQuotients: the loops that the refusal of a quotient or a remainder names are read, and make its accesses.
func TestQuotients(t *testing.T) {
	const n = 7
	read := func(statements string) (*csource.File, error) {
		return csource.Read("t.c", []byte("double a[8], b[8];\nvoid f(void) { int q, r;\n"+statements+"\n}"), csource.Options{Function: "f", Defines: []string{fmt.Sprintf("N=%d", n)}})
	}
	advised := regexp.MustCompile(`write the loop over v, say, as (for .*), where v is (.*) and v (?:.|>>) \d+ is (.)$`)
	for _, of := range []string{"v % 2", "v % 3", "v & 1", "v & 3", "v / 2", "v / 3", "v >> 1"} {
		_, err := read("for (int v = 0; v < N; v++) a[" + of + "] = b[v];")
		parts := advised.FindStringSubmatch(fmt.Sprint(err))
		if parts == nil {
			t.Errorf("%s: %v", of, err)
			continue
		}
		got, err := read(parts[1] + " a[" + parts[3] + "] = b[" + parts[2] + "];")
		unrolled := ""
		for v := range n {
			unrolled += fmt.Sprintf("a[%s] = b[%d];\n", strings.ReplaceAll(of, "v", fmt.Sprint(v)), v)
		}
		want, err2 := read(unrolled)
		if err != nil || err2 != nil || walked(got) != walked(want) {
			t.Errorf("%s: by %q: %v, %v", of, parts, err, err2)
		}
	}
	ring := regexp.MustCompile(`where v is from 0 to (\d+), write (.*), else write the loop`)
	_, err := read("for (int v = 0; v < N; v++) a[v % 4] = b[v];")
	parts := ring.FindStringSubmatch(fmt.Sprint(err))
	if parts == nil {
		t.Fatal(err)
	}
	got, err := read("for (int v = 0; v <= " + parts[1] + "; v++) a[" + parts[2] + "] = b[v];")
	if want := "rb0 wa0 rb8 wa8 rb16 wa16 rb24 wa24 rb32 wa0 rb40 wa8 rb48 wa16 rb56 wa24"; err != nil || walked(got) != want {
		t.Errorf("%q: %v", parts, err)
	}
	for _, of := range []string{"v % -2", "v & 2", "v & 0x7fffffffffffffff", "v / -2", "v ^ 1"} {
		if _, err := read("for (long v = 0; v < N; v++) a[" + of + "] = b[v];"); err == nil || !strings.HasSuffix(err.Error(), "of a variable is not affine") {
			t.Errorf("%s: %v", of, err)
		}
	}
}
