package policies

import (
	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// A watch observes levels that know nothing of each other: of each line that was ever referred to
// it knows where it is in every level, so that no set is searched. All levels have lines of one
// size, keep stores where they come first, and have nothing beside them.
type watch struct {
	*Engine
	known   lines.Map // of each line, the serial of its last reference
	along   []along   // by operand
	at      glance    // the reference under way
	copies  []held    // by place in known, and level
	levels  []*watched
	repeats repeats
	log     *pass         // of what is filled, if that is kept
	nearest [][]reuseSlot // by operand of what is walked, its slots at the first level; nil if there are none
}

// A held line is what a level knows of a line.
type held struct {
	parts uint64 // as in cache.parts
	way   int32  // one more than its way; 0 if it is absent
	turn  uint32 // where the shadow's queue has it last; 0 if it was never here, or left
}

// An along is where an operand was last.
type along struct {
	finger lines.Finger
	line   uint64 // one more than it; 0 for nowhere
	place  int
}

// A watched level is a cache that has its lines in held. Its shadow is a queue of touches: the lines
// that are here are those of the last touches of different lines.
type watched struct {
	*cache
	ranks   *ranked  // the policy, if it is this one
	inWay   []uint32 // the place of the line in each way
	classes bool     // its shadow is asked
	bytes   bool     // parts are marked
	queue   []uint32 // places of lines, by turn; a turn counts if it is the line's last
	head    uint32   // the first turn that may count
	inside  int      // lines of which a turn counts
}

// queues is how many times as long as the lines of a level its queue becomes.
const queues = 4

// newWatch makes a watch of levels that are observed so, or nil.
func (d *Engine) newWatch(o Observe) *watch {
	w := &watch{Engine: d}
	for _, l := range d.levels {
		if o == 0 || l.shift != d.levels[0].shift || !l.alone() {
			return nil
		}
	}
	for _, l := range d.levels {
		l.tags, l.marks, l.parts, l.shadow, l.near = nil, nil, nil, nil, nil
		level := &watched{cache: l, inWay: make([]uint32, l.Lines()), classes: o&Classes != 0, bytes: o&UsedBytes != 0, queue: make([]uint32, left+1), head: left + 1}
		level.ranks, _ = l.policy.(*ranked)
		w.levels = append(w.levels, level)
	}
	return w
}

// alone reports whether a level does nothing but look lines up, in itself, and fetch and write them back.
func (c *cache) alone() bool {
	return c.Tie == Untied && !c.WriteThrough && !c.NoWriteAllocate && c.victims == nil && c.prefetcher == nil
}

// A glance is a reference to a line, or several, on its way through the levels.
type glance struct {
	op     int
	first  uint64 // the lowest line
	places []int  // in known, of it and those after it
	quiet  bool   // the store of a modify: no reference
}

// add is Engine.Add.
func (w *watch) add(op int, addr, size uint64, kind nest.Kind) {
	w.serial++
	g := w.glance(op, addr, size)
	if h := &w.copies[g.places[0]*len(w.levels)]; h.way > 0 && len(g.places) == 1 && kind != nest.Modify && !w.dirty {
		w.hit(op, addr, size, h)
		return
	}
	before := w.known.Numbers[g.places[0]] // early, as it is fetched from afar
	if store := kind == nest.Write && w.dirty; len(g.places) == 1 {
		w.one(0, g, store)
	} else {
		w.reference(0, g, store)
	}
	if kind == nest.Modify {
		g.quiet = true
		w.reference(0, g, w.dirty)
		g.quiet = false
	}
	first := w.levels[0]
	if first.bytes {
		for i, place := range g.places {
			w.use(place, first.partsOf(g.first+uint64(i), addr, size))
		}
	}
	if len(g.places) > 1 && first.missedAt == w.serial { // it is told of the line that was lost
		before = w.known.Numbers[g.places[first.lost-g.first]]
	}
	for _, place := range g.places {
		w.known.Numbers[place] = w.serial
	}
	if w.reuses != nil {
		w.reuses.note(w.Engine, op, before)
	}
}

// hit is add of a reference to one line that is in the first level, which then is all that is asked, as most are.
func (w *watch) hit(op int, addr, size uint64, h *held) {
	l, place := w.levels[0], w.at.places[0]
	before := w.known.Numbers[place]
	w.known.Numbers[place] = w.serial
	l.absent, l.askedAt = noClass, w.serial
	if l.classes && h.turn != uint32(len(l.queue)-1) {
		w.queued(0, uint32(place), h)
	}
	set, way := l.set(w.at.first), int(h.way-1)
	switch {
	case l.ranks == nil:
		l.policy.touch(set, way)
	case l.ranks.ranks[set]&15 != uint64(way): // else it is the last one touched
		l.ranks.touch(set, way)
	}
	if l.bytes {
		w.use(place, l.partsOf(w.at.first, addr, size))
	}
	if w.nearest != nil {
		w.reuses.noteHit(w.nearest[op], before, w.serial)
	}
}

// descend is Engine.Descend.
func (w *watch) descend(op int, addr, size uint64) {
	w.serial++
	w.misses[0][op]++
	g := w.glance(op, addr, size)
	w.reference(1, g, false)
}

// glance finds the lines of a reference.
func (w *watch) glance(op int, addr, size uint64) *glance {
	for op >= len(w.along) {
		w.along = append(w.along, along{})
	}
	g, shift := &w.at, w.levels[0].shift
	g.op, g.first = op, addr>>shift
	g.places = g.places[:0]
	more := (addr+size-1)>>shift - g.first
	a := &w.along[op]
	if more == 0 && a.line == g.first+1 {
		g.places = append(g.places, a.place)
		return g
	}
	for i := range more + 1 {
		g.places = append(g.places, w.known.Along(&a.finger, g.first+i))
	}
	a.line, a.place = g.first+1, g.places[0]
	if len(w.known.Numbers)*len(w.levels) > len(w.copies) {
		more := make([]held, cap(w.known.Numbers)*len(w.levels))
		copy(more, w.copies)
		w.copies = more
	}
	return g
}

// use marks parts of a line in all levels where it is.
func (w *watch) use(place int, parts uint64) {
	for i := range w.levels {
		if h := &w.copies[place*len(w.levels)+i]; h.way > 0 {
			h.parts |= parts
		}
	}
}

// reference is Engine.reference.
func (w *watch) reference(level int, g *glance, store bool) {
	if level == len(w.levels) {
		return
	}
	l := w.levels[level]
	l.absent = noClass
	if !g.quiet {
		l.askedAt = w.serial
	}
	var waiting [2]uint32
	missed, gone := false, waiting[:0] // places of lines on their way out, once the next level has been asked
	for i, place := range g.places {
		block := g.first + uint64(i)
		h := &w.copies[place*len(w.levels)+level]
		why := noClass
		if l.classes { // a store of a modify finds what the read left, and changes nothing
			why = w.queued(level, uint32(place), h)
		}
		set := l.set(block)
		if h.way > 0 {
			way := int(h.way - 1)
			l.touch(set, way)
			if store {
				l.lines[set*l.Ways+way].dirty = true
			}
			continue
		}
		missed = true
		l.miss(block, g.quiet, why)
		l.counts.BytesIn += 1 << l.shift
		if out, dirty := w.fill(level, block, uint32(place), store); dirty {
			gone = append(gone, out)
		}
	}
	if !missed {
		return
	}
	w.miss(level, request{op: g.op, quiet: g.quiet})
	w.reference(level+1, g, false)
	for _, out := range gone {
		w.putBack(level, out)
	}
}

// one is reference for one line, and no store of a modify, as nearly all are: level by level, and without what other lines
// need, --explain takes a twentieth less.
func (w *watch) one(level int, g *glance, store bool) {
	place := g.places[0]
	for ; level < len(w.levels); level++ {
		l, h := w.levels[level], &w.copies[place*len(w.levels)+level]
		l.absent, l.askedAt = noClass, w.serial
		why := noClass
		if l.classes {
			why = w.queued(level, uint32(place), h)
		}
		if h.way > 0 {
			set, way := l.set(g.first), int(h.way-1)
			l.touch(set, way)
			if store {
				l.lines[set*l.Ways+way].dirty = true
			}
			return
		}
		l.miss(g.first, false, why)
		l.counts.BytesIn += 1 << l.shift
		out, dirty := w.fill(level, g.first, uint32(place), store)
		w.miss(level, request{op: g.op})
		if dirty {
			w.one(level+1, g, false)
			w.putBack(level, out)
			return
		}
		store = false
	}
}

// touch is Policy.touch.
func (l *watched) touch(set, way int) {
	if l.ranks != nil {
		l.ranks.touch(set, way)
		return
	}
	l.policy.touch(set, way)
}

// fill puts a line into a level, and returns the one that had to go for it, if that is to be
// written back.
func (w *watch) fill(level int, block uint64, place uint32, store bool) (out uint32, dirty bool) {
	l := w.levels[level]
	set, way := l.set(block), 0
	if full := l.live[set] == int32(l.Ways); full {
		way = l.policy.victim(set)
		at := set*l.Ways + way
		out, dirty = l.inWay[at], l.lines[at].dirty
		h := &w.copies[int(out)*len(w.levels)+level]
		l.retired++
		l.used += l.usedBytes(h.parts)
		h.parts, h.way = 0, 0
	} else {
		way = int(l.live[set])
		l.live[set]++
	}
	at := set*l.Ways + way
	l.inWay[at], l.lines[at] = place, line{dirty: store}
	w.copies[int(place)*len(w.levels)+level].way = int32(way + 1)
	l.policy.filled(set, way)
	if w.log != nil {
		w.filled(level, place)
	}
	return out, dirty
}

// putBack writes a line that left a level back to the next.
func (w *watch) putBack(level int, place uint32) {
	l := w.levels[level]
	l.counts.WriteBacks++
	l.counts.BytesOut += 1 << l.shift
	if level++; level == len(w.levels) {
		return
	}
	l = w.levels[level]
	block := w.known.Line(int(place))
	if h := &w.copies[int(place)*len(w.levels)+level]; h.way > 0 {
		set, way := l.set(block), int(h.way-1)
		l.touch(set, way)
		l.lines[set*l.Ways+way].dirty = true
		return
	}
	if out, dirty := w.fill(level, block, place, true); dirty {
		w.putBack(level, out)
	}
}

// queued is shadow.touch.
func (w *watch) queued(level int, place uint32, h *held) class {
	l, before := w.levels[level], h.turn
	if before == uint32(len(l.queue)-1) { // twice in a row
		return conflict
	}
	if len(l.queue) > queues*max(l.Lines(), lines.Page)+left {
		w.shorten(level)
	}
	h.turn = uint32(len(l.queue))
	l.queue = append(l.queue, place)
	if before > left {
		return conflict
	}
	if l.inside++; l.inside > l.Lines() {
		w.drop(level)
	}
	if before == left {
		return capacity
	}
	return compulsory
}

// drop has the line that was touched longest ago leave the shadow.
func (w *watch) drop(level int) {
	l := w.levels[level]
	for {
		h := &w.copies[int(l.queue[l.head])*len(w.levels)+level]
		l.head++
		if h.turn == l.head-1 {
			h.turn = left
			l.inside--
			return
		}
	}
}

// shorten leaves in the queue only the turns that count.
func (w *watch) shorten(level int) {
	l := w.levels[level]
	to := uint32(left + 1)
	for turn := l.head; turn < uint32(len(l.queue)); turn++ {
		place := l.queue[turn]
		if h := &w.copies[int(place)*len(w.levels)+level]; h.turn == turn {
			h.turn = to
			l.queue[to] = place
			to++
		}
	}
	l.queue, l.head = l.queue[:to], left+1
}

// besides is cache.besides.
func (w *watch) besides(level int) engine.Besides {
	l := w.levels[level]
	counts := l.besides()
	if !l.bytes {
		return counts
	}
	filled, used := l.retired, l.used
	for set, live := range l.live {
		for _, place := range l.inWay[set*l.Ways:][:live] {
			filled++
			used += l.usedBytes(w.copies[int(place)*len(w.levels)+level].parts)
		}
	}
	counts.BytesFilled, counts.BytesUsed = filled<<l.shift, used
	return counts
}
