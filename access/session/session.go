// Package session runs benchmarks. It walks them natively and on simulated caches, predicts their
// times, and returns results as records in the units of package results. It warns of whatever makes
// the times doubtful.
//
// A run takes four steps, which example_test.go shows:
//
//  1. A [Plan] says what to walk: comparisons of named specs, such as those of access.Suite, and
//     studies ([Studies]). It also says on which simulated caches, how often and for how long.
//     [Filter], [Plan.Take] and [Plan.Among] choose a part of it, or the threads that walk it.
//  2. [Plan.Prepare] lowers everything to loops and checks that there is enough memory. So errors
//     come before anything runs: an access.FieldError for a field of the plan, a [BenchmarkError]
//     for a benchmark. [Session.Tune] tunes the vector kernels to this CPU, if the plan has any.
//  3. [Session.Run] predicts and simulates everything, and then yields a [Record] for each sample
//     as soon as it is taken. [Session.Write] writes the same records as a file that benchstat
//     reads.
//  4. [Session.Warnings] says, after the run, what makes its times doubtful.
//
// A cancelled run keeps everything that was finished. The error says how much that is
// ([Interrupted]).
package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
	"github.com/stridebench/stridebench/access/session/node"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/filter"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// A Plan says what to run.
type Plan struct {
	Comparisons []access.Comparison // run in this order; the samples of each are interleaved
	Studies     []string            // names of [Studies], only simulated, after all comparisons

	// Caches are the simulated levels and TLB; results have the misses of the first and last level.
	// Without levels, the first of CPUs' caches are simulated (cpu.Choose), with its TLB for Pages.
	Caches simcache.Config
	// Model predicts times. A Model without caches predicts nothing.
	Model cost.Model
	// TimesOnly turns off simulation, prediction and studies.
	TimesOnly bool

	Count int // samples of each benchmark, at least 1
	// Long limits long passes: if a pass takes longer than Long and twice SampleTime, at most
	// LongCount samples are taken. 0 means no limit.
	Long      time.Duration
	LongCount int // at least 1 if Long is not 0
	// SampleTime is the approximate minimum length of a sample, more than 0 and at most 1 min.
	SampleTime time.Duration
	Pages      access.Pages // of the tensors' memory
	Counters   bool         // read the CPU's hardware counters, if there are any

	// CPUs lists the CPUs that threads are pinned to, in order, and MemBind the NUMA nodes of the
	// tensors' memory. nil is the default of access.Options. See Among.
	CPUs, MemBind []int
	Remarks       []results.Pair // comments for the head of a file

	Program Program        // that makes the run, for the head of a file
	Labels  []results.Pair // configuration lines, see keys.Labels

	part part // of a whole plan, see Take
}

// A Program identifies the program that made a run. Empty fields are left out of the head.
type Program struct{ Version, Commit, Command string }

const maxSampleTime = time.Minute

func fault(flag, value string, err error) error {
	return &access.FieldError{Field: flag, Value: value, Err: err}
}

// A BenchmarkError says which benchmark of a plan cannot be run.
type BenchmarkError struct {
	Name string
	// Invalid is true if no machine can walk the spec, false if only this one cannot time it.
	Invalid bool
	Err     error
}

// Error begins with the name.
func (e *BenchmarkError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

// Unwrap returns Err.
func (e *BenchmarkError) Unwrap() error { return e.Err }

// check returns an access.FieldError if the number or length of samples or the pages are invalid,
// and an error that names the level if the caches cannot be simulated.
func (p Plan) check() error {
	switch {
	case p.Count < 1:
		return fault("count", fmt.Sprint(p.Count), errors.New("want at least 1"))
	case p.Pages > access.PagesHuge:
		return fault("pages", p.Pages.String(), errors.New("no such pages"))
	case p.SampleTime <= 0 || p.SampleTime > maxSampleTime:
		return fault("sample-time", p.SampleTime.String(),
			errors.New("want more than 0 and at most 1m"))
	}
	if p.Caches.Levels != nil {
		if err := p.Caches.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (p Plan) samplesOf(pass float64) int {
	if p.Long > 0 && pass > float64(max(p.Long, 2*p.SampleTime)) {
		return min(p.Count, p.LongCount)
	}
	return p.Count
}

// A Session is a lowered and checked plan. It can run once.
type Session struct {
	Plan
	patterns [][]access.Pattern // of the comparisons
	machine  node.Machine
	detected []cpu.Cache // of this CPU
	report
}

// Prepare checks the plan and lowers its comparisons, so that invalid ones, or those that cannot be
// timed here, are reported before anything runs.
func (p Plan) Prepare() (*Session, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Session{Plan: p, machine: node.ThisMachine(p.CPUs...), detected: cpu.Caches(p.CPUs...),
		patterns: make([][]access.Pattern, len(p.Comparisons))}
	if p.Caches.Levels == nil {
		s.Plan.Caches = cpu.Choose(s.detected)
		s.Plan.Caches.TLB = cpu.TLB(p.Pages.Size(), p.CPUs...)
	}
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	for i, c := range p.Comparisons {
		for _, b := range c {
			pattern, err := b.Spec.Pattern()
			if err != nil {
				return nil, &BenchmarkError{b.Name, true, err}
			}
			if err := measurable(pattern, s.machine); err != nil {
				return nil, &BenchmarkError{b.Name, false, err}
			}
			s.patterns[i] = append(s.patterns[i], pattern)
			// A comparison has one memory.
			if first := s.patterns[i][0].Spec.DType; first != pattern.Spec.DType {
				return nil, &BenchmarkError{b.Name, true,
					fmt.Errorf("it walks elements of %s, and %s of the same comparison of %s",
						pattern.Spec.DType, c[0].Name, first)}
			}
		}
	}
	return s, nil
}

// checkNames refuses names that are empty, have white space, or repeat, and unknown studies.
func (p Plan) checkNames() error {
	known := Studies()
	for _, name := range p.Studies {
		if !slices.Contains(known, name) {
			return &BenchmarkError{name, true, errors.New("no such study (see Studies)")}
		}
	}
	seen := map[string]bool{}
	for _, c := range p.Comparisons {
		for _, b := range c {
			switch {
			case b.Name == "" || strings.ContainsFunc(b.Name, func(r rune) bool {
				return unicode.IsSpace(r) || unicode.IsControl(r)
			}):
				return &BenchmarkError{fmt.Sprintf("%q", b.Name), true,
					errors.New("a name of a benchmark is not empty and has no white space")}
			case seen[b.Name]:
				return &BenchmarkError{b.Name, true, errors.New("two benchmarks have this name")}
			}
			seen[b.Name] = true
		}
	}
	return nil
}

// measurable is access.Measurable for a machine. If there is too little memory, the error says
// what limits it.
func measurable(p access.Pattern, m node.Machine) error {
	if err := access.Measurable(p, 0); err != nil {
		return err
	}
	err := access.Measurable(p, m.Available)
	if err != nil && m.LimitFrom != "" {
		return fmt.Errorf("%w (%s limits it to %s)", err, m.LimitFrom,
			show.Bytes(m.MemoryLimit))
	}
	return err
}

// samples returns the number of samples of a complete run. Passes count as short until a
// benchmark's first sample.
func (s *Session) samples() int {
	n := -s.fewer
	for _, c := range s.Comparisons {
		n += len(c) * s.Count
	}
	return n
}

// Filter keeps the benchmarks and studies whose names match a query. It returns a filter.Error if
// none match or the query is invalid.
func Filter(query string, all []access.Comparison,
	studies []string) (kept []access.Comparison, keptStudies []string, err error) {
	names := slices.Clone(studies)
	for _, b := range slices.Concat(all...) {
		names = append(names, b.Name)
	}
	selected, err := filter.Names(query, names)
	for _, c := range all {
		some := slices.DeleteFunc(slices.Clone(c), func(b access.Benchmark) bool {
			return !selected[b.Name]
		})
		if len(some) > 0 {
			kept = append(kept, some)
		}
	}
	keptStudies = slices.DeleteFunc(slices.Clone(studies), func(name string) bool {
		return !selected[name]
	})
	return kept, keptStudies, err
}
