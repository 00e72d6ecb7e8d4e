package exact

import (
	"encoding/binary"
	"slices"
)

// A summary is the state that a stretch of a program leaves where it began empty.
//
// It composes: to have the state after the stretch where another was before,
// touch its heads, in order, add its misses, and put its lines on top of
// each set. For a head meets what it would have met; of all others the outcome is
// known; and the lines of the stretch are those touched last, in their order.
//
// Where it was applied before and is applied again, sets that nobody changed since
// have its lines on top. Its heads meet these: what misses is known after one
// look (again), and the set stays as it is.
type summary struct {
	*state
	id        uint64 // of its lines where they are now
	cleanFrom uint64 // its rows changed since then are in changed and before

	again  []uint64 // by row: a bit for each head that misses when the summary meets its own lines
	looked []uint64 // a bit for each row of which that is known
	sum    []uint64 // by operand, from opLow on: the bits of again

	// Where there is a log: of the last application, by row, which heads missed (a bit
	// each), and a bit for each row of which that is known, and for each of which
	// nothing need go on to the later levels when it is applied again.
	sent, knew, quiet []uint64
	roomy             []uint64 // a bit for each row that is known to be; see machine.roomy
	weights           []weight // by row, while it is of more than 0
}

func newSummary(s *state) *summary {
	list := make([]uint64, s.sets+len(s.changed)+len(s.misses))
	again, looked := cut(&list, s.sets), cut(&list, len(s.changed))
	return &summary{state: s, again: again, looked: looked, sum: list}
}

// keepLog makes a summary keep a log of so many items at most.
func (e *summary) keepLog(most int) {
	words := len(e.changed)
	e.log = &log{rows: make([]span, e.sets), most: most}
	e.sent, e.knew = make([]uint64, e.sets), make([]uint64, words)
	e.quiet, e.roomy = make([]uint64, words), make([]uint64, words)
	e.weights = make([]weight, e.sets)
}

// forget forgets what is known of its being applied again.
func (e *summary) forget() {
	clear(e.looked)
	clear(e.sum)
	clear(e.roomy)
	clear(e.weights)
}

// apply composes a context with the summary of what comes next, but for some of
// the first state's rows, which are then as changed.
func (m *machine) apply(c *context, e *summary, skip []int) {
	s := c.states[0]
	off := int(e.turn) - int(s.turn)
	if off < 0 {
		off += s.sets
	}
	e.gather()
	low := e.opLow - s.opLow
	m.missed = m.missed[:0]
	for op, n := range e.misses {
		if n > 0 {
			s.misses[low+op] += n
			m.missed = append(m.missed, op)
		}
	}
	m.skip(s, e, skip, off, low)
	m.compose(c, e, skip, off, low)
	m.sendWaiting(c, e, off)
	for i, w := range s.changed {
		s.before[i] |= w
		s.changed[i] = 0
	}
	s.turned(m.turned, e.has, s.sets-off)
	for i, w := range m.turned[:len(s.before)] {
		s.before[i] |= w
	}
	m.clock++
	s.owner, s.ownedAt, e.cleanFrom = e.id, m.clock, m.clock
	e.clean()
	for _, row := range skip {
		s.changed[row>>6] |= 1 << (row & 63)
	}
	m.did.Applied++
}

// compose composes the rows in the way that is fastest.
func (m *machine) compose(c *context, e *summary, skip []int, off, low int) {
	s := c.states[0]
	switch {
	case s.rowMisses == nil && s.owner == e.id && s.ownedAt >= e.cleanFrom && s.ways <= 64:
		m.did.Again++
		m.applyAgain(c, e, off, low)
	case m.fullyKnown(s, e):
		if m.did.Full++; e.open > 0 {
			m.did.Partly++
		}
		m.applyFull(c, e, skip, off, low)
	case s.rowMisses != nil:
		m.did.ByRow++
		m.applyByRow(c, e, off, low)
	default:
		for _, row := range e.touched {
			if m.skipped[row>>6]>>(row&63)&1 == 0 {
				c.applyRow(e, int(row), off)
			}
		}
	}
}

// fullyKnown reports whether a summary is composed with vectors: where what was there
// before is known, and most of the rows have heads.
func (m *machine) fullyKnown(s *state, e *summary) bool {
	return s.open == 0 && vectors(s.ways) && 2*len(e.touched) > s.sets &&
		(s.rowMisses == nil || len(e.misses) <= 8)
}

// skip notes which rows of a summary are not applied, and takes its misses there
// back.
func (m *machine) skip(s *state, e *summary, skip []int, off, low int) {
	clear(m.skipped)
	for _, at := range skip {
		row := at - off
		if row < 0 {
			row += s.sets
		}
		m.skipped[row>>6] |= 1 << (row & 63)
		misses := e.rowMisses[row*len(e.misses):][:len(e.misses)]
		for _, op := range m.missed {
			s.misses[low+op] -= misses[op]
		}
	}
}

// clean forgets which rows were changed, and with that what its own lines are of.
func (e *summary) clean() {
	clear(e.changed)
	clear(e.before)
	e.owner = 0
}

// opposite is the row of a state that a row of a summary is for.
func (s *state) opposite(row uint32, off int) int {
	at := int(row) + off
	if at >= s.sets {
		at -= s.sets
	}
	return at
}

// gather takes together which rows were changed, and forgets what was known of them.
func (e *summary) gather() {
	for i := range e.changed {
		e.changed[i] |= e.before[i]
		for w := e.changed[i] & e.looked[i]; w != 0; w &= w - 1 {
			row := i<<6 + trailing(w)
			e.credit(e.sum, row, ^uint64(0))
		}
		e.looked[i] &^= e.changed[i]
		if e.log != nil {
			e.roomy[i] &^= e.changed[i]
		}
	}
}

// credit adds so much for each head of a row that misses again.
func (e *summary) credit(misses []uint64, row int, by uint64) {
	for w := e.again[row]; w != 0; w &= w - 1 {
		misses[int(e.ops[row*e.ways+trailing(w)])-e.opLow] += by
	}
}

// applyAgain applies a summary whose lines are on top of all sets that were not
// changed since, neither there nor in the summary.
func (m *machine) applyAgain(c *context, e *summary, off, low int) {
	s := c.states[0]
	s.turned(m.turned, s.changed, off)
	for i, has := range e.has {
		dirty := m.turned[i] | e.changed[i] | m.skipped[i]
		for w := has &^ dirty &^ e.looked[i]; w != 0; w &= w - 1 {
			e.look(i<<6 + trailing(w))
		}
		e.looked[i] |= has &^ dirty
		for w := has & dirty & e.looked[i]; w != 0; w &= w - 1 {
			e.credit(s.misses[low:], i<<6+trailing(w), ^uint64(0))
		}
		for w := has & dirty &^ m.skipped[i]; w != 0; w &= w - 1 {
			c.applyRow(e, i<<6+trailing(w), off)
		}
		if e.log != nil {
			m.sendClean(c, e, i, has&^dirty, off)
		}
	}
	for op, n := range e.sum {
		s.misses[low+op] += n
	}
}

// look finds which heads of a row miss when they meet the row itself. With fewer
// lines than ways none does.
func (e *summary) look(row int) {
	e.again[row] = 0
	if int(e.count[row]) < e.ways {
		return
	}
	var list [64]uint32
	lines := list[:e.ways]
	copy(lines, e.tags[row*e.ways:])
	e.again[row] = meet(lines, e.heads[row*e.ways:][:e.ways])
	e.credit(e.sum, row, 1)
}

// applyRow composes one row, and returns which heads missed, a bit each, if what was
// there before is known.
func (s *state) applyRow(e *summary, row, off int) (missing uint64, known bool) {
	at, from, c := s.opposite(uint32(row), off), row*s.ways, int(e.count[row])
	lines := s.tags[at*s.ways:][:s.ways]
	heads, ops := e.heads[from:][:c], e.ops[from:][:c]
	switch n := int(s.count[at]); {
	case n == 0:
		copy(s.heads[at*s.ways:], heads)
		copy(s.ops[at*s.ways:], ops)
		s.adopt(at, ops, c)
	case n == s.ways && n <= 64:
		missing, known = meet(lines, heads), true
		s.missHeads(e, at, row, missing)
	default:
		for h, line := range heads {
			if !present(lines, line) {
				s.absent(at, line, int(ops[h]))
			}
		}
	}
	if c == 8 {
		*(*[8]uint32)(lines) = *(*[8]uint32)(e.tags[from:])
	} else {
		copy(lines[:c], e.tags[from:])
	}
	return missing, known
}

// missHeads counts those heads of a summary's row that missed, a bit each.
func (s *state) missHeads(e *summary, at, row int, missing uint64) {
	if len(e.misses) <= 8 && missing == 1<<e.count[row]-1 {
		op := e.opLow
		for sum := e.packed[row]; sum != 0; sum >>= 8 {
			if n := sum & 0xff; n != 0 {
				s.miss(at, op, n)
			}
			op++
		}
		return
	}
	for ; missing != 0; missing &= missing - 1 {
		s.miss(at, int(e.ops[row*e.ways+trailing(missing)]), 1)
	}
}

// adopt makes the heads that were copied to a row that had none its own.
func (s *state) adopt(row int, ops []uint16, c int) {
	s.count[row] = uint16(c)
	s.meetRow(row)
	if c == s.ways {
		s.open--
	}
	for _, op := range ops {
		if k := int(op) - s.opLow; k < 8 {
			s.packed[row] += 1 << (8 * k)
		}
	}
}

// applyByRow composes all rows where misses are kept by row.
func (m *machine) applyByRow(c *context, e *summary, off, low int) {
	s := c.states[0]
	size := len(e.misses)
	for _, row := range e.touched {
		if m.skipped[row>>6]>>(row&63)&1 != 0 {
			continue
		}
		misses := s.rowMisses[s.opposite(row, off)*len(s.misses)+low:]
		more := e.rowMisses[int(row)*size:][:size]
		for _, op := range m.missed {
			misses[op] += more[op]
		}
		c.applyRow(e, int(row), off)
	}
}

// applyFull composes all rows with vectors, where what was in them before is known: all
// of them have all their heads.
func (m *machine) applyFull(c *context, e *summary, skip []int, off, low int) {
	s := c.states[0]
	m.kept = m.kept[:0]
	for _, at := range skip {
		m.kept = append(m.kept, s.tags[at*s.ways:][:s.ways]...)
	}
	if len(m.missing) < s.sets {
		both := make([]uint8, 2*s.sets)
		m.missing, m.found = both[:s.sets], both[s.sets:]
	}
	applyRows(s.tags, e, off, m.missing)
	for i, at := range skip {
		copy(s.tags[at*s.ways:][:s.ways], m.kept[i*s.ways:])
	}
	if s.rowMisses != nil {
		m.countByRow(s, e, off, low)
	} else {
		m.countFull(s.misses[low:], e)
	}
	if e.log != nil {
		m.sendFull(c, e, off)
	}
}

// countFull counts the heads that missed: of few operands all, less those that did not.
func (m *machine) countFull(misses []uint64, e *summary) {
	if len(e.misses) > 8 {
		for row, missing := range m.missing[:e.sets] {
			if m.skipped[row>>6]>>(row&63)&1 == 0 {
				m.creditHeads(misses, e, row, missing, 1)
			}
		}
		return
	}
	sum := uint64(0) // a byte for each operand
	for row := 0; row < e.sets; {
		p := e.packed[row:]
		if row&7 == 0 && len(p) >= 8 && uint8(m.skipped[row>>6]>>(row&63)) == 0 &&
			binary.LittleEndian.Uint64(m.found[row:]) == 0 {
			sum += p[0] + p[1] + p[2] + p[3] + p[4] + p[5] + p[6] + p[7]
			row += 8
		} else {
			sum += m.countRow(misses, e, row)
			row++
		}
		if row&15 == 0 || row == e.sets {
			for op := 0; sum != 0; op++ {
				misses[op] += sum & 0xff
				sum >>= 8
			}
		}
	}
}

// countRow returns how many heads of a row are of each operand, and takes back those that
// did not miss.
func (m *machine) countRow(misses []uint64, e *summary, row int) uint64 {
	if m.skipped[row>>6]>>(row&63)&1 != 0 {
		return 0
	}
	if hit := uint8(1<<e.count[row]-1) &^ m.missing[row]; hit != 0 {
		m.creditHeads(misses, e, row, hit, ^uint64(0))
	}
	return e.packed[row]
}

// creditHeads adds so much for each of some heads of a row, a bit each.
func (m *machine) creditHeads(misses []uint64, e *summary, row int, heads uint8, by uint64) {
	for ; heads != 0; heads &= heads - 1 {
		misses[int(e.ops[row*8+trailing(uint64(heads))])-e.opLow] += by
	}
}

// countByRow counts the heads that missed, and all other misses by row.
func (m *machine) countByRow(s *state, e *summary, off, low int) {
	size := len(e.misses)
	for row, missing := range m.missing[:e.sets] {
		if m.skipped[row>>6]>>(row&63)&1 != 0 {
			continue
		}
		at := s.opposite(uint32(row), off)
		byRow, sum := s.rowMisses[at*len(s.misses)+low:][:size], e.packed[row]
		if missing != uint8(1<<e.count[row]-1) {
			for sum = 0; missing != 0; missing &= missing - 1 {
				sum += 1 << (8 * (uint(e.ops[row*8+trailing(uint64(missing))]) - uint(e.opLow)))
			}
		}
		for op, n := range e.rowMisses[row*size:][:size] {
			byRow[op] += n + sum&0xff
			s.misses[low+op] += sum & 0xff
			sum >>= 8
		}
	}
}

// meetGo touches heads in a row, in order, and returns a bit for each that was not
// there.
func meetGo(row, heads []uint32) (missing uint64) {
	for h, line := range heads {
		if !present(row, line) {
			missing |= 1 << h
		}
	}
	return missing
}

// A mover moves lines by so many: every step-th line from low to low+size.
type mover struct{ low, size, by, step uint32 }

// move moves the lines of a state, and its sets.
func (e *state) move(movers []mover, turn int) {
	e.turnBy(turn)
	plain := plain(movers)
	if 2*len(e.touched) > e.sets { // what comes after the heads of a row does not matter
		moveLines(e.tags, movers, plain)
		moveLines(e.heads, movers, plain)
	} else {
		for _, row := range e.touched {
			at := int(row) * e.ways
			moveLines(e.tags[at:at+e.ways], movers, plain)
			moveLines(e.heads[at:at+e.ways], movers, plain)
		}
	}
	if e.log != nil {
		moveLines(e.log.lines, movers, plain)
	}
	e.owner = 0
}

// plain reports whether all movers move each line from low on.
func plain(movers []mover) bool {
	return !slices.ContainsFunc(movers, func(v mover) bool { return v.step != 1 })
}

func moveGo(lines []uint32, movers []mover) {
	for i, line := range lines {
		for _, m := range movers {
			if line-m.low <= m.size && (m.step == 1 || (line-m.low)%m.step == 0) {
				lines[i] = line + m.by
				break
			}
		}
	}
}
