package cost

import (
	"math"
	"sort"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/layouts/nest"
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
//
// How much the last of three or more levels serves of these depends on how soon a pass comes again, and that on how much it serves: what is
// counted first is what a pass as slow as a chase misses, then what one misses that takes as long as that.
func (m Model) Count(p access.Pattern) ([]Counted, error) {
	c := cachesOf(m.Caches)
	if m.Window > 0 {
		c.window = max(m.Window, LeastWindow)
	}
	c.crowds = m.Times.Crowds
	again := m.again(p)
	if m.Times.Ladder != nil {
		c.missing = again.missing
	}
	t, err := c.count(p.Nests)
	if err != nil {
		return nil, err
	}
	levels := len(m.Caches.Levels)
	if t.parts != nil { // which have what the hashed level serves
		levels = simulated(m.Caches.Levels)
	}
	for rounds := 0; ; rounds++ {
		walks := t.counted()
		m.translated(walks)
		walks = m.served(walks, levels, again.missing)
		if rounds == mostRounds || !again.paced(m.Price(p, walks)) {
			return walks, nil
		}
	}
}

// translated takes off the misses of the last level of the TLB what it translates of rounds that go over a few more
// pages than it has, of which LRU would translate none, and adds what it misses of rounds that nearly fill it.
func (m Model) translated(walks []Counted) {
	i := len(m.Caches.TLB) - 1
	if i < 0 || i >= len(m.Times.Walks) {
		return
	}
	t := m.Caches.TLB[i]
	for _, w := range walks {
		touched := footprintsOf(w.Nest)
		l := len(w.Nest.Trips)
		for l > 0 && touched.of(l, t.Page) <= float64(t.Entries) {
			l--
		}
		m.nearlyFull(w, touched)
		share, known := m.Times.untranslated(i, touched.of(l, t.Page), t.Entries)
		if !known || touched.of(l, t.Page) <= float64(t.Entries) {
			continue
		}
		for r, op := range w.Nest.Operands {
			op.Strides = op.Strides[l:]
			if room(op, w.Nest.Trips[l:], t.Page, t.Entries/t.Ways, t.Ways) >= float64(t.Entries) {
				w.Misses[r].TLB[i] *= share
			}
		}
	}
}

// nearlyFull adds what the last level of the TLB misses of the innermost rounds that go over more than half as many pages
// as it has entries, but over no more: of these it was measured to miss some.
func (m Model) nearlyFull(w Counted, touched *footprints) {
	i := len(m.Caches.TLB) - 1
	t := m.Caches.TLB[i]
	l := len(w.Nest.Trips)
	for l > 0 && touched.of(l, t.Page) <= float64(t.Entries)/2 {
		l--
	}
	share, known := m.Times.untranslated(i, touched.of(l, t.Page), t.Entries)
	if i == 0 || !known || touched.of(l, t.Page) > float64(t.Entries) {
		return
	}
	rounds := 1.0
	for _, n := range w.Nest.Trips[:l] {
		rounds *= float64(n)
	}
	for r, op := range w.Nest.Operands {
		op.Strides = op.Strides[l:]
		if room(op, w.Nest.Trips[l:], t.Page, t.Entries/t.Ways, t.Ways) >= float64(t.Entries) {
			missed := w.Misses[r].TLB
			missed[i] = max(missed[i], share*min(missed[i-1], rounds*op.Lines(w.Nest.Trips[l:], t.Page)))
		}
	}
}

// untranslated is the share of the translations that level i of the TLB was measured to miss of rounds over so many
// pages, which are about as many as it has.
func (t Times) untranslated(i int, pages float64, entries int) (share float64, known bool) {
	ns, known := at(t.Pages, pages)
	if !known || pages <= float64(entries)/2 || pages > 2*float64(entries) {
		return 0, false
	}
	base, _ := at(t.Pages, float64(entries)/2)
	return min(1, max(0, ns-base)/t.Walks[i]), true
}

// at is the time of a ladder at a size between two of its points.
func at(ladder []probe.Point, size float64) (ns float64, known bool) {
	k := sort.Search(len(ladder), func(k int) bool { return float64(ladder[k].Size) >= size })
	if k == 0 || k == len(ladder) {
		return 0, false
	}
	below, above := ladder[k-1], ladder[k]
	part := math.Log(size/float64(below.Size)) / math.Log(float64(above.Size)/float64(below.Size))
	return below.Ns + part*(above.Ns-below.Ns), true
}

// served are the misses of walks of which a level serves some, though LRU would not, where
// a pass misses each of its lines about once, since it goes over more than the level has; and of
// which it does not serve some, though LRU would, where a pass nearly fills it; for so many levels.
func (m Model) served(walks []Counted, levels int, measured func(i int, bytes float64) (share float64, known bool)) []Counted {
	if m.Times.Ladder == nil {
		return walks
	}
	for i, l := range m.Caches.Levels[:levels] {
		lines, room, missed := 0.0, 0.0, 0.0
		for _, w := range walks {
			lines += footprint(w.Nest, l.Line)
			room = max(room, m.roomiest(w.Nest, i))
			for _, r := range w.Misses {
				missed += r.Levels[i]
			}
		}
		share, known := measured(i, lines/room*float64(l.Size))
		if !known {
			continue
		}
		for _, w := range walks {
			for k, r := range w.Misses {
				switch {
				case lines > room && missed <= onceEach*lines:
					r.Levels[i] *= share
				case lines <= room && i > 0: // of what comes again in the next pass
					op := w.Nest.Operands[k]
					r.Levels[i] = max(r.Levels[i], share*min(r.Levels[i-1], op.Lines(w.Nest.Trips, l.Line)))
				}
			}
		}
	}
	return walks
}

// roomiest is how many lines of level i there are for the operand that reaches most of its sets.
func (m Model) roomiest(n nest.Nest, i int) (most float64) {
	l := placed(m.Caches.Levels[i].Geometry, m.Caches.TLB)
	if i >= simulated(m.Caches.Levels) && !m.Times.Crowds { // its sets follow from a hash
		return float64(l.Sets() * l.Ways)
	}
	for _, op := range n.Operands {
		most = max(most, room(op, n.Trips, l.Line, l.Sets(), l.Ways))
	}
	return most
}

// onceEach is how often a line is missed at most that is missed once, about.
const onceEach = 1.05
