package lookup

import (
	"math/bits"
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// Observe is a set of observations.
type Observe uint8

// The observations: misses by cause, misses by set, touched bytes of lines.
const (
	Classes Observe = 1 << iota
	SetMisses
	UsedBytes
)

// A Watch observes levels of any kind. The engine calls Begin before each reference and Done after
// it. It calls Look for each lookup of a line, and Fill and Leave for each line that enters or
// leaves a level.
type Watch struct {
	of      []engine.Level
	levels  []sight
	grids   []*grid // the first level's first
	observe Observe
	serial  uint64 // number of the current reference
	reuses
}

// A grid maps all touched lines of one size to places. Its numbers are the serials of their last
// touches.
type grid struct {
	lines.Map
	shift     uint
	partShift uint           // log2 of the bytes for a bit of used.parts
	fingers   []lines.Finger // by operand
	block     uint64         // the last line asked for, plus one
	at        int            // its place
}

type sight struct {
	*grid
	sets          uint64
	shadow        shadow
	used          []used // with UsedBytes, by place
	leaving       lines.Finger
	setMisses     []uint64
	filled, bytes uint64               // bytes brought in, and bytes used
	classes       [conflict + 1]uint64 // misses

	askedAt, missedAt uint64 // serials of the last reference, and of the last that missed
	lost              uint64 // first absent line of that miss
	why               class  // its class
}

// A used has a bit for each 64th of a line in a level.
type used struct {
	parts uint64
	here  bool
}

// NewWatch returns an observer of levels.
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

func (w *Watch) reset() { *w = *NewWatch(w.of, w.observe) }

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

// Look records a lookup: whether the line is absent, and whether it is then fetched. A reference
// misses by its first absent line.
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

// Fill records a line that enters a level for an operand.
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

// Leave records a line that leaves a level.
func (w *Watch) Leave(level int, block uint64) {
	if w.observe&UsedBytes != 0 {
		s := &w.levels[level]
		s.used[s.Along(&s.leaving, block)].here = false
	}
}

// moved records the moves of a lookup.
func (w *Watch) moved(level, op int, block uint64, absent bool, v victim) {
	if v.is {
		w.Leave(level, v.block)
	}
	if absent {
		w.Fill(level, op, block)
	}
}

// Done ends a reference: its bytes are touched in all levels that hold them.
func (w *Watch) Done(op int, addr, size uint64) {
	if w.observe&UsedBytes != 0 {
		w.use(op, addr, size)
	}
	if w.observe&Classes != 0 {
		w.reuse(op, addr, size)
	}
}

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

func (s *sight) mark(u *used, parts uint64) {
	if fresh := parts &^ u.parts; u.here && fresh != 0 {
		s.bytes += uint64(bits.OnesCount64(fresh)) << s.partShift
		u.parts |= parts
	}
}

func (g *grid) partsOf(block, addr, size uint64) uint64 {
	start := max(addr, block<<g.shift)
	end := min(addr+size-1, block<<g.shift|(1<<g.shift-1))
	first, last := (start-block<<g.shift)>>g.partShift, (end-block<<g.shift)>>g.partShift
	return ^uint64(0) >> (63 - (last - first)) << first
}

// Besides adds a level's observations to an engine's counts.
func (w *Watch) Besides(level int, b *engine.Besides) {
	s := &w.levels[level]
	b.Compulsory, b.Capacity = s.classes[compulsory], s.classes[capacity]
	b.Conflict = s.classes[conflict]
	b.SetMisses = slices.Clone(s.setMisses)
	b.BytesFilled, b.BytesUsed = s.filled, s.bytes
	b.Reuses = w.list(level)
}

// A class is the cause of a miss.
type class int

const (
	compulsory class = iota
	capacity
	conflict
)

// A shadow is a fully associative LRU cache that remembers all lines it ever held, as an infinite
// cache would.
type shadow struct {
	most  int    // lines
	count int    // lines present
	nodes []link // the ends, then by place
}

// A link is a line's place in order of use. It is zero for a line never present; next is 0 for one
// that left.
type link struct{ before, next uint32 }

// ends is the node before the most recent line and after the least recent.
const ends = 1

// touch returns the class of a miss of the line at a place in a set-associative cache: conflict if
// the line is present here. If comes is false, an absent line leaves no trace.
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

func (s *shadow) front(at uint32) {
	first := s.nodes[ends].next
	s.nodes[at] = link{ends, first}
	s.nodes[first].before, s.nodes[ends].next = at, at
}

func (s *shadow) drop() {
	last := s.nodes[ends].before
	n := &s.nodes[last]
	s.nodes[n.before].next, s.nodes[ends].before = ends, n.before
	n.next = 0
	s.count--
}
