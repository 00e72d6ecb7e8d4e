package probe

import (
	"context"
	"math"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// Options say what to measure and for how long.
type Options struct {
	CPU    string         // brand name, for the file
	Caches []cpu.Cache    // as stated by the machine
	TLB    []simcache.TLB // as stated by the machine, for pages of PageSize
	// largest working set of the ladder in bytes, from MinSize to the constant MaxSize. Streams
	// have twice as much. 0 means twice the last stated level, within bounds of time and memory
	MaxSize   int
	MaxMemory int // bytes; 0 for no limit
	// CPUs to measure together; the first one is also measured alone. nil means that one
	Workers []cpu.Logical
	Loaded  bool          // measure latency under load, too
	Budget  time.Duration // of all stages, about; each repeats at least three times
	// Progress, if not nil, receives the share that is done, from 0 to 1, between samples.
	Progress func(done float64)

	// ask, in tests, replaces the machine. It returns the ns per element of a pass.
	ask func(p access.Pattern) float64
	// hasty takes one short sample of each pattern, in tests that are not about times.
	hasty bool
}

// The least and the largest working set of a ladder, in bytes.
const (
	MinSize = 4 << 10
	MaxSize = 1 << 30
)

// sampleTime is the least length of a sample. Many short samples are steadier than few long ones.
const sampleTime = 500 * time.Microsecond

func (o Options) sampleTime() time.Duration {
	if o.hasty {
		return time.Microsecond
	}
	return sampleTime
}

// The stages' shares of the budget.
const (
	ladderShare    = 0.36
	pagesShare     = 0.17
	bandwidthShare = 0.14
	apartShare     = 0.12
	loopsShare     = 0.10
	streamsShare   = 0.04
	tilesShare     = 0.07
)

// Measure measures the machine that it runs on. All times are minima over many short samples, which
// alternate between working sets and move in memory. Minima are the undisturbed times, and repeat
// better than means and medians.
//
// Latencies and capacities come from a pointer chase with one load per line in a random cyclic
// order. Working sets range from MinSize to Options.MaxSize, four per octave, on huge pages if
// available. Function plateaus finds the levels. A second ladder, on pages of PageSize, finds the
// cost of a TLB miss and the reach of each TLB level. It chases one load per page, each on another
// line of its page, and subtracts a chase over as many adjacent lines. Bandwidths are of vector
// kernels on half of each level's capacity, and on twice the largest working set for memory. They
// are of one core, and of all workers together, each on half of its share of the level. Loops are
// over elements in the first level. Only loops and bandwidths are measured repeatedly.
func Measure(ctx context.Context, o Options) (Machine, error) {
	if o.MaxSize == 0 {
		o.MaxSize = largest(o.Caches, o.MaxMemory)
	}
	s := &sampler{ctx: ctx, Options: o}
	m := Machine{Date: time.Now(), CPU: o.CPU}
	if err := s.ladder(&m); err != nil {
		return Machine{}, err
	}
	m.name(plateaus(m.Ladder), stated(o.Caches))
	for _, stage := range []func(*Machine) error{s.loops, s.pageLadder, s.bandwidth,
		s.loops, s.apart,
		s.bandwidth, s.tiles, s.loops, s.bandwidth, s.loaded} {
		if err := stage(&m); err != nil {
			return Machine{}, err
		}
	}
	m.simulate(o)
	s.done = 1 // with the stages that this machine lacks
	s.progress(0)
	return m, nil
}

// sizes returns the working sets of a ladder, four per octave. They include powers of two and three
// quarters of them, which are the sizes of caches.
func sizes(least, most int) (list []int) {
	for octave := least; octave <= most; octave *= 2 {
		for quarter := 4; quarter < 8; quarter++ {
			if size := octave / 4 * quarter; size <= most {
				list = append(list, size)
			}
		}
	}
	return list
}

type sampler struct {
	ctx context.Context
	Options
	done  float64      // the share of all stages that is done
	pages access.Pages // the largest that are available
}

// leastCalls is how often a stage runs at least, whatever the budget, each time in other memory.
const leastCalls = 3

// least measures patterns in rotation, count samples at a time, for a share of the budget. It
// returns the least ns per element of each. Every turn has other memory, because placement affects
// times.
func (s *sampler) least(specs []access.Spec, count int, share float64, pages access.Pages,
	obtained func(size, huge int)) ([]float64, error) {
	return s.moment(leastCalls, specs, count, share, pages, obtained)
}

// moment is least for a repeated stage, with at least calls runs.
func (s *sampler) moment(calls int, specs []access.Spec, count int, share float64,
	pages access.Pages, obtained func(size, huge int)) ([]float64, error) {
	var patterns []access.Pattern
	ns := make([]float64, len(specs))
	for i, spec := range specs {
		p, err := spec.Pattern()
		if err != nil {
			return nil, err
		}
		patterns, ns[i] = append(patterns, p), math.Inf(1)
	}
	if s.ask != nil {
		for i, p := range patterns {
			ns[i] = s.ask(p)
		}
		return ns, nil
	}
	if s.hasty {
		calls, count = 1, 1
	}
	budget := time.Duration(share * float64(s.Budget))
	o := access.Options{Count: count, MinTime: s.sampleTime(), MaxMemory: s.MaxMemory, Pages: pages,
		Obtained: obtained}
	for _, l := range s.Workers {
		o.CPUs = append(o.CPUs, l.CPU)
	}
	start := time.Now()
	for called := 1; ; called++ {
		for sample, err := range access.Measure(s.ctx, patterns, o) {
			if err != nil {
				return nil, err
			}
			k := sample.Pattern
			ns[k] = min(ns[k], sample.PerPass/float64(patterns[k].Elems))
			s.progress(share * min(float64(time.Since(start))/float64(budget), 1))
		}
		// Another turn would take the same time.
		if spent := time.Since(start); called >= calls &&
			spent+spent/time.Duration(called) > budget {
			s.done += share
			s.progress(0)
			return ns, nil
		}
	}
}

func (s *sampler) progress(more float64) {
	if s.Progress != nil {
		s.Progress(s.done + more)
	}
}

func (s *sampler) ladder(m *Machine) error {
	all := sizes(MinSize, s.MaxSize)
	var specs []access.Spec
	for _, size := range all {
		specs = append(specs, access.ChaseSpec(size/line, line))
	}
	ns, err := s.onHugePages(specs, &m.Pages)
	for i := range ns {
		m.Ladder = append(m.Ladder, Point{strict.Size(all[i]), ns[i]})
	}
	return err
}

// line is the bytes between loads of a ladder. If lines are longer, two loads share one.
const line = 64

func (s *sampler) onHugePages(specs []access.Spec, got *string) ([]float64, error) {
	var ns []float64
	var err error
	for _, s.pages = range []access.Pages{access.PagesHuge, access.PagesTHP, access.PagesSmall} {
		sampled := false
		ns, err = s.least(specs, 8, ladderShare, s.pages, func(size, huge int) {
			sampled = true
			if *got = s.pages.String(); huge < size/2 {
				*got = access.PagesSmall.String()
			}
		})
		if s.ctx.Err() != nil { // checked first, since it also looks like missing pages
			return nil, s.ctx.Err()
		}
		if err == nil || sampled {
			break
		}
	}
	return ns, err
}

// leastPages are in the ladder even if the machine states a smaller TLB, as under a hypervisor.
// They are four times the second level of a TLB of 2026, like the factor for stated levels.
const leastPages = 16384

func (s *sampler) pageLadder(m *Machine) error {
	most := leastPages
	for _, t := range s.TLB {
		most = max(most, 4*t.Entries)
	}
	all := sizes(8, max(min(most, s.MaxSize/PageSize()), 8))
	var specs []access.Spec
	for _, n := range all {
		// Each page's line is another, so that all sets of the caches are used.
		specs = append(specs, access.ChaseSpec(n, PageSize()+line), access.ChaseSpec(n, line))
	}
	ns, err := s.least(specs, 8, pagesShare, access.PagesSmall, nil)
	if err != nil {
		return err
	}
	for i, n := range all {
		m.PageLadder = append(m.PageLadder, Pages{n, m.Levels[0].Latency +
			max(ns[2*i]-ns[2*i+1], 0)})
	}
	m.nameTLB(s.TLB)
	return nil
}

// bandwidth measures reads and copies at each level, of one core and of all cores. The best of
// several moments counts, because one core that is busy elsewhere slows down all.
func (s *sampler) bandwidth(m *Machine) error {
	speeds, sets := s.workingSets(m)
	onAll := s.onAll(m.Levels)
	if m.Memory != (Speed{}) {
		onAll = append(onAll, s.behindAll())
	}
	const share = bandwidthShare / 4 / bandwidthTimes
	for _, stage := range []struct {
		bytes []int
		spec  func(bytes int) access.Spec
		of    func(*Speed) *Bandwidth
		moved float64 // bytes per element
	}{
		{sets, reading, func(v *Speed) *Bandwidth { return &v.Read }, 4},
		{sets, copying, func(v *Speed) *Bandwidth { return &v.Copy }, 8},
		{onAll, s.byAll(reading), func(v *Speed) *Bandwidth { return &v.ReadAll }, 4},
		{onAll, s.byAll(copying), func(v *Speed) *Bandwidth { return &v.CopyAll }, 8},
	} {
		var specs []access.Spec
		var results []*Bandwidth
		for i, bytes := range stage.bytes {
			if bytes > 0 {
				specs, results = append(specs, stage.spec(bytes)),
					append(results, stage.of(speeds[i]))
			}
		}
		if specs[0].Threads == 1 {
			continue
		}
		ns, err := s.moment(1, specs, 10, share, s.pages, nil)
		if err != nil {
			return err
		}
		for i, result := range results {
			*result = max(*result, Bandwidth(stage.moved/ns[i]))
		}
	}
	if len(s.Workers) > 1 {
		m.Threads = len(s.Workers)
	}
	if m.Memory == (Speed{}) {
		return nil
	}
	return s.streams(m)
}

const bandwidthTimes = 3

// workingSets returns one core's working set for each level's bandwidth, and for memory's if known.
func (s *sampler) workingSets(m *Machine) (speeds []*Speed, sets []int) {
	before := 0
	for i, l := range m.Levels {
		speeds, sets = append(speeds, &m.Levels[i].Speed),
			append(sets, past(int(l.Capacity), before))
		before = int(l.Capacity)
	}
	if m.Memory != (Speed{}) {
		speeds, sets = append(speeds, &m.Memory), append(sets, s.streamed())
	}
	return speeds, sets
}

// past returns the working set of a level: half of it, or twice the level before if that fits.
func past(serves, before int) int { return max(serves/2, min(2*before, serves)) }

// streamed returns the working set for memory's bandwidth: twice the ladder's, if memory
// allows. The last level may serve a third of it.
func (s *sampler) streamed() int {
	if s.MaxMemory > 0 && 4*s.MaxSize > s.MaxMemory {
		return s.MaxSize
	}
	return 2 * s.MaxSize
}

func reading(bytes int) access.Spec {
	return access.Spec{DType: layouts.Int32, Shape: []int{bytes / layouts.Int32.Size()},
		Kernel: access.Kernel(kernel.Best().Name())}
}

func copying(bytes int) access.Spec {
	s := reading(bytes / 2)
	s.Op = access.Copy
	return s
}

func (s *sampler) byAll(spec func(bytes int) access.Spec) func(bytes int) access.Spec {
	return func(bytes int) access.Spec {
		all := spec(bytes)
		all.Threads, all.Grain = max(len(s.Workers), 1), 1
		return all
	}
}
