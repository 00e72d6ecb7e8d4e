// Package check is the gate: it compares two files of results and says what got
// worse.
//
// Simulated units are exact, so any rise counts. Times are compared by the
// Mann-Whitney U test (benchmath.AssumeNothing), corrected for the number of
// comparisons as Holm does ("A Simple Sequentially Rejective Multiple Test
// Procedure", Scandinavian Journal of Statistics 6, 1979). A difference in time
// counts only if it also exceeds a threshold, and only between runs of the same
// machine.
//
// To build your own gate, as the example does:
//
//  1. Read the baseline and the new results ([results.Read]).
//  2. [Compare] them; [Options] set the threshold above which a difference of
//     times counts.
//  3. [Report.Of] lists the regressions. The [Report] also has what only one of
//     the files contains, and what was not compared and why.
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
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/stridebench/stridebench/results"
)

// Options say from where on a difference counts.
type Options struct {
	// for times: the share of clean checks that may find any difference, such as 0.01
	Alpha float64
	// for times: the least difference that counts, as a share of the baseline's median
	Threshold float64
	// for exact units: the greatest rise that does not count, as a share of the baseline
	ExactTolerance float64
	Times          Times
	SameMachine    bool // the runs are of one machine for sure, whatever their fingerprints
	AllowVanished  bool // that the new results lack what the baseline has is no failure
	Update         bool // who asks renews the baseline, so that nobody is told to
}

// Times says what is done with times.
type Times string

// The values of Times.
const (
	TimesAuto    Times = "auto"    // compared where the machines are the same
	TimesRequire Times = "require" // an error where they are not
	TimesOff     Times = "off"     // not compared
)

// A Verdict is what a comparison found.
type Verdict string

// The verdicts.
const (
	Regression  Verdict = "regression"
	Improvement Verdict = "improvement"
	Same        Verdict = "same"
	// an exact unit that became worse, but within Options.ExactTolerance
	Tolerated Verdict = "tolerated"
)

// A Comparison is of one benchmark in one unit.
type Comparison struct {
	// the unit is tidied: sec/op, D1-misses/op; reports have that of the files, ns/op
	Name, Unit string
	Exact      bool
	Old, New   float64 // medians; of an exact unit, the worst value
	OldN, NewN int     // samples
	Change     float64 // from Old to New as a share of Old; infinite from 0
	P          float64 // of the U test, after Holm's correction; 0 for an exact unit
	Verdict    Verdict
	// Need is the number of samples in both files with which a difference could
	// be significant whatever the others do, where these samples never can be;
	// 0 otherwise.
	Need int

	better   float64 // 1 if higher is better, -1 if lower is
	old, new []float64
}

// A Report is what a check found.
type Report struct {
	Baseline    string // what the reports call the two files
	New         string
	Options     Options
	Comparisons []Comparison // in the baseline's order
	Vanished    []Lone       // in the baseline only
	Appeared    []Lone       // in the new file only
	Nothing     string       // why nothing at all could be judged, "" if something was
	NoTimes     string       // why times were not compared, "" if they were
	// why exact units were not compared, a reason for each geometry; none if all were
	NoExact []string
	Drift   []string // exact units whose samples are not all the same

	geometries   [2]results.Fingerprint // that were simulated: the baseline's and the new file's
	otherMachine bool                   // the fingerprints differ
	common       int                    // benchmarks that are in both
	twice        bool                   // a benchmark has two counts in the new file
	backwards    bool                   // the baseline is of a later time than the new file
}

// A Lone is a benchmark, or one unit of it, that only one of the files has.
type Lone struct {
	Name, Unit string
	Guarded    bool // it would have been judged, had the new file had it
}

// String is the name, and the unit, as the files have it, if it is only that.
func (l Lone) String() string { return strings.TrimSpace(l.Name + " " + inFiles(l.Unit)) }

// inFiles is a tidied unit as the files have it.
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

// Missing is what vanished though the baseline guards it, which fails a check.
func (r *Report) Missing() []Lone {
	if r.Options.AllowVanished {
		return nil
	}
	var missing []Lone
	for _, l := range r.Vanished {
		if l.Guarded {
			missing = append(missing, l)
		}
	}
	return missing
}

// Failed tells whether the check says no: something became worse, or is missing.
func (r *Report) Failed() bool { return len(r.Of(Regression)) > 0 || len(r.Missing()) > 0 }

// ErrNothing tells that two files have nothing that can be compared.
var ErrNothing = errors.New("nothing can be compared")

// Err is ErrNothing with the reason where nothing could be judged, else nil.
func (r *Report) Err() error {
	if r.Nothing == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNothing, r.Nothing)
}

// Compare compares a new file of results with the baseline. What a unit means
// (exact or not, which way is better) is as this program writes it, else as
// the baseline says: the new file may come from a stranger. Where nothing can be
// judged there is a report all the same, which says so (see Report.Err); an error
// is of files that are no results of one machine.
func Compare(old, new *results.Set, o Options) (*Report, error) {
	return compare(old, "baseline", new, "new results", o)
}

func compare(old *results.Set, oldName string, new *results.Set, newName string,
	o Options) (*Report, error) {
	oldConfig, newConfig, err := configs(old, oldName, new, newName)
	if err != nil {
		return nil, err
	}
	r := &Report{Options: o}
	r.comparable(oldConfig, newConfig)
	units := trusted(old, new)
	oldRows, newRows := rowsWith(old, units), rowsWith(new, units)
	if o.Times != TimesOff && !timed(oldRows, units) && !timed(newRows, units) {
		r.NoTimes = "" // counts of a program's loops are of no machine, and lack nothing
	}
	r.match(oldRows, newRows, units)
	r.judge()
	r.Nothing = r.nothing()
	return r, nil
}

// timed tells whether any row has what is not exact.
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

// nothing is why the comparisons are no check, "" if they are one: without a
// count, and with no time that could ever be found to differ, it would always
// pass.
func (r *Report) nothing() string {
	require := r.Options.Times == TimesRequire
	switch {
	case require && r.NoTimes != "":
		return "times are required: " + r.NoTimes
	case r.common == 0 && r.butThreads() != "":
		return fmt.Sprintf("no benchmark is in both files (%s)", r.butThreads())
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
	case !r.judged() && (require || !slices.ContainsFunc(r.Comparisons, func(c Comparison) bool {
		return c.Exact
	})):
		return "too few samples to judge any time by"
	}
	return ""
}

// oneThread ends the names of what one thread does in a run with --threads; in a run without,
// nothing stands in its place.
const oneThread = "/threads=1"

// butThreads says how many benchmarks are the same in both files but for oneThread, and what to do
// about it; "" if none are.
func (r *Report) butThreads() string {
	appeared, with, without := map[string]bool{}, 0, 0 // the last two: in the baseline
	for _, l := range r.Appeared {
		appeared[l.Name] = appeared[l.Name] || l.Unit == ""
	}
	for _, l := range r.Vanished {
		name, ends := strings.CutSuffix(l.Name, oneThread)
		switch {
		case l.Unit != "":
		case ends && appeared[name]:
			with++
		case appeared[l.Name+oneThread]:
			without++
		}
	}
	switch {
	case with > 0:
		return namesDiffer(with) + " only in threads=1 of the baseline: run the new results with " +
			"--threads too, or the baseline without"
	case without > 0:
		return namesDiffer(without) + " only in threads=1 of the new results: run them without " +
			"--threads, or the baseline with it too"
	}
	return ""
}

func namesDiffer(n int) string {
	if n == 1 {
		return "1 name differs"
	}
	return fmt.Sprintf("%d names differ", n)
}

// notCompared is why times or exact units were not compared.
func (r *Report) notCompared() []string {
	if r.NoTimes == "" {
		return r.NoExact
	}
	return append([]string{r.NoTimes}, r.NoExact...)
}

// judged reports whether there is a time that could have been found different.
func (r *Report) judged() bool {
	return slices.ContainsFunc(r.Comparisons, func(c Comparison) bool {
		return !c.Exact && c.Need == 0
	})
}

func configs(old *results.Set, oldName string, new *results.Set, newName string) (oldConfig,
	newConfig map[string]string, err error) {
	if err := errors.Join(old.CheckValues(), new.CheckValues()); err != nil {
		return nil, nil, err
	}
	if oldConfig, err = old.Config(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", oldName, err)
	}
	if newConfig, err = new.Config(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", newName, err)
	}
	return oldConfig, newConfig, nil
}

// comparable finds out whether times and exact units compare.
func (r *Report) comparable(old, new map[string]string) {
	f, g := results.FingerprintOf(old), results.FingerprintOf(new)
	differ := f.Differ(g)
	switch {
	case r.Options.Times == TimesOff:
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

// trusted is what is known of the units: of ours, what this program writes; of
// others, what the baseline says; of those that are not in the baseline, what
// the new file says.
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
	for _, u := range results.Units {
		assume := "nothing"
		if u.Exact {
			assume = "exact"
		}
		_, tidied := benchunit.Tidy(1, u.Name)
		for key, value := range map[string]string{"better": u.Better, "assume": assume} {
			k := benchfmt.UnitMetadataKey{Unit: tidied, Key: key}
			units[k] = &benchfmt.UnitMetadata{UnitMetadataKey: k, OrigUnit: u.Name, Value: value}
		}
	}
	return units
}

func rowsWith(set *results.Set, units benchfmt.UnitMetadataMap) []results.Row {
	with := *set
	with.Units = units
	return with.Rows()
}

// match finds what is in both files. Names whose keys have another order are one: of older programs
// those of C files have the order in which -D was given.
func (r *Report) match(oldRows, newRows []results.Row, units benchfmt.UnitMetadataMap) {
	// the last by ordered
	olds, news, lone := map[string]bool{}, map[string]results.Row{}, map[string]results.Row{}
	for _, row := range oldRows {
		olds[row.Name] = true
	}
	for _, row := range newRows {
		news[row.Name] = row
		if !olds[row.Name] {
			lone[ordered(row.Name)] = row
		}
	}
	otherKernel := r.otherKernels(newRows)
	for _, row := range oldRows {
		now, ok := news[row.Name]
		if other, is := lone[ordered(row.Name)]; !ok && is {
			now, ok, olds[other.Name] = other, true, true
		}
		if ok {
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

// ordered is a name with its keys in order.
func ordered(name string) string {
	parts := strings.Split(name, "/")
	slices.Sort(parts[1:])
	return strings.Join(parts, "/")
}

// guards tells whether there is anything to guard in a benchmark: not if all
// that it has was counted in caches that the new file has not simulated. The caches of
// a sweep are of the benchmark's name: a name that is gone is no other meaning of it.
func (r *Report) guards(row results.Row, units benchfmt.UnitMetadataMap) bool {
	for unit := range row.Stats {
		if units.GetAssumption(unit) != benchmath.AssumeExact ||
			r.geometryDiffers("", unit) == nil {
			return true
		}
	}
	return false
}

// otherKernels is a test for benchmarks that vanished because the new file is of
// a CPU with other vector kernels: there by a kernel that the baseline lacks,
// while the one in the name is nowhere in the new file.
func (r *Report) otherKernels(newRows []results.Row) func(gone results.Row) bool {
	kernels, rest := map[string]bool{}, map[string]bool{}
	for _, row := range newRows {
		kernels[row.Key(kernelKey)], rest[withoutKernel(row)] = true, true
	}
	return func(gone results.Row) bool {
		return r.otherMachine && !kernels[gone.Key(kernelKey)] && rest[withoutKernel(gone)]
	}
}

// kernelKey is the key in names of what walked. The suite has the best kernels
// that a CPU runs.
const kernelKey = "kernel"

func withoutKernel(r results.Row) string {
	return strings.Replace(r.Name, "/"+kernelKey+"="+r.Key(kernelKey), "", 1)
}

func (r *Report) matchUnits(old, now results.Row, units benchfmt.UnitMetadataMap) {
	for _, unit := range slices.Sorted(maps.Keys(old.Stats)) {
		a, b := old.Stats[unit], now.Stats[unit]
		exact := units.GetAssumption(unit) == benchmath.AssumeExact
		_, clock := old.Stats["sec/op"]
		// which would only weaken the correction for the number of comparisons
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
			Verdict: Same, better: float64(results.Better(units, unit)), old: a.Samples,
			new: b.Samples}
		if exact {
			// a baseline of which both sides of a merge were kept guards the better one
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

// sameGeometry tells whether what an exact unit of a benchmark hangs on is the same in
// both files, and notes where it is not.
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

// drift notes an exact unit whose samples are not all the same, and tells whether it is one.
func (r *Report) drift(c Comparison, file string, samples []float64) bool {
	least, most := samples[0], samples[len(samples)-1]
	if least == most {
		return false
	}
	r.Drift = append(r.Drift, fmt.Sprintf("%s %s is from %v to %v in %s", c.Name, c.Unit, least,
		most, file))
	return true
}

// worst takes the worst of ascending samples.
func worst(samples []float64, better float64) float64 {
	if better > 0 {
		return samples[0]
	}
	return samples[len(samples)-1]
}

// change is the difference as a share of old.
func change(old, new float64) float64 {
	if old == new {
		return 0
	}
	return (new - old) / math.Abs(old)
}

// judge gives the verdicts.
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
	// Holm's correction is monotone, so what the smallest possible p-values
	// cannot reach, none can.
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

// verdict judges the change by its size alone.
func (c *Comparison) verdict(threshold float64) {
	switch {
	case math.Abs(c.Change) <= threshold && c.Exact && c.Change*c.better < 0:
		c.Verdict = Tolerated
	case math.Abs(c.Change) <= threshold:
	case c.Change*c.better > 0:
		c.Verdict = Improvement
	default:
		c.Verdict = Regression
	}
}

// uTest is the p-value of two samples, ascending, under no assumption. The
// lower one comes first: where values tie, the library's p-value is right only
// in that order (of {2, 2} and {1} it is 0, of {1} and {2, 2} two thirds).
func uTest(a, b []float64) float64 {
	if wins(a, b) > wins(b, a) {
		a, b = b, a
	}
	sample := func(values []float64) *benchmath.Sample {
		return &benchmath.Sample{Values: values, Thresholds: &benchmath.DefaultThresholds}
	}
	return min(1, benchmath.AssumeNothing.Compare(sample(a), sample(b)).P)
}

// wins counts the pairs in which the value of a is the greater.
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

// holm corrects p-values for their number: the k-th smallest of m is taken
// m-k+1 times, and none is less than the one before it.
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

// A smallestP knows the smallest p-values that the U test can give, by the
// numbers of samples.
type smallestP map[[2]int]float64

// of lets the test itself say it, of samples of which all are apart.
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

// samples is the least number in both files with which p can be reached.
func (s smallestP) samples(p float64) int {
	n := 1
	for s.of(n, n) > p {
		n++
	}
	return n
}

// CompareFiles is Compare for two named files. The report shows the names with the
// commits and dates of the files.
func CompareFiles(old *results.Set, oldName string, new *results.Set, newName string,
	o Options) (*Report, error) {
	r, err := compare(old, "baseline "+oldName, new, newName, o)
	if err != nil {
		return nil, err
	}
	r.Baseline, r.New = label(old, oldName), label(new, newName)
	r.backwards = dated(old, oldName).After(dated(new, newName)) && !dated(new, newName).IsZero()
	return r, nil
}

// dated is when the results of a file were made, as they tell; the zero time where they do not.
func dated(set *results.Set, file string) time.Time {
	for _, c := range set.Comments[file] {
		if at, err := time.Parse(time.RFC3339, c.Value); c.Key == "date" && err == nil {
			return at
		}
	}
	return time.Time{}
}

// label is what a report calls a file: its name with the commit and the time that
// it tells, and whether its run was interrupted.
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
