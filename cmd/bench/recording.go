package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
)

// A recording is a run that is written as it goes.
type recording struct {
	job
	flags    *runFlags
	writer   *results.Writer
	progress *progress
	// Of each pattern of each comparison.
	counts    [][]access.Counts               // simulated
	predicted [][]float64                     // ns of a pass, by the cost model
	counters  func() (counters.Reader, error) // nil if there are none
	note      string                          // of the counters

	start       time.Time
	before      results.Moment
	timed       time.Duration // in samples
	done, total int           // samples
	series      []noise.Series
	unpinned    bool
}

// measure writes the head, then the comparisons and studies, one after the
// other, and at the end what there is to say of the run. It returns the number
// of samples written. If not all are, the results say so.
func (f *runFlags) measure(ctx context.Context, cmd *cobra.Command, j job, out io.Writer) (done int, err error) {
	r := recording{job: j, flags: f, start: time.Now(), before: results.Now()}
	config, comments := describe(j)
	config = append(config, results.Pair{Key: "pages", Value: f.pages.value.String()})
	r.counters, r.note = hardware()
	comments = append(comments, results.Pair{Key: "counters", Value: r.note})
	if r.writer, err = results.NewWriter(out, config, comments); err != nil {
		return 0, err
	}
	for _, c := range j.suite {
		r.total += len(c) * f.count
	}
	r.progress = newProgress(cmd, r.total, "%d of %d samples ")
	err = r.run(ctx)
	r.progress.end()
	if errors.Is(err, context.Canceled) {
		err = interrupted{r.done, r.total, context.Cause(ctx)}
	}
	if err == nil {
		return r.done, r.finish(cmd.ErrOrStderr())
	}
	if r.done > 0 {
		// Where stdout is closed, these reach the file all the same, which comes
		// first; that they do not reach stdout is known.
		_ = r.writer.Comment(fmt.Sprintf("interrupted: after %d of %d samples", r.done, r.total))
		_ = r.finish(cmd.ErrOrStderr())
	}
	return r.done, err
}

func (r *recording) run(ctx context.Context) error {
	if !r.flags.timeOnly {
		if err := r.simulate(ctx); err != nil {
			return err
		}
	}
	for i := range r.suite {
		if err := r.compare(ctx, i); err != nil {
			return err
		}
	}
	if r.flags.timeOnly {
		return nil
	}
	for _, s := range r.studies {
		if err := r.study(s); err != nil {
			return err
		}
	}
	return nil
}

// simulate counts, and predicts, before anything is timed: all at once, since
// comparisons one by one would leave CPUs idle at the end of each.
func (r *recording) simulate(ctx context.Context) error {
	patterns := slices.Concat(r.patterns...)
	counts, err := access.Simulate(ctx, r.config, patterns)
	if err != nil {
		return err
	}
	predicted, err := predictions(r.model, patterns)
	if err != nil {
		return err
	}
	for _, c := range r.patterns {
		n := len(c)
		r.counts, counts = append(r.counts, counts[:n]), counts[n:]
		r.predicted, predicted = append(r.predicted, predicted[:n]), predicted[n:]
	}
	return nil
}

// compare times the patterns of the i-th comparison and writes a line for each
// sample.
func (r *recording) compare(ctx context.Context, i int) error {
	c, patterns := r.suite[i], r.patterns[i]
	first := len(r.series)
	for _, b := range c {
		r.series = append(r.series, noise.Series{Name: b.Name})
	}
	var unwritten error
	options := access.Options{Count: r.flags.count, MinTime: r.flags.minTime, MaxMemory: r.machine.Available, Pages: r.flags.pages.value,
		Obtained: func(b access.Backing) {
			unwritten = r.writer.Comment(fmt.Sprintf("pages-obtained: %s of %s in huge pages", results.Bytes(b.Huge), results.Bytes(b.Size)))
		},
		Pinned:   func(cpu int) { r.unpinned = cpu < 0 },
		Counters: r.counters}
	for sample, err := range access.Measure(ctx, patterns, options) {
		if err := errors.Join(err, unwritten); err != nil {
			return err
		}
		m := measured{pattern: patterns[sample.Pattern], sample: sample}
		if r.counts != nil {
			m.counts, m.tlb, m.predicted = &r.counts[i][sample.Pattern], r.config.TLB != nil, r.predicted[i][sample.Pattern]
		}
		if err := r.writer.Write(c[sample.Pattern].Name, sample.Passes, m.values()); err != nil {
			return err
		}
		times := &r.series[first+sample.Pattern].Times
		*times = append(*times, sample.PerPass())
		r.done++
		r.timed += sample.Elapsed
		r.progress.step()
	}
	return nil
}

// study writes a line for each result of a study.
func (r *recording) study(s access.Study) error {
	all, err := s.Run(r.config.First().Geometry)
	if err != nil {
		return err
	}
	for _, one := range all {
		var values []results.Value
		if one.Refs > 0 {
			values = append(values, results.Value{Value: float64(one.Refs), Unit: "D-refs/op"})
		}
		if err := r.writer.Write(one.Name, 1, append(values, results.Value{Value: float64(one.Misses), Unit: one.Unit})); err != nil {
			return err
		}
		r.done++
	}
	return nil
}

// finish writes what there is to say of the whole run as comments, and what of it
// a user should know on stderr.
func (r *recording) finish(stderr io.Writer) error {
	all := time.Since(r.start)
	err := r.writer.Comment(fmt.Sprintf("overhead: %.0f%% of %.1f s outside samples", 100*(1-r.timed.Seconds()/all.Seconds()), all.Seconds()))
	var activity *results.Activity
	if a, known := r.before.Until(results.Now()); known {
		activity = &a
	}
	for _, w := range append(noise.Machine(r.machine, !r.unpinned, activity), noise.Samples(r.series)...) {
		err = errors.Join(err, r.writer.Comment("warning: "+w))
		fmt.Fprintf(stderr, "warning: %s\n", w)
	}
	if r.counters == nil {
		fmt.Fprintf(stderr, "note: counters: %s\n", r.note)
	}
	return err
}
