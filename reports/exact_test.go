package reports

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/outfile"
)

// The picture of docs/exact.md is made from the seconds beside it: a kernel a line,
// those of the tools in columns.
const (
	exactData    = "../docs/exact.csv"
	exactPicture = "../docs/exact.png"
	exactPage    = "../docs/exact.md" // its table is the last that it has, after a mark
	exactMark    = "<!-- table -->\n"
)

// exactTools are the columns of the picture, the slowest first.
var exactTools = []struct{ column, name string }{
	{"dinero_s", "Dinero IV"},
	{"warping_lru_s", "warping"},
	{"haystack_s", "HayStack (fully associative)"},
	{"brute_s", "stridebench, every access"},
	{"ours_s", "stridebench"},
}

// TestExact draws the picture and writes the table, and compares them with what is kept
// (GALLERY=write keeps them).
func TestExact(t *testing.T) {
	if testing.Short() {
		t.Skip("drawing is slow under the race detector: make test draws it without")
	}
	file, err := os.Open(exactData)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	look := Light.style()
	chart, err := exactFigure(&look, rows).render(&data{look: look,
		setup: results.Setup{CPU: "AMD EPYC, a shared virtual machine (stridebench); the others " +
			"as published", D1: results.Cache{Name: "L1", Size: 32 << 10, Ways: 8, Line: 64}}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(exactPage)
	if err != nil {
		t.Fatal(err)
	}
	words, _, _ := strings.Cut(string(page), exactMark)
	want := words + exactMark + exactTable(rows)
	if os.Getenv("GALLERY") == "write" {
		if err := errors.Join(outfile.WriteFile(exactPicture, chart.PNG),
			outfile.WriteFile(exactPage, []byte(want))); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Error("docs/exact.md has another table than docs/exact.csv: make gallery")
	}
	kept, err := os.ReadFile(exactPicture)
	if err != nil || differs(t, filepath.Base(exactPicture), kept, chart.PNG) {
		t.Errorf("docs/exact.png shows something else than docs/exact.csv (%v): make gallery, "+
			"and look at it", err)
	}
}

// exactFigure has a line for each kernel, by what the slowest tool takes.
func exactFigure(look *style, rows [][]string) *figure {
	p := look.newPanel("seconds, of processes that count a kernel of PolyBench LARGE in 32 "+
		"KiB, 8 ways", "")
	f := &figure{title: "Counting 30 kernels to the last miss", panels: []*panel{p}}
	body := rows[1:]
	seconds := func(row []string, column string) float64 {
		s, _ := strconv.ParseFloat(row[slices.Index(rows[0], column)], 64)
		return s
	}
	slices.SortStableFunc(body, func(a, b []string) int {
		return cmp.Compare(seconds(b, exactTools[0].column), seconds(a, exactTools[0].column))
	})
	var ticks plot.ConstantTicks
	for i, row := range body {
		ticks = append(ticks, plot.Tick{Value: float64(-i), Label: row[0]})
	}
	low, high := 1.0, 1.0
	for i, tool := range exactTools {
		var points plotter.XYs
		for k, row := range body {
			if s := seconds(row, tool.column); s > 0 {
				points = append(points, plotter.XY{X: s, Y: float64(-k)})
				low, high = min(low, s), max(high, s)
			}
		}
		h := look.hues[len(exactTools)-1-i]
		glyphs := &plotter.Scatter{XYs: points,
			GlyphStyle: draw.GlyphStyle{Color: h.color, Radius: 3.2, Shape: h.glyph}}
		p.Add(glyphs)
		f.explain(tool.name, glyphs)
	}
	logAxis(&p.X, low/1.5, high*1.5, number6)
	p.Y.Min, p.Y.Max = -float64(len(body))+0.4, 0.6
	p.Y.Tick.Marker, p.Y.Tick.Length = ticks, 0
	f.height = vg.Length(len(body))*0.2*vg.Inch + 0.55*vg.Inch
	return f
}

// exactTable has the sums over all kernels, by tool.
func exactTable(rows [][]string) string {
	sum := func(column string) string {
		total := 0.0
		for _, row := range rows[1:] {
			s, err := strconv.ParseFloat(row[slices.Index(rows[0], column)], 64)
			if err != nil { // not measured
				return ""
			}
			total += s
		}
		return fmt.Sprintf("%.0f", total)
	}
	text := "| tool | one level, s | two levels, s |\n|:--|--:|--:|\n"
	for _, tool := range slices.Backward(exactTools) {
		text += "| " + tool.name + " | " + sum(tool.column) + " |"
		two := strings.TrimSuffix(tool.column, "_s") + "_two_levels_s"
		if slices.Contains(rows[0], two) {
			text += " " + sum(two)
		}
		text += " |\n"
	}
	return text
}
