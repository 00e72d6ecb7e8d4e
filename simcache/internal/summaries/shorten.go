package summaries

import "slices"

// A row's log may have a line again and again: a set of a TLB in which rows of a tile throw each
// other out. Where no set of the second level gets more lines of it than that has ways, each but
// the first access to a line hits there, wherever the summary is moved. So it is enough to send the
// lines in the order of their first accesses, and then, where that is another, of their last.

// fewestAgain is how many items a log has in a row, on average, that it is worth to shorten.
const fewestAgain = 4

// shortenLog leaves out of a unit's entry's log what makes no difference behind. Where of many
// rows few became shorter, no more are tried.
func (m *machine) shortenLog(u *unit, e *entry) {
	if e.log.over || e.log.items < fewestAgain*len(e.touched) {
		return
	}
	for row := range e.log.rows {
		lines, ops := e.log.row(row)
		if len(lines) < 2*fewestAgain || u.tried > 100 && 4*u.shortened < u.tried {
			continue
		}
		u.tried++
		m.lines, m.linesOps = m.firstAndLast(lines, ops, m.lines[:0], m.linesOps[:0])
		left := len(m.lines)
		if left >= len(lines) || !m.fitsBehind(e.summary) {
			continue
		}
		copy(lines, m.lines)
		copy(ops, m.linesOps)
		e.log.rows[row].n = int32(left)
		e.log.items -= len(lines) - left
		u.shortened++
		m.did.Shortened++
	}
}

// firstAndLast appends to lists the different lines of a log in the order of their first accesses,
// and then those that have to be touched again for the order of their last; m.different are how
// many the former are.
func (m *machine) firstAndLast(lines []uint32, ops []uint16, to []uint32, toOps []uint16) ([]uint32, []uint16) {
	if m.places == nil {
		m.places = map[uint32]int{}
	}
	clear(m.places)
	for i, line := range lines {
		if _, again := m.places[line]; !again {
			m.places[line] = len(to)
			to, toOps = append(to, line), append(toOps, ops[i])
		}
	}
	m.different = len(to)
	var last []uint32 // from the last on
	for _, line := range slices.Backward(lines) {
		if place := m.places[line]; place >= 0 {
			last = append(last, line)
			m.places[line] = -1 - place
		}
		if len(last) == m.different {
			break
		}
	}
	slices.Reverse(last)
	ordered, before := 0, -1 // so many of them are in the order of their first accesses
	for ordered < len(last) && -1-m.places[last[ordered]] > before {
		before = -1 - m.places[last[ordered]]
		ordered++
	}
	for _, line := range last[ordered:] {
		to, toOps = append(to, line), append(toOps, toOps[-1-m.places[line]])
	}
	return to, toOps
}

// fitsBehind reports whether no set of the second level gets more of the different lines than it
// has ways, wherever they are moved.
func (m *machine) fitsBehind(e *summary) bool {
	lines, ops := m.lines[:m.different], m.linesOps[:m.different]
	return m.different <= m.levels[1].Ways || m.weigh(e, lines, ops, nil, nil) <= m.levels[1].Ways
}
