package cost

import (
	"errors"
	"slices"
	"sync"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// caches are what is simulated for a prediction: of a configuration sizes, ways
// and lines, all LRU.
type caches struct {
	levels []simcache.Level // the nearest first, at least one
	tlb    []simcache.TLB   // may be empty
	window int              // the number of accesses up to which a nest is simulated whole
	crowds bool             // the hashed level's sets follow from the place in a page

	// missing is the share of what comes again after so many bytes that a level was measured to miss; nil or
	// not known is what LRU does.
	missing func(level int, bytes float64) (share float64, known bool)
}

func cachesOf(c simcache.Config) caches {
	all := caches{tlb: c.TLB, window: DefaultWindow}
	for _, l := range c.Levels {
		all.levels = append(all.levels, simcache.Level{Name: l.Name, Geometry: l.Geometry, Modulo: l.Modulo})
	}
	return all
}

// placed is a cache as addresses of a program find it. Beyond the lines of a page its sets are
// chosen by the physical address, and pages lie wherever the system found room, so that a stride
// of pages does not crowd them: lines at one offset in their pages have those of all pages
// (Kessler and Hill, "Page Placement Algorithms for Large Real-Indexed Caches", ACM TOCS 1992).
func placed(g simcache.Geometry, tlb []simcache.TLB) simcache.Geometry {
	if len(tlb) == 0 {
		return g
	}
	lines := max(tlb[0].Page/g.Line, 1)
	if g.Sets() <= lines || g.Sets()%lines != 0 {
		return g
	}
	return simcache.Geometry{Size: g.Size, Ways: g.Sets() / lines * g.Ways, Line: g.Line}
}

// placedFor are the caches with levels as the nests of walks find them, if steps of one of their loops
// would crowd sets by their addresses. Others find about the same in sets of fewer ways, which take less
// time to simulate.
func (c caches) placedFor(walks []Counted) caches {
	levels := slices.Clone(c.levels)
	for i, l := range c.simulated() {
		g := placed(l.Geometry, c.tlb)
		if slices.ContainsFunc(walks, func(w Counted) bool { return crowding(w.Nest, l.Geometry, g) }) {
			levels[i].Geometry = g
		}
	}
	c.levels = levels
	return c
}

// crowding tells whether steps of some loop reach less of a cache by their addresses than as it is placed.
func crowding(n nest.Nest, g, placed simcache.Geometry) bool {
	for l := range n.Trips {
		for _, op := range n.Operands {
			trips := n.Trips[l : l+1]
			op.Strides = op.Strides[l : l+1]
			if room(op, trips, g.Line, g.Sets(), g.Ways) < room(op, trips, g.Line, placed.Sets(), placed.Ways) {
				return true
			}
		}
	}
	return false
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

// DefaultWindow is the number of accesses up to which a nest is simulated whole,
// where a Model has no other, and LeastWindow the least that it may have.
const (
	DefaultWindow = 1 << 18
	LeastWindow   = 1 << 13
)

// part is about how many accesses are counted of a nest that is not simulated whole.
func (c caches) part() int { return c.window / 16 }

// A tally is what nests were simulated to miss, before what a level was measured to serve.
type tally struct {
	caches
	walks []Counted
	parts []part    // that speak for the walks, where these were not walked whole
	all   []float64 // blocks of each place that a pass touches
}

// count simulates nests.
func (c caches) count(nests []nest.Nest) (tally, error) {
	if len(c.levels) == 0 {
		return tally{}, errors.New("no caches to simulate")
	}
	t := tally{caches: c}
	whole := 0
	for _, n := range nests {
		t.walks = append(t.walks, Counted{Nest: looped(n.Canonical())})
		whole = min(whole+accesses(n, 0), most)
	}
	t.caches = c.placedFor(t.walks)
	if c.window < DefaultWindow && streams(t.walks) {
		t.stream(t.walks, t.pass(t.walks))
		return t, nil
	}
	if whole <= c.window {
		return t, t.exact(t.walks)
	}
	t.all = t.pass(t.walks)
	for _, w := range t.walks {
		p, err := t.sample(w.Nest)
		if err != nil {
			return tally{}, err
		}
		t.parts = append(t.parts, p)
	}
	return t, nil
}

// counted are the walks and what they miss, of the hashed level what it was measured to where they were sampled. They are the caller's.
func (t tally) counted() []Counted {
	walks := slices.Clone(t.walks)
	for i, w := range walks {
		if t.parts != nil {
			walks[i].Misses = t.scaled(w.Nest, t.parts[i], t.all)
			continue
		}
		walks[i].Misses = slices.Clone(w.Misses)
		for r, m := range w.Misses {
			walks[i].Misses[r] = Misses{slices.Clone(m.Levels), slices.Clone(m.TLB)}
		}
	}
	return walks
}

// streams tells whether the nests are single loops over what lies side by side.
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

// stream counts streams without a simulation: all lines of a pass are missed where
// they are more than a level has, as under LRU.
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
					missed[k] = n.Operands[r].Lines(n.Trips, p.block)
				}
			}
			walks[i].Misses[r] = Misses{missed[:len(c.levels)], missed[len(c.levels):]}
		}
	}
}

// looped is a nest with a loop: one of one trip where it has none, as beside a nest
// that is sampled.
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

// simulated is how many levels are looked up; a hashed one is not.
func simulated(levels []simcache.Level) int {
	if len(levels) > 2 {
		return len(levels) - 1
	}
	return len(levels)
}

// simulated are the levels that are looked up.
func (c caches) simulated() []simcache.Level { return c.levels[:simulated(c.levels)] }

// An idle hierarchy is one that was used: its memory is worth keeping where one pattern
// after the other is priced.
type idle struct {
	levels    []simcache.Level
	tlb       []simcache.TLB
	hierarchy *simcache.Hierarchy
}

var idles sync.Pool // of *idle

// hierarchy is an empty one, to be released.
func (c caches) hierarchy() (*idle, error) {
	if h, is := idles.Get().(*idle); is && slices.Equal(h.levels, c.simulated()) && slices.Equal(h.tlb, c.tlb) {
		h.hierarchy.Reset()
		return h, nil
	}
	h, err := simcache.NewHierarchy(simcache.Config{Levels: c.simulated(), TLB: c.tlb})
	return &idle{c.simulated(), c.tlb, h}, err
}

// exact walks the nests until all further passes are alike, and counts the last.
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
				op := walks[i].Nest.Operands[r]
				crowded := last.hashed && op.Lines(walks[i].Nest.Trips, last.block) > last.room(op, walks[i].Nest.Trips)
				walks[i].Misses[r] = c.whole(m, crowded || lines > last.blocks())
			}
		}
	}
	return nil
}

// whole are simulated misses, and those of the hashed level: all of the level
// before where the pass touches more lines than it has room for.
func (c caches) whole(m simcache.Misses, more bool) Misses {
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
