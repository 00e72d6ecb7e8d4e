package sweep

import (
	"strings"
	"testing"
)

// FuzzParse: a space that is read has points to simulate; what is not read gives an error
// with the file.
func FuzzParse(f *testing.F) {
	f.Add("caches: [{d1: '32768,8,64', ll: '8388608,16,64'}]\nshapes: [8x8]\norders: [row, col]\n")
	f.Add("caches: [{preset: a64fx}]\nsuite: quick\n")
	f.Add("caches: [{name: a, d1: '1024,2,64'}]\nshapes: [4x4, 6x6]\nops: [sum, copy]\nviews: " +
		"['', 't()']\npads: [0, 3]\ntiles: [none, 2x2]\n")
	f.Add("caches: [x]\nshapes: [2305843009213693952]\nviews: ['view(torch.float32)[0:10]', " +
		"'x..t()']\ndtypes: [float64]\n")
	f.Add("caches: []\nshapes: [0x0]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error %q", err)
			}
			return
		}
		if s.points() < 1 || len(s.hierarchies) < 1 {
			t.Errorf("%d points of %d hierarchies", s.points(), len(s.hierarchies))
		}
	})
}

// FuzzParseLine: a line of a record is one that was written whole.
func FuzzParseLine(f *testing.F) {
	f.Add("1 2 3 4 10")
	f.Add("1 2 3 4 1")
	f.Add("0 18446744073709551615 1 0 0")
	f.Add("9999999999999 0 0 0 9999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		point, c, ok := parseLine(text)
		if !ok {
			return
		}
		if again, d, ok := parseLine(strings.TrimSuffix(line(point, c), "\n")); !ok ||
			again != point || d != c || point < 0 {
			t.Errorf("%q is point %d, %+v, which is written and read as %d, %+v, %t", text, point,
				c, again, d, ok)
		}
	})
}
