package cost

import (
	"errors"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// caches are what is simulated for a prediction: of a configuration sizes, ways
// and lines, all LRU.
type caches struct {
	levels []simcache.Level // the nearest first, at least one
	tlb    []simcache.TLB   // may be empty
}

func cachesOf(c simcache.Config) caches {
	all := caches{tlb: c.TLB}
	for _, l := range c.Levels {
		all.levels = append(all.levels, simcache.Level{Name: l.Name, Geometry: l.Geometry, Modulo: l.Modulo})
	}
	return all
}

// A Counted is one nest of a pattern and how often each operand missed in a pass
// in the steady state.
type Counted struct {
	Nest   nest.Nest // canonical
	Misses []Misses  // by operand
}

// Misses are the lines, or pages, that an operand missed in a pass. They need
// not be whole numbers where a part of the pass speaks for all of it.
type Misses struct {
	Levels []float64
	TLB    []float64
}

// window is the number of accesses up to which a nest is simulated whole, and
// part about how many are counted where it is not.
const (
	window = 1 << 18
	part   = 1 << 14
)

// Count simulates a pass over the nests, walked one after the other, in the
// steady state, on caches of the sizes, ways and lines of a configuration, all
// LRU.
//
// Nests of more accesses than a window are not walked whole. Of the outermost
// loop of which enough iterations fit in the window, some are walked to warm the
// caches and as many more are counted, in multiples of what it takes until every
// operand starts a line anew; they speak for all iterations. What the loops
// around it find again, and what the pass finds of the pass before, follows from
// footprints: lines are found again in a level if one round of the loop touches
// no more lines than the level has room for, as under LRU.
//
// The last of three or more levels counts by footprint alone: its sets are
// chosen by a hash of the address on the CPUs that have one (Maurice et al.,
// "Reverse Engineering Intel Last-Level Cache Complex Addressing", RAID 2015), so
// that it has no sets that a stride could crowd.
func Count(config simcache.Config, nests []nest.Nest) ([]Counted, error) {
	c := cachesOf(config)
	if len(c.levels) == 0 {
		return nil, errors.New("no caches to simulate")
	}
	var walks []Counted
	whole := 0
	for _, n := range nests {
		walks = append(walks, Counted{Nest: n.Canonical()})
		whole += n.Iterations() * len(n.Operands)
	}
	if whole <= window {
		return walks, c.exact(walks)
	}
	all := c.pass(walks)
	for i := range walks {
		if err := c.sample(&walks[i], all); err != nil {
			return nil, err
		}
	}
	return walks, nil
}

// simulated are the levels that are looked up; a hashed one is not.
func (c caches) simulated() []simcache.Level {
	if len(c.levels) > 2 {
		return c.levels[:len(c.levels)-1]
	}
	return c.levels
}

// hierarchy is an empty one.
func (c caches) hierarchy() (*simcache.Hierarchy, error) {
	return simcache.NewHierarchy(simcache.Config{Levels: c.simulated(), TLB: c.tlb})
}

// exact walks the nests until all further passes are alike, and counts the last.
func (c caches) exact(walks []Counted) error {
	h, err := c.hierarchy()
	if err != nil {
		return err
	}
	lines := 0.0
	for _, w := range walks {
		lines += footprint(w.Nest, 0, c.levels[0].Line)
	}
	for range max(len(c.simulated()), len(c.tlb)) + 1 {
		for i := range walks {
			misses, err := h.RunMisses(walks[i].Nest)
			if err != nil {
				return err
			}
			walks[i].Misses = make([]Misses, len(misses))
			for r, m := range misses {
				walks[i].Misses[r] = c.whole(m, lines)
			}
		}
	}
	return nil
}

// whole are simulated misses, and those of the hashed level: all of the level
// before where the pass touches more lines than it has.
func (c caches) whole(m simcache.Misses, lines float64) Misses {
	all := Misses{Levels: floats(m.Levels), TLB: floats(m.TLB)}
	if last := c.levels[len(c.levels)-1]; len(all.Levels) < len(c.levels) {
		missed := 0.0
		if lines > float64(last.Size/last.Line) {
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
