package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	imagedraw "image/draw"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
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

// clipRatio is the ratio beyond which colours no longer change.
const clipRatio = 1.3

// shade returns the colour of a ratio: paper at 1, one hue for slower, another for faster. It is
// grey for no ratio.
func (s *style) shade(ratio float64) color.RGBA {
	if math.IsNaN(ratio) || ratio <= 0 {
		return s.grid
	}
	share := math.Log(ratio) / math.Log(clipRatio)
	to := s.hues[1].color
	if share < 0 {
		share, to = -share, s.hues[0].color
	}
	share = min(share, 1)
	mix := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + share*(float64(b)-float64(a))))
	}
	return color.RGBA{mix(s.paper.R, to.R), mix(s.paper.G, to.G), mix(s.paper.B, to.B), 0xFF}
}

// A larger fleet gets a second panel. It shows the first machines in rows that are legible.
const maxNamed = 40

func (f Fleet) draw(d *data) (*figure, error) {
	rows, columns := len(f.order), len(f.matrix.Benchmarks)
	fig := &figure{title: fmt.Sprintf("%s, %s: times against the peers' median",
		counted(rows, "machine"), counted(columns, "benchmark")), sentence: f.Sentence,
		alt: "Heat map: the time of each benchmark on each machine as a ratio to the median of " +
			"machines with the same CPU"}
	if rows > maxNamed {
		f.panel(d, fig, "the farthest out of line", f.order[:maxNamed/2])
	}
	f.panel(d, fig, "all machines", f.order)
	last := fig.panels[len(fig.panels)-1]
	last.x = "benchmarks, by family"
	last.X.Tick.Marker = f.familyTicks()
	last.X.Tick.Label.Rotation = math.Pi / 5
	last.X.Tick.Label.XAlign, last.X.Tick.Label.YAlign = -1, -0.6
	fig.height += 0.8 * vg.Inch
	for _, ratio := range []float64{1 / clipRatio, 1 / math.Sqrt(clipRatio), 1,
		math.Sqrt(clipRatio), clipRatio} {
		fig.explain(fmt.Sprintf("%+.0f%%", 100*(ratio-1)),
			swatch{d.look.shade(ratio), d.look.marked})
	}
	return fig, nil
}

func (f Fleet) panel(d *data, fig *figure, title string, machines []int) {
	rows, columns := len(machines), len(f.matrix.Benchmarks)
	const pixels = 1400 // about, either way: one pixel for each cell would be blurred
	up, across := (pixels+rows-1)/rows, (pixels+columns-1)/columns
	img := image.NewRGBA(image.Rect(0, 0, columns*across, rows*up))
	for row, i := range machines {
		for k := range columns {
			fill := image.NewUniform(d.look.shade(f.ratios[i][k]))
			imagedraw.Draw(img, image.Rect(k*across, row*up, (k+1)*across, (row+1)*up), fill,
				image.Point{}, imagedraw.Src)
		}
	}
	p := d.look.newPanel("", title)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(columns), 0, float64(rows)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks{}, f.machineTicks(machines)
	p.Add(plotter.NewImage(img, 0, 0, float64(columns), float64(rows)))
	fig.panels = append(fig.panels, p)
	fig.height += vg.Length(min(max(rows, 14), 24)) * 0.17 * vg.Inch
}

func (f Fleet) familyTicks() (ticks plot.ConstantTicks) {
	family, last := "", -1.0
	for k, name := range f.matrix.Benchmarks {
		own, _, _ := strings.Cut(name, "/")
		if own == family {
			continue
		}
		tick := plot.Tick{Value: float64(k)}
		if last < 0 || float64(k)-last > float64(len(f.matrix.Benchmarks))/24 {
			tick.Label, last = short(results.Printable(own), 12), float64(k)
		}
		family, ticks = own, append(ticks, tick)
	}
	return ticks
}

func (f Fleet) machineTicks(machines []int) (ticks plot.ConstantTicks) {
	every := (len(machines) + 23) / 24
	names := make([]string, len(machines))
	for row, i := range machines {
		names[row] = f.matrix.Machines[i].Name
	}
	for row, name := range shorts(names, 24) {
		if row%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(len(machines)-row) - 0.5, Label: name})
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
			slices.Sort(ratios)
			ratio := math.NaN()
			if n := len(ratios); n > 0 {
				ratio = (ratios[(n-1)/2] + ratios[n/2]) / 2
			}
			row.Cells = append(row.Cells, ratioCell(ratio))
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
	uri := func(svg []byte) template.URL {
		return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
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
		"Light": uri(picture.light), "Dark": uri(picture.dark), "Alt": chart.Alt,
		"Figure": chart.Title,
		"Width":  int(picture.width * 96 / 72), "Height": int(picture.height * 96 / 72),
		"Label": f.matrix.Label, "Heads": heads, "Rows": rows,
		"Left": max(0, len(f.order)-maxMachines), "Command": f.options.Command,
	})
	return out.Bytes(), err
}
