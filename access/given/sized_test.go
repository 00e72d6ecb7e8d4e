package given_test

import (
	"testing"

	"github.com/stridebench/stridebench/access/given"
)

// TestSplit: what a define is of, and what it gives it; of a macro whatever stands behind the
// sign.
func TestSplit(t *testing.T) {
	for define, want := range map[string][2]string{
		"N=5": {"N", "5"}, "N": {"N", "1"}, "N=": {"N", ""}, "OF=y[i]": {"OF", "y[i]"},
		"OF=a==b": {"OF", "a==b"},
		"x[1000]": {"x", "[1000]"}, " x [ n * n / 2 ] ": {"x", "[n*n/2]"},
	} {
		if name, value := given.Split(define); name != want[0] || value != want[1] {
			t.Errorf("%q: %q is %q, want %q", define, name, value, want)
		}
	}
}
