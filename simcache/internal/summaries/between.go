package summaries

import "encoding/binary"

// tally finds what misses in a pass: in the one that was looked at, or in one that touches the
// same lines as it. It reports whether that is known.
func (l *drift) tally(m *machine, to *tallied, here bool) bool {
	ways, mask := m.levels[0].Ways, m.levels[0].Sets-1
	l.bound(mask, here)
	l.lone.told = 0
	for i := range l.streams {
		s := &l.streams[i]
		for j := range l.loops {
			n := 0
			if here && j == 0 && s.moved {
				for w := range l.least {
					n += sumBytes(s.is.word(w))
				}
			} else {
				n = l.tallyOne(i, j, here && j == 0, ways)
			}
			to.streams[i*len(l.loops)+j] = n
		}
	}
	m.did.Lone += l.lone.told
	for i := range l.stills {
		t := &l.stills[i]
		to.stills[i] = 0
		if here && t.is != t.was {
			to.stills[i] = 1
		} else if l.around(i, mask, here) >= ways {
			return false
		}
	}
	return true
}

// ones is a byte of 1 for each of 8 sets.
const ones = 0x0101010101010101

// word is how often an access comes to 8 sets, a byte each.
func (v *view) word(w int) uint64 { return binary.LittleEndian.Uint64(v.visits[8*w:]) }

// atLeast is the highest bit of each byte that is a number or more, of those up to 127.
func atLeast(bytes uint64, n int) uint64 {
	return ((bytes | ones<<7) - ones*uint64(min(n, 1<<7))) & (ones << 7)
}

// whole makes highest bits of bytes whole bytes.
func whole(high uint64) uint64 { return high >> 7 * 0xff }

// sumBytes is the sum of bytes.
func sumBytes(bytes uint64) int {
	const even = 0x00ff00ff00ff00ff
	return int((bytes&even + bytes>>8&even) * 0x0001000100010001 >> 48)
}

// bound finds how many lines come to each set at least, and at most, from a touch of one of them to the next.
// Of an access that moves from pass to pass, those behind a line in the one and those ahead of it in the
// other are as many as in either, but for a few.
func (l *drift) bound(mask int, here bool) {
	clear(l.least)
	clear(l.most)
	for k := range l.streams {
		q := &l.streams[k]
		q.fill(&q.is)
		if !here || !q.moved {
			for w := range l.least {
				n := q.is.word(w)
				l.least[w], l.most[w] = l.least[w]+n, l.most[w]+n
			}
			continue
		}
		q.fill(&q.was)
		least, most := ones*uint64(max(0, q.both(l.longest))), ones*uint64(q.trips>>q.bits+2)
		if q.run > 1 {
			most += 3 * ones
		}
		for w := range l.least {
			n, was := q.is.word(w), q.was.word(w)
			both := whole(atLeast(n, 1) & atLeast(was, 1))
			l.least[w] += both & least
			l.most[w] += both&most | (n+was)&^both
		}
	}
	for k := range l.stills {
		t := &l.stills[k]
		if addTo(l.most, t.is&mask); here && t.is != t.was {
			addTo(l.most, t.was&mask)
		} else {
			addTo(l.least, t.is&mask)
		}
	}
}

// tallyOne finds how many lines of an access that moves miss in an innermost loop: of a pass, or of one
// that touches the same lines as it. It does not move from the loop before.
func (l *drift) tallyOne(i, j int, here bool, ways int) (missed int) {
	r, few, before := &l.streams[i], 0, l.before(j) // few lines of others may come and go while it is on one of these
	for k := range l.streams {
		q := &l.streams[k]
		switch {
		case k == i:
		case r.run > 1:
			few += (r.run-1)>>q.bits + 1
		case q.to[before] < r.to[before] && q.from[j] > r.from[j]:
			few++
		}
	}
	lone := here && l.isLone(&l.lone, i, j, few > 0, len(r.often)-1, ways)
	for w := range l.least {
		n := r.is.word(w)
		some := atLeast(n, 1) & atLeast(l.most[w], ways+1)
		sure := some & atLeast(l.least[w], ways+1+few)
		missed += sumBytes(n & whole(sure))
		for left := some &^ sure; left != 0; left &= left - 1 {
			if set := 8*w + trailing(left)>>3; lone && l.lone.tells(set) {
				missed += l.lone.missed(set)
				l.lone.told++
			} else {
				missed += l.inSet(i, j, set, few > 0, here, ways)
			}
		}
	}
	return missed
}

// inSet is how many lines of an access that moves in the innermost loops miss in a set. Where all others but those
// that are elsewhere in the pass before are sure to come between, these decide.
func (l *drift) inSet(i, j, set int, nests, here bool, ways int) (missed int) {
	r, mask := &l.streams[i], len(l.streams[i].often)-1
	n, others := int(r.is.visits[set]), -1
	plain := here
	l.movers = l.movers[:0]
	for k := range l.streams {
		q := &l.streams[k]
		switch is := q.is.visits[set]; {
		case !q.moved:
			others += int(is)
			plain = plain && (!nests || k == i || is == 0)
		case is > 0 || q.was.visits[set] > 0:
			l.movers = append(l.movers, k)
		}
	}
	for k := range l.stills {
		t := &l.stills[k]
		if is, was := (t.is-set)&mask == 0, (t.was-set)&mask == 0; t.is != t.was {
			plain = plain && !is && !was
		} else if is {
			others++
		}
	}
	switch {
	case !plain:
		for k := range n {
			if l.between(i, j, k, set, here) >= ways {
				missed++
			}
		}
		return missed
	case others >= ways:
		return n
	case len(l.movers) == 0:
		return 0
	}
	first := r.first(&r.is, set)
	for range n {
		sum := others
		for _, k := range l.movers {
			sum += l.passing(k, r, j, set, max(first, 0), min(first+r.run, r.trips)-1, true)
		}
		if sum >= ways {
			missed++
		}
		first += 1 << r.bits
	}
	return missed
}

// lastLine is the line that it comes to last.
func (s *drifting) lastLine(v *view) int {
	if s.run == 1 {
		return v.line + s.step*(s.trips-1)
	}
	return v.line + (v.off+s.trips-1)/s.run
}

// before is the loop before one: of the first, the last.
func (l *drift) before(j int) int {
	if j == 0 {
		return len(l.loops) - 1
	}
	return j - 1
}

// between is how many other lines of a set are touched between the last touch of a line of an access that
// moves, in the loop before, and the first in a loop: the k-th that it comes to in the set.
func (l *drift) between(i, j, k, set int, here bool) (n int) {
	r := &l.streams[i]
	first := r.first(&r.is, set) + k<<r.bits
	last := first + r.run - 1
	first, last = max(first, 0), min(last, r.trips-1)
	for k := range l.streams {
		n += l.passing(k, r, j, set, first, last, here)
	}
	for k := range l.stills {
		n += l.stillBetween(&l.stills[k], r, j, set, first, last, here)
	}
	return n
}

// passing is how many lines of a set an access that moves is on from the last touch of a line of one, in the loop before, to
// the first in a loop, by the iterations of these.
func (l *drift) passing(k int, r *drifting, j, set, first, last int, here bool) int {
	q, before := &l.streams[k], l.before(j)
	ahead, behind := first, last
	if q.from[j] < r.from[j] {
		ahead++
	}
	if q.to[before] > r.to[before] {
		behind--
	}
	if here && q.moved {
		return q.ahead(&q.is, set, ahead) + q.behind(&q.was, set, behind)
	}
	return min(int(q.is.visits[set]), q.ahead(&q.is, set, ahead)+q.behind(&q.is, set, behind))
}

// ahead is how many lines of a set an access comes to before an iteration.
func (s *drifting) ahead(v *view, set, before int) int {
	n := int(v.visits[set])
	if n == 0 || before <= 0 {
		return 0
	}
	if c := before - 1 - s.first(v, set); c >= 0 {
		return min(n, c>>s.bits+1)
	}
	return 0
}

// behind is how many lines of a set an access is on after an iteration.
func (s *drifting) behind(v *view, set, after int) int {
	n := int(v.visits[set])
	if n == 0 || after >= s.trips-1 {
		return 0
	}
	if c := after - s.run + 1 - s.first(v, set); c >= 0 {
		return n - min(n, c>>s.bits+1)
	}
	return n
}

// stillBetween is how many lines of a set something rests on between two touches, of which the one is in the
// last iteration that an access is on a line, in the loop before, and the other in the first.
func (l *drift) stillBetween(t *still, r *drifting, j, set, first, last int, here bool) (n int) {
	mask, before := len(r.often)-1, l.before(j)
	is, was := (t.is-set)&mask == 0, (t.was-set)&mask == 0
	switch {
	case !here || t.is == t.was:
		if is {
			n++
		}
	default:
		if was && (last < l.trips-1 || t.behind || t.until[before] > r.to[before]) {
			n++
		}
		if is && (first > 0 || t.from[j] < r.from[j]) {
			n++
		}
	}
	return n
}

// around is how many other lines, at most, are touched in the set of what rests in the innermost loops, and is
// where it was, from its last touch in a loop to the first in the next.
func (l *drift) around(i, mask int, here bool) (n int) {
	set := l.stills[i].is
	add := func(is, was int, moved bool) {
		if (is-set)&mask == 0 {
			n++
		}
		if moved && (was-set)&mask == 0 {
			n++
		}
	}
	for k := range l.streams {
		q := &l.streams[k]
		was := &q.is
		if here && q.moved {
			was = &q.was
		}
		add(q.is.line, q.lastLine(was), q.trips == l.trips)
	}
	for k := range l.stills {
		if t := &l.stills[k]; k != i {
			add(t.is, t.was, here && t.is != t.was)
		}
	}
	return n
}
