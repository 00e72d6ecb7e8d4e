package reports

import (
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/stridebench/stridebench/results"
)

// TestMarksAreNotStruck: no line goes through the label of another mark, nor does the room
// that is made for one cut the other.
func TestMarksAreNotStruck(t *testing.T) {
	look := Light.style()
	p := plot.New()
	p.X.Min, p.X.Max = 0, 8
	var canvas recorder.Canvas
	look.marks([]mark{{1, "pays from n = 1 (avx2)", false}, {2, "pays from n = 2 (plain loop)",
		false}, {9, "outside", false}}).Plot(draw.NewCanvas(&canvas, 400*vg.Inch/72, 200), p)
	order := ""
	for _, action := range canvas.Actions {
		switch a := action.(type) {
		case *recorder.Stroke:
			order += "|"
		case *recorder.Fill:
			order += "#"
		case *recorder.FillString:
			order += a.String[len(a.String)-3:]
		}
	}
	if order != "||##x2)op)" {
		t.Errorf("drawn in the order %q", order)
	}
}

// TestFooterWraps: what does not fit into a line goes on in the next one, whole.
func TestFooterWraps(t *testing.T) {
	look := Light.style()
	d := &data{look: look, rows: []results.Row{{Name: "A"}}, setup: results.Setup{
		CPU:  "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz of a virtual machine with a long name",
		CPUs: 2, GOOS: "linux", GOARCH: "amd64", GoVersion: "go1.26.8",
		Caches: []results.Cache{{Name: "L1d", Size: 48 << 10, Ways: 12, Line: 64},
			{Name: "L2", Size: 2 << 20, Ways: 16, Line: 64},
			{Name: "L3", Size: 105 << 20, Ways: 15, Line: 64}}}}
	f := d.footer()
	if got, want := strings.Join(f.lines, " "),
		strings.ReplaceAll(d.machine(), "\n", " "); got != want || len(f.lines) < 3 {
		t.Errorf("%d lines, %q, want %q", len(f.lines), got, want)
	}
	for _, line := range f.lines {
		if fit(f.style, line, figureWidth-2*margin) != line {
			t.Errorf("%q does not fit", line)
		}
	}
}
