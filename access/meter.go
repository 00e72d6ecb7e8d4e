package access

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"
	"unsafe"

	"github.com/stridebench/stridebench/access/counters"
)

type meter struct {
	runner
	reader counters.Reader // or nil
	index  int             // of the pattern
	count  int             // samples
	name   string
	sum    float64 // of one pass, once known
	passes int     // between two readings of the clock
	links  int     // if that is part of a pass, else 0
	at     int     // where the next part begins
	reads  int     // readings of a sample, after the first
	times  []time.Duration
	team   *team    // or nil
	parts  []runner // by worker
	writes bool     // its memory
	clean  *bool    // all shared memory holds initial values
}

func newMeters(patterns []Pattern, arenas []arena, teams map[int]*team, reader counters.Reader,
	o Options) ([]meter, error) {
	var meters []meter
	clean := map[*byte]*bool{}
	var size, huge int
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
		*m.clean = p.Spec.Op != Chase // each Chase has its own links
		if o.Obtained == nil {
			continue
		}
		n, err := arenas[i].hugeBytes()
		if err != nil {
			return nil, err
		}
		size, huge = size+len(arenas[i]), huge+n
	}
	if o.Obtained != nil {
		o.Obtained(size, huge)
	}
	return meters, nil
}

// warmPasses is the least timed passes per pass off the clock.
const warmPasses = 10

// rounds is the number of rounds with samples of the meter.
func (m *meter) rounds() int {
	burst := max(1, int(math.Ceil(warmPasses/(float64(m.passes*m.reads)*m.share()))))
	return (m.count + burst - 1) / burst
}

func (m *meter) share() float64 {
	if m.links == 0 {
		return 1
	}
	return float64(m.links) / float64(m.length)
}

// due is the meter's samples in a round. Its own rounds, with round 0 as the first, are spread over
// all.
func (m *meter) due(round, rounds int) int {
	own := m.rounds()
	if round*own%rounds >= own {
		return 0
	}
	k := round * own / rounds
	return m.count*(k+1)/own - m.count*k/own
}

type shot struct {
	Sample
	sum float64
}

// round takes the samples that are due. The first round prepares the pattern before and checks it
// after. It returns samples also with an error.
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
		// Checking the sum also keeps passes from being optimized away.
		if want := float64(s.Passes) * m.sum; s.sum != want {
			return samples, fmt.Errorf("%d timed passes summed to %v, plainly it is %v", s.Passes,
				s.sum, want)
		}
		s.Of = m.count
		samples = append(samples, s.Sample)
	}
	return samples, err
}

// burst takes the samples of a round. The first round leaves the memory as one pass does.
func (m *meter) burst(ctx context.Context, round, rounds int, o Options) (shots []shot, err error) {
	if round == 0 {
		if m.part != nil || !*m.clean { // a Chase has its own links
			m.prepare()
		}
		*m.clean = *m.clean && !m.writes
		var first shot     // the pass off the clock
		if m.part == nil { // preparing a chase warms the caches too
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

// newArena allocates size bytes of the heap, from a page boundary.
func newArena(size int) arena {
	page := max(alignment, os.Getpagesize())
	mem := make([]byte, size+page)
	start := -uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % uintptr(page)
	return mem[start:][:size]
}

// warm walks a pass off the clock. Where parts are timed, restore replaces it: it touches memory in
// the same order.
func (m *meter) warm() {
	if m.restore != nil {
		m.restore()
	}
	if m.links == 0 {
		m.runner.passes(1)
	}
	m.at = 0
}

// readingTime is the time between readings of the clock, unless a sample is shorter or a pass
// longer. Short intervals are disturbed less, but a reading, of about 60 ns, must not matter
// (docs/measuring.md).
const readingTime = 100 * time.Microsecond

// leastLinks is the first number of links that calibrate times.
const leastLinks = 1024

// longestInterruption is about the longest that another program delays a pass.
const longestInterruption = 50 * time.Millisecond

// mostPasses take longer than a reading for any pattern: a pass takes at least a thousandth of a
// cycle.
const mostPasses = 1 << 30

// tried takes a shot, and a second one if the first lasted at least as sought, perhaps because of
// an interruption. It takes only one if that is too long for an interruption, or if the same passes
// already took a known time, before. It also returns the least time.
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

// calibrate finds the passes, or the part of one, between two readings, and the readings of a
// sample. It doubles the passes until their time is measurable, then extrapolates. Passes of at
// least twice minTime become the first samples; shorter ones might reach minTime only by chance.
// One pass already took the time before, unless that is 0.
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

func (m *meter) setReads(minTime, apart time.Duration) {
	m.reads = max(1, int((minTime+apart-1)/max(apart, 1)))
}

// shot takes a sample. If the context is done, it ends after a reading of the clock.
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
	s.PerPass = gap(m.times, m.links > 0) / (float64(m.passes) * s.Part)
	if m.reader == nil {
		return s, nil
	}
	values, err := m.reader.Stop()
	if values != nil {
		s.Events = map[counters.Event]float64{}
		for i, e := range m.reader.Events() {
			s.Events[e] = values[i] / (float64(s.Passes) * s.Part)
		}
	}
	return s, err
}

// gap returns the least or the median interval in ns between times, the first counted from 0. It
// overwrites times.
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
