package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/fleet"
	"github.com/stridebench/stridebench/results/show"
)

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
			show.Printable(f.Findings[0].Machine), f.Findings[0].What)
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
		what = fmt.Sprintf("%s takes %s times as long as", of[one.Aspect], digits(one.Ratio))
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
	last, family := math.Inf(-1), ""
	for k, name := range f.matrix.Benchmarks {
		own, _, _ := strings.Cut(name, "/")
		if apart := float64(k) - last; own != family &&
			apart > float64(len(f.matrix.Benchmarks))/24 {
			ticks = append(ticks, plot.Tick{Value: float64(k), Label: short(own, 12)})
			last = float64(k)
		}
		family = own
	}
	return ticks
}

const maxMachines = 1000

func (f Fleet) tables() []table {
	label := clip(f.matrix.Label)
	out := table{ID: "out", Family: "Out of line",
		Columns: []string{label, "what", "chance", "why"}}
	for _, one := range f.Findings[:min(len(f.Findings), maxRows)] {
		out.addRow(textCell(one.Machine), textCell(one.What), textCell(one.Chance),
			textCell(one.Why))
	}
	if more := len(f.Findings) - maxRows; more > 0 {
		out.Note = fmt.Sprintf("%d more are not shown.", more)
	}
	all := table{ID: "machines", Family: "Machines",
		Columns: []string{label, "CPU", "all", "caches", "memory", "scatter"}}
	for _, i := range f.order[:min(len(f.order), maxMachines)] {
		row := []tableCell{textCell(f.matrix.Machines[i].Name),
			textCell(f.matrix.Machines[i].Config["cpu"])}
		for a, ratio := range f.judged.Scores[i] {
			c := numeric(ratio, true)
			if fleet.Aspect(a) != fleet.Scatter &&
				math.Abs(math.Log(ratio)) > math.Log(clipRatio)/2 {
				c.Class += " wide"
			}
			row = append(row, c)
		}
		all.addRow(row...)
	}
	if more := len(f.order) - maxMachines; more > 0 {
		all.Note = fmt.Sprintf("%d more machines, all closer to their peers, are in fleet.csv.",
			more)
	}
	if f.Findings == nil {
		return []table{all}
	}
	return []table{out, all}
}

func (f Fleet) notes() []string {
	test := fmt.Sprintf("%s, each of a machine against those of the same CPU: the median over "+
		"benchmarks of its time against the peers' median, in units of the peers' median absolute "+
		"deviation. The chance is the probability that any machine in line in the whole "+
		"fleet seems "+
		"this far out (Holm); findings have at most %v.",
		counted(f.judged.Tests, "test"), fleetAlpha)
	if sees := f.sees(); sees != "" {
		test += fmt.Sprintf(" With these peers, a machine is found if it takes at least %s times "+
			"their time; more peers would show smaller differences.", sees)
	}
	if f.judged.Untested > 0 {
		test += fmt.Sprintf(" Machines with fewer than 7 peers are not tested: %d.",
			f.judged.Untested)
	}
	return []string{test, "A ratio is to the peers' median; more is slower. The columns: all " +
		"benchmarks; those whose data fit in the caches; those that miss the last cache; the " +
		"scatter of samples. fleet.csv has every benchmark."}
}

// Write writes fleet.html, its picture, and the matrix as fleet.csv to a folder. It returns their
// paths.
func (f Fleet) Write(dir string) (paths []string, err error) {
	d := &data{look: f.options.Theme.style(), setup: results.SetupOf(f.matrix.Machines[0].Config)}
	fig, err := f.draw(d)
	if err != nil {
		return nil, err
	}
	chart, err := fig.render(d)
	if err != nil {
		return nil, err
	}
	if chart.picture, err = d.picture(maker{draw: f.draw}); err != nil {
		return nil, err
	}
	chart.Name = "fleet"
	text, err := page{Title: counted(len(f.matrix.Machines), "machine") + " by " + f.matrix.Label,
		Theme: f.options.Theme, Figures: []pageFigure{figureOf(chart, 1)}, Tables: f.tables(),
		Notes: f.notes(), Report: f.options.Command}.html()
	if err != nil {
		return nil, err
	}
	var table bytes.Buffer
	if err := f.matrix.WriteCSV(&table); err != nil {
		return nil, err
	}
	return write(dir, []output{{"fleet.html", text}, {"fleet.png", chart.PNG},
		{"fleet.svg", chart.SVG}, {"fleet.csv", table.Bytes()}})
}
