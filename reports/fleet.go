package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/fleet"
)

//go:embed page/fleet.html
var fleetText string

var fleetTemplate = parsed("fleet", &fleetText)

// A Fleet is the page on many machines.
type Fleet struct {
	Sentence string // the finding
	Findings []FleetFinding
	matrix   *fleet.Matrix
	judged   fleet.Judgement
	order    []int // machines: those out of line, the farthest first, then the slowest
	ratios   [][]float64
	options  Options
}

// A FleetFinding describes a machine that is out of line.
type FleetFinding struct{ Machine, What, Chance, Why string }

// fleetAlpha is the chance of any false finding in a fleet.
const fleetAlpha = 0.01

// MakeFleet judges the machines of a matrix.
func MakeFleet(m *fleet.Matrix, o Options) Fleet {
	f := Fleet{matrix: m, judged: m.Judge(fleetAlpha), ratios: m.Ratios(), options: o}
	out := map[int]int{} // findings are sorted, the farthest first
	for i, one := range f.judged.Findings {
		f.Findings = append(f.Findings, f.words(one))
		if _, ok := out[one.Machine]; !ok {
			out[one.Machine] = len(f.judged.Findings) - i
		}
	}
	for i := range m.Machines {
		f.order = append(f.order, i)
	}
	slices.SortStableFunc(f.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(out[b], out[a]),
			cmp.Compare(f.judged.Scores[b][fleet.All], f.judged.Scores[a][fleet.All]))
	})
	switch {
	case len(m.Machines) == 1:
		f.Sentence = "1 machine: without peers (at least 8 machines with one CPU) nothing shows " +
			"whether it is out of line."
	case f.judged.Tests == 0:
		f.Sentence = fmt.Sprintf("%d machines: none has enough peers (at least 8 machines with "+
			"one CPU) to show which is out of line.", len(m.Machines))
	case len(out) == 0:
		f.Sentence = fmt.Sprintf("None of %d machines is out of line (the test finds one that "+
			"takes %s times as long as its peers).", len(m.Machines)-f.judged.Untested, f.sees())
	default:
		f.Sentence = fmt.Sprintf("%d of %d machines are out of line; the farthest is %s: %s.",
			len(out), len(m.Machines)-f.judged.Untested,
			results.Printable(f.Findings[0].Machine), f.Findings[0].What)
	}
	return f
}

// sees returns the least ratio that the test finds.
func (f Fleet) sees() string {
	if f.judged.Sees == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", math.Ceil(100*f.judged.Sees)/100)
}

func (f Fleet) words(one fleet.Finding) FleetFinding {
	of := map[fleet.Aspect]string{fleet.All: "everything", fleet.Caches: "what the caches hold",
		fleet.Memory: "what misses the last cache"}
	what := fmt.Sprintf("%s takes %.0f%% longer than", of[one.Aspect], 100*(one.Ratio-1))
	switch {
	case one.Aspect == fleet.Scatter:
		what = fmt.Sprintf("samples scatter %.1f times as wide as", one.Ratio)
	case one.Ratio >= 10 || one.Ratio <= 0.1:
		what = fmt.Sprintf("%s takes %s times as long as", of[one.Aspect], brief(one.Ratio))
	case one.Ratio < 1:
		what = fmt.Sprintf("%s takes %.0f%% less than", of[one.Aspect], 100*(1-one.Ratio))
	}
	chance := "< 1e-9"
	if one.P >= 1e-9 {
		chance = fmt.Sprintf("%.1g", one.P)
	}
	return FleetFinding{f.matrix.Machines[one.Machine].Name,
		fmt.Sprintf("%s on %d peers", what, one.Peers), chance, one.Why}
}

// A larger fleet has names at some of its rows.
const maxNamed = 40

func (f Fleet) draw(d *data) (*figure, error) {
	rows, columns := len(f.order), len(f.matrix.Benchmarks)
	h := heatMap{&d.look, columns, rows, func(column, row int) (color.Color, string) {
		return d.look.shade(f.ratios[f.order[rows-1-row]][column]), ""
	}}
	var machines []string
	for _, i := range slices.Backward(f.order) {
		machines = append(machines, f.matrix.Machines[i].Name)
	}
	p, below := d.look.newHeatMap(h, "benchmarks, by family", "", f.familyTicks(),
		ticksOf(machines, maxNamed, 24))
	fig := &figure{title: fmt.Sprintf("%s, %s: times against the peers' median",
		counted(rows, "machine"), counted(columns, "benchmark")), sentence: f.Sentence,
		alt: "Heat map: the time of each benchmark on each machine as a ratio to the median of " +
			"machines with the same CPU",
		height: vg.Length(min(max(rows, 14), maxNamed))*0.17*vg.Inch + 0.4*vg.Inch + below,
		panels: []*panel{p}}
	for _, ratio := range []float64{1 / clipRatio, 1 / math.Sqrt(clipRatio), 1,
		math.Sqrt(clipRatio), clipRatio} {
		fig.explain(fmt.Sprintf("%+.0f%%", 100*(ratio-1)),
			swatch{d.look.shade(ratio), d.look.marked})
	}
	return fig, nil
}

func (f Fleet) familyTicks() (ticks plot.ConstantTicks) {
	last := math.Inf(-1)
	names, of := f.families()
	for _, name := range names {
		if at := float64(of[name][0]); at-last > float64(len(f.matrix.Benchmarks))/24 {
			ticks = append(ticks, plot.Tick{Value: at, Label: short(name, 12)})
			last = at
		}
	}
	return ticks
}

const maxMachines = 1000

type fleetRow struct {
	Name, CPU string
	Cells     []fleetCell
}

type fleetCell struct {
	Text  string
	Style template.CSS // of its background
}

func (f Fleet) families() (names []string, of map[string][]int) {
	of = map[string][]int{}
	for k, name := range f.matrix.Benchmarks {
		family, _, _ := strings.Cut(name, "/")
		if of[family] == nil {
			names = append(names, family)
		}
		of[family] = append(of[family], k)
	}
	return names[:min(len(names), 16)], of
}

func (f Fleet) rows() (rows []fleetRow, heads []string) {
	names, of := f.families()
	heads = append([]string{"all", "caches", "memory", "scatter"}, names...)
	for _, i := range f.order[:min(len(f.order), maxMachines)] {
		m := f.matrix.Machines[i]
		row := fleetRow{Name: clip(m.Name), CPU: clip(m.Config["cpu"])}
		for a, ratio := range f.judged.Scores[i] {
			cell := ratioCell(ratio)
			if fleet.Aspect(a) == fleet.Scatter {
				cell.Style = "" // a ratio of 2 is ordinary here
			}
			row.Cells = append(row.Cells, cell)
		}
		for _, name := range names {
			var ratios []float64
			for _, k := range of[name] {
				if r := f.ratios[i][k]; !math.IsNaN(r) {
					ratios = append(ratios, r)
				}
			}
			row.Cells = append(row.Cells, ratioCell(results.Median(ratios)))
		}
		rows = append(rows, row)
	}
	return rows, heads
}

func ratioCell(ratio float64) fleetCell {
	if math.IsNaN(ratio) {
		return fleetCell{}
	}
	share := math.Round(100 * min(1, math.Abs(math.Log(ratio))/math.Log(clipRatio)))
	hue := "slower"
	if ratio < 1 {
		hue = "faster"
	}
	cell := fleetCell{Text: fmt.Sprintf("%.2f", ratio)}
	if share >= 4 {
		cell.Style = template.CSS(fmt.Sprintf(
			"background:color-mix(in srgb,var(--%s) %.0f%%,transparent)", hue, share))
	}
	return cell
}

// Write writes fleet.html, its picture, and the matrix as fleet.csv to a folder. It returns their
// paths.
func (f Fleet) Write(dir string) (paths []string, err error) {
	look, err := f.options.Theme.style()
	if err != nil {
		return nil, err
	}
	d := &data{look: look, setup: results.SetupOf(f.matrix.Machines[0].Config)}
	fig, err := f.draw(d)
	if err != nil {
		return nil, err
	}
	chart, err := fig.render(d)
	if err != nil {
		return nil, err
	}
	page, err := f.page(d, chart)
	if err != nil {
		return nil, err
	}
	var table bytes.Buffer
	if err := f.matrix.WriteCSV(&table); err != nil {
		return nil, err
	}
	files := []struct {
		name string
		text []byte
	}{{"fleet.html", page}, {"fleet.png", chart.PNG}, {"fleet.svg", chart.SVG},
		{"fleet.csv", table.Bytes()}}
	for _, out := range files {
		if err := checkOwn(dir, files[0].name, out.name); err != nil {
			return nil, err
		}
	}
	for _, out := range files {
		path := filepath.Join(dir, out.name)
		if err := results.WriteFile(path, out.text); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (f Fleet) page(d *data, chart Chart) ([]byte, error) {
	picture, err := d.picture(maker{draw: f.draw})
	if err != nil {
		return nil, err
	}
	rows, heads := f.rows()
	var out bytes.Buffer
	err = fleetTemplate().Execute(&out, map[string]any{
		"Title": fmt.Sprintf("%s by %s", counted(len(f.matrix.Machines), "machine"),
			f.matrix.Label), "Policy": policy(), "Style": template.CSS(pageStyle),
		"Script": template.JS(pageScript), "Theme": f.options.Theme,
		"Sentence": f.Sentence, "Findings": f.Findings[:min(len(f.Findings), maxRows)],
		"More": max(0, len(f.Findings)-maxRows), "Untested": f.judged.Untested,
		"Tests": f.judged.Tests, "Sees": f.sees(), "Alpha": fleetAlpha,
		"Light": inlined(picture.light), "Dark": inlined(picture.dark), "Alt": chart.Alt,
		"Figure": chart.Title,
		"Width":  int(picture.width * 96 / 72), "Height": int(picture.height * 96 / 72),
		"Label": f.matrix.Label, "Heads": heads, "Rows": rows,
		"Left": max(0, len(f.order)-maxMachines), "Command": f.options.Command,
	})
	return out.Bytes(), err
}
