package reports

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results/history"
)

// TestRatioCell: a ratio has a ground, the stronger the further it is from 1, which what is about 1 and what is unknown have not.
func TestRatioCell(t *testing.T) {
	ground := func(hue string, share int) string {
		return fmt.Sprintf("background:color-mix(in srgb,var(--%s) %d%%,transparent)", hue, share)
	}
	for _, c := range []struct {
		ratio       float64
		text, style string
	}{
		{math.NaN(), "", ""}, {1, "1.00", ""}, {1.009, "1.01", ""}, {1.011, "1.01", ground("slower", 4)}, {.989, "0.99", ground("faster", 4)},
		{1.14, "1.14", ground("slower", 50)}, {1.3, "1.30", ground("slower", 100)}, {4, "4.00", ground("slower", 100)}, {.5, "0.50", ground("faster", 100)},
	} {
		if got := ratioCell(c.ratio); got.Text != c.text || string(got.Style) != c.style {
			t.Errorf("%v: %q on %q, want %q on %q", c.ratio, got.Text, got.Style, c.text, c.style)
		}
	}
}

// TestOverlap: rectangles overlap if they do along both axes, by more than an edge.
func TestOverlap(t *testing.T) {
	of := func(x, y, width, height vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}
	}
	a := of(10, 10, 10, 10)
	for _, c := range []struct {
		b    vg.Rectangle
		want bool
	}{
		{a, true}, {of(12, 12, 2, 2), true}, {of(0, 0, 100, 100), true}, {of(5, 15, 6, 1), true}, {of(19, 5, 9, 6), true},
		{of(20, 10, 5, 10), false}, {of(0, 10, 10, 10), false}, {of(10, 20, 10, 5), false}, {of(10, 0, 10, 10), false},
		{of(30, 12, 2, 2), false}, {of(0, 12, 2, 2), false}, {of(12, 30, 2, 2), false}, {of(12, 0, 2, 2), false},
	} {
		if overlap(a, c.b) != c.want || overlap(c.b, a) != c.want {
			t.Errorf("%v and %v: overlap is not %v", a, c.b, c.want)
		}
	}
}

// TestAlikeLabels: labels are cut where a word ends up to which all are the same.
func TestAlikeLabels(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   int
	}{
		{nil, 0}, {[]string{"copy of x"}, 0}, {[]string{"copy", "copy"}, 0}, {[]string{"copy of x", "copy of y"}, 8}, {[]string{"copy of xa", "copy of xb"}, 8},
		{[]string{"a/b=1", "a/b=2", "a/c=1"}, 2}, {[]string{"sum", "copy"}, 0}, {[]string{"op", "op-a"}, 0}, {[]string{"op-", "op-a"}, 3}, {[]string{"", "op-a"}, 0},
	} {
		if got := alike(c.labels); got != c.want {
			t.Errorf("%q: %d, want %d", c.labels, got, c.want)
		}
	}
}

// TestLegible: the last two labels of an axis are a part of it apart; ticks without a label are none.
func TestLegible(t *testing.T) {
	ticks := func(values ...float64) (all plot.ConstantTicks) {
		for _, v := range values {
			all = append(all, plot.Tick{Value: max(v, -v), Label: map[bool]string{true: "label"}[v > 0]})
		}
		return all
	}
	for _, c := range []struct {
		ticks plot.ConstantTicks
		want  bool
	}{{nil, true}, {ticks(1), true}, {ticks(1, 2), true}, {ticks(1, 1.5), false}, {ticks(1, 1.01, 2, 4), true}, {ticks(1, 2, 2.1), false}, {ticks(1, 2, -2.1), true}, {ticks(1, -2, -2.1, 2.2), true}, {ticks(.5, .6), false}, {ticks(.25, .5), true}} {
		if got := legible(c.ticks, 1, 1000); got != c.want {
			t.Errorf("%v: %v", c.ticks, got)
		}
	}
}

// TestOutgrown: threads outgrow a level when the caches before it hold three quarters of what each has.
func TestOutgrown(t *testing.T) {
	s := scaling{bytes: 6 << 20, before: mark{at: 1 << 20}, series: series{points: []point{{x: 1}, {x: 4}, {x: 8}, {x: 16}}}}
	if threads, found := s.outgrown(); threads != 8 || !found {
		t.Errorf("%d threads outgrow 6 MiB of 1 MiB each (%v), want 8", threads, found)
	}
	s.bytes++
	if threads, found := s.outgrown(); threads != 16 || !found {
		t.Errorf("%d threads outgrow a little more (%v), want 16", threads, found)
	}
	s.bytes = 64 << 20
	if threads, found := s.outgrown(); found {
		t.Errorf("%d threads outgrow 64 MiB of 1 MiB each", threads)
	}
	s.bytes, s.before = 0, mark{}
	if threads, found := s.outgrown(); found {
		t.Errorf("%d threads outgrow what has no level before it", threads)
	}
}

// TestTrendMarks: of changes to what is drawn, but for the first point, as many as there is room for are marked, those of which it is known how large they are.
func TestTrendMarks(t *testing.T) {
	size := .25
	f := followed{}
	for i := range 20 {
		f.Points = append(f.Points, history.Point{Commit: fmt.Sprint(i)})
	}
	change := func(commit string, size *float64) history.Change {
		return history.Change{First: history.Point{Commit: commit}, Size: size}
	}
	f.changes = []history.Change{change("0", &size), change("3", &size), change("5", nil), change("elsewhere", &size), change("7", &size)}
	if got, want := f.marks(), []mark{{2.5, changeText(size)}, {6.5, changeText(size)}}; !slices.Equal(got, want) {
		t.Errorf("%v are marked, want %v", got, want)
	}
	if got, want := f.starts(), []int{0, 3, 5, 7, 20}; !slices.Equal(got, want) {
		t.Errorf("values are others from %v on, want %v", got, want)
	}
	for range 20 {
		f.changes = append(f.changes, change("9", &size))
	}
	if got := len(f.marks()); got != maxMarks {
		t.Errorf("%d are marked, want %d", got, maxMarks)
	}
}
