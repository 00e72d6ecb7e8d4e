package summaries

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
}

func newSummary(s *state) *summary {
	return &summary{state: s, again: make([]uint64, s.sets), looked: make([]uint64, len(s.changed)), sum: make([]uint64, len(s.misses))}
}

// forget forgets what is known of its being applied again.
func (e *summary) forget() {
	clear(e.looked)
	clear(e.sum)
}

// apply composes a state with the summary of what comes next, but for some of
// the state's rows, which are then as changed.
func (m *machine) apply(s *state, e *summary, skip []int) {
	off := int(e.turn) - int(s.turn)
	if off < 0 {
		off += s.sets
	}
	e.gather()
	low := e.opLow - s.opLow
	for op, n := range e.misses {
		s.misses[low+op] += n
	}
	m.skip(s, e, skip, off, low)
	if s.owner == e.id && s.ownedAt >= e.cleanFrom && s.ways <= 64 {
		m.did.Again++
		m.applyAgain(s, e, off, low)
	} else if s.open+e.open == 0 && vectors(s.ways) && len(e.misses) <= 8 {
		m.applyFull(s, e, skip, off, low)
		m.did.Full++
	} else {
		for _, row := range e.touched {
			if m.skipped[row>>6]>>(row&63)&1 == 0 {
				s.applyRow(e, int(row), off)
			}
		}
	}
	for i, w := range s.changed {
		s.before[i] |= w
		s.changed[i] = 0
	}
	for _, row := range e.touched {
		at := s.opposite(row, off)
		s.before[at>>6] |= 1 << (at & 63)
	}
	m.clock++
	s.owner, s.ownedAt, e.cleanFrom = e.id, m.clock, m.clock
	e.clean()
	for _, row := range skip {
		s.changed[row>>6] |= 1 << (row & 63)
	}
	m.did.Applied++
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
		for op, n := range e.rowMisses[row*len(e.misses):][:len(e.misses)] {
			s.misses[low+op] -= n
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
func (m *machine) applyAgain(s *state, e *summary, off, low int) {
	for _, row := range e.touched {
		at, i, bit := s.opposite(row, off), int(row>>6), uint64(1)<<(row&63)
		skipped := m.skipped[i]&bit != 0
		clean := !skipped && s.changed[at>>6]>>(at&63)&1 == 0 && e.changed[i]&bit == 0
		switch {
		case clean && e.looked[i]&bit == 0:
			e.look(int(row))
			e.looked[i] |= bit
		case !clean:
			if e.looked[i]&bit != 0 {
				e.credit(s.misses[low:], int(row), ^uint64(0))
			}
			if !skipped {
				s.applyRow(e, int(row), off)
			}
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

// applyRow composes one row.
func (s *state) applyRow(e *summary, row, off int) {
	at, from, c := s.opposite(uint32(row), off), row*s.ways, int(e.count[row])
	lines := s.tags[at*s.ways:][:s.ways]
	heads, ops := e.heads[from:][:c], e.ops[from:][:c]
	switch n := int(s.count[at]); {
	case n == 0:
		copy(s.heads[at*s.ways:], heads)
		copy(s.ops[at*s.ways:], ops)
		s.adopt(at, ops, c)
	case n == s.ways && n <= 64:
		for w := meet(lines, heads); w != 0; w &= w - 1 {
			s.misses[int(ops[trailing(w)])-s.opLow]++
		}
	default:
		for h, line := range heads {
			if !present(lines, line) {
				s.absent(at, line, int(ops[h]))
			}
		}
	}
	if c == 8 {
		*(*[8]uint32)(lines) = *(*[8]uint32)(e.tags[from:])
		return
	}
	copy(lines[:c], e.tags[from:])
}

// adopt makes the heads that were copied to a row that had none its own.
func (s *state) adopt(row int, ops []uint16, c int) {
	s.count[row] = uint16(c)
	s.touched = append(s.touched, uint32(row))
	if c == s.ways {
		s.open--
	}
	for _, op := range ops {
		if k := int(op) - s.opLow; k < 8 {
			s.packed[row] += 1 << (8 * k)
		}
	}
}

// applyFull composes all rows, where all have all their heads: with vectors.
func (m *machine) applyFull(s *state, e *summary, skip []int, off, low int) {
	m.kept = m.kept[:0]
	for _, at := range skip {
		m.kept = append(m.kept, s.tags[at*s.ways:][:s.ways]...)
	}
	if len(m.missing) < s.sets {
		m.missing = make([]uint8, s.sets)
	}
	applyRows(s.tags, e.tags, e.heads, off, m.missing)
	for i, at := range skip {
		copy(s.tags[at*s.ways:][:s.ways], m.kept[i*s.ways:])
	}
	misses, sum := s.misses[low:], uint64(0) // sum is a byte for each operand
	for row, missing := range m.missing[:s.sets] {
		switch {
		case m.skipped[row>>6]>>(row&63)&1 != 0:
		case missing == 0xff:
			sum += e.packed[row]
		default:
			for ; missing != 0; missing &= missing - 1 {
				misses[int(e.ops[row*8+trailing(uint64(missing))])-e.opLow]++
			}
		}
		if row&15 == 15 || row == s.sets-1 {
			for op := 0; sum != 0; op++ {
				misses[op] += sum & 0xff
				sum >>= 8
			}
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
	plain := true
	for _, m := range movers {
		plain = plain && m.step == 1
	}
	if 2*len(e.touched) > e.sets { // what is behind the heads of a row does not matter
		moveLines(e.tags, movers, plain)
		moveLines(e.heads, movers, plain)
	} else {
		for _, row := range e.touched {
			at := int(row) * e.ways
			moveLines(e.tags[at:at+e.ways], movers, plain)
			moveLines(e.heads[at:at+e.ways], movers, plain)
		}
	}
	e.owner = 0
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
