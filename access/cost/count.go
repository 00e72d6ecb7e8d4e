package cost

import (
	"errors"
	"slices"
	"sync"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/layouts/nest/touched"
	"github.com/stridebench/stridebench/simcache"
)

// caches are the simulated caches, all LRU.
type caches struct {
	levels []simcache.Level // the nearest first, at least one
	tlb    []simcache.TLB   // may be empty
	window int              // most accesses of a nest that is simulated whole

	// missing is Model.missing, or nil. LRU applies if the share is not known.
	missing func(level int, bytes float64) (share float64, known bool)
}

func cachesOf(c simcache.Config) caches {
	all := caches{make([]simcache.Level, 0, len(c.Levels)), c.TLB, DefaultWindow, nil}
	for _, l := range c.Levels {
		all.levels = append(all.levels, simcache.Level{Name: l.Name, Geometry: l.Geometry,
			Modulo: l.Modulo})
	}
	return all
}

// A Counted is a nest of a pattern with the misses of each operand in a pass in the steady state.
type Counted struct {
	Nest   nest.Nest // canonical
	Misses []Misses  // by operand
}

// Misses are the lines or pages that an operand misses in a pass. Extrapolated ones may be
// fractional.
type Misses struct {
	Levels []float64
	TLB    []float64
}

// DefaultWindow and LeastWindow are the default and the least Model.Window, in accesses.
const (
	DefaultWindow = 1 << 18
	LeastWindow   = 1 << 13
)

// count simulates nests, whole or sampled.
func (c caches) count(nests []nest.Nest) (walks []Counted, sampled bool, err error) {
	if len(c.levels) == 0 {
		return nil, false, errors.New("no caches to simulate")
	}
	whole := 0
	for _, n := range nests {
		walks = append(walks, Counted{Nest: looped(n.Canonical())})
		whole = min(whole+accesses(n, 0), most)
	}
	if c.window < DefaultWindow && streams(walks) {
		c.stream(walks, c.pass(walks))
		return walks, false, nil
	}
	if whole <= c.window {
		return walks, false, c.exact(walks)
	}
	all := c.pass(walks)
	for i, w := range walks {
		p, err := c.sample(w.Nest)
		if err != nil {
			return nil, false, err
		}
		walks[i].Misses = c.scaled(w.Nest, p, all)
	}
	return walks, true, nil
}

func streams(walks []Counted) bool {
	for _, w := range walks {
		for _, op := range w.Nest.Operands {
			if len(w.Nest.Trips) > 1 || op.Strides[0] != op.Width && op.Strides[0] != 0 {
				return false
			}
		}
	}
	return true
}

// stream counts streams without a simulation. Under LRU, a level misses all lines of a pass that
// has more lines than the level.
func (c caches) stream(walks []Counted, all []float64) {
	places := c.places()
	for i := range walks {
		n := walks[i].Nest
		walks[i].Misses = make([]Misses, len(n.Operands))
		whole := excerpt{nest: n, touches: footprintsOf(n)}
		for r := range n.Operands {
			missed := make([]float64, len(places))
			_, twin := whole.operand(r, c.levels[0].Line)
			for k, p := range places {
				if !twin && all[k] > p.blocks() {
					missed[k] = touched.Lines(n.Operands[r], n.Trips, p.block)
				}
			}
			walks[i].Misses[r] = Misses{missed[:len(c.levels)], missed[len(c.levels):]}
		}
	}
}

func looped(n nest.Nest) nest.Nest {
	if len(n.Trips) > 0 {
		return n
	}
	n.Trips, n.Operands = []int{1}, slices.Clone(n.Operands)
	for i := range n.Operands {
		n.Operands[i].Strides = []int{0}
	}
	return n
}

// simulated returns how many levels are looked up. A hashed level is not.
func simulated(levels []simcache.Level) int {
	if len(levels) > 2 {
		return len(levels) - 1
	}
	return len(levels)
}

func (c caches) simulated() []simcache.Level { return c.levels[:simulated(c.levels)] }

// An idle hierarchy keeps its memory for the next pattern.
type idle struct {
	levels    []simcache.Level
	tlb       []simcache.TLB
	hierarchy *simcache.Hierarchy
}

var idles sync.Pool // of *idle

// hierarchy returns an empty hierarchy. The caller returns it to idles.
func (c caches) hierarchy() (*idle, error) {
	if h, is := idles.Get().(*idle); is && slices.Equal(h.levels, c.simulated()) &&
		slices.Equal(h.tlb, c.tlb) {
		h.hierarchy.Reset()
		return h, nil
	}
	h, err := simcache.NewHierarchy(simcache.Config{Levels: c.simulated(), TLB: c.tlb})
	return &idle{c.simulated(), c.tlb, h}, err
}

func (c caches) exact(walks []Counted) error {
	h, err := c.hierarchy()
	if err != nil {
		return err
	}
	defer idles.Put(h)
	places := c.places()
	last := places[len(c.levels)-1]
	lines := 0.0
	for _, w := range walks {
		lines += footprint(w.Nest, last.block)
	}
	for range max(len(c.simulated()), len(c.tlb)) + 1 {
		for i := range walks {
			misses, err := h.hierarchy.RunMisses(walks[i].Nest)
			if err != nil {
				return err
			}
			walks[i].Misses = make([]Misses, len(misses))
			for r, m := range misses {
				walks[i].Misses[r] = c.whole(m, lines > last.blocks())
			}
		}
	}
	return nil
}

// whole adds the hashed level to simulated misses. If the pass exceeds that level, it misses what
// the level before misses.
func (c caches) whole(m simcache.OperandMisses, more bool) Misses {
	all := Misses{Levels: floats(m.Levels), TLB: floats(m.TLB)}
	if len(all.Levels) < len(c.levels) {
		missed := 0.0
		if more {
			missed = all.Levels[len(all.Levels)-1]
		}
		all.Levels = append(all.Levels, missed)
	}
	return all
}

func floats(counts []uint64) []float64 {
	var all []float64
	for _, n := range counts {
		all = append(all, float64(n))
	}
	return all
}
