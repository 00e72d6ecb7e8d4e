package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/access/session/turns"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

type runFlags struct {
	pattern  patternFlags
	geometry geometryFlags
	pages    parsed[access.Pages]
	suiteOf  suiteFlags
	count    int
	minTime  time.Duration
	out      string
	caches   string
	tlb      parsed[[]simcache.TLB]
	once     bool   // take one sample by default, because times do not matter
	ab       string // an older program
	abOut    string
	timeOnly bool
	tuner    session.Tuner
	shard    parsed[session.Shard]
	labels   []string
	threads  threadFlags
	raw      bool // print lines of results, not a table
}

// quickCount is the fewest samples with a 95% interval of the median.
const quickCount = 6

// Passes over longPass get longCount samples. These fill one burst, with one pass off the clock.
const (
	longPass  = 100 * time.Millisecond
	longCount = 10
)

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Time the suite, or patterns of your own, and simulate the same accesses",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := callOf(cmd)
			if f.abOut != "" && f.ab == "" {
				return errors.New("--ab-out goes with --ab, which is missing")
			}
			if err := f.suiteOf.noUnit(); err != nil {
				return err
			}
			for _, flag := range []string{"I1", "D1", "LL", "TLB", "caches"} {
				if f.timeOnly && c.given(flag) {
					c.note("--times-only simulates nothing: --%s only sets the head of the results",
						flag)
				}
			}
			s, err := f.prepare(c)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			defer watch(ctx, "this pass")()
			if err := f.tune(ctx, c, s); err != nil {
				return err
			}
			if f.ab != "" {
				return f.runAB(ctx, c, s)
			}
			return f.run(ctx, c, s)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.addSuite(flags)
	flags.StringVarP(&f.out, "out", "o", "", "`file` for the results")
	flags.BoolVar(&f.raw, "raw", false, "print the lines of the results instead of a table; "+
		"without --out, a pipe gets them anyway")
	f.pattern.add(flags, 0, anyOp)
	f.threads.add(flags)
	f.addCaches(flags)
	flags.BoolVar(&f.timeOnly, "times-only", false, "simulate and predict nothing")
	flags.BoolVar(&f.tuner.Anew, "calibrate", false,
		"measure again which stores and distances are best for the vector kernels on this CPU; "+
			"without it, the first run measures them, in less than 2 s")
	flags.BoolVar(&f.tuner.Off, "no-calibrate", false,
		"run the vector kernels with the same settings on every CPU: stores past the caches from "+
			"32 MiB on")
	f.addShard(flags)
	flags.StringVar(&f.ab, "ab", "", abUsage)
	flags.StringVar(&f.abOut, "ab-out", "", "`file` for the results of the program of --ab")
	return cmd
}

const abUsage = "compare with an older bench `program`; its samples and this one's are " +
	"interleaved, the only way to compare times on a machine that others use"

func (f *runFlags) addSuite(flags *pflag.FlagSet) {
	f.suiteOf.add(flags, fmt.Sprintf("the quick suite, with %d samples by default", quickCount))
	flags.IntVar(&f.count, "count", access.Samples,
		fmt.Sprintf("samples of each benchmark; by default, %d if a pass takes longer than %v",
			longCount, longPass))
	flags.DurationVar(&f.minTime, "sample-time", access.SampleTime,
		"least length of a sample, about, in whole passes; its time is the least between "+
			"readings of the clock 0.1 ms apart; with --ab the default is 100ms")
	f.pages = parsed[access.Pages]{parse: access.ParsePages, kind: "pages",
		text: access.PagesSmall.String()}
	flags.Var(&f.pages, "pages", "pages of the tensors' memory: 4k (16k or 64k where the "+
		"system's are), thp (transparent huge pages, if the kernel gives them; the results say "+
		"how many it gave), or hugetlb (reserved ones)")
}

func (f *runFlags) addCaches(flags *pflag.FlagSet) {
	f.geometry.add(flags)
	f.tlb = parsed[[]simcache.TLB]{parse: simcache.ParseTLB, kind: "levels"}
	flags.Var(&f.tlb, "TLB", "simulated data TLB, a level as entries,assoc,page and the next "+
		"after a space, such as '64,4,4096 1536,12,4096'; default: this CPU's for --pages")
	flags.StringVar(&f.caches, "caches", "", "simulate the caches that a YAML `file` describes, "+
		"or measured; its first and last level and its TLB; 'bench machine --preset NAME' prints "+
		"such a file, measured is the result of machine --measure, - is stdin; results of the "+
		"same file compare on any machine")
}

func thisProgram() session.Program {
	b := results.ThisBuild()
	return session.Program{Version: b.Version, Commit: b.Commit, Command: commandLine()}
}

func (f *runFlags) plan(c call) (p session.Plan, err error) {
	p = session.Plan{Count: f.count, SampleTime: f.minTime, Pages: f.pages.value,
		TimesOnly: f.timeOnly, Counters: true, Program: thisProgram()}
	if err := exclude(c, "calibrate", "no-calibrate"); err != nil {
		return p, f.fault(err)
	}
	switch {
	case c.given("count"):
	case f.once:
		p.Count = 1
	case f.suiteOf.quick:
		p.Count = quickCount
	default:
		p.Long, p.LongCount = longPass, longCount
	}
	if f.ab != "" && !c.given("sample-time") {
		p.SampleTime = turns.SampleTime
	}
	if p.Comparisons, p.Studies, err = f.suite(c); err != nil {
		return p, err
	}
	if f.pattern.shape.set { // before threads, whose error would hide an invalid pattern
		if err := f.lowers(p.Comparisons); err != nil {
			return p, err
		}
	}
	if p, err = f.threads.among(c, p, f.ab); err != nil {
		return p, err
	}
	if p.Caches, err = f.config(p.CPUs); err != nil {
		return p, err
	}
	if f.caches == "" && !f.timeOnly {
		f.geometry.noteApart(c, p.CPUs...)
	}
	if err := warnOther(c, "--caches", f.caches, p.CPUs...); err != nil {
		return p, err
	}
	if p.Model, err = costModel(f.caches, &f.geometry, p.Caches.TLB, p.CPUs...); err != nil {
		return p, err
	}
	return f.share(p)
}

func (f *runFlags) lowers(all []access.Comparison) error {
	for _, b := range slices.Concat(all...) {
		if _, err := b.Spec.Pattern(); err != nil {
			return f.fault(&session.BenchmarkError{Name: b.Name, Err: err, Invalid: true})
		}
	}
	return nil
}

func (f *runFlags) suite(c call) ([]access.Comparison, []string, error) {
	if !f.pattern.shape.set {
		for _, name := range []string{"dtype", "pad", "view", "op", "with", "from", "to", "tile",
			"order", "kernel"} {
			if c.given(name) {
				return nil, nil, fmt.Errorf("--%s goes with --shape, which is missing", name)
			}
		}
		return f.suiteOf.read()
	}
	if f.suiteOf.file != "" {
		return nil, nil, errors.New("--suite and --shape both choose the benchmarks: give one " +
			"of them")
	}
	product, err := f.pattern.product()
	if err != nil {
		return nil, nil, err
	}
	all, left, why := product.Possible()
	if left > 0 {
		c.note("left out %d of %d combinations: --%v", left, len(product.Specs()), why)
	}
	return f.suiteOf.filtered(all, nil)
}

// prepare checks everything, so that errors appear before anything runs.
func (f *runFlags) prepare(c call) (*session.Session, error) {
	p, err := f.plan(c)
	if err != nil {
		return nil, err
	}
	s, err := p.Prepare()
	return s, f.fault(err)
}

// fault names the flag at fault, or the place in the suite's file.
func (f *runFlags) fault(err error) error {
	b, ok := errors.AsType[*session.BenchmarkError](err)
	if !ok {
		return atFlag(err)
	}
	_, ofField := errors.AsType[*access.FieldError](err)
	switch {
	case b.Invalid && !ofField:
		return err
	case b.Invalid || ofField && f.pattern.shape.set: // such as a kernel of another CPU
		return atFlag(b.Err)
	}
	return f.suiteOf.fault(b.Name, b.Err)
}

// config returns the first and last level and the TLB of a description. Without one, it returns the
// caches of the CPU that threads are pinned to first, changed by the flags.
func (f *runFlags) config(pinned []int) (simcache.Config, error) {
	if f.caches == "" {
		c := f.geometry.config(cpu.Caches(pinned...))
		if c.TLB = cpu.TLB(f.pages.value.Size(), pinned...); f.tlb.set {
			c.TLB = simcache.Config{TLB: f.tlb.value}.From(simcache.FromFlag).TLB
		}
		return c, nil
	}
	if f.geometry.set() || f.tlb.set {
		return simcache.Config{}, errors.New(
			"--caches names all caches: leave --I1, --D1, --LL and --TLB out")
	}
	m, err := files().Description(f.caches)
	if err != nil {
		return simcache.Config{}, fmt.Errorf("--caches: %w%s", err, kindHint(f.caches))
	}
	source := simcache.Source("file")
	if f.caches == probe.SavedName {
		source = probe.SavedName
	}
	c, err := m.Config.TwoLevels()
	if err != nil {
		return simcache.Config{}, fmt.Errorf("--caches %s: %w", f.caches, err)
	}
	return c.From(source), nil
}

// run writes finished results to the file, even of an interrupted run. It writes no file if nothing
// finished. Stdout gets a table if it is a terminal or there is a file. Otherwise, or with --raw,
// it gets the lines.
func (f *runFlags) run(ctx context.Context, c call, s *session.Session) (err error) {
	var lines bytes.Buffer
	var file *flagFile
	terminal, to := progress.Terminal(c.out), c.out
	if !f.raw && (terminal || f.out != "") {
		to = &lines
	}
	if f.out != "" {
		if file, err = createFile("out", f.out); err != nil {
			return err
		}
		defer file.Discard()
		to = io.MultiWriter(file, results.Mute(to))
	}
	var meter *progress.Meter // nil if lines scroll by on the terminal
	if !terminal || !f.raw {
		meter = progress.New(c.err)
	}
	warnings, err := s.Write(ctx, to, meter)
	err = atPages(err)
	meter.End()
	kept := f.out
	if file != nil && s.Done() > 0 {
		if fault := file.Commit(); fault != nil {
			err, kept = errors.Join(err, fault), ""
		}
	}
	if _, interrupted := errors.AsType[session.Interrupted](err); interrupted && s.Done() > 0 {
		switch {
		case kept != "":
			err = fmt.Errorf("%w, which %s keeps", err, kept)
		case to == c.out:
			err = fmt.Errorf("%w, which are printed", err)
		}
	}
	if lines.Len() > 0 && s.Done() > 0 {
		note := "results: not saved: use -o FILE"
		if kept != "" {
			note = fmt.Sprintf("results: %s (bench report %s draws them)", kept, quoted(kept))
		}
		err = errors.Join(err, s.Table(c.out, lines.Bytes(), columns(c.out), note))
	}
	if !terminal || !f.raw { // otherwise the lines include them
		tell(c, warnings)
	}
	return err
}

func tell(c call, warnings []string) {
	for _, w := range warnings {
		c.warn("%s", w)
	}
}
