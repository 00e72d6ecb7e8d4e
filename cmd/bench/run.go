package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// runFlags are the flags of bench run.
type runFlags struct {
	pattern  patternFlags
	geometry geometryFlags
	orders   []string
	kernels  []string
	pages    parsed[access.Pages]
	suiteOf  suiteFlags
	count    int
	minTime  time.Duration
	out      string
	caches   string
	tlb      parsed[[]simcache.TLB]
	ab       string // an older program
	abOut    string
	timeOnly bool
}

// quickCount is the least number of samples with a 95% interval of the median.
const quickCount = 6

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Time the suite, or patterns of your own, and simulate the same accesses",
		Long: `run times the default suite of traversals and copies, or with --shape one
pattern of your own, or with --suite those of a file, and prints a line for each sample in the Go benchmark
format, as go test -bench does. Each line has the time of one pass in the
steady state and the simulated cache misses of the very same pass. Samples of
benchmarks that are to be compared are interleaved.

Ctrl-C, as SIGTERM, SIGHUP and SIGQUIT, ends the run between samples and keeps
what was finished; a second one ends it at once.`,
		Example: `  bench run -o out/run.txt
  bench run --quick --filter '.name:Traverse'
  bench run --shape 4000x4000 --dtype int32 --order row --order col
  bench run --shape 4000x4000 --op add --with 1x4000
  bench run --shape 64x64 --dtype int32 --kernel scalar --kernel avx2
  bench run --filter '.name:Pitch' --pages thp
  bench run --filter '.name:Latency' --pages thp
  bench run --shape 4096x8 --dtype int64 --view 'select(1,0)' --op chase
  bench run --suite my.yaml -o out/my.txt
  bench run --shape 1024x1024x16 --view 'permute(2,0,1)' --op copy
  bench run --caches caches.yaml -o new.txt
  bench run --caches measured -o new.txt
  bench run --ab ./bench-old --ab-out old.txt -o new.txt
  bench run --count 40 -o new.txt && go tool benchstat old.txt new.txt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.prepare(cmd)
			if err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			if f.ab != "" {
				return f.runAB(ctx, cmd, j)
			}
			return f.run(ctx, cmd, j)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.addSuite(flags)
	flags.StringVarP(&f.out, "out", "o", "", "file for the results, besides stdout")
	f.pattern.add(flags)
	flags.StringArrayVar(&f.orders, "order", []string{"row"}, orderUsage+"; several are compared")
	flags.StringArrayVar(&f.kernels, "kernel", []string{"scalar"}, kernelUsage+kernel.Names(kernel.All())+" (this CPU runs "+kernel.Names(kernel.Sets())+"); several are compared")
	f.addCaches(flags)
	flags.BoolVar(&f.timeOnly, "times-only", false, "simulate and predict nothing")
	flags.StringVar(&f.ab, "ab", "", abUsage)
	flags.StringVar(&f.abOut, "ab-out", "", "file for the results of the program of --ab")
	return cmd
}

const abUsage = "an older bench `program`: its samples and this one's are taken by turns on this machine, which is the only way to compare times where others use it too"

// addSuite adds the flags that say what of the suite is run, and how.
func (f *runFlags) addSuite(flags *pflag.FlagSet) {
	f.suiteOf.add(flags, fmt.Sprintf("the quick suite, and %d samples unless --count says otherwise", quickCount))
	flags.IntVar(&f.count, "count", 15, "samples of each benchmark")
	flags.DurationVar(&f.minTime, "sample-time", time.Millisecond, "least length of a sample, about, which is made of as many passes as that takes; its time is the least between readings of the clock 0.1 ms apart; with --ab 100ms unless said otherwise")
	f.pages = parsed[access.Pages]{parse: access.ParsePages, kind: "pages", text: access.Pages4K.String()}
	flags.Var(&f.pages, "pages", "pages of the tensors' memory: 4k, thp (transparent huge pages, as the kernel has them; what was obtained is a comment in the results), or hugetlb (reserved ones)")
}

// addCaches adds the flags that say what caches are simulated.
func (f *runFlags) addCaches(flags *pflag.FlagSet) {
	f.geometry.add(flags)
	f.tlb = parsed[[]simcache.TLB]{parse: simcache.ParseTLB, kind: "levels"}
	flags.Var(&f.tlb, "TLB", "simulated data TLB, a level as entries,assoc,page and the next after a space, such as '64,4,4096 1536,12,4096'; default: this CPU's for --pages")
	flags.StringVar(&f.caches, "caches", "", "simulate the first and the last level, and the TLB, that a YAML `file` describes, as 'bench machine --preset NAME' prints one, or measured: what machine --measure found; results of the same file compare on any machine")
}

// suite is what the flags ask for: the suite, filtered, or one pattern.
func (f *runFlags) suite(cmd *cobra.Command) ([]access.Comparison, []access.Study, error) {
	if err := atLeast("count", f.count, 1); err != nil {
		return nil, nil, err
	}
	if f.minTime <= 0 || f.minTime > time.Minute {
		return nil, nil, fmt.Errorf("--sample-time %v: want more than 0 and at most 1m", f.minTime)
	}
	if f.suiteOf.quick && !cmd.Flags().Changed("count") {
		f.count = quickCount
	}
	if f.ab != "" && !cmd.Flags().Changed("sample-time") {
		f.minTime = turnTime
	}
	if !f.pattern.shape.set {
		for _, name := range []string{"dtype", "pad", "view", "op", "with", "tile", "order", "kernel"} {
			if cmd.Flags().Changed(name) {
				return nil, nil, fmt.Errorf("--%s goes with --shape, which is missing", name)
			}
		}
		return f.suiteOf.read()
	}
	if f.suiteOf.file != "" {
		return nil, nil, errors.New("--suite and --shape both say what is run: give one of them")
	}
	var c access.Comparison
	for _, order := range f.orders {
		for _, kernel := range f.kernels {
			spec, err := f.pattern.spec(order, 0)
			if err != nil {
				return nil, nil, err
			}
			if spec.Kernel, err = access.ParseKernel(kernel); err != nil {
				return nil, nil, fmt.Errorf("--kernel %s: %w", kernel, err)
			}
			c = append(c, access.Benchmark{Name: spec.Name(), Spec: spec})
		}
	}
	return f.suiteOf.filtered([]access.Comparison{c}, nil)
}

// A job is what is run, lowered and checked.
type job struct {
	suite    []access.Comparison
	patterns [][]access.Pattern // of the suite
	studies  []access.Study
	machine  results.Machine
	caches   []cpu.Cache     // of this CPU
	config   simcache.Config // that is simulated: two levels and a TLB
	model    cost.Model
}

// prepare lowers everything first, so that what is wrong, or cannot be timed
// here, is said before anything runs.
func (f *runFlags) prepare(cmd *cobra.Command) (job, error) {
	suite, studies, err := f.suite(cmd)
	if err != nil {
		return job{}, err
	}
	j := job{suite: suite, studies: studies, machine: results.ThisMachine(), caches: cpu.Caches(), patterns: make([][]access.Pattern, len(suite))}
	if j.config, err = f.config(j.caches); err != nil {
		return job{}, err
	}
	if err := warnOther(cmd, "--caches", f.caches); err != nil {
		return job{}, err
	}
	if j.model, err = costModel(f.caches, &f.geometry, j.config.TLB); err != nil {
		return job{}, err
	}
	for i, c := range suite {
		for _, b := range c {
			p, err := lower(b.Spec)
			if err != nil {
				return job{}, err
			}
			err = access.Measurable(p, j.machine.Available)
			if errors.Is(err, access.ErrForeign) && f.pattern.shape.set {
				return job{}, fmt.Errorf("--%w", err)
			}
			if err != nil {
				return job{}, f.suiteOf.fault(b.Name, withLimit(err, j.machine))
			}
			j.patterns[i] = append(j.patterns[i], p)
		}
	}
	return j, nil
}

// withLimit adds to an error of too little memory what limits it.
func withLimit(err error, m results.Machine) error {
	if _, ok := errors.AsType[*access.MemoryError](err); ok && len(m.MemoryLimits) > 0 && m.AvailableFrom == m.MemoryLimits[0].Source {
		return fmt.Errorf("%w (%s limits it to %s)", err, m.AvailableFrom, results.Bytes(m.MemoryLimits[0].Bytes))
	}
	return err
}

// config is the caches and the TLB to simulate: the first and the last level of a
// description, and its TLB, or flags over those of this CPU.
func (f *runFlags) config(caches []cpu.Cache) (simcache.Config, error) {
	if f.caches == "" {
		c := f.geometry.config(caches)
		if c.TLB = cpu.TLB(f.pages.value.Size()); f.tlb.set {
			c.TLB = simcache.Config{TLB: f.tlb.value}.From(simcache.FromFlag).TLB
		}
		return c, nil
	}
	if f.geometry.i1.set || f.geometry.d1.set || f.geometry.ll.set || f.tlb.set {
		return simcache.Config{}, errors.New("--caches names all caches: leave --I1, --D1, --LL and --TLB out")
	}
	m, err := readMachine(f.caches)
	if err != nil {
		return simcache.Config{}, fmt.Errorf("--caches: %w", err)
	}
	source := simcache.Source("file")
	if f.caches == measuredWord {
		source = measuredWord
	}
	// A run simulates as Cachegrind does, which wants powers of two, and rounds
	// the last level to one.
	first, last := m.Config.First().Geometry, m.Config.Last().Geometry.Rounded()
	if err := errors.Join(first.Check(), last.Check()); err != nil {
		return simcache.Config{}, fmt.Errorf("--caches %s: %w", f.caches, err)
	}
	return simcache.Config{I1: m.Config.I1, Levels: simcache.TwoLevels(first, last), TLB: m.Config.TLB}.From(source), nil
}

// run measures. The file gets what was finished, whatever ends the run, and is
// left out if nothing was.
func (f *runFlags) run(ctx context.Context, cmd *cobra.Command, j job) error {
	if f.out == "" {
		_, err := f.measure(ctx, cmd, j, cmd.OutOrStdout())
		return err
	}
	file, err := createFile("out", f.out)
	if err != nil {
		return err
	}
	defer file.Discard()
	done, err := f.measure(ctx, cmd, j, io.MultiWriter(file, cmd.OutOrStdout()))
	if done == 0 {
		return err
	}
	return errors.Join(err, file.Commit())
}

// interrupted is the error of a run that a signal such as Ctrl-C ended.
type interrupted struct {
	done, total int
	cause       error // a stopSignal
}

// Error says what is kept.
func (i interrupted) Error() string {
	if i.done == 0 {
		return "interrupted before the first sample"
	}
	return fmt.Sprintf("interrupted after %d of %d samples, which are kept", i.done, i.total)
}

// Unwrap is the signal.
func (i interrupted) Unwrap() error { return i.cause }

// describe is the head of a results file: what decides comparability, and what
// changes from run to run.
func describe(j job) (config, comments []results.Pair) {
	m, d1, ll := j.machine, j.config.First(), j.config.Last()
	var sizes []string
	for _, c := range j.caches {
		sizes = append(sizes, fmt.Sprintf("%s=%s", cacheName(c), c.Geometry))
	}
	config = []results.Pair{
		{Key: "goos", Value: m.GOOS},
		{Key: "goarch", Value: m.GOARCH},
		{Key: "cpu", Value: m.CPU},
		{Key: "cpus", Value: strconv.Itoa(m.CPUs)},
		{Key: "caches", Value: strings.Join(sizes, " ")},
		{Key: "goversion", Value: m.GoVersion},
		{Key: "sim-d1", Value: d1.String()},
		{Key: "sim-ll", Value: ll.String()},
	}
	comments = []results.Pair{
		{Key: "sim-d1-source", Value: string(d1.Source)},
		{Key: "sim-ll-source", Value: string(ll.Source)},
		{Key: "date", Value: time.Now().UTC().Format(time.RFC3339)},
		{Key: "version", Value: version(buildInfo())},
		{Key: "command", Value: commandLine()},
		{Key: "kernels", Value: fmt.Sprintf("this CPU runs %s, of %s", kernel.Names(kernel.Sets()), kernel.Names(kernel.All()))},
		{Key: "cost-model", Value: j.model.String()},
	}
	if j.config.TLB != nil {
		config = append(config, results.Pair{Key: results.TLBKey, Value: simcache.FormatTLB(j.config.TLB)})
		comments = append(comments, results.Pair{Key: "sim-tlb-source", Value: string(j.config.TLB[0].Source)})
	}
	if info := buildInfo(); info != nil {
		if commit := revision(info.Settings); commit != "" {
			comments = append(comments, results.Pair{Key: "commit", Value: commit})
		}
	}
	if load := results.Load(); load != "" {
		comments = append(comments, results.Pair{Key: "load", Value: load})
	}
	return config, comments
}
