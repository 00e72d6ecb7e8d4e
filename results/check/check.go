// Package check is the gate: it compares two files of results and reports what got worse.
//
// Simulated units are exact, so any rise counts. Times are compared by the Mann-Whitney U test
// (benchmath.AssumeNothing), corrected for the number of comparisons by Holm's method ("A Simple
// Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979). A
// difference in time counts only above a threshold, and only between runs of one machine.
//
// To build your own gate, as example_test.go does:
//
//  1. Read the baseline and the new results ([results.Read]).
//  2. [Compare] them; [Options] set the threshold for times.
//  3. [Report.Err] says whether something got worse, and [Report.Of] lists the
//     regressions. The [Report] also has what only one of the files contains, and
//     why anything was not compared.
//  4. [Formats] write it as text, Markdown, JSON and JUnit.
package check

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"github.com/stridebench/stridebench/results"
)

// Options set which differences count.
type Options struct {
	// for times: share of checks without a change that may report one, such as 0.01
	Alpha float64
	// for times: least difference that counts, as a share of the baseline's median
	Threshold float64
	// for exact units: greatest rise that does not count, as a share of the baseline
	ExactTolerance float64
	// "auto" compares times if the machines are the same, "require" is an error if they differ, and
	// "off" leaves times out
	Times         string
	SameMachine   bool     // the runs are of one machine, whatever their fingerprints
	AllowVanished bool     // a benchmark or unit that the new results lack does not fail the check
	Update        bool     // the caller renews the baseline, so the report does not advise it
	Baseline, New string   // names of the two files in the report, with their commits and dates
	Gone          []string // benchmarks that vanished, in addition to the baseline's
}

// A Verdict is the outcome of a comparison.
type Verdict string

// The verdicts.
const (
	Regression  Verdict = "regression"
	Improvement Verdict = "improvement"
	same        Verdict = "same"
	// worse, but within Options.ExactTolerance
	tolerated Verdict = "tolerated"
)

// A Comparison compares one benchmark in one unit.
type Comparison struct {
	// tidied: sec/op, D1-misses/op; reports show the files' unit, ns/op
	Name, Unit string
	Exact      bool
	Old, New   float64 // medians; of an exact unit, the worst value
	OldN, NewN int     // samples
	Change     float64 // from Old to New as a share of Old; infinite from 0
	P          float64 // of the U test, after Holm's correction; 0 for an exact unit
	Verdict    Verdict
	// Need is the number of samples in both files that could be significant, if the present number
	// never can; else 0.
	Need int

	better   float64 // 1 if higher is better, -1 if lower is
	old, new []float64
}

// A Report is the result of a check.
type Report struct {
	Options     Options
	Comparisons []Comparison // in the baseline's order
	Vanished    []Lone       // in the baseline only
	Missing     []Lone       // those that fail the check: guarded, and not allowed to vanish
	Appeared    []Lone       // in the new file only
	Nothing     string       // why nothing could be judged, "" if something was
	NoTimes     string       // why times were not compared, "" if they were
	// why exact units were not compared, by geometry; empty if all were
	NoExact []string
	Drift   []string // exact units whose samples are not all the same
	Notes   []string // what else there is to report, a line each

	baseline, new string                 // the files, with their commits and dates
	geometries    [2]results.Fingerprint // simulated: the baseline's and the new file's
	otherMachine  bool                   // the fingerprints differ
	common        int                    // benchmarks that are in both
	twice         bool                   // a benchmark has two counts in the new file
}

// A Lone is a benchmark, or a unit of one, that only one file has.
type Lone struct {
	Name, Unit string
	Guarded    bool // it would be judged if the new file had it
}

// String returns the name, with the unit, in the files' form, if only the unit is missing.
func (l Lone) String() string { return strings.TrimSpace(l.Name + " " + inFiles(l.Unit)) }

func inFiles(unit string) string {
	_, plain := results.InFiles(0, unit)
	return plain
}

// Of returns the comparisons with a verdict, the largest change first.
func (r *Report) Of(v Verdict) []Comparison {
	var found []Comparison
	for _, c := range r.Comparisons {
		if c.Verdict == v {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b Comparison) int {
		return cmp.Compare(math.Abs(b.Change), math.Abs(a.Change))
	})
	return found
}

// ErrNothing is the error for two files that have nothing to compare.
var ErrNothing = errors.New("nothing can be compared")

// Err returns an error if something became worse or is missing. It is an ErrNothing with its reason
// if nothing was judged.
func (r *Report) Err() error {
	switch {
	case r.Nothing != "":
		return fmt.Errorf("%w: %s", ErrNothing, r.Nothing)
	case len(r.Of(Regression)) > 0 || len(r.Missing) > 0:
		return errors.New(r.summary())
	}
	return nil
}

// Compare compares a new file of results with the baseline. This program, else the baseline,
// defines a unit (exact or not, which way is better): the new file may come from a stranger. If
// nothing can be judged, the report says so (Report.Err). Compare returns an error if a file does
// not hold results of one machine.
func Compare(old, new *results.Set, o Options) (*Report, error) {
	if err := errors.Join(old.CheckValues(), new.CheckValues()); err != nil {
		return nil, err
	}
	oldConfig, err := old.Config()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.TrimSpace("baseline "+o.Baseline), err)
	}
	newConfig, err := new.Config()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(o.New, "new results"), err)
	}
	r := &Report{Options: o, baseline: label(old, o.Baseline), new: label(new, o.New)}
	r.comparable(oldConfig, newConfig)
	units := trusted(old, new)
	oldRows, newRows := rowsWith(old, units), rowsWith(new, units)
	if o.Times != "off" && !timed(oldRows, units) && !timed(newRows, units) {
		r.NoTimes = "" // counts of a program's loops depend on no machine, so they lack nothing
	}
	r.match(oldRows, newRows, units)
	for _, name := range o.Gone {
		r.Vanished = append(r.Vanished, Lone{Name: name, Guarded: true})
	}
	if !o.AllowVanished {
		r.Missing = slices.DeleteFunc(slices.Clone(r.Vanished), func(l Lone) bool {
			return !l.Guarded
		})
	}
	r.judge()
	r.Nothing = r.nothing()
	r.Notes = r.notes()
	return r, nil
}

func timed(rows []results.Row, units benchfmt.UnitMetadataMap) bool {
	return slices.ContainsFunc(rows, func(row results.Row) bool {
		for unit := range row.Stats {
			if units.GetAssumption(unit) != benchmath.AssumeExact {
				return true
			}
		}
		return false
	})
}

// nothing returns why the check is void. Without a count, and without a time that could differ, it
// would always pass.
func (r *Report) nothing() string {
	require := r.Options.Times == "require"
	switch {
	case require && r.NoTimes != "":
		return "times are required: " + r.NoTimes
	case r.common == 0:
		return "no benchmark is in both files"
	case require && !slices.ContainsFunc(r.Comparisons, func(c Comparison) bool {
		return !c.Exact
	}):
		return "times are required, and no benchmark has one in both files"
	case len(r.Comparisons) == 0 && len(r.notCompared()) > 0:
		return strings.Join(r.notCompared(), "; ")
	case len(r.Comparisons) == 0:
		return "no benchmark has a unit that is judged in both files"
	case !slices.ContainsFunc(r.Comparisons, func(c Comparison) bool {
		return !c.Exact && c.Need == 0 || c.Exact && !require
	}):
		return "too few samples to judge any time by"
	}
	return ""
}

func (r *Report) notCompared() []string {
	if r.NoTimes == "" {
		return r.NoExact
	}
	return append([]string{r.NoTimes}, r.NoExact...)
}

func (r *Report) comparable(old, new map[string]string) {
	f, g := results.FingerprintOf(old), results.FingerprintOf(new)
	differ := f.Differ(g)
	switch {
	case r.Options.Times == "off":
		r.NoTimes = "times are off"
	case r.Options.SameMachine:
	case differ != nil:
		r.NoTimes = "times are of different machines, which differ in " + strings.Join(differ, ", ")
	case !f.Known():
		r.NoTimes = "times are of unknown machines: the files name neither cpu nor caches"
	}
	r.otherMachine = differ != nil && !r.Options.SameMachine
	r.geometries = [2]results.Fingerprint{results.GeometryOf(old), results.GeometryOf(new)}
}

// trusted returns units' metadata: the baseline's, else the new file's.
func trusted(old, new *results.Set) benchfmt.UnitMetadataMap {
	units := maps.Clone(new.Units)
	for _, r := range old.Results {
		for _, v := range r.Values {
			for _, key := range []string{"assume", "better"} {
				delete(units, benchfmt.UnitMetadataKey{Unit: v.Unit, Key: key})
			}
		}
	}
	maps.Copy(units, old.Units)
	return units
}

func rowsWith(set *results.Set, units benchfmt.UnitMetadataMap) []results.Row {
	with := *set
	with.Units = units
	return with.Rows()
}

func (r *Report) match(oldRows, newRows []results.Row, units benchfmt.UnitMetadataMap) {
	olds, news := map[string]bool{}, map[string]results.Row{}
	for _, row := range newRows {
		news[row.Name] = row
	}
	otherKernel := r.otherKernels(newRows)
	for _, row := range oldRows {
		olds[row.Name] = true
		if now, ok := news[row.Name]; ok {
			r.common++
			r.matchUnits(row, now, units)
		} else {
			r.Vanished = append(r.Vanished, Lone{row.Name, "", r.guards(row, units) &&
				!otherKernel(row)})
		}
	}
	for _, row := range newRows {
		if !olds[row.Name] {
			r.Appeared = append(r.Appeared, Lone{Name: row.Name})
		}
	}
}

// guards reports whether a benchmark guards anything: not if the new file simulates none of its
// caches. A sweep's caches belong to the name, so a vanished name is guarded.
func (r *Report) guards(row results.Row, units benchfmt.UnitMetadataMap) bool {
	for unit := range row.Stats {
		if units.GetAssumption(unit) != benchmath.AssumeExact ||
			r.geometryDiffers("", unit) == nil {
			return true
		}
	}
	return false
}

// otherKernels returns a test for benchmarks that vanished because the new CPU has other vector
// kernels: the new file has them with another kernel, and lacks the old kernel entirely.
func (r *Report) otherKernels(newRows []results.Row) func(gone results.Row) bool {
	kernels, rest := map[string]bool{}, map[string]bool{}
	for _, row := range newRows {
		kernels[row.Key(kernelKey)], rest[withoutKernel(row)] = true, true
	}
	return func(gone results.Row) bool {
		return r.otherMachine && !kernels[gone.Key(kernelKey)] && rest[withoutKernel(gone)]
	}
}

// kernelKey is the key of the kernel in names. The suite uses the CPU's best kernels.
const kernelKey = "kernel"

func withoutKernel(r results.Row) string {
	return strings.Replace(r.Name, "/"+kernelKey+"="+r.Key(kernelKey), "", 1)
}

func (r *Report) matchUnits(old, now results.Row, units benchfmt.UnitMetadataMap) {
	for _, unit := range slices.Sorted(maps.Keys(old.Stats)) {
		a, b := old.Stats[unit], now.Stats[unit]
		exact := units.GetAssumption(unit) == benchmath.AssumeExact
		_, clock := old.Stats["sec/op"]
		// units that only explain the time would weaken the correction for the number of
		// comparisons
		judged := exact || r.NoTimes == "" && !(clock && results.Explains(unit))
		if b.N == 0 {
			r.Vanished = append(r.Vanished, Lone{old.Name, unit, judged})
			continue
		}
		if !judged || exact && !r.sameGeometry(old.Name, unit) {
			continue
		}
		c := Comparison{Name: old.Name, Unit: unit, Exact: exact, Old: a.Center, New: b.Center,
			OldN: a.N, NewN: b.N,
			Verdict: same, better: float64(results.Better(units, unit)), old: a.Samples,
			new: b.Samples}
		if exact {
			// a baseline that kept both sides of a merge guards the better one
			c.Old, c.New = worst(a.Samples, -c.better), worst(b.Samples, c.better)
			r.drift(c, "the baseline", a.Samples)
			r.twice = r.drift(c, "the new results", b.Samples) || r.twice
		}
		c.Change = change(c.Old, c.New)
		r.Comparisons = append(r.Comparisons, c)
	}
	for _, unit := range slices.Sorted(maps.Keys(now.Stats)) {
		if old.Stats[unit].N == 0 {
			r.Appeared = append(r.Appeared, Lone{Name: old.Name, Unit: unit})
		}
	}
}

func (r *Report) sameGeometry(benchmark, unit string) bool {
	differ := r.geometryDiffers(benchmark, unit)
	if differ == nil {
		return true
	}
	why := "simulated units are of different caches, which differ in " + strings.Join(differ, ", ")
	if !slices.Contains(r.NoExact, why) {
		r.NoExact = append(r.NoExact, why)
	}
	return false
}

func (r *Report) geometryDiffers(benchmark, unit string) []string {
	return r.geometries[0].For(benchmark, unit).Differ(r.geometries[1].For(benchmark, unit))
}

func (r *Report) drift(c Comparison, file string, samples []float64) bool {
	least, most := samples[0], samples[len(samples)-1]
	if least == most {
		return false
	}
	r.Drift = append(r.Drift, fmt.Sprintf("%s %s is from %v to %v in %s", c.Name, c.Unit, least,
		most, file))
	return true
}

func worst(samples []float64, better float64) float64 {
	if better > 0 {
		return samples[0]
	}
	return samples[len(samples)-1]
}

func change(old, new float64) float64 {
	if old == new {
		return 0
	}
	return (new - old) / math.Abs(old)
}

func (r *Report) judge() {
	var timed []*Comparison
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Exact {
			c.verdict(r.Options.ExactTolerance)
		} else {
			timed = append(timed, c)
		}
	}
	ps, least := make([]float64, len(timed)), make([]float64, len(timed))
	smallest := smallestP{}
	for i, c := range timed {
		ps[i] = uTest(c.old, c.new)
		least[i] = smallest.of(c.OldN, c.NewN)
	}
	// Holm's correction is monotone: if the smallest possible p-values do not reach alpha after it,
	// none can.
	ps, least = holm(ps), holm(least)
	for i, c := range timed {
		c.P = ps[i]
		if least[i] > r.Options.Alpha {
			c.Need = smallest.samples(r.Options.Alpha / float64(len(timed)))
		}
		if c.P <= r.Options.Alpha {
			c.verdict(r.Options.Threshold)
		}
	}
}

func (c *Comparison) verdict(threshold float64) {
	switch {
	case math.Abs(c.Change) <= threshold && c.Exact && c.Change*c.better < 0:
		c.Verdict = tolerated
	case math.Abs(c.Change) <= threshold:
	case c.Change*c.better > 0:
		c.Verdict = Improvement
	default:
		c.Verdict = Regression
	}
}

// uTest returns the p-value of two ascending samples, without assumptions. The lower one must come
// first: else the library's p-value is wrong for ties (for {2, 2} and {1} it is 0, for {1} and {2,
// 2} two thirds).
func uTest(a, b []float64) float64 {
	if wins(a, b) > wins(b, a) {
		a, b = b, a
	}
	sample := func(values []float64) *benchmath.Sample {
		return &benchmath.Sample{Values: values, Thresholds: &benchmath.DefaultThresholds}
	}
	return min(1, benchmath.AssumeNothing.Compare(sample(a), sample(b)).P)
}

func wins(a, b []float64) int {
	n, below := 0, 0
	for _, x := range a {
		for below < len(b) && b[below] < x {
			below++
		}
		n += below
	}
	return n
}

// holm corrects p-values: the k-th smallest of m is multiplied by m-k+1, and is at least the one
// before.
func holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted, floor := make([]float64, len(ps)), 0.0
	for k, i := range order {
		floor = max(floor, min(1, ps[i]*float64(len(ps)-k)))
		adjusted[i] = floor
	}
	return adjusted
}

type smallestP map[[2]int]float64

func (s smallestP) of(n, m int) float64 {
	key := [2]int{n, m}
	if _, ok := s[key]; !ok {
		values := make([]float64, n+m)
		for i := range values {
			values[i] = float64(i)
		}
		s[key] = uTest(values[:n], values[n:])
	}
	return s[key]
}

func (s smallestP) samples(p float64) int {
	n := 1
	for s.of(n, n) > p {
		n++
	}
	return n
}

func label(set *results.Set, file string) string {
	text := file
	for _, key := range []string{"commit", "date", "interrupted"} {
		for _, c := range set.Comments[file] {
			if c.Key == key {
				text += fmt.Sprintf(", %s %.40s", key, c.Value)
			}
		}
	}
	return text
}
