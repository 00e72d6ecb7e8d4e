package cost

import (
	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
)

// Count returns the misses of a pass over the pattern, for Price. It walks the nests one after the
// other, in the steady state, on LRU caches with the model's sizes, ways and lines.
//
// Count samples nests with more accesses than the window, in the outermost loop with enough
// iterations in the window. Some iterations warm the caches, and as many more are counted and
// extrapolated. Their number is a multiple of the period in which every operand starts a new line.
// Reuse around the sample and across passes follows from footprints: as under LRU, a level hits if
// a round of the loop touches no more lines than it holds. Measured shares replace LRU for working
// sets about as large as a level.
//
// The last of three or more levels counts by footprint alone. Many CPUs choose its sets by a hash
// of the address, so strides cause no conflict sets (Maurice et al., "Reverse Engineering Intel
// Last-Level Cache Complex Addressing", RAID 2015).
func (m Model) Count(p access.Pattern) ([]Counted, error) {
	c := cachesOf(m.Caches)
	if m.Window > 0 {
		c.window = max(m.Window, LeastWindow)
	}
	if m.Times.Ladder != nil {
		c.missing = m.missing
	}
	walks, sampled, err := c.count(p.Nests)
	if err != nil || m.Times.Ladder == nil || !m.has("served") {
		return walks, err
	}
	levels := m.Caches.Levels
	if sampled { // sampled nests include the hashed level already
		levels = levels[:simulated(levels)]
	}
	for i, l := range levels {
		m.serve(walks, i, l)
	}
	return walks, nil
}

// serve takes the measured share of misses for level i: of all its misses if the pass is larger
// than the level, and else of the lines that the level before misses.
func (m Model) serve(walks []Counted, i int, l simcache.Level) {
	bytes := 0.0
	for _, w := range walks {
		bytes += footprint(w.Nest, l.Line) * float64(l.Line)
	}
	share, known := m.missing(i, bytes)
	if !known {
		return
	}
	for _, w := range walks {
		for _, r := range w.Misses {
			if bytes > float64(l.Size) {
				r.Levels[i] *= share
			} else if i > 0 {
				r.Levels[i] = max(r.Levels[i], share*r.Levels[i-1])
			}
		}
	}
}
