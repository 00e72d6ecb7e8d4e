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
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
)

// A Record is one line of results: a sample of a benchmark, or one result of a
// study.
type Record struct {
	Name   string // without the word Benchmark
	Passes int    // in the sample; 1 for a study
	Values []results.Value
	// Remarks are comments that belong before the line, such as which pages were
	// obtained for this sample and those that follow.
	Remarks []string
	// Sample is true if the benchmark was timed, and false for a result of a study.
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

// report is what is known about a run when it has ended.
type report struct {
	counts    [][]access.Counts               // simulated, of each pattern of each comparison
	predicted [][]float64                     // ns of a pass, by the cost model
	tally     *tally                          // of what was simulated
	counters  func() (counters.Reader, error) // nil if there are none
	note      string                          // of the counters

	tuned string // when the kernels were calibrated; "" if nothing here depends on it

	ran      bool
	start    time.Time
	before   results.Moment
	timed    time.Duration // in samples
	fewer    int           // samples that benchmarks of long passes take
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

// Error says how far the run came. Who has the records knows whether they are kept.
func (i Interrupted) Error() string {
	if i.Done == 0 {
		return "interrupted before the first sample"
	}
	return fmt.Sprintf("interrupted after %d of %d samples", i.Done, i.Total)
}

// Unwrap returns the cause.
func (i Interrupted) Unwrap() error { return i.Cause }

// Progress is told how far a run is. Its methods may be called by several goroutines.
type Progress interface {
	Phase(what string, steps int) // begins a phase of so many steps
	Timed(what string, steps int) // begins one beside which nothing may be drawn but in Step
	Step(steps int)
}

// untold is for a run that nobody looks at.
type untold struct{}

func (untold) Phase(string, int) {}
func (untold) Timed(string, int) {}
func (untold) Step(int)          {}

// Run predicts everything, then simulates and times comparisons, some at a time, and then
// runs the studies. It yields each record as soon as there is one. The last
// thing it yields is the error, if any, which is Interrupted if the context was
// cancelled.
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
			yield(Record{}, Interrupted{s.done, s.Samples(), context.Cause(ctx)})
		case err != nil:
			yield(Record{}, err)
		}
	}
}

// errRan is returned when a session is run again.
var errRan = errors.New("this session has already run: prepare another")

// errEnough says that the caller wants no more records.
var errEnough = errors.New("enough")

// begin notes the time and the load of the machine, and opens the counters.
func (s *Session) begin() {
	if s.start.IsZero() {
		s.start, s.before = time.Now(), results.Now()
		if s.progress == nil {
			s.progress = untold{}
		}
		s.counters, s.note = nil, "not asked for"
		if s.Plan.Counters {
			s.counters, s.note = hardware()
		}
	}
}

func (s *Session) run(ctx context.Context, yield func(Record) bool) error {
	if !s.TimesOnly {
		if err := s.predict(ctx); err != nil {
			return err
		}
		s.tally = openTally(s.CountsFile, s.Caches)
		defer func() { s.tally.close() }()
	}
	var memory access.Memory
	defer memory.Close()
	for i := range s.Comparisons {
		more := !s.TimesOnly && i == len(s.counts)
		if more {
			if err := s.simulate(ctx); err != nil {
				return err
			}
		}
		if more || i == 0 {
			s.progress.Timed(s.samplesFrom(i))
		}
		if err := s.compare(ctx, i, &memory, yield); err != nil {
			return err
		}
	}
	if s.TimesOnly || len(s.Studies) == 0 {
		return nil
	}
	s.progress.Phase("simulating the studies", len(s.Studies))
	for i, study := range s.Studies {
		if err := s.study(study, s.remarks(len(s.Comparisons)+i), yield); err != nil {
			return err
		}
		s.progress.Step(1)
	}
	return nil
}

// samplesFrom are the samples of a comparison and those behind it, in words, and about how
// many microseconds they take, at least 1.
func (s *Session) samplesFrom(first int) (what string, micros int) {
	samples := 0
	for i := first; i < len(s.patterns); i++ {
		for k := range s.patterns[i] {
			n, all := s.expected(i, k)
			samples, micros = samples+n, micros+all
		}
	}
	return "taking " + results.Counted(samples, "sample"), max(micros, 1)
}

// expected are how many samples of a pattern of a comparison are taken, and about what
// all of them take, by the cost model if that is known.
func (s *Session) expected(i, k int) (samples, micros int) {
	pass := 0.0
	if s.predicted != nil {
		pass = min(s.predicted[i][k], 1e15)
	}
	samples = s.samplesOf(pass)
	return samples, samples * int(1+max(s.SampleTime.Microseconds(), int64(pass/1e3)))
}

// predict has the cost model say how long a pass over each pattern takes.
func (s *Session) predict(ctx context.Context) error {
	patterns := slices.Concat(s.patterns...)
	all := make([]float64, len(patterns))
	if s.Model.Caches.Levels != nil {
		s.progress.Phase("predicting "+results.Counted(len(patterns), "benchmark"), len(patterns))
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

// predictions are the ns of a pass over each pattern. It works on all CPUs.
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

// compare times the patterns of the i-th comparison.
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
		Obtained: func(b access.Backing) {
			remarks = append(remarks, fmt.Sprintf("pages-obtained: %s of %s in huge pages",
				results.Bytes(b.Huge), results.Bytes(b.Size)))
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
		*times = append(*times, sample.PerPass())
		s.done++
		s.timed += sample.Elapsed
		_, micros := s.expected(i, k)
		s.progress.Step(micros*(taken+1)/sample.Of - micros*taken/sample.Of)
	}
	return nil
}

// study makes a record of each result of a study.
func (s *Session) study(study access.Study, remarks []string, yield func(Record) bool) error {
	all, err := study.Run(s.Caches.First().Geometry)
	if err != nil {
		return err
	}
	for _, one := range all {
		var values []results.Value
		if one.Refs > 0 {
			values = append(values, results.Value{Value: float64(one.Refs), Unit: "D-refs/op"})
		}
		values = append(values, results.Value{Value: float64(one.Misses), Unit: one.Unit})
		if !yield(Record{Name: one.Name, Passes: 1, Values: values, Remarks: remarks}) {
			return errEnough
		}
		remarks = nil
		s.done++
	}
	return nil
}

// Done returns how many records a run yielded.
func (s *Session) Done() int { return s.done }

// Warnings says what makes the times of a run doubtful. Each warning is a line that
// begins with its kind, such as "drift: ...".
func (s *Session) Warnings() []string {
	var activity *results.Activity
	if a, known := s.before.Until(results.Now()); known {
		activity = &a
	}
	warnings := append(noise.Machine(s.machine, !s.unpinned, activity), noise.Samples(s.series)...)
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

// ladder is the latencies that were measured.
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

// Write runs the session and writes its results as a file: a head, a line for each
// record, and comments about the whole run, even if the run did not finish. It tells
// the progress, unless that is nil. It returns the same as Warnings. If no
// record was written (see Done), the output is not a complete file.
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
		results.EndKey, s.done)))
}

func write(w *results.Writer, r Record) error {
	for _, remark := range r.Remarks {
		if err := w.Comment(remark); err != nil {
			return err
		}
	}
	return w.Write(r.Name, r.Passes, r.Values)
}

// unfinished writes that a run did not finish. If one of several outputs is closed,
// this still reaches the outputs before it, so errors are ignored.
func (s *Session) unfinished(w *results.Writer) (warnings []string) {
	if s.done == 0 {
		return nil
	}
	_ = w.Comment(fmt.Sprintf("interrupted: after %d of %d samples", s.done, s.Samples()))
	warnings, _ = s.finish(w)
	return warnings
}

// finish writes the comments about the whole run.
func (s *Session) finish(w *results.Writer) (warnings []string, err error) {
	all := time.Since(s.start)
	err = w.Comment(fmt.Sprintf("overhead: %.0f%% of %.1f s outside samples%s",
		100*(1-s.timed.Seconds()/all.Seconds()), all.Seconds(), s.tally))
	if a, known := s.before.Until(results.Now()); known {
		err = errors.Join(err, w.Comment(results.ActivityKey+": "+a.Comment()))
	}
	warnings = s.Warnings()
	for _, warning := range warnings {
		err = errors.Join(err, w.Comment("warning: "+warning))
	}
	return warnings, err
}
