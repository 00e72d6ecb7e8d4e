package cost

import (
	"errors"

	"github.com/stridebench/stridebench/simcache"
)

// Caches are what is simulated for a prediction.
type Caches struct {
	Levels []simcache.Level // the nearest first, at least one
	TLB    []simcache.TLB   // may be empty
}

// CachesOf takes what is simulated for a prediction from a configuration: sizes,
// ways and lines, all LRU.
func CachesOf(c simcache.Config) Caches {
	caches := Caches{TLB: c.TLB}
	for _, l := range c.Levels {
		caches.Levels = append(caches.Levels, simcache.Level{Name: l.Name, Geometry: l.Geometry, Modulo: l.Modulo})
	}
	return caches
}

// A Walk is one nest of a pattern and how often each operand missed in a pass
// in the steady state.
type Walk struct {
	Nest   simcache.Nest // canonical
	Misses []Misses      // by operand
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
// steady state.
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
func (c Caches) Count(nests []simcache.Nest) ([]Walk, error) {
	if len(c.Levels) == 0 {
		return nil, errors.New("no caches to simulate")
	}
	var walks []Walk
	whole := 0
	for _, n := range nests {
		walks = append(walks, Walk{Nest: n.Canonical()})
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
func (c Caches) simulated() []simcache.Level {
	if len(c.Levels) > 2 {
		return c.Levels[:len(c.Levels)-1]
	}
	return c.Levels
}

// hierarchy is an empty one.
func (c Caches) hierarchy() (*simcache.Hierarchy, error) {
	return simcache.NewHierarchy(simcache.Config{Levels: c.simulated(), TLB: c.TLB})
}

// exact walks the nests until all further passes are alike, and counts the last.
func (c Caches) exact(walks []Walk) error {
	h, err := c.hierarchy()
	if err != nil {
		return err
	}
	lines := 0.0
	for _, w := range walks {
		lines += footprint(w.Nest, 0, c.Levels[0].Line)
	}
	for range max(len(c.simulated()), len(c.TLB)) + 1 {
		for i := range walks {
			misses, err := h.Misses(walks[i].Nest)
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
func (c Caches) whole(m simcache.Misses, lines float64) Misses {
	all := Misses{Levels: floats(m.Levels), TLB: floats(m.TLB)}
	if last := c.Levels[len(c.Levels)-1]; len(all.Levels) < len(c.Levels) {
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
