package simcache

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// sources are where single references come from, which are counted apart.
type sources struct {
	list    []source
	refs    []uint64 // by source: references that the totals do not have yet
	tracked int      // of them the engine has room for

	regions []uint64 // by slot, see regionBits
	region  uint64   // of the last reference
	toSlot  uint64   // what makes its addresses those of the slot
	moved   []engine.Reference

	recent  []uint64 // by set of the first level: the line that was accessed last, plus one
	isKnown bool     // that this is so: another access to it is a hit that changes nothing
	shift   uint     // log2 of the line
}

type source struct {
	kind   nest.Kind
	sort   int
	refs   uint64
	misses []uint64 // by level
}

// A Reference is one access of a source, of Size bytes at an address.
type Reference struct {
	Addr         uint64
	Source, Size int32
}

// NewSource returns the number of a source of references of one kind, such as a place in a
// program, for AccessAll: 0, 1 and so on.
func (h *Hierarchy) NewSource(kind nest.Kind) int {
	h.sources.list = append(h.sources.list,
		source{kind: kind, sort: engine.Sort(kind), misses: make([]uint64, len(h.config.Levels))})
	h.sources.refs = append(h.sources.refs, 0)
	return len(h.sources.list) - 1
}

// regionBits is log2 of a region of addresses, 64 GiB. A program uses few, far apart: the tags
// of its lines would be wide, which is slow. So a region is taken to lie in the next free slot,
// from address 0 on. No set changes by that, where set counts are powers of two. An access would
// have to be misaligned to lie in two regions: its end is then looked up in the next slot.
const regionBits = 36

// AccessAll simulates references of sources in their order, as Access does. Each source is
// counted apart too, see SourceCounts. It moves addresses, so that a hierarchy that takes these
// takes no others.
func (h *Hierarchy) AccessAll(refs []Reference) {
	if len(h.sources.list) > h.tracked {
		h.trackSources()
	}
	moved, counts, recent, shift := h.moved[:0], h.sources.refs, h.recent, h.shift&63
	region, toSlot := h.region, h.toSlot
	for _, r := range refs {
		if r.Addr>>regionBits != region {
			h.enter(r.Addr >> regionBits)
			region, toSlot = h.region, h.toSlot
		}
		counts[r.Source]++
		addr := r.Addr + toSlot
		line, last := addr>>shift+1, (addr+uint64(r.Size)-1)>>shift+1
		if recent[line&uint64(len(recent)-1)] == line && line == last {
			continue // it is the most recently used line of its set, and nothing changes
		}
		h.setRecent(line, last)
		moved = append(moved, engine.Reference{
			Addr: addr, Size: r.Size, Op: engine.Sorts + r.Source,
			Kind: h.sources.list[r.Source].kind})
	}
	h.moved = moved
	h.data.AddAll(moved)
	if h.tlb != nil {
		for i := range moved {
			moved[i].Op = int32(engine.Sort(moved[i].Kind))
		}
		h.tlb.AddAll(moved)
	}
}

// setRecent notes that lines were accessed.
func (h *Hierarchy) setRecent(first, last uint64) {
	if h.isKnown {
		for line := first; line <= last; line++ {
			h.recent[line&uint64(len(h.recent)-1)] = line
		}
	}
}

// enter moves the addresses of a region to its slot.
func (h *Hierarchy) enter(region uint64) {
	h.region = region
	if !h.movable() {
		return
	}
	if h.regions == nil {
		h.regions = []uint64{0}
	}
	slot := slices.Index(h.regions, region)
	if slot < 0 {
		slot = len(h.regions)
		h.regions = append(h.regions, region)
	}
	h.toSlot = (uint64(slot) - region) << regionBits
}

// movable reports whether addresses of a region may move by whole regions.
func (h *Hierarchy) movable() bool {
	levels := slices.Concat(h.config.Levels, PageLevels(h.config.TLB))
	return !slices.ContainsFunc(levels, func(l Level) bool {
		return !isPowerOfTwo(l.Geometry.Sets()) || l.Geometry.Sets()*l.Geometry.Line > 1<<regionBits
	})
}

// trackSources makes room for the sources that there are, and some.
func (h *Hierarchy) trackSources() {
	if h.tracked == 0 {
		first := h.config.Levels[0].Geometry
		h.isKnown = h.config.lone() && h.tlb == nil && isPowerOfTwo(first.Sets())
		h.recent, h.shift = make([]uint64, 1), uint(bits.TrailingZeros(uint(first.Line)))
		if h.isKnown {
			h.recent = make([]uint64, first.Sets())
		}
	}
	h.tally()
	h.tracked = max(len(h.sources.list), 2*h.tracked)
	h.data.Track(engine.Sorts + h.tracked)
}

// addRefs adds to totals what the sources refer to.
func (s *sources) addRefs(t *totals) {
	for i := range s.list {
		one := &s.list[i]
		one.refs += s.refs[i]
		t.refs[one.sort] += s.refs[i]
		s.refs[i] = 0
	}
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
