package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/montanaflynn/stats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/results/outfile"
)

const file = "access/cost/fitted.json"

// fit fits the rules to all patterns. For cross-validated errors, it also fits them without each
// family and without each machine.
func fit(d *dataSet) error {
	rules := rounded(d.least(cost.Fitted().Rules, func(int) bool { return true }))
	crossed, unseen := d.cross(rules), make([]float64, len(d.patterns))
	// each fit starts from the rules of all patterns and predicts other patterns
	var group sync.WaitGroup
	for k := range d.machines {
		if len(d.machines) > 1 {
			group.Go(func() {
				d.leaveOut(rules, unseen, func(t timed) bool {
					return t.machine == k
				})
			})
		}
	}
	group.Wait()
	all := cost.Fit{Rules: rules, All: d.error("all", crossed, func(int) bool { return true })}
	for k, m := range d.machines {
		on := func(i int) bool { return d.patterns[i].machine == k }
		of := cost.FitOf{When: m.when, All: d.error("all", crossed, on)}
		of.Families = d.byFamily(crossed, on)
		if len(d.machines) > 1 {
			of.Unseen = d.error("by constants fitted to the other machines", unseen, on)
		}
		all.Machines = append(all.Machines, of)
	}
	for _, name := range d.kinds() {
		all.Kinds = append(all.Kinds, d.error(name, crossed, func(i int) bool {
			return kind(d.patterns[i].family) == name
		}))
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	d.print(&rules)
	fmt.Println("cross-validated: each family by constants that are fitted to the others")
	for _, m := range all.Machines {
		fmt.Println(m.When)
		table(append(m.Families, m.All, m.Unseen))
	}
	if err := outfile.WriteFile(file, append(text, '\n')); err != nil {
		return err
	}
	return writeTable(all)
}

// writeTable writes the tables into the page, between its marks.
func writeTable(f cost.Fit) error {
	page, err := os.ReadFile(pageName)
	if err != nil {
		return err
	}
	before, rest, _ := bytes.Cut(page, []byte(begin))
	_, after, found := bytes.Cut(rest, []byte(end))
	if !found {
		return fmt.Errorf("%s has no %q and %q", pageName, begin, end)
	}
	return outfile.WriteFile(pageName, slices.Concat(before, []byte(tableOf(f)), after))
}

func (d *dataSet) cross(rules cost.Rules) []float64 {
	crossed := make([]float64, len(d.patterns))
	var group sync.WaitGroup
	for _, family := range d.families() {
		group.Go(func() {
			d.leaveOut(rules, crossed, func(t timed) bool { return t.family == family })
		})
	}
	group.Wait()
	return crossed
}

// pageName is the page with the table of errors, between two marks.
const (
	pageName = "docs/advise.md"
	begin    = "<!-- fitted -->\n"
	end      = "<!-- end -->\n"
)

func (d *dataSet) leaveOut(start cost.Rules, predicted []float64, out func(timed) bool) {
	rules := d.least(start, func(i int) bool { return !out(d.patterns[i]) })
	for i, t := range d.patterns {
		if out(t) {
			predicted[i] = d.predict(i, &rules)
		}
	}
}

// tableOf returns the page's tables: errors by machine, errors by kind of pattern over all
// machines, and the constants. fitted.json has the errors of each family on each machine.
func tableOf(f cost.Fit) string {
	var b strings.Builder
	b.WriteString(begin + "| measured | patterns | error | by other machines | rank correlation " +
		"|\n|:--|--:|:--|:--|--:|\n")
	for _, m := range f.Machines {
		when, _, _ := strings.Cut(m.When, ", load")
		fmt.Fprintf(&b, "| %s | %d | %.0f%%, %.0f%% | %.0f%%, %.0f%% | %.3f |\n", when,
			m.All.Patterns, 100*m.All.Median, 100*m.All.Tenth, 100*m.Unseen.Median,
			100*m.Unseen.Tenth, m.All.Rank)
	}
	b.WriteString("\n| patterns | error | rank correlation |\n|:--|:--|--:|\n")
	for _, k := range f.Kinds {
		fmt.Fprintf(&b, "| %s | %.0f%%, %.0f%% | %.3f |\n", k.Name, 100*k.Median, 100*k.Tenth,
			k.Rank)
	}
	b.WriteString("\nThe constants are")
	v := reflect.ValueOf(f.Rules)
	for i := range v.NumField() {
		fmt.Fprintf(&b, "%s%s %g", []string{"\n", " ", " ", " ", " ", " "}[i%6],
			v.Type().Field(i).Name, v.Field(i).Float())
		if i < v.NumField()-1 {
			b.WriteString(",")
		}
	}
	fmt.Fprintf(&b, ".\n%s", end)
	return b.String()
}

func (d *dataSet) families() (all []string) {
	for _, t := range d.patterns {
		if !slices.Contains(all, t.family) {
			all = append(all, t.family)
		}
	}
	return all
}

func (d *dataSet) kinds() (all []string) {
	for _, family := range d.families() {
		if k := kind(family); !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

// print prints the errors under these rules, or under the fitted ones if nil.
func (d *dataSet) print(rules *cost.Rules) {
	predicted := make([]float64, len(d.patterns))
	for i := range d.patterns {
		predicted[i] = d.predict(i, rules)
	}
	for k, m := range d.machines {
		on := func(i int) bool { return d.patterns[i].machine == k }
		fmt.Println(m.when)
		table(append(d.byFamily(predicted, on), d.error("all", predicted, on)))
	}
}

// byFamily returns the errors of each family that has taken patterns.
func (d *dataSet) byFamily(predicted []float64, taken func(i int) bool) (all []cost.FitError) {
	for _, family := range d.families() {
		if e := d.error(family, predicted, func(i int) bool {
			return taken(i) && d.patterns[i].family == family
		}); e.Patterns > 0 {
			all = append(all, e)
		}
	}
	return all
}

func table(all []cost.FitError) {
	for _, e := range all {
		fmt.Printf("%-40s %4d  median %3.0f%%  one in ten %3.0f%%  rank correlation by "+
			"element %.3f\n", e.Name, e.Patterns, 100*e.Median, 100*e.Tenth, e.Rank)
	}
}

func (d *dataSet) error(name string, predicted []float64, taken func(int) bool) cost.FitError {
	var off, p, m []float64
	for i, t := range d.patterns {
		if taken(i) {
			n := float64(d.lowered[i].Elems)
			off = append(off, cost.Error(predicted[i], t.ns))
			p, m = append(p, predicted[i]/n), append(m, t.ns/n)
		}
	}
	if len(off) == 0 {
		return cost.FitError{Name: name}
	}
	slices.Sort(off)
	rank, err := stats.Spearman(p, m)
	if err != nil {
		rank = math.NaN()
	}
	return cost.FitError{Name: name, Patterns: len(off),
		Median: stat.Quantile(.5, stat.LinInterp, off, nil),
		Tenth:  stat.Quantile(.9, stat.LinInterp, off, nil), Rank: rank}
}

// least fits the rules to the taken patterns: least squares of the logarithms of predicted over
// measured times, by Gauss-Newton steps in the rules' logarithms (Levenberg and Marquardt). Errors
// above a quarter count less, so that disturbed times do not dominate (Huber).
func (d *dataSet) least(start cost.Rules, taken func(int) bool) cost.Rules {
	f := fitting{data: d, weights: d.weights(taken), start: logs(start)}
	x, r, damping := f.start, f.residuals(f.start), 1e-2
	for range 60 {
		now := f.loss(x, r)
		moved, ok := f.step(x, r, damping)
		if !ok {
			break
		}
		next := f.residuals(moved)
		if then := f.loss(moved, next); then < now {
			x, r, damping = moved, next, damping/3
			if now-then < 1e-6*now {
				break
			}
		} else if damping *= 4; damping > 1e6 {
			break
		}
	}
	return rulesOf(x)
}

// A fitting fits rules to weighted patterns, near the start. Rules are logarithms.
type fitting struct {
	data    *dataSet
	weights []float64 // by pattern
	start   []float64
	known   [][]float64 // derivatives, if known
}

// residuals returns the log errors by pattern, 0 for those without weight.
func (f *fitting) residuals(x []float64) []float64 {
	rules, r := rulesOf(x), make([]float64, len(f.weights))
	for i, w := range f.weights {
		if w > 0 {
			r[i] = math.Log(f.data.predict(i, &rules) / f.data.patterns[i].ns)
		}
	}
	return r
}

// loss returns the value to minimize: the weighted residuals, plus the distance of the rules from
// the start.
func (f *fitting) loss(x, r []float64) (sum float64) {
	for i, v := range r {
		sum += f.weights[i] * huber(v)
	}
	for k := range x {
		sum += pull * (x[k] - f.start[k]) * (x[k] - f.start[k])
	}
	return sum
}

// step returns the minimum of the linearized loss. No rule moves by more than .5, and damping
// shortens the step. ok is false if there is none.
func (f *fitting) step(x, r []float64, damping float64) (moved []float64, ok bool) {
	columns := f.known
	if columns == nil {
		columns = f.derivatives(x, r)
	}
	normal, gradient := mat.NewSymDense(len(x), nil), mat.NewVecDense(len(x), nil)
	for k := range x {
		sum := pull * (x[k] - f.start[k])
		for i, v := range r {
			sum += f.weights[i] * bend(v) * v * columns[k][i]
		}
		gradient.SetVec(k, -sum)
		for l := range k + 1 {
			sum := 0.0
			for i, v := range r {
				sum += f.weights[i] * bend(v) * columns[k][i] * columns[l][i]
			}
			if k == l {
				sum += pull + damping*(sum+pull)
			}
			normal.SetSym(k, l, sum)
		}
	}
	var c mat.Cholesky
	var step mat.VecDense
	if !c.Factorize(normal) || c.SolveVecTo(&step, gradient) != nil {
		return nil, false
	}
	moved = slices.Clone(x)
	for k := range moved {
		moved[k] += min(max(step.AtVec(k), -.5), .5)
	}
	return moved, true
}

func (f *fitting) derivatives(x, r []float64) [][]float64 {
	const by = 1e-4
	columns := make([][]float64, len(x))
	for k := range x {
		if columns[k] = make([]float64, len(r)); !f.data.leave.fits(
			reflect.TypeFor[cost.Rules]().Field(k).Name) {
			continue
		}
		moved := slices.Clone(x)
		moved[k] += by
		columns[k] = f.residuals(moved)
		for i := range r {
			columns[k][i] = (columns[k][i] - r[i]) / by
		}
	}
	return columns
}

// pull is the weight that keeps constants without influence at the start.
const pull = 1e-4

// bent is the error above which the loss is linear.
const bent = .25

func huber(v float64) float64 {
	if v = math.Abs(v); v > bent {
		return bent * (2*v - bent)
	}
	return v * v
}

func bend(v float64) float64 { return min(1, bent/math.Abs(v)) }

// weights returns the weights of the taken patterns. Each family weighs the root of its size. All
// tiles are one family. Chases have no constants and no weight.
func (d *dataSet) weights(taken func(int) bool) []float64 {
	type family struct {
		name    string
		machine int
	}
	size, sum := map[family]float64{}, 0.0
	for _, t := range d.patterns {
		size[family{kind(t.family), t.machine}]++
	}
	all := make([]float64, len(d.patterns))
	for i, t := range d.patterns {
		if d.counted[i] != nil && taken(i) {
			all[i] = 1 / math.Sqrt(size[family{kind(t.family), t.machine}])
			sum += all[i]
		}
	}
	for i := range all {
		all[i] /= sum
	}
	return all
}

// kind returns the kind of a family. Tiles of all views are one kind.
func kind(family string) string {
	kind, _, _ := strings.Cut(family, " ")
	return kind
}

func logs(r cost.Rules) (x []float64) {
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		x = append(x, math.Log(v.Field(i).Float()))
	}
	return x
}

func rulesOf(x []float64) (r cost.Rules) {
	v := reflect.ValueOf(&r).Elem()
	for i := range x {
		v.Field(i).SetFloat(math.Exp(x[i]))
	}
	return r
}

func rounded(r cost.Rules) cost.Rules {
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		digits := math.Pow(10, 2-math.Floor(math.Log10(v.Field(i).Float())))
		v.Field(i).SetFloat(math.Round(v.Field(i).Float()*digits) / digits)
	}
	return r
}
