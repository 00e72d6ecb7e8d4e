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

// quickCount is the fewest samples with a 95% interval of the median.
const quickCount = 6

// Passes over longPass get longCount samples. These fill one burst, with one pass off the clock.
const (
	longPass  = 100 * time.Millisecond
	longCount = 10
)

func newRun() *cobra.Command {
	var f runFlags
	cmd := verb("run", "Time the suite, or patterns of your own, and simulate the same accesses",
		noArgs, func(c call, _ []string) error {
			if err := cmp.Or(needs(c, "ab", "ab-out"), f.suiteOf.noUnit()); err != nil {
				return err
			}
			s, err := f.prepare(c)
			if err != nil {
				return err
			}
			defer watch(c.ctx, "this pass")()
			if err := f.tune(c, s); err != nil {
				return err
			}
			if f.ab != "" {
				return f.runAB(c, s)
			}
			return f.run(c, s)
		})
	flags := cmd.Flags()
	f.addSuite(flags)
	flags.StringVarP(&f.out, "out", "o", "", "`file` for the results")
	flags.BoolVar(&f.raw, "raw", false, "print the lines of the results instead of a table; "+
		"without --out, a pipe gets them anyway")
	f.pattern.add(flags, 0)
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
	addPages(flags, &f.pages, "; thp are transparent huge pages, if the kernel gives them, and "+
		"the results say how many it gave; hugetlb are reserved ones")
}

func (f *runFlags) addCaches(flags *pflag.FlagSet) {
	f.geometry.add(flags)
	f.tlb.add(flags, "TLB", "levels", simcache.ParseTLB, "simulated data TLB, a level as "+
		"entries,assoc,page and the next after a space, such as '64,4,4096 1536,12,4096'; "+
		"default: this CPU's for --pages")
	flags.StringVar(&f.caches, "caches", "", "simulate the caches that a YAML `file` describes, "+
		"or measured; its first and last level and its TLB; 'bench machine --preset NAME' prints "+
		"such a file, measured is the result of machine --measure, - is stdin; results of the "+
		"same file compare on any machine")
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
		p.Caches.TLB = simcache.Config{TLB: f.tlb.value}.From(simcache.FromFlag).TLB
	}
	if p.Model, err = costModel(c, f.caches, &f.geometry, p.Caches.TLB, p.CPUs...); err != nil {
		return p, err
	}
	if f.caches != "" {
		source := simcache.Source("file")
		if f.caches == probe.SavedName {
			source = probe.SavedName
		}
		if p.Caches, err = p.Model.Caches.TwoLevels(); err != nil {
			return p, fmt.Errorf("--caches %s: %w", f.caches, err)
		}
		p.Caches = p.Caches.From(source)
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
		return fmt.Errorf("--suite: %w", f.suiteOf.workload.Errorf(b.Name, "%w", b))
	case ok && f.pattern.shape.set:
		return atFlag(b.Err)
	}
	return atFlag(err)
}

// run writes finished results to the file, even of an interrupted run. It writes no file if nothing
// finished. Stdout gets a table if it is a terminal or there is a file. Otherwise, or with --raw,
// it gets the lines.
func (f *runFlags) run(c call, s *session.Session) (err error) {
	var lines bytes.Buffer
	to := c.out
	if !f.raw && (progress.Terminal(c.out) || f.out != "") {
		to = &lines
	}
	file, err := createFile("out", f.out)
	if err != nil {
		return err
	}
	defer file.Discard()
	out := to
	if f.out != "" {
		out = io.MultiWriter(file, mute{to})
	}
	records, warnings, err := s.Write(c.ctx, out, c.meter)
	err = atFlag(err)
	kept := f.out
	if records > 0 {
		if fault := file.Commit(); fault != nil {
			err, kept = errors.Join(err, fault), ""
		}
	}
	if _, interrupted := errors.AsType[session.Interrupted](err); interrupted && records > 0 {
		switch {
		case kept != "":
			err = fmt.Errorf("%w, which %s keeps", err, kept)
		case to == c.out:
			err = fmt.Errorf("%w, which are printed", err)
		}
	}
	if lines.Len() > 0 && records > 0 {
		note := "results: not saved: use -o FILE"
		if kept != "" {
			note = fmt.Sprintf("results: %s (bench report %s draws them)", kept, quoted(kept))
		}
		err = errors.Join(err, s.Table(c.out, lines.Bytes(), columns(c.out), note))
	}
	tell(c, warnings)
	return err
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
	f.counts.add(flags, "threads", "list", parseThreads, "numbers of threads that share a "+
		"benchmark, such as 1,2,all; each is pinned to its own CPU, SMT siblings last; the "+
		"slowest one's time counts; names end with threads=N")
	flags.IntVar(&f.grain, "grain", access.GrainSize,
		"least number of elements for each thread, with --threads; the default is PyTorch's")
	f.pin.add(flags, "pin", "list", cpu.ParseList, "CPUs to pin threads to, in this order, such "+
		"as 0-3,8 (Linux); default: one of each core, from the last one on, and then SMT siblings")
	f.cpuBind.add(flags, "cpubind", "list", cpu.ParseList, "NUMA nodes to whose CPUs threads are "+
		"pinned, such as 0 (Linux; bench machine lists them)")
	f.memBind.add(flags, "membind", "list", cpu.ParseList, "NUMA nodes that the tensors' memory "+
		"is taken from (Linux); default: the node of the thread that first touches it")
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
	f.shard.add(flags, "shard", "i/n", parseShard, "run the i-th of n shares of the suite, which "+
		"take about the same time; 'bench merge' makes one file of them; auto takes i and n from "+
		"a Slurm array (SLURM_ARRAY_TASK_ID, _COUNT, _MIN) or an Indexed Job "+
		"(JOB_COMPLETION_INDEX, JOB_COMPLETIONS)")
	flags.StringArrayVar(&f.labels, "label", nil,
		"`key=value` that becomes a configuration line, such as host=node17, by which benchstat "+
			"-col host and bench report --by host compare; may be repeated")
}

func parseShard(text string) (node.Shard, error) {
	return node.ParseShard(text, os.Getenv)
}

func (f *runFlags) share(p session.Plan) (session.Plan, error) {
	seen := map[string]bool{}
	for _, text := range f.labels {
		label, err := results.ParseLabel(text)
		if err == nil && seen[label.Key] {
			err = errors.New("the key is given twice")
		}
		if err != nil {
			return p, fmt.Errorf("--label %s: %w", text, err)
		}
		seen[label.Key] = true
		p.Labels = append(p.Labels, label)
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
