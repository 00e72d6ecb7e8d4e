package simcache

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// sources are where single references come from, which are counted apart.
type sources struct {
	list    []source
	tracked int // of them the engine has room for
}

type source struct {
	kind   nest.Kind
	sort   int
	refs   uint64
	misses []uint64 // by level
}

// NewSource returns the number of a source of references of one kind, such as a place in a
// program, for AccessOf: 0, 1 and so on.
func (h *Hierarchy) NewSource(kind nest.Kind) int {
	h.sources.list = append(h.sources.list,
		source{kind: kind, sort: engine.Sort(kind), misses: make([]uint64, len(h.config.Levels))})
	return len(h.sources.list) - 1
}

// AccessOf is Access by a source, which is counted apart too, see SourceCounts.
func (h *Hierarchy) AccessOf(source int, addr uint64, size int) {
	if source >= h.tracked {
		h.trackSources()
	}
	s := &h.sources.list[source]
	s.refs++
	h.total.refs[s.sort]++
	h.data.Add(engine.Sorts+source, addr, uint64(size), s.kind)
	if h.tlb != nil {
		h.tlb.Add(s.sort, addr, uint64(size), s.kind)
	}
}

// trackSources makes room for the sources that there are, and some.
func (h *Hierarchy) trackSources() {
	h.tally()
	h.tracked = max(len(h.sources.list), 2*h.tracked)
	h.data.Track(engine.Sorts + h.tracked)
}

// SourceCounts returns what each source has counted so far, of the first level and of the last.
func (h *Hierarchy) SourceCounts() []Counts {
	h.tally()
	all := make([]Counts, len(h.sources.list))
	for i, s := range h.sources.list {
		c, first, last := &all[i], s.misses[0], s.misses[len(s.misses)-1]
		if s.sort == engine.Stores {
			c.Dw, c.D1mw, c.DLmw = s.refs, first, last
		} else {
			c.Dr, c.D1mr, c.DLmr = s.refs, first, last
		}
	}
	return all
}
