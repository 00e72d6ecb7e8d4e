package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchmath"
	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/noise"
	"github.com/stridebench/stridebench/results/show"
)

// A Record is a line of results: a sample of a benchmark, or a result of a study.
type Record struct {
	Name   string // without the word Benchmark
	Passes int    // in the sample; 1 for a study
	Values []results.Value
	// Remarks are comments before the line, such as the pages obtained for this and later samples.
	Remarks []string
	// Sample is true for a timed sample, false for a result of a study.
	Sample bool
}

// Value returns the value in a unit such as ns/op, if the record has one.
func (r Record) Value(unit string) (value float64, known bool) {
	for _, v := range r.Values {
		if v.Unit == unit {
			return v.Value, true
		}
	}
	return 0, false
}

type report struct {
	counts    [][]access.Counts               // simulated, of each pattern of each comparison
	predicted [][]float64                     // ns of a pass, by the cost model
	simulated time.Duration                   // that simulating them took
	counters  func() (counters.Reader, error) // nil if there are none
	note      string                          // on the counters

	tuned string // when the kernels were calibrated; "" if no benchmark depends on it

	ran      bool
	start    time.Time
	before   node.Moment
	timed    time.Duration // in samples
	fewer    int           // samples saved for benchmarks with long passes
	done     int           // lines
	series   []noise.Series
	unpinned bool
	progress Progress
}

// Interrupted is the error of a run whose context was cancelled.
type Interrupted struct {
	Done, Total int   // samples; results of studies count as done, too
	Cause       error // from the context
}

// Error says how far the run got, but not whether its records are kept: only the caller knows.
func (i Interrupted) Error() string {
	if i.Done == 0 {
		return "interrupted before the first sample"
	}
	return fmt.Sprintf("interrupted after %d of %d samples", i.Done, i.Total)
}

// Unwrap returns the cause.
func (i Interrupted) Unwrap() error { return i.Cause }

// Progress receives how far a run is. Its methods may be called concurrently.
type Progress interface {
	Phase(what string, steps int) // begins a phase
	Timed(what string, steps int) // begins a timed phase, during which only Step may draw
	Step(steps int)
}

type untold struct{}

func (untold) Phase(string, int) {}
func (untold) Timed(string, int) {}
func (untold) Step(int)          {}

// Run predicts and simulates everything, then times the comparisons, one after the other, then runs
// the studies. It yields each record as soon as it exists, and an error at the end, if any:
// Interrupted if the context was cancelled.
func (s *Session) Run(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if s.ran {
			yield(Record{}, errRan)
			return
		}
		s.ran = true
		s.begin()
		err := s.run(ctx, func(r Record) bool { return yield(r, nil) })
		switch {
		case errors.Is(err, errEnough):
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			yield(Record{}, Interrupted{s.done, s.samples(), context.Cause(ctx)})
		case err != nil:
			yield(Record{}, err)
		}
	}
}

var errRan = errors.New("this session has already run: prepare another")

var errEnough = errors.New("enough")

func (s *Session) begin() {
	if s.start.IsZero() {
		s.start, s.before = time.Now(), node.Now()
		if s.progress == nil {
			s.progress = untold{}
		}
		s.counters, s.note = nil, "not asked for"
		if s.Plan.Counters {
			s.counters, s.note = counters.Hardware()
		}
	}
}

func (s *Session) run(ctx context.Context, yield func(Record) bool) error {
	if !s.TimesOnly {
		if err := s.predict(ctx); err != nil {
			return err
		}
		if err := s.simulate(ctx); err != nil {
			return err
		}
	}
	var memory access.Memory
	defer memory.Close()
	if len(s.Comparisons) > 0 {
		s.progress.Timed(s.expectedSamples())
	}
	for i := range s.Comparisons {
		if err := s.compare(ctx, i, &memory, yield); err != nil {
			return err
		}
	}
	if s.TimesOnly || len(s.Studies) == 0 {
		return nil
	}
	s.progress.Phase("simulating the studies", len(s.Studies))
	for i, name := range s.Studies {
		if err := s.study(name, s.remarks(len(s.Comparisons)+i), yield); err != nil {
			return err
		}
		s.progress.Step(1)
	}
	return nil
}

// simulate counts all comparisons.
func (s *Session) simulate(ctx context.Context) error {
	patterns := slices.Concat(s.patterns...)
	if patterns == nil {
		return nil
	}
	start := time.Now()
	s.progress.Phase("simulating "+show.Counted(len(patterns), "benchmark"), len(patterns))
	counts, err := access.Simulate(ctx, s.Caches, patterns, func() { s.progress.Step(1) })
	for _, c := range s.patterns {
		s.counts, counts = append(s.counts, counts[:len(c)]), counts[len(c):]
	}
	s.simulated = time.Since(start)
	return err
}

// uncounted says which patterns of a comparison lack LL misses, and why.
func (s *Session) uncounted(i int) (remarks []string) {
	if s.counts == nil {
		return nil
	}
	for k, c := range s.counts[i] {
		if c.Uncounted != "" {
			remarks = append(remarks, fmt.Sprintf(
				"no LL-misses/op: %s: its threads share LL, and %s",
				s.Comparisons[i][k].Name, c.Uncounted))
		}
	}
	return remarks
}

// expectedSamples describes all samples, and estimates their µs, at least 1.
func (s *Session) expectedSamples() (what string, micros int) {
	samples := 0
	for i, c := range s.patterns {
		for k := range c {
			n, all := s.expected(i, k)
			samples, micros = samples+n, micros+all
		}
	}
	return "taking " + show.Counted(samples, "sample"), max(micros, 1)
}

// expected returns a pattern's number of samples, and their total µs by the cost model if known.
func (s *Session) expected(i, k int) (samples, micros int) {
	pass := 0.0
	if s.predicted != nil {
		pass = min(s.predicted[i][k], 1e15)
	}
	samples = s.samplesOf(pass)
	return samples, samples * int(1+max(s.SampleTime.Microseconds(), int64(pass/1e3)))
}

func (s *Session) predict(ctx context.Context) error {
	patterns := slices.Concat(s.patterns...)
	all := make([]float64, len(patterns))
	if s.Model.Caches.Levels != nil {
		s.progress.Phase("predicting "+show.Counted(len(patterns), "benchmark"), len(patterns))
		var err error
		if all, err = predictions(ctx, s.Model, patterns, func() {
			s.progress.Step(1)
		}); err != nil {
			return err
		}
	}
	for _, c := range s.patterns {
		s.predicted, all = append(s.predicted, all[:len(c)]), all[len(c):]
	}
	return nil
}

// predictions returns the ns of each pattern's pass, using all CPUs.
func predictions(ctx context.Context, m cost.Model, patterns []access.Pattern,
	step func()) ([]float64, error) {
	all := make([]float64, len(patterns))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i, p := range patterns {
		group.Go(func() error {
			defer step()
			if err := ctx.Err(); err != nil {
				return err
			}
			prediction, err := m.Predict(p)
			all[i] = prediction.Ns
			return err
		})
	}
	return all, group.Wait()
}

func (s *Session) compare(ctx context.Context, i int, memory *access.Memory,
	yield func(Record) bool) error {
	c, patterns := s.Comparisons[i], s.patterns[i]
	first := len(s.series)
	for _, b := range c {
		s.series = append(s.series, noise.Series{Name: b.Name})
	}
	remarks := append(s.remarks(i), s.uncounted(i)...)
	options := access.Options{Count: s.Count, Long: s.Long, LongCount: s.LongCount,
		MinTime: s.SampleTime, MaxMemory: s.machine.Available, Pages: s.Pages, Memory: memory,
		Obtained: func(size, huge int) {
			remarks = append(remarks, fmt.Sprintf("pages-obtained: %s of %s in huge pages",
				show.Bytes(huge), show.Bytes(size)))
		},
		CPUs: s.CPUs, Bind: s.MemBind,
		Pinned:   func(cpu int) { s.unpinned = s.unpinned || cpu < 0 },
		Counters: s.counters}
	for sample, err := range access.Measure(ctx, patterns, options) {
		if err != nil {
			return err
		}
		k := sample.Pattern
		m := measured{pattern: patterns[k], sample: sample}
		if s.counts != nil {
			m.counts, m.tlb, m.predicted = &s.counts[i][k], s.Caches.TLB != nil, s.predicted[i][k]
		}
		if !yield(Record{Name: c[k].Name, Passes: sample.Passes, Values: m.values(),
			Remarks: remarks, Sample: true}) {
			return errEnough
		}
		remarks = nil
		times := &s.series[first+k].Times
		taken := len(*times)
		if taken == 0 {
			s.fewer += s.Count - sample.Of
		}
		*times = append(*times, sample.PerPass)
		s.done++
		s.timed += sample.Elapsed
		_, micros := s.expected(i, k)
		s.progress.Step(micros*(taken+1)/sample.Of - micros*taken/sample.Of)
	}
	return nil
}

func (s *Session) study(name string, remarks []string, yield func(Record) bool) error {
	all := studies()
	i := slices.IndexFunc(all, func(one study) bool { return one.name == name })
	records, err := all[i].records(s.Caches.First().Geometry)
	if err != nil {
		return err
	}
	for _, r := range records {
		r.Remarks, remarks = remarks, nil
		if !yield(r) {
			return errEnough
		}
		s.done++
	}
	return nil
}

// Done returns the number of records that a run yielded.
func (s *Session) Done() int { return s.done }

// Warnings returns what makes a run's times doubtful. Each warning is a line that begins with its
// kind, such as "drift: ...".
func (s *Session) Warnings() []string {
	var activity *node.Activity
	if a, known := s.before.Until(node.Now()); known {
		activity = &a
	}
	warnings := append(node.Warnings(s.machine, !s.unpinned, activity), noise.Samples(s.series)...)
	ladder := s.ladder()
	if ladder == nil {
		return warnings
	}
	setup := s.setup()
	if served, far := noise.ServedBy(ladder, setup.Caches, setup.LL); far {
		warnings = append(warnings, served.LastLevel())
	}
	return warnings
}

func (s *Session) ladder() []noise.Rung {
	elems := map[string]int{}
	for i, c := range s.Comparisons {
		for k, b := range c {
			elems[b.Name] = s.patterns[i][k].Elems
		}
	}
	var rows []results.Row
	for _, of := range s.series {
		if median, err := stats.Median(of.Times); err == nil && elems[of.Name] > 0 {
			perLoad := results.Stat{Summary: benchmath.Summary{Center: median / 1e9 / float64(
				elems[of.Name])}}
			rows = append(rows, results.Row{Name: of.Name,
				Stats: map[string]results.Stat{"sec/elem": perLoad}})
		}
	}
	return noise.Ladder(rows)
}

// Write runs the session and writes a results file: a head, a line for each record, and comments on
// the whole run, even if unfinished. It reports to progress unless nil, and returns Warnings. If no
// record was written (see Done), the output is incomplete.
func (s *Session) Write(ctx context.Context, out io.Writer, progress Progress) (warnings []string,
	err error) {
	s.progress = progress
	s.begin()
	config, comments := s.head()
	comments = append(comments, results.Pair{Key: "counters", Value: s.note})
	w, err := results.NewWriter(out, config, comments)
	if err != nil {
		return nil, err
	}
	for r, err := range s.Run(ctx) {
		if err == nil {
			err = write(w, r)
		}
		if err != nil {
			return s.unfinished(w), err
		}
	}
	warnings, err = s.finish(w)
	return warnings, errors.Join(err, w.Comment(fmt.Sprintf("%s: %d results",
		keys.End, s.done)))
}

func write(w *results.Writer, r Record) error {
	for _, remark := range r.Remarks {
		if err := w.Comment(remark); err != nil {
			return err
		}
	}
	return w.Write(r.Name, r.Passes, r.Values)
}

// unfinished writes that a run did not finish. It ignores errors: if one of several outputs is
// closed, the outputs before it still get the comments.
func (s *Session) unfinished(w *results.Writer) (warnings []string) {
	if s.done == 0 {
		return nil
	}
	_ = w.Comment(fmt.Sprintf("interrupted: after %d of %d samples", s.done, s.samples()))
	warnings, _ = s.finish(w)
	return warnings
}

func (s *Session) finish(w *results.Writer) (warnings []string, err error) {
	all := time.Since(s.start)
	overhead := fmt.Sprintf("overhead: %.0f%% of %.1f s outside samples",
		100*(1-s.timed.Seconds()/all.Seconds()), all.Seconds())
	if s.counts != nil {
		overhead += fmt.Sprintf(", %.1f s of it simulating", s.simulated.Seconds())
	}
	err = w.Comment(overhead)
	if a, known := s.before.Until(node.Now()); known {
		err = errors.Join(err, w.Comment(keys.Activity+": "+a.Comment()))
	}
	warnings = s.Warnings()
	for _, warning := range warnings {
		err = errors.Join(err, w.Comment("warning: "+warning))
	}
	return warnings, err
}
