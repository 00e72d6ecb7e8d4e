package cost

import (
	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/simcache"
)

// Count counts what a pass over the pattern misses, for Price: its nests, walked one
// after the other, in the steady state, on caches of the model's sizes, ways and
// lines, all LRU.
//
// Nests of more accesses than a window are not walked whole. Of the outermost
// loop of which enough iterations fit in the window, some are walked to warm the
// caches and as many more are counted, in multiples of what it takes until every
// operand starts a line anew; they speak for all iterations. What the loops
// around it find again, and what the pass finds of the pass before, follows from
// footprints: lines are found again in a level if one round of the loop touches
// no more lines than the level has room for, as under LRU; less what a level was
// measured to serve of working sets that are a little too large.
//
// The last of three or more levels counts by footprint alone: its sets are
// chosen by a hash of the address on the CPUs that have one (Maurice et al.,
// "Reverse Engineering Intel Last-Level Cache Complex Addressing", RAID 2015), so
// that it has no sets that a stride could crowd.
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
	if sampled { // which have what the hashed level serves
		levels = levels[:simulated(levels)]
	}
	for i, l := range levels {
		m.serve(walks, i, l)
	}
	return walks, nil
}

// serve takes off the misses of walks what level i serves of them, though LRU would not, where a
// pass misses each of its lines about once, since it goes over more than the level has.
func (m Model) serve(walks []Counted, i int, l simcache.Level) {
	lines, missed := 0.0, 0.0
	for _, w := range walks {
		lines += footprint(w.Nest, l.Line)
		for _, r := range w.Misses {
			missed += r.Levels[i]
		}
	}
	bytes := lines * float64(l.Line)
	share, known := m.missing(i, bytes)
	if !known || bytes <= float64(l.Size) || missed > onceEach*lines {
		return
	}
	for _, w := range walks {
		for _, r := range w.Misses {
			r.Levels[i] *= share
		}
	}
}

// onceEach is how often a line is missed at most that is missed once, about.
const onceEach = 1.05
