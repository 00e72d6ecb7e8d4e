package cpu

import (
	"slices"
	"testing"
)

// FuzzParseList: numbers are told once each, and written and read as the same.
func FuzzParseList(f *testing.F) {
	for _, text := range []string{"0", "0-3,8", "3-1", "1,1", "", "0-1048577", "5-,2", "-1",
		"7,0-2", "1024-1025,9", "0-3\n", "1048575"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseList(text)
		if err != nil {
			return
		}
		again, err := ParseList(FormatList(list))
		if slices.Sort(again); err != nil {
			t.Errorf("%q is %d, which is read as %d, %v", text, list, again, err)
		}
		if slices.Sort(list); !slices.Equal(again, list) ||
			len(slices.Compact(list)) != len(again) {
			t.Errorf("%q is %d, which is read as %d", text, list, again)
		}
	})
}
