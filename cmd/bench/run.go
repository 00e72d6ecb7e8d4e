package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/access/session/turns"
	"github.com/stridebench/stridebench/access/tune"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
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
	tuner    tune.Tuner
	shard    parsed[node.Shard]
	labels   []string
	threads  threadFlags
	raw      bool // print lines of results, not a table
}

// quickCount is the fewest samples with a 95% interval of the median. The usage of --quick has it.
const quickCount = 6

// Passes over longPass get longCount samples. These fill one burst, with one pass off the clock.
// The usage of --count has both.
const (
	longPass  = 100 * time.Millisecond
	longCount = 10
)

func newRun() *cobra.Command {
	var f runFlags
	cmd := verb("run", "Time the suite, or patterns of your own, and simulate the same accesses",
		noArgs, func(c call, _ []string) error {
			if err := needs(c, "ab", "ab-out"); err != nil {
				return err
			}
			s, err := f.prepare(c)
			if err != nil {
				return err
			}
			defer watch(c.ctx, "this pass")()
			if f.ab != "" {
				return f.runAB(c, s)
			}
			return f.run(c, s)
		})
	flags := cmd.Flags()
	f.addSuite(flags)
	flags.StringVarP(&f.out, "out", "o", "", "")
	flags.BoolVar(&f.raw, "raw", false, "")
	f.pattern.add(flags, 0)
	f.threads.add(flags)
	f.addCaches(flags)
	flags.BoolVar(&f.timeOnly, "times-only", false, "")
	flags.BoolVar(&f.tuner.Anew, "calibrate", false, "")
	flags.BoolVar(&f.tuner.Off, "no-calibrate", false, "")
	f.addShard(flags)
	flags.StringVar(&f.ab, "ab", "", "")
	flags.StringVar(&f.abOut, "ab-out", "", "")
	return cmd
}

func (f *runFlags) addSuite(flags *pflag.FlagSet) {
	f.suiteOf.add(flags)
	flags.IntVar(&f.count, "count", access.Samples, "")
	flags.DurationVar(&f.minTime, "sample-time", access.SampleTime, "")
	addPages(flags, &f.pages)
}

func (f *runFlags) addCaches(flags *pflag.FlagSet) {
	f.geometry.add(flags)
	f.tlb.add(flags, "TLB", "levels", cpu.ParseTLB)
	flags.StringVar(&f.caches, "caches", "", "")
}

func thisProgram() session.Program {
	b := node.ThisBuild()
	return session.Program{Version: b.Version, Commit: b.Commit, Command: commandLine()}
}

func (f *runFlags) plan(c call) (p session.Plan, err error) {
	p = session.Plan{Count: f.count, SampleTime: f.minTime, Pages: f.pages.value,
		TimesOnly: f.timeOnly, Counters: true, Program: thisProgram()}
	if err := exclude(c, "calibrate", "no-calibrate"); err != nil {
		return p, err
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
	if p, err = f.threads.among(c, p); err != nil {
		return p, err
	}
	p.Caches = f.geometry.config(cpu.Caches(p.CPUs...))
	if p.Caches.TLB = cpu.TLB(f.pages.value.Size(), p.CPUs...); f.tlb.set {
		p.Caches.TLB = cpu.From(simcache.Config{TLB: f.tlb.value}, cpu.FromFlag).TLB
	}
	if p.Model, err = costModel(c, f.caches, &f.geometry, p.Caches.TLB, p.CPUs...); err != nil {
		return p, err
	}
	if f.caches != "" {
		source := "file"
		if f.caches == probe.SavedName {
			source = probe.SavedName
		}
		if p.Caches, err = cpu.TwoLevels(p.Model.Caches); err != nil {
			return p, fmt.Errorf("--caches %s: %w", f.caches, err)
		}
		p.Caches = cpu.From(p.Caches, source)
	}
	return f.share(p)
}

func (f *runFlags) suite(c call) ([]access.Comparison, []string, error) {
	if err := cmp.Or(needs(c, "shape", patternNames), exclude(c, "shape", "suite")); err != nil {
		return nil, nil, err
	}
	if !f.pattern.shape.set {
		return f.suiteOf.read()
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
	switch {
	case ok && f.suiteOf.workload != nil:
		return f.suiteOf.workload.Errorf(b.Name, "%w", b)
	case ok && f.pattern.shape.set:
		return atFlag(b.Err)
	}
	return atFlag(err)
}

// measure runs a session, tuned. It writes finished results to a writer and to the file of --out,
// even of an interrupted run, and returns the file's name, or its fault. It writes no file if
// nothing finished.
func (f *runFlags) measure(c call, s *session.Session, to io.Writer) (records int, kept string,
	warnings []string, fault, err error) {
	file, err := createFile(f.out) // a failure costs no measuring
	if err != nil {
		return 0, "", nil, nil, err
	}
	defer file.Discard()
	if err := f.tune(c, s); err != nil {
		return 0, "", nil, nil, err
	}
	records, warnings, err = s.Write(c.ctx, io.MultiWriter(file, to), c.meter)
	if records > 0 {
		if fault = file.Commit(); fault == nil {
			kept = f.out
		}
	}
	return records, kept, warnings, fault, atFlag(err)
}

// run measures. Stdout gets a table if it is a terminal or there is a file. Otherwise, or with
// --raw, it gets the lines.
func (f *runFlags) run(c call, s *session.Session) (err error) {
	var lines bytes.Buffer
	to := c.out
	if !f.raw && (progress.Terminal(c.out) || f.out != "") {
		to = &lines
	}
	if f.out != "" {
		to = mute{to}
	}
	records, kept, warnings, fault, err := f.measure(c, s, to)
	if _, interrupted := errors.AsType[session.Interrupted](err); interrupted && records > 0 {
		switch {
		case kept != "":
			err = fmt.Errorf("%w, which %s keeps", err, kept)
		case lines.Len() == 0:
			err = fmt.Errorf("%w, which are printed", err)
		}
	}
	if lines.Len() > 0 && records > 0 {
		note := "results: not saved: use -o FILE"
		if kept != "" {
			note = fmt.Sprintf("results: %s (bench report %s draws them)", kept,
				shellquote.Join(kept))
		}
		err = errors.Join(err, s.Table(c.out, lines.Bytes(), columns(c.out), note))
	}
	tell(c, warnings)
	return errors.Join(err, fault)
}

func tell(c call, warnings []string) {
	for _, w := range warnings {
		c.warn("%s", w)
	}
}

type threadFlags struct {
	counts                parsed[[]int]
	pin, cpuBind, memBind parsed[[]int]
	grain                 int
}

func (f *threadFlags) add(flags *pflag.FlagSet) {
	f.counts.add(flags, "threads", "list", parseThreads)
	flags.IntVar(&f.grain, "grain", access.GrainSize, "")
	f.pin.add(flags, "pin", "list", cpu.ParseList)
	f.cpuBind.add(flags, "cpubind", "list", cpu.ParseList)
	f.memBind.add(flags, "membind", "list", cpu.ParseList)
}

func (f *threadFlags) among(c call, p session.Plan) (session.Plan, error) {
	if err := cmp.Or(exclude(c, "ab", "threads pin cpubind membind shard"),
		needs(c, "threads", "grain")); err != nil {
		return p, err
	}
	if f.counts.set {
		if err := positive("grain", f.grain); err != nil {
			return p, err
		}
	}
	before := len(p.Remarks)
	p, err := p.Among(session.Threads{Counts: f.counts.value, Grain: f.grain, Pin: f.pin.value,
		CPUBind: f.cpuBind.value, MemBind: f.memBind.value})
	if err != nil {
		return p, atFlag(err)
	}
	for _, r := range p.Remarks[before:] {
		if r.Key == "threads" {
			c.note("threads: %s", r.Value)
		}
	}
	return p, nil
}

func (f *runFlags) addShard(flags *pflag.FlagSet) {
	f.shard.add(flags, "shard", "i/n", parseShard)
	flags.StringArrayVar(&f.labels, "label", nil, "")
}

func parseShard(text string) (node.Shard, error) {
	return node.ParseShard(text, os.Getenv)
}

func (f *runFlags) share(p session.Plan) (session.Plan, error) {
	if err := keys.Labels(f.labels, func(key, value string) {
		p.Labels = append(p.Labels, results.Pair{Key: key, Value: value})
	}); err != nil {
		return p, fmt.Errorf("--label %w", err)
	}
	if !f.shard.set {
		return p, nil
	}
	p, err := p.Take(f.shard.value)
	return p, f.fault(err)
}

// parseThreads reads numbers of threads, such as "1,2,4,all"; all is 0.
func parseThreads(text string) ([]int, error) {
	var counts []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if part == "all" {
			n, err = 0, nil
		} else if n < 1 {
			err = cmp.Or(err, strconv.ErrRange)
		}
		if err != nil {
			return nil, errors.New("want numbers from 1 on or all, such as 1,2,4,all")
		}
		counts = append(counts, n)
	}
	return counts, nil
}
