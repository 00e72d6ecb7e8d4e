package summaries

import (
	"slices"

	"github.com/stridebench/stridebench/simcache/internal/engine"
)

// An entry is a summary of an instance of a unit, or of a chunk of one: trips
// iterations from some iteration on, at bases.
type entry struct {
	*summary
	key      []int
	base     []int
	low, hig []int // the boxes of the references
	trips    int
	busy     bool     // it is being recorded or extended
	context  context  // its state, to run in
	trail    *trail   // where there is a log, of a unit of what moves, and it was asked for twice
	trailed  bool     // once
	held     int      // bytes that it was found to take
	shorter  *shorter // where there is a log: what it was before it was extended, if it is kept
}

// A shorter is what an entry was before it was extended, where it is now. An extension
// mostly changes a few rows, and entries are many: only those are kept.
type shorter struct {
	state    *state   // in the rows that are kept, and its misses
	items    int      // of the log
	rows     []uint64 // a bit for each row that is kept
	logs     []int32  // of these: how many items the log had
	touched  int      // rows
	low, hig []int
	trips    int // 0 if it is nothing
}

// bucket is how many entries may have one hash.
const bucket = 4

// mostKept is how many bytes the summaries of a machine may take, about. A unit's table is made for as many, by what
// they take without their logs.
const mostKept = 1 << 30

// stateSize is about how many bytes a state of a level takes.
func stateSize(l engine.Level) int { return l.Lines()*10 + l.Sets*32 }

// buckets is how many buckets a unit's table has, a power of two: fewer where states are
// large, and of loops around others, whose keys come back soon or hardly ever, so that
// those that do stay near. Those that are kept by row do so late. Where the keys are known to be
// few enough, each finds a place.
func (m *machine) buckets(u *unit) int {
	if u.few {
		return mostKeys
	}
	n := 1 << 14
	if !m.deep && !u.inner && !u.byRow {
		n = 1 << 12
	}
	for n > 1 && n*bucket*2*stateSize(m.levels[0]) > mostKept {
		n /= 2
	}
	return n
}

// find returns the entry of the unit's key that stands for most of so many trips,
// and the list that it is, or belongs, in. Where trips are part of the key, there is
// one at most; otherwise a longer instance continues what is known of a shorter one.
func (u *unit) find(m *machine, trips int) (list []*entry, found *entry, busy bool) {
	if u.table == nil {
		u.table = make([]*entry, m.buckets(u)*bucket)
		m.tabled = append(m.tabled, u)
	}
	at := int(hash(u.key)%uint64(len(u.table)/bucket)) * bucket
	list = u.table[at : at+bucket]
	best, most := -1, 0
	u.longer = false
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
		if t > trips {
			u.longer = true
			u.askShorter()
		} else if far := u.inner && trips-t > max(64, trips/8); !far && t > most {
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

func hash(key []int) uint64 {
	h := uint64(1469598103934665603)
	for _, k := range key {
		h = (h ^ uint64(k)) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// setTrips makes the end of a key, of which the rest is known: the trips, or none if
// an instance continues a shorter one.
func (u *unit) setTrips(trips int) { u.key[len(u.key)-1] = trips }

// An innermost loop whose trips go down again, and up, has an entry for each number
// of trips: it begins as a copy of a shorter one. Of a long one that is recorded from
// its start, every so many trips a copy is kept.
const copyEvery = 64

// askShorter notes that an entry is longer than what is asked for: where that is so
// often, there will be one for each number of trips. Logs are long, and not copied:
// there will be one for every step of them, which goes back to its start by what it
// was before it was extended.
func (u *unit) askShorter() {
	u.shorter++
	if u.inner && u.shorter > 8 && 32*u.shorter > u.tries {
		u.exact, u.classed = u.exact || !u.logs, u.logs
	}
}

// nearest returns an entry of the unit's key with fewer trips, though not by many: one
// of the last that may be there, or a copy that was kept.
func (u *unit) nearest(m *machine, trips int) *entry {
	for less := step; less < copyEvery; less += step {
		if e := u.ofTrips(m, trips-less); e != nil {
			return e
		}
	}
	return u.ofTrips(m, (trips-1)/copyEvery*copyEvery)
}

func (u *unit) ofTrips(m *machine, trips int) *entry {
	if trips <= 0 {
		return nil
	}
	u.setTrips(trips)
	_, e, _ := u.find(m, trips)
	return e
}

// instead returns another entry of a list that stands for an instance, if one was
// refused: in one of two instances of a key references may meet, and not in the other.
// It is one of as many trips.
func (u *unit) instead(m *machine, list []*entry, trips int) *entry {
	for i, e := range list {
		if i > 0 && e != nil && !e.busy && e.trips == trips && slices.Equal(e.key, u.key) && u.moves(m, e) {
			copy(list[1:i+1], list[:i])
			list[0] = e
			m.did.Instead++
			return e
		}
	}
	return nil
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
	shift := m.levels[0].Shift
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
	turn := modulo(u.base[0]-e.base[0], m.levels[0].Sets<<shift) >> shift
	e.move(movers, turn)
	if k := e.shorter; k != nil && k.trips != 0 {
		k.move(movers)
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
			return u.column(m, r) << m.maxShift >> m.levels[0].Shift
		}
	}
	return 1
}

// fetch returns the summary of trips iterations of a node from y on; nil if there
// is none to be had, and the iterations have to be run.
func (m *machine) fetch(n *node, y, trips int, chunk bool) *entry {
	u := n.unit
	u.placeIn(m, y, trips)
	if u.key = append(u.key, -1); chunk || u.exact {
		u.setTrips(trips)
	} else if u.classed {
		u.setTrips(trips &^ (step - 1))
		m.did.Classed++
	}
	u.tries++
	list, e, busy := u.find(m, trips)
	if busy {
		return nil
	}
	longer := u.longer
	if e == nil && !chunk && u.classed {
		list, e = u.before(m, list, trips)
	}
	if e == nil && !chunk && u.exact {
		e = m.copyOf(u, list, trips)
	}
	if e != nil {
		u.boxes(m, y, trips)
		if e.trips > trips {
			m.restore(e)
			m.did.Restored++
		}
		if !u.moves(m, e) {
			m.did.Refused++
			e = u.instead(m, list, trips)
		}
	}
	if e != nil {
		u.hits++
		if !slices.Equal(e.base, u.base) {
			u.shift(m, e)
		}
		m.credit(n, e, y, trips)
		if e.trips < trips && !m.extend(n, e, y, trips) {
			return nil
		}
		return e
	}
	if !u.few && (!chunk && (u.tries > 1100 && u.hits*16 < u.tries || u.rarely()) || m.deep && !n.inner && u.tries > 100 && u.hits*3 < u.tries) {
		u.off = true // of logs, since these are copied
	}
	if e = place(list); e == nil {
		return nil
	}
	if k := trips &^ (step - 1); longer && u.classed && !chunk && k > 0 && k < trips { // they go down
		if !m.record(n, e, y, k, false) {
			return nil
		}
		u.placeIn(m, y, trips) // chunks were placed since
		u.boxes(m, y, trips)
		if !m.extend(n, e, y, trips) {
			return nil
		}
	} else if !m.record(n, e, y, trips, chunk) {
		return nil
	}
	return e
}

// lately is how many times summaries of a unit are asked for until what they serve is judged anew: keys
// that came back at first may not later.
const lately = 1 << 14

// rarely reports whether of the last of these too few were served: with a log a summary takes
// longer than what it stands for, until it is met a few times.
func (u *unit) rarely() bool {
	if u.tries < u.judged+lately {
		return false
	}
	worth := 16
	if u.logs {
		worth = 4
	}
	few := (u.hits-u.served)*worth < u.tries-u.judged
	u.judged, u.served = u.tries, u.hits
	return few
}

// charge counts what an entry takes by now. Where all take more than they may, the unit that has the
// most of it begins anew, with half as many places.
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
	m.did.Emptied++
}

// bytes is about what an entry takes.
func (e *entry) bytes() int {
	n := 2*8*len(e.key) + e.state.bytes()
	if e.log != nil {
		n += cap(e.log.lines)*6 + len(e.log.rows)*12
	}
	if e.trail != nil {
		n += cap(e.trail.touches)*8 + len(e.trail.rows)*28
	}
	if e.shorter != nil {
		n += e.shorter.state.bytes()
	}
	return n
}

// before returns an entry of the step of trips before that of an instance, if one stands for
// it, else the list that it was not found in. Of a key trips mostly come in runs, which
// begin anywhere.
func (u *unit) before(m *machine, list []*entry, trips int) ([]*entry, *entry) {
	u.setTrips((trips - step) &^ (step - 1))
	if other, e, _ := u.find(m, trips); e != nil {
		m.did.Before++
		return other, e
	}
	u.setTrips(trips &^ (step - 1))
	return list, nil
}

// copyOf returns a copy of an entry with fewer trips, under the key of so many; nil if
// there is none.
func (m *machine) copyOf(u *unit, list []*entry, trips int) *entry {
	from := u.nearest(m, trips)
	u.setTrips(trips)
	if from == nil {
		return nil
	}
	from.busy = true
	e := place(list)
	if from.busy = false; e == nil {
		return nil
	}
	m.copyTo(u, e, from)
	return e
}

// copyTo makes an entry a copy of another, but for its key.
func (m *machine) copyTo(u *unit, e, from *entry) {
	if e.summary == nil {
		e.summary = newSummary(newState(m.levels[0], u.opLow, u.opHigh))
	}
	e.key = append(e.key[:0], u.key...)
	e.base = append(e.base[:0], from.base...)
	e.low, e.hig = append(e.low[:0], from.low...), append(e.hig[:0], from.hig...)
	e.trips = from.trips
	e.copyFrom(from.state)
	e.forget()
	e.clean()
	e.id, e.cleanFrom = m.newID(), m.clock
	e.context.states = append(e.context.states[:0], e.state)
	m.charge(u, e)
	m.did.Copied++
}

// record makes an entry of the instance, and reports whether it could.
func (m *machine) record(n *node, e *entry, y, trips int, chunk bool) bool {
	u, since := n.unit, m.work()
	u.boxes(m, y, trips)
	e.key, e.base = append(e.key[:0], u.key...), append(e.base[:0], u.base...)
	e.low, e.hig = append(e.low[:0], u.low...), append(e.hig[:0], u.hig...)
	if e.trips, e.busy = trips, true; e.shorter != nil {
		e.shorter.trips = 0
	}
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
	e.trail, e.trailed = nil, false
	e.byRow(u)
	e.id, e.cleanFrom = m.newID(), m.clock
	c := &e.context
	c.states = append(c.states[:0], e.state)
	if u.exact && !chunk {
		m.inSteps(n, e, y, trips)
	} else {
		m.parts(n, c, y, trips, chunk)
	}
	if e.log != nil && !n.inner { // of which some log may have to be what it was
		m.shortenLog(u, e)
	}
	e.clean()
	e.cleanFrom = m.clock
	e.busy = false
	m.charge(u, e)
	m.did.Recorded++
	m.debit(u, since, toRecord)
	return m.fits(n, e, y, trips)
}

// fits reports whether an entry's log did not grow too long; if it did, there is
// no entry.
func (m *machine) fits(n *node, e *entry, y, trips int) bool {
	if e.log == nil {
		return true
	}
	m.did.Logged += e.log.items
	if !e.log.over {
		n.unit.room, n.unit.listed = e.log.items*5/4/max(1, len(e.touched)), len(e.log.lines)
		return true
	}
	m.slots[n.slot] = y
	n.unit.big = min(n.unit.big, m.each(n)*float64(trips))
	e.key, e.trips = e.key[:0], 0
	m.did.Over++
	return false
}

// inSteps runs what is recorded of an innermost loop, and keeps copies on the way.
func (m *machine) inSteps(n *node, e *entry, y, trips int) {
	u := n.unit
	for e.trips = copyEvery; e.trips < trips; e.trips += copyEvery {
		m.sweep(n, &e.context, y+e.trips-copyEvery, y+e.trips)
		u.setTrips(e.trips)
		if list, found, busy := u.find(m, e.trips); found == nil && !busy {
			if k := place(list); k != nil {
				u.boxes(m, y, e.trips)
				m.copyTo(u, k, e)
				k.low, k.hig = append(k.low[:0], u.low...), append(k.hig[:0], u.hig...)
			}
		}
	}
	m.sweep(n, &e.context, y+e.trips-copyEvery, y+trips)
	e.trips = trips
}

// parts runs what is recorded: a chunk by its halves, down to a period and to what is
// worth it for what is left behind chunks, a period by as much of it as is left behind the
// last one, and the others, a whole instance by chunks if it may be.
func (m *machine) parts(n *node, c *context, y, trips int, chunk bool) {
	half, rest := trips/2, n.unit.rest
	switch {
	case chunk && trips == n.unit.period && rest > 0:
		m.stretch(n, c, y, rest, true)
		m.stretch(n, c, y+rest, trips-rest, true)
	case !chunk:
		m.iterations(n, c, y, y+trips, true)
	case trips > n.unit.period && (n.inner || m.each(n)*float64(half) >= m.threshold), trips&1 == 0 && m.splits(n, m.each(n)*float64(half)):
		m.stretch(n, c, y, half, true)
		m.stretch(n, c, y+half, half, true)
	default:
		m.iterations(n, c, y, y+trips, false)
	}
}

// mostSplit is how many thresholds of touches parts of periods make at most.
const mostSplit = 50

// splits reports whether parts of a period are kept that make so many touches: what is left
// behind chunks finds them, and what is next to a place where references meet. Logs would
// be copied.
func (m *machine) splits(n *node, touches float64) bool {
	return !m.deep && !n.inner && touches >= 4*m.threshold && touches <= mostSplit*m.threshold
}

// extend makes an entry longer, and reports whether it could. Where there is a log, what
// an inner loop's was before is kept, for those that are shorter again.
func (m *machine) extend(n *node, e *entry, y, trips int) bool {
	u, since := n.unit, m.work()
	from := e.trips
	if n.inner && u.logs {
		if e.shorter == nil || e.shorter.trips == 0 || e.shorter.trips == from {
			m.shorten(u, e)
		}
		u.keepRows(e, from, trips)
	}
	e.low, e.hig = append(e.low[:0], u.low...), append(e.hig[:0], u.hig...)
	e.busy = true
	m.iterations(n, &e.context, y+from, y+trips, false)
	e.trips, e.busy = trips, false
	m.charge(u, e)
	m.did.Extended++
	m.debit(u, since, toExtend)
	if !u.classed || from&(step-1) != 0 {
		u.extends++
	}
	return m.fits(n, e, y, trips)
}

// shorten begins to keep what an entry is now.
func (m *machine) shorten(u *unit, e *entry) {
	if e.shorter == nil {
		e.shorter = &shorter{state: newState(m.levels[0], e.opLow, e.opLow+len(e.misses)), rows: make([]uint64, len(e.changed)), logs: make([]int32, e.sets)}
	}
	k := e.shorter
	k.state.byRow(u)
	clear(k.rows)
	copy(k.state.has, e.has)
	copy(k.state.misses, e.misses)
	k.state.open, k.touched, k.items, k.trips = e.open, len(e.touched), e.log.items, e.trips
	k.low, k.hig = append(k.low[:0], e.low...), append(k.hig[:0], e.hig...)
}

// keepRows keeps the rows of an entry, which is where the unit is, that an innermost
// loop's iterations from to end are about to change.
func (u *unit) keepRows(e *entry, from, end int) {
	if (end-from)*len(u.refs) >= e.sets {
		for row := range e.sets {
			e.keepRow(row)
		}
		return
	}
	for i, at := range u.base {
		for y := from; y < end; y++ {
			e.keepRow(e.row(uint32((at+u.refs[i].own*y)>>e.shift) + 1))
		}
	}
}

// keepRow keeps a row as it is, unless it is kept.
func (e *entry) keepRow(row int) {
	k, bit := e.shorter, uint64(1)<<(row&63)
	if k.rows[row>>6]&bit != 0 {
		return
	}
	k.rows[row>>6] |= bit
	k.state.copyRow(e.state, row)
	k.logs[row] = e.log.rows[row].n
}

// move moves the lines that are kept.
func (k *shorter) move(movers []mover) {
	s, plain, rows := k.state, plain(movers), 0
	for _, w := range k.rows {
		rows += onesCount(w)
	}
	if 8*rows > s.sets { // others may be anything
		moveLines(s.tags, movers, plain)
		moveLines(s.heads, movers, plain)
		return
	}
	for i, w := range k.rows {
		for ; w != 0; w &= w - 1 {
			at := (i<<6 + trailing(w)) * s.ways
			moveLines(s.tags[at:at+s.ways], movers, plain)
			moveLines(s.heads[at:at+s.ways], movers, plain)
		}
	}
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
			row := i<<6 + trailing(w)
			e.copyRow(k.state, row)
			e.log.rows[row].n = k.logs[row]
			e.weights[row].lighten(int(e.count[row])+int(k.logs[row]), m.levels[1].Ways)
		}
	}
	e.log.items = k.items
	e.touched = e.touched[:k.touched]
	copy(e.has, k.state.has)
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
