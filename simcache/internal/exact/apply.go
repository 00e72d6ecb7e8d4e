package exact

// A summary is the state that a region of a program leaves if it begins empty. It composes with any
// state before the region:
//
//  1. Touch its heads in that state, in order. Each head meets the same lines as in the program.
//  2. Add its misses. The past cannot change the outcome of the other accesses.
//  3. Put its lines on top of each set. They are the last lines touched, in order.
//
// If a summary is applied twice, sets unchanged in between have its lines on top. Its heads meet
// these, so one look finds the misses (again), and the sets stay unchanged.
type summary struct {
	*state
	id        uint64 // identifies its lines in their present place
	cleanFrom uint64 // rows changed since then are in changed and before

	again  []uint64 // by row: a bit for each head that misses if the summary meets its own lines
	looked []uint64 // a bit for each row with a known again
	sum    []uint64 // by operand, from opLow on: the sum over again

	headsOf []uint64 // by operand, from opLow on: heads, when there were "counted" in all
	counted int

	// Of the last application, if there is a miss stream. By row: a bit for each head that missed
	// (sent), whether that is known (knew), and whether a repetition sends nothing to later levels
	// (quiet).
	sent, knew, quiet []uint64
	roomy             []uint64 // a bit for each row known to be roomy; see machine.roomy
	weights           []weight // by row; valid if its "of" is above 0
}

func newSummary(s *state) *summary {
	list := make([]uint64, s.sets+len(s.changed)+len(s.misses))
	again, looked := cut(&list, s.sets), cut(&list, len(s.changed))
	heads := make([]uint64, len(s.misses))
	return &summary{state: s, again: again, looked: looked, sum: list, headsOf: heads}
}

// keepLog gives a summary a miss stream of at most "most" items.
func (e *summary) keepLog(most int) {
	words := len(e.changed)
	e.log = &log{rows: make([]span, e.sets), most: most}
	e.sent, e.knew = make([]uint64, e.sets), make([]uint64, words)
	e.quiet, e.roomy = make([]uint64, words), make([]uint64, words)
	e.weights = make([]weight, e.sets)
}

func (e *summary) forget() {
	e.counted = -1
	clear(e.looked)
	clear(e.sum)
	clear(e.roomy)
	clear(e.weights)
}

// apply composes a context with the summary of the next region. It skips some rows of the first
// state, which then count as changed.
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
	m.did.applied++
}

func (m *machine) compose(c *context, e *summary, skip []int, off, low int) {
	s := c.states[0]
	switch {
	case s.rowMisses == nil && s.owner == e.id && s.ownedAt >= e.cleanFrom && s.ways <= 64:
		m.applyAgain(c, e, off, low)
	case s.open == 0 && vectors(s.ways) && 2*len(e.touched) > s.sets:
		m.applyFull(c, e, skip, off, low)
	default:
		for _, row := range e.touched {
			if m.skipped[row>>6]>>(row&63)&1 == 0 {
				m.addByRow(s, e, int(row), s.opposite(row, off), low)
				c.applyRow(e, int(row), off)
			}
		}
	}
}

// addByRow adds a summary's misses in a row, if misses are counted by row.
func (m *machine) addByRow(s *state, e *summary, row, at, low int) {
	if s.rowMisses == nil {
		return
	}
	misses, more := s.rowMisses[at*len(s.misses)+low:], e.rowMisses[row*len(e.misses):]
	for _, op := range m.missed {
		misses[op] += more[op]
	}
}

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

func (e *summary) clean() {
	clear(e.changed)
	clear(e.before)
	e.owner = 0
}

// opposite returns the state's row for a summary's row.
func (s *state) opposite(row uint32, off int) int {
	at := int(row) + off
	if at >= s.sets {
		at -= s.sets
	}
	return at
}

// gather merges the sets of changed rows, and forgets the knowledge about them.
func (e *summary) gather() {
	for i := range e.changed {
		e.changed[i] |= e.before[i]
		for w := e.changed[i] & e.looked[i]; w != 0; w &= w - 1 {
			row := i<<6 + trailing(w)
			e.credit(e.sum, row, e.again[row], ^uint64(0))
		}
		e.looked[i] &^= e.changed[i]
		if e.log != nil {
			e.roomy[i] &^= e.changed[i]
		}
	}
}

func (e *summary) credit(misses []uint64, row int, heads, by uint64) {
	for ; heads != 0; heads &= heads - 1 {
		misses[int(e.ops[row*e.ways+trailing(heads)])-e.opLow] += by
	}
}

// applyAgain applies a summary whose lines are on top of all sets that changed neither in the state
// nor in the summary.
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
			row := i<<6 + trailing(w)
			e.credit(s.misses[low:], row, e.again[row], ^uint64(0))
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

// look finds which heads of a row miss when they meet the row's own lines. None does if these leave
// a way empty.
func (e *summary) look(row int) {
	e.again[row] = 0
	if int(e.count[row]) < e.ways {
		return
	}
	var list [64]uint32
	lines := list[:e.ways]
	copy(lines, e.tags[row*e.ways:])
	e.again[row] = meet(lines, e.heads[row*e.ways:][:e.ways])
	e.credit(e.sum, row, e.again[row], 1)
}

// applyRow composes one row. If its old contents were known, it returns a bit for each missed head.
func (s *state) applyRow(e *summary, row, off int) (missing uint64, known bool) {
	at, from, c := s.opposite(uint32(row), off), row*s.ways, int(e.count[row])
	lines := s.tags[at*s.ways:][:s.ways]
	heads, ops := e.heads[from:][:c], e.ops[from:][:c]
	switch n := int(s.count[at]); {
	case n == 0:
		copy(s.heads[at*s.ways:], heads)
		copy(s.ops[at*s.ways:], ops)
		s.adopt(at, c)
	case n == s.ways && n <= 64:
		missing, known = meet(lines, heads), true
		s.missHeads(at, ops, missing)
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

func (s *state) missHeads(row int, ops []uint16, missing uint64) {
	for ; missing != 0; missing &= missing - 1 {
		s.miss(row, int(ops[trailing(missing)]), 1)
	}
}

// adopt takes over c heads that were copied to an empty row.
func (s *state) adopt(row, c int) {
	s.count[row] = uint16(c)
	s.met += c
	s.meetRow(row)
	if c == s.ways {
		s.open--
	}
}

// applyFull composes all rows with vectors. All rows of the state have all their heads.
func (m *machine) applyFull(c *context, e *summary, skip []int, off, low int) {
	s := c.states[0]
	m.kept = m.kept[:0]
	for _, at := range skip {
		m.kept = append(m.kept, s.tags[at*s.ways:][:s.ways]...)
	}
	applyRows(s.tags, e, off, s.missing)
	for i, at := range skip {
		copy(s.tags[at*s.ways:][:s.ways], m.kept[i*s.ways:])
	}
	m.countFull(s, e, off, low)
	if e.log != nil {
		m.sendFull(c, e, off)
	}
}

// countFull counts the misses of all rows. Mostly all heads miss, so it subtracts those that hit.
func (m *machine) countFull(s *state, e *summary, off, low int) {
	if s.rowMisses == nil {
		e.countHeads()
		for op, n := range e.headsOf {
			s.misses[low+op] += n
		}
	}
	for row, missing := range s.missing[:e.sets] {
		if m.skipped[row>>6]>>(row&63)&1 != 0 {
			missing = 0
		} else if s.rowMisses != nil {
			at := s.opposite(uint32(row), off)
			m.addByRow(s, e, row, at, low)
			s.missHeads(at, e.ops[row*8:], uint64(missing))
		}
		if s.rowMisses == nil {
			hit := uint8(1<<e.count[row]-1) &^ missing
			e.credit(s.misses[low:], row, uint64(hit), ^uint64(0))
		}
	}
}

// countHeads counts a summary's heads by operand, unless it knows them.
func (e *summary) countHeads() {
	if e.counted == e.met {
		return
	}
	e.counted = e.met
	clear(e.headsOf)
	for _, row := range e.touched {
		for _, op := range e.ops[int(row)*e.ways:][:e.count[row]] {
			e.headsOf[int(op)-e.opLow]++
		}
	}
}

// meetGo touches heads in a row, in order, and returns a bit for each absent one.
func meetGo(row, heads []uint32) (missing uint64) {
	for h, line := range heads {
		if !present(row, line) {
			missing |= 1 << h
		}
	}
	return missing
}

// A mover adds "by" to the lines from low to low+size.
type mover struct{ low, size, by uint32 }

func (e *state) move(movers []mover, turn int) {
	e.turnBy(turn)
	if 2*len(e.touched) > e.sets { // tags past the heads of a row do not matter
		moveLines(e.tags, movers)
		moveLines(e.heads, movers)
	} else {
		for _, row := range e.touched {
			at := int(row) * e.ways
			moveLines(e.tags[at:at+e.ways], movers)
			moveLines(e.heads[at:at+e.ways], movers)
		}
	}
	if e.log != nil {
		moveLines(e.log.lines, movers)
	}
	e.owner = 0
}

func moveGo(lines []uint32, movers []mover) {
	for i, line := range lines {
		for _, m := range movers {
			if line-m.low <= m.size {
				lines[i] = line + m.by
				break
			}
		}
	}
}
