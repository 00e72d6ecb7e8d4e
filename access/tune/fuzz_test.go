package tune

import (
	"bytes"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access/kernel"
)

// FuzzParse: what is read is written and read as the same, and says only what sets can be
// tuned to.
func FuzzParse(f *testing.F) {
	c := Calibration{CPU: "a \"CPU\"", Date: time.Unix(1e9, 0),
		Sets: map[string]kernel.Tuning{"avx2": kernel.Default(),
			"avx512": {Runs: 1, Tiles: 1, Narrow: 1, Blocks: 1, Reads: 1, ReadsAhead: 1}}}
	text, err := c.Format()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(bytes.ReplaceAll(text, []byte("33554432"), []byte("3072")))
	f.Add([]byte(`{"Version": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		for name, tuning := range c.Sets {
			if err := tuning.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		first, err := c.Format()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(first)
		if err != nil {
			t.Fatalf("%v, of\n%s", err, first)
		}
		if second, err := again.Format(); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s\nis read and written as\n%s, %v", first, second, err)
		}
	})
}
