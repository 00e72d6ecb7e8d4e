package lookup

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// Observe is a set of what is observed beyond counts.
type Observe uint8

// What can be observed: misses by cause, misses by set, and bytes of lines that are touched.
const (
	Classes Observe = 1 << iota
	SetMisses
	UsedBytes
)

// A Watch observes levels of caches, of whatever kind. The engine that simulates them
// says what happens: Begin before each reference and Done after it, Look for each line that it
// looks up in a level, Fill and Leave for each line that comes to a level or leaves it.
type Watch struct {
	of      []engine.Level
	levels  []sight
	grids   []*grid // that of the first level first
	observe Observe
	serial  uint64 // number of the reference under way
	reuses
}

// A grid is the lines of one size that were ever touched, each of which has a place. Its
// numbers are the serials of the lines' last touches.
type grid struct {
	lines.Map
	shift     uint
	partShift uint           // log2 of the bytes that a bit of used.parts stands for
	fingers   []lines.Finger // by operand
	block     uint64         // one more than the line that was asked for last
	at        int            // its place
}

// A sight is what is known of a level.
type sight struct {
	*grid
	sets          uint64
	shadow        shadow
	used          []used // with UsedBytes, by place
	leaving       lines.Finger
	setMisses     []uint64
	filled, bytes uint64               // brought in, and used of them
	classes       [conflict + 1]uint64 // misses

	askedAt, missedAt uint64 // the reference that came last, and the one that missed last
	lost              uint64 // the first line that was absent of the latter
	why               class  // of it
}

// used are the parts of a line that were touched while it is in a level: a bit for each 64th.
type used struct {
	parts uint64
	here  bool
}

// NewWatch observes levels.
func NewWatch(levels []engine.Level, o Observe) *Watch {
	w := &Watch{of: levels, observe: o}
	for _, l := range levels {
		at := slices.IndexFunc(w.grids, func(g *grid) bool { return g.shift == l.Shift })
		if at < 0 {
			at = len(w.grids)
			w.grids = append(w.grids, &grid{shift: l.Shift, partShift: max(l.Shift, 6) - 6})
		}
		s := sight{grid: w.grids[at], sets: uint64(l.Sets)}
		s.shadow.most = l.Lines()
		if o&SetMisses != 0 {
			s.setMisses = make([]uint64, l.Sets)
		}
		w.levels = append(w.levels, s)
	}
	return w
}

// reset forgets all.
func (w *Watch) reset() { *w = *NewWatch(w.of, w.observe) }

// place is where a line is in the grid.
func (g *grid) place(op int, block uint64) int {
	if g.block == block+1 {
		return g.at
	}
	for op >= len(g.fingers) {
		g.fingers = append(g.fingers, lines.Finger{})
	}
	g.block, g.at = block+1, g.Along(&g.fingers[op], block)
	return g.at
}

// Begin starts a reference.
func (w *Watch) Begin() { w.serial++ }

// Look is told of a line that the reference looks up in a level, whether it is absent, and
// whether a line that is absent comes in. A reference misses by its first line that is absent.
func (w *Watch) Look(level, op int, block uint64, absent, comes bool) {
	s := &w.levels[level]
	s.askedAt = w.serial
	var why class
	if w.observe&Classes != 0 {
		why = s.shadow.touch(s.place(op, block), cap(s.Numbers), comes)
	}
	if !absent {
		return
	}
	if s.setMisses != nil {
		s.setMisses[block%s.sets]++
	}
	if s.missedAt != w.serial {
		s.missedAt, s.lost, s.why = w.serial, block, why
		if w.observe&Classes != 0 {
			s.classes[why]++
		}
	}
}

// Fill is told of a line that comes to a level for an operand.
func (w *Watch) Fill(level, op int, block uint64) {
	if w.observe&UsedBytes == 0 {
		return
	}
	s := &w.levels[level]
	place := s.place(op, block)
	if len(s.used) < cap(s.Numbers) {
		s.used = append(s.used, make([]used, cap(s.Numbers)-len(s.used))...)
	}
	s.used[place] = used{here: true}
	s.filled += 1 << s.shift
}

// Leave is told of a line that leaves a level.
func (w *Watch) Leave(level int, block uint64) {
	if w.observe&UsedBytes != 0 {
		s := &w.levels[level]
		s.used[s.Along(&s.leaving, block)].here = false
	}
}

// moved is told of what a look-up of a block moved.
func (w *Watch) moved(level, op int, block uint64, absent bool, v victim) {
	if v.is {
		w.Leave(level, v.block)
	}
	if absent {
		w.Fill(level, op, block)
	}
}

// Done ends a reference, whose bytes are touched in all levels that have them.
func (w *Watch) Done(op int, addr, size uint64) {
	if w.observe&UsedBytes != 0 {
		w.use(op, addr, size)
	}
	if w.observe&Classes != 0 {
		w.reuse(op, addr, size)
	}
}

// use marks bytes in the lines that hold them.
func (w *Watch) use(op int, addr, size uint64) {
	for _, g := range w.grids {
		for block := addr >> g.shift; block <= (addr+size-1)>>g.shift; block++ {
			place, parts := g.place(op, block), g.partsOf(block, addr, size)
			for i := range w.levels {
				if s := &w.levels[i]; s.grid == g && place < len(s.used) {
					s.mark(&s.used[place], parts)
				}
			}
		}
	}
}

// mark marks parts of a line that is in the level.
func (s *sight) mark(u *used, parts uint64) {
	if fresh := parts &^ u.parts; u.here && fresh != 0 {
		s.bytes += uint64(bits.OnesCount64(fresh)) << s.partShift
		u.parts |= parts
	}
}

// partsOf are the parts of a block that bytes lie in.
func (g *grid) partsOf(block, addr, size uint64) uint64 {
	start := max(addr, block<<g.shift)
	end := min(addr+size-1, block<<g.shift|(1<<g.shift-1))
	first, last := (start-block<<g.shift)>>g.partShift, (end-block<<g.shift)>>g.partShift
	return ^uint64(0) >> (63 - (last - first)) << first
}

// Besides adds to what an engine counted what was observed at a level.
func (w *Watch) Besides(level int, b *engine.Besides) {
	s := &w.levels[level]
	b.Compulsory, b.Capacity = s.classes[compulsory], s.classes[capacity]
	b.Conflict = s.classes[conflict]
	b.SetMisses = slices.Clone(s.setMisses)
	b.BytesFilled, b.BytesUsed = s.filled, s.bytes
	b.Reuses = w.list(level)
}

// A class is why a line is absent.
type class int

const (
	compulsory class = iota
	capacity
	conflict
)

// A shadow is a fully associative LRU cache, with the memory of all lines that
// it ever held: those that a cache without end holds.
type shadow struct {
	most  int    // lines
	count int    // lines that are here
	nodes []link // the ends, and then by place
}

// A link is a line's in the order of use, from the ends to the most recent one and back. Of
// one that never was here it is zero; of one that left, next is 0.
type link struct{ before, next uint32 }

// ends is the node that the most recent line follows, and that follows the least recent.
const ends = 1

// touch looks up the line at a place, of so many, and says why it would be absent from a
// cache with sets: conflict, if it is here. It comes in if it may; one that may not was
// not here for having been asked for.
func (s *shadow) touch(place, places int, comes bool) class {
	if len(s.nodes) < places+ends+1 {
		more := make([]link, places+ends+1)
		more[ends] = link{ends, ends}
		copy(more, s.nodes)
		s.nodes = more
	}
	at := uint32(place + ends + 1)
	n := s.nodes[at]
	switch {
	case s.nodes[ends].next == at:
		return conflict
	case n.next != 0:
		s.nodes[n.before].next, s.nodes[n.next].before = n.next, n.before
		s.front(at)
		return conflict
	case comes:
		s.front(at)
		if s.count++; s.count > s.most {
			s.drop()
		}
	}
	if n.before != 0 {
		return capacity
	}
	return compulsory
}

// front makes a node the most recent.
func (s *shadow) front(at uint32) {
	first := s.nodes[ends].next
	s.nodes[at] = link{ends, first}
	s.nodes[first].before, s.nodes[ends].next = at, at
}

// drop has the least recent line leave.
func (s *shadow) drop() {
	last := s.nodes[ends].before
	n := &s.nodes[last]
	s.nodes[n.before].next, s.nodes[ends].before = ends, n.before
	n.next = 0
	s.count--
}
