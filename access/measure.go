package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/stridebench/stridebench/access/counters"
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// Options say how patterns are measured.
type Options struct {
	Count int // samples of each pattern, at least 1
	// passes that take longer, and twice MinTime, have LongCount samples, if that is fewer; 0 for
	// none
	Long      time.Duration
	LongCount int // at least 1 if Long is not 0
	// least length of a sample, about; it is made of as many passes as that takes
	MinTime   time.Duration
	MaxMemory int     // bytes that the tensors of a pattern may take; 0 for no limit
	Pages     Pages   // of the tensors' memory
	Memory    *Memory // that small pages are borrowed from; nil for a mapping of its own
	// Obtained, where it is not nil, is told what the memory is made of before
	// the first sample.
	Obtained func(Backing)
	// CPUs are those that threads are pinned to, one each, in this order; nil for
	// cpu.Workers.
	CPUs []int
	// Bind are the NUMA nodes that the tensors' memory is taken from; nil for
	// wherever the thread that first touches it runs.
	Bind []int
	// Pinned, where it is not nil, is told the CPU that the thread is pinned to, -1
	// if it, or another one that takes part, is pinned to none.
	Pinned func(cpu int)
	// Counters, where it is not nil, opens what is counted beside the clock, on the thread that
	// measures; of patterns that several threads walk nothing is. It is started before the clock is
	// read and stopped after: what it costs is in no time, and disturbs what little of the caches a
	// call of the kernel does.
	Counters func() (counters.Reader, error)
}

// Samples is how many samples of a pattern a run takes unless it is told, and SampleTime how long
// one is at least.
const (
	Samples    = 15
	SampleTime = time.Millisecond
)

// A Sample is one measurement of a pattern: passes over it, with the clock read
// after every so many. Of a pass of a Chase that is longer than a sample need
// be, a part is timed, as long as a sample takes: every part of it is like
// another, and many samples tell more than a long one.
type Sample struct {
	Pattern int // index into the patterns measured
	Of      int // samples of the pattern that are taken in all
	Passes  int
	Part    float64 // of each pass that was timed: 1 of all but a long Chase
	Elapsed time.Duration
	Events  map[counters.Event]float64 // in all that was timed; those that were counted

	perPass float64
}

// PerPass is the time of one whole pass in ns: the least of those between two
// readings of the clock, since all passes do the same and what else the machine
// does only adds to them. Parts of a Chase are not the same; of these it is the
// median.
func (s Sample) PerPass() float64 { return s.perPass }

// EventsPerPass is how often an event happened in one whole pass; it is not known
// if it was not counted.
func (s Sample) EventsPerPass(e counters.Event) (n float64, known bool) {
	n, known = s.Events[e]
	return n / s.passes(), known
}

func (s Sample) passes() float64 { return float64(s.Passes) * s.Part }

// MemoryError tells that a pattern needs more memory than there is.
type MemoryError struct {
	Need, Have int // bytes
}

// Error gives both figures.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the tensors need %s of memory, this machine has %s available", gib(e.Need),
		gib(e.Have))
}

// gib is a size in GiB, or in MiB where that would be 0.
func gib(bytes int) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// Measure times patterns that are to be compared with each other and yields
// the samples as they come. All use the same memory, one after the other, so
// that none has the luckier pages. Samples are interleaved: a round takes some
// of each pattern, starting with another pattern every time, so that a drift
// of the machine falls on all alike.
//
// What is timed is the steady state: every pass follows one of the same pattern,
// and not what the pattern before left behind. So in each round one pass is
// walked off the clock, and then a burst of samples is taken with nothing but
// the clock and the counters between them. A burst is a sample where that has
// warmPasses or more, and else as many as make so many passes: then the passes
// off the clock take a small part of the time, however long they are. Of a pattern
// that has fewer samples for its long passes (Options.Long) the first pass is a sample: what
// the caches held before it is a small part of what a long pass reads. The
// rounds of patterns with long bursts, which have fewer of them, are spread over
// those of the others.
//
// In its first round each pattern is compared with a plain reference. The
// goroutine is locked to its thread and, where the system lets us, pinned to
// one CPU; the garbage collector is off.
//
// A pattern that has parts (Pattern.Parts) is walked by as many threads, each
// pinned to a CPU of its own. They spin before each reading of the clock until all
// are there, walk their parts as often as one reading takes, and the time is from
// the first one's start to the last one's end. On a machine of several NUMA nodes
// such a pattern has memory of its own, of which each thread is the first to touch
// what it uses.
//
// When the context is done, Measure ends with its error after the passes of one reading of
// the clock, and after a pass of the reference where a first sample is to be checked.
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

// errStopped tells that nobody wants more samples.
var errStopped = errors.New("stopped")

// workers are the CPUs that threads are pinned to.
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

// inRounds has every meter take what is due in each round, of which each begins with
// the next one. How many rounds there are shows in the first.
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

// checkTogether refuses patterns that cannot be measured together.
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

// together refuses two patterns that cannot share their memory, as patterns that
// are measured do: of what a sum reads, which is checked at every sample, no
// other may write a byte. What copies and additions read is not checked, and a
// chase writes its links anew before each sample, so that others may write what
// these read.
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

// A meter measures one pattern.
type meter struct {
	runner
	reader counters.Reader // or nil
	index  int             // of the pattern
	count  int             // samples
	name   string
	sum    float64 // that every pass returns, once it is known
	passes int     // from one reading of the clock to the next
	links  int     // where that is a part of a pass; 0 for whole passes
	at     int     // where in the pass the next part begins
	reads  int     // readings of a sample, but for the first
	times  []time.Duration
	team   *team    // that walks parts of it, or nil
	parts  []runner // by worker
	writes bool     // to its memory, as all do but sums
	clean  *bool    // all of the memory, which others share, is as it was prepared
}

// newMeters makes a meter for each pattern, and writes all of the memory.
func newMeters(patterns []Pattern, arenas []arena, teams map[int]*team, reader counters.Reader,
	o Options) ([]meter, error) {
	var meters []meter
	clean := map[*byte]*bool{}
	var got Backing
	for i, p := range patterns {
		name := p.Spec.Name()
		r, err := newRunner(p, arenas[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		at := unsafe.SliceData(arenas[i])
		if clean[at] == nil {
			clean[at] = new(bool)
		}
		m := meter{runner: r, reader: reader, index: i, count: o.Count, name: name, passes: 1,
			reads: 1, writes: p.Spec.Op != Sum, clean: clean[at]}
		if err := m.among(p, arenas[i], teams[len(p.shared)]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		meters = append(meters, m)
		if p.Memory < len(arenas[i]) || *m.clean {
			continue
		}
		m.touch(p, arenas[i])
		m.prepare()
		*m.clean = p.Spec.Op != Chase // of which each has links of its own
		if o.Obtained == nil {
			continue
		}
		b, err := arenas[i].backing()
		if err != nil {
			return nil, err
		}
		got.Size, got.Huge = got.Size+b.Size, got.Huge+b.Huge
	}
	if o.Obtained != nil {
		o.Obtained(got)
	}
	return meters, nil
}

// warmPasses is the least number of timed passes for one off the clock.
const warmPasses = 10

// rounds is in how many rounds the meter takes part.
func (m *meter) rounds() int {
	burst := max(1, int(math.Ceil(warmPasses/(float64(m.passes*m.reads)*m.share()))))
	return (m.count + burst - 1) / burst
}

// share is how much of a pass is timed.
func (m *meter) share() float64 {
	if m.links == 0 {
		return 1
	}
	return float64(m.links) / float64(m.length)
}

// due is how many samples the meter takes in a round: its own rounds, of which the first is
// round 0, are spread over all.
func (m *meter) due(round, rounds int) int {
	own := m.rounds()
	if round*own%rounds >= own {
		return 0
	}
	k := round * own / rounds
	return m.count*(k+1)/own - m.count*k/own
}

// A shot is a sample with what its passes summed to.
type shot struct {
	Sample
	sum float64
}

// round takes the samples that are due. In the first round the pattern is
// prepared before and checked after. Those taken before the context is done are
// returned with its error.
func (m *meter) round(ctx context.Context, round, rounds int, o Options) ([]Sample, error) {
	if round > 0 && m.due(round, rounds) == 0 {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var shots []shot
	var err error
	m.turn(func() { shots, err = m.burst(ctx, round, rounds, o) })
	if round == 0 && shots != nil {
		var wrong error
		if m.sum, wrong = m.reference(); wrong != nil {
			return nil, wrong
		}
	}
	var samples []Sample
	for _, s := range shots {
		// The sum is read, so that no pass can be left out, and must be right.
		if want := float64(s.Passes) * m.sum; s.sum != want {
			return samples, fmt.Errorf("%d timed passes summed to %v, plainly it is %v", s.Passes,
				s.sum, want)
		}
		s.Of = m.count
		samples = append(samples, s.Sample)
	}
	return samples, err
}

// burst takes the samples of a round. In the first round it leaves the memory as one
// pass does.
func (m *meter) burst(ctx context.Context, round, rounds int, o Options) (shots []shot, err error) {
	if round == 0 {
		if m.part != nil || !*m.clean { // the links of a Chase are its own
			m.prepare()
		}
		*m.clean = *m.clean && !m.writes
		var first shot     // the pass off the clock
		if m.part == nil { // or preparing goes the same way
			if first, err = m.shot(ctx); err != nil {
				return nil, err
			}
		}
		if o.Long > 0 && first.Elapsed > max(o.Long, 2*o.MinTime) {
			shots, m.count = []shot{first}, min(m.count, o.LongCount)
		} else {
			shots, err = m.calibrate(ctx, o.MinTime, first.Elapsed)
		}
	} else {
		m.warm()
	}
	due := m.due(round, rounds)
	for shots = shots[:min(len(shots), due)]; len(shots) < due &&
		err == nil; err = cmp.Or(err, ctx.Err()) {
		var s shot
		if s, err = m.shot(ctx); err == nil {
			shots = append(shots, s)
		}
	}
	if round == 0 && m.inPlace && shots != nil {
		m.prepare()
		m.runner.passes(1)
	}
	return shots, err
}

// newArena allocates size bytes from a page boundary on, of the heap.
func newArena(size int) arena {
	page := max(alignment, os.Getpagesize())
	mem := make([]byte, size+page)
	start := -uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % uintptr(page)
	return mem[start:][:size]
}

// warm walks a pass off the clock. Where parts are timed, a restore is as good: it
// goes the same way.
func (m *meter) warm() {
	if m.restore != nil {
		m.restore()
	}
	if m.links == 0 {
		m.runner.passes(1)
	}
	m.at = 0
}

// readingTime is how far apart readings of the clock are, unless a sample is
// shorter or a pass longer. The shorter they are, the fewer are disturbed, and
// the clock, which takes some 60 ns to read, should be none of what is read
// (docs/measuring.md has the figures).
const readingTime = 100 * time.Microsecond

// leastLinks is the part of a chase with which it is tried how long one takes.
const leastLinks = 1024

// longestInterruption is how long a pass may be kept waiting by something else, about.
const longestInterruption = 50 * time.Millisecond

// mostPasses is how many passes no pattern takes in a reading: a pass takes no less than a
// thousandth of a cycle.
const mostPasses = 1 << 30

// tried takes a shot, and another where the first took at least as long as is sought, which it may
// have done because it was interrupted, unless as many passes before it took a known time. It
// returns the least time, too.
func (m *meter) tried(ctx context.Context, sought, before time.Duration) (shots []shot,
	least time.Duration, err error) {
	s, err := m.shot(ctx)
	if err != nil {
		return nil, 0, err
	}
	if s.Elapsed < sought || s.Elapsed > longestInterruption {
		return []shot{s}, s.Elapsed, nil
	}
	if before > 0 {
		return []shot{s}, min(s.Elapsed, before), nil
	}
	again, err := m.shot(ctx)
	if err != nil {
		return nil, 0, err
	}
	return []shot{s, again}, min(s.Elapsed, again.Elapsed), nil
}

// calibrate finds how many passes last as long as readings are apart, or which
// part of one, and how many readings make a sample: twice as many passes until
// the time can be told, then as many as follow from it. Passes that took twice
// as long as a sample has to are the first samples; one that is just long enough
// may be so by chance. A pass before took a time, unless that is 0.
func (m *meter) calibrate(ctx context.Context, minTime, before time.Duration) ([]shot, error) {
	apart := min(minTime, readingTime)
	for m.links = leastLinks; m.part != nil && m.links < m.length; m.links *= 2 {
		_, took, err := m.tried(ctx, apart, 0)
		if err != nil {
			return nil, err
		}
		if took >= apart {
			m.setReads(minTime, took)
			return nil, nil
		}
	}
	m.links = 0
	for {
		shots, took, err := m.tried(ctx, apart, before)
		switch {
		case err != nil:
			return nil, err
		case took >= 2*minTime:
			return shots, nil
		case took >= apart:
			m.setReads(minTime, took)
			return nil, nil
		}
		if m.passes >= mostPasses {
			return nil, fmt.Errorf("%d passes take %v, as few do: not all of them are walked",
				m.passes, took)
		}
		m.passes, before = 2*m.passes, 0
		if took > apart/16 {
			m.passes = max(m.passes, 1+int(1.1*float64(shots[0].Passes)*float64(
				apart)/float64(took)))
		}
	}
}

// setReads makes a sample of as many readings as minTime holds, which are apart by
// so much.
func (m *meter) setReads(minTime, apart time.Duration) {
	m.reads = max(1, int((minTime+apart-1)/max(apart, 1)))
}

// shot takes a sample, of passes that follow others of the pattern. When the context
// is done, it ends after a reading of the clock.
func (m *meter) shot(ctx context.Context) (shot, error) {
	if m.reader != nil {
		if err := m.reader.Start(); err != nil {
			return shot{}, err
		}
	}
	s := shot{Sample: Sample{Pattern: m.index, Passes: m.passes * m.reads, Part: m.share()}}
	m.times = m.times[:0]
	start := time.Now()
	for range m.reads {
		if err := ctx.Err(); err != nil {
			return shot{}, err
		}
		if m.team != nil {
			sum, took := m.together(m.passes)
			s.sum, s.Elapsed = s.sum+sum, s.Elapsed+took
			m.times = append(m.times, s.Elapsed)
			continue
		}
		if m.links == 0 {
			s.sum += m.runner.passes(m.passes)
		} else {
			s.sum += m.part(m.at, m.links)
			m.at = (m.at + m.links) % m.length
		}
		m.times = append(m.times, time.Since(start))
	}
	s.Elapsed = m.times[m.reads-1]
	s.perPass = gap(m.times, m.links > 0) / (float64(m.passes) * s.Part)
	if m.reader == nil {
		return s, nil
	}
	values, err := m.reader.Stop()
	if values != nil {
		s.Events = map[counters.Event]float64{}
		for i, e := range m.reader.Events() {
			s.Events[e] = values[i]
		}
	}
	return s, err
}

// gap is the least, or the median, in ns, of what lies between ascending times,
// of which the first is counted from 0. It makes them the gaps.
func gap(times []time.Duration, median bool) float64 {
	for i := len(times) - 1; i > 0; i-- {
		times[i] -= times[i-1]
	}
	slices.Sort(times)
	if n := len(times); median {
		return float64(times[(n-1)/2]+times[n/2]) / 2
	}
	return float64(times[0])
}

// Measurable refuses a pattern that Measure cannot time: one without an
// element, with ErrForeign one by a kernel that this CPU does not run, and, with a
// MemoryError, one whose tensors need more than maxMemory bytes (0 is no limit).
func Measurable(p Pattern, maxMemory int) error {
	if p.Elems == 0 {
		return errors.New("the view has no element to time")
	}
	if err := p.Spec.computable(); err != nil {
		return err
	}
	if maxMemory > 0 && p.Memory > maxMemory {
		return &MemoryError{Need: p.Memory, Have: maxMemory}
	}
	return nil
}
