package probe

import (
	"encoding/json"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache/cpu"
	"github.com/stridebench/stridebench/simcache/explain"
)

// This file measures with several threads: the bandwidth of all cores, and latency under load.

// A Load is the latency of a pointer chase while other threads stream for a share of the time.
type Load struct {
	Share float64   `yaml:"share,omitempty"` // from 0 to 1
	Ns    []float64 `yaml:"ns"`              // per load, by sample
	// of memory, by sample: lines of the streams and of the chase
	Bandwidth []Bandwidth `yaml:"GB/s"`
}

// MarshalJSON implements json.Marshaler. It writes medians.
func (l Load) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Share     float64   `json:"share"`
		Latency   float64   `json:"latencyNs"`
		Bandwidth Bandwidth `json:"bytesPerSecond"`
	}{l.Share, middle(l.Ns), middle(l.Bandwidth)})
}

func middle[T ~float64](samples []T) T {
	sorted := slices.Sorted(slices.Values(samples))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// mostLost is the most that cores slow down while reading their own caches together. Hyperthreads
// have half a core each, and clocks slow down by a fifth.
const mostLost = 2.5

// Disturbed reports whether all threads together read far less than their sum, so that a core must
// have been busy elsewhere. It applies to levels that each core has.
func (s Speed) Disturbed(threads int) bool {
	n := Bandwidth(threads)
	return s.ReadAll > 0 && mostLost*s.ReadAll < n*s.Read || s.CopyAll > 0 &&
		mostLost*s.CopyAll < n*s.Copy
}

// instances returns how many caches like c the workers have together. A cache belongs to one core,
// unless the CPU says that more share it.
func instances(c cpu.Cache, workers []cpu.Logical) int {
	siblings := map[int]int{}
	for _, l := range workers {
		siblings[l.Core]++
	}
	if c.Shared == 0 {
		return max(1, len(siblings))
	}
	return max(1, min(len(siblings), len(workers)/c.Shared))
}

// sharers returns how many cores share a cache. It returns 0 for the default of
// simcache.Level.SharedBy: all cores share the last level, and one core has each other level.
func sharers(c cpu.Cache, o Options) int {
	cores := c.Cores(o.Caches)
	last := !slices.ContainsFunc(o.Caches, func(other cpu.Cache) bool {
		return other.Level > c.Level
	})
	if last && instances(c, o.Workers) < 2 || !last && cores == 1 {
		return 0
	}
	return cores
}

// onAll returns all cores' working set for each level's bandwidth. It is 0 for a last level smaller
// than their second levels together, which would serve the pass.
func (s *sampler) onAll(levels []Level) (sets []int) {
	before := 0
	for _, l := range levels {
		serves := int(l.Capacity) * s.number(l)
		set := past(serves, before)
		if 2*set < 3*before {
			set = 0
		}
		sets, before = append(sets, set), serves
	}
	return sets
}

func (s *sampler) number(l Level) int {
	for _, c := range s.Caches {
		if !c.Instruction() && c.Known() && c.Geometry.Size == int(l.Stated) {
			return instances(c, s.Workers)
		}
	}
	return 1
}

// behindAll returns all cores' working set for memory's bandwidth. If memory allows, caches serve
// at most a quarter.
func (s *sampler) behindAll() int {
	caches := 0
	for _, c := range s.Caches {
		if !c.Instruction() {
			caches += c.Geometry.Size * instances(c, s.Workers)
		}
	}
	size := max(s.streamed(), 4*caches)
	if s.MaxMemory > 0 {
		size = min(size, max(s.MaxMemory/2, s.MaxSize))
	}
	return size
}

var loads = []float64{0, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 3. / 8, 1. / 2, 3. / 4, 1}

// A sample under load lasts about 4 ms, or less with a small budget.
const mostLoadTime, leastLoadTime = 4 * time.Millisecond, 200 * time.Microsecond

func (s *sampler) loaded(m *Machine) error {
	if !s.Loaded {
		return nil
	}
	streams := len(s.Workers) - 1
	o := access.Options{Count: 9, Pages: s.pages}
	o.MinTime = max(min(mostLoadTime, s.Budget/1000), leastLoadTime)
	if s.hasty {
		o.Count = 1
	}
	stream := s.MaxSize
	if s.MaxMemory > 0 { // streams should exceed the caches
		stream = min(stream, max((s.MaxMemory/2-s.MaxSize)/max(streams, 1), 1<<20))
	}
	for _, l := range s.Workers {
		o.CPUs = append(o.CPUs, l.CPU)
	}
	ns, bandwidth, err := access.MeasureLoaded(s.ctx, loads, s.MaxSize,
		max(stream/4096*4096, 1<<16), o)
	if err != nil {
		return err
	}
	m.Streams = streams
	for i, share := range loads {
		l := Load{Share: share, Ns: ns[i]}
		for _, b := range bandwidth[i] {
			l.Bandwidth = append(l.Bandwidth, Bandwidth(b/1e9))
		}
		m.Loads = append(m.Loads, l)
	}
	return nil
}

func (m Machine) writeThreads(t *tabwriter.Writer) {
	if m.Threads > 1 {
		fmt.Fprintf(t, "\nby %d threads\tread\tcopy\n", m.Threads)
		for _, l := range m.Levels {
			fmt.Fprintf(t, "%s\t%s\t%s\n", l.Name, bandwidthCell(l.ReadAll),
				bandwidthCell(l.CopyAll))
		}
		if m.Memory != (Speed{}) {
			fmt.Fprintf(t, "memory\t%s\t%s\n", bandwidthCell(m.Memory.ReadAll),
				bandwidthCell(m.Memory.CopyAll))
		}
	}
	if len(m.Loads) > 0 {
		fmt.Fprintf(t, "\n%s busy for\tmemory moves\tlatency\n",
			explain.Counted(m.Streams, "thread"))
		for _, l := range m.Loads {
			fmt.Fprintf(t, "%.3g%%\t%s\t%.3g ns\n", 100*l.Share, bandwidthCell(middle(l.Bandwidth)),
				middle(l.Ns))
		}
	}
}
