// Package session is a run: it walks benchmarks natively and on simulated caches,
// predicts how long they take, and gives the results as records, in the units of
// package results, with warnings of what makes their times doubtful.
//
// A run of one's own, which the example goes:
//
//  1. A [Plan] says what to walk, on which simulated caches, how often, for how
//     long, in which pages and with which counters.
//  2. [Plan.Prepare] lowers all of it to loops and checks that there is memory for
//     it, so that what is wrong is said before anything runs: a [FieldError] of the
//     plan, a [BenchmarkError] of one benchmark.
//  3. [Session.Run] yields a [Record] for each sample, as it comes;
//     [Session.Write] writes the same as a file that benchstat reads.
//  4. [Session.Warnings] say, once it ended, what makes its times doubtful.
//
// Who ends a run early by its context keeps what was finished, and is told how
// much that is (Interrupted).
//
// [ByTurns] takes the samples of two programs by turns, so that whatever the
// machine does falls on both.
package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// A Plan says what a run is.
type Plan struct {
	Comparisons []access.Comparison // in their order; samples of one are interleaved
	Studies     []access.Study      // simulated only, after all comparisons

	// Caches are what is simulated: levels, the first and the last of which results
	// tell, and the TLB. Without levels it is what Choose takes of this CPU, with its
	// TLB for Pages.
	Caches simcache.Config
	// Model predicts; a Model without caches predicts nothing.
	Model cost.Model
	// TimesOnly simulates and predicts nothing, and makes no study.
	TimesOnly bool

	Count      int           // samples of each benchmark, at least 1
	SampleTime time.Duration // least length of a sample, about: more than 0 and at most a minute
	Pages      access.Pages  // of the tensors' memory
	Counters   bool          // count what the CPU has counters of, where there are any

	Program Program // that runs it, for the head of a file
}

// A Program is what ran a plan, for the head of a file. What is "" is left out.
type Program struct{ Version, Commit, Command string }

// maxSampleTime is the longest length of a sample that a plan may ask for.
const maxSampleTime = time.Minute

// A FieldError is of one field of a plan.
type FieldError struct {
	Field string // by the name that it has in flags: "count" or "sample-time"
	Value string // that it has
	Err   error  // what would be right
}

// Error begins with field and value.
func (e *FieldError) Error() string { return fmt.Sprintf("%s %s: %v", e.Field, e.Value, e.Err) }

// Unwrap is what would be right.
func (e *FieldError) Unwrap() error { return e.Err }

// A BenchmarkError is of one benchmark of a plan.
type BenchmarkError struct {
	Name string // of the benchmark
	// Invalid tells that its spec says nothing that can be walked, on any machine;
	// else it cannot be timed on this one.
	Invalid bool
	Err     error
}

// Error begins with the name.
func (e *BenchmarkError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

// Unwrap is what is wrong with it.
func (e *BenchmarkError) Unwrap() error { return e.Err }

// Check refuses a count or a length of samples that cannot be, with a FieldError,
// and caches that cannot be simulated, with an error that names the level.
func (p Plan) Check() error {
	switch {
	case p.Count < 1:
		return &FieldError{"count", fmt.Sprint(p.Count), errors.New("want at least 1")}
	case p.SampleTime <= 0 || p.SampleTime > maxSampleTime:
		return &FieldError{"sample-time", p.SampleTime.String(), errors.New("want more than 0 and at most 1m")}
	}
	if p.Caches.Levels != nil {
		if err := p.Caches.Check(); err != nil {
			return err
		}
	}
	return nil
}

// A Session is a plan that was lowered and checked. It runs once.
type Session struct {
	Plan
	patterns [][]access.Pattern // of the comparisons
	machine  results.Machine
	detected []cpu.Cache // of this CPU
	report
}

// Prepare checks the plan and lowers all of its comparisons, so that what is
// wrong with them, or cannot be timed here, is said before anything runs.
func (p Plan) Prepare() (*Session, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	s := &Session{Plan: p, machine: results.ThisMachine(), detected: cpu.Caches(), patterns: make([][]access.Pattern, len(p.Comparisons))}
	if p.Caches.Levels == nil {
		s.Plan.Caches = cpu.Choose(s.detected)
		s.Plan.Caches.TLB = cpu.TLB(p.Pages.Size())
	}
	for i, c := range p.Comparisons {
		for _, b := range c {
			pattern, err := b.Spec.Pattern()
			if err != nil {
				return nil, &BenchmarkError{b.Name, true, err}
			}
			if err := Measurable(pattern, s.machine); err != nil {
				return nil, &BenchmarkError{b.Name, false, err}
			}
			s.patterns[i] = append(s.patterns[i], pattern)
		}
	}
	return s, nil
}

// Measurable is [access.Measurable] on a machine: an error of too little memory
// says what limits it.
func Measurable(p access.Pattern, m results.Machine) error {
	err := access.Measurable(p, m.Available)
	if _, ok := errors.AsType[*access.MemoryError](err); ok && len(m.MemoryLimits) > 0 && m.AvailableFrom == m.MemoryLimits[0].Source {
		return fmt.Errorf("%w (%s limits it to %s)", err, m.AvailableFrom, results.Bytes(m.MemoryLimits[0].Bytes))
	}
	return err
}

// Samples is how many samples there will be.
func (s *Session) Samples() int {
	n := 0
	for _, c := range s.Comparisons {
		n += len(c) * s.Count
	}
	return n
}

// Filter keeps the comparisons and studies whose names a filter takes. That it
// takes none is a results.FilterError, as is a query that cannot be read.
func Filter(query string, all []access.Comparison, studies []access.Study) (kept []access.Comparison, keptStudies []access.Study, err error) {
	filter, err := results.NewFilter(query)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		var some access.Comparison
		for _, b := range c {
			match, err := filter.Match(b.Name)
			if err != nil {
				return nil, nil, err
			}
			if match {
				some = append(some, b)
			}
		}
		if some != nil {
			kept = append(kept, some)
		}
	}
	for _, s := range studies {
		match, err := filter.Match(s.Name)
		if err != nil {
			return nil, nil, err
		}
		if match {
			keptStudies = append(keptStudies, s)
		}
	}
	if kept == nil && keptStudies == nil {
		return nil, nil, filter.Nothing("no benchmark matches (bench list prints their names)")
	}
	return kept, keptStudies, nil
}
