package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/check"
)

type checkFlags struct {
	runFlags
	baseline              string
	alpha                 float64
	threshold, tolerance  parsed[float64]
	times                 parsed[check.Times]
	format                parsed[string]
	update, allowVanished bool
	incomplete            error // why the new results cannot become the baseline
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check (--baseline OLD [NEW] | --ab OLDPROGRAM)",
		Short: "Fail if results became worse than a baseline",
		Args:  oneNew,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), callOf(cmd), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.add(flags)
	f.addSuite(flags)
	flags.StringVarP(&f.out, "out", "o", "", "`file` for the results of a run")
	f.addCaches(flags)
	flags.StringVar(&f.ab, "ab", "", abUsage)
	return cmd
}

func (f *checkFlags) add(flags *pflag.FlagSet) {
	f.threshold = parsed[float64]{value: 0.05, text: "5%", parse: check.ParseShare, kind: "share"}
	f.tolerance = parsed[float64]{text: "0", parse: check.ParseShare, kind: "share"}
	f.times = oneOf("when", check.TimesAuto, check.TimesRequire, check.TimesOff)
	f.format = oneOf("format", "text", "markdown", "json", "junit")
	flags.StringVar(&f.baseline, "baseline", "", "`file` of results to compare with; - for stdin")
	flags.Float64Var(&f.alpha, "alpha", 0.01,
		"share of false alarms; among checks of unchanged code, those that find some time to differ")
	flags.Var(&f.threshold, "threshold", "least change of a time that counts, such as 5% or 0.05")
	flags.Var(&f.tolerance, "exact-tolerance",
		"greatest rise of a simulated unit that does not count, such as 0.1%")
	flags.Var(&f.times, "times", "compare times, auto, require or off; auto compares them if the "+
		"machines are the same")
	flags.Var(&f.format, "format", "text, markdown, json or junit; markdown is for a pull "+
		"request or a job's summary")
	flags.BoolVar(&f.allowVanished, "allow-vanished", false,
		"do not fail if NEW lacks benchmarks of the baseline")
	flags.BoolVar(&f.update, "update", false,
		"make NEW the baseline if it passes; a regression or a missing benchmark keeps the old one")
}

// oneOf returns a flag that takes one of the known values, by default the first.
func oneOf[T ~string](kind string, known ...T) parsed[T] {
	return parsed[T]{value: known[0], text: string(known[0]), kind: kind, known: known,
		parse: func(text string) (T, error) {
			if slices.Contains(known, T(text)) {
				return T(text), nil
			}
			if len(known) == 1 {
				return "", fmt.Errorf("want %s, which is all that there is so far", known[0])
			}
			return "", fmt.Errorf("want one of %s", strings.Trim(fmt.Sprint(known), "[]"))
		}}
}

func checkAlpha(alpha float64) error {
	if !(alpha > 0 && alpha < 1) {
		return fmt.Errorf("--alpha %v: want more than 0 and less than 1", alpha)
	}
	return nil
}

func (f *checkFlags) run(ctx context.Context, c call, args []string) error {
	switch {
	case f.baseline == "" && f.ab == "":
		return errors.New("--baseline is missing (such as --baseline baseline.txt)")
	case f.ab != "" && (f.baseline != "" || f.update || len(args) > 0):
		return errors.New("--ab runs both programs: leave --baseline, --update and NEW out")
	}
	if err := checkAlpha(f.alpha); err != nil {
		return err
	}
	if f.update && c.given("filter") {
		return errors.New("--update renews the whole baseline: leave --filter out")
	}
	report, text, err := f.report(ctx, c, args)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return check.Formats[f.format.value](w, report) }
	if f.format.value == "text" {
		err = writeTables(c.out, write)
	} else {
		err = write(c.out)
	}
	if err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		if f.update && len(args) > 0 && args[0] != "-" {
			err = fmt.Errorf("%w (cp %s %s replaces the baseline anyway)", err, args[0], f.baseline)
		}
		return err
	}
	if report.Failed() {
		return fmt.Errorf("%w: %s against %s", errCheck, report.Summary(), f.oldName())
	}
	if !f.update {
		return nil
	}
	if gone := len(report.Vanished); gone > 0 && !f.allowVanished {
		return fmt.Errorf("--update: the baseline is unchanged, since the new results lack %d of "+
			"its benchmarks or units (%s is the first; --allow-vanished renews it anyway)", gone,
			report.Vanished[0])
	}
	if f.incomplete != nil { // it has all of the baseline, but is incomplete
		return fmt.Errorf("--update: the baseline is unchanged, since the new results would be "+
			"refused as one: %w", f.incomplete)
	}
	if err := writeFile("baseline", f.baseline, text); err != nil {
		return err
	}
	c.note("%s has the new results now", f.baseline)
	return nil
}

// report compares the files or programs of the flags. It also returns the text of the new results.
func (f *checkFlags) report(ctx context.Context, c call, args []string) (*check.Report,
	[]byte, error) {
	if f.ab != "" {
		return f.reportAB(ctx, c)
	}
	if f.baseline == "-" && f.update {
		return nil, nil, errors.New("--baseline - is stdin, which cannot be renewed: leave " +
			"--update out, or name a file")
	}
	old, err := results.ReadBy(c.textOf, f.baseline)
	if errors.Is(err, fs.ErrNotExist) && len(args) > 0 && !missing(args[0]) {
		return nil, nil, fmt.Errorf("--baseline: %w (cp %s %s makes the new results the first one)",
			err, args[0], f.baseline)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("--baseline: %w (bench run -o %s records one)", err, f.baseline)
	}
	if err == nil {
		err = old.Complete()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--baseline: %w", err)
	}
	if err := old.Keep(f.suiteOf.filter, f.baseline); err != nil {
		return nil, nil, atFlag(err)
	}
	if len(args) == 0 {
		return f.reportNow(ctx, c, old)
	}
	for _, flag := range []string{"suite", "quick", "count", "sample-time", "out", "I1", "D1", "LL",
		"TLB", "caches", "pages"} {
		if flag == "out" && c.given(flag) {
			return nil, nil, fmt.Errorf("--out is for the results of a run, which %s has "+
				"already; the report goes to stdout: put > before the file", args[0])
		}
		if c.given(flag) {
			return nil, nil, fmt.Errorf("--%s is for a run: leave %s out, or the flag",
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

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// reportAB interleaves two programs. Benchmarks that only the older one has count as vanished.
func (f *checkFlags) reportAB(ctx context.Context, c call) (*check.Report, []byte, error) {
	run, err := f.prepare(c)
	if err != nil {
		return nil, nil, err
	}
	if report, err := f.tooFew(c, run); report != nil || err != nil {
		return report, nil, err
	}
	defer watch(ctx, "this pass")()
	keep, discard, err := f.openOut()
	if err != nil {
		return nil, nil, err
	}
	defer discard()
	if err := f.tune(ctx, c, run); err != nil {
		return nil, nil, abFault(ctx, err)
	}
	programs, err := f.programs(ctx)
	if err != nil {
		return nil, nil, err
	}
	gone, err := f.gone(ctx, programs.old, run)
	if err != nil {
		return nil, nil, err
	}
	oldText, text, err := f.interleave(ctx, c, run, programs)
	if err != nil {
		return nil, nil, err
	}
	old, err := results.Parse(f.ab, oldText)
	if err == nil {
		err = keep(text)
	}
	if err != nil {
		return nil, nil, err
	}
	report, err := f.compare(old, thisRun, text)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range gone {
		report.Vanished = append(report.Vanished, check.Lone{Name: name, Guarded: true})
	}
	return report, text, nil
}

// tooFew warns if --count gives too few samples to compare any time. If times are required, it
// returns the failing report.
func (f *checkFlags) tooFew(c call, run *session.Session) (*check.Report, error) {
	text, err := run.Expected(&results.Set{})
	if err != nil {
		return nil, err
	}
	old, err := results.Parse(f.ab, text)
	if err != nil {
		return nil, err
	}
	report, err := f.compare(old, thisRun, text)
	if err != nil || report.Nothing == "" || f.times.value == check.TimesOff ||
		len(report.Comparisons) == 0 {
		return nil, err
	}
	if f.times.value == check.TimesRequire {
		return report, nil
	}
	c.warn("--count %d: %s; --count %d would suffice", run.Count, report.Nothing,
		report.Comparisons[0].Need)
	return nil, nil
}

const thisRun = "this run"

func (f *checkFlags) oldName() string { return cmp.Or(f.baseline, f.ab) }

func (f *checkFlags) compare(old *results.Set, name string, text []byte) (*check.Report, error) {
	set, err := results.Parse(name, text)
	if err != nil {
		return nil, err
	}
	f.incomplete = nil
	if name != thisRun {
		f.incomplete = set.Complete()
	}
	if f.update && f.allowVanished && f.incomplete != nil { // else the report says so
		return nil, fmt.Errorf("--update: %w", f.incomplete)
	}
	if err := set.Keep(f.suiteOf.filter, name); err != nil {
		return nil, atFlag(err)
	}
	return check.CompareFiles(old, f.oldName(), set, name,
		check.Options{Alpha: f.alpha, Threshold: f.threshold.value,
			ExactTolerance: f.tolerance.value, Times: f.times.value, SameMachine: f.ab != "",
			AllowVanished: f.allowVanished, Update: f.update})
}

// reportNow runs the suite and compares it, unless nothing can be compared.
func (f *checkFlags) reportNow(ctx context.Context, c call, old *results.Set) (*check.Report,
	[]byte, error) {
	if err := f.baselineGeometry(old); err != nil {
		return nil, nil, err
	}
	f.once = f.times.value == check.TimesOff && !f.update && f.out == ""
	s, err := f.prepare(c)
	if err != nil {
		return nil, nil, err
	}
	if err := f.leaveOut(c, old, s); err != nil {
		return nil, nil, err
	}
	expected, err := s.Expected(old)
	if err != nil {
		return nil, nil, err
	}
	report, err := f.compare(old, thisRun, expected)
	if err == nil && len(report.Comparisons) == 0 && len(report.Vanished) > 0 {
		err = f.foreign(old)
	}
	if err != nil || report.Nothing != "" {
		return report, nil, err
	}
	if new := len(report.Appeared); new > 0 && !f.update && f.out == "" {
		c.note("not run: %s that %s lacks (--update or --out run them)",
			counted(new, "benchmark"), f.baseline)
		s.Only(old.Names())
	}
	text, err := f.runNow(ctx, c, s)
	if err != nil {
		return nil, nil, err
	}
	report, err = f.compare(old, thisRun, text)
	return report, text, err
}

// foreign is the error for a baseline without benchmarks of the suite, such as one of custom
// patterns.
func (f *checkFlags) foreign(old *results.Set) error {
	again := "bench run"
	for _, p := range old.Comments[f.baseline] {
		if p.Key == "command" {
			again = p.Value
		}
	}
	return fmt.Errorf("--baseline %s: without NEW the suite is run, and it has none of these "+
		"benchmarks: repeat the command that made them (%s) into another file, and give that as NEW", f.baseline, again)
}

func (f *checkFlags) runNow(ctx context.Context, c call, s *session.Session) ([]byte, error) {
	defer watch(ctx, "this pass")()
	keep, discard, err := f.openOut()
	if err != nil {
		return nil, err
	}
	defer discard()
	var text bytes.Buffer
	if err = f.tune(ctx, c, s); err == nil {
		meter := progress.New(c.err)
		var warnings []string
		warnings, err = s.Write(ctx, &text, meter)
		err = atPages(err)
		meter.End()
		tell(c, warnings)
	}
	var fault error // of the file
	if s.Done() > 0 {
		fault = keep(text.Bytes())
	}
	switch {
	case ctx.Err() == nil:
		return text.Bytes(), errors.Join(err, fault)
	case f.out != "" && s.Done() > 0 && fault == nil:
		return nil, stopped(ctx, "nothing is compared, and "+f.out+" keeps the samples that were "+
			"finished")
	}
	return nil, errors.Join(stopped(ctx, "nothing is compared or kept"), fault)
}

// openOut creates the file of --out before the run, so that a failure costs no measuring.
func (f *checkFlags) openOut() (keep func(text []byte) error, discard func(), err error) {
	if f.out == "" {
		return func([]byte) error { return nil }, func() {}, nil
	}
	file, err := createFile("out", f.out)
	if err != nil {
		return nil, nil, err
	}
	return func(text []byte) error {
		_, err := file.Write(text)
		return cmp.Or(err, file.Commit())
	}, file.Discard, nil
}

// leaveOut removes from a baseline what --quick omits, so that it does not count as vanished.
func (f *checkFlags) leaveOut(c call, old *results.Set, s *session.Session) error {
	if !f.suiteOf.quick {
		return nil
	}
	whole := f.suiteOf
	whole.quick = false
	suite, _, err := whole.read()
	if err != nil {
		return err
	}
	all := len(old.Results)
	if left := s.LeaveOut(old, suite); left > 0 {
		c.note("--quick leaves out %d of the %d results of %s", left, all, f.baseline)
	}
	return nil
}

// baselineGeometry takes the baseline's caches, except where flags are given.
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
	}{results.D1Key: &f.geometry.d1, results.LLKey: &f.geometry.ll, results.TLBKey: &f.tlb} {
		if config[key] == "" || flag.given() {
			continue
		}
		if err := flag.Set(config[key]); err != nil {
			return fmt.Errorf("--baseline %s: %s %q: %w", f.baseline, key, config[key], err)
		}
	}
	f.tlb.set = f.tlb.set || config[results.D1Key] != "" // a baseline without a TLB simulated none
	return nil
}
