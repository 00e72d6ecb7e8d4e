package cpu

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache"
)

// FuzzParseList: numbers are told once each, and written and read as the same.
func FuzzParseList(f *testing.F) {
	for _, text := range []string{"0", "0-3,8", "3-1", "1,1", "", "0-1048577", "5-,2", "-1", "7,0-2", "1024-1025,9", "0-3\n", "1048575"} {
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
		if slices.Sort(list); !slices.Equal(again, list) || len(slices.Compact(list)) != len(again) {
			t.Errorf("%q is %d, which is read as %d", text, list, again)
		}
	})
}

// FuzzFromWindows: whatever the records hold, what is simulated of them can be.
func FuzzFromWindows(f *testing.F) {
	record := make([]byte, 56)
	record[0], record[4], record[8], record[9], record[10], record[13], record[16], record[40] = 2, 56, 1, 8, 64, 128, 2, 1
	f.Add(record)
	f.Add(append(slices.Clone(record), record[:30]...))
	f.Add(record[:8])
	odd := slices.Clone(record) // of 97 ways, of which no whole number makes its size
	odd[8], odd[9], odd[12], odd[13], odd[14] = 2, 97, 48, 128, 48
	f.Add(append(odd, record...))
	f.Fuzz(func(t *testing.T, records []byte) {
		s := system{processors: records}
		for _, c := range s.fromWindows() {
			if c.Geometry.Ways < 0 || c.Geometry.Line < 0 || c.Geometry.Size < 0 || c.Shared < 1 {
				t.Errorf("%+v", c)
			}
		}
		known := s.known()
		c := Choose(known)
		all := []simcache.Geometry{c.I1}
		for _, l := range append(Between(c, known), c.Levels...) {
			all = append(all, l.Geometry)
		}
		for _, g := range all {
			if err := g.Check(); err != nil {
				t.Errorf("%s: %v", g, err)
			}
		}
	})
}
