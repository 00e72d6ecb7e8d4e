package simcache

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
)

type sources struct {
	list    []source
	refs    []uint64 // by source: references not yet in the totals
	tracked int      // number for which the engine has room

	regions []uint64 // by slot, see regionBits
	region  uint64   // of the last reference
	toSlot  uint64   // moves addresses to the slot
	moved   []engine.Reference

	recent  []uint64 // by set of the first level: the last accessed line, plus one
	isKnown bool     // recent is valid: another access to such a line hits and changes nothing
	shift   uint     // log2 of the line size
}

type source struct {
	kind   nest.Kind
	sort   int
	refs   uint64
	misses []uint64 // by level
}

// A Reference is one access of a source, of Size bytes at Addr.
type Reference struct {
	Addr         uint64
	Source, Size int32
}

// NewSource returns the number, from 0 on, of a new source of references for AccessAll, such as a
// place in a program.
func (h *Hierarchy) NewSource(kind nest.Kind) int {
	h.sources.list = append(h.sources.list,
		source{kind: kind, sort: engine.Sort(kind), misses: make([]uint64, len(h.config.Levels))})
	h.sources.refs = append(h.sources.refs, 0)
	return len(h.sources.list) - 1
}

// regionBits is log2 of a region of addresses, 64 GiB. A program uses few regions, far apart, which
// would require wide and slow tags. So regions are mapped to consecutive slots from address 0. With
// powers of two of sets this changes no set. Only a misaligned access can span two regions; its end
// is looked up in the next slot.
const regionBits = 36

// AccessAll simulates references of sources in order, as Access does, and counts each source
// separately, see SourceCounts. It moves addresses, so such a hierarchy must take no other
// references.
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
			continue // it is the most recently used line of its set: nothing changes
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

func (h *Hierarchy) setRecent(first, last uint64) {
	if h.isKnown {
		for line := first; line <= last; line++ {
			h.recent[line&uint64(len(h.recent)-1)] = line
		}
	}
}

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

func (h *Hierarchy) movable() bool {
	levels := slices.Concat(h.config.Levels, PageLevels(h.config.TLB))
	return !slices.ContainsFunc(levels, func(l Level) bool {
		return !isPowerOfTwo(l.Geometry.Sets()) || l.Geometry.Sets()*l.Geometry.Line > 1<<regionBits
	})
}

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

func (s *sources) addRefs(t *totals) {
	for i := range s.list {
		one := &s.list[i]
		one.refs += s.refs[i]
		t.refs[one.sort] += s.refs[i]
		s.refs[i] = 0
	}
}

// SourceCounts returns each source's counts so far, of first and last level.
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
