package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/check"
	"github.com/stridebench/stridebench/results/filter"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/outfile"
)

type checkFlags struct {
	runFlags
	baseline              string
	alpha                 float64
	threshold, tolerance  parsed[float64]
	times                 parsed[string]
	format                parsed[string]
	update, allowVanished bool
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := verb("check (--baseline OLD [NEW] | --ab OLDPROGRAM)",
		"Fail if results became worse than a baseline",
		takes(0, 1, "one file, the new results; --baseline names the old ones"), f.run)
	flags := cmd.Flags()
	f.add(flags)
	f.addSuite(flags)
	flags.StringVarP(&f.out, "out", "o", "", "")
	f.addCaches(flags)
	flags.StringVar(&f.ab, "ab", "", "")
	return cmd
}

func (f *checkFlags) add(flags *pflag.FlagSet) {
	f.threshold = parsed[float64]{value: 0.05, text: "5%"}
	f.tolerance.text = "0"
	f.times = oneOf("when", "auto", "require", "off")
	f.format = oneOf("format", "text", "markdown", "json", "junit")
	flags.StringVar(&f.baseline, "baseline", "", "")
	flags.Float64Var(&f.alpha, "alpha", 0.01, "")
	f.threshold.add(flags, "threshold", "share", parseShare)
	f.tolerance.add(flags, "exact-tolerance", "share", parseShare)
	flags.Var(&f.times, "times", "")
	flags.Var(&f.format, "format", "")
	flags.BoolVar(&f.allowVanished, "allow-vanished", false, "")
	flags.BoolVar(&f.update, "update", false, "")
}

func checkAlpha(alpha float64) error {
	if !(alpha > 0 && alpha < 1) {
		return fmt.Errorf("--alpha %v: want more than 0 and less than 1", alpha)
	}
	return nil
}

func (f *checkFlags) run(c call, args []string) error {
	switch {
	case f.baseline == "" && f.ab == "":
		return errors.New("--baseline is missing: want a file, such as --baseline " +
			"baseline.txt, or --ab ./bench-old")
	case f.ab != "" && len(args) > 0:
		return fmt.Errorf("--ab runs both programs: leave %s out", args[0])
	case f.baseline == "-" && f.update:
		return errors.New("--baseline - is stdin, which cannot be renewed: leave --update out, " +
			"or name a file")
	}
	if err := cmp.Or(checkAlpha(f.alpha), exclude(c, "ab", "baseline update"),
		exclude(c, "update", "filter")); err != nil {
		return err
	}
	report, text, err := f.report(c, args)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return check.Formats[f.format.value](w, report) }
	if f.format.value == "text" {
		err = c.tables(write)
	} else {
		err = write(c.out)
	}
	if err != nil {
		return err
	}
	switch err := report.Err(); {
	case errors.Is(err, check.ErrNothing):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w against %s", errCheck, err, f.oldName())
	case !f.update:
		return nil
	}
	if gone := len(report.Vanished); gone > 0 && !f.allowVanished {
		return fmt.Errorf("--update: the baseline is unchanged, since the new results lack %d of "+
			"its benchmarks or units (%s is the first; --allow-vanished renews it anyway)", gone,
			report.Vanished[0])
	}
	if err := outfile.WriteFile(f.baseline, text); err != nil {
		return err
	}
	c.note("%s has the new results now", f.baseline)
	return nil
}

// report compares the files or programs of the flags. It also returns the text of the new results.
func (f *checkFlags) report(c call, args []string) (*check.Report, []byte, error) {
	if f.ab != "" {
		return f.reportAB(c)
	}
	old, err := results.ReadBy(c.textOf, f.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (bench run -o %s records one)", err, f.baseline)
	}
	if err == nil {
		err = old.Complete()
	}
	if err != nil {
		return nil, nil, err
	}
	if err := filter.Keep(old, f.suiteOf.filter, f.baseline); err != nil {
		return nil, nil, atFlag(err)
	}
	if len(args) == 0 {
		return f.reportNow(c, old)
	}
	const ofRun = "suite quick count sample-time out I1 D1 LL TLB caches pages"
	for flag := range strings.FieldsSeq(ofRun) {
		if c.given(flag) {
			return nil, nil, fmt.Errorf("--%s is for a run, which %s has already: leave it out",
				flag, args[0])
		}
	}
	text, err := c.textOf(args[0])
	if err != nil {
		return nil, nil, err
	}
	report, err := f.compare(old, args[0], text)
	return report, text, err
}

// reportAB interleaves two programs. Benchmarks that only the older one has count as vanished.
func (f *checkFlags) reportAB(c call) (*check.Report, []byte, error) {
	run, err := f.prepare(c)
	if err != nil {
		return nil, nil, err
	}
	defer watch(c.ctx, "this pass")()
	oldText, text, gone, err := f.interleave(c, run)
	if err != nil {
		return nil, nil, err
	}
	old, err := results.Parse(f.ab, oldText)
	if err != nil {
		return nil, nil, err
	}
	report, err := f.compare(old, thisRun, text, gone...)
	return report, text, err
}

const thisRun = "this run"

func (f *checkFlags) oldName() string { return cmp.Or(f.baseline, f.ab) }

func (f *checkFlags) compare(old *results.Set, name string, text []byte,
	gone ...string) (*check.Report, error) {
	set, err := results.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if f.update && name != thisRun {
		if err := set.Complete(); err != nil {
			return nil, fmt.Errorf("--update: the baseline is unchanged: %w", err)
		}
	}
	if err := filter.Keep(set, f.suiteOf.filter, name); err != nil {
		return nil, atFlag(err)
	}
	return check.Compare(old, set, check.Options{Alpha: f.alpha, Threshold: f.threshold.value,
		ExactTolerance: f.tolerance.value, Times: f.times.value, SameMachine: f.ab != "",
		AllowVanished: f.allowVanished, Update: f.update, Baseline: f.oldName(), New: name,
		Gone: gone})
}

// reportNow runs the suite and compares it, unless nothing can be compared.
func (f *checkFlags) reportNow(c call, old *results.Set) (*check.Report, []byte, error) {
	if err := f.baselineGeometry(c, old); err != nil {
		return nil, nil, err
	}
	f.once = f.times.value == "off" && !f.update && f.out == ""
	s, err := f.prepare(c)
	if err != nil {
		return nil, nil, err
	}
	whole, err := f.whole()
	if err != nil {
		return nil, nil, err
	}
	all := len(old.Results)
	expected, err := s.Expected(old, whole)
	if err != nil {
		return nil, nil, err
	}
	if left := all - len(old.Results); left > 0 {
		c.note("--quick leaves out %d of the %d results of %s", left, all, f.baseline)
	}
	report, err := f.compare(old, thisRun, expected)
	if err == nil && len(report.Comparisons) == 0 && len(report.Vanished) > 0 {
		err = fmt.Errorf("--baseline %s: without NEW the suite is run, and it has none of these "+
			"benchmarks: repeat the command that made them into another file, and give that as "+
			"NEW", f.baseline)
	}
	if err != nil || report.Nothing != "" {
		return report, nil, err
	}
	if new := len(report.Appeared); new > 0 && !f.update && f.out == "" {
		c.note("not run: %s that %s lacks (--update or --out run them)",
			counted(new, "benchmark"), f.baseline)
		s.Only(old.Names())
	}
	text, err := f.runNow(c, s)
	if err != nil {
		return nil, nil, err
	}
	report, err = f.compare(old, thisRun, text)
	return report, text, err
}

func (f *checkFlags) runNow(c call, s *session.Session) ([]byte, error) {
	defer watch(c.ctx, "this pass")()
	var text bytes.Buffer
	_, kept, warnings, fault, err := f.measure(c, s, &text)
	tell(c, warnings)
	so := "nothing is compared or kept"
	if kept != "" {
		so = "nothing is compared, and " + kept + " keeps the samples that were finished"
	}
	return text.Bytes(), errors.Join(c.orStopped(err, so), fault)
}

// whole returns the suite with what --quick omits, which a baseline may have. It is nil without.
func (f *checkFlags) whole() ([]access.Comparison, error) {
	if !f.suiteOf.quick {
		return nil, nil
	}
	whole := f.suiteOf
	whole.quick = false
	suite, _, err := whole.read()
	return suite, err
}

// baselineGeometry takes the baseline's caches, except where flags are given.
func (f *checkFlags) baselineGeometry(c call, old *results.Set) error {
	if f.caches != "" {
		return nil
	}
	config, err := old.Config()
	if err != nil {
		return err
	}
	for key, flag := range map[string]string{keys.D1: "D1", keys.LL: "LL",
		keys.TLB: "TLB"} {
		if config[key] != "" && !c.given(flag) {
			err = cmp.Or(err, c.flags.Set(flag, config[key]))
		}
	}
	if err != nil {
		return fmt.Errorf("--baseline %s: its caches: %w", f.baseline, err)
	}
	f.tlb.set = f.tlb.set || config[keys.D1] != "" // a baseline without a TLB simulated none
	return nil
}
