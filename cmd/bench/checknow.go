package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/check"
)

// reportNow runs the suite and compares it with the baseline. What is known
// beforehand to compare with nothing is not run.
func (f *checkFlags) reportNow(cmd *cobra.Command, old *results.Set) (*check.Report, []byte, error) {
	if err := f.baselineGeometry(old); err != nil {
		return nil, nil, err
	}
	j, err := f.prepare(cmd)
	if err != nil {
		return nil, nil, err
	}
	if err := f.leaveOut(cmd, old, j); err != nil {
		return nil, nil, err
	}
	expected, err := f.expect(old, j)
	if err != nil {
		return nil, nil, err
	}
	report, err := f.compare(old, thisRun, expected)
	if err != nil || report.Nothing != "" {
		return report, nil, err
	}
	if new := len(report.Appeared); new > 0 && !f.update && f.out == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %d benchmarks that %s lacks are not run (with --update or --out they are)\n", new, f.baseline)
		j = j.only(names(old))
	}
	text, err := f.runNow(cmd, j)
	if err != nil {
		return nil, nil, err
	}
	report, err = f.compare(old, thisRun, text)
	return report, text, err
}

// runNow is the text of the results of a run.
func (f *checkFlags) runNow(cmd *cobra.Command, j job) ([]byte, error) {
	ctx, stop := interruptible()
	defer stop()
	var text bytes.Buffer
	_, err := f.measure(ctx, cmd, j, &text)
	if ctx.Err() != nil {
		return nil, stopped(ctx, "nothing is compared or kept")
	}
	if err != nil {
		return nil, err
	}
	if f.out != "" {
		err = writeFile("out", f.out, text.Bytes())
	}
	return text.Bytes(), err
}

// leaveOut takes out of a baseline what --quick leaves out of the suite: that was
// asked for, and is nothing that vanished.
func (f *checkFlags) leaveOut(cmd *cobra.Command, old *results.Set, j job) error {
	if !f.suiteOf.quick {
		return nil
	}
	whole := f.suiteOf
	whole.quick = false
	suite, _, err := whole.read()
	if err != nil {
		return err
	}
	out := namesOf(suite)
	for name := range namesOf(j.suite) {
		delete(out, name)
	}
	kept := slices.DeleteFunc(slices.Clone(old.Results), func(r *benchfmt.Result) bool { return out[r.Name.String()] })
	if left := len(old.Results) - len(kept); left > 0 && len(kept) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: --quick leaves out %d of the %d results of %s\n", left, len(old.Results), f.baseline)
		old.Results = kept
	}
	return nil
}

// namesOf are the names of a suite.
func namesOf(suite []access.Comparison) map[string]bool {
	names := map[string]bool{}
	for _, c := range suite {
		for _, b := range c {
			names[b.Name] = true
		}
	}
	return names
}

// names are those of results.
func names(set *results.Set) map[string]bool {
	names := map[string]bool{}
	for _, r := range set.Results {
		names[r.Name.String()] = true
	}
	return names
}

// of tells whether a result, by its name, is one of a study.
func of(s access.Study, name string) bool { return strings.HasPrefix(name, s.Name+"/") }

// expect is the most that a run can give to compare: of each name that it and the
// baseline have what the baseline says, as of this machine and these caches.
func (f *checkFlags) expect(old *results.Set, j job) ([]byte, error) {
	if err := old.CheckValues(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	config, _ := describe(j)
	w, err := results.NewWriter(&text, config, nil)
	if err != nil {
		return nil, err
	}
	suite, done := namesOf(j.suite), map[string]bool{}
	for _, r := range old.Results {
		name := r.Name.String()
		if done[name] || !suite[name] && !slices.ContainsFunc(j.studies, func(s access.Study) bool { return of(s, name) }) {
			continue
		}
		done[name] = true
		var values []results.Value
		for _, v := range r.Values {
			values = append(values, results.Value{Value: 1, Unit: cmp.Or(v.OrigUnit, v.Unit)})
		}
		for range f.count {
			if err := w.Write(name, 1, values); err != nil {
				return nil, err
			}
		}
	}
	for name := range suite {
		if !done[name] {
			if err := w.Write(name, 1, []results.Value{{Value: 1, Unit: "ns/op"}}); err != nil {
				return nil, err
			}
		}
	}
	return text.Bytes(), nil
}

// only is the job without what is not among the names.
func (j job) only(names map[string]bool) job {
	suite, patterns := j.suite, j.patterns
	j.suite, j.patterns = nil, nil
	for i, c := range suite {
		var some access.Comparison
		var theirs []access.Pattern
		for k, b := range c {
			if names[b.Name] {
				some, theirs = append(some, b), append(theirs, patterns[i][k])
			}
		}
		if some != nil {
			j.suite, j.patterns = append(j.suite, some), append(j.patterns, theirs)
		}
	}
	j.studies = slices.DeleteFunc(slices.Clone(j.studies), func(s access.Study) bool {
		for name := range names {
			if of(s, name) {
				return false
			}
		}
		return true
	})
	return j
}

// baselineGeometry sets the flags of the caches that are not given to what the
// baseline simulated.
func (f *checkFlags) baselineGeometry(old *results.Set) error {
	if f.caches != "" {
		return nil
	}
	config, err := old.Config()
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	for key, flag := range map[string]interface {
		pflag.Value
		given() bool
	}{"sim-d1": &f.geometry.d1, "sim-ll": &f.geometry.ll, results.TLBKey: &f.tlb} {
		if config[key] == "" || flag.given() {
			continue
		}
		if err := flag.Set(config[key]); err != nil {
			return fmt.Errorf("--baseline %s: %s %q: %w", f.baseline, key, config[key], err)
		}
	}
	return nil
}
