package access

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
)

// FuzzParseOrder: an order is written as it is read, and refuses what is no view's.
func FuzzParseOrder(f *testing.F) {
	for _, text := range []string{"", "row", "col", "torch", "from", "to", "1,0", "-1,0,1", "0,0",
		"128", "1,,0", "rows"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, rank int) {
		o, err := parseOrder(text)
		if err != nil {
			return
		}
		if again, err := parseOrder(o.String()); err != nil || again != o {
			t.Errorf("%q is written as %q, which is read as %v, %v", text, o, again, err)
		}
		rank &= 7
		dims, err := o.of(rank)
		if slices.Sort(dims); err == nil && !slices.Equal(dims, nest.UpTo(rank)) {
			t.Errorf("%q of %d dims has dims %d", text, rank, dims)
		}
	})
}
