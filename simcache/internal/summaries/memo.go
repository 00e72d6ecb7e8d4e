package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// An entry is a summary of an instance of a unit, or of a chunk of one: trips
// iterations from some iteration on, at bases.
type entry struct {
	*summary
	level    int // of the levels
	key      []int
	base     []int
	low, hig []int // the boxes of the references
	trips    int
	busy     bool     // it is being recorded or extended
	context  context  // its state, to run in
	trail    *trail   // of a unit of what moves
	shorter  *shorter // what it was before it was extended, if it is kept
}

// A shorter is what an entry was before it was extended: where it is now, if the
// entry was moved since.
type shorter struct {
	state    *state
	rows     []uint64 // a bit for each row that was changed since
	low, hig []int
	trips    int // 0 if it is nothing
}

// bucket is how many entries may have one hash.
const bucket = 4

// Memory that a unit's summaries of the first level may take, and of the second.
const (
	mostFirst  = 1 << 30
	mostSecond = 1 << 26
)

// stateSize is about how many bytes a state of a level takes.
func stateSize(l engine.Level) int { return l.Lines()*10 + l.Sets*32 }

// buckets is how many buckets a table has, a power of two: fewer where states are
// large.
func (m *machine) buckets() int {
	n := 1 << 14
	for n > 1 && n*bucket*2*stateSize(m.levels[0]) > mostFirst {
		n /= 2
	}
	return n
}

// find returns the entry of the unit's key that stands for most of so many trips,
// and the list that it is, or belongs, in. A chunk's trips are part of the key;
// otherwise a longer instance continues what is known of a shorter one.
func (u *unit) find(m *machine, trips int, chunk, inner bool) (list []*entry, found *entry, busy bool) {
	if u.table == nil {
		u.table = make([]*entry, m.buckets()*bucket)
	}
	h := uint64(1469598103934665603)
	for _, k := range u.key {
		h = (h ^ uint64(k)) * 1099511628211
		h ^= h >> 29
	}
	at := int(h%uint64(len(u.table)/bucket)) * bucket
	list = u.table[at : at+bucket]
	best, most := -1, -1
	for i, e := range list {
		if e == nil || !slices.Equal(e.key, u.key) {
			continue
		}
		if e.busy {
			busy = true
			continue
		}
		t := e.trips
		if t > trips && e.shorter != nil {
			t = e.shorter.trips
		}
		if t == 0 || t > trips || inner && !chunk && trips-t > max(64, trips/8) {
			continue
		}
		if t > most {
			best, most = i, t
		}
	}
	if best < 0 {
		return list, nil, busy
	}
	found = list[best]
	copy(list[1:best+1], list[:best])
	list[0] = found
	return list, found, false
}

// place returns an entry to record into, for which another may have to go; nil if
// all are busy.
func place(list []*entry) *entry {
	i := slices.Index(list, nil)
	if i < 0 {
		for i = len(list) - 1; i >= 0 && list[i].busy; i-- {
		}
		if i < 0 {
			return nil
		}
	}
	e := list[i]
	if e == nil {
		e = new(entry)
	}
	copy(list[1:i+1], list[:i])
	list[0] = e
	return e
}

// moves reports whether the entry's stream, moved to the unit's bases, is that of
// the instance: whether references that move apart touch no line in common, then
// or now. The boxes of both must be known.
func (u *unit) moves(m *machine, e *entry) bool {
	for _, p := range u.pairs {
		q, r := p[0], p[1]
		if u.base[q]-e.base[q] == u.base[r]-e.base[r] {
			continue
		}
		if m.disjoint(u.low[q], u.hig[q], u.low[r], u.hig[r]) && m.disjoint(e.low[q], e.hig[q], e.low[r], e.hig[r]) {
			continue
		}
		if !m.interleave(u, q, r, u.low) || !m.interleave(u, q, r, e.low) {
			return false
		}
		m.did.Interleaved++
	}
	return true
}

// column is how many lines a reference moves by in each iteration of an innermost
// loop, if these are whole lines; else 1.
func (u *unit) column(m *machine, r int) int {
	own := max(u.refs[r].own, -u.refs[r].own)
	if !u.inner || own&(m.maxLine-1) != 0 {
		return 1
	}
	return max(1, own>>m.maxShift)
}

// interleave reports whether two references walk over columns of the same step
// that have no line in common.
func (m *machine) interleave(u *unit, q, r int, low []int) bool {
	step := u.column(m, q)
	return step > 1 && step == u.column(m, r) && (low[q]>>m.maxShift-low[r]>>m.maxShift)%step != 0
}

// disjoint reports whether no line of any level holds bytes of both boxes.
func (m *machine) disjoint(low, hig, low2, hig2 int) bool {
	return low>>m.maxShift > hig2>>m.maxShift || low2>>m.maxShift > hig>>m.maxShift
}

// shift moves an entry to the unit's bases.
func (u *unit) shift(m *machine, e *entry) {
	movers := m.movers[:0]
	shift := m.levels[e.level].Shift
	for r := range u.refs {
		by := uint32(int32((u.base[r] - e.base[r]) >> shift))
		if by == 0 {
			continue
		}
		low, hig := uint32(e.low[r]>>shift)+1, uint32(e.hig[r]>>shift)+1
		covered := slices.ContainsFunc(movers, func(v mover) bool {
			return v.step == 1 && v.by == by && low >= v.low && hig <= v.low+v.size
		})
		if !covered {
			movers = append(movers, mover{low, hig - low, by, uint32(u.stepOf(m, e, r))})
		}
	}
	m.movers = movers
	turn := modulo(u.base[0]-e.base[0], m.levels[e.level].Sets<<shift) >> shift
	e.move(movers, turn)
	if k := e.shorter; k != nil && k.trips != 0 && k.trips != e.trips {
		k.state.move(movers, turn)
		for r := range u.refs {
			k.low[r] += u.base[r] - e.base[r]
			k.hig[r] += u.base[r] - e.base[r]
		}
	}
	e.id = m.newID()
	for r := range u.refs {
		d := u.base[r] - e.base[r]
		e.low[r] += d
		e.hig[r] += d
	}
	copy(e.base, u.base)
	m.did.Moved++
}

// stepOf is 1, or the step of a column that interleaves with one that moves apart.
func (u *unit) stepOf(m *machine, e *entry, r int) int {
	for q := range u.refs {
		if u.base[q]-e.base[q] != u.base[r]-e.base[r] && !m.disjoint(e.low[q], e.hig[q], e.low[r], e.hig[r]) {
			return u.column(m, r) << m.maxShift >> m.levels[e.level].Shift
		}
	}
	return 1
}

// fetch returns the summary of trips iterations of a node from y on; nil if there
// is none to be had, and the iterations have to be run.
func (m *machine) fetch(n *node, y, trips int, chunk bool) *entry {
	u := n.unit
	u.placeIn(m, y)
	if chunk {
		u.key = append(u.key, trips)
	} else {
		u.key = append(u.key, -1)
	}
	u.tries++
	list, e, busy := u.find(m, trips, chunk, n.inner)
	if busy {
		return nil
	}
	if e != nil {
		u.boxes(m, n, y, trips)
		if e.trips > trips {
			m.restore(e)
			m.did.Restored++
		}
		same := slices.Equal(e.base, u.base)
		if same || u.moves(m, e) {
			u.hits++
			if !same {
				u.shift(m, e)
			}
			if e.trips < trips {
				m.extend(n, e, y, trips)
			}
			return e
		}
		m.did.Refused++
	}
	if !chunk && u.tries > 1100 && u.hits*16 < u.tries {
		u.off = true
	}
	if e = place(list); e != nil {
		m.record(n, e, y, trips, chunk)
	}
	return e
}

// record makes an entry of the instance.
func (m *machine) record(n *node, e *entry, y, trips int, chunk bool) {
	u := n.unit
	u.boxes(m, n, y, trips)
	e.key, e.base = append(e.key[:0], u.key...), append(e.base[:0], u.base...)
	e.low, e.hig = append(e.low[:0], u.low...), append(e.hig[:0], u.hig...)
	if e.trips, e.busy = trips, true; e.shorter != nil {
		e.shorter.trips = 0
	}
	if e.summary == nil {
		e.summary = newSummary(newState(m.levels[0], u.opLow, u.opHigh))
	}
	e.reset()
	e.forget()
	if u.alone {
		e.byRow()
	}
	if e.trail != nil {
		e.trail.built = 0
	}
	e.id, e.cleanFrom = m.newID(), m.clock
	c := &e.context
	c.states = append(c.states[:0], e.state)
	m.parts(n, c, y, trips, chunk)
	e.clean()
	e.cleanFrom = m.clock
	e.busy = false
	m.did.Recorded++
}

// parts runs what is recorded: a chunk of several periods by its halves, a whole
// instance by chunks if it may be.
func (m *machine) parts(n *node, c *context, y, trips int, chunk bool) {
	if chunk && trips > n.unit.period {
		m.stretch(n, c, y, trips/2, true)
		m.stretch(n, c, y+trips/2, trips/2, true)
	} else {
		m.iterations(n, c, y, y+trips, !chunk)
	}
}

// extend makes an entry longer. What an inner loop was before is kept, for those
// that are shorter again.
func (m *machine) extend(n *node, e *entry, y, trips int) {
	u := n.unit
	from := e.trips
	if n.inner && (e.shorter == nil || e.shorter.trips == 0 || e.shorter.trips == from) {
		m.shorten(e)
	}
	e.low, e.hig = append(e.low[:0], u.low...), append(e.hig[:0], u.hig...)
	e.busy = true
	m.iterations(n, &e.context, y+from, y+trips, false)
	if e.shorter != nil {
		for i := range e.changed {
			e.shorter.rows[i] |= e.changed[i] | e.before[i]
		}
	}
	e.trips, e.busy = trips, false
	m.did.Extended++
	u.extends++
}

// shorten keeps what an entry is now.
func (m *machine) shorten(e *entry) {
	if e.shorter == nil {
		e.shorter = &shorter{state: newState(m.levels[0], e.opLow, e.opLow+len(e.misses)), rows: make([]uint64, len(e.changed))}
	}
	k := e.shorter
	k.state.copyFrom(e.state)
	clear(k.rows)
	k.low, k.hig = append(k.low[:0], e.low...), append(k.hig[:0], e.hig...)
	k.trips = e.trips
}

// restore makes an entry what it was before it was extended. Rows that were not
// changed are as they were; heads were only added, and so were touched rows.
func (m *machine) restore(e *entry) {
	k := e.shorter
	for i, w := range k.rows {
		e.changed[i] |= w
	}
	e.gather()
	for i, w := range k.rows {
		for ; w != 0; w &= w - 1 {
			e.copyRow(k.state, i<<6+trailing(w))
		}
	}
	e.touched = e.touched[:len(k.state.touched)]
	copy(e.misses, k.state.misses)
	copy(e.low, k.low)
	copy(e.hig, k.hig)
	e.trips = k.trips
	clear(k.rows)
	e.owner, e.open = 0, k.state.open
}

func (m *machine) newID() uint64 {
	m.ids++
	return m.ids
}
