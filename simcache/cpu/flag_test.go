package cpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzParseTLB(f *testing.F) {
	f.Add("64,4,4096 1536,12,4096")
	f.Add("64,4")
	f.Add("6,4,4096")
	f.Add("1,1,99999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		levels, err := ParseTLB(text)
		if err != nil {
			return
		}
		again, err := ParseTLB(FormatTLB(levels))
		if diff := cmp.Diff(levels, again); err != nil || diff != "" {
			t.Errorf("%q is %v, written and read again %v", text, levels, again)
		}
	})
}
