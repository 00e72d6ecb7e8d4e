package summaries

// In most passes that are looked at a single access moved, and where it is in either pass decides what
// misses of one that is where it was: all others are sure to come between two touches of a line.

// A lone is an access that is where it was in the pass before, and the only one that moves from pass to pass that is not.
type lone struct {
	r, q          *drifting
	fixed         []uint64 // by set, a byte each: lines of those that are where they were
	odd           []uint64 // by set, a byte each: not 0 where others than these are in it
	ahead, behind int      // from an iteration's start, and up to its end, the one that moved comes between, or not
	ways          int
	told          int // sets
}

// isLone reports whether an access in a loop is one, other than in odd sets. Those are where a still access moved from
// or to, and, as they may come and go while it is on a line, where others are that nest in it.
func (l *drift) isLone(o *lone, i, j int, nests bool, mask, ways int) bool {
	words := len(l.least)
	if o.q = nil; o.fixed == nil {
		o.fixed, o.odd = make([]uint64, words), make([]uint64, words)
	}
	clear(o.odd)
	clear(o.fixed)
	for k := range l.streams {
		s := &l.streams[k]
		if s.moved {
			if o.q != nil {
				return false
			}
			o.q = s
			continue
		}
		for w := range words {
			n := s.is.word(w)
			o.fixed[w] += n
			if nests && k != i {
				o.odd[w] |= n
			}
		}
	}
	if o.q == nil {
		return false
	}
	for k := range l.stills {
		t := &l.stills[k]
		list := o.fixed
		if t.is != t.was {
			list = o.odd
			addTo(list, t.was&mask)
		}
		addTo(list, t.is&mask)
	}
	o.r, o.ways, o.ahead, o.behind = &l.streams[i], ways, 0, 0
	before := l.before(j)
	if o.q.from[j] < o.r.from[j] {
		o.ahead = 1
	}
	if o.q.to[before] > o.r.to[before] {
		o.behind = 1
	}
	return true
}

// addTo adds a line to a set, a byte each.
func addTo(list []uint64, set int) { list[set>>3] += 1 << (set & 7 * 8) }

// tells reports whether a set is not odd.
func (o *lone) tells(set int) bool { return uint8(o.odd[set>>3]>>(set&7*8)) == 0 }

// missed is how many of its lines in a set miss.
func (o *lone) missed(set int) (missed int) {
	r, q := o.r, o.q
	n, need := int(r.is.visits[set]), o.ways+1-int(uint8(o.fixed[set>>3]>>(set&7*8)))
	is, was := int(q.is.visits[set]), int(q.was.visits[set])
	switch {
	case need <= 0:
		return n
	case is+was < need:
		return 0
	}
	first, here, before := r.first(&r.is, set), q.first(&q.is, set), q.first(&q.was, set)
	if r.run == 1 && is == 0 {
		return o.upTo(first, n, min(q.trips-1, before+q.run-1+(was-need)<<q.bits)+o.behind)
	}
	if r.run == 1 && was == 0 {
		return n - o.upTo(first, n, max(0, here+(need-1)<<q.bits)+1-o.ahead)
	}
	for range n {
		sum := 0
		if last := max(first, 0) + o.ahead - 1; last >= max(0, here) {
			sum = min(is, (last-here)>>q.bits+1)
		}
		if end := min(first+r.run, r.trips) - 1 - o.behind; end < q.trips-1 {
			sum += was
			if c := end - q.run + 1 - before; c >= 0 {
				sum -= min(was, c>>q.bits+1)
			}
		}
		if sum >= need {
			missed++
		}
		first += 1 << r.bits
	}
	return missed
}

// upTo is how many of its lines in a set, of so many of which it comes to the first in an iteration, a column comes to
// ahead of another.
func (o *lone) upTo(first, n, end int) int {
	return min(n, max(0, (end-first+1<<o.r.bits-1)>>o.r.bits))
}
