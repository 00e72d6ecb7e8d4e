package access

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/layouts/nest"
)

// FuzzParseOrder: an order is written as it is read, and refuses what is no view's.
func FuzzParseOrder(f *testing.F) {
	for _, text := range []string{"", "row", "col", "torch", "from", "to", "1,0", "-1,0,1", "0,0", "128", "1,,0", "rows"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, rank int) {
		o, err := ParseOrder(text)
		if err != nil {
			return
		}
		if again, err := ParseOrder(o.String()); err != nil || again != o {
			t.Errorf("%q is written as %q, which is read as %v, %v", text, o, again, err)
		}
		rank &= 7
		dims, err := o.of(rank)
		if slices.Sort(dims); err == nil && !slices.Equal(dims, nest.UpTo(rank)) {
			t.Errorf("%q of %d dims has dims %d", text, rank, dims)
		}
	})
}

// FuzzParseTile: a tile is what a shape is, or none.
func FuzzParseTile(f *testing.F) {
	for _, text := range []string{"none", "8", "7x5", "", "0x1", "-3", "9999999999999999999x2", "3x", "8X8"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sizes, err := ParseTile(text)
		if err != nil || sizes == nil {
			return
		}
		if again, err := ParseTile(layouts.FormatShape(sizes)); err != nil || !slices.Equal(again, sizes) {
			t.Errorf("%q is %d, which is written %q and read as %d, %v", text, sizes, layouts.FormatShape(sizes), again, err)
		}
	})
}
