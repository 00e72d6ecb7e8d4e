package access

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
	"time"

	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// Options configure Measure.
type Options struct {
	Count int // samples of each pattern, at least 1
	// Patterns whose passes take longer than Long and twice MinTime have at most LongCount samples.
	// Zero turns this off.
	Long      time.Duration
	LongCount int // at least 1, with Long
	// approximate least length of a sample
	MinTime   time.Duration
	MaxMemory int     // most bytes of a pattern's tensors; 0 for no limit
	Pages     Pages   // of the tensors' memory
	Memory    *Memory // lends small pages; nil for a mapping per call
	// Obtained, if not nil, gets the bytes of memory that the system gave, and how many of them lie
	// in huge pages, before the first sample.
	Obtained func(size, huge int)
	// CPUs are what threads are pinned to, one each, in this order; nil for cpu.Workers.
	CPUs []int
	// Bind are the NUMA nodes of the tensors' memory; nil for first touch.
	Bind []int
	// Pinned, if not nil, gets the CPU of the measuring thread, or -1 if a thread is not pinned.
	Pinned func(cpu int)
	// Counters, if not nil, opens counters on the measuring thread. They start before the clock is
	// read and stop after it, so no time includes them. They disturb the caches only as a system
	// call does. Patterns of several threads are not counted.
	Counters func() (counters.Reader, error)
}

// Samples and SampleTime are the defaults of Count and MinTime.
const (
	Samples    = 15
	SampleTime = time.Millisecond
)

// A Sample is one measurement of a pattern: passes over it, with regular readings of the clock. If
// a pass of a Chase takes longer than a sample needs, only a part is timed. All parts are
// equivalent, and many short samples show more than a long one.
type Sample struct {
	Pattern int // index of the pattern
	Of      int // samples of the pattern
	Passes  int
	Part    float64 // of each pass that was timed: below 1 for a long Chase
	Elapsed time.Duration
	// PerPass is the time of one whole pass in ns: the least between two readings of the clock. All
	// passes do the same work, and other activity on the machine only adds to it. Parts of a Chase
	// differ, so it is their median.
	PerPass float64
	Events  map[counters.Event]float64 // in one whole pass, if they were counted
}

// checkMemory refuses tensors that need more bytes than there are; have is 0 for no limit.
func checkMemory(need, have int) error {
	if have == 0 || need <= have {
		return nil
	}
	return fmt.Errorf("the tensors need %s of memory, this machine has %s available",
		simcache.Bytes(need), simcache.Bytes(have))
}

// Measure times patterns that are to be compared with each other, and yields samples as they are
// taken. All patterns use the same memory in turns, so that none has better pages. Samples are
// interleaved: a round takes some of each pattern, and each round starts with another pattern. A
// drift of the machine then affects all patterns equally.
//
// Measure times the steady state: every timed pass follows a pass of the same pattern. Each round
// walks one pass off the clock, then takes a burst of samples with only the clock and the counters
// between them. A burst has at least warmPasses passes, so that the passes off the clock take
// little of the time. The first pass of a pattern with long passes (Options.Long) is a sample: what
// the caches held before hardly matters to it. Patterns with long bursts have fewer rounds, spread
// over the rounds of the others.
//
// The first round compares each pattern with a plain reference. The goroutine is locked to its
// thread and, where the system allows it, pinned to one CPU. The garbage collector is off.
//
// A pattern with parts (Pattern.Parts) is walked by one thread per part, each pinned to a CPU of
// its own. Before each reading of the clock, the threads spin until all are ready. The time is from
// the earliest start to the latest end. On a machine of several NUMA nodes such a pattern has its
// own memory, and each thread touches its part first.
//
// When the context is done, Measure yields its error. It first ends the passes of one reading of
// the clock, or the pass of the reference that checks a first sample.
func Measure(ctx context.Context, patterns []Pattern, o Options) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		if o.CPUs == nil {
			o.CPUs = workers()
		}
		cpu, unpin := pin(o.CPUs[0])
		defer unpin()
		if o.Pinned != nil {
			o.Pinned(cpu)
		}
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		if err := measure(ctx, patterns, o, func(s Sample) bool {
			return yield(s, nil)
		}); err != nil && !errors.Is(err, errStopped) {
			yield(Sample{}, err)
		}
	}
}

// errStopped reports that the consumer wants no more samples.
var errStopped = errors.New("stopped")

var workers = sync.OnceValue(func() (cpus []int) {
	for _, l := range cpu.Workers() {
		cpus = append(cpus, l.CPU)
	}
	return cpus
})

func measure(ctx context.Context, patterns []Pattern, o Options, yield func(Sample) bool) error {
	arenas, free, err := mapArenas(patterns, o)
	if err != nil {
		return err
	}
	defer free()
	var reader counters.Reader
	if o.Counters != nil {
		if reader, err = o.Counters(); err != nil {
			return err
		}
		defer reader.Close()
	}
	teams, end, err := newTeams(patterns, o)
	if err != nil {
		return err
	}
	defer end()
	meters, err := newMeters(patterns, arenas, teams, reader, o)
	if err != nil {
		return err
	}
	return inRounds(meters, func(m *meter, round, rounds int) error {
		burst, err := m.round(ctx, round, rounds, o)
		for _, s := range burst {
			if !yield(s) {
				return errStopped
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		return nil
	})
}

// inRounds calls take for every meter in each round, and starts each round with the next meter. The
// first round determines the number of rounds.
func inRounds(meters []meter, take func(m *meter, round, rounds int) error) error {
	for round, rounds := 0, 1; round < rounds; round++ {
		for i := range meters {
			if err := take(&meters[(round+i)%len(meters)], round, rounds); err != nil {
				return err
			}
		}
		for _, m := range meters {
			rounds = max(rounds, m.rounds())
		}
	}
	return nil
}

func checkTogether(patterns []Pattern, most int) error {
	for _, p := range patterns {
		if err := Measurable(p, most); err != nil {
			return err
		}
		for _, q := range patterns {
			if err := together(p, q); err != nil {
				return fmt.Errorf("%s and %s cannot be measured together: %w", p.Spec.Name(),
					q.Spec.Name(), err)
			}
		}
	}
	return nil
}

// together refuses two patterns that cannot share memory. No other pattern may write the input of a
// sum, which is checked at every sample. Input of copies and additions is not checked, and a chase
// rewrites its links before each sample.
func together(p, q Pattern) error {
	if p.Spec.DType != q.Spec.DType {
		return fmt.Errorf("dtypes %s and %s", p.Spec.DType, q.Spec.DType)
	}
	if p.Spec.Op != Sum {
		return nil
	}
	for _, read := range p.operands {
		for _, op := range q.operands {
			if writes := op.kind != nest.Read || q.Spec.Op == Chase; writes &&
				op.base < read.base+uint64(read.size) && read.base < op.base+uint64(op.size) {
				return fmt.Errorf("tensor %s of the %s is written where the %s reads", op.tensor,
					q.Spec.Op, p.Spec.Op)
			}
		}
	}
	return nil
}

// Measurable returns an error if Measure cannot time a pattern: if it has no element, if no native
// loop walks its operands, if its tensors need more than maxMemory bytes (0 sets no limit), or if
// this CPU does not run its kernel, which is a FieldError.
func Measurable(p Pattern, maxMemory int) error {
	if p.Elems == 0 {
		return errors.New("the view has no element to time")
	}
	if err := p.Spec.computable(); err != nil {
		return err
	}
	return checkMemory(p.Memory, maxMemory)
}
