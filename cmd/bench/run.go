package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
)

// runFlags are the flags of bench run.
type runFlags struct {
	pattern  patternFlags
	geometry geometryFlags
	orders   []string
	kernels  []string
	pages    parsed[access.Pages]
	filter   string
	quick    bool
	count    int
	minTime  time.Duration
	out      string
}

// quickCount is the least number of samples with a 95% interval of the median.
const quickCount = 6

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Time the suite, or one pattern, and simulate the same accesses",
		Long: `run times the default suite of traversals and copies, or with --shape one
pattern of your own, and prints a line for each sample in the Go benchmark
format, as go test -bench does. Each line has the time of one pass in the
steady state and the simulated cache misses of the very same pass. Samples of
benchmarks that are to be compared are interleaved.

Ctrl-C ends the run between samples and keeps what was finished.`,
		Example: `  bench run -o out/run.txt
  bench run --quick --filter '.name:Traverse'
  bench run --shape 4000x4000 --dtype int32 --order row --order col
  bench run --shape 4000x4000 --op add --with 1x4000
  bench run --shape 64x64 --dtype int32 --kernel scalar --kernel avx2
  bench run --filter '.name:Pitch' --pages thp
  bench run --shape 1024x1024x16 --view 'permute(2,0,1)' --op copy
  bench run --count 20 -o new.txt && go tool benchstat old.txt new.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			suite, err := f.suite(cmd)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			signal.Ignore(syscall.SIGPIPE) // a closed stdout is an error like others
			context.AfterFunc(ctx, stop)   // a second Ctrl-C ends at once
			return f.run(ctx, cmd, suite)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.filter, "filter", "*", filterUsage)
	flags.BoolVar(&f.quick, "quick", false, fmt.Sprintf("the quick suite, and %d samples unless --count says otherwise", quickCount))
	flags.IntVar(&f.count, "count", 10, "samples of each benchmark")
	flags.DurationVar(&f.minTime, "sample-time", time.Millisecond, "least length of a sample, which is made of as many passes as that takes")
	f.pages = parsed[access.Pages]{parse: access.ParsePages, kind: "pages", text: access.Pages4K.String()}
	flags.Var(&f.pages, "pages", "pages of the tensors' memory: 4k, thp (transparent huge pages, as the kernel has them; what was obtained is a comment in the results), or hugetlb (reserved ones)")
	flags.StringVarP(&f.out, "out", "o", "", "file for the results, besides stdout")
	f.pattern.add(flags)
	flags.StringArrayVar(&f.orders, "order", []string{"row"}, orderUsage+"; several are compared")
	flags.StringArrayVar(&f.kernels, "kernel", []string{"scalar"}, "what walks it: scalar, a plain loop in the order asked for; builtin, Go's copy; or in vectors "+kernelUsage()+"; several are compared")
	f.geometry.add(flags)
	return cmd
}

// kernelUsage names the sets of vector kernels of this CPU.
func kernelUsage() string {
	var names []string
	for _, s := range kernel.Sets() {
		names = append(names, s.Name())
	}
	return strings.Join(names, ", ")
}

// suite is what the flags ask for: the suite, filtered, or one pattern.
func (f *runFlags) suite(cmd *cobra.Command) ([]access.Comparison, error) {
	if err := atLeast("count", f.count, 1); err != nil {
		return nil, err
	}
	if f.minTime <= 0 || f.minTime > time.Minute {
		return nil, fmt.Errorf("--sample-time %v: want more than 0 and at most 1m", f.minTime)
	}
	if f.quick && !cmd.Flags().Changed("count") {
		f.count = quickCount
	}
	if !f.pattern.shape.set {
		for _, name := range []string{"dtype", "view", "op", "with", "tile", "order", "kernel"} {
			if cmd.Flags().Changed(name) {
				return nil, fmt.Errorf("--%s goes with --shape, which is missing", name)
			}
		}
		return filtered(access.Suite(f.quick), f.filter)
	}
	var c access.Comparison
	for _, order := range f.orders {
		for _, kernel := range f.kernels {
			spec, err := f.pattern.spec(order, 0)
			if err != nil {
				return nil, err
			}
			spec.Kernel = kernel
			c = append(c, access.Benchmark{Name: spec.Name(), Spec: spec})
		}
	}
	return filtered([]access.Comparison{c}, f.filter)
}

// run lowers everything first, so that what is wrong is said before anything
// runs; then it measures. The file gets what was finished, whatever ends the
// run, and is left out if nothing was.
func (f *runFlags) run(ctx context.Context, cmd *cobra.Command, suite []access.Comparison) error {
	machine := results.ThisMachine()
	patterns := make([][]access.Pattern, len(suite))
	for i, c := range suite {
		for _, b := range c {
			p, err := lower(b.Spec)
			if err != nil {
				return err
			}
			if err := access.Measurable(p, machine.Available); err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
			patterns[i] = append(patterns[i], p)
		}
	}
	if f.out == "" {
		_, err := f.measure(ctx, cmd, suite, patterns, machine, cmd.OutOrStdout())
		return err
	}
	file, err := results.Create(f.out)
	if err != nil {
		return fmt.Errorf("--out %s: %w", f.out, err)
	}
	defer file.Discard()
	done, err := f.measure(ctx, cmd, suite, patterns, machine, io.MultiWriter(file, cmd.OutOrStdout()))
	if done == 0 {
		return err
	}
	return errors.Join(err, file.Commit())
}

// measure writes the head and then the comparisons, one after the other. It
// returns the number of samples written.
func (f *runFlags) measure(ctx context.Context, cmd *cobra.Command, suite []access.Comparison, patterns [][]access.Pattern,
	machine results.Machine, out io.Writer) (done int, err error) {
	caches := simcache.Detect()
	settings := f.geometry.settings(caches)
	config, comments := describe(machine, caches, settings)
	config = append(config, results.Pair{Key: "pages", Value: f.pages.value.String()})
	writer, err := results.NewWriter(out, config, comments)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, c := range suite {
		total += len(c) * f.count
	}
	progress := newProgress(cmd, total)
	defer progress.end()
	for i, c := range suite {
		err := f.compare(ctx, c, patterns[i], settings, machine, writer, func() { done++; progress.step() })
		if errors.Is(err, context.Canceled) {
			stopped := interrupted{done, total}
			return done, errors.Join(stopped, writer.Comment(fmt.Sprintf("interrupted: after %d of %d samples", done, total)))
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// interrupted is the error of a run that Ctrl-C ended.
type interrupted struct{ done, total int }

// Error says what is kept.
func (i interrupted) Error() string {
	if i.done == 0 {
		return "interrupted before the first sample"
	}
	return fmt.Sprintf("interrupted after %d of %d samples, which are kept", i.done, i.total)
}

// Unwrap makes it a context.Canceled.
func (i interrupted) Unwrap() error { return context.Canceled }

// compare simulates the patterns of one comparison, then times them and writes
// a line for each sample.
func (f *runFlags) compare(ctx context.Context, c access.Comparison, patterns []access.Pattern, s simcache.Settings,
	machine results.Machine, writer *results.Writer, step func()) error {
	counts, err := access.Simulate(ctx, s.D1.Geometry, s.LL.Geometry, patterns)
	if err != nil {
		return err
	}
	var unwritten error
	options := access.Options{Count: f.count, MinTime: f.minTime, MaxMemory: machine.Available, Pages: f.pages.value,
		Obtained: func(b access.Backing) {
			unwritten = writer.Comment(fmt.Sprintf("pages-obtained: %s of %s in huge pages", results.Bytes(b.Huge), results.Bytes(b.Size)))
		}}
	for sample, err := range access.Measure(ctx, patterns, options) {
		if err := errors.Join(err, unwritten); err != nil {
			return err
		}
		p, n := patterns[sample.Pattern], counts[sample.Pattern]
		err := writer.Write(c[sample.Pattern].Name, sample.Passes, []results.Value{
			{Value: sample.PerPass(), Unit: "ns/op"},
			{Value: sample.PerPass() / float64(p.Elems), Unit: "ns/elem"},
			{Value: float64(p.Bytes) / sample.PerPass() * 1e9, Unit: "B/s"},
			{Value: float64(n.Refs()), Unit: "D-refs/op"},
			{Value: float64(n.D1Misses()), Unit: "D1-misses/op"},
			{Value: float64(n.LLMisses()), Unit: "LL-misses/op"},
		})
		if err != nil {
			return err
		}
		step()
	}
	return nil
}

// describe is the head of a results file: what decides comparability, and what
// changes from run to run.
func describe(m results.Machine, caches []simcache.Cache, s simcache.Settings) (config, comments []results.Pair) {
	var sizes []string
	for _, c := range caches {
		sizes = append(sizes, fmt.Sprintf("%s=%s", cacheName(c), c.Geometry))
	}
	config = []results.Pair{
		{Key: "goos", Value: m.GOOS},
		{Key: "goarch", Value: m.GOARCH},
		{Key: "cpu", Value: m.CPU},
		{Key: "caches", Value: strings.Join(sizes, " ")},
		{Key: "goversion", Value: m.GoVersion},
		{Key: "sim-d1", Value: s.D1.String()},
		{Key: "sim-ll", Value: s.LL.String()},
	}
	comments = []results.Pair{
		{Key: "sim-d1-source", Value: string(s.D1.Source)},
		{Key: "sim-ll-source", Value: string(s.LL.Source)},
		{Key: "date", Value: time.Now().UTC().Format(time.RFC3339)},
		{Key: "version", Value: version()},
	}
	// Of the repository that bench is run in, where it is run in one.
	if commit, err := exec.Command("git", "rev-parse", "HEAD").Output(); err == nil {
		comments = append(comments, results.Pair{Key: "commit", Value: string(commit)})
	}
	if load := results.Load(); load != "" {
		comments = append(comments, results.Pair{Key: "load", Value: load})
	}
	return config, comments
}

// version is stridebench's own, as its build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
