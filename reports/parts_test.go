package reports

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/results/history"
)

// TestFigures: how figures are written, by what writes them.
func TestFigures(t *testing.T) {
	for name, c := range map[string]struct {
		write func(float64) string
		want  map[float64]string
	}{
		"a number": {digits, map[float64]string{18: "18", 0.99997: "1", -9.996: "-10",
			99.96: "100", 0.00123: "0.00123", 0.0625: "0.0625", 1e-9: "1e-09",
			3.0000000000000004: "3", 8.999999999999998: "9", 0.012345: "0.0123", 7: "7",
			9.999: "10", 123.4: "123", 999.4: "999", 999.6: "1000", 1234.5: "1234",
			98765: "98765"}},
		"a change": {changeOf, map[float64]string{0: "-100.0%", 0.0001: "-100.0%",
			0.5: "-50.0%", 1.5: "+50.0%", 3: "+200.0%", 1e-12: "-100.0%"}},
	} {
		for v, want := range c.want {
			if got := c.write(v); got != want {
				t.Errorf("%s: %v is %q, want %q", name, v, got, want)
			}
		}
	}
}

// TestTrendMarks: of changes to what is drawn, but for the first point, as many as there is room
// for are marked, those of which it is known how large they are.
func TestTrendMarks(t *testing.T) {
	size := .25
	f := followed{}
	for i := range 20 {
		f.Points = append(f.Points, history.Point{Commit: fmt.Sprint(i)})
	}
	change := func(commit string, size *float64) history.Change {
		return history.Change{First: history.Point{Commit: commit}, Size: size}
	}
	f.changes = []history.Change{change("0", &size), change("3", &size), change("5", nil),
		change("elsewhere", &size), change("7", &size)}
	if got, want := f.marks(), []mark{{2.5, changeOf(1 + size), true},
		{6.5, changeOf(1 + size), true}}; !slices.Equal(got, want) {
		t.Errorf("%v are marked, want %v", got, want)
	}
	if got, want := f.starts(), []int{3, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("values are others from %v on, want %v", got, want)
	}
	for range 20 {
		f.changes = append(f.changes, change("9", &size))
	}
	if got := len(f.marks()); got != maxMarks {
		t.Errorf("%d are marked, want %d", got, maxMarks)
	}
}
