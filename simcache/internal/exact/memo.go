package exact

import (
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// An entry is a memo entry: the summary of an instance of a unit, or of a chunk of one, which is
// trips iterations at bases.
type entry struct {
	*summary
	key      []int
	base     []int
	low, hig []int // the boxes of the references
	trips    int
	busy     bool    // being recorded or extended
	context  context // of the entry's state
	held     int     // bytes charged for it
}

// bucket is the most entries with one hash.
const bucket = 4

// mostKept bounds the approximate bytes of a machine's summaries, and of a unit's full table
// without miss streams.
const mostKept = 1 << 30

// stateSize returns the approximate bytes of a level's state.
func stateSize(l engine.Level) int { return l.Lines()*10 + l.Sets*32 }

// buckets returns the number of buckets in a unit's table, a power of two. It is smaller if states
// are large, and for loops around others. Their keys return soon or hardly ever, so a small table
// keeps recent ones near. Keys of a unit kept by row return late.
func (m *machine) buckets(u *unit) int {
	n := 1 << 14
	if !m.deep && !u.inner && !u.byRow {
		n = 1 << 12
	}
	for n > 1 && n*bucket*2*stateSize(m.levels[0]) > mostKept {
		n /= 2
	}
	return n
}

// find returns the entry with the unit's key that covers most of the trips, and its bucket. A key
// with trips has one entry at most. Otherwise a longer instance extends a shorter entry.
func (u *unit) find(m *machine, trips int) (list []*entry, found *entry, busy bool) {
	if u.table == nil {
		u.table = make([]*entry, m.buckets(u)*bucket)
		m.tabled = append(m.tabled, u)
	}
	at := int(hash(u.key)%uint64(len(u.table)/bucket)) * bucket
	list = u.table[at : at+bucket]
	best, most := -1, 0
	for i, e := range list {
		if e == nil || !slices.Equal(e.key, u.key) {
			continue
		}
		if e.busy {
			busy = true
			continue
		}
		if e.trips <= trips && e.trips > most {
			best, most = i, e.trips
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

func hash(key []int) uint64 {
	h := uint64(1469598103934665603)
	for _, k := range key {
		h = (h ^ uint64(k)) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// instead returns another entry of the bucket, with as many trips, if one was refused. References
// may meet in one instance of a key, but not in another.
func (u *unit) instead(m *machine, list []*entry, trips int) *entry {
	for i, e := range list {
		is := i > 0 && e != nil && !e.busy && e.trips == trips
		if is && slices.Equal(e.key, u.key) && u.moves(m, e) {
			copy(list[1:i+1], list[:i])
			list[0] = e
			return e
		}
	}
	return nil
}

// placed returns an entry to record into, perhaps in place of an old one, or nil if all are busy.
func placed(list []*entry) *entry {
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

// moves reports whether the entry, moved to the unit's bases, has the instance's lines. References
// that move apart must touch no common line, then or now. The boxes of both must be known.
func (u *unit) moves(m *machine, e *entry) bool {
	for _, p := range u.pairs {
		q, r := p[0], p[1]
		if u.base[q]-e.base[q] == u.base[r]-e.base[r] {
			continue
		}
		if !m.disjoint(u.low[q], u.hig[q], u.low[r], u.hig[r]) ||
			!m.disjoint(e.low[q], e.hig[q], e.low[r], e.hig[r]) {
			return false
		}
	}
	return true
}

// disjoint reports whether no line of any level holds bytes of both boxes.
func (m *machine) disjoint(low, hig, low2, hig2 int) bool {
	return low>>m.maxShift > hig2>>m.maxShift || low2>>m.maxShift > hig>>m.maxShift
}

func (u *unit) shift(m *machine, e *entry) {
	movers := m.movers[:0]
	shift := m.levels[0].Shift
	for r := range u.refs {
		by := uint32(int32((u.base[r] - e.base[r]) >> shift))
		if by == 0 {
			continue
		}
		low, hig := uint32(e.low[r]>>shift)+1, uint32(e.hig[r]>>shift)+1
		covered := slices.ContainsFunc(movers, func(v mover) bool {
			return v.by == by && low >= v.low && hig <= v.low+v.size
		})
		if !covered {
			movers = append(movers, mover{low, hig - low, by})
		}
	}
	m.movers = movers
	turn := modulo(u.base[0]-e.base[0], m.levels[0].Sets<<shift) >> shift
	e.move(movers, turn)
	e.id = m.newID()
	for r := range u.refs {
		d := u.base[r] - e.base[r]
		e.low[r] += d
		e.hig[r] += d
	}
	copy(e.base, u.base)
}

// fetch returns the summary of trips iterations of a node from y on, or nil if they must be run.
func (m *machine) fetch(n *node, y, trips int, chunk bool) *entry {
	u := n.unit
	u.placeIn(m, y, trips)
	if chunk {
		u.key = append(u.key, trips)
	} else {
		u.key = append(u.key, -1)
	}
	u.tries++
	list, e, busy := u.find(m, trips)
	if busy {
		return nil
	}
	if e != nil {
		u.boxes(m, y, trips)
		if !u.moves(m, e) {
			e = u.instead(m, list, trips)
		}
	}
	if e != nil {
		if !slices.Equal(e.base, u.base) {
			u.shift(m, e)
		}
		m.credit(n, e, y, trips)
		if e.trips < trips && !m.extend(n, e, y, trips) {
			return nil
		}
		return e
	}
	if e = placed(list); e == nil || !m.record(n, e, y, trips, chunk) {
		return nil
	}
	return e
}

// charge updates the bytes of an entry. If the sum exceeds mostKept, the unit with the most bytes
// gets an empty table with half as many places.
func (m *machine) charge(u *unit, e *entry) {
	more := e.bytes() - e.held
	e.held += more
	u.held += more
	if m.held += more; m.held <= m.mostKept {
		return
	}
	most := slices.MaxFunc(m.tabled, func(a, b *unit) int { return a.held - b.held })
	m.held -= most.held
	most.held, most.table = 0, make([]*entry, max(bucket, len(most.table)/2))
}

func (e *entry) bytes() int {
	n := 2*8*len(e.key) + e.state.bytes()
	if e.log != nil {
		n += cap(e.log.lines)*6 + len(e.log.rows)*12
	}
	return n
}

func (m *machine) record(n *node, e *entry, y, trips int, chunk bool) bool {
	u, since := n.unit, m.work()
	u.boxes(m, y, trips)
	e.key, e.base = append(e.key[:0], u.key...), append(e.base[:0], u.base...)
	e.low, e.hig = append(e.low[:0], u.low...), append(e.hig[:0], u.hig...)
	e.trips, e.busy = trips, true
	if e.summary == nil {
		e.summary = newSummary(newState(m.levels[0], u.opLow, u.opHigh))
		if m.deep {
			e.keepLog(int(256 * m.threshold))
		}
	}
	e.reset()
	e.forget()
	if e.log != nil {
		e.log.reset(u.room, u.listed)
	}
	e.byRow(u)
	e.id, e.cleanFrom = m.newID(), m.clock
	c := &e.context
	c.states = append(c.states[:0], e.state)
	m.parts(n, c, y, trips, chunk)
	e.clean()
	e.cleanFrom = m.clock
	e.busy = false
	m.charge(u, e)
	m.debit(u, since, toRecord)
	return m.fits(n, e, y, trips)
}

// fits reports whether an entry's miss stream is within its limit, and else deletes the entry.
func (m *machine) fits(n *node, e *entry, y, trips int) bool {
	if e.log == nil {
		return true
	}
	if !e.log.over {
		n.unit.room, n.unit.listed = e.log.items*5/4/max(1, len(e.touched)), len(e.log.lines)
		return true
	}
	m.slots[n.slot] = y
	n.unit.big = min(n.unit.big, m.each(n)*float64(trips))
	e.key, e.trips = e.key[:0], 0
	return false
}

// parts runs the instance to record: a chunk by halves, down to a period, and a whole instance by
// chunks if possible.
func (m *machine) parts(n *node, c *context, y, trips int, chunk bool) {
	half := trips / 2
	switch {
	case !chunk:
		m.iterations(n, c, y, y+trips, true)
	case trips > n.unit.period && (n.inner || m.each(n)*float64(half) >= m.threshold):
		m.stretch(n, c, y, half, true)
		m.stretch(n, c, y+half, half, true)
	default:
		m.iterations(n, c, y, y+trips, false)
	}
}

func (m *machine) extend(n *node, e *entry, y, trips int) bool {
	u, since := n.unit, m.work()
	from := e.trips
	e.low, e.hig = append(e.low[:0], u.low...), append(e.hig[:0], u.hig...)
	e.busy = true
	m.iterations(n, &e.context, y+from, y+trips, false)
	e.trips, e.busy = trips, false
	m.charge(u, e)
	m.debit(u, since, toExtend)
	u.extends++
	return m.fits(n, e, y, trips)
}

func (m *machine) newID() uint64 {
	m.ids++
	return m.ids
}
