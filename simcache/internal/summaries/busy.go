package summaries

import (
	"math"
	"slices"
)

// Where small accesses rest on lines around a long innermost loop, and that loop brings
// more lines to their row than it has ways, all of them new, whatever is touched there
// misses each time: a row is busy. So not all of a piece's iterations need be run in a
// busy row. What the loop's accesses miss in all of them is in the summary without
// the small ones, as more lines in between make no hit of a miss; of the small ones,
// each line misses in each iteration.
//
// The conditions. The loop comes last in an iteration. One of its accesses, a column, goes
// on by a line or more each time, and in any period of its iterations it is in each row
// so often. Nothing but what moves in the loop, and small accesses, is in the row. No two
// of those that move touch a line in common. A column touches a line in one iteration of
// the loop only, and that is the same one in each iteration around it; others touch a line
// in a run, the same around. Then between two touches of a line of which one is in
// the loop around's iteration i, and the other in a later one, but for those in a run,
// there are all of the column's but a run's, in two stretches: at least often for each
// period in these, less one. If that is the ways at least, the line is gone.

// A busy is what is known of a loop of which rows may be busy.
type busy struct {
	loop          *node // the innermost
	period, often int
	run           int // iterations of it in which an access rests on a line, at most
}

// busy prepares a loop for busy rows; nil if there can be none.
func (m *machine) busy(n *node) *busy {
	list := n.body
	if len(list) == 1 && list[0].kind == block {
		list = list[0].body
	}
	b := &busy{loop: list[len(list)-1], run: 1}
	if !b.loop.inner || slices.ContainsFunc(below(n), func(c *node) bool { return c.kind == loop && c != b.loop }) {
		return nil
	}
	line := 1 << m.levels[0].Shift
	for _, r := range b.loop.inside.refs {
		stride := max(r.stride, -r.stride)
		if stride == 0 {
			continue
		}
		if stride < line {
			if r.base.coef(n.slot) != 0 {
				return nil
			}
			b.run = max(b.run, (line+stride-1)/stride)
		} else if g := gcd(stride, m.span); g <= line && b.period == 0 {
			b.period, b.often = m.span/g, line/g
		}
	}
	if b.period == 0 || len(b.loop.inside.refs) > min(m.levels[0].Ways, mostRefs) {
		return nil
	}
	return b
}

// A reach is the first and the last line that an access may touch.
type reach struct{ low, high int }

// reachOf is that of an address in iterations first and last of a loop, and in between,
// from which it goes on by so much.
func (m *machine) reachOf(a *affine, slot, first, last, by int, shift uint) reach {
	m.slots[slot] = first
	one := reachFrom(a.at(m.slots), by, shift)
	m.slots[slot] = last
	other := reachFrom(a.at(m.slots), by, shift)
	return reach{min(one.low, other.low), max(one.high, other.high)}
}

// reachFrom is that of an address that goes on by so much.
func reachFrom(addr, by int, shift uint) reach {
	return reach{(addr + min(by, 0)) >> shift, (addr + max(by, 0)) >> shift}
}

// in reports whether a line may be in a row.
func (r reach) in(s *state, row int) bool {
	return r.high-r.low >= modulo(row-s.row(uint32(r.low)+1), s.sets)
}

// isBusy reports whether a row is, in so many iterations of a loop from y on, and which
// small accesses are in it, in all of these alike: of each line the first.
func (m *machine) isBusy(n *node, s *state, row, y, trips int) (small []*node, is bool) {
	b, last := n.tiny.busy, y+trips-1
	if b == nil || trips < 5 {
		return nil, false
	}
	least, most := m.tripsOver(b.loop, n.slot, y, last)
	if b.often*((least-b.run)/b.period-1) < s.ways {
		return nil, false
	}
	small, is = m.smallIn(n.body, nil, n, s, row, y, trips)
	if !is || len(small) > s.ways {
		return nil, false
	}
	var reaches [mostRefs]reach
	in, line := b.loop.inside, 1<<s.shift
	for i := range in.refs {
		r := &in.refs[i]
		reaches[i] = m.reachOf(&r.base, n.slot, y, last, (most-1)*r.stride, s.shift)
		stride, own := max(r.stride, -r.stride), r.base.coef(n.slot)
		switch {
		case r.stride == 0:
			if reaches[i].in(s, row) {
				return nil, false
			}
			reaches[i] = reach{-1, -2} // elsewhere
		case stride >= line && stride-(trips-1)*max(own, -own) < line:
			return nil, false
		}
		for k, other := range reaches[:i] {
			same := in.refs[k].stride == r.stride && in.refs[k].base.same(&r.base)
			if !same && reaches[i].low <= other.high && other.low <= reaches[i].high {
				return nil, false
			}
		}
		for _, a := range small {
			if at := a.addr.at(m.slots) >> s.shift; reaches[i].low <= at && at <= reaches[i].high {
				return nil, false
			}
		}
	}
	return small, true
}

// tripsOver are the least and the most trips that a loop has in iterations first to last of the one
// around: those in these two, unless it ends at the least of several bounds, which may bend.
func (m *machine) tripsOver(loop *node, slot, first, last int) (least, most int) {
	step := last - first
	if len(loop.spans) > 1 {
		step = 1
	}
	least = math.MaxInt
	for y := first; y <= last; y += max(1, step) {
		m.slots[slot] = y
		trips := loop.trips(m.slots)
		least, most = min(least, trips), max(most, trips)
	}
	return least, most
}

// smallIn appends those small accesses in a list of nodes that are in the row, and
// reports whether these are the same in all iterations, and no others, but for the
// innermost loop, are in it.
func (m *machine) smallIn(nodes []*node, small []*node, n *node, s *state, row, y, trips int) ([]*node, bool) {
	last, is := y+trips-1, true
	for _, c := range nodes {
		switch c.kind {
		case access:
			if !slices.Contains(n.tiny.accesses, c) {
				if m.reachOf(&c.addr, n.slot, y, last, 0, s.shift).in(s, row) {
					return nil, false
				}
				continue
			}
			m.slots[n.slot] = last
			line := c.addr.at(m.slots) >> s.shift
			same := func(a *node) bool { return a.addr.at(m.slots)>>s.shift == line }
			if s.row(uint32(line)+1) == row && !slices.ContainsFunc(small, same) {
				small = append(small, c)
			}
		case branch:
			m.slots[n.slot] = y
			body := c.orelse
			if c.holds(m.slots) {
				body = c.body
			}
			if m.steady(c, n.slot, trips) < trips {
				return nil, false
			}
			small, is = m.smallIn(body, small, n, s, row, y, trips)
		case block:
			small, is = m.smallIn(c.body, small, n, s, row, y, trips)
		}
		if !is {
			return nil, false
		}
	}
	return small, true
}

// runBusy counts so many iterations of a loop from y on in a busy row, where the entry is
// their summary without small accesses. The first is run; run once more, all that it
// touches misses, which is what the entry's misses there are of it. The last is run
// for what it leaves behind.
func (m *machine) runBusy(n *node, c *context, e *entry, small []*node, row, y, trips int) {
	s := c.states[0]
	misses := s.misses[n.opLow-s.opLow : n.opHigh-s.opLow]
	m.runIn(n, c, row, y, y+1)
	at := len(m.saved)
	m.saved = append(m.saved, misses...)
	m.runIn(n, c, row, y, y+1)
	wanted, back := m.saved[at:], modulo(row+int(s.turn)-int(e.turn), s.sets)
	for op := n.tiny.busy.loop.opLow - n.opLow; op < n.tiny.busy.loop.opHigh-n.opLow; op++ {
		first := misses[op] - wanted[op]
		wanted[op] += e.rowMisses[back*len(e.misses)+op] - first
	}
	for _, op := range e.ops[back*s.ways:][:e.count[back]] {
		wanted[int(op)-n.opLow]++
	}
	for _, a := range small {
		wanted[a.op-n.opLow] += uint64(trips - 1)
	}
	m.runIn(n, c, row, y+trips-1, y+trips)
	for i, n := range wanted {
		s.miss(row, e.opLow+i, n-misses[i])
	}
	m.saved = m.saved[:at]
	m.did.Busy++
}
